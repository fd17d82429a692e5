/// An operand of AND or OR: one condition, or the first few of several parts under one operator.
private enum Operand {
    case one(Condition)
    case several([Condition], Int)
}

/// Prints conditions as text that parses to the same query. Rules: query-language §15, except where Realm's own text
/// would not find the same rows again.
final class QueryPrinter {
    private let group: Group

    /// The prefix of paths inside a subquery, such as `$x.`; empty outside.
    private(set) var prefix = ""

    /// The text written so far. Nested conditions append to it, so that their texts are not copied at each level.
    var out = ""
    private var depth = 0
    private var insideNot = 0

    init(_ group: Group) { self.group = group }

    /// A name as the language writes it.
    static func name(_ name: Name) -> String { Lexer.spelled(name) }

    /// The text that `body` writes, separate from `out`.
    func captured(_ body: (QueryPrinter) -> Void) -> String {
        var text = ""
        swap(&text, &out)
        body(self)
        swap(&text, &out)
        return text
    }

    /// Calls `body` with the variable of a new subquery.
    func inSubquery(_ body: (String) -> Void) {
        let letters = Array("xyzabcdefghijklmnopqrstuvw")
        let variable =
            "$" + String(letters[depth % letters.count]) + (depth >= letters.count ? String(depth / letters.count) : "")
        let outer = prefix
        prefix = variable + "."
        depth += 1
        insideNot += 1
        defer {
            prefix = outer
            depth -= 1
            insideNot -= 1
        }
        body(variable)
    }

    // MARK: Logic

    /// Flattens nested operators of the same kind. An operand of the same kind is removed and its two operands are
    /// appended at the end.
    private func flattened<C: Condition>(_ parts: [Condition], _ same: C.Type, _ inner: (C) -> [Condition])
        -> [Condition]
    {
        // a AND b AND c parses as (a AND b) AND c, so the first `count` parts are one operand.
        func operand(_ parts: [Condition], _ count: Int) -> Operand {
            if count > 1 { return .several(parts, count) }
            guard let first = parts.first else { return .one(ConstantCondition(true)) }
            return single(first)
        }
        func single(_ condition: Condition) -> Operand {
            if let same = condition as? C, inner(same).count > 1 { return .several(inner(same), inner(same).count) }
            return .one(condition)
        }
        guard let last = parts.last, parts.count > 1 else { return parts }
        var queue = [operand(parts, parts.count - 1), single(last)]
        var leaves: [Condition] = []
        var next = 0
        while next < queue.count {
            switch queue[next] {
            case .one(let condition): leaves.append(condition)
            case .several(let operands, let count):
                queue.append(operand(operands, count - 1))
                queue.append(single(operands[count - 1]))
            }
            next += 1
        }
        return leaves
    }

    func and(_ parts: [Condition]) {
        let all = insideNot > 0 ? parts : flattened(parts, AndCondition.self) { $0.parts }
        for (i, part) in all.enumerated() {
            if i > 0 { out += " and " }
            part.write(self)
        }
    }

    func or(_ parts: [Condition]) {
        // Inside NOT, print the brackets as parsed: left-associative.
        let all = insideNot > 0 ? parts : flattened(parts, OrCondition.self) { $0.parts }
        out += String(repeating: "(", count: insideNot > 0 ? max(0, all.count - 1) : 1)
        for (i, part) in all.enumerated() {
            if i > 0 { out += " or " }
            part.write(self)
            if i > 0, insideNot > 0 { out += ")" }
        }
        if insideNot == 0 { out += ")" }
    }

    func not(_ part: Condition) {
        insideNot += 1
        defer { insideNot -= 1 }
        out += "!("
        part.write(self)
        out += ")"
    }

    // MARK: Comparisons

    func compare(_ comparison: CompareCondition) {
        var op = comparison.op
        // For two lists of links, == matches any element and IN compares whole lists. Everywhere else IN means ==, and
        // == is printed.
        if op == .in,
            !(comparison.left.isList && comparison.right.isList && comparison.left.type.isLink
                && comparison.left.quantifier == nil)
        {
            op = .equal
        }
        // Against a Mixed property, a list of one element means the same as the element.
        if let list = comparison.right as? ConstantExpression, list.isList, list.values.count == 1,
            list.quantifier == nil || list.quantifier == .any,
            !op.isString, comparison.folding.isEmpty,
            comparison.left.type == .mixed, comparison.left.directColumn != nil
        {
            comparison.left.write(self)
            out +=
                " \(op.rawValue) \(list.values[0].isNull ? "null" : constant(list.values[0], .mixed))\(single(list.values[0]))"
            return
        }
        // ANY is not printed here: a list of links compares by any element without it.
        if comparison.left.quantifier == .any, comparison.left.type.isLink, comparison.right.isConstant,
            !comparison.right.isList,
            let path = comparison.left as? PathExpression, path.hops.isEmpty
        {
            out.append(contentsOf: path.text(self).dropFirst("ANY ".count))
        } else {
            comparison.left.write(self)
        }
        out += " \(op.rawValue)\(comparison.folding.mark) "
        comparison.right.write(self)
        out += single(comparison.right, against: comparison.left)
    }

    /// The suffix of a single-precision constant, when its digits read as a double would give another number.
    private func single(_ expression: Expression, against other: Expression) -> String {
        guard let constant = expression as? ConstantExpression, !constant.isList, other.type != .float else {
            return ""
        }
        return constant.values.first.map(single) ?? ""
    }

    private func single(_ value: Mixed) -> String {
        guard case .float(let number) = value, number.isFinite else { return "" }
        return Double(CNumbers.general(Double(number), digits: 9)) == Double(number) ? "" : "f"
    }

    /// The suffix of a single-precision constant in arithmetic, where a double operand would make the result a double.
    func single(_ expression: Expression, with other: Expression) -> String {
        guard let constant = expression as? ConstantExpression, !constant.isList,
            case .float(let number)? = constant.values.first, number.isFinite,
            other.type != .float
        else { return "" }
        return "f"
    }

    /// `['k']`, or `["k"]` when the key contains a single quote.
    static func key(_ key: [UInt8]) -> String {
        let text = String(decoding: key, as: UTF8.self)
        return text.utf8.contains(UInt8(ascii: "'")) ? "[\"\(text)\"]" : "['\(text)']"
    }

    /// The path of a whole collection without its `[*]`.
    static func whole(_ text: String) -> String { text.hasSuffix("[*]") ? String(text.dropLast(3)) : text }

    /// A comparison of a property of the queried class with a constant.
    func direct(_ path: PathExpression, _ op: CompareOperator, _ folds: Bool, _ right: ConstantExpression) -> String {
        let source = path.text(self)
        if path.type == .int, case .int(let value)? = right.values.first {
            switch op {
            case .greaterEqual: return value == .min ? "TRUEPREDICATE" : "\(source) > \(value - 1)"
            case .lessEqual: return value == .max ? "TRUEPREDICATE" : "\(source) < \(value + 1)"
            default: break
            }
        }
        // Print a whole number as a floating-point constant: in a comparison with an integer, NaN counts as less.
        if path.type == .float || path.type == .double, op == .less || op == .lessEqual, let value = right.values.first
        {
            let text = constant(value, right.type)
            if text.allSatisfy({ $0.isNumber || $0 == "-" }) { return "\(source) \(op.rawValue) \(text).0" }
        }
        return
            "\(source) \(op.rawValue)\(folds ? "[c]" : "") \(path.type == .mixed && right.values.first?.isNull ?? false ? "null" : right.text(self))"
    }

    /// A property of the queried class that equals one of several constants.
    func membership(_ path: PathExpression, _ column: ColKey, _ list: ConstantExpression, _ values: [Mixed]) -> String {
        let source = path.text(self)
        // Drop NULL when the property is not nullable, unless the list has only NULLs. Strings, UUIDs and object ids
        // keep it in any case.
        let isNullable = (try? group.table(path.end))??.facts(column)?.isNullable ?? true
        let isKept =
            isNullable || path.type == .string || path.type == .uuid || path.type == .objectId
            || values.allSatisfy(\.isNull)
        let kept = isKept ? values : values.filter { !$0.isNull }
        switch path.type {
        case .int, .string, .uuid, .objectId:
            var seen = Set<Name>()
            let unique = kept.map { constant($0, path.type) }.filter { seen.insert(Name($0)).inserted }
            return "\(source) IN {\(unique.joined(separator: ", "))}"
        default:
            let parts = kept.map { "\(source) == \(constant($0, path.type))" }
            if parts.isEmpty { return "FALSEPREDICATE" }
            return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: " or ") + ")"
        }
    }

    // MARK: Constants

    func constant(_ value: Mixed, _ type: ValueType) -> String {
        if type == .typeName, case .int(let bits) = value {
            return "\"\(TypeNames(rawValue: UInt32(truncatingIfNeeded: bits)).text)\""
        }
        switch value {
        case .typedLink(let tableKey, let key):
            // A null link prints as the largest key, which no object has.
            if key.raw < 0 { return "O9223372036854775807" }
            guard let table = try? group.table(tableKey) else { return "O\(key.raw)" }
            guard let column = table.primaryKey, let keyValue = try? table.peek(key, column) else {
                return "L\(tableKey.raw):\(key.raw)"
            }
            return "obj(\"\(table.name)\",\(constant(keyValue, .mixed)))"
        default: return ConstantText.of(value)
        }
    }
}
