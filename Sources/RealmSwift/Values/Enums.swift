internal import CoreEngine

/// Enums and custom types of the program as properties. They are stored as simpler types.

/// An enum that is stored as its raw value. A stored value without a matching case reads as nil if the property is
/// optional, and ends the program otherwise. Access by name, descriptions and object observers use the raw value.
public protocol PersistableEnum: RawRepresentable, CaseIterable, RealmCollectionValue, Comparable, RealmOptionalType,
    _Persistable,
    _DefaultConstructible,
    _PrimaryKey, _Indexable
where RawValue: RealmCollectionValue & Comparable, PersistedType == RawValue {}
/// The name of `PersistableEnum` before `@Persisted` existed.
public typealias RealmEnum = PersistableEnum

extension PersistableEnum {
    /// Creates the first case.
    public init() { self = Self._rlmDefault() }

    public static func _rlmDefault() -> Self {
        guard let first = allCases.first else { misuse("Enum '\(Self.self)' has no cases") }
        return first
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The raw value, which access by name returns.
    public var _rlmAny: Any? { rawValue }

    public static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any? {
        RawValue._rlmLoad(object.stored(index))
    }

    public static var _rlmShape: _PropertyShape { RawValue._rlmShape }

    public static func _rlmLoad(_ stored: _StoredValue) -> Self? {
        RawValue._rlmLoad(stored).flatMap { Self(rawValue: $0) }
    }

    public func _rlmValue() -> _StoredValue? { rawValue._rlmValue() }

    public static func _rlmStandIn(_ recording: _Recording) -> Self {
        let all = Array(allCases)
        return recording.sample == 0 || all.isEmpty ? _rlmDefault() : all[recording.sample % all.count]
    }

    public static func _rlmConvert(_ any: Any) -> Self? {
        (any as? Self) ?? RawValue._rlmConvert(any).flatMap { Self(rawValue: $0) }
    }

    /// Stores a value. A raw value without a matching case is stored unchanged.
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let value = any as? Self else { return try RawValue._rlmStoreAny(any, at: place) }
        try value._rlmStore(at: place)
        return true
    }
}

/// A custom type that is stored as another type. Every stored value can be converted to the custom type.
public protocol CustomPersistable: RealmCollectionValue, _CustomPersistable, _DefaultConstructible {
    init(persistedValue: PersistedType)
}

/// A custom type that is stored as another type. A stored value that cannot be converted reads as nil if the property
/// is optional, and ends the program otherwise.
public protocol FailableCustomPersistable: RealmCollectionValue, _CustomPersistable, _DefaultConstructible {
    init?(persistedValue: PersistedType)
}

/// The common base of both protocols for custom types.
public protocol _CustomPersistable: RealmCollectionValue, _Persistable, _PrimaryKey, _Indexable
where PersistedType: _CustomStorage {
    var persistableValue: PersistedType { get }
}

/// The types in which custom types can be stored: single values and embedded objects.
public protocol _CustomStorage { init() }

extension Int: _CustomStorage {}

extension Int8: _CustomStorage {}

extension Int16: _CustomStorage {}

extension Int32: _CustomStorage {}

extension Int64: _CustomStorage {}

extension Bool: _CustomStorage {}

extension Double: _CustomStorage {}

extension Float: _CustomStorage {}

extension String: _CustomStorage {}

extension Decimal128: _CustomStorage {}

extension ObjectId: _CustomStorage {}

extension Optional: _CustomStorage where Wrapped: _RealmStorable {}

extension _CustomPersistable {
    public static var _rlmShape: _PropertyShape { PersistedType._rlmShape }
    /// The stored value, which access by name returns. For types stored as embedded objects it is the custom value
    /// itself, because the stored value would be a new object.
    public var _rlmAny: Any? { Self.isStoredAsObject ? self : persistableValue }
    public func _rlmValue() -> _StoredValue? { persistableValue._rlmValue() }
    public func _rlmStore(at place: _Place) throws { try persistableValue._rlmStore(at: place) }
}

extension _CustomStorage {
    /// The initial value of properties of this type, such as a new identifier.
    static var initial: Self { ((Self.self as? any _Scalar.Type)?._rlmDefault() as? Self) ?? Self() }
}

extension _CustomPersistable {
    static var isStoredAsObject: Bool { PersistedType.self is ObjectBase.Type }
    /// Converts a value to the stored type. If the type is stored as an object, which cannot be nil here, nil becomes
    /// the initial value.
    static func persisted(_ any: Any) -> PersistedType? {
        if isStoredAsObject, unwrapped(any) == nil { return PersistedType.initial }
        return PersistedType._rlmConvert(any)
    }
}

extension CustomPersistable {
    public init() { self.init(persistedValue: PersistedType.initial) }

    public static func _rlmDefault() -> Self { Self(persistedValue: PersistedType.initial) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Self? {
        PersistedType._rlmLoad(stored).map { Self(persistedValue: $0) }
    }

    /// Key paths end at this type: properties behind it are not stored by name.
    public static func _rlmStandIn(_ recording: _Recording) -> Self { _rlmDefault() }

    public static func _rlmConvert(_ any: Any) -> Self? {
        (any as? Self) ?? persisted(any).map { Self(persistedValue: $0) }
    }
}

extension FailableCustomPersistable {
    public init() { self = Self._rlmDefault() }

    public static func _rlmDefault() -> Self {
        guard let value = Self(persistedValue: PersistedType.initial) else {
            misuse(
                "Failed to default construct a \(Self.self) using the default value for persisted type \(PersistedType.self). This conversion must "
                    + "either succeed, the property must be optional, or you must explicitly specify a default value for the property."
            )
        }
        return value
    }

    public static func _rlmLoad(_ stored: _StoredValue) -> Self? {
        PersistedType._rlmLoad(stored).flatMap { Self(persistedValue: $0) }
    }

    public static func _rlmStandIn(_ recording: _Recording) -> Self { _rlmDefault() }

    public static func _rlmConvert(_ any: Any) -> Self? {
        (any as? Self) ?? persisted(any).flatMap { Self(persistedValue: $0) }
    }

    /// Stores a value. A value that this type cannot represent is stored unchanged; reading it reports the error.
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let value = any as? Self else { return try PersistedType._rlmStoreAny(any, at: place) }
        try value._rlmStore(at: place)
        return true
    }

    /// Reports misuse if the value could be stored, but this type cannot represent it.
    static func verify(_ any: Any) {
        guard _rlmConvert(any) == nil, persisted(any) != nil else { return }
        misuse("Could not convert value '\(describe(unwrapped(any), 0))' to type '\(Self.self)'.")
    }
}
