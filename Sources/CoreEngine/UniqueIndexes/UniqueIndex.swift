/// The index of a unique rule: a table that is no class, in which the key of a row is a hash of the values, and the row
/// names the object. With several properties the upper half of the key is a hash of the first value, so that the
/// entries of objects with that value are neighbours. Format: rules.md §4.
///
/// Invariants
/// 1. Each object whose values count has an entry at the hash of its values, or at one of the keys that follow without
///    a gap.
/// 2. An entry may be left behind by a write of another library. So an entry counts only if its object has those
///    values now.
final class UniqueIndex {
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

    /// The bits of a key that each of its two hashes has.
    private let hashBits: Int

    /// - Parameters:
    ///   - key: the row of the rule in the table of rules.
    ///   - hashBits: tests have few, so that different values have equal hashes.
    init(
        _ group: Group, _ table: Table, _ row: RuleRow, _ key: ObjKey, hashBits: Int = 31
    ) throws(RealmError) {
        self.hashBits = hashBits
        self.group = group
        self.table = table
        self.row = row
        self.key = key
        var columns: [ColumnFacts] = []
        for column in row.columns {
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
    var isWhole: Bool { !columns.isEmpty && columns.count == row.columns.count }

    static func drop(_ group: Group, _ key: ObjKey) throws(RealmError) {
        if let index = try group.table(named: RuleTable.indexName(key)) { try group.removeTable(index) }
    }

    /// The table of the index, and its column.
    private var opened: (table: Table, object: ColumnFacts)?

    /// The table of the index, and its column; nil if the file lost it.
    private func index() throws(RealmError) -> (table: Table, object: ColumnFacts)? {
        if let opened { return opened }
        guard let index = try group.table(named: RuleTable.indexName(key)) else { return nil }
        guard let column = index.column(named: "object"), let facts = index.facts(column.key), facts.type == .int,
            !facts.isCollection, !facts.isNullable
        else {
            throw .corrupt("unique index without its column")
        }
        opened = (index, facts)
        return opened
    }

    private func makeIndex() throws(RealmError) -> (table: Table, object: ColumnFacts) {
        if let known = try index() { return known }
        try group.addTable(RuleTable.indexName(key)).addColumn("object", .int, [])
        guard let made = try index() else { throw RealmError(.brokenInvariant, "A new index does not exist") }
        return made
    }

    /// Whether the index has no entries.
    var isEmpty: Bool {
        get throws(RealmError) { try index().map { index throws(RealmError) in try index.table.count() } ?? 0 == 0 }
    }

    /// Whether another version of the table has all properties of the rule.
    func fits(_ other: Table) -> Bool { columns.allSatisfy { other.facts($0.key) != nil } }

    // MARK: Values

    /// An object and the hash of its values.
    struct Entry: Hashable {
        let hash: Int64
        let object: ObjKey
    }

    /// The bytes of the values that were read last.
    private var buffer: [UInt8] = []

    /// Reads the values of an object into `buffer`: equal bytes mean equal values.
    ///
    /// - Returns: false if the object has a null, and is equal to no other.
    private func read(_ object: ObjKey, _ table: Table) throws(RealmError) -> Bool {
        buffer.removeAll(keepingCapacity: true)
        for column in columns {
            guard let value = try table.get(object, column), try append(value) else { return false }
        }
        return true
    }

    /// Appends a value to `buffer`; false if it makes its object different from all others.
    private func append(_ value: Mixed) throws(RealmError) -> Bool {
        if try Self.append(value, to: &buffer, ignoringCase: row.ignoresCase) { return true }
        buffer.append(0)
        return row.nullsAreEqual
    }

    /// The entry of an object; nil if it needs none.
    func entry(of object: ObjKey, in table: Table) throws(RealmError) -> Entry? {
        guard try read(object, table) else { return nil }
        return Entry(hash: try hash(buffer), object: object)
    }

    /// The bytes of an object's values; nil if it needs no entry.
    func values(_ table: Table, _ object: ObjKey) throws(RealmError) -> [UInt8]? {
        try read(object, table) ? buffer : nil
    }

    /// The bytes of values that a caller looks for, in the order of the properties.
    func values(_ wanted: [Mixed]) throws(RealmError) -> [UInt8]? {
        buffer.removeAll(keepingCapacity: true)
        for value in wanted { guard try append(value) else { return nil } }
        return buffer
    }

    /// Throws 9006 if two of the objects have the same values. The entries are in the order of their hashes.
    func expectDifferent(_ entries: [Entry]) throws(RealmError) {
        var first = 0
        for i in entries.indices.dropFirst() {
            guard entries[i].hash == entries[first].hash else {
                first = i
                continue
            }
            guard let bytes = try values(table, entries[i].object) else { continue }
            for j in first..<i where try values(table, entries[j].object) == bytes {
                throw try broken(entries[i].object, entries[j].object)
            }
        }
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
                let folded = Array(String(decoding: text, as: UTF8.self).uppercased().lowercased().utf8)
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
            word(number.isNaN ? Double.nan.bitPattern : Double(number == 0 ? 0 : number).bitPattern)
        case .double(let number):
            bytes.append(6)
            word(number.isNaN ? Double.nan.bitPattern : (number == 0 ? 0 : number).bitPattern)
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
        let all = try shortHash(bytes, bytes.count)
        guard columns.count > 1 else { return Int64(all & (1 << UInt64(2 * hashBits) - 1)) }
        return try leadingKey(bytes) + Int64(all & (1 << UInt64(hashBits) - 1))
    }

    /// The least key of entries with the first of these values.
    private func leadingKey(_ bytes: [UInt8]) throws(RealmError) -> Int64 {
        let first = try shortHash(bytes, Self.length(of: bytes))
        return Int64(first & (1 << UInt64(hashBits) - 1)) << Int64(hashBits)
    }

    private func shortHash(_ bytes: [UInt8], _ count: Int) throws(RealmError) -> UInt64 {
        try bytes.withBytes { (b) throws(RealmError) in Crypto.shortHash(Bytes(rebasing: b[..<count]), key: hashKey) }
    }

    /// The number of bytes of the first value.
    private static func length(of bytes: [UInt8]) -> Int {
        switch bytes.first {
        case 0: return 1
        case 2: return 2
        case 3, 4:
            var count = 0
            for (i, byte) in bytes[1..<9].enumerated() { count |= Int(byte) << (8 * i) }
            return 9 + count
        case 5, 7, 8: return 17
        default: return 9
        }
    }

    // MARK: Looking up

    /// An object other than `object` that has these values now.
    func other(than object: ObjKey, with bytes: [UInt8]) throws(RealmError) -> ObjKey? {
        guard let (index, column) = try index() else { return nil }
        var place = try hash(bytes)
        while case .int(let raw)? = try index.get(ObjKey(place), column) {
            let found = ObjKey(raw)
            if found != object, try table.isValid(found), try values(table, found) == bytes { return found }
            try table.test()
            place += 1
        }
        return nil
    }

    /// An object other than that of the entry that has its values now.
    func other(than entry: Entry) throws(RealmError) -> ObjKey? {
        guard let (index, column) = try index(), case .int(let raw)? = try index.get(ObjKey(entry.hash), column) else {
            return nil
        }
        // Nearly always its own entry, or one that does not count.
        if raw == entry.object.raw, try index.get(ObjKey(entry.hash + 1), column) == nil { return nil }
        guard let bytes = try values(table, entry.object) else { return nil }
        return try other(than: entry.object, with: bytes)
    }

    /// The objects that may have these values of the first properties, ascending. nil: the index has no answer, or
    /// there are more than `most`.
    func candidates(_ wanted: [Mixed], most: Int) throws(RealmError) -> [ObjKey]? {
        guard isWhole, 1...columns.count ~= wanted.count, let bytes = try values(wanted) else { return nil }
        guard let (index, column) = try index() else { return [] }
        var found: [ObjKey] = []
        func add(_ place: ObjKey) throws(RealmError) -> Bool {
            guard case .int(let raw)? = try index.get(place, column) else { return false }
            try table.test()
            if try table.isValid(ObjKey(raw)) { found.append(ObjKey(raw)) }
            return found.count <= most
        }
        if wanted.count == columns.count {
            var place = try hash(bytes)
            while try add(ObjKey(place)) { place += 1 }
        } else {
            let range = try entries(from: try leadingKey(bytes), index)
            guard range.count <= most else { return nil }
            for i in range where try !add(index.rows.key(at: i)) { break }
        }
        guard found.count <= most else { return nil }
        found.sort()
        var kept: [ObjKey] = []
        for key in found where kept.last != key { kept.append(key) }
        return kept
    }

    /// The positions of all entries with the first value that belongs to this key.
    private func entries(from first: Int64, _ index: Table) throws(RealmError) -> Range<Int> {
        let count = try index.count(), behind = first + 1 << Int64(hashBits)
        func position(of key: Int64) throws(RealmError) -> Int {
            var low = 0, high = count
            while low < high {
                let middle = (low + high) / 2
                if try index.rows.key(at: middle).raw < key { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let start = try position(of: first)
        var end = try position(of: behind), next = behind
        // Entries for which there was no place before the end of their keys.
        guard end > start, try index.rows.key(at: end - 1).raw == behind - 1 else { return start..<end }
        while end < count, try index.rows.key(at: end).raw == next { (end, next) = (end + 1, next + 1) }
        return start..<end
    }

    /// Whether each object with given values of the first `count` properties has an entry. An object with a null has
    /// none, unless nulls are equal.
    func knowsAll(givenFirst count: Int) -> Bool {
        row.nullsAreEqual || columns[count...].allSatisfy { !$0.isNullable && $0.type != .link }
    }

    /// The properties of the rule, in its order.
    var properties: [ColKey] { columns.map(\.key) }

    /// The first object with these values, without the index.
    func search(_ bytes: [UInt8]) throws(RealmError) -> ObjKey? {
        for object in try table.allKeys() {
            try table.test()
            if try values(table, object) == bytes { return object }
        }
        return nil
    }

    // MARK: Changing

    /// Enters an object. An entry that does not count is used again.
    func enter(_ entry: Entry) throws(RealmError) {
        let (index, column) = try makeIndex(), object = entry.object
        var place = entry.hash
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
    func leave(_ entry: Entry) throws(RealmError) {
        guard let (index, column) = try index() else { return }
        let object = entry.object
        var place = entry.hash
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

    /// The entries of all objects of the class, in the order of the index.
    private func allEntries() throws(RealmError) -> [Entry] {
        var all: [Entry] = []
        for object in try table.allKeys() {
            try table.test()
            if let entry = try entry(of: object, in: table) { all.append(entry) }
        }
        all.sort { $0.hash != $1.hash ? $0.hash < $1.hash : $0.object < $1.object }
        return all
    }

    private func makeAnew(_ entries: [Entry]) throws(RealmError) {
        try Self.drop(group, key)
        opened = nil
        let (index, column) = try makeIndex()
        // In the order of the index: each place is free. Objects that break the rule may have one hash in great number.
        var next: Int64 = 0
        for entry in entries {
            try table.test()
            next = max(next, entry.hash)
            try index.place(entry.object.raw, at: ObjKey(next), column)
            next += 1
        }
    }

    /// Builds the index over all objects of the class.
    ///
    /// - Throws: 9006 when two objects have the same values.
    func build() throws(RealmError) {
        let all = try allEntries()
        try expectDifferent(all)
        try makeAnew(all)
    }

    /// Passes the objects that have the values of an earlier object to `report`, which returns whether to go on.
    ///
    /// - Parameter rebuilding: builds the index anew; needs a write transaction. All objects have entries then: a change
    ///   of each one finds the others.
    func forEachDuplicate(
        rebuilding: Bool, _ report: (_ object: ObjKey, _ other: ObjKey) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let all = try allEntries()
        if rebuilding { try makeAnew(all) }
        var first = 0
        for i in all.indices.dropFirst() {
            guard all[i].hash == all[first].hash else {
                first = i
                continue
            }
            guard let bytes = try values(table, all[i].object) else { continue }
            for j in first..<i where try values(table, all[j].object) == bytes {
                if try !report(all[i].object, all[j].object) { return }
                break
            }
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
