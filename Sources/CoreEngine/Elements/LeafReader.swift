/// Reads the elements of a tree by index. The leaf that was read last stays open: to read the next element needs no
/// descent. Valid for one version, as its tree.
final class LeafReader {
    let tree: BPlusTree

    /// The leaf that was read last, and the indexes of its elements.
    private var leaf = Ref.null
    private var bounds = 0..<0

    /// Of a reader that goes from leaf to leaf.
    private var walk: WalkLimit

    init(_ tree: BPlusTree) {
        self.tree = tree
        walk = WalkLimit(tree.store, each: 8)
    }

    /// An index out of range is reported as a corrupt tree, so callers check it first.
    func get(_ index: Int) throws(RealmError) -> Mixed {
        if !bounds.contains(index) { try open(index) }
        return try tree.kind.get(tree.store, leaf, index - bounds.lowerBound)
    }

    private func open(_ index: Int) throws(RealmError) {
        let isNext = !bounds.isEmpty && index == bounds.upperBound
        bounds = 0..<0
        let (ref, within) = try BPlusTree.leaf(tree.store, tree.root, index)
        if isNext { try walk.enter(ref, tree.store) } else { walk = WalkLimit(tree.store, each: 8) }
        let count = try BPlusTree.leafCount(tree.store, tree.kind, ref)
        guard within < count else { throw .corrupt("element counts do not add up", at: ref.offset) }
        leaf = ref
        bounds = index - within..<index - within + count
    }
}
