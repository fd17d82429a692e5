/// The part of an application's schema that queries use: other names for stored properties.
package struct QueryNames {
    package enum Alias {
        case property(Name)
        /// Linking objects: `@links.Class.property`.
        case links(className: Name, property: Name)
    }

    package var aliases: [TableKey: [Name: Alias]] = [:]

    /// Allows what Realm's Swift API supports beyond its query language: for example subqueries over sets, dictionaries
    /// and to-one links, and `@min` and `@max` of dates.
    package var reachFurther = false

    package init() {}
}

/// Binds a syntax tree: turns it into conditions and resolves names, types and arguments. Rules: query-language §4–§12.
struct Binder {
    let group: Group
    let names: QueryNames
    let arguments: [QueryArgument]
    let arena: ConstantArena

    /// Variables of the enclosing subqueries, the innermost last.
    var variables: [(name: Name, table: TableKey)] = []

    /// The number of computed properties that were replaced by their expressions so far, and the number of those whose
    /// expression is being bound now.
    var computedUses = 0
    var computedLevel = 0

    /// The columns of a grouping, in HAVING and in the orderings after it; nil elsewhere.
    var columns: [(name: Name, values: GroupColumn)]?

    /// Whether the division of an integer by zero, and a literal that is too large for an integer, are errors.
    var isStrict = false

    init(_ group: Group, _ names: QueryNames, _ arguments: [QueryArgument], _ arena: ConstantArena) {
        self.group = group
        self.names = names
        self.arguments = arguments
        self.arena = arena
    }

    mutating func condition(_ predicate: PredicateSyntax, _ table: Table) throws(RealmError) -> Condition {
        switch predicate {
        case .constant(let value): return ConstantCondition(value)
        case .and(let parts):
            var all: [Condition] = []
            for part in parts { all.append(try condition(part, table)) }
            return AndCondition(all)
        case .or(let parts):
            var all: [Condition] = []
            for part in parts { all.append(try condition(part, table)) }
            return OrCondition(all)
        case .not(let part): return NotCondition(try condition(part, table))
        case .geoWithin(let operand, let shape): return try geoWithin(operand, shape, table)
        case .compare(let op, let folding, let left, let right): return try compare(op, folding, left, right, table)
        case .between(let operand, let bounds, let quantifier): return try between(operand, bounds, quantifier, table)
        }
    }

    static func isConstant(_ syntax: ExpressionSyntax) -> Bool {
        switch syntax {
        case .constant, .list: true
        case .arithmetic(_, let left, let right): isConstant(left) && isConstant(right)
        default: false
        }
    }

    mutating func compare(
        _ op: CompareOperator, _ folding: Folding, _ leftSyntax: ExpressionSyntax, _ rightSyntax: ExpressionSyntax,
        _ table: Table
    ) throws(RealmError) -> Condition {
        if Self.isConstant(leftSyntax) && Self.isConstant(rightSyntax) { throw .query("Cannot compare two constants") }
        if op == .text { return try text(leftSyntax, rightSyntax, table) }
        if op.isString, !op.folds.isSuperset(of: folding) {
            throw .query("Operator '\(op.rawValue)' not supported with diacritic-insensitive modifier.")
        }
        let (left, right) = try sides(leftSyntax, rightSyntax, op, table)
        return try compare(
            op, folding, left, right, isArgument: Self.isArgument(leftSyntax) || Self.isArgument(rightSyntax))
    }

    /// Binds both sides of an operator. A constant takes its type from the other side. At most one side is a constant.
    mutating func sides(
        _ leftSyntax: ExpressionSyntax, _ rightSyntax: ExpressionSyntax, _ op: CompareOperator?, _ table: Table
    ) throws(RealmError) -> (left: Expression, right: Expression) {
        if Self.isConstant(leftSyntax) {
            let right = try expression(rightSyntax, table)
            return (try constant(leftSyntax, hint: right, op), right)
        }
        let left = try expression(leftSyntax, table)
        return (
            left,
            Self.isConstant(rightSyntax)
                ? try constant(rightSyntax, hint: left, op) : try expression(rightSyntax, table)
        )
    }

    static func isArgument(_ syntax: ExpressionSyntax) -> Bool {
        if case .constant(let constant, _) = syntax { return isArgument(constant) }
        return false
    }

    func compare(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression, isArgument: Bool
    ) throws(RealmError) -> Condition {
        let leftType = left.type, rightType = right.type
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
        if leftType == .typeName || rightType == .typeName {
            guard leftType == rightType else {
                throw .queryArgument("Unsupported comparison operator \(op.rawValue) against type '@type' and a value")
            }
            guard op == .equal || op == .notEqual || op == .in else {
                throw .query("Unsupported comparison operator '\(op.rawValue)' against type '@type'")
            }
            return try CompareCondition(op, folding: [], left, right)
        }
        if names.reachFurther, let rule = op.stringRule, rule.search != .wildcards, Self.isNothing(right) {
            return ConstantCondition(false)
        }
        if op.isString || !folding.isEmpty, !Self.isText(op, left, right),
            op.isString || !Self.isAgainstConstant(left, right)
        {
            let what =
                "Unsupported comparison operator '\(op.rawValue)\(folding.mark)' against type '\(rightType.name)', "
                + "right side must be a string or binary type"
            throw rightType == .null || !op.isString ? .query(what) : mismatch(what)
        }
        if leftType.isLink || rightType.isLink { return try compareLinks(op, folding, left, right, mismatch) }
        if !op.isString, !ValueType.comparable(leftType, rightType) {
            if let list = (left.isConstant ? left : right) as? ConstantExpression, list.isList {
            } else {
                throw mismatch(
                    isArgument
                        ? "Cannot compare argument with type '\(rightType.name)' to type '\(leftType.name)'"
                        : "Unsupported comparison between type '\(leftType.name)' and type '\(rightType.name)'")
            }
        }
        // A direct condition on a list of constants does not fold.
        let isFoldedList = (names.reachFurther || !folding.isSimple) && !folding.isEmpty && right.isList
        if !isFoldedList, let direct = try Self.direct(op, folding, left, right) { return direct }
        return try CompareCondition(op, folding: folding, left, right)
    }

    /// Whether the pattern is NULL or an empty text: Foundation finds neither in any text.
    private static func isNothing(_ expression: Expression) -> Bool {
        guard let constant = expression as? ConstantExpression, !constant.isList else { return false }
        switch constant.values.first {
        case .string(let bytes)?, .binary(let bytes)?: return bytes.isEmpty
        case .null?: return true
        default: return false
        }
    }

    /// Whether the right side is text or bytes, as far as binding can know. String operators and [c] need that.
    private static func isText(_ op: CompareOperator, _ left: Expression, _ right: Expression) -> Bool {
        let leftType = left.type, constant = right as? ConstantExpression
        switch right.type {
        case .string, .binary: return true
        case .mixed where !(right.isList && right.isConstant) || leftType.isLink: return true
        // A list of constants compared with Mixed: one text or binary element is enough.
        case .mixed where leftType == .mixed:
            return constant?.values.contains { ValueType($0) == .string || ValueType($0) == .binary } ?? false
        case .null:
            return op.isString
                ? leftType != .mixed
                : leftType == .string || leftType == .binary || leftType == .mixed || leftType.isLink
        default:
            return right.isList
                && (constant?.values.allSatisfy { ValueType($0) == .string || ValueType($0) == .binary || $0.isNull }
                    ?? false)
        }
    }

    /// Whether a property of the queried class is compared with one constant of its type (Mixed: of any type).
    private static func isAgainstConstant(_ left: Expression, _ right: Expression) -> Bool {
        guard left.directColumn != nil, let constant = right as? ConstantExpression else { return false }
        return !constant.isList && (left.type == .mixed || right.type == left.type)
    }

    private func compareLinks(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression,
        _ mismatch: (String) -> RealmError
    ) throws(RealmError) -> Condition {
        let leftType = left.type, rightType = right.type
        guard op == .equal || op == .notEqual || op == .in else {
            if op.isString { return try CompareCondition(op, folding: folding, left, right) }
            throw .query(
                "Unsupported operator \(op.rawValue) in query. Only equal (==) and not equal (!=) are supported for this type."
            )
        }
        if op == .notEqual, right.isConstant, !right.isList, left.quantifier == nil || left.quantifier == .any,
            let path = left as? PathExpression,
            path.hops.isEmpty
        {
            path.showsNullLinks = true
        }
        let other = leftType.isLink ? rightType : leftType
        guard other.isLink || other == .null || other == .mixed else {
            throw mismatch("Unsupported comparison between type '\(leftType.name)' and type '\(rightType.name)'")
        }
        let constant = right as? ConstantExpression
        if let constant, !constant.isList, constant.values.first?.isNull ?? false, Self.isLinkCollection(left) {
            throw .query("Cannot compare linklist ('\(left.text(QueryPrinter(group)))') with NULL")
        }
        if let leftConstant = left as? ConstantExpression, !leftConstant.isList,
            leftConstant.values.first?.isNull ?? false, Self.isLinkCollection(right)
        {
            throw .query("Cannot compare linklist with NULL")
        }
        // `==` and `!=` between a list of links and constants mean ANY; IN compares the whole lists.
        if op != .in, let constant, constant.isList, constant.quantifier == nil, left.isList, left.quantifier == nil {
            return try CompareCondition(
                op, folding: [], left,
                ConstantExpression(list: constant.values, constant.type, .any, arena, isImplied: true))
        }
        return try CompareCondition(op, folding: [], left, right)
    }

    /// The faster condition for a property of the queried class and constants; nil if there is none.
    private static func direct(
        _ op: CompareOperator, _ folding: Folding, _ left: Expression, _ right: Expression
    ) throws(RealmError) -> Condition? {
        guard folding.isSimple, let column = left.directColumn, let constant = right as? ConstantExpression,
            let path = left as? PathExpression
        else { return nil }
        let leftType = left.type, rightType = right.type
        if constant.isList {
            guard op == .equal || op == .in, !constant.values.isEmpty, leftType != .mixed,
                constant.quantifier == nil || constant.quantifier == .any
            else {
                return nil
            }
            return InCondition(path, column, constant)
        }
        return leftType == .mixed || rightType == leftType || rightType == .null
            ? try DirectCondition(path, column, op, folding: !folding.isEmpty, constant) : nil
    }

    static func isValueCollection(_ expression: Expression) -> Bool {
        guard let path = expression as? PathExpression, !path.type.isLink else {
            return expression is ArithmeticExpression && expression.isList
        }
        switch path.tail {
        case .collection: return true
        default: return false
        }
    }

    /// Whether the path leads to one value in a Mixed property. It counts as a single value, although it can be
    /// missing.
    static func isStepOfMixed(_ expression: Expression) -> Bool {
        guard let path = expression as? PathExpression, case .mixed(_, let steps, false) = path.tail, !path.hasManyHops
        else {
            return false
        }
        return !steps.contains(.all) && path.quantifier == nil
    }

    /// Whether the path ends in an element of a list of links, or in the value of a key in a dictionary of links.
    static func isElement(_ expression: Expression) -> Bool {
        guard let path = expression as? PathExpression, case .collection(_, _, let steps) = path.tail else {
            return false
        }
        return !(steps.isEmpty || steps == [.all])
    }

    static func isLinkCollection(_ expression: Expression) -> Bool {
        guard let path = expression as? PathExpression else { return false }
        switch path.tail {
        case .collection(_, _, let steps): return steps.isEmpty || steps == [.all]
        case .object: return true
        case .value: return path.type.isLink && path.hasManyHops
        default: return false
        }
    }

    mutating func between(
        _ syntax: ExpressionSyntax, _ bounds: [ConstantSyntax], _ quantifier: Quantifier?, _ table: Table
    )
        throws(RealmError) -> Condition
    {
        guard bounds.count == 2 else { throw .query("Operator 'BETWEEN' requires list with 2 elements.") }
        guard !Self.isConstant(syntax) else { throw .query("Cannot compare two constants") }
        let left = try expression(syntax, table)
        if let path = left as? PathExpression, case .collection = path.tail, left.isList, !left.type.isLink,
            left.quantifier != .all
        {
            throw .query("A list of values needs ALL before BETWEEN")
        }
        var parts: [Condition] = []
        var texts: [ConstantExpression] = []
        for (position, written) in bounds.enumerated() {
            if try isList(written) { throw .queryArgument("A list argument cannot be a bound of BETWEEN") }
            let isArgument = Self.isArgument(written)
            let bound = try constant(.constant(written, nil), hint: left, .greaterEqual)
            if let bound = bound as? ConstantExpression { texts.append(bound) }
            parts.append(
                try compare(position == 0 ? .greaterEqual : .lessEqual, [], left, bound, isArgument: isArgument))
        }
        if names.reachFurther, left.quantifier == nil || left.quantifier == .any, let path = left as? PathExpression,
            path.hasManyHops, texts.count == 2
        {
            return SpanCondition(path, texts[0], texts[1])
        }
        let isShort = left.directColumn != nil && (left.type == .int || left.type == .timestamp)
        return BetweenCondition(parts[0], parts[1]) { printer in
            if isShort {
                return "\(left.text(printer)) between {\(texts.map { $0.text(printer) }.joined(separator: ", "))}"
            }
            return printer.captured { $0.and(parts) }
        }
    }

    mutating func text(_ leftSyntax: ExpressionSyntax, _ rightSyntax: ExpressionSyntax, _ table: Table)
        throws(RealmError) -> Condition
    {
        guard !Self.isConstant(leftSyntax) else { throw .query("Invalid predicate: full-text search needs a property") }
        let left = try expression(leftSyntax, table)
        guard let path = left as? PathExpression, case .value(let column) = path.tail, path.type == .string,
            let endTable = try group.table(path.end)
        else {
            if let path = left as? PathExpression, case .mixed(_, let steps, false) = path.tail, steps.isEmpty {
                throw RealmError(.illegalOperation, "Column has no fulltext index")
            }
            throw .query("Full-text search needs a string property")
        }
        guard let facts = endTable.facts(column), facts.isFullTextIndexed else {
            throw RealmError(.illegalOperation, "Column has no fulltext index")
        }
        guard Self.isConstant(rightSyntax), case .constant(let written, _) = rightSyntax else {
            throw .query("Full-text search needs a constant text")
        }
        let (value, type) = try self.value(written, hint: .string)
        guard case .string(let words) = value, type == .string else { throw .query("Full-text search needs a text") }
        return TextCondition(path, column, words, arena)
    }
}
