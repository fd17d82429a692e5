import Foundation

/// Converts values of Objective-C types to Swift types. Programs that were written for Apple platforms pass `NSNumber`,
/// `NSString`, `NSDate` and similar types where Swift types are expected.
///
/// Swift on Linux casts only some of these types, and converts any `NSNumber` of 1 to a Boolean value. So this function
/// decides.
func swiftValue(_ any: Any) -> Any {
    // Values of Swift types can also be cast to these classes, but stay unchanged.
    guard type(of: any) is AnyObject.Type else { return any }
    switch any {
    case let value as NSDecimalNumber: return Decimal128(number: value)
    case let value as NSNumber: return swiftNumber(value)
    case let value as NSString: return String(describing: value)
    case let value as NSDate: return value as Date
    case let value as NSData: return value as Data
    case let value as NSUUID: return UUID(uuidString: value.uuidString) ?? any
    case let value as NSArray: return value.map { $0 as Any }
    case let value as NSSet: return value.map { $0 as Any }
    case let dictionary as NSDictionary:
        var entries: [String: Any] = [:]
        for (key, value) in dictionary { entries["\(key)"] = value }
        return entries
    default: return any
    }
}

private func swiftNumber(_ number: NSNumber) -> Any {
    // Boolean numbers have a class of their own, which has no public name.
    if type(of: number) == truthClass { return number.boolValue }
    switch number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "f")): return number.floatValue
    case CChar(bitPattern: UInt8(ascii: "d")): return number.doubleValue
    default: return Int(truncatingIfNeeded: number.int64Value)
    }
}

private let truthClass: AnyClass = type(of: NSNumber(value: true))

/// Aggregates may be asked for as these types: `results.max(ofProperty: "age") as NSNumber?`.
extension NSNumber: _HasPersistedType, MinMaxType, AddableType {
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? { loaded(stored) as? Self }

    /// A number for a stored value; nil if the value is not a number.
    private static func loaded(_ stored: _StoredValue) -> NSNumber? {
        switch stored.value {
        case .int(let value): NSNumber(value: value)
        case .bool(let value): NSNumber(value: value)
        case .float(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal: Decimal128._rlmLoad(stored).map { NSDecimalNumber(string: $0.description) }
        default: nil
        }
    }
}

extension NSDate: _HasPersistedType, MinMaxType {
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? {
        Date._rlmLoad(stored).map { Self(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }
}
