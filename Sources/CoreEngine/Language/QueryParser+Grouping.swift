/// Clauses that make groups of objects, and calls: `year(born)`, `avg(score)`. Grammar: query-language §22.
extension QueryParser {
    /// Whether the next token is a word, in letters of any case. The words of these clauses are names elsewhere.
    private func isWord(_ word: String, ahead distance: Int = 0) -> Bool {
        ahead(distance) == .identifier && spelling(ahead: distance).uppercased() == word
    }

    /// Whether a grouping begins here.
    var beginsGrouping: Bool {
        (isWord("GROUP") && isWord("BY", ahead: 1)) || (isWord("AGGREGATE") && ahead(2) == .openParen)
    }

    private mutating func take(word: String) -> Bool {
        guard isWord(word) else { return false }
        at += 1
        return true
    }

    /// Parses `GROUP BY key, … AGGREGATE call, … HAVING condition`, and the orderings of the groups.
    mutating func grouping() throws(RealmError) -> GroupingSyntax {
        var grouping = GroupingSyntax()
        if isWord("GROUP") {
            at += 2
            repeat {
                let first = at, value = try expression()
                grouping.keys.append(.init(value: value, name: try alias(else: joined(from: first))))
            } while take(.comma)
        }
        if take(word: "AGGREGATE") {
            repeat {
                let call = try call()
                grouping.aggregates.append(
                    .init(
                        function: call.function, value: call.value, fraction: call.fraction,
                        name: try alias(else: call.name.text)))
            } while take(.comma)
        }
        guard grouping.keys.count + grouping.aggregates.count <= QueryLimits.maxGroupColumns else {
            throw RealmError.querySyntax(
                text, "a grouping has at most \(QueryLimits.maxGroupColumns) columns", at: token.start)
        }
        namesColumns = true
        if take(word: "HAVING") { grouping.having = try predicate(until: nil) }
        while kind != .end { grouping.orderings.append(try ordering()) }
        return grouping
    }

    /// Parses `AS name`, if it is there.
    private mutating func alias(else usual: String) throws(RealmError) -> Name {
        guard take(word: "AS") else { return Name(usual) }
        guard kind == .identifier || kind.isName else { throw unexpected() }
        let (steps, position) = (try path(), token.start)
        guard steps.count == 1, case .name(let name) = steps[0] else {
            throw RealmError.querySyntax(text, "a name is expected after AS", at: position)
        }
        return name
    }

    /// Parses a call of a function over a group. Its name is the call without blanks: `avg(score)`.
    mutating func call() throws(RealmError) -> (
        function: GroupFunction, value: ExpressionSyntax?, fraction: Double, name: Name
    ) {
        let written = spelling(ahead: 0)
        guard ahead(1) == .openParen, var function = GroupFunction(named: written) else {
            throw RealmError.querySyntax(
                text, "a function over a group is expected: \(GroupFunction.names)", at: token.start)
        }
        at += 2
        var value: ExpressionSyntax?, inner = "", fraction = 0.0
        if kind != .closeParen {
            if function == .count, take(.distinct) { function = .countDistinct }
            let first = at
            let outer = namesColumns
            namesColumns = false
            defer { namesColumns = outer }
            value = try expression()
            inner = joined(from: first)
        } else if function != .count {
            throw RealmError.querySyntax(text, "\(written)() needs a value", at: token.start)
        }
        if function == .quantile {
            try expect(.comma, "','")
            guard kind == .float || kind == .natural || kind == .number, let number = Double(spelling(ahead: 0)),
                number >= 0, number <= 1
            else {
                throw RealmError.querySyntax(text, "quantile() needs a number from 0 to 1", at: token.start)
            }
            inner += "," + spelling(ahead: 0)
            fraction = number
            at += 1
        }
        try expect(.closeParen, "')'")
        let name = function == .countDistinct ? "count(DISTINCT \(inner))" : "\(function.rawValue)(\(inner))"
        return (function, value, fraction, Name(name))
    }

    /// Parses `year(born)`.
    mutating func part() throws(RealmError) -> ExpressionSyntax {
        guard let part = DatePart(rawValue: spelling(ahead: 0).lowercased()) else {
            let known = DatePart.allCases.map(\.rawValue).joined(separator: ", ")
            var what = "unknown function '\(spelling(ahead: 0))', known are: \(known)"
            if GroupFunction(named: spelling(ahead: 0)) != nil {
                what += "; and, after AGGREGATE, \(GroupFunction.names)"
            }
            throw RealmError.querySyntax(text, what, at: token.start)
        }
        guard calls < QueryLimits.maxSubqueries else {
            throw RealmError.querySyntax(text, "calls nested too deeply", at: token.start)
        }
        at += 2
        calls += 1
        defer { calls -= 1 }
        let value = try expression()
        try expect(.closeParen, "')'")
        return .part(part, value)
    }
}

extension GroupFunction {
    /// The function with a name, in letters of any case.
    init?(named name: String) {
        guard let function = GroupFunction(rawValue: name.lowercased()), function != .countDistinct else { return nil }
        self = function
    }
}
