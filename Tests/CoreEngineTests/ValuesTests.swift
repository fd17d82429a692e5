import Foundation
import Testing

@testable import CoreEngine

private func isBelow(_ a: Decimal128, _ b: Decimal128) -> Bool { Mixed.compare(.decimal(a), .decimal(b)) < 0 }

/// A double counts as the decimal of 15 digits next to it, a float as that of 7: rounded once, from the exact value.
@Test func doublesAreRoundedOnce() throws {
    let examples: [(Double, Int, String)] = [
        (334.0500000000005, 15, "334.050000000001"), (5e-324, 15, "4.94065645841247E-324"), (0.1, 15, "0.1"),
        (1e20, 15, "1E20"),
        (123456, 15, "123456"), (-2.5, 15, "-2.5"), (Double(Float(0.1)), 7, "0.1"),
        (Double(Float(16_777_218)), 7, "1.677722E7"),
        (999_999_999_999_999.5, 15, "1E15"), (0, 15, "0"),
    ]
    for (value, digits, text) in examples {
        let expected = try #require(Decimal128(text: text.utf8))
        #expect(
            Mixed.compare(.decimal(Decimal128(rounding: value, digits: digits)), .decimal(expected)) == 0, "\(value)")
    }
    // Rounding moves a number by half a unit of the last digit at most.
    for _ in 0..<2000 {
        let value = Double(sign: .plus, exponent: Int.random(in: -60...60), significand: Double.random(in: 1..<2))
        let rounded = Decimal128(rounding: value, digits: 15), exact = Decimal128(exactly: value)
        let difference = isBelow(rounded, exact) ? exact - rounded : rounded - exact
        let unit = try #require(Decimal128(text: "1E\(Int(log10(value).rounded(.down)) - 14)".utf8))
        #expect(!isBelow(unit, difference + difference), "\(value)")
    }
}

/// The order of realm-core for NaNs of all types, with the signs and what else they carry: it decides where a value
/// stands in a set, and whether it is found. Each row: what is less than the rest of the row in it, equal to it, or
/// greater.
@Test func mixedNaNsStandWhereRealmCoreHasThem() {
    func double(_ bits: UInt64) -> Mixed { .double(Double(bitPattern: bits)) }
    func decimal(_ high: UInt64, _ low: UInt64 = 0) -> Mixed { .decimal(Decimal128(low: low, high: high)) }
    func float(_ bits: UInt32) -> Mixed { .float(Float(bitPattern: bits)) }
    let usual = double(0x7FF8_0000_0000_0000), ofX86 = double(0xFFF8_0000_0000_0000), ofX86Float = float(0xFFC0_0000)
    // 1 and 1 << 51, moved up by 59 places.
    let carrying = double(0x7FF8_0000_0000_0001), carried = decimal(0x7C00_0000_0000_0000, 1 << 59)
    let examples: [(Mixed, Mixed, Int)] = [
        (usual, decimal(0x7C00_0000_0000_0000), 0), (ofX86, decimal(0xFC00_0000_0000_0000), 0),
        (ofX86Float, decimal(0xFC00_0000_0000_0000), 0),
        (ofX86, decimal(0x7C00_0000_0000_0000), 1), (ofX86, decimal(0x7E00_0000_0000_0000), 1),
        (usual, decimal(0x7E00_0000_0000_0000), -1),
        (ofX86, decimal(0xFE00_0000_0000_0000), -1), (usual, ofX86, -1), (ofX86, ofX86Float, 0),
        (float(0x7FC0_0000), ofX86Float, -1),
        (carrying, carried, 0), (carrying, decimal(0x7C00_0000_0000_0000), 1),
        (double(0x7FF0_0000_0000_0001), carried, 0),
        // More than a decimal carries: nothing.
        (double(0x7FFF_FFFF_FFFF_FFFF), decimal(0x7C00_0000_0000_0000), 0),
        // As doubles they would be one.
        (float(0x7F80_0001), float(0x7FC0_0001), -1), (float(0x7F80_0001), double(0x7FF8_0000_2000_0000), 0),
        (ofX86, .double(-.infinity), -1), (ofX86, .int(.min), -1), (ofX86, .null, 1), (ofX86, .bool(true), 1),
        (decimal(0xFE00_0000_0000_0000), decimal(0xF800_0000_0000_0000), -1),
    ]
    for (a, b, order) in examples {
        #expect(Mixed.compare(a, b) == order, "\(a) \(b)")
        #expect(Mixed.compare(b, a) == -order, "\(b) \(a)")
    }
}

/// Sorting needs an order, which the comparison above is not among NaNs.
@Test func sortingOrdersNaNs() {
    let bits: [UInt64] = [0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0001, 0x7FFF_FFFF_FFFF_FFFF]
    var values: [Mixed] = [.int(0), .double(-.infinity)]
    for b in bits { values += [.double(Double(bitPattern: b)), .double(Double(bitPattern: b | 1 << 63))] }
    for b: UInt32 in [0x7FC0_0000, 0x7F80_0001, 0x7FC0_0001, 0xFFC0_0000] {
        values.append(.float(Float(bitPattern: b)))
    }
    for high: UInt64 in [0x7C00, 0x7E00, 0xFC00, 0xFE00] {
        for low: UInt64 in [0, 1, 1 << 59] { values.append(.decimal(Decimal128(low: low, high: high << 48))) }
    }
    for a in values {
        for b in values {
            let order = Mixed.compareExactly(a, b)
            #expect(order == -Mixed.compareExactly(b, a))
            for c in values where order <= 0 && Mixed.compareExactly(b, c) <= 0 {
                #expect(Mixed.compareExactly(a, c) <= 0, "\(a) \(b) \(c)")
            }
        }
    }
}

@Test func doublesKeepTheirSignAsDecimals() {
    #expect(Decimal128(rounding: -0.0, digits: 15) == Decimal128(low: 0, high: 0xB040_0000_0000_0000))
    #expect(Decimal128(exactly: -.infinity) == Decimal128(low: 0, high: 0xF800_0000_0000_0000))
    #expect(Decimal128(rounding: -.nan, digits: 15) == Decimal128(low: 0, high: 0xFC00_0000_0000_0000))
    #expect(Decimal128(rounding: Double(-Float.nan), digits: 7) == Decimal128(low: 0, high: 0xFC00_0000_0000_0000))
}

/// Nothing wraps: what does not fit into 64 bits is a decimal, and whole numbers stay whole.
@Test func sumsAndProductsOfIntegersAreExact() {
    func text(_ v: Mixed) -> String {
        switch v {
        case .int(let i): "\(i)"
        case .decimal(let d): "\(d) (decimal)"
        default: "\(v)"
        }
    }
    let examples: [(ArithmeticOperator, Int64, Int64, String)] = [
        (.add, .max, 1, "9223372036854775808 (decimal)"), (.add, .max, 0, "9223372036854775807"),
        (.add, .min, -1, "-9223372036854775809 (decimal)"),
        (.subtract, .min, 1, "-9223372036854775809 (decimal)"), (.subtract, 0, .min, "9223372036854775808 (decimal)"),
        (.multiply, .max, 2, "18446744073709551614 (decimal)"), (.multiply, .min, -1, "9223372036854775808 (decimal)"),
        (.divide, .min, -1, "9223372036854775808 (decimal)"), (.divide, 7, -2, "-3"),
        (.divide, 7, 0, "9223372036854775807"),
        (.divide, -7, 0, "-9223372036854775808"), (.divide, 0, 0, "9223372036854775807"),
    ]
    for (op, a, b, expected) in examples {
        #expect(text(ArithmeticExpression.apply(op, .int(a), .int(b))) == expected, "\(a) \(op.rawValue) \(b)")
    }
    let large: [Mixed] = [.int(1 << 62), .int(1 << 62), .int(1 << 62), .int(1 << 62)]
    #expect(text(Aggregate.over(.sum, .int, large[...])) == "18446744073709551616 (decimal)")
    #expect(text(Aggregate.over(.sum, .int, large[..<1])) == "4611686018427387904")
}
