/// A unique rule and its index: a table that is no class, in which the key of a row is a hash of the values, and the row
/// names the object. Format: rules.md §4.
///
/// Invariants
/// 1. Each object whose values count has an entry at the hash of its values, or at one of the keys that follow without
///    a gap.
/// 2. An entry may be left behind by a write of another library. So an entry counts only if its object has those
///    values now.
struct UniqueRule {
    /// Types of properties that can be unique.
    static let types: [ColumnType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .objectId, .uuid, .link,
    ]

    private let group: Group
    let table: Table
    let row: RuleRow
    private let key: ObjKey
    private let columns: [ColumnFacts]
    private let hashKey: [UInt8]

    /// - Parameter key: the row of the rule in the table of rules.
    init(_ group: Group, _ table: Table, _ row: RuleRow, _ key: ObjKey) throws(RealmError) {
        self.group = group
        self.table = table
        self.row = row
        self.key = key
        var columns: [ColumnFacts] = []
        for column in Self.columns(row) {
            guard let facts = table.facts(column) else { continue }
            columns.append(facts)
        }
        self.columns = columns
        if case .binary(let bytes) = row.value { hashKey = bytes } else { hashKey = [] }
    }

    /// A new key for the hashes of an index.
    static func newHashKey() -> StoredValue {
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.withUnsafeMutableBytes { Crypto.randomFill($0) }
        return .binary(bytes)
    }

    /// Whether all properties of the rule still exist.
    var isWhole: Bool { !columns.isEmpty && columns.count == Self.columns(row).count }

    static func columns(_ row: RuleRow) -> [ColKey] {
        row.text.split(separator: ",").compactMap { Int64($0).map { ColKey($0) } }
    }

    private static func indexName(_ key: ObjKey) -> Name { Name("crealm_unique_\(key.raw)") }

    static func drop(_ group: Group, _ key: ObjKey) throws(RealmError) {
        if let index = try group.table(named: indexName(key)) { try group.removeTable(index) }
    }

    /// The table of the index, and its column; nil if the file lost it.
    private func index() throws(RealmError) -> (table: Table, object: ColumnFacts)? {
        guard let index = try group.table(named: Self.indexName(key)) else { return nil }
        guard let column = index.column(named: "object"), let facts = index.facts(column.key), facts.type == .int,
            !facts.isCollection, !facts.isNullable
        else {
            throw .corrupt("unique index without its column")
        }
        return (index, facts)
    }

    private func makeIndex() throws(RealmError) -> (table: Table, object: ColumnFacts) {
        if let known = try index() { return known }
        try group.addTable(Self.indexName(key)).addColumn("object", .int, [])
        guard let made = try index() else { throw RealmError(.brokenInvariant, "A new index does not exist") }
        return made
    }

    // MARK: Values

    /// The values of an object as bytes: equal bytes mean equal values. nil: the object has a null, and is equal to no
    /// other.
    func values(_ table: Table, _ object: ObjKey) throws(RealmError) -> [UInt8]? {
        var bytes: [UInt8] = []
        for column in columns {
            guard let value = try table.get(object, column) else { return nil }
            guard try Self.append(value, to: &bytes, ignoringCase: row.number & Rules.uniqueIgnoresCase != 0) else {
                guard row.number & Rules.uniqueNullsAreEqual != 0 else { return nil }
                bytes.append(0)
                continue
            }
        }
        return bytes
    }

    /// The bytes of values that a caller looks for, in the order of the properties.
    func values(_ wanted: [Mixed]) throws(RealmError) -> [UInt8]? {
        var bytes: [UInt8] = []
        for value in wanted {
            guard try Self.append(value, to: &bytes, ignoringCase: row.number & Rules.uniqueIgnoresCase != 0) else {
                guard row.number & Rules.uniqueNullsAreEqual != 0 else { return nil }
                bytes.append(0)
                continue
            }
        }
        return bytes
    }

    /// Appends the type, the length and the bytes of a value; false for null.
    private static func append(_ value: Mixed, to bytes: inout [UInt8], ignoringCase: Bool) throws(RealmError) -> Bool {
        func word(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        switch value {
        case .int(let integer):
            bytes.append(1)
            word(UInt64(bitPattern: integer))
        case .bool(let flag): bytes += [2, flag ? 1 : 0]
        case .string(let text):
            bytes.append(3)
            if ignoringCase {
                let folded = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
                word(UInt64(folded.count))
                bytes += folded
            } else {
                word(UInt64(text.count))
                bytes.append(contentsOf: text)
            }
        case .binary(let data):
            bytes.append(4)
            word(UInt64(data.count))
            bytes.append(contentsOf: data)
        case .timestamp(let time):
            bytes.append(5)
            word(UInt64(bitPattern: time.seconds))
            word(UInt64(bitPattern: Int64(time.nanoseconds)))
        case .float(let number):
            bytes.append(6)
            word(Double(number == 0 ? 0 : number).bitPattern)
        case .double(let number):
            bytes.append(6)
            word((number == 0 ? 0 : number).bitPattern)
        case .objectId(let id):
            bytes.append(7)
            word(id.high)
            word(UInt64(id.low))
        case .uuid(let id):
            bytes.append(8)
            word(id.high)
            word(id.low)
        case .link(let key), .typedLink(_, let key):
            if key.isNull || key.isUnresolved { return false }
            bytes.append(9)
            word(UInt64(bitPattern: key.raw))
        default: return false
        }
        return true
    }

    /// The first key of the entry of these values.
    func hash(_ bytes: [UInt8]) throws(RealmError) -> Int64 {
        let word = try bytes.withBytes { (b) throws(RealmError) in Crypto.shortHash(b, key: hashKey) }
        return Int64(word & 0x3FFF_FFFF_FFFF_FFFF)
    }

    // MARK: Looking up

    /// An object other than `object` that has these values now.
    func other(than object: ObjKey, with bytes: [UInt8]) throws(RealmError) -> ObjKey? {
        guard let (index, column) = try index() else { return nil }
        var place = try hash(bytes)
        while case .int(let raw)? = try index.get(ObjKey(place), column) {
            let found = ObjKey(raw)
            if found != object, try table.isValid(found), try values(table, found) == bytes { return found }
            place += 1
        }
        return nil
    }

    /// The object with these values, in the order of the properties. The index must be up to date.
    func find(_ wanted: [Mixed]) throws(RealmError) -> ObjKey? {
        guard let bytes = try values(wanted) else { return nil }
        return try other(than: .null, with: bytes)
    }

    // MARK: Changing

    /// Enters an object. An entry that does not count is used again.
    func enter(_ object: ObjKey, _ bytes: [UInt8]) throws(RealmError) {
        let (index, column) = try makeIndex()
        var place = try hash(bytes)
        while case .int(let raw)? = try index.get(ObjKey(place), column) {
            let found = ObjKey(raw)
            if found == object { return }
            // An entry of an object that has other values now does not count.
            guard let start = try start(of: found), start <= place, place - start < 1 << 20 else { break }
            place += 1
        }
        try index.place(object.raw, at: ObjKey(place), column)
    }

    /// The first key at which the entry of an object may be; nil if it needs none.
    private func start(of object: ObjKey) throws(RealmError) -> Int64? {
        guard try table.isValid(object), let bytes = try values(table, object) else { return nil }
        return try hash(bytes)
    }

    /// Removes the entry that an object had with these values. Entries behind it move up, so that no gap hides them.
    func leave(_ object: ObjKey, _ bytes: [UInt8]) throws(RealmError) {
        guard let (index, column) = try index() else { return }
        var place = try hash(bytes)
        while case .int(let raw)? = try index.get(ObjKey(place), column), raw != object.raw { place += 1 }
        guard case .int? = try index.get(ObjKey(place), column) else { return }
        var next = place + 1
        while case .int(let raw)? = try index.get(ObjKey(next), column) {
            if let start = try start(of: ObjKey(raw)), start <= place {
                try index.place(raw, at: ObjKey(place), column)
                place = next
            }
            next += 1
        }
        try index.removePlaced(ObjKey(place))
    }

    /// Builds the index over all objects of the class.
    ///
    /// - Throws: 9006 when two objects have the same values.
    func build() throws(RealmError) {
        try Self.drop(group, key)
        _ = try makeIndex()
        for object in try table.allKeys() {
            try table.test()
            guard let bytes = try values(table, object) else { continue }
            if let other = try other(than: object, with: bytes) { throw try broken(object, other) }
            try enter(object, bytes)
        }
    }

    /// Passes the objects that have the values of an earlier object to `report`, which returns whether to go on.
    ///
    /// - Parameter rebuilding: builds the index anew; needs a write transaction.
    func forEachDuplicate(
        rebuilding: Bool, _ report: (_ object: ObjKey, _ other: ObjKey) throws(RealmError) -> Bool
    ) throws(RealmError) {
        if rebuilding {
            try Self.drop(group, key)
            _ = try makeIndex()
        }
        var seen: [[UInt8]: ObjKey] = [:]
        for object in try table.allKeys() {
            try table.test()
            guard let bytes = try values(table, object) else { continue }
            if let other = seen[bytes] {
                if try !report(object, other) { return }
                continue
            }
            seen[bytes] = object
            if rebuilding { try enter(object, bytes) }
        }
    }

    var title: String {
        if !row.label.isEmpty { return row.label }
        return columns.map { table.column($0.key)?.name.text ?? "?" }.joined(separator: ", ")
    }

    func broken(_ object: ObjKey, _ other: ObjKey) throws(RealmError) -> RealmError {
        RealmError(
            .ruleBroken,
            "Unique rule '\(title)': \(try table.description(of: object)) has the same values as "
                + "\(try table.description(of: other))")
    }
}
