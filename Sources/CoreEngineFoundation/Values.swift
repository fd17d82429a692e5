import CoreEngine
import Foundation

extension Date: RealmConvertible {
    /// Creates a date. A `Double` of seconds represents current dates with a precision of about 100 nanoseconds.
    public init?(realmValue: RealmValue) {
        guard case .date(let timestamp) = realmValue else { return nil }
        self.init(timestamp)
    }

    public var realmValue: RealmValue { .date(Timestamp(self)) }

    /// Creates a date for the same point in time.
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.seconds) + Double(timestamp.nanoseconds) / 1e9)
    }
}

extension Timestamp {
    /// Creates a timestamp for the same point in time, in nanoseconds. A date outside of the 292 billion years around
    /// 1970 becomes the nearest valid one.
    public init(_ date: Date) {
        let interval = date.timeIntervalSince1970, whole = interval.rounded(.towardZero)
        guard let seconds = Int64(exactly: whole) else {
            self.init(seconds: interval < 0 ? .min : .max, nanoseconds: 0)
            return
        }
        let nanoseconds = ((interval - whole) * 1e9).rounded()
        // A fraction may round up to a full second.
        if abs(nanoseconds) >= 1e9 {
            self.init(seconds: seconds + (interval < 0 ? -1 : 1), nanoseconds: 0)
        } else {
            self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
        }
    }
}

extension Data: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .data(let bytes) = realmValue else { return nil }
        self.init(bytes)
    }

    public var realmValue: RealmValue { .data(Array(self)) }
}

extension UUID: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .uuid(let uuid) = realmValue else { return nil }
        self.init(uuid)
    }

    public var realmValue: RealmValue { .uuid(UUIDValue(self)) }

    /// Creates a UUID with the same sixteen bytes.
    public init(_ value: UUIDValue) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { if let start = $0.baseAddress { value.copy(to: start) } }
        self.init(uuid: bytes)
    }
}

extension UUIDValue {
    /// Creates a value with the same sixteen bytes.
    public init(_ uuid: UUID) {
        var bytes = uuid.uuid
        self = withUnsafePointer(to: &bytes) { UUIDValue(bytes: $0) }
    }
}

extension RealmError: LocalizedError {
    /// The message of the error.
    public var errorDescription: String? { message }

    /// The error number, as in the C API and the documentation, and the path of the file.
    public var failureReason: String? { "Realm error \(code.rawValue)\(path.map { ", \($0)" } ?? "")" }
}
