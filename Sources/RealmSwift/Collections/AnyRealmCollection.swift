/// A collection of a Realm whose kind is of no concern.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let rows: () -> _Rows
    private let place: (Element) -> Int?
    private let element: (Int) -> Element
    private let number: () -> Int
    private let isGone: () -> Bool
    private let all: () -> RLMIterator<Element>
    public let realm: Realm?
    public let isFrozen: Bool

    /// - Parameter base: which is shown.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element {
        rows = { base._rlmRows() }
        place = { base.index(of: $0) }
        element = { base[$0] }
        number = { base.count }
        isGone = { base.isInvalidated }
        all = { base.makeIterator() }
        (realm, isFrozen) = (base.realm, base.isFrozen)
    }
    public func _rlmRows() -> _Rows { rows() }
    public var isInvalidated: Bool { isGone() }
    public var count: Int { number() }
    public subscript(position: Int) -> Element { element(position) }
    public func makeIterator() -> RLMIterator<Element> { all() }
    public func index(of element: Element) -> Int? { place(element) }
}
