internal import CoreEngine

/// The types of keys of a `Map`.
public protocol _MapKey: RealmCollectionValue {
    var _rlmKey: String { get }
    init(_rlmKey: String)
}

extension String: _MapKey {
    public var _rlmKey: String { self }

    public init(_rlmKey: String) { self = _rlmKey }
}

/// A dictionary in a property: `@Persisted var friends: Map<String, Person?>`. The keys are sorted by their bytes. A
/// key must not contain a dot or start with a dollar sign.
public final class Map<Key: _MapKey, Value: RealmCollectionValue> {
    /// The entries of an unmanaged map, sorted by key.
    private(set) var entries: [(key: Name, value: Value)] = []
    var managed: ManagedCollection?
    var recorder: _Recording?

    /// Creates an empty unmanaged map.
    public init() {}

    init(_ managed: ManagedCollection) { self.managed = managed }

    init(recording: _Recording) { recorder = recording }

    // MARK: Reading

    /// The current number of entries.
    public var count: Int { managed?.count ?? entries.count }

    /// A Boolean value that indicates whether the map has no entries.
    public var isEmpty: Bool { count == 0 }

    /// Returns whether any entry satisfies a condition.
    public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        try asKeyValueSequence().contains { try predicate($0.key, $0.value) }
    }

    /// The keys, sorted.
    public var keys: [Key] { map(\.key) }

    /// The values, in the order of their keys.
    public var values: [Value] { map(\.value) }

    /// Accesses the value for a key; nil if the key does not exist. Assigning nil removes the key.
    public subscript(key: Key) -> Value? {
        get {
            if let recorder { return Value._rlmStandIn(recorder) }
            guard let managed else { return index(of: key).flatMap { entries[$0].value } }
            return managed.value(forKey: key._rlmKey).map { Value.element($0) }
        }
        set {
            guard let newValue else { return removeObject(for: key) }
            store(newValue, key)
        }
    }

    /// Returns the value for a key; nil if the key does not exist.
    public func object(forKey key: Key) -> Value? { self[key] }

    private func index(of key: Key) -> Int? { entries.firstIndex { $0.key == Name(key._rlmKey) } }

    // MARK: Changing

    private func store(_ value: Value, _ key: Key) {
        guard let managed else {
            let name = Name(key._rlmKey)
            if let place = index(of: key) {
                entries[place].value = value
                return
            }
            return entries.insert((name, value), at: entries.firstIndex { name < $0.key } ?? entries.count)
        }
        managed.store(value, .entry(managed.path, key._rlmKey))
    }

    /// Stores a value for a key.
    public func updateValue(_ value: Value, forKey key: Key) { store(value, key) }

    /// Returns the value for a key; nil if the key does not exist.
    public func value(forKey key: Key) -> Any? {
        self[key].flatMap { value in (value as? AnyRealmValue).map(\.any) ?? value }
    }

    public func value(forKeyPath keyPath: String) -> Any? {
        let parts = keyPath.split(separator: ".", maxSplits: 1).map(String.init)
        guard let first = parts.first else { return nil }
        if first.hasPrefix("@") { return Results<Value>(rows()).value(forKeyPath: keyPath) }
        let value = value(forKey: Key(_rlmKey: first))
        return parts.count == 1 ? value : (value.flatMap(unwrapped) as? ObjectBase)?.value(forKeyPath: parts[1])
    }

    /// Converts a value and stores it for a key. nil removes the key.
    public func setValue(_ value: Any?, forKey key: Key) {
        guard let value else { return removeObject(for: key) }
        guard let converted = Value._rlmConvert(value) else {
            misuse("Invalid value '\(value)' for a Map of \(Value.self)")
        }
        store(converted, key)
    }

    /// Stores the entries of a sequence. For existing keys, `combine` returns the new value.
    public func merge<S: Sequence>(_ sequence: S, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows
    where S.Element == (key: Key, value: Value) {
        for (key, value) in Array(sequence) { store(try self[key].map { try combine($0, value) } ?? value, key) }
    }

    /// Removes a key if it exists.
    public func removeObject(for key: Key) {
        guard let managed else {
            if let place = index(of: key) { entries.remove(at: place) }
            return
        }
        managed.change { (realm, path) throws(EngineError) in
            try Array(key._rlmKey.utf8).withBytes { (b) throws(EngineError) in _ = try realm.eraseKey(b, in: path) }
        }
    }

    /// Removes all entries.
    public func removeAll() {
        guard let managed else { return entries.removeAll() }
        managed.clear()
    }

    func deleteObjects() {
        guard let managed else { return entries.removeAll() }
        managed.change { (realm, path) throws(EngineError) in try realm.removeAll(path, .dictionary) }
    }

    func rows() -> _Rows {
        guard let managed else { misuse("This method may only be called on Map instances retrieved from an RLMRealm") }
        return managed.rows()
    }

    func entry(_ index: Int) -> (key: Key, value: Value) {
        guard let managed else { return (Key(_rlmKey: entries[index].key.text), entries[index].value) }
        let (key, stored) = managed.entry(at: index)
        return (Key(_rlmKey: key), Value.element(stored))
    }
}

/// An entry of a map, as loops return it.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
    /// The key of the entry.
    public let key: Key

    /// The value of the entry.
    public let value: Value
}

extension Map: Sequence {
    /// Returns an iterator over the current entries.
    public func makeIterator() -> RLMMapIterator<Key, Value> { RLMMapIterator((0..<count).map { entry($0) }) }

    /// Returns the entries as pairs of key and value.
    public func asKeyValueSequence() -> [(key: Key, value: Value)] { (0..<count).map { entry($0) } }
}

/// An iterator over the entries of a map.
public struct RLMMapIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
    private var rest: Array<(key: Key, value: Value)>.Iterator

    init(_ entries: [(key: Key, value: Value)]) { rest = entries.makeIterator() }

    public mutating func next() -> SingleMapEntry<Key, Value>? {
        rest.next().map { SingleMapEntry(key: $0.key, value: $0.value) }
    }
}

extension Map: ThreadConfined, Equatable, CustomStringConvertible, AnyCollectionText {
    public static func == (a: Map, b: Map) -> Bool {
        if a === b { return true }
        if let x = a.managed, let y = b.managed { return x.isSame(as: y) }
        return a.managed == nil && b.managed == nil
            && a.entries.elementsEqual(b.entries) { $0.key == $1.key && $0.value == $1.value }
    }

    public var description: String { text(depth: 0) }

    /// The class of objects; else the type of the values.
    private var elementName: String {
        Value._rlmShape.target.map { "\($0)" } ?? "\(Value.self)"
    }

    func text(depth: Int) -> String {
        let blanks = String(repeating: "\t", count: depth + 1)
        let shown = asKeyValueSequence().prefix(100).map {
            "\(blanks)[\($0.key)]: \(describe(unwrapped($0.value), depth + 1))"
        }
        return collectionText("Map<string, \(elementName)>", self, shown, depth)
    }
}

// MARK: As a property

extension Map: _PropertyCollection {
    public var _rlmPlace: _CollectionPlace? { managed.map { _CollectionPlace(managed: $0) } }
    public static var _rlmPropertyShape: _PropertyShape { Value._rlmShape.collection(.dictionary) }

    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Map {
        object.kept(index) ?? object.keep(index, Map(object.collection(index, .dictionary, Value._rlmShape)))
    }

    /// Replaces the entries with those of another map.
    public func _rlmAssign(_ other: Map) {
        guard self != other else { return }
        let entries = other.asKeyValueSequence(), values = independent(entries.map(\.value))
        removeAll()
        for (entry, value) in zip(entries, values) { store(value, entry.key) }
    }

    public static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> Map {
        Map(recording: object.recording(index))
    }

    public func _rlmStoreProperty(at place: _Place) throws {
        guard let target = place.collection(.dictionary, Value._rlmShape) else { return }
        let keys = asKeyValueSequence().map(\.key._rlmKey), values = independent(asKeyValueSequence().map(\.value))
        target.makeRoom(for: keys, place.addition)
        for (key, value) in zip(keys, values) {
            try value._rlmStore(at: _Place(place.core, .entry(target.path, key), place.addition))
        }
        if managed == nil, !place.addition.isCopying {
            managed = target
            entries = []
        }
    }

    public static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        guard let pairs = pairs(any), let target = place.collection(.dictionary, Value._rlmShape) else { return false }
        let values = independent(pairs.map(\.1))
        target.makeRoom(for: pairs.map(\.0), place.addition)
        for (key, value) in zip(pairs.map(\.0), values) {
            guard try Value._rlmStoreAny(value, at: _Place(place.core, .entry(target.path, key), place.addition)) else {
                return false
            }
        }
        return true
    }

    public static func _rlmConvertProperty(_ any: Any) -> Map? {
        guard let pairs = pairs(any) else { return nil }
        let map = Map()
        for (key, given) in pairs {
            guard let value = Value._rlmConvert(given) else { return nil }
            map.store(value, Key(_rlmKey: key))
        }
        return map
    }

    private static func pairs(_ any: Any) -> [(String, Any)]? {
        switch unwrapped(any) {
        case nil: []
        case let map as any AnyEntries: map.allEntries
        case let dictionary as [String: Any]: dictionary.map { ($0.key, $0.value) }
        default: nil
        }
    }
}

extension Map: Decodable where Value: Decodable {
    /// Creates a map by decoding a dictionary.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        for (key, value) in try decoder.singleValueContainer().decode([String: Value].self) {
            store(value, Key(_rlmKey: key))
        }
    }
}

extension Map: Encodable where Value: Encodable {
    /// Encodes the map as a dictionary.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            Dictionary(asKeyValueSequence().map { ($0.key._rlmKey, $0.value) }, uniquingKeysWith: { $1 }))
    }
}
