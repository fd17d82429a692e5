import Synchronization

/// One open database file in this process, shared by all its users here. Format: storage §4, §5.
///
/// Opening: `Database.open`. Users hold a strong reference; the last one gone closes the file.
/// Thread rule: all methods from any thread.
// Mutable state is behind `writer` (a Lock) or owned by the write-lock holder.
package final class Database: @unchecked Sendable {

    /// How a file is opened.
    package enum Access: Sendable {
        /// Reads and writes; creates the file when it is missing and `create` says so.
        case readWrite(create: Bool)
        /// Reads, follows other writers, never changes the file.
        case readOnly
        /// Reads one state of a file that nobody changes; touches nothing beside or in it.
        case immutable
        /// Reads one version of a file that others may be writing, in a copy of its own; touches nothing beside or in
        /// it.
        case snapshot
    }

    package let path: String
    let file: DatabaseFile
    let access: Access
    package let durability: Durability

    /// Whether each commit waits for the disk twice, so that nothing is assumed of a sector.
    let flushesTwice = Lock(initial: false)

    /// Changes when the file is rewritten; then under the lock of the registry.
    var identity: FileIdentity

    /// nil where one state is read.
    let lockFile: LockFile?

    /// Tells of new versions. nil where one state is read: there are none.
    package private(set) var listener: Listener?

    /// The only version, where one state is read.
    let fixed: SharedState.Version?

    /// Format of the snapshots.
    let format: UInt8
    private let removesLockFile: Bool

    /// The process that opened the file: locks and slots are its own, also when a child inherits this object.
    private let processId = Platform.processId

    /// The in-process half of the write lock.
    enum Writer {
        case free
        /// A place writes (`Transaction.place`), or (0) a thread of the library is about to have the lock.
        case writing(at: UInt)
        /// The lock waits for a round of asynchronous writes to begin; whoever wants to write before that may have it.
        case granted(LockRequest)
        /// What was committed goes to the disk; then the lock is free.
        case flushing
    }

    let writer = Monitor(Writer.free)

    /// The transactions of this process on the file, reading or not.
    struct Users {
        var count = 0

        /// Versions that are held, by transactions or for later.
        var pins = Pins()

        /// One of them has the file for itself.
        var isExclusive = false

        /// Pages were lost, and the last user has gone: the file may be opened again, as another object.
        var isAbandoned = false
    }

    let users = Monitor(Users())

    /// Pages were lost, and nobody uses this object any more: the file may be opened again, as another one.
    var isAbandoned: Bool { users.with { $0.isAbandoned } }

    /// The pin of which the program was warned last; the writer's.
    var warnedOf: SharedState.Mark?

    /// What pinned versions leave free; the writer's.
    var pinnedSpace = PinnedSpace()

    /// Slab bytes committed so far; the writer's.
    var slabCommitted = 0

    /// By which this database knows, in the lock file, that nobody else wrote since it did. Drawn at random: no word
    /// that is there by chance is it.
    let mark = Crypto.randomWord()

    /// Number of the version that this database published last: its readers need not compare that with the file.
    let ownNumber = Atomic<UInt64>(0)

    /// The version that this database wrote last, or found to be the newest while it had the write lock; the writer's.
    var lastWritten: SharedState.Version?

    // MARK: Opening

    /// Throws when a map of the file or of its lock file lost pages: nothing that was read from it counts any more.
    func verifyWhole() throws(RealmError) {
        guard FaultGuard.hasFaults else { return }
        try file.verifyWhole()
        if let lockFile, lockFile.shared.memory.isBroken { throw FaultGuard.lost(lockFile.file.path) }
    }

    var isWritable: Bool {
        if case .readWrite = access { return true }
        return false
    }

    /// A file that does not change, at one of its states.
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
        // Refuse what we could not open before a lock file appears beside it.
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
            // A child lets go of what it inherited: the session is the parent's.
            lockFile.file.close()
            return
        }
        // What a writer that died had published shall not go with the session. One that lives sees to it itself.
        if isWritable, lockFile.shared.unflushed != .none, lockFile.tryLockForWriting() {
            _ = try? lockForWriting()
            unlockForWriting()
        }
        flushHeader(lockFile)
        if durability == .memoryOnly {
            try? lockFile.withControlLock { () throws(RealmError) in
                guard lockFile.isLastMember else { return }
                // Whoever comes before this session is left makes the file anew.
                lockFile.unenter()
                try FileSystem.remove(path)
            }
        }
        lockFile.leave(removing: removesLockFile)
    }

    // MARK: Users

    /// A transaction comes into being; waits while another one has the file for itself.
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

    /// Runs `body` while no other transaction of this process exists or comes into being, and none holds a version; nil
    /// when there is one already.
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

    /// Another program, or another open in this process, may have upgraded a file that is read here in an older format:
    /// what was written since is of another format. Asked after the version to be read was pinned.
    func verifyFormat() throws(RealmError) {
        guard let now = try upgradedFormat() else { return }
        throw RealmError(
            .incompatibleSession,
            "The Realm file at path '\(path)' was upgraded from format \(format) to \(now) while it was open: open it again",
            path: path)
    }

    /// The format that the file has now, where it is not the one in which it is read here.
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

    /// Members of the session, this one included.
    var participantCount: Int { lockFile?.memberCount ?? 1 }

    /// Whether nothing was ever committed.
    var isEmpty: Bool { newestVersion <= 1 }

    /// Number of the newest version.
    var newestVersion: UInt64 { lockFile?.shared.newestNumber ?? fixed?.number ?? 1 }

    /// Versions that the file holds: the newest, the one before it, which the next commit reclaims, and those in use.
    var versionCount: UInt64 {
        guard let lockFile, case let newest = newestVersion, newest > 1 else { return 1 }
        return UInt64(lockFile.shared.pinnedVersions(below: newest - 1) { lockFile.isDead($0) }.count) + 2
    }
}
