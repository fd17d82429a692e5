internal import CoreEngine
import Foundation
import Synchronization

/// A unique identifier of twelve bytes that needs no central authority: the seconds since 1970, five random bytes of
/// the process, and a counter.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible {
    let value: CoreEngine.ObjectId

    init(_ value: CoreEngine.ObjectId) { self.value = value }

    /// Creates an identifier of zeros.
    public init() { value = CoreEngine.ObjectId(high: 0, low: 0) }

    /// Creates an identifier from its text form.
    ///
    /// - Parameter string: 24 hexadecimal digits.
    /// - Throws: `Realm.Error.invalidInput` for any other string.
    public init(string: String) throws {
        guard let id = Self(digits: string) else {
            throw Realm.Error(.invalidInput, "Invalid Object ID string '\(string)': must be 24 hex digits")
        }
        self = id
    }

    /// Creates an identifier from 24 digits in the source code. Any other text is misuse.
    public init(_ str: StaticString) {
        let text = "\(str)"
        guard let id = Self(digits: text) else { misuse("Invalid Object ID string '\(text)': must be 24 hex digits") }
        self = id
    }

    init?(digits description: String) {
        guard description.utf8.count == 24, let high = UInt64(description.prefix(16), radix: 16),
            let low = UInt32(description.suffix(8), radix: 16),
            !description.utf8.contains(UInt8(ascii: "+"))
        else { return nil }
        value = CoreEngine.ObjectId(high: high, low: low)
    }

    /// Creates an identifier from its parts, for example with a known time.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        let process =
            UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF << 16 | UInt64(truncatingIfNeeded: processId) & 0xFFFF
        self.init(seconds: UInt64(truncatingIfNeeded: Int64(timestamp.timeIntervalSince1970.rounded(.down))), process)
    }

    private init(seconds: UInt64, _ process: UInt64) {
        let count = Self.counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
        value = CoreEngine.ObjectId(high: seconds << 32 | process >> 8, low: UInt32(process & 0xFF) << 24 | count)
    }

    private static let process = UInt64.random(in: 0..<1 << 40)
    private static let counter = Atomic(UInt32.random(in: 0..<1 << 24))

    /// Returns a new identifier. No other process generates the same one.
    public static func generate() -> ObjectId { ObjectId(seconds: UInt64(Date().timeIntervalSince1970), process) }

    /// The identifier as 24 hexadecimal digits.
    public var stringValue: String { value.description }
    public var description: String { stringValue }

    /// The creation time of the identifier, with a resolution of seconds.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(value.high >> 32)) }

    public static func < (a: ObjectId, b: ObjectId) -> Bool { a.value < b.value }
}

extension ObjectId: _Scalar, _PrimaryKey, _Indexable {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.objectId) }

    public static var _rlmSamples: (ObjectId, ObjectId) {
        (ObjectId(.init(high: 0x0123_4567_89AB_CDEF, low: 0x8BAD_F00D)), ObjectId(.init(high: 0, low: 1)))
    }

    public static func _rlmLoad(_ stored: _StoredValue) -> ObjectId? {
        if case .objectId(let value) = stored.value { ObjectId(value) } else { nil }
    }

    public func _rlmValue() -> _StoredValue? { _StoredValue(.objectId(value), nil) }

    /// Returns a new identifier for each object, so that programs need not set their primary keys.
    public static func _rlmDefault() -> ObjectId { generate() }

    public static func _rlmConvert(_ any: Any) -> ObjectId? {
        switch any {
        case let value as ObjectId: value
        case let value as String: ObjectId(digits: value)
        case let value as NSString: ObjectId(digits: String(describing: value))
        case let value as AnyRealmValue: value.objectIdValue
        default: nil
        }
    }
}

extension ObjectId: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = ObjectId(digits: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is not 24 hexadecimal digits"))
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
