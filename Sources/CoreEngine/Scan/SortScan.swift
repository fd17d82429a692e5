/// A scan that reads the sort values from the leaves while it finds the rows. Used for a sort by a single property of
/// the queried class.
///
/// Integers and doubles become words with the same ascending order, which are sorted by radix. For strings with a
/// limit, a heap keeps the rows that come first.
enum SortScan {
    /// The sorted rows, at most `limit`; nil when this scan does not support the sort and the caller must sort in
    /// another way.
    static func run(_ table: Table, _ test: RowTest, _ column: ColKey, ascending: Bool, limit: Int)
        throws(RealmError) -> [ObjKey]?
    {
        guard let facts = table.facts(column), !facts.isCollection else { return nil }
        switch facts.kind {
        case .int, .nullableInt, .double:
            return try numbers(table, test, column, facts.kind, ascending: ascending, limit: limit)
        case .string where limit <= 10_000 && !table.rows.isEnumerated(column):
            return try strings(table, test, column, ascending: ascending, limit: limit)
        default: return nil
        }
    }

    /// A row with its sort value as a word, flipped for a descending sort.
    private struct Entry: BitwiseCopyable {
        var word: UInt64
        var key: ObjKey
    }

    private static func numbers(
        _ table: Table, _ test: RowTest, _ column: ColKey, _ kind: LeafKind, ascending: Bool, limit: Int
    ) throws(RealmError) -> [ObjKey]? {
        var entries: [Entry] = [], nulls: [ObjKey] = []
        let flip: UInt64 = ascending ? 0 : .max
        var hasNaN = false
        let scan = ClusterScan(table)
        try scan.run(test) { (mask) throws(RealmError) in
            try entries.makeRoom(for: scan.count)
            try nulls.makeRoom(for: scan.count)
            if kind == .double {
                let leaf = try scan.numbers(column, width: 8)
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
            let first = kind == .nullableInt ? 1 : 0, leaf = try scan.integers(column, more: first)
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
        if ascending { rows += nulls.prefix(limit) }
        for entry in entries.prefix(limit - rows.count) { rows.append(entry.key) }
        if !ascending { rows += nulls.prefix(limit - rows.count) }
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
    private static func strings(
        _ table: Table, _ test: RowTest, _ column: ColKey, ascending: Bool, limit: Int
    ) throws(RealmError) -> [ObjKey] {
        guard limit > 0 else { return [] }
        var place = 0
        func order(_ a: Bytes?, _ b: Bytes?) -> Int {
            guard let a else { return b == nil ? 0 : -1 }
            guard let b else { return 1 }
            return Mixed.compareBytes(a, b)
        }
        var comparisons = Comparisons(table.store)
        func precedes(_ x: Text, _ y: Text) -> Bool {
            guard comparisons.goOn(x.bytes?.count ?? 0, y.bytes?.count ?? 0) else { return false }
            let result = order(x.bytes, y.bytes)
            return result == 0 ? x.place < y.place : (ascending ? result < 0 : result > 0)
        }
        var first = Smallest<Text>(limit)
        let scan = ClusterScan(table)
        try scan.run(test) { (mask) throws(RealmError) in
            let ref = try scan.columnLeaf(column)
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
        let sorted = first.sorted(by: precedes)
        try table.test()
        return sorted.map(\.key)
    }
}
