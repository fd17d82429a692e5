import Foundation
import Testing

@testable import CoreEngine

private func isBelow(_ a: Decimal128, _ b: Decimal128) -> Bool { Mixed.compare(.decimal(a), .decimal(b)) < 0 }

/// A double counts as the decimal of 15 digits next to it, a float as that of 7: rounded once, from the exact value.
@Test func doublesAreRoundedOnce() throws {
    let examples: [(Double, Int, String)] = [
        (334.0500000000005, 15, "334.050000000001"), (5e-324, 15, "4.94065645841247E-324"), (0.1, 15, "0.1"), (1e20, 15, "1E20"),
        (123456, 15, "123456"), (-2.5, 15, "-2.5"), (Double(Float(0.1)), 7, "0.1"), (Double(Float(16_777_218)), 7, "1.677722E7"),
        (999_999_999_999_999.5, 15, "1E15"), (0, 15, "0"),
    ]
    for (value, digits, text) in examples {
        let expected = try #require(Decimal128(text: text.utf8))
        #expect(Mixed.compare(.decimal(Decimal128(rounding: value, digits: digits)), .decimal(expected)) == 0, "\(value)")
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
