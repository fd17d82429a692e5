/// Sums, products and quotients, rounded to 34 digits, ties to even (IEEE 754-2008).
extension Decimal128 {
    package static let nan = Decimal128(low: 0, high: 0x7C00_0000_0000_0000)

    static func infinity(negative: Bool) -> Decimal128 {
        Decimal128(low: 0, high: negative ? 0xF800_0000_0000_0000 : 0x7800_0000_0000_0000)
    }

    private static let digits = 34
    private static let exponents = -6176...6111

    private static func power(_ exponent: Int) -> UInt128 {
        var result: UInt128 = 1
        for _ in 0..<exponent { result *= 10 }
        return result
    }

    /// Rounds an exact coefficient of up to 256 bits. `sticky` means that nonzero digits below it were cut off.
    private static func rounded(negative: Bool, high: UInt128, low: UInt128, exponent: Int, sticky: Bool = false)
        -> Decimal128
    {
        var (upper, lower, scale, lost, last) = (high, low, exponent, sticky, UInt128(0))
        // Remove the lowest digits one by one until 34 are left.
        func divideByTen() {
            let (upperQuotient, carry) = upper.quotientAndRemainder(dividingBy: 10)
            let (lowerQuotient, digit) = UInt128(10).dividingFullWidth((carry, lower))
            if last != 0 { lost = true }
            (upper, lower, last) = (upperQuotient, lowerQuotient, digit)
            scale += 1
        }
        while upper > 0 || lower > maxCoefficient { divideByTen() }
        if last > 5 || (last == 5 && (lost || lower % 2 == 1)) { lower += 1 }
        if lower > maxCoefficient {
            lower /= 10
            scale += 1
        }
        if lower == 0 {
            return Decimal128(
                negative: negative, coefficient: 0,
                exponent: min(max(scale, exponents.lowerBound), exponents.upperBound))
        }
        while scale > exponents.upperBound, lower <= maxCoefficient / 10 {
            lower *= 10
            scale -= 1
        }
        if scale > exponents.upperBound { return infinity(negative: negative) }
        while scale < exponents.lowerBound, lower > 0 {
            lower /= 10
            scale += 1
        }
        return Decimal128(negative: negative, coefficient: lower, exponent: max(scale, exponents.lowerBound))
    }

    package static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
        if a.isNaN || b.isNaN { return .nan }
        if a.isInfinite || b.isInfinite {
            if a.isInfinite && b.isInfinite { return a.isNegative == b.isNegative ? a : .nan }
            return a.isInfinite ? a : b
        }
        var (x, y) = (a, b)
        if x.parts.exponent < y.parts.exponent { swap(&x, &y) }
        var (cx, ex) = x.parts
        let (cy0, ey) = y.parts
        var cy = cy0
        if cx == 0 {
            return cy == 0 ? Decimal128(negative: a.isNegative && b.isNegative, coefficient: 0, exponent: ey) : y
        }
        // Lower the larger exponent as far as 128 bits allow. Cut off the digits of the other number that are still
        // below, and note whether one was nonzero.
        while ex > ey, cx <= UInt128.max / 10 / 100 {
            cx *= 10
            ex -= 1
        }
        var sticky = false
        var exponent = ey
        while exponent < ex {
            if cy % 10 != 0 { sticky = true }
            cy /= 10
            exponent += 1
        }
        if x.isNegative == y.isNegative {
            return rounded(negative: x.isNegative, high: 0, low: cx + cy, exponent: ex, sticky: sticky)
        }
        if cx == cy && !sticky { return Decimal128(negative: false, coefficient: 0, exponent: ex) }
        if cx >= cy {
            // Borrow one when nonzero digits of the subtrahend were cut off.
            return rounded(
                negative: x.isNegative, high: 0, low: cx - cy - (sticky ? 1 : 0), exponent: ex, sticky: sticky)
        }
        return rounded(negative: y.isNegative, high: 0, low: cy - cx, exponent: ex, sticky: sticky)
    }

    package static prefix func - (a: Decimal128) -> Decimal128 { Decimal128(low: a.low, high: a.high ^ 1 << 63) }

    package static func - (a: Decimal128, b: Decimal128) -> Decimal128 { a + (-b) }

    package static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
        if a.isNaN || b.isNaN { return .nan }
        let negative = a.isNegative != b.isNegative
        if a.isInfinite || b.isInfinite {
            let other = a.isInfinite ? b : a
            return !other.isInfinite && other.parts.coefficient == 0 ? .nan : infinity(negative: negative)
        }
        let (ca, ea) = a.parts, (cb, eb) = b.parts
        let product = ca.multipliedFullWidth(by: cb)
        return rounded(negative: negative, high: product.high, low: product.low, exponent: ea + eb)
    }

    package static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
        if a.isNaN || b.isNaN { return .nan }
        let negative = a.isNegative != b.isNegative
        if a.isInfinite { return b.isInfinite ? .nan : infinity(negative: negative) }
        if b.isInfinite { return Decimal128(negative: negative, coefficient: 0, exponent: exponents.lowerBound) }
        let (ca, ea) = a.parts, (cb, eb) = b.parts
        if cb == 0 { return ca == 0 ? .nan : infinity(negative: negative) }
        if ca == 0 {
            return Decimal128(
                negative: negative, coefficient: 0,
                exponent: min(max(ea - eb, exponents.lowerBound), exponents.upperBound))
        }
        // A numerator of 34 digits times 10^38 has 72 digits, so the quotient has at least 38.
        var full = ca, added = 38
        while full <= maxCoefficient / 10 {
            full *= 10
            added += 1
        }
        let scaled = full.multipliedFullWidth(by: power(38))
        let (qh, rh) = scaled.high.quotientAndRemainder(dividingBy: cb)
        let (ql, remainder) = cb.dividingFullWidth((rh, scaled.low))
        var result = rounded(negative: negative, high: qh, low: ql, exponent: ea - eb - added, sticky: remainder != 0)
        // Bring an exact quotient as close as possible to the ideal exponent.
        if remainder == 0, !result.isSpecial {
            var (coefficient, exponent) = result.parts
            while exponent < ea - eb, coefficient % 10 == 0 {
                coefficient /= 10
                exponent += 1
            }
            result = Decimal128(negative: negative, coefficient: coefficient, exponent: exponent)
        }
        return result
    }

    /// Parses a whole text: sign, digits with a point, exponent; or `inf`, `infinity`, `nan` in any case. nil when the
    /// text is not a decimal.
    package init?(text: some Sequence<UInt8>) {
        var rest = Array(text)[...]
        var negative = false
        if let sign = rest.first, sign == 0x2B || sign == 0x2D {
            negative = sign == 0x2D
            rest = rest.dropFirst()
        }
        let lower = String(decoding: rest, as: UTF8.self).lowercased()
        if lower == "inf" || lower == "infinity" {
            self = .infinity(negative: negative)
            return
        }
        if lower == "nan" {
            self = .nan
            return
        }
        var coefficient: UInt128 = 0, exponent = 0, seen = 0
        var sticky = false, pointed = false
        while let byte = rest.first {
            if byte == 0x2E && !pointed {
                pointed = true
            } else if byte >= 0x30 && byte <= 0x39 {
                seen += 1
                if coefficient <= UInt128.max / 10 - 1 {
                    coefficient = coefficient * 10 + UInt128(byte - 0x30)
                    if pointed { exponent -= 1 }
                } else {
                    if byte != 0x30 { sticky = true }
                    if !pointed { exponent += 1 }
                }
            } else {
                break
            }
            rest = rest.dropFirst()
        }
        guard seen > 0 else { return nil }
        if let mark = rest.first, mark | 0x20 == 0x65 {
            guard let written = Int(String(decoding: rest.dropFirst(), as: UTF8.self)), abs(written) < 100_000 else {
                return nil
            }
            exponent += written
            rest = []
        }
        guard rest.isEmpty else { return nil }
        self = Self.rounded(negative: negative, high: 0, low: coefficient, exponent: exponent, sticky: sticky)
    }

    /// The nearest double.
    package var double: Double {
        if isNaN { return .nan }
        if isInfinite { return isNegative ? -.infinity : .infinity }
        return Double("\(isNegative ? "-" : "")\(parts.coefficient)e\(parts.exponent)") ?? 0
    }
}
