internal import CoreEngine

/// Enums and types of the program as properties: stored as something simpler.

/// An enum whose raw values are stored. What the file has and the enum has not reads as nil where the property is optional, and ends the program
/// where it is not.
public protocol PersistableEnum: RawRepresentable, CaseIterable, RealmCollectionValue, _Persistable, _DefaultConstructible, _PrimaryKey, _Indexable
where RawValue: _RealmStorable & Hashable {}

extension PersistableEnum {
    /// The first case.
    public init() { self = Self._rlmDefault() }
    public static func _rlmDefault() -> Self {
        guard let first = allCases.first else { misuse("Enum '\(Self.self)' has no cases") }
        return first
    }
    public static var _rlmShape: _PropertyShape { RawValue._rlmShape }
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { RawValue._rlmLoad(stored).flatMap { Self(rawValue: $0) } }
    public func _rlmValue() -> _StoredValue? { rawValue._rlmValue() }
    public static func _rlmStandIn(_ recording: _Recording) -> Self { _rlmDefault() }
    public static func _rlmConvert(_ any: Any) -> Self? { (any as? Self) ?? RawValue._rlmConvert(any).flatMap { Self(rawValue: $0) } }
}

/// A type of the program that is stored as another one, and can show everything that this may hold.
public protocol CustomPersistable: RealmCollectionValue, _CustomPersistable, _DefaultConstructible {
    init(persistedValue: PersistedType)
}
/// A type of the program that is stored as another one. What it cannot show reads as nil where the property is optional, and ends the program where
/// it is not.
public protocol FailableCustomPersistable: RealmCollectionValue, _CustomPersistable {
    init?(persistedValue: PersistedType)
}
/// What both have in common.
public protocol _CustomPersistable: _RealmStorable, _Persistable, _PrimaryKey, _Indexable {
    associatedtype PersistedType: _RealmStorable & _CustomStorage
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
    public func _rlmValue() -> _StoredValue? { persistableValue._rlmValue() }
    public func _rlmStore(at place: _Place) throws { try persistableValue._rlmStore(at: place) }
}
extension CustomPersistable {
    public init() { self.init(persistedValue: PersistedType()) }
    public static func _rlmDefault() -> Self { Self(persistedValue: PersistedType()) }
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { PersistedType._rlmLoad(stored).map { Self(persistedValue: $0) } }
    public static func _rlmStandIn(_ recording: _Recording) -> Self { Self(persistedValue: PersistedType._rlmStandIn(recording)) }
    public static func _rlmConvert(_ any: Any) -> Self? { (any as? Self) ?? PersistedType._rlmConvert(any).map { Self(persistedValue: $0) } }
}
extension FailableCustomPersistable {
    public static func _rlmDefault() -> Self {
        guard let value = Self(persistedValue: PersistedType()) else {
            misuse("Failed to default construct a \(Self.self) using the default value for its persisted type: give the property a value")
        }
        return value
    }
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { PersistedType._rlmLoad(stored).flatMap { Self(persistedValue: $0) } }
    public static func _rlmStandIn(_ recording: _Recording) -> Self { _rlmDefault() }
    public static func _rlmConvert(_ any: Any) -> Self? { (any as? Self) ?? PersistedType._rlmConvert(any).flatMap { Self(persistedValue: $0) } }
}
