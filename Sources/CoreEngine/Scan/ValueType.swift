/// The kind of values that an expression yields, as comparisons distinguish it.
enum ValueType: Equatable {
    case int, bool, string, binary, mixed, timestamp, float, double, decimal, objectId, uuid
    /// Links to objects of a class.
    case link(TableKey)
    /// Type names, from `@type`.
    case typeName
    case null

    init(_ facts: ColumnFacts) {
        // Values of dictionaries count as Mixed, whatever their declared type.
        if facts.shape == .dictionary && facts.type != .link {
            self = .mixed
            return
        }
        self.init(elementOf: facts)
    }

    /// The declared type of the property or of its elements.
    init(elementOf facts: ColumnFacts) {
        switch facts.type {
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .link, .linkList: self = .link(facts.oppositeTable)
        default: self = .mixed
        }
    }

    init(_ value: Mixed) {
        switch value {
        case .null, .slot: self = .null
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .link: self = .link(.null)
        case .typedLink(let table, _): self = .link(table)
        case .list, .dictionary: self = .mixed
        }
    }

    var isNumeric: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    var isLink: Bool { if case .link = self { true } else { false } }

    var name: String {
        switch self {
        case .decimal: "decimal128"
        case .link: "link"
        case .typeName: "type"
        default: "\(self)"
        }
    }

    /// Whether values of the two kinds can be compared at all. Links compare for equality only.
    static func comparable(_ a: ValueType, _ b: ValueType) -> Bool {
        if a == .null || b == .null || a == .mixed || b == .mixed { return true }
        if a.isNumeric && b.isNumeric { return true }
        if a.isLink && b.isLink { return true }
        return a == b
    }
}

/// A set of value types that `@type` is compared with. Each row of the table gives the names of one set; the first name
/// is the one that is printed.
struct TypeNames: OptionSet {
    let rawValue: UInt32

    static let null = TypeNames(rawValue: 1), int = TypeNames(rawValue: 2), bool = TypeNames(rawValue: 4),
        string = TypeNames(rawValue: 8)

    static let binary = TypeNames(rawValue: 16), date = TypeNames(rawValue: 32), float = TypeNames(rawValue: 64),
        double = TypeNames(rawValue: 128)

    static let decimal = TypeNames(rawValue: 256), link = TypeNames(rawValue: 512),
        objectId = TypeNames(rawValue: 1024),
        uuid = TypeNames(rawValue: 2048)
    static let dictionary = TypeNames(rawValue: 4096), list = TypeNames(rawValue: 8192)

    private static let table: [(TypeNames, [String])] = [
        (.null, ["null"]), (.int, ["int", "integer", "int16", "int32", "int64", "short", "long", "byte", "char"]),
        (.bool, ["bool", "boolean"]),
        (.string, ["string"]), (.binary, ["binary", "data", "bytearray", "byte[]", "bindata"]),
        (.date, ["date", "datetimeoffset", "timestamp"]),
        (.float, ["float"]), (.double, ["double"]), (.decimal, ["decimal128", "decimal"]),
        (.link, ["objectlink", "link"]), (.objectId, ["objectid"]),
        (.uuid, ["uuid", "guid"]), ([.int, .float, .double, .decimal], ["numeric"]),
        (.dictionary, ["object", "dictionary"]),
        (.list, ["array", "list"]),
        ([.list, .dictionary], ["collection"]),
    ]

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init?(name: String) {
        let lower = name.lowercased()
        guard let row = Self.table.first(where: { $0.1.contains(lower) }) else { return nil }
        self = row.0
    }

    init(_ value: Mixed) {
        switch value {
        case .null, .slot: self = .null
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .date
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .link, .typedLink: self = .link
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .list: self = .list
        case .dictionary: self = .dictionary
        }
    }

    var text: String { Self.table.first { $0.0 == self }?.1[0] ?? "" }
    static var allNames: String { table.map { $0.1[0] }.joined(separator: ", ") }

    /// The set as a value of an expression: an integer with its bits.
    var value: Mixed { .int(Int64(rawValue)) }
}
