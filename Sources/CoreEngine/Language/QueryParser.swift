/// Parses tokens into a tree. Operators are reduced on an explicit stack, so that brackets need no recursion; only
/// subqueries recurse. Grammar: query-language §3.
struct QueryParser {
    let text: String
    let bytes: [UInt8]
    private let tokens: [Token]
    var at = 0
    var subqueries = 0

    /// The depth of the condition in the last subquery that was read.
    var innerDepth = 0

    /// The number of calls around the present place: `year(…)`.
    var calls = 0

    /// Whether names are those of the columns of a grouping, as in HAVING: `avg(score)` is one, too.
    var namesColumns = false

    /// The greatest depth so far, and the greatest depth that the thread's stack allows (nil: not measured yet).
    private(set) var greatestDepth = 0
    private var deepest: Int?

    /// The numbers of the tokens that are names; nil: they are not wanted.
    var names: Set<Int>?

    /// The number of the next argument for `%@` and `%K`.
    var nextArgument = 0

    /// Whether operators accept the suffixes `[d]` and `[cd]`.
    private let knowsAccents: Bool

    init(_ text: String, knowingAccents: Bool = false) throws(RealmError) {
        self.text = text
        knowsAccents = knowingAccents
        (tokens, bytes) = try Lexer.tokens(of: text)
    }

    /// Parses a predicate followed by any number of clauses.
    static func parse(_ text: String, knowingAccents: Bool = false) throws(RealmError) -> QuerySyntax {
        var parser = try QueryParser(text, knowingAccents: knowingAccents)
        let predicate = parser.beginsGrouping ? .constant(true) : try parser.predicate(until: nil)
        var orderings: [OrderingSyntax] = []
        while parser.kind != .end, !parser.beginsGrouping { orderings.append(try parser.ordering()) }
        let grouping = parser.beginsGrouping ? try parser.grouping() : nil
        return QuerySyntax(
            predicate: predicate, orderings: orderings, grouping: grouping, depth: parser.greatestDepth)
    }

    /// Parses a value alone, as the definition of a computed property: `price * count`.
    ///
    /// - Throws: 3015 also for a value of more than `deepest` levels of operators.
    static func value(_ text: String, deepest: Int) throws(RealmError) -> ExpressionSyntax {
        let whole = try parse(text + " == NULL")
        guard case .compare(.equal, let folding, let left, .constant(.null, nil)) = whole.predicate, folding.isEmpty,
            whole.orderings.isEmpty
        else {
            throw RealmError.querySyntax(text, "syntax error: a value is expected", at: 0)
        }
        guard whole.depth <= deepest else {
            throw RealmError.querySyntax(text, "more than \(deepest) levels of operators", at: 0)
        }
        return left
    }

    /// The numbers of the tokens that are names, in a condition or in a value alone. Words of the language may be names.
    static func nameTokens(of text: String) throws(RealmError) -> Set<Int> {
        var parser = try QueryParser(text)
        parser.names = []
        do throws(RealmError) {
            _ = try parser.predicate(until: nil)
        } catch {
            parser = try QueryParser(text)
            parser.names = []
            _ = try parser.expression()
        }
        return parser.names ?? []
    }

    /// Parses the keys of a sort alone, as given for results: `a ASC, b DESC`.
    static func sort(_ text: String) throws(RealmError) -> OrderingSyntax {
        var parser = try QueryParser(text)
        let keys = try parser.sortKeys()
        guard parser.kind == .end else { throw parser.unexpected() }
        return .sort(keys)
    }

    /// Parses the paths of a DISTINCT alone, as given for results: `a, b`.
    static func distinct(_ text: String) throws(RealmError) -> OrderingSyntax {
        var parser = try QueryParser(text)
        var paths = [try parser.path()]
        while parser.take(.comma) { paths.append(try parser.path()) }
        guard parser.kind == .end else { throw parser.unexpected() }
        return .distinct(paths)
    }

    // MARK: Tokens

    var token: Token { tokens[at] }
    var kind: Token.Kind { tokens[at].kind }

    /// The kind of a later token.
    func ahead(_ distance: Int) -> Token.Kind { at + distance < tokens.count ? tokens[at + distance].kind : .end }

    /// The spelling of a later token; empty after the last one.
    func spelling(ahead distance: Int) -> String { at + distance < tokens.count ? spelling(tokens[at + distance]) : "" }

    /// The tokens from number `first` to the present one, without the blanks between them.
    func joined(from first: Int) -> String { tokens[first..<at].map { spelling($0) }.joined() }

    /// Consumes the next token when it is of the wanted kind.
    mutating func take(_ wanted: Token.Kind) -> Bool {
        guard kind == wanted else { return false }
        at += 1
        return true
    }

    private mutating func takeFolding() -> Folding? {
        if take(.caseInsensitive) { return .cases }
        guard kind == .openBracket, ahead(1) == .identifier, ahead(2) == .closeBracket,
            let folding = Folding(letters: spelling(tokens[at + 1])), knowsAccents || folding.contains(.unicode)
        else { return nil }
        at += 3
        return folding
    }

    mutating func expect(_ wanted: Token.Kind, _ what: String) throws(RealmError) {
        guard take(wanted) else {
            throw RealmError.querySyntax(text, "syntax error: \(what) expected", at: token.start)
        }
    }

    func unexpected() -> RealmError {
        let current = token
        let what =
            current.kind == .end
            ? "end of text" : "'\(String(decoding: bytes[current.start..<current.end], as: UTF8.self))'"
        return .querySyntax(text, "syntax error, unexpected \(what)", at: current.start)
    }

    func spelling(_ token: Token) -> String { String(decoding: bytes[token.start..<token.end], as: UTF8.self) }

    // MARK: Operators

    /// The operands of one AND or OR so far. A class, so that it grows in place.
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

    /// An entry of the operand stack. `depth` is the depth of its tree.
    enum Operand {
        case predicate(PredicateSyntax, depth: Int)
        case chain(Chain)
        case value(ExpressionSyntax, depth: Int, bracketed: Bool)
    }

    /// An entry of the operator stack.
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
            case .arithmetic(let operation): operation == .add || operation == .subtract ? 5 : 6
            }
        }

        /// The binary operator that a word or sign means; nil for other tokens.
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
            case .textOperator(let op): self = .compare(op, [])
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

    /// Parses a predicate up to a clause, the end of the text, or the bracket that closes a subquery.
    mutating func predicate(until close: Token.Kind?) throws(RealmError) -> PredicateSyntax {
        guard let (result, depth) = Self.predicate(try operand()) else { throw unexpected() }
        innerDepth = depth
        if let close {
            guard kind == close else { throw unexpected() }
        }
        return result
    }

    /// Parses a value with its arithmetic, up to a token that cannot belong to it.
    mutating func expression() throws(RealmError) -> ExpressionSyntax {
        guard case .value(let value, let depth, _) = try operand() else { throw unexpected() }
        innerDepth = depth
        return value
    }

    /// Parses operands and the operators between them, up to a token that cannot belong to them.
    private mutating func operand() throws(RealmError) -> Operand {
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
                    let expression = try value()
                    operands.append(.value(expression, depth: innerDepth + 1, bracketed: false))
                }
                wantsOperand = false
                continue
            }
            switch kind {
            case .geoWithin:
                guard case .value(let expression, let depth, _)? = operands.popLast() else { throw unexpected() }
                at += 1
                operands.append(.predicate(.geoWithin(expression, try geo()), depth: depth))
            case .closeParen where open > 0:
                try closeBracket(&operands, &operations)
                open -= 1
                at += 1
            default:
                guard let op = Operation(kind) else { break loop }
                // All binary operators are left-associative. NOT comes before its operand, so it is never reduced here.
                while let top = operations.last, top.op.precedence >= op.precedence {
                    try reduce(&operands, &operations)
                }
                let position = token.start
                at += 1
                if case .compare(let comparison, _) = op, !comparison.folds.isEmpty, let folding = takeFolding() {
                    operations.append((.compare(comparison, folding), position))
                } else {
                    operations.append((op, position))
                }
                wantsOperand = true
            }
        }
        if open > 0 { throw unexpected() }
        while !operations.isEmpty { try reduce(&operands, &operations) }
        guard operands.count == 1 else { throw unexpected() }
        return operands[0]
    }

    /// Reduces everything after the last open bracket to one operand.
    private mutating func closeBracket(_ operands: inout [Operand], _ operations: inout [(op: Operation, at: Int)])
        throws(RealmError)
    {
        while let top = operations.last {
            if case .open = top.op { break }
            try reduce(&operands, &operations)
        }
        operations.removeLast()
        switch operands.removeLast() {
        case .predicate(let predicate, let depth): operands.append(.predicate(predicate, depth: depth))
        case .chain(let chain): operands.append(.predicate(chain.syntax, depth: chain.depth))
        case .value(let value, let depth, _): operands.append(.value(value, depth: depth, bracketed: true))
        }
    }

    /// The operand as a predicate with its depth; nil for a value.
    static func predicate(_ operand: Operand?) -> (PredicateSyntax, Int)? {
        switch operand {
        case .predicate(let predicate, let depth): (predicate, depth)
        case .chain(let chain): (chain.syntax, chain.depth)
        default: nil
        }
    }

    /// Replaces the last operator and its operands by one operand.
    private mutating func reduce(_ operands: inout [Operand], _ operations: inout [(op: Operation, at: Int)])
        throws(RealmError)
    {
        let (op, position) = operations.removeLast()
        func wrong() -> RealmError {
            .querySyntax(text, "syntax error: operands of another kind are needed here", at: position)
        }
        func checked(_ depth: Int) throws(RealmError) -> Int {
            guard depth <= QueryLimits.maxDepth else {
                throw RealmError.querySyntax(
                    text, "nested too deeply (more than \(QueryLimits.maxDepth) levels)", at: position)
            }
            if depth > QueryLimits.flatDepth {
                // Measured once per parse, because it takes time.
                let most = deepest ?? QueryLimits.levelsOfStack
                deepest = most
                if depth > most { throw QueryLimits.stackTooSmall(for: depth) }
            }
            greatestDepth = max(greatestDepth, depth)
            return depth
        }
        if case .not = op {
            guard let (predicate, depth) = Self.predicate(operands.popLast()) else { throw wrong() }
            operands.append(.predicate(.not(predicate), depth: try checked(depth + 1)))
            return
        }
        let isAnd: Bool? =
            switch op {
            case .and: true
            case .or: false
            default: nil
            }
        if let isAnd {
            guard let (right, rightDepth) = Self.predicate(operands.popLast()) else { throw wrong() }
            if case .chain(let chain)? = operands.last, chain.isAnd == isAnd {
                chain.depth = try checked(max(chain.depth, rightDepth + 1))
                chain.parts.append(right)
                return
            }
            guard let (left, leftDepth) = Self.predicate(operands.popLast()) else { throw wrong() }
            operands.append(
                .chain(Chain(isAnd: isAnd, [left, right], depth: try checked(max(leftDepth, rightDepth) + 1))))
            return
        }
        guard let right = operands.popLast(), let left = operands.popLast() else { throw wrong() }
        switch (op, left, right) {
        case (
            .compare(let comparison, let folding), .value(let lhs, let leftDepth, let isLeftBracketed),
            .value(let rhs, let rightDepth, let isRightBracketed)
        ):
            if comparison.isString || comparison == .text {
                // String operators and TEXT accept only plain values, without brackets or arithmetic.
                if isLeftBracketed || isRightBracketed { throw wrong() }
                if case .arithmetic = lhs { throw wrong() }
                if case .arithmetic = rhs { throw wrong() }
            }
            operands.append(
                .predicate(.compare(comparison, folding, lhs, rhs), depth: try checked(max(leftDepth, rightDepth) + 1)))
        case (
            .between, .value(let lhs, let leftDepth, let isLeftBracketed),
            .value(.list(let bounds, let quantifier), _, false)
        ):
            if isLeftBracketed { throw wrong() }
            if case .arithmetic = lhs { throw wrong() }
            operands.append(.predicate(.between(lhs, bounds, quantifier), depth: leftDepth + 1))
        case (.arithmetic(let operation), .value(let lhs, let leftDepth, _), .value(let rhs, let rightDepth, _)):
            operands.append(
                .value(
                    .arithmetic(operation, lhs, rhs), depth: try checked(max(leftDepth, rightDepth) + 1),
                    bracketed: false))
        default: throw wrong()
        }
    }

    // MARK: Clauses

    private mutating func sortKeys() throws(RealmError) -> [SortKeySyntax] {
        var keys: [SortKeySyntax] = []
        repeat {
            let steps = try path()
            var locale: String?
            if kind == .identifier, ahead(1) == .string, spelling(token).lowercased() == "collate" {
                locale = String(decoding: quoted(tokens[at + 1]), as: UTF8.self)
                at += 2
            }
            guard kind == .ascending || kind == .descending else { throw unexpected() }
            keys.append(SortKeySyntax(path: steps, locale: locale, ascending: kind == .ascending))
            at += 1
        } while take(.comma)
        return keys
    }

    mutating func ordering() throws(RealmError) -> OrderingSyntax {
        let word = kind
        guard word == .sort || word == .distinct || word == .limit else { throw unexpected() }
        at += 1
        try expect(.openParen, "'('")
        let clause: OrderingSyntax
        switch word {
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

    /// Reads an integer as C does: a leading 0 means octal, 0x means hexadecimal; out-of-range values saturate. Never
    /// returns nil: text without a leading digit gives 0.
    static func integer(_ text: String) -> Int64? {
        var digits = Array(text.utf8)[...]
        var negative = false
        if let sign = digits.first, sign == 0x2D || sign == 0x2B {
            negative = sign == 0x2D
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
        var value: Int64 = 0
        for byte in digits {
            let digit: Int64 =
                byte >= 0x30 && byte <= 0x39
                ? Int64(byte - 0x30) : (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66 ? Int64(byte | 0x20 - 0x57) : 99)
            if digit >= base { break }
            let (product, overflow1) = value.multipliedReportingOverflow(by: base)
            let (sum, overflow2) =
                negative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow1 || overflow2 { return negative ? .min : .max }
            value = sum
        }
        return value
    }
}
