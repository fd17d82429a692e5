/// A set of live object keys for one task: a bitmap if the keys are close together, otherwise a hash table. A trivial
/// type; its creator frees it.
struct KeySet {
    private let words: UnsafeMutablePointer<UInt64>

    /// Bitmap: key of bit 0. Hash table: not used.
    private let base: Int64

    /// Bitmap: number of bits. Hash table: number of slots minus one; a free slot has all bits set.
    private let limit: UInt64
    private let isBitmap: Bool

    /// An empty set that can hold only `keys`. Negative keys are never members.
    init(for keys: [ObjKey]) throws(RealmError) {
        var low = Int64.max, high: Int64 = 0
        for key in keys where key.raw >= 0 { (low, high) = (min(low, key.raw), max(high, key.raw)) }
        let span = low <= high ? UInt64(high - low) + 1 : 0
        isBitmap = span <= UInt64(keys.count) * 128
        let count: Int
        if isBitmap {
            base = low
            limit = span
            count = Int(span >> 6) + 1
        } else {
            var slots = 64
            while slots < keys.count * 2 { slots *= 2 }
            base = 0
            limit = UInt64(slots - 1)
            count = slots
        }
        try CMemory.expect(count, each: 8)
        words = .allocate(capacity: count)
        words.initialize(repeating: isBitmap ? 0 : .max, count: count)
    }

    func deallocate() { words.deallocate() }

    /// The slot of the key, or the free slot where it would be inserted.
    @inline(__always) private func slot(_ key: UInt64) -> Int {
        var index = (key &* 0x9E37_79B9_7F4A_7C15) >> 20 & limit
        while words[Int(index)] != key && words[Int(index)] != .max { index = (index &+ 1) & limit }
        return Int(index)
    }

    @inline(__always) func contains(_ key: ObjKey) -> Bool {
        guard key.raw >= 0 else { return false }
        if isBitmap {
            let bit = UInt64(bitPattern: key.raw &- base)
            return bit < limit && words[Int(bit >> 6)] >> (bit & 63) & 1 != 0
        }
        let raw = UInt64(bitPattern: key.raw)
        return words[slot(raw)] == raw
    }

    /// - Returns: whether the key was added.
    func insert(_ key: ObjKey) -> Bool {
        if key.raw < 0 || contains(key) { return false }
        if isBitmap {
            let bit = UInt64(bitPattern: key.raw &- base)
            words[Int(bit >> 6)] |= 1 << (bit & 63)
        } else {
            let raw = UInt64(bitPattern: key.raw)
            words[slot(raw)] = raw
        }
        return true
    }
}
