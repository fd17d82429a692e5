#if !canImport(ObjectiveC)
    /// Runs `body`: programs for Apple's systems put their loops into such pools. There are none without Objective-C,
    /// where objects are let go of with their last reference.
    public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
