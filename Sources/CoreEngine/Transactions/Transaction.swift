import Synchronization

/// A reader of one version at a time, which may also write: the state behind one Realm instance. Format: storage §5.5.
///
/// Thread rule: one thread at a time.
package final class Transaction {
    package enum Stage {
        case idle, reading, writing, closed
        /// The snapshot is pinned, but it could not be read (again): `restore` tries once more.
        case interrupted
    }

    /// The file. Good until `close`, which lets go of it.
    unowned(unsafe) package let database: Database
    private var keptDatabase: Database?
    let store: NodeStore

    /// A view of a file of an older format, with room for the nodes that are made of it; nil for files that are read as
    /// they are.
    private var view: DatabaseFile?

    /// What is read of such a file, while there is a snapshot.
    var old: OldSnapshot?
    package private(set) var stage = Stage.idle { didSet { isWriting.store(stage == .writing, ordering: .relaxed) } }

    /// For any thread.
    package let isWriting = Atomic(false)

    /// The snapshot; the one being written on top of, while writing. nil while there is none.
    package private(set) var pin: Pin?

    /// Version of the snapshot, or of the one before while there is none.
    package private(set) var version: UInt64 = 0
    var topRef: Ref { pin?.state.topRef ?? .null }
    var logicalSize: Int { pin?.state.logicalSize ?? 0 }
    let group: Group

    /// The first write makes it.
    private var encoder: ChangesetEncoder?

    /// Why the write in progress can only be rolled back: a change ended halfway, so that nodes may hang between old
    /// and new.
    private(set) var damage: RealmError? { didSet { isDamaged = damage != nil } }
    private(set) var isDamaged = false

    /// What may end its long calls; nil: nothing does.
    package var interruption: Interruption? { didSet { store.use(interruption) } }

    /// Seconds that it waits for the write lock; nil: for ever.
    package var lockTimeout: Double?

    /// What writes, and holds the write lock: the scheduler's `place`; 0, where there is no scheduler: the thread. A
    /// change takes the lock along.
    package var place: UInt = 0 {
        didSet { if holdsLock { database.moveWriting(from: Self.owner(oldValue), to: Self.owner(place)) } }
    }

    /// What the write lock is held by.
    private static func owner(_ place: UInt) -> UInt { place == 0 ? Platform.threadId : place }

    /// The pin for which the last commit made the file grow too far, unless that was told before.
    var costlyPin: PinnedVersion?

    /// What handles of the objects made in this write share; nil while there are none.
    private var birth: Birth?

    init(_ database: Database) throws(RealmError) {
        database.enter()
        self.database = database
        keptDatabase = database
        do {
            let view =
                OldFormats.isRead(database.format) ? try DatabaseFile(viewing: database.file, needsSlab: true) : nil
            let file = view ?? database.file
            self.view = view
            store = NodeStore(space: file.space, fileLimit: Format.headerSize, pages: file.pages)
            group = try Group(store, format: database.format, names: .null, tables: .null)
        } catch {
            database.leave()
            throw error
        }
    }

    /// Reads the snapshot of a pin, as any number of others may.
    package convenience init(reading pin: Pin) throws(RealmError) {
        try self.init(pin.database)
        try beginRead(at: pin)
    }

    /// One that is closed from the start: for whoever reads through others.
    package init(closedOf database: Database) throws(RealmError) {
        self.database = database
        view = nil
        store = NodeStore(space: database.file.space, fileLimit: Format.headerSize)
        group = try Group(store, format: database.format, names: .null, tables: .null)
        stage = .closed
        store.letGo()
    }

    deinit { close() }

    /// Ends whatever is open for good, and lets go of the file; a write in progress is rolled back.
    func close() {
        if stage == .closed { return }
        if stage == .writing { try? rollback() }
        endRead()
        database.leave()
        stage = .closed
        store.letGo()
        view = nil
        keptDatabase = nil
    }

    /// The file was replaced by a copy of itself. Nothing read before may be used any more.
    func fileChanged() {
        group.forgetTables()
        store.changeFile(database.file.pages)
    }

    /// The birth of an object that this write made; nil for those that were there before.
    @inline(__always) package func birth(_ table: TableKey, _ object: ObjKey) -> Birth? {
        guard stage == .writing, let unmanaged = try? group.unmanagedTable(table),
            unmanaged._withUnsafeGuaranteedRef({ $0.isNew(object) })
        else { return nil }
        if let birth { return birth }
        let new = Birth()
        birth = new
        return new
    }

    // MARK: Reading

    /// Begins a snapshot at the newest version.
    func beginRead() throws(RealmError) {
        guard stage == .idle else { return }
        try database.verifyWhole()
        try beginRead(at: try Pin(newestOf: database))
    }

    /// Begins a snapshot at a version that is pinned already.
    package func beginRead(at pin: Pin) throws(RealmError) {
        guard stage == .idle else { return }
        do throws(RealmError) {
            try database.verifyFormat()
            try adopt(pin)
        } catch {
            group.forgetTables()
            throw error
        }
        stage = .reading
    }

    func endRead() {
        guard stage == .reading || stage == .interrupted else { return }
        group.forgetTables()
        store.rest()
        old = nil
        pin = nil
        stage = .idle
    }

    /// Moves to the newest version; true when that is another one. Where `accept` throws the snapshot stays what it
    /// was.
    func refresh(accepting accept: (Transaction) throws(RealmError) -> Void = { _ in }) throws(RealmError) -> Bool {
        guard stage == .reading else { return false }
        try database.verifyWhole()
        guard database.newestVersion != version else { return false }
        // The old version stays pinned until the new one is accepted.
        let old = pin, new = try Pin(newestOf: database)
        guard new.version != version else { return false }
        do {
            try database.verifyFormat()
            try adopt(new)
            try accept(self)
        } catch {
            pin = old
            version = old?.version ?? 0
            stage = .interrupted
            try restore()
            throw error
        }
        return true
    }

    /// Reads the pinned snapshot again after an error. Until that succeeds the transaction takes no call but this and
    /// `endRead`.
    package func restore() throws(RealmError) {
        guard stage == .interrupted, let pin else { return }
        group.forgetTables()
        try adopt(pin)
        stage = .reading
    }

    private func adopt(_ new: Pin) throws(RealmError) {
        let state = new.state
        if state.topRef.isNull {
            store.move(toFileLimit: Format.headerSize, version: state.number)
            try group.load(names: .null, tables: .null)
        } else {
            try (view ?? database.file).ensureMapped(state.logicalSize)
            store.move(toFileLimit: state.logicalSize, version: state.number, top: state.topRef)
            var top = try database.file.topFields(store, state.topRef, physicalSize: state.logicalSize)
            guard top.version == state.number else {
                throw RealmError(
                    .brokenInvariant, "The lock file is damaged: it contradicts the file", path: database.path)
            }
            if view != nil { try translate(&top) }
            try group.load(names: top.names, tables: top.tables)
            group.syncFileId = top.syncFileId
        }
        try database.verifyWhole()
        pin = new
        version = state.number
    }

    /// Whether the write in progress has changed anything that its changeset tells of.
    package var hasChanges: Bool { stage == .writing && ((try? encoder?.bytes.count) ?? 1) > 0 }

    /// The pin of the snapshot, to be kept; nil while there is none.
    package var sharedPin: Pin? { pin.flatMap { $0.share() ? $0 : nil } }

    /// Lets `handler` hear what the versions after `base`, which is pinned, up to that of the snapshot did.
    func replay(since base: UInt64, _ handler: some ChangesetHandler) throws(RealmError) {
        guard base < version, !topRef.isNull else { return }
        let top = try database.file.topFields(store, topRef, physicalSize: logicalSize)
        guard top.historyType == History.Kind.inRealm else { throw .corrupt("a file without history") }
        try History.replay(store, root: top.history, from: base, to: version, handler)
    }

    // MARK: Writing

    /// Takes the write lock and moves to the newest version. True when that is another one.
    func beginWrite(accepting accept: (Transaction) throws(RealmError) -> Void = { _ in }) throws(RealmError) -> Bool {
        guard stage != .writing else {
            throw RealmError(.wrongTransactionState, "The Realm is already in a write transaction")
        }
        try restore()
        guard database.isWritable else {
            throw RealmError(.wrongTransactionState, "Can't perform transactions on read-only Realms.")
        }
        if holdsLock {
            do throws(RealmError) { try database.settleFailures() } catch {
                if !keepsLock { releaseLock() }
                throw error
            }
        } else {
            try database.lockForWriting(Patience(seconds: lockTimeout, interruption), at: Self.owner(place))
            holdsLock = true
        }
        do {
            let before = stage == .reading ? version : 0
            if stage == .idle { try beginRead() } else { _ = try refresh(accepting: accept) }
            let encoder: ChangesetEncoder
            if let known = self.encoder { encoder = known } else { encoder = ChangesetEncoder(try HiddenMemory(4096)) }
            self.encoder = encoder
            store.beginWrite(slabCommitted: database.takeSlab())
            encoder.reset()
            group.log = encoder
            damage = nil
            stage = .writing
            return before != version
        } catch {
            if !keepsLock { releaseLock() }
            throw error
        }
    }

    /// Takes the changes back: the snapshot is again what it was when the write began.
    func rollback() throws(RealmError) {
        guard stage == .writing else {
            throw RealmError(.wrongTransactionState, "Can't cancel a non-existing write transaction")
        }
        birth?.isUndone = true
        endWrite()
        stage = .interrupted
        if !keepsLock, !database.hasUnflushed { releaseLock() }
        try restore()
    }

    /// Whether this transaction has the write lock: while it writes, and between the writes of a round.
    package private(set) var holdsLock = false

    /// The lock stays when a write ends, for the next one.
    package var keepsLock = false

    /// Gives back a lock that was kept.
    package func releaseLock() {
        guard holdsLock, stage != .writing else { return }
        holdsLock = false
        database.unlockForWriting()
    }

    /// The lock goes to whoever calls `Database.flushAndUnlock`.
    package func handOverLock() {
        holdsLock = false
        database.noteFlushing()
    }

    /// A change begins, maybe as a part of another one, whose state is returned.
    @inline(__always) func startChange() -> Bool {
        let before = store.isTouched
        store.isTouched = false
        return before
    }

    @inline(__always) func endChange(_ before: Bool) { if before { store.isTouched = true } }

    /// A change failed. A refusal comes before the first node is touched; an error after that, or one that no argument
    /// is the cause of, leaves nodes between old and new.
    func noteFailure(_ error: RealmError) {
        guard stage == .writing, damage == nil else { return }
        switch error.code {
        case .invalidDatabase, .outOfMemory, .outOfDiskSpace, .addressSpaceExhausted, .fileOperationFailed,
            .brokenInvariant:
            break
        default: if !store.isTouched { return }
        }
        damage = RealmError(
            error.code,
            "An earlier change of this write transaction failed (\(error.message)): it can only be rolled back",
            path: error.path)
    }

    private func endWrite() {
        damage = nil
        birth = nil
        group.log = nil
        database.returnSlab(store.endWrite())
    }

    /// Writes the changes as the next version and stays there, reading. If it fails the transaction is rolled back and
    /// the file means what it meant before.
    ///
    /// - Parameter flushing: false leaves it to `Database.flush` to make the version last, together with those that
    ///   follow; the lock stays until then. Where that cannot be left (encrypted files), or nothing is ever flushed, it
    ///   makes no difference.
    func commit(flushing: Bool = true) throws(RealmError) {
        guard stage == .writing else {
            throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction")
        }
        // A child has a copy of its parent's transaction, and no part in it.
        try database.checkProcess()
        if let damage {
            try? rollback()
            throw damage
        }
        let next = version + 1
        let written: SharedState.Version
        do {
            written = try write(next, flushing: flushing)
        } catch {
            database.file.pages?.abandonWrite()
            try? rollback()
            throw error
        }
        endWrite()
        stage = .interrupted
        // The commit is done whatever happens now. While the write lock is held the newest version is ours: the pin
        // moves to it. When there is no slot for that the next call begins a snapshot; what cannot be read is read
        // again, or complained of, by the next call.
        let new = try? pin?.moved(to: written)
        if flushing || (!keepsLock && !database.hasUnflushed) { releaseLock() }
        guard let new else { return endRead() }
        pin = new
        version = new.version
        if (try? adopt(new)) != nil { stage = .reading }
    }

    private func write(_ next: UInt64, flushing: Bool) throws(RealmError) -> SharedState.Version {
        let file = database.file
        guard next < DatabaseFile.versionLimit else {
            throw RealmError(
                .limitExceeded,
                "The file has reached the last version number: move its objects to a file that is made anew",
                path: database.path)
        }
        // What a file that was cut still holds is not to be built upon.
        try file.verifyLength(logicalSize)
        try file.cutRemainder()
        let physical = try file.dataSize()
        try group.flush()
        if group.tablesRef.isNull {
            // The very first commit, without any table: the arrays exist all the same.
            guard topRef.isNull else {
                throw RealmError(
                    .brokenInvariant, "A commit without the tables of the version before", path: database.path)
            }
            group.isModified = true
            try group.flush()
        }
        let pinned = database.pinnedVersions(below: version)
        // Before the first byte is written: pages that a reader needs may look free.
        try database.verifySession(pin)
        let top = try topBefore()
        let leavesRecord = !file.isEncrypted && database.durability == .full
        var recordAt = try file.recordPlace(behind: topRef, store)
        guard let encoder else {
            throw RealmError(.brokenInvariant, "A commit without a changeset", path: database.path)
        }
        let history = try History.append(
            store, root: top.history, changeset: try encoder.bytes, version: next, oldestLive: pinned.first ?? version)
        var used = topRef.isNull ? Format.headerSize : logicalSize
        let heldBack = file.heldBack(beside: pinned)
        // What the version before the base needs was freed by the base, and stays locked for one commit more in any
        // case.
        database.pinnedSpace.update(heldBack.filter { $0 + 1 < version }) { freeChunks(of: $0) }
        var free = try FreeSpace(
            store, top.freeLists, logicalSize: used, base: version, pinned: heldBack, beside: database.pinnedSpace,
            groupStart: file.unflushed.map { $0.base.baseVersion + 1 },
            pageSize: file.isEncrypted ? file.pageSize : nil)
        let recordPlace = FileChunk(offset: recordAt, size: CommitRecord.size)
        if topRef.isNull, leavesRecord, recordPlace.end <= physical {
            free.lockAtEnd(recordPlace, version: next)
            used = recordPlace.end
        }
        // Other engines leave no such place, or something else where it would be.
        if !free.isLocked(recordPlace, version: next) { recordAt = 0 }
        try store.free(topRef)
        for list in [top.freeLists.positions, top.freeLists.lengths, top.freeLists.versions] { try store.free(list) }

        var writer = try CommitWriter(
            store, file, free: free, logicalSize: used, physicalSize: physical,
            roots: [group.namesRef, group.tablesRef, history],
            leavesRecord: leavesRecord, recordAt: recordAt)
        var slots = [RefOrTagged](repeating: RefOrTagged(.null), count: 11)
        slots[0] = RefOrTagged(try writer.write(group.namesRef))
        slots[1] = RefOrTagged(try writer.write(group.tablesRef))
        slots[7] = RefOrTagged(tagged: History.Kind.inRealm)
        slots[8] = RefOrTagged(try writer.write(history))
        slots[9] = RefOrTagged(tagged: History.schemaVersion)
        slots[10] = RefOrTagged(tagged: top.syncFileId)
        let result = try writer.finish(slots: slots, version: next)
        if result.logicalSize > logicalSize, let oldest = pinned.first {
            noteCost(of: oldest, free, newSize: result.logicalSize)
        }
        return try database.publish(
            result, onto: CommitRecord(behind: topRef, version: version), recordAt: recordAt, flushing: flushing)
    }

    /// The top array that the commit builds upon; the very first has none. What it leads to that the next one does not
    /// have is destroyed: a history of another kind, and what an evacuation of realm-core was about.
    private func topBefore() throws(RealmError) -> DatabaseFile.TopFields {
        guard !topRef.isNull else { return DatabaseFile.TopFields() }
        var top = try database.file.topFields(store, topRef, physicalSize: store.fileLimit)
        guard top.logicalSize == logicalSize else {
            throw RealmError(.brokenInvariant, "The lock file is damaged: it contradicts the file", path: database.path)
        }
        guard top.slotCount < 5 || (!top.freeLists.positions.isNull && !top.freeLists.lengths.isNull) else {
            throw .corrupt("top array without free-space lists", at: topRef.offset)
        }
        if top.historyType != History.Kind.inRealm {
            try store.destroy(top.history)
            top.history = .null
        }
        if !top.evacuation.isNull { try store.destroy(top.evacuation) }
        return top
    }
}
