internal import CoreEngine

/// Models without `@Persisted`. Fields that hold a collection or a `RealmProperty` are properties, as in models that
/// were written before the wrapper existed. If a class has one `@Persisted` property, its other fields are not
/// properties, as in Realm's package.
///
///     class Person: Object {
///         let age = RealmProperty<Int?>()
///         let dogs = List<Dog>()
///         let owners = LinkingObjects(fromType: Club.self, property: "members")
///     }
///
/// Such a field has no accessor that could ask the object. Instead, the value of the field is attached to its object
/// when the object is made.
protocol PlainProperty {
    static var _rlmPropertyShape: _PropertyShape { get }

    static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool
    var originProperty: String { get }

    /// Shows a property of a managed object from now on.
    func show(_ object: ObjectBase, _ index: Int16)

    /// Tells the field which recorder to call when a key path reads a property of the field's value.
    func record(_ recorder: _Recording)
    var plainRecorder: _Recording? { get }

    /// The value in dynamic access.
    var plainValue: Any? { get }

    /// Sets the value after conversion. Returns false if `any` cannot be converted.
    func setPlain(_ any: Any) -> Bool

    /// Stores the value of an unmanaged object.
    func storePlain(at place: _Place) throws
}

extension PlainProperty {
    var originProperty: String { "" }
    static var access: any PropertyAccess.Type { Plain<Self>.self }
}

/// Access to a field of a model without wrappers. The property lists of classes use it.
struct Plain<Field: PlainProperty>: PropertyAccess {
    static var shape: _PropertyShape { Field._rlmPropertyShape }
    static var numberOffset: Int { 0 }
    var options: (isPrimary: Bool, isIndexed: Bool) { (false, false) }
    var rules: PropertyRules { PropertyRules() }

    static func isSet(_ object: ObjectBase, _ p: PropertyInfo) -> Bool { true }
    var origin: String? { nil }

    static func bind(_ field: UnsafeMutableRawPointer, _ index: Int16) {}

    static func field(_ object: ObjectBase, _ property: PropertyInfo) -> Field {
        (UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque()) + property.offset).assumingMemoryBound(
            to: Field.self
        ).pointee
    }

    static func any(_ object: ObjectBase, _ property: PropertyInfo) -> Any? { field(object, property).plainValue }

    static func setAny(_ object: ObjectBase, _ property: PropertyInfo, _ value: Any) -> Bool {
        field(object, property).setPlain(value)
    }

    static func store(_ object: ObjectBase, _ property: PropertyInfo, at place: _Place) throws {
        try field(object, property).storePlain(at: place)
    }

    static func store(any: Any, at place: _Place) throws -> Bool { try Field._rlmStoreAnyProperty(any, at: place) }

    static func attach(_ object: ObjectBase, _ property: PropertyInfo) {
        field(object, property).show(object, property.index)
    }

    static func attach(_ object: ObjectBase, _ property: PropertyInfo, recording recorder: _Recording) {
        field(object, property).record(recorder.later(property.name))
    }
}

extension PropertyAccess {
    static func attach(_ object: ObjectBase, _ property: PropertyInfo) {}

    static func attach(_ object: ObjectBase, _ property: PropertyInfo, recording recorder: _Recording) {}
}

// MARK: Collections

extension PlainProperty where Self: PropertyCollection {
    var plainRecorder: _Recording? { recorder }

    func record(_ recorder: _Recording) { self.recorder = recorder }

    func show(_ object: ObjectBase, _ index: Int16) {
        if managed == nil { managed = object.collection(index, Self.kind, Self._rlmPropertyShape) }
    }

    var plainValue: Any? { self }

    func setPlain(_ any: Any) -> Bool {
        guard let other = Self._rlmConvertProperty(any) else { return false }
        _rlmAssign(other)
        return true
    }

    func storePlain(at place: _Place) throws { try _rlmStoreProperty(at: place) }
}

extension List: PlainProperty {}

extension MutableSet: PlainProperty {}

extension Map: PlainProperty {}

// MARK: Single values

/// The types of values in a `RealmProperty`: optional numbers and enums, and values of any type.
public protocol RealmPropertyType: _RealmStorable, _Persistable {}

/// The types of values in a `RealmOptional`.
public protocol RealmOptionalType: RealmCollectionValue {}

extension Int: RealmOptionalType {}

extension Int8: RealmOptionalType {}

extension Int16: RealmOptionalType {}

extension Int32: RealmOptionalType {}

extension Int64: RealmOptionalType {}

extension Float: RealmOptionalType {}

extension Double: RealmOptionalType {}

extension Bool: RealmOptionalType {}

extension AnyRealmValue: RealmPropertyType {}

extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}

/// A value in a model without `@Persisted`. Declare it as `let age = RealmProperty<Int?>()`, and read and set it as
/// `person.age.value`.
public final class RealmProperty<Value: RealmPropertyType> {
    private var kept = Value._rlmDefault()

    /// For a managed object, a separate object that shows the same row, because the original object may be released
    /// earlier.
    private var shown: (object: ObjectBase, index: Int16)?
    private var recorder: _Recording?

    public init() {}

    public var value: Value {
        get {
            if let shown { return Value._rlmGet(shown.object, shown.index) }
            if let recorder {
                recorder.noteRead()
                let value = Value._rlmStandIn(recorder)
                recorder.path.last = (value, Value.self)
                return value
            }
            return kept
        }
        set {
            if let shown { Value._rlmSet(shown.object, shown.index, newValue) } else { kept = newValue }
        }
    }
}

extension RealmProperty: PlainProperty {
    static var _rlmPropertyShape: _PropertyShape { Value._rlmPropertyShape }

    static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        try Value._rlmStoreAnyProperty(any, at: place)
    }

    func show(_ object: ObjectBase, _ index: Int16) { shown = (object.shadow(), index) }

    func record(_ recorder: _Recording) { self.recorder = recorder }
    var plainRecorder: _Recording? { recorder }
    var plainValue: Any? { value._rlmAny }

    func setPlain(_ any: Any) -> Bool {
        guard let new = Value._rlmConvertProperty(any) else { return false }
        value = new
        return true
    }

    func storePlain(at place: _Place) throws { try kept._rlmStoreProperty(at: place) }
}

extension RealmProperty: Equatable where Value: Equatable {
    public static func == (a: RealmProperty, b: RealmProperty) -> Bool { a.value == b.value }
}

extension RealmProperty: CustomStringConvertible {
    public var description: String { "\(value)" }
}

extension RealmProperty: Codable where Value: Codable {
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// An optional value in a model without `@Persisted`. This is the older name of `RealmProperty<Value?>`.
@available(
    *, deprecated, renamed: "RealmProperty",
    message: "RealmOptional<T> has been deprecated, use RealmProperty<T?> instead."
)

public final class RealmOptional<Value: RealmOptionalType> {
    private let property = RealmProperty<Value?>()

    public init(_ value: Value? = nil) { property.value = value }

    public var value: Value? {
        get { property.value }
        set { property.value = newValue }
    }
}

@available(*, deprecated)
extension RealmOptional: PlainProperty {
    static var _rlmPropertyShape: _PropertyShape { RealmProperty<Value?>._rlmPropertyShape }

    static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        try RealmProperty<Value?>._rlmStoreAnyProperty(any, at: place)
    }

    func show(_ object: ObjectBase, _ index: Int16) { property.show(object, index) }

    func record(_ recorder: _Recording) { property.record(recorder) }
    var plainRecorder: _Recording? { property.plainRecorder }
    var plainValue: Any? { property.plainValue }

    func setPlain(_ any: Any) -> Bool { property.setPlain(any) }

    func storePlain(at place: _Place) throws { try property.storePlain(at: place) }
}

@available(*, deprecated)
extension RealmOptional: Equatable where Value: Equatable {
    public static func == (a: RealmOptional, b: RealmOptional) -> Bool { a.value == b.value }
}

@available(*, deprecated)
extension RealmOptional: Codable where Value: Codable {
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value?.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
