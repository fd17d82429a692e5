internal import CoreEngine

/// The objects of a class, or those that match a condition, optionally sorted. Results are live, and the query runs
/// when they are accessed.
public struct Results<Element: RealmCollectionValue> {
    @usableFromInline let rows: _Rows

    init(_ rows: _Rows) { self.rows = rows }

    /// Creates the results with all objects of a class.
    init(_ core: RealmCore) {
        guard let type = Element.self as? ObjectBase.Type ?? (Element.self as? any AnyProjection.Type)?.root else {
            misuse("\(Element.self) is no class of objects")
        }
        self.init(core, core.managed(type))
    }

    /// Creates the results with all objects of a class.
    init(_ core: RealmCore, _ managed: ManagedClass) {
        rows = _Rows(
            core,
            must { () throws(EngineError) in
                try core.realm.inside(.results) { () throws(EngineError) in
                    try managed.narrowed(try ResultSet(core.realm, .table(managed.table)))
                }
            }, managed)
    }

    /// Sets properties of all objects by expressions, as UPDATE in SQL. Only inside a write transaction. An addition to
    /// Realm's API.
    ///
    ///     try results.update("visits = visits + 1, price = price * %@, city = %@", 0.9, "Oslo")
    ///
    /// All expressions see the values from before the call. When the method throws, nothing was changed.
    ///
    /// - Parameters:
    ///   - assignments: names of properties and their new values. `docs/query-language.md` has the grammar.
    ///   - arguments: the values of `%@`.
    /// - Returns: the number of objects.
    /// - Throws: `Realm.Error` for unknown properties, the primary key, values that a property cannot hold, and broken
    ///   rules.
    @discardableResult
    public func update(_ assignments: String, _ arguments: Any...) throws -> Int {
        let text = FormatString(assignments, arguments)
        do throws(EngineError) {
            return try rows.core.realm.inside(.results) { () throws(EngineError) in try text.update(rows) }
        } catch { throw Realm.Error(error) }
    }

    func deleteObjects() {
        rows.core.change { () throws(EngineError) in
            try rows.core.realm.inside(.results) { () throws(EngineError) in try rows.found.deleteAll() }
        }
    }
}

extension Results: RealmCollection {
    public func _rlmRows() -> _Rows { rows }

    /// The Realm that manages the results.
    public var realm: Realm? { Realm(rows.core) }

    /// A Boolean value that indicates whether the results' owner was deleted or the Realm was closed.
    public var isInvalidated: Bool { !rows.isValid }

    /// A Boolean value that indicates whether the results are frozen. Frozen results show one version and may be used
    /// on any thread.
    public var isFrozen: Bool { rows.core.realm.isFrozen }

    /// The current number of elements.
    public var count: Int { rows.count }

    // The cast is inlined into the program, where the type is known. The other code knows no types.
    @inlinable public subscript(position: Int) -> Element {
        rows.showsObjects(of: Element.self)
            ? unsafeBitCast(rows.object(at: position), to: Element.self) : rows.value(at: position)
    }

    /// Returns an iterator over the current elements.
    public func makeIterator() -> RLMIterator<Element> { RLMIterator(rows) }

    /// Returns the index of the first equal element; nil if no element is equal.
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
    /// Encodes the results as an array of elements.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
