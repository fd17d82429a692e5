/// A file that may be damaged anywhere, opened read-only, and the roots that lead to its data. Nothing in the file is
/// trusted.
///
/// Thread rule: one thread at a time.
final class DamagedFile {
    /// A place where a walk may begin.
    struct Root {
        /// Names in the report.
        enum Origin: String {
            /// The version that an ordinary open would read.
            case newest
            /// The version of the other slot of the header: the version before the newest.
            case previous
            /// A top array that a scan of the file found.
            case scanned
        }

        let origin: Origin

        /// Null if the root has no top array.
        let top: Ref
        let version: UInt64
        let format: UInt8

        /// Null if it is damaged.
        let names: Ref
        let tables: Ref
    }

    /// A root that leads to no data.
    struct BadRoot {
        let origin: Root.Origin
        let top: Ref
        let reason: String
    }

    let file: DatabaseFile
    let store: NodeStore

    /// Bytes of data, rounded down to a multiple of eight.
    let size: Int
    private(set) var roots: [Root] = []
    private(set) var badRoots: [BadRoot] = []

    /// The readable part of a file of formats 2 to 9.
    private(set) var old: OldSnapshot?

    /// - Throws: 1007 if the file is open anywhere, errors of the operating system, and errors for a key that does not
    ///   open the file.
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

    /// The encryption of the pages; nil for a plain file.
    private static func form(of file: FileDescriptor, _ encryption: Encryption?) throws(RealmError) -> (any PageForm)? {
        guard let encryption else {
            guard try !isSealed(file) else {
                throw RealmError(.invalidDatabase, "The file is encrypted, and no key was given", path: file.path)
            }
            return nil
        }
        return try isSealed(file) ? try RescuedForm(file, encryption) : try RealmForm(file, encryption)
    }

    /// Whether a copy of the key block is found where CRealm's encrypted form stores one.
    private static func isSealed(_ file: FileDescriptor) throws(RealmError) -> Bool {
        if try SealedForm.recognises(file) { return true }
        var head: UInt64 = 0
        return try withUnsafeMutableBytes(of: &head) { (buffer) throws(RealmError) in
            guard let start = buffer.baseAddress else { return false }
            _ = try file.read(into: start, count: buffer.count, at: SealedForm.blockSize)
            return SealedForm.recognises(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The pages of an encrypted file that cannot be decrypted: the first 1000, and the number of all.
    func damagedPages() throws(RealmError) -> (first: [Int], count: Int) {
        guard let pages = file.pages else { return ([], 0) }
        let memory = try HiddenMemory(pages.pageSize)
        defer { withExtendedLifetime(memory) {} }
        return try pages.withForm { (form) throws(RealmError) in
            var first: [Int] = [], count = 0
            for page in 0..<(try form.pageCount) {
                // A page that was never written is no loss.
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
        // The version that an ordinary open would read. After a writer died, it may be newer than the header.
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

    /// Whether the header certainly leads to the newest version. If a copy of the header is damaged, that copy may have
    /// led to a newer version.
    var isHeaderSure: Bool { (file.pages?.form as? RescuedForm)?.isSure ?? !isHeaderEmpty }

    /// Whether the header is that of a file without commits. If the real header was lost, the record behind it leads
    /// only to the first version.
    private var isHeaderEmpty: Bool { (try? header()).map { $0.topRefs == (0, 0) } ?? false }

    /// Adds the version after that of the header, if a scan found it. If the header is that of an empty file, adds the
    /// newest version that was found instead.
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

    /// Adds what a scan found: top arrays, and the newest arrays of tables without a top array, if these are newer.
    func addScanned(_ scan: NodeScan) {
        let given = roots.count
        addTops(scan.tops)
        let tables = Set(scan.tops.compactMap { try? Self.root(store, .scanned, $0.ref, format).tables.offset })
        let alone = scan.arrays.filter { !tables.contains($0.ref.offset) }
        guard let newest = alone.newest() else { return }
        if let first = roots.dropFirst(given).first, let array = scan.arrays.first(where: { $0.ref == first.tables }) {
            guard newest.isNewer(than: array) else { return }
            // If more than one commit lies between them, nodes of the older one may have been overwritten.
            if !newest.mayFollow(array) { roots.removeSubrange(given...) }
        }
        let before = alone.filter { $0.ref != newest.ref && newest.isNewer(than: $0) && newest.mayFollow($0) }.newest()
        let found = [newest, before].compactMap { $0 }.map {
            Root(origin: .scanned, top: .null, version: 0, format: format, names: .null, tables: $0.ref)
        }
        roots.insert(contentsOf: found, at: given)
    }

    /// Adds the newest top array that a scan found and the one before it, whose nodes the newest version did not
    /// overwrite. Nodes of older versions may have been overwritten.
    private func addTops(_ tops: [NodeScan.Top]) {
        var newest: UInt64?
        for top in tops.prefix(16) {
            if let newest, top.version + 1 < newest { break }
            let count = roots.count
            add(.scanned, top.ref, format)
            if roots.count > count, newest == nil { newest = top.version }
        }
    }

    /// The format of the whole file, as stated by the header.
    var format: UInt8 {
        guard let header = try? header(), header.hasMnemonic else {
            return roots.first?.format ?? Format.currentVersion
        }
        let format = max(header.formats.0, header.formats.1)
        return Format.isReadable(format) ? format : Format.currentVersion
    }

    /// The free space according to the first root, sorted; nil if it cannot be read.
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

    /// The free space, and the bytes behind the end of the data.
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

    /// Adds a top array as the least trusted root, or to `badRoots` if it leads to no data.
    func add(_ origin: Root.Origin, _ top: Ref, _ format: UInt8) {
        guard !roots.contains(where: { $0.top == top }), !badRoots.contains(where: { $0.top == top }) else { return }
        // A snapshot of an old format is read only as the first root: behind a root of a new format, the file was
        // upgraded.
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

    /// Reads the fields of a top array that a root needs.
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
    /// The end of the data, for a top array.
    fileprivate var logicalEnd: Int? { (try? slot(2))?.number.flatMap { Int(exactly: $0) } }
}
