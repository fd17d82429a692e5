import Synchronization

/// What `Realm(…)` comes from: an initializer of a protocol may find an instance instead of making one.
public protocol RealmOpening {}

extension RealmOpening where Self == Realm {
    /// As `Realm.open`: opens, or finds the cached instance.
    public init(_ configuration: RealmConfiguration) throws(RealmError) { self = try Realm.open(configuration) }
}

/// One open Realm: a view of one version of a database, with its schema. A live one moves by `refresh`, `beginWrite`
/// and its own commits; a frozen one never does.
///
/// Thread rule: a live one is used on its scheduler's thread; calls from elsewhere throw 2006, and all calls do when
/// that thread has ended. From any thread: `close`, `isClosed`, `isWriting`, `schema`, `schemaVersion`,
/// `configuration`, `versionCount`, and letting go of it. A frozen one is used on any thread, on many at once. After
/// `close` everything answers with 2014 (or 2010 for objects).
///
/// Not `Sendable`: a task or another actor gets a `ThreadSafeReference`, or a `Frozen` version.
public final class Realm: RealmOpening {
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
        var scheduler: any EngineScheduler

        /// Calls that are inside, counted here while the Realm is in transit.
        var visits = 0

        /// Changing its owner at this moment: nobody comes in.
        var isMoving = false

        /// Put in transit by another thread than its own.
        var isUncertain = false
    }

    let binding: Lock<Binding>

    /// Where the Realm lives. Any thread.
    public var scheduler: any Scheduler { home.original }
    var home: any EngineScheduler { binding.with { $0.scheduler } }

    /// The thread, where the scheduler stands for one; 0 where it must be asked.
    let thread: Atomic<UInt>

    /// A thread that needs no check, beside `thread`; 0 for none.
    let sureThread: Atomic<UInt>

    /// The check of the scheduler that it was opened with, where that has one.
    let threadCheck: ThreadCheck?
    let threadCheckContext: UnsafeMutableRawPointer?

    /// Calls that are inside, one in the other; the own thread's.
    let visits = Atomic(0)

    /// What keeps calls from coming in by plain loads and stores.
    enum Standing { static let closed = 1, inTransit = 2, reporting = 4 }
    let standing = Atomic(0)

    /// Differs from the present one when a forked child has inherited the Realm.
    let generation = ForkGuard.generation
    private let hasEnded = Atomic(false)

    /// The file, for whoever is inside of the door: there nobody takes it away.
    unowned(unsafe) let database: Database
    private let keptDatabase: Lock<Database?>

    /// The file for others; nil once the Realm is closed.
    var openDatabase: Database? { keptDatabase.with { $0 } }

    /// The canonical path of the file. Any thread.
    let path: String

    /// What a live Realm reads and writes through; closed from the start in a frozen one.
    package let transaction: Transaction

    /// Ends long calls before their time.
    let interruption: Interruption

    /// What a frozen Realm reads through; nil in a live one.
    let frozen: FrozenReaders?

    public internal(set) var schema: Schema {
        get { facts.with { $0.schema } }
        set { facts.with { $0.schema = newValue } }
    }

    /// A property of the schema. Any thread.
    package func property(_ name: Name, of table: TableKey) -> Property? {
        facts.with { $0.schema.property(name, of: table) }
    }

    /// The other names of properties, for queries.
    var queryNames: QueryNames {
        facts.with { facts in
            let names = facts.names ?? Self.names(facts.schema)
            facts.names = names
            return names
        }
    }

    private static func names(_ schema: Schema) -> QueryNames {
        var names = QueryNames()
        for objectClass in schema.classes where !objectClass.key.isNull {
            var aliases: [Name: QueryNames.Alias] = [:]
            for property in objectClass.properties where !property.publicName.isEmpty {
                aliases[property.publicName] = .property(property.name)
            }
            for property in objectClass.computedProperties {
                aliases[property.name] = .links(className: property.linkTarget, property: property.linkOrigin)
                if !property.publicName.isEmpty {
                    aliases[property.publicName] = .links(className: property.linkTarget, property: property.linkOrigin)
                }
            }
            if !aliases.isEmpty { names.aliases[objectClass.key] = aliases }
        }
        return names
    }

    public internal(set) var schemaVersion: UInt64 {
        get { facts.with { $0.schemaVersion } }
        set { facts.with { $0.schemaVersion = newValue } }
    }

    /// Whether `close` was called. Any thread.
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

    /// Called in a turn in which the Realm stays where it is, though there is a newer version. For the Realm's thread.
    package var staysBehind: (() -> Void)?

    /// A view of the version before a migration: it never moves.
    let isFixedView: Bool

    /// While a migration or initialization function runs its write transaction belongs to the schema step.
    var callbackGuard = CallbackGuard.none

    enum CallbackGuard { case none, active, violated }

    /// The last move brought another schema: its callbacks are due before the others.
    var schemaMoved = false

    /// Version that a Realm without a schema of its own showed when it was opened, until it begins to read.
    var shownVersion: UInt64?

    /// Names that the running migration gave to properties.
    var renamed: [(className: Name, property: Name)] = []

    /// Changes with every change of data or version: what handles resolved before is stale.
    package internal(set) var stateCount: UInt64 = 0

    let callbacks = Lock(initial: Callbacks())
    var notifiers = NotifierList()

    /// How deep the callbacks of moves are nested in one another.
    var notifyingDepth = 0
    var isNotifying: Bool { notifyingDepth > 0 }

    /// How often it was told that the Realm has moved, since the outermost callbacks began.
    var noticesInside = 0

    /// The Realm has moved, and its callbacks were not told of it.
    var owesNotice = false

    /// A write transaction begins, and callbacks run inside of it that are told of the move before: none of them has
    /// taken it for its own yet.
    var isBeginning = false

    /// nil for Realms that move in calls only.
    var turn: Turn?

    /// A turn came while the Realm was writing or its callbacks ran.
    var owesTurn = false

    /// Turns do not move the Realm.
    var staysInTurns = false
    var asyncWrites = AsyncWrites()

    /// For any thread.
    let hasAsyncWrites = Atomic(false)

    // MARK: Opening

    /// Opens, or finds the instance that is open for the same scheduler, where the configuration says `isCached`. Any
    /// thread.
    ///
    /// - Throws: 2013 for a configuration that does not agree with that of another instance of the file, 3022 for
    ///   settings that do not go together, 2016 for a schema that is none, 1019 and its neighbours for what the system
    ///   says, 1021 and 1022 for a file that is damaged or cannot be decrypted, 2017 to 2020 for a schema that the file
    ///   does not take, and what functions of the configuration throw.
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
        let scheduler: any EngineScheduler = configuration.home ?? ThreadScheduler.current
        binding = Lock(initial: Binding(scheduler: scheduler))
        thread = Atomic(scheduler.threadId)
        sureThread = Atomic(scheduler.surelyThreadId)
        threadCheck = scheduler.threadCheck
        threadCheckContext = scheduler.threadCheckContext
        isDynamic = configuration.schema == nil
        isFixedView = false
        frozen = nil
        interruption = configuration.makeInterruption()
        if let schema = configuration.schema {
            try schema.validate(configuration.schemaMode == .additiveExplicit ? .rejectEmbeddedOrphans : [])
        }
        let path = try FileSystem.canonical(configuration.path)
        try RealmCoordinator.check(configuration, Name(path))
        let isFirst = !RealmCoordinator.isOpen(Name(path))
        do throws(RealmError) {
            if try Self.needsReset(configuration, path) { _ = try Database.deleteFiles(path: path) }
            let opened =
                configuration.versionSlot == .previous
                ? try Database.openPrevious(
                    path: path, isSnapshot: configuration.isSnapshot, try configuration.encryption(), interruption)
                : try Self.openDatabase(configuration, path, Patience(seconds: configuration.lockTimeout, interruption))
            (database, keptDatabase) = (opened, Lock(initial: opened))
        } catch { throw error.with(path: configuration.path) }
        self.path = path
        transaction = try Transaction(database)
        transaction.place = scheduler.place
        attendToLongCalls()
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
    private static func openDatabase(
        _ configuration: RealmConfiguration, _ path: String, _ patience: Patience = .endless
    )
        throws(RealmError) -> Database
    {
        let access: Database.Access
        switch configuration.schemaMode {
        case .immutable: access = configuration.isSnapshot ? .snapshot : .immutable
        case .readOnly: access = FileSystem.exists(path) ? .readOnly : .readWrite(create: true)
        default: access = .readWrite(create: true)
        }
        let durability: Durability =
            configuration.isInMemory ? .memoryOnly : configuration.durability == .unsafe ? .unsafe : .full
        return try Database.open(
            canonical: path, access: access, durability: durability,
            flushesTwice: configuration.durability == .twoFlushes,
            upgrades: !configuration.disablesFormatUpgrade,
            encryption: try configuration.encryption(), patience: patience)
    }

    /// Whether a reset mode starts anew: the file is of an older format, or its schema asks for it. Rules: live-objects
    /// §2.2.
    private static func needsReset(_ configuration: RealmConfiguration, _ path: String) throws(RealmError) -> Bool {
        guard configuration.schemaMode == .softResetFile || configuration.schemaMode == .hardResetFile,
            let wanted = configuration.schema,
            FileSystem.exists(path)
        else { return false }
        if try Database.needsFormatUpgrade(path: path, encryption: try configuration.encryption()) { return true }
        let transaction = try Transaction(try openDatabase(configuration, path))
        defer { transaction.close() }
        try transaction.beginRead()
        return configuration.schemaMode.resets(
            SchemaChange.between(try transaction.group.readSchema(), wanted),
            from: try transaction.group.readSchemaVersion(),
            to: configuration.schemaVersion)
    }

    /// A dynamic view of the version that `realm` is about to migrate from.
    init(before realm: Realm) throws(RealmError) {
        var configuration = realm.configuration
        configuration.schema = nil
        configuration.schemaVersion = .max
        configuration.schemaMode = .readOnly
        configuration.isCached = false
        configuration.initialize = nil
        configuration.migrate = nil
        configuration.progress = nil
        facts = Lock(initial: Facts(configuration: configuration))
        binding = Lock(initial: Binding(scheduler: realm.home))
        thread = Atomic(realm.thread.load(ordering: .relaxed))
        sureThread = Atomic(realm.sureThread.load(ordering: .relaxed))
        threadCheck = realm.threadCheck
        threadCheckContext = realm.threadCheckContext
        isDynamic = true
        isFixedView = true
        frozen = nil
        (database, keptDatabase, path) = (realm.database, Lock(initial: realm.database), realm.path)
        interruption = realm.interruption
        guard let pin = realm.transaction.sharedPin else { throw realm.closedError() }
        transaction = try Transaction(reading: pin)
        try readFileSchema()
        isOpen = true
    }

    /// A frozen view of a version that `realm` knows.
    init(freezing realm: Realm, _ pin: Pin) throws(RealmError) {
        var configuration = realm.configuration
        configuration.initialize = nil
        configuration.migrate = nil
        configuration.shouldCompact = nil
        configuration.progress = nil
        let scheduler = FrozenScheduler(pin.version)
        configuration.home = scheduler
        binding = Lock(initial: Binding(scheduler: scheduler))
        facts = Lock(
            initial: Facts(configuration: configuration, schema: realm.schema, schemaVersion: realm.schemaVersion))
        thread = Atomic(0)
        sureThread = Atomic(0)
        threadCheck = nil
        threadCheckContext = nil
        isDynamic = realm.isDynamic
        isFixedView = true
        (database, keptDatabase, path) = (realm.database, Lock(initial: realm.database), realm.path)
        interruption = Interruption()
        frozen = FrozenReaders(pin, interruption)
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

    /// Gives back what this instance holds, once.
    func endForGood() {
        guard !isInherited, !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let frozen {
            frozen.end()
        } else {
            stateCount &+= 1
            home.remove(self)
            stopListening()
            endAsyncWrites()
            turn = nil
            notifiers.end()
            transaction.close()
        }
        // Whoever is the last to refer to the file closes it, outside of the lock.
        let file = keptDatabase.with { kept in
            defer { kept = nil }
            return kept
        }
        withExtendedLifetime(file) {}
        let gone = callbacks.with { $0.takeAll() }
        withExtendedLifetime(gone) {}
        RealmCoordinator.unregister(self)
    }

    /// A child gives nothing back of what its parent has: other threads of the parent may have been changing it when
    /// the process was forked.
    private func leaveToParent() {
        for part in [transaction, openDatabase, facts, binding, callbacks, frozen, turn] as [AnyObject?] {
            part.map { _ = Unmanaged.passRetained($0) }
        }
    }

    // MARK: Files

    /// Deletes a database with the files beside it; the lock file stays, by which others may be waiting. Any thread.
    ///
    /// - Returns: whether there was one.
    /// - Throws: 2012 when it is open in this or another process; what the system says.
    @discardableResult
    public static func deleteFiles(at path: String) throws(RealmError) -> Bool { try Database.deleteFiles(path: path) }

    /// The schema version stored in the file of a configuration.
    public static func persistedSchemaVersion(_ configuration: RealmConfiguration) throws(RealmError) -> UInt64 {
        var plain = configuration
        plain.schema = nil
        plain.isCached = false
        plain.initialize = nil
        plain.migrate = nil
        plain.shouldCompact = nil
        plain.notifiesAutomatically = false
        let realm = try Realm(opening: plain)
        defer { realm.close() }
        return realm.schemaVersion
    }
}
