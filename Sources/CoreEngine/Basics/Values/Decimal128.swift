/// IEEE 754-2008 decimal128 in BID encoding: sign, 113-bit coefficient, exponent with bias 6176. Format: logical §6.8.
public struct Decimal128: Hashable, Sendable {
    /// The lower 64 bits of the IEEE 754 form with a binary coefficient.
    public var low: UInt64

    /// The upper 64 bits.
    public var high: UInt64

    /// Creates a decimal from its two halves.
    @inline(__always) public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    static let zero = Decimal128(low: 0, high: 0x3040_0000_0000_0000)

    /// The NaN that means null in 16-byte leaves.
    static let null = Decimal128(low: 0xAA, high: 0x7C00_0000_0000_0000)
    static let bias = 6176

    /// Largest coefficient: 10^34 − 1.
    static let maxCoefficient: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999

    /// Whether the sign is minus.
    public var isNegative: Bool { high >> 63 != 0 }

    /// Infinity or NaN.
    public var isSpecial: Bool { high & 0x7800_0000_0000_0000 == 0x7800_0000_0000_0000 }

    /// Whether it is a NaN.
    public var isNaN: Bool { high & 0x7C00_0000_0000_0000 == 0x7C00_0000_0000_0000 }

    /// Whether it is infinite.
    public var isInfinite: Bool { high & 0x7C00_0000_0000_0000 == 0x7800_0000_0000_0000 }

    /// Coefficient and unbiased exponent of a finite number. An encoding with a coefficient out of range means zero.
    public var parts: (coefficient: UInt128, exponent: Int) {
        if high & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000 {
            // In decimal128 the "large coefficient" form is always above 10^34 − 1, hence a non-canonical zero.
            return (0, Int(high >> 47 & 0x3FFF) - Self.bias)
        }
        let coefficient = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        return (coefficient > Self.maxCoefficient ? 0 : coefficient, Int(high >> 49 & 0x3FFF) - Self.bias)
    }

    init(negative: Bool, coefficient: UInt128, exponent: Int) {
        low = UInt64(truncatingIfNeeded: coefficient)
        high =
            UInt64(truncatingIfNeeded: coefficient >> 64) & 0x1_FFFF_FFFF_FFFF | UInt64(exponent + Self.bias) << 49
            | (negative ? 1 << 63 : 0)
    }

    /// Creates a decimal from an integer.
    public init(_ value: Int64) { self.init(negative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0) }

    // MARK: Narrow forms in leaves. Format: logical §6.8.

    /// The bytes that a leaf needs for this value; `zeroLeaf` is the leaf's context flag.
    func width(zeroLeaf: Bool) -> Int {
        if isSpecial { return 16 }
        let (coefficient, exponent) = parts
        if high & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000 { return 16 }
        // Width 0 has no place for a sign.
        if coefficient == 0 && exponent == 0 && !isNegative { return zeroLeaf ? 0 : 4 }
        if coefficient < 1 << 23 && exponent > -91 && exponent < 91 { return 4 }
        if coefficient < 1 << 53 && exponent > -370 && exponent < 370 { return 8 }
        return 16
    }

    /// BID32 bits; valid when `width` allows 4 bytes.
    var bid32: UInt32 {
        let (coefficient, exponent) = parts
        return (isNegative ? 1 << 31 : 0) | UInt32(exponent + 101) << 23 | UInt32(truncatingIfNeeded: coefficient)
    }

    /// BID64 bits; valid when `width` allows 8 bytes.
    var bid64: UInt64 {
        let (coefficient, exponent) = parts
        return (isNegative ? 1 << 63 : 0) | UInt64(exponent + 398) << 53 | UInt64(truncatingIfNeeded: coefficient)
    }

    init(bid32 bits: UInt32) {
        if bits & 0x7800_0000 == 0x7800_0000 {
            self.init(low: 0, high: UInt64(bits & 0xFC00_0000) << 32)
        } else if bits & 0x6000_0000 == 0x6000_0000 {
            let coefficient = UInt32(0x80_0000) | bits & 0x1F_FFFF
            self.init(
                negative: bits >> 31 != 0, coefficient: coefficient > 9_999_999 ? 0 : UInt128(coefficient),
                exponent: Int(bits >> 21 & 0xFF) - 101)
        } else {
            self.init(
                negative: bits >> 31 != 0, coefficient: UInt128(bits & 0x7F_FFFF),
                exponent: Int(bits >> 23 & 0xFF) - 101)
        }
    }

    init(bid64 bits: UInt64) {
        if bits & 0x7800_0000_0000_0000 == 0x7800_0000_0000_0000 {
            self.init(low: 0, high: bits & 0xFC00_0000_0000_0000)
        } else if bits & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000 {
            let coefficient = UInt64(0x20_0000_0000_0000) | bits & 0x7_FFFF_FFFF_FFFF
            self.init(
                negative: bits >> 63 != 0, coefficient: coefficient > 9_999_999_999_999_999 ? 0 : UInt128(coefficient),
                exponent: Int(bits >> 51 & 0x3FF) - 398)
        } else {
            self.init(
                negative: bits >> 63 != 0, coefficient: UInt128(bits & 0x1F_FFFF_FFFF_FFFF),
                exponent: Int(bits >> 53 & 0x3FF) - 398)
        }
    }

    // MARK: Order. Format: logical §12.4.

    /// −1, 0 or 1. NaNs, of which null is one, sort before numbers, and among each other by their bits.
    package static func compare(_ a: Decimal128, _ b: Decimal128) -> Int {
        if a.isNaN || b.isNaN {
            guard a.isNaN && b.isNaN else { return a.isNaN ? -1 : 1 }
            return a.high != b.high ? (a.high < b.high ? -1 : 1) : (a.low == b.low ? 0 : (a.low < b.low ? -1 : 1))
        }
        let sa = a.sign, sb = b.sign
        if sa != sb || sa == 0 { return sa == sb ? 0 : (sa < sb ? -1 : 1) }
        let order = magnitudeCompare(a, b)
        return sa > 0 ? order : -order
    }

    /// −1, 0 or 1; 0 for a zero with either sign bit.
    private var sign: Int {
        if !isInfinite && parts.coefficient == 0 { return 0 }
        return isNegative ? -1 : 1
    }

    private static func magnitudeCompare(_ a: Decimal128, _ b: Decimal128) -> Int {
        if a.isInfinite || b.isInfinite { return a.isInfinite == b.isInfinite ? 0 : (a.isInfinite ? 1 : -1) }
        var (ca, ea) = a.parts
        var (cb, eb) = b.parts
        // Bring both to the smaller exponent. A coefficient has at most 34 digits and UInt128 holds 38.
        while ea > eb {
            if ca > maxCoefficient { return 1 }
            ca *= 10
            ea -= 1
        }
        while eb > ea {
            if cb > maxCoefficient { return -1 }
            cb *= 10
            eb -= 1
        }
        return ca == cb ? 0 : (ca < cb ? -1 : 1)
    }

    /// The value rounded toward zero; infinities and NaNs are unchanged.
    var truncated: Decimal128 {
        var (coefficient, exponent) = parts
        if isSpecial || exponent >= 0 { return self }
        while exponent < 0 && coefficient > 0 {
            coefficient /= 10
            exponent += 1
        }
        return Decimal128(negative: isNegative, coefficient: coefficient, exponent: 0)
    }

    /// The value truncated toward zero; nil when it is not finite or not within Int64.
    package var truncatedInt64: Int64? {
        if isSpecial { return nil }
        var (coefficient, exponent) = parts
        if coefficient == 0 { return 0 }
        while exponent < 0 && coefficient > 0 {
            coefficient /= 10
            exponent += 1
        }
        while exponent > 0 && coefficient > 0 {
            if coefficient > UInt128(UInt64.max) { return nil }
            coefficient *= 10
            exponent -= 1
        }
        if coefficient == 0 { return 0 }
        if isNegative {
            return coefficient > UInt128(1) << 63 ? nil : Int64(truncatingIfNeeded: 0 &- Int128(coefficient))
        }
        return coefficient > UInt128(Int64.max) ? nil : Int64(coefficient)
    }
}

extension Decimal128: CustomStringConvertible {
    /// Plain digits when they are short, otherwise scientific notation, as in the IEEE 754 conversion to character
    /// sequences.
    public var description: String {
        if isNaN { return "NaN" }
        if isInfinite { return isNegative ? "-Infinity" : "Infinity" }
        let (coefficient, exponent) = parts
        let digits = String(coefficient)
        let sign = isNegative ? "-" : ""
        let adjusted = exponent + digits.utf8.count - 1
        if exponent <= 0 && adjusted >= -6 {
            if exponent == 0 { return sign + digits }
            let point = digits.utf8.count + exponent
            if point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
            return sign + "0." + String(repeating: "0", count: -point) + digits
        }
        let tail = digits.dropFirst()
        return sign + digits.prefix(1) + (tail.isEmpty ? "" : "." + tail) + "E" + (adjusted < 0 ? "" : "+")
            + String(adjusted)
    }
}
