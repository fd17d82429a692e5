/// Makes nodes in the form that the layers above read, from a file that holds them in another form: a snapshot of an
/// older format, read in place.
///
/// The refs of a source are behind the file and below the slab. A node that was requested once is kept in the slab,
/// where the fast path finds it. The parent node keeps the ref of the source, which names the same node as long as the
/// source exists.
///
/// Thread rule: that of its store.
protocol NodeSource: AnyObject {
    /// Upper bound for the bytes of all nodes; limits the counts that a node may claim.
    var extent: Int { get }

    /// The node that a ref of the source names.
    func node(_ ref: Ref) throws(RealmError) -> Node

    /// Whether the source can forget its nodes when a walk reaches this ref: from here on the walk uses no node that
    /// was made before.
    func isEntry(_ ref: Ref) -> Bool

    /// Forgets the nodes that were made on demand; the caller uses none of them any more.
    func forget()
}

extension NodeStore {
    /// Releases the memory of nodes that a source made, when it exceeds `limit`. A walk calls it before it reads `ref`.
    func forgetMade(beyond limit: Int, before ref: Ref) {
        guard let source, slabEnd - slabStart > limit, source.isEntry(ref) else { return }
        forgetPages()
    }

    /// Uses a source for nodes that are not in the file; they are kept in the slab.
    /// - Parameter make: makes the source; called while the slab is open for writing.
    func useSource<S: NodeSource>(_ make: () throws(RealmError) -> S) throws(RealmError) -> S {
        dropSource()
        let new = try making(make)
        source = new
        return new
    }

    func dropSource() {
        source = nil
        cutSlab(to: slabStart)
    }
}
