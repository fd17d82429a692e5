/// A property wrapper that makes a property of a model persistent.
///
///     @Persisted(primaryKey: true) var id: ObjectId
///     @Persisted(indexed: true) var name: String
///     @Persisted var dogs: List<Dog>
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///
/// The code of this file decides how fast a property is read. The accessors are inlined into the program, where the key
/// path of the wrapper is a literal that the optimiser turns into the offset of a field. The optimiser cannot do this
/// if the key path is passed on, or if the field is changed in place: then each access creates a key path and follows
/// it at run time, at thirty times the cost. So the accessors test one field of the object, read the number of the
/// property, and leave the rest to a function. `GetterTests` checks the generated code.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    /// For an unmanaged object, the value once it is set. For a managed object, the collection that was read last.
    @usableFromInline var value: Value?

    /// The index of the property in the class's list of properties.
    @usableFromInline var index: Int16 = -1
    var isIndexed = false
    var isPrimary = false
    var rules = PropertyRules()

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

    /// Creates a primary key whose values the library makes: integers from 1, UUIDs, ObjectIds.
    public init(primaryKey: Bool, automatic: Bool) where Value: _DefaultConstructible, Value: _PrimaryKey {
        isPrimary = primaryKey
        rules = PropertyRules(automatic: automatic)
    }

    /// Creates a property whose values are unique in the class.
    public init(unique: Bool) where Value: _DefaultConstructible { rules = PropertyRules(unique: unique) }

    /// Creates a property whose values the library makes: integers from 1, UUIDs, ObjectIds.
    public init(automatic: Bool) where Value: _DefaultConstructible, Value: _PrimaryKey {
        rules = PropertyRules(automatic: automatic)
    }

    /// Creates a property of links with rules of deletion.
    ///
    /// - Parameters:
    ///   - onDelete: What happens to the targets when the object is deleted.
    ///   - onTargetDelete: What happens to the object when a target is deleted.
    public init(onDelete: DeleteRule, onTargetDelete: DeleteRule = .nullify) where Value: _DefaultConstructible {
        rules = PropertyRules(onDelete: onDelete, onTargetDelete: onTargetDelete)
    }

    /// Creates a property of links with a rule for the deletion of targets.
    public init(onTargetDelete: DeleteRule) where Value: _DefaultConstructible {
        rules = PropertyRules(onTargetDelete: onTargetDelete)
    }

    /// Creates a property of linking objects.
    ///
    /// - Parameter originProperty: The property of the other class whose links are collected.
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

/// Linking objects of any class.
public protocol _LinkingObjects: _Persistable {}

/// Access to the wrapper of a property by its offset in the object. The property lists of classes use it.
protocol PropertyAccess {
    static var shape: _PropertyShape { get }

    /// The offset of the property number in the wrapper.
    static var numberOffset: Int { get }
    var options: (isPrimary: Bool, isIndexed: Bool) { get }
    var rules: PropertyRules { get }

    /// Whether the program has set the property of an unmanaged object.
    static func isSet(_ object: ObjectBase, _ p: PropertyInfo) -> Bool

    /// The origin property of linking objects; nil for other properties.
    var origin: String? { get }

    /// Sets the number of the wrapper at an address, and removes its value.
    static func bind(_ wrapper: UnsafeMutableRawPointer, _ index: Int16)

    /// For fields without wrappers: attaches an object that was made to show a row, or to record.
    static func attach(_ object: ObjectBase, _ p: PropertyInfo)
    static func attach(_ object: ObjectBase, _ p: PropertyInfo, recording recorder: _Recording)
    static func any(_ object: ObjectBase, _ p: PropertyInfo) -> Any?

    /// - Returns: false if the property cannot hold a value of this type.
    static func setAny(_ object: ObjectBase, _ p: PropertyInfo, _ value: Any) -> Bool

    /// Stores the value of an unmanaged object.
    static func store(_ object: ObjectBase, _ p: PropertyInfo, at place: _Place) throws

    /// Stores a value after conversion to the type of the property.
    ///
    /// - Returns: false if the value cannot be converted.
    static func store(any: Any, at place: _Place) throws -> Bool
}

extension Persisted: PropertyAccess {
    static var shape: _PropertyShape { Value._rlmPropertyShape }
    static var numberOffset: Int { MemoryLayout<Self>.offset(of: \.index) ?? 0 }
    var options: (isPrimary: Bool, isIndexed: Bool) { (isPrimary, isIndexed) }
    var origin: String? { (value as? any LinkingOrigin)?.originProperty }

    /// A zero in an automatic integer is no value: the property may have been read.
    static func isSet(_ object: ObjectBase, _ property: PropertyInfo) -> Bool {
        guard let value = wrapper(object, property).pointee.value else { return false }
        if property.rules.isAutomatic, let number = value as? any BinaryInteger { return Int(number) != 0 }
        return true
    }

    static func bind(_ wrapper: UnsafeMutableRawPointer, _ index: Int16) {
        let pointer = wrapper.assumingMemoryBound(to: Self.self)
        pointer.pointee.index = index
        // Collections keep their value and become managed with the object.
        if pointer.pointee.value != nil, !(Value.self is any PropertyCollection.Type) { pointer.pointee.value = nil }
    }

    private static func wrapper(_ object: ObjectBase, _ property: PropertyInfo) -> UnsafeMutablePointer<Self> {
        (UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque()) + property.offset).assumingMemoryBound(
            to: Self.self)
    }

    private static func unmanagedValue(_ object: ObjectBase, _ property: PropertyInfo) -> Value {
        let wrapper = wrapper(object, property)
        if let value = wrapper.pointee.value { return value }
        let value = Value._rlmDefault()
        wrapper.pointee.value = value
        return value
    }

    static func any(_ object: ObjectBase, _ property: PropertyInfo) -> Any? {
        object.isManaged ? Value._rlmGetAny(object, property.index) : unmanagedValue(object, property)._rlmAny
    }

    /// Returns the place at which a convertible value is stored directly. Returns nil if the value must be converted
    /// first, which is impossible for an object without a model.
    private static func placeOfAny(_ object: ObjectBase, _ property: PropertyInfo, _ value: Any) -> _Place? {
        if shape.collection == .none, shape.type != .object { return object.place(property.index) }
        guard shape.target == DynamicObject.self, isFilling(value) else { return nil }
        let place = object.place(property.index)
        guard let object = value as? ObjectBase else { return _Place(place.core, place.target, Addition(.all)) }
        // An object of a model that no Realm manages: the class without a model gets a copy.
        guard !object.isManaged, !(object is DynamicObject) else { return nil }
        return _Place(place.core, place.target, Addition(.all, isCopying: true))
    }

    static func setAny(_ object: ObjectBase, _ property: PropertyInfo, _ value: Any) -> Bool {
        if object.isManaged, let place = placeOfAny(object, property, value) {
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
            Value._rlmSet(object, property.index, value)
        } else {
            wrapper(object, property).pointee.value = Value._rlmAssigned(wrapper(object, property).pointee.value, value)
        }
        return true
    }

    static func store(_ object: ObjectBase, _ property: PropertyInfo, at place: _Place) throws {
        try unmanagedValue(object, property)._rlmStoreProperty(at: place)
    }

    static func store(any: Any, at place: _Place) throws -> Bool {
        try Value._rlmStoreAnyProperty(any, at: place)
    }
}

/// Linking objects know their origin property from the start.
protocol LinkingOrigin { var originProperty: String { get } }
