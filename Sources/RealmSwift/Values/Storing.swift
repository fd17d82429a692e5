internal import CoreEngine
import Foundation

/// The shape of a property, of an element of a collection, or of a query argument: the engine's type, and whether it
/// may be null.
///
/// The types make their shapes themselves. Programs do not use this type.
public struct _PropertyShape: Sendable {
    var type: EngineType
    var isOptional = false
    var collection: CollectionKind = .none
    /// The target class of links and linking objects. It is looked up when a schema is made, because classes may refer
    /// to each other in a circle.
    var target: ObjectBase.Type?

    init(_ type: EngineType, target: ObjectBase.Type? = nil) {
        self.type = type
        self.target = target
    }
    var optional: _PropertyShape {
        var shape = self
        shape.isOptional = true
        return shape
    }
    func collection(_ kind: CollectionKind) -> _PropertyShape {
        var shape = self
        shape.collection = kind
        return shape
    }
    var isEmbedded: Bool { target is EmbeddedObject.Type }
}

/// A value from a file, with the Realm for its links and the path of a nested collection.
public struct _StoredValue {
    let value: EngineValue
    let core: RealmCore?
    /// The path of the collection, for Mixed values that contain one.
    var path: CollectionPath?

    init(_ value: EngineValue, _ core: RealmCore?, _ path: CollectionPath? = nil) {
        self.value = value
        self.core = core
        self.path = path
    }
    /// The value as text for error messages.
    var text: String { describe(AnyRealmValue._rlmLoad(self)?.any, 0) }
}

/// A place at which a value is stored: a property of an object, or a place in a collection.
public struct _Place {
    enum Target {
        case property(TableKey, TrackedKey, ColKey)
        case insertion(CollectionPath, Int)
        case element(CollectionPath, Int)
        case member(CollectionPath)
        case entry(CollectionPath, String)
    }
    let core: RealmCore
    let target: Target
    /// The group of objects that are added together.
    let addition: Addition

    init(_ core: RealmCore, _ target: Target, _ addition: Addition? = nil) {
        self.core = core
        self.target = target
        self.addition = addition ?? Addition()
    }
}

/// A type with a persisted type. A scalar type is its own persisted type, an enum has that of its raw values, and a
/// custom type declares it.
public protocol _HasPersistedType {
    associatedtype PersistedType = Self
    /// Returns the value; nil if the stored value has another type.
    static func _rlmLoad(_ stored: _StoredValue) -> Self?
}

/// A single value, as properties and collections contain it and queries compare it.
public protocol _RealmStorable: _HasPersistedType
where PersistedType: _RealmStorable, PersistedType.PersistedType.PersistedType == PersistedType.PersistedType {
    static var _rlmShape: _PropertyShape { get }
    /// Returns the value to store; nil for unmanaged objects.
    func _rlmValue() -> _StoredValue?
    /// Stores the value. An unmanaged object becomes managed.
    func _rlmStore(at place: _Place) throws
    /// Converts a value from a dictionary, an array or dynamic access to this type. Returns nil if it cannot be
    /// converted.
    static func _rlmConvert(_ any: Any) -> Self?
    /// Converts and stores a value. Returns false if it cannot be converted. Dictionaries that represent objects become
    /// objects of the Realm immediately.
    static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool
    /// Returns the stand-in that key paths read while they are recorded.
    static func _rlmStandIn(_ recording: _Recording) -> Self
}

extension _RealmStorable {
    public func _rlmStore(at place: _Place) throws {
        guard let stored = _rlmValue() else { throw EngineError(.invalidArgument, "The value cannot be stored") }
        try place.write(stored.value)
    }
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let value = _rlmConvert(any) ?? persistable(any).flatMap({ _rlmConvert($0) }) else { return false }
        try value._rlmStore(at: place)
        return true
    }
}

/// Returns the persisted value of an enum or a custom type; nil for all other types.
func persistable(_ any: Any) -> Any? {
    if let value = any as? any PersistableEnum { return value.rawValue }
    return (any as? any _CustomPersistable)?.persistableValue
}

extension _RealmStorable {
    /// Returns an element of a collection. A stored value that the type cannot represent is misuse.
    static func element(_ stored: _StoredValue) -> Self {
        if let value = _rlmLoad(stored) { return value }
        if self is any FailableCustomPersistable.Type {
            misuse("Could not convert value '\(stored.text)' to type '\(Self.self)'.")
        }
        misuse("The collection holds '\(stored.text)', which is no \(Self.self)")
    }
    /// Returns whether a value can be an element of a list or set. Null is not an element if the custom type is stored
    /// as an object.
    static func isElement(_ any: Any) -> Bool {
        guard unwrapped(any) == nil, let custom = self as? any _CustomPersistable.Type else { return true }
        return !custom.isStoredAsObject
    }
}

/// The types of properties with `@Persisted`.
public protocol _Persistable: _HasPersistedType {
    static var _rlmPropertyShape: _PropertyShape { get }
    static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Self
    static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Self)
    /// Returns the value of a property that was never set.
    static func _rlmDefault() -> Self
    /// Returns the value of a property while key paths are recorded.
    static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> Self
    /// Stores the value of an unmanaged object in its row.
    func _rlmStoreProperty(at place: _Place) throws
    static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool
    static func _rlmConvertProperty(_ any: Any) -> Self?
    /// The value in dynamic access.
    var _rlmAny: Any? { get }
    /// Returns the value of a property in dynamic access: the stored value if the type cannot represent it.
    static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any?
    /// Returns the content of an unmanaged object's property after an assignment. For collections it is the old
    /// collection with the elements of the new one, otherwise the new value.
    static func _rlmAssigned(_ old: Self?, _ new: Self) -> Self
    /// Returns the default value. The initializers of wrappers pass the origin property; only linking objects keep it.
    static func _rlmDefault(origin: String) -> Self
}

extension _Persistable {
    /// A collection is not a single value.
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { nil }
    public static func _rlmDefault(origin: String) -> Self { _rlmDefault() }
    public var _rlmAny: Any? { self }
    public static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any? { _rlmGet(object, index)._rlmAny }
    @inlinable public static func _rlmAssigned(_ old: Self?, _ new: Self) -> Self { new }
}

/// The types of elements of a `List` or `MutableSet`, and of values of a `Map`.
public protocol RealmCollectionValue: Hashable, _RealmStorable where PersistedType: RealmCollectionValue {}

/// The names of these protocols in Realm's package, for programs that use them as constraints of generic types.
public typealias _RealmSchemaDiscoverable = _RealmStorable
public typealias _RealmCollectionValueInsideOptional = RealmCollectionValue

extension _RealmStorable {
    /// The type of the value in the file.
    public static var _rlmType: PropertyType { PropertyType(_rlmShape.type) }
    /// A Boolean value that indicates whether values may be nil.
    public static var _rlmOptional: Bool { _rlmShape.isOptional }
}

/// Types whose properties have a default value.
public protocol _DefaultConstructible { init() }

public protocol _PrimaryKey {}

public protocol _Indexable {}

// MARK: Single values as properties

extension _Persistable where Self: _RealmStorable {
    public static var _rlmPropertyShape: _PropertyShape { _rlmShape }
    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Self {
        let stored = object.stored(index)
        guard let value = _rlmLoad(stored) else {
            if case .null = stored.value, object.mayMiss(index) { return missing() }
            if self is any FailableCustomPersistable.Type {
                misuse(
                    "Failed to convert persisted value '\(stored.text)' to type '\(Self.self)' in a non-optional context."
                )
            }
            misuse("'\(object.propertyText(index))' holds '\(stored.text)', which is no \(Self.self)")
        }
        return value
    }
    /// Returns the value of a property without a value in the file: zero, or the default value.
    private static func missing() -> Self {
        zero(of: _rlmShape.type).flatMap { _rlmLoad(_StoredValue($0, nil)) } ?? _rlmDefault()
    }
    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Self) {
        if object._rlmState == ObjectBase.unmanaged { return }
        do { try value._rlmStore(at: object.place(index)) } catch {
            misuse((error as? EngineError)?.message ?? "\(error)")
        }
    }
    public static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> Self { _rlmStandIn(object.recording(index)) }
    public func _rlmStoreProperty(at place: _Place) throws { try _rlmStore(at: place) }
    public static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        try _rlmStoreAny(any, at: place)
    }
    public static func _rlmConvertProperty(_ any: Any) -> Self? { _rlmConvert(any) }
}

/// Returns zero, false or the empty value of a type; nil for types without such a value.
private func zero(of type: EngineType) -> EngineValue? {
    switch type {
    case .int: .int(0)
    case .bool: .bool(false)
    case .string: .string("")
    case .data: .data([])
    case .float: .float(0)
    case .double: .double(0)
    case .date: Date(timeIntervalSince1970: 0)._rlmValue()?.value
    case .decimal: Decimal128(0)._rlmValue()?.value
    case .objectId: (try? ObjectId(string: String(repeating: "0", count: 24)))?._rlmValue()?.value
    case .uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))._rlmValue()?.value
    case .mixed, .object, .linkingObjects: nil
    }
}

extension _Place {
    /// The kind of place, for error messages.
    var kind: String {
        switch target {
        case .entry: "Dictionary"
        case .property: "property"
        default: "List"
        }
    }
    /// Stores a value that is neither a collection nor a new object.
    func write(_ value: EngineValue) throws(EngineError) {
        try value.withMixed { (m) throws(EngineError) in try write(mixed: m) }
    }
    func write(mixed m: Mixed) throws(EngineError) {
        if addition.onlyChanges, try holds(m) { return }
        do throws(EngineError) { try store(m) } catch { try store(try core.fail(error, storing: m)) }
    }
    private func store(_ value: Mixed) throws(EngineError) {
        let realm = core.realm
        switch target {
        case .property(let table, let object, let column):
            try realm.inside(.object) { () throws(EngineError) in try realm.set(table, object.key, column, value) }
        case .insertion(let path, let index):
            try realm.inside(.collection) { () throws(EngineError) in try realm.insert(value, at: index, in: path) }
        case .element(let path, let index):
            try realm.inside(.collection) { () throws(EngineError) in try realm.set(value, at: index, in: path) }
        case .member(let path):
            try realm.inside(.collection) { () throws(EngineError) in _ = try realm.insertIntoSet(value, path) }
        case .entry(let path, let key):
            try Array(key.utf8).withBytes { (name) throws(EngineError) in
                _ = try realm.inside(.collection) { () throws(EngineError) in
                    try realm.setValue(value, forKey: name, in: path)
                }
            }
        }
    }
    /// Returns the embedded object at this place: the existing one if only changes are stored, or a new one.
    func embedded() throws(EngineError) -> (key: ObjKey, isNew: Bool) {
        if addition.onlyChanges {
            let realm = core.realm
            let old = try realm.inside(.object) { () throws(EngineError) in
                try current().flatMap { if case .typedLink(_, let key) = $0 { key } else { nil } }
            }
            if let old { return (old, false) }
        }
        return (try makeEmbedded().1, true)
    }
    private func holds(_ value: Mixed) throws(EngineError) -> Bool {
        let realm = core.realm
        return try realm.inside(.object) { () throws(EngineError) in try current()?.isEqual(to: value) ?? false }
    }
    /// Returns the stored value at this place; nil for a place that is about to be inserted. Called inside the engine's
    /// entry point.
    private func current() throws(EngineError) -> Mixed? {
        let realm = core.realm
        switch target {
        case .property(let table, let object, let column): return try realm.value(table, object.key, column)
        case .element(let path, let index):
            guard case .list(let list)? = try realm.collection(path) else { return nil }
            return try list.get(index)
        case .entry(let path, let key):
            guard case .dictionary(let dictionary)? = try realm.collection(path),
                let index = try Array(key.utf8).withBytes({ (b) throws(EngineError) in try dictionary.find(b) })
            else { return nil }
            return try dictionary.value(index)
        case .insertion, .member: return nil
        }
    }
    private func makeEmbedded() throws(EngineError) -> (TableKey, ObjKey) {
        let realm = core.realm
        switch target {
        case .property(let table, let object, let column):
            return try realm.inside(.object) { () throws(EngineError) in
                try realm.setNewObject(table, object.key, column)
            }
        case .insertion(let path, let index):
            return try realm.inside(.collection) { () throws(EngineError) in
                try realm.insertNewObject(at: index, in: path)
            }
        case .element(let path, let index):
            return try realm.inside(.collection) { () throws(EngineError) in try realm.setNewObject(at: index, in: path)
            }
        case .entry(let path, let key):
            return try Array(key.utf8).withBytes { (name) throws(EngineError) in
                try realm.inside(.collection) { () throws(EngineError) in try realm.setNewObject(forKey: name, in: path)
                }
            }
        case .member: throw EngineError(.illegalOperation, "Embedded objects cannot be stored in sets")
        }
    }
    /// Creates an empty collection in a Mixed value at this place.
    func makeCollection(_ kind: CollectionShape) throws(EngineError) -> CollectionPath {
        let realm = core.realm
        let path: CollectionPath
        switch target {
        case .property(let table, let object, let column):
            try realm.inside(.object) { () throws(EngineError) in
                try realm.setCollection(kind, table, object.key, column)
            }
            path = CollectionPath(table: table, owner: object, column: column)
        case .insertion(let list, let index):
            return try realm.inside(.collection) { () throws(EngineError) in
                try realm.insertCollection(kind, at: index, in: list)
            }
        case .element(let list, let index):
            path = try realm.inside(.collection) { () throws(EngineError) in
                try realm.setCollection(kind, at: index, in: list)
            }
        case .entry(let dictionary, let key):
            path = try Array(key.utf8).withBytes { (name) throws(EngineError) in
                try realm.inside(.collection) { () throws(EngineError) in
                    try realm.setCollection(kind, forKey: name, in: dictionary)
                }
            }
        case .member: throw EngineError(.illegalOperation, "Sets hold no collections")
        }
        try realm.inside(.collection) { () throws(EngineError) in try realm.clear(path, kind) }
        return path
    }
}

extension Mixed {
    /// Returns whether both values have the same type and content, so that storing one over the other has no effect.
    func isEqual(to other: Mixed) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.int(let a), .int(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.string(let a), .string(let b)), (.binary(let a), .binary(let b)): a.elementsEqual(b)
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.decimal(let a), .decimal(let b)): a == b
        case (.objectId(let a), .objectId(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.typedLink(let table, let key), .typedLink(let otherTable, let otherKey)):
            table == otherTable && key == otherKey
        default: false
        }
    }

    /// A copy of the value with its own bytes. A collection is represented only by its kind.
    var owned: EngineValue {
        switch self {
        case .null, .slot, .link: .null
        case .int(let value): .int(value)
        case .bool(let value): .bool(value)
        case .string(let value): .string(String(decoding: value, as: UTF8.self))
        case .binary(let value): .data(Array(value))
        case .timestamp(let value): .date(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .decimal(let value): .decimal(value)
        case .objectId(let value): .objectId(value)
        case .uuid(let value): .uuid(value)
        case .typedLink(let table, let key): .link(table, key)
        case .list: .list([])
        case .dictionary: .dictionary([])
        }
    }
}
