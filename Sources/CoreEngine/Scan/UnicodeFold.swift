/// Texts as Unicode compares them, for `[u]`, and for `[d]` of Realm's Swift API. Rules: query-language §11.
///
/// A folded text has no composed characters: é becomes e and a mark, in the order that Unicode defines. So texts that
/// Unicode calls canonically equivalent have the same bytes. Without cases, letters become those of the full case
/// folding (ß becomes "ss", both small sigmas become one). Without accents, marks above, below and through a letter are
/// left out, and Hebrew and Arabic points; letters of their own (ø, đ, ł, æ) stay, and so do the vowel signs of Indian
/// and Thai scripts and the voicing marks of Japanese.
struct UnicodeFold {
    let cases: Bool
    let accents: Bool
    private let tables = Tables.shared
    private let short: [UInt32]

    init(_ folding: Folding) {
        (cases, accents) = (folding.contains(.cases), folding.contains(.accents))
        short = Tables.short[(cases ? 1 : 0) + (accents ? 2 : 0)]
    }

    /// Without `short`, which this makes.
    private init(cases: Bool, accents: Bool) {
        self.cases = cases
        self.accents = accents
        short = []
    }

    /// A folded text has at most this many times the bytes of the text.
    private static let growth = 3

    /// - Parameter work: the bytes that the call has processed so far. The count goes on from this value, so that the
    ///   call can be interrupted in a long text.
    func folded(_ text: Bytes, _ work: ByteWork) throws(RealmError) -> [UInt8] {
        var work = work, out = Output()
        try fold(text, &out, &work)
        return out.bytes
    }

    /// Folds a text into `out`, in place of what it has.
    func fold(_ text: Bytes, _ out: inout Output, _ work: inout ByteWork) throws(RealmError) {
        out.clear()
        try out.bytes.makeRoom(for: Self.growth * text.count)
        var at = 0
        while at < text.count {
            // Interruptible after each piece. A character takes much longer here than a byte in other loops.
            let end = min(text.count, at + 1024)
            try work.look(16 * (end - at))
            while at < end {
                let byte = text[at]
                if byte < 0x80 {
                    out.append(ascii: cases && byte &- 0x41 < 26 ? byte | 0x20 : byte)
                    at += 1
                } else if byte & 0xE0 == 0xC0, at + 1 < text.count, text[at + 1] & 0xC0 == 0x80,
                    case let bytes = short[Int(byte & 0x1F) << 6 | Int(text[at + 1] & 0x3F)], bytes != 0
                {
                    out.append(short: bytes)
                    at += 2
                } else if let (scalar, length) = Self.scalar(text, at) {
                    fold(scalar, &out)
                    at += length
                } else {
                    // A byte that is not UTF-8 stays.
                    out.append(ascii: byte)
                    at += 1
                }
            }
        }
    }

    private func fold(_ scalar: UInt32, _ out: inout Output) {
        if let syllable = Self.hangul(scalar) {
            for part in [syllable.first, syllable.second, syllable.third] where part != 0 { out.append(part, 0) }
            return
        }
        let parts = tables.decompositions[scalar]
        if parts.isEmpty { add(scalar, tables, &out) } else { for part in parts { add(part, tables, &out) } }
    }

    private func add(_ scalar: UInt32, _ tables: Tables, _ out: inout Output) {
        let kind = tables.combiningClass(scalar)
        if accents && Self.isAccent(scalar, kind) { return }
        guard cases else { return out.append(scalar, kind) }
        let parts = tables.foldings[scalar]
        if parts.isEmpty { return out.append(scalar, kind) }
        for part in parts {
            let kind = tables.combiningClass(part)
            if accents && Self.isAccent(part, kind) { continue }
            out.append(part, kind)
        }
    }

    /// Whether the text has a combining mark at `at`: then the character before goes on there.
    static func isMark(_ text: Bytes, _ at: Int) -> Bool {
        guard at < text.count, text[at] >= 0x80, let (scalar, _) = scalar(text, at) else { return false }
        return Tables.shared.combiningClass(scalar) != 0
    }

    /// - Parameter kind: the combining class.
    private static func isAccent(_ scalar: UInt32, _ kind: UInt8) -> Bool {
        switch kind {
        case 1, 10...36, 107, 122, 200...255: true
        case 0:
            // Marks that enclose a letter, and the one that joins graphemes.
            scalar == 0x34F || scalar == 0x1ABE || 0x20DD...0x20E0 ~= scalar || 0x20E2...0x20E4 ~= scalar
        default: false
        }
    }

    // MARK: Characters

    /// The scalar at `at`, and its length in bytes; nil if the bytes there are not UTF-8.
    fileprivate static func scalar(_ text: Bytes, _ at: Int) -> (UInt32, Int)? {
        let first = text[at]
        let length = first < 0xC2 ? 1 : (first < 0xE0 ? 2 : (first < 0xF0 ? 3 : (first < 0xF5 ? 4 : 1)))
        guard length > 1, at + length <= text.count else { return nil }
        var scalar = UInt32(first) & (0x7F >> UInt32(length))
        for i in 1..<length {
            guard text[at + i] & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | UInt32(text[at + i] & 0x3F)
        }
        let least: UInt32 = length == 2 ? 0x80 : (length == 3 ? 0x800 : 0x10000)
        guard scalar >= least, Unicode.Scalar(scalar) != nil else { return nil }
        return (scalar, length)
    }

    /// The parts of a Hangul syllable; 0 for no third part.
    private static func hangul(_ scalar: UInt32) -> (first: UInt32, second: UInt32, third: UInt32)? {
        guard 0xAC00...0xD7A3 ~= scalar else { return nil }
        let index = scalar - 0xAC00, third = index % 28
        return (0x1100 + index / 588, 0x1161 + index % 588 / 28, third == 0 ? 0 : 0x11A7 + third)
    }

    /// A folded text. Marks of one letter are sorted by their combining classes. A loop over texts uses one.
    struct Output {
        fileprivate(set) var bytes: [UInt8] = []

        /// The marks at the end of `bytes`: where each begins, and its class.
        private var marks: [(at: Int, kind: UInt8)] = []

        fileprivate var hasNoMarks: Bool { marks.isEmpty }

        fileprivate mutating func clear() {
            bytes.removeAll(keepingCapacity: true)
            if !marks.isEmpty { marks.removeAll(keepingCapacity: true) }
        }

        @inline(__always) fileprivate mutating func append(ascii byte: UInt8) {
            if !marks.isEmpty { marks.removeAll(keepingCapacity: true) }
            bytes.append(byte)
        }

        /// Appends up to three bytes, as `Tables.short` has them.
        @inline(__always) fileprivate mutating func append(short: UInt32) {
            if !marks.isEmpty { marks.removeAll(keepingCapacity: true) }
            bytes.append(UInt8(truncatingIfNeeded: short))
            if short > 0xFF { bytes.append(UInt8(truncatingIfNeeded: short >> 8)) }
            if short > 0xFFFF { bytes.append(UInt8(truncatingIfNeeded: short >> 16)) }
        }

        fileprivate mutating func append(_ scalar: UInt32, _ kind: UInt8) {
            let encoded = UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter
            guard kind != 0 else {
                if !marks.isEmpty { marks.removeAll(keepingCapacity: true) }
                bytes.append(contentsOf: encoded)
                return
            }
            // Behind the last mark of the same class or of a lower one. A text may have any number of marks in a row:
            // beyond 64, they stay in their order, so that the time stays linear.
            var index = marks.count
            if marks.count < 64 { while index > 0, marks[index - 1].kind > kind { index -= 1 } }
            guard index < marks.count else {
                marks.append((bytes.count, kind))
                bytes.append(contentsOf: encoded)
                return
            }
            let at = marks[index].at, length = encoded.count
            bytes.insert(contentsOf: encoded, at: at)
            for i in index..<marks.count { marks[i].at += length }
            marks.insert((at, kind), at: index)
        }
    }

    // MARK: Tables

    /// The tables of `UnicodeTables`, for look-up. Made at the first use; then read by all threads.
    private final class Tables: Sendable {
        static let shared = Tables()

        /// The folded bytes of the characters of two bytes that become one character which is no mark, the first byte
        /// lowest; 0 for others. Index 1: without cases, 2: without accents, 3: without both.
        static let short: [[UInt32]] = [[], .cases, .accents, [.cases, .accents]].map { (folding: Folding) in
            let fold = UnicodeFold(cases: folding.contains(.cases), accents: folding.contains(.accents))
            return (0..<UInt32(0x800)).map { scalar in
                guard scalar >= 0x80 else { return 0 }
                var out = Output()
                fold.fold(scalar, &out)
                guard out.hasNoMarks, let (only, length) = Tables.only(out.bytes), length == out.bytes.count,
                    shared.combiningClass(only) == 0
                else { return 0 }
                return out.bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
        }

        /// The first character, and its length.
        private static func only(_ bytes: [UInt8]) -> (UInt32, Int)? {
            bytes.withUnsafeBytes { text in
                guard let first = text.first else { return nil }
                return first < 0x80 ? (UInt32(first), 1) : UnicodeFold.scalar(text, 0)
            }
        }

        let decompositions: Sequences
        let foldings: Sequences
        private let classes: Pages<UInt8>

        private init() {
            decompositions = Sequences(UnicodeTables.decompositions)
            foldings = Sequences(UnicodeTables.foldings)
            var classes = Pages<UInt8>(0)
            forEachRow(UnicodeTables.classes) { row in
                for scalar in row[0]...row[1] { classes.set(scalar, UInt8(truncatingIfNeeded: row[2])) }
            }
            self.classes = classes
        }

        @inline(__always) func combiningClass(_ scalar: UInt32) -> UInt8 { classes[scalar] }
    }

    /// Scalars to sequences of scalars.
    private struct Sequences: Sendable {
        private var places = Pages<UInt16>(0)

        /// Each sequence with its length before it.
        private var all: [UInt32] = [0]

        init(_ table: StaticString) {
            forEachRow(table) { row in
                places.set(row[0], UInt16(truncatingIfNeeded: all.count))
                all.append(UInt32(row.count - 1))
                all += row[1...]
            }
        }

        /// Empty for a scalar that stays.
        subscript(scalar: UInt32) -> ArraySlice<UInt32> {
            let place = Int(places[scalar])
            return all[(place + 1)..<(place + 1 + Int(all[place]))]
        }
    }

    /// A value for each scalar below U+30000. Pages of 256 scalars with the same value take no memory.
    private struct Pages<Value: Sendable>: Sendable {
        private static var end: UInt32 { 0x30000 }
        private var pages = [UInt16](repeating: 0, count: Int(end >> 8))
        private var values: [Value]

        init(_ usual: Value) { values = Array(repeating: usual, count: 256) }

        @inline(__always) subscript(scalar: UInt32) -> Value {
            scalar < Self.end ? values[Int(pages[Int(scalar >> 8)]) << 8 | Int(scalar & 255)] : values[0]
        }

        mutating func set(_ scalar: UInt32, _ value: Value) {
            guard scalar < Self.end else { return }
            let page = Int(scalar >> 8)
            if pages[page] == 0 {
                pages[page] = UInt16(truncatingIfNeeded: values.count >> 8)
                values += values[..<256]
            }
            values[Int(pages[page]) << 8 | Int(scalar & 255)] = value
        }
    }
}

/// Calls `body` with the numbers of each row of a table of `UnicodeTables`.
private func forEachRow(_ table: StaticString, _ body: ([UInt32]) -> Void) {
    var row: [UInt32] = [0]
    table.withUTF8Buffer { bytes in
        for byte in bytes {
            switch byte {
            case 0x2C:
                body(row)
                row = [0]
            case 0x20: row.append(0)
            default: row[row.count - 1] = row[row.count - 1] << 4 | UInt32(byte < 0x61 ? byte - 0x30 : byte - 0x57)
            }
        }
    }
}
