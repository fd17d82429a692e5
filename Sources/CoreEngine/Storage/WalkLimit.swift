/// Bounds a walk over nodes each of which stands in one place of a sound file: a damaged or hostile file can lead to
/// one node from many places, and so to more nodes than can be walked over in any time.
///
/// There cannot be more nodes than have room in the bytes that the file really holds (`NodeStore.measuredExtent`); and
/// one node is kept in mind, another one after each doubling of the way, so that most walks that come to nodes again
/// find that out much earlier.
struct WalkLimit {
    /// Bytes that a node needs at least.
    private let unit: Int
    private var left: Int
    private var isMeasured = false

    /// The node that is kept in mind, and how many more are entered before it is another one.
    private var marked = Ref(-1)
    private var untilMark = 16
    private var interval = 16

    init(_ store: borrowing NodeStore, each unit: Int) {
        self.unit = unit
        left = min(store.extent, NodeStore.unmeasured) / unit + 64
    }

    @inline(__always) mutating func enter(_ ref: Ref, _ store: borrowing NodeStore) throws(RealmError) {
        left &-= 1
        untilMark &-= 1
        if left < 0 || untilMark < 0 || ref == marked { try look(ref, store) }
    }

    @inline(never) private mutating func look(_ ref: Ref, _ store: borrowing NodeStore) throws(RealmError) {
        if ref == marked { throw .corrupt("a node stands in more than one place", at: ref.offset) }
        if untilMark < 0 {
            // A node of another file form has its ref only for a while.
            if store.source == nil, !ref.isNull { marked = ref }
            interval &*= 2
            untilMark = interval
        }
        guard left < 0 else { return }
        // The first limit is for small files, and for walks that end before anything need be measured.
        guard !isMeasured else { throw .corrupt("more nodes than the file has room for", at: ref.offset) }
        isMeasured = true
        left = store.measuredExtent / unit - min(store.extent, NodeStore.unmeasured) / unit
        if left < 0 { throw .corrupt("more nodes than the file has room for", at: ref.offset) }
    }
}
