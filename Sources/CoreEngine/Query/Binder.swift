/// What a query may know of the application's schema: other names for stored properties.
package struct QueryNames {
    package enum Alias {
        case property(Name)
        /// Linking objects: `@links.Class.property`.
        case links(className: Name, property: Name)
    }

    package var aliases: [TableKey: [Name: Alias]] = [:]

    /// Realm's Swift API reaches further than its query language: subqueries of sets, dictionaries and to-one links,
    /// `@min` and `@max` of dates.
    package var reachFurther = false

    package init() {}
}

/// An argument of a query text. Bytes are good while the query is bound.
package enum QueryArgument {
    case value(Mixed)
    case list([Mixed])
}

/// Tree to conditions: names, types, arguments. Rules: query-language §4–§12.
struct Binder {
    let group: Group
    let names: QueryNames
    let arguments: [QueryArgument]
    let arena: ConstantArena

    /// Variables of the subqueries around.
    var variables: [(name: Name, table: TableKey)] = []

    init(_ group: Group, _ names: QueryNames, _ arguments: [QueryArgument], _ arena: ConstantArena) {
        self.group = group
        self.names = names
        self.arguments = arguments
        self.arena = arena
    }

    mutating func condition(_ p: PredicateSyntax, _ t: Table) throws(RealmError) -> Condition {
        switch p {
        case .constant(let b): return ConstantCondition(b)
        case .and(let parts):
            var all: [Condition] = []
            for q in parts { all.append(try condition(q, t)) }
            return AndCondition(all)
        case .or(let parts):
            var all: [Condition] = []
            for q in parts { all.append(try condition(q, t)) }
            return OrCondition(all)
        case .not(let q): return NotCondition(try condition(q, t))
        case .geoWithin(let e, let shape): return try geoWithin(e, shape, t)
        case .compare(let op, let folding, let l, let r): return try compare(op, folding, l, r, t)
        case .between(let e, let bounds, let quantifier): return try between(e, bounds, quantifier, t)
        }
    }

    static func isConstant(_ e: ExpressionSyntax) -> Bool {
        switch e {
        case .constant, .list: true
        case .arithmetic(_, let a, let b): isConstant(a) && isConstant(b)
        default: false
        }
    }

    mutating func compare(
        _ op: CompareOperator, _ folding: Folding, _ l: ExpressionSyntax, _ r: ExpressionSyntax, _ t: Table
    ) throws(RealmError) -> Condition {
        if Self.isConstant(l) && Self.isConstant(r) { throw .query("Cannot compare two constants") }
        if op == .text { return try text(l, r, t) }
        if op == .like, folding.contains(.accents) {
            throw .query("Operator 'LIKE' not supported with diacritic-insensitive modifier.")
        }
        let (left, right) = try sides(l, r, op, t)
        return try compare(op, folding, left, right, isArgument: Self.isArgument(l) || Self.isArgument(r))
    }

    /// Both sides of an operator. A constant takes its type from the other side; not both are constants.
    mutating func sides(
        _ l: ExpressionSyntax, _ r: ExpressionSyntax, _ op: CompareOperator?, _ t: Table
    ) throws(RealmError) -> (left: Expression, right: Expression) {
        if Self.isConstant(l) {
            let right = try expression(r, t)
            return (try constant(l, hint: right, op), right)
        }
        let left = try expression(l, t)
        return (left, Self.isConstant(r) ? try constant(r, hint: left, op) : try expression(r, t))
    }

    static func isArgument(_ e: ExpressionSyntax) -> Bool {
        if case .constant(.argument, _) = e { return true }
        return false
    }

    func compare(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression, isArgument: Bool
    ) throws(RealmError) -> Condition {
        let l = left.type, r = right.type
        func mismatch(_ what: String) -> RealmError { isArgument ? .queryArgument(what) : .query(what) }
        if left.isConstant && right.isConstant { throw .query("Unsupported comparison between two constants") }
        for side in [left, right] where side.quantifier != nil && !side.isList {
            throw .query("The keypath after '\(side.quantifier?.rawValue ?? "")' must contain a list")
        }
        if op == .in, !right.isList || Self.isStepOfMixed(right) {
            throw .queryArgument("The keypath following 'IN' must contain a list")
        }
        if Self.isValueCollection(left) && Self.isValueCollection(right) {
            throw .query("Two lists of values cannot be compared in order")
        }
        if l == .typeName || r == .typeName {
            guard l == r else {
                throw .queryArgument("Unsupported comparison operator \(op.rawValue) against type '@type' and a value")
            }
            guard op == .equal || op == .notEqual || op == .in else {
                throw .query("Unsupported comparison operator '\(op.rawValue)' against type '@type'")
            }
            return try CompareCondition(op, folding: [], left, right)
        }
        if names.reachFurther, op.isString, op != .like, Self.isNothing(right) { return ConstantCondition(false) }
        if op.isString || !folding.isEmpty, !Self.isText(op, left, right),
            op.isString || !Self.isAgainstConstant(left, right)
        {
            let what =
                "Unsupported comparison operator '\(op.rawValue)\(folding.mark)' against type '\(r.name)', "
                + "right side must be a string or binary type"
            throw r == .null || !op.isString ? .query(what) : mismatch(what)
        }
        if l.isLink || r.isLink { return try compareLinks(op, folding, left, right, mismatch) }
        if !op.isString, !ValueType.comparable(l, r) {
            if let list = (left.isConstant ? left : right) as? ConstantExpression, list.isList {
            } else {
                throw mismatch(
                    isArgument
                        ? "Cannot compare argument with type '\(r.name)' to type '\(l.name)'"
                        : "Unsupported comparison between type '\(l.name)' and type '\(r.name)'")
            }
        }
        // Of a list of constants the direct condition knows only equality.
        let isFoldedList = names.reachFurther && !folding.isEmpty && right.isList
        if !isFoldedList, let direct = try Self.direct(op, folding, left, right) { return direct }
        return try CompareCondition(op, folding: folding, left, right)
    }

    /// NULL, or a text without letters, of which Foundation says that it stands nowhere.
    private static func isNothing(_ e: Expression) -> Bool {
        guard let constant = e as? ConstantExpression, !constant.isList else { return false }
        switch constant.values.first {
        case .string(let s)?, .binary(let s)?: return s.isEmpty
        case .null?: return true
        default: return false
        }
    }

    /// Whether the right side is text or bytes, as far as can be told: what the string operators and [c] compare with.
    private static func isText(_ op: CompareOperator, _ left: Expression, _ right: Expression) -> Bool {
        let l = left.type, constant = right as? ConstantExpression
        switch right.type {
        case .string, .binary: return true
        case .mixed where !(right.isList && right.isConstant) || l.isLink: return true
        // A list of constants, against Mixed: one of them is enough.
        case .mixed where l == .mixed:
            return constant?.values.contains { ValueType($0) == .string || ValueType($0) == .binary } ?? false
        case .null: return op.isString ? l != .mixed : l == .string || l == .binary || l == .mixed || l.isLink
        default:
            return right.isList
                && (constant?.values.allSatisfy { ValueType($0) == .string || ValueType($0) == .binary || $0.isNull }
                    ?? false)
        }
    }

    /// Whether a property of the class itself is compared with one constant of its type.
    private static func isAgainstConstant(_ left: Expression, _ right: Expression) -> Bool {
        guard left.directColumn != nil, let constant = right as? ConstantExpression else { return false }
        return !constant.isList && (left.type == .mixed || right.type == left.type)
    }

    private func compareLinks(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression,
        _ mismatch: (String) -> RealmError
    ) throws(RealmError) -> Condition {
        let l = left.type, r = right.type
        guard op == .equal || op == .notEqual || op == .in else {
            if op.isString { return try CompareCondition(op, folding: folding, left, right) }
            throw .query(
                "Unsupported operator \(op.rawValue) in query. Only equal (==) and not equal (!=) are supported for this type."
            )
        }
        if op == .notEqual, right.isConstant, !right.isList, left.quantifier == nil || left.quantifier == .any,
            let p = left as? PathExpression,
            p.hops.isEmpty
        {
            p.showsNullLinks = true
        }
        let other = l.isLink ? r : l
        guard other.isLink || other == .null || other == .mixed else {
            throw mismatch("Unsupported comparison between type '\(l.name)' and type '\(r.name)'")
        }
        let constant = right as? ConstantExpression
        if let constant, !constant.isList, constant.values.first?.isNull ?? false, Self.isLinkCollection(left) {
            throw .query("Cannot compare linklist ('\(left.text(QueryPrinter(group)))') with NULL")
        }
        if let c = left as? ConstantExpression, !c.isList, c.values.first?.isNull ?? false, Self.isLinkCollection(right)
        {
            throw .query("Cannot compare linklist with NULL")
        }
        // Equality of a list of links with constants asks for any of them; IN compares the whole lists.
        if op != .in, let constant, constant.isList, constant.quantifier == nil, left.isList, left.quantifier == nil {
            return try CompareCondition(
                op, folding: [], left,
                ConstantExpression(list: constant.values, constant.type, .any, arena, isImplied: true))
        }
        return try CompareCondition(op, folding: [], left, right)
    }

    /// The faster condition for a property of the class itself against constants; nil where there is none.
    private static func direct(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression
    ) throws(RealmError) -> Condition? {
        guard !folding.contains(.accents), let column = left.directColumn, let constant = right as? ConstantExpression,
            let path = left as? PathExpression
        else { return nil }
        let l = left.type, r = right.type
        if constant.isList {
            guard op == .equal || op == .in, !constant.values.isEmpty, l != .mixed,
                constant.quantifier == nil || constant.quantifier == .any
            else {
                return nil
            }
            return InCondition(path, column, constant)
        }
        return l == .mixed || r == l || r == .null
            ? try DirectCondition(path, column, op, folding: !folding.isEmpty, constant) : nil
    }

    static func isValueCollection(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, !p.type.isLink else { return e is ArithmeticExpression && e.isList }
        switch p.tail {
        case .collection: return true
        default: return false
        }
    }

    /// An element somewhere in a Mixed property: one value, although it may be missing.
    static func isStepOfMixed(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, case .mixed(_, let steps, false) = p.tail, !p.hasManyHops else {
            return false
        }
        return !steps.contains(.all) && p.quantifier == nil
    }

    /// An element of a list, or the value of a key, of links.
    static func isElement(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, case .collection(_, _, let steps) = p.tail else { return false }
        return !(steps.isEmpty || steps == [.all])
    }

    static func isLinkCollection(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression else { return false }
        switch p.tail {
        case .collection(_, _, let steps): return steps.isEmpty || steps == [.all]
        case .object: return true
        case .value: return p.type.isLink && p.hasManyHops
        default: return false
        }
    }

    mutating func between(_ e: ExpressionSyntax, _ bounds: [ConstantSyntax], _ quantifier: Quantifier?, _ t: Table)
        throws(RealmError) -> Condition
    {
        guard bounds.count == 2 else { throw .query("Operator 'BETWEEN' requires list with 2 elements.") }
        guard !Self.isConstant(e) else { throw .query("Cannot compare two constants") }
        let left = try expression(e, t)
        if let p = left as? PathExpression, case .collection = p.tail, left.isList, !left.type.isLink,
            left.quantifier != .all
        {
            throw .query("A list of values needs ALL before BETWEEN")
        }
        var parts: [Condition] = []
        var texts: [ConstantExpression] = []
        for (i, b) in bounds.enumerated() {
            var isArgument = false
            if case .argument(let n) = b {
                isArgument = true
                if case .list = try argument(n) { throw .queryArgument("A list argument cannot be a bound of BETWEEN") }
            }
            let c = try constant(.constant(b, nil), hint: left, .greaterEqual)
            if let c = c as? ConstantExpression { texts.append(c) }
            parts.append(try compare(i == 0 ? .greaterEqual : .lessEqual, [], left, c, isArgument: isArgument))
        }
        if names.reachFurther, left.quantifier == nil || left.quantifier == .any, let p = left as? PathExpression,
            p.hasManyHops, texts.count == 2
        {
            return SpanCondition(p, texts[0], texts[1])
        }
        let isShort = left.directColumn != nil && (left.type == .int || left.type == .timestamp)
        return BetweenCondition(parts[0], parts[1]) { p in
            if isShort { return "\(left.text(p)) between {\(texts.map { $0.text(p) }.joined(separator: ", "))}" }
            return p.captured { $0.and(parts) }
        }
    }

    mutating func text(_ l: ExpressionSyntax, _ r: ExpressionSyntax, _ t: Table) throws(RealmError) -> Condition {
        guard !Self.isConstant(l) else { throw .query("Invalid predicate: full-text search needs a property") }
        let left = try expression(l, t)
        guard let path = left as? PathExpression, case .value(let column) = path.tail, path.type == .string,
            let table = try group.table(path.end)
        else {
            if let p = left as? PathExpression, case .mixed(_, let steps, false) = p.tail, steps.isEmpty {
                throw RealmError(.illegalOperation, "Column has no fulltext index")
            }
            throw .query("Full-text search needs a string property")
        }
        guard let facts = table.facts(column), facts.isFullTextIndexed else {
            throw RealmError(.illegalOperation, "Column has no fulltext index")
        }
        guard Self.isConstant(r), case .constant(let c, _) = r else {
            throw .query("Full-text search needs a constant text")
        }
        let (value, type) = try self.value(c, hint: .string)
        guard case .string(let words) = value, type == .string else { throw .query("Full-text search needs a text") }
        return TextCondition(path, column, words, arena)
    }
}
