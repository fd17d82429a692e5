/// The nodes that a walk has visited: one bit per eight bytes of the file. Each node is thereby read as part of one
/// thing only.
struct Visited {
    private var bits: PagedBits
    private let end: Int

    /// Nodes of an old format that are created in memory, outside the file.
    private var others: Set<Int> = []

    init(_ size: Int) {
        end = size
        bits = PagedBits(size)
    }

    /// Records a node; false if it was visited before.
    mutating func insert(_ ref: Ref) -> Bool {
        let at = ref.offset
        guard at >= 0, at < end else { return others.insert(at).inserted }
        guard !bits.isSet(at >> 3) else { return false }
        bits.set(at >> 3, (at >> 3) + 1)
        return true
    }

    func contains(_ at: Int) -> Bool { at >= 0 && at < end ? bits.isSet(at >> 3) : others.contains(at) }
}
