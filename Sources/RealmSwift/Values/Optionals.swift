internal import CoreEngine
import Foundation

/// Optional values. nil is stored as null.
extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    public typealias PersistedType = Wrapped.PersistedType?

    /// Loads a value. A stored value that the type cannot represent, such as an unknown case of an enum, reads as nil.
    public static func _rlmLoad(_ stored: _StoredValue) -> Wrapped?? {
        if case .null = stored.value { return .some(nil) }
        return .some(Wrapped._rlmLoad(stored))
    }
}

extension Optional: _RealmStorable where Wrapped: _RealmStorable {
    public static var _rlmShape: _PropertyShape { Wrapped._rlmShape.optional }

    public func _rlmValue() -> _StoredValue? {
        guard let self else { return _StoredValue(.null, nil) }
        return self._rlmValue()
    }

    public func _rlmStore(at place: _Place) throws {
        if let self { try self._rlmStore(at: place) } else { try place.write(.null) }
    }

    public static func _rlmConvert(_ any: Any) -> Wrapped?? {
        if any is NSNull { return .some(nil) }
        if let given = any as? any _AnyOptional {
            guard let inside = given._rlmInside else { return .some(nil) }
            return convert(inside)
        }
        return convert(any)
    }

    /// Converts a value. A value that could be stored, but that the type cannot represent, becomes nil.
    private static func convert(_ inside: Any) -> Wrapped?? {
        if let value = Wrapped._rlmConvert(inside) { return .some(value) }
        return Wrapped.PersistedType.self != Wrapped.self && Wrapped.PersistedType._rlmConvert(inside) != nil
            && !(inside is ObjectBase)
            ? .some(nil) : nil
    }

    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool {
        guard let inside = unwrapped(any) else {
            try place.write(.null)
            return true
        }
        return try Wrapped._rlmStoreAny(inside, at: place)
    }

    public static func _rlmStandIn(_ recording: _Recording) -> Wrapped? { .some(Wrapped._rlmStandIn(recording)) }
}

extension Optional: _Persistable, _DefaultConstructible where Wrapped: _RealmStorable {
    public init() { self = nil }

    public static func _rlmDefault() -> Wrapped? { nil }
    public var _rlmAny: Any? { self.flatMap { ($0 as? any _Persistable)?._rlmAny } ?? self }

    public static func _rlmGetAny(_ object: ObjectBase, _ index: Int16) -> Any? {
        if let value = _rlmGet(object, index) { return (value as? any _Persistable)?._rlmAny ?? value }
        // The stored value is null, or has no matching case of the enum.
        guard Wrapped.self is any PersistableEnum.Type else { return nil }
        return Wrapped.PersistedType._rlmLoad(object.stored(index))
    }
}

extension Optional: RealmCollectionValue where Wrapped: RealmCollectionValue {}

extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}

extension Optional: _Indexable where Wrapped: _Indexable {}

/// An optional inside an `Any`.
protocol _AnyOptional { var _rlmInside: Any? { get } }

extension Optional: _AnyOptional {
    var _rlmInside: Any? {
        guard let self else { return nil }
        return (self as? any _AnyOptional).map(\._rlmInside) ?? self
    }
}

/// Returns the content of an `Any` without enclosing optionals; nil if it is nil.
func unwrapped(_ any: Any) -> Any? {
    if any is NSNull { return nil }
    return (any as? any _AnyOptional).map(\._rlmInside) ?? any
}
