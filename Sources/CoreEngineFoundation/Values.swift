import CoreEngine
import Foundation

extension Date: RealmConvertible {
    /// As exact as a `Double` of seconds can be: some 100 nanoseconds in our time.
    public init?(realmValue: RealmValue) {
        guard case .date(let timestamp) = realmValue else { return nil }
        self.init(timestamp)
    }

    public var realmValue: RealmValue { .date(Timestamp(self)) }

    /// The same point in time.
    public init(_ t: Timestamp) { self.init(timeIntervalSince1970: Double(t.seconds) + Double(t.nanoseconds) / 1e9) }
}

extension Timestamp {
    /// The same point in time, to the nanosecond. What lies outside of the 292 billion years around 1970 becomes their
    /// end.
    public init(_ date: Date) {
        let interval = date.timeIntervalSince1970, whole = interval.rounded(.towardZero)
        guard let seconds = Int64(exactly: whole) else {
            self.init(seconds: interval < 0 ? .min : .max, nanoseconds: 0)
            return
        }
        let nanoseconds = ((interval - whole) * 1e9).rounded()
        // A fraction may round up to a second.
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

    /// The same sixteen bytes.
    public init(_ value: UUIDValue) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { if let start = $0.baseAddress { value.copy(to: start) } }
        self.init(uuid: bytes)
    }
}

extension UUIDValue {
    /// The same sixteen bytes.
    public init(_ uuid: UUID) {
        var bytes = uuid.uuid
        self = withUnsafePointer(to: &bytes) { UUIDValue(bytes: $0) }
    }
}

extension RealmError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The number, as the C API and the documentation have it.
    public var failureReason: String? { "Realm error \(code.rawValue)\(path.map { ", \($0)" } ?? "")" }
}
