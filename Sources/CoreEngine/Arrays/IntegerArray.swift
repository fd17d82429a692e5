/// Ordinary integer arrays (signed from 8 bits up) and unsigned arrays (cluster keys, tree offsets). Format: storage
/// §2.4.
extension NodeStore {
    /// A new array of `count` equal elements, with the smallest width that holds `value` and is at least
    /// `minimumWidth`.
    func makeIntegers(count: Int = 0, value: Int64 = 0, minimumWidth: Int = 0) throws(RealmError) -> Node {
        let width = max(count == 0 ? 0 : Widths.minimal(for: value), minimumWidth)
        let bytes = (count * width + 7) >> 3
        let node = try allocate(NodeHeader(width: width, count: count), capacity: max(bytes, 24))
        if value == 0 || width == 0 {
            CMemory.zero(node.payload, bytes)
        } else {
            for i in 0..<count { node.put(i, value) }
        }
        return node
    }

    func makeIntegers(_ values: some Sequence<Int64>) throws(RealmError) -> Node {
        var node = try makeIntegers()
        for value in values { try appendInteger(&node, value) }
        return node
    }

    /// Makes an integer array writable (in the slab), with room for `count` elements and a width that holds `value`.
    @inline(__always) func prepare(_ node: inout Node, count: Int, for value: Int64) throws(RealmError) {
        if Widths.fits(value, node.width) {
            node = try writable(node, capacity: (count &* node.width &+ 7) >> 3)
        } else {
            try widen(&node, to: Widths.minimal(for: value), count: count)
        }
    }

    /// Re-encodes the array at `width`, with room for `count` elements. Works on any integer array whose values mean
    /// the same at that width.
    @inline(never) func widen(_ node: inout Node, to width: Int, count: Int) throws(RealmError) {
        let old = node
        let needed = (count &* width &+ 7) >> 3
        var new: Node
        if isOwn(node.ref) && needed <= capacity(node) {
            new = node
        } else {
            let header = NodeHeader(flags: node.flags & 0xF8, count: node.count)
            new = try allocate(header, capacity: max(needed, needed &+ needed >> 1))
        }
        new.width = width
        new.flags = node.flags & 0xF8 | NodeHeader.widthCode(width)
        // In descending order: widening in place never overwrites an element before it is read.
        var i = old.count &- 1
        while i >= 0 {
            new.put(i, old.get(i))
            i &-= 1
        }
        if new.ref != old.ref { free(old) }
        storeHeader(new)
        node = new
    }

    @inline(__always) func setInteger(_ node: inout Node, _ index: Int, _ value: Int64) throws(RealmError) {
        try prepare(&node, count: node.count, for: value)
        node.put(index, value)
    }

    @inline(__always) func appendInteger(_ node: inout Node, _ value: Int64) throws(RealmError) {
        try insertInteger(&node, node.count, value)
    }

    @inline(__always) func insertInteger(_ node: inout Node, _ index: Int, _ value: Int64) throws(RealmError) {
        guard node.count < Format.maxElementCount else {
            throw RealmError(.limitExceeded, "Too many elements in one node")
        }
        try prepare(&node, count: node.count &+ 1, for: value)
        if index < node.count { shift(node, from: index, by: 1) }
        node.count &+= 1
        node.put(index, value)
        storeHeader(node)
    }

    /// Removes elements `[index, index + length)`; an array that becomes empty gets width 0.
    func eraseIntegers(_ node: inout Node, _ index: Int, _ length: Int = 1) throws(RealmError) {
        node = try writable(node)
        if index &+ length < node.count { shift(node, from: index &+ length, by: -length) }
        node.count &-= length
        if node.count == 0 { setWidth(&node, 0) }
        storeHeader(node)
    }

    func truncateIntegers(_ node: inout Node, to count: Int) throws(RealmError) {
        if count < node.count { try eraseIntegers(&node, count, node.count - count) }
    }

    @inline(__always) func setWidth(_ node: inout Node, _ width: Int) {
        node.width = width
        node.flags = node.flags & 0xF8 | NodeHeader.widthCode(width)
    }

    /// Moves elements `[from, count)` of a slab array by `distance` positions. The caller has made room for them.
    @inline(__always) func shift(_ node: Node, from: Int, by distance: Int) {
        let moved = node.count &- from
        if node.width >= 8 {
            let bytes = node.width >> 3
            CMemory.move(node.payload + (from &+ distance) &* bytes, node.payload + from &* bytes, moved &* bytes)
        } else if node.width > 0 {
            if distance > 0 {
                var index = node.count &- 1
                while index >= from {
                    node.put(index &+ distance, node.get(index))
                    index &-= 1
                }
            } else {
                var i = from
                while i < node.count {
                    node.put(i &+ distance, node.get(i))
                    i &+= 1
                }
            }
        }
    }

    // MARK: Unsigned arrays

    /// A new unsigned array whose width also holds `bound`.
    func makeUnsigned(_ values: [UInt64] = [], bound: UInt64 = 0) throws(RealmError) -> Node {
        let width = Widths.minimalUnsigned(for: max(bound, values.max() ?? 0))
        let node = try allocate(
            NodeHeader(width: width, count: values.count), capacity: max(values.count * width >> 3, 24))
        for (i, value) in values.enumerated() { node.put(i, Int64(bitPattern: value)) }
        return node
    }

    @inline(__always) private func prepareUnsigned(_ node: inout Node, count: Int, for value: UInt64) throws(RealmError)
    {
        let width = Widths.minimalUnsigned(for: value)
        if width <= node.width {
            node = try writable(node, capacity: count &* node.width >> 3)
            return
        }
        var new = try allocate(
            NodeHeader(flags: node.flags & 0xF8 | NodeHeader.widthCode(width), count: node.count),
            capacity: count &* width >> 3)
        for i in 0..<node.count { new.put(i, Int64(bitPattern: node.getUnsigned(i))) }
        free(node)
        new.count = node.count
        node = new
    }

    func setUnsigned(_ node: inout Node, _ index: Int, _ value: UInt64) throws(RealmError) {
        try prepareUnsigned(&node, count: node.count, for: value)
        node.put(index, Int64(bitPattern: value))
    }

    func insertUnsigned(_ node: inout Node, _ index: Int, _ value: UInt64) throws(RealmError) {
        try prepareUnsigned(&node, count: node.count &+ 1, for: value)
        if index < node.count { shift(node, from: index, by: 1) }
        node.count &+= 1
        node.put(index, Int64(bitPattern: value))
        storeHeader(node)
    }

    func eraseUnsigned(_ node: inout Node, _ index: Int, _ length: Int = 1) throws(RealmError) {
        node = try writable(node)
        if index &+ length < node.count { shift(node, from: index &+ length, by: -length) }
        node.count &-= length
        if node.count == 0 { setWidth(&node, 8) }
        storeHeader(node)
    }
}
