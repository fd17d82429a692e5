#if !canImport(ObjectiveC)
    /// Runs `body`. This function exists for source compatibility: programs for Apple platforms wrap their loops in
    /// autorelease pools. Without Objective-C there are no such pools; an object is released with its last reference.
    public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
