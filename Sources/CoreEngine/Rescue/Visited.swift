/// Which nodes a walk has met: a bit for eight bytes of the file, so that each node is read as part of one thing.
struct Visited {
    private var bits: PagedBits
    private let end: Int

    /// Nodes that the file does not hold, of an old format.
    private var others: Set<Int> = []

    init(_ size: Int) {
        end = size
        bits = PagedBits(size)
    }

    /// Notes a node; false when it was met before.
    mutating func insert(_ ref: Ref) -> Bool {
        let at = ref.offset
        guard at >= 0, at < end else { return others.insert(at).inserted }
        guard !bits.isSet(at >> 3) else { return false }
        bits.set(at >> 3, (at >> 3) + 1)
        return true
    }

    func contains(_ at: Int) -> Bool { at >= 0 && at < end ? bits.isSet(at >> 3) : others.contains(at) }
}
