/// The free chunks of a snapshot, read from its three free-list arrays and classified for one commit. Format: storage
/// §3.3–§3.5.
///
/// Invariants
/// 1. `usable` is sorted by position and merged, and holds only chunks that no reachable snapshot uses.
/// 2. `locked` entries carry the version that released them, or another version that makes them usable at the same
///    time.
/// 3. No space that the version before the base uses is allocated: the header on the disk may still lead to that
///    version.
/// 4. With a page size (encrypted files) `usable` holds only whole pages; parts of pages are locked, with version 0.
struct FreeSpace {
    struct Locked {
        var chunk: FileChunk
        var version: UInt64
    }

    /// Chunks that were allocated completely remain as empty entries at their position.
    private(set) var usable: [FileChunk] = []

    /// The chunks of `usable` by size, for single nodes; nil until the first one is needed.
    private var holes: HoleIndex?

    /// Index of the chunk that `takeFront` takes from; −1 before its first use.
    private var longest = -1
    private(set) var locked: [Locked] = []

    /// Sum of `usable`.
    private(set) var usableSize = 0

    /// Bytes that are free on pages of which other parts are in use.
    private(set) var restSize = 0

    /// Usable chunks near the end of a file that shrinks, in order and behind all of `usable`: they are used only when
    /// nothing else fits.
    private(set) var withheld: [FileChunk] = []

    /// The newest version that the lists of the next snapshot may name: the version of a locked chunk, or the version
    /// after the next one, with which the lists name the place of the record.
    private(set) var newestVersion: UInt64 = 0

    /// Whether each hole is used, however small it is beside what is to be written.
    private var usesAllHoles = false

    init() {}

    /// Reads and checks the lists: sorted, aligned, disjoint, inside the file.
    /// - Parameters:
    ///   - base: the version that the commit builds upon; nil: everything is usable.
    ///   - pinned: the versions below it that readers hold, in order. A chunk is usable when the version that released
    ///     it is at most the lowest of them, and below the base.
    ///   - space: the space that these versions leave free; nil: space that was freed since is not usable.
    ///   - groupStart: the first version of the commits that will be flushed together with this one. On the disk they
    ///     are one commit: what they freed counts as freed by the last.
    init(
        _ store: NodeStore, _ lists: (positions: Ref, lengths: Ref, versions: Ref), logicalSize: Int, base: UInt64?,
        pinned: [UInt64],
        beside space: PinnedSpace? = nil, groupStart: UInt64? = nil, pageSize: Int?
    ) throws(RealmError) {
        newestVersion = (base ?? 0) + 2
        guard !lists.positions.isNull, !lists.lengths.isNull else { return }
        let positions = try store.integers(lists.positions), lengths = try store.integers(lists.lengths)
        let versions = lists.versions.isNull ? nil : try store.integers(lists.versions)
        guard positions.count == lengths.count, versions.map({ $0.count == positions.count }) ?? true else {
            throw .corrupt("free-space lists of unequal length", at: lists.positions.offset)
        }
        // Chunks between the same two pins become usable at the same time: they get the same version, so that the lists
        // stay short while a reader holds a snapshot.
        let last = base.map { $0 == 0 ? 0 : $0 - 1 } ?? .max
        let steps = pinned.filter { $0 < last } + [last]
        let group = groupStart ?? .max, newest = (base ?? 0) + 1
        try usable.makeRoom(for: positions.count + 8)
        var end = Int64(Format.headerSize)
        for i in 0..<positions.count {
            let at = positions.get(i), length = lengths.get(i)
            guard at >= end, at & 7 == 0, length > 0, length & 7 == 0, length <= Int64(logicalSize) - at else {
                throw .corrupt(
                    "free-space list with chunks that overlap or lie outside the file", at: lists.positions.offset)
            }
            end = at + length
            let version = versions.map { UInt64(bitPattern: $0.get(i)) } ?? 0
            let chunk = FileChunk(offset: Int(at), size: Int(length))
            if version <= steps[0] {
                append(chunk)
                continue
            }
            let step = steps.place { $0 < version }
            let heldBy = version >= group ? max(version, newest) : step < steps.count ? steps[step] : version
            guard version <= last, version < group, let space else {
                lockAtEnd(chunk, version: heldBy)
                continue
            }
            var held = chunk.offset
            space.eachPart(of: chunk, freedBy: version) { part in
                if part.offset > held { lockAtEnd(FileChunk(offset: held, size: part.offset - held), version: heldBy) }
                append(part)
                held = part.end
            }
            if held < chunk.end { lockAtEnd(FileChunk(offset: held, size: chunk.end - held), version: heldBy) }
        }
        if let pageSize { keepWholePages(pageSize) }
        assert(isSound, "free space read wrongly")
    }

    /// Adds a chunk that is behind all others.
    mutating func lockAtEnd(_ chunk: FileChunk, version: UInt64) {
        newestVersion = max(newestVersion, version)
        if let before = locked.last, before.version == version, before.chunk.end == chunk.offset {
            locked[locked.count - 1].chunk.size += chunk.size
        } else {
            locked.append(Locked(chunk: chunk, version: version))
        }
    }

    /// Whether exactly this chunk is in the list, released by `version`, and locked.
    func isLocked(_ chunk: FileChunk, version: UInt64) -> Bool {
        var low = 0, high = locked.count
        while low < high {
            let mid = (low + high) / 2
            if locked[mid].chunk.offset < chunk.offset { low = mid + 1 } else { high = mid }
        }
        return low < locked.count && locked[low].chunk == chunk && locked[low].version == version
    }

    /// Bytes that were freed after version `pin`, and that the next commit could use if no reader held that version or
    /// an older one.
    /// - Parameter base: the version that the commit builds upon.
    func held(by pin: UInt64, base: UInt64) -> Int {
        locked.reduce(0) { $0 + ($1.version > pin && $1.version < base ? $1.chunk.size : 0) }
    }

    /// Sum of all free space, usable or locked.
    var totalSize: Int { withheld.reduce(lockedSize + usableSize) { $0 + $1.size } }

    private var lockedSize: Int { locked.reduce(0) { $0 + $1.chunk.size } }

    /// Locks free space that is only a part of a page: the rest of the page may be in use.
    private mutating func keepWholePages(_ pageSize: Int) {
        var whole: [FileChunk] = [], rests: [Locked] = []
        usableSize = 0
        for chunk in usable {
            // The header is always in use.
            let first = max(Format.roundUp(chunk.offset, to: pageSize), pageSize), end = chunk.end / pageSize * pageSize
            guard end > first else {
                rests.append(Locked(chunk: chunk, version: 0))
                continue
            }
            if first > chunk.offset {
                rests.append(Locked(chunk: FileChunk(offset: chunk.offset, size: first - chunk.offset), version: 0))
            }
            whole.append(FileChunk(offset: first, size: end - first))
            usableSize += end - first
            if chunk.end > end {
                rests.append(Locked(chunk: FileChunk(offset: end, size: chunk.end - end), version: 0))
            }
        }
        usable = whole
        restSize = rests.reduce(0) { $0 + $1.chunk.size }
        locked = (locked + rests).sorted { $0.chunk.offset < $1.chunk.offset }
    }

    /// Locks space at the end that is never allocated, because its page is in use.
    mutating func setAside(_ chunk: FileChunk) {
        if chunk.size > 0 { locked.append(Locked(chunk: chunk, version: 0)) }
    }

    /// Adds a chunk that is behind all others.
    private mutating func append(_ chunk: FileChunk) {
        usableSize += chunk.size
        if let last = usable.last, last.size > 0, last.end == chunk.offset {
            usable[usable.count - 1].size += chunk.size
        } else {
            usable.append(chunk)
        }
    }

    mutating func appendAtEnd(_ chunk: FileChunk) { append(chunk) }

    // MARK: Shrinking

    /// The smallest size of the file for which the usable space below it has room for all nodes behind it.
    /// - Parameter reserve: bytes that must be left over.
    /// - Returns: also the bytes of nodes behind that size.
    func shortestEnd(logicalSize: Int, reserve: Int) -> (end: Int, behind: Int) {
        var behind = logicalSize - Format.headerSize - totalSize
        var room = 0, end = Format.headerSize, lockedIndex = 0
        for chunk in usable where chunk.size > 0 {
            while lockedIndex < locked.count, locked[lockedIndex].chunk.offset < chunk.offset {
                behind -= locked[lockedIndex].chunk.offset - end
                end = locked[lockedIndex].chunk.end
                lockedIndex += 1
            }
            behind -= chunk.offset - end
            end = chunk.end
            // Nodes of different sizes never fill holes completely.
            let wanted = behind + behind / 8 + reserve
            if room + chunk.size >= wanted { return (chunk.offset + max(0, wanted - room), max(0, behind)) }
            room += chunk.size
        }
        return (logicalSize, 0)
    }

    /// From now on space at `cutoff` or behind it is used only when nothing else fits.
    mutating func withhold(from cutoff: Int) {
        usesAllHoles = true
        while let last = usable.last, last.end > cutoff || last.size == 0 {
            usable.removeLast()
            guard last.size > 0 else { continue }
            let start = max(last.offset, cutoff)
            withheld.append(FileChunk(offset: start, size: last.end - start))
            if last.offset < start { usable.append(FileChunk(offset: last.offset, size: start - last.offset)) }
            usableSize -= last.end - start
        }
        withheld.reverse()
        holes = nil
        longest = -1
        assert(isSound, "free space withheld wrongly")
    }

    /// Makes the withheld space usable. Returns false when there was none.
    mutating func releaseWithheld() -> Bool {
        guard !withheld.isEmpty else { return false }
        while let last = usable.last, last.size == 0 { usable.removeLast() }
        for chunk in withheld { append(chunk) }
        withheld = []
        holes = nil
        longest = -1
        assert(isSound, "free space released wrongly")
        return true
    }

    // MARK: Allocation

    /// Takes the first `size` bytes of chunk `i`; the rest of the chunk stays in the list.
    private mutating func take(_ size: Int, at i: Int) -> FileChunk {
        let taken = FileChunk(offset: usable[i].offset, size: size)
        usable[i].offset += size
        usable[i].size -= size
        usableSize -= size
        return taken
    }

    private mutating func take(at i: Int) -> FileChunk {
        let taken = take(usable[i].size, at: i)
        assert(isSound, "free space taken wrongly")
        return taken
    }

    /// Gives an unused part of an allocated chunk back.
    mutating func giveBack(_ chunk: FileChunk) {
        guard chunk.size > 0 else { return }
        // The entry of the chunk that contained it is now empty, and its position is the end of that chunk.
        let i = firstUsable(endingFrom: chunk.end)
        if i < usable.count, usable[i].offset == chunk.end {
            usable[i].offset = chunk.offset
            usable[i].size += chunk.size
        } else {
            usable.insert(chunk, at: i)
            holes = nil
            longest = -1
        }
        // The following chunk may be free, too; entries between them are empty and have the same position.
        let end = usable[i].end
        var next = i + 1
        while next < usable.count, usable[next].size == 0, usable[next].offset == end { next += 1 }
        if next < usable.count, usable[next].size > 0, usable[next].offset == end {
            usable[i].size += usable[next].size
            for j in (i + 1)...next { usable[j] = FileChunk(offset: usable[i].end, size: 0) }
        }
        if i > 0, usable[i - 1].size > 0, usable[i - 1].end == usable[i].offset {
            usable[i].offset = usable[i - 1].offset
            usable[i].size += usable[i - 1].size
            usable[i - 1].size = 0
        }
        usableSize += chunk.size
        assert(isSound, "free space given back wrongly")
    }

    /// Takes the extent that begins at `start`, if it has room for all `wanted` bytes.
    mutating func takeExtent(startingAt start: Int, wanted: Int) -> FileChunk? {
        let i = firstUsable(endingFrom: start + 1)
        guard i < usable.count, usable[i].offset == start, usable[i].size >= wanted, Self.holds(usable[i], wanted)
        else {
            return nil
        }
        return take(at: i)
    }

    /// Index of the first chunk that ends at `offset` or behind it. Empty chunks end where they begin.
    private func firstUsable(endingFrom offset: Int) -> Int {
        var low = 0, high = usable.count
        while low < high {
            let mid = (low + high) / 2
            if usable[mid].end < offset { low = mid + 1 } else { high = mid }
        }
        return low
    }

    /// Takes an extent to write into: the smallest one with room for all `wanted` bytes, or else the largest one, if it
    /// has room for a node of `least` bytes and is worth a separate write. nil: the file must be extended.
    mutating func takeExtent(wanted: Int, least: Int, logicalSize: Int) -> FileChunk? {
        var best = -1, largest = -1
        for i in usable.indices {
            let size = usable[i].size
            guard size >= least, Self.holds(usable[i], least) else { continue }
            if size >= wanted && (best < 0 || size < usable[best].size) { best = i }
            if largest < 0 || size > usable[largest].size { largest = i }
        }
        if best >= 0 { return take(at: best) }
        guard largest >= 0 else { return nil }
        let size = usable[largest].size
        // Each hole costs a separate disk write. A hole is used when it holds a fair part of the bytes that are left to
        // write, or two pages, or when half of the file is free anyway.
        guard size >= least, usesAllHoles || size >= min(max(wanted / 16, 512), 8 << 10) || usableSize > logicalSize / 2
        else {
            return nil
        }
        return take(at: largest)
    }

    /// Whether at least `count` chunks have `size` bytes or more.
    func hasChunks(_ count: Int, of size: Int) -> Bool {
        var found = 0
        for chunk in usable where chunk.size >= size {
            found += 1
            if found == count { return true }
        }
        return false
    }

    /// A place for a single node in a hole: the shortest chunk of at least `size` and less than `limit` bytes.
    mutating func takeHole(_ size: Int, below limit: Int) -> Int? {
        if holes == nil { holes = HoleIndex(usable) }
        while let i = holes?.take(atLeast: size) {
            guard i < usable.count else { continue }
            let chunk = usable[i]
            // The chunk may have changed since it was entered in the index.
            guard chunk.size >= size, chunk.size < limit else { continue }
            guard Format.sectionSize - chunk.offset % Format.sectionSize >= size else { continue }
            let taken = take(size, at: i)
            holes?.enter(i, size: usable[i].size)
            return taken.offset
        }
        return nil
    }

    /// A place for a single node at the front of the longest chunk, if that has at least `least` bytes: nodes that live
    /// long are placed next to each other there.
    mutating func takeFront(_ size: Int, least: Int) -> Int? {
        if longest < 0 || usable[longest].size < least {
            longest = usable.indices.max { usable[$0].size < usable[$1].size } ?? -1
        }
        guard longest >= 0, usable[longest].size >= max(least, size) else { return nil }
        let offset = usable[longest].offset
        guard Format.sectionSize - offset % Format.sectionSize >= size else { return nil }
        return take(size, at: longest).offset
    }

    /// Whether `size` bytes fit without crossing a section boundary.
    @inline(__always) static func holds(_ chunk: FileChunk, _ size: Int) -> Bool {
        let boundary = (chunk.offset / Format.sectionSize + 1) * Format.sectionSize
        return chunk.offset + size <= min(boundary, chunk.end) || boundary + size <= chunk.end
    }

    /// Takes the usable chunk that ends exactly at `end`, if any.
    mutating func takeTail(endingAt end: Int) -> FileChunk? {
        guard let last = usable.last, last.size > 0, last.end == end else { return nil }
        // It will be allocated together with the space behind it, so no entry may remain in the middle.
        usable.removeLast()
        usableSize -= last.size
        longest = -1
        return last
    }
}

extension NodeStore {
    /// The sum of a free-space list of a file of `most` bytes.
    func freeBytes(_ list: Ref, most: Int) throws(RealmError) -> Int {
        guard !list.isNull else { return 0 }
        let lengths = try integers(list)
        var free = 0
        for i in 0..<lengths.count {
            let length = lengths.get(i)
            guard length >= 0, length <= Int64(most - free) else {
                throw .corrupt("free-space list with chunks larger than the file", at: list.offset)
            }
            free += Int(length)
        }
        return free
    }
}
