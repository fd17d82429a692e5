/// Arrays of refs: has-refs nodes, which are 64 bits wide in the slab.
extension NodeStore {
    /// `n`, a has-refs node, in the slab at width 64, with room for `extra` more elements.
    @inline(__always) func writableRefs(_ n: Node, extra: Int = 0) throws(RealmError) -> Node {
        isTouched = true
        if n.ref.offset >= slabStart && (n.count &+ extra) &* 8 <= capacity(n) { return n }
        return try widenRefs(n, extra: extra)
    }

    @inline(never) private func widenRefs(_ n: Node, extra: Int) throws(RealmError) -> Node {
        let room = extra == 0 ? n.count : max(n.count + extra, min(n.count * 2, n.count + 64))
        let header = NodeHeader(flags: n.flags & 0xF8 | NodeHeader.widthCode(64), count: n.count)
        let copy = try allocate(header, capacity: room * 8)
        let refsAreInside = n.widen(to: copy.payload.assumingMemoryBound(to: Int64.self))
        // In the slab the copy may hold refs to both sides: those that came from the file are checked now.
        if isInFile(n.ref), n.count > 0 {
            guard n.hasRefs else { throw .corrupt("integers stand where refs are expected", at: n.ref.offset) }
            guard refsAreInside else { throw .corrupt("ref beyond the end of the file", at: n.ref.offset) }
        }
        free(n)
        return copy
    }

    /// A new has-refs node of the given elements, width 64.
    func makeRefs(_ values: [RefOrTagged], inner: Bool = false, context: Bool = false) throws(RealmError) -> Node {
        let header = NodeHeader(isInner: inner, hasRefs: true, context: context, width: 64, count: values.count)
        let n = try allocate(header, capacity: values.count * 8)
        for (i, v) in values.enumerated() { n.payload.storeBytes(of: v.raw, toByteOffset: i * 8, as: Int64.self) }
        return n
    }

    /// Stores element `i` of a slab has-refs node.
    @inline(__always) func setSlot(_ n: Node, _ i: Int, _ v: RefOrTagged) {
        n.payload.storeBytes(of: v.raw, toByteOffset: i &* 8, as: Int64.self)
    }

    @inline(__always) func setSlot(_ n: Node, _ i: Int, _ r: Ref) { setSlot(n, i, RefOrTagged(r)) }

    /// Inserts an element into a has-refs node, which may move.
    func insertSlot(_ n: inout Node, _ i: Int, _ v: RefOrTagged) throws(RealmError) {
        guard n.count < Format.maxElementCount else {
            throw RealmError(.limitExceeded, "Too many elements in one node")
        }
        n = try writableRefs(n, extra: 1)
        Platform.move(n.payload + (i &+ 1) &* 8, n.payload + i &* 8, (n.count &- i) &* 8)
        n.payload.storeBytes(of: v.raw, toByteOffset: i &* 8, as: Int64.self)
        n.count &+= 1
        storeHeader(n)
    }

    /// Removes elements `[i, i + length)` of a has-refs node; what they refer to is the caller's business.
    func eraseSlots(_ n: inout Node, _ i: Int, _ length: Int = 1) throws(RealmError) {
        n = try writableRefs(n)
        Platform.move(n.payload + i &* 8, n.payload + (i &+ length) &* 8, (n.count &- i &- length) &* 8)
        n.count &-= length
        storeHeader(n)
    }

    func setFlags(_ n: inout Node, inner: Bool? = nil, context: Bool? = nil) {
        if let inner { n.flags = inner ? n.flags | NodeHeader.innerFlag : n.flags & ~NodeHeader.innerFlag }
        if let context { n.flags = context ? n.flags | NodeHeader.contextFlag : n.flags & ~NodeHeader.contextFlag }
        storeHeader(n)
    }
}
