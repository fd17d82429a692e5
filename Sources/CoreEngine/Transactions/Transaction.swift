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

    /// The file. Valid until `close`.
    unowned(unsafe) package let database: Database
    private var keptDatabase: Database?
    let store: NodeStore

    /// A view of a file of an older format, with a slab for the nodes that are made from it; nil for files that need no
    /// translation.
    private var view: DatabaseFile?

    /// The translated snapshot of such a file, while there is a snapshot.
    var old: OldSnapshot?
    package private(set) var stage = Stage.idle { didSet { isWriting.store(stage == .writing, ordering: .relaxed) } }

    /// Readable on any thread.
    package let isWriting = Atomic(false)

    /// The pin of the snapshot; while writing, of the snapshot on which the write builds. nil without a snapshot.
    package private(set) var pin: Pin?

    /// Version of the snapshot, or of the previous one while there is none.
    package private(set) var version: UInt64 = 0
    var topRef: Ref { pin?.state.topRef ?? .null }
    var logicalSize: Int { pin?.state.logicalSize ?? 0 }
    let group: Group

    /// Made by the first write.
    private var encoder: ChangesetEncoder?

    /// Set when the write in progress can only be rolled back: a change failed halfway, so that nodes may be
    /// inconsistent.
    private(set) var damage: RealmError? { didSet { isDamaged = damage != nil } }
    private(set) var isDamaged = false

    /// Can end long calls of this transaction early; nil: they always finish.
    /// What the last commit of this instance wrote.
    package private(set) var lastWork = CommitWork()
    package var interruption: Interruption? { didSet { store.use(interruption) } }

    /// The policy by which commits of this transaction shrink the file; and the bytes that the next commit moves to
    /// shrink it, whatever the policy says.
    package var shrinkingPolicy = ShrinkingPolicy()
    package var shrinkingStep: Int?

    /// The bytes that commits of this transaction have moved to make the file shorter.
    var movedBytes = 0

    /// How many seconds this transaction waits for the write lock; nil: no limit.
    package var lockTimeout: Double?

    /// Identifies the owner of the write lock while this transaction writes: the `place` of the Realm's scheduler (a
    /// thread, queue or actor), or 0 for the calling thread. Setting it passes a lock that is held to the new owner.
    package var place: UInt = 0 {
        didSet { if holdsLock { database.moveWriting(from: Self.owner(oldValue), to: Self.owner(place)) } }
    }

    /// The number under which the write lock is held.
    private static func owner(_ place: UInt) -> UInt { place == 0 ? Platform.threadId : place }

    /// The pin that made the file grow too far in the last commit, if the program was not warned of it before.
    var costlyPin: PinnedVersion?

    /// Shared by the handles of the objects that this write made before its first savepoint; nil if it made no object.
    private var creation: Creation?

    /// The creations of released savepoints: a rollback undoes them, too.
    private var releasedCreations: [Creation] = []

    /// The open savepoints, outermost first.
    private var savepoints: [Savepoint] = []

    /// How often a part of the write in progress, or a write, was undone.
    private(set) var undoneParts = 0

    /// The number of open savepoints.
    package var savepointDepth: Int { savepoints.count }

    private struct Savepoint {
        let slab: NodeStore.SlabMark
        let changes: ChangesetEncoder.Mark
        let content: Group.Mark

        /// Shared by the handles of the objects made in this part, before the next savepoint.
        var creation: Creation?
        var released: [Creation] = []
    }

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

    /// Reads the snapshot of a pin; any number of transactions may do so.
    package convenience init(reading pin: Pin) throws(RealmError) {
        try self.init(pin.database)
        try beginRead(at: pin)
    }

    /// A transaction that is closed from the start, for a user who reads through other transactions.
    package init(closedOf database: Database) throws(RealmError) {
        self.database = database
        view = nil
        store = NodeStore(space: database.file.space, fileLimit: Format.headerSize)
        group = try Group(store, format: database.format, names: .null, tables: .null)
        stage = .closed
        store.letGo()
    }

    deinit { close() }

    /// Ends everything that is open, permanently, and releases the file; a write in progress is rolled back.
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

    /// The file was replaced by a copy of itself. Nothing that was read before may be used any more.
    func fileChanged() {
        group.forgetTables()
        store.changeFile(database.file.pages)
    }

    /// The creation of an object that this write made; nil for older objects.
    @inline(__always) package func creation(_ table: TableKey, _ object: ObjKey) -> Creation? {
        guard stage == .writing, let unmanaged = try? group.unmanagedTable(table),
            unmanaged._withUnsafeGuaranteedRef({ $0.isNew(object) })
        else { return nil }
        for i in savepoints.indices.reversed() {
            let isOlder = unmanaged._withUnsafeGuaranteedRef { savepoints[i].content.isMade(object, in: $0) }
            if isOlder { continue }
            if let creation = savepoints[i].creation { return creation }
            let new = Creation()
            savepoints[i].creation = new
            return new
        }
        if let creation { return creation }
        let new = Creation()
        creation = new
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

    /// Moves to the newest version; true when the version changed. When `accept` throws, the snapshot stays unchanged.
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

    /// Reads the pinned snapshot again after an error. Until that succeeds the transaction accepts no other call than
    /// this one and `endRead`.
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

    /// Whether the write in progress has made a change that its changeset contains.
    package var hasChanges: Bool { stage == .writing && ((try? encoder?.bytes.count) ?? 1) > 0 }

    /// The instructions of the write in progress so far. Valid until the next change.
    var changeset: Bytes {
        get throws(RealmError) {
            guard let encoder else { return Bytes(start: nil, count: 0) }
            return try encoder.bytes
        }
    }

    /// The integers of the write in progress that were changed by adding.
    var additions: [ChangesetEncoder.Addition] { encoder?.additions ?? [] }

    /// The write in progress stores what a hub sent: it is not marked as this device's own change, and no time or
    /// revision is stamped.
    package var isApplying = false

    /// What the layer Sync remembers between a request and its reply.
    package var syncState: AnyObject?

    /// Ends a transaction that only reads.
    func endReading() { close() }

    /// The pin of the snapshot, for a user who keeps it; nil while there is none.
    package var sharedPin: Pin? { pin.flatMap { $0.share() ? $0 : nil } }

    /// Passes the changes after version `base`, which must be pinned, up to the snapshot's version to `handler`.
    func replay(since base: UInt64, _ handler: some ChangesetHandler) throws(RealmError) {
        guard base < version, !topRef.isNull else { return }
        let top = try database.file.topFields(store, topRef, physicalSize: logicalSize)
        guard top.historyType == History.Kind.inRealm else { throw .corrupt("a file without history") }
        try History.replay(store, root: top.history, from: base, to: version, handler)
    }

    // MARK: Writing

    /// Takes the write lock and moves to the newest version. True when the version changed.
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
            try group.readRules()
            store.beginWrite(slabCommitted: database.takeSlab(), recent: database.recent.places(before: version))
            encoder.reset()
            encoder.notesAdditions = try group.table(named: MarkNames.settings) != nil
            group.log = encoder
            isApplying = false
            damage = nil
            stage = .writing
            return before != version
        } catch {
            if !keepsLock { releaseLock() }
            throw error
        }
    }

    /// Undoes the changes: the snapshot is again what it was when the write began.
    func rollback() throws(RealmError) {
        guard stage == .writing else {
            throw RealmError(.wrongTransactionState, "Can't cancel a non-existing write transaction")
        }
        undoneParts += 1
        creation?.isUndone = true
        for released in releasedCreations { released.isUndone = true }
        for savepoint in savepoints { Self.undo(savepoint) }
        endWrite()
        stage = .interrupted
        if !keepsLock, !database.hasUnflushed { releaseLock() }
        try restore()
    }

    // MARK: Savepoints

    /// The largest number of open savepoints.
    private static let maxSavepoints = 1000

    /// Begins a part of the write that can be undone alone.
    /// - Parameter isOwn: true for a savepoint that the library makes for itself: the limit for savepoints of the
    ///   program does not apply.
    /// - Returns: the number of the savepoint, from 1.
    package func beginSavepoint(isOwn: Bool = false) throws(RealmError) -> Int {
        guard stage == .writing, let encoder else {
            throw RealmError(.wrongTransactionState, "Can't begin a savepoint outside of a write transaction")
        }
        if let damage { throw damage }
        guard isOwn || savepoints.count < Self.maxSavepoints else {
            throw RealmError(.limitExceeded, "More than \(Self.maxSavepoints) open savepoints")
        }
        do throws(RealmError) {
            let content = try group.mark()
            savepoints.append(Savepoint(slab: store.beginPart(), changes: encoder.mark(), content: content))
            group.closeNodes()
        } catch {
            damage = error
            throw error
        }
        return savepoints.count
    }

    private func openSavepoint(_ number: Int) throws(RealmError) -> Savepoint {
        guard stage == .writing else {
            throw RealmError(.wrongTransactionState, "Savepoints exist only inside a write transaction")
        }
        guard 1...max(1, savepoints.count) ~= number, number <= savepoints.count else {
            throw RealmError(.invalidArgument, "Savepoint \(number) is not open")
        }
        return savepoints[number - 1]
    }

    /// Ends a savepoint and those inside it, and keeps their changes.
    package func releaseSavepoint(_ number: Int) throws(RealmError) {
        let savepoint = try openSavepoint(number)
        if let damage { throw damage }
        var released: [Creation] = []
        for inner in savepoints[(number - 1)...] {
            released += inner.released
            if let creation = inner.creation { released.append(creation) }
        }
        savepoints.removeSubrange((number - 1)...)
        if savepoints.isEmpty {
            releasedCreations += released
        } else {
            savepoints[savepoints.count - 1].released += released
        }
        store.keepPart(savepoint.slab)
        group.closeNodes()
    }

    /// Undoes all changes since a savepoint began, and ends it and those inside it. A change that failed halfway since
    /// then is undone, too.
    package func rollbackSavepoint(_ number: Int) throws(RealmError) {
        let savepoint = try openSavepoint(number)
        for inner in savepoints[(number - 1)...] { Self.undo(inner) }
        savepoints.removeSubrange((number - 1)...)
        undoneParts += 1
        encoder?.undo(to: savepoint.changes)
        store.undoPart(savepoint.slab)
        damage = nil
        do throws(RealmError) { try group.open(savepoint.content) } catch {
            damage = error
            throw error
        }
    }

    private static func undo(_ savepoint: Savepoint) {
        savepoint.creation?.isUndone = true
        for released in savepoint.released { released.isUndone = true }
    }

    /// Whether this transaction has the write lock: while it writes, and between the writes of a *round* (asynchronous
    /// writes that are made one after the other under one hold of the lock).
    package private(set) var holdsLock = false

    /// Keep the lock for the next write when a write ends.
    package var keepsLock = false

    /// Releases a lock that was kept.
    package func releaseLock() {
        guard holdsLock, stage != .writing else { return }
        holdsLock = false
        database.unlockForWriting()
    }

    /// Passes the lock on to the caller of `Database.flushAndUnlock`.
    package func handOverLock() {
        holdsLock = false
        database.noteFlushing()
    }

    /// Begins a change, which may be a part of another one. Returns the state of the outer change, for `endChange`.
    @inline(__always) func startChange() -> Bool {
        let before = store.isTouched
        store.isTouched = false
        return before
    }

    @inline(__always) func endChange(_ before: Bool) { if before { store.isTouched = true } }

    /// Notes that a change failed. An argument is refused before the first node is touched. A later error, or one that
    /// no argument caused, may leave inconsistent nodes.
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
        creation = nil
        savepoints = []
        releasedCreations = []
        group.log = nil
        group.forgetRules()
        database.returnSlab(store.endWrite())
    }

    /// Writes the changes as the next version and stays at that version, reading. If it fails, the transaction is
    /// rolled back and the content of the file is unchanged.
    ///
    /// - Parameter flushing: false when `Database.flush` will make the version durable later, together with the
    ///   versions that follow; until then the lock is kept. No difference for encrypted files, which cannot delay the
    ///   flush, and for files that are never flushed.
    func commit(flushing: Bool = true) throws(RealmError) {
        guard stage == .writing else {
            throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction")
        }
        // A child process has a copy of its parent's transaction, but must not commit it.
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
            database.shrinking.abandon(error)
            try? rollback()
            throw error
        }
        endWrite()
        stage = .interrupted
        // The commit is done, whatever happens now. While the write lock is held, the newest version is this one, and
        // the pin moves to it. If there is no slot for that, the next call begins a new snapshot; a snapshot that
        // cannot be read is read again by the next call, which reports the error.
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
        // A commit must not build on what remains of a truncated file.
        try file.verifyLength(logicalSize)
        try file.cutRemainder()
        try cutEnd()
        let physical = try file.dataSize()
        try group.flush()
        if group.tablesRef.isNull {
            // The very first commit, without any table: the arrays are still needed.
            guard topRef.isNull else {
                throw RealmError(
                    .brokenInvariant, "A commit without the tables of the version before", path: database.path)
            }
            group.isModified = true
            try group.flush()
        }
        let pinned = database.pinnedVersions(below: version)
        // Before the first byte is written: if the pin is lost, pages that a reader needs may look free.
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
        // Space that the previous version needs was freed by the base version, and stays locked for one more commit in
        // any case.
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
        // Other engines leave no such place, or use it for something else.
        if !free.isLocked(recordPlace, version: next) { recordAt = 0 }
        try store.free(topRef)
        for list in [top.freeLists.positions, top.freeLists.lengths, top.freeLists.versions] { try store.free(list) }

        var roots = [group.namesRef, group.tablesRef, history]
        let plan = try shrink(&roots, &free, isPinned: !pinned.isEmpty)
        var writer = try CommitWriter(
            store, file, free: free, logicalSize: used, physicalSize: physical, roots: roots,
            leavesRecord: leavesRecord, recordAt: recordAt,
            cutting: plan.map { ($0.cutoff, atLeast: $0.leastGain) }, hasShrunk: database.shrinking.hasShrunk)
        var slots = [RefOrTagged](repeating: RefOrTagged(.null), count: 11)
        slots[0] = RefOrTagged(try writer.write(roots[0]))
        slots[1] = RefOrTagged(try writer.write(roots[1]))
        let objectBytes = writer.written
        slots[7] = RefOrTagged(tagged: History.Kind.inRealm)
        slots[8] = RefOrTagged(try writer.write(roots[2]))
        slots[9] = RefOrTagged(tagged: History.schemaVersion)
        slots[10] = RefOrTagged(tagged: top.syncFileId)
        let nodeBytes = writer.written
        var result = try writer.finish(slots: slots, version: next)
        (result.work.objects, result.work.history) = (objectBytes, nodeBytes - objectBytes)
        result.work.freeLists = writer.written - nodeBytes
        lastWork = result.work
        if result.logicalSize > logicalSize, let oldest = pinned.first {
            noteCost(of: oldest, free, newSize: result.logicalSize)
        }
        return try database.publish(
            result, onto: CommitRecord(behind: topRef, version: version), recordAt: recordAt,
            // A commit that moves nodes is flushed alone.
            flushing: flushing || plan != nil)
    }

    /// The top array that the commit builds upon; the first commit has none. Parts of it that the next top array does
    /// not contain are destroyed: a history of another kind, and the evacuation state of realm-core.
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
