/// Which nodes a walk has met: a bit for eight bytes of the file, so that each node is read as part of one thing.
struct Visited {
    private var bits: [UInt64]
    private let end: Int
    /// Nodes that the file does not hold, of an old format.
    private var others: Set<Int> = []

    init(_ size: Int) {
        end = size
        bits = [UInt64](repeating: 0, count: size / 512 + 1)
    }
    /// Notes a node; false when it was met before.
    mutating func insert(_ ref: Ref) -> Bool {
        let at = ref.offset
        guard at >= 0, at < end else { return others.insert(at).inserted }
        let word = at >> 9, bit = UInt64(1) << UInt64(at >> 3 & 63)
        guard bits[word] & bit == 0 else { return false }
        bits[word] |= bit
        return true
    }
    func contains(_ at: Int) -> Bool { at >= 0 && at < end ? bits[at >> 9] & 1 << UInt64(at >> 3 & 63) != 0 : others.contains(at) }
}
