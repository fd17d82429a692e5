/// Writes the modified nodes of one transaction, its free-space lists and its top array to the file. Format: storage §4.2 steps 5–7.
///
/// Nodes go out in post-order into as few extents as free space allows, through one buffer, so that a small commit is one `pwrite`.
/// Nothing the previous snapshot uses is touched; if anything fails the file still means the previous snapshot.
struct CommitWriter {
    private let store: NodeStore
    private let file: DatabaseFile
    private var free: FreeSpace
    private(set) var logicalSize: Int
    private var physicalSize: Int
    /// The extent being filled, and how far it is filled.
    private var extent = FileChunk(offset: 0, size: 0)
    private var cursor = 0
    /// Estimate of what is still to be written.
    private var remaining: Int
    private let listsBound: Int
    private var output: NodeOutput<Sink>
    private let wideRefs: Bool
    /// What this transaction freed in the file: sorted, neighbours merged.
    private let freed: [FileChunk]
    private let leavesRecord: Bool
    /// Where nodes would go to the disk together with the record of this commit.
    private let near: Int

    /// The file, and what was written to it and where, as long as a record can hold it.
    private struct Sink: NodeSink {
        let file: DatabaseFile
        var content: Checksum?
        var extents: [FileChunk] = []
        /// Bytes at the end of what is written next that are no part of the commit's content.
        var tail = 0

        mutating func write(_ from: UnsafeRawPointer, _ count: Int, at position: Int) throws(RealmError) {
            if let checksum = content {
                let size = count - tail
                checksum.add(from, size)
                if let last = extents.last, last.end == position {
                    extents[extents.count - 1].size += size
                } else {
                    extents.append(FileChunk(offset: position, size: size))
                }
                if extents.count > CommitRecord.maxExtents { content = nil }
            }
            try file.write(from, count: count, at: position)
        }
    }

    /// A commit that is written but not yet selected.
    struct Result {
        var topRef: Ref
        var logicalSize: Int
        var version: UInt64
        /// What fits into the record behind the base snapshot; nil for a commit that is too large or too scattered.
        var content: (checksum: Checksum, extents: [FileChunk])?
        /// Where the record behind this snapshot has its place, 0 when there is none.
        var recordAt = 0
    }

    /// - Parameters:
    ///   - roots: everything to be written below the top array. From here on the transaction frees nothing more.
    ///   - leavesRecord: whether the next commit gets a place for its record.
    ///   - recordAt: the place of this commit's record; 0: none.
    init(
        _ store: NodeStore, _ file: DatabaseFile, free: FreeSpace, logicalSize: Int, physicalSize: Int, roots: [Ref], leavesRecord: Bool,
        recordAt: Int
    ) throws(RealmError) {
        self.store = store
        self.file = file
        self.free = free
        self.logicalSize = logicalSize
        self.physicalSize = physicalSize
        wideRefs = logicalSize + (store.slabEnd - store.slabStart) + (64 << 20) >= 1 << 31
        freed = try Self.merged(store.freedInFile)
        // Each entry takes at most 24 bytes; extents and rests add a few.
        listsBound = 24 * (free.usable.count + free.locked.count + freed.count + 64) + 3 * 8 + 8 + 12 * 8 + (leavesRecord ? CommitRecord.size : 0)
        var total = Format.padded(listsBound)
        for r in roots { total += try Self.measure(store, r, wide: wideRefs, depth: 0) }
        remaining = total
        self.leavesRecord = leavesRecord
        near = recordAt == 0 ? 0 : recordAt + CommitRecord.size
        let content = leavesRecord && total <= CommitRecord.contentLimit ? Checksum() : nil
        // Small for small commits, so that a buffer costs no fresh pages.
        let bufferSize = min(1 << 20, Format.roundUp(total + 4096, to: 32 << 10))
        output = NodeOutput(Sink(file: file, content: content), buffer: try file.commitMemory(bufferSize).base, size: bufferSize)
    }

    private static func merged(_ chunks: [FileChunk]) throws(RealmError) -> [FileChunk] {
        var result: [FileChunk] = []
        for c in chunks.sorted(by: { $0.offset < $1.offset }) {
            if let last = result.last {
                guard last.end <= c.offset else { throw .corrupt("a node was freed twice", at: c.offset) }
                if last.end == c.offset {
                    result[result.count - 1].size += c.size
                    continue
                }
            }
            result.append(c)
        }
        return result
    }

    /// Bytes that the slab nodes below `ref` will take at most.
    private static func measure(_ store: NodeStore, _ ref: Ref, wide: Bool, depth: Int) throws(RealmError) -> Int {
        guard !ref.isNull, !store.isInFile(ref) else { return 0 }
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let n = try store.node(ref)
        guard n.hasRefs else { return n.size }
        guard n.width == 64 || n.count == 0 else { throw .corrupt("array of refs in memory of an impossible width", at: ref.offset) }
        var total = 0
        // Arrays of refs in the slab are 64 bits wide. What follows from all elements is found without branches, several at a time.
        let p = n.payload.assumingMemoryBound(to: Int64.self)
        let slab = Int64(store.slabStart)
        var numbers: Int64 = 0, refs: Int64 = 0, inSlab: Int64 = 0
        for i in 0..<n.count {
            let v = p[i], isRef = (v & 1) &- 1
            numbers |= v & ~isRef
            refs |= v & isRef
            inSlab |= (slab &- 1 &- v) & isRef
        }
        if inSlab < 0 {
            for i in 0..<n.count where p[i] & 1 == 0 && p[i] >= slab { total += try measure(store, Ref(Int(p[i])), wide: wide, depth: depth + 1) }
        }
        // Negative numbers are rare.
        var width = numbers >= 0 ? Widths.minimal(for: numbers) : Widths.minimal(for: p, count: n.count)
        if refs != 0 { width = max(width, wide ? 64 : 32) }
        return total + NodeHeader.size(count: n.count, width: width)
    }

    // MARK: Nodes

    /// Writes the slab nodes below `ref`, children first, and returns the ref in the file.
    mutating func write(_ ref: Ref, depth: Int = 0) throws(RealmError) -> Ref {
        guard !ref.isNull, !store.isInFile(ref) else { return ref }
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let n = try store.node(ref)
        guard n.hasRefs else {
            let at = try place(n.size)
            n.clearUnusedBits()
            try output.write(n)
            return Ref(at)
        }
        // A slab array of refs is 64 bits wide; on disk it has the least width for its values.
        let p = n.payload.assumingMemoryBound(to: Int64.self)
        let slab = Int64(store.slabStart)
        for i in 0..<n.count where p[i] & 1 == 0 && p[i] >= slab { p[i] = Int64(try write(Ref(Int(p[i])), depth: depth + 1).offset) }
        let width = Widths.minimal(for: p, count: n.count)
        let at = try place(NodeHeader.size(count: n.count, width: width))
        try output.write(p, count: n.count, width: width, flags: n.flags)
        return Ref(at)
    }

    // MARK: Placement

    /// Position for the next `size` bytes, which may not cross a section boundary. Format: storage §3.5.
    private mutating func place(_ size: Int) throws(RealmError) -> Int {
        guard size <= Format.sectionSize else { throw RealmError(.limitExceeded, "A node of \(size) bytes exceeds a section of the file") }
        for _ in 0..<1_000_000 {
            let boundary = (cursor / Format.sectionSize + 1) * Format.sectionSize
            var start = cursor
            if start + size > boundary { start = boundary }
            if start + size <= extent.end && extent.size > 0 {
                if start != cursor { free.giveBack(FileChunk(offset: cursor, size: start - cursor)) }
                try output.seek(start)
                cursor = start + size
                remaining -= size
                return start
            }
            try nextExtent(size)
        }
        throw RealmError(.maximumFileSizeExceeded, "No place for a node of \(size) bytes")
    }
    private mutating func nextExtent(_ size: Int) throws(RealmError) {
        closeExtent()
        let wanted = max(remaining, size)
        let new = free.takeExtent(startingAt: near, wanted: wanted) ?? free.takeExtent(wanted: wanted, least: size, logicalSize: logicalSize)
        extent = if let new { new } else { try extend(by: wanted) }
        cursor = extent.offset
    }
    /// Gives the rest of the current extent back.
    private mutating func closeExtent() {
        if extent.size > 0 { free.giveBack(FileChunk(offset: cursor, size: extent.end - cursor)) }
        extent = FileChunk(offset: 0, size: 0)
        cursor = 0
    }
    /// Grows the logical size by realm-core's rule and returns the new chunk, joined with a free one just before it. Format: storage §3.5.
    private mutating func extend(by wanted: Int) throws(RealmError) -> FileChunk {
        let tail = free.takeTail(endingAt: logicalSize)
        let request = wanted - (tail?.size ?? 0) + (file.isEncrypted ? file.pageSize : 0)
        let old = logicalSize
        var new = old < 1 << 20 ? 2 * old : old + (1 << 20)
        new = Format.roundUp(max(new, old + max(request, 8)), to: file.pageSize)
        guard new <= file.space.fileCapacity else {
            throw RealmError(
                .maximumFileSizeExceeded, "The file cannot grow beyond \(file.space.fileCapacity) bytes while it is open", path: file.path)
        }
        if new > physicalSize {
            // Blocks that are allocated now, as zeros, make the flushes of the next small commits cheap overwrites.
            try file.resize(to: new, filled: wanted < 256 << 10)
            physicalSize = new
        }
        logicalSize = new
        var start = tail?.offset ?? old
        if file.isEncrypted, tail == nil {
            // The last page may be in use.
            start = Format.roundUp(old, to: file.pageSize)
            free.setAside(FileChunk(offset: old, size: start - old))
        }
        return FileChunk(offset: start, size: new - start)
    }
    // MARK: Lists and top

    /// Writes free lists, top array and the place of the next commit's record, in one piece. `slots` are the top's elements; 2 to 6 are filled in
    /// here. Format: storage §3.6.
    mutating func finish(slots: [RefOrTagged], version: UInt64) throws(RealmError) -> Result {
        let size = Format.padded(listsBound)
        let start = try place(size)
        let chunkEnd = start + size
        // The rest of the extent joins the unused part of this chunk.
        let extentEnd = extent.end
        extent = FileChunk(offset: 0, size: 0)

        let recordSize = leavesRecord ? CommitRecord.size : 0
        var lists = try mergedLists(around: start, unused: FileChunk(offset: chunkEnd, size: extentEnd - chunkEnd), version)
        let count = lists.entries.count
        let positionWidth = max(Widths.minimal(for: Int64(extentEnd)), Widths.minimal(for: Int64(lists.entries[count - 1].at)))
        let lengthWidth = Widths.minimal(for: Int64(lists.largest))
        let versionWidth = Widths.minimal(for: Int64(bitPattern: lists.newest))
        let lengthsAt = start + NodeHeader.size(count: count, width: positionWidth)
        let versionsAt = lengthsAt + NodeHeader.size(count: count, width: lengthWidth)
        let topAt = versionsAt + NodeHeader.size(count: count, width: versionWidth)
        var top = slots
        top[2] = RefOrTagged(tagged: logicalSize)
        top[3] = RefOrTagged(Ref(start))
        top[4] = RefOrTagged(Ref(lengthsAt))
        top[5] = RefOrTagged(Ref(versionsAt))
        top[6] = RefOrTagged(tagged: version)
        let topWidth = top.map { Widths.minimal(for: $0.raw) }.max() ?? 0
        let end = topAt + NodeHeader.size(count: top.count, width: topWidth)
        let rest = end + recordSize
        guard rest < chunkEnd else { throw .corrupt("free-space lists exceed their reserve") }
        if leavesRecord { lists.entries[lists.rest - 1].at = end }
        lists.entries[lists.rest] = (rest, extentEnd - rest, 0)
        // `place` accounted for the whole chunk; the buffer now receives only what is used of it.
        try output.write(lists.entries.map { Int64($0.at) }, width: positionWidth)
        try output.write(lists.entries.map { Int64($0.size) }, width: lengthWidth)
        try output.write(lists.entries.map { Int64(bitPattern: $0.version) }, width: versionWidth)
        // In one piece with the record.
        try output.makeRoom(end + recordSize - topAt)
        try output.write(top.map(\.raw), width: topWidth, flags: NodeHeader.hasRefsFlag)
        if leavesRecord { try output.write(recordSize) { CommitRecord(behind: Ref(topAt), version: version).encode(into: $0) } }
        output.sink.tail = recordSize
        try output.flush()
        return Result(
            topRef: Ref(topAt), logicalSize: logicalSize, version: version, content: output.sink.content.map { ($0, output.sink.extents) },
            recordAt: leavesRecord ? end : 0)
    }
    /// The free lists of the next version.
    private struct MergedLists {
        var entries: [(at: Int, size: Int, version: UInt64)] = []
        /// Index of the entry for what is left of the last chunk; the record's, if there is one, stands before it.
        var rest = -1
        /// At most what the entries hold.
        var largest = 0, newest: UInt64 = 0
        private var last = 0

        mutating func add(_ chunk: FileChunk, _ version: UInt64) throws(RealmError) {
            guard chunk.offset >= last else { throw .corrupt("free space overlaps space that was freed", at: chunk.offset) }
            // Only the rests of pages are neighbours that can be merged.
            if version == 0, let previous = entries.last, previous.version == 0, entries.count - 1 != rest,
                previous.at + previous.size == chunk.offset
            {
                entries[entries.count - 1].size += chunk.size
            } else {
                entries.append((chunk.offset, chunk.size, version))
            }
            last = chunk.end
            largest = max(largest, entries[entries.count - 1].size)
            newest = max(newest, version)
        }
    }
    /// Everything but the final remainder: three sorted lists, merged. The remainder's place is known, its values follow from the sizes.
    /// - Parameters:
    ///   - start: of the chunk that the lists are written to; `unused` joins what is left of it.
    private func mergedLists(around start: Int, unused: FileChunk, _ version: UInt64) throws(RealmError) -> MergedLists {
        var lists = MergedLists()
        let total = free.usable.count + free.locked.count + freed.count
        try lists.entries.makeRoom(for: total + 2)
        var u = 0, l = 0, f = 0
        while u + l + f < total || lists.rest < 0 {
            let a = u < free.usable.count ? free.usable[u].offset : Int.max
            let b = l < free.locked.count ? free.locked[l].chunk.offset : Int.max
            let c = f < freed.count ? freed[f].offset : Int.max
            let least = min(a, b, c)
            if lists.rest < 0 && start < least {
                if leavesRecord {
                    lists.entries.append((start, CommitRecord.size, version + 1))
                    lists.newest = max(lists.newest, version + 1)
                }
                lists.rest = lists.entries.count
                lists.entries.append((unused.offset, unused.end - start, 0))
                lists.largest = max(lists.largest, unused.end - start)
            } else if least == a {
                try lists.add(free.usable[u], 0)
                u += 1
            } else if least == b {
                try lists.add(free.locked[l].chunk, free.locked[l].version)
                l += 1
            } else {
                try lists.add(freed[f], version)
                f += 1
            }
        }
        return lists
    }
}
