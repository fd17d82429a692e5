import Synchronization

/// One open Realm: a view of one version of a database, with its schema. A live one moves by `refresh`, `beginWrite` and its own commits; a
/// frozen one never does.
///
/// Thread rule: a live one is used on its scheduler's thread; calls from elsewhere throw 2006, and all calls do when that thread has ended. From
/// any thread: `close`, `isClosed`, `isWriting`, `schema`, `schemaVersion`, `configuration`, `versionCount`, and letting go of it. A frozen one
/// is used on any thread, on many at once.
/// After `close` everything answers with 2014 (or 2010 for objects).
public final class Realm: @unchecked Sendable {  // Everybody comes in through the door (`Door.swift`); the rest is atomic or behind a Lock.
    /// What may be asked on any thread.
    private struct Facts {
        var configuration: RealmConfiguration
        var schema = Schema() { didSet { names = nil } }
        var schemaVersion = ObjectStore.notVersioned
        /// The other names of properties, once a query asked.
        var names: QueryNames?
    }
    private let facts: Lock<Facts>
    public internal(set) var configuration: RealmConfiguration {
        get { facts.with { $0.configuration } }
        set { facts.with { $0.configuration = newValue } }
    }
    /// Where the Realm lives.
    struct Binding {
        var scheduler: any Scheduler
        /// Calls that are inside, counted here while the Realm is in transit.
        var visits = 0
        /// Changing its owner at this moment: nobody comes in.
        var isMoving = false
        /// Put in transit by another thread than its own.
        var isUncertain = false
    }
    let binding: Lock<Binding>
    public var scheduler: any Scheduler { binding.with { $0.scheduler } }
    /// The thread, where the scheduler stands for one; 0 where it must be asked.
    let thread: Atomic<UInt>
    /// The check of the scheduler that it was opened with, where that has one.
    let threadCheck: (@convention(c) (UnsafeMutableRawPointer?) -> Bool)?
    let threadCheckContext: UnsafeMutableRawPointer?
    /// Calls that are inside, one in the other; the own thread's.
    let visits = Atomic(0)
    /// What keeps calls from coming in by plain loads and stores.
    enum Standing { static let closed = 1, inTransit = 2 }
    let standing = Atomic(0)
    /// Differs from the present one when a forked child has inherited the Realm.
    let generation = ForkGuard.generation
    private let hasEnded = Atomic(false)
    let database: Database
    /// What a live Realm reads and writes through; closed from the start in a frozen one.
    package let transaction: Transaction
    /// What a frozen Realm reads through; nil in a live one.
    let frozen: FrozenReaders?
    public internal(set) var schema: Schema {
        get { facts.with { $0.schema } }
        set { facts.with { $0.schema = newValue } }
    }
    /// The other names of properties, for queries.
    var queryNames: QueryNames {
        facts.with { f in
            let names = f.names ?? Self.names(f.schema)
            f.names = names
            return names
        }
    }
    private static func names(_ schema: Schema) -> QueryNames {
        var names = QueryNames()
        for c in schema.classes where !c.key.isNull {
            var aliases: [Name: QueryNames.Alias] = [:]
            for p in c.properties where !p.publicName.isEmpty { aliases[p.publicName] = .property(p.name) }
            for p in c.computedProperties {
                aliases[p.name] = .links(className: p.linkTarget, property: p.linkOrigin)
                if !p.publicName.isEmpty { aliases[p.publicName] = .links(className: p.linkTarget, property: p.linkOrigin) }
            }
            if !aliases.isEmpty { names.aliases[c.key] = aliases }
        }
        return names
    }
    public internal(set) var schemaVersion: UInt64 {
        get { facts.with { $0.schemaVersion } }
        set { facts.with { $0.schemaVersion = newValue } }
    }
    public var isClosed: Bool { standing.load(ordering: .acquiring) & Standing.closed != 0 }
    /// Whether another thread may take the Realm over.
    var isInTransit: Bool { standing.load(ordering: .acquiring) & Standing.inTransit != 0 }
    /// Whether the schema follows the file.
    var isDynamic: Bool
    /// Shape of the tables that `schema` was last bound to.
    var boundShape: [UInt64] = []
    /// The whole schema of the file at that time.
    var boundFile = Schema()
    /// The schema step of opening is done: from now on the live schema follows the file.
    var isOpen = false
    /// A view of the version before a migration: it never moves.
    private let isFixedView: Bool
    /// While a migration or initialization function runs its write transaction belongs to the schema step.
    var callbackGuard = CallbackGuard.none
    enum CallbackGuard { case none, active, violated }
    /// The last move brought another schema: its callbacks are due before the others.
    var schemaMoved = false
    /// Version that a Realm without a schema of its own showed when it was opened, until it begins to read.
    private var shownVersion: UInt64?
    /// Names that the running migration gave to properties.
    var renamed: [(className: Name, property: Name)] = []
    /// Changes with every change of data or version: what handles resolved before is stale.
    package internal(set) var stateCount: UInt64 = 0

    let callbacks = Lock(initial: Callbacks())
    var notifiers = NotifierList()
    /// How deep the callbacks of moves are nested in one another.
    var notifyingDepth = 0
    var isNotifying: Bool { notifyingDepth > 0 }
    /// nil for Realms that move in calls only.
    var turn: Turn?
    /// A turn came while the Realm was writing or its callbacks ran.
    var owesTurn = false
    var asyncWrites = AsyncWrites()
    /// For any thread.
    let hasAsyncWrites = Atomic(false)

    // MARK: Opening

    public convenience init(_ configuration: RealmConfiguration) throws(RealmError) { try self.init(opening: configuration) }

    /// Opens, or finds the cached instance.
    public static func open(_ configuration: RealmConfiguration) throws(RealmError) -> Realm {
        try configuration.check()
        if configuration.asOpened.isCached,
            let cached = try RealmCoordinator.cached(configuration, Name(try FileSystem.canonical(configuration.path)))
        {
            return cached
        }
        let realm = try Realm(opening: configuration)
        return realm
    }

    private init(opening given: RealmConfiguration) throws(RealmError) {
        try given.check()
        let configuration = given.asOpened
        facts = Lock(initial: Facts(configuration: configuration))
        let scheduler = configuration.scheduler ?? ThreadScheduler.current
        binding = Lock(initial: Binding(scheduler: scheduler))
        thread = Atomic(scheduler.threadId)
        threadCheck = scheduler.threadCheck
        threadCheckContext = scheduler.threadCheckContext
        isDynamic = configuration.schema == nil
        isFixedView = false
        frozen = nil
        if let schema = configuration.schema { try schema.validate(configuration.schemaMode == .additiveExplicit ? .rejectEmbeddedOrphans : []) }
        let path = try FileSystem.canonical(configuration.path)
        try RealmCoordinator.check(configuration, Name(path))
        let isFirst = !RealmCoordinator.isOpen(Name(path))
        do throws(RealmError) {
            if try Self.needsReset(configuration, path) { _ = try Database.deleteFiles(path: path) }
            database = try Self.openDatabase(configuration, path)
        } catch { throw error.with(path: configuration.path) }
        transaction = try Transaction(database)
        Log.write(.storage, .detail, "Open file: \(configuration.path)")
        Log.write(.storage, .debug, "Number of participants: \(database.participantCount)")
        Log.write(.storage, .debug, "Durability: \(database.durability)")
        Log.write(.storage, .debug, "Encryption key: \(configuration.secret == nil ? "no" : "yes")")
        if database.isEmpty { Log.write(.storage, .debug, "Empty file") }
        do throws(RealmError) {
            if isFirst { try offerCompaction() }
            try readFileSchema()
            if let wanted = configuration.schema {
                try bringSchema(to: wanted, SchemaStep(configuration), from: boundFile, fileVersion: schemaVersion)
            }
            if isDynamic { shownVersion = transaction.version }
            transaction.endRead()
            try verifyWhole()
        } catch {
            let lost = Result { () throws(RealmError) in try verifyWhole() }
            transaction.close()
            standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
            if case .failure(let lost) = lost { throw lost }
            throw error.with(path: configuration.path)
        }
        isOpen = true
        RealmCoordinator.register(self)
        live(on: scheduler)
        listen()
    }
    /// - Parameter path: the canonical one.
    private static func openDatabase(_ c: RealmConfiguration, _ path: String) throws(RealmError) -> Database {
        let access: Database.Access
        switch c.schemaMode {
        case .immutable: access = c.isSnapshot ? .snapshot : .immutable
        case .readOnly: access = FileSystem.exists(path) ? .readOnly : .readWrite(create: true)
        default: access = .readWrite(create: true)
        }
        let durability: Durability = c.isInMemory ? .memoryOnly : c.durability == .unsafe ? .unsafe : .full
        return try Database.open(
            canonical: path, access: access, durability: durability, flushesTwice: c.durability == .twoFlushes, upgrades: !c.disablesFormatUpgrade,
            encryption: try c.encryption())
    }
    /// Whether a reset mode starts anew: the file is of an older format, or its schema asks for it. Rules: live-objects §2.2.
    private static func needsReset(_ c: RealmConfiguration, _ path: String) throws(RealmError) -> Bool {
        guard c.schemaMode == .softResetFile || c.schemaMode == .hardResetFile, let wanted = c.schema, FileSystem.exists(path) else { return false }
        if try Database.needsFormatUpgrade(path: path, encryption: try c.encryption()) { return true }
        let t = try Transaction(try openDatabase(c, path))
        defer { t.close() }
        try t.beginRead()
        return c.schemaMode.resets(SchemaChange.between(try t.group.readSchema(), wanted), from: try t.group.readSchemaVersion(), to: c.schemaVersion)
    }
    /// A dynamic view of the version that `realm` is about to migrate from.
    init(before realm: Realm) throws(RealmError) {
        var c = realm.configuration
        c.schema = nil
        c.schemaVersion = .max
        c.schemaMode = .readOnly
        c.isCached = false
        c.initialize = nil
        c.migrate = nil
        facts = Lock(initial: Facts(configuration: c))
        binding = Lock(initial: Binding(scheduler: realm.scheduler))
        thread = Atomic(realm.thread.load(ordering: .relaxed))
        threadCheck = realm.threadCheck
        threadCheckContext = realm.threadCheckContext
        isDynamic = true
        isFixedView = true
        frozen = nil
        database = realm.database
        guard let pin = realm.transaction.sharedPin else { throw realm.closedError() }
        transaction = try Transaction(reading: pin)
        try readFileSchema()
        isOpen = true
    }
    /// A frozen view of a version that `realm` knows.
    init(freezing realm: Realm, _ pin: Pin) throws(RealmError) {
        var c = realm.configuration
        c.initialize = nil
        c.migrate = nil
        c.shouldCompact = nil
        let scheduler = FrozenScheduler(pin.version)
        c.scheduler = scheduler
        binding = Lock(initial: Binding(scheduler: scheduler))
        facts = Lock(initial: Facts(configuration: c, schema: realm.schema, schemaVersion: realm.schemaVersion))
        thread = Atomic(0)
        threadCheck = nil
        threadCheckContext = nil
        isDynamic = realm.isDynamic
        isFixedView = true
        database = realm.database
        frozen = FrozenReaders(pin)
        transaction = try Transaction(closedOf: database)
        // Inside a migration the classes are those of the version to come.
        if realm.isWriting { try inside { () throws(RealmError) in try readSchemaBeforeWrite(of: realm) } }
        isOpen = true
    }
    deinit {
        guard !isInherited else { return leaveToParent() }
        // Nobody can be inside any more.
        standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
        endForGood()
    }

    // MARK: State

    func frozenError(_ what: String) -> RealmError { RealmError(.wrongTransactionState, "Can't \(what) a frozen Realm.") }
    func closedError() -> RealmError { RealmError(.closedRealm, "Cannot access realm that has been closed.") }
    /// The transaction, in a snapshot.
    @inline(__always) package func reading() throws(RealmError) -> Transaction {
        if transaction.stage != .reading && transaction.stage != .writing {
            if let frozen { return try reading(frozen) }
            try beginImplicitly()
        }
        try verifyWhole()
        return transaction
    }
    /// The table in the snapshot, nil when there is none, without counting references: good until the Realm moves.
    @inline(__always) func readingTable(_ key: TableKey) throws(RealmError) -> Unmanaged<Table>? {
        if transaction.stage != .reading && transaction.stage != .writing { return try reading().group.unmanagedTable(key) }
        try verifyWhole()
        return try Unmanaged.passUnretained(transaction.group).borrow { (g: Group) throws(RealmError) in try g.unmanagedTable(key) }
    }
    private func reading(_ frozen: FrozenReaders) throws(RealmError) -> Transaction {
        guard let reader = frozen.own else { throw closedError() }
        try verifyWhole()
        return reader._withUnsafeGuaranteedRef { $0.transaction }
    }
    @inline(never) private func beginImplicitly() throws(RealmError) {
        if transaction.stage == .closed { throw closedError() }
        if transaction.stage == .interrupted { return try transaction.restore() }
        try transaction.beginRead()
        try noteBegin()
    }
    /// Begins to read a version that is pinned already.
    func beginRead(at pin: Pin) throws(RealmError) {
        try transaction.beginRead(at: pin)
        try noteBegin()
    }
    private func noteBegin() throws(RealmError) {
        shownVersion = nil
        do throws(RealmError) { try versionMoved() } catch {
            transaction.endRead()
            throw error
        }
    }
    /// The transaction, writing.
    @inline(__always) package func writing() throws(RealmError) -> Transaction {
        let t = transaction
        guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Cannot modify managed objects outside of a write transaction.") }
        if let damage = t.damage { throw damage }
        try verifyWhole()
        stateCount &+= 1
        return t
    }
    /// Runs a change. One that is refused has changed nothing; one that fails halfway leaves the transaction fit for a rollback only.
    @inline(__always) func changing<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let before = transaction.startChange()
        defer { transaction.endChange(before) }
        do throws(RealmError) { return try body() } catch {
            transaction.noteFailure(error)
            throw error
        }
    }
    public var isWriting: Bool { transaction.isWriting.load(ordering: .relaxed) }
    package var isReading: Bool { isFrozen || transaction.stage == .reading || transaction.stage == .writing }
    /// Version of the snapshot; nil when none is open, and elsewhere than on the Realm's thread.
    public var version: UInt64? { (try? inside { () throws(RealmError) in isReading ? frozen?.version ?? transaction.version : nil }) ?? nil }
    public var versionCount: UInt64 { database.versionCount }
    /// The versions of the file that anybody has pinned, the oldest first. A snapshot looks at those of whoever has the file open.
    public func pinnedVersions() throws(RealmError) -> [PinnedVersion] {
        try inside { () throws(RealmError) in try database.pinnedVersions() }
    }

    public func beginRead() throws(RealmError) {
        try inside { () throws(RealmError) in
            _ = try reading()
        }
    }
    /// Waits for the write lock and moves to the newest version.
    public func beginWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            let t = transaction
            guard !isFrozen else { throw frozenError("perform transactions on") }
            guard configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly else {
                throw RealmError(.wrongTransactionState, "Can't perform transactions on read-only Realms.")
            }
            awaitFlush()
            guard t.stage != .writing else { throw RealmError(.wrongTransactionState, "The Realm is already in a write transaction") }
            if configuration.maxActiveVersions != .max, versionCount > configuration.maxActiveVersions {
                throw RealmError(
                    .wrongTransactionState,
                    "Number of active versions (\(versionCount)) in the Realm exceeded the limit of \(configuration.maxActiveVersions)")
            }
            let wasIdle = t.stage == .idle
            if wasIdle { _ = try reading() }
            prepareMove()
            let moved = try t.beginWrite(accepting: { (_) throws(RealmError) in try self.versionMoved() })
            try verifyWhole()
            prepareDelivery()
            if moved || wasIdle { notifyMoved() }
            deliver()
        }
    }
    public func commitWrite() throws(RealmError) { try commitWrite(silent: []) }
    /// - Parameter silent: callbacks of objects, collections and results that are not told of this commit.
    package func commitWrite(silent: [(notifier: Notifier, id: Int)]) throws(RealmError) {
        // Not `inside`: pages that are lost after the commit make it no failure.
        try enter(.realm)
        defer { leave() }
        let t = transaction
        guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction") }
        try checkCallbackGuard()
        stateCount &+= 1
        try flushEarlier()
        try commitLogged()
        if !silent.isEmpty { skip(silent) }
        notifyMoved()
        completeEarlier()
        asyncMayGoOn()
        payTurn()
    }
    /// A migration or initialization function may not end the transaction that it runs in.
    func checkCallbackGuard() throws(RealmError) {
        guard callbackGuard != .none else { return }
        callbackGuard = .violated
        throw RealmError(.wrongTransactionState, "A migration or initialization function cannot end its write transaction")
    }
    func commitLogged(flushing: Bool = true) throws(RealmError) {
        Log.write(.transaction, .debug, "Initiate commit version: \(transaction.version + 1)")
        let start = Log.isEnabled(.transaction, .debug) ? Platform.monotonicSeconds : 0
        do throws(RealmError) { try transaction.commit(flushing: flushing) } catch {
            try verifyWhole()
            throw error
        }
        if let pin = transaction.takeCostlyPin() {
            Log.write(
                .transaction, .warning,
                "The file '\(database.path)' grew to \(transaction.logicalSize) bytes because version \(pin.version) is still in use: "
                    + "it was pinned by thread "
                    + "\(pin.threadId) of process \(pin.processId), and \(pin.heldBytes) bytes that were freed since cannot be used again")
        }
        Log.write(.transaction, .debug, "Commit of size \(transaction.logicalSize) done in \(Int((Platform.monotonicSeconds - start) * 1e6)) us")
    }
    public func cancelWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            let t = transaction
            guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Can't cancel a non-existing write transaction") }
            try checkCallbackGuard()
            guard !asyncWrites.isCompleting else {
                throw RealmError(.wrongTransactionState, "Can't cancel a write transaction from inside a commit completion callback.")
            }
            stateCount &+= 1
            defer {
                asyncMayGoOn()
                payTurn()
            }
            try t.rollback()
        }
    }
    /// Runs `body` in a write transaction: commits when it returns, rolls back when it throws.
    @discardableResult
    public func write<R>(_ body: () throws -> R) throws -> R {
        try beginWrite()
        do {
            let result = try body()
            if isWriting { try commitWrite() }
            return result
        } catch {
            if isWriting { try? cancelWrite() }
            throw error
        }
    }
    /// Moves to the newest version; true when the snapshot moved, or when there was none. A Realm without a schema of its own shows that of
    /// a version from the start: reading that one is no move. Inside a callback nothing moves.
    @discardableResult
    public func refresh() throws(RealmError) -> Bool {
        try inside { () throws(RealmError) -> Bool in
            if isFrozen { return false }
            if configuration.schemaMode == .immutable { throw RealmError(.wrongTransactionState, "Can't refresh an immutable Realm.") }
            guard !isWriting, !isFixedView, !isNotifying else { return false }
            let moved: Bool
            if transaction.stage == .idle {
                let shown = shownVersion
                _ = try reading()
                moved = shown != transaction.version
            } else {
                moved = try moveSnapshot()
            }
            prepareDelivery()
            if moved { notifyMoved() }
            deliver()
            return moved
        }
    }
    /// The turn of a Realm that neither writes nor runs callbacks.
    func moveInTurn() throws(RealmError) {
        guard !isFixedView else { return }
        let moved: Bool
        if transaction.stage == .idle, !notifiers.live().isEmpty {
            _ = try reading()
            moved = true
        } else if transaction.stage == .idle {
            // Nobody reads: the schema follows, and callbacks find out. A snapshot would stay for as long as no other turn comes.
            moved = database.newestVersion != transaction.version
            if moved {
                _ = try reading()
                if isDynamic { shownVersion = transaction.version }
                transaction.endRead()
            }
        } else {
            moved = try moveSnapshot()
        }
        prepareDelivery()
        if moved { notifyMoved() }
        deliver()
    }
    private func moveSnapshot() throws(RealmError) -> Bool {
        try transaction.restore()
        prepareMove()
        let moved = try transaction.refresh(accepting: { (_) throws(RealmError) in try self.versionMoved() })
        try verifyWhole()
        return moved
    }
    /// Gives back what this instance holds, once.
    func endForGood() {
        guard !isInherited, !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let frozen {
            frozen.end()
        } else {
            stateCount &+= 1
            scheduler.remove(self)
            stopListening()
            endAsyncWrites()
            notifiers.end()
            transaction.close()
        }
        let gone = callbacks.with { $0.takeAll() }
        withExtendedLifetime(gone) {}
        RealmCoordinator.unregister(self)
    }

    /// A child gives nothing back of what its parent has: other threads of the parent may have been changing it when the process was forked.
    private func leaveToParent() {
        for part in [transaction, database, facts, binding, callbacks, frozen, turn] as [AnyObject?] { part.map { _ = Unmanaged.passRetained($0) } }
    }

    // MARK: Files

    /// The schema version stored in the file of a configuration.
    public static func persistedSchemaVersion(_ configuration: RealmConfiguration) throws(RealmError) -> UInt64 {
        var c = configuration
        c.schema = nil
        c.isCached = false
        c.initialize = nil
        c.migrate = nil
        c.shouldCompact = nil
        c.notifiesAutomatically = false
        let realm = try Realm(opening: c)
        defer { realm.close() }
        return realm.schemaVersion
    }
}

/// The open instances of this process, by canonical path: what must agree between them. Rules: live-objects §4.1.
///
/// Only cached instances are referred to (weakly: that makes counting references to them slower); of the others the coordinator keeps what
/// it must compare.
enum RealmCoordinator {
    private struct Entry {
        let id: ObjectIdentifier
        /// The canonical one.
        let path: Name
        var configuration: RealmConfiguration
        var schemaVersion: UInt64
        /// Instances of a parent process do not count.
        let processId = Platform.processId
        weak var cached: Realm?
    }
    /// A process has few open: the list is searched from end to end.
    private static let instances = Lock(initial: [Entry](), of: .realms)

    /// - Parameter path: the canonical one.
    private static func open(_ path: Name) -> [Entry] { instances.with { $0.filter { $0.path == path && $0.processId == Platform.processId } } }
    static func check(_ c: RealmConfiguration, _ path: Name) throws(RealmError) {
        // A snapshot shares nothing with any other instance.
        if c.isSnapshot { return }
        let open = open(path)
        guard let first = open.first else { return }
        let other = first.configuration
        func mismatch(_ what: String) -> RealmError {
            RealmError(.mismatchedConfig, "Realm at path '\(c.path)' already opened with different \(what).", path: nil)
        }
        if (c.schemaMode == .immutable) != (other.schemaMode == .immutable) { throw mismatch("read permissions") }
        if c.isInMemory != other.isInMemory { throw mismatch("inMemory settings") }
        if c.secret != other.secret { throw mismatch("encryption key") }
        if c.schemaMode != other.schemaMode { throw mismatch("schema mode") }
        if c.schema != nil, let typed = open.first(where: { $0.configuration.schema != nil }), c.schemaVersion != typed.schemaVersion,
            typed.schemaVersion != ObjectStore.notVersioned
        {
            throw mismatch("schema version")
        }
    }
    /// Whether an instance of this process has the file at a path open.
    static func isOpen(_ path: Name) -> Bool { !open(path).isEmpty }
    static func cached(_ c: RealmConfiguration, _ path: Name) throws(RealmError) -> Realm? {
        try check(c, path)
        let scheduler = c.scheduler ?? ThreadScheduler.current
        for r in open(path).compactMap(\.cached) {
            guard !r.isClosed, r.scheduler.isSame(as: scheduler), r.schemaVersion != ObjectStore.notVersioned else { continue }
            if let wanted = c.schema, wanted != r.configuration.schema {
                throw RealmError(.mismatchedConfig, "Realm at path '\(c.path)' already opened on current thread with different schema.")
            }
            return r
        }
        return nil
    }
    private static func entry(_ r: Realm) -> Entry {
        Entry(
            id: ObjectIdentifier(r), path: Name(r.database.path), configuration: r.configuration, schemaVersion: r.schemaVersion,
            cached: r.configuration.isCached ? r : nil)
    }
    /// The cached instance of the same file for a scheduler, where `r` is one that is cached.
    static func cached(for r: Realm, _ scheduler: any Scheduler) throws(RealmError) -> Realm? {
        var c = r.configuration
        guard c.isCached, !r.isFrozen else { return nil }
        c.scheduler = scheduler
        return try cached(c, Name(r.database.path))
    }
    static func register(_ r: Realm) {
        if r.configuration.isSnapshot { return }
        let entry = entry(r)
        instances.with { $0.append(entry) }
    }
    /// - Returns: the frozen Realm, or the cached one that is there for its version already.
    static func register(frozen r: Realm) -> Realm {
        if r.configuration.isSnapshot { return r }
        let entry = entry(r)
        // Whoever is the last to refer to one ends it, which takes the lock.
        var cached: [Realm] = []
        defer { withExtendedLifetime(cached) {} }
        return instances.with { all in
            if r.configuration.isCached { cached = all.compactMap { $0.path == entry.path ? $0.cached : nil } }
            if let known = cached.first(where: { $0.isFrozen && !$0.isClosed && $0.scheduler.isSame(as: r.scheduler) && $0.database === r.database })
            {
                return known
            }
            all.append(entry)
            return r
        }
    }
    /// The instance noticed another schema version, or has another key.
    static func update(_ r: Realm) {
        let id = ObjectIdentifier(r), version = r.schemaVersion, configuration = r.configuration
        instances.with { all in
            guard let i = all.firstIndex(where: { $0.id == id }) else { return }
            all[i].schemaVersion = version
            all[i].configuration = configuration
        }
    }
    static func unregister(_ r: Realm) {
        let id = ObjectIdentifier(r)
        instances.with { all in
            if let i = all.firstIndex(where: { $0.id == id }) { all.remove(at: i) }
        }
    }
}
