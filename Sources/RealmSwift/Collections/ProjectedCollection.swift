import Foundation

/// A collection of the values of one property of the objects in another collection: `person.friends.projectTo.name`.
///
/// It is live, like the original collection.
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection, CustomStringConvertible,
    ThreadConfined
{
    private let source: any ProjectionSource
    private let property: () -> String
    private let value: (Int) -> Element

    init<C: RealmCollection>(_ collection: C, _ keyPath: Swift.KeyPath<C.Element, Element>)
    where C.Element: ObjectBase {
        source = Source(collection: collection) { ProjectedCollection<Element>($0, keyPath) }
        property = { name(of: keyPath) }
        value = { collection[$0][keyPath: keyPath] }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { source.count }

    /// Accesses the value of an element. An assignment sets the property of that object.
    public subscript(position: Int) -> Element {
        get { value(position) }
        nonmutating set { source.setValue(newValue, property(), at: position) }
    }

    /// Returns the index of the first equal value; nil if no value is equal.
    public func index(of object: Element) -> Int? { firstIndex(of: object) }

    /// Returns the index of the first object that matches a predicate; nil if no object matches.
    public func index(matching predicate: NSPredicate) -> Int? { source.index(matching: predicate) }

    /// The Realm that manages the collection.
    public var realm: Realm? { source.realm }

    /// A Boolean value that indicates whether the collection's owner was deleted or its Realm was closed.
    public var isInvalidated: Bool { source.isInvalidated }

    /// A Boolean value that indicates whether the collection is frozen. A frozen collection shows one version and may
    /// be used on any thread.
    public var isFrozen: Bool { source.isFrozen }

    public var description: String {
        "ProjectedCollection<\(Element.self)> {\n" + enumerated().map { "\t[\($0)] \($1)\n" }.joined() + "}"
    }

    public func _rlmMove(to realm: Realm) -> Self? { source.moved(to: realm) as? Self }

    public func _rlmCarried() -> _Carried? { source.carried() }

    /// Calls `block` once with the initial collection, then whenever its objects are inserted, deleted or modified.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken {
        source.observe(keyPaths, queue) { here, change in
            guard let here = here as? Self else { return }
            switch change {
            case .initial: block(.initial(here))
            case .update(_, let deletions, let insertions, let modifications):
                block(.update(here, deletions: deletions, insertions: insertions, modifications: modifications))
            case .error(let error): block(.error(error))
            }
        }
    }
}

/// The original collection, with an unknown type.
private protocol ProjectionSource {
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    var count: Int { get }

    func index(matching predicate: NSPredicate) -> Int?
    func setValue(_ value: Any, _ property: String, at position: Int)
    func moved(to realm: Realm) -> Any?
    func carried() -> _Carried?

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ block: @escaping (Any, RealmCollectionChange<Void>) -> Void
    ) -> NotificationToken
}

private struct Source<C: RealmCollection, Projected>: ProjectionSource where C.Element: ObjectBase {
    let collection: C
    let project: (C) -> Projected
    var realm: Realm? { collection.realm }
    var isInvalidated: Bool { collection.isInvalidated }
    var isFrozen: Bool { collection.isFrozen }
    var count: Int { collection.count }

    func index(matching predicate: NSPredicate) -> Int? { collection.index(matching: predicate) }

    func setValue(_ value: Any, _ property: String, at position: Int) {
        collection[position].setValue(value, forKeyPath: property)
    }

    func moved(to realm: Realm) -> Any? { collection._rlmMove(to: realm).map { project($0) } }

    func carried() -> _Carried? {
        let project = project
        return collection._rlmCarried()?.map(C.self) { project($0) }
    }

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ block: @escaping (Any, RealmCollectionChange<Void>) -> Void
    ) -> NotificationToken {
        collection.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let source): block(project(source), .initial(()))
            case .update(let source, let deletions, let insertions, let modifications):
                block(
                    project(source),
                    .update((), deletions: deletions, insertions: insertions, modifications: modifications))
            case .error(let error): block(project(collection), .error(error))
            }
        }
    }
}

/// A factory for collections of one property: `dogs.projectTo.name`.
@dynamicMemberLookup
public struct CollectionElementMapper<C: RealmCollection> where C.Element: ObjectBase {
    fileprivate let collection: C
    public subscript<V: RealmCollectionValue>(dynamicMember member: Swift.KeyPath<C.Element, V>) -> ProjectedCollection<
        V
    > {
        ProjectedCollection(collection, member)
    }
}

extension List where Element: ObjectBase {
    /// A factory for collections of one property of the objects.
    public var projectTo: CollectionElementMapper<List<Element>> { CollectionElementMapper(collection: self) }
}

extension MutableSet where Element: ObjectBase {
    /// A factory for collections of one property of the objects.
    public var projectTo: CollectionElementMapper<MutableSet<Element>> { CollectionElementMapper(collection: self) }
}
