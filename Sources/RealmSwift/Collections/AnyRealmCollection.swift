/// A type-erased collection of a Realm.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let rows: () -> _Rows
    private let place: (Element) -> Int?
    private let element: (Int) -> Element
    private let number: () -> Int
    private let isGone: () -> Bool
    private let all: () -> RLMIterator<Element>
    private let moved: (Realm) -> AnyRealmCollection?
    private let carried: () -> _Carried?
    fileprivate let base: any SameByIdentity

    /// The Realm that manages the collection; nil for an unmanaged one.
    public let realm: Realm?

    /// A Boolean value that indicates whether the collection is frozen. A frozen collection shows one version and may
    /// be used on any thread.
    public let isFrozen: Bool

    /// Creates a collection that shows another one.
    ///
    /// - Parameter base: The collection to show.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element {
        rows = { base._rlmRows() }
        place = { base.index(of: $0) }
        element = { base[$0] }
        number = { base.count }
        isGone = { base.isInvalidated }
        all = { base.makeIterator() }
        moved = { base._rlmMove(to: $0).map { AnyRealmCollection($0) } }
        self.base = (base as? any SameByIdentity) ?? OnlyItself()
        carried = { base._rlmCarried()?.map(C.self) { AnyRealmCollection($0) } }
        (realm, isFrozen) = (base.realm, base.isFrozen)
    }

    public func _rlmRows() -> _Rows { rows() }

    public func _rlmMove(to realm: Realm) -> AnyRealmCollection? { moved(realm) }

    public func _rlmCarried() -> _Carried? { carried() }

    /// A Boolean value that indicates whether the collection's owner was deleted or its Realm was closed.
    public var isInvalidated: Bool { isGone() }

    /// The current number of elements.
    public var count: Int { number() }

    /// Accesses the element at an index. An invalid index is misuse.
    public subscript(position: Int) -> Element { element(position) }

    /// Returns an iterator over the current elements.
    public func makeIterator() -> RLMIterator<Element> { all() }

    /// Returns the index of the first equal element; nil if no element is equal.
    public func index(of element: Element) -> Int? { place(element) }
}

extension AnyRealmCollection: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        (other as? AnyRealmCollection).map { base.isSame(as: $0.base) } ?? false
    }
}

/// The identity of a collection whose type does not define one. It is the same only as itself.
private final class OnlyItself: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool { other as? OnlyItself === self }
}
