import Synchronization

/// One open database file in this process, shared by all its users in the process. Format: storage §4, §5.
///
/// Opened with `Database.open`. Users hold a strong reference; when the last one is released, the file is closed.
/// Thread rule: all methods from any thread. Mutable state is behind a lock or belongs to the holder of the write lock.
package final class Database: @unchecked Sendable {

    /// How a file is opened.
    package enum Access: Sendable {
        /// Reads and writes; with `create`, creates a missing file.
        case readWrite(create: Bool)
        /// Reads and follows other writers; never changes the file.
        case readOnly
        /// Reads one state of a file that never changes; changes nothing in or beside the file.
        case immutable
        /// Reads one version of a file that others may be writing, in a private copy; changes nothing in or beside the
        /// file.
        case snapshot
    }

    package let path: String
    let file: DatabaseFile
    let access: Access
    package let durability: Durability

    /// Whether each commit is flushed twice, so that it does not rely on sectors being written completely.
    let flushesTwice = Lock(initial: false)

    /// Changes when the file is rewritten, under the lock of the registry.
    var identity: FileIdentity

    /// nil when a fixed state is read.
    let lockFile: LockFile?

    /// Reports new versions. nil when a fixed state is read: it gets no new versions.
    package private(set) var listener: Listener?

    /// The only version, when a fixed state is read.
    let fixed: SharedState.Version?

    /// Format of the snapshots.
    let format: UInt8
    private let removesLockFile: Bool

    /// The process that opened the file: locks and slots belong to it, even if a child process inherits this object.
    private let processId = Platform.processId

    /// The state of the write lock within the process.
    enum Writer {
        case free
        /// The owner that writes (`Transaction.place`); 0: a thread of the library is about to get the lock.
        case writing(at: UInt)
        /// The lock is granted to a round of asynchronous writes that has not begun; another write may take it first.
        case granted(LockRequest)
        /// Committed versions are being flushed; then the lock becomes free.
        case flushing
    }

    let writer = Monitor(Writer.free)

    /// The transactions of this process on the file, with or without a snapshot.
    struct Users {
        var count = 0

        /// Versions that are held, by transactions or otherwise.
        var pins = Pins()

        /// One of the transactions has the file exclusively.
        var isExclusive = false

        /// Pages were lost, and the last user is gone: the file may be opened again, with a new object.
        var isAbandoned = false
    }

    let users = Monitor(Users())

    /// Pages were lost, and this object has no users any more: the file may be opened again, with a new object.
    var isAbandoned: Bool { users.with { $0.isAbandoned } }

    /// The pin for which the program was warned last. For the writer.
    var warnedOf: SharedState.Mark?

    /// Space that pinned versions leave free. For the writer.
    var pinnedSpace = PinnedSpace()

    /// Where the last commits wrote. For the writer.
    var recent = RecentPlaces()

    /// How far the file has shrunk. For the writer.
    var shrinking = Shrinking()

    /// Slab bytes committed so far. For the writer.
    var slabCommitted = 0

    /// The number that this object stores in the lock file when it writes (`SharedState.lastWriter`): as long as the
    /// lock file has this number, no other process has written. The number is random, so that no other word equals it.
    let mark = Crypto.randomWord()

    /// Number of the version that this database published last: its readers need not compare that version with the
    /// file.
    let ownNumber = Atomic<UInt64>(0)

    /// The version that this database wrote last, or found to be the newest while it had the write lock. For the
    /// writer.
    var lastWritten: SharedState.Version?

    // MARK: Opening

    /// Throws when a map of the file or of its lock file lost pages: then nothing that was read from it is valid.
    func verifyWhole() throws(RealmError) {
        guard FaultGuard.hasBrokenMaps else { return }
        try file.verifyWhole()
        if let lockFile, lockFile.shared.memory.isBroken { throw FaultGuard.lost(lockFile.file.path) }
    }

    var isWritable: Bool {
        if case .readWrite = access { return true }
        return false
    }

    /// A file at one fixed state.
    init(_ file: DatabaseFile, fixedAt state: DatabaseFile.State, _ access: Access) throws(RealmError) {
        path = file.path
        self.access = access
        self.file = file
        durability = .full
        try state.checkFormat(path: path, writing: false, upgrades: false)
        identity = try file.file.identity()
        lockFile = nil
        fixed = SharedState.Version(state)
        format = state.snapshotFormat
        removesLockFile = false
    }

    init(
        path: String, access: Access, durability: Durability, upgrades: Bool, _ encryption: Encryption?,
        _ patience: Patience
    ) throws(RealmError) {
        self.path = path
        self.access = access
        self.durability = durability
        let entry = SessionEntry(path, access, durability, upgrades: upgrades, encryption)
        // Refuses a file that cannot be opened before a lock file is made beside it.
        let early = try DatabaseFile.whileUnchanged(path) { () throws(RealmError) in try entry.look() }
        let lock = try LockFile(databasePath: path, try early?.file.rights(), isWriter: entry.writing, patience)
        var done = false
        defer { if !done { lock.leave(removing: lock.created) } }
        lockFile = lock
        fixed = nil
        removesLockFile = lock.created && (!entry.writing || !lock.isForOwner)
        let drawn = mark
        let entered = try lock.withControlLock(patience) { () throws(RealmError) in
            try entry.enter(lock, early, mark: drawn)
        }
        (file, format, lastWritten) = (entered.file, entered.format, entered.settled)
        if let settled = entered.settled { ownNumber.store(settled.number, ordering: .relaxed) }
        identity = try file.file.identity()
        listener = Listener(lock.shared)
        done = true
    }

    deinit {
        guard let lockFile else { return }
        guard belongsToThisProcess else {
            // A child process only closes the descriptor that it inherited: the session belongs to the parent.
            lockFile.file.close()
            return
        }
        // Versions that a dead writer published must not be lost with the session. A living writer completes them
        // itself.
        if isWritable, lockFile.shared.unflushed != .none, lockFile.tryLockForWriting() {
            _ = try? lockForWriting()
            unlockForWriting()
        }
        flushHeader(lockFile)
        if durability == .memoryOnly {
            try? lockFile.withControlLock { () throws(RealmError) in
                guard lockFile.isLastMember else { return }
                // A process that comes before this one has left the session makes a new file.
                lockFile.unenter()
                try FileSystem.remove(path)
            }
        }
        lockFile.leave(removing: removesLockFile)
    }

    // MARK: Users

    /// Registers a new transaction; waits while another one has the file exclusively.
    func enter() {
        users.wait { users -> Void? in
            guard !users.isExclusive else { return nil }
            users.count += 1
            return ()
        }
    }

    func leave() {
        let isAbandoned = users.with { (users) -> Bool in
            users.count -= 1
            if users.count == 0, (try? verifyWhole()) == nil { users.isAbandoned = true }
            return users.isAbandoned
        }
        if isAbandoned, processId == Platform.processId { lockFile?.leave(removing: false) }
    }

    /// Runs `body` while the caller's transaction is the only one of this process, no other one can begin, and no
    /// version is held; nil when there is another transaction or a held version.
    func exclusively<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R? {
        let alone = users.with { (users) -> Bool in
            if users.count == 1, users.pins.isEmpty, !users.isExclusive { users.isExclusive = true }
            return users.isExclusive && users.count == 1
        }
        guard alone else { return nil }
        defer { users.with { $0.isExclusive = false } }
        return try body()
    }

    var belongsToThisProcess: Bool { Platform.processId == processId }

    // MARK: Versions

    /// Throws when another program, or another open in this process, has upgraded a file that is read here in an older
    /// format: versions written since are of another format. Called after the version to be read was pinned.
    func verifyFormat() throws(RealmError) {
        guard let now = try upgradedFormat() else { return }
        throw RealmError(
            .incompatibleSession,
            "The Realm file at path '\(path)' was upgraded from format \(format) to \(now) while it was open: open it again",
            path: path)
    }

    /// The present format of the file, if it differs from the format in which it is read here.
    func upgradedFormat() throws(RealmError) -> UInt8? {
        guard format != Format.currentVersion, lockFile != nil, case let now = try file.readHeader().liveFormat,
            now != 0, now != format
        else {
            return nil
        }
        return now
    }

    func checkProcess() throws(RealmError) {
        guard belongsToThisProcess else {
            throw RealmError(
                .wrongTransactionState, "This Realm was opened by the parent process: open it again after a fork",
                path: path)
        }
    }

    /// Number of members of the session, including this one.
    var participantCount: Int { lockFile?.memberCount ?? 1 }

    /// Whether nothing was ever committed.
    var isEmpty: Bool { newestVersion <= 1 }

    /// Number of the newest version.
    var newestVersion: UInt64 { lockFile?.shared.newestNumber ?? fixed?.number ?? 1 }

    /// Number of versions that the file contains: the newest, the one before it, whose space the next commit reuses,
    /// and those in use.
    var versionCount: UInt64 {
        guard let lockFile, case let newest = newestVersion, newest > 1 else { return 1 }
        return UInt64(lockFile.shared.pinnedVersions(below: newest - 1) { lockFile.isDead($0) }.count) + 2
    }
}
