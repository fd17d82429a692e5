extension FreeSpace {
    /// The invariants after every operation: chunks are in order, do not overlap, are merged and aligned, and their sum
    /// is right; no chunk is both usable and locked.
    func checkInvariants() throws(RealmError) {
        var end = Format.headerSize, sum = 0, before: FileChunk?
        for chunk in usable {
            guard chunk.size >= 0, chunk.offset >= end, (chunk.offset | chunk.size) & 7 == 0 else {
                throw .corrupt("usable space out of order", at: chunk.offset)
            }
            guard chunk.size == 0 || before == nil || before?.size == 0 || before?.end != chunk.offset else {
                throw .corrupt("usable space that is not merged", at: chunk.offset)
            }
            (end, sum, before) = (chunk.end, sum + chunk.size, chunk)
        }
        guard sum == usableSize else { throw .corrupt("usable space summed up wrongly") }
        end = Format.headerSize
        var i = 0
        for entry in locked {
            guard entry.chunk.size > 0, entry.chunk.offset >= end, (entry.chunk.offset | entry.chunk.size) & 7 == 0
            else {
                throw .corrupt("locked space out of order", at: entry.chunk.offset)
            }
            end = entry.chunk.end
            while i < usable.count, usable[i].end <= entry.chunk.offset { i += 1 }
            guard i == usable.count || usable[i].offset >= end else {
                throw .corrupt("space that is usable and locked", at: entry.chunk.offset)
            }
        }
    }

    /// Whether the assertions of debug builds hold; long lists are not checked, because that would take too long.
    @inline(__always) var isSound: Bool {
        usable.count + locked.count > 256 || Invariants.hold { () throws(RealmError) in try checkInvariants() }
    }
}
