/// Arrays of refs: has-refs nodes. In the slab they are 64 bits wide.
extension NodeStore {
    /// A has-refs node in the slab at width 64, with room for `extra` more elements.
    @inline(__always) func writableRefs(_ node: Node, extra: Int = 0) throws(RealmError) -> Node {
        isTouched = true
        if isOwn(node.ref) && (node.count &+ extra) &* 8 <= capacity(node) { return node }
        return try widenRefs(node, extra: extra)
    }

    @inline(never) private func widenRefs(_ node: Node, extra: Int) throws(RealmError) -> Node {
        let room = extra == 0 ? node.count : max(node.count + extra, min(node.count * 2, node.count + 64))
        let header = NodeHeader(flags: node.flags & 0xF8 | NodeHeader.widthCode(64), count: node.count)
        let copy = try allocate(header, capacity: room * 8)
        let refsAreInside = node.widen(to: copy.payload.assumingMemoryBound(to: Int64.self))
        // A slab node may hold refs to the file and to the slab, so refs that come from the file are checked now.
        if isInFile(node.ref), node.count > 0 {
            guard node.hasRefs else { throw .corrupt("integers stand where refs are expected", at: node.ref.offset) }
            guard refsAreInside else { throw .corrupt("ref beyond the end of the file", at: node.ref.offset) }
        }
        markCopy(copy, of: node)
        free(node)
        return copy
    }

    /// A new has-refs node of the given elements, width 64.
    func makeRefs(_ values: [RefOrTagged], inner: Bool = false, context: Bool = false) throws(RealmError) -> Node {
        let header = NodeHeader(isInner: inner, hasRefs: true, context: context, width: 64, count: values.count)
        let node = try allocate(header, capacity: values.count * 8)
        for (i, value) in values.enumerated() {
            node.payload.storeBytes(of: value.raw, toByteOffset: i * 8, as: Int64.self)
        }
        return node
    }

    /// Stores element `i` of a slab has-refs node.
    @inline(__always) func setSlot(_ node: Node, _ i: Int, _ value: RefOrTagged) {
        node.payload.storeBytes(of: value.raw, toByteOffset: i &* 8, as: Int64.self)
    }

    @inline(__always) func setSlot(_ node: Node, _ i: Int, _ ref: Ref) { setSlot(node, i, RefOrTagged(ref)) }

    /// Inserts an element into a has-refs node, which may move.
    func insertSlot(_ node: inout Node, _ i: Int, _ value: RefOrTagged) throws(RealmError) {
        guard node.count < Format.maxElementCount else {
            throw RealmError(.limitExceeded, "Too many elements in one node")
        }
        node = try writableRefs(node, extra: 1)
        CMemory.move(node.payload + (i &+ 1) &* 8, node.payload + i &* 8, (node.count &- i) &* 8)
        node.payload.storeBytes(of: value.raw, toByteOffset: i &* 8, as: Int64.self)
        node.count &+= 1
        storeHeader(node)
    }

    /// Removes elements `[i, i + length)` of a has-refs node; the caller handles the nodes that they refer to.
    func eraseSlots(_ node: inout Node, _ i: Int, _ length: Int = 1) throws(RealmError) {
        node = try writableRefs(node)
        CMemory.move(node.payload + i &* 8, node.payload + (i &+ length) &* 8, (node.count &- i &- length) &* 8)
        node.count &-= length
        storeHeader(node)
    }

    func setFlags(_ node: inout Node, inner: Bool? = nil, context: Bool? = nil) {
        if let inner { node.flags = inner ? node.flags | NodeHeader.innerFlag : node.flags & ~NodeHeader.innerFlag }
        if let context {
            node.flags = context ? node.flags | NodeHeader.contextFlag : node.flags & ~NodeHeader.contextFlag
        }
        storeHeader(node)
    }
}
