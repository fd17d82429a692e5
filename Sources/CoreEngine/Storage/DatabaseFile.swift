/// An open database file: its descriptor, its map, and what its header says.
///
/// Thread rule: `read…` and `ensureMapped` from any thread; writing only by the holder of the write lock.
// `mapped` is guarded by `mapLock`; file and pages change while nobody has a snapshot.
final class DatabaseFile: @unchecked Sendable {
    let path: String
    private(set) var file: FileDescriptor
    let space: AddressSpace

    /// Where the pages of an encrypted file are decrypted; nil for a plain one.
    private(set) var pages: DecryptedPages?

    /// What opens the file.
    var encryption: Encryption? { secret.with { $0 } }
    let secret: Lock<Encryption?>
    private let mapLock = Lock(initial: 0)

    private struct View { weak var file: DatabaseFile? }

    /// Views of their own of this file: what they lose is lost for all.
    private let views = Lock(initial: [View]())
    private let needsSlab: Bool

    /// The writer's.
    private var commitBuffer: HiddenMemory?

    /// What follows is the write-lock holder's.
    var headerState = HeaderState.unknown

    /// What must be taken back before anything else is written.
    var unsettled: Withdrawal?

    /// Commits that readers see and that are not flushed.
    var unflushed: UnflushedGroup?

    /// - Parameter permissions: of a file that is made.
    convenience init(
        path: String, access: FileDescriptor.Access, needsSlab: Bool, encryption: Encryption?,
        earlier: DatabaseFile? = nil, room: Int = 0,
        permissions: UInt32 = 0o644
    ) throws(RealmError) {
        let file = try FileDescriptor(path: path, access: access, permissions: Int32(permissions & 0o777))
        try self.init(file, path: path, needsSlab: needsSlab, encryption: encryption, earlier: earlier, room: room)
    }

    /// - Parameter earlier: an earlier look at the same file, whose derived keys can serve again.
    /// - Parameter room: bytes that the file is going to have.
    init(
        _ file: FileDescriptor, path: String, needsSlab: Bool, encryption: Encryption?, earlier: DatabaseFile? = nil,
        room: Int = 0
    ) throws(RealmError) {
        self.path = path
        secret = Lock(initial: encryption)
        self.needsSlab = needsSlab
        self.file = file
        let size = try file.size()
        space = try Self.reserve(max(size, room), needsSlab: needsSlab, path: path)
        letMeasure()
        if size > 0, try !Self.isUnfinished(file, encryption), let form = try recognise(earlier) { try adopt(form) }
    }

    /// A file that may be damaged, to be read only: nothing in it is looked at yet.
    /// - Parameter form: nil for a plain file.
    init(rescuing file: FileDescriptor, path: String, needsSlab: Bool, form: (any PageForm)?) throws(RealmError) {
        self.path = path
        secret = Lock(initial: nil)
        self.needsSlab = needsSlab
        self.file = file
        space = try Self.reserve(try file.size(), needsSlab: needsSlab, path: path)
        letMeasure()
        pages = try form.map { (form) throws(RealmError) in try DecryptedPages(form, space, isDamaged: true) }
        if form != nil, needsSlab { space.hideSlabFromDumps() }
    }

    /// Address space for a file of `size` bytes that may grow.
    private static func reserve(_ size: Int, needsSlab: Bool, path: String) throws(RealmError) -> AddressSpace {
        var capacity = AddressSpace.usualCapacity
        while capacity < size * 4 { capacity *= 2 }
        let minimum = Format.roundUp(max(size * 2, 64 << 20), to: Format.sectionSize)
        do throws(RealmError) {
            return try AddressSpace(
                fileCapacity: capacity, slabCapacity: needsSlab ? min(capacity, 64 << 30) : 0, minimum: minimum)
        } catch { throw error.with(path: path) }
    }

    /// A view of the same file of its own, for walks over all of it: it gives back the memory of what it has read as
    /// often as it likes.
    /// - Parameter needsSlab: it makes nodes of its own.
    init(viewing other: DatabaseFile, needsSlab: Bool = false) throws(RealmError) {
        path = other.path
        secret = Lock(initial: nil)
        self.needsSlab = needsSlab
        file = try FileDescriptor(sharing: other.file)
        space = try AddressSpace(
            fileCapacity: other.space.fileCapacity, slabCapacity: needsSlab ? other.space.fileCapacity : 0,
            minimum: Format.sectionSize)
        letMeasure()
        let mine = file
        if let form = try other.pages?.withForm({ (form) throws(RealmError) in try form.reader(of: mine) }) {
            try adopt(form)
        }
        other.views.with { all in
            all.removeAll { $0.file == nil }
            all.append(View(file: self))
        }
    }

    private func letMeasure() { space.countsData = { [weak self] in self?.file.dataBytes() } }

    func adopt(_ form: any PageForm) throws(RealmError) {
        pages = try DecryptedPages(form, space, budget: encryption?.memory ?? 0)
        if needsSlab { space.hideSlabFromDumps() }
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

    /// Cuts off what a growth that failed halfway left of a word, or of an encrypted block: other engines refuse such a
    /// file. For the holder of the write lock, or while nobody else has the file open.
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

    /// Throws when the map lost pages since it was made. What was read before is then not to be believed, nor is
    /// anything made from it.
    func verifyWhole() throws(RealmError) {
        if space.isBroken || views.with({ $0.contains { $0.file?.space.isBroken ?? false } }) {
            throw FaultGuard.lost(path)
        }
    }

    /// As `verifyWhole`, for the holder of the write lock, with a look at the file itself: where nothing was lost it
    /// holds `size` bytes of data.
    func verifyLength(_ size: Int) throws(RealmError) {
        try verifyWhole()
        let present = try file.size()
        let wanted =
            try pages?.withForm { (form) throws(RealmError) in try form.dataSize < size ? Int.max : form.fileSize }
            ?? size
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
            throw AddressSpace.outgrown(space.fileCapacity, path: path)
        }
        // The last page is needed whole.
        let size = if let pages { Format.roundUp(size, to: pages.pageSize) } else { size }
        try mapLock.with { (mapped) throws(RealmError) in
            guard size > mapped else { return }
            try verifyWhole()
            let target = min(Format.roundUp(size, to: Format.sectionSize), space.fileCapacity)
            guard target >= size else {
                throw AddressSpace.outgrown(space.fileCapacity, path: self.path)
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
            do throws(RealmError) { count = try file.read(into: b.baseAddress!, count: 24, at: 0) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard count == 24 else { throw invalid("file is non-empty but too small (\(count) bytes) to be a valid Realm") }
        return withUnsafeBytes(of: bytes) { FileHeader(bytes: $0.baseAddress!) }
    }

    func invalid(_ what: String) -> RealmError {
        RealmError(.invalidDatabase, "Failed to open Realm file at path '\(path)': \(what)", path: path)
    }

    /// Goes over to a copy of the file: `move` gives that its name. Nobody has a snapshot. What can fail is done before
    /// `move`, so that an error leaves everything as it was.
    func replace(with copy: DatabaseFile, _ encryption: Encryption?, move: () throws(RealmError) -> Void)
        throws(RealmError)
    {
        let new = try copy.pages.map { (pages) throws(RealmError) in
            try DecryptedPages(pages.form, space, budget: encryption?.memory ?? 0)
        }
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
}
