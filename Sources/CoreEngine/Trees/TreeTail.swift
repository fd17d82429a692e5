/// The last leaf of a tree and the nodes above it, kept open for values that are appended one after the other.
///
/// Valid as long as nothing else changes the tree.
struct TreeTail {
    private var leaf = ClusterTree.noNode

    /// Elements of the leaf; negative while no leaf is open.
    private var count = -1

    /// Inner nodes above the leaf, from the root down; all in the slab.
    private var parents: [Node] = []

    /// Appends an integer to a leaf of plain integers, if it fits there without moving or widening the leaf.
    @inline(__always) mutating func append(_ integer: Int64, _ store: NodeStore) -> Bool {
        guard count >= 0, count < Format.treeCapacity, Widths.fits(integer, leaf.width),
            ((count &+ 1) &* leaf.width &+ 7) >> 3 <= store.capacity(leaf)
        else { return false }
        leaf.put(count, integer)
        count &+= 1
        leaf.count = count
        store.storeHeader(leaf)
        return true
    }

    /// Stores the number of elements of the tree in the nodes above the leaf.
    @inline(__always) func setTotal(_ total: Int, _ store: NodeStore) {
        for parent in parents { store.setSlot(parent, parent.count &- 1, RefOrTagged(tagged: total)) }
    }

    /// Appends a value if that changes only the last leaf, in the slab; otherwise changes nothing. The value has the
    /// type of the leaf and owns no nodes.
    ///
    /// - Parameter root: the root of the tree; the new root when it moved.
    /// - Returns: whether the value was appended, and whether the root moved.
    mutating func append(_ value: Mixed, _ kind: LeafKind, _ store: NodeStore, root: inout Ref)
        throws(RealmError) -> (done: Bool, moved: Bool)
    {
        if count < 0, try !open(root, kind, store) { return (false, false) }
        guard count < Format.treeCapacity else { return (false, false) }
        let new = try kind.insert(store, leaf.ref, count, value)
        let moved = new != leaf.ref && parents.isEmpty
        if new != leaf.ref {
            if let last = parents.last { store.setSlot(last, last.count - 2, new) } else { root = new }
        }
        // The leaf may have moved or changed its width.
        leaf = try store.node(new)
        count += 1
        return (true, moved)
    }

    /// Finds the last leaf; false unless it and the nodes above it may be changed in place, and all totals are those of the
    /// tree.
    private mutating func open(_ root: Ref, _ kind: LeafKind, _ store: NodeStore) throws(RealmError) -> Bool {
        parents = []
        var ref = root
        for _ in 0..<Trees.maxDepth {
            let node = try store.node(ref)
            guard store.isOwn(ref) else { return false }
            if !node.isInner {
                leaf = node
                count = try kind.count(store, ref)
                return true
            }
            // The totals of lower inner nodes are not the total of the tree, so only one inner level is supported: it
            // covers a million elements.
            guard parents.isEmpty, node.count >= 3 else { return false }
            parents = [node]
            ref = try node.child(node.count - 2)
        }
        return false
    }
}
