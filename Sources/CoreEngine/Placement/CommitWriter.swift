/// Writes the modified nodes of one transaction, its free-space lists and its top array to the file. Format: storage
/// §4.2 steps 5–7.
///
/// Placement of nodes. *Upper* nodes are those that the next commits will replace again: roots of trees, history, free
/// lists. They are written in post-order into as few extents as free space allows, through one buffer, so that they
/// need one `pwrite`. Leaves of trees live long. Each leaf goes into a hole that another leaf left, if a hole of its
/// size exists: a leaf in the middle of an extent would prevent the reuse of the whole extent, and the free lists would
/// grow with every commit. If all nodes of a leaf have changed, they go into one hole, with one `pwrite`, on condition
/// that this commit also frees a chunk of about that size: so the file always has such holes. Otherwise each node has a
/// hole of its own: nodes that are in use next to free ones make holes shorter. Leaves that one of the last two commits
/// wrote are placed like upper nodes, because the next commits will probably replace them, too.
///
/// Nothing that the previous snapshot uses is overwritten: if anything fails, the file still contains the previous
/// snapshot.
struct CommitWriter {
    private let store: NodeStore
    private let file: DatabaseFile
    private var free: FreeSpace
    private(set) var logicalSize: Int
    private var physicalSize: Int

    /// The extent that is being filled, and the position of the next byte in it.
    private var extent = FileChunk(offset: 0, size: 0)
    private var cursor = 0

    /// Estimate of the bytes that are still to be written.
    private var remaining: Int

    /// Chunks below this size are holes for leaves. 0: leaves are placed like all other nodes.
    private let holeLimit: Int

    /// The number of holes that leaves may still be put into: each costs a separate write.
    private var holesLeft: Int

    /// End of the last leaf that was placed in a hole.
    private var lastLeafEnd = 0

    /// The free rest of the hole for all changed nodes of the current leaf; empty when each node has its own.
    private var leafHole = FileChunk(offset: 0, size: 0)

    /// Whether all nodes of a changed leaf are written, also the unchanged ones.
    private let gathersLeaves: Bool

    /// The bytes that gathering may still write.
    private var gatheringLeft: Int

    /// Upper bound for the bytes of a free list and of the data that are written with it.
    private let listBound: Int

    /// Upper bound for the bytes of the current leaf that are not written yet; nil when the leaf is not gathered.
    private var leafLeft: Int?

    /// The free rest of the pages of the current leaf.
    private var leafPages = FileChunk(offset: 0, size: 0)

    /// Nodes of the file that were moved, and unused ends of pages behind leaves.
    private var moved: [FileChunk] = []
    private var rests: [FileChunk] = []
    private let sink: Sink
    private var output: NodeOutput<Sink>

    /// For leaves that go into holes.
    private var leafOutput: NodeOutput<Sink>
    private let wideRefs: Bool

    /// What this transaction freed in the file: sorted, adjacent chunks merged.
    private var freed: [FileChunk]
    private let leavesRecord: Bool

    /// Free space at the end of the file that is behind `end` is cut off, if it is at least so many bytes; nil: it
    /// stays.
    typealias Cut = (end: Int, atLeast: Int)
    private let cut: Cut?

    /// Whether the file has shrunk: then it grows in small steps, so that it does not shrink and grow in turns.
    private let hasShrunk: Bool

    /// The position behind the record of this commit; 0: none. Nodes there reach the disk together with the record.
    private let near: Int

    /// Writes to the file. Also collects the checksum and the extents of the written bytes, as long as they fit into a
    /// record.
    private final class Sink: NodeSink {
        let file: DatabaseFile
        var content: Checksum?
        var extents: [FileChunk] = []

        /// Bytes at the end of the next write that are not part of the commit's content.
        var tail = 0

        init(_ file: DatabaseFile, _ content: Checksum?) {
            self.file = file
            self.content = content
        }

        func write(_ from: UnsafeRawPointer, _ count: Int, at position: Int) throws(RealmError) {
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

    /// - Parameters:
    ///   - roots: everything to be written below the top array. From here on the transaction frees nothing more.
    ///   - leavesRecord: whether to reserve a place for the record of the next commit.
    ///   - recordAt: the place of this commit's record; 0: none.
    ///   - cut: for a file that shrinks, what may be cut off.
    ///   - hasShrunk: whether the file has become shorter since it was opened.
    init(
        _ store: NodeStore, _ file: DatabaseFile, free: FreeSpace, logicalSize: Int, physicalSize: Int, roots: [Ref],
        leavesRecord: Bool, recordAt: Int, cutting cut: Cut? = nil, hasShrunk: Bool = false
    ) throws(RealmError) {
        self.store = store
        self.file = file
        self.free = free
        self.logicalSize = logicalSize
        self.physicalSize = physicalSize
        wideRefs = logicalSize + (store.slabEnd - store.slabStart) + (64 << 20) >= 1 << 31
        freed = try Self.merged(store.freedInFile)
        self.leavesRecord = leavesRecord
        self.cut = cut
        self.hasShrunk = hasShrunk
        let bounds = Self.listBounds(free, freed, leavesRecord, isWide: wideRefs)
        listBound = bounds[2]
        var total = bounds.reduce(0, +)
        for root in roots { total += try Self.measure(store, root, wide: wideRefs, depth: 0) }
        remaining = total
        // Each hole costs a separate write. While little space is free, few holes are used, which keeps the free lists
        // short; a record holds the places of 27 writes.
        let isTight = free.usableSize < logicalSize / 16 + (64 << 10)
        holeLimit = file.isEncrypted ? 0 : min(total, HoleIndex.sizeLimit)
        if file.isEncrypted {
            gathersLeaves = free.restSize > (logicalSize + total) / 8
            gatheringLeft = .max
        } else {
            let chunks = free.usable.count + free.withheld.count + free.locked.count + freed.count
            gathersLeaves = chunks > Self.manyChunks && cut == nil
            gatheringLeft = gathersLeaves ? chunks * Self.bytesOfChunk : 0
        }
        holesLeft = isTight && cut == nil ? CommitRecord.maxExtents - 7 : .max
        let recent = store.recent
        // Large commits write long pieces in any case.
        freedSizes =
            holeLimit == 0 || freed.count > Self.manyChunks
            ? [] : freed.filter { !recent.contains($0.offset) }.map(\.size).sorted()
        near = recordAt == 0 ? 0 : recordAt + CommitRecord.size
        let most = total + (file.isEncrypted ? 0 : gatheringLeft)
        let content = leavesRecord && most <= CommitRecord.contentLimit ? Checksum() : nil
        // Small for small commits, so that the buffer needs no fresh pages.
        let bufferSize = min(1 << 20, Format.roundUp(total + 4096, to: 32 << 10))
        let memory = try file.commitMemory(bufferSize + Self.leafBufferSize)
        sink = Sink(file, content)
        output = NodeOutput(sink, buffer: memory.base, size: bufferSize)
        leafOutput = NodeOutput(sink, buffer: memory.base + bufferSize, size: Self.leafBufferSize)
    }

    private static let leafBufferSize = 32 << 10

    /// Upper bounds for the bytes of the three free lists; the third bound includes the top array and the record.
    private static func listBounds(_ free: FreeSpace, _ freed: [FileChunk], _ leavesRecord: Bool, isWide: Bool) -> [Int]
    {
        // Extents and their unused ends add a few entries.
        let entries = free.usable.count + free.withheld.count + free.locked.count + freed.count + 16
        let positions = 8 + Format.padded(entries * (isWide ? 8 : 4))
        let versions = 8 + Format.padded(entries * (free.newestVersion < 1 << 30 ? 4 : 8))
        return [positions, positions, versions + 8 + 12 * 8 + (leavesRecord ? CommitRecord.size : 0)]
    }

    private static func merged(_ chunks: [FileChunk]) throws(RealmError) -> [FileChunk] {
        var result: [FileChunk] = []
        for chunk in chunks.sorted(by: { $0.offset < $1.offset }) {
            if let last = result.last {
                guard last.end <= chunk.offset else { throw .corrupt("a node was freed twice", at: chunk.offset) }
                if last.end == chunk.offset {
                    result[result.count - 1].size += chunk.size
                    continue
                }
            }
            result.append(chunk)
        }
        return result
    }

    /// Upper bound for the bytes of the slab nodes below `ref`.
    private static func measure(_ store: NodeStore, _ ref: Ref, wide: Bool, depth: Int) throws(RealmError) -> Int {
        guard !ref.isNull, !store.isInFile(ref) else { return 0 }
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let node = try store.node(ref)
        guard node.hasRefs else { return node.size }
        guard node.width == 64 || node.count == 0 else {
            throw .corrupt("array of refs in memory of an impossible width", at: ref.offset)
        }
        var total = 0
        // Arrays of refs in the slab are 64 bits wide. The properties of all elements together are computed without
        // branches, several elements at a time.
        let elements = node.payload.assumingMemoryBound(to: Int64.self)
        let slab = Int64(store.slabStart)
        var numbers: Int64 = 0, refs: Int64 = 0, inSlab: Int64 = 0
        for i in 0..<node.count {
            let element = elements[i], isRef = (element & 1) &- 1
            numbers |= element & ~isRef
            refs |= element & isRef
            inSlab |= (slab &- 1 &- element) & isRef
        }
        if inSlab < 0 {
            for i in 0..<node.count where elements[i] & 1 == 0 && elements[i] >= slab {
                total += try measure(store, Ref(Int(elements[i])), wide: wide, depth: depth + 1)
            }
        }
        // The OR of non-negative numbers needs as many bits as the greatest of them. Negative numbers are rare.
        var width = numbers >= 0 ? Widths.minimal(for: numbers) : Widths.minimal(for: elements, count: node.count)
        if refs != 0 { width = max(width, wide ? 64 : 32) }
        return total + NodeHeader.size(count: node.count, width: width)
    }

    // MARK: Nodes

    /// Writes the slab nodes below `ref`, children first, and returns the ref in the file.
    /// - Parameter isInLeaf: whether the node belongs to a leaf of a tree that has inner nodes.
    mutating func write(_ ref: Ref, isInLeaf: Bool = false, depth: Int = 0) throws(RealmError) -> Ref {
        guard !ref.isNull, !store.isInFile(ref) else { return ref }
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let node = try store.node(ref)
        guard node.hasRefs else { return try put(node, isInLeaf) }
        // An array of refs is 64 bits wide in the slab; on disk it has the least width that holds its values.
        let elements = node.payload.assumingMemoryBound(to: Int64.self)
        let slab = Int64(store.slabStart)
        for i in 0..<node.count where elements[i] & 1 == 0 && elements[i] != 0 {
            let child = Ref(Int(elements[i]))
            guard elements[i] >= slab else {
                if leafLeft != nil { elements[i] = Int64(try move(child, depth: depth + 1).offset) }
                continue
            }
            // The first element of an inner node is not a child, but the array of their offsets or keys.
            if node.isInner, i > 0 {
                elements[i] = Int64(try writeChild(child, isInLeaf, depth).offset)
            } else {
                elements[i] = Int64(try write(child, isInLeaf: isInLeaf, depth: depth + 1).offset)
            }
        }
        return try put(elements, node, isInLeaf)
    }

    // Separate functions, so that the recursive function uses little stack: collections can be nested a hundred deep.

    /// Writes a child of an inner node: the root of a leaf, or another inner node.
    @inline(never) private mutating func writeChild(_ child: Ref, _ isInLeaf: Bool, _ depth: Int) throws(RealmError)
        -> Ref
    {
        let node = try store.node(child)
        guard !node.isInner else { return try write(child, isInLeaf: isInLeaf, depth: depth + 1) }
        if try beginLeaf(child) {
            defer { endLeaf() }
            return try write(child, isInLeaf: true, depth: depth + 1)
        }
        guard !isInLeaf else { return try write(child, isInLeaf: true, depth: depth + 1) }
        guard !store.isRecent(node) else { return try write(child, depth: depth + 1) }
        try takeLeafHole(child, node)
        defer { closeLeafHole() }
        return try write(child, isInLeaf: true, depth: depth + 1)
    }

    /// Writes a node without refs.
    @inline(never) private mutating func put(_ node: Node, _ isInLeaf: Bool) throws(RealmError) -> Ref {
        node.clearUnusedBits()
        if isInLeaf, let at = try placeInLeaf(node.size) {
            try leafOutput.seek(at)
            try leafOutput.write(node)
            return Ref(at)
        }
        let at = try place(node.size)
        try output.write(node)
        return Ref(at)
    }

    /// Writes an array of refs, all of which point into the file.
    @inline(never) private mutating func put(_ refs: UnsafeMutablePointer<Int64>, _ node: Node, _ isInLeaf: Bool)
        throws(RealmError) -> Ref
    {
        let width = Widths.minimal(for: refs, count: node.count)
        let size = NodeHeader.size(count: node.count, width: width)
        if isInLeaf, let at = try placeInLeaf(size) {
            try leafOutput.seek(at)
            try leafOutput.write(refs, count: node.count, width: width, flags: node.flags)
            return Ref(at)
        }
        let at = try place(size)
        try output.write(refs, count: node.count, width: width, flags: node.flags)
        return Ref(at)
    }

    // MARK: Gathering

    // A commit moves all nodes of a leaf that it changes to one place in two cases. The places where these nodes were
    // become free.
    //
    // Encrypted files are written in whole pages, and a page cannot be written while a single node on it is in use:
    // leaves are gathered when such pages waste much of the file.
    //
    // In plain files the nodes of a leaf get scattered over the file when they change one by one, and the holes between
    // them become short. Each commit writes the list of all free chunks. When this list is long, a commit gathers
    // scattered leaves, at most as many bytes as the list has: a leaf that was gathered leaves one long hole in place of
    // many short ones.

    /// Leaves that are larger, or whose nodes are nested deeper, stay where they are.
    private static let gatheringLimit = 256 << 10
    private static let gatheringDepth = 24

    /// In plain files: the number of free chunks from which leaves are gathered, the bytes of the list for each of them,
    /// and the number of places of a leaf from which it counts as scattered.
    private static let manyChunks = 1024
    private static let bytesOfChunk = 10
    private static let manyPlaces = 8

    /// The nodes of a leaf: their bytes, and the number of places in the file where they are.
    private struct LeafLayout {
        /// Upper bound for the bytes of all nodes, in the file and in the slab.
        var size = 0
        var places = 0
        private var end = 0

        /// Nodes are added in the order in which they are written.
        mutating func add(_ ref: Ref, _ size: Int, isInFile: Bool) {
            guard isInFile else { return }
            if ref.offset != end { places += 1 }
            end = ref.offset + size
        }
    }

    /// Begins to gather the nodes of a changed leaf, if leaves are gathered. Trees inside of a leaf are a part of it.
    /// - Returns: true when `endLeaf` must be called.
    @inline(never) private mutating func beginLeaf(_ leaf: Ref) throws(RealmError) -> Bool {
        guard gathersLeaves, leafLeft == nil, gatheringLeft > 0 else { return false }
        let limit = min(Self.gatheringLimit, gatheringLeft)
        var layout = LeafLayout()
        try lookAt(leaf, &layout, atMost: limit, depth: 0)
        guard layout.size <= limit else { return false }
        if !file.isEncrypted {
            // The next commits would probably gather a recent leaf again. The file grows for a leaf only while little of
            // it is free, and long chunks for the free lists are left.
            guard layout.places >= Self.manyPlaces, !store.isRecent(try store.node(leaf)),
                free.usableSize < logicalSize / 8 || free.hasChunks(5, of: max(layout.size / 4, listBound))
            else { return false }
            gatheringLeft -= layout.size
        }
        leafLeft = layout.size
        return true
    }

    /// Ends the leaf; the rest of its last page stays empty.
    private mutating func endLeaf() {
        leafLeft = nil
        rests.append(leafPages)
        leafPages = FileChunk(offset: 0, size: 0)
    }

    /// A place for a node of the current leaf, on pages of the leaf.
    private mutating func placeGathered(_ size: Int, left: Int) throws(RealmError) -> Int {
        leafLeft = max(0, left - size)
        let boundary = (leafPages.offset / Format.sectionSize + 1) * Format.sectionSize
        if leafPages.size < size || leafPages.offset + size > boundary {
            rests.append(leafPages)
            leafPages = try takePages(wanted: max(left, size), least: size)
        }
        let at = leafPages.offset
        leafPages = FileChunk(offset: at + size, size: leafPages.size - size)
        return at
    }

    /// Whole pages for a leaf, or in a plain file any free chunk: `wanted` bytes where a free chunk is long enough, at
    /// least `least` bytes.
    private mutating func takePages(wanted: Int, least: Int) throws(RealmError) -> FileChunk {
        let page = file.isEncrypted ? file.pageSize : 8
        let wanted = Format.roundUp(wanted, to: page), least = Format.roundUp(least, to: page)
        for _ in 0..<8 {
            var chunk = try takeExtent(wanted: wanted, least: least)
            let start = Format.roundUp(chunk.offset, to: page)
            // A chunk that is the rest of an extent of this commit may begin inside of a page.
            if start > chunk.offset {
                rests.append(FileChunk(offset: chunk.offset, size: min(start - chunk.offset, chunk.size)))
                guard chunk.end > start else { continue }
                chunk = FileChunk(offset: start, size: chunk.end - start)
            }
            let boundary = (start / Format.sectionSize + 1) * Format.sectionSize
            if start + least > boundary {
                let behind = Format.roundUp(boundary, to: page)
                rests.append(FileChunk(offset: start, size: min(behind, chunk.end) - start))
                guard chunk.end > behind else { continue }
                chunk = FileChunk(offset: behind, size: chunk.end - behind)
            }
            guard chunk.size >= least else {
                rests.append(chunk)
                continue
            }
            free.giveBack(FileChunk(offset: chunk.offset + min(wanted, chunk.size), size: max(0, chunk.size - wanted)))
            return FileChunk(offset: chunk.offset, size: min(wanted, chunk.size))
        }
        throw RealmError(.maximumFileSizeExceeded, "No place for a node of \(least) bytes")
    }

    /// Adds the nodes of a leaf to `layout`, until its size exceeds `limit`.
    @inline(never) private func lookAt(_ ref: Ref, _ layout: inout LeafLayout, atMost limit: Int, depth: Int)
        throws(RealmError)
    {
        guard depth < Self.gatheringDepth else {
            layout.size = limit + 1
            return
        }
        let node = try store.node(ref)
        // Arrays of refs may become wider at their new place.
        let width = max(node.width, wideRefs ? 64 : 32)
        layout.size += node.hasRefs ? NodeHeader.size(count: node.count, width: width) : node.size
        if node.hasRefs {
            for i in 0..<node.count where layout.size <= limit {
                if let child = try node.slot(i).subtree { try lookAt(child, &layout, atMost: limit, depth: depth + 1) }
            }
        }
        layout.add(ref, node.size, isInFile: store.isInFile(ref))
    }

    /// Moves a node of the file, and all nodes below it, to the pages of the current leaf.
    @inline(never) private mutating func move(_ ref: Ref, depth: Int) throws(RealmError) -> Ref {
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let node = try store.node(ref)
        let at: Int
        if node.hasRefs {
            var elements: [Int64] = []
            elements.reserveCapacity(node.count)
            for i in 0..<node.count {
                let slot = try node.slot(i)
                let isChild = !slot.isTagged && !slot.ref.isNull
                elements.append(isChild ? Int64(try move(slot.ref, depth: depth + 1).offset) : slot.raw)
            }
            let width = Widths.minimal(for: elements, count: elements.count)
            at = try placeGathered(NodeHeader.size(count: elements.count, width: width), left: leafLeft ?? 0)
            try leafOutput.seek(at)
            try leafOutput.write(elements, count: elements.count, width: width, flags: node.flags)
        } else {
            at = try placeGathered(node.size, left: leafLeft ?? 0)
            try leafOutput.seek(at)
            try leafOutput.write(node)
        }
        moved.append(FileChunk(offset: ref.offset, size: node.size))
        return Ref(at)
    }

    // MARK: Placement

    /// The sizes of the chunks that this commit frees, ascending, without chunks that one of the last commits wrote.
    /// When a leaf takes a hole, a size is removed here.
    private var freedSizes: [Int]

    /// Takes a hole with room for all nodes of a leaf, if all of them have changed, there is such a hole, and the commit
    /// frees a chunk of about the same size.
    @inline(never) private mutating func takeLeafHole(_ leaf: Ref, _ root: Node) throws(RealmError) {
        guard holeLimit > 0, holesLeft > 0, !freedSizes.isEmpty, root.hasRefs else { return }
        for i in 0..<root.count {
            if let child = try root.slot(i).subtree, store.isInFile(child) { return }
        }
        let size = try Self.measure(store, leaf, wide: wideRefs, depth: 0)
        let i = freedSizes.place { $0 < size - size / 8 }
        guard size < HoleIndex.sizeLimit, i < freedSizes.count,
            let at = free.takeHole(size, below: HoleIndex.sizeLimit) ?? free.takeFront(size, least: 4 * holeLimit)
        else { return }
        freedSizes.remove(at: i)
        leafHole = FileChunk(offset: at, size: size)
    }

    private mutating func closeLeafHole() {
        free.giveBack(leafHole)
        leafHole = FileChunk(offset: 0, size: 0)
    }

    /// A place for a node of a leaf; nil when it must be placed like the upper nodes.
    private mutating func placeInLeaf(_ size: Int) throws(RealmError) -> Int? {
        if let leafLeft { return try placeGathered(size, left: leafLeft) }
        if size <= leafHole.size {
            let at = leafHole.offset
            leafHole = FileChunk(offset: at + size, size: leafHole.size - size)
            if at != lastLeafEnd { holesLeft -= 1 }
            lastLeafEnd = at + size
            remaining -= size
            return at
        }
        guard size < holeLimit, holesLeft > 0,
            let at = free.takeHole(size, below: holeLimit) ?? free.takeFront(size, least: 4 * holeLimit)
        else { return nil }
        if at != lastLeafEnd { holesLeft -= 1 }
        lastLeafEnd = at + size
        remaining -= size
        return at
    }

    /// Position for the next `size` bytes, which may not cross a section boundary. Format: storage §3.5.
    private mutating func place(_ size: Int) throws(RealmError) -> Int {
        guard size <= Format.sectionSize else {
            throw RealmError(.limitExceeded, "A node of \(size) bytes exceeds a section of the file")
        }
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
        let new = free.takeExtent(startingAt: near, wanted: wanted)
        extent = if let new { new } else { try takeExtent(wanted: wanted, least: size) }
        cursor = extent.offset
    }

    /// Takes an extent of free space, or makes the file grow.
    private mutating func takeExtent(wanted: Int, least: Int) throws(RealmError) -> FileChunk {
        repeat {
            if let found = free.takeExtent(wanted: wanted, least: least, logicalSize: logicalSize) { return found }
        } while free.releaseWithheld()
        return try extend(by: wanted)
    }

    /// Gives the unused rest of the current extent back.
    private mutating func closeExtent() {
        if extent.size > 0 { free.giveBack(FileChunk(offset: cursor, size: extent.end - cursor)) }
        extent = FileChunk(offset: 0, size: 0)
        cursor = 0
    }

    /// Grows the logical size. Returns the new chunk, joined with a free chunk directly before it. Format: storage
    /// §3.5.
    private mutating func extend(by wanted: Int) throws(RealmError) -> FileChunk {
        let tail = free.takeTail(endingAt: logicalSize)
        let request = wanted - (tail?.size ?? 0) + (file.isEncrypted ? file.pageSize : 0)
        let old = logicalSize
        // Doubled up to 1 MB, then by a sixteenth: many small commits would not fill a larger step. By an eighth after
        // the file has shrunk.
        let step = min(max(old / 16, 64 << 10), 1 << 20)
        var new = old < 1 << 20 ? min(2 * old, max(1 << 20, old + step)) : old + step
        if hasShrunk { new = min(new, old + max(old / 8, 16 << 10)) }
        new = Format.roundUp(max(new, old + max(request, 8)), to: file.pageSize)
        guard new <= file.space.fileCapacity else {
            throw RealmError(
                .maximumFileSizeExceeded,
                "The file cannot grow beyond \(file.space.fileCapacity) bytes while it is open", path: file.path)
        }
        if new > physicalSize {
            // Blocks that are allocated now, as zeros, make the flushes of the next small commits cheap: they only
            // overwrite.
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

    /// Cuts off the free space at the end of the file.
    private mutating func cutEnd(_ cut: Cut) {
        guard let tail = free.takeTail(endingAt: logicalSize) else { return }
        let end = Format.roundUp(max(tail.offset, cut.end), to: file.pageSize)
        if logicalSize - end >= cut.atLeast { logicalSize = end }
        if logicalSize > tail.offset {
            free.appendAtEnd(FileChunk(offset: tail.offset, size: logicalSize - tail.offset))
        }
    }

    /// The number of bytes of all nodes that were written.
    var written: Int { output.written + leafOutput.written }

    // MARK: Lists and top

    /// A part of free space for one or more of the three free lists; the next list is directly behind the one before.
    private struct ListPlace {
        var start: Int

        /// The end of the free space: what the lists do not use is an entry of the lists.
        var end: Int
        var lists: [Int]
    }

    /// Places for the free lists: in one piece if there is such a chunk, or each on its own.
    /// - Parameter bounds: upper bounds for their bytes.
    private mutating func placeLists(_ bounds: [Int]) throws(RealmError) -> [ListPlace] {
        remaining = bounds.reduce(0, +)
        var places: [ListPlace] = []
        for (list, bound) in bounds.enumerated() {
            let boundary = (cursor / Format.sectionSize + 1) * Format.sectionSize
            if !places.isEmpty, cursor + bound <= min(extent.end, boundary) {
                cursor += bound
                remaining -= bound
                places[places.count - 1].lists.append(list)
            } else {
                // The whole rest of the extent belongs to the place before.
                if !places.isEmpty { (extent, cursor) = (FileChunk(offset: 0, size: 0), 0) }
                let start = try place(bound)
                places.append(ListPlace(start: start, end: extent.end, lists: [list]))
            }
        }
        (extent, cursor) = (FileChunk(offset: 0, size: 0), 0)
        return places
    }

    /// Writes the free lists, the top array and the place of the next commit's record.
    /// - Parameter slots: the elements of the top array; elements 2 to 6 are filled in here. Format: storage §3.6.
    mutating func finish(slots: [RefOrTagged], version: UInt64) throws(RealmError) -> WrittenCommit {
        // The old places of moved nodes are free from the next version on.
        if !moved.isEmpty { freed = try Self.merged(freed + moved) }
        for rest in rests { free.giveBack(rest) }
        let isWide = wideRefs || logicalSize >= (1 << 31) - (64 << 20)
        let places = try placeLists(Self.listBounds(free, freed, leavesRecord, isWide: isWide))
        _ = free.releaseWithheld()
        if let cut { cutEnd(cut) }

        let recordSize = leavesRecord ? CommitRecord.size : 0
        var lists = try mergedLists(around: places, version)
        let count = lists.entries.count
        let end = places.reduce(lists.entries[count - 1].at) { max($0, $1.end) }
        let versionWidth = Widths.minimal(for: Int64(bitPattern: lists.newest))
        let widths = [Widths.minimal(for: Int64(end)), Widths.minimal(for: Int64(lists.largest)), versionWidth]
        var top = slots
        top[2] = RefOrTagged(tagged: logicalSize)
        top[6] = RefOrTagged(tagged: version)
        var topAt = 0, topWidth = 0
        for (number, place) in places.enumerated() {
            var at = place.start
            for list in place.lists {
                top[3 + list] = RefOrTagged(Ref(at))
                at += NodeHeader.size(count: count, width: widths[list])
            }
            if number == places.count - 1 {
                topAt = at
                topWidth = top.map { Widths.minimal(for: $0.raw) }.max() ?? 0
                at += NodeHeader.size(count: top.count, width: topWidth)
                if leavesRecord { lists.entries[lists.rests[number] - 1].at = at }
                at += recordSize
            }
            guard at < place.end else { throw .corrupt("free-space lists exceed their reserve") }
            lists.entries[lists.rests[number]] = (at, place.end - at, 0)
        }
        let values = [
            lists.entries.map { Int64($0.at) }, lists.entries.map { Int64($0.size) },
            lists.entries.map { Int64(bitPattern: $0.version) },
        ]
        for list in 0..<3 {
            try output.seek(top[3 + list].ref.offset)
            try output.write(values[list], width: widths[list])
        }
        // In one piece with the record.
        let topSize = NodeHeader.size(count: top.count, width: topWidth)
        try output.makeRoom(topSize + recordSize)
        try output.write(top.map(\.raw), width: topWidth, flags: NodeHeader.hasRefsFlag)
        if leavesRecord {
            try output.write(recordSize) { CommitRecord(behind: Ref(topAt), version: version).encode(into: $0) }
        }
        try leafOutput.flush()
        sink.tail = recordSize
        try output.flush()
        var work = CommitWork()
        (work.version, work.fileSize) = (version, logicalSize)
        (work.freePieces, work.freeBytes) = (count, lists.entries.reduce(0) { $0 + $1.size })
        return WrittenCommit(
            topRef: Ref(topAt), logicalSize: logicalSize, version: version,
            content: sink.content.map { ($0, sink.extents) }, recordAt: leavesRecord ? topAt + topSize : 0, work: work)
    }

    /// The free lists of the next version.
    private struct MergedLists {
        var entries: [(at: Int, size: Int, version: UInt64)] = []

        /// Indices of the entries for the unused rests of the places of the lists, in the order of these places. The
        /// entry of the record, if there is one, is directly before the last of them.
        private(set) var rests: [Int]

        /// The index that was added to `rests` last.
        private var lastRest = -1

        /// Upper bounds for the sizes and versions in the entries.
        var largest = 0, newest: UInt64 = 0
        private var last = 0

        init(places: Int) { rests = Array(repeating: -1, count: places) }

        /// Adds the entry for the rest of a place of lists, which the caller will complete.
        mutating func addRest(_ number: Int, _ place: ListPlace) {
            lastRest = entries.count
            rests[number] = lastRest
            entries.append((place.start, place.end - place.start, 0))
            largest = max(largest, place.end - place.start)
        }

        mutating func add(_ chunk: FileChunk, _ version: UInt64) throws(RealmError) {
            guard chunk.offset >= last else {
                throw .corrupt("free space overlaps space that was freed", at: chunk.offset)
            }
            // Only the unused ends of pages can be adjacent to another entry of version 0.
            if version == 0, let previous = entries.last, previous.version == 0, entries.count - 1 != lastRest,
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

    /// Merges three sorted lists, and adds entries for the record and for the rests of the places that the lists are
    /// written to. Where the record and the rests begin depends on the sizes of the lists: the caller fills that in.
    private func mergedLists(around places: [ListPlace], _ version: UInt64) throws(RealmError) -> MergedLists {
        var lists = MergedLists(places: places.count)
        let total = free.usable.count + free.locked.count + freed.count
        try lists.entries.makeRoom(for: total + places.count + 1)
        var nextPlaces = places.indices.sorted { places[$0].start < places[$1].start }[...]
        var nextStart = nextPlaces.first.map { places[$0].start } ?? Int.max
        var usableIndex = 0, lockedIndex = 0, freedIndex = 0
        while true {
            while usableIndex < free.usable.count, free.usable[usableIndex].size == 0 { usableIndex += 1 }
            guard usableIndex + lockedIndex + freedIndex < total || nextStart < .max else { break }
            let nextUsable = usableIndex < free.usable.count ? free.usable[usableIndex].offset : Int.max
            let nextLocked = lockedIndex < free.locked.count ? free.locked[lockedIndex].chunk.offset : Int.max
            let nextFreed = freedIndex < freed.count ? freed[freedIndex].offset : Int.max
            let least = min(nextUsable, nextLocked, nextFreed)
            if nextStart < least, let number = nextPlaces.first {
                nextPlaces.removeFirst()
                let place = places[number]
                if leavesRecord, number == places.count - 1 {
                    lists.entries.append((place.start, CommitRecord.size, version + 1))
                    lists.newest = max(lists.newest, version + 1)
                }
                lists.addRest(number, place)
                nextStart = nextPlaces.first.map { places[$0].start } ?? .max
            } else if least == nextUsable {
                try lists.add(free.usable[usableIndex], 0)
                usableIndex += 1
            } else if least == nextLocked {
                try lists.add(free.locked[lockedIndex].chunk, free.locked[lockedIndex].version)
                lockedIndex += 1
            } else {
                try lists.add(freed[freedIndex], version)
                freedIndex += 1
            }
        }
        return lists
    }
}
