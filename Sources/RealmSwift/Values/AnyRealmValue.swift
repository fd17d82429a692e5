internal import CoreEngine
import Foundation

/// A value of any type: what a property of type `AnyRealmValue` holds.
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

    /// The value, where it is of that type.
    public var intValue: Int? { if case .int(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var boolValue: Bool? { if case .bool(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var floatValue: Float? { if case .float(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var doubleValue: Double? { if case .double(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var stringValue: String? { if case .string(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var dataValue: Data? { if case .data(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var dateValue: Date? { if case .date(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var objectIdValue: ObjectId? { if case .objectId(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var decimal128Value: Decimal128? { if case .decimal128(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var uuidValue: UUID? { if case .uuid(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var dictionaryValue: Map<String, AnyRealmValue>? { if case .dictionary(let v) = self { v } else { nil } }

    /// The value, where it is of that type.
    public var listValue: List<AnyRealmValue>? { if case .list(let v) = self { v } else { nil } }

    /// The object, where it is one of that class.
    public func object<T: Object>(_ type: T.Type) -> T? { if case .object(let v) = self { v as? T } else { nil } }

    /// The object, read by names.
    public var dynamicObject: DynamicObject? {
        guard case .object(let v) = self else { return nil }
        return (v as? DynamicObject) ?? v.managed.flatMap { $0.core.dynamic($0.table, v.named.key) as? DynamicObject }
    }

    /// A map with these entries.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map[key] = value }
        return .dictionary(map)
    }

    /// A list of these elements.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: array)
        return .list(list)
    }

    /// The value inside.
    var any: Any? {
        switch self {
        case .none: nil
        case .int(let v): v
        case .bool(let v): v
        case .float(let v): v
        case .double(let v): v
        case .string(let v): v
        case .data(let v): v
        case .date(let v): v
        case .object(let v): v
        case .objectId(let v): v
        case .decimal128(let v): v
        case .uuid(let v): v
        case .dictionary(let v): v
        case .list(let v): v
        }
    }

    /// nil for what no property of this type can hold.
    init?(any value: Any) {
        switch unwrapped(value).map(swiftValue) {
        case nil: self = .none
        case let v as AnyRealmValue: self = v
        case let v as Bool: self = .bool(v)
        case let v as Int: self = .int(v)
        case let v as Float: self = .float(v)
        case let v as Double: self = .double(v)
        case let v as String: self = .string(v)
        case let v as Data: self = .data(v)
        case let v as Date: self = .date(v)
        case let v as Object: self = .object(v)
        case let v as ObjectId: self = .objectId(v)
        case let v as Decimal128: self = .decimal128(v)
        case let v as UUID: self = .uuid(v)
        case let v as Map<String, AnyRealmValue>: self = .dictionary(v)
        case let v as List<AnyRealmValue>: self = .list(v)
        case let v as any BinaryInteger: self = .int(Int(truncatingIfNeeded: v))
        case let v as [String: Any]:
            guard let map = Map<String, AnyRealmValue>._rlmConvertProperty(v) else { return nil }
            self = .dictionary(map)
        case let v as [Any]:
            guard let list = List<AnyRealmValue>._rlmConvertProperty(v) else { return nil }
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
        case .int(let v): return .int(Int(truncatingIfNeeded: v))
        case .bool(let v): return .bool(v)
        case .string(let v): return .string(v)
        case .data(let v): return .data(Data(v))
        case .date(let v): return .date(v.date)
        case .float(let v): return .float(v)
        case .double(let v): return .double(v)
        case .decimal(let v): return .decimal128(Decimal128(v))
        case .objectId(let v): return .objectId(ObjectId(v))
        case .uuid(let v): return .uuid(v.foundation)
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
        case .int(let v): v._rlmValue()
        case .bool(let v): v._rlmValue()
        case .float(let v): v._rlmValue()
        case .double(let v): v._rlmValue()
        case .string(let v): v._rlmValue()
        case .data(let v): v._rlmValue()
        case .date(let v): v._rlmValue()
        case .object(let v): v._rlmValue()
        case .objectId(let v): v._rlmValue()
        case .decimal128(let v): v._rlmValue()
        case .uuid(let v): v._rlmValue()
        case .dictionary, .list: nil
        }
    }

    public func _rlmStore(at place: _Place) throws {
        switch self {
        case .object(let v): try v._rlmStore(at: place)
        case .list(let v):
            // Read first, with what is nested: the place may hold this very list, or what it is a part of.
            let elements = Array(v).map(\.unmanaged), path = try place.makeCollection(.list)
            for (i, e) in elements.enumerated() {
                try e._rlmStore(at: _Place(place.core, .insertion(path, i), place.addition))
            }
        case .dictionary(let v):
            let entries = v.asKeyValueSequence().map { ($0.key, $0.value.unmanaged) },
                path = try place.makeCollection(.dictionary)
            for (key, e) in entries { try e._rlmStore(at: _Place(place.core, .entry(path, key), place.addition)) }
        default:
            guard let stored = _rlmValue() else { return }
            try place.write(stored.value)
        }
    }

    public var _rlmAny: Any? { any }

    /// The value, of lists and maps a copy of all that they hold: somewhere in them may be one of the Realm.
    fileprivate var unmanaged: AnyRealmValue {
        switch self {
        case .list(let v): .fromArray(v.map(\.unmanaged))
        case .dictionary(let v):
            .fromDictionary(
                Dictionary(v.asKeyValueSequence().map { ($0.key, $0.value.unmanaged) }, uniquingKeysWith: { $1 }))
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

/// What is to be stored, so that it stays what it is while the place where it was read from is written: lists and maps
/// inside values of any type are copied.
func independent<E>(_ elements: [E]) -> [E] {
    guard E.self == AnyRealmValue.self || E.self == Any.self else { return elements }
    return elements.map { element in
        switch element {
        case let v as AnyRealmValue: v.unmanaged as? E ?? element
        case let v as List<AnyRealmValue>: AnyRealmValue.list(v).unmanaged as? E ?? element
        case let v as Map<String, AnyRealmValue>: AnyRealmValue.dictionary(v).unmanaged as? E ?? element
        default: element
        }
    }
}
