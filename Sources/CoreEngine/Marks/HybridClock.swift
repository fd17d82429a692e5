/// The time of a change: milliseconds since 1970 in the upper 48 bits, a counter in the lower 16. Times of one file
/// ascend even if the system's clock is set back, and a file that has seen a time makes later ones only.
enum HybridClock {
    static let counterBits: Int64 = 16

    /// The time by the system's clock alone.
    /// - Parameter offset: milliseconds that are added to the system's clock.
    static func now(offset: Int64 = 0) -> Int64 {
        let milliseconds = Int64(clamping: Platform.microsecondsSince1970 / 1000)
        return max(0, min(milliseconds &+ offset, Int64.max >> counterBits)) << counterBits
    }

    /// A time after `last`.
    static func next(after last: Int64, offset: Int64 = 0) -> Int64 {
        max(now(offset: offset), last == .max ? last : last + 1)
    }
}
