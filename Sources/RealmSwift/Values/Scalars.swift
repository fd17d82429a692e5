internal import CoreEngine
import Foundation

/// Numbers, strings, binary data and dates: the conversions between Swift types and engine types.
///
/// Each type defines three things: its stored type, the conversion from a stored value, and the conversion from other
/// types in dictionaries and arrays.

/// A type whose values are single values in the file, and that has a default value for properties that were never set.
public protocol _Scalar: RealmCollectionValue, _Persistable, _DefaultConstructible {
    /// Two values that code is unlikely to convert into one another. They reveal whether a getter changes a value.
    static var _rlmSamples: (Self, Self) { get }
}

extension _Scalar {
    public static func _rlmDefault() -> Self { Self() }
    public static func _rlmStandIn(_ recording: _Recording) -> Self {
        switch recording.sample {
        case 1: _rlmSamples.0
        case 2: _rlmSamples.1
        default: Self()
        }
    }
}

// MARK: Integers

public protocol _RealmInteger: _Scalar, FixedWidthInteger, _PrimaryKey, _Indexable {}

extension _RealmInteger {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.int) }
    /// Loads an integer. An integer that does not fit is truncated, as in Realm: a property of a smaller type gets the
    /// low bits of the stored value.
    public static func _rlmLoad(_ stored: _StoredValue) -> Self? {
        guard case .int(let value) = stored.value else { return nil }
        return Self(truncatingIfNeeded: value)
    }
    public func _rlmValue() -> _StoredValue? { _StoredValue(.int(Int64(truncatingIfNeeded: self)), nil) }
    public static func _rlmConvert(_ any: Any) -> Self? {
        switch any {
        case let value as Self: value
        case let value as Bool: value ? 1 : 0
        case let value as any BinaryInteger: Self(exactly: value)
        case let value as any BinaryFloatingPoint: Self(exactly: Double(value))
        case let value as NSNumber:
            value.doubleValue.rounded(.towardZero) == value.doubleValue ? Self(exactly: value.int64Value) : nil
        case let value as AnyRealmValue: value.intValue.flatMap { Self(exactly: $0) }
        default: nil
        }
    }
    /// The samples are small enough for getters that calculate with them.
    public static var _rlmSamples: (Self, Self) { Self.bitWidth > 16 ? (-70_003, 100_019) : (-17, 29) }
    @inlinable public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Self {
        Self(truncatingIfNeeded: object.integer(index))
    }
    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Self) {
        object.set(index, .int(Int64(truncatingIfNeeded: value)))
    }
}

extension Int: _RealmInteger {}

extension Int8: _RealmInteger {}

extension Int16: _RealmInteger {}

extension Int32: _RealmInteger {}

extension Int64: _RealmInteger {}

// MARK: Other numbers

extension Bool: _Scalar, _Indexable, _PrimaryKey {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.bool) }
    public static var _rlmSamples: (Bool, Bool) { (true, false) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Bool? {
        if case .bool(let value) = stored.value { value } else { nil }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.bool(self), nil) }

    public static func _rlmConvert(_ any: Any) -> Bool? {
        switch any {
        case let value as Bool: value
        case let value as any BinaryInteger: Int(exactly: value).flatMap { $0 == 0 ? false : ($0 == 1 ? true : nil) }
        case let value as NSNumber: value.doubleValue == 0 ? false : (value.doubleValue == 1 ? true : nil)
        case let value as AnyRealmValue: value.boolValue
        default: nil
        }
    }

    @inlinable public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Bool { object.bool(index) }

    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Bool) { object.set(index, .bool(value)) }
}

extension Double: _Scalar {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.double) }
    public static var _rlmSamples: (Double, Double) { (-70_003.25, 100_019.75) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Double? {
        switch stored.value {
        case .double(let value): value
        case .float(let value): Double(value)
        case .int(let value): Double(value)
        case .decimal(let value): value.double
        default: nil
        }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.double(self), nil) }

    /// Converts numbers of all types. Boolean values are not converted, although `NSNumber` could represent them.
    public static func _rlmConvert(_ any: Any) -> Double? {
        switch any {
        case _ where unwrapped(any).map({ type(of: $0) == Bool.self }) ?? false: nil
        case let value as Double: value
        case let value as any BinaryFloatingPoint: Double(value)
        case let value as any BinaryInteger: Double(value)
        case let value as NSNumber: value.doubleValue
        case let value as AnyRealmValue:
            value.doubleValue ?? value.floatValue.map { Double($0) } ?? value.intValue.map { Double($0) }
        default: nil
        }
    }

    @inlinable public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> Double { object.double(index) }

    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: Double) {
        object.set(index, .double(value))
    }
}

extension Float: _Scalar {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.float) }
    public static var _rlmSamples: (Float, Float) { (-7003.25, 10_019.75) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Float? { Double._rlmLoad(stored).map { Float($0) } }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.float(self), nil) }

    public static func _rlmConvert(_ any: Any) -> Float? {
        (any as? Float) ?? Double._rlmConvert(any).map { Float($0) }
    }
}

// MARK: Strings and binary data

extension String: _Scalar, _PrimaryKey, _Indexable {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.string) }

    /// The samples contain letters of both cases, blanks and punctuation.
    public static var _rlmSamples: (String, String) {
        (" Zq\u{E9}7_x\n" + String(repeating: "wV", count: 40) + " ", "kY")
    }

    public static func _rlmLoad(_ stored: _StoredValue) -> String? {
        if case .string(let value) = stored.value { value } else { nil }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.string(self), nil) }

    public static func _rlmConvert(_ any: Any) -> String? {
        switch any {
        case let value as String: value
        case let value as Substring: String(value)
        case let value as NSString: String(describing: value)
        case let value as AnyRealmValue: value.stringValue
        default: nil
        }
    }

    @inlinable public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> String { object.string(index) }

    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: String) {
        var value = value
        value.withUTF8 { object.set(index, .string(UnsafeRawBufferPointer($0))) }
    }
}

extension Data: _Scalar {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.data) }
    public static var _rlmSamples: (Data, Data) { (Data((0..<90).map { UInt8($0 ^ 0x5A) }), Data([7, 1])) }

    public static func _rlmLoad(_ stored: _StoredValue) -> Data? {
        if case .data(let value) = stored.value { Data(value) } else { nil }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.data(Array(self)), nil) }

    public static func _rlmConvert(_ any: Any) -> Data? {
        switch any {
        case let value as Data: value
        case let value as NSData: value as Data
        case let value as AnyRealmValue: value.dataValue
        default: nil
        }
    }
}

// MARK: Dates

extension Timestamp {
    /// The seconds between 1970 and Foundation's reference date, from which a `Date` counts. Counting from the
    /// reference date loses no precision.
    private static let reference: Int64 = 978_307_200

    init(_ date: Date) {
        let whole = date.timeIntervalSinceReferenceDate.rounded(.towardZero)
        guard let sinceReference = Int64(exactly: whole),
            case (let sum, let overflow) = sinceReference.addingReportingOverflow(Self.reference), !overflow
        else {
            self.init(seconds: date.timeIntervalSinceReferenceDate < 0 ? .min : .max, nanoseconds: 0)
            return
        }
        var seconds = sum, ns = Int32(((date.timeIntervalSinceReferenceDate - whole) * 1e9).rounded())
        // Both parts need the same sign. Between 1970 and 2001 they were counted from opposite directions.
        if ns < 0 && seconds > 0 {
            (seconds, ns) = (seconds - 1, ns + 1_000_000_000)
        } else if ns > 0 && seconds < 0 {
            (seconds, ns) = (seconds + 1, ns - 1_000_000_000)
        }
        if ns == 1_000_000_000 {
            (seconds, ns) = (seconds + 1, 0)
        } else if ns == -1_000_000_000 {
            (seconds, ns) = (seconds - 1, 0)
        }
        self.init(seconds: seconds, nanoseconds: ns)
    }

    var date: Date {
        let (elapsed, overflow) = seconds.subtractingReportingOverflow(Self.reference)
        return Date(
            timeIntervalSinceReferenceDate: (overflow ? Double(seconds) : Double(elapsed)) + Double(nanoseconds) / 1e9)
    }
}

extension Date: _Scalar, _Indexable {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.date) }

    public static var _rlmSamples: (Date, Date) {
        (Date(timeIntervalSinceReferenceDate: -1_000_000_007.25), Date(timeIntervalSinceReferenceDate: 1_300_000_013.5))
    }

    public static func _rlmLoad(_ stored: _StoredValue) -> Date? {
        if case .date(let value) = stored.value { value.date } else { nil }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.date(Timestamp(self)), nil) }

    public static func _rlmConvert(_ any: Any) -> Date? {
        switch any {
        case let value as Date: value
        case let value as NSDate: value as Date
        case let value as AnyRealmValue: value.dateValue
        default: nil
        }
    }
}

// MARK: Identifiers

extension UUID: _Scalar, _PrimaryKey, _Indexable {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.uuid) }

    public static var _rlmSamples: (UUID, UUID) {
        (
            UUIDValue(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF).foundation,
            UUIDValue(high: 0, low: 1).foundation
        )
    }

    public static func _rlmLoad(_ stored: _StoredValue) -> UUID? {
        guard case .uuid(let value) = stored.value else { return nil }
        return value.foundation
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.uuid(UUIDValue(self)), nil) }

    public static func _rlmConvert(_ any: Any) -> UUID? {
        switch any {
        case let value as UUID: value
        case let value as String: UUID(uuidString: value)
        case let value as NSUUID: UUID(uuidString: value.uuidString)
        case let value as AnyRealmValue: value.uuidValue
        default: nil
        }
    }
}

extension UUIDValue {
    init(_ id: UUID) {
        self = withUnsafeBytes(of: id.uuid) { bytes in
            UUIDValue(
                high: bytes.loadUnaligned(as: UInt64.self).bigEndian,
                low: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian)
        }
    }

    var foundation: UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { b in
            b.storeBytes(of: high.bigEndian, as: UInt64.self)
            b.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}

extension Data: _CustomStorage {}

extension Date: _CustomStorage {}

extension UUID: _CustomStorage {}
