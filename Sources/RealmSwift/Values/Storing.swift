internal import CoreEngine

/// What a property, an element of a collection or an argument of a query holds: the engine's type, and whether it may
/// be null.
///
/// Made by the types themselves; programs have no use for it.
public struct _PropertyShape: Sendable {
    var type: EngineType
    var isOptional = false
    var collection: CollectionKind = .none
    /// Of links and linking objects. Looked up when a schema is made: classes may refer to each other in a circle.
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

/// A value as it comes out of a file: with the Realm that links lead into, and the place where a nested collection
/// lies.
public struct _StoredValue {
    let value: EngineValue
    let core: RealmCore?
    /// Of Mixed values that hold a collection.
    var path: CollectionPath?

    init(_ value: EngineValue, _ core: RealmCore?, _ path: CollectionPath? = nil) {
        self.value = value
        self.core = core
        self.path = path
    }
    /// For messages.
    var text: String { describe(AnyRealmValue._rlmLoad(self)?.any, 0) }
}

/// Where a value is to be stored: a property of an object, or a place in a collection.
public struct _Place {
    enum Target {
        case property(TableKey, BornKey, ColKey)
        case insertion(CollectionPath, Int)
        case element(CollectionPath, Int)
        case member(CollectionPath)
        case entry(CollectionPath, String)
    }
    let core: RealmCore
    let target: Target
    /// What is being added together.
    let addition: Addition

    init(_ core: RealmCore, _ target: Target, _ addition: Addition? = nil) {
        self.core = core
        self.target = target
        self.addition = addition ?? Addition()
    }
}

/// Types with a stored type: the type itself, of enums their raw values, of types of the program what they say.
public protocol _HasPersistedType {
    associatedtype PersistedType = Self
    /// nil where the stored value is none of this type.
    static func _rlmLoad(_ stored: _StoredValue) -> Self?
}

/// One value of its own: what properties hold, what collections are made of, and what queries compare with.
public protocol _RealmStorable: _HasPersistedType
where PersistedType: _RealmStorable, PersistedType.PersistedType.PersistedType == PersistedType.PersistedType {
    static var _rlmShape: _PropertyShape { get }
    /// The value; objects that no Realm manages have none.
    func _rlmValue() -> _StoredValue?
    /// Stores the value; an unmanaged object becomes managed.
    func _rlmStore(at place: _Place) throws
    /// What stands for a value in dictionaries, arrays and dynamic access, as this type; nil where it does not.
    static func _rlmConvert(_ any: Any) -> Self?
    /// Stores what stands for a value; false where it does not. Dictionaries that stand for objects become objects of
    /// the Realm at once.
    static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool
    /// What key paths see in its place while they are recorded.
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

/// What is stored for an enum or a type of the program; nil for everything else.
func persistable(_ any: Any) -> Any? {
    if let value = any as? any PersistableEnum { return value.rawValue }
    return (any as? any _CustomPersistable)?.persistableValue
}

extension _RealmStorable {
    /// An element of a collection; misuse where the file holds what the type cannot show.
    static func element(_ stored: _StoredValue) -> Self {
        if let value = _rlmLoad(stored) { return value }
        if self is any FailableCustomPersistable.Type {
            misuse("Could not convert value '\(stored.text)' to type '\(Self.self)'.")
        }
        misuse("The collection holds '\(stored.text)', which is no \(Self.self)")
    }
    /// What stands for an element of a list or set, where null stands for no object.
    static func isElement(_ any: Any) -> Bool {
        guard unwrapped(any) == nil, let custom = self as? any _CustomPersistable.Type else { return true }
        return !custom.isStoredAsObject
    }
}

/// What may stand behind `@Persisted`.
public protocol _Persistable: _HasPersistedType {
    static var _rlmPropertyShape: _PropertyShape { get }
    static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Self
    static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Self)
    /// The value of a property that was never set.
    static func _rlmDefault() -> Self
    /// The value of a property while key paths are recorded.
    static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> Self
    /// Stores the value of an unmanaged object in its row.
    func _rlmStoreProperty(at place: _Place) throws
    static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool
    static func _rlmConvertProperty(_ any: Any) -> Self?
    /// As dynamic access shows it.
    var _rlmAny: Any? { get }
    /// The value of a property as dynamic access shows it: what is stored, where the type cannot show that.
    static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any?
    /// What a property of an unmanaged object holds after an assignment: the new value; of collections the old one,
    /// with the elements of the new one.
    static func _rlmAssigned(_ old: Self?, _ new: Self) -> Self
    /// Set by the initialisers of wrappers; nothing but linking objects keeps it.
    static func _rlmDefault(origin: String) -> Self
}

extension _Persistable {
    /// Collections are no values.
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { nil }
    public static func _rlmDefault(origin: String) -> Self { _rlmDefault() }
    public var _rlmAny: Any? { self }
    public static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any? { _rlmGet(object, index)._rlmAny }
    @inlinable public static func _rlmAssigned(_ old: Self?, _ new: Self) -> Self { new }
}

/// What may be an element of a `List` or `MutableSet`, or a value of a `Map`.
public protocol RealmCollectionValue: Hashable, _RealmStorable where PersistedType: RealmCollectionValue {}

/// Names that Realm's package has for these protocols, for programs that constrain their own generic types with them.
public typealias _RealmSchemaDiscoverable = _RealmStorable
public typealias _RealmCollectionValueInsideOptional = RealmCollectionValue

extension _RealmStorable {
    /// What a value is in the file.
    public static var _rlmType: PropertyType { PropertyType(_rlmShape.type) }
    /// Whether a value may be absent.
    public static var _rlmOptional: Bool { _rlmShape.isOptional }
}

/// Types whose properties have a value without being given one.
public protocol _DefaultConstructible { init() }

public protocol _PrimaryKey {}

public protocol _Indexable {}

// MARK: Single values as properties

extension _Persistable where Self: _RealmStorable {
    public static var _rlmPropertyShape: _PropertyShape { _rlmShape }
    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Self {
        let stored = object.stored(index)
        guard let value = _rlmLoad(stored) else {
            if self is any FailableCustomPersistable.Type {
                misuse(
                    "Failed to convert persisted value '\(stored.text)' to type '\(Self.self)' in a non-optional context."
                )
            }
            misuse("'\(object.propertyText(index))' holds '\(stored.text)', which is no \(Self.self)")
        }
        return value
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

extension _Place {
    /// For messages.
    var kind: String {
        switch target {
        case .entry: "Dictionary"
        case .property: "property"
        default: "List"
        }
    }
    /// Stores a value that is no collection and no new object.
    func write(_ value: EngineValue) throws(EngineError) {
        try value.withMixed { (m) throws(EngineError) in try write(mixed: m) }
    }
    func write(mixed m: Mixed) throws(EngineError) {
        if addition.onlyChanges, try holds(m) { return }
        do throws(EngineError) { try store(m) } catch { try store(try core.fail(error, storing: m)) }
    }
    private func store(_ m: Mixed) throws(EngineError) {
        let realm = core.realm
        switch target {
        case .property(let table, let object, let column):
            try realm.inside(.object) { () throws(EngineError) in try realm.set(table, object.key, column, m) }
        case .insertion(let path, let index):
            try realm.inside(.collection) { () throws(EngineError) in try realm.insert(m, at: index, in: path) }
        case .element(let path, let index):
            try realm.inside(.collection) { () throws(EngineError) in try realm.set(m, at: index, in: path) }
        case .member(let path):
            try realm.inside(.collection) { () throws(EngineError) in _ = try realm.insertIntoSet(m, path) }
        case .entry(let path, let key):
            try Array(key.utf8).withBytes { (name) throws(EngineError) in
                _ = try realm.inside(.collection) { () throws(EngineError) in
                    try realm.setValue(m, forKey: name, in: path)
                }
            }
        }
    }
    /// The embedded object at this place: the one that is there, where only changes are stored, or a new one.
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
    private func holds(_ m: Mixed) throws(EngineError) -> Bool {
        let realm = core.realm
        return try realm.inside(.object) { () throws(EngineError) in try current()?.isEqual(to: m) ?? false }
    }
    /// What is stored at this place, inside the door; nil where something is to be added.
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
    /// An empty collection in a Mixed value at this place.
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
    /// Whether both are the same value of the same type, so that storing one over the other would change nothing.
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

    /// The value with bytes of its own; of collections only what they are.
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
