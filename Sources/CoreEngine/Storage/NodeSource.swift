/// Makes nodes in the form that the rooms above read, of a file that holds them in another: a snapshot of an older
/// format, read in place.
///
/// Its refs lie behind the file and below the slab. A node that was asked for once stands in the slab, where it is
/// found the quick way; the ref of the source stays in the node above it and stands for the same as long as the source
/// lives.
///
/// Thread rule: that of its store.
protocol NodeSource: AnyObject {
    /// How many bytes of nodes there may be at most; bounds what a count may claim.
    var extent: Int { get }

    /// The node that a ref of the source stands for.
    func node(_ ref: Ref) throws(RealmError) -> Node

    /// Whether a walk that comes to this ref has nothing left to do in nodes that were made on demand but to follow
    /// such refs.
    func isEntry(_ ref: Ref) -> Bool

    /// Nothing that was made on demand is used any more.
    func forget()
}

extension NodeStore {
    /// Gives the memory of what a source made back, once it is more than `limit`. For walks, before they come to `ref`.
    func forgetMade(beyond limit: Int, before ref: Ref) {
        guard let source, slabEnd - slabStart > limit, source.isEntry(ref) else { return }
        forgetPages()
    }

    /// From now on `make` gives the nodes that are not in the file, in a slab of their own. nil: there are none.
    /// - Parameter make: called with the slab open for writing.
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
