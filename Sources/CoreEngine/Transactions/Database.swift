/// One open database file in this process, shared by all its users here. Format: storage §4, §5.
///
/// Opening: `Database.open`. Users hold a strong reference; the last one gone closes the file.
/// Thread rule: all methods from any thread.
public final class Database: @unchecked Sendable {  // Mutable state is behind `writer` (a Lock) or owned by the write-lock holder.
    /// How a file is opened.
    public enum Access: Sendable {
        /// Reads and writes; creates the file when it is missing and `create` says so.
        case readWrite(create: Bool)
        /// Reads, follows other writers, never changes the file.
        case readOnly
        /// Reads one state of a file that nobody changes; touches nothing beside or in it.
        case immutable
        /// Reads one version of a file that others may be writing, in a copy of its own; touches nothing beside or in it.
        case snapshot
    }

    public let path: String
    let file: DatabaseFile
    let access: Access
    public let durability: Durability
    /// Whether each commit waits for the disk twice, so that nothing is assumed of a sector.
    let flushesTwice = Lock(initial: false)
    /// Changes when the file is rewritten; then under the lock of the registry.
    var identity: FileIdentity
    /// nil where one state is read.
    let lockFile: LockFile?
    /// Tells of new versions. nil where one state is read: there are none.
    package private(set) var listener: Listener?
    /// The only version, where one state is read.
    private let fixed: SharedState.Version?
    /// Format of the snapshots.
    let format: UInt8
    private let removesLockFile: Bool
    /// The process that opened the file: locks and slots are its own, also when a child inherits this object.
    private let processId = Platform.processId

    /// The in-process half of the write lock.
    enum Writer {
        case free
        /// A thread writes, or (0) one of the library is about to have the lock.
        case writing(thread: UInt)
        /// The lock waits for a round of asynchronous writes to begin; whoever wants to write before that may have it.
        case granted(LockRequest)
        /// What was committed goes to the disk; then the lock is free.
        case flushing
    }
    let writer = Monitor(Writer.free)
    /// The transactions of this process on the file, reading or not.
    private struct Users {
        var count = 0
        /// Versions that are held, by transactions or for later.
        var pins = 0
        /// One of them has the file for itself.
        var isExclusive = false
        /// Pages were lost, and the last user has gone: the file may be opened again, as another object.
        var isAbandoned = false
    }
    private let users = Monitor(Users())
    /// The pin of which the program was warned last; the writer's.
    var warnedOf: SharedState.Mark?
    /// Slab bytes committed so far; the writer's.
    var slabCommitted = 0

    // MARK: Opening

    private struct Registered {
        let identity: FileIdentity
        weak var database: Database?
    }
    /// One file is opened by one thread at a time; the registry is not held meanwhile: deriving a key or upgrading a file takes its time.
    private final class Gate: Sendable {
        let lock = Lock(initial: ())
        /// A thread of the parent process never comes out in its child.
        let generation = ForkGuard.generation
    }
    /// A process has few files open: the lists are searched from end to end.
    private struct Registry {
        private var files: [Registered] = []
        /// With the number of threads at each.
        private var gates: [(path: Name, gate: Gate, users: Int)] = []

        func database(_ identity: FileIdentity) -> Database? { files.first { $0.identity == identity }?.database }
        /// The entry of a database that is gone makes room.
        mutating func register(_ database: Database, as identity: FileIdentity) {
            files.removeAll { $0.database == nil || $0.identity == identity }
            files.append(Registered(identity: identity, database: database))
        }
        mutating func unregister(_ identity: FileIdentity) { files.removeAll { $0.identity == identity } }

        mutating func comeToGate(_ path: Name) -> Gate {
            gates.removeAll { $0.gate.generation != ForkGuard.generation }
            if let i = gates.firstIndex(where: { $0.path == path }) {
                gates[i].users += 1
                return gates[i].gate
            }
            let gate = Gate()
            gates.append((path, gate, 1))
            return gate
        }
        mutating func leaveGate(_ path: Name) {
            guard let i = gates.firstIndex(where: { $0.path == path }) else { return }
            gates[i].users -= 1
            if gates[i].users == 0 { gates.remove(at: i) }
        }
    }
    private static let registry = Lock(initial: Registry(), of: .databases)

    /// Opens the file, or joins the open one of this process. A file of an older format is upgraded when it is opened for writing, after a
    /// backup; where `upgrades` forbids that, it is refused (1024).
    public static func open(
        path given: String, access: Access, durability: Durability = .full, flushesTwice: Bool = false, upgrades: Bool = true,
        encryption: Encryption? = nil
    ) throws(RealmError) -> Database {
        try open(
            canonical: try FileSystem.canonical(given), access: access, durability: durability, flushesTwice: flushesTwice, upgrades: upgrades,
            encryption: encryption)
    }
    static func open(
        canonical path: String, access: Access, durability: Durability, flushesTwice: Bool, upgrades: Bool, encryption: Encryption?
    ) throws(RealmError) -> Database {
        switch access {
        case .immutable: return try Database(immutable: path, encryption)
        case .snapshot: return try Database(snapshot: path, encryption)
        case .readWrite, .readOnly: break
        }
        return try atGate(path) { () throws(RealmError) in
            if let db = registered(at: path), !db.users.with({ $0.isAbandoned }) {
                guard db.durability == durability else {
                    throw RealmError(
                        .mismatchedConfig, "Realm at path '\(path)' already opened with different durability or in-memory settings", path: path)
                }
                guard db.file.encryption == encryption else {
                    throw RealmError(.mismatchedConfig, "Realm at path '\(path)' already opened with different encryption key.", path: path)
                }
                try db.verifyWhole()
                let isEnough = if case .readWrite = access { db.isWritable } else { try db.upgradedFormat() == nil }
                if isEnough {
                    // From now on as its most careful user asks.
                    if flushesTwice { db.flushesTwice.with { $0 = true } }
                    return db
                }
            }
            do throws(RealmError) {
                let db = try upgraded(path, access, durability, upgrades, encryption)
                if flushesTwice { db.flushesTwice.with { $0 = true } }
                registry.with { $0.register(db, as: db.identity) }
                return db
            } catch {
                guard case .readOnly = access, error.code == .permissionDenied else { throw error }
                throw RealmError(
                    .permissionDenied,
                    "\(error.message). Reading a file that others may write takes part in its lock file; open it as immutable if nobody writes to it",
                    path: error.path ?? path)
            }
        }
    }
    /// Runs `body` while no other thread opens, replaces or removes the file at `path`. Never inside a transaction.
    static func atGate<R>(_ path: String, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let gate = registry.with { $0.comeToGate(Name(path)) }
        defer { registry.with { $0.leaveGate(Name(path)) } }
        return try gate.lock.with { (_) throws(RealmError) in try body() }
    }
    /// The open database of this process whose file is at `path`, under whatever name it was opened.
    private static func registered(at path: String) -> Database? {
        guard let identity = try? FileSystem.identity(path), let db = registry.with({ $0.database(identity) }), db.belongsToThisProcess else {
            return nil
        }
        return db
    }
    private static func upgraded(
        _ path: String, _ access: Access, _ durability: Durability, _ upgrades: Bool, _ encryption: Encryption?
    ) throws(RealmError) -> Database {
        if let db = try upgrading(path, access, durability, upgrades, encryption) { return db }
        return try Database(path: path, access: access, durability: durability, upgrades: upgrades, encryption)
    }
    /// nil when the file was of an older format: it is upgraded then, and must be opened again.
    private static func upgrading(
        _ path: String, _ access: Access, _ durability: Durability, _ upgrades: Bool, _ encryption: Encryption?
    ) throws(RealmError) -> Database? {
        let db = try Database(path: path, access: access, durability: durability, upgrades: upgrades, encryption)
        guard db.isWritable, db.format != Format.currentVersion else { return db }
        try FormatUpgrade.run(db)
        return nil
    }
    /// Whether this process has the file at `path` open.
    static func isOpen(path: String) -> Bool { registered(at: path) != nil }

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

    private convenience init(immutable path: String, _ encryption: Encryption?) throws(RealmError) {
        let file = try DatabaseFile(path: path, access: .readOnly, needsSlab: false, encryption: encryption)
        try self.init(file, fixedAt: try file.newestState(readOnly: true).state, .immutable)
    }
    private convenience init(snapshot path: String, _ encryption: Encryption?) throws(RealmError) {
        let source = try FileDescriptor(path: path, access: .readOnly)
        let copy = try PrivateCopy.take(of: source, path: path, encryption)
        // What a record leads to may be a commit on its way to the disk, which can still fail: it counts when nobody has the file open.
        if LockFile.isClaimed(source), let state = try RealmError.unlessDamaged({ () throws(RealmError) in try copy.validate(readOnly: true) }) {
            try self.init(copy, fixedAt: state, .snapshot)
        } else {
            try self.init(copy, fixedAt: try copy.newestState(readOnly: true).state, .snapshot)
        }
    }
    /// A file that does not change, at one of its states.
    private init(_ file: DatabaseFile, fixedAt state: DatabaseFile.State, _ access: Access) throws(RealmError) {
        path = file.path
        self.access = access
        self.file = file
        durability = .full
        try Self.checkFormat(state, path: path, writing: false, upgrades: false)
        identity = try file.file.identity()
        lockFile = nil
        fixed = SharedState.Version(
            number: state.version, topRef: state.topRef, logicalSize: state.isStreaming ? state.physicalSize : state.logicalSize)
        format = state.format == 0 ? Format.currentVersion : state.format
        removesLockFile = false
    }

    private init(path: String, access: Access, durability: Durability, upgrades: Bool, _ encryption: Encryption?) throws(RealmError) {
        self.path = path
        self.access = access
        self.durability = durability
        var writing = false
        var create = false
        if case .readWrite(let c) = access { (writing, create) = (true, c) }
        // Refuse what we could not open before a lock file appears beside it.
        let early = try DatabaseFile.whileUnchanged(path) { () throws(RealmError) in
            try Self.firstLook(path, creating: create, writing: writing, upgrades: upgrades, encryption)
        }
        let lock = try LockFile(databasePath: path, try early?.file.rights(), isWriter: writing)
        var done = false
        defer { if !done { lock.leave(removing: lock.created) } }
        lockFile = lock
        fixed = nil
        removesLockFile = lock.created && (!writing || !lock.isForOwner)
        let opened: (DatabaseFile, UInt8) = try lock.withControlLock { () throws(RealmError) in
            let shared = lock.shared
            let first = shared.initialised.load() == 0
            var file: DatabaseFile
            // Until now others could make, remove or replace the file, or change its key.
            if let early, try FileSystem.identity(path) == early.file.identity(), try early.isStillAsOpened() {
                file = early
            } else {
                let access: FileDescriptor.Access = writing ? .readWriteCreate : .readOnly
                file = try DatabaseFile(path: path, access: access, needsSlab: writing, encryption: encryption, earlier: early)
            }
            let identity = try file.file.identity()
            guard first || shared.database == identity else {
                throw RealmError(
                    .incompatibleSession,
                    "The Realm file at path '\(path)' is not the one that other programs have open: it was replaced meanwhile. Close it there first",
                    path: path)
            }
            lock.hold(try lock.claim(path, identity))
            var isNew = false
            if first && durability == .memoryOnly { try file.emptyForMemory() }
            if first && writing, try file.isUnfinished() { try file.file.truncate(to: 0) }
            if try file.file.size() == 0 {
                guard writing else { throw file.invalid("Read-only access to empty Realm file") }
                do throws(RealmError) { try file.initialize(durable: durability == .full) } catch {
                    try? file.file.truncate(to: 0)
                    throw error
                }
                if durability == .full { try FileSystem.synchronizeFolder(of: path) }
                isNew = true
            }
            // Who only reads cares about memory alone.
            let theirs = shared.durability.load(), mine = UInt64(durability.rawValue), inMemory = UInt64(Durability.memoryOnly.rawValue)
            if !first, theirs != mine, writing || theirs == inMemory || mine == inMemory {
                throw RealmError(.incompatibleSession, "Durability not consistent: the file is open elsewhere with another durability", path: path)
            }
            var state: DatabaseFile.State, isSelected = true
            // Whoever opened it first may have been unable to write: then the header leads to an older state, or to none.
            if !first, let found = try? file.validate(readOnly: !writing), shared.newest()?.topRef == found.topRef {
                state = found
            } else {
                (state, isSelected) = try file.newestState(readOnly: !writing)
            }
            try Self.checkFormat(state, path: path, writing: writing, upgrades: upgrades)
            if writing && first { FormatUpgrade.keepBackup(path, format: state.format) }
            if state.isStreaming && writing {
                try file.convertFromStreaming(state)
                state = try file.validate(readOnly: false)
            }
            if first {
                // Two commits at most are ahead of the header; the next is found when the one before is in its place.
                for _ in 0..<4 where writing && !isSelected {
                    try file.select(state)
                    (state, isSelected) = try file.newestState(readOnly: false)
                }
                if writing, try file.align(state) { state = try file.validate(readOnly: false) }
                shared.publish(
                    SharedState.Version(
                        number: state.version, topRef: state.topRef, logicalSize: state.isStreaming ? state.physicalSize : state.logicalSize))
                shared.durability.store(UInt64(durability.rawValue))
                // What is known of the header so far stays known until another process writes.
                if writing { shared.lastWriter.store(shared.owner) }
                shared.isUncertain = !isNew
                shared.database = identity
                shared.initialised.store(1)
            }
            if writing { try file.settleSecret() }
            return (file, state.format == 0 ? Format.currentVersion : state.format)
        }
        file = opened.0
        format = opened.1
        identity = try file.file.identity()
        listener = Listener(lock.shared)
        done = true
    }

    /// Opens the file, before the session is joined, to see whether it can be opened at all; nil when it is not there and may be made.
    private static func firstLook(
        _ path: String, creating: Bool, writing: Bool, upgrades: Bool, _ encryption: Encryption?
    ) throws(RealmError) -> DatabaseFile? {
        guard FileSystem.exists(path) else {
            guard creating else {
                throw RealmError(.fileNotFound, "Failed to open file at path '\(path)': \(Platform.text(ofError: 2))", path: path)
            }
            guard FileSystem.isDirectory(FileSystem.parent(of: path)) else {
                throw RealmError(.fileNotFound, "Failed to open file at path '\(path)': parent directory does not exist", path: path)
            }
            return nil
        }
        let file = try DatabaseFile(path: path, access: writing ? .readWrite : .readOnly, needsSlab: writing, encryption: encryption)
        let isUnfinished = writing ? try file.isUnfinished() : false
        if !isUnfinished, try file.file.size() > 0 {
            // A key that fits says enough: what else could be wrong is found in the session, and its lock file goes again.
            if !file.isEncrypted { try checkFormat(try file.newestState(readOnly: !writing).state, path: path, writing: writing, upgrades: upgrades) }
        } else if !writing {
            throw RealmError(.invalidDatabase, "Failed to open Realm file at path '\(path)': Read-only access to empty Realm file", path: path)
        }
        return file
    }
    /// Format and history rules. Format: storage §1.4, §6.2.
    private static func checkFormat(_ state: DatabaseFile.State, path: String, writing: Bool, upgrades: Bool) throws(RealmError) {
        if state.topRef.isNull && state.format == 0 { return }
        guard Format.isReadable(state.format) else {
            let remedy =
                state.format > Format.currentVersion
                ? "it was written by a newer library; open it with that one"
                : "open it once with a version of Realm that still reads this format and upgrades it, or restore a backup of an upgraded file"
            throw RealmError(
                .unsupportedFileFormat,
                "The Realm file at path '\(path)' has format \(state.format), and formats 10, 11 and 20 to 24 can be opened: \(remedy)", path: path)
        }
        guard writing else { return }
        guard state.historyType == History.Kind.none || state.historyType == History.Kind.inRealm else {
            throw RealmError(
                .incompatibleHistories,
                "Incompatible histories. The file has history type '\(History.name(state.historyType))', but is being opened in local history mode. "
                    + "Synchronized Realms cannot be opened in non-sync mode, and vice versa.", path: path)
        }
        guard state.historySchemaVersion <= History.schemaVersion else {
            throw RealmError(.incompatibleHistories, "Unexpected future history schema version \(state.historySchemaVersion)", path: path)
        }
        guard state.format == Format.currentVersion || upgrades else {
            throw RealmError(
                .formatUpgradeRequired,
                "The Realm file format must be allowed to be upgraded in order to proceed: "
                    + "the file has format \(state.format), \(Format.currentVersion) is needed for writing",
                path: path)
        }
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
        file.flushHeader()
        if durability == .memoryOnly {
            try? lockFile.withControlLock { () throws(RealmError) in
                guard lockFile.isLastMember else { return }
                // Whoever comes before this session is left makes the file anew.
                lockFile.shared.initialised.store(0)
                try FileSystem.remove(path)
            }
        }
        lockFile.leave(removing: removesLockFile)
    }

    // MARK: Users

    /// A transaction comes into being; waits while another one has the file for itself.
    func enter() {
        users.wait { u -> Void? in
            guard !u.isExclusive else { return nil }
            u.count += 1
            return ()
        }
    }
    func leave() {
        let isAbandoned = users.with { (u) -> Bool in
            u.count -= 1
            if u.count == 0, (try? verifyWhole()) == nil { u.isAbandoned = true }
            return u.isAbandoned
        }
        if isAbandoned, processId == Platform.processId { lockFile?.leave(removing: false) }
    }
    /// Runs `body` while no other transaction of this process exists or comes into being, and none holds a version; nil when there is one already.
    func exclusively<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R? {
        let alone = users.with { (u) -> Bool in
            if u.count == 1, u.pins == 0, !u.isExclusive { u.isExclusive = true }
            return u.isExclusive && u.count == 1
        }
        guard alone else { return nil }
        defer { users.with { $0.isExclusive = false } }
        return try body()
    }
    /// The file at the path is another one now.
    func noteIdentity(_ new: FileIdentity) {
        Self.registry.with { r in
            if r.database(identity) === self { r.unregister(identity) }
            identity = new
            if r.database(new) == nil { r.register(self, as: new) }
        }
    }
    var belongsToThisProcess: Bool { Platform.processId == processId }

    // MARK: Versions

    /// Another program, or another open in this process, may have upgraded a file that is read here in an older format: what was written since
    /// is of another format. Asked after the version to be read was pinned.
    func verifyFormat() throws(RealmError) {
        guard let now = try upgradedFormat() else { return }
        throw RealmError(
            .incompatibleSession, "The Realm file at path '\(path)' was upgraded from format \(format) to \(now) while it was open: open it again",
            path: path)
    }
    /// The format that the file has now, where it is not the one in which it is read here.
    func upgradedFormat() throws(RealmError) -> UInt8? {
        guard format != Format.currentVersion, lockFile != nil, case let now = try file.readHeader().liveFormat, now != 0, now != format else {
            return nil
        }
        return now
    }
    /// Pins the newest version, in a reader slot.
    func pinNewest() throws(RealmError) -> (SharedState.Version, slot: Int) {
        if let fixed { return (fixed, -1) }
        try checkProcess()
        guard let lockFile else { throw RealmError(.brokenInvariant, "No session") }
        let pinned = try lockFile.shared.pinNewest()
        users.with { $0.pins += 1 }
        return pinned
    }
    func checkProcess() throws(RealmError) {
        guard belongsToThisProcess else {
            throw RealmError(.wrongTransactionState, "This Realm was opened by the parent process: open it again after a fork", path: path)
        }
    }
    func unpin(_ slot: Int) {
        guard belongsToThisProcess, slot >= 0 else { return }
        lockFile?.shared.unpin(slot)
        users.with { $0.pins -= 1 }
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

    // MARK: Files

    /// Removes the files of a database: itself, `.note`, `.log`, `.management`; never `.lock`. Returns whether the database file went.
    public static func deleteFiles(path given: String) throws(RealmError) -> Bool {
        let path = try FileSystem.canonical(given)
        guard FileSystem.isDirectory(FileSystem.parent(of: path)) else { return false }
        return try atGate(path) { () throws(RealmError) in try delete(path) }
    }
    private static func delete(_ path: String) throws(RealmError) -> Bool {
        if isOpen(path: path) { throw RealmError(.deleteOpenedRealm, "Cannot delete files of an open Realm: '\(path)' is still in use", path: path) }
        let lockPath = path + ".lock"
        var lock: FileDescriptor?
        if FileSystem.exists(lockPath) {
            let f = try FileDescriptor(path: lockPath, access: .readWrite, isKeptFromChildren: true)
            guard f.tryLock(.exclusive) else {
                throw RealmError(.deleteOpenedRealm, "Cannot delete files of an open Realm: '\(path)' is still in use", path: path)
            }
            lock = f
        }
        defer { lock?.close() }
        let did = try FileSystem.remove(path)
        try FileSystem.remove(path + ".note")
        try FileSystem.remove(path + ".log")
        FileSystem.removeDirectory(path + ".management")
        return did
    }
}

extension Database {
    public static func parentExists(path: String) -> Bool { FileSystem.isDirectory(FileSystem.parent(of: path)) }
    /// Whether the file at `path` is of an older format than the one written. Looks at the file, changes nothing.
    public static func needsFormatUpgrade(path: String, encryption: Encryption? = nil) throws(RealmError) -> Bool {
        try DatabaseFile.whileUnchanged(path) { () throws(RealmError) in
            guard FileSystem.exists(path) else { return false }
            let file = try DatabaseFile(path: path, access: .readOnly, needsSlab: false, encryption: encryption)
            guard try file.file.size() > 0 else { return false }
            let state = try file.newestState(readOnly: true).state
            return state.format != 0 && state.format < Format.currentVersion
        }
    }
}
