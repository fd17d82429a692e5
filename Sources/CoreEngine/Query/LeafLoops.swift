/// Loops over the bytes of one leaf: the width is decided once, then a plain loop that the compiler vectorises.
///
/// `mask` holds one byte (0 or 1) per row; a row stays in when its value lies in `low … high`, or outside when
/// `negated`. All loops read exactly `count` elements from `first` on, which the caller has checked against the leaf.
enum LeafLoops {
    /// Elements `[first, first + count)` of an integer leaf of any width.
    static func within(
        _ n: Node, _ first: Int, _ count: Int, _ low: Int64, _ high: Int64, negated: Bool, _ mask: RowMask,
        _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch n.width {
        case 64: within(n.payload.assumingMemoryBound(to: Int64.self) + first, count, low, high, negated, mask)
        case 32: within(n.payload.assumingMemoryBound(to: Int32.self) + first, count, low, high, negated, mask)
        case 16: within(n.payload.assumingMemoryBound(to: Int16.self) + first, count, low, high, negated, mask)
        case 8: within(n.payload.assumingMemoryBound(to: Int8.self) + first, count, low, high, negated, mask)
        case 0: if (low <= 0 && high >= 0) == negated { mask.clear(count) }
        default:
            unpack(n, first, count, unpacked)
            within(UnsafePointer(unpacked), count, low, high, negated, mask)
        }
    }

    /// Elements of 1, 2 or 4 bits as bytes.
    static func unpack(_ n: Node, _ first: Int, _ count: Int, _ out: UnsafeMutablePointer<Int8>) {
        let p = n.payload.assumingMemoryBound(to: UInt8.self)
        switch n.width {
        case 4:
            for i in 0..<count {
                let j = first &+ i
                out[i] = Int8(truncatingIfNeeded: p[j >> 1] >> UInt8(truncatingIfNeeded: (j & 1) &* 4) & 15)
            }
        case 2:
            for i in 0..<count {
                let j = first &+ i
                out[i] = Int8(truncatingIfNeeded: p[j >> 2] >> UInt8(truncatingIfNeeded: (j & 3) &* 2) & 3)
            }
        case 1:
            for i in 0..<count {
                let j = first &+ i
                out[i] = Int8(truncatingIfNeeded: p[j >> 3] >> UInt8(truncatingIfNeeded: j & 7) & 1)
            }
        default: for i in 0..<count { out[i] = 0 }
        }
    }

    @inline(__always)
    static func within<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ low: Int64, _ high: Int64, _ negated: Bool, _ mask: RowMask
    ) {
        let flip: UInt8 = negated ? 1 : 0
        if low > high || low > Int64(T.max) || high < Int64(T.min) {
            if !negated { mask.clear(count) }
            return
        }
        let a = T(clamping: low), b = T(clamping: high)
        let m = mask.bytes
        if a == b {
            for i in 0..<count { m[i] &= (p[i] == a ? 1 : 0) ^ flip }
        } else if b == T.max {
            for i in 0..<count { m[i] &= (p[i] >= a ? 1 : 0) ^ flip }
        } else if a == T.min {
            for i in 0..<count { m[i] &= (p[i] <= b ? 1 : 0) ^ flip }
        } else {
            for i in 0..<count { m[i] &= ((p[i] >= a ? 1 : 0) & (p[i] <= b ? 1 : 0)) ^ flip }
        }
    }

    /// Eight numbers at a time; NaN lies outside every range.
    static func doubles(_ n: Node, _ count: Int, _ low: Double, _ high: Double, negated: Bool, _ mask: RowMask) {
        let flip: UInt8 = negated ? 1 : 0
        let a = SIMD8<Double>(repeating: low), b = SIMD8<Double>(repeating: high),
            m = UnsafeMutableRawPointer(mask.bytes)
        var i = 0
        while i &+ 8 <= count {
            let v = n.payload.loadUnaligned(fromByteOffset: i &* 8, as: SIMD8<Double>.self)
            let hits =
                SIMD8<UInt8>(truncatingIfNeeded: unsafeBitCast((v .>= a) .& (v .<= b), to: SIMD8<Int64>.self)) & 1
            m.storeBytes(
                of: m.loadUnaligned(fromByteOffset: i, as: SIMD8<UInt8>.self) & (hits ^ flip), toByteOffset: i,
                as: SIMD8<UInt8>.self)
            i &+= 8
        }
        while i < count {
            let v = n.payload.load(fromByteOffset: i &* 8, as: Double.self)
            mask[i] &= (v >= low && v <= high ? 1 : 0) ^ flip
            i &+= 1
        }
    }

    static func doublesOrNaN(_ n: Node, _ count: Int, _ high: Double, empty: Bool, _ mask: RowMask) {
        let p = n.payload.assumingMemoryBound(to: Double.self), bits = n.payload.assumingMemoryBound(to: UInt64.self),
            m = mask.bytes
        let some: UInt8 = empty ? 0 : 1
        for i in 0..<count {
            m[i] &=
                ((p[i] <= high ? 1 : 0) & some) | ((p[i] != p[i] ? 1 : 0) & (bits[i] != FloatLeaf.nullDouble ? 1 : 0))
        }
    }

    static func floats(_ n: Node, _ count: Int, _ low: Float, _ high: Float, negated: Bool, _ mask: RowMask) {
        let flip: UInt8 = negated ? 1 : 0, p = n.payload.assumingMemoryBound(to: Float.self)
        for i in 0..<count { mask[i] &= (p[i] >= low && p[i] <= high ? 1 : 0) ^ flip }
    }

    /// Clears the rows whose value is `a` or `b`.
    static func neither(
        _ n: Node, _ count: Int, _ a: Int64, _ b: Int64, _ mask: RowMask, _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch n.width {
        case 64: neither(n.payload.assumingMemoryBound(to: Int64.self), count, a, b, mask)
        case 32: neither(n.payload.assumingMemoryBound(to: Int32.self), count, a, b, mask)
        case 16: neither(n.payload.assumingMemoryBound(to: Int16.self), count, a, b, mask)
        case 8: neither(n.payload.assumingMemoryBound(to: Int8.self), count, a, b, mask)
        default:
            unpack(n, 0, count, unpacked)
            neither(UnsafePointer(unpacked), count, a, b, mask)
        }
    }

    @inline(__always)
    private static func neither<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ a: Int64, _ b: Int64, _ mask: RowMask
    ) {
        let m = mask.bytes
        // One that does not fit the leaf stands nowhere: then the other counts twice.
        guard let x = T(exactly: a) ?? T(exactly: b), let y = T(exactly: b) ?? T(exactly: a) else { return }
        for i in 0..<count { m[i] &= (p[i] == x ? 0 : 1) & (p[i] == y ? 0 : 1) }
    }

    /// Number of elements in `low … high`.
    static func count(
        _ n: Node, _ first: Int, _ count: Int, _ low: Int64, _ high: Int64, _ unpacked: UnsafeMutablePointer<Int8>
    ) -> Int {
        switch n.width {
        case 64: return self.count(n.payload.assumingMemoryBound(to: Int64.self) + first, count, low, high)
        case 32: return self.count(n.payload.assumingMemoryBound(to: Int32.self) + first, count, low, high)
        case 16: return self.count(n.payload.assumingMemoryBound(to: Int16.self) + first, count, low, high)
        case 8: return self.count(n.payload.assumingMemoryBound(to: Int8.self) + first, count, low, high)
        case 0: return low <= 0 && high >= 0 ? count : 0
        default:
            unpack(n, first, count, unpacked)
            return self.count(UnsafePointer(unpacked), count, low, high)
        }
    }

    /// 1 for true: what `? 1 : 0` says, which the compiler makes a branch of, and then no vectors.
    @inline(__always) private static func bit(_ condition: Bool) -> UInt8 { unsafeBitCast(condition, to: UInt8.self) }

    /// Sums of elements as wide as those of the leaf, each of so few that it cannot wrap.
    @inline(__always)
    private static func count<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ low: Int64, _ high: Int64
    ) -> Int {
        if low > high || low > Int64(T.max) || high < Int64(T.min) { return 0 }
        // Both bounds in one comparison without a branch: what lies below `low` wraps and becomes larger than any width
        // of the range.
        let a = T.Magnitude(truncatingIfNeeded: T(clamping: low)),
            width = T.Magnitude(truncatingIfNeeded: T(clamping: high)) &- a
        let most = T.bitWidth == 8 ? 128 : 1 << 14
        var sum = 0, start = 0
        while start < count {
            let end = min(start &+ most, count)
            var part: T.Magnitude = 0
            for i in start..<end {
                part = part &+ T.Magnitude(truncatingIfNeeded: bit(T.Magnitude(truncatingIfNeeded: p[i]) &- a <= width))
            }
            sum &+= Int(truncatingIfNeeded: part)
            start = end
        }
        return sum
    }

    static func count(_ p: UnsafePointer<Double>, _ count: Int, _ low: Double, _ high: Double) -> Int {
        var sum: Int64 = 0
        for i in 0..<count { sum = sum &+ ((p[i] >= low ? 1 : 0) & (p[i] <= high ? 1 : 0)) }
        return Int(sum)
    }

    /// Number of elements that are one of `values`, which differ.
    static func count(_ n: Node, _ count: Int, among values: [Int64], _ unpacked: UnsafeMutablePointer<Int8>) -> Int {
        var sum = 0
        for v in values { sum &+= self.count(n, 0, count, v, v, unpacked) }
        return sum
    }

    /// Marks in `found` the rows whose value is one of `values`.
    static func among(
        _ n: Node, _ first: Int, _ count: Int, _ values: [Int64], _ found: RowMask,
        _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch n.width {
        case 64: among(n.payload.assumingMemoryBound(to: Int64.self) + first, count, values, found)
        case 32: among(n.payload.assumingMemoryBound(to: Int32.self) + first, count, values, found)
        case 16: among(n.payload.assumingMemoryBound(to: Int16.self) + first, count, values, found)
        case 8: among(n.payload.assumingMemoryBound(to: Int8.self) + first, count, values, found)
        default:
            unpack(n, first, count, unpacked)
            among(UnsafePointer(unpacked), count, values, found)
        }
    }

    @inline(__always)
    private static func among<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ values: [Int64], _ found: RowMask
    ) {
        let m = found.bytes
        for v in values {
            guard let c = T(exactly: v) else { continue }
            for i in 0..<count { m[i] |= p[i] == c ? 1 : 0 }
        }
    }

    // MARK: Aggregates

    /// The least or greatest of `count` > 0 elements.
    static func extreme(
        _ n: Node, _ first: Int, _ count: Int, _ unpacked: UnsafeMutablePointer<Int8>, _ kind: AggregateKind
    ) -> Int64 {
        switch n.width {
        case 64: return extreme(n.payload.assumingMemoryBound(to: Int64.self) + first, count, kind)
        case 32: return extreme(n.payload.assumingMemoryBound(to: Int32.self) + first, count, kind)
        case 16: return extreme(n.payload.assumingMemoryBound(to: Int16.self) + first, count, kind)
        case 8: return extreme(n.payload.assumingMemoryBound(to: Int8.self) + first, count, kind)
        default:
            unpack(n, first, count, unpacked)
            return extreme(UnsafePointer(unpacked), count, kind)
        }
    }

    @inline(__always)
    private static func extreme<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ kind: AggregateKind
    ) -> Int64 {
        var v = p[0]
        if kind == .min {
            for i in 0..<count { v = p[i] < v ? p[i] : v }
        } else {
            for i in 0..<count { v = p[i] > v ? p[i] : v }
        }
        return Int64(v)
    }

    /// Sum of `count` integers, from `first` on: at most 256.
    static func sum(_ n: Node, _ first: Int, _ count: Int, _ unpacked: UnsafeMutablePointer<Int8>) -> Int128 {
        switch n.width {
        case 64: return sum(n.payload.assumingMemoryBound(to: Int64.self) + first, count)
        case 32: return Int128(sum(n.payload.assumingMemoryBound(to: Int32.self) + first, count))
        case 16: return Int128(sum(n.payload.assumingMemoryBound(to: Int16.self) + first, count))
        case 8: return Int128(sum(n.payload.assumingMemoryBound(to: Int8.self) + first, count))
        default:
            unpack(n, first, count, unpacked)
            return Int128(sum(UnsafePointer(unpacked), count))
        }
    }

    @inline(__always)
    private static func sum<T: FixedWidthInteger & SignedInteger>(_ p: UnsafePointer<T>, _ count: Int) -> Int64 {
        var s: Int64 = 0
        for i in 0..<count { s = s &+ Int64(truncatingIfNeeded: p[i]) }
        return s
    }

    /// The sum of 256 integers fits into 64 bits when each fits into 56: that is known behind the loop.
    @inline(__always)
    private static func sum(_ p: UnsafePointer<Int64>, _ count: Int) -> Int128 {
        var s: Int64 = 0, bits: UInt64 = 0
        for i in 0..<count {
            s = s &+ p[i]
            bits |= UInt64(bitPattern: p[i] &+ 1 << 55)
        }
        if bits >> 56 == 0 { return Int128(s) }
        var exact: Int128 = 0
        for i in 0..<count { exact &+= Int128(p[i]) }
        return exact
    }

    /// Sum of doubles in eight lanes; NaN when one of them is none (or infinities meet): then the caller adds one by
    /// one.
    static func sum(_ n: Node, _ count: Int) -> Double {
        var lanes = SIMD8<Double>.zero
        var i = 0
        while i &+ 8 <= count {
            lanes += n.payload.loadUnaligned(fromByteOffset: i &* 8, as: SIMD8<Double>.self)
            i &+= 8
        }
        var s = lanes.sum()
        while i < count {
            s += n.payload.load(fromByteOffset: i &* 8, as: Double.self)
            i &+= 1
        }
        return s
    }
}
