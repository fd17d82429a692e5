extension BPlusTree {
    /// Throws unless the invariants hold. Format: logical §7.
    ///
    /// 1. All leaves have the same depth; no child is empty, and no node has more than `capacity` children or elements.
    /// 2. An inner node stores the number of elements below it.
    /// 3. All children of a compact node have the number of elements that the node stores; only the last child may have
    ///    fewer. The offsets of a general node are the ends of all its children but the last.
    ///
    /// - Parameter place: the index of an element: checks only the nodes that an operation there may have changed. nil:
    ///   checks all nodes.
    func checkInvariants(near place: Int? = nil) throws(RealmError) { _ = try height(root, near: place, depth: 0) }

    /// Whether the invariants hold near `place`; for assertions in debug builds.
    func isSound(near place: Int) -> Bool {
        Invariants.hold { () throws(RealmError) in try checkInvariants(near: place) }
    }

    /// Checks a subtree; returns the number of inner levels.
    private func height(_ ref: Ref, near place: Int?, depth: Int) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        let node = try store.node(ref)
        guard node.isInner else {
            guard try kind.count(store, ref) <= capacity else {
                throw .corrupt("leaf with too many elements", at: ref.offset)
            }
            return 0
        }
        let children = node.count - 2
        guard children >= 1, children <= capacity else {
            throw .corrupt("inner tree node with too many children, or none", at: ref.offset)
        }
        let total = try Self.count(store, kind, ref), first = try node.slot(0)
        let offsets = first.isTagged ? nil : try store.integers(first.ref)
        guard offsets == nil || offsets?.count == children - 1 else {
            throw .corrupt("inner tree node with too few offsets", at: ref.offset)
        }
        // An operation at `place` changes only its child and the next child, which may have been merged into it.
        let near = try place.map { (place) throws(RealmError) in
            try Self.childIndex(store, node, min(max(place, 0), max(total - 1, 0)))
        }
        var end = 0, levels: Int?
        for childIndex in 0..<children {
            let child = try node.child(childIndex + 1), size = try Self.count(store, kind, child)
            guard size > 0 else { throw .corrupt("tree with an empty child", at: child.offset) }
            end += size
            if let offsets {
                guard childIndex == children - 1 || offsets.getUnsigned(childIndex) == UInt64(end) else {
                    throw .corrupt("tree offsets that are not those of the children", at: ref.offset)
                }
            } else {
                let per = first.integer
                guard childIndex == children - 1 ? size <= per : size == per else {
                    throw .corrupt("compact tree node with uneven children", at: ref.offset)
                }
            }
            if let near, childIndex != near.child, childIndex != near.child + 1 { continue }
            let below = try height(child, near: near.map { childIndex == $0.child ? $0.within : 0 }, depth: depth + 1)
            guard levels == nil || levels == below else { throw .corrupt("tree of uneven depth", at: ref.offset) }
            levels = below
        }
        guard end == total else { throw .corrupt("element counts do not add up", at: ref.offset) }
        return (levels ?? 0) + 1
    }
}
