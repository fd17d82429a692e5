/// Writes one snapshot into a new file: every node once and children before their parents, without free space between
/// them; then free lists, top array and header. The result is a normal file. Format: storage §8.1, §3.6.
///
/// Memory use is bounded, whatever the size of the file: source and target are separate views, whose pages are released
/// during the copy. While the children of an array of refs are written, only the elements of that array are kept.
///
/// A damaged source ends in an error: the depth is limited, and no more bytes are read than the file holds, so that
/// shared subtrees cannot multiply.
struct CopyWriter {
    /// What is copied, and what the new top array contains beside the trees.
    struct Content {
        var topRef: Ref
        var logicalSize: Int
        var format: UInt8

        /// A write transaction in progress on top of the snapshot: the nodes in memory, and the roots that replace
        /// those of the snapshot. Or the nodes of another form: then the copy gets that form, and no history.
        var running: (store: NodeStore, names: Ref, tables: Ref)?

        /// Whether the copy keeps the sync file id, which is part of the keys of objects without primary key. True when
        /// the copy replaces the file. Format: storage §8.1.
        var keepsSyncFileId: Bool

        /// Can end the copy early.
        var interruption: Interruption?
    }

    private let store: NodeStore

    /// Nodes at or above `firstRunning` belong to this store.
    private let running: NodeStore?
    private let firstRunning: Int
    private let target: DatabaseFile

    /// The position of the next node.
    private var at: Int
    private var output: NodeOutput<Sink>
    private let bufferMemory: HiddenMemory
    private static let bufferSize = 1 << 20

    /// Free chunks between nodes.
    private var gaps: [FileChunk] = []

    /// Bytes of nodes that may still be read.
    private var readable: Int

    /// Elements of the arrays of refs on the path from the root to the current node, one array after the other.
    private var elementMemory: HiddenMemory
    private var elements: UnsafeMutablePointer<Int64> { elementMemory.base.assumingMemoryBound(to: Int64.self) }
    private var elementCapacity: Int { elementMemory.count / 8 }
    private var elementCount = 0
    private static let elementLimit = 8 << 20

    /// One bit for each stretch of the source: whether it is in memory.
    private let touched: UnsafeMutablePointer<UInt64>
    private let touchedWords: Int
    private let stretchShift: Int
    private var touchedCount = 0

    /// Bytes of the source and of the target that may be in memory.
    private static let memoryLimit = 24 << 20

    private struct Sink: NodeSink {
        let target: DatabaseFile

        /// Bytes written since the target last released memory.
        private var unsettled = 0

        init(_ target: DatabaseFile) { self.target = target }

        mutating func write(_ from: UnsafeRawPointer, _ count: Int, at position: Int) throws(RealmError) {
            try target.write(from, count: count, at: position)
            unsettled += count
            guard unsettled >= 8 << 20 else { return }
            try target.pages?.settle()
            unsettled = 0
        }
    }

    /// Copies the parts of `source` that `content` names into `target`, which must be new and empty.
    /// - Returns: the top array and the logical size of the new file; a null ref and 0 when nothing was ever committed.
    static func copy(
        _ content: Content, of source: DatabaseFile, into target: DatabaseFile, durable: Bool
    ) throws(RealmError) -> (topRef: Ref, logicalSize: Int) {
        if content.topRef.isNull, content.running?.tables.isNull ?? true { return (.null, 0) }
        let view = try DatabaseFile(viewing: source)
        // Lost pages read as zeros: a copy of zeros is not a copy.
        do throws(RealmError) {
            let end = try copy(content, through: view, into: target)
            try view.verifyWhole()
            try source.verifyWhole()
            try target.resize(to: end.logicalSize, filled: false)
            try target.select(
                topRef: end.topRef, logicalSize: end.logicalSize, durable: durable, format: content.format)
            return end
        } catch {
            if view.space.isBroken { throw source.lost() }
            throw error
        }
    }

    private static func copy(
        _ content: Content, through view: DatabaseFile, into target: DatabaseFile
    ) throws(RealmError) -> (topRef: Ref, logicalSize: Int) {
        try view.ensureMapped(content.logicalSize)
        let store = NodeStore(space: view.space, fileLimit: content.logicalSize, pages: view.pages)
        store.move(toFileLimit: content.logicalSize, version: 0)
        store.use(content.interruption)
        var fields = DatabaseFile.TopFields()
        if !content.topRef.isNull {
            fields = try view.topFields(store, content.topRef, physicalSize: content.logicalSize)
        }
        if let running = content.running {
            (fields.names, fields.tables) = (running.names, running.tables)
            if running.store.firstOwnRef != running.store.slabStart { fields.history = .null }
        }
        target.pages?.beginWrite(others: false)
        var writer = try CopyWriter(store, content.running?.store, target, isEncrypted: view.isEncrypted)
        defer { writer.dispose() }
        let slots = try writer.trees(fields, keepsSyncFileId: content.keepsSyncFileId)
        return try writer.finish(slots)
    }

    private init(_ store: NodeStore, _ running: NodeStore?, _ target: DatabaseFile, isEncrypted: Bool)
        throws(RealmError)
    {
        bufferMemory = try HiddenMemory(Self.bufferSize)
        output = NodeOutput(Sink(target), buffer: bufferMemory.base, size: Self.bufferSize)
        elementMemory = try HiddenMemory(2048)
        self.store = store
        self.running = running
        firstRunning = running?.firstOwnRef ?? .max
        self.target = target
        // The first page of an encrypted file contains only the header: every commit overwrites it.
        at = target.isEncrypted ? target.pageSize : Format.headerSize
        if target.isEncrypted { gaps.append(FileChunk(offset: Format.headerSize, size: at - Format.headerSize)) }
        readable = running?.extent ?? store.measuredExtent
        // The operating system maps up to 64 KB around a byte that is read.
        stretchShift = isEncrypted ? 12 : 16
        touchedWords = (store.fileLimit >> stretchShift) / 64 + 1
        touched = .allocate(capacity: touchedWords)
        touched.initialize(repeating: 0, count: touchedWords)
    }

    private func dispose() {
        touched.deallocate()
    }

    private mutating func trees(_ fields: DatabaseFile.TopFields, keepsSyncFileId: Bool) throws(RealmError)
        -> [RefOrTagged]
    {
        let hasHistory = !fields.history.isNull
        var slots = [RefOrTagged](repeating: RefOrTagged(.null), count: hasHistory ? 11 : 7)
        slots[0] = RefOrTagged(try copy(fields.names, depth: 0))
        slots[1] = RefOrTagged(try copy(fields.tables, depth: 0))
        slots[6] = RefOrTagged(tagged: fields.version)
        if hasHistory {
            slots[7] = RefOrTagged(tagged: fields.historyType)
            slots[8] = RefOrTagged(try copy(fields.history, depth: 0))
            slots[9] = RefOrTagged(tagged: fields.historySchemaVersion)
            slots[10] = RefOrTagged(tagged: keepsSyncFileId ? fields.syncFileId : 0)
        }
        return slots
    }

    // MARK: Nodes

    /// Copies the tree below `ref`, children first; returns the new position of its root.
    private mutating func copy(_ ref: Ref, depth: Int) throws(RealmError) -> Ref {
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let node = try load(ref)
        guard node.hasRefs else { return Ref(try emit(node)) }
        let first = elementCount, count = node.count
        guard first + count <= Self.elementLimit else {
            throw .corrupt("array of refs with too many elements", at: ref.offset)
        }
        if first + count > elementCapacity { try growElements(first + count) }
        elementCount += count
        for i in 0..<count { elements[first + i] = try node.slot(i).raw }
        let flags = node.flags
        // From here on the memory of `node` may have been released.
        for i in first..<first + count {
            let element = elements[i]
            if element & 1 == 0, element != 0 {
                // Not in one statement: the recursive call may reallocate the elements.
                let position = try copy(Ref(Int(element)), depth: depth + 1)
                elements[i] = Int64(position.offset)
            }
        }
        elementCount = first
        return Ref(try emit(elements + first, count, flags: flags))
    }

    private mutating func growElements(_ needed: Int) throws(RealmError) {
        let new = try HiddenMemory(max(needed, elementCapacity * 2) * 8)
        CMemory.copy(new.base, elements, elementCount * 8)
        elementMemory = new
    }

    /// The node at `ref`, valid until the next node is loaded.
    private mutating func load(_ ref: Ref) throws(RealmError) -> Node {
        try store.test(at, of: store.fileLimit)
        if let running, ref.offset >= firstRunning {
            running.forgetMade(beyond: Self.memoryLimit, before: ref)
            let node = try running.node(ref)
            guard node.size <= readable else { throw .corrupt("nodes shared between trees", at: ref.offset) }
            readable -= node.size
            return node
        }
        if touchedCount << stretchShift >= Self.memoryLimit {
            store.forgetPages()
            touched.update(repeating: 0, count: touchedWords)
            touchedCount = 0
        }
        let node = try store.node(ref)
        guard node.size <= readable else { throw .corrupt("nodes shared between trees", at: ref.offset) }
        readable -= node.size
        for stretch in ref.offset >> stretchShift...(ref.offset + node.size - 1) >> stretchShift
        where touched[stretch / 64] & 1 << UInt64(stretch % 64) == 0 {
            touched[stretch / 64] |= 1 << UInt64(stretch % 64)
            touchedCount += 1
        }
        return node
    }

    /// Writes a node unchanged; returns its position.
    private mutating func emit(_ node: Node) throws(RealmError) -> Int {
        let position = try place(node.size)
        try output.write(node)
        return position
    }

    /// Writes an array at the least width that holds its values; returns its position.
    private mutating func emit(_ values: UnsafePointer<Int64>, _ count: Int, flags: UInt8) throws(RealmError) -> Int {
        let width = Widths.minimal(for: values, count: count)
        let position = try place(NodeHeader.size(count: count, width: width))
        try output.write(values, count: count, width: width, flags: flags)
        return position
    }

    /// Position for the next `size` bytes, which may not cross a section boundary. Format: storage §3.5.
    private mutating func place(_ size: Int) throws(RealmError) -> Int {
        guard size <= Format.sectionSize else {
            throw RealmError(.limitExceeded, "A node of \(size) bytes exceeds a section of the file")
        }
        let boundary = (at / Format.sectionSize + 1) * Format.sectionSize
        if at + size > boundary {
            gaps.append(FileChunk(offset: at, size: boundary - at))
            at = boundary
        }
        let position = at
        at += size
        guard at <= target.space.fileCapacity else {
            throw RealmError(.maximumFileSizeExceeded, "The copy is too large for its address space", path: target.path)
        }
        try output.seek(position)
        return position
    }

    // MARK: Lists and top

    /// Writes free lists and top array in one piece. The last free chunk is the end of the file, up to a whole page.
    private mutating func finish(_ slots: [RefOrTagged]) throws(RealmError) -> (topRef: Ref, logicalSize: Int) {
        // Two more than now: a gap before the lists, and the end of the file.
        let bound =
            2 * NodeHeader.size(count: gaps.count + 2, width: 64) + 8 + NodeHeader.size(count: slots.count, width: 64)
        let start = try place(bound)
        at = start
        let count = gaps.count + 1
        let largest = max(gaps.map(\.size).max() ?? 0, target.pageSize)
        let positionWidth = Widths.minimal(for: Int64(start + bound)), lengthWidth = Widths.minimal(for: Int64(largest))
        let lengthsAt = start + NodeHeader.size(count: count, width: positionWidth)
        let versionsAt = lengthsAt + NodeHeader.size(count: count, width: lengthWidth)
        let topAt = versionsAt + 8
        var top = slots
        top[2] = RefOrTagged(tagged: Format.roundUp(start + bound, to: target.pageSize) + target.pageSize)
        top[3] = RefOrTagged(Ref(start))
        top[4] = RefOrTagged(Ref(lengthsAt))
        top[5] = RefOrTagged(Ref(versionsAt))
        let topWidth = top.map { Widths.minimal(for: $0.raw) }.max() ?? 64
        let end = topAt + NodeHeader.size(count: top.count, width: topWidth)
        let size = (end / target.pageSize + 1) * target.pageSize
        top[2] = RefOrTagged(tagged: size)
        gaps.append(FileChunk(offset: end, size: size - end))
        try output.write(gaps.map { Int64($0.offset) }, width: positionWidth)
        try output.write(gaps.map { Int64($0.size) }, width: lengthWidth)
        try output.write(gaps.map { _ in 0 }, width: 0)
        try output.write(top.map(\.raw), width: topWidth, flags: NodeHeader.hasRefsFlag)
        try output.flush()
        return (Ref(topAt), size)
    }
}
