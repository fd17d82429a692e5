internal import CoreEngine

/// A collection in a file: its path, and the content that was opened for the current state of the Realm.
///
/// Thread rule: that of the Realm.
final class ManagedCollection {
    let core: RealmCore
    let path: CollectionPath
    let shape: CollectionShape

    /// The class of the objects, which the Realm keeps alive; nil for a collection of values.
    unowned(unsafe) let elements: ManagedClass?
    private var content: CollectionContent?
    private var contentAt = UInt64.max

    init(_ core: RealmCore, _ path: CollectionPath, _ shape: CollectionShape, _ element: _PropertyShape) {
        self.core = core
        self.path = path
        self.shape = shape
        elements = element.target.flatMap { $0 == DynamicObject.self ? nil : core.managed($0) }
    }

    // MARK: Calls inside the entry point of the engine

    private func opened() throws(EngineError) -> CollectionContent {
        let realm = core.realm
        if !realm.isFrozen, let content, contentAt == realm.stateCount { return content }
        guard let found = try realm.collection(path) else {
            throw EngineError(.invalidatedObject, "The collection has been deleted or replaced")
        }
        if !realm.isFrozen { (content, contentAt) = (found, realm.stateCount) }
        return found
    }

    func list() throws(EngineError) -> ElementList {
        guard case .list(let list) = try opened(), shape != .dictionary else {
            throw EngineError(.invalidatedObject, "The collection is no list any more")
        }
        return list
    }

    func dictionary() throws(EngineError) -> ElementDictionary {
        guard case .dictionary(let dictionary) = try opened(), shape == .dictionary else {
            throw EngineError(.invalidatedObject, "The collection is no map any more")
        }
        return dictionary
    }

    /// Where the elements of a blob begin, and the state of the Realm for which that holds.
    private var pieces: (known: BlobPieces, at: UInt64)?

    /// Runs `body` with the places of the elements, which `body` keeps up to date.
    func withBlob<R>(_ body: (inout BlobPieces) throws(EngineError) -> R) throws(EngineError) -> R {
        let realm = core.realm
        var current: BlobPieces
        if let pieces, pieces.at == realm.stateCount, !realm.isFrozen {
            current = pieces.known
        } else {
            current = try realm.blobPieces(try list(), path)
        }
        let result = try body(&current)
        if !realm.isFrozen { pieces = (current, realm.stateCount) }
        return result
    }

    // MARK: Operations of collections

    func inside<R>(_ body: () throws(EngineError) -> R) -> R {
        must { () throws(EngineError) in try core.realm.inside(.collection, body) }
    }

    /// Whether the collection and its owner exist.
    var isThere: Bool {
        guard !core.realm.isClosed else { return false }
        return core.isThere { () throws(EngineError) in
            guard try core.realm.isAlive(path.table, path.object) else { return false }
            _ = try opened()
            return true
        }
    }

    var count: Int {
        guard isThere else { return 0 }
        return inside { () throws(EngineError) in
            try opened().count
        }
    }

    func place(_ target: _Place.Target) -> _Place { _Place(core, target) }

    /// Returns a value of the collection with its Realm. Called inside the engine's entry point.
    func stored(_ value: Mixed, nested: () throws(EngineError) -> CollectionPath?) throws(EngineError) -> _StoredValue {
        switch value {
        case .list, .dictionary: _StoredValue(value.owned, core, try nested())
        default: _StoredValue(value.owned, core)
        }
    }

    /// Returns the element of a list or set at an index. An invalid index is misuse.
    func stored(at i: Int) -> _StoredValue {
        inside { () throws(EngineError) in
            let elements = try list()
            guard i >= 0, i < elements.count else { outOfBounds(i, elements.count) }
            return try stored(try elements.get(i)) { () throws(EngineError) in
                path.appending(.stableKey(try elements.stableKey(i)))
            }
        }
    }

    /// Returns the entry of a map at an index.
    func entry(at i: Int) -> (key: String, value: _StoredValue) {
        inside { () throws(EngineError) in
            let entries = try dictionary()
            guard i >= 0, i < entries.count else { outOfBounds(i, entries.count) }
            guard case .string(let name) = try entries.key(i) else {
                throw EngineError(.invalidDatabase, "A key is no text")
            }
            let key = String(decoding: name, as: UTF8.self), bytes = Array(name)
            return (key, try stored(try entries.value(i)) { () in path.appending(.name(bytes)) })
        }
    }

    func value(forKey key: String) -> _StoredValue? {
        inside { () throws(EngineError) in
            let entries = try dictionary(), bytes = Array(key.utf8)
            guard let index = try bytes.withBytes({ (b) throws(EngineError) in try entries.find(b) }) else {
                return nil
            }
            return try stored(try entries.value(index)) { () in path.appending(.name(bytes)) }
        }
    }

    /// Returns the index of a value; nil if it is not an element.
    func index(of value: EngineValue) -> Int? {
        inside { () throws(EngineError) in
            let elements = try list()
            return try value.withMixed { (m) throws(EngineError) in try elements.find(m) }
        }
    }

    /// Changes the collection. A call outside of a write transaction is misuse.
    func change<R>(_ body: (EngineRealm, CollectionPath) throws(EngineError) -> R) -> R {
        inside { () throws(EngineError) in try body(core.realm, path) }
    }

    /// Stores a value. A value that the engine refuses is misuse.
    func store(_ value: some _RealmStorable, _ target: _Place.Target, _ addition: Addition? = nil) {
        do { try value._rlmStore(at: _Place(core, target, addition)) } catch {
            guard let error = error as? EngineError else { misuse("\(error)") }
            switch target {
            case .insertion(_, let index) where error.code == .indexOutOfBounds: outOfBounds(index, count + 1)
            case .element(_, let index) where error.code == .indexOutOfBounds: outOfBounds(index, count)
            default: misuse(error)
            }
        }
    }

    /// Verifies an index; an invalid index is misuse. Only functions that change the collection call this, because they
    /// cost more than the check.
    func verify(_ index: Int) {
        let count = inside { () throws(EngineError) in try opened().count }
        guard index >= 0, index < count else { outOfBounds(index, count) }
    }

    /// Returns the elements as rows.
    func rows() -> _Rows {
        let found = inside { () throws(EngineError) in try ResultSet(core.realm, .collection(path)) }
        return _Rows(core, found, elements ?? found.table.flatMap { core.dynamicClass(of: $0) })
    }

    func isSame(as other: ManagedCollection) -> Bool { core.isSame(as: other.core) && path == other.path }
}
