import Foundation

/// What programs that were written for Objective-C's types give where Swift's are meant: `NSNumber`, `NSString`,
/// `NSDate` and their like.
///
/// Swift on Linux casts some of them and not others, and takes any `NSNumber` of 1 for a truth value: so it is decided
/// here.
func swiftValue(_ any: Any) -> Any {
    // Swift's own types can be cast to these classes, and stay what they are.
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
    // Truth values have a class of their own, and no name by which it could be asked for.
    if type(of: number) == truthClass { return number.boolValue }
    switch number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "f")): return number.floatValue
    case CChar(bitPattern: UInt8(ascii: "d")): return number.doubleValue
    default: return Int(truncatingIfNeeded: number.int64Value)
    }
}

private let truthClass: AnyClass = type(of: NSNumber(value: true))
