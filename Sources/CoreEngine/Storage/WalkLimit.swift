/// Limits a walk over nodes that each occur once in a sound file. A damaged or hostile file can lead to the same node
/// from many places, so that a walk would never end.
///
/// There are two checks. The first one: a walk cannot reach more nodes than fit into the bytes that the file really has
/// (`NodeStore.measuredExtent`). The second one: the walk remembers one node, replaces it by the present node each time
/// the length of the walk has doubled, and fails when it reaches the remembered node again. When a walk reaches a node
/// again, the second check usually ends the walk much earlier than the first check would.
struct WalkLimit {
    /// The least number of bytes of a node.
    private let unit: Int
    private var left: Int
    private var isMeasured = false

    /// The remembered node, and the number of nodes until it is replaced.
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
            // A node of another file form has its ref only temporarily.
            if store.source == nil, !ref.isNull { marked = ref }
            interval &*= 2
            untilMark = interval
        }
        guard left < 0 else { return }
        // The first limit is for small files, and for walks that end before a measurement is needed.
        guard !isMeasured else { throw .corrupt("more nodes than the file has room for", at: ref.offset) }
        isMeasured = true
        left = store.measuredExtent / unit - min(store.extent, NodeStore.unmeasured) / unit
        if left < 0 { throw .corrupt("more nodes than the file has room for", at: ref.offset) }
    }
}
