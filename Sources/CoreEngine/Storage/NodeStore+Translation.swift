/// Translates refs to nodes: every step through a tree first gets its node here.
extension NodeStore {
    /// The node at `ref`, checked: aligned, inside the file (or slab), of a known width type, and whole.
    @inline(__always) func node(_ ref: Ref) throws(RealmError) -> Node {
        if let node = quickly(ref, { $0.isSound ? $0.roundedPayloadSize : .max }) { return node }
        return try closely(ref)
    }

    /// The node at `ref`, which must hold refs.
    @inline(__always) func refsNode(_ ref: Ref) throws(RealmError) -> Node {
        if let node = refsAtHand(ref) { return node }
        return try closelyRefs(ref)
    }

    /// The array of refs at `ref`, if it is one and can be read without decryption. For hints: nil for pages that must
    /// be decrypted first, and for damage.
    @inline(__always) func refsAtHand(_ ref: Ref) -> Node? {
        quickly(ref) {
            $0.flags & (NodeHeader.hasRefsFlag | 0x18) == NodeHeader.hasRefsFlag ? $0.roundedSizeOfBits : .max
        }
    }

    /// The node at `ref`, which must be a plain integer array.
    @inline(__always) func integers(_ ref: Ref) throws(RealmError) -> Node {
        if let node = quickly(
            ref,
            { $0.flags & (NodeHeader.hasRefsFlag | NodeHeader.innerFlag | 0x18) == 0 ? $0.roundedSizeOfBits : .max })
        {
            return node
        }
        return try closelyIntegers(ref)
    }

    /// The node at `ref`, which must be a blob.
    @inline(__always) func blob(_ ref: Ref) throws(RealmError) -> Node {
        let node = try node(ref)
        guard node.widthType == 2 && !node.hasRefs else { throw .corrupt("not a blob", at: ref.offset) }
        return node
    }

    /// The fast path: the node at `ref`, if it needs no decryption and its payload `size` fits. It has only two
    /// branches, because every step through a tree runs it. nil means "take the slow path", which finds the error or
    /// decrypts the page first.
    @inline(__always) private func quickly(_ ref: Ref, _ size: (NodeHeader) -> Int) -> Node? {
        let at = ref.offset
        let limit = at < slabStart ? mappedLimit : slabEnd
        // Aligned, behind the header, and before the last eight bytes. `at` is not negative, so neither difference
        // wraps.
        guard (at & 7) | (at | (at &- Format.headerSize) | (limit &- 8 &- at)) >> 63 == 0 else { return nil }
        let header = NodeHeader(word: (base + at).load(as: UInt64.self).littleEndian)
        guard size(header) <= limit &- 8 &- at else { return nil }
        return node(ref, header)
    }

    @inline(__always) private func node(_ ref: Ref, _ header: NodeHeader) -> Node {
        // All ones for a slab node, whose refs may point anywhere.
        let slabMask = Int64(slabStart &- 1 &- ref.offset) >> 63
        return Node(
            address: base + ref.offset, ref: ref, count: header.count, width: header.width, flags: header.flags,
            refLimit: Int64(fileLimit) | slabMask & Int64.max)
    }

    @inline(never) private func closely(_ ref: Ref) throws(RealmError) -> Node {
        let at = ref.offset
        let limit = at < slabStart ? mappedLimit : slabEnd
        guard at & 7 == 0, at >= Format.headerSize, at <= limit &- 8 else { return try decrypted(ref) }
        return try checked(ref, limit: limit)
    }

    @inline(never) private func closelyRefs(_ ref: Ref) throws(RealmError) -> Node {
        let node = try closely(ref)
        guard node.hasRefs && node.widthType == 0 else {
            throw .corrupt("a node without refs stands where one with refs is expected", at: ref.offset)
        }
        return node
    }

    @inline(never) private func closelyIntegers(_ ref: Ref) throws(RealmError) -> Node {
        let node = try closely(ref)
        guard node.flags & (NodeHeader.hasRefsFlag | NodeHeader.innerFlag | 0x18) == 0 else {
            throw .corrupt("not an integer array", at: ref.offset)
        }
        return node
    }

    private func checked(_ ref: Ref, limit: Int) throws(RealmError) -> Node {
        var size = 0
        return try checked(ref, limit: limit, &size)
    }

    func checked(_ ref: Ref, limit: Int, _ size: inout Int) throws(RealmError) -> Node {
        let at = ref.offset
        let header = NodeHeader(word: (base + at).load(as: UInt64.self).littleEndian)
        guard let payload = header.payloadSize, 8 &+ Format.padded(payload) <= limit &- at else {
            throw .corrupt("node runs past the end of the file", at: at)
        }
        size = 8 &+ payload
        // Elements of arrays of refs are read by bit width: with another width type the checked size would be wrong.
        if header.flags & (NodeHeader.hasRefsFlag | NodeHeader.innerFlag) != 0 {
            guard header.widthTypeBits == 0, header.hasRefs else {
                throw .corrupt("array of refs of an impossible width type", at: at)
            }
        }
        return node(ref, header)
    }
}
