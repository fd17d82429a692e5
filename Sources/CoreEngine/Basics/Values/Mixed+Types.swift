extension Mixed {
    /// The property type that holds this value; links as `.link`.
    var columnType: ColumnType? {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectId: .objectId
        case .uuid: .uuid
        case .link, .typedLink: .link
        case .null, .list, .dictionary, .slot: nil
        }
    }

    /// Equality for searches: values of the same type, or two numbers; a NaN is found by its bits.
    static func same(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.null, _), (_, .null): false
        case (.list, _), (_, .list), (.dictionary, _), (_, .dictionary): false
        default: compare(a, b) == 0
        }
    }
}
