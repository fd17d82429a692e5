/// Ordinary integer arrays (signed from 8 bits up) and unsigned arrays (cluster keys, tree offsets). Format: storage
/// §2.4.
extension NodeStore {
    /// A new array of `count` equal elements at the least width.
    func makeIntegers(count: Int = 0, value: Int64 = 0, minimumWidth: Int = 0) throws(RealmError) -> Node {
        let width = max(count == 0 ? 0 : Widths.minimal(for: value), minimumWidth)
        let bytes = (count * width + 7) >> 3
        let n = try allocate(NodeHeader(width: width, count: count), capacity: max(bytes, 24))
        if value == 0 || width == 0 {
            Platform.zero(n.payload, bytes)
        } else {
            for i in 0..<count { n.put(i, value) }
        }
        return n
    }

    func makeIntegers(_ values: some Sequence<Int64>) throws(RealmError) -> Node {
        var n = try makeIntegers()
        for v in values { try appendInteger(&n, v) }
        return n
    }

    /// Brings an integer array to the slab with room for `count` elements at a width that holds `v`.
    @inline(__always) func prepare(_ n: inout Node, count: Int, for v: Int64) throws(RealmError) {
        if Widths.fits(v, n.width) {
            n = try writable(n, capacity: (count &* n.width &+ 7) >> 3)
        } else {
            try widen(&n, to: Widths.minimal(for: v), count: count)
        }
    }

    /// Re-encodes at `width` with room for `count` elements. Works on any integer array whose values keep their meaning
    /// at that width.
    @inline(never) func widen(_ n: inout Node, to width: Int, count: Int) throws(RealmError) {
        let old = n
        let needed = (count &* width &+ 7) >> 3
        var new: Node
        if n.ref.offset >= slabStart && needed <= capacity(n) {
            new = n
        } else {
            let header = NodeHeader(flags: n.flags & 0xF8, count: n.count)
            new = try allocate(header, capacity: max(needed, needed &+ needed >> 1))
        }
        new.width = width
        new.flags = n.flags & 0xF8 | NodeHeader.widthCode(width)
        // Descending, so that widening in place never overwrites an element before it is read.
        var i = old.count &- 1
        while i >= 0 {
            new.put(i, old.get(i))
            i &-= 1
        }
        if new.ref != old.ref { free(old) }
        storeHeader(new)
        n = new
    }

    @inline(__always) func setInteger(_ n: inout Node, _ i: Int, _ v: Int64) throws(RealmError) {
        try prepare(&n, count: n.count, for: v)
        n.put(i, v)
    }

    @inline(__always) func appendInteger(_ n: inout Node, _ v: Int64) throws(RealmError) {
        try insertInteger(&n, n.count, v)
    }

    @inline(__always) func insertInteger(_ n: inout Node, _ i: Int, _ v: Int64) throws(RealmError) {
        guard n.count < Format.maxElementCount else {
            throw RealmError(.limitExceeded, "Too many elements in one node")
        }
        try prepare(&n, count: n.count &+ 1, for: v)
        if i < n.count { shift(n, from: i, by: 1) }
        n.count &+= 1
        n.put(i, v)
        storeHeader(n)
    }

    /// Removes elements `[i, i + length)`; an emptied array goes back to width 0.
    func eraseIntegers(_ n: inout Node, _ i: Int, _ length: Int = 1) throws(RealmError) {
        n = try writable(n)
        if i &+ length < n.count { shift(n, from: i &+ length, by: -length) }
        n.count &-= length
        if n.count == 0 { setWidth(&n, 0) }
        storeHeader(n)
    }

    func truncateIntegers(_ n: inout Node, to count: Int) throws(RealmError) {
        if count < n.count { try eraseIntegers(&n, count, n.count - count) }
    }

    @inline(__always) func setWidth(_ n: inout Node, _ width: Int) {
        n.width = width
        n.flags = n.flags & 0xF8 | NodeHeader.widthCode(width)
    }

    /// Moves elements `[from, count)` of a slab array by `distance` places; there is room.
    @inline(__always) func shift(_ n: Node, from: Int, by distance: Int) {
        let moved = n.count &- from
        if n.width >= 8 {
            let bytes = n.width >> 3
            Platform.move(n.payload + (from &+ distance) &* bytes, n.payload + from &* bytes, moved &* bytes)
        } else if n.width > 0 {
            if distance > 0 {
                var i = n.count &- 1
                while i >= from {
                    n.put(i &+ distance, n.get(i))
                    i &-= 1
                }
            } else {
                var i = from
                while i < n.count {
                    n.put(i &+ distance, n.get(i))
                    i &+= 1
                }
            }
        }
    }

    // MARK: Unsigned arrays

    /// A new unsigned array, wide enough for `bound`.
    func makeUnsigned(_ values: [UInt64] = [], bound: UInt64 = 0) throws(RealmError) -> Node {
        let width = Widths.minimalUnsigned(for: max(bound, values.max() ?? 0))
        let n = try allocate(
            NodeHeader(width: width, count: values.count), capacity: max(values.count * width >> 3, 24))
        for (i, v) in values.enumerated() { n.put(i, Int64(bitPattern: v)) }
        return n
    }

    @inline(__always) private func prepareUnsigned(_ n: inout Node, count: Int, for v: UInt64) throws(RealmError) {
        let width = Widths.minimalUnsigned(for: v)
        if width <= n.width {
            n = try writable(n, capacity: count &* n.width >> 3)
            return
        }
        var new = try allocate(
            NodeHeader(flags: n.flags & 0xF8 | NodeHeader.widthCode(width), count: n.count),
            capacity: count &* width >> 3)
        for i in 0..<n.count { new.put(i, Int64(bitPattern: n.getUnsigned(i))) }
        free(n)
        new.count = n.count
        n = new
    }

    func setUnsigned(_ n: inout Node, _ i: Int, _ v: UInt64) throws(RealmError) {
        try prepareUnsigned(&n, count: n.count, for: v)
        n.put(i, Int64(bitPattern: v))
    }

    func insertUnsigned(_ n: inout Node, _ i: Int, _ v: UInt64) throws(RealmError) {
        try prepareUnsigned(&n, count: n.count &+ 1, for: v)
        if i < n.count { shift(n, from: i, by: 1) }
        n.count &+= 1
        n.put(i, Int64(bitPattern: v))
        storeHeader(n)
    }

    func eraseUnsigned(_ n: inout Node, _ i: Int, _ length: Int = 1) throws(RealmError) {
        n = try writable(n)
        if i &+ length < n.count { shift(n, from: i &+ length, by: -length) }
        n.count &-= length
        if n.count == 0 { setWidth(&n, 8) }
        storeHeader(n)
    }
}
