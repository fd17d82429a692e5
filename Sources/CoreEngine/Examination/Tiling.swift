/// The bytes of a file that have an owner, in units of eight.
struct Tiling {
    private var taken: PagedBits
    private let end: Int

    init(end: Int) {
        self.end = end
        taken = PagedBits(end)
    }

    func holds(_ at: Int, _ count: Int) -> Bool { at >= Format.headerSize && at <= end && count <= end - at }

    /// Marks a multiple of eight bytes inside the file. Returns false, and marks nothing, if some of them already have
    /// an owner.
    mutating func take(_ at: Int, _ count: Int) -> Bool {
        guard isFree(at, count) else { return false }
        taken.set(at >> 3, (at + count) >> 3)
        return true
    }

    /// Whether bytes inside the file have no owner.
    func isFree(_ at: Int, _ count: Int) -> Bool { holds(at, count) && !taken.isAnySet(at >> 3, (at + count) >> 3) }

    /// Whether a byte inside the file has an owner.
    func isTaken(at: Int) -> Bool { holds(at, 8) && taken.isSet(at >> 3) }

    func forEachGap(_ body: (_ at: Int, _ count: Int) -> Void) {
        taken.forEachGap(Format.headerSize >> 3, end >> 3) { body($0 << 3, ($1 - $0) << 3) }
    }
}
