/// The places in the file that the last two commits of this process wrote.
///
/// A leaf that is written again soon is placed like the upper nodes of a commit (`CommitWriter`). For that the store
/// asks, when it copies a node of the file, whether one of the last commits wrote it.
///
/// Invariants
/// 1. The places belong to the versions `newest` and `newest` − 1. If another process made a commit since, nothing
///    counts as recent.
/// 2. The places are sorted and disjoint, and are at most twice as many as a record has extents.
struct RecentPlaces {
    private var newest: UInt64 = 0
    private var last: [FileChunk] = []
    private var lastButOne: [FileChunk] = []

    /// - Parameter places: all places of the commit; nil for a commit that wrote too much.
    mutating func add(_ version: UInt64, _ places: [FileChunk]?) {
        lastButOne = version == newest + 1 ? last : []
        last = places ?? []
        newest = version
    }

    /// The places that the commit of `version` wrote, if it was the last one.
    func lastCommit(_ version: UInt64) -> [FileChunk] { version == newest ? last : [] }

    /// The places that the last commits before a write transaction on top of `base` wrote, in order.
    func places(before base: UInt64) -> [FileChunk] {
        base == newest ? (last + lastButOne).sorted { $0.offset < $1.offset } : []
    }
}
