internal import CoreEngine
import Foundation

/// Freezing and thawing: `freeze` keeps one version, for use on any thread; `thaw` returns to the live version.

extension RealmCore {
    /// Returns a frozen copy of this Realm at its current version.
    func frozen() -> RealmCore {
        if realm.isFrozen { return self }
        return must { () throws(EngineError) in RealmCore(try realm.freeze(), configuration, declared: declared) }
    }

    /// Returns a live Realm of the same file for the current thread; nil if it cannot be opened.
    func thawed() -> RealmCore? {
        guard realm.isFrozen else { return self }
        return try? RealmCore.open(configuration, try Confinement.scheduler(nil))
    }

    /// Returns the same object in another Realm of the file; nil if it does not exist in that Realm.
    func object(_ object: ObjectBase, in other: RealmCore) -> ObjectBase? {
        guard let managed = object.managed, other.realm.isValid(managed.table, object.named.key) else { return nil }
        return managed.info.isDynamic
            ? other.dynamic(managed.table, object.named.key)
            : other.object(managed.info.type, managed.table, object.named.key)
    }

    /// Returns the same rows in another Realm of the file.
    func rows(_ rows: _Rows, in other: RealmCore) -> _Rows {
        let recipe = rows.inside { () throws(EngineError) in rows.found.recipe }
        let found = must { () throws(EngineError) in
            try other.realm.inside(.results) { () throws(EngineError) in try ResultSet(other.realm, recipe) }
        }
        return _Rows(
            other, found,
            rows.elements.flatMap { $0.info.isDynamic ? other.dynamicClass(of: $0.table) : other.managed($0.info.type) }
        )
    }

    func collection(_ collection: ManagedCollection, in other: RealmCore, _ element: _PropertyShape)
        -> ManagedCollection
    {
        ManagedCollection(other, collection.path, collection.shape, element)
    }
}

extension Realm {
    /// Returns a frozen snapshot of this Realm, for use on any thread.
    public func freeze() -> Realm { Realm(core.frozen()) }

    /// Returns a live Realm of the same file, for the current thread.
    public func thaw() -> Realm {
        guard let live = core.thawed() else { misuse("The Realm of a frozen one cannot be opened") }
        return Realm(live)
    }

    public func freeze<T: ThreadConfined>(_ confined: T) -> T { confined.freeze() }

    public func thaw<T: ThreadConfined>(_ confined: T) -> T? { confined.thaw() }
}

extension ThreadConfined {
    public func freeze() -> Self {
        if isFrozen { return self }
        guard let realm else { misuse("Unmanaged objects cannot be frozen.") }
        guard let frozen = _rlmMove(to: realm.freeze()) else { misuse("Object has been deleted or invalidated.") }
        return frozen
    }

    public func thaw() -> Self? {
        guard let realm else { misuse("Unmanaged objects cannot be thawed.") }
        guard isFrozen else { return self }
        return realm.core.thawed().flatMap { _rlmMove(to: Realm($0)) }
    }
}

extension ObjectBase {
    public final func _rlmMove(to realm: Realm) -> Self? {
        core?.object(self, in: realm.core).map { unsafeDowncast($0, to: Self.self) }
    }
}

extension Results {
    public func _rlmMove(to realm: Realm) -> Results? { Results(rows.core.rows(rows, in: realm.core)) }
}

extension LinkingObjects {
    public func _rlmMove(to realm: Realm) -> LinkingObjects? {
        rows.map { LinkingObjects($0.core.rows($0, in: realm.core)) }
    }
}

extension List {
    public func _rlmMove(to realm: Realm) -> List? {
        guard let moved = managed.map({ $0.core.collection($0, in: realm.core, Element._rlmShape) }), moved.isThere
        else { return nil }
        return List(moved)
    }
}

extension MutableSet {
    public func _rlmMove(to realm: Realm) -> MutableSet? {
        guard let moved = managed.map({ $0.core.collection($0, in: realm.core, Element._rlmShape) }), moved.isThere
        else { return nil }
        return MutableSet(moved)
    }
}

extension Map {
    public func _rlmMove(to realm: Realm) -> Map? {
        guard let moved = managed.map({ $0.core.collection($0, in: realm.core, Value._rlmShape) }), moved.isThere else {
            return nil
        }
        return Map(moved)
    }
}
