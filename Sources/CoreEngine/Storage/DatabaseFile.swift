/// An open database file: its descriptor, its map, and what its header says.
///
/// Thread rule: `read…` and `ensureMapped` from any thread; writing only by the holder of the write lock.
final class DatabaseFile: @unchecked Sendable {  // `mapped` is guarded by `mapLock`; file and pages change while nobody has a snapshot.
    let path: String
    private(set) var file: FileDescriptor
    let space: AddressSpace
    /// Where the pages of an encrypted file are decrypted; nil for a plain one.
    private(set) var pages: DecryptedPages?
    /// What opens the file.
    var encryption: Encryption? { secret.with { $0 } }
    private let secret: Lock<Encryption?>
    private let mapLock = Lock(initial: 0)
    private let needsSlab: Bool
    /// The writer's.
    private var commitBuffer: HiddenMemory?
    /// What follows is the write-lock holder's.
    var headerState = HeaderState.unknown
    /// What must be taken back before anything else is written.
    var unsettled: Withdrawal?
    /// Commits that readers see and that are not flushed.
    var unflushed: UnflushedGroup?

    /// What a validated file says of its newest snapshot.
    struct State {
        var header: FileHeader
        var physicalSize: Int
        /// Null while nothing was ever committed.
        var topRef: Ref
        var format: UInt8
        var logicalSize: Int
        var version: UInt64
        var historyType: UInt64
        var historySchemaVersion: UInt64
        var isStreaming: Bool
        /// Where the commits that lead from the header to here were written, with their records: nobody knows that they were ever flushed.
        var ahead: [FileChunk] = []

        mutating func take(_ fields: TopFields) {
            logicalSize = fields.logicalSize
            version = fields.version
            historyType = fields.historyType
            historySchemaVersion = fields.historySchemaVersion
        }
    }

    /// - Parameter permissions: of a file that is made.
    convenience init(
        path: String, access: FileDescriptor.Access, needsSlab: Bool, encryption: Encryption?, earlier: DatabaseFile? = nil, room: Int = 0,
        permissions: UInt32 = 0o644
    ) throws(RealmError) {
        let file = try FileDescriptor(path: path, access: access, permissions: Int32(permissions & 0o777))
        try self.init(file, path: path, needsSlab: needsSlab, encryption: encryption, earlier: earlier, room: room)
    }
    /// - Parameter earlier: an earlier look at the same file, whose derived keys can serve again.
    /// - Parameter room: bytes that the file is going to have.
    init(
        _ file: FileDescriptor, path: String, needsSlab: Bool, encryption: Encryption?, earlier: DatabaseFile? = nil, room: Int = 0
    ) throws(RealmError) {
        self.path = path
        secret = Lock(initial: encryption)
        self.needsSlab = needsSlab
        self.file = file
        let size = try file.size()
        var capacity = 64 << 30
        while capacity < max(size, room) * 4 { capacity *= 2 }
        let minimum = Format.roundUp(max(max(size, room) * 2, 64 << 20), to: Format.sectionSize)
        do { space = try AddressSpace(fileCapacity: capacity, slabCapacity: needsSlab ? 64 << 30 : 0, minimum: minimum) } catch {
            throw error.with(path: path)
        }
        if size > 0, try !Self.isUnfinished(file, encryption), let form = try recognise(earlier) { try adopt(form) }
    }
    /// A view of the same file of its own, for walks over all of it: it gives back the memory of what it has read as often as it likes.
    init(viewing other: DatabaseFile) throws(RealmError) {
        path = other.path
        secret = Lock(initial: nil)
        needsSlab = false
        file = try FileDescriptor(sharing: other.file)
        space = try AddressSpace(fileCapacity: other.space.fileCapacity, slabCapacity: 0, minimum: Format.sectionSize)
        let mine = file
        if let form = try other.pages?.withForm({ (form) throws(RealmError) in try form.reader(of: mine) }) { try adopt(form) }
    }
    private func adopt(_ form: any PageForm) throws(RealmError) {
        pages = try DecryptedPages(form, space, budget: encryption?.memory ?? 0)
        if needsSlab { space.hideSlabFromDumps() }
    }
    /// The form of an encrypted file, nil for a plain one. A key that does not fit, is missing or is not needed is an error.
    private func recognise(_ earlier: DatabaseFile?) throws(RealmError) -> (any PageForm)? {
        var head: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let isSealed = try withUnsafeMutableBytes(of: &head) { (h) throws(RealmError) in
            _ = try file.read(into: h.baseAddress!, count: 24, at: 0)
            return SealedForm.recognises(UnsafeRawBufferPointer(h))
        }
        let isPlain = withUnsafeBytes(of: head) { FileHeader(bytes: $0.baseAddress!).hasMnemonic }
        guard let encryption else {
            if isSealed { throw invalid("the file is encrypted, and no key was given") }
            return nil
        }
        do throws(RealmError) {
            if isSealed { return try SealedForm.open(file, encryption, earlier: earlier?.pages?.form as? SealedForm) }
            let size = try file.size()
            if isPlain, size % 4096 != 0 || head.2 & 0xFE00_0000_0000_0000 == 0 {
                // A metadata page that happens to have the mnemonic there would authenticate.
                let header = try RealmError.unlessDamaged { () throws(RealmError) in try RealmForm(file, encryption).readHeader(again: true) }
                guard let header, header.hasMnemonic else {
                    throw RealmError(.invalidDatabase, "Realm file decryption failed (the file is not encrypted, but a key was given)")
                }
            }
            let form = try RealmForm(file, encryption)
            guard try form.readHeader(again: true).hasMnemonic else {
                // The HMAC half of the key fits, or what is there was never encrypted.
                throw RealmError(.invalidDatabase, "Realm file decryption failed (wrong encryption key, or not a Realm file)")
            }
            return form
        } catch {
            // At the open every failure to decrypt is one to open the database; the text says which.
            guard error.isDamage else { throw error.with(path: path) }
            let text = error.message.hasPrefix("Realm file decryption") ? error.message : "Realm file decryption failed (\(error.message))"
            throw invalid(text)
        }
    }

    /// Whether the file is what this object took it for when it was made: empty or unfinished, plain, or encrypted with this very key block.
    /// Until the session is joined others may make it, or change its key.
    func isStillAsOpened() throws(RealmError) -> Bool {
        guard try file.size() > 0, try !isUnfinished() else { return pages == nil }
        let isSealed = try isSealed()
        if let sealed = pages?.form as? SealedForm {
            guard isSealed, let isThere = try RealmError.unlessDamaged(sealed.isKeyBlockInFile) else { return false }
            return isThere
        }
        // A plain file has neither a key nor pages of its own, one in Realm's form both.
        return (encryption == nil) == (pages == nil) && !isSealed
    }
    private func isSealed() throws(RealmError) -> Bool {
        var head: UInt64 = 0
        return try withUnsafeMutableBytes(of: &head) { (h) throws(RealmError) in
            guard let start = h.baseAddress else { return false }
            _ = try file.read(into: start, count: h.count, at: 0)
            return SealedForm.recognises(UnsafeRawBufferPointer(h))
        }
    }

    /// What was seen of a file from outside.
    private struct Glimpse: Equatable {
        var identity: FileIdentity?
        var size = 0
        var start = [UInt8](repeating: 0, count: 2 * 4096)

        /// As much of it as can be seen.
        init(_ path: String) {
            guard let file = try? FileDescriptor(path: path, access: .readOnly) else { return }
            identity = try? file.identity()
            size = (try? file.size()) ?? 0
            start.withUnsafeMutableBytes { b in _ = b.baseAddress.map { try? file.read(into: $0, count: b.count, at: 0) } }
        }
    }
    /// Runs `body`, which looks at the file without being in its session, again when it fails and the file was changed meanwhile: then it may have
    /// seen something between old and new.
    static func whileUnchanged<R>(_ path: String, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        for _ in 0..<50 {
            let before = Glimpse(path)
            do throws(RealmError) { return try body() } catch {
                guard Glimpse(path) != before else { throw error }
            }
        }
        return try body()
    }

    // MARK: Bytes

    /// At least `count` bytes for a commit to put together what it writes, kept for the next one.
    func commitMemory(_ count: Int) throws(RealmError) -> HiddenMemory {
        if let memory = commitBuffer, memory.count >= count { return memory }
        let memory = try HiddenMemory(count)
        commitBuffer = memory
        return memory
    }

    var isEncrypted: Bool { pages != nil }
    /// What the logical size is a multiple of: a page of the system, or of the encrypted form.
    var pageSize: Int { pages?.pageSize ?? Platform.pageSize }
    /// Bytes of data the file has room for; 0 for an empty file.
    func dataSize() throws(RealmError) -> Int {
        guard let pages else { return try file.size() }
        return try pages.withForm { (form) throws(RealmError) in try form.dataSize }
    }
    /// Cuts off what a growth that failed halfway left of a word, or of an encrypted block: other engines refuse such a file. For the holder of the
    /// write lock, or while nobody else has the file open.
    func cutRemainder() throws(RealmError) {
        let size = try file.size(), unit = isEncrypted ? 4096 : 8
        if size % unit != 0 { try file.truncate(to: size - size % unit) }
    }
    /// Writes data; it is on disk after the next `synchronize`, for encrypted files after `select`.
    func write(_ from: UnsafeRawPointer, count: Int, at: Int) throws(RealmError) {
        if let pages {
            try ensureMapped(at + count)
            try pages.write(from, count: count, at: at)
        } else {
            try file.write(from, count: count, at: at)
        }
    }
    /// Grows or cuts the file to `size` bytes of data, a multiple of the page size.
    func resize(to size: Int, filled: Bool) throws(RealmError) {
        guard let pages else { return try file.resize(to: size, filled: filled) }
        try pages.withForm { (form) throws(RealmError) in try form.resize(to: size / form.pageSize, filled: filled) }
    }
    // MARK: Reading

    /// Versions have smaller numbers: readers in the lock file have no room for more.
    static var versionLimit: UInt64 { 1 << 47 }

    /// Throws when the map lost pages since it was made. What was read before is then not to be believed, nor is anything made from it.
    func verifyWhole() throws(RealmError) { if space.isBroken { throw FaultGuard.lost(path) } }
    /// As `verifyWhole`, for the holder of the write lock, with a look at the file itself: where nothing was lost it holds `size` bytes of data.
    func verifyLength(_ size: Int) throws(RealmError) {
        try verifyWhole()
        let present = try file.size()
        let wanted = try pages?.withForm { (form) throws(RealmError) in try form.dataSize < size ? Int.max : form.fileSize } ?? size
        guard present >= wanted else { throw lost() }
    }
    /// From now on all that was read of the file counts for nothing.
    func lost() -> RealmError {
        space.markBroken()
        return FaultGuard.lost(path)
    }

    /// Maps the file at least up to `size`, section by section.
    func ensureMapped(_ size: Int) throws(RealmError) {
        guard size <= space.fileCapacity else {
            throw RealmError(.addressSpaceExhausted, "The file is too large for the address space reserved for it; reopen it", path: path)
        }
        // The last page is needed whole.
        let size = if let pages { Format.roundUp(size, to: pages.pageSize) } else { size }
        try mapLock.with { (mapped) throws(RealmError) in
            guard size > mapped else { return }
            try verifyWhole()
            let target = min(Format.roundUp(size, to: Format.sectionSize), space.fileCapacity)
            guard target >= size else {
                throw RealmError(.addressSpaceExhausted, "The file is too large for the address space reserved for it; reopen it", path: self.path)
            }
            if pages == nil {
                try space.mapFile(file.fd, offset: mapped, length: target - mapped)
            } else {
                try space.commitMemory(offset: mapped, length: target - mapped)
                pages?.noteCommitted(target)
            }
            mapped = target
        }
    }

    /// - Parameter again: false for the holder of the write lock who has read or written it since.
    func readHeader(again: Bool = true) throws(RealmError) -> FileHeader {
        if let pages { return try pages.withForm { (form) throws(RealmError) in try form.readHeader(again: again) } }
        var bytes: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var failure: RealmError?
        var count = 0
        withUnsafeMutableBytes(of: &bytes) { b in
            do throws(RealmError) { count = try file.read(into: b.baseAddress!, count: 24, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        guard count == 24 else { throw invalid("file is non-empty but too small (\(count) bytes) to be a valid Realm") }
        return withUnsafeBytes(of: bytes) { FileHeader(bytes: $0.baseAddress!) }
    }

    func invalid(_ what: String) -> RealmError { RealmError(.invalidDatabase, "Failed to open Realm file at path '\(path)': \(what)", path: path) }

    /// Checks header and top array in the order of storage §1.4 and maps the file. Writers in other processes do not wait for it: what was
    /// found wrong is looked at again when the header has changed meanwhile.
    func validate(readOnly: Bool) throws(RealmError) -> State {
        for _ in 0..<100 {
            let before = try? readHeader()
            do throws(RealmError) {
                let state = try examine(nil, readOnly: readOnly)
                try verifyWhole()
                return state
            } catch {
                try verifyWhole()
                guard let before, let after = try? readHeader(), after != before else { throw error }
            }
        }
        let state = try examine(nil, readOnly: readOnly)
        try verifyWhole()
        return state
    }
    /// - Parameter given: taken in place of the header in the file.
    func examine(_ given: FileHeader?, readOnly: Bool) throws(RealmError) -> State {
        pages?.distrust()
        var size = try file.size()
        if size > 0, isEncrypted {
            _ = try readHeader()
            size = try dataSize()
        }
        if size == 0 { throw invalid(readOnly ? "Read-only access to empty Realm file" : "file is empty") }
        guard size >= Format.headerSize else { throw invalid("file is non-empty but too small (\(size) bytes) to be a valid Realm") }
        let header = if let given { given } else { try readHeader() }
        // Where a growth failed halfway the last word may be a part of one: no node has a place there.
        guard size % 8 == 0 || !header.isStreaming else { throw invalid("file has an invalid size (\(size))") }
        size &= ~7
        guard header.hasMnemonic else { throw invalid("not a Realm file, encrypted with a key that was not given, or corrupt (invalid mnemonic)") }
        var top = header.liveTopRef
        let streaming = header.isStreaming
        if streaming {
            guard size >= Format.headerSize + Format.streamingFooterSize else {
                throw invalid("file is in streaming format but too small (\(size) bytes)")
            }
            try ensureMapped(size)
            let footerAt = size - Format.streamingFooterSize
            let store = NodeStore(space: space, fileLimit: size, pages: pages)
            store.move(toFileLimit: size, version: 0)
            defer { store.rest() }
            try store.makeReadable(footerAt, Format.streamingFooterSize)
            let footer = space.base + footerAt
            top = footer.loadUnaligned(as: UInt64.self).littleEndian
            let magic = footer.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
            guard magic == FileHeader.footerMagic else {
                throw invalid("file in streaming format has an invalid footer cookie (\(magic)): the file is probably truncated")
            }
        }
        guard top % 8 == 0 else { throw invalid("top ref is not aligned (\(top))") }
        guard top < UInt64(size) else {
            throw invalid("top ref is outside of the file (size: \(size), top ref: \(top)): the file is probably truncated")
        }
        var state = State(
            header: header, physicalSize: size, topRef: .null, format: header.liveFormat, logicalSize: Format.headerSize, version: 1,
            historyType: 0, historySchemaVersion: 0, isStreaming: streaming)
        if top == 0 { return state }
        try ensureMapped(size)
        state.topRef = Ref(Int(top))
        state.take(try topFields(state.topRef, physicalSize: size))
        return state
    }

    /// Scalars of a top array. Format: storage §3.1.
    struct TopFields {
        var logicalSize = Format.headerSize
        var version: UInt64 = 1
        var historyType: UInt64 = 0
        var historySchemaVersion: UInt64 = 0
        var syncFileId: UInt64 = 0
        var names = Ref.null
        var tables = Ref.null
        var history = Ref.null
        var freeLists = (positions: Ref.null, lengths: Ref.null, versions: Ref.null)
        /// Node of the evacuation state, when there is one.
        var evacuation = Ref.null
        var slotCount = 0
    }
    func topFields(_ ref: Ref, physicalSize: Int) throws(RealmError) -> TopFields {
        let store = NodeStore(space: space, fileLimit: physicalSize, pages: pages)
        store.move(toFileLimit: physicalSize, version: 0)
        return try topFields(store, ref, physicalSize: physicalSize)
    }
    func topFields(_ store: NodeStore, _ ref: Ref, physicalSize: Int) throws(RealmError) -> TopFields {
        let n: Node
        do throws(RealmError) { n = try store.node(ref) } catch {
            throw error.isDamage ? invalid("invalid top array: \(error.message)") : error
        }
        guard n.hasRefs, n.widthType == 0, !n.isInner, [3, 5, 7, 9, 10, 11, 12].contains(n.count) else {
            throw invalid("Invalid top array (ref: \(ref.offset), array size: \(n.count))")
        }
        func number(_ i: Int) throws(RealmError) -> UInt64? {
            guard i < n.count else { return nil }
            let v = try n.slot(i)
            guard v.subtree == nil else { throw invalid("Invalid top array: a ref stands where a number is expected") }
            return v.number
        }
        func child(_ i: Int) throws(RealmError) -> Ref {
            guard i < n.count else { return .null }
            let v = try n.slot(i)
            guard !v.isTagged, v.raw >= 0 else { throw invalid("Invalid top array: a number stands where a ref is expected") }
            return v.ref
        }
        let logical = try number(2) ?? 0
        guard logical >= 24, logical <= UInt64(physicalSize) else {
            throw invalid("Invalid logical file size: \(logical), actual file size: \(physicalSize), array size: \(n.count)")
        }
        let names = try child(0), tables = try child(1)
        for r in [names, tables] where r.offset <= 0 || r.offset % 8 != 0 || r.offset > Int(logical) {
            throw invalid("Invalid top array (slots 0 and 1): ref \(r.offset)")
        }
        let version = n.count > 6 ? max(1, try number(6) ?? 0) : 1
        guard version < Self.versionLimit else { throw invalid("Impossible version number \(version)") }
        let slot11 = n.count > 11 ? try n.slot(11) : RefOrTagged(.null)
        return TopFields(
            logicalSize: Int(logical), version: version, historyType: try number(7) ?? 0, historySchemaVersion: try number(9) ?? 0,
            syncFileId: try number(10) ?? 0,
            names: names, tables: tables, history: try child(8),
            freeLists: (positions: try child(3), lengths: try child(4), versions: try child(5)),
            evacuation: slot11.subtree ?? .null, slotCount: n.count)
    }

    // MARK: Changing the form

    /// Makes an empty database of a file of size 0. Format: storage §1.2.
    /// - Parameter model: its form and keys are taken instead of what `encryption` says.
    func initialize(durable: Bool, like model: DatabaseFile? = nil) throws(RealmError) {
        let mine = file
        if let form = try model?.pages?.withForm({ (form) throws(RealmError) in try form.sibling(in: mine) }) {
            return try initialize(form, durable)
        }
        guard let encryption else {
            var page = [UInt8](repeating: 0, count: Platform.pageSize)
            page.withUnsafeMutableBytes { FileHeader().encode(into: $0.baseAddress!) }
            try write(page, at: 0)
            if durable {
                try file.synchronizeData()
                headerState = .onDisk
            }
            return
        }
        if encryption.cipher == .realm { return try adopt(try RealmForm.create(file, encryption, durable: durable)) }
        try initialize(try SealedForm.create(file, encryption), durable)
    }
    private func initialize(_ form: any PageForm, _ durable: Bool) throws(RealmError) {
        // Realm's form was made with its first page.
        guard let form = form as? SealedForm else { return try adopt(form) }
        try adopt(form)
        try resize(to: form.pageSize, filled: true)
        var page = [UInt8](repeating: 0, count: form.pageSize)
        page.withUnsafeMutableBytes { FileHeader().encode(into: $0.baseAddress!) }
        try write(page, at: 0)
        try put(FileHeader(), flipped: 0, logicalSize: 0, durable: durable)
        try form.finishCreation()
        if durable { try file.synchronizeData() }
    }
    /// Empties what an earlier session in memory left, when its process died: such files have no snapshot on the disk.
    func emptyForMemory() throws(RealmError) {
        if try file.size() > 0, try readHeader().liveTopRef != 0 {
            throw RealmError(
                .fileAlreadyExists,
                "There is a Realm file at path '\(path)' already: a Realm in memory would replace and remove it. Choose another path",
                path: path)
        }
        try file.truncate(to: 0)
    }
    /// Whether whoever made the file died before it was one: nothing was ever committed to it. A longer file may have held
    /// something, whatever became of its first blocks. Format: docs/security.md §5.
    func isUnfinished() throws(RealmError) -> Bool { try Self.isUnfinished(file, encryption) }
    static func isUnfinished(_ file: FileDescriptor, _ encryption: Encryption?) throws(RealmError) -> Bool {
        let start = UnsafeMutableRawPointer.allocate(byteCount: 2 * 4096, alignment: 16)
        defer { start.deallocate() }
        Platform.zero(start, 2 * 4096)
        let size = try file.size()
        guard size > 0, size <= max(SealedForm.sizeWhenNew, Platform.pageSize), try file.read(into: start, count: min(size, 2 * 4096), at: 0) > 0
        else {
            return false
        }
        // A plain file is a page that was written at once.
        guard encryption != nil else { return size <= Platform.pageSize && Platform.isZero(start, min(size, 2 * 4096)) }
        // In both forms the first block comes last.
        guard Platform.isZero(start, 4096) else { return false }
        return size <= RealmForm.sizeWhenNew || Platform.isZero(start + 4096, 4096)
            || SealedForm.recognises(UnsafeRawBufferPointer(start: start + 4096, count: 8))
    }
    /// Turns a streaming file into a normal one, in two ordered steps. Format: storage §1.3.
    func convertFromStreaming(_ state: State) throws(RealmError) {
        var header = state.header
        header.topRefs.1 = UInt64(state.topRef.offset)
        header.formats.1 = header.formats.0
        try put(header, flipped: header.flags | 1, logicalSize: state.logicalSize, durable: true)
    }
    /// Completes what a crash left half-written, before anything is written. Only while nobody else writes.
    func repair() throws(RealmError) { try pages?.withForm { (form) throws(RealmError) in try form.repair() } }

    /// Goes over to a copy of the file: `move` gives that its name. Nobody has a snapshot. What can fail is done before `move`, so that an
    /// error leaves everything as it was.
    func replace(with copy: DatabaseFile, _ encryption: Encryption?, move: () throws(RealmError) -> Void) throws(RealmError) {
        let new = try copy.pages.map { (pages) throws(RealmError) in try DecryptedPages(pages.form, space, budget: encryption?.memory ?? 0) }
        try mapLock.with { (mapped) throws(RealmError) in
            try space.clear(mapped)
            mapped = 0
            // What is decrypted went with the memory, in case the old file stays.
            pages?.forgetAll()
        }
        try move()
        file = copy.file
        pages = new
        if new != nil, needsSlab { space.hideSlabFromDumps() }
        secret.with { $0 = encryption }
    }
    /// Ends a change of key that a crash interrupted. Only while nobody else opens the file.
    func settleSecret() throws(RealmError) {
        try pages?.withForm { (form) throws(RealmError) in
            if let sealed = form as? SealedForm { try sealed.settleSecret() }
        }
    }
    /// Another secret for a file in CRealm's form, whose pages stay as they are; false when it is in another form.
    func changeSecret(_ e: Encryption) throws(RealmError) -> Bool {
        guard let pages else { return false }
        let done = try pages.withForm { (form) throws(RealmError) -> Bool in
            guard let sealed = form as? SealedForm else { return false }
            try sealed.changeSecret(e)
            return true
        }
        if done { secret.with { $0 = e } }
        return done
    }

    /// Cuts what lies beyond the logical end, or completes the last page. Only while nobody else has the file open. Format: storage §5.4.
    /// Whether anything changed.
    func align(_ state: State) throws(RealmError) -> Bool {
        var wanted = Format.roundUp(state.logicalSize, to: pageSize)
        if isEncrypted {
            try cutRemainder()
            try repair()
            guard wanted > state.physicalSize else { return false }
            try resize(to: wanted, filled: false)
            return true
        }
        let size = try file.size()
        if state.topRef.isNull { wanted = Format.roundUp(size, to: Platform.pageSize) }
        guard wanted != size else { return false }
        // The header on the disk may still lead to what is cut off.
        if wanted < size { try confirmHeader() }
        try file.truncate(to: wanted)
        return true
    }
}
