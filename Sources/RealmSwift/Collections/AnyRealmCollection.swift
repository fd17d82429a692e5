/// A collection of a Realm whose kind is of no concern.
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

    /// The Realm that manages it.
    public let realm: Realm?

    /// Whether it shows one version for good, for all threads.
    public let isFrozen: Bool

    /// - Parameter base: which is shown.
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

    /// Whether its owner was deleted, or the Realm closed.
    public var isInvalidated: Bool { isGone() }

    /// Number of elements now.
    public var count: Int { number() }

    /// The element at an index; misuse where there is none.
    public subscript(position: Int) -> Element { element(position) }

    /// Goes over the elements that there are now.
    public func makeIterator() -> RLMIterator<Element> { all() }

    /// Index of the first equal element.
    public func index(of element: Element) -> Int? { place(element) }
}

extension AnyRealmCollection: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        (other as? AnyRealmCollection).map { base.isSame(as: $0.base) } ?? false
    }
}

/// Of a collection that says nothing of what it is the same as.
private final class OnlyItself: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool { other as? OnlyItself === self }
}
