internal import CoreEngine
import Foundation

/// The common types of properties, whose values are read from unmanaged objects and stored in rows by code for these
/// types. Other types go through the generic code of their wrappers, which costs ten times as much for each value.
///
/// Invariants
/// 1. A kind other than `.other` means that the wrapper is exactly `Persisted` of this type.
/// 2. The result is that of the generic code: what this code cannot do, it leaves to that code before it has changed
///    anything.
enum DirectKind: UInt8 {
    case other, int, double, bool, string, date, optionalInt, optionalDouble, optionalBool, optionalString, optionalDate

    init(_ access: any PropertyAccess.Type) {
        self =
            if access == Persisted<Int>.self {
                .int
            } else if access == Persisted<Double>.self {
                .double
            } else if access == Persisted<Bool>.self {
                .bool
            } else if access == Persisted<String>.self {
                .string
            } else if access == Persisted<Date>.self {
                .date
            } else if access == Persisted<Int?>.self {
                .optionalInt
            } else if access == Persisted<Double?>.self {
                .optionalDouble
            } else if access == Persisted<Bool?>.self {
                .optionalBool
            } else if access == Persisted<String?>.self {
                .optionalString
            } else if access == Persisted<Date?>.self {
                .optionalDate
            } else {
                .other
            }
    }
}

/// A property with a direct kind. It has no references, so that loops over properties count none.
struct DirectProperty {
    let offset: Int
    let index: Int
    let kind: DirectKind
    let isPrimary: Bool

    /// Calls `body` with the value of an unmanaged object. The value's bytes are valid during the call.
    @inline(__always) func read<R>(
        _ object: UnsafeMutableRawPointer, _ body: (Mixed) throws(EngineError) -> R
    ) throws(EngineError) -> R {
        switch kind {
        case .int: try body(.int(Int64(value(object, Int.self) ?? 0)))
        case .double: try body(.double(value(object, Double.self) ?? 0))
        case .bool: try body(.bool(value(object, Bool.self) ?? false))
        case .string: try Self.lend(value(object, String.self) ?? "", body)
        case .date: try body(.timestamp(Timestamp(value(object, Date.self) ?? Date())))
        case .optionalInt: try body((value(object, Int?.self) ?? nil).map { .int(Int64($0)) } ?? .null)
        case .optionalDouble: try body((value(object, Double?.self) ?? nil).map { .double($0) } ?? .null)
        case .optionalBool: try body((value(object, Bool?.self) ?? nil).map { .bool($0) } ?? .null)
        case .optionalString:
            if let text = value(object, String?.self) ?? nil { try Self.lend(text, body) } else { try body(.null) }
        case .optionalDate: try body((value(object, Date?.self) ?? nil).map { .timestamp(Timestamp($0)) } ?? .null)
        case .other: throw EngineError(.runtime, "A property of another type")
        }
    }

    /// Removes the value, because the object shows a row from now on.
    @inline(__always) func clear(_ object: UnsafeMutableRawPointer) {
        switch kind {
        case .string: wrapper(object, String.self).pointee.value = nil
        case .optionalString: wrapper(object, String?.self).pointee.value = nil
        // A managed object reads no value of its wrapper, and these own no memory.
        default: break
        }
    }

    @inline(__always) private func wrapper<Value: _Persistable>(
        _ object: UnsafeMutableRawPointer, _: Value.Type
    ) -> UnsafeMutablePointer<Persisted<Value>> {
        (object + offset).assumingMemoryBound(to: Persisted<Value>.self)
    }

    @inline(__always) private func value<Value: _Persistable>(_ object: UnsafeMutableRawPointer, _ type: Value.Type)
        -> Value?
    {
        wrapper(object, type).pointee.value
    }

    @inline(__always) static func lend<R>(
        _ text: String, _ body: (Mixed) throws(EngineError) -> R
    ) throws(EngineError) -> R {
        var text = text
        let result: Result<R, EngineError> = text.withUTF8 { bytes in
            do throws(EngineError) { return .success(try body(.string(UnsafeRawBufferPointer(bytes)))) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// A value of a dictionary or an array that has exactly the type of the property; nil for other values.
    @inline(__always) func exactly(_ any: Any) -> EngineValue? {
        switch kind {
        case .int, .optionalInt: (any as? Int).map { .int(Int64($0)) }
        case .double, .optionalDouble: (any as? Double).map { .double($0) }
        case .bool, .optionalBool: (any as? Bool).map { .bool($0) }
        case .string, .optionalString: (any as? String).map { .string($0) }
        case .date, .optionalDate: (any as? Date).map { .date(Timestamp($0)) }
        case .other: nil
        }
    }
}

/// The properties of a class that are stored directly.
struct DirectPlan {
    let properties: UnsafeBufferPointer<DirectProperty>
    let names: [String]

    /// The place of the primary key among `properties`; −1 without one.
    let primaryKey: Int

    /// Whether each property of the class is among them: then no object leads to another.
    let isWhole: Bool

    /// nil for a class whose objects need more than their values: a type, made values, a parent.
    init?(_ all: [PropertyInfo], isModel: Bool) {
        guard isModel, !all.contains(where: { $0.isMade || $0.isType }) else { return nil }
        let found = all.compactMap { property -> DirectProperty? in
            let kind = DirectKind(property.access)
            if kind == .other { return nil }
            return DirectProperty(
                offset: property.offset, index: Int(property.index), kind: kind, isPrimary: property.isPrimary)
        }
        let place = found.firstIndex(where: \.isPrimary)
        guard !found.isEmpty, (place == nil) == !all.contains(where: \.isPrimary) else { return nil }
        let buffer = UnsafeMutableBufferPointer<DirectProperty>.allocate(capacity: found.count)
        _ = buffer.initialize(from: found)
        properties = UnsafeBufferPointer(buffer)
        names = found.map { all[$0.index].name }
        primaryKey = place ?? -1
        isWhole = found.count == all.count
    }
}

extension RealmCore {
    /// Makes the row of an unmanaged object, and stores the values that are stored directly.
    ///
    /// - Returns: the new row; nil if the generic code must do it, because the object exists already, or a value is
    ///   refused. Then nothing has changed.
    @inline(__always) func storeDirectly(
        _ object: ObjectBase, _ managed: ManagedClass, _ plan: DirectPlan
    ) throws(EngineError) -> TrackedKey? {
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque())
        return try make(managed, plan) { (property, _, body) throws(EngineError) in try property.read(base, body) }
    }

    /// Makes the row of an object with the values of a dictionary or array, if all of them are stored directly.
    ///
    /// - Returns: as `storeDirectly`.
    func createDirectly(_ value: Any, _ managed: ManagedClass, _ plan: DirectPlan) throws(EngineError) -> TrackedKey? {
        guard plan.isWhole else { return nil }
        var values: [EngineValue] = []
        values.reserveCapacity(plan.names.count)
        if let dictionary = value as? [String: Any] {
            guard dictionary.count == plan.names.count else { return nil }
            for (i, name) in plan.names.enumerated() {
                guard let any = dictionary[name], let exact = plan.properties[i].exactly(any) else { return nil }
                values.append(exact)
            }
        } else if let list = value as? [Any], list.count == plan.names.count {
            for (i, any) in list.enumerated() {
                guard let exact = plan.properties[i].exactly(any) else { return nil }
                values.append(exact)
            }
        } else {
            return nil
        }
        return try make(managed, plan) { (_, place, body) throws(EngineError) in
            if case .string(let text) = values[place] { return try DirectProperty.lend(text, body) }
            return try values[place].withMixed(body)
        }
    }

    /// - Parameter read: calls its last argument with the value of a property, which has this place in the plan.
    @inline(__always) private func make(
        _ managed: ManagedClass, _ plan: DirectPlan,
        _ read: (DirectProperty, Int, (Mixed) throws(EngineError) -> Void) throws(EngineError) -> Void
    ) throws(EngineError) -> TrackedKey? {
        let realm = realm, table = managed.table, columns = managed.columns
        guard realm.isWriting else { return nil }
        return try realm.inside { () throws(EngineError) -> TrackedKey? in
            var key = ObjKey.null, isNew = true
            if plan.primaryKey >= 0 {
                try read(plan.properties[plan.primaryKey], plan.primaryKey) { (value) throws(EngineError) in
                    (key, isNew) = try realm.create(table, primaryKey: value, mustBeNew: false)
                }
                if !isNew { return nil }
            } else {
                key = try realm.create(table)
            }
            do throws(EngineError) {
                for (place, property) in plan.properties.enumerated() where !property.isPrimary {
                    try read(property, place) { (value) throws(EngineError) in
                        try realm.set(table, key, columns[property.index], value)
                    }
                }
            } catch {
                // The generic code reports it, or changes the value.
                try realm.delete(table, key)
                return nil
            }
            return TrackedKey(key, realm.creation(table, key))
        }
    }
}
