/// A file that may be damaged anywhere, opened to be read, and the roots that lead to its data. Nothing of it is
/// believed.
///
/// Thread rule: one thread at a time.
final class DamagedFile {
    /// Where a walk may begin.
    struct Root {
        /// Names of the report.
        enum Origin: String {
            /// What an ordinary open would read.
            case newest
            /// The other half of the header: the version before.
            case previous
            /// A top array that a scan of the file found.
            case scanned
        }

        let origin: Origin

        /// Null where no top array leads there.
        let top: Ref
        let version: UInt64
        let format: UInt8

        /// Null where it is damaged.
        let names: Ref
        let tables: Ref
    }

    /// A root that leads nowhere.
    struct BadRoot {
        let origin: Root.Origin
        let top: Ref
        let reason: String
    }

    let file: DatabaseFile
    let store: NodeStore

    /// Bytes of data, a multiple of eight.
    let size: Int
    private(set) var roots: [Root] = []
    private(set) var badRoots: [BadRoot] = []

    /// What is read of a file of formats 2 to 9.
    private(set) var old: OldSnapshot?

    /// - Throws: 2005-like errors when somebody has the file open; errors of the system; a key that opens nothing.
    init(_ path: String, _ encryption: Encryption?, _ interruption: Interruption?) throws(RealmError) {
        let descriptor = try FileDescriptor(path: path, access: .readOnly)
        guard !LockFile.isClaimed(descriptor) else {
            throw RealmError(
                .incompatibleSession, "Realm file at path '\(path)' is open: close it everywhere first", path: path)
        }
        let form = try Self.form(of: descriptor, encryption)
        file = try DatabaseFile(rescuing: descriptor, path: path, needsSlab: true, form: form)
        size = try file.dataSize() & ~7
        guard size > 0 else { throw RealmError(.invalidDatabase, "The file at path '\(path)' is empty", path: path) }
        try file.ensureMapped(size)
        store = NodeStore(space: file.space, fileLimit: size, pages: file.pages)
        store.move(toFileLimit: size, version: 0)
        store.use(interruption)
        findRoots()
    }

    /// How the pages of the file are encrypted; nil for a plain one.
    private static func form(of file: FileDescriptor, _ encryption: Encryption?) throws(RealmError) -> (any PageForm)? {
        guard let encryption else {
            guard try !isSealed(file) else {
                throw RealmError(.invalidDatabase, "The file is encrypted, and no key was given", path: file.path)
            }
            return nil
        }
        return try isSealed(file) ? try RescuedForm(file, encryption) : try RealmForm(file, encryption)
    }

    /// Whether one of the copies of the key block is where it stands in CRealm's encrypted form.
    private static func isSealed(_ file: FileDescriptor) throws(RealmError) -> Bool {
        if try SealedForm.recognises(file) { return true }
        var head: UInt64 = 0
        return try withUnsafeMutableBytes(of: &head) { (buffer) throws(RealmError) in
            guard let start = buffer.baseAddress else { return false }
            _ = try file.read(into: start, count: buffer.count, at: SealedForm.blockSize)
            return SealedForm.recognises(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The pages of an encrypted file that cannot be decrypted: the first, and how many there are.
    func damagedPages() throws(RealmError) -> (first: [Int], count: Int) {
        guard let pages = file.pages else { return ([], 0) }
        let memory = try HiddenMemory(pages.pageSize)
        defer { withExtendedLifetime(memory) {} }
        return try pages.withForm { (form) throws(RealmError) in
            var first: [Int] = [], count = 0
            for page in 0..<(try form.pageCount) {
                // What was never written is no loss.
                guard (try? form.stamp(of: page)) != 0, (try? form.read(page, into: memory.base)) == nil else {
                    continue
                }
                count += 1
                if first.count < 1000 { first.append(page) }
            }
            return (first, count)
        }
    }

    // MARK: Roots

    private func findRoots() {
        // What a writer that died left in the order of an ordinary open, which may be ahead of the header.
        if let state = try? file.newestState(readOnly: true).state, !state.topRef.isNull {
            add(.newest, state.topRef, state.format)
        }
        guard let header = try? header() else { return }
        if header.isStreaming {
            if let top = footer() { add(.newest, top, header.liveFormat) }
            return
        }
        let slots = [(header.topRefs.0, header.formats.0), (header.topRefs.1, header.formats.1)]
        let live = header.liveSlot
        for (slot, origin) in [(live, Root.Origin.newest), (1 - live, .previous)] {
            guard slots[slot].0 != 0, slots[slot].0 != FileHeader.streamingMark else { continue }
            add(origin, Ref(Int(truncatingIfNeeded: slots[slot].0)), slots[slot].1)
        }
    }

    /// Whether what the header leads to is the newest version: a damaged copy of it may have led to a newer one.
    var isHeaderSure: Bool { (file.pages?.form as? RescuedForm)?.isSure ?? !isHeaderEmpty }

    /// The header of a file to which nothing was committed: what the record behind it leads to is the first version, if
    /// the header was lost.
    private var isHeaderEmpty: Bool { (try? header()).map { $0.topRefs == (0, 0) } ?? false }

    /// The version behind that of the header, where a scan found it; the newest, where the header is that of an empty
    /// file.
    func addNewer(_ scan: NodeScan) {
        if isHeaderEmpty {
            guard let newest = roots.first, let top = scan.tops.first, top.version > newest.version else { return }
            roots = []
            return addScanned(scan)
        }
        guard let newest = roots.first, let top = scan.tops.first(where: { $0.version == newest.version + 1 }),
            let root = try? Self.root(store, .scanned, top.ref, format), !roots.contains(where: { $0.top == top.ref })
        else { return }
        roots.insert(root, at: 0)
    }

    /// What a scan found: the newest arrays of tables that have no top array, if they are newer than those with one.
    func addScanned(_ scan: NodeScan) {
        let given = roots.count
        addTops(scan.tops)
        let tables = Set(scan.tops.compactMap { try? Self.root(store, .scanned, $0.ref, format).tables.offset })
        let alone = scan.arrays.filter { !tables.contains($0.ref.offset) }
        guard let newest = alone.newest() else { return }
        if let first = roots.dropFirst(given).first, let array = scan.arrays.first(where: { $0.ref == first.tables }) {
            guard newest.isNewer(than: array) else { return }
            // Where more than a commit lies between them, the nodes of the older one may have been written over.
            if !newest.mayFollow(array) { roots.removeSubrange(given...) }
        }
        let before = alone.filter { $0.ref != newest.ref && newest.isNewer(than: $0) && newest.mayFollow($0) }.newest()
        let found = [newest, before].compactMap { $0 }.map {
            Root(origin: .scanned, top: .null, version: 0, format: format, names: .null, tables: $0.ref)
        }
        roots.insert(contentsOf: found, at: given)
    }

    /// Top arrays that a scan found: the newest, and the one before, over which the newest wrote nothing. Older ones
    /// may lead to nodes that were written over since.
    private func addTops(_ tops: [NodeScan.Top]) {
        var newest: UInt64?
        for top in tops.prefix(16) {
            if let newest, top.version + 1 < newest { break }
            let count = roots.count
            add(.scanned, top.ref, format)
            if roots.count > count, newest == nil { newest = top.version }
        }
    }

    /// Of the file as a whole, as far as the header says.
    var format: UInt8 {
        guard let header = try? header(), header.hasMnemonic else {
            return roots.first?.format ?? Format.currentVersion
        }
        let format = max(header.formats.0, header.formats.1)
        return Format.isReadable(format) ? format : Format.currentVersion
    }

    /// What the first root calls free, sorted; nil where that cannot be read.
    func freeSpace() -> [FileChunk]? {
        guard let root = roots.first, !root.top.isNull, let top = try? store.refsNode(root.top),
            let at = try? top.child(3),
            let size = try? top.child(4),
            let positions = try? store.integers(at), let lengths = try? store.integers(size),
            positions.count == lengths.count
        else { return nil }
        var chunks: [FileChunk] = []
        for i in 0..<positions.count {
            let (at, length) = (positions.get(i), lengths.get(i))
            guard at >= chunks.last.map({ Int64($0.end) }) ?? 0, length > 0, length <= Int64(self.size),
                at <= Int64(self.size) - length
            else {
                return nil
            }
            chunks.append(FileChunk(offset: Int(at), size: Int(length)))
        }
        return chunks
    }

    /// The same, with what lies behind the end of the data.
    func unusedSpace() -> [FileChunk] {
        var chunks = freeSpace() ?? []
        guard let top = roots.first?.top, let end = (try? store.refsNode(top))?.logicalEnd, end < size else {
            return chunks
        }
        chunks.append(FileChunk(offset: end, size: size - end))
        return chunks
    }

    private func header() throws(RealmError) -> FileHeader {
        if let pages = file.pages {
            return try pages.withForm { (form) throws(RealmError) in try form.readHeader(again: true) }
        }
        guard size >= Format.headerSize else { throw .corrupt("file without a header") }
        return FileHeader(bytes: store.base)
    }

    private func footer() -> Ref? {
        let at = size - Format.streamingFooterSize
        guard at >= Format.headerSize, (try? store.makeReadable(at, Format.streamingFooterSize)) != nil else {
            return nil
        }
        return Ref(Int(truncatingIfNeeded: (store.base + at).loadUnaligned(as: UInt64.self).littleEndian))
    }

    /// Takes a top array into the roots, if it leads anywhere, as the least trusted so far.
    func add(_ origin: Root.Origin, _ top: Ref, _ format: UInt8) {
        guard !roots.contains(where: { $0.top == top }), !badRoots.contains(where: { $0.top == top }) else { return }
        // Only one snapshot of an old format is read, and none behind one of a new format: that upgraded it.
        if OldFormats.isRead(format), !roots.isEmpty { return }
        do throws(RealmError) {
            var root = try Self.root(store, origin, top, format)
            if OldFormats.isRead(root.format) {
                let snapshot = try store.useSource { () throws(RealmError) in
                    try OldSnapshot(store, names: root.names, tables: root.tables, isDamaged: true)
                }
                old = snapshot
                root = Root(
                    origin: origin, top: top, version: root.version, format: root.format, names: snapshot.names,
                    tables: snapshot.tablesRef)
            }
            roots.append(root)
        } catch {
            if OldFormats.isRead(format) { store.dropSource() }
            badRoots.append(BadRoot(origin: origin, top: top, reason: error.message))
        }
    }

    /// What a top array says, as far as it is needed.
    static func root(_ store: NodeStore, _ origin: Root.Origin, _ top: Ref, _ format: UInt8) throws(RealmError) -> Root
    {
        let node = try store.refsNode(top)
        guard !node.isInner, [3, 5, 7, 9, 10, 11, 12].contains(node.count) else {
            throw .corrupt("not a top array", at: top.offset)
        }
        let version = node.count > 6 ? (try? node.slot(6))?.number ?? 1 : 1
        let known = Format.isReadable(format) ? format : Format.currentVersion
        return Root(
            origin: origin, top: top, version: version, format: known, names: (try? node.child(0)) ?? .null,
            tables: try node.child(1))
    }
}

extension Node {
    /// Of a top array: where the data end.
    fileprivate var logicalEnd: Int? { (try? slot(2))?.number.flatMap { Int(exactly: $0) } }
}
