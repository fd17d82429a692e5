/// One byte for each row of a cluster: 1 as long as no condition has excluded the row, otherwise 0.
struct RowMask {
    let bytes: UnsafeMutablePointer<UInt8>

    subscript(row: Int) -> UInt8 {
        @inline(__always) get { bytes[row] }
        @inline(__always) nonmutating set { bytes[row] = newValue }
    }

    func fill(_ count: Int) { for i in 0..<count { bytes[i] = 1 } }

    func clear(_ count: Int) { for i in 0..<count { bytes[i] = 0 } }

    func copy(_ other: RowMask, _ count: Int) { for i in 0..<count { bytes[i] = other.bytes[i] } }

    /// Removes the rows of `other`.
    func subtract(_ other: RowMask, _ count: Int) { for i in 0..<count { bytes[i] &= other.bytes[i] ^ 1 } }

    /// Keeps only the rows that are in `other`, or with `negated` only those that are not.
    func keep(_ other: RowMask, _ count: Int, negated: Bool) {
        let flip: UInt8 = negated ? 1 : 0
        for i in 0..<count { bytes[i] &= other.bytes[i] ^ flip }
    }

    func count(_ count: Int) -> Int {
        var sum = 0, start = 0
        while start < count {
            // A chunk is so small that its sum fits in a byte.
            let end = min(start &+ 128, count)
            var part: UInt8 = 0
            for i in start..<end { part = part &+ bytes[i] }
            sum &+= Int(part)
            start = end
        }
        return sum
    }

    func isEmpty(_ count: Int) -> Bool {
        var any: UInt8 = 0
        for i in 0..<count { any |= bytes[i] }
        return any == 0
    }
}
