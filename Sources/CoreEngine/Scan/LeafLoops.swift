/// Loops over the bytes of one leaf: each selects the element width once, then runs a plain loop that the compiler
/// vectorises.
///
/// `mask` holds one byte (0 or 1) per row. A row stays if its value lies in `low … high`; with `negated`, if its value
/// lies outside. All loops read exactly `count` elements, starting at `first`; the caller has checked the leaf for
/// this.
enum LeafLoops {
    /// Tests the elements `[first, first + count)` of an integer leaf of any width.
    static func within(
        _ node: Node, _ first: Int, _ count: Int, _ low: Int64, _ high: Int64, negated: Bool, _ mask: RowMask,
        _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch node.width {
        case 64: within(node.payload.assumingMemoryBound(to: Int64.self) + first, count, low, high, negated, mask)
        case 32: within(node.payload.assumingMemoryBound(to: Int32.self) + first, count, low, high, negated, mask)
        case 16: within(node.payload.assumingMemoryBound(to: Int16.self) + first, count, low, high, negated, mask)
        case 8: within(node.payload.assumingMemoryBound(to: Int8.self) + first, count, low, high, negated, mask)
        case 0: if (low <= 0 && high >= 0) == negated { mask.clear(count) }
        default:
            unpack(node, first, count, unpacked)
            within(UnsafePointer(unpacked), count, low, high, negated, mask)
        }
    }

    /// Unpacks elements of 1, 2 or 4 bits to bytes.
    static func unpack(_ node: Node, _ first: Int, _ count: Int, _ out: UnsafeMutablePointer<Int8>) {
        let p = node.payload.assumingMemoryBound(to: UInt8.self)
        switch node.width {
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
        let lower = T(clamping: low), upper = T(clamping: high)
        let marks = mask.bytes
        if lower == upper {
            for i in 0..<count { marks[i] &= (p[i] == lower ? 1 : 0) ^ flip }
        } else if upper == T.max {
            for i in 0..<count { marks[i] &= (p[i] >= lower ? 1 : 0) ^ flip }
        } else if lower == T.min {
            for i in 0..<count { marks[i] &= (p[i] <= upper ? 1 : 0) ^ flip }
        } else {
            for i in 0..<count { marks[i] &= ((p[i] >= lower ? 1 : 0) & (p[i] <= upper ? 1 : 0)) ^ flip }
        }
    }

    /// Tests eight doubles at a time. NaN lies outside every range.
    static func doubles(_ node: Node, _ count: Int, _ low: Double, _ high: Double, negated: Bool, _ mask: RowMask) {
        let flip: UInt8 = negated ? 1 : 0
        let lower = SIMD8<Double>(repeating: low), upper = SIMD8<Double>(repeating: high),
            marks = UnsafeMutableRawPointer(mask.bytes)
        var row = 0
        while row &+ 8 <= count {
            let values = node.payload.loadUnaligned(fromByteOffset: row &* 8, as: SIMD8<Double>.self)
            let hits =
                SIMD8<UInt8>(
                    truncatingIfNeeded: unsafeBitCast((values .>= lower) .& (values .<= upper), to: SIMD8<Int64>.self))
                & 1
            marks.storeBytes(
                of: marks.loadUnaligned(fromByteOffset: row, as: SIMD8<UInt8>.self) & (hits ^ flip), toByteOffset: row,
                as: SIMD8<UInt8>.self)
            row &+= 8
        }
        while row < count {
            let value = node.payload.load(fromByteOffset: row &* 8, as: Double.self)
            mask[row] &= (value >= low && value <= high ? 1 : 0) ^ flip
            row &+= 1
        }
    }

    static func doublesOrNaN(_ node: Node, _ count: Int, _ high: Double, empty: Bool, _ mask: RowMask) {
        let p = node.payload.assumingMemoryBound(to: Double.self),
            bits = node.payload.assumingMemoryBound(to: UInt64.self),
            marks = mask.bytes
        let some: UInt8 = empty ? 0 : 1
        for i in 0..<count {
            marks[i] &=
                ((p[i] <= high ? 1 : 0) & some) | ((p[i] != p[i] ? 1 : 0) & (bits[i] != FloatLeaf.nullDouble ? 1 : 0))
        }
    }

    static func floats(_ node: Node, _ count: Int, _ low: Float, _ high: Float, negated: Bool, _ mask: RowMask) {
        let flip: UInt8 = negated ? 1 : 0, p = node.payload.assumingMemoryBound(to: Float.self)
        for i in 0..<count { mask[i] &= (p[i] >= low && p[i] <= high ? 1 : 0) ^ flip }
    }

    /// Clears the rows whose value is `first` or `second`.
    static func neither(
        _ node: Node, _ count: Int, _ first: Int64, _ second: Int64, _ mask: RowMask,
        _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch node.width {
        case 64: neither(node.payload.assumingMemoryBound(to: Int64.self), count, first, second, mask)
        case 32: neither(node.payload.assumingMemoryBound(to: Int32.self), count, first, second, mask)
        case 16: neither(node.payload.assumingMemoryBound(to: Int16.self), count, first, second, mask)
        case 8: neither(node.payload.assumingMemoryBound(to: Int8.self), count, first, second, mask)
        default:
            unpack(node, 0, count, unpacked)
            neither(UnsafePointer(unpacked), count, first, second, mask)
        }
    }

    @inline(__always)
    private static func neither<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ first: Int64, _ second: Int64, _ mask: RowMask
    ) {
        let marks = mask.bytes
        // A value that does not fit the width of the leaf is not in it; the loop then compares with the other value
        // twice.
        guard let one = T(exactly: first) ?? T(exactly: second), let other = T(exactly: second) ?? T(exactly: first)
        else { return }
        for i in 0..<count { marks[i] &= (p[i] == one ? 0 : 1) & (p[i] == other ? 0 : 1) }
    }

    /// Number of elements in `low … high`.
    static func count(
        _ node: Node, _ first: Int, _ count: Int, _ low: Int64, _ high: Int64, _ unpacked: UnsafeMutablePointer<Int8>
    ) -> Int {
        switch node.width {
        case 64: return self.count(node.payload.assumingMemoryBound(to: Int64.self) + first, count, low, high)
        case 32: return self.count(node.payload.assumingMemoryBound(to: Int32.self) + first, count, low, high)
        case 16: return self.count(node.payload.assumingMemoryBound(to: Int16.self) + first, count, low, high)
        case 8: return self.count(node.payload.assumingMemoryBound(to: Int8.self) + first, count, low, high)
        case 0: return low <= 0 && high >= 0 ? count : 0
        default:
            unpack(node, first, count, unpacked)
            return self.count(UnsafePointer(unpacked), count, low, high)
        }
    }

    /// 1 for true, 0 for false. The compiler turns `? 1 : 0` into a branch, which prevents vectorisation.
    @inline(__always) private static func bit(_ condition: Bool) -> UInt8 { unsafeBitCast(condition, to: UInt8.self) }

    /// Counts in integers as wide as the elements, and in parts so short that these cannot overflow.
    @inline(__always)
    private static func count<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ low: Int64, _ high: Int64
    ) -> Int {
        if low > high || low > Int64(T.max) || high < Int64(T.min) { return 0 }
        // Tests both bounds in one comparison without a branch: a value below `low` wraps around and becomes larger
        // than any width of the range.
        let lowest = T.Magnitude(truncatingIfNeeded: T(clamping: low)),
            width = T.Magnitude(truncatingIfNeeded: T(clamping: high)) &- lowest
        let most = T.bitWidth == 8 ? 128 : 1 << 14
        var sum = 0, start = 0
        while start < count {
            let end = min(start &+ most, count)
            var part: T.Magnitude = 0
            for i in start..<end {
                part =
                    part
                    &+ T.Magnitude(truncatingIfNeeded: bit(T.Magnitude(truncatingIfNeeded: p[i]) &- lowest <= width))
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

    /// Number of elements that equal one of `values`. The values must differ.
    static func count(_ node: Node, _ count: Int, among values: [Int64], _ unpacked: UnsafeMutablePointer<Int8>) -> Int
    {
        var sum = 0
        for value in values { sum &+= self.count(node, 0, count, value, value, unpacked) }
        return sum
    }

    /// Marks in `found` the rows whose value is one of `values`.
    static func among(
        _ node: Node, _ first: Int, _ count: Int, _ values: [Int64], _ found: RowMask,
        _ unpacked: UnsafeMutablePointer<Int8>
    ) {
        switch node.width {
        case 64: among(node.payload.assumingMemoryBound(to: Int64.self) + first, count, values, found)
        case 32: among(node.payload.assumingMemoryBound(to: Int32.self) + first, count, values, found)
        case 16: among(node.payload.assumingMemoryBound(to: Int16.self) + first, count, values, found)
        case 8: among(node.payload.assumingMemoryBound(to: Int8.self) + first, count, values, found)
        default:
            unpack(node, first, count, unpacked)
            among(UnsafePointer(unpacked), count, values, found)
        }
    }

    @inline(__always)
    private static func among<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ values: [Int64], _ found: RowMask
    ) {
        let marks = found.bytes
        for value in values {
            guard let element = T(exactly: value) else { continue }
            for i in 0..<count { marks[i] |= p[i] == element ? 1 : 0 }
        }
    }

    // MARK: Aggregates

    /// The minimum or maximum of `count` > 0 elements.
    static func extreme(
        _ node: Node, _ first: Int, _ count: Int, _ unpacked: UnsafeMutablePointer<Int8>, _ kind: AggregateKind
    ) -> Int64 {
        switch node.width {
        case 64: return extreme(node.payload.assumingMemoryBound(to: Int64.self) + first, count, kind)
        case 32: return extreme(node.payload.assumingMemoryBound(to: Int32.self) + first, count, kind)
        case 16: return extreme(node.payload.assumingMemoryBound(to: Int16.self) + first, count, kind)
        case 8: return extreme(node.payload.assumingMemoryBound(to: Int8.self) + first, count, kind)
        default:
            unpack(node, first, count, unpacked)
            return extreme(UnsafePointer(unpacked), count, kind)
        }
    }

    @inline(__always)
    private static func extreme<T: FixedWidthInteger & SignedInteger>(
        _ p: UnsafePointer<T>, _ count: Int, _ kind: AggregateKind
    ) -> Int64 {
        var best = p[0]
        if kind == .min {
            for i in 0..<count { best = p[i] < best ? p[i] : best }
        } else {
            for i in 0..<count { best = p[i] > best ? p[i] : best }
        }
        return Int64(best)
    }

    /// Sum of `count` integers, at most 256, starting at `first`.
    static func sum(_ node: Node, _ first: Int, _ count: Int, _ unpacked: UnsafeMutablePointer<Int8>) -> Int128 {
        switch node.width {
        case 64: return sum(node.payload.assumingMemoryBound(to: Int64.self) + first, count)
        case 32: return Int128(sum(node.payload.assumingMemoryBound(to: Int32.self) + first, count))
        case 16: return Int128(sum(node.payload.assumingMemoryBound(to: Int16.self) + first, count))
        case 8: return Int128(sum(node.payload.assumingMemoryBound(to: Int8.self) + first, count))
        default:
            unpack(node, first, count, unpacked)
            return Int128(sum(UnsafePointer(unpacked), count))
        }
    }

    @inline(__always)
    private static func sum<T: FixedWidthInteger & SignedInteger>(_ p: UnsafePointer<T>, _ count: Int) -> Int64 {
        var total: Int64 = 0
        for i in 0..<count { total = total &+ Int64(truncatingIfNeeded: p[i]) }
        return total
    }

    /// The sum of 256 integers fits into 64 bits if each of them fits into 56. The loop checks that; otherwise a second
    /// loop adds in 128 bits.
    @inline(__always)
    private static func sum(_ p: UnsafePointer<Int64>, _ count: Int) -> Int128 {
        var total: Int64 = 0, bits: UInt64 = 0
        for i in 0..<count {
            total = total &+ p[i]
            bits |= UInt64(bitPattern: p[i] &+ 1 << 55)
        }
        if bits >> 56 == 0 { return Int128(total) }
        var exact: Int128 = 0
        for i in 0..<count { exact &+= Int128(p[i]) }
        return exact
    }

    /// Sum of doubles in eight lanes. It is NaN if an element is NaN or NULL, or if opposite infinities meet; then the
    /// caller adds one by one.
    static func sum(_ node: Node, _ count: Int) -> Double {
        var lanes = SIMD8<Double>.zero
        var row = 0
        while row &+ 8 <= count {
            lanes += node.payload.loadUnaligned(fromByteOffset: row &* 8, as: SIMD8<Double>.self)
            row &+= 8
        }
        var total = lanes.sum()
        while row < count {
            total += node.payload.load(fromByteOffset: row &* 8, as: Double.self)
            row &+= 1
        }
        return total
    }
}
