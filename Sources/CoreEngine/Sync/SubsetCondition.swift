/// The condition of a subset as JSON: the hub turns it into SQL, and never runs a text of a device. Form: sync.md,
/// "Subsets".
///
///     ["and", ["==", "done", false], ["<", "n", "3"]]
///
/// A comparison has an operator, the name of a property, and a constant as text; null, true and false are themselves.
/// "in" has an array of constants.
struct SubsetCondition {
    private let table: Table

    /// - Throws: 3015 and 3009 for a text that is no query; 2007 for one that has no form in SQL with the same meaning.
    static func json(_ text: String, _ table: Table) throws(RealmError) -> [UInt8] {
        let query = try QueryParser.parse(text)
        try test(query)
        var out = JSONText()
        try SubsetCondition(table: table).write(query.predicate, &out)
        return out.bytes
    }

    static func test(_ query: QuerySyntax) throws(RealmError) {
        guard query.orderings.isEmpty, query.grouping == nil, query.depth < 50 else {
            throw refused("without SORT, LIMIT, DISTINCT and GROUP BY, and less than 50 levels deep")
        }
    }

    static func refused(_ what: String) -> RealmError {
        RealmError(.illegalOperation, "The condition of a subset must be \(what)")
    }

    static var foldingRefused: RealmError { refused("without [c], because PostgreSQL folds other letters") }

    private func write(_ predicate: PredicateSyntax, _ out: inout JSONText) throws(RealmError) {
        out.open("[")
        switch predicate {
        case .constant(let holds): out.text(holds ? "and" : "or")
        case .and(let parts), .or(let parts):
            if case .and = predicate { out.text("and") } else { out.text("or") }
            for part in parts { try write(part, &out) }
        case .not(let part):
            out.text("not")
            try write(part, &out)
        case .compare(let sign, let folding, let left, let right):
            guard folding.isEmpty else { throw Self.foldingRefused }
            try compare(sign, left, right, &out)
        case .between(let value, let bounds, nil) where bounds.count == 2:
            out.text("and")
            for (sign, bound) in zip([">=", "<="], bounds) {
                out.open("[")
                out.text(sign)
                let facts = try property(value, &out)
                try constant(bound, facts, &out)
                out.close("]")
            }
        case .between, .geoWithin: throw Self.refused("made of comparisons")
        }
        out.close("]")
    }

    private func compare(
        _ sign: CompareOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ out: inout JSONText
    ) throws(RealmError) {
        if sign != .equal, sign != .notEqual {
            for case .constant(.null, _) in [left, right] { throw Self.refused("without an order of null") }
        }
        switch (sign, right) {
        case (.like, _), (.text, _): throw Self.refused("without \(sign.rawValue)")
        case (.in, .list(let constants, nil)):
            out.text("in")
            let facts = try property(left, &out)
            out.open("[")
            for one in constants { try constant(one, facts, &out) }
            out.close("]")
        case (.in, _): throw Self.refused("with a list of constants after IN")
        case (_, .constant(let value, nil)):
            out.text(sign.rawValue)
            try constant(value, try property(left, &out), &out)
        default:
            let turned: [CompareOperator: CompareOperator] = [
                .equal: .equal, .notEqual: .notEqual, .less: .greater, .greater: .less, .lessEqual: .greaterEqual,
                .greaterEqual: .lessEqual,
            ]
            guard case .constant(let value, nil) = left, let sign = turned[sign] else {
                throw Self.refused("made of comparisons of a property with a constant")
            }
            out.text(sign.rawValue)
            try constant(value, try property(right, &out), &out)
        }
    }

    /// Writes the name of a property of the class itself: the hub does not notice when a linked object changes.
    private func property(_ expression: ExpressionSyntax, _ out: inout JSONText) throws(RealmError) -> ColumnFacts {
        guard case .path(let steps, nil, .value) = expression, steps.count == 1, case .name(let name) = steps[0],
            let column = table.column(named: name), let facts = table.facts(column.key), !facts.isCollection,
            facts.type != .link, facts.type != .mixed, facts.type != .backlink
        else {
            throw Self.refused("made of comparisons of single properties of the class itself")
        }
        out.text(name.text)
        return facts
    }

    private func constant(_ value: ConstantSyntax, _ facts: ColumnFacts, _ out: inout JSONText) throws(RealmError) {
        switch (value, facts.type) {
        case (.null, _): out.null()
        case (.true, .bool): out.bool(true)
        case (.false, .bool): out.bool(false)
        case (.number(let digits), .int):
            guard let number = Int64(digits) else { throw Self.refused("with decimal integers of 64 bits") }
            out.text(String(number))
        case (.number(let digits), .double), (.number(let digits), .float), (.number(let digits), .decimal),
            (.float(let digits), .double), (.float(let digits), .float), (.float(let digits), .decimal):
            guard let number = Double(digits), number.isFinite else { throw Self.refused("with decimal numbers") }
            out.text(digits)
        case (.string(let bytes), .string):
            guard !bytes.contains(0) else { throw Self.refused("without zero bytes") }
            out.text(String(decoding: bytes, as: UTF8.self))
        case (.base64(let encoded), .string):
            guard let bytes = Base64.decode(encoded), !bytes.contains(0),
                let text = String(validating: bytes, as: UTF8.self)
            else { throw Self.refused("with texts of UTF-8, without zero bytes") }
            out.text(text)
        case (.timestamp(let text), .timestamp): out.text(try Binder.timestamp(text).wireText)
        case (.uuid(let digits), .uuid): out.text(digits)
        case (.objectId(let digits), .objectId): out.text("\\x" + digits)
        default: throw Self.refused("with constants of the type of their property, and without arguments")
        }
    }
}
