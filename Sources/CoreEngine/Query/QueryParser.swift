/// Tokens to tree. Operators are reduced on a stack of their own, so that brackets cost no recursion; only subqueries recurse.
/// Grammar: query-language §3.
struct QueryParser {
    private let text: String
    private let bytes: [UInt8]
    private let tokens: [Token]
    private var at = 0
    private var subqueries = 0
    /// Depth of the condition in the subquery read last.
    private var innerDepth = 0
    /// Next argument of `%@` and `%K`.
    private var nextArgument = 0

    private init(_ text: String) throws(RealmError) {
        self.text = text
        (tokens, bytes) = try Lexer.tokens(of: text)
    }
    static func parse(_ text: String) throws(RealmError) -> QuerySyntax {
        var p = try QueryParser(text)
        let predicate = try p.predicate(until: nil)
        var orderings: [OrderingSyntax] = []
        while p.kind != .end { orderings.append(try p.ordering()) }
        return QuerySyntax(predicate: predicate, orderings: orderings)
    }
    /// The clauses alone, as results take them: `a ASC, b DESC`.
    static func sort(_ text: String) throws(RealmError) -> OrderingSyntax {
        var p = try QueryParser(text)
        let keys = try p.sortKeys()
        guard p.kind == .end else { throw p.unexpected() }
        return .sort(keys)
    }
    static func distinct(_ text: String) throws(RealmError) -> OrderingSyntax {
        var p = try QueryParser(text)
        var paths = [try p.path()]
        while p.take(.comma) { paths.append(try p.path()) }
        guard p.kind == .end else { throw p.unexpected() }
        return .distinct(paths)
    }

    // MARK: Tokens

    private var token: Token { tokens[at] }
    private var kind: Token.Kind { tokens[at].kind }
    private func ahead(_ n: Int) -> Token.Kind { at + n < tokens.count ? tokens[at + n].kind : .end }
    private mutating func take(_ k: Token.Kind) -> Bool {
        guard kind == k else { return false }
        at += 1
        return true
    }
    private mutating func expect(_ k: Token.Kind, _ what: String) throws(RealmError) {
        guard take(k) else { throw RealmError.querySyntax(text, "syntax error: \(what) expected", at: token.start) }
    }
    private func unexpected() -> RealmError {
        let t = token
        let what = t.kind == .end ? "end of text" : "'\(String(decoding: bytes[t.start..<t.end], as: UTF8.self))'"
        return .querySyntax(text, "syntax error, unexpected \(what)", at: t.start)
    }
    private func spelling(_ t: Token) -> String { String(decoding: bytes[t.start..<t.end], as: UTF8.self) }

    // MARK: Operators

    /// Operands of one AND or OR so far; it grows in place.
    private final class Chain {
        let isAnd: Bool
        var parts: [PredicateSyntax]
        var depth: Int
        init(isAnd: Bool, _ parts: [PredicateSyntax], depth: Int) {
            self.isAnd = isAnd
            self.parts = parts
            self.depth = depth
        }
        var syntax: PredicateSyntax { isAnd ? .and(parts) : .or(parts) }
    }
    private enum Operand {
        case predicate(PredicateSyntax, depth: Int)
        case chain(Chain)
        case value(ExpressionSyntax, depth: Int, bracketed: Bool)
    }
    private enum Operation {
        case or, and, not
        case compare(CompareOperator, Bool)
        case between
        case arithmetic(ArithmeticOperator)
        case open
        var precedence: Int {
            switch self {
            case .open: 0
            case .or: 1
            case .and: 2
            case .not: 3
            case .compare, .between: 4
            case .arithmetic(let o): o == .add || o == .subtract ? 5 : 6
            }
        }
    }

    /// A predicate up to a clause or the end of the text, or up to the bracket that closes a subquery.
    private mutating func predicate(until close: Token.Kind?) throws(RealmError) -> PredicateSyntax {
        var operands: [Operand] = []
        var operations: [(op: Operation, at: Int)] = []
        var wantsOperand = true
        var open = 0
        loop: while true {
            if wantsOperand {
                switch kind {
                case .not:
                    operations.append((.not, token.start))
                    at += 1
                    continue
                case .openParen:
                    operations.append((.open, token.start))
                    open += 1
                    at += 1
                    continue
                case .truePredicate, .falsePredicate:
                    operands.append(.predicate(.constant(kind == .truePredicate), depth: 1))
                    at += 1
                default:
                    innerDepth = 0
                    let v = try value()
                    operands.append(.value(v, depth: innerDepth + 1, bracketed: false))
                }
                wantsOperand = false
                continue
            }
            let op: Operation
            switch kind {
            case .or: op = .or
            case .and: op = .and
            case .equal: op = .compare(.equal, false)
            case .notEqual: op = .compare(.notEqual, false)
            case .less: op = .compare(.less, false)
            case .greater: op = .compare(.greater, false)
            case .lessEqual: op = .compare(.lessEqual, false)
            case .greaterEqual: op = .compare(.greaterEqual, false)
            case .in: op = .compare(.in, false)
            case .beginsWith: op = .compare(.beginsWith, false)
            case .endsWith: op = .compare(.endsWith, false)
            case .contains: op = .compare(.contains, false)
            case .like: op = .compare(.like, false)
            case .text: op = .compare(.text, false)
            case .between: op = .between
            case .geoWithin:
                // Recognised so that it can be refused by its name.
                guard case .value(let e, let depth, _)? = operands.popLast() else { throw unexpected() }
                at += 1
                operands.append(.predicate(.geoWithin(e, argument: try skipGeo()), depth: depth))
                continue
            case .plus: op = .arithmetic(.add)
            case .minus: op = .arithmetic(.subtract)
            case .times: op = .arithmetic(.multiply)
            case .divide: op = .arithmetic(.divide)
            case .closeParen where open > 0:
                while let top = operations.last {
                    if case .open = top.op { break }
                    try reduce(&operands, &operations)
                }
                operations.removeLast()
                open -= 1
                switch operands.removeLast() {
                case .predicate(let p, let d): operands.append(.predicate(p, depth: d))
                case .chain(let c): operands.append(.predicate(c.syntax, depth: c.depth))
                case .value(let v, let d, _): operands.append(.value(v, depth: d, bracketed: true))
                }
                at += 1
                continue
            default: break loop
            }
            // All binary operators lean left; NOT stands before its operand and is never reduced here.
            while let top = operations.last, top.op.precedence >= op.precedence { try reduce(&operands, &operations) }
            let position = token.start
            at += 1
            if case .compare(let c, _) = op, c.isString || c == .equal || c == .notEqual || c == .in, take(.caseInsensitive) {
                operations.append((.compare(c, true), position))
            } else {
                operations.append((op, position))
            }
            wantsOperand = true
        }
        if open > 0 { throw unexpected() }
        while !operations.isEmpty { try reduce(&operands, &operations) }
        guard operands.count == 1, let (p, depth) = Self.predicate(operands.popLast()) else { throw unexpected() }
        innerDepth = depth
        if let close {
            guard kind == close else { throw unexpected() }
        }
        return p
    }

    private static func predicate(_ o: Operand?) -> (PredicateSyntax, Int)? {
        switch o {
        case .predicate(let p, let d): (p, d)
        case .chain(let c): (c.syntax, c.depth)
        default: nil
        }
    }
    private func reduce(_ operands: inout [Operand], _ operations: inout [(op: Operation, at: Int)]) throws(RealmError) {
        let (op, position) = operations.removeLast()
        func wrong() -> RealmError { .querySyntax(text, "syntax error: operands of another kind are needed here", at: position) }
        func checked(_ depth: Int) throws(RealmError) -> Int {
            guard depth <= QueryRoom.maxDepth else { throw RealmError.querySyntax(text, "nested too deeply (more than \(QueryRoom.maxDepth) levels)", at: position) }
            return depth
        }
        if case .not = op {
            guard let (p, d) = Self.predicate(operands.popLast()) else { throw wrong() }
            operands.append(.predicate(.not(p), depth: try checked(d + 1)))
            return
        }
        let isAnd: Bool? = switch op {
        case .and: true
        case .or: false
        default: nil
        }
        if let isAnd {
            guard let (r, b) = Self.predicate(operands.popLast()) else { throw wrong() }
            if case .chain(let c)? = operands.last, c.isAnd == isAnd {
                c.depth = try checked(max(c.depth, b + 1))
                c.parts.append(r)
                return
            }
            guard let (l, a) = Self.predicate(operands.popLast()) else { throw wrong() }
            operands.append(.chain(Chain(isAnd: isAnd, [l, r], depth: try checked(max(a, b) + 1))))
            return
        }
        guard let right = operands.popLast(), let left = operands.popLast() else { throw wrong() }
        switch (op, left, right) {
        case (.compare(let c, let fold), .value(let l, let a, let lb), .value(let r, let b, let rb)):
            if c.isString || c == .text {
                // Only plain values, without brackets or arithmetic.
                if lb || rb { throw wrong() }
                if case .arithmetic = l { throw wrong() }
                if case .arithmetic = r { throw wrong() }
            }
            operands.append(.predicate(.compare(c, caseInsensitive: fold, l, r), depth: try checked(max(a, b) + 1)))
        case (.between, .value(let l, let a, let lb), .value(.list(let bounds, let q), _, false)):
            if lb { throw wrong() }
            if case .arithmetic = l { throw wrong() }
            operands.append(.predicate(.between(l, bounds, q), depth: a + 1))
        case (.arithmetic(let o), .value(let l, let a, _), .value(let r, let b, _)):
            operands.append(.value(.arithmetic(o, l, r), depth: try checked(max(a, b) + 1), bracketed: false))
        default: throw wrong()
        }
    }

    // MARK: Values

    private mutating func value() throws(RealmError) -> ExpressionSyntax {
        var quantifier: Quantifier?
        switch kind {
        case .any: quantifier = .any
        case .all: quantifier = .all
        case .none: quantifier = Quantifier.none
        default: break
        }
        if quantifier != nil {
            at += 1
            if kind == .openBrace { return .list(try list(), quantifier) }
            if kind == .argument || kind == .nextArgument { return .constant(try constant(), quantifier) }
            return try property(quantifier)
        }
        switch kind {
        case .openBrace: return .list(try list(), nil)
        case .subquery: return try subquery()
        case .binary where ahead(1) != .openParen: return try property(nil)
        case .null, .infinity, .nan, .natural, .number, .float, .timestamp, .uuid, .objectId, .link, .argument, .nextArgument, .base64, .string, .true,
            .false, .obj, .binary:
            return .constant(try constant(), nil)
        default: return try property(nil)
        }
    }
    private mutating func property(_ quantifier: Quantifier?) throws(RealmError) -> ExpressionSyntax {
        let steps = try path()
        if kind == .openBracket, ahead(1) == .size, ahead(2) == .closeBracket {
            at += 3
            return .path(steps, quantifier, .size)
        }
        guard kind == .dot else { return .path(steps, quantifier, .value) }
        switch ahead(1) {
        case .count:
            at += 2
            return .path(steps, quantifier, .size)
        case .type:
            at += 2
            return .path(steps, quantifier, .type)
        case .min, .max, .sum, .avg:
            guard quantifier == nil else { throw unexpected() }
            let op: AggregateKind = ahead(1) == .min ? .min : (ahead(1) == .max ? .max : (ahead(1) == .sum ? .sum : .average))
            at += 2
            var name: Name?
            if take(.dot) {
                guard let n = try nameStep(), case .name(let text) = n else { throw unexpected() }
                name = text
            }
            return .aggregate(steps, op, property: name)
        default: throw unexpected()
        }
    }
    private mutating func subquery() throws(RealmError) -> ExpressionSyntax {
        at += 1
        subqueries += 1
        defer { subqueries -= 1 }
        guard subqueries <= QueryRoom.maxSubqueries else { throw RealmError.querySyntax(text, "subqueries nested too deeply", at: token.start) }
        try expect(.openParen, "'('")
        let steps = try path()
        try expect(.comma, "','")
        guard kind == .identifier else { throw unexpected() }
        let variable = Name(spelling(token))
        guard variable.hasPrefix("$"), variable.utf8.count > 1 else {
            throw RealmError.querySyntax(text, "the variable of a subquery starts with '$'", at: token.start)
        }
        at += 1
        try expect(.comma, "','")
        let condition = try predicate(until: .closeParen)
        try expect(.closeParen, "')'")
        try expect(.dot, "'.@count'")
        try expect(.count, "'@count'")
        return .subquery(steps, variable: variable, condition)
    }

    /// Undoes the escapes of blanks in a name.
    private func name(_ t: Token) -> Name {
        var out: [UInt8] = []
        var i = t.start
        while i < t.end {
            if bytes[i] == 0x5C, i + 1 < t.end {
                out.append(bytes[i + 1] == 0x6E ? 0x0A : (bytes[i + 1] == 0x72 ? 0x0D : (bytes[i + 1] == 0x74 ? 0x09 : bytes[i + 1])))
                i += 2
            } else {
                out.append(bytes[i])
                i += 1
            }
        }
        return Name(String(decoding: out, as: UTF8.self))
    }
    private mutating func nameStep() throws(RealmError) -> PathStep? {
        let t = token
        switch t.kind {
        case .identifier:
            at += 1
            return .name(name(t))
        case .links:
            at += 1
            return .links
        case .keys:
            at += 1
            return .keys
        case .values:
            at += 1
            return .values
        case .beginsWith, .endsWith, .contains, .like, .between, .sort, .distinct, .limit, .ascending, .descending, .in, .text, .binary, .first,
            .last, .size:
            at += 1
            return .name(Name(spelling(t)))
        default: return nil
        }
    }
    private mutating func path() throws(RealmError) -> [PathStep] {
        var steps: [PathStep] = []
        if kind == .keyPathArgument || kind == .nextKeyPathArgument {
            steps.append(.pathArgument(try argumentNumber()))
        } else {
            guard let first = try nameStep() else { throw unexpected() }
            steps.append(first)
        }
        while true {
            if kind == .dot {
                at += 1
                guard let step = try nameStep() else {
                    at -= 1
                    return steps
                }
                steps.append(step)
            } else if kind == .openBracket, !(ahead(1) == .size && ahead(2) == .closeBracket) {
                at += 1
                switch kind {
                case .natural: steps.append(.index(Self.integer(spelling(token)).map { Int(clamping: $0) } ?? .max))
                case .first: steps.append(.first)
                case .last: steps.append(.last)
                case .times: steps.append(.all)
                case .string: steps.append(.key(Array(bytes[token.start + 1..<token.end - 1])))
                case .argument, .nextArgument:
                    steps.append(.argument(try argumentNumber()))
                    at -= 1
                default: throw unexpected()
                }
                at += 1
                try expect(.closeBracket, "']'")
            } else {
                return steps
            }
        }
    }
    private mutating func list() throws(RealmError) -> [ConstantSyntax] {
        try expect(.openBrace, "'{'")
        var all: [ConstantSyntax] = []
        if kind != .closeBrace && kind != .comma { all.append(try constant()) }
        while take(.comma) { all.append(try constant()) }
        try expect(.closeBrace, "'}'")
        return all
    }
    private mutating func argumentNumber() throws(RealmError) -> Int {
        let t = token
        at += 1
        switch t.kind {
        case .nextArgument, .nextKeyPathArgument:
            nextArgument += 1
            return nextArgument - 1
        case .keyPathArgument: return Int(String(decoding: bytes[t.start + 2..<t.end], as: UTF8.self)) ?? .max
        default: return Int(String(decoding: bytes[t.start + 1..<t.end], as: UTF8.self)) ?? .max
        }
    }
    private mutating func constant() throws(RealmError) -> ConstantSyntax {
        let t = token
        let s = spelling(t)
        switch t.kind {
        case .argument, .nextArgument: return .argument(try argumentNumber())
        case .null:
            at += 1
            return .null
        case .true:
            at += 1
            return .true
        case .false:
            at += 1
            return .false
        case .nan:
            at += 1
            return .nan
        case .infinity:
            at += 1
            return .infinity(negative: s.hasPrefix("-"))
        case .natural, .number:
            at += 1
            return .number(s)
        case .float:
            at += 1
            return .float(s)
        case .timestamp:
            at += 1
            return .timestamp(s)
        case .uuid:
            at += 1
            return .uuid(String(s.dropFirst(5).dropLast()))
        case .objectId:
            at += 1
            return .objectId(String(s.dropFirst(4).dropLast()))
        case .link:
            at += 1
            return .link(s)
        case .string:
            at += 1
            return .string(Array(bytes[t.start + 1..<t.end - 1]))
        case .base64:
            at += 1
            let inner = String(s.dropFirst(4).dropLast())
            guard Self.base64(inner) != nil else { throw RealmError.querySyntax(text, "undecodable base64", at: t.start) }
            return .base64(inner)
        case .binary:
            at += 1
            try expect(.openParen, "'('")
            let content: [UInt8]
            if kind == .string {
                content = Array(bytes[token.start + 1..<token.end - 1])
            } else if kind == .base64, let decoded = Self.base64(String(spelling(token).dropFirst(4).dropLast())) {
                content = decoded
            } else {
                throw unexpected()
            }
            at += 1
            try expect(.closeParen, "')'")
            return .binary(content)
        case .obj:
            at += 1
            try expect(.openParen, "'('")
            guard kind == .string else { throw unexpected() }
            let className = Array(bytes[token.start + 1..<token.end - 1])
            at += 1
            try expect(.comma, "','")
            let key: ConstantSyntax
            switch kind {
            case .natural, .number, .string, .uuid, .objectId, .argument, .nextArgument: key = try constant()
            default: throw unexpected()
            }
            try expect(.closeParen, "')'")
            return .object(className: className, key: key)
        default: throw unexpected()
        }
    }
    /// Steps over what follows GEOWITHIN; the number of an argument.
    private mutating func skipGeo() throws(RealmError) -> Int? {
        switch kind {
        case .argument, .nextArgument: return try argumentNumber()
        case .geoBox, .geoCircle, .geoPolygon:
            at += 1
            try expect(.openParen, "'('")
            var open = 1
            while open > 0 {
                switch kind {
                case .openParen: open += 1
                case .closeParen: open -= 1
                case .end: throw unexpected()
                default: break
                }
                at += 1
            }
            return nil
        default: throw unexpected()
        }
    }

    // MARK: Clauses

    private mutating func sortKeys() throws(RealmError) -> [(path: [PathStep], ascending: Bool)] {
        var keys: [(path: [PathStep], ascending: Bool)] = []
        repeat {
            let p = try path()
            guard kind == .ascending || kind == .descending else { throw unexpected() }
            keys.append((p, kind == .ascending))
            at += 1
        } while take(.comma)
        return keys
    }
    private mutating func ordering() throws(RealmError) -> OrderingSyntax {
        let k = kind
        guard k == .sort || k == .distinct || k == .limit else { throw unexpected() }
        at += 1
        try expect(.openParen, "'('")
        let clause: OrderingSyntax
        switch k {
        case .sort: clause = .sort(try sortKeys())
        case .distinct:
            var paths = [try path()]
            while take(.comma) { paths.append(try path()) }
            clause = .distinct(paths)
        default:
            guard kind == .natural else { throw unexpected() }
            clause = .limit(Int(clamping: Self.integer(spelling(token)) ?? .max))
            at += 1
        }
        try expect(.closeParen, "')'")
        return clause
    }

    // MARK: Numbers and bytes

    /// As C reads integers: a leading 0 means octal, 0x hexadecimal; saturating. nil never: text that starts with no digit reads as 0.
    static func integer(_ text: String) -> Int64? {
        var digits = Array(text.utf8)[...]
        var negative = false
        if let c = digits.first, c == 0x2D || c == 0x2B {
            negative = c == 0x2D
            digits = digits.dropFirst()
        }
        var base: Int64 = 10
        if digits.first == 0x30 {
            if digits.count > 2, digits[digits.startIndex + 1] | 0x20 == 0x78 {
                base = 16
                digits = digits.dropFirst(2)
            } else {
                base = 8
            }
        }
        var v: Int64 = 0
        for c in digits {
            let d: Int64 = c >= 0x30 && c <= 0x39 ? Int64(c - 0x30) : (c | 0x20 >= 0x61 && c | 0x20 <= 0x66 ? Int64(c | 0x20 - 0x57) : 99)
            if d >= base { break }
            let (m, o1) = v.multipliedReportingOverflow(by: base)
            let (s, o2) = negative ? m.subtractingReportingOverflow(d) : m.addingReportingOverflow(d)
            if o1 || o2 { return negative ? .min : .max }
            v = s
        }
        return v
    }
    static func base64(_ text: String) -> [UInt8]? {
        var out: [UInt8] = []
        var buffer: UInt32 = 0, bits = 0
        var padding = 0, count = 0
        for c in text.utf8 {
            if c == 0x3D {
                padding += 1
                continue
            }
            guard padding == 0 else { return nil }
            let v: UInt8
            switch c {
            case 0x41...0x5A: v = c - 0x41
            case 0x61...0x7A: v = c - 0x61 + 26
            case 0x30...0x39: v = c - 0x30 + 52
            case 0x2B: v = 62
            case 0x2F: v = 63
            default: return nil
            }
            count += 1
            buffer = (buffer << 6 | UInt32(v)) & 0xFF_FFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return count % 4 == 1 || padding > 2 ? nil : out
    }
}
