internal import CoreEngine
import Foundation

/// A database: objects of the classes of its schema, in one file.
///
/// Opening the same file again where it is open, on the same queue or thread, gives the same Realm. Thread rule: it is
/// used where it was opened; elsewhere access ends the program with a clear text (`RealmMisuse`), or throws where the
/// function throws. A frozen one is used anywhere.
public struct Realm: Equatable {
    let opened: RealmCore
    var core: RealmCore { opened.current }
    var engine: EngineRealm { core.realm }

    init(_ core: RealmCore) { opened = core }

    public static func == (a: Realm, b: Realm) -> Bool { a.core.isSame(as: b.core) }

    // MARK: Opening

    /// Opens the Realm of the default configuration.
    ///
    /// - Parameter queue: a serial queue that the Realm is to live on, from anywhere; nil: where this is called.
    /// - Throws: `Realm.Error`.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    /// As `init(queue:)`, with a configuration.
    public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
        do { opened = try RealmCore.open(configuration, try Confinement.scheduler(queue)) } catch let error
            as EngineError
        {
            throw Realm.Error(error)
        }
    }

    /// Opens a file, with the default configuration in all else.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    // MARK: What it is

    /// The classes of the file.
    public var schema: Schema { Schema(engine.schema, core) }
    public var configuration: Configuration { core.configuration }

    /// Whether there is no object of any class.
    public var isEmpty: Bool {
        must { () throws(EngineError) -> Bool in
            for objectSchema in engine.schema.classes where !objectSchema.key.isNull {
                if try engine.inside(.realm, { () throws(EngineError) in try engine.objectCount(objectSchema.key) }) > 0
                {
                    return false
                }
            }
            return true
        }
    }

    // MARK: Writing

    /// What to do with objects whose primary key is in the Realm.
    public enum UpdatePolicy: Int, Sendable {
        /// It is misuse.
        case error = 1
        /// Stores the values that differ.
        case modified = 3
        /// Stores all values; observers are told of all.
        case all = 2
    }

    /// Runs `block` in a write transaction: commits when it returns, undoes all when it throws.
    ///
    /// - Parameter tokens: who is not told of this commit.
    /// - Throws: what `block` throws; `Realm.Error` when nothing can be written or the commit fails.
    @discardableResult
    public func write<Result>(withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result) throws
        -> Result
    {
        try beginWriting()
        do {
            let result = try block()
            if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
            return result
        } catch {
            if isInWriteTransaction { cancelWrite() }
            throw error
        }
    }

    private func beginWriting() throws {
        do throws(EngineError) { try engine.beginOwnWrite() } catch {
            if isFrozen { throw Realm.Error(.fail, "Can't perform transactions on a frozen Realm") }
            if error.code == .wrongTransactionState, engine.isWriting {
                misuse("The Realm is already in a write transaction")
            }
            throw Realm.Error.thrown(error)
        }
    }

    /// Begins a write transaction, which `commitWrite` or `cancelWrite` ends: it waits until no one else writes, and
    /// moves to the newest version. The transaction is open until then, whether the program keeps the Realm or not.
    public func beginWrite() {
        if isFrozen { misuse("Can't perform transactions on a frozen Realm") }
        must { () throws(EngineError) in try engine.beginOwnWrite() }
        core.writing = core
    }

    /// Makes what was written in this transaction durable, and visible to all.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        guard isInWriteTransaction else { misuse("Can't commit a non-existing write transaction") }
        let core = core
        if let failure = core.takeFailure() {
            cancelWrite()
            throw Realm.Error(failure)
        }
        let observers = tokens.compactMap(\.observer)
        for observer in observers { observer.isSilent = true }
        for token in tokens { token.skip() }
        defer {
            for observer in observers { observer.isSilent = false }
            core.writing = isInWriteTransaction ? core.writing : nil
        }
        core.isCommitting = true
        defer { core.isCommitting = false }
        do throws(EngineError) { try engine.commitWrite(silent: tokens.compactMap(\.silenced)) } catch {
            throw Realm.Error.thrown(error)
        }
    }

    /// Undoes what was written in this transaction. Objects that it added are invalidated.
    public func cancelWrite() {
        let core = core
        must { () throws(EngineError) in try core.realm.cancelWrite() }
        _ = core.takeFailure()
        core.writing = nil
    }

    public var isInWriteTransaction: Bool { engine.isWriting }

    // MARK: Adding and creating

    /// Makes an object and all that it refers to managed by the Realm.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        verify(object, update)
        must { () throws(EngineError) in try core.add(object, Addition(update)) }
    }

    /// As `add`, for many.
    public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Iterator.Element: Object {
        for object in objects { add(object, update: update) }
    }

    private func verify(_ object: Object, _ update: UpdatePolicy) {
        guard update != .error, object.info.primaryKey == nil else { return }
        misuse("'\(object.info.name)' does not have a primary key and can not be updated")
    }

    /// A new object, or with `update` the one of that primary key, with values: a dictionary by names of properties, an
    /// array in their order, or another object, which is copied with all that it refers to.
    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error) -> T {
        if update != .error, ClassInfo.of(type).primaryKey == nil {
            misuse("'\(type.className())' does not have a primary key and can not be updated")
        }
        return unsafeDowncast(
            must { () throws(EngineError) in try core.create(type, value, Addition(update, isCopying: true)) },
            to: T.self)
    }

    // MARK: Deleting

    /// Deletes an object, which is invalidated.
    public func delete(_ object: ObjectBase) {
        guard let managed = object.managed, managed.core.realm === engine else {
            misuse("Can only delete an object from the Realm it belongs to.")
        }
        must { () throws(EngineError) in
            try engine.inside(.object) { () throws(EngineError) in try engine.delete(managed.table, object.named.key) }
        }
    }

    /// Deletes all objects of a sequence.
    public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
        for object in objects { delete(object) }
    }

    /// Deletes the objects of the list, which is empty afterwards.
    public func delete<Element: ObjectBase>(_ objects: List<Element>) where Element: RealmCollectionValue {
        objects.deleteObjects()
    }

    /// Deletes the objects of the results.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) where Element: RealmFetchable {
        objects.deleteObjects()
    }

    /// Deletes the objects of the map, which is empty afterwards.
    public func delete<Key: _MapKey, Value: ObjectBase>(_ map: Map<Key, Value?>) where Value: RealmCollectionValue {
        map.deleteObjects()
    }

    /// Deletes every object of every class.
    public func deleteAll() {
        must { () throws(EngineError) in
            for objectSchema in engine.schema.classes where !objectSchema.key.isNull && objectSchema.kind != .embedded {
                try engine.inside { () throws(EngineError) in
                    try ResultSet(engine, .table(objectSchema.key)).deleteAll()
                }
            }
        }
    }

    // MARK: Reading

    /// All objects of a class, live.
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> { Results(core) }

    /// The object with a primary key.
    public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType) -> Element? {
        let managed = core.managed(type)
        guard let primaryKey = managed.info.primaryKey else {
            misuse("\(managed.info.name) does not have a primary key")
        }
        return must { () throws(EngineError) in
            let value = try core.value(key, for: managed.info.properties[primaryKey], managed.info)
            let found = try value.withMixed { (m) throws(EngineError) in
                try engine.inside { () throws(EngineError) in try engine.find(managed.table, primaryKey: m) }
            }
            return found.map { unsafeDowncast(managed.object($0), to: Element.self) }
        }
    }

    // MARK: Versions

    /// Whether the Realm moves to new versions by itself, in turns of the queue where it lives. Else it moves in
    /// `refresh` and in write transactions.
    public var autorefresh: Bool {
        get {
            must { () throws(EngineError) in
                try engine.inside { () throws(EngineError) in !engine.isFrozen && engine.isMovingInTurns }
            }
        }
        nonmutating set {
            must { () throws(EngineError) in
                try engine.inside { () throws(EngineError) in engine.isMovingInTurns = newValue }
            }
        }
    }

    /// Moves to the newest version.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func refresh() -> Bool { must { () throws(EngineError) in try engine.refresh() } }

    /// Lets go of the version that is read, so that its space in the file can be used again. All objects, collections
    /// and results are invalidated, and who observes them is told nothing more; the Realm itself is used on. Nothing
    /// happens in a frozen one.
    public func invalidate() {
        if isInWriteTransaction { cancelWrite() }
        let core = core
        if !core.realm.isFrozen { must { () throws(EngineError) in try core.invalidate() } }
    }

    /// Whether the Realm shows one version for good, for all threads.
    public var isFrozen: Bool { engine.isFrozen }
}

extension Realm: CustomStringConvertible {
    public var description: String { "Realm(\(engine.configuration.path)\(isFrozen ? ", frozen" : ""))" }
}
