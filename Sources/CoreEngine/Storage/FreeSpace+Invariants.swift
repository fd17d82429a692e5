extension FreeSpace {
    /// What every operation leaves behind: chunks in order, apart from each other, whole, and summed up rightly; none
    /// is usable and locked.
    func checkInvariants() throws(RealmError) {
        var end = Format.headerSize, sum = 0, before: FileChunk?
        for c in usable {
            guard c.size >= 0, c.offset >= end, (c.offset | c.size) & 7 == 0 else {
                throw .corrupt("usable space out of order", at: c.offset)
            }
            guard c.size == 0 || before == nil || before?.size == 0 || before?.end != c.offset else {
                throw .corrupt("usable space that is not merged", at: c.offset)
            }
            (end, sum, before) = (c.end, sum + c.size, c)
        }
        guard sum == usableSize else { throw .corrupt("usable space summed up wrongly") }
        end = Format.headerSize
        var i = 0
        for l in locked {
            guard l.chunk.size > 0, l.chunk.offset >= end, (l.chunk.offset | l.chunk.size) & 7 == 0 else {
                throw .corrupt("locked space out of order", at: l.chunk.offset)
            }
            end = l.chunk.end
            while i < usable.count, usable[i].end <= l.chunk.offset { i += 1 }
            guard i == usable.count || usable[i].offset >= end else {
                throw .corrupt("space that is usable and locked", at: l.chunk.offset)
            }
        }
    }

    /// Whether the assertions of debug builds hold; lists that would take long to check are taken at their word.
    @inline(__always) var isSound: Bool {
        usable.count + locked.count > 256 || Invariants.hold { () throws(RealmError) in try checkInvariants() }
    }
}
