/// One byte per row of a cluster: not zero while the row is in.
struct RowMask {
    let bytes: UnsafeMutablePointer<UInt8>

    subscript(i: Int) -> UInt8 {
        @inline(__always) get { bytes[i] }
        @inline(__always) nonmutating set { bytes[i] = newValue }
    }

    func fill(_ n: Int) { for i in 0..<n { bytes[i] = 1 } }

    func clear(_ n: Int) { for i in 0..<n { bytes[i] = 0 } }

    func copy(_ other: RowMask, _ n: Int) { for i in 0..<n { bytes[i] = other.bytes[i] } }

    /// Takes the rows of `other` out.
    func subtract(_ other: RowMask, _ n: Int) { for i in 0..<n { bytes[i] &= other.bytes[i] ^ 1 } }

    /// Takes out the rows that are not in `other`, or those that are.
    func keep(_ other: RowMask, _ n: Int, negated: Bool) {
        let flip: UInt8 = negated ? 1 : 0
        for i in 0..<n { bytes[i] &= other.bytes[i] ^ flip }
    }

    func count(_ n: Int) -> Int {
        var sum = 0, start = 0
        while start < n {
            // So few that a byte holds their sum.
            let end = min(start &+ 128, n)
            var part: UInt8 = 0
            for i in start..<end { part = part &+ bytes[i] }
            sum &+= Int(part)
            start = end
        }
        return sum
    }

    func isEmpty(_ n: Int) -> Bool {
        var any: UInt8 = 0
        for i in 0..<n { any |= bytes[i] }
        return any == 0
    }
}
