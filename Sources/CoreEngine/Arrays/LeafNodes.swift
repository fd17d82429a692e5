/// The nodes of leaves, opened for loops over many rows: such a loop reads bytes, but translates no ref itself.
enum LeafNodes {
    /// An array of integers, or of links.
    @inline(__always) static func integers(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        try store.integers(ref)
    }

    /// An array of refs: a cluster, the parts of a leaf, the roots of collections.
    @inline(__always) static func refs(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        try store.refsNode(ref)
    }

    /// The same, if it can be read without waiting: for what comes next.
    @inline(__always) static func refsAtHand(_ store: NodeStore, _ ref: Ref) -> Node? { store.refsAtHand(ref) }

    /// A leaf of strings in any form.
    @inline(__always) static func texts(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        try store.node(ref)
    }
}
