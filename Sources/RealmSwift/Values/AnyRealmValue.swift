internal import CoreEngine
import Foundation

/// A value of any type, for properties of type `AnyRealmValue`.
public enum AnyRealmValue: Hashable {
    case none
    case int(Int)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case object(Object)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    case uuid(UUID)
    case dictionary(Map<String, AnyRealmValue>)
    case list(List<AnyRealmValue>)

    public init() { self = .none }

    /// The integer value; nil if the value has another type.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }

    /// The Boolean value; nil if the value has another type.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The `Float` value; nil if the value has another type.
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }

    /// The `Double` value; nil if the value has another type.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }

    /// The string value; nil if the value has another type.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The binary value; nil if the value has another type.
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }

    /// The date value; nil if the value has another type.
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }

    /// The object identifier; nil if the value has another type.
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }

    /// The decimal value; nil if the value has another type.
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }

    /// The UUID value; nil if the value has another type.
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

    /// The map; nil if the value has another type.
    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The list; nil if the value has another type.
    public var listValue: List<AnyRealmValue>? { if case .list(let value) = self { value } else { nil } }

    /// Returns the object if it is an instance of a class; nil otherwise.
    public func object<T: Object>(_ type: T.Type) -> T? {
        if case .object(let value) = self { value as? T } else { nil }
    }

    /// The object as a dynamic object; nil if the value has another type.
    public var dynamicObject: DynamicObject? {
        guard case .object(let value) = self else { return nil }
        return (value as? DynamicObject)
            ?? value.managed.flatMap { $0.core.dynamic($0.table, value.named.key) as? DynamicObject }
    }

    /// Returns a value that contains a map with these entries.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map[key] = value }
        return .dictionary(map)
    }

    /// Returns a value that contains a list with these elements.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: array)
        return .list(list)
    }

    /// The contained value; nil for `none`.
    var any: Any? {
        switch self {
        case .none: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .object(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        case .dictionary(let value): value
        case .list(let value): value
        }
    }

    /// Creates a value. Returns nil if a property of this type cannot hold the value.
    init?(any value: Any) {
        switch unwrapped(value).map(swiftValue) {
        case nil: self = .none
        case let value as AnyRealmValue: self = value
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .int(value)
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as Object: self = .object(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as Decimal128: self = .decimal128(value)
        case let value as UUID: self = .uuid(value)
        case let value as Map<String, AnyRealmValue>: self = .dictionary(value)
        case let value as List<AnyRealmValue>: self = .list(value)
        case let value as any BinaryInteger: self = .int(Int(truncatingIfNeeded: value))
        case let value as [String: Any]:
            guard let map = Map<String, AnyRealmValue>._rlmConvertProperty(value) else { return nil }
            self = .dictionary(map)
        case let value as [Any]:
            guard let list = List<AnyRealmValue>._rlmConvertProperty(value) else { return nil }
            self = .list(list)
        default: return nil
        }
    }
}

extension Map: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension AnyRealmValue: RealmCollectionValue, _Persistable, _DefaultConstructible, _Indexable {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.mixed) }

    public static func _rlmDefault() -> AnyRealmValue { .none }

    public static func _rlmStandIn(_ recording: _Recording) -> AnyRealmValue {
        switch recording.sample {
        case 1: .string(String._rlmSamples.0)
        case 2: .int(Int._rlmSamples.1)
        default: .none
        }
    }

    public static func _rlmConvert(_ any: Any) -> AnyRealmValue? { AnyRealmValue(any: any) }

    public static func _rlmLoad(_ stored: _StoredValue) -> AnyRealmValue? {
        switch stored.value {
        case .null: return AnyRealmValue.none
        case .int(let value): return .int(Int(truncatingIfNeeded: value))
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data(Data(value))
        case .date(let value): return .date(value.date)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .decimal(let value): return .decimal128(Decimal128(value))
        case .objectId(let value): return .objectId(ObjectId(value))
        case .uuid(let value): return .uuid(value.foundation)
        case .link(let table, let key):
            return stored.core.flatMap { $0.anyObject(table, key) as? Object }.map { .object($0) } ?? AnyRealmValue.none
        case .list:
            guard let core = stored.core, let path = stored.path else { return nil }
            return .list(List(ManagedCollection(core, path, .list, _rlmShape)))
        case .dictionary:
            guard let core = stored.core, let path = stored.path else { return nil }
            return .dictionary(Map(ManagedCollection(core, path, .dictionary, _rlmShape)))
        }
    }

    public func _rlmValue() -> _StoredValue? {
        switch self {
        case .none: _StoredValue(.null, nil)
        case .int(let value): value._rlmValue()
        case .bool(let value): value._rlmValue()
        case .float(let value): value._rlmValue()
        case .double(let value): value._rlmValue()
        case .string(let value): value._rlmValue()
        case .data(let value): value._rlmValue()
        case .date(let value): value._rlmValue()
        case .object(let value): value._rlmValue()
        case .objectId(let value): value._rlmValue()
        case .decimal128(let value): value._rlmValue()
        case .uuid(let value): value._rlmValue()
        case .dictionary, .list: nil
        }
    }

    public func _rlmStore(at place: _Place) throws {
        switch self {
        case .object(let value): try value._rlmStore(at: place)
        case .list(let value):
            // The values are read first, including nested collections, because the place may hold this list or a
            // collection that contains it.
            let elements = Array(value).map(\.unmanaged), path = try place.makeCollection(.list)
            for (i, element) in elements.enumerated() {
                try element._rlmStore(at: _Place(place.core, .insertion(path, i), place.addition))
            }
        case .dictionary(let value):
            let entries = value.asKeyValueSequence().map { ($0.key, $0.value.unmanaged) },
                path = try place.makeCollection(.dictionary)
            for (key, element) in entries {
                try element._rlmStore(at: _Place(place.core, .entry(path, key), place.addition))
            }
        default:
            guard let stored = _rlmValue() else { return }
            try place.write(stored.value)
        }
    }

    public var _rlmAny: Any? { any }

    /// The value, with a complete copy of lists and maps, because a nested collection may belong to the Realm.
    fileprivate var unmanaged: AnyRealmValue {
        switch self {
        case .list(let value): .fromArray(value.map(\.unmanaged))
        case .dictionary(let value):
            .fromDictionary(
                Dictionary(value.asKeyValueSequence().map { ($0.key, $0.value.unmanaged) }, uniquingKeysWith: { $1 }))
        default: self
        }
    }
}

extension AnyRealmValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral
{
    public init(integerLiteral value: Int) { self = .int(value) }

    public init(stringLiteral value: String) { self = .string(value) }

    public init(booleanLiteral value: Bool) { self = .bool(value) }

    public init(floatLiteral value: Double) { self = .double(value) }
}

/// Returns the elements to store. Lists and maps inside values of any type are copied, so that a write to the place
/// from which they were read does not change them.
func independent<E>(_ elements: [E]) -> [E] {
    guard E.self == AnyRealmValue.self || E.self == Any.self else { return elements }
    return elements.map { element in
        switch element {
        case let value as AnyRealmValue: value.unmanaged as? E ?? element
        case let value as List<AnyRealmValue>: AnyRealmValue.list(value).unmanaged as? E ?? element
        case let value as Map<String, AnyRealmValue>: AnyRealmValue.dictionary(value).unmanaged as? E ?? element
        default: element
        }
    }
}
