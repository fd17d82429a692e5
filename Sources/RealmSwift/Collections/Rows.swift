internal import CoreEngine

/// What results and collections have in common: rows of the engine, and the class of the program that shows them.
public struct _Rows {
    let core: RealmCore
    let found: ResultSet
    /// The class of the objects, which the Realm keeps; nil for values.
    unowned(unsafe) let elements: ManagedClass?

    init(_ core: RealmCore, _ found: ResultSet, _ elements: ManagedClass?) {
        self.core = core
        self.found = found
        self.elements = elements
    }
    @inline(__always) func inside<R>(_ body: () throws(EngineError) -> R) -> R {
        must { () throws(EngineError) in try core.realm.inside(.results, body) }
    }
    func derived(_ make: () throws(EngineError) -> ResultSet) -> _Rows { _Rows(core, inside(make), elements) }

    var count: Int { inside { () throws(EngineError) in try found.count() } }
    func stored(at i: Int) -> _StoredValue {
        inside { () throws(EngineError) in
            let n = try found.count()
            guard i >= 0, i < n else { misuse("Index \(i) is out of bounds (must be less than \(n)).") }
            let v = try found.value(i)
            switch v {
            case .list, .dictionary: return _StoredValue(v.owned, core, try found.nestedPath(i))
            default: return _StoredValue(v.owned, core)
            }
        }
    }
    /// Key of the object in a row; misuse when there is none.
    @inline(__always) func key(at i: Int) -> ObjKey {
        do throws(EngineError) { return try core.realm.key(of: found, at: i) } catch {
            if error.code == .indexOutOfBounds { misuse("Index \(i) is out of bounds (must be less than \(count)).") }
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
    func element<Element: _RealmStorable>(_ i: Int, _ type: Element.Type) -> Element {
        if let elements, elements.isShown(by: type) { return unsafeBitCast(elements.object(key(at: i)), to: Element.self) }
        return load(stored(at: i))
    }
    func load<Element: _RealmStorable>(_ stored: _StoredValue) -> Element {
        guard let value = Element._rlmLoad(stored) else { misuse("The collection holds \(stored.value), which is no \(Element.self)") }
        return value
    }
}
extension ManagedClass {
    /// Whether instances of this class are what a generic collection is made of.
    @inline(__always) func isShown<Element>(by type: Element.Type) -> Bool { info.type == type }
}

/// Goes over the elements that there were when it was made: what a loop adds and deletes does not disturb it.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// Of objects their keys, of values the values.
    private let keys: [ObjKey]
    private let values: [Element]
    private var place = 0
    /// Keeps the class.
    private let core: RealmCore?
    private unowned(unsafe) let elements: ManagedClass?

    init(_ rows: _Rows) {
        core = rows.core
        if let elements = rows.elements, elements.isShown(by: Element.self) {
            self.elements = elements
            keys = rows.keys()
            values = []
        } else {
            elements = nil
            keys = []
            values = (0..<rows.count).map { rows.load(rows.stored(at: $0)) }
        }
    }
    init(_ values: [Element]) {
        self.values = values
        (keys, core, elements) = ([], nil, nil)
    }
    public mutating func next() -> Element? {
        let i = place
        if let elements {
            guard i < keys.count else { return nil }
            place = i + 1
            return unsafeBitCast(elements.object(keys[i]), to: Element.self)
        }
        guard i < values.count else { return nil }
        place = i + 1
        return values[i]
    }
}
