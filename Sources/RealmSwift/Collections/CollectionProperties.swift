internal import CoreEngine

/// The common base of lists, sets and maps as properties. An assignment copies the elements: the property keeps its
/// collection.
public protocol _PropertyCollection: AnyObject, _Persistable, _DefaultConstructible, ThreadConfined {
    /// The place of the collection; nil for an unmanaged collection.
    var _rlmPlace: _CollectionPlace? { get }
    /// Replaces the elements with those of another collection.
    func _rlmAssign(_ other: Self)
}

/// The place of a managed collection.
public struct _CollectionPlace { let managed: ManagedCollection }

extension _PropertyCollection {
    /// The Realm that manages the collection; nil for an unmanaged one.
    public var realm: Realm? { _rlmPlace.map { Realm($0.managed.core) } }
    /// A Boolean value that indicates whether the collection's owner was deleted or its Realm was closed.
    public var isInvalidated: Bool { _rlmPlace.map { !$0.managed.isThere } ?? false }
    /// A Boolean value that indicates whether the collection is frozen. A frozen collection shows one version and may
    /// be used on any thread.
    public var isFrozen: Bool { _rlmPlace?.managed.core.realm.isFrozen ?? false }

    public static func _rlmDefault() -> Self { Self() }
    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Self) {
        _rlmGet(object, index)._rlmAssign(value)
    }
    public static func _rlmAssigned(_ old: Self?, _ new: Self) -> Self {
        let kept = old ?? Self()
        kept._rlmAssign(new)
        return kept
    }
}

/// The common base of lists, sets and maps, with the requirements that are internal to this module.
protocol PropertyCollection: _PropertyCollection {
    static var kind: CollectionShape { get }
    var managed: ManagedCollection? { get set }

    /// The recorder of a stand-in; nil for other collections.
    var recorder: _Recording? { get set }
}

extension List: PropertyCollection { static var kind: CollectionShape { .list } }

extension MutableSet: PropertyCollection { static var kind: CollectionShape { .set } }

extension Map: PropertyCollection { static var kind: CollectionShape { .dictionary } }

/// Collections in properties of objects.
extension ObjectBase {
    /// Returns the collection in a property of a managed object.
    final func collection(_ index: Int16, _ shape: CollectionShape, _ element: _PropertyShape) -> ManagedCollection {
        guard let managed else { misuse("The object is not managed") }
        must { () throws(EngineError) in
            try managed.core.realm.inside(.object) { () throws(EngineError) in
                try managed.core.realm.checkCollection(managed.table, named.key, managed.columns[Int(index)], as: shape)
            }
        }
        return ManagedCollection(
            managed.core, CollectionPath(table: managed.table, owner: named, column: managed.columns[Int(index)]),
            shape, element)
    }

    /// Returns the collection that was read last, so that a managed object returns the same instance each time. A
    /// collection that the model or the program assigned earlier is not returned: it is a default value, or belongs to
    /// another object.
    final func kept<C: PropertyCollection>(_ index: Int16) -> C? {
        // The field is written where the Realm is confined, so a read from a wrong thread must be detected first.
        must { () throws(EngineError) in try core?.realm.inside(.object) { () in } }
        guard let kept = wrapper(index)?.pointee.value as C?, let place = kept.managed, let managed,
            place.core === core, place.path.steps.isEmpty,
            place.path.table == managed.table, place.path.object == named.key,
            place.path.column == managed.columns[Int(index)]
        else { return nil }
        return kept
    }

    final func keep<C: _Persistable>(_ index: Int16, _ collection: C) -> C {
        // Several threads may read a frozen object at the same time.
        if !isFrozen { wrapper(index)?.pointee.value = collection }
        return collection
    }

    /// Returns the wrapper of a property; nil if the object has no model.
    private func wrapper<C: _Persistable>(_ index: Int16) -> UnsafeMutablePointer<Persisted<C>>? {
        guard dynamicClass == nil, let offset = managed?.info.properties[Int(index)].offset else { return nil }
        return (UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()) + offset).assumingMemoryBound(
            to: Persisted<C>.self)
    }
}

extension _Place {
    /// Returns the collection at this place; nil if the place is not a property.
    func collection(_ shape: CollectionShape, _ element: _PropertyShape) -> ManagedCollection? {
        guard case .property(let table, let object, let column) = target else { return nil }
        return ManagedCollection(core, CollectionPath(table: table, owner: object, column: column), shape, element)
    }
}

extension ManagedCollection {
    func clear() { change { (realm, path) throws(EngineError) in try realm.clear(path, shape) } }

    /// Replaces the elements of a list or set. If only changes are stored, the elements of a list are replaced one by
    /// one, so that embedded objects keep their identity.
    func replace<E>(with elements: [E], _ addition: Addition, _ store: (E, _Place) throws -> Void) throws {
        let isKept = addition.onlyChanges && shape == .list, before = isKept ? count : 0
        let all = independent(elements)
        // The collection of a new object is already empty.
        if !isKept, addition.update != .error { clear() }
        for (i, element) in all.enumerated() {
            let target: _Place.Target =
                shape == .set ? .member(path) : (i < before ? .element(path, i) : .insertion(path, i))
            try store(element, _Place(core, target, addition))
        }
        for i in (elements.count..<Swift.max(before, elements.count)).reversed() {
            change { (realm, path) throws(EngineError) in try realm.erase(at: i, in: path) }
        }
    }

    /// Replaces the elements with converted values. Returns false if a value cannot be converted.
    func replace<Element: _RealmStorable>(withAny elements: [Any], _ type: Element.Type, _ addition: Addition) throws
        -> Bool
    {
        do {
            try replace(with: elements, addition) { element, place in
                guard Element.isElement(element), try Element._rlmStoreAny(element, at: place) else {
                    throw IsNoElement()
                }
            }
            return true
        } catch is IsNoElement { return false }
    }

    /// Removes entries of a map before new ones are stored. If only changes are stored, entries with one of the new
    /// keys stay; otherwise all entries are removed.
    func makeRoom(for keys: [String], _ addition: Addition) {
        guard addition.update != .error else { return }
        guard addition.onlyChanges else { return clear() }
        let wanted = Set(keys.map { Name($0) })
        for i in (0..<count).reversed() {
            let key = entry(at: i).key
            guard !wanted.contains(Name(key)) else { continue }
            change { (realm, path) throws(EngineError) in
                try Array(key.utf8).withBytes { (b) throws(EngineError) in _ = try realm.eraseKey(b, in: path) }
            }
        }
    }
}

private struct IsNoElement: Error {}
