/// One token of a query text.
struct Token {
    enum Kind: Equatable {
        case equal, notEqual, less, greater, lessEqual, greaterEqual
        case plus, minus, times, divide
        case openBracket, closeBracket, comma, openParen, closeParen, openBrace, closeBrace, dot
        case caseInsensitive
        case and, or, not, `in`, any, all, none, `true`, `false`, first, last, size
        case beginsWith, endsWith, contains, like, text, between, geoWithin, sort, distinct, limit, ascending,
            descending
        case truePredicate, falsePredicate, subquery, obj, binary, geoBox, geoCircle, geoPolygon
        case null, infinity, nan
        case count, max, min, sum, avg, links, type, keys, values
        case natural, number, float, timestamp, uuid, objectId, link, argument, keyPathArgument, base64, string,
            identifier
        /// `%@`-like placeholders of NSPredicate: the next argument, the next argument as a key path.
        case nextArgument, nextKeyPathArgument
        case end
    }

    var kind: Kind

    /// Bytes of the text.
    var start: Int
    var end: Int
}

/// Cuts a query text into tokens: the longest match wins, on equal length the more special one. Rules: query-language
/// §2.
struct Lexer {
    private let bytes: [UInt8]
    private let text: String

    private init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// - Returns: the tokens, an `end` last, and the bytes they point into.
    static func tokens(of text: String) throws(RealmError) -> (tokens: [Token], bytes: [UInt8]) {
        let lexer = Lexer(text)
        var all: [Token] = []
        var at = 0
        while true {
            while at < lexer.bytes.count, lexer.isBlank(lexer.bytes[at]) { at += 1 }
            if at == lexer.bytes.count { break }
            let (kind, length) = try lexer.match(at)
            all.append(Token(kind: kind, start: at, end: at + length))
            at += length
        }
        all.append(Token(kind: .end, start: at, end: at))
        return (all, lexer.bytes)
    }

    private func isBlank(_ c: UInt8) -> Bool { c == 0x20 || c == 0x09 || c == 0x0D || c == 0x0A }

    private func at(_ i: Int) -> UInt8 { i < bytes.count ? bytes[i] : 0 }

    private func isDigit(_ c: UInt8) -> Bool { c >= 0x30 && c <= 0x39 }

    private func isHex(_ c: UInt8) -> Bool { isDigit(c) || (c | 0x20 >= 0x61 && c | 0x20 <= 0x66) }

    private func isLetter(_ c: UInt8) -> Bool { c | 0x20 >= 0x61 && c | 0x20 <= 0x7A }

    private func digits(_ from: Int) -> Int {
        var i = from
        while isDigit(at(i)) { i += 1 }
        return i - from
    }

    /// Bytes of a well-formed character beyond ASCII, 0 when there is none.
    private func multibyte(_ i: Int) -> Int {
        let c = at(i)
        let n = c >= 0xF0 && c < 0xF8 ? 4 : (c >= 0xE0 && c < 0xF0 ? 3 : (c >= 0xC2 && c < 0xE0 ? 2 : 0))
        guard n > 0, i + n <= bytes.count else { return 0 }
        for j in 1..<n where at(i + j) & 0xC0 != 0x80 { return 0 }
        return n
    }

    private func identifier(_ start: Int) -> Int {
        var i = start
        while i < bytes.count {
            let c = bytes[i]
            if isLetter(c) || c == 0x5F || c == 0x24 {
                i += 1
            } else if i > start, isDigit(c) || c == 0x2D {
                i += 1
            } else if i > start, c == 0x5C, [0x20, 0x6E, 0x72, 0x74].contains(at(i + 1)) {
                i += 2
            } else {
                let n = multibyte(i)
                if n == 0 { break }
                i += n
            }
        }
        return i - start
    }

    private func word(_ start: Int, _ length: Int) -> String {
        String(decoding: bytes[start..<start + length], as: UTF8.self)
    }

    private static let anyCase: [Name: Token.Kind] = [
        "and": .and, "or": .or, "beginswith": .beginsWith, "endswith": .endsWith, "contains": .contains, "like": .like,
        "text": .text,
        "between": .between, "geowithin": .geoWithin, "sort": .sort, "distinct": .distinct, "limit": .limit,
        "asc": .ascending,
        "ascending": .ascending, "desc": .descending, "descending": .descending, "truepredicate": .truePredicate,
        "falsepredicate": .falsePredicate, "subquery": .subquery, "obj": .obj, "bin": .binary, "binary": .binary,
        "geobox": .geoBox,
        "geocircle": .geoCircle, "geopolygon": .geoPolygon, "null": .null, "nil": .null, "inf": .infinity,
        "infinity": .infinity, "nan": .nan,
    ]

    /// All lower or all upper.
    private static let oneCase: [Name: Token.Kind] = [
        "not": .not, "in": .in, "any": .any, "some": .any, "all": .all, "none": .none, "true": .true, "false": .false,
        "first": .first,
        "last": .last, "size": .size,
    ]
    private static let atWords: [(String, Token.Kind)] = [
        ("@count", .count), ("@size", .count), ("@max", .max), ("@min", .min), ("@sum", .sum), ("@avg", .avg),
        ("@links", .links), ("@type", .type),
        ("@keys", .keys), ("@values", .values),
    ]

    private func keyword(_ start: Int, _ length: Int) -> Token.Kind? {
        guard length <= 15, isLetter(at(start)) else { return nil }
        let w = word(start, length)
        let lower = w.lowercased()
        if let k = Self.anyCase[Name(lower)] { return k }
        if let k = Self.oneCase[Name(lower)], w == lower || w == w.uppercased() { return k }
        return nil
    }

    private func match(_ i: Int) throws(RealmError) -> (Token.Kind, Int) {
        let c = bytes[i]
        // The longest so far; a later candidate must be longer.
        var best: (kind: Token.Kind, length: Int)?
        func offer(_ kind: Token.Kind, _ length: Int) {
            if length > 0, length > best?.length ?? 0 { best = (kind, length) }
        }

        if let symbol = symbol(i) { offer(symbol.0, symbol.1) }
        if c == 0x22 || c == 0x27 { offer(.string, try string(i)) }
        if c == 0x40 {
            for (w, k) in Self.atWords where bytes[i...].starts(with: w.utf8) { offer(k, w.utf8.count) }
            guard let best else { throw invalid(i) }
            return best
        }
        let name = identifier(i)
        if name > 0, let k = keyword(i, name) { offer(k, name) }
        // A signed inf or nan.
        if c == 0x2B || c == 0x2D, case let n = identifier(i + 1), n > 0, let k = keyword(i + 1, n),
            k == .infinity || k == .nan
        {
            offer(k, n + 1)
        }
        number(i, offer)
        timestamp(i, offer)
        if c == 0x75, bytes[i...].starts(with: "uuid(".utf8) {
            offer(.uuid, pattern(i + 5, [8, 4, 4, 4, 12]).map { $0 + 5 } ?? 0)
        }
        if c == 0x6F, bytes[i...].starts(with: "oid(".utf8) {
            offer(.objectId, pattern(i + 4, [24]).map { $0 + 4 } ?? 0)
        }
        if c == 0x4F { offer(.link, digits(i + 1) > 0 ? 1 + digits(i + 1) : 0) }
        if c == 0x4C, case let a = digits(i + 1), a > 0, at(i + 1 + a) == 0x3A, case let b = digits(i + 2 + a), b > 0 {
            offer(.link, 2 + a + b)
        }
        if c == 0x24 {
            if digits(i + 1) > 0 { offer(.argument, 1 + digits(i + 1)) }
            if at(i + 1) == 0x4B, digits(i + 2) > 0 { offer(.keyPathArgument, 2 + digits(i + 2)) }
        }
        if c == 0x42, at(i + 1) == 0x36, at(i + 2) == 0x34, at(i + 3) == 0x22 {
            var j = i + 4
            while isLetter(at(j)) || isDigit(at(j)) || at(j) == 0x2B || at(j) == 0x2F || at(j) == 0x3D { j += 1 }
            if at(j) == 0x22 { offer(.base64, j + 1 - i) }
        }
        offer(.identifier, name)
        guard let best else { throw invalid(i) }
        return best
    }

    private func invalid(_ i: Int) -> RealmError { .querySyntax(text, "invalid character", at: i) }

    private func symbol(_ i: Int) -> (Token.Kind, Int)? {
        let n = at(i + 1)
        switch at(i) {
        case 0x3D:  // =
            if n == 0x3D { return (.equal, 2) }
            if n == 0x3C { return (.lessEqual, 2) }
            if n == 0x3E { return (.greaterEqual, 2) }
            return (.equal, 1)
        case 0x21: return n == 0x3D ? (.notEqual, 2) : (.not, 1)
        case 0x3C:
            if n == 0x3E { return (.notEqual, 2) }
            return n == 0x3D ? (.lessEqual, 2) : (.less, 1)
        case 0x3E: return n == 0x3D ? (.greaterEqual, 2) : (.greater, 1)
        case 0x2B: return (.plus, 1)
        case 0x2D: return (.minus, 1)
        case 0x2A: return (.times, 1)
        case 0x2F: return (.divide, 1)
        case 0x5B:
            if n == 0x63, at(i + 2) == 0x5D { return (.caseInsensitive, 3) }
            return (.openBracket, 1)
        case 0x5D: return (.closeBracket, 1)
        case 0x2C: return (.comma, 1)
        case 0x28: return (.openParen, 1)
        case 0x29: return (.closeParen, 1)
        case 0x7B: return (.openBrace, 1)
        case 0x7D: return (.closeBrace, 1)
        case 0x2E: return (.dot, 1)
        case 0x26: return n == 0x26 ? (.and, 2) : nil
        case 0x7C: return n == 0x7C ? (.or, 2) : nil
        case 0x25:
            if n == 0x40 { return (.nextArgument, 2) }
            return n == 0x4B ? (.nextKeyPathArgument, 2) : nil
        default: return nil
        }
    }

    private func string(_ i: Int) throws(RealmError) -> Int {
        let quote = bytes[i]
        var j = i + 1
        while j < bytes.count {
            let c = bytes[j]
            if c == quote { return j + 1 - i }
            if c == 0x5C {
                switch at(j + 1) {
                case 0x22, 0x27, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74, 0x30, 0x5C: j += 2
                case 0x75 where isHex(at(j + 2)) && isHex(at(j + 3)) && isHex(at(j + 4)) && isHex(at(j + 5)): j += 6
                default: throw .querySyntax(text, "unknown escape in a string", at: j)
                }
            } else {
                j += 1
            }
        }
        throw .querySyntax(text, "a string without its closing quote", at: i)
    }

    private func number(_ i: Int, _ offer: (Token.Kind, Int) -> Void) {
        let signed = at(i) == 0x2B || at(i) == 0x2D
        let s = signed ? i + 1 : i
        let n = digits(s)
        if n > 0 { offer(signed ? .number : .natural, n + (signed ? 1 : 0)) }
        if !signed, at(i) == 0x30, at(i + 1) | 0x20 == 0x78, isHex(at(i + 2)) {
            var j = i + 2
            while isHex(at(j)) { j += 1 }
            offer(.number, j - i)
        }
        // Floats: a point, an exponent or the suffix f.
        var j = s + n
        var isFloat = false
        if at(j) == 0x2E {
            let fraction = digits(j + 1)
            if n > 0 || fraction > 0 {
                isFloat = true
                j += 1 + fraction
            }
        }
        if n > 0 || isFloat, at(j) | 0x20 == 0x65 {
            let sign = at(j + 1) == 0x2B || at(j + 1) == 0x2D ? 1 : 0
            let e = digits(j + 1 + sign)
            if e > 0 {
                isFloat = true
                j += 1 + sign + e
            }
        }
        if isFloat || n > 0, at(j) == 0x66 {
            isFloat = true
            j += 1
        }
        if isFloat { offer(.float, j - i) }
    }

    private func timestamp(_ i: Int, _ offer: (Token.Kind, Int) -> Void) {
        func signedDigits(_ from: Int) -> Int {
            let sign = at(from) == 0x2B || at(from) == 0x2D ? 1 : 0
            let n = digits(from + sign)
            return n > 0 ? n + sign : 0
        }
        if at(i) == 0x54 {
            let a = signedDigits(i + 1)
            guard a > 0, at(i + 1 + a) == 0x3A else { return }
            let b = signedDigits(i + 2 + a)
            if b > 0 { offer(.timestamp, 2 + a + b) }
            return
        }
        // Y-M-D, then T or @, then h:m:s, perhaps :nanos.
        var j = i
        for separator: UInt8 in [0x2D, 0x2D, 0, 0x3A, 0x3A] {
            let n = digits(j)
            guard n > 0 else { return }
            j += n
            if separator == 0 {
                guard at(j) == 0x54 || at(j) == 0x40 else { return }
            } else {
                guard at(j) == separator else { return }
            }
            j += 1
        }
        let n = digits(j)
        guard n > 0 else { return }
        j += n
        offer(.timestamp, j - i)
        if at(j) == 0x3A, digits(j + 1) > 0 { offer(.timestamp, j + 1 + digits(j + 1) - i) }
    }

    /// Length of groups of hexadecimal digits with dashes between them and a closing bracket.
    private func pattern(_ i: Int, _ groups: [Int]) -> Int? {
        var j = i
        for (g, n) in groups.enumerated() {
            if g > 0 {
                guard at(j) == 0x2D else { return nil }
                j += 1
            }
            for _ in 0..<n {
                guard isHex(at(j)) else { return nil }
                j += 1
            }
        }
        return at(j) == 0x29 ? j + 1 - i : nil
    }
}
