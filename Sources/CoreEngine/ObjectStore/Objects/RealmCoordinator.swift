/// The open Realms of this process, by canonical path: checks that their configurations agree. Rules: live-objects
/// §4.1.
///
/// The coordinator refers only to cached instances, weakly: a weak reference makes reference counting of its object
/// slower. For the other instances it stores only the data that it compares.
enum RealmCoordinator {
    private struct Entry {
        let id: ObjectIdentifier

        /// The canonical path.
        let path: Name
        var configuration: RealmConfiguration
        var schemaVersion: UInt64

        /// Instances inherited from a parent process do not count.
        let processId = Platform.processId
        weak var cached: Realm?
    }

    /// Searched linearly: a process has few open Realms.
    private static let instances = Lock(initial: [Entry](), of: .realms)

    /// The instances of this process for a path.
    ///
    /// - Parameter path: the canonical path.
    private static func open(_ path: Name) -> [Entry] {
        instances.with { $0.filter { $0.path == path && $0.processId == Platform.processId } }
    }

    static func check(_ configuration: RealmConfiguration, _ path: Name) throws(RealmError) {
        if configuration.isApart { return }
        let open = open(path)
        guard let first = open.first else { return }
        let other = first.configuration
        func mismatch(_ what: String) -> RealmError {
            RealmError(
                .mismatchedConfig, "Realm at path '\(configuration.path)' already opened with different \(what).",
                path: nil)
        }
        if (configuration.schemaMode == .immutable) != (other.schemaMode == .immutable) {
            throw mismatch("read permissions")
        }
        if configuration.isInMemory != other.isInMemory { throw mismatch("inMemory settings") }
        if configuration.secret != other.secret { throw mismatch("encryption key") }
        if configuration.schemaMode != other.schemaMode { throw mismatch("schema mode") }
        if configuration.schema != nil, let typed = open.first(where: { $0.configuration.schema != nil }),
            configuration.schemaVersion != typed.schemaVersion,
            typed.schemaVersion != SchemaLimits.notVersioned
        {
            throw mismatch("schema version")
        }
    }

    /// Whether an instance of this process has the file at a path open.
    static func isOpen(_ path: Name) -> Bool { !open(path).isEmpty }

    static func cached(_ configuration: RealmConfiguration, _ path: Name) throws(RealmError) -> Realm? {
        try check(configuration, path)
        let scheduler: any EngineScheduler = configuration.home ?? ThreadScheduler.current
        for realm in open(path).compactMap(\.cached) {
            guard !realm.isClosed, realm.scheduler.isSame(as: scheduler.original),
                realm.schemaVersion != SchemaLimits.notVersioned
            else { continue }
            if let wanted = configuration.schema, wanted != realm.configuration.schema {
                throw RealmError(
                    .mismatchedConfig,
                    "Realm at path '\(configuration.path)' already opened on current thread with different schema.")
            }
            return realm
        }
        return nil
    }

    private static func entry(_ realm: Realm) -> Entry {
        Entry(
            id: ObjectIdentifier(realm), path: Name(realm.path), configuration: realm.configuration,
            schemaVersion: realm.schemaVersion,
            cached: realm.configuration.isCached ? realm : nil)
    }

    /// The cached instance of the same file for a scheduler; nil when `realm` is not cached.
    static func cached(for realm: Realm, _ scheduler: any Scheduler) throws(RealmError) -> Realm? {
        var configuration = realm.configuration
        guard configuration.isCached, !realm.isFrozen else { return nil }
        configuration.scheduler = scheduler
        return try cached(configuration, Name(realm.path))
    }

    static func register(_ realm: Realm) {
        if realm.configuration.isApart { return }
        let entry = entry(realm)
        instances.with { $0.append(entry) }
    }

    /// Registers a frozen Realm.
    ///
    /// - Returns: the cached Realm of its version when one exists, otherwise the frozen Realm.
    static func register(frozen realm: Realm) -> Realm {
        if realm.configuration.isApart { return realm }
        let entry = entry(realm)
        // Releasing the last reference ends a Realm, which takes the lock: release outside of it.
        var cached: [Realm] = []
        defer { withExtendedLifetime(cached) {} }
        return instances.with { all in
            if realm.configuration.isCached { cached = all.compactMap { $0.path == entry.path ? $0.cached : nil } }
            if let known = cached.first(where: {
                $0.isFrozen && !$0.isClosed && $0.scheduler.isSame(as: realm.scheduler)
                    && $0.openDatabase === realm.database
            }) {
                return known
            }
            all.append(entry)
            return realm
        }
    }

    /// Call when the instance has another schema version or another key.
    static func update(_ realm: Realm) {
        let id = ObjectIdentifier(realm), version = realm.schemaVersion, configuration = realm.configuration
        instances.with { all in
            guard let index = all.firstIndex(where: { $0.id == id }) else { return }
            all[index].schemaVersion = version
            all[index].configuration = configuration
        }
    }

    static func unregister(_ realm: Realm) {
        let id = ObjectIdentifier(realm)
        instances.with { all in
            if let index = all.firstIndex(where: { $0.id == id }) { all.remove(at: index) }
        }
    }
}
