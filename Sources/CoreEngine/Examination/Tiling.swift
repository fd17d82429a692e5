/// Which bytes of a file have an owner, eight at a time.
struct Tiling {
    private var taken: PagedBits
    private let end: Int

    init(end: Int) {
        self.end = end
        taken = PagedBits(end)
    }

    func holds(_ at: Int, _ count: Int) -> Bool { at >= Format.headerSize && at <= end && count <= end - at }

    /// Marks bytes inside of the file, a whole number of eights; false when some have an owner already, which keeps
    /// them.
    mutating func take(_ at: Int, _ count: Int) -> Bool {
        guard isFree(at, count) else { return false }
        taken.set(at >> 3, (at + count) >> 3)
        return true
    }

    /// Whether bytes inside of the file have no owner.
    func isFree(_ at: Int, _ count: Int) -> Bool { holds(at, count) && !taken.isAnySet(at >> 3, (at + count) >> 3) }

    /// Whether a byte inside of the file has one.
    func isTaken(at: Int) -> Bool { holds(at, 8) && taken.isSet(at >> 3) }

    func forEachGap(_ body: (_ at: Int, _ count: Int) -> Void) {
        taken.forEachGap(Format.headerSize >> 3, end >> 3) { body($0 << 3, ($1 - $0) << 3) }
    }
}
