internal import CoreEngine

/// What results and collections have in common: rows of the engine, and the class of the program that shows them.
public struct _Rows {
    fileprivate let keeper: RealmKeeper
    var core: RealmCore { keeper.core }
    let found: ResultSet
    private let engine: Unmanaged<EngineRealm>
    /// The class of the objects, which the Realm keeps; nil for values.
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
    /// Key of the object in a row; misuse when there is none.
    @inline(__always) func key(at i: Int) -> ObjKey {
        do throws(EngineError) {
            let found = found
            return try engine.lending { (realm: EngineRealm) throws(EngineError) in try realm.key(of: found, at: i) }
        } catch {
            if error.code == .indexOutOfBounds { outOfBounds(i, count) }
            misuse(error)
        }
    }
    /// Keys of all rows as they are now.
    func keys() -> [ObjKey] { inside { () throws(EngineError) in try found.keys() } }
    /// Whether the rows can be read at all.
    var isValid: Bool {
        guard !core.realm.isClosed else { return false }
        return core.isThere { () throws(EngineError) in try found.isValid() }
    }
    /// Whether the rows are objects of exactly this class, so that `object` gives elements.
    @inlinable func showsObjects<Element>(of type: Element.Type) -> Bool { ObjectIdentifier(type) == elementClass }
    @usableFromInline func object(at i: Int) -> ObjectBase {
        guard let elements else { misuse("The rows are no objects") }
        return elements.object(key(at: i), .passUnretained(keeper))
    }
    @usableFromInline func value<Element: _RealmStorable>(at i: Int) -> Element { Element.element(stored(at: i)) }
    func element<Element: _RealmStorable>(_ i: Int, _ type: Element.Type) -> Element {
        showsObjects(of: type) ? unsafeBitCast(object(at: i), to: Element.self) : value(at: i)
    }
}

/// Goes over the elements that there were when it was made: what a loop adds and deletes does not disturb it.
///
/// Making an instance and letting go of it is most of what a loop over objects costs. So the instance given last shows
/// the next row where nobody can tell: nothing in the program refers to it any more, and its class has nothing but what
/// is stored in the file.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// Of objects their keys, of values the values.
    private let keys: [ObjKey]
    @usableFromInline let values: [Element]
    @usableFromInline var place = 0
    @usableFromInline let hasObjects: Bool

    /// Keeps the class, and is lent to each object.
    private let keeper: RealmKeeper?
    private let lent: Unmanaged<RealmKeeper>?
    private let elements: Unmanaged<ManagedClass>?

    /// The instance given last; nil where each row gets one of its own.
    private var last: ObjectBase?
    private let givesAgain: Bool

    init(_ rows: _Rows) {
        keeper = rows.keeper
        lent = .passUnretained(rows.keeper)
        if let elements = rows.elements, rows.showsObjects(of: Element.self) {
            self.elements = .passUnretained(elements)
            hasObjects = true
            // Frozen objects go to other threads, where tools that look for races could not tell the instances apart.
            givesAgain = elements.info.isOnlyStored && !rows.core.realm.isFrozen
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
