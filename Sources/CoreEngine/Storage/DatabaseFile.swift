/// An open database file: its descriptor, its map and its header.
///
/// Thread rule: `read…` and `ensureMapped` from any thread; only the holder of the write lock writes. `mapLock` guards
/// `mapped`; `file` and `pages` change only while no transaction has a snapshot.
final class DatabaseFile: @unchecked Sendable {
    let path: String
    private(set) var file: FileDescriptor
    let space: AddressSpace

    /// The decrypted pages of an encrypted file; nil for a plain file.
    private(set) var pages: DecryptedPages?

    /// The key or passphrase that opens the file.
    var encryption: Encryption? { secret.with { $0 } }
    let secret: Lock<Encryption?>
    private let mapLock = Lock(initial: 0)

    private struct View { weak var file: DatabaseFile? }

    /// Separate views of this file: pages that one of them loses are lost for all.
    private let views = Lock(initial: [View]())
    private let needsSlab: Bool

    /// Belongs to the writer.
    private var commitBuffer: HiddenMemory?

    /// The following members belong to the holder of the write lock.
    var headerState = HeaderState.unknown

    /// A failed commit that must be withdrawn before anything else is written.
    var unsettled: Withdrawal?

    /// Commits that are published but not flushed.
    var unflushed: UnflushedGroup?

    /// - Parameter permissions: the permissions that a new file gets.
    convenience init(
        path: String, access: FileDescriptor.Access, needsSlab: Bool, encryption: Encryption?,
        earlier: DatabaseFile? = nil, room: Int = 0,
        permissions: UInt32 = 0o644
    ) throws(RealmError) {
        let file = try FileDescriptor(path: path, access: access, permissions: Int32(permissions & 0o777))
        try self.init(file, path: path, needsSlab: needsSlab, encryption: encryption, earlier: earlier, room: room)
    }

    /// - Parameter earlier: an earlier open of the same file, whose derived keys can be reused.
    /// - Parameter room: the number of bytes that the file will have.
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

    /// Opens a file that may be damaged, for reading only: nothing in it is read yet.
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

    /// A separate view of the same file, for a walk over all of it: the view can release the memory of what it has read
    /// at any time.
    /// - Parameter needsSlab: whether the view makes nodes itself.
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

    /// Memory of at least `count` bytes in which a commit assembles its output; kept for the next commit.
    func commitMemory(_ count: Int) throws(RealmError) -> HiddenMemory {
        if let memory = commitBuffer, memory.count >= count { return memory }
        let memory = try HiddenMemory(count)
        commitBuffer = memory
        return memory
    }

    var isEncrypted: Bool { pages != nil }

    /// The logical size is a multiple of this: a page of the operating system, or of the encrypted form.
    var pageSize: Int { pages?.pageSize ?? Platform.pageSize }

    /// Capacity of the file in bytes of data; 0 for an empty file.
    func dataSize() throws(RealmError) -> Int {
        guard let pages else { return try file.size() }
        return try pages.withForm { (form) throws(RealmError) in try form.dataSize }
    }

    /// Cuts off an incomplete word, or an incomplete encrypted block, that a failed growth left: other engines refuse
    /// such a file. For the holder of the write lock, or while no other process has the file open.
    func cutRemainder() throws(RealmError) {
        let size = try file.size(), unit = isEncrypted ? 4096 : 8
        if size % unit != 0 { try file.truncate(to: size - size % unit) }
    }

    /// Writes data. It is on disk after the next flush; in encrypted files, pages may stay in memory until
    /// `DecryptedPages.prepare`.
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

    /// Bytes of data that the file has room for, also behind the end of its newest version.
    func physicalSize() throws(RealmError) -> Int {
        guard let pages else { return try file.size() }
        return try pages.withForm { (form) throws(RealmError) in try form.physicalPages * form.pageSize }
    }

    /// Cuts the file behind `size` bytes of data. Readers of other processes go on: no version that is in use reaches
    /// farther.
    func cut(to size: Int) throws(RealmError) {
        guard let pages else {
            let size = Format.roundUp(size, to: Platform.pageSize)
            if try file.size() > size { try file.truncate(to: size) }
            return
        }
        try pages.withForm { (form) throws(RealmError) in try form.cut(to: (size - 1) / form.pageSize + 1) }
    }

    // MARK: Reading

    /// Version numbers are smaller than this: the reader slots of the lock file cannot hold larger ones.
    static var versionLimit: UInt64 { 1 << 47 }

    /// Throws when the map lost pages since it was made. Then nothing that was read before may be trusted or used.
    func verifyWhole() throws(RealmError) {
        guard FaultGuard.hasBrokenMaps else { return }
        if space.isBroken || views.with({ $0.contains { $0.file?.space.isBroken ?? false } }) {
            throw FaultGuard.lost(path)
        }
    }

    /// As `verifyWhole`, for the holder of the write lock, and also checks the file itself: an intact file holds at
    /// least `size` bytes of data.
    func verifyLength(_ size: Int) throws(RealmError) {
        try verifyWhole()
        let present = try file.size()
        let isHeld =
            try pages?.withForm { (form) throws(RealmError) in try form.isHeld(size, inFileOf: present) }
            ?? (present >= size)
        guard isHeld else { throw lost() }
    }

    /// Marks the map as broken: from now on, nothing that was read from the file is valid.
    func lost() -> RealmError {
        space.markBroken()
        return FaultGuard.lost(path)
    }

    /// Maps the file at least up to `size`, section by section.
    func ensureMapped(_ size: Int) throws(RealmError) {
        guard size <= space.fileCapacity else {
            throw AddressSpace.outgrown(space.fileCapacity, path: path)
        }
        // The last page is needed completely.
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

    /// - Parameter again: false only for the holder of the write lock, when it has read or written the header since it
    ///   took the lock.
    func readHeader(again: Bool = true) throws(RealmError) -> FileHeader {
        if let pages { return try pages.withForm { (form) throws(RealmError) in try form.readHeader(again: again) } }
        var bytes: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var failure: RealmError?
        var count = 0
        withUnsafeMutableBytes(of: &bytes) { raw in
            do throws(RealmError) { count = try file.read(into: raw.start, count: 24, at: 0) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard count == 24 else {
            throw invalid("file is non-empty but too small (\(count) bytes) to be a valid Realm.")
        }
        return withUnsafeBytes(of: bytes) { FileHeader(bytes: $0.start) }
    }

    func invalid(_ what: String) -> RealmError {
        RealmError(.invalidDatabase, "Failed to open Realm file at path '\(path)': \(what)", path: path)
    }

    /// Replaces the file by a copy of it, to which `move` gives the name of the file. No transaction has a snapshot.
    /// Everything that can fail happens before `move`, so that an error leaves everything unchanged.
    func replace(with copy: DatabaseFile, _ encryption: Encryption?, move: () throws(RealmError) -> Void)
        throws(RealmError)
    {
        let new = try copy.pages.map { (pages) throws(RealmError) in
            try DecryptedPages(pages.form, space, budget: encryption?.memory ?? 0)
        }
        try mapLock.with { (mapped) throws(RealmError) in
            try space.clear(mapped)
            mapped = 0
            // The memory is gone, so its pages are forgotten, in case the old file stays.
            pages?.forgetAll()
        }
        try move()
        file = copy.file
        pages = new
        if new != nil, needsSlab { space.hideSlabFromDumps() }
        secret.with { $0 = encryption }
    }
}
