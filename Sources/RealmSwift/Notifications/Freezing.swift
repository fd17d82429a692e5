internal import CoreEngine
import Foundation

/// One version for good, for any thread: `freeze`, and back: `thaw`.

extension RealmCore {
    /// This Realm at the version that it shows.
    func frozen() -> RealmCore {
        if realm.isFrozen { return self }
        return must { () throws(EngineError) in RealmCore(try realm.freeze(), configuration) }
    }

    /// The Realm of the file where this is called; nil where it cannot be opened.
    func thawed() -> RealmCore? {
        guard realm.isFrozen else { return self }
        return try? RealmCore.open(configuration, try Confinement.scheduler(nil))
    }

    /// The object in another Realm of the file; nil when it is not there.
    func object(_ object: ObjectBase, in other: RealmCore) -> ObjectBase? {
        guard let managed = object.managed, other.realm.isValid(managed.table, object.named.key) else { return nil }
        return managed.info.isDynamic
            ? other.dynamic(managed.table, object.named.key)
            : other.object(managed.info.type, managed.table, object.named.key)
    }

    /// Rows in another Realm of the file.
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

    func collection(_ c: ManagedCollection, in other: RealmCore, _ element: _PropertyShape) -> ManagedCollection {
        ManagedCollection(other, c.path, c.shape, element)
    }
}

extension Realm {
    /// This Realm as it is now, for any thread.
    public func freeze() -> Realm { Realm(core.frozen()) }

    /// The live Realm of a frozen one, where this is called.
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
