internal import CoreEngine
import Foundation

/// A database that stores objects of the classes in its schema in one file.
///
/// If the file is already open on the same queue or thread, opening it again returns the same Realm. Thread rule: a
/// Realm is used only where it was opened. Access from another thread is misuse and ends the program with a clear
/// message (`RealmMisuse`). A frozen Realm may be used on any thread.
public struct Realm: Equatable {
    let opened: RealmCore
    var core: RealmCore { opened.current }
    var engine: EngineRealm { core.realm }

    init(_ core: RealmCore) { opened = core }

    public static func == (a: Realm, b: Realm) -> Bool { a.core.isSame(as: b.core) }

    // MARK: Opening

    /// Opens the Realm of the default configuration.
    ///
    /// - Parameter queue: A serial queue to which the Realm is confined; nil to confine it to the current queue, actor
    ///   or thread.
    /// - Throws: `Realm.Error`.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    /// Opens the Realm of a configuration. See `init(queue:)`.
    public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
        do { opened = try RealmCore.open(configuration, try Confinement.scheduler(queue)) } catch let error
            as EngineError
        {
            throw Realm.Error(error)
        }
    }

    /// Opens the Realm of a file. All other options are those of the default configuration.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    // MARK: Schema and configuration

    /// The schema of the file.
    public var schema: Schema { Schema(engine.schema, core) }
    public var configuration: Configuration { core.configuration }

    /// A Boolean value that indicates whether the Realm contains no objects.
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

    /// The treatment of objects whose primary key already exists in the Realm.
    public enum UpdatePolicy: Int, Sendable {
        /// An existing primary key is misuse.
        case error = 1
        /// Stores the values that differ.
        case modified = 3
        /// Stores all values, so observers are notified of all of them.
        case all = 2
    }

    /// Runs `block` in a write transaction. The transaction is committed when `block` returns, and rolled back when it
    /// throws.
    ///
    /// - Parameter tokens: Registrations of blocks that are not notified of this commit.
    /// - Throws: The error that `block` throws; `Realm.Error` if the transaction cannot begin or the commit fails.
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

    /// Begins a write transaction, which `commitWrite` or `cancelWrite` ends. The call waits for other writers, and
    /// advances the Realm to the newest version. The transaction stays open even if the program releases the Realm.
    public func beginWrite() {
        if isFrozen { misuse("Can't perform transactions on a frozen Realm") }
        must { () throws(EngineError) in try engine.beginOwnWrite() }
        core.writing = core
    }

    /// Commits the write transaction. The changes become durable, and visible to all readers.
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

    /// Rolls back the write transaction. Objects that it added are invalidated.
    public func cancelWrite() {
        let core = core
        must { () throws(EngineError) in try core.realm.cancelWrite() }
        _ = core.takeFailure()
        core.writing = nil
    }

    public var isInWriteTransaction: Bool { engine.isWriting }

    // MARK: Adding and creating

    /// Adds an object to the Realm, with all objects that it refers to.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        verify(object, update)
        must { () throws(EngineError) in try core.add(object, Addition(update)) }
    }

    /// Adds several objects to the Realm. See `add(_:update:)`.
    public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Iterator.Element: Object {
        for object in objects { add(object, update: update) }
    }

    private func verify(_ object: Object, _ update: UpdatePolicy) {
        guard update != .error, object.info.primaryKey == nil else { return }
        misuse("'\(object.info.name)' does not have a primary key and can not be updated")
    }

    /// Creates an object, or updates the object with the same primary key, depending on `update`.
    ///
    /// - Parameter value: A dictionary by property names, an array in the order of the properties, or another object,
    ///   which is copied with all objects that it refers to.
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

    /// Deletes an object. The object is invalidated.
    public func delete(_ object: ObjectBase) {
        guard let managed = object.managed, managed.core.realm === engine else {
            misuse("Can only delete an object from the Realm it belongs to.")
        }
        core.change { () throws(EngineError) in
            try engine.inside(.object) { () throws(EngineError) in try engine.delete(managed.table, object.named.key) }
        }
    }

    /// Deletes all objects of a sequence.
    public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
        for object in objects { delete(object) }
    }

    /// Deletes all objects in a list. The list is empty afterwards.
    public func delete<Element: ObjectBase>(_ objects: List<Element>) where Element: RealmCollectionValue {
        objects.deleteObjects()
    }

    /// Deletes all objects in results.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) where Element: RealmFetchable {
        objects.deleteObjects()
    }

    /// Deletes all objects in a map. The map is empty afterwards.
    public func delete<Key: _MapKey, Value: ObjectBase>(_ map: Map<Key, Value?>) where Value: RealmCollectionValue {
        map.deleteObjects()
    }

    /// Deletes all objects of all classes.
    public func deleteAll() {
        core.change { () throws(EngineError) in
            try engine.inside { () throws(EngineError) in try engine.deleteAllObjects() }
        }
    }

    // MARK: Reading

    /// Returns all objects of a class, as live results.
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> { Results(core) }

    /// Returns the object with a primary key; nil if it does not exist.
    public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType) -> Element? {
        let managed = core.managed(type)
        guard let primaryKey = managed.info.primaryKey else {
            misuse("\(managed.info.name) does not have a primary key")
        }
        return must { () throws(EngineError) in
            let value = try core.value(key, for: managed.info.properties[primaryKey], managed.info)
            let found = try value.withMixed { (mixed) throws(EngineError) in
                try engine.inside { () throws(EngineError) in try engine.find(managed.table, primaryKey: mixed) }
            }
            return managed.element(found, Element.self)
        }
    }

    // MARK: Versions

    /// A Boolean value that indicates whether the Realm advances to new versions automatically, in turns of the queue
    /// to which it is confined. Otherwise it advances only in `refresh` and in write transactions.
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

    /// Advances the Realm to the newest version.
    ///
    /// - Returns: true if the Realm advanced.
    @discardableResult
    public func refresh() -> Bool { must { () throws(EngineError) in try engine.refresh() } }

    /// Releases the current version, so that its space in the file can be reused. All objects, collections and results
    /// are invalidated, and their observers receive no more notifications. The Realm itself can still be used. The call
    /// has no effect on a frozen Realm.
    public func invalidate() {
        if isInWriteTransaction { cancelWrite() }
        let core = core
        if !core.realm.isFrozen { must { () throws(EngineError) in try core.invalidate() } }
    }

    /// A Boolean value that indicates whether the Realm is frozen. A frozen Realm shows one version and may be used on
    /// any thread.
    public var isFrozen: Bool { engine.isFrozen }
}

extension Realm: CustomStringConvertible {
    public var description: String { "Realm(\(engine.configuration.path)\(isFrozen ? ", frozen" : ""))" }
}
