#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Numbers as the C library computes and prints them. Angles are in radians.
enum CNumbers {
    static func sine(_ x: Double) -> Double { sin(x) }

    static func cosine(_ x: Double) -> Double { cos(x) }

    /// The angle of the point (x, y), −π … π.
    static func angle(y: Double, x: Double) -> Double { atan2(y, x) }

    /// `value` as C's `%.*g` prints it.
    static func general(_ value: Double, digits: Int) -> String {
        var buffer = [CChar](repeating: 0, count: 48)
        let length = withVaList([Int32(truncatingIfNeeded: digits), value]) {
            vsnprintf(&buffer, buffer.count, "%.*g", $0)
        }
        return String(
            decoding: buffer.prefix(max(0, min(Int(length), buffer.count - 1))).map {
                $0 == 0x2C ? 0x2E : UInt8(bitPattern: $0)
            }, as: UTF8.self)
    }

    /// `value` as C's `%.*e` prints it: `digits` digits after the point, an exponent of at least two.
    static func scientific(_ value: Double, digits: Int) -> String {
        var buffer = [CChar](repeating: 0, count: 48)
        let length = withVaList([Int32(truncatingIfNeeded: digits), value]) {
            vsnprintf(&buffer, buffer.count, "%.*e", $0)
        }
        // The decimal point depends on the locale.
        return String(
            decoding: buffer.prefix(max(0, min(Int(length), buffer.count - 1))).map {
                $0 == 0x2C ? 0x2E : UInt8(bitPattern: $0)
            }, as: UTF8.self)
    }
}
