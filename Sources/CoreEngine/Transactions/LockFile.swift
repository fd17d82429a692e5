/// Membership in the session of one database file, through the lock file `X.lock`.
///
/// A member holds a shared flock from open to close. Record locks on bytes far behind the end of the lock file serve as
/// control lock, as write lock, and as each member's sign of life. The kernel releases all of them when the process
/// dies. Format: storage §5.3, §5.6.
///
/// A session belongs to one lock file and one database file. Every member *claims* the database file: it shares the
/// lock on one of its bytes far behind the end, chosen by the identity of the lock file. Two sessions on one database
/// file, because it has two names or because a lock file was removed, would claim different bytes: the second session
/// is refused. (realm-core claims nothing, so a file that it has open under another name is not noticed.)
final class LockFile: @unchecked Sendable {  // Immutable after `init`, except for what a lock guards.
    let file: FileDescriptor
    private let identity: FileIdentity
    private let databasePath: String

    /// The descriptor that holds the claim on the database file.
    private let claimed = Lock<FileDescriptor?>(initial: nil)
    let shared: SharedState

    /// Whether this open created the file.
    let created: Bool

    /// Whether this open wrote the whole file: then it contains no session data, unless another process has entered
    /// since.
    let isFresh: Bool

    /// Whether the owner of the database file can open the lock file.
    let isForOwner: Bool

    private static let controlByte = 1 << 40
    private static let writeByte = (1 << 40) + 1

    /// First of the bytes for the `Part`s; members that have entered the session share the lock on the byte of their
    /// part.
    private static let firstPartByte = (1 << 40) + 2
    private static let firstMemberByte = (1 << 40) + 16
    private static let memberCount = 4096
    private static let firstClaim = 1 << 41
    private static let claimCount = 1 << 30

    /// Joins or starts the session. Throws 1008 when realm-core has the file open.
    /// - Parameters:
    ///   - database: the owner and the permissions of the database file; nil when it does not exist yet.
    ///   - isWriter: whether the database is opened for writing.
    ///   - patience: how long to wait for other processes that open or replace the file.
    init(databasePath: String, _ database: FileRights?, isWriter: Bool, _ patience: Patience) throws(RealmError) {
        let path = databasePath + ".lock"
        self.databasePath = databasePath
        var attempts = 0
        var isMade = false
        while true {
            var found = try Self.openExisting(path)
            if found == nil {
                found = try Self.make(beside: databasePath, database, isWriter: isWriter)
                if found != nil { isMade = true }
            }
            if let database, let found { Self.giveToWriters(found, of: database, isMade: isMade) }
            if let file = found, let (memory, isFresh) = try Self.join(file, isMade: isMade) {
                self.file = file
                self.isFresh = isFresh
                identity = try file.identity()
                created = isMade
                let everybody: UInt32 = 0o006
                if let database, let own = try? file.rights() {
                    isForOwner = own.user == database.user || own.permissions & everybody == everybody
                } else {
                    isForOwner = true
                }
                var state = SharedState(memory)
                // Each member locks a separate byte: from the lock, other members see that it lives.
                try Self.lock(file, patience)
                defer { file.unlockByte(Self.controlByte) }
                for i in 1..<Self.memberCount {
                    let byte = Self.firstMemberByte + i
                    if try file.tryLockByteOrFail(byte) {
                        state.owner = UInt64(i)
                        break
                    }
                }
                guard state.owner != 0 else {
                    throw RealmError(
                        .limitExceeded, "More than \(Self.memberCount) users of this file", path: databasePath)
                }
                state.clearSlots(of: state.owner)
                shared = state
                return
            }
            found?.close()
            attempts += 1
            guard attempts < 50 else { throw try Self.refusal(path) }
            Platform.sleep(microseconds: UInt32(1000 + attempts * 400))
        }
    }

    // MARK: Ownership of the file

    /// The existing lock file; nil when there is none.
    private static func openExisting(_ path: String) throws(RealmError) -> FileDescriptor? {
        do {
            return try FileDescriptor(path: path, access: .readWrite, followsLinks: false, isKeptFromChildren: true)
        } catch {
            if error.code == .fileNotFound { return nil }
            guard error.code == .permissionDenied, let rights = FileSystem.rights(path) else { throw error }
            throw RealmError(
                .permissionDenied,
                "\(error.message). It is the lock file of user \(rights.user), group \(rights.group), "
                    + "and may be removed when nobody has the Realm file "
                    + "open",
                path: path)
        }
    }

    /// Makes the lock file; nil when another process just made it. A user who neither may write the database nor owns
    /// it must not make it: such a lock file would keep out the users who may write.
    private static func make(beside databasePath: String, _ database: FileRights?, isWriter: Bool) throws(RealmError)
        -> FileDescriptor?
    {
        let path = databasePath + ".lock"
        if let database, !isWriter, database.user != Platform.userId, !FileSystem.isWritable(databasePath) {
            throw RealmError(
                .permissionDenied,
                "The lock file '\(path)' does not exist, and who may not write the Realm file must not make it: its writers could not open it",
                path: path)
        }
        do {
            return try FileDescriptor(
                path: path, access: .createNew, followsLinks: false, permissions: 0o600, isKeptFromChildren: true)
        } catch {
            if error.code == .fileAlreadyExists { return nil }
            throw error
        }
    }

    /// Gives the lock file to the owner of the database, and lets in this owner and all who may write the database, as
    /// far as this process has the rights to do that. A lock file to which a person gave more rights, or that has a
    /// second name, stays unchanged.
    private static func giveToWriters(_ file: FileDescriptor, of database: FileRights, isMade: Bool) {
        let writers = database.permissions & 0o222
        var wanted = database
        wanted.permissions = 0o600 | writers | writers << 1
        if !isMade {
            guard let own = try? file.rights(), own.permissions & ~wanted.permissions == 0 else { return }
            guard let identity = try? file.identity(), identity.linkCount == 1 else { return }
        }
        file.setRights(wanted)
    }

    // MARK: The session

    /// The role of a member in the session. All members of a role share the lock on its byte.
    enum Part: Int, CaseIterable {
        case writing = 0, writingUnsafe, reading, inMemory

        init(_ durability: Durability, isWriter: Bool) {
            switch durability {
            case .memoryOnly: self = .inMemory
            case .full: self = isWriter ? .writing : .reading
            case .unsafe: self = isWriter ? .writingUnsafe : .reading
            }
        }

        /// Writers must have the same durability; for a reader only the difference between memory and disk counts.
        func agrees(with other: Part) -> Bool {
            self == other || (self != .inMemory && other != .inMemory && (self == .reading || other == .reading))
        }
    }

    /// Whether any member has entered the session. Locks decide which member is the first, never a word of the file.
    /// Under the control lock.
    var isEntered: Bool { file.areBytesLockedElsewhere(Self.firstPartByte, count: Part.allCases.count) }

    /// Whether all members that have entered agree with a part. Under the control lock.
    func agree(with part: Part) -> Bool {
        Part.allCases.allSatisfy {
            $0.agrees(with: part) || !file.isByteLockedElsewhere(Self.firstPartByte + $0.rawValue)
        }
    }

    /// Marks this member as entered. Under the control lock.
    func enter(as part: Part) throws(RealmError) {
        guard try file.shareByte(Self.firstPartByte + part.rawValue) else {
            throw RealmError(
                .incompatibleSession,
                "Some program holds a lock of '\(file.path)' for itself, and is no user of the Realm file",
                path: databasePath)
        }
    }

    /// Undoes `enter`: the next process begins a new session. Under the control lock, for the last member.
    func unenter() { for part in Part.allCases { file.unlockByte(Self.firstPartByte + part.rawValue) } }

    /// One attempt to join; nil when it must be repeated.
    private static func join(_ file: FileDescriptor, isMade: Bool) throws(RealmError) -> (SharedMemory, isFresh: Bool)?
    {
        let isAlone = try file.tryLockOrFail(.exclusive)
        if isAlone {
            // No other process uses the file, so its old content is unused. It is never left empty or incomplete under
            // a lock that this process keeps. The zeros are really written: a store to a mapped file with holes needs
            // disk space, and without free space it would kill the process.
            do throws(RealmError) {
                if try file.size() != SharedState.size { try file.truncate(to: SharedState.size) }
                try file.writeZeros(from: 0, to: SharedState.size, step: 16 << 10)
            } catch {
                // A file that this open created is removed again.
                if isMade { _ = try? FileSystem.remove(file.path) } else { try file.truncate(to: 0) }
                throw error
            }
            try SharedState.head.withBytes { (raw) throws(RealmError) in
                if let start = raw.baseAddress { try file.write(start, count: raw.count, at: 0) }
            }
        }
        guard try file.tryLockOrFail(.shared) else { return nil }
        // Another process may have come between the two locks, or removed the file before this process got the lock.
        let mine = try file.identity()
        guard mine.linkCount > 0, try FileSystem.identity(file.path) == mine else { return nil }
        guard try isReady(file) else { return nil }
        // A separate descriptor from the one with the locks, because of forked children: see `claim`.
        let mapped = try FileDescriptor(path: file.path, access: .readWrite, followsLinks: false)
        guard try mapped.identity() == mine else { return nil }
        return (try SharedMemory(mapped, size: SharedState.size), isAlone)
    }

    /// Whether the file is a complete lock file of this version of the library.
    private static func isReady(_ file: FileDescriptor) throws(RealmError) -> Bool {
        guard try file.size() >= SharedState.size else { return false }
        var head = [UInt8](repeating: 0, count: 12), count = 0
        try head.withMutableBytes { (raw) throws(RealmError) in
            if let start = raw.baseAddress { count = try file.read(into: start, count: raw.count, at: 0) }
        }
        return count == 12 && head[0] == 1 && UInt16(head[7]) << 8 | UInt16(head[6]) == SharedState.magicVersion
            && head[8...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } == SharedState.layoutVersion
    }

    /// The pins in the lock file of a database, for a process that is not a member: it locks and writes nothing. Empty
    /// when there is no lock file, or when another library uses it.
    static func marks(beside databasePath: String) throws(RealmError) -> [SharedState.Mark] {
        let file: FileDescriptor
        do throws(RealmError) {
            file = try FileDescriptor(path: databasePath + ".lock", access: .readOnly, followsLinks: false)
        } catch {
            guard error.code == .fileNotFound else { throw error }
            return []
        }
        guard try isReady(file) else { return [] }
        let shared = SharedState(try SharedMemory(file, size: SharedState.size, isWritable: false))
        let marks = shared.marks { isDead($0, file) }
        guard !shared.memory.isBroken else { throw FaultGuard.lost(file.path) }
        return marks
    }

    /// The error for a lock file that cannot be joined.
    private static func refusal(_ path: String) throws(RealmError) -> RealmError {
        var head: (UInt64, UInt64) = (0, 0)
        let file = try FileDescriptor(path: path, access: .readOnly, followsLinks: false)
        defer { file.close() }
        let count = try withUnsafeMutableBytes(of: &head) { (raw) throws(RealmError) in
            try file.read(into: raw.start, count: 16, at: 0)
        }
        let isOurs = UInt16(truncatingIfNeeded: head.0 >> 48) == SharedState.magicVersion
        if count == 16, head.0 & 0xFF == 1, !isOurs {
            return RealmError(
                .incompatibleLockFile,
                "Realm file is open in another program with a different lock file format (for instance realm-core): close it there first",
                path: path)
        }
        return RealmError(
            .incompatibleLockFile,
            isOurs && head.1 & 0xFFFF_FFFF != SharedState.layoutVersion
                ? "Realm file is open in a program with another version of this library: close it there first"
                : "Some program holds the lock (flock) of '\(path)' for itself, and is no user of the Realm file",
            path: path)
    }

    // MARK: The database file

    /// Claims the database file that is at `path` now for this session. `hold` keeps the claim; otherwise it ends with
    /// the returned descriptor.
    ///
    /// The claim needs a separate descriptor: a map that a forked child inherits keeps the locks of the descriptor from
    /// which it was made.
    func claim(_ path: String, _ wanted: FileIdentity) throws(RealmError) -> FileDescriptor {
        let database = try FileDescriptor(path: path, access: .readOnly, isKeptFromChildren: true)
        guard try database.identity() == wanted else { throw replaced() }
        let mine = claimByte
        for attempt in 0..<8 {
            guard try database.shareByte(mine) else { break }
            if !database.areBytesLockedElsewhere(Self.firstClaim, count: mine - Self.firstClaim),
                !database.areBytesLockedElsewhere(mine + 1, count: Self.firstClaim + Self.claimCount - mine - 1)
            {
                return database
            }
            // Two sessions that claim at the same time may both give up.
            database.unlockByte(mine)
            Platform.sleep(microseconds: UInt32(500 + attempt * 700))
        }
        throw RealmError(
            .incompatibleSession,
            "Realm file at path '\(databasePath)' is open under another name (a hard link, another mount), "
                + "or was open when its lock file was removed: "
                + "close it there first", path: databasePath)
    }

    /// The byte of database files that members of this session lock to show that they use the file.
    private var claimByte: Int {
        var hash = UInt64(bitPattern: 0x2545_F491_4F6C_DD1D)
        for word in [identity.device, identity.inode] { hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15 }
        return Self.firstClaim + Int(hash >> 34)
    }

    /// Whether other members of this session have claimed the same file.
    func isClaimedByOthers(_ claim: FileDescriptor) -> Bool { claim.isByteLockedElsewhere(claimByte) }

    /// Whether a session of this library, in any process, uses the database file.
    static func isClaimed(_ database: FileDescriptor) -> Bool {
        database.areBytesLockedElsewhere(firstClaim, count: claimCount)
    }

    /// Keeps a claim, and releases the previous one.
    func hold(_ claim: FileDescriptor) { claimed.with { $0 = claim } }

    /// Called before anything is written: both files must still be the ones that other processes find under these
    /// names.
    func checkNames(_ database: FileIdentity) throws(RealmError) {
        let folder = FileSystem.parent(of: databasePath)
        guard try FileSystem.identity(databasePath) == database else {
            if FileSystem.isDirectory(folder) { throw replaced() }
            throw RealmError(
                .fileOperationFailed,
                "The folder '\(folder)' of the Realm file was renamed, moved or removed while the file was open: "
                    + "close it everywhere and open it again",
                path: databasePath)
        }
        guard try FileSystem.identity(file.path) == identity else {
            throw RealmError(
                .incompatibleSession,
                "The lock file of '\(databasePath)' was removed or replaced while the Realm file was open: close it everywhere and open it again",
                path: databasePath)
        }
    }

    private func replaced() -> RealmError {
        RealmError(
            .fileOperationFailed,
            "The Realm file at path '\(databasePath)' was removed or replaced while it was open: close it everywhere and open it again",
            path: databasePath)
    }

    /// Runs `body` while no other process opens, closes or converts the file.
    func withControlLock<R>(_ patience: Patience = .endless, _ body: () throws(RealmError) -> R) throws(RealmError) -> R
    {
        try Self.lock(file, patience)
        defer { file.unlockByte(Self.controlByte) }
        return try body()
    }

    private static func lock(_ file: FileDescriptor, _ patience: Patience) throws(RealmError) {
        guard patience.isLimited else { return try file.lockByte(controlByte) }
        try patience.poll(file.path) { () throws(RealmError) in try file.tryLockByteOrFail(controlByte) ? () : nil }
    }

    func lockForWriting() throws(RealmError) { try file.lockByte(Self.writeByte) }

    func tryLockForWriting() -> Bool { file.tryLockByte(Self.writeByte) }

    func unlockForWriting() { file.unlockByte(Self.writeByte) }

    /// Whether a member is dead (its byte is not locked).
    func isDead(_ owner: UInt64) -> Bool { Self.isDead(owner, file) }

    private static func isDead(_ owner: UInt64, _ file: FileDescriptor) -> Bool {
        guard owner > 0, owner < UInt64(memberCount) else { return true }
        return !file.isByteLockedElsewhere(firstMemberByte + Int(owner))
    }

    var memberCount: Int {
        // Members take the lowest free number, so the search ends at a gap of 16 numbers.
        var members = 1, misses = 0, i = 1
        while misses < 16 && i < Self.memberCount {
            if UInt64(i) != shared.owner {
                if file.isByteLockedElsewhere(Self.firstMemberByte + i) { members += 1 } else { misses += 1 }
            }
            i += 1
        }
        return members
    }

    /// Whether the session has no other member. Reliable only under the control lock.
    var isLastMember: Bool {
        let own = Int(shared.owner)
        return !file.areBytesLockedElsewhere(Self.firstMemberByte + 1, count: own - 1)
            && !file.areBytesLockedElsewhere(Self.firstMemberByte + own + 1, count: Self.memberCount - own - 1)
    }

    /// Leaves the session, once. With `removing`, deletes the lock file if it has no other user.
    func leave(removing: Bool) {
        guard file.fd >= 0 else { return }
        shared.clearSlots(of: shared.owner)
        if removing, file.tryLock(.exclusive) {
            _ = try? FileSystem.remove(file.path)
            // A process that opened the file before its removal finds it locked, then finds a different file or none
            // under the name, and starts again.
            Platform.sleep(microseconds: 2000)
        }
        file.close()
    }
}
