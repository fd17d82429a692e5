/// The nodes of one transaction: translates refs, and for a writer allocates, copies and frees nodes in the slab.
///
/// The slab is memory behind the file's map (`AddressSpace`), so translation is one addition for file and slab alike.
/// The first four bytes of the header of a slab node hold the capacity of the node, and a mark if the node is a copy of
/// a node that one of the last commits wrote. Freed nodes go to a list for each size class. All has-refs nodes in the
/// slab are 64 bits wide, so that storing a ref never moves them; `CommitWriter` narrows them again.
///
/// Thread rule: one thread at a time. The slab belongs to the only writer of the `DatabaseFile`.
final class NodeStore {
    let base: UnsafeMutableRawPointer

    /// Refs below this are in the file; it grows with the snapshot.
    private(set) var fileLimit: Int

    /// The limit for refs that the fast path translates: the end of the file, or 0 while pages must be decrypted first.
    private(set) var mappedLimit: Int
    private var pages: DecryptedPages?
    private var reader: DecryptedPages.Reader?

    /// For the fast check of a page; not a reference, so that no reference count changes.
    private var pageTimes: PageTimes?

    /// Number of page checks since the last move, and the number at which to request all pages.
    private var looks = 0
    private var nextAsk = 0

    /// The epoch of `pages` at which `reader` moved to its snapshot; the maximum if it has no snapshot.
    private var mark = UInt64.max

    /// First ref of the slab.
    let slabStart: Int

    /// First ref of the nodes that may be changed in place. The slab nodes below this ref were made before the last
    /// open savepoint, except the nodes in `reused` chunks. Like nodes of the file, the older nodes are copied before
    /// they change, so that a rollback finds them unchanged.
    private var ownStart: Int

    /// End of the slab part in use (a ref).
    private(set) var slabEnd: Int
    private var slabCommitted: Int

    /// Where file and slab are mapped; nil after the store was closed.
    private var space: AddressSpace?

    /// Can end a long call early; the transaction keeps it alive.
    private var interruption: Unmanaged<Interruption>?

    /// Makes the nodes that the file does not contain in this form; nil for files of this form.
    var source: (any NodeSource)?

    /// Heads of the lists of free slab chunks, one per size class (refs, 0 = empty).
    private(set) var bins: [Int]

    /// While a savepoint is open: the chunks that were free before the first savepoint. They are used when `bins` has
    /// no chunk of the size.
    private(set) var olderBins: [Int]

    /// The chunks of `olderBins` that open savepoints use. `next` is the chunk that followed in the free list: a
    /// rollback puts the chunks back before it. The header of a node in such a chunk has the depth of the savepoint
    /// that made the node.
    private var reused: [(at: Int, next: Int)] = []

    /// The number of open savepoints.
    private var depth = 0

    /// Slab nodes that an open savepoint replaced or deleted, but may not change in place. They become free when the
    /// savepoint is released.
    private var freedBelow: [Int] = []

    /// File nodes that this transaction replaced or deleted.
    var freedInFile: [FileChunk] = []
    private var freedBytes = 0

    /// Places that the last commits wrote, in order. Copies of nodes from there are marked.
    private(set) var recent: [FileChunk] = []

    /// `destroy` measures the file again when `freedBytes` exceeds this.
    private var freedRoom = 0

    /// Whether mutation is allowed at all.
    private(set) var isWritable = false

    /// Whether a node was made, freed or requested for writing since this was last set to false.
    var isTouched = false

    /// Number of calls of `isChecked`, which lets debug builds check only some of the operations.
    var operations = 0

    /// Copies of bytes in the slab that a change of the slab could move (`stable`).
    private var scratch = ScratchBuffers()

    init(space: AddressSpace, fileLimit: Int, pages: DecryptedPages? = nil) {
        self.space = space
        base = space.base
        self.fileLimit = fileLimit
        mappedLimit = pages == nil ? fileLimit : 0
        self.pages = pages
        reader = pages?.addReader()
        pageTimes = pages?.times
        slabStart = space.fileCapacity
        ownStart = space.fileCapacity
        slabEnd = space.fileCapacity
        slabCommitted = space.fileCapacity
        bins = [Int](repeating: 0, count: Self.binCount)
        olderBins = bins
    }

    deinit {
        if let reader { pages?.remove(reader) }
    }

    /// - Parameter interruption: can end the calls that follow; the caller keeps it alive.
    func use(_ interruption: Interruption?) { self.interruption = interruption.map { .passUnretained($0) } }

    /// Called between two pieces of work of a long call: throws when the call is to end.
    @inline(__always) func test(_ done: Int = 0, of total: Int = 0) throws(RealmError) {
        if let interruption { try interruption.borrow { (i) throws(RealmError) in try i.test(done, of: total) } }
    }

    /// As `test`, after a piece of work that took long.
    func testAfterLongWork(_ done: Int, of total: Int) throws(RealmError) {
        if let interruption {
            try interruption.borrow { (i) throws(RealmError) in try i.testAfterLongWork(done, of: total) }
        }
    }

    /// For a loop over the bytes of a value.
    @inline(__always) var byteWork: ByteWork { ByteWork(interruption) }

    /// As `test`, for code that cannot throw: whether the call is to end; then the next `test` throws.
    func isEndWanted(_ done: Int) -> Bool { interruption?._withUnsafeGuaranteedRef { $0.isWanted(done) } ?? false }

    /// Runs a long call.
    func during<R>(_ what: Interruption.Activity, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        guard let interruption else { return try body() }
        return try interruption.takeUnretainedValue().during(what, body)
    }

    /// Moves the view to the snapshot of `version`, whose file part ends at `limit`. Nothing that was read before may
    /// be used any more.
    /// - Parameter top: the top array of the version, if it is published.
    func move(toFileLimit limit: Int, version: UInt64, top: Ref = .null) {
        fileLimit = limit
        if let pages, let reader {
            mark = pages.move(reader, to: version, topRef: UInt64(top.offset))
            lookAgain()
        } else {
            mappedLimit = limit
        }
    }

    /// Another file has replaced the old one. Nothing that was read before may be used any more, and the next call is
    /// `move`.
    func changeFile(_ new: DecryptedPages?) {
        if let pages, let reader { pages.remove(reader) }
        pages = new
        reader = new?.addReader()
        pageTimes = new?.times
        mark = .max
        measured = 0
        fileLimit = Format.headerSize
        mappedLimit = 0
        lookAgain()
    }

    /// Releases the snapshot.
    func rest() {
        if source != nil { dropSource() }
        guard let pages, let reader else { return }
        pages.rest(reader)
        mark = .max
        lookAgain()
    }

    /// Releases the file permanently: nothing is read or written any more.
    func letGo() {
        if let pages, let reader { pages.remove(reader) }
        (pages, reader, space) = (nil, nil, nil)
        mappedLimit = 0
    }

    /// Releases the memory of everything that was read. For walks over a whole file: nothing that was read before may
    /// be used any more.
    func forgetPages() {
        source?.forget()
        if let pages, let reader {
            mark = pages.dropAll(reader)
            lookAgain()
        } else {
            space?.discardMemory(from: 0, to: Format.roundUp(fileLimit, to: Platform.pageSize))
        }
    }

    /// Starts a write transaction with an empty slab.
    /// - Parameter recent: places that the last commits wrote, in order.
    func beginWrite(slabCommitted: Int, recent: [FileChunk] = []) {
        isWritable = true
        self.recent = recent
        slabEnd = slabStart
        ownStart = slabStart
        depth = 0
        self.slabCommitted = slabStart + slabCommitted
        freedInFile.removeAll(keepingCapacity: true)
        freedBelow.removeAll()
        reused.removeAll()
        freedBytes = 0
        freedRoom = Self.unmeasured
        for i in bins.indices { (bins[i], olderBins[i]) = (0, 0) }
    }

    /// Ends the write transaction; returns the number of slab bytes that stay committed for the next writer.
    func endWrite() -> Int {
        assert(
            Invariants.hold { () throws(RealmError) in try checkSlab(limit: 1000) },
            "the lists of free chunks are broken")
        isWritable = false
        let keep = 8 << 20
        if slabEnd - slabStart > keep { space?.discardSlab(from: keep, to: slabCommitted - slabStart) }
        slabEnd = slabStart
        freedInFile.removeAll(keepingCapacity: true)
        return slabCommitted - slabStart
    }

    // MARK: Savepoints

    /// The slab at the beginning of a savepoint.
    struct SlabMark {
        fileprivate let depth: Int
        fileprivate let ownStart: Int
        fileprivate let end: Int
        fileprivate let bins: [Int]
        fileprivate let olderBins: [Int]
        fileprivate let reusedCount: Int
        fileprivate let freedCount: Int
        fileprivate let freedBelowCount: Int
        fileprivate let freedBytes: Int
    }

    /// Begins a part of the transaction that can be undone. The part uses chunks that were free before the first part;
    /// a rollback gives these chunks back. Chunks that became free between the beginning of the first part and the
    /// beginning of this part are not used before this part ends.
    func beginPart() -> SlabMark {
        let mark = SlabMark(
            depth: depth, ownStart: ownStart, end: slabEnd, bins: bins, olderBins: olderBins,
            reusedCount: reused.count, freedCount: freedInFile.count, freedBelowCount: freedBelow.count,
            freedBytes: freedBytes)
        if depth == 0 { olderBins = bins }
        for i in bins.indices { bins[i] = 0 }
        ownStart = slabEnd
        depth += 1
        return mark
    }

    /// Ends the part, and the parts inside it, and keeps their nodes. The nodes then belong to the part around it,
    /// which may change them in place.
    func keepPart(_ mark: SlabMark) {
        (depth, ownStart) = (mark.depth, mark.ownStart)
        join(bins, before: depth == 0 ? olderBins : mark.bins)
        for i in mark.reusedCount..<reused.count { setMaker(of: reused[i].at, depth) }
        if depth == 0 {
            reused.removeAll(keepingCapacity: true)
            for i in olderBins.indices { olderBins[i] = 0 }
        }
        // The part replaced some nodes that may be changed in place again from now on: they become free.
        var kept = mark.freedBelowCount
        for i in mark.freedBelowCount..<freedBelow.count {
            let at = freedBelow[i]
            if isOwn(Ref(at)) {
                addFree(at)
            } else {
                freedBelow[kept] = at
                kept += 1
            }
        }
        freedBelow.removeSubrange(kept...)
    }

    /// Joins two lists of free chunks into one, for each size. The lists in `first` belong to a part, and are short.
    private func join(_ first: [Int], before second: [Int]) {
        for i in second.indices where second[i] != 0 {
            guard first[i] != 0 else {
                bins[i] = second[i]
                continue
            }
            var last = first[i]
            while true {
                let next = nextFree(last)
                if next == 0 { break }
                last = next
            }
            setNextFree(last, second[i])
        }
    }

    /// Ends the part, and those inside it, and discards its nodes. Nothing that was read in it may be used any more.
    func undoPart(_ mark: SlabMark) {
        (depth, ownStart, slabEnd) = (mark.depth, mark.ownStart, mark.end)
        for i in (mark.reusedCount..<reused.count).reversed() { setNextFree(reused[i].at, reused[i].next) }
        reused.removeSubrange(mark.reusedCount...)
        bins = mark.bins
        olderBins = mark.olderBins
        freedInFile.removeSubrange(mark.freedCount...)
        freedBelow.removeSubrange(mark.freedBelowCount...)
        freedBytes = mark.freedBytes
    }

    /// The free chunk behind this one in the list of its size; 0: it is the last.
    func nextFree(_ at: Int) -> Int { (base + at).load(fromByteOffset: 8, as: Int.self) }

    private func setNextFree(_ at: Int, _ next: Int) { (base + at).storeBytes(of: next, toByteOffset: 8, as: Int.self) }

    /// Adds a chunk to the free chunks of this part.
    private func addFree(_ at: Int) {
        let (bin, _) = Self.sizeClass(slabSize(base + at))
        setNextFree(at, bins[bin])
        bins[bin] = at
    }

    /// Notes the depth of the savepoint that made the node in a reused chunk; 0: it belongs to the transaction.
    private func setMaker(of at: Int, _ depth: Int) {
        let first = (base + at).load(as: UInt32.self) & ~Self.makerMask
        (base + at).storeBytes(of: first | UInt32(depth) << Self.makerShift, as: UInt32.self)
    }

    /// Whether a node of the slab below `ownStart` was made in the innermost part.
    @inline(never) private func isMadeHere(_ at: Int) -> Bool {
        depth > 0 && Int(((base + at).load(as: UInt32.self) & Self.makerMask) >> Self.makerShift) == depth
    }

    /// Upper bound for the bytes of all nodes of this snapshot; limits the counts that a file may claim.
    var extent: Int { (source?.extent ?? fileLimit) + (slabEnd - slabStart) }

    /// As `extent`, without the holes of a sparse file, which take no room on the disk and contain no nodes. Makes a
    /// system call.
    var measuredExtent: Int {
        guard source == nil, fileLimit > Self.unmeasured else { return extent }
        return min(fileLimit, space?.dataBytes() ?? fileLimit) + (slabEnd - slabStart)
    }

    /// Sizes up to this are accepted without measuring the holes of the file.
    static let unmeasured = 256 << 10

    /// The result of the last measurement. The part of the file that the snapshot reads has not become smaller since,
    /// unless another file has replaced it.
    private var measured = 0

    /// Whether the snapshot may contain `count` elements, of which at most `perByte` fit into a byte.
    @inline(__always) func admits(_ count: UInt64, perByte: UInt64) -> Bool {
        count <= UInt64(min(extent, Self.unmeasured)) &* perByte || admitsClosely(count, perByte)
    }

    @inline(never) private func admitsClosely(_ count: UInt64, _ perByte: UInt64) -> Bool {
        guard count <= UInt64(extent) &* perByte else { return false }
        if count <= UInt64(min(measured, extent)) &* perByte { return true }
        measured = measuredExtent
        return count <= UInt64(measured) &* perByte
    }

    /// Bytes of the file that belong to the snapshot.
    var fileSize: Int { fileLimit }

    /// The first ref that does not name a node of the file: refs of a source begin here, or else those of the slab.
    var firstOwnRef: Int { source == nil ? slabStart : fileLimit }

    // MARK: Translation

    @inline(__always) func isInFile(_ ref: Ref) -> Bool { ref.offset < slabStart }

    /// Whether a node may be changed in place.
    @inline(__always) func isOwn(_ ref: Ref) -> Bool {
        ref.offset >= ownStart || (ref.offset >= slabStart && isMadeHere(ref.offset))
    }

    /// The path for encrypted files: decrypts the pages of header and node first.
    @inline(never) func decrypted(_ ref: Ref) throws(RealmError) -> Node {
        let at = ref.offset
        if let source, at >= fileLimit, at < slabStart { return try source.node(ref) }
        guard let pageTimes, at < slabStart, at & 7 == 0, at >= Format.headerSize, at <= fileLimit &- 8 else {
            throw .corrupt("ref outside the file or misaligned", at: at)
        }
        looks &+= 1
        if looks >= nextAsk { askForAll() }
        let page = pageTimes.page(at)
        if !pageTimes.isGood(page, mark) { try load(page, through: page) }
        var size = 0
        let node = try checked(ref, limit: fileLimit, &size)
        // A header never crosses the border of a page, but its node may.
        let last = at &+ size &- 1
        if last >= (page &+ 1) &* pageTimes.pageSize { try load(page &+ 1, through: pageTimes.page(last)) }
        return node
    }

    /// The length of the blob at `ref`. Reads only its header, so the other pages of an encrypted file stay encrypted.
    func blobLength(_ ref: Ref) throws(RealmError) -> Int {
        let at = ref.offset
        guard let pageTimes, at < slabStart, at < fileLimit, at & 7 == 0, at >= Format.headerSize, at <= fileLimit &- 8
        else { return try blob(ref).count }
        let page = pageTimes.page(at)
        if !pageTimes.isGood(page, mark) { try load(page, through: page) }
        var size = 0
        let node = try checked(ref, limit: fileLimit, &size)
        guard node.widthType == 2 && !node.hasRefs else { throw .corrupt("not a blob", at: at) }
        return node.count
    }

    /// Tries to make all pages readable; then refs are translated by the fast path until the next move.
    @inline(never) private func askForAll() {
        guard let pages, mark != .max else { return }
        if pages.makeAllReadable(fileLimit, looks: looks) {
            mappedLimit = fileLimit
            nextAsk = .max
        } else {
            nextAsk = looks &* 2
        }
    }

    /// From now on pages are checked one by one again.
    private func lookAgain() {
        guard pages != nil else { return }
        mappedLimit = 0
        looks = 0
        nextAsk = max(256, fileLimit >> 14)
    }

    @inline(never) private func load(_ first: Int, through last: Int) throws(RealmError) {
        try pages?.load(first, through: last, mark)
    }

    /// Makes bytes that are not a node readable; the caller checks that they are in the file.
    func makeReadable(_ at: Int, _ count: Int) throws(RealmError) {
        if let pageTimes { try load(pageTimes.page(at), through: pageTimes.page(at + count - 1)) }
    }

    // MARK: Slab

    // Size classes: multiples of 16 up to 512, then four steps per doubling up to 128 MiB.
    private static let smallBins = 33
    private static let binCount = smallBins + 4 * 19

    /// The class and its size in bytes for a request; size ≥ request.
    @inline(__always) static func sizeClass(_ bytes: Int) -> (bin: Int, size: Int) {
        if bytes <= 512 {
            let bin = (bytes &+ 15) >> 4
            return (bin, bin << 4)
        }
        let top = Int.bitWidth - 1 - (bytes &- 1).leadingZeroBitCount  // 2^top ≤ bytes−1 < 2^(top+1)
        let step = 1 << (top &- 2)
        let size = (bytes &+ step &- 1) & ~(step &- 1)
        let quarter = (size &- 1 &- (1 << top)) >> (top &- 2)
        return (smallBins &+ (top &- 9) &* 4 &+ quarter, size)
    }

    /// Allocates at least `bytes` bytes of slab memory, header included; returns ref and true size.
    @inline(__always) private func allocateRaw(_ bytes: Int) throws(RealmError) -> (ref: Int, size: Int) {
        guard isWritable else {
            throw RealmError(.wrongTransactionState, "Trying to modify database while in read transaction")
        }
        guard bytes <= Format.sectionSize - 64 else {
            throw RealmError(.limitExceeded, "A single node cannot hold \(bytes) bytes")
        }
        isTouched = true
        let (bin, size) = Self.sizeClass(bytes)
        let head = bins[bin]
        if head != 0 {
            bins[bin] = nextFree(head)
            return (head, size)
        }
        if depth > 0, let at = reuse(bin) { return (at, size) }
        let at = slabEnd
        if at &+ size > slabCommitted { try growSlab(to: at + size) }
        slabEnd = at &+ size
        return (at, size)
    }

    /// Takes a chunk that was free before the first savepoint.
    @inline(never) private func reuse(_ bin: Int) -> Int? {
        let at = olderBins[bin]
        // The header has no room for greater depths.
        guard at != 0, depth <= Self.maxMaker else { return nil }
        let next = nextFree(at)
        olderBins[bin] = next
        reused.append((at, next))
        return at
    }

    @inline(never) private func growSlab(to end: Int) throws(RealmError) {
        // Commit in growing steps, so that a small transaction uses little memory and a large one makes few system
        // calls.
        let used = slabCommitted - slabStart
        let step = max(1 << 20, min(used, 64 << 20))
        guard let space else { throw RealmError(.brokenInvariant, "A closed transaction grows") }
        let target = Format.roundUp(max(end, slabCommitted + step) - slabStart, to: Platform.pageSize)
        let capped = min(target, max(space.slabCapacity, 0))
        guard capped >= end - slabStart else {
            throw RealmError(.outOfMemory, "A transaction may hold at most \(space.slabCapacity) bytes")
        }
        try space.commitSlab(from: used, to: capped)
        slabCommitted = slabStart + capped
    }

    /// A new slab node with undefined payload and room for `capacity` bytes.
    @inline(__always) func allocate(_ header: NodeHeader, capacity: Int) throws(RealmError) -> Node {
        let (at, size) = try allocateRaw(8 &+ Format.padded(capacity))
        let address = base + at
        var first = UInt32(truncatingIfNeeded: size >> 3)
        if at < ownStart { first |= UInt32(depth) << Self.makerShift }
        address.storeBytes(of: header.word(firstBytes: first).littleEndian, as: UInt64.self)
        return Node(address: address, ref: Ref(at), count: header.count, width: header.width, flags: header.flags)
    }

    /// The bit in the first four bytes of a slab node that marks a copy of a node that one of the last commits wrote.
    private static let recentMark: UInt32 = 1 << 31

    /// The bits there for the depth of the savepoint that made the node, in a reused chunk. 24 bits remain for the size:
    /// a section, in units of eight bytes.
    private static let makerMask: UInt32 = 0x7F << 24
    private static let makerShift: UInt32 = 24
    private static let maxMaker = 0x7F

    /// The bytes of a slab node, its header included.
    @inline(__always) func slabSize(_ address: UnsafeMutableRawPointer) -> Int {
        Int(address.load(as: UInt32.self) & ~(Self.recentMark | Self.makerMask)) &* 8
    }

    /// Bytes of payload that fit into a slab node.
    @inline(__always) func capacity(_ node: Node) -> Int { slabSize(node.address) &- 8 }

    /// Whether a slab node is the copy of a node that one of the last commits wrote.
    func isRecent(_ node: Node) -> Bool { node.address.load(as: UInt32.self) & Self.recentMark != 0 }

    /// Marks a copy if one of the last commits wrote the original, or the original is marked. Large transactions leave
    /// out the marks: they have other places for their nodes.
    func markCopy(_ copy: Node, of original: Node) {
        guard !recent.isEmpty, freedInFile.count < Self.markLimit else { return }
        guard isInFile(original.ref) ? recent.contains(original.ref.offset) : isRecent(original) else { return }
        let first = copy.address.load(as: UInt32.self)
        copy.address.storeBytes(of: first | Self.recentMark, as: UInt32.self)
    }

    private static let markLimit = 4096

    /// Writes count, width and flags of a changed slab node back to its header.
    @inline(__always) func storeHeader(_ node: Node) {
        let word = node.header.word(firstBytes: node.address.load(as: UInt32.self))
        node.address.storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// Frees a node: adds it to the free lists of the slab, or to the chunks that this commit frees in the file.
    func free(_ node: Node) {
        isTouched = true
        if isOwn(node.ref) {
            addFree(node.ref.offset)
        } else if node.ref.offset >= slabStart {
            freedBelow.append(node.ref.offset)
        } else {
            freedInFile.append(FileChunk(offset: node.ref.offset, size: node.size))
            freedBytes &+= node.size
        }
    }

    func free(_ ref: Ref) throws(RealmError) {
        if !ref.isNull { free(try node(ref)) }
    }

    /// Measures the file again. Returns whether the freed bytes are at most the bytes that the file holds.
    @inline(never) private func mayFreeMore() -> Bool {
        freedRoom = measuredExtent
        return freedBytes <= freedRoom
    }

    /// Frees the node and everything below it. Depth is bounded; a cyclic file ends in an error.
    func destroy(_ ref: Ref, depth: Int = 0) throws(RealmError) {
        guard !ref.isNull else { return }
        // A cycle ends at the depth limit. A subtree with many parents ends when more bytes were freed than the file
        // holds.
        guard depth < Format.maxNodeDepth, freedBytes <= freedRoom || mayFreeMore() else {
            throw .corrupt("nodes nested too deeply or shared", at: ref.offset)
        }
        let node = try node(ref)
        if node.hasRefs {
            for i in 0..<node.count {
                let slot = try node.slot(i)
                if let child = slot.subtree { try destroy(child, depth: depth + 1) }
            }
        }
        free(node)
    }

    /// Moves a slab node to a larger chunk, or copies a file node to the slab; payload bytes `[0, keep)` are copied.
    @inline(never) func relocate(_ node: Node, keep: Int, capacity: Int) throws(RealmError) -> Node {
        var copy = try allocate(node.header, capacity: capacity)
        CMemory.copy(copy.payload, node.payload, keep)
        copy.count = node.count
        markCopy(copy, of: node)
        free(node)
        return copy
    }

    /// The node in the slab with room for `capacity` payload bytes; integer arrays, blobs and fixed-size leaves keep
    /// their layout.
    @inline(__always) func writable(_ node: Node, capacity needed: Int) throws(RealmError) -> Node {
        isTouched = true
        if isOwn(node.ref) {
            let has = capacity(node)
            if needed <= has { return node }
            return try relocate(node, keep: node.payloadSize, capacity: max(needed, has &* 2))
        }
        let used = node.payloadSize
        return try relocate(node, keep: used, capacity: max(needed, used))
    }

    @inline(__always) func writable(_ node: Node) throws(RealmError) -> Node {
        isTouched = true
        return isOwn(node.ref) ? node : try writable(node, capacity: node.payloadSize)
    }

    /// Runs `body` with the slab open for writing: for a source, which makes nodes in read transactions.
    func making<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let before = isWritable
        isWritable = true
        defer { isWritable = before }
        return try body()
    }

    /// Discards all slab nodes that a source made from `end` on; `end` must be the end of a node.
    func cutSlab(to end: Int) {
        for i in bins.indices { bins[i] = 0 }
        let first = Format.roundUp(end - slabStart, to: Platform.pageSize)
        space?.discardSlab(from: first, to: slabCommitted - slabStart)
        slabEnd = end
    }

    // MARK: User bytes

    /// Whether bytes are in the file, where they stay unchanged while the snapshot is read.
    func isFile(_ bytes: Bytes) -> Bool {
        guard source == nil, let start = bytes.baseAddress else { return false }
        return UInt(bitPattern: start) &- UInt(bitPattern: base) < UInt(fileLimit)
    }

    /// `bytes`, or a copy of them when they are in the slab, where they could move while they are being stored.
    @inline(__always) func stable(_ bytes: Bytes, _ role: ScratchBuffers.Role = .value) throws(RealmError) -> Bytes {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return bytes }
        let distance = UInt(bitPattern: start) &- UInt(bitPattern: base + slabStart)
        guard distance < UInt(slabEnd &- slabStart) else { return bytes }
        return try copied(bytes, role)
    }

    @inline(__always) func stable(_ value: Mixed) throws(RealmError) -> Mixed {
        switch value {
        case .string(let bytes): .string(try stable(bytes))
        case .binary(let bytes): .binary(try stable(bytes))
        default: value
        }
    }

    @inline(never) private func copied(_ bytes: Bytes, _ role: ScratchBuffers.Role) throws(RealmError) -> Bytes {
        try scratch.copy(bytes, role)
    }
}
