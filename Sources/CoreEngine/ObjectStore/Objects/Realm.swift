import Synchronization

/// Gives `Realm` its initializer: an initializer from a protocol may return an existing instance, an initializer of a
/// class cannot.
public protocol RealmOpening {}

extension RealmOpening where Self == Realm {
    /// Same as `Realm.open`: opens the Realm or returns the cached instance.
    public init(_ configuration: RealmConfiguration) throws(RealmError) { self = try Realm.open(configuration) }
}

/// An open Realm: a view of one version of a database, with its schema. `refresh`, `beginWrite` and its own commits
/// move a live Realm to another version. A frozen Realm never moves.
///
/// Thread rule: a live Realm is used on its scheduler's thread. Calls from other threads throw 2006; after that thread
/// has ended, all calls do. From any thread: `close`, `isClosed`, `isWriting`, `schema`, `schemaVersion`,
/// `configuration`, `versionCount`, and releasing the Realm. A frozen Realm can be used on any thread, and on many at
/// once. After `close` every call throws 2014 (calls on objects 2010).
///
/// Not `Sendable`: send a `ThreadSafeReference` or a `Frozen` version to another task or actor.
public final class Realm: RealmOpening {
    /// State that any thread may read.
    private struct Facts {
        var configuration: RealmConfiguration
        var schema = Schema() { didSet { names = nil } }
        var schemaVersion = SchemaLimits.notVersioned

        /// Aliases of properties; built by the first query.
        var names: QueryNames?
    }

    private let facts: Lock<Facts>

    public internal(set) var configuration: RealmConfiguration {
        get { facts.with { $0.configuration } }
        set { facts.with { $0.configuration = newValue } }
    }

    /// Which calls may enter.
    let access: Access

    /// The scheduler that the Realm belongs to. Any thread.
    public var scheduler: any Scheduler { home.original }
    var home: any EngineScheduler { access.binding.with { $0.scheduler } }

    /// The file, for calls inside the Realm: it cannot be closed during such a call.
    unowned(unsafe) let database: Database
    private let keptDatabase: Lock<Database?>

    /// The file, for all other uses; nil after the Realm was closed.
    var openDatabase: Database? { keptDatabase.with { $0 } }

    /// The canonical path of the file. Any thread.
    let path: String

    /// The transaction of a live Realm, for reads and writes; in a frozen Realm it is closed from the start.
    package let transaction: Transaction

    /// Interrupts long calls.
    let interruption: Interruption

    /// The readers of a frozen Realm; nil in a live one.
    let frozen: FrozenReaders?

    /// `frozen`, for reads that count no references.
    let frozenReaders: Unmanaged<FrozenReaders>?

    public internal(set) var schema: Schema {
        get { facts.with { $0.schema } }
        set { facts.with { $0.schema = newValue } }
    }

    /// A property of the schema. Any thread.
    package func property(_ name: Name, of table: TableKey) -> Property? {
        facts.with { $0.schema.property(name, of: table) }
    }

    /// Aliases of properties, for queries.
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

    /// Finds objects by unique rules.
    let uniqueLookup = UniqueLookup()

    /// The computed properties that were read in this state.
    package let computedProperties = ComputedProperties()

    /// Tests the checks of each call.
    let callChecks = CallChecks()

    /// Whether `close` was called. Any thread.
    public var isClosed: Bool { access.standing.load(ordering: .acquiring) & Standing.closed != 0 }

    /// Whether another thread may take the Realm over.
    var isInTransit: Bool { access.standing.load(ordering: .acquiring) & Standing.inTransit != 0 }

    /// How the schema follows the file.
    var schemaState: SchemaState

    /// Moves to other versions, and the callbacks that report them.
    var movement = Movement()

    /// Called in a turn that does not move the Realm although a newer version exists. On the Realm's thread.
    package var staysBehind: (() -> Void)? {
        get { movement.staysBehind }
        set { movement.staysBehind = newValue }
    }

    /// The Realm is frozen, or shows the version before a migration: it never moves.
    let isFixedView: Bool

    /// Changes with every change of data or version; state that a handle resolved earlier is then stale.
    package internal(set) var stateCount: UInt64 = 0

    let callbacks = Lock(initial: Callbacks())
    var notifiers = NotifierList()

    var isNotifying: Bool { movement.notifyingDepth > 0 }

    /// Asynchronous writes, in their order. On the Realm's thread.
    var asyncWrites = AsyncWrites()

    // MARK: Opening

    /// Opens a Realm. Returns the instance that is already open for the same scheduler when the configuration sets
    /// `isCached`. Any thread.
    ///
    /// - Throws: 2013 for a configuration that differs from that of another open instance of the file, 3022 for
    ///   settings that cannot be combined, 2016 for an invalid schema, 1017–1020 for I/O errors, 1021 and 1022 for a
    ///   file that is damaged or cannot be decrypted, 2017–2020 for a schema that the file does not accept, and errors
    ///   thrown by functions of the configuration.
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
        access = Access(scheduler)
        schemaState = SchemaState(isDynamic: configuration.schema == nil)
        isFixedView = false
        frozen = nil
        frozenReaders = nil
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
        transaction.shrinkingPolicy.leastSize = max(0, configuration.shrinkingLeastSize)
        transaction.shrinkingPolicy.freePercent = configuration.shrinkingFreePercent
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
                try bringSchema(
                    to: wanted, SchemaStep(configuration), from: schemaState.boundFile, fileVersion: schemaVersion)
            }
            if schemaState.isDynamic { movement.shownVersion = transaction.version }
            transaction.endRead()
            try verifyWhole()
        } catch {
            let lost = Result { () throws(RealmError) in try verifyWhole() }
            transaction.close()
            access.standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
            if case .failure(let lost) = lost { throw lost }
            throw error.with(path: configuration.path)
        }
        schemaState.isOpen = true
        RealmCoordinator.register(self)
        live(on: scheduler)
        listen()
    }

    /// - Parameter path: the canonical path.
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

    /// Whether a reset mode must empty the file: the file has an older format, or its schema requires the reset. Rules:
    /// live-objects §2.2.
    private static func needsReset(_ configuration: RealmConfiguration, _ path: String) throws(RealmError) -> Bool {
        guard configuration.schemaMode == .softResetFile || configuration.schemaMode == .hardResetFile,
            let wanted = configuration.schema,
            FileSystem.exists(path)
        else { return false }
        if try Database.needsFormatUpgrade(path: path, encryption: try configuration.encryption()) { return true }
        let transaction = try Transaction(try openDatabase(configuration, path))
        defer { transaction.close() }
        try transaction.beginRead()
        let version = try transaction.group.readSchemaVersion(), file = try transaction.group.readSchema()
        let changes = try difference(
            SchemaRenames(configuration.rules, file).applied(to: file), wanted, configuration.rules, transaction.group,
            isMigrating: version != configuration.schemaVersion
        ).changes
        return configuration.schemaMode.resets(changes, from: version, to: configuration.schemaVersion)
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
        access = Access(sharing: realm)
        schemaState = SchemaState(isDynamic: true)
        isFixedView = true
        frozen = nil
        frozenReaders = nil
        (database, keptDatabase, path) = (realm.database, Lock(initial: realm.database), realm.path)
        interruption = realm.interruption
        guard let pin = realm.transaction.sharedPin else { throw realm.closedError() }
        transaction = try Transaction(reading: pin)
        try readFileSchema()
        schemaState.isOpen = true
    }

    /// A frozen view of the version that `pin` keeps, with the configuration and schema of `realm`.
    init(freezing realm: Realm, _ pin: Pin) throws(RealmError) {
        var configuration = realm.configuration
        configuration.initialize = nil
        configuration.migrate = nil
        configuration.shouldCompact = nil
        configuration.progress = nil
        let scheduler = FrozenScheduler(pin.version)
        configuration.home = scheduler
        access = Access(frozen: scheduler)
        facts = Lock(
            initial: Facts(configuration: configuration, schema: realm.schema, schemaVersion: realm.schemaVersion))
        schemaState = SchemaState(isDynamic: realm.schemaState.isDynamic)
        isFixedView = true
        (database, keptDatabase, path) = (realm.database, Lock(initial: realm.database), realm.path)
        interruption = Interruption()
        let readers = FrozenReaders(pin, interruption)
        frozen = readers
        frozenReaders = .passUnretained(readers)
        transaction = try Transaction(closedOf: database)
        // Inside a migration the classes in memory are already those of the new version.
        if realm.isWriting { try inside { () throws(RealmError) in try readSchemaBeforeWrite(of: realm) } }
        schemaState.isOpen = true
    }

    deinit {
        guard !isInherited else { return leaveToParent() }
        // The last reference is gone, so no call can be inside.
        access.standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
        endForGood()
    }

    /// Releases everything that this instance holds, once.
    func endForGood() {
        guard !isInherited, !access.hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let frozen {
            frozen.end()
        } else {
            stateCount &+= 1
            home.remove(self)
            stopListening()
            endAsyncWrites()
            movement.turn = nil
            notifiers.end()
            transaction.close()
        }
        // The last reference to the file closes it; that must happen outside the lock.
        let file = keptDatabase.with { kept in
            defer { kept = nil }
            return kept
        }
        withExtendedLifetime(file) {}
        let gone = callbacks.with { $0.takeAll() }
        withExtendedLifetime(gone) {}
        RealmCoordinator.unregister(self)
    }

    /// A forked child releases nothing that its parent owns: other threads of the parent may have been changing it at
    /// the time of the fork.
    private func leaveToParent() {
        for part in [transaction, openDatabase, facts, access.binding, callbacks, frozen, movement.turn] as [AnyObject?]
        {
            part.map { _ = Unmanaged.passRetained($0) }
        }
    }

    // MARK: Files

    /// Deletes a database and the files beside it. The lock file stays, because other processes may be waiting on it.
    /// Any thread.
    ///
    /// - Returns: whether the database existed.
    /// - Throws: 2012 when it is open in this or another process; I/O errors.
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
