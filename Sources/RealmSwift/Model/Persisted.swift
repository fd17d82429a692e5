/// A property that is stored in Realms.
///
///     @Persisted(primaryKey: true) var id: ObjectId
///     @Persisted(indexed: true) var name: String
///     @Persisted var dogs: List<Dog>
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///
/// How fast a property is read is decided here. The accessors are inlined into the program, where the key path of the
/// wrapper is a literal, which the optimiser turns into a field's offset. That ends as soon as the key path goes
/// anywhere, or the field is changed in place: then each access makes a key path and follows it at run time, at thirty
/// times the cost. So they test one field of the object, read the property's number, and leave the rest to a function.
/// `GetterTests` looks at the code.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    /// Of an unmanaged object, once it has one; of a managed one the collection that was asked for last.
    @usableFromInline var value: Value?

    /// Place in the class's list of properties.
    @usableFromInline var index: Int16 = -1
    var isIndexed = false
    var isPrimary = false

    public init() where Value: _DefaultConstructible {}

    public init(wrappedValue: Value) { value = wrappedValue }

    public init(indexed: Bool) where Value: _DefaultConstructible, Value: _Indexable { isIndexed = indexed }

    public init(wrappedValue: Value, indexed: Bool) where Value: _Indexable {
        value = wrappedValue
        isIndexed = indexed
    }

    public init(primaryKey: Bool) where Value: _DefaultConstructible, Value: _PrimaryKey { isPrimary = primaryKey }

    public init(wrappedValue: Value, primaryKey: Bool) where Value: _PrimaryKey {
        value = wrappedValue
        isPrimary = primaryKey
    }

    /// - Parameter originProperty: the property of the other class whose links are collected.
    public init(originProperty: String) where Value: _LinkingObjects {
        value = Value._rlmDefault(origin: originProperty)
    }

    @available(*, unavailable, message: "@Persisted can only be used on properties of classes")
    public var wrappedValue: Value {
        get { misuse("@Persisted can only be used on properties of classes") }
        set { misuse("@Persisted can only be used on properties of classes") }
    }

    @inlinable
    public static subscript<Enclosing: ObjectBase>(
        _enclosingInstance object: Enclosing, wrapped _: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storage: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        @inline(__always) get {
            if object._rlmState == 1 { return Value._rlmGet(object, object[keyPath: storage].index) }
            if object._rlmState == 0 {
                if let value = object[keyPath: storage].value { return value }
                let value = Value._rlmDefault()
                object[keyPath: storage].value = value
                return value
            }
            return object.recorded(object[keyPath: storage].index)
        }
        @inline(__always) set {
            if object._rlmState == 0 {
                object[keyPath: storage].value = Value._rlmAssigned(object[keyPath: storage].value, newValue)
            } else {
                Value._rlmSet(object, object[keyPath: storage].index, newValue)
            }
        }
    }
}

/// Linking objects, whatever class they come from.
public protocol _LinkingObjects: _Persistable {}

/// The wrapper of a property, as the lists of classes know it: by its place in the object.
protocol PropertyAccess {
    static var shape: _PropertyShape { get }

    /// Where in the wrapper its number lies.
    static var numberOffset: Int { get }
    var options: (isPrimary: Bool, isIndexed: Bool) { get }

    /// Of linking objects.
    var origin: String? { get }

    /// Gives the wrapper at an address its number, and takes its value away.
    static func bind(_ wrapper: UnsafeMutableRawPointer, _ index: Int16)

    /// Of fields without wrappers: an object was made to show a row, or to record.
    static func attach(_ object: ObjectBase, _ p: PropertyInfo)
    static func attach(_ object: ObjectBase, _ p: PropertyInfo, recording recorder: _Recording)
    static func any(_ object: ObjectBase, _ p: PropertyInfo) -> Any?

    /// - Returns: false where the value is of no type that the property could hold.
    static func setAny(_ object: ObjectBase, _ p: PropertyInfo, _ value: Any) -> Bool

    /// Stores the value of an unmanaged object.
    static func store(_ object: ObjectBase, _ p: PropertyInfo, at place: _Place) throws

    /// Stores something that stands for a value.
    static func store(any: Any, at place: _Place) throws -> Bool
}

extension Persisted: PropertyAccess {
    static var shape: _PropertyShape { Value._rlmPropertyShape }
    static var numberOffset: Int { MemoryLayout<Self>.offset(of: \.index) ?? 0 }
    var options: (isPrimary: Bool, isIndexed: Bool) { (isPrimary, isIndexed) }
    var origin: String? { (value as? any LinkingOrigin)?.originProperty }

    static func bind(_ wrapper: UnsafeMutableRawPointer, _ index: Int16) {
        let pointer = wrapper.assumingMemoryBound(to: Self.self)
        pointer.pointee.index = index
        // Collections become managed with the object.
        if pointer.pointee.value != nil, !(Value.self is any PropertyCollection.Type) { pointer.pointee.value = nil }
    }

    private static func wrapper(_ object: ObjectBase, _ p: PropertyInfo) -> UnsafeMutablePointer<Self> {
        (UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque()) + p.offset).assumingMemoryBound(
            to: Self.self)
    }

    private static func unmanagedValue(_ object: ObjectBase, _ p: PropertyInfo) -> Value {
        let wrapper = wrapper(object, p)
        if let value = wrapper.pointee.value { return value }
        let value = Value._rlmDefault()
        wrapper.pointee.value = value
        return value
    }

    static func any(_ object: ObjectBase, _ p: PropertyInfo) -> Any? {
        object.isManaged ? Value._rlmGetAny(object, p.index) : unmanagedValue(object, p)._rlmAny
    }

    /// Where what stands for a value is stored as it is; nil where a value is made of it first, which an object without
    /// a model cannot be.
    private static func placeOfAny(_ object: ObjectBase, _ p: PropertyInfo, _ value: Any) -> _Place? {
        if shape.collection == .none, shape.type != .object { return object.place(p.index) }
        guard shape.target == DynamicObject.self, isFilling(value), !(value is ObjectBase) else { return nil }
        let place = object.place(p.index)
        return _Place(place.core, place.target, Addition(.all))
    }

    static func setAny(_ object: ObjectBase, _ p: PropertyInfo, _ value: Any) -> Bool {
        if object.isManaged, let place = placeOfAny(object, p, value) {
            do { return try Value._rlmStoreAnyProperty(value, at: place) } catch {
                misuse((error as? EngineError)?.message ?? "\(error)")
            }
        }
        (Value.self as? any FailableCustomPersistable.Type)?.verify(value)
        guard
            let value = Value._rlmConvertProperty(value)
                ?? persistable(value).flatMap({ Value._rlmConvertProperty($0) })
        else { return false }
        if object.isManaged {
            Value._rlmSet(object, p.index, value)
        } else {
            wrapper(object, p).pointee.value = Value._rlmAssigned(wrapper(object, p).pointee.value, value)
        }
        return true
    }

    static func store(_ object: ObjectBase, _ p: PropertyInfo, at place: _Place) throws {
        try unmanagedValue(object, p)._rlmStoreProperty(at: place)
    }

    static func store(any: Any, at place: _Place) throws -> Bool {
        try Value._rlmStoreAnyProperty(any, at: place)
    }
}

/// Linking objects know their property from the start.
protocol LinkingOrigin { var originProperty: String { get } }
