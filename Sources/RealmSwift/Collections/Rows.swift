internal import CoreEngine

/// The common base of results and collections: rows of the engine, and the class of the program that shows them.
public struct _Rows {
    fileprivate let keeper: RealmKeeper
    var core: RealmCore { keeper.core }
    let found: ResultSet
    private let engine: Unmanaged<EngineRealm>
    /// The class of the objects, which the Realm keeps alive; nil for values.
    unowned(unsafe) let elements: ManagedClass?
    @usableFromInline let elementClass: ObjectIdentifier?

    init(_ core: RealmCore, _ found: ResultSet, _ elements: ManagedClass?) {
        elementClass = elements.map { ObjectIdentifier($0.info.type) }
        keeper = RealmKeeper(core)
        engine = .passUnretained(core.realm)
        self.found = found
        self.elements = elements
    }
    @inline(__always) func inside<R>(_ body: () throws(EngineError) -> R) -> R {
        must { () throws(EngineError) in try core.realm.inside(.results, body) }
    }
    func derived(_ make: () throws(EngineError) -> ResultSet) -> _Rows { _Rows(core, inside(make), elements) }

    var count: Int {
        must { () throws(EngineError) in
            try engine.lending { (realm: EngineRealm) throws(EngineError) in try realm.count(of: found) }
        }
    }
    func stored(at i: Int) -> _StoredValue {
        inside { () throws(EngineError) in
            let count = try found.count()
            guard i >= 0, i < count else { outOfBounds(i, count) }
            let value = try found.value(i)
            switch value {
            case .list, .dictionary: return _StoredValue(value.owned, core, try found.nestedPath(i))
            default: return _StoredValue(value.owned, core)
            }
        }
    }
    /// Returns the key of the object in a row. An invalid index is misuse.
    @inline(__always) func key(at i: Int) -> ObjKey {
        do throws(EngineError) {
            let found = found
            return try engine.lending { (realm: EngineRealm) throws(EngineError) in try realm.key(of: found, at: i) }
        } catch {
            if error.code == .indexOutOfBounds { outOfBounds(i, count) }
            misuse(error)
        }
    }
    /// Returns the current keys of all rows.
    func keys() -> [ObjKey] { inside { () throws(EngineError) in try found.keys() } }
    /// Whether the rows can be read.
    var isValid: Bool {
        guard !core.realm.isClosed else { return false }
        return core.isThere { () throws(EngineError) in try found.isValid() }
    }
    /// Returns whether the rows are objects of exactly this class, so that `object` returns elements.
    @inlinable func showsObjects<Element>(of type: Element.Type) -> Bool { ObjectIdentifier(type) == elementClass }
    @usableFromInline func object(at i: Int) -> ObjectBase {
        guard let elements else { misuse("The rows are no objects") }
        return elements.object(key(at: i), .passUnretained(keeper))
    }
    @usableFromInline func value<Element: _RealmStorable>(at i: Int) -> Element { Element.element(stored(at: i)) }
    func element<Element: _RealmStorable>(_ index: Int, _ type: Element.Type) -> Element {
        showsObjects(of: type) ? unsafeBitCast(object(at: index), to: Element.self) : value(at: index)
    }
}

/// An iterator over the elements that existed when it was created. Insertions and deletions in the loop do not affect
/// it.
///
/// Making and releasing instances is the largest part of the cost of a loop over objects. So the iterator reuses the
/// last instance for the next row if the program cannot detect it: nothing else refers to the instance, and its class
/// has only stored properties.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// The keys, for objects. For values, `values` is used instead.
    private let keys: [ObjKey]
    @usableFromInline let values: [Element]
    @usableFromInline var place = 0
    @usableFromInline let hasObjects: Bool

    /// The keeper, which keeps the class alive and is lent to each object.
    private let keeper: RealmKeeper?
    private let lent: Unmanaged<RealmKeeper>?
    private let elements: Unmanaged<ManagedClass>?

    /// The last returned instance; nil if each row gets its own instance.
    private var last: ObjectBase?
    private let givesAgain: Bool

    init(_ rows: _Rows) {
        keeper = rows.keeper
        lent = .passUnretained(rows.keeper)
        if let elements = rows.elements, rows.showsObjects(of: Element.self) {
            self.elements = .passUnretained(elements)
            hasObjects = true
            // Frozen objects may move to other threads, where race detectors could not distinguish the reused instance.
            // The next row may be of another class.
            givesAgain = elements.info.isOnlyStored && elements.subclasses == nil && !rows.core.realm.isFrozen
            keys = rows.keys()
            values = []
        } else {
            elements = nil
            hasObjects = false
            givesAgain = false
            keys = []
            values = (0..<rows.count).map { Element.element(rows.stored(at: $0)) }
        }
    }

    init(_ values: [Element]) {
        self.values = values
        (keys, keeper, lent, elements, hasObjects, givesAgain) = ([], nil, nil, nil, false, false)
    }

    @usableFromInline mutating func nextObject() -> ObjectBase? {
        let index = place
        guard let elements, let lent, index < keys.count else { return nil }
        place = index + 1
        let key = keys[index]
        guard givesAgain else { return elements._withUnsafeGuaranteedRef { $0.object(key, lent) } }
        if isNowhereElse(&last), let last, last.showInstead(key) { return last }
        let object = elements._withUnsafeGuaranteedRef { $0.object(key, lent) }
        last = object
        return object
    }

    @inlinable public mutating func next() -> Element? {
        if hasObjects { return unsafeBitCast(nextObject(), to: Element?.self) }
        let index = place
        guard index < values.count else { return nil }
        place = index + 1
        return values[index]
    }
}
