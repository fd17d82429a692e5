/// Which bytes of a file have an owner, eight at a time.
struct Tiling {
    private var taken: [UInt64]
    private let end: Int

    init(end: Int) {
        self.end = end
        taken = [UInt64](repeating: 0, count: end / 512 + 1)
    }
    func holds(_ at: Int, _ count: Int) -> Bool { at >= Format.headerSize && at <= end && count <= end - at }
    /// Marks bytes inside of the file, a whole number of eights; false when some have an owner already, which keeps them.
    mutating func take(_ at: Int, _ count: Int) -> Bool {
        guard holds(at, count) else { return false }
        for i in at >> 3..<(at + count) >> 3 where isTaken(i) { return false }
        for i in at >> 3..<(at + count) >> 3 { taken[i >> 6] |= 1 << UInt64(i & 63) }
        return true
    }
    /// Whether bytes inside of the file have no owner.
    func isFree(_ at: Int, _ count: Int) -> Bool {
        guard holds(at, count) else { return false }
        for i in at >> 3..<(at + count) >> 3 where isTaken(i) { return false }
        return true
    }
    /// Whether a byte inside of the file has one.
    func isTaken(at: Int) -> Bool { holds(at, 8) && isTaken(at >> 3) }
    private func isTaken(_ i: Int) -> Bool { taken[i >> 6] >> UInt64(i & 63) & 1 != 0 }
    func forEachGap(_ body: (_ at: Int, _ count: Int) -> Void) {
        var start: Int?
        var i = Format.headerSize >> 3
        while i < end >> 3 {
            if start == nil, i & 63 == 0, taken[i >> 6] == .max {
                i += 64
                continue
            }
            if isTaken(i) {
                if let s = start { body(s << 3, (i - s) << 3) }
                start = nil
            } else if start == nil {
                start = i
            }
            i += 1
        }
        if let s = start { body(s << 3, (i - s) << 3) }
    }
}
