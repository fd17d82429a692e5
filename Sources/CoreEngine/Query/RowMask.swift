/// One byte per row of a cluster: not zero while the row is in.
struct RowMask {
    let bytes: UnsafeMutablePointer<UInt8>

    subscript(row: Int) -> UInt8 {
        @inline(__always) get { bytes[row] }
        @inline(__always) nonmutating set { bytes[row] = newValue }
    }

    func fill(_ count: Int) { for i in 0..<count { bytes[i] = 1 } }

    func clear(_ count: Int) { for i in 0..<count { bytes[i] = 0 } }

    func copy(_ other: RowMask, _ count: Int) { for i in 0..<count { bytes[i] = other.bytes[i] } }

    /// Takes the rows of `other` out.
    func subtract(_ other: RowMask, _ count: Int) { for i in 0..<count { bytes[i] &= other.bytes[i] ^ 1 } }

    /// Takes out the rows that are not in `other`, or those that are.
    func keep(_ other: RowMask, _ count: Int, negated: Bool) {
        let flip: UInt8 = negated ? 1 : 0
        for i in 0..<count { bytes[i] &= other.bytes[i] ^ flip }
    }

    func count(_ count: Int) -> Int {
        var sum = 0, start = 0
        while start < count {
            // So few that a byte holds their sum.
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
