import Synchronization

/// Identifiers and times that the engine makes for new objects.
enum AutomaticValues {
    /// The part of an ObjectId that identifies the process, and the number of the last one.
    private static let process = Crypto.randomWord() >> 24
    private static let counter = Atomic<UInt32>(UInt32(truncatingIfNeeded: Crypto.randomWord()))

    /// The time of the last UUID in units of 2⁻¹² milliseconds.
    private static let lastTime = Atomic<UInt64>(0)

    static func now() -> Timestamp {
        let time = Platform.microsecondsSince1970
        return Timestamp(seconds: Int64(time / 1_000_000), nanoseconds: Int32(time % 1_000_000) * 1000)
    }

    /// A UUID of version 7: 48 bits of milliseconds since 1970, 12 bits of their fraction, 62 random bits. The UUIDs of
    /// one process ascend. Source: RFC 9562 §5.7, §6.2 method 3.
    static func uuid() -> UUIDValue {
        let micro = Platform.microsecondsSince1970
        let now = (micro / 1000) << 12 | (micro % 1000) * 4096 / 1000
        var time = now
        while true {
            let last = lastTime.load(ordering: .relaxed)
            time = max(now, last &+ 1)
            if lastTime.weakCompareExchange(expected: last, desired: time, ordering: .relaxed).exchanged { break }
        }
        return UUIDValue(
            high: (time >> 12) << 16 | 0x7000 | time & 0xFFF,
            low: Crypto.randomWord() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// An ObjectId: seconds since 1970, five bytes of the process, a counter. Source: MongoDB's specification of BSON
    /// ObjectId.
    static func objectId() -> ObjectId {
        let seconds = Platform.microsecondsSince1970 / 1_000_000
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
        return ObjectId(
            high: seconds << 32 | process >> 8, low: UInt32(truncatingIfNeeded: process & 0xFF) << 24 | number)
    }
}
