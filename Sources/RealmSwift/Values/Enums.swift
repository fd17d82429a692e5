internal import CoreEngine

/// Enums and types of the program as properties: stored as something simpler.

/// An enum whose raw values are stored. What the file has and the enum has not reads as nil where the property is
/// optional, and ends the program where it is not. By name, in descriptions and for observers of the object it is what
/// is stored.
public protocol PersistableEnum: RawRepresentable, CaseIterable, RealmCollectionValue, Comparable, RealmOptionalType,
    _Persistable,
    _DefaultConstructible,
    _PrimaryKey, _Indexable
where RawValue: RealmCollectionValue & Comparable, PersistedType == RawValue {}
/// The name that enums had before `@Persisted`.
public typealias RealmEnum = PersistableEnum

extension PersistableEnum {
    /// The first case.
    public init() { self = Self._rlmDefault() }

    public static func _rlmDefault() -> Self {
        guard let first = allCases.first else { misuse("Enum '\(Self.self)' has no cases") }
        return first
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// Access by name gives what is stored.
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

    /// A raw value that no case has is stored as it is.
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let value = any as? Self else { return try RawValue._rlmStoreAny(any, at: place) }
        try value._rlmStore(at: place)
        return true
    }
}

/// A type of the program that is stored as another one, and can show everything that this may hold.
public protocol CustomPersistable: RealmCollectionValue, _CustomPersistable, _DefaultConstructible {
    init(persistedValue: PersistedType)
}

/// A type of the program that is stored as another one. What it cannot show reads as nil where the property is
/// optional, and ends the program where it is not.
public protocol FailableCustomPersistable: RealmCollectionValue, _CustomPersistable, _DefaultConstructible {
    init?(persistedValue: PersistedType)
}

/// What both have in common.
public protocol _CustomPersistable: RealmCollectionValue, _Persistable, _PrimaryKey, _Indexable
where PersistedType: _CustomStorage {
    var persistableValue: PersistedType { get }
}

/// What types of programs may be stored as: single values and embedded objects.
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
    /// Access by name gives what is stored; of embedded objects, which that would make, the value itself.
    public var _rlmAny: Any? { Self.isStoredAsObject ? self : persistableValue }
    public func _rlmValue() -> _StoredValue? { persistableValue._rlmValue() }
    public func _rlmStore(at place: _Place) throws { try persistableValue._rlmStore(at: place) }
}

extension _CustomStorage {
    /// What properties of this type begin with: a new identifier, for example.
    static var initial: Self { ((Self.self as? any _Scalar.Type)?._rlmDefault() as? Self) ?? Self() }
}

extension _CustomPersistable {
    static var isStoredAsObject: Bool { PersistedType.self is ObjectBase.Type }
    /// What is to be shown for what stands for a value: of nothing, where nothing can be stored, the beginning.
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

    /// Key paths end here: nothing behind it is stored under a name.
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

    /// What the type cannot show is stored as it is: whoever reads it is told.
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let value = any as? Self else { return try PersistedType._rlmStoreAny(any, at: place) }
        try value._rlmStore(at: place)
        return true
    }

    /// Misuse for what could be stored, and the type cannot show.
    static func verify(_ any: Any) {
        guard _rlmConvert(any) == nil, persisted(any) != nil else { return }
        misuse("Could not convert value '\(describe(unwrapped(any), 0))' to type '\(Self.self)'.")
    }
}
