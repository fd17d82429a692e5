internal import CoreEngine
import Foundation

/// A decimal number with 34 digits, in the decimal128 format of IEEE 754. It represents amounts of money exactly.
public struct Decimal128: Sendable, CustomStringConvertible {
    var value: CoreEngine.Decimal128

    init(_ value: CoreEngine.Decimal128) { self.value = value }

    /// Creates the number zero.
    public init() { value = CoreEngine.Decimal128(0) }

    /// Creates a number from a string.
    ///
    /// - Throws: `Realm.Error.invalidInput` if the string is not a number.
    public init(string: String) throws {
        guard let parsed = CoreEngine.Decimal128(text: string.utf8) else {
            throw Realm.Error(.invalidInput, "'\(string)' is not a valid Decimal128")
        }
        value = parsed
    }

    public init(number: NSNumber) { value = CoreEngine.Decimal128(text: number.stringValue.utf8) ?? .nan }

    /// Creates a number from a number or a string. nil becomes NaN. Any other value is misuse.
    public init(value: Any) {
        guard unwrapped(value) != nil else {
            self.value = .nan
            return
        }
        guard let converted = Self._rlmConvert(value) else {
            misuse("Cannot convert value '\(value)' of type '\(type(of: value))' to decimal128")
        }
        self = converted
    }

    public init(_ double: Double) { value = CoreEngine.Decimal128(text: "\(double)".utf8) ?? .nan }

    public init<T: BinaryInteger>(_ source: T) { value = CoreEngine.Decimal128(text: "\(source)".utf8) ?? .nan }

    /// The number as a string in Realm's format: without trailing zeros after the decimal point, and without a sign
    /// before a positive exponent. The file keeps the zeros.
    public var stringValue: String {
        let parts = value.description.split(separator: "E", maxSplits: 1)
        guard var digits = parts.first, !value.isSpecial else { return value.description }
        if digits.contains(".") {
            while digits.last == "0" { digits.removeLast() }
            if digits.last == "." { digits.removeLast() }
        }
        return String(digits) + (parts.count == 2 ? "E\(parts[1].drop { $0 == "+" })" : "")
    }

    public var description: String { stringValue }
    public var doubleValue: Double { value.double }
    public var decimalValue: Decimal { Decimal(string: value.description) ?? .nan }
    public var isNaN: Bool { value.isNaN }

    /// A Boolean value that indicates whether the number is NaN. Files do not distinguish kinds of NaN.
    public var isSignaling: Bool { isNaN }

    /// A Boolean value that indicates whether the number is NaN. Files do not distinguish kinds of NaN.
    public var isSignalingNaN: Bool { isNaN }
    public var isSignMinus: Bool { value.isNegative }
    public var magnitude: Decimal128 { value.isNegative ? Decimal128(-value) : self }

    public func distance(to other: Decimal128) -> Decimal128 { other - self }

    public func advanced(by n: Decimal128) -> Decimal128 { self + n }

    /// The smallest and the largest number.
    public static var min: Decimal128 { minimumValue }
    public static var max: Decimal128 { maximumValue }
    public static var minimumValue: Decimal128 { Decimal128(-maximumValue.value) }

    public static var maximumValue: Decimal128 {
        Decimal128(CoreEngine.Decimal128(text: "9999999999999999999999999999999999E6111".utf8) ?? .nan)
    }
}

extension Decimal128: Comparable, Hashable {
    /// Returns whether two numbers are equal. Numbers with the same value are equal, even if their trailing zeros
    /// differ. NaN is equal to itself, as in files.
    public static func == (a: Decimal128, b: Decimal128) -> Bool {
        CoreEngine.Decimal128.compare(a.value, b.value) == 0
    }

    public static func < (a: Decimal128, b: Decimal128) -> Bool { CoreEngine.Decimal128.compare(a.value, b.value) < 0 }

    public func hash(into hasher: inout Hasher) {
        if value.isSpecial { return hasher.combine(value.isNaN ? 0 : (value.isNegative ? -1 : 1)) }
        var (coefficient, exponent) = value.parts
        guard coefficient != 0 else { return hasher.combine(2) }
        while coefficient % 10 == 0 { (coefficient, exponent) = (coefficient / 10, exponent + 1) }
        hasher.combine(coefficient)
        hasher.combine(exponent)
        hasher.combine(value.isNegative)
    }
}

extension Decimal128: Numeric, SignedNumeric {
    public init?<T: BinaryInteger>(exactly source: T) { self.init(source) }

    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.value + b.value) }

    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.value - b.value) }

    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.value * b.value) }

    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.value / b.value) }

    public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }

    public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }

    public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }

    public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }

    public static prefix func - (a: Decimal128) -> Decimal128 { Decimal128(-a.value) }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self.value = CoreEngine.Decimal128(value) }

    public init(floatLiteral value: Double) { self.init(value) }

    /// Creates a number from a string literal. A literal that is not a number becomes NaN.
    public init(stringLiteral value: String) { self.value = CoreEngine.Decimal128(text: value.utf8) ?? .nan }
}

extension Decimal128: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = try Decimal128(string: text)
        } else {
            self.init(try container.decode(Double.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension Decimal128: _Scalar {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.decimal) }
    public static var _rlmSamples: (Decimal128, Decimal128) { (Decimal128(-70_003.25), Decimal128(100_019.75)) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Decimal128? {
        switch stored.value {
        case .decimal(let value): Decimal128(value)
        case .int(let value): Decimal128(value)
        case .double(let value): Decimal128(value)
        case .float(let value): Decimal128(Double(value))
        default: nil
        }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.decimal(value), nil) }

    public static func _rlmConvert(_ any: Any) -> Decimal128? {
        switch any {
        case let value as Decimal128: value
        case let value as any BinaryInteger: Decimal128(value)
        case let value as any BinaryFloatingPoint: Decimal128(Double(value))
        case let value as Decimal: try? Decimal128(string: value.description)
        case let value as String: try? Decimal128(string: value)
        case let value as NSNumber: Decimal128(number: value)
        case let value as AnyRealmValue: value.decimal128Value
        default: nil
        }
    }
}
