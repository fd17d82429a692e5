/// The bytes of a string or binary, not copied. Valid for the snapshot that they come from, and until the next write of
/// that transaction.
package typealias Bytes = UnsafeRawBufferPointer

/// A point in time: seconds and nanoseconds since 1970, both with the same sign, |nanoseconds| < 10⁹.
public struct Timestamp: Hashable, Sendable, Comparable {
    /// Whole seconds.
    public var seconds: Int64

    /// The nanoseconds in addition to the seconds.
    public var nanoseconds: Int32

    /// Creates a time from its two parts, which must have the same sign: see `isValid`.
    @inline(__always) public init(seconds: Int64, nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Whether the two parts have the same sign and the nanoseconds are in range.
    public var isValid: Bool {
        nanoseconds > -1_000_000_000 && nanoseconds < 1_000_000_000 && !(seconds > 0 && nanoseconds < 0)
            && !(seconds < 0 && nanoseconds > 0)
    }

    @inline(__always) public static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.seconds != b.seconds ? a.seconds < b.seconds : a.nanoseconds < b.nanoseconds
    }
}

/// Twelve bytes, as defined by MongoDB; ordered by memcmp.
public struct ObjectId: Hashable, Sendable, Comparable {
    /// The first eight bytes and the last four, each big-endian, so that the order of the integers is the order of the
    /// bytes.
    package var high: UInt64
    package var low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// - Parameter bytes: 12 readable bytes.
    public init(bytes: UnsafeRawPointer) {
        high = bytes.loadUnaligned(as: UInt64.self).bigEndian
        low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self).bigEndian
    }

    /// - Parameter bytes: 12 writable bytes.
    public func copy(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt32.self)
    }

    public static func < (a: ObjectId, b: ObjectId) -> Bool { a.high != b.high ? a.high < b.high : a.low < b.low }
}

/// Sixteen bytes in textual order; ordered by memcmp.
public struct UUIDValue: Hashable, Sendable, Comparable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Parameter bytes: 16 readable bytes.
    public init(bytes: UnsafeRawPointer) {
        high = bytes.loadUnaligned(as: UInt64.self).bigEndian
        low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
    }

    /// - Parameter bytes: 16 writable bytes.
    public func copy(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    public static func < (a: UUIDValue, b: UUIDValue) -> Bool { a.high != b.high ? a.high < b.high : a.low < b.low }
}

private let hexDigits: [UInt8] = Array("0123456789abcdef".utf8)

private func hexText(_ value: UInt64, bytes: Int, into out: inout [UInt8]) {
    for shift in stride(from: bytes * 8 - 4, through: 0, by: -4) {
        out.append(hexDigits[Int(value >> UInt64(shift) & 15)])
    }
}

extension Timestamp: CustomStringConvertible {
    /// Seconds since 1970 with nine digits after the point: `-1.500000000`.
    public var description: String {
        let digits = String(nanoseconds.magnitude)
        let sign = seconds < 0 || nanoseconds < 0 ? "-" : ""
        return "\(sign)\(seconds.magnitude).\(String(repeating: "0", count: max(0, 9 - digits.count)))\(digits)"
    }
}

extension ObjectId: CustomStringConvertible {
    /// 24 hexadecimal digits.
    public var description: String {
        var text: [UInt8] = []
        hexText(high, bytes: 8, into: &text)
        hexText(UInt64(low), bytes: 4, into: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

extension UUIDValue: CustomStringConvertible {
    /// 8-4-4-4-12 hexadecimal digits.
    public var description: String {
        var text: [UInt8] = []
        hexText(high >> 32, bytes: 4, into: &text)
        text.append(0x2D)
        hexText(high >> 16 & 0xFFFF, bytes: 2, into: &text)
        text.append(0x2D)
        hexText(high & 0xFFFF, bytes: 2, into: &text)
        text.append(0x2D)
        hexText(low >> 48, bytes: 2, into: &text)
        text.append(0x2D)
        hexText(low & 0xFFFF_FFFF_FFFF, bytes: 6, into: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
