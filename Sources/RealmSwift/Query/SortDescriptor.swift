/// A property and a direction.
public struct SortDescriptor: Equatable, Sendable {
    /// `name`, or `best.name` behind links.
    public let keyPath: String

    /// Least first.
    public let ascending: Bool

    /// By the name of a property.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// By a property.
    public init<ObjectType: ObjectBase>(keyPath: PartialKeyPath<ObjectType>, ascending: Bool = true) {
        self.init(keyPath: nameOfStored(keyPath), ascending: ascending)
    }

    /// In the other direction.
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
