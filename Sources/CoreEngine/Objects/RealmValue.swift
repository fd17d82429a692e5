/// A value in Swift form. It owns its bytes, so it stays valid after the snapshot has moved.
public enum RealmValue: Sendable {
    /// No value.
    case null
    /// An integer of 64 bits.
    case int(Int64)
    /// True or false.
    case bool(Bool)
    /// A text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A point in time.
    case date(Timestamp)
    /// A number of 32 bits.
    case float(Float)
    /// A number of 64 bits.
    case double(Double)
    /// A decimal number of 34 digits.
    case decimal(Decimal128)
    /// An identifier of 12 bytes.
    case objectId(ObjectId)
    /// An identifier of 16 bytes.
    case uuid(UUIDValue)
    /// A link to an object, by the keys of its class and of itself.
    case link(TableKey, ObjKey)
    /// A list, or the elements of a set in the order of the set.
    case list([RealmValue])
    /// Entries in key order.
    case dictionary([Entry])

    /// A key of a dictionary and its value.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: Name

        /// Its value.
        public let value: RealmValue

        /// One entry.
        public init(key: Name, value: RealmValue) {
            self.key = key
            self.value = value
        }
    }
}

extension RealmValue: Equatable {
    /// Two strings are equal when their bytes are.
    public static func == (a: RealmValue, b: RealmValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.int(let left), .int(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.string(let left), .string(let right)): Name(left) == Name(right)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.float(let left), .float(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.objectId(let left), .objectId(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.link(let table, let key), .link(let otherTable, let otherKey)): table == otherTable && key == otherKey
        case (.list(let left), .list(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }
}

extension RealmValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral,
    ExpressibleByNilLiteral
{
    public init(integerLiteral value: Int64) { self = .int(value) }

    public init(stringLiteral value: String) { self = .string(value) }

    public init(booleanLiteral value: Bool) { self = .bool(value) }

    public init(floatLiteral value: Double) { self = .double(value) }

    public init(nilLiteral: ()) { self = .null }

    /// The integer; nil for a value of another type.
    public var int: Int64? { if case .int(let value) = self { value } else { nil } }

    /// The string; nil for a value of another type.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The Bool; nil for a value of another type.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The double; nil for a value of another type.
    public var double: Double? { if case .double(let value) = self { value } else { nil } }

    /// Whether it is `.null`.
    public var isNull: Bool { self == .null }
}

extension RealmValue: ExpressibleByDictionaryLiteral {
    /// When a key is repeated, its last value counts.
    public init(dictionaryLiteral elements: (Name, RealmValue)...) { self.init(entries: elements) }

    init(entries: [(Name, RealmValue)]) {
        let all = Swift.Dictionary(entries, uniquingKeysWith: { $1 })
        self = .dictionary(all.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key })
    }
}

extension RealmValue: Hashable {
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .int(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .string(let value): hasher.combine(Name(value))
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .objectId(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .link(let table, let key):
            hasher.combine(table)
            hasher.combine(key)
        case .list(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value)
        }
    }
}

extension Group {
    /// Copies a value out of the snapshot, nested collections included.
    func copy(_ value: Mixed, depth: Int = 0) throws(RealmError) -> RealmValue {
        guard depth < Tables.maxNesting else { throw .corrupt("collections nested too deeply") }
        if depth == 0 { startWalk() } else { try enterNested(at: .null) }
        switch value {
        case .string(let bytes), .binary(let bytes): try CMemory.expect(bytes.count, each: 2)
        default: break
        }
        switch value {
        case .null, .slot, .link: return .null
        case .int(let integer): return .int(integer)
        case .bool(let flag): return .bool(flag)
        case .string(let flag): return .string(String(decoding: flag, as: UTF8.self))
        case .binary(let flag): return .data(Array(flag))
        case .timestamp(let timestamp): return .date(timestamp)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        case .objectId(let id): return .objectId(id)
        case .uuid(let id): return .uuid(id)
        case .typedLink(let timestamp, let key): return .link(timestamp, key)
        case .list(let ref):
            return try copy(.list(ElementList(store, root: ref, kind: .mixed, target: .null)), depth: depth + 1)
        case .dictionary(let ref):
            return try copy(
                .dictionary(ElementDictionary(store, root: ref, keyType: .string, format: 24)), depth: depth + 1)
        }
    }

    func copy(_ content: CollectionContent, depth: Int = 0) throws(RealmError) -> RealmValue {
        switch content {
        case .list(let list):
            var all: [RealmValue] = []
            for i in 0..<list.count { try all.add(try copy(try list.get(i), depth: depth)) }
            return .list(all)
        case .dictionary(let dictionary):
            var all: [RealmValue.Entry] = []
            for i in 0..<dictionary.count {
                try all.add(
                    RealmValue.Entry(
                        key: Name(try copy(try dictionary.key(i)).string ?? ""),
                        value: try copy(try dictionary.value(i), depth: depth)))
            }
            return .dictionary(all)
        }
    }
}

extension RealmValue {
    /// Calls `body` with the engine's form of the value. Its bytes are valid only during the call.
    package func withMixed<R>(_ body: (Mixed) throws(RealmError) -> R) throws(RealmError) -> R {
        switch self {
        case .null: return try body(.null)
        case .int(let value): return try body(.int(value))
        case .bool(let value): return try body(.bool(value))
        case .string(let value):
            return try Array(value.utf8).withBytes { (b) throws(RealmError) in try body(.string(b)) }
        case .data(let value): return try value.withBytes { (b) throws(RealmError) in try body(.binary(b)) }
        case .date(let value): return try body(.timestamp(value))
        case .float(let value): return try body(.number(value))
        case .double(let value): return try body(.number(value))
        case .decimal(let value): return try body(.number(value))
        case .objectId(let value): return try body(.objectId(value))
        case .uuid(let value): return try body(.uuid(value))
        case .link(let table, let key): return try body(.typedLink(table, key))
        case .list, .dictionary: throw RealmError(.typeMismatch, "A collection stands where a single value is expected")
        }
    }
}
