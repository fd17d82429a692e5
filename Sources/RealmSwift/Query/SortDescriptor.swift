/// A property to sort by, with a direction.
public struct SortDescriptor: Equatable, Sendable {
    /// The key path of the property: `name`, or `best.name` behind a link.
    public let keyPath: String

    /// A Boolean value that indicates whether the smallest value comes first.
    public let ascending: Bool

    /// Creates a sort descriptor from a key path as a string.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// Creates a sort descriptor from a key path that the compiler checks.
    public init<ObjectType: ObjectBase>(keyPath: PartialKeyPath<ObjectType>, ascending: Bool = true) {
        self.init(keyPath: nameOfStored(keyPath), ascending: ascending)
    }

    /// Returns the sort descriptor with the opposite direction.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

extension SortDescriptor: CustomStringConvertible {
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}

extension SortDescriptor: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(keyPath: value) }
}
