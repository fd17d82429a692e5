import Testing

@testable import CoreEngine

/// Folded texts. The judge of canonical equivalence is Swift's `==`; characters that its Unicode version may not know
/// are left out.
@Suite struct UnicodeFoldTests {
    private static let known = (UInt32(0)..<0x30000).compactMap(Unicode.Scalar.init).filter(isKnown)

    private static func isKnown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.age.map { $0 <= (14, 0) } ?? false
    }

    private func folded(_ text: String, _ folding: Folding) throws -> [UInt8] {
        try Array(text.utf8).withBytes { (bytes) throws(RealmError) in
            try UnicodeFold(folding).folded(bytes, ByteWork())
        }
    }

    @Test func equivalentTextsHaveTheSameBytes() throws {
        var random = Seeded(1)
        let marks = Self.known.filter { $0.properties.canonicalCombiningClass != .notReordered }
        let letters = Self.known.filter { $0.properties.canonicalCombiningClass == .notReordered }
        var equal = 0
        for _ in 0..<20_000 {
            var first = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Letters that decompose are few: half of them come from the first blocks.
                let pick = Bool.random(using: &random) ? letters.prefix(0x600) : letters[...]
                first.append(pick.randomElement(using: &random)!)
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    first.append(marks.prefix(100).randomElement(using: &random)!)
                }
            }
            var scalars = Array(first)
            scalars.swapAt(
                Int.random(in: 0..<scalars.count, using: &random), Int.random(in: 0..<scalars.count, using: &random))
            var second = String.UnicodeScalarView()
            second.append(contentsOf: scalars)
            let isEqual = String(first) == String(second)
            if isEqual { equal += 1 }
            #expect(try (folded(String(first), .unicode) == folded(String(second), .unicode)) == isEqual)
        }
        #expect(equal > 4000)
    }

    @Test func everyKnownCharacterFoldsLikeItsOtherCase() throws {
        // İ has a small form of its own with a dot; ı is small and has the capital of i.
        let apart: Set<UInt32> = [0x130, 0x131]
        for scalar in Self.known where !apart.contains(scalar.value) {
            let properties = scalar.properties
            let plain = try folded(String(scalar), [.unicode, .cases])
            for other in [properties.lowercaseMapping, properties.uppercaseMapping]
            where other.unicodeScalars.allSatisfy(Self.isKnown) {
                #expect(try folded(other, [.unicode, .cases]) == plain, "\(scalar.value)")
            }
            let twice = String(decoding: plain, as: UTF8.self)
            #expect(try folded(twice, [.unicode, .cases]) == plain, "\(scalar.value)")
            let bare = try folded(String(scalar), [.unicode, .accents])
            #expect(try folded(String(decoding: bare, as: UTF8.self), [.unicode, .accents]) == bare, "\(scalar.value)")
        }
    }

    @Test func bytesThatAreNotUTF8Stay() throws {
        let broken: [[UInt8]] = [
            [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0x80, 0x41],
        ]
        for bytes in broken {
            let found = try bytes.withBytes { (b) throws(RealmError) in
                try UnicodeFold([.unicode]).folded(b, ByteWork())
            }
            #expect(found == bytes)
        }
    }

    @Test func longRunsOfMarksTakeLinearTime() throws {
        let text = "a" + String(repeating: "\u{301}\u{323}", count: 50_000)
        #expect(try folded(text, [.unicode, .accents]) == Array("a".utf8))
        #expect(try folded(text, .unicode).count == text.utf8.count)
    }
}
