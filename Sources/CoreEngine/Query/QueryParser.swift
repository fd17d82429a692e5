/// Tokens to tree. Operators are reduced on a stack of their own, so that brackets cost no recursion; only subqueries
/// recurse. Grammar: query-language §3.
struct QueryParser {
    let text: String
    let bytes: [UInt8]
    private let tokens: [Token]
    var at = 0
    var subqueries = 0

    /// Depth of the condition in the subquery read last.
    private var innerDepth = 0

    /// The greatest depth so far, and the greatest that the thread's stack allows; nil: not known yet.
    private(set) var greatestDepth = 0
    private var deepest: Int?

    /// Next argument of `%@` and `%K`.
    var nextArgument = 0

    /// Whether operators may have `[d]` and `[cd]` behind them.
    private let knowsAccents: Bool

    init(_ text: String, knowingAccents: Bool = false) throws(RealmError) {
        self.text = text
        knowsAccents = knowingAccents
        (tokens, bytes) = try Lexer.tokens(of: text)
    }

    static func parse(_ text: String, knowingAccents: Bool = false) throws(RealmError) -> QuerySyntax {
        var p = try QueryParser(text, knowingAccents: knowingAccents)
        let predicate = try p.predicate(until: nil)
        var orderings: [OrderingSyntax] = []
        while p.kind != .end { orderings.append(try p.ordering()) }
        return QuerySyntax(predicate: predicate, orderings: orderings, depth: p.greatestDepth)
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

    var token: Token { tokens[at] }
    var kind: Token.Kind { tokens[at].kind }

    func ahead(_ n: Int) -> Token.Kind { at + n < tokens.count ? tokens[at + n].kind : .end }

    mutating func take(_ k: Token.Kind) -> Bool {
        guard kind == k else { return false }
        at += 1
        return true
    }

    private mutating func takeFolding() -> Folding? {
        if take(.caseInsensitive) { return .cases }
        guard knowsAccents, kind == .openBracket, ahead(1) == .identifier, ahead(2) == .closeBracket else { return nil }
        switch spelling(tokens[at + 1]) {
        case "d":
            at += 3
            return .accents
        case "cd", "dc":
            at += 3
            return [.cases, .accents]
        default: return nil
        }
    }

    mutating func expect(_ k: Token.Kind, _ what: String) throws(RealmError) {
        guard take(k) else { throw RealmError.querySyntax(text, "syntax error: \(what) expected", at: token.start) }
    }

    func unexpected() -> RealmError {
        let t = token
        let what = t.kind == .end ? "end of text" : "'\(String(decoding: bytes[t.start..<t.end], as: UTF8.self))'"
        return .querySyntax(text, "syntax error, unexpected \(what)", at: t.start)
    }

    func spelling(_ t: Token) -> String { String(decoding: bytes[t.start..<t.end], as: UTF8.self) }

    // MARK: Operators

    /// Operands of one AND or OR so far; it grows in place.
    final class Chain {
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

    enum Operand {
        case predicate(PredicateSyntax, depth: Int)
        case chain(Chain)
        case value(ExpressionSyntax, depth: Int, bracketed: Bool)
    }

    enum Operation {
        case or, and, not
        case compare(CompareOperator, Folding)
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

        /// The binary operator that a word or sign stands for.
        init?(_ kind: Token.Kind) {
            switch kind {
            case .or: self = .or
            case .and: self = .and
            case .equal: self = .compare(.equal, [])
            case .notEqual: self = .compare(.notEqual, [])
            case .less: self = .compare(.less, [])
            case .greater: self = .compare(.greater, [])
            case .lessEqual: self = .compare(.lessEqual, [])
            case .greaterEqual: self = .compare(.greaterEqual, [])
            case .in: self = .compare(.in, [])
            case .beginsWith: self = .compare(.beginsWith, [])
            case .endsWith: self = .compare(.endsWith, [])
            case .contains: self = .compare(.contains, [])
            case .like: self = .compare(.like, [])
            case .text: self = .compare(.text, [])
            case .between: self = .between
            case .plus: self = .arithmetic(.add)
            case .minus: self = .arithmetic(.subtract)
            case .times: self = .arithmetic(.multiply)
            case .divide: self = .arithmetic(.divide)
            default: return nil
            }
        }
    }

    /// A predicate up to a clause or the end of the text, or up to the bracket that closes a subquery.
    mutating func predicate(until close: Token.Kind?) throws(RealmError) -> PredicateSyntax {
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
            switch kind {
            case .geoWithin:
                guard case .value(let e, let depth, _)? = operands.popLast() else { throw unexpected() }
                at += 1
                operands.append(.predicate(.geoWithin(e, try geo()), depth: depth))
            case .closeParen where open > 0:
                try closeBracket(&operands, &operations)
                open -= 1
                at += 1
            default:
                guard let op = Operation(kind) else { break loop }
                // All binary operators lean left; NOT stands before its operand and is never reduced here.
                while let top = operations.last, top.op.precedence >= op.precedence {
                    try reduce(&operands, &operations)
                }
                let position = token.start
                at += 1
                if case .compare(let c, _) = op, c.isString || c == .equal || c == .notEqual || c == .in,
                    let folding = takeFolding()
                {
                    operations.append((.compare(c, folding), position))
                } else {
                    operations.append((op, position))
                }
                wantsOperand = true
            }
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

    /// Reduces what stands behind the last open bracket to one operand.
    private mutating func closeBracket(_ operands: inout [Operand], _ operations: inout [(op: Operation, at: Int)])
        throws(RealmError)
    {
        while let top = operations.last {
            if case .open = top.op { break }
            try reduce(&operands, &operations)
        }
        operations.removeLast()
        switch operands.removeLast() {
        case .predicate(let p, let d): operands.append(.predicate(p, depth: d))
        case .chain(let c): operands.append(.predicate(c.syntax, depth: c.depth))
        case .value(let v, let d, _): operands.append(.value(v, depth: d, bracketed: true))
        }
    }

    static func predicate(_ o: Operand?) -> (PredicateSyntax, Int)? {
        switch o {
        case .predicate(let p, let d): (p, d)
        case .chain(let c): (c.syntax, c.depth)
        default: nil
        }
    }

    private mutating func reduce(_ operands: inout [Operand], _ operations: inout [(op: Operation, at: Int)])
        throws(RealmError)
    {
        let (op, position) = operations.removeLast()
        func wrong() -> RealmError {
            .querySyntax(text, "syntax error: operands of another kind are needed here", at: position)
        }
        func checked(_ depth: Int) throws(RealmError) -> Int {
            guard depth <= QueryRoom.maxDepth else {
                throw RealmError.querySyntax(
                    text, "nested too deeply (more than \(QueryRoom.maxDepth) levels)", at: position)
            }
            if depth > QueryRoom.flatDepth {
                // Asked once: that takes a while.
                let most = deepest ?? QueryRoom.levelsOfStack
                deepest = most
                if depth > most { throw QueryRoom.stackTooSmall(for: depth) }
            }
            greatestDepth = max(greatestDepth, depth)
            return depth
        }
        if case .not = op {
            guard let (p, d) = Self.predicate(operands.popLast()) else { throw wrong() }
            operands.append(.predicate(.not(p), depth: try checked(d + 1)))
            return
        }
        let isAnd: Bool? =
            switch op {
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
        case (.compare(let c, let folding), .value(let l, let a, let lb), .value(let r, let b, let rb)):
            if c.isString || c == .text {
                // Only plain values, without brackets or arithmetic.
                if lb || rb { throw wrong() }
                if case .arithmetic = l { throw wrong() }
                if case .arithmetic = r { throw wrong() }
            }
            operands.append(.predicate(.compare(c, folding, l, r), depth: try checked(max(a, b) + 1)))
        case (.between, .value(let l, let a, let lb), .value(.list(let bounds, let q), _, false)):
            if lb { throw wrong() }
            if case .arithmetic = l { throw wrong() }
            operands.append(.predicate(.between(l, bounds, q), depth: a + 1))
        case (.arithmetic(let o), .value(let l, let a, _), .value(let r, let b, _)):
            operands.append(.value(.arithmetic(o, l, r), depth: try checked(max(a, b) + 1), bracketed: false))
        default: throw wrong()
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

    /// As C reads integers: a leading 0 means octal, 0x hexadecimal; saturating. nil never: text that starts with no
    /// digit reads as 0.
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
            let d: Int64 =
                c >= 0x30 && c <= 0x39
                ? Int64(c - 0x30) : (c | 0x20 >= 0x61 && c | 0x20 <= 0x66 ? Int64(c | 0x20 - 0x57) : 99)
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
