/// One token of a query text.
struct Token {
    enum Kind: Equatable {
        case equal, notEqual, less, greater, lessEqual, greaterEqual
        case plus, minus, times, divide
        case openBracket, closeBracket, comma, openParen, closeParen, openBrace, closeBrace, dot
        case caseInsensitive
        case and, or, not, `in`, any, all, none, `true`, `false`, first, last, size
        case text, between, geoWithin, sort, distinct, limit, ascending, descending
        /// An operator that compares a text with a pattern.
        case textOperator(CompareOperator)
        case truePredicate, falsePredicate, subquery, obj, binary, geoBox, geoCircle, geoPolygon
        case null, infinity, nan
        case count, max, min, sum, avg, links, type, keys, values
        case natural, number, float, timestamp, uuid, objectId, link, argument, keyPathArgument, base64, string,
            identifier
        /// Placeholders of NSPredicate: `%@` is the next argument, `%K` is the next argument used as a key path.
        case nextArgument, nextKeyPathArgument
        case end

        /// Whether the word is also valid as a name.
        var isName: Bool {
            switch self {
            case .identifier, .textOperator, .between, .sort, .distinct, .limit, .ascending, .descending, .in, .text,
                .binary, .first, .last, .size:
                true
            default: false
            }
        }
    }

    var kind: Kind

    /// The token's range in the bytes of the text; `end` is exclusive.
    var start: Int
    var end: Int
}

/// Splits a query text into tokens. The longest match wins; of two matches of equal length the more special one wins.
/// Rules: query-language §2.
struct Lexer {
    private let bytes: [UInt8]
    private let text: String

    private init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// - Returns: the tokens, with an `end` token last, and the bytes that their ranges refer to.
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

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

    /// The byte at `position`; 0 after the end of the text.
    private func at(_ position: Int) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private func isHex(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66) }

    private func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A }

    /// The number of decimal digits from `from` on.
    private func digits(_ from: Int) -> Int {
        var position = from
        while isDigit(at(position)) { position += 1 }
        return position - from
    }

    /// The length in bytes of a well-formed multi-byte character, or 0 when the bytes are not one.
    private func multibyte(_ position: Int) -> Int {
        let first = at(position)
        let length =
            first >= 0xF0 && first < 0xF8
            ? 4 : (first >= 0xE0 && first < 0xF0 ? 3 : (first >= 0xC2 && first < 0xE0 ? 2 : 0))
        guard length > 0, position + length <= bytes.count else { return 0 }
        for j in 1..<length where at(position + j) & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// The length of an identifier at `start`; 0 when there is none.
    private func identifier(_ start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if isLetter(byte) || byte == 0x5F || byte == 0x24 {
                position += 1
            } else if position > start, isDigit(byte) || byte == 0x2D {
                position += 1
            } else if byte == 0x5C, at(position + 1) != 0 {
                // A backslash makes any character a part of the name.
                position += at(position + 1) < 0x80 ? 2 : 1 + max(1, multibyte(position + 1))
            } else {
                let length = multibyte(position)
                if length == 0 { break }
                position += length
            }
        }
        return position - start
    }

    /// A name as the language writes it, with backslashes where it needs them.
    static func spelled(_ name: Name) -> String {
        var out: [UInt8] = []
        for (i, byte) in name.utf8.enumerated() {
            let isLetter = byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A
            switch byte {
            case 0x0A: out += Array("\\n".utf8)
            case 0x0D: out += Array("\\r".utf8)
            case 0x09: out += Array("\\t".utf8)
            case 0x5F, 0x24, 0x80...: out.append(byte)
            case 0x2D where i > 0, 0x30...0x39 where i > 0: out.append(byte)
            default:
                if !isLetter { out.append(0x5C) }
                out.append(byte)
            }
        }
        let text = String(decoding: out, as: UTF8.self)
        guard let (tokens, _) = try? tokens(of: text), tokens.count == 2, !tokens[0].kind.isName else { return text }
        // A keyword, or the form of a constant: a backslash before any letter but those that stand for blanks.
        let blanks = Array("nrt".utf8)
        guard let at = out.firstIndex(where: { !blanks.contains($0) && $0 != 0x5C && $0 < 0x80 }) else { return text }
        out.insert(0x5C, at: at)
        return String(decoding: out, as: UTF8.self)
    }

    private func word(_ start: Int, _ length: Int) -> String {
        String(decoding: bytes[start..<start + length], as: UTF8.self)
    }

    private static let keywords = Dictionary(
        QueryWord.all.filter(\.isKeyword).map { (Name($0.text), $0) }, uniquingKeysWith: { first, _ in first })
    private static let longestKeyword = keywords.keys.map(\.utf8.count).max() ?? 0
    private static let atWords = QueryWord.all.filter(\.isAtWord).map { (Array($0.text.utf8), $0.kind) }

    /// The signs of the table, as their first byte and their second one or 0; the longer ones first.
    private static let signs = QueryWord.all.filter { !$0.isKeyword && !$0.isAtWord }
        .map { (word) -> (first: UInt8, second: UInt8, kind: Token.Kind) in
            let bytes = Array(word.text.utf8)
            return (bytes[0], bytes.count > 1 ? bytes[1] : 0, word.kind)
        }
        .sorted { $0.second > $1.second }

    /// The keyword of this length at `start`; nil when the word is not one.
    private func keyword(_ start: Int, _ length: Int) -> Token.Kind? {
        guard length <= Self.longestKeyword, isLetter(at(start)) else { return nil }
        let written = word(start, length)
        let lower = written.lowercased()
        guard let word = Self.keywords[Name(lower)] else { return nil }
        return !word.hasOneCase || written == lower || written == written.uppercased() ? word.kind : nil
    }

    /// The longest token at `start` and its length.
    private func match(_ start: Int) throws(RealmError) -> (Token.Kind, Int) {
        let first = bytes[start]
        // The longest match so far; a later candidate must be longer to replace it.
        var best: (kind: Token.Kind, length: Int)?
        func offer(_ kind: Token.Kind, _ length: Int) {
            if length > 0, length > best?.length ?? 0 { best = (kind, length) }
        }

        if let symbol = symbol(start) { offer(symbol.0, symbol.1) }
        if first == 0x22 || first == 0x27 { offer(.string, try string(start)) }
        if first == 0x40 {
            for (word, kind) in Self.atWords where bytes[start...].starts(with: word) { offer(kind, word.count) }
            guard let best else { throw invalid(start) }
            return best
        }
        let name = identifier(start)
        if name > 0, let kind = keyword(start, name) { offer(kind, name) }
        // A signed infinity or NaN.
        if first == 0x2B || first == 0x2D, case let length = identifier(start + 1), length > 0,
            let kind = keyword(start + 1, length),
            kind == .infinity || kind == .nan
        {
            offer(kind, length + 1)
        }
        number(start, offer)
        timestamp(start, offer)
        if first == 0x75, bytes[start...].starts(with: "uuid(".utf8) {
            offer(.uuid, pattern(start + 5, [8, 4, 4, 4, 12]).map { $0 + 5 } ?? 0)
        }
        if first == 0x6F, bytes[start...].starts(with: "oid(".utf8) {
            offer(.objectId, pattern(start + 4, [24]).map { $0 + 4 } ?? 0)
        }
        if first == 0x4F { offer(.link, digits(start + 1) > 0 ? 1 + digits(start + 1) : 0) }
        if first == 0x4C, case let classDigits = digits(start + 1), classDigits > 0,
            at(start + 1 + classDigits) == 0x3A, case let keyDigits = digits(start + 2 + classDigits), keyDigits > 0
        {
            offer(.link, 2 + classDigits + keyDigits)
        }
        if first == 0x24 {
            if digits(start + 1) > 0 { offer(.argument, 1 + digits(start + 1)) }
            if at(start + 1) == 0x4B, digits(start + 2) > 0 { offer(.keyPathArgument, 2 + digits(start + 2)) }
        }
        if first == 0x42, at(start + 1) == 0x36, at(start + 2) == 0x34, at(start + 3) == 0x22 {
            var end = start + 4
            while isLetter(at(end)) || isDigit(at(end)) || at(end) == 0x2B || at(end) == 0x2F || at(end) == 0x3D {
                end += 1
            }
            if at(end) == 0x22 { offer(.base64, end + 1 - start) }
        }
        offer(.identifier, name)
        guard let best else { throw invalid(start) }
        return best
    }

    private func invalid(_ position: Int) -> RealmError { .querySyntax(text, "invalid character", at: position) }

    private func symbol(_ start: Int) -> (Token.Kind, Int)? {
        let next = at(start + 1)
        switch at(start) {
        case 0x2B: return (.plus, 1)
        case 0x2D: return (.minus, 1)
        case 0x2A: return (.times, 1)
        case 0x2F: return (.divide, 1)
        case 0x5B:
            if next == 0x63, at(start + 2) == 0x5D { return (.caseInsensitive, 3) }
            return (.openBracket, 1)
        case 0x5D: return (.closeBracket, 1)
        case 0x2C: return (.comma, 1)
        case 0x28: return (.openParen, 1)
        case 0x29: return (.closeParen, 1)
        case 0x7B: return (.openBrace, 1)
        case 0x7D: return (.closeBrace, 1)
        case 0x2E: return (.dot, 1)
        case 0x25:
            if next == 0x40 { return (.nextArgument, 2) }
            return next == 0x4B ? (.nextKeyPathArgument, 2) : nil
        case let first:
            for sign in Self.signs where sign.first == first && (sign.second == 0 || sign.second == next) {
                return (sign.kind, sign.second == 0 ? 1 : 2)
            }
            return nil
        }
    }

    /// The length of a quoted string, including the quotes.
    private func string(_ start: Int) throws(RealmError) -> Int {
        let quote = bytes[start]
        var position = start + 1
        while position < bytes.count {
            let byte = bytes[position]
            if byte == quote { return position + 1 - start }
            if byte == 0x5C {
                switch at(position + 1) {
                case 0x22, 0x27, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74, 0x30, 0x5C: position += 2
                case 0x75
                where isHex(at(position + 2)) && isHex(at(position + 3)) && isHex(at(position + 4))
                    && isHex(at(position + 5)):
                    position += 6
                default: throw .querySyntax(text, "unknown escape in a string", at: position)
                }
            } else {
                position += 1
            }
        }
        throw .querySyntax(text, "a string without its closing quote", at: start)
    }

    /// Offers each form of a number that matches at `start`.
    private func number(_ start: Int, _ offer: (Token.Kind, Int) -> Void) {
        let signed = at(start) == 0x2B || at(start) == 0x2D
        let first = signed ? start + 1 : start
        let whole = digits(first)
        if whole > 0 { offer(signed ? .number : .natural, whole + (signed ? 1 : 0)) }
        if !signed, at(start) == 0x30, at(start + 1) | 0x20 == 0x78, isHex(at(start + 2)) {
            var end = start + 2
            while isHex(at(end)) { end += 1 }
            offer(.number, end - start)
        }
        // A float has a point, an exponent or the suffix f.
        var end = first + whole
        var isFloat = false
        if at(end) == 0x2E {
            let fraction = digits(end + 1)
            if whole > 0 || fraction > 0 {
                isFloat = true
                end += 1 + fraction
            }
        }
        if whole > 0 || isFloat, at(end) | 0x20 == 0x65 {
            let sign = at(end + 1) == 0x2B || at(end + 1) == 0x2D ? 1 : 0
            let exponent = digits(end + 1 + sign)
            if exponent > 0 {
                isFloat = true
                end += 1 + sign + exponent
            }
        }
        if isFloat || whole > 0, at(end) == 0x66 {
            isFloat = true
            end += 1
        }
        if isFloat { offer(.float, end - start) }
    }

    /// Offers each form of a timestamp that matches at `start`: T<seconds>:<nanoseconds>, or a date with a time.
    private func timestamp(_ start: Int, _ offer: (Token.Kind, Int) -> Void) {
        func signedDigits(_ from: Int) -> Int {
            let sign = at(from) == 0x2B || at(from) == 0x2D ? 1 : 0
            let count = digits(from + sign)
            return count > 0 ? count + sign : 0
        }
        if at(start) == 0x54 {
            let seconds = signedDigits(start + 1)
            guard seconds > 0, at(start + 1 + seconds) == 0x3A else { return }
            let nanoseconds = signedDigits(start + 2 + seconds)
            if nanoseconds > 0 { offer(.timestamp, 2 + seconds + nanoseconds) }
            return
        }
        // The form is Y-M-D, then T or @, then h:m:s, with an optional :nanoseconds.
        var position = start
        for separator: UInt8 in [0x2D, 0x2D, 0, 0x3A, 0x3A] {
            let count = digits(position)
            guard count > 0 else { return }
            position += count
            if separator == 0 {
                guard at(position) == 0x54 || at(position) == 0x40 else { return }
            } else {
                guard at(position) == separator else { return }
            }
            position += 1
        }
        let count = digits(position)
        guard count > 0 else { return }
        position += count
        offer(.timestamp, position - start)
        if at(position) == 0x3A, digits(position + 1) > 0 {
            offer(.timestamp, position + 1 + digits(position + 1) - start)
        }
    }

    /// The length of groups of hexadecimal digits, separated by dashes and followed by a closing bracket; nil when the
    /// text has another form.
    private func pattern(_ start: Int, _ groups: [Int]) -> Int? {
        var position = start
        for (group, size) in groups.enumerated() {
            if group > 0 {
                guard at(position) == 0x2D else { return nil }
                position += 1
            }
            for _ in 0..<size {
                guard isHex(at(position)) else { return nil }
                position += 1
            }
        }
        return at(position) == 0x29 ? position + 1 - start : nil
    }
}
