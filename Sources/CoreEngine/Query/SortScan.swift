/// A scan that reads the sort values from the leaves while it finds the rows. Used for a sort by a single property of
/// the queried class.
///
/// Integers and doubles become words with the same ascending order, which are sorted by radix. For strings with a
/// limit, a heap keeps the rows that come first.
enum SortScan {
    /// The sorted rows, at most `limit`; nil when this scan does not support the sort and the caller must sort in
    /// another way.
    static func run(_ table: Table, _ condition: Condition, _ key: SortKey, limit: Int) throws(RealmError) -> [ObjKey]?
    {
        guard key.hops.isEmpty, key.dictionaryKey == nil, !key.isInvalid, let facts = table.facts(key.column),
            !facts.isCollection
        else { return nil }
        switch facts.kind {
        case .int, .nullableInt, .double: return try numbers(table, condition, key, facts.kind, limit: limit)
        case .string where limit <= 10_000 && !table.rows.isEnumerated(key.column):
            return try strings(table, condition, key, limit: limit)
        default: return nil
        }
    }

    /// A row with its sort value as a word, flipped for a descending sort.
    private struct Entry: BitwiseCopyable {
        var word: UInt64
        var key: ObjKey
    }

    private static func numbers(_ table: Table, _ condition: Condition, _ key: SortKey, _ kind: LeafKind, limit: Int)
        throws(RealmError) -> [ObjKey]?
    {
        var entries: [Entry] = [], nulls: [ObjKey] = []
        let flip: UInt64 = key.ascending ? 0 : .max
        var hasNaN = false
        let scan = ClusterScan(table)
        try scan.run(condition) { (mask) throws(RealmError) in
            try entries.makeRoom(for: scan.count)
            try nulls.makeRoom(for: scan.count)
            if kind == .double {
                let leaf = try scan.numbers(key.column, width: 8)
                for row in 0..<scan.count where mask[row] != 0 {
                    var bits = FloatLeaf.double(leaf, row)
                    if bits == FloatLeaf.nullDouble {
                        nulls.append(scan.key(row))
                        continue
                    }
                    if Double(bitPattern: bits).isNaN { hasNaN = true }
                    // −0.0 equals 0.0.
                    if bits == 1 << 63 { bits = 0 }
                    let word = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
                    entries.append(Entry(word: word ^ flip, key: scan.key(row)))
                }
                return !hasNaN
            }
            let first = kind == .nullableInt ? 1 : 0, leaf = try scan.integers(key.column, more: first)
            let null = first == 1 ? leaf.get(0) : 0
            for row in 0..<scan.count where mask[row] != 0 {
                let value = leaf.get(row &+ first)
                if first == 1 && value == null {
                    nulls.append(scan.key(row))
                } else {
                    entries.append(Entry(word: UInt64(bitPattern: value) ^ (1 << 63) ^ flip, key: scan.key(row)))
                }
            }
            return true
        }
        if hasNaN { return nil }
        // The sort needs the same memory again, and so does the result.
        try CMemory.expect(entries.count &+ nulls.count, each: 2 * MemoryLayout<Entry>.stride)
        sort(&entries)
        var rows: [ObjKey] = []
        rows.reserveCapacity(min(limit, entries.count + nulls.count))
        if key.ascending { rows += nulls.prefix(limit) }
        for entry in entries.prefix(limit - rows.count) { rows.append(entry.key) }
        if !key.ascending { rows += nulls.prefix(limit - rows.count) }
        return rows
    }

    private static func sort(_ entries: inout [Entry]) {
        let count = entries.count
        var spare = [Entry](repeating: Entry(word: 0, key: .null), count: count > RadixSort.few ? count : 1)
        let isInSpare = entries.withUnsafeMutableBufferPointer { from in
            spare.withUnsafeMutableBufferPointer { to in
                guard let start = from.baseAddress, let other = to.baseAddress else { return false }
                return RadixSort.sort(start, count, spare: other) { $0.word } != start
            }
        }
        if isInSpare { swap(&entries, &spare) }
    }

    private struct Text {
        /// nil for NULL.
        var bytes: Bytes?
        var key: ObjKey

        /// The row's position in the scan: of equal rows the earlier one comes first.
        var place: Int
    }

    /// The first `limit` rows by a string property, found without sorting the rest.
    private static func strings(_ table: Table, _ condition: Condition, _ key: SortKey, limit: Int) throws(RealmError)
        -> [ObjKey]
    {
        guard limit > 0 else { return [] }
        var place = 0
        let ascending = key.ascending
        func order(_ a: Bytes?, _ b: Bytes?) -> Int {
            guard let a else { return b == nil ? 0 : -1 }
            guard let b else { return 1 }
            return Mixed.compareBytes(a, b)
        }
        func precedes(_ x: Text, _ y: Text) -> Bool {
            let result = order(x.bytes, y.bytes)
            return result == 0 ? x.place < y.place : (ascending ? result < 0 : result > 0)
        }
        var first = Smallest<Text>(limit)
        let scan = ClusterScan(table)
        try scan.run(condition) { (mask) throws(RealmError) in
            let ref = try scan.columnLeaf(key.column)
            let leaf = try TextLeaf(table.store, ref, scan.count)
            for row in 0..<scan.count where mask[row] != 0 {
                let bytes = try leaf.text(table.store, row)
                place += 1
                if let last = first.greatest {
                    // A later row that is equal does not come before the last kept row.
                    let result = order(bytes, last.bytes)
                    if ascending ? result >= 0 : result <= 0 { continue }
                }
                first.take(Text(bytes: bytes, key: scan.key(row), place: place), by: precedes)
            }
            return true
        }
        return first.sorted(by: precedes).map(\.key)
    }
}

/// A string leaf, opened for reading many rows.
struct TextLeaf {
    private let node: Node

    /// Whether the strings are stored in three nodes: ends, bytes and nulls. `parts` is not optional, because each read
    /// would then copy it.
    private let isMedium: Bool
    private let parts: MediumLeaf.Parts

    /// Checks that the leaf has at least `count` rows.
    init(_ store: NodeStore, _ ref: Ref, _ count: Int) throws(RealmError) {
        node = try store.node(ref)
        isMedium = node.hasRefs && !node.context
        if isMedium {
            parts = try MediumLeaf.parts(store, node)
            guard parts.ends.count >= count, parts.nulls.count >= count else {
                throw .corrupt("string leaf is too short", at: ref.offset)
            }
        } else {
            parts = MediumLeaf.Parts(ends: node, blob: node, nulls: node)
            guard node.count >= count else { throw .corrupt("string leaf is too short", at: ref.offset) }
        }
    }

    /// The sizes in bytes of the offsets and of the text; nil unless they are in separate nodes.
    var sizes: (offsets: Int, text: Int)? { isMedium ? (parts.ends.payloadSize, parts.blob.count) : nil }

    @inline(__always) func text(_ store: NodeStore, _ row: Int) throws(RealmError) -> Bytes? {
        guard isMedium else { return try StringLeaf.get(store, node, row) }
        if parts.nulls.get(row) != 0 { return nil }
        guard let text = MediumLeaf.text(parts.ends, parts.blob, row) else {
            throw .corrupt("string offsets out of order", at: node.ref.offset)
        }
        return text
    }
}
