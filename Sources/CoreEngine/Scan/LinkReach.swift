/// The set of the objects of a class that meet a condition, as one bit for each object key. A condition behind a to-one
/// link then costs one bit test for each row.
///
/// Built by one scan of the link's target class. Valid for one run of the query.
final class LinkReach {
    private var bits: [UInt64]

    /// Whether a row whose link leads to no object matches.
    private let null: Bool

    /// nil when a set of bits would not be faster: the keys are too far apart, or there are too few rows to test.
    init?(_ test: RowTest, on target: Table, rows: Int, null: Bool) throws(RealmError) {
        self.null = null
        let count = try target.count()
        var last: Int64 = -1
        if count > 0 { last = try target.rows.key(at: count - 1).raw }
        guard last >= -1 else { return nil }
        // A class without a primary key uses 256 of 65,536 consecutive keys; for a million objects that makes 32 MB of
        // bits.
        let isNear = last < Int64(count) * 64 + 65_536 || (last < Int64(count) * 512 + 65_536 && last < 1 << 28)
        guard isNear, count / 16 <= rows else { return nil }
        try CMemory.expect(Int(last + 1) / 64 + 1, each: 8)
        bits = [UInt64](repeating: 0, count: Int(last + 1) / 64 + 1)
        let scan = ClusterScan(target)
        try scan.run(test) { (mask) throws(RealmError) in
            for row in 0..<scan.count where mask[row] != 0 {
                let key = scan.key(row).raw
                guard key >= 0, key <= last else {
                    throw .corrupt("object keys out of order", at: scan.leaf.ref.offset)
                }
                bits[Int(key >> 6)] |= 1 << UInt64(key & 63)
            }
            return true
        }
    }

    /// Clears the rows whose link in `column` leads to an object outside the set; `null` decides for the rows without a
    /// target.
    func narrow(_ scan: ClusterScan, _ column: ColKey, _ mask: RowMask) throws(RealmError) {
        let leaf = try scan.integers(column)
        let limit = Int64(bits.count) &* 64, isNullIn: UInt8 = null ? 1 : 0
        bits.withUnsafeBufferPointer { words in
            @inline(__always) func follow(_ value: (Int) -> Int64) {
                for row in 0..<scan.count {
                    let key = value(row) &- 1
                    if key < 0 {
                        mask[row] &= isNullIn
                    } else {
                        mask[row] &=
                            key < limit ? UInt8(truncatingIfNeeded: words[Int(key >> 6)] >> UInt64(key & 63)) & 1 : 0
                    }
                }
            }
            switch leaf.width {
            case 32:
                let p = leaf.payload.assumingMemoryBound(to: Int32.self)
                follow { Int64(p[$0]) }
            case 16:
                let p = leaf.payload.assumingMemoryBound(to: Int16.self)
                follow { Int64(p[$0]) }
            default: follow { leaf.get($0) }
            }
        }
    }
}
