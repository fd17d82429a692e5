internal import CoreEngine
import Foundation

/// Observation: blocks are called in `refresh`, in `beginWrite`, and in turns of the queue that the Realm belongs to.
/// If the caller passes a queue, the observed value is looked up in a Realm of that queue, and the block runs on that
/// queue.

extension Realm {
    /// Calls `block` whenever the Realm advances to another version.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        let observer = RealmObserver(block), core = core
        must { () throws(EngineError) in
            // Without a read transaction, the first write transaction would report that the Realm shows a version at
            // all.
            try core.realm.beginRead()
            try observer.observe(core)
        }
        return NotificationToken(observer)
    }
}

/// An observer of a Realm itself. It stays registered when the Realm is invalidated.
///
/// Sendable: the mutable state is behind a lock.
final class RealmObserver: @unchecked Sendable {
    private let block: NotificationBlock
    private let place = Lock<(core: Weak, id: Int)?>(initial: nil)
    private let hasEnded = Lock(initial: false)

    private struct Weak {
        weak var core: RealmCore?
    }

    /// True during a commit that excludes this observer. Used only where the Realm is confined.
    var isSilent = false

    init(_ block: @escaping NotificationBlock) { self.block = block }

    func observe(_ core: RealmCore) throws(EngineError) {
        let weak = Weak(core: core)
        let id = try core.realm.inside { () throws(EngineError) in
            try core.realm.addChangedCallback { [weak self] in
                guard let self, !isSilent, let core = weak.core else { return }
                block(.didChange, Realm(core))
            }
        }
        try core.realm.inside { () in
            core.realm.staysBehind = {
                guard let core = weak.core else { return }
                for observer in core.observers.with({ Array($0.values) }) where !observer.hasEnded.with({ $0 }) {
                    observer.block(.refreshRequired, Realm(core))
                }
            }
        }
        place.with { $0 = (weak, id) }
        core.observers.with { $0[ObjectIdentifier(self)] = self }
        // The token may have ended the observation on another thread meanwhile.
        if hasEnded.with({ $0 }) { end() }
    }

    func end() {
        hasEnded.with { $0 = true }
        guard let (weak, id) = place.with({ $0 }), let core = weak.core else { return }
        core.realm.removeCallback(id)
        core.observers.with { $0[ObjectIdentifier(self)] = nil }
    }
}

extension RealmCore {
    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - keyPaths: Key paths with the names of the model; nil for all properties.
    ///   - skip: Called at the end of a transaction that excludes this observer.
    func observe(
        _ keyPaths: [String]?, of table: TableKey, skip: (() -> Void)? = nil,
        _ make: (Transaction) throws(EngineError) -> Notifier,
        _ call: @escaping (ChangeSet) -> Void
    ) -> NotificationToken {
        if realm.isFrozen { misuse("Frozen Realms do not change and do not have change notifications.") }
        let (notifier, id) = must { () throws(EngineError) in
            try realm.inside { () throws(EngineError) in
                var paths: [CoreEngine.KeyPath]?
                if let keyPaths {
                    var all: [CoreEngine.KeyPath] = []
                    for text in keyPaths { all += try realm.keyPaths(text, of: table) }
                    paths = all
                }
                var kept: Notifier?
                return try realm.observe(&kept, paths, make) { changes, _ in call(changes) }
            }
        }
        // The token keeps the notifier alive.
        return NotificationToken((notifier, id), skip: skip) { notifier.remove(id) }
    }
}

// MARK: Objects

/// Objects that can be observed. The block gets the object with its own type.
public protocol _ObservableObject: ThreadConfined {}

extension Object: _ObservableObject {}

extension EmbeddedObject: _ObservableObject {}

extension _ObservableObject where Self: ObjectBase & RealmCollectionValue {
    /// Calls `block` when properties of the object change, and once when the object is deleted. The block is not called
    /// with an initial state.
    ///
    /// - Parameters:
    ///   - keyPaths: Names of properties, such as `best.name` for a property behind a link; nil for all properties of
    ///     the object itself.
    ///   - queue: A serial queue on which `block` runs; nil to run it where the Realm is confined.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        guard let managed, !isInvalidated else {
            misuse("Only objects which are managed by a Realm support change notifications")
        }
        guard let queue else { return observed(managed, keyPaths, block) }
        return onQueue(queue, self, managed.core) { $0.observe(keyPaths: keyPaths, block) }
    }
    /// Calls `block` when properties of the object change, with key paths that the compiler checks. See
    /// `observe(keyPaths:on:)`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
    /// Calls `block` when properties of the object change. For blocks that take any type of object.
    @_disfavoredOverload
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<ObjectBase>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths, on: queue) { (change: ObjectChange<Self>) in
            switch change {
            case .change(let object, let properties): block(.change(object, properties))
            case .deleted: block(.deleted)
            case .error(let error): block(.error(error))
            }
        }
    }
    private func observed(
        _ managed: ManagedClass, _ keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        if managed.core.realm.isFrozen { misuse("Frozen Realms do not change and do not have change notifications.") }
        let table = managed.table, key = named.key, object = self, told = Told(object)
        var isFirst = true
        return managed.core.observe(
            keyPaths, of: table,
            { (transaction) throws(EngineError) in
                try object.core?.realm.checkObject(table, key)
                return ObjectNotifier(table, key, at: transaction.version)
            },
            { changes in
                guard case .object(let delta) = changes else { return }
                defer { isFirst = false }
                if delta.isDeleted { return block(.deleted) }
                guard !isFirst || !delta.properties.isEmpty else { return }
                let properties = told.changes(delta.properties)
                // Changes of links from classes that are not part of the program have no property here and are not
                // reported.
                if !properties.isEmpty || delta.properties.isEmpty { block(.change(object, properties)) }
            })
    }
}

/// The state of an object for its observer: the current properties, and their values before the Realm advanced.
private final class Told {
    private let object: ObjectBase
    private let earlier: Earlier

    /// Column keys of linking objects, with the indices of their properties.
    private var backlinks: [(column: ColKey, place: Int)] = []

    init(_ object: ObjectBase) {
        self.object = object
        earlier = Earlier(object) { object.info.properties.map { Told.value($0, of: object) } }
        guard let managed = object.managed else { return }
        let realm = managed.core.realm, properties = managed.info.properties
        for property in properties where property.shape.isComputed {
            let paths = try? realm.inside { () throws(EngineError) in
                try realm.keyPaths(property.column, of: managed.table)
            }
            if let column = paths?.first?.steps.first?.column { backlinks.append((column, Int(property.index))) }
        }
    }

    private static func value(_ property: PropertyInfo, of object: ObjectBase) -> Any? {
        property.shape.collection == .none ? property.access.any(object, property).flatMap(unwrapped) : nil
    }

    func changes(_ columns: [ColKey]) -> [PropertyChange] {
        guard let managed = object.managed else { return [] }
        let properties = managed.info.properties
        let changed = columns.compactMap { column in
            properties.first { managed.columns[Int($0.index)] == column && column != .null }
                ?? backlinks.first { $0.column == column }.map { properties[$0.place] }
        }
        return changed.map { property in
            PropertyChange(
                name: property.name, oldValue: earlier.value(Int(property.index)),
                newValue: property.shape.isComputed
                    ? property.access.any(object, property) : Told.value(property, of: object))
        }
    }
}

/// The values of an object before its Realm advanced to a version that was written elsewhere. The Realm's own writes
/// have no earlier values, because overwritten values are not kept.
final class Earlier {
    private let object: ObjectBase
    private let read: () -> [Any?]
    private var now: [Any?]
    private var before: [Any?]?
    private weak var core: RealmCore?
    private var id: Int?

    init(_ object: ObjectBase, _ read: @escaping () -> [Any?]) {
        self.object = object
        self.read = read
        now = read()
        core = object.core
        id = must { () throws(EngineError) in
            try object.core?.realm.inside { () throws(EngineError) in
                try object.core?.realm.addChangedCallback { [weak self] in self?.moved() }
            }
        }
    }

    deinit { if let id { core?.realm.removeCallback(id) } }

    private func moved() {
        before = core?.isCommitting ?? false ? nil : now
        if !object.isInvalidated { now = read() }
    }

    func value(_ place: Int) -> Any? { before.flatMap { $0[place] } }
}

// MARK: Collections

extension _Rows {
    func observe<C>(
        _ keyPaths: [String]?, _ collection: C, skip: (() -> Void)? = nil,
        _ block: @escaping (RealmCollectionChange<C>) -> Void
    ) -> NotificationToken {
        var isFirst = true
        let found = found
        if found.isOrderedValues { return observeOrdered(keyPaths, collection, skip: skip, block) }
        return core.observe(
            keyPaths, of: found.table ?? .null, skip: skip, { (t) throws(EngineError) in try found.makeNotifier(t) },
            { changes in
                guard case .collection(let delta) = changes else { return }
                if isFirst {
                    isFirst = false
                    return block(.initial(collection))
                }
                block(
                    .update(
                        collection, deletions: delta.deletions.indices, insertions: delta.insertions.indices,
                        modifications: delta.modifications.indices))
            })
    }
}

extension _Rows {
    /// Observes values in a custom order. The notifier only reports that the collection changed, so deletions and
    /// insertions are found by comparison.
    private func observeOrdered<C>(
        _ keyPaths: [String]?, _ collection: C, skip: (() -> Void)?,
        _ block: @escaping (RealmCollectionChange<C>) -> Void
    ) -> NotificationToken {
        func values() -> [EngineValue] { (0..<count).map { stored(at: $0).value } }
        var before: [EngineValue]?
        let skipping = {
            if before != nil, isValid { before = values() }
            skip?()
        }
        return core.observe(
            keyPaths, of: .null, skip: skipping, { (t) throws(EngineError) in try found.makeNotifier(t) }
        ) { _ in
            let now = values()
            guard let old = before else {
                before = now
                return block(.initial(collection))
            }
            before = now
            var deletions: [Int] = [], insertions: [Int] = []
            for step in now.difference(from: old) {
                switch step {
                case .remove(let index, _, _): deletions.append(index)
                case .insert(let index, _, _): insertions.append(index)
                }
            }
            guard !deletions.isEmpty || !insertions.isEmpty else { return }
            block(
                .update(collection, deletions: deletions.sorted(), insertions: insertions.sorted(), modifications: []))
        }
    }
}

extension RealmCollection {
    /// Calls `block` once with the initial collection, then whenever elements are inserted, deleted or modified.
    ///
    /// - Parameters:
    ///   - keyPaths: Properties whose changes count as a modification of an object; nil for its own properties and
    ///     those of objects behind its links; `[]` for no properties.
    ///   - queue: A serial queue on which `block` runs; nil to run it where the Realm is confined.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        let rows = _rlmRows()
        guard let queue else { return rows.observe(keyPaths, self, block) }
        return onQueue(queue, self, rows.core) { $0.observe(keyPaths: keyPaths, block) }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Calls `block` when the collection changes, with key paths that the compiler checks. See `observe(keyPaths:on:)`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

extension Map {
    /// Calls `block` once with the initial map, then whenever entries are inserted, deleted or changed.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        guard let managed else { misuse("Only collections which are managed by a Realm support change notifications") }
        if let queue { return onQueue(queue, self, managed.core) { $0.observe(keyPaths: keyPaths, block) } }
        var isFirst = true
        return managed.core.observe(
            keyPaths, of: managed.elements?.table ?? managed.path.table,
            { (t) throws(EngineError) in try CollectionNotifier(managed.path, .dictionary, t) },
            { changes in
                guard case .dictionary(let delta) = changes else { return }
                if isFirst {
                    isFirst = false
                    return block(.initial(self))
                }
                func keys(_ all: [[UInt8]]) -> [Key] { all.map { Key(_rlmKey: String(decoding: $0, as: UTF8.self)) } }
                block(
                    .update(
                        self, deletions: keys(delta.deletions), insertions: keys(delta.insertions),
                        modifications: keys(delta.modifications)))
            })
    }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// Calls `block` when the map changes, with key paths that the compiler checks. See `observe(keyPaths:on:)`.
    public func observe(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

// MARK: On other queues

/// Starts to observe on a queue. The token ends the observation, even before it has started.
func onQueue<T: ThreadConfined>(
    _ queue: DispatchQueue, _ confined: T, _ core: RealmCore, _ observe: @escaping (T) -> NotificationToken
) -> NotificationToken {
    nonisolated(unsafe) let observe = observe
    let reference = ThreadSafeReference(to: confined), configuration = core.configuration, state = Pending()
    queue.async {
        state.begin {
            guard let realm = try? Realm(configuration: configuration, queue: queue),
                let here = realm.resolve(reference)
            else { return nil }
            return observe(here)
        }
    }
    return NotificationToken { state.end() }
}

/// An observation that has not started yet.
private final class Pending: @unchecked Sendable {  // All state is behind the lock.
    private let lock = NSRecursiveLock()
    private var token: NotificationToken?
    private var hasEnded = false

    func begin(_ make: () -> NotificationToken?) {
        lock.lock()
        defer { lock.unlock() }
        if !hasEnded { token = make() }
    }

    func end() {
        lock.lock()
        hasEnded = true
        let token = self.token
        self.token = nil
        lock.unlock()
        token?.invalidate()
    }
}
