#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Trigonometric functions of the C library, in radians.
extension Platform {
    static func sine(_ x: Double) -> Double { sin(x) }

    static func cosine(_ x: Double) -> Double { cos(x) }

    /// The angle of the point (x, y), −π … π.
    static func angle(y: Double, x: Double) -> Double { atan2(y, x) }
}
