/// The open instances of this process, by canonical path: what must agree between them. Rules: live-objects §4.1.
///
/// Only cached instances are referred to (weakly: that makes counting references to them slower); of the others the
/// coordinator keeps what it must compare.
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
    private static func open(_ path: Name) -> [Entry] {
        instances.with { $0.filter { $0.path == path && $0.processId == Platform.processId } }
    }

    static func check(_ c: RealmConfiguration, _ path: Name) throws(RealmError) {
        if c.isApart { return }
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
        if c.schema != nil, let typed = open.first(where: { $0.configuration.schema != nil }),
            c.schemaVersion != typed.schemaVersion,
            typed.schemaVersion != ObjectStore.notVersioned
        {
            throw mismatch("schema version")
        }
    }

    /// Whether an instance of this process has the file at a path open.
    static func isOpen(_ path: Name) -> Bool { !open(path).isEmpty }

    static func cached(_ c: RealmConfiguration, _ path: Name) throws(RealmError) -> Realm? {
        try check(c, path)
        let scheduler: any EngineScheduler = c.home ?? ThreadScheduler.current
        for realm in open(path).compactMap(\.cached) {
            guard !realm.isClosed, realm.scheduler.isSame(as: scheduler.original), realm.schemaVersion != ObjectStore.notVersioned
            else { continue }
            if let wanted = c.schema, wanted != realm.configuration.schema {
                throw RealmError(
                    .mismatchedConfig,
                    "Realm at path '\(c.path)' already opened on current thread with different schema.")
            }
            return realm
        }
        return nil
    }

    private static func entry(_ r: Realm) -> Entry {
        Entry(
            id: ObjectIdentifier(r), path: Name(r.path), configuration: r.configuration, schemaVersion: r.schemaVersion,
            cached: r.configuration.isCached ? r : nil)
    }

    /// The cached instance of the same file for a scheduler, where `r` is one that is cached.
    static func cached(for r: Realm, _ scheduler: any Scheduler) throws(RealmError) -> Realm? {
        var configuration = r.configuration
        guard configuration.isCached, !r.isFrozen else { return nil }
        configuration.scheduler = scheduler
        return try cached(configuration, Name(r.path))
    }

    static func register(_ r: Realm) {
        if r.configuration.isApart { return }
        let entry = entry(r)
        instances.with { $0.append(entry) }
    }

    /// - Returns: the frozen Realm, or the cached one that is there for its version already.
    static func register(frozen r: Realm) -> Realm {
        if r.configuration.isApart { return r }
        let entry = entry(r)
        // Whoever is the last to refer to one ends it, which takes the lock.
        var cached: [Realm] = []
        defer { withExtendedLifetime(cached) {} }
        return instances.with { all in
            if r.configuration.isCached { cached = all.compactMap { $0.path == entry.path ? $0.cached : nil } }
            if let known = cached.first(where: {
                $0.isFrozen && !$0.isClosed && $0.scheduler.isSame(as: r.scheduler) && $0.openDatabase === r.database
            }) {
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
            guard let index = all.firstIndex(where: { $0.id == id }) else { return }
            all[index].schemaVersion = version
            all[index].configuration = configuration
        }
    }

    static func unregister(_ r: Realm) {
        let id = ObjectIdentifier(r)
        instances.with { all in
            if let index = all.firstIndex(where: { $0.id == id }) { all.remove(at: index) }
        }
    }
}
