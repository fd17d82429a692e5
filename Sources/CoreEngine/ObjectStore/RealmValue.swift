/// A value as Swift programs hold it: owns its bytes, stays good after the snapshot moved.
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
    /// An identifier of twelve bytes.
    case objectId(ObjectId)
    /// An identifier of sixteen bytes.
    case uuid(UUIDValue)
    /// An object of some class, by its keys.
    case link(TableKey, ObjKey)
    /// Values in an order; those of a set in its order.
    case list([RealmValue])
    /// Entries in key order.
    case dictionary([Entry])

    /// A key of a dictionary with its value.
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
    /// Texts are equal when their bytes are.
    public static func == (a: RealmValue, b: RealmValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.int(let x), .int(let y)): x == y
        case (.bool(let x), .bool(let y)): x == y
        case (.string(let x), .string(let y)): Name(x) == Name(y)
        case (.data(let x), .data(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.float(let x), .float(let y)): x == y
        case (.double(let x), .double(let y)): x == y
        case (.decimal(let x), .decimal(let y)): x == y
        case (.objectId(let x), .objectId(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.link(let table, let key), .link(let otherTable, let otherKey)): table == otherTable && key == otherKey
        case (.list(let x), .list(let y)): x == y
        case (.dictionary(let x), .dictionary(let y)): x == y
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

    /// The integer; nil when it is none.
    public var int: Int64? { if case .int(let v) = self { v } else { nil } }

    /// The text; nil when it is none.
    public var string: String? { if case .string(let v) = self { v } else { nil } }

    /// True or false; nil when it is neither.
    public var bool: Bool? { if case .bool(let v) = self { v } else { nil } }

    /// The number of 64 bits; nil when it is none.
    public var double: Double? { if case .double(let v) = self { v } else { nil } }

    /// Whether it is `.null`.
    public var isNull: Bool { self == .null }
}

extension RealmValue: ExpressibleByDictionaryLiteral {
    /// Of a key that stands twice the last value counts.
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
        case .int(let v): hasher.combine(v)
        case .bool(let v): hasher.combine(v)
        case .string(let v): hasher.combine(Name(v))
        case .data(let v): hasher.combine(v)
        case .date(let v): hasher.combine(v)
        case .float(let v): hasher.combine(v)
        case .double(let v): hasher.combine(v)
        case .decimal(let v): hasher.combine(v)
        case .objectId(let v): hasher.combine(v)
        case .uuid(let v): hasher.combine(v)
        case .link(let table, let key):
            hasher.combine(table)
            hasher.combine(key)
        case .list(let v): hasher.combine(v)
        case .dictionary(let v): hasher.combine(v)
        }
    }
}

extension Group {
    /// Copies a value out of the snapshot, nested collections included.
    func copy(_ v: Mixed, depth: Int = 0) throws(RealmError) -> RealmValue {
        guard depth < Trees.maxNesting else { throw .corrupt("collections nested too deeply") }
        if depth == 0 { startWalk() } else { try enterNested(at: .null) }
        switch v {
        case .string(let b), .binary(let b): try CMemory.expect(b.count, each: 2)
        default: break
        }
        switch v {
        case .null, .slot, .link: return .null
        case .int(let i): return .int(i)
        case .bool(let b): return .bool(b)
        case .string(let b): return .string(String(decoding: b, as: UTF8.self))
        case .binary(let b): return .data(Array(b))
        case .timestamp(let t): return .date(t)
        case .float(let f): return .float(f)
        case .double(let d): return .double(d)
        case .decimal(let d): return .decimal(d)
        case .objectId(let o): return .objectId(o)
        case .uuid(let u): return .uuid(u)
        case .typedLink(let t, let k): return .link(t, k)
        case .list(let r):
            return try copy(.list(ElementList(store, root: r, kind: .mixed, target: .null)), depth: depth + 1)
        case .dictionary(let r):
            return try copy(
                .dictionary(ElementDictionary(store, root: r, keyType: .string, format: 24)), depth: depth + 1)
        }
    }

    func copy(_ content: CollectionContent, depth: Int = 0) throws(RealmError) -> RealmValue {
        switch content {
        case .list(let l):
            var all: [RealmValue] = []
            for i in 0..<l.count { try all.add(try copy(try l.get(i), depth: depth)) }
            return .list(all)
        case .dictionary(let d):
            var all: [RealmValue.Entry] = []
            for i in 0..<d.count {
                try all.add(
                    RealmValue.Entry(
                        key: Name(try copy(try d.key(i)).string ?? ""), value: try copy(try d.value(i), depth: depth)))
            }
            return .dictionary(all)
        }
    }
}

extension RealmValue {
    /// Calls `body` with the engine's form, whose bytes are good inside the call.
    package func withMixed<R>(_ body: (Mixed) throws(RealmError) -> R) throws(RealmError) -> R {
        switch self {
        case .null: return try body(.null)
        case .int(let v): return try body(.int(v))
        case .bool(let v): return try body(.bool(v))
        case .string(let v): return try Array(v.utf8).withBytes { (b) throws(RealmError) in try body(.string(b)) }
        case .data(let v): return try v.withBytes { (b) throws(RealmError) in try body(.binary(b)) }
        case .date(let v): return try body(.timestamp(v))
        case .float(let v): return try body(.number(v))
        case .double(let v): return try body(.number(v))
        case .decimal(let v): return try body(.number(v))
        case .objectId(let v): return try body(.objectId(v))
        case .uuid(let v): return try body(.uuid(v))
        case .link(let t, let k): return try body(.typedLink(t, k))
        case .list, .dictionary: throw RealmError(.typeMismatch, "A collection stands where a single value is expected")
        }
    }
}
