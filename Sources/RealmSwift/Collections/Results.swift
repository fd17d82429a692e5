internal import CoreEngine

/// The objects of a class, or those of them that meet a condition, in an order: live, found when they are asked for.
public struct Results<Element: RealmCollectionValue> {
    @usableFromInline let rows: _Rows

    init(_ rows: _Rows) { self.rows = rows }

    /// All objects of a class.
    init(_ core: RealmCore) {
        guard let type = Element.self as? ObjectBase.Type ?? (Element.self as? any AnyProjection.Type)?.root else {
            misuse("\(Element.self) is no class of objects")
        }
        self.init(core, core.managed(type))
    }

    /// All objects of a class.
    init(_ core: RealmCore, _ managed: ManagedClass) {
        rows = _Rows(
            core,
            must { () throws(EngineError) in
                try core.realm.inside(.results) { () throws(EngineError) in
                    try ResultSet(core.realm, .table(managed.table))
                }
            }, managed)
    }

    func deleteObjects() { rows.inside { () throws(EngineError) in try rows.found.deleteAll() } }
}

extension Results: RealmCollection {
    public func _rlmRows() -> _Rows { rows }

    /// The Realm that manages it; nil for an unmanaged one.
    public var realm: Realm? { Realm(rows.core) }

    /// Whether its owner was deleted, or the Realm closed.
    public var isInvalidated: Bool { !rows.isValid }

    /// Whether it shows one version for good, for all threads.
    public var isFrozen: Bool { rows.core.realm.isFrozen }

    /// Number of elements now.
    public var count: Int { rows.count }

    // The cast is a matter of the program's own code, where the type is known; the rest knows no types.
    @inlinable public subscript(position: Int) -> Element {
        rows.showsObjects(of: Element.self)
            ? unsafeBitCast(rows.object(at: position), to: Element.self) : rows.value(at: position)
    }

    /// Goes over the elements that there are now.
    public func makeIterator() -> RLMIterator<Element> { RLMIterator(rows) }

    /// Index of the first equal element.
    public func index(of element: Element) -> Int? {
        guard let stored = element._rlmValue() else { return nil }
        return rows.inside { () throws(EngineError) in
            try stored.value.withMixed { (m) throws(EngineError) in try rows.found.find(m) }
        }
    }
}

extension Results: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        (other as? Results).map { rows.found === $0.rows.found } ?? false
    }
}

extension Results: Encodable where Element: Encodable {
    /// An array of the elements.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
