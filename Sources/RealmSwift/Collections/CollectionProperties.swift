internal import CoreEngine

/// What lists, sets and maps have in common as properties. Assigning one takes over its elements: the property keeps
/// the collection that it has.
public protocol _PropertyCollection: AnyObject, _Persistable, _DefaultConstructible, ThreadConfined {
    /// nil for an unmanaged collection.
    var _rlmPlace: _CollectionPlace? { get }
    /// Takes the elements of another collection in place of its own.
    func _rlmAssign(_ other: Self)
}

/// Where a managed collection lies.
public struct _CollectionPlace { let managed: ManagedCollection }

extension _PropertyCollection {
    /// The Realm that manages it; nil for an unmanaged one.
    public var realm: Realm? { _rlmPlace.map { Realm($0.managed.core) } }
    /// Whether its owner was deleted, or the Realm closed.
    public var isInvalidated: Bool { _rlmPlace.map { !$0.managed.isThere } ?? false }
    /// Whether it shows one version for good, for all threads.
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

/// The same, as this module sees it.
protocol PropertyCollection: _PropertyCollection {
    static var kind: CollectionShape { get }
    var managed: ManagedCollection? { get set }

    /// Of a stand-in.
    var recorder: _Recording? { get set }
}

extension List: PropertyCollection { static var kind: CollectionShape { .list } }

extension MutableSet: PropertyCollection { static var kind: CollectionShape { .set } }

extension Map: PropertyCollection { static var kind: CollectionShape { .dictionary } }

/// How collections come out of properties and into them.
extension ObjectBase {
    /// The collection in a property of a managed object.
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

    /// The collection that was asked for last: a managed object gives the same instance each time. What the model or
    /// the program put there before is not that: a default value, or the collection of another object.
    final func kept<C: PropertyCollection>(_ index: Int16) -> C? {
        // The field is written where the Realm lives: whoever reads it elsewhere is stopped first.
        must { () throws(EngineError) in try core?.realm.inside(.object) { () in } }
        guard let kept = wrapper(index)?.pointee.value as C?, let place = kept.managed, let managed,
            place.core === core, place.path.steps.isEmpty,
            place.path.table == managed.table, place.path.object == named.key,
            place.path.column == managed.columns[Int(index)]
        else { return nil }
        return kept
    }

    final func keep<C: _Persistable>(_ index: Int16, _ collection: C) -> C {
        // A frozen object may be read by several threads at once.
        if !isFrozen { wrapper(index)?.pointee.value = collection }
        return collection
    }

    /// nil where the object has no model.
    private func wrapper<C: _Persistable>(_ index: Int16) -> UnsafeMutablePointer<Persisted<C>>? {
        guard dynamicClass == nil, let offset = managed?.info.properties[Int(index)].offset else { return nil }
        return (UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()) + offset).assumingMemoryBound(
            to: Persisted<C>.self)
    }
}

extension _Place {
    /// The collection that this place, a property, is.
    func collection(_ shape: CollectionShape, _ element: _PropertyShape) -> ManagedCollection? {
        guard case .property(let table, let object, let column) = target else { return nil }
        return ManagedCollection(core, CollectionPath(table: table, owner: object, column: column), shape, element)
    }
}

extension ManagedCollection {
    func clear() { change { (realm, path) throws(EngineError) in try realm.clear(path, shape) } }

    /// Stores elements in place of those that a list or set has. Where only changes are stored, those of a list one by
    /// one: an embedded object stays the one that it was.
    func replace<E>(with elements: [E], _ addition: Addition, _ store: (E, _Place) throws -> Void) throws {
        let isKept = addition.onlyChanges && shape == .list, before = isKept ? count : 0
        let all = independent(elements)
        // A new object has none.
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

    /// The same with what stands for elements; false where something stands for none.
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

    /// Takes the entries out of a map whose keys are not among those to be stored; all of them, unless only changes are
    /// stored.
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
