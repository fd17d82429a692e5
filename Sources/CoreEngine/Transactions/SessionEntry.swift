/// How a process comes into the session of a file: what is looked at before a lock file appears beside it, and what is
/// done under the control lock, by the first member for all that follow.
///
/// The first member finds the newest state, makes the header lead to it, cuts or completes the end of the file and
/// publishes that state. Later ones take what is published, after they have seen that it is the same file, in a format
/// and with a durability that they share. Order of the steps: docs/commit-and-locking.md.
struct SessionEntry {
    let path: String
    let durability: Durability
    let upgrades: Bool
    let encryption: Encryption?

    /// Whether the file is opened for writing, and made when it is missing.
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

    // MARK: Before

    /// Opens the file, before the session is joined, to see whether it can be opened at all; nil when it is not there
    /// and may be made.
    func look() throws(RealmError) -> DatabaseFile? {
        guard FileSystem.exists(path) else {
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
            // A key that fits says enough: what else could be wrong is found in the session, and its lock file goes
            // again.
            if !file.isEncrypted { try checkFormat(try file.newestState(readOnly: !writing).state) }
        } else if !writing {
            throw RealmError(
                .invalidDatabase, "Failed to open Realm file at path '\(path)': Read-only access to empty Realm file",
                path: path)
        }
        return file
    }

    // MARK: Under the control lock

    /// What became of entering.
    struct Entered {
        let file: DatabaseFile

        /// Format of the snapshots.
        let format: UInt8

        /// The version that this member made the header lead to; nil where it is not the first, or cannot write.
        var settled: SharedState.Version?
    }

    /// Who is first is a matter of locks, and never of what stands in the lock file.
    /// - Parameters:
    ///   - early: what `look` opened.
    ///   - mark: of the database that is being opened, as the one that writes.
    func enter(_ lock: LockFile, _ early: DatabaseFile?, mark: UInt64) throws(RealmError) -> Entered {
        let shared = lock.shared
        let file = try opened(early)
        let part = LockFile.Part(durability, isWriter: writing)
        let claim = try lock.claim(path, try file.file.identity())
        lock.hold(claim)
        var isFirst = !lock.isEntered
        // Who has entered has claimed the file that the session is about, and gives the claim up last.
        if !isFirst, !lock.isClaimedByOthers(claim) { isFirst = !lock.isEntered }
        guard isFirst || lock.isClaimedByOthers(claim) else {
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
        let isNew = try make(file, isFirst: isFirst)
        var (state, isSelected) = try newestState(file, shared, isFirst: isFirst)
        try checkFormat(state)
        if writing && isFirst && !isNew { FormatUpgrade.keepBackup(path, format: state.format) }
        // What is to be upgraded by a copy stays as it is.
        let staysAsItIs = OldFormats.isRead(state.format)
        if state.isStreaming && writing && !staysAsItIs {
            try file.convertFromStreaming(state)
            state = try file.validate(readOnly: false)
        }
        if isFirst {
            if writing && !staysAsItIs { try settle(file, &state, isSelected: isSelected) }
            if !lock.isFresh || shared.newestNumber != 0 { shared.begin() }
            shared.publish(SharedState.Version(state))
            // What is known of the header so far stays known until another process writes.
            if writing { shared.lastWriter.store(mark) }
            shared.isUncertain = !isNew
        }
        if writing && !staysAsItIs { try file.settleSecret() }
        try lock.enter(as: part)
        return Entered(
            file: file, format: state.snapshotFormat, settled: isFirst && writing ? SharedState.Version(state) : nil)
    }

    /// The file as it is now: until the control lock was taken others could make, remove or replace it, or change its
    /// key.
    private func opened(_ early: DatabaseFile?) throws(RealmError) -> DatabaseFile {
        if let early, try FileSystem.identity(path) == early.file.identity(), try early.isStillAsOpened() {
            return early
        }
        let access: FileDescriptor.Access = writing ? .readWriteCreate : .readOnly
        return try DatabaseFile(path: path, access: access, needsSlab: writing, encryption: encryption, earlier: early)
    }

    /// Makes an empty database of a file without content. Whether it did.
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
        // Whoever opened it first may have been unable to write: then the header leads to an older state, or to none.
        if !isFirst, let found = try? file.validate(readOnly: !writing), shared.newest()?.topRef == found.topRef {
            return (found, true)
        }
        return try file.newestState(readOnly: !writing)
    }

    /// Makes the header lead to the newest state, and the file end where that says.
    private func settle(_ file: DatabaseFile, _ state: inout DatabaseFile.State, isSelected: Bool) throws(RealmError) {
        var isSelected = isSelected
        // Two commits at most are ahead of the header; the next is found when the one before is in its place.
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
    /// The format of what is read and written of it: a file to which nothing was committed takes the newest.
    var snapshotFormat: UInt8 { format == 0 ? Format.currentVersion : format }

    /// Format and history rules. Format: storage §1.4, §6.2.
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
