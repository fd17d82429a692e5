internal import CoreEngine
import Foundation

/// The state that all copies of a `Realm` share: the engine's Realm, and the classes of the program in it.
///
/// Thread rule: that of the Realm, with the exceptions that the engine names; a frozen Realm may be used on any thread.
/// Sendable: tables that other threads read are behind locks; all other state is used only where the Realm is confined,
/// which the engine's entry point checks.
final class RealmCore: @unchecked Sendable {
    let realm: EngineRealm
    let configuration: Realm.Configuration
    private let classes = Lock<[ObjectIdentifier: ManagedClass]>(initial: [:])

    /// Classes without models, by their tables.
    private let dynamicClasses = Lock<[TableKey: ManagedClass]>(initial: [:])

    /// The models of the Realm, by class name. If classes share a class of the file, only their base.
    let models: [Name: ObjectBase.Type]

    /// The classes of the Realm.
    let declared: [ClassInfo]

    /// The classes that share a class of the file, by their base.
    private let families: [ObjectIdentifier: [ClassInfo]]

    /// For each class of the file that several classes share: the supertype of each type, from the rules of a version.
    private let parents = Lock<[TableKey: (version: UInt64, types: [Name: Name])]>(initial: [:])

    /// The models that match the file. In a migration no model matches yet.
    var types: [Name: ObjectBase.Type] { isMigrating ? [:] : models }
    let isMigrating: Bool

    /// A reference to this object while a write transaction is open that a separate call ends. It keeps the transaction
    /// open.
    var writing: RealmCore?

    /// Whether an asynchronous write block is running.
    var isInAsyncBlock = false

    /// Whether the Realm advances because of its own commit.
    var isCommitting = false

    /// The error that prevents the commit of the open write transaction; nil if it can be committed.
    private(set) var failure: EngineError?

    /// The observers of the Realm itself.
    let observers = Lock<[ObjectIdentifier: RealmObserver]>(initial: [:])

    /// The newest Realm that replaced this one after an invalidation; nil if this one is current.
    private let successor = Lock<RealmCore?>(initial: nil)

    /// Earlier Realms that this one replaced and that are still referenced.
    private let predecessors = Lock<[Weak]>(initial: [])

    private struct Weak {
        weak var core: RealmCore?
    }

    /// - Parameter declared: The classes of the configuration, if they are known.
    init(
        _ realm: EngineRealm, _ configuration: Realm.Configuration, isMigrating: Bool = false,
        declared: [ClassInfo]? = nil
    ) {
        self.realm = realm
        self.configuration = configuration
        self.isMigrating = isMigrating
        let classes = declared ?? configuration.classes
        self.declared = classes
        models = Dictionary(
            classes.map { (Name($0.fileName), $0.membership?.base ?? $0.type) }, uniquingKeysWith: { first, _ in first }
        )
        families = Dictionary(grouping: classes.filter { $0.membership != nil }) { info in
            ObjectIdentifier(info.membership?.base ?? info.type)
        }
    }

    // MARK: Values that exceed the size limit

    /// Records that a string or binary value of more than 16 MB was to be stored. A property cannot throw, so the
    /// transaction fails: its commit throws this error and stores nothing. Until then the property holds the empty
    /// value that this function returns.
    ///
    /// - Throws: Every other error.
    func fail(_ error: EngineError, storing value: Mixed) throws(EngineError) -> Mixed {
        guard error.code == .limitExceeded, realm.isWriting else { throw error }
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0), substitute: Mixed
        switch value {
        case .string(let text) where !text.isEmpty: substitute = .string(nothing)
        case .binary(let bytes) where !bytes.isEmpty: substitute = .binary(nothing)
        default: throw error
        }
        if failure == nil { failure = error }
        return substitute
    }

    /// Runs a change that a rule of the file may forbid. The caller cannot throw, so the transaction fails: its commit
    /// throws the error. Every other error ends the program.
    func change(_ body: () throws(EngineError) -> Void) {
        do throws(EngineError) { try body() } catch {
            guard error.code == .ruleBroken, realm.isWriting else { misuse(error) }
            if failure == nil { failure = error }
        }
    }

    /// Returns the error of the ending transaction and clears it.
    func takeFailure() -> EngineError? {
        defer { failure = nil }
        return failure
    }

    // MARK: Invalidation

    /// The Realm that currently replaces this one, or this one itself.
    var current: RealmCore { successor.with { $0 } ?? self }

    /// Replaces this Realm with a newly opened one, and closes this one. All values that were read from it become
    /// invalid.
    func invalidate() throws(EngineError) {
        let next: RealmCore
        do {
            var engine = try configuration.engine()
            engine.scheduler = realm.scheduler
            next = RealmCore(try EngineRealm(engine), configuration)
        } catch { throw error as? EngineError ?? EngineError(.runtime, "\(error)") }
        let isMovingInTurns = realm.isMovingInTurns
        try next.realm.inside { () throws(EngineError) in next.realm.isMovingInTurns = isMovingInTurns }
        for observer in observers.with({ Array($0.values) }) { try observer.observe(next) }
        // The observers may keep this object alive.
        observers.with { $0 = [:] }
        Self.remember(next, Name(realm.configuration.path))
        let earlier = predecessors.with { $0.filter { $0.core != nil } } + [Weak(core: self)]
        next.predecessors.with { $0 = earlier }
        // All earlier Realms refer directly to the newest one, so that none in between is kept. A program may
        // invalidate for years.
        for core in earlier.compactMap(\.core) {
            let last = core.successor.with { successor in
                defer { successor = next }
                return successor
            }
            withExtendedLifetime(last) {}
        }
        realm.close()
    }

    // MARK: Classes

    /// Returns a class of the program in this Realm. A class that the Realm does not have is misuse.
    func managed(_ type: ObjectBase.Type) -> ManagedClass {
        if let known = classes.with({ $0[ObjectIdentifier(type)] }) { return known }
        guard let found = find(type) else {
            misuse(
                "Object type '\(type.className())' is not managed by the Realm. If using a custom `objectClasses` / `objectTypes` array in your "
                    + "configuration, add `\(type.className())` to the list of `objectTypes`.")
        }
        return found
    }

    private func find(_ type: ObjectBase.Type) -> ManagedClass? {
        let info = ClassInfo.of(type)
        guard let found = realm.schema[Name(info.fileName)], !found.key.isNull else { return nil }
        var types: ManagedTypes?
        if let membership = info.membership {
            guard let made = self.types(membership, info, found) else { return nil }
            types = made
        }
        let made = ManagedClass(self, info, found, types)
        return classes.with { all in
            if let first = all[ObjectIdentifier(type)] { return first }
            all[ObjectIdentifier(type)] = made
            return made
        }
    }

    /// Returns the types of a class that shares its class of the file; nil if the class is not in the Realm.
    private func types(_ membership: Membership, _ info: ClassInfo, _ found: EngineObjectSchema) -> ManagedTypes? {
        let all = families[ObjectIdentifier(membership.base)] ?? []
        // A Realm that cannot change the file may lack a subclass, as it may lack a class.
        let isThere = info.properties.allSatisfy { property in
            property.shape.isComputed
                || found.properties.contains { $0.name == Name(property.column) && $0.key != .null }
        }
        guard isThere, all.contains(where: { $0.type == info.type }) else { return nil }
        let below = all.filter { $0.type != info.type && membership.includes($0.type) }.compactMap { one in
            classes.with { $0[ObjectIdentifier(one.type)] } ?? find(one.type)
        }
        return ManagedTypes(self, found, membership, below: below, all: all)
    }

    /// Returns the supertype of each type of a class of the file, from the rules of the class.
    func parents(of table: TableKey) -> [Name: Name] {
        let version = (try? realm.readVersion()) ?? nil
        if let version, let known = parents.with({ $0[table] }), known.version == version { return known.types }
        let found = try? realm.inside { () throws(EngineError) in
            Dictionary(
                try realm.rules(of: table).subclasses.map { (Name($0.name), Name($0.parent)) },
                uniquingKeysWith: { first, _ in first })
        }
        if let version, let found { parents.with { $0[table] = (version, found) } }
        return found ?? [:]
    }

    /// Returns the object in a row, as an instance of its class.
    func object(_ type: ObjectBase.Type, _ table: TableKey, _ key: ObjKey) -> ObjectBase? {
        let managed = managed(type)
        guard managed.table == table else { return nil }
        return managed.object(key)
    }

    /// Returns the object in a row, as an instance of its model if one exists, and as a dynamic object otherwise.
    func anyObject(_ table: TableKey, _ key: ObjKey) -> ObjectBase? {
        guard let index = realm.schema.index(of: table), let type = types[realm.schema.classes[index].name] else {
            return dynamic(table, key)
        }
        return object(type, table, key)
    }

    /// Returns the object in a row as a dynamic object.
    func dynamic(_ table: TableKey, _ key: ObjKey) -> ObjectBase? { dynamicClass(of: table)?.object(key) }

    func dynamicClass(of table: TableKey) -> ManagedClass? {
        if let known = dynamicClasses.with({ $0[table] }) { return known }
        guard let index = realm.schema.index(of: table) else { return nil }
        let found = realm.schema.classes[index], made = ManagedClass(self, ClassInfo(found), found)
        return dynamicClasses.with { all in
            if let first = all[table] { return first }
            all[table] = made
            return made
        }
    }

    func dynamicClass(named name: String) -> ManagedClass {
        guard let table = realm.schema[Name(name)]?.key, let found = dynamicClass(of: table) else {
            misuse("Object type '\(name)' is not managed by the Realm.")
        }
        return found
    }

    /// Returns the write transaction that made an object, while it is open. A handle must not stay valid after a
    /// rollback.
    @inline(__always) func creation(_ table: TableKey, _ key: ObjKey) -> Creation? {
        guard realm.isWriting else { return nil }
        return (try? realm.inside(.object) { () throws(EngineError) in realm.creation(table, key) }) ?? nil
    }

    /// Returns whether both show the same data: they are identical, or both are frozen at the same version.
    func isSame(as other: RealmCore) -> Bool {
        if realm === other.realm { return true }
        guard realm.isFrozen, other.realm.isFrozen, realm.version == other.realm.version else { return false }
        return Name(realm.configuration.path) == Name(other.realm.configuration.path)
    }

    /// Returns the result of `body`, which runs inside the Realm's entry point. Returns false if the Realm is closed or
    /// the requested value does not exist. A call from a wrong thread is misuse.
    func isThere(_ body: () throws(EngineError) -> Bool) -> Bool {
        do throws(EngineError) { return try realm.inside(.collection, body) } catch {
            guard error.code == .wrongThread else { return false }
            misuse(error)
        }
    }

    // MARK: Open Realms

    private struct Entry {
        let path: Name
        let scheduler: any Scheduler
        weak var core: RealmCore?
    }

    private static let open = Lock<[Entry]>(initial: [])

    /// Returns the Realm of a configuration for a scheduler: an open one, or a new one.
    static func open(_ configuration: Realm.Configuration, _ scheduler: any Scheduler) throws -> RealmCore {
        let path = Name(try configuration.path)
        if let known = cached(path, scheduler) {
            let mine = configuration, theirs = known.configuration
            let difference: String? =
                mine.schemaVersion != theirs.schemaVersion
                ? "schema version"
                : (mine.readOnly != theirs.readOnly
                    ? "read permissions"
                    : (mine.encryptionKey != theirs.encryptionKey
                        ? "encryption key"
                        : ((mine.inMemoryIdentifier == nil) != (theirs.inMemoryIdentifier == nil)
                            ? "inMemory settings" : nil)))
            guard let difference else { return known }
            throw Realm.Error(
                .fail, "Realm at path '\(path)' already opened with different \(difference).",
                URL(fileURLWithPath: path.text))
        }
        var engine = try configuration.engine()
        do throws(EngineError) {
            // A migration uses the Realm on the thread that opens it. That is not where the Realm will be confined, so
            // another Realm on this thread performs the migration first.
            var migrated: EngineRealm?
            if configuration.migrationBlock != nil, !scheduler.isOnThread {
                var here = engine
                here.scheduler = ThreadScheduler.current
                here.notifiesAutomatically = false
                migrated = try EngineRealm(here)
            }
            engine.scheduler = scheduler
            let made = RealmCore(try EngineRealm(engine), configuration)
            remember(made, path)
            migrated?.close()
            return made
        } catch { throw Realm.Error(error) }
    }

    private static func remember(_ core: RealmCore, _ path: Name) {
        open.with { all in
            all.removeAll { $0.core == nil }
            all.append(Entry(path: path, scheduler: core.realm.scheduler, core: core))
        }
    }

    private static func cached(_ path: Name, _ scheduler: any Scheduler) -> RealmCore? {
        // The release of the last reference closes a Realm, which must not happen under the lock.
        let all = open.with { $0.filter { $0.path == path }.map { ($0.scheduler, $0.core) } }
        return all.first { $0.0.isSame(as: scheduler) && $0.1.map { !$0.realm.isClosed } ?? false }?.1
    }
}

/// Keeps a Realm open for objects that were made together. Objects do not retain the core itself: the list of open
/// Realms has a weak reference to it, and the runtime then counts its references in a separate table, which takes
/// several times as long.
final class RealmKeeper: Sendable {
    let core: RealmCore

    init(_ core: RealmCore) { self.core = core }
}

/// A set of objects that are added together: the treatment of existing objects, and the objects that were visited,
/// because objects may refer to each other in a circle.
final class Addition {
    let update: Realm.UpdatePolicy
    var known: [Identity: (TableKey, TrackedKey)] = [:]

    enum Identity: Hashable {
        case instance(ObjectIdentifier)
        case row(ObjectIdentifier, TableKey, ObjKey)
    }

    /// Keeps the known objects alive, because another object could get the identity of a released one.
    private var kept: [ObjectBase] = []

    func note(_ object: ObjectBase, _ table: TableKey, _ named: TrackedKey) {
        known[object.identity] = (table, named)
        kept.append(object)
    }

    /// Whether objects belong to a call of `create`. Objects of another Realm are then copied.
    let isCopying: Bool

    init(_ update: Realm.UpdatePolicy = .error, isCopying: Bool = false) {
        self.update = update
        self.isCopying = isCopying
    }

    /// Whether only values that differ are stored.
    var onlyChanges: Bool { update == .modified }

    // MARK: Long chains of links

    /// The number of nested objects whose values are being stored.
    private var depth = 0
    private static let deepest = 64
    private var waiting: [() throws(EngineError) -> Void] = []

    /// Stores the values of one object, which may lead to others. In long chains of links the nesting would overflow
    /// the stack, so beyond a limit the outermost call stores the object later.
    func nest(_ store: @escaping () throws(EngineError) -> Void) throws(EngineError) {
        if depth >= Self.deepest { return waiting.append(store) }
        depth += 1
        defer { depth -= 1 }
        try store()
        while depth == 1, let next = waiting.popLast() { try next() }
    }
}

extension Unmanaged {
    /// Lends the object to `body` without reference counting, like `borrow` of the engine. It is compiled in this
    /// module, where the types are known.
    @inline(__always) func lending<R>(_ body: (Instance) throws(EngineError) -> R) throws(EngineError) -> R {
        let result: Result<R, EngineError> = _withUnsafeGuaranteedRef { object in
            do throws(EngineError) { return .success(try body(object)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
