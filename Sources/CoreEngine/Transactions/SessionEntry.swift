/// How a process enters the session of a file: the checks before a lock file appears beside the file, and the work
/// under the control lock, which the first member does for all later ones.
///
/// The first member finds the newest state, makes the header lead to it, cuts or completes the end of the file and
/// publishes that state. Later members use the published state, after they have checked that the file is the same and
/// that they agree on its format and durability. Order of the steps: docs/commit-and-locking.md.
struct SessionEntry {
    let path: String
    let durability: Durability
    let upgrades: Bool
    let encryption: Encryption?

    /// Whether the file is opened for writing, and created when it is missing.
    private(set) var writing = false
    private var creating = false

    init(_ path: String, _ access: Database.Access, _ durability: Durability, upgrades: Bool, _ encryption: Encryption?)
    {
        self.path = path
        self.durability = durability
        self.upgrades = upgrades
        self.encryption = encryption
        if case .readWrite(let create) = access { (writing, creating) = (true, create) }
    }

    // MARK: Before the session

    /// Opens the file before the session is joined, to check whether it can be opened at all; nil when it is missing
    /// and may be created.
    func look() throws(RealmError) -> DatabaseFile? {
        guard FileSystem.exists(path) else {
            guard !FileSystem.isBelowFile(path) else {
                throw RealmError(
                    .fileOperationFailed, "Failed to open file at path '\(path)': \(Platform.text(ofError: 20))",
                    path: path)
            }
            guard creating else {
                throw RealmError(
                    .fileNotFound, "Failed to open file at path '\(path)': \(Platform.text(ofError: 2))", path: path)
            }
            guard FileSystem.isDirectory(FileSystem.parent(of: path)) else {
                throw RealmError(
                    .fileNotFound, "Failed to open file at path '\(path)': parent directory does not exist", path: path)
            }
            return nil
        }
        let file = try DatabaseFile(
            path: path, access: writing ? .readWrite : .readOnly, needsSlab: writing, encryption: encryption)
        let isUnfinished = writing ? try file.isUnfinished() : false
        if !isUnfinished, try file.file.size() > 0 {
            // For an encrypted file a key that fits is enough: other errors are found in the session, and its lock file
            // is removed again.
            if !file.isEncrypted { try checkFormat(try file.newestState(readOnly: !writing).state) }
        } else if !writing {
            throw RealmError(
                .invalidDatabase, "Failed to open Realm file at path '\(path)': Read-only access to empty Realm file",
                path: path)
        }
        return file
    }

    // MARK: Under the control lock

    /// The result of entering.
    struct Entered {
        let file: DatabaseFile

        /// Format of the snapshots.
        let format: UInt8

        /// The version that this member made the header lead to; nil when it is not the first member, or cannot write.
        var settled: SharedState.Version?
    }

    /// The number of times, a millisecond apart, that an open checks whether a member without a claim has ended.
    private static let mostClaimChecks = 100

    /// Enters the session. Locks decide which member is the first, never the content of the lock file.
    /// - Parameters:
    ///   - early: the file that `look` opened.
    ///   - mark: of the database that is being opened, which becomes the last writer.
    func enter(_ lock: LockFile, _ early: DatabaseFile?, mark: UInt64) throws(RealmError) -> Entered {
        let shared = lock.shared
        let file = try opened(early)
        let part = LockFile.Part(durability, isWriter: writing)
        let claim = try lock.claim(path, try file.file.identity())
        lock.hold(claim)
        // A member that has entered has claimed the file of the session, and releases the claim last. So if the claim
        // is tested first and a member is found afterwards, the claim shows that this member has this file. But the
        // operating system closes the files of a killed process in any order, and may have closed only some of them:
        // this state ends by itself.
        var isFirst = false, isOfThisFile = false
        for attempt in 0..<Self.mostClaimChecks where !isFirst && !isOfThisFile {
            if attempt > 0 { Platform.sleep(microseconds: 1000) }
            isOfThisFile = lock.isClaimedByOthers(claim)
            isFirst = !lock.isEntered
        }
        guard isFirst || isOfThisFile else {
            throw RealmError(
                .incompatibleSession,
                "The Realm file at path '\(path)' is not the one that other programs have open: it was replaced meanwhile. Close it there first",
                path: path)
        }
        guard isFirst || lock.agree(with: part) else {
            throw RealmError(
                .incompatibleSession, "Durability not consistent: the file is open elsewhere with another durability",
                path: path)
        }
        // A process that was killed while it rewrote the file left its copy behind.
        if isFirst && writing { _ = try? FileSystem.remove(Database.compactionSpace(path)) }
        let isNew = try make(file, isFirst: isFirst)
        var (state, isSelected) = try newestState(file, shared, isFirst: isFirst)
        try checkFormat(state)
        if writing && isFirst && !isNew { FormatUpgrade.keepBackup(path, format: state.format) }
        // A file that is upgraded by a copy stays unchanged.
        let staysAsItIs = OldFormats.isRead(state.format)
        if state.isStreaming && writing && !staysAsItIs {
            try file.convertFromStreaming(state)
            state = try file.validate(readOnly: false)
        }
        if isFirst {
            if writing && !staysAsItIs { try settle(file, &state, isSelected: isSelected) }
            if !lock.isFresh || shared.newestNumber != 0 { shared.begin() }
            shared.publish(SharedState.Version(state))
            // What this member knows of the header stays valid until another process writes.
            if writing { shared.lastWriter.store(mark) }
            shared.isUncertain = !isNew
        }
        if writing && !staysAsItIs { try file.settleSecret() }
        try lock.enter(as: part)
        return Entered(
            file: file, format: state.snapshotFormat, settled: isFirst && writing ? SharedState.Version(state) : nil)
    }

    /// The file in its present state: until the control lock was taken, other processes could make, remove or replace
    /// it, or change its key.
    private func opened(_ early: DatabaseFile?) throws(RealmError) -> DatabaseFile {
        if let early, try FileSystem.identity(path) == early.file.identity(), try early.isStillAsOpened() {
            return early
        }
        let access: FileDescriptor.Access = writing ? .readWriteCreate : .readOnly
        return try DatabaseFile(path: path, access: access, needsSlab: writing, encryption: encryption, earlier: early)
    }

    /// Makes an empty database in a file without content. Returns whether it did.
    private func make(_ file: DatabaseFile, isFirst: Bool) throws(RealmError) -> Bool {
        if isFirst && durability == .memoryOnly { try file.emptyForMemory() }
        if isFirst && writing, try file.isUnfinished() { try file.file.truncate(to: 0) }
        guard try file.file.size() == 0 else { return false }
        guard writing else { throw file.invalid("Read-only access to empty Realm file") }
        do throws(RealmError) { try file.initialize(durable: durability == .full) } catch {
            try? file.file.truncate(to: 0)
            throw error
        }
        if durability == .full { try FileSystem.synchronizeFolder(of: path) }
        return true
    }

    /// The newest state of the file, and whether the header leads to it.
    private func newestState(
        _ file: DatabaseFile, _ shared: SharedState, isFirst: Bool
    ) throws(RealmError) -> (state: DatabaseFile.State, isSelected: Bool) {
        // The member that opened the file first may have been unable to write: then the header leads to an older state
        // or to no state.
        if !isFirst, let found = try? file.validate(readOnly: !writing), shared.newest()?.topRef == found.topRef {
            return (found, true)
        }
        return try file.newestState(readOnly: !writing)
    }

    /// Makes the header lead to the newest state, and the file end where that state says.
    private func settle(_ file: DatabaseFile, _ state: inout DatabaseFile.State, isSelected: Bool) throws(RealmError) {
        var isSelected = isSelected
        // At most two commits are ahead of the header; the second is found when the first has been selected.
        for _ in 0..<4 where !isSelected {
            try file.select(state)
            (state, isSelected) = try file.newestState(readOnly: false)
        }
        if try file.align(state) { state = try file.validate(readOnly: false) }
    }

    private func checkFormat(_ state: DatabaseFile.State) throws(RealmError) {
        try state.checkFormat(path: path, writing: writing, upgrades: upgrades)
    }
}

extension SharedState.Version {
    /// The version of a state that was found in the file.
    init(_ state: DatabaseFile.State) {
        self.init(
            number: state.version, topRef: state.topRef,
            logicalSize: state.isStreaming ? state.physicalSize : state.logicalSize)
    }
}

extension DatabaseFile.State {
    /// The format for reading and writing: a file to which nothing was committed gets the newest format.
    var snapshotFormat: UInt8 { format == 0 ? Format.currentVersion : format }

    /// Checks the rules for format and history. Format: storage §1.4, §6.2.
    func checkFormat(path: String, writing: Bool, upgrades: Bool) throws(RealmError) {
        if topRef.isNull && format == 0 { return }
        guard Format.isReadable(format) else {
            let remedy =
                format > Format.currentVersion
                ? "it was written by a newer library; open it with that one"
                : "open it once with a version of Realm that still reads this format and upgrades it, or restore a backup of an upgraded file"
            throw RealmError(
                .unsupportedFileFormat,
                "The Realm file at path '\(path)' has format \(format), and formats 2 to 11 and 20 to 24 can be opened: \(remedy)",
                path: path)
        }
        guard writing else { return }
        guard historyType == History.Kind.none || historyType == History.Kind.inRealm else {
            throw RealmError(
                .incompatibleHistories,
                "Incompatible histories. The file has history type '\(History.name(historyType))', but is being opened in local history mode. "
                    + "Synchronized Realms cannot be opened in non-sync mode, and vice versa.", path: path)
        }
        guard historySchemaVersion <= History.schemaVersion else {
            throw RealmError(
                .incompatibleHistories, "Unexpected future history schema version \(historySchemaVersion)", path: path)
        }
        guard format == Format.currentVersion || upgrades else {
            throw RealmError(
                .formatUpgradeRequired,
                "The Realm file format must be allowed to be upgraded in order to proceed: "
                    + "the file has format \(format), \(Format.currentVersion) is needed for writing",
                path: path)
        }
    }
}
