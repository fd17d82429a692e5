internal import CoreEngine
import Foundation

/// What all copies of a `Realm` share: the engine's Realm, and the classes of the program in it.
///
/// Thread rule: that of the Realm, with the exceptions that the engine names; a frozen one is used on any thread.
/// Sendable: what changes is the table of classes, behind a lock; the rest is guarded by the engine's door.
final class RealmCore: @unchecked Sendable {
    let realm: EngineRealm
    let configuration: Realm.Configuration
    private let classes = Lock<[ObjectIdentifier: ManagedClass]>(initial: [:])

    /// Classes without models, by their tables.
    private let dynamicClasses = Lock<[TableKey: ManagedClass]>(initial: [:])

    /// The models of the Realm, by the names of their classes.
    let models: [Name: ObjectBase.Type]

    /// Those that fit. In a migration none does yet.
    var types: [Name: ObjectBase.Type] { isMigrating ? [:] : models }
    let isMigrating: Bool

    /// This very Realm, while a write transaction is open that is to be ended by a call.
    var writing: RealmCore?

    /// Whether a block runs that waited for its turn to write.
    var isInAsyncBlock = false

    /// Whether the Realm moves because of a commit of its own.
    var isCommitting = false

    /// Why the write transaction that is open cannot be committed; nil where it can.
    private(set) var failure: EngineError?

    /// Who observes the Realm itself.
    let observers = Lock<[ObjectIdentifier: RealmObserver]>(initial: [:])

    /// What took the place of this when it was invalidated, and of that when it was: always the newest.
    private let successor = Lock<RealmCore?>(initial: nil)

    /// Those whose place this took, as far as somebody still has them.
    private let predecessors = Lock<[Weak]>(initial: [])

    private struct Weak {
        weak var core: RealmCore?
    }

    init(_ realm: EngineRealm, _ configuration: Realm.Configuration, isMigrating: Bool = false) {
        self.realm = realm
        self.configuration = configuration
        self.isMigrating = isMigrating
        models = Dictionary(
            configuration.classes.map { (Name($0.name), $0.type) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Values that no file holds

    /// A text or bytes of more than 16 MB were to be stored. A property cannot throw, so the transaction fails: its
    /// commit throws this error, and nothing of it is stored. Until then an empty value stands there.
    ///
    /// - Throws: every other error.
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

    /// What the transaction that ends failed of.
    func takeFailure() -> EngineError? {
        defer { failure = nil }
        return failure
    }

    // MARK: Invalidation

    /// What is in the place of this by now.
    var current: RealmCore { successor.with { $0 } ?? self }

    /// Opens the file again, in the place of this, which is closed: whatever was read of it is invalid from then on.
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
        // What they keep alive may be this.
        observers.with { $0 = [:] }
        Self.remember(next, Name(realm.configuration.path))
        let earlier = predecessors.with { $0.filter { $0.core != nil } } + [Weak(core: self)]
        next.predecessors.with { $0 = earlier }
        // All lead to the newest at once, so that nothing between is kept: a program may do this for years.
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

    /// A class of the program in this Realm; misuse when the Realm does not have it.
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
        guard let found = realm.schema[Name(info.name)], !found.key.isNull else { return nil }
        let made = ManagedClass(self, info, found)
        return classes.with { all in
            if let first = all[ObjectIdentifier(type)] { return first }
            all[ObjectIdentifier(type)] = made
            return made
        }
    }

    /// The object in a row, as an instance of its class.
    func object(_ type: ObjectBase.Type, _ table: TableKey, _ key: ObjKey) -> ObjectBase? {
        let managed = managed(type)
        guard managed.table == table else { return nil }
        return managed.object(key)
    }

    /// The object in a row, as an instance of its model, or without one.
    func anyObject(_ table: TableKey, _ key: ObjKey) -> ObjectBase? {
        guard let index = realm.schema.index(of: table), let type = types[realm.schema.classes[index].name] else {
            return dynamic(table, key)
        }
        return object(type, table, key)
    }

    /// The object in a row, without a model.
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

    /// The write transaction that made an object, while it is open: a handle must not outlive its undoing.
    @inline(__always) func birth(_ table: TableKey, _ key: ObjKey) -> Birth? {
        guard realm.isWriting else { return nil }
        return (try? realm.inside(.object) { () throws(EngineError) in realm.birth(table, key) }) ?? nil
    }

    /// Whether both show the same: one is the other, or both are frozen at one version.
    func isSame(as other: RealmCore) -> Bool {
        if realm === other.realm { return true }
        guard realm.isFrozen, other.realm.isFrozen, realm.version == other.realm.version else { return false }
        return Name(realm.configuration.path) == Name(other.realm.configuration.path)
    }

    /// What `body` finds out inside the Realm's door; false where the Realm is closed, or what it asks for is gone.
    /// Asking elsewhere than where the Realm lives is misuse.
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

    /// The Realm of a configuration for a scheduler: one that is open already, or a new one.
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
            // A migration uses the Realm on the thread that opens it, which is not where it is to live: it is done by a
            // Realm of this thread first.
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
        // Whoever lets go of the last reference to one closes a Realm: not under the lock.
        let all = open.with { $0.filter { $0.path == path }.map { ($0.scheduler, $0.core) } }
        return all.first { $0.0.isSame(as: scheduler) && $0.1.map { !$0.realm.isClosed } ?? false }?.1
    }
}

/// Keeps a Realm open for objects that were made together. Not the core itself: the list of open Realms refers to that
/// weakly, and the references of what is referred to weakly are counted in a table beside it, which takes several times
/// as long.
final class RealmKeeper: Sendable {
    let core: RealmCore

    init(_ core: RealmCore) { self.core = core }
}

/// Objects that are added together: how existing ones are treated, and which were met on the way, as objects may refer
/// to each other in a circle.
final class Addition {
    let update: Realm.UpdatePolicy
    var known: [Identity: (TableKey, BornKey)] = [:]

    enum Identity: Hashable {
        case instance(ObjectIdentifier)
        case row(ObjectIdentifier, TableKey, ObjKey)
    }

    /// Keeps those that are known alive: another object could get the same identity.
    private var kept: [ObjectBase] = []

    func note(_ object: ObjectBase, _ table: TableKey, _ named: BornKey) {
        known[object.identity] = (table, named)
        kept.append(object)
    }

    /// Objects of `create`, which are copied when another Realm has them.
    let isCopying: Bool

    init(_ update: Realm.UpdatePolicy = .error, isCopying: Bool = false) {
        self.update = update
        self.isCopying = isCopying
    }

    /// Whether only values that differ are stored.
    var onlyChanges: Bool { update == .modified }

    // MARK: Long chains of links

    /// Objects inside objects whose values are being stored.
    private var depth = 0
    private static let deepest = 64
    private var waiting: [() throws(EngineError) -> Void] = []

    /// Stores the values of one object, which may lead to others. Too far from the first one, as in long chains of
    /// links, it is done later, by the call for the first one: the stack would not do.
    func nest(_ store: @escaping () throws(EngineError) -> Void) throws(EngineError) {
        if depth >= Self.deepest { return waiting.append(store) }
        depth += 1
        defer { depth -= 1 }
        try store()
        while depth == 1, let next = waiting.popLast() { try next() }
    }
}

extension Unmanaged {
    /// Lends the object without counting references, as `borrow` of the engine; compiled here, where the types are
    /// known.
    @inline(__always) func lending<R>(_ body: (Instance) throws(EngineError) -> R) throws(EngineError) -> R {
        let result: Result<R, EngineError> = _withUnsafeGuaranteedRef { object in
            do throws(EngineError) { return .success(try body(object)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
