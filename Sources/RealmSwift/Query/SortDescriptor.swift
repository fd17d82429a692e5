/// A property to sort by, with a direction.
public struct SortDescriptor: Equatable, Sendable {
    /// The key path of the property: `name`, or `best.name` behind a link.
    public let keyPath: String

    /// A Boolean value that indicates whether the smallest value comes first.
    public let ascending: Bool

    /// The language by which texts are sorted, such as `de`, also with ICU's keywords: `en@colNumeric=yes`. nil: by
    /// their bytes, as Realm does. An addition of this library; it needs ICU, which Apple's systems and Android have.
    public var locale: String?

    /// Creates a sort descriptor from a key path as a string.
    public init(keyPath: String, ascending: Bool = true, locale: String? = nil) {
        self.keyPath = keyPath
        self.ascending = ascending
        self.locale = locale
    }

    /// Creates a sort descriptor from a key path that the compiler checks.
    public init<ObjectType: ObjectBase>(
        keyPath: PartialKeyPath<ObjectType>, ascending: Bool = true, locale: String? = nil
    ) {
        self.init(keyPath: nameOfStored(keyPath), ascending: ascending, locale: locale)
    }

    /// The language as a query has it.
    var collation: String {
        guard let locale else { return "" }
        guard !locale.contains(where: { $0 == "'" || $0 == "\"" || $0 == "\\" }) else {
            misuse("'\(locale)' is no language to sort by")
        }
        return " COLLATE '\(locale)'"
    }

    /// Returns the sort descriptor with the opposite direction.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending, locale: locale) }
}

extension SortDescriptor: CustomStringConvertible {
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}

extension SortDescriptor: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(keyPath: value) }
}
