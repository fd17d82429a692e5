/// What a query may know of the application's schema: other names for stored properties.
package struct QueryNames {
    package enum Alias {
        case property(String)
        /// Linking objects: `@links.Class.property`.
        case links(className: String, property: String)
    }
    package var aliases: [TableKey: [String: Alias]] = [:]
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
    private var variables: [(name: String, table: TableKey)] = []

    init(_ group: Group, _ names: QueryNames, _ arguments: [QueryArgument], _ arena: ConstantArena) {
        self.group = group
        self.names = names
        self.arguments = arguments
        self.arena = arena
    }

    // MARK: Predicates

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
        case .geoWithin(let e, let argument): return try geoWithin(e, argument, t)
        case .compare(let op, let fold, let l, let r): return try compare(op, fold, l, r, t)
        case .between(let e, let bounds, let quantifier): return try between(e, bounds, quantifier, t)
        }
    }

    private static func isConstant(_ e: ExpressionSyntax) -> Bool {
        switch e {
        case .constant, .list: true
        case .arithmetic(_, let a, let b): isConstant(a) && isConstant(b)
        default: false
        }
    }

    private mutating func compare(_ op: CompareOperator, _ fold: Bool, _ l: ExpressionSyntax, _ r: ExpressionSyntax, _ t: Table) throws(RealmError) -> Condition {
        if Self.isConstant(l) && Self.isConstant(r) { throw .query("Cannot compare two constants") }
        if op == .text { return try text(l, r, t) }
        let left: Expression, right: Expression
        if Self.isConstant(l) {
            right = try expression(r, t)
            left = try constant(l, hint: right, op)
        } else {
            left = try expression(l, t)
            right = Self.isConstant(r) ? try constant(r, hint: left, op) : try expression(r, t)
        }
        return try compare(op, fold, left, right, isArgument: Self.isArgument(l) || Self.isArgument(r))
    }
    /// Only tells what is wrong with the query.
    private mutating func geoWithin(_ e: ExpressionSyntax, _ n: Int?, _ t: Table) throws(RealmError) -> Condition {
        guard !Self.isConstant(e), try expression(e, t).type.isLink else { throw .query("GEOWITHIN needs a link to an embedded object") }
        if let n {
            guard case .value(.string) = try argument(n) else { throw .query("The argument of GEOWITHIN is no geospatial value") }
        }
        throw RealmError(.notSupported, "Geospatial queries are not supported")
    }
    private static func isArgument(_ e: ExpressionSyntax) -> Bool {
        if case .constant(.argument, _) = e { return true }
        return false
    }

    private func compare(_ op: CompareOperator, _ fold: Bool, _ left: Expression, _ right: Expression, isArgument: Bool) throws(RealmError) -> Condition {
        let l = left.type, r = right.type
        func mismatch(_ what: String) -> RealmError { isArgument ? .queryArgument(what) : .query(what) }
        if left.isConstant && right.isConstant { throw .query("Unsupported comparison between two constants") }
        for side in [left, right] where side.quantifier != nil && !side.isList { throw .query("The keypath after '\(side.quantifier?.rawValue ?? "")' must contain a list") }
        if op == .in, !right.isList || Self.isStepOfMixed(right) { throw .queryArgument("The keypath following 'IN' must contain a list") }
        if Self.isValueCollection(left) && Self.isValueCollection(right) { throw .query("Ordered comparison between two primitive lists is not implemented yet") }
        if l == .typeName || r == .typeName {
            guard l == r else { throw .queryArgument("Unsupported comparison operator \(op.rawValue) against type '@type' and a value") }
            guard op == .equal || op == .notEqual || op == .in else { throw .query("Unsupported comparison operator '\(op.rawValue)' against type '@type'") }
            return CompareCondition(op, folding: false, left, right)
        }
        let direct = left.directColumn
        let constant = right as? ConstantExpression
        if op.isString || fold {
            let isText: Bool
            switch r {
            case .string, .binary, .mixed: isText = true
            case .null: isText = op.isString ? l != .mixed : l == .string || l == .binary || l == .mixed || l.isLink
            default: isText = right.isList && (constant?.values.allSatisfy { ValueType($0) == .string || ValueType($0) == .binary || $0.isNull } ?? false)
            }
            let isDirect = direct != nil && constant.map { !$0.isList && (l == .mixed || r == l) } ?? false
            if !isText && !(isDirect && !op.isString) {
                if r == .null || !op.isString { throw .query("Unsupported comparison operator '\(op.rawValue)\(fold ? "[c]" : "")' against type '\(r.name)', right side must be a string or binary type") }
                throw mismatch("Unsupported comparison operator '\(op.rawValue)\(fold ? "[c]" : "")' against type '\(r.name)', right side must be a string or binary type")
            }
        }
        if l.isLink || r.isLink {
            guard op == .equal || op == .notEqual || op == .in else {
                if op.isString { return CompareCondition(op, folding: fold, left, right) }
                throw .query("Unsupported operator \(op.rawValue) in query. Only equal (==) and not equal (!=) are supported for this type.")
            }
            for (side, other) in [(left, right), (right, left)] where other.isConstant {
                guard op == .notEqual, !other.isList, side.quantifier == nil || side.quantifier == .any else { continue }
                if let p = side as? PathExpression, p.hops.isEmpty { p.showsNullLinks = true }
            }
            let other = l.isLink ? r : l
            guard other.isLink || other == .null || other == .mixed else { throw mismatch("Unsupported comparison between type '\(l.name)' and type '\(r.name)'") }
            if let constant, !constant.isList, constant.values.first?.isNull ?? false, Self.isLinkCollection(left) { throw .query("Cannot compare linklist ('\(left.text(QueryPrinter(group)))') with NULL") }
            if let c = left as? ConstantExpression, !c.isList, c.values.first?.isNull ?? false, Self.isLinkCollection(right) { throw .query("Cannot compare linklist with NULL") }
            // Equality of a list of links with constants asks for any of them; IN compares the whole lists.
            if op != .in, let constant, constant.isList, constant.quantifier == nil, left.isList, left.quantifier == nil {
                return CompareCondition(op, folding: false, left, ConstantExpression(list: constant.values, constant.type, .any, arena, isImplied: true))
            }
            return CompareCondition(op, folding: false, left, right)
        }
        if !op.isString, !ValueType.comparable(l, r) {
            if let constant, constant.isList, direct != nil, op == .equal || op == .in {} else {
                throw mismatch(
                    isArgument ? "Cannot compare argument with type '\(r.name)' to type '\(l.name)'" : "Unsupported comparison between type '\(l.name)' and type '\(r.name)'")
            }
        }
        if let direct, let constant, let path = left as? PathExpression {
            if constant.isList {
                if op == .equal || op == .in, !constant.values.isEmpty, l != .mixed, constant.quantifier == nil || constant.quantifier == .any {
                    return InCondition(path, direct, constant)
                }
            } else if l == .mixed || r == l || r == .null {
                return DirectCondition(path, direct, op, folding: fold, constant)
            }
        }
        return CompareCondition(op, folding: fold, left, right)
    }
    private static func isValueCollection(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, !p.type.isLink else { return e is ArithmeticExpression && e.isList }
        switch p.tail {
        case .collection: return true
        case .keys, .lengths: return true
        default: return false
        }
    }
    /// An element somewhere in a Mixed property: one value, although it may be missing.
    private static func isStepOfMixed(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, case .mixed(_, let steps, false) = p.tail, !p.hasManyHops else { return false }
        return !steps.contains(.all) && p.quantifier == nil
    }
    /// An element of a list, or the value of a key, of links.
    private static func isElement(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression, case .collection(_, _, let steps) = p.tail else { return false }
        return !(steps.isEmpty || steps == [.all])
    }
    private static func isLinkCollection(_ e: Expression) -> Bool {
        guard let p = e as? PathExpression else { return false }
        switch p.tail {
        case .collection(_, _, let steps): return steps.isEmpty || steps == [.all]
        case .object: return true
        case .value: return p.type.isLink && p.hasManyHops
        default: return false
        }
    }

    private mutating func between(_ e: ExpressionSyntax, _ bounds: [ConstantSyntax], _ quantifier: Quantifier?, _ t: Table) throws(RealmError) -> Condition {
        guard bounds.count == 2 else { throw .query("Operator 'BETWEEN' requires list with 2 elements.") }
        guard !Self.isConstant(e) else { throw .query("Cannot compare two constants") }
        let left = try expression(e, t)
        if let p = left as? PathExpression, case .collection = p.tail, left.isList, !left.type.isLink, left.quantifier != .all {
            throw .query("A list of values needs ALL before BETWEEN")
        }
        var parts: [Condition] = []
        var texts: [ConstantExpression] = []
        for (i, b) in bounds.enumerated() {
            let c = try constant(.constant(b, nil), hint: left, .greaterEqual)
            if let c = c as? ConstantExpression { texts.append(c) }
            var isArgument = false
            if case .argument = b { isArgument = true }
            parts.append(try compare(i == 0 ? .greaterEqual : .lessEqual, false, left, c, isArgument: isArgument))
        }
        let isShort = left.directColumn != nil && (left.type == .int || left.type == .timestamp)
        return BetweenCondition(parts[0], parts[1]) { p in
            if isShort { return "\(left.text(p)) between {\(texts.map { $0.text(p) }.joined(separator: ", "))}" }
            return p.and(parts)
        }
    }

    private mutating func text(_ l: ExpressionSyntax, _ r: ExpressionSyntax, _ t: Table) throws(RealmError) -> Condition {
        guard !Self.isConstant(l) else { throw .query("Invalid predicate: full-text search needs a property") }
        let left = try expression(l, t)
        guard let path = left as? PathExpression, case .value(let column) = path.tail, path.type == .string, let table = try group.table(path.end) else {
            if let p = left as? PathExpression, case .mixed(_, let steps, false) = p.tail, steps.isEmpty {
                throw RealmError(.illegalOperation, "Column has no fulltext index")
            }
            throw .query("Full-text search needs a string property")
        }
        guard let facts = table.facts(column), facts.isFullTextIndexed else { throw RealmError(.illegalOperation, "Column has no fulltext index") }
        guard Self.isConstant(r), case .constant(let c, _) = r else { throw .query("Full-text search needs a constant text") }
        let (value, type) = try self.value(c, hint: .string)
        guard case .string(let words) = value, type == .string else { throw .query("Full-text search needs a text") }
        return TextCondition(path, column, words, arena)
    }

    // MARK: Expressions

    private mutating func expression(_ e: ExpressionSyntax, _ t: Table) throws(RealmError) -> Expression {
        switch e {
        case .constant, .list: throw .query("A constant stands where a property is needed")
        case .path(let steps, let quantifier, let end):
            switch end {
            case .value: return try path(steps, t, quantifier)
            case .size: return try size(steps, t)
            case .type:
                let p = try path(steps, t, quantifier)
                if p.type != .mixed {
                    guard !p.isList else { throw .query("Operation '@type' is not supported on a list of type '\(p.type.name)'") }
                    return ConstantExpression(Self.typeName(of: p.type).value, .typeName, arena)
                }
                return TypeExpression(p)
            }
        case .aggregate(let steps, let kind, let property): return try aggregate(steps, kind, property, t)
        case .subquery(let steps, let variable, let predicate):
            guard !variables.contains(where: { $0.name == variable }) else { throw .query("Unable to create a subquery expression with variable '\(variable)' since an identical variable already exists in this context") }
            let p = try path(steps, t, nil)
            let (hops, isList): ([Hop], Bool)
            switch p.tail {
            case .object: (hops, isList) = (p.hops, true)
            case .collection(let c, .list, let steps) where p.type.isLink && steps.isEmpty:
                guard case .link(let target) = p.type else { throw .query("A subquery needs a list of links") }
                (hops, isList) = (p.hops + [Hop(kind: .list, origin: p.end, column: c, target: target, index: nil, text: "")], true)
            default: (hops, isList) = ([], false)
            }
            guard isList, case .link(let target) = p.type, let table = try group.table(target) else {
                throw .query("A subquery can not be created on anything but a list of links")
            }
            variables.append((variable, target))
            defer { variables.removeLast() }
            let inner = try condition(predicate, table)
            let walk = PathExpression(hops: hops, tail: .object, end: target, type: p.type, isList: true, quantifier: nil, source: "")
            return SubqueryExpression(walk, target: target, inner, source: p.text(QueryPrinter(group)))
        case .arithmetic(let op, let a, let b):
            let left: Expression, right: Expression
            if Self.isConstant(a) {
                right = try expression(b, t)
                left = try constant(a, hint: right, nil)
            } else {
                left = try expression(a, t)
                right = Self.isConstant(b) ? try constant(b, hint: left, nil) : try expression(b, t)
            }
            for side in [left, right] {
                guard side.type.isNumeric || side.type == .mixed else { throw .queryArgument("Cannot perform '\(op.rawValue)' operation on '\(left.type.name)' and '\(right.type.name)'") }
            }
            if left.isList && right.isList { throw .query("Arithmetic between two lists is not supported") }
            return ArithmeticExpression(op, left, right)
        }
    }
    private static func typeName(of t: ValueType) -> TypeNames {
        switch t {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .date
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectId: .objectId
        case .uuid: .uuid
        case .link: .link
        case .mixed, .null, .typeName: .null
        }
    }

    private mutating func size(_ steps: [PathStep], _ t: Table) throws(RealmError) -> Expression {
        let p = try path(steps, t, nil, counting: true)
        func unsupported() -> RealmError { .query("Operation '@count' is not supported on property of type '\(p.type.name)'") }
        switch p.tail {
        case .allBacklinks: return SizeExpression(p, .allBacklinks, mark: ".@count")
        case .value(let c):
            switch p.type {
            case .string, .binary: return SizeExpression(p, .bytes, mark: ".@size")
            case .link(let target):
                let hop = Hop(kind: .toOne, origin: p.end, column: c, target: target, index: nil, text: "")
                let before = PathExpression(hops: p.hops, tail: .object, end: p.end, type: .link(p.end), isList: p.hasManyHops, quantifier: nil, source: "")
                return LinkCountExpression(before, last: hop, text: p.text(QueryPrinter(group)) + ".@count")
            default: throw unsupported()
            }
        case .collection(let c, let shape, let steps):
            if case .link(let target) = p.type, steps.isEmpty || steps == [.all] {
                let kind: Hop.Kind = shape == .list ? .list : (shape == .set ? .set : .dictionary)
                let hop = Hop(kind: kind, origin: p.end, column: c, target: target, index: nil, text: "")
                let before = PathExpression(hops: p.hops, tail: .object, end: p.end, type: .link(p.end), isList: p.hasManyHops, quantifier: nil, source: "")
                return LinkCountExpression(before, last: hop, text: p.text(QueryPrinter(group)) + ".@count")
            }
            return SizeExpression(p, steps.isEmpty || steps == [.all] ? .elements(c) : .mixed, mark: ".@size")
        case .mixed(_, _, false): return SizeExpression(p, .mixed, mark: ".@size")
        case .object:
            guard let last = p.hops.last else { throw unsupported() }
            let hops = Array(p.hops.dropLast())
            let before = PathExpression(
                hops: hops, tail: .object, end: last.origin, type: .link(last.origin), isList: hops.contains(where: \.isMultiple), quantifier: nil, source: "")
            return LinkCountExpression(before, last: last, text: p.text(QueryPrinter(group)) + ".@count")
        case .keys, .lengths, .mixed: throw unsupported()
        }
    }

    private mutating func aggregate(_ steps: [PathStep], _ kind: AggregateKind, _ property: String?, _ t: Table) throws(RealmError) -> Expression {
        let p = try path(steps, t, nil)
        let printer = QueryPrinter(group)
        func numeric(_ type: ValueType, dates: Bool) throws(RealmError) {
            switch type {
            case .int, .float, .double, .decimal, .mixed: return
            case .timestamp where dates && (kind == .min || kind == .max): return
            default: throw .query("collection aggregate not supported for type '\(type.name)'")
            }
        }
        guard let property else {
            guard case .collection(_, _, let steps) = p.tail, steps.isEmpty || steps == [.all], !p.type.isLink else {
                throw .query("Operation '\(kind.rawValue)' is not supported: '\(p.text(printer))' is not a list of values")
            }
            var type = p.type
            if case .collection(let c, .dictionary, _) = p.tail, let facts = try group.table(p.end)?.facts(c) { type = ValueType(elementOf: facts) }
            try numeric(type, dates: false)
            return AggregateExpression(p, kind, element: type, flattens: false, text: QueryPrinter.whole(p.text(printer)) + "." + kind.rawValue)
        }
        guard case .link(let target) = p.type, let table = try group.table(target) else { throw .query("'\(p.text(printer))' is not a list of links") }
        var hops = p.hops
        switch p.tail {
        case .value(let c): hops.append(Hop(kind: .toOne, origin: p.end, column: c, target: target, index: nil, text: ""))
        case .collection(let c, let shape, let steps) where steps.isEmpty || steps == [.all]:
            hops.append(Hop(kind: shape == .list ? .list : (shape == .set ? .set : .dictionary), origin: p.end, column: c, target: target, index: nil, text: ""))
        case .object: break
        default: throw .query("'\(p.text(printer))' is not a list of links")
        }
        let name = alias(property, table)
        guard let c = table.column(named: name), let facts = table.facts(c.key) else { throw .query("'\(table.className ?? table.name)' has no property '\(property)'") }
        guard !facts.isCollection else { throw .query("collection aggregate not supported for a collection property") }
        let type = ValueType(facts)
        try numeric(type, dates: true)
        let values = PathExpression(
            hops: hops, tail: type == .mixed ? .mixed(c.key, [], keys: false) : .value(c.key), end: target, type: type, isList: true, quantifier: nil, source: "")
        // A to-one link is a list of none or one.
        return AggregateExpression(SkippingMissing(values), kind, element: type, flattens: true, text: "\(p.text(printer)).\(kind.rawValue).\(name)")
    }
    /// Over to-one links only, a missing object gives NULL, which aggregates skip: nothing special is needed.
    private func SkippingMissing(_ p: PathExpression) -> PathExpression { p }

    // MARK: Paths

    private func alias(_ name: String, _ t: Table) -> String {
        if case .property(let stored)? = names.aliases[t.key]?[name] { return stored }
        return name
    }
    private func argument(_ n: Int) throws(RealmError) -> QueryArgument {
        guard n < arguments.count else {
            throw .queryArgument("Request for argument at index \(n) but \(arguments.isEmpty ? "no" : "only \(arguments.count)") argument\(arguments.count == 1 ? " is" : "s are") provided")
        }
        return arguments[n]
    }

    /// Follows the steps from class `start`. With `counting`, `@links` may be the last step.
    private func path(_ written: [PathStep], _ start: Table, _ quantifier: Quantifier?, counting: Bool = false) throws(RealmError) -> PathExpression {
        var steps: [PathStep] = []
        for (i, s) in written.enumerated() {
            if case .pathArgument(let n) = s {
                guard written.count == 1, i == 0 else { throw .query("Cannot mix a key path argument with other steps") }
                guard case .value(.string(let text)) = try argument(n) else { throw .queryArgument("Key path argument at index \(n) is not a string") }
                for part in String(decoding: text, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: true) {
                    switch part {
                    case "@links": steps.append(.links)
                    case "@keys": steps.append(.keys)
                    case "@values": steps.append(.values)
                    default: steps.append(.name(String(part)))
                    }
                }
                guard !steps.isEmpty else { throw .query("Empty key path") }
            } else {
                steps.append(s)
            }
        }
        if case .name(let n)? = steps.first, let v = variables.last, n == v.name {
            steps.removeFirst()
            guard !steps.isEmpty else { throw .query("The variable of a subquery cannot be compared itself") }
        }
        var t = start
        var hops: [Hop] = []
        var texts: [String] = []
        var i = 0
        func done(_ tail: PathTail, _ type: ValueType, isList: Bool) -> PathExpression {
            PathExpression(
                hops: hops, tail: tail, end: t.key, type: type, isList: isList || hops.contains(where: \.isMultiple), quantifier: quantifier,
                source: texts.joined(separator: ".").replacing(".[", with: "["))
        }
        func className(_ t: Table) -> String { t.className ?? t.name }

        while i < steps.count {
            let step = steps[i]
            i += 1
            switch step {
            case .links:
                if i == steps.count {
                    guard counting || true else { break }
                    texts.append("@links")
                    return done(.allBacklinks, .int, isList: false)
                }
                guard i + 1 < steps.count, case .name(let c) = steps[i], case .name(let p) = steps[i + 1] else {
                    throw .query("'@links' must be followed by a class and a property")
                }
                i += 2
                let hop = try backlink(c, p, t)
                hops.append(hop)
                texts.append(hop.text)
                guard let next = try group.table(hop.target) else { throw .query("No class '\(c)'") }
                t = next
                if i == steps.count { return done(.object, .link(t.key), isList: true) }
                continue
            case .name(let written):
                var name = written
                switch names.aliases[t.key]?[written] {
                case .property(let stored)?: name = stored
                case .links(let c, let p)? where t.column(named: written) == nil:
                    let hop = try backlink(c, p, t)
                    hops.append(hop)
                    texts.append(hop.text)
                    guard let next = try group.table(hop.target) else { throw .query("No class '\(c)'") }
                    t = next
                    if i == steps.count { return done(.object, .link(t.key), isList: true) }
                    continue
                default: break
                }
                guard let column = t.column(named: name), let facts = t.facts(column.key) else { throw .query("'\(className(t))' has no property '\(written)'") }
                texts.append(QueryPrinter.name(name))
                if let tail = try property(facts, steps, &i, &hops, &texts, &t) { return done(tail.0, tail.1, isList: tail.2) }
            case .key(let k) where !hops.isEmpty:
                // After a hop, ['name'] is .name.
                let name = alias(String(decoding: k, as: UTF8.self), t)
                guard let column = t.column(named: name), let facts = t.facts(column.key) else { throw .query("'\(className(t))' has no property '\(name)'") }
                texts.append(QueryPrinter.name(name))
                if let tail = try property(facts, steps, &i, &hops, &texts, &t) { return done(tail.0, tail.1, isList: tail.2) }
            case .all where !hops.isEmpty: continue
            case .keys: throw .query("'\(className(t))' has no property '@keys'")
            case .values: throw .query("'\(className(t))' has no property '@values'")
            default: throw .query("Class '\(className(t))' does not support index")
            }
        }
        throw .query("A key path must end in a property")
    }
    private func backlink(_ className: String, _ property: String, _ t: Table) throws(RealmError) -> Hop {
        guard let origin = try group.table(named: "class_" + className), !className.hasPrefix("class_") else { throw .query("No class '\(className)' in @links") }
        let name = alias(property, origin)
        guard let c = origin.column(named: name) else { throw .query("No property '\(property)' found in type '\(className)' which links to type '\(t.className ?? t.name)'") }
        guard c.type == .link || c.type == .mixed,
            let b = t.columns.first(where: { $0.isBacklink && $0.oppositeTable == origin.key && $0.oppositeColumn == c.key })
        else { throw .query("Property '\(name)' of type '\(className)' does not link to type '\(t.className ?? t.name)'") }
        return Hop(kind: .backlink, origin: t.key, column: b.key, target: origin.key, index: nil, text: "@links.\(className).\(name)")
    }

    /// One property and the steps that belong to it. nil: it was a hop, and the path goes on.
    private func property(
        _ f: ColumnFacts, _ steps: [PathStep], _ i: inout Int, _ hops: inout [Hop], _ texts: inout [String], _ t: inout Table
    ) throws(RealmError) -> (PathTail, ValueType, Bool)? {
        let type = ValueType(f)
        let owner = t
        func noIndex() -> RealmError { .query("Property '\(owner.className ?? owner.name).\(owner.column(f.key)?.name ?? "")' does not support index") }
        func index(_ s: PathStep) throws(RealmError) -> PathIndex? {
            switch s {
            case .index(let n): return .at(n)
            case .first: return .at(0)
            case .last: return .last
            case .all: return .all
            case .key(let k): return .key(k)
            case .argument(let n):
                switch try argument(n) {
                case .value(.int(let v)):
                    if v == -1 { return .last }
                    guard v >= 0 else { throw RealmError.query("Invalid index argument") }
                    return .at(Int(v))
                case .value(.string(let b)): return .key(Array(b))
                default: throw RealmError.query("Invalid index argument: an integer or a string is needed")
                }
            default: return nil
            }
        }
        func mark(_ x: PathIndex) {
            switch x {
            case .at(0): texts.append("[FIRST]")
            case .at(let n): texts.append("[\(n)]")
            case .last: texts.append("[LAST]")
            case .all: texts.append("[*]")
            case .key(let k): texts.append(QueryPrinter.key(k))
            }
        }
        func hop(_ kind: Hop.Kind, _ x: PathIndex?) throws(RealmError) {
            hops.append(Hop(kind: kind, origin: owner.key, column: f.key, target: f.oppositeTable, index: x, text: ""))
            guard let next = try group.table(f.oppositeTable) else { throw .query("Broken link") }
            t = next
        }
        /// Steps into Mixed values, to the end of the path.
        func mixedSteps() throws(RealmError) -> ([PathIndex], Bool) {
            var all: [PathIndex] = []
            while i < steps.count {
                if let x = try index(steps[i]) {
                    all.append(x)
                    mark(x)
                } else if case .name(let n) = steps[i] {
                    all.append(.key(Array(n.utf8)))
                    mark(.key(Array(n.utf8)))
                } else if case .keys = steps[i], i == steps.count - 1 {
                    texts.append("@keys")
                    i += 1
                    return (all, true)
                } else if case .values = steps[i] {
                    all.append(.key(Array("@values".utf8)))
                    mark(.key(Array("@values".utf8)))
                } else {
                    throw .query("'@links' cannot follow a Mixed value")
                }
                i += 1
            }
            return (all, false)
        }
        let last = i == steps.count

        guard let shape = f.shape else {
            if f.type == .link {
                if last { return (.value(f.key), type, false) }
                try hop(.toOne, nil)
                return nil
            }
            if f.type == .mixed {
                let (all, keys) = try mixedSteps()
                return (.mixed(f.key, all, keys: keys), keys ? .string : .mixed, keys || !all.isEmpty)
            }
            if last { return (.value(f.key), type, false) }
            if case .name(let n) = steps[i] { throw .query("Property '\(owner.column(f.key)?.name ?? "")' has no property '\(n)'") }
            throw noIndex()
        }
        if f.type == .link && shape != .dictionary {
            var x: PathIndex?
            if !last, let found = try index(steps[i]) {
                switch found {
                case .all:
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                case .key:
                    // ['name'] reads a property.
                    break
                default:
                    guard shape == .list else { throw noIndex() }
                    x = found
                    mark(found)
                    i += 1
                    guard i < steps.count else { throw .query("A property must follow an index on a list of links") }
                }
            }
            if i == steps.count { return (.collection(f.key, shape, []), type, true) }
            try hop(shape == .list ? .list : .set, x)
            return nil
        }
        switch shape {
        case .list:
            if last { return (.collection(f.key, shape, []), type, true) }
            if case .name(let n) = steps[i] {
                guard n.lowercased() == "length", i == steps.count - 1, type == .string || type == .binary || type == .mixed else {
                    throw .query("Property '\(owner.column(f.key)?.name ?? "")' has no property '\(n)'")
                }
                texts.append("length")
                i += 1
                return (.lengths(f.key), .int, true)
            }
            if type == .mixed {
                let (all, keys) = try mixedSteps()
                if keys { throw .query("'@keys' is not supported on a list") }
                if case .key? = all.first { throw noIndex() }
                return (.collection(f.key, shape, all), .mixed, true)
            }
            guard let x = try index(steps[i]) else { throw noIndex() }
            if case .key = x { throw noIndex() }
            i += 1
            guard i == steps.count else { throw noIndex() }
            if x == .all { return (.collection(f.key, shape, []), type, true) }
            mark(x)
            return (.collection(f.key, shape, [x]), type, true)
        case .set:
            guard last else { throw noIndex() }
            return (.collection(f.key, shape, []), type, true)
        case .dictionary:
            if last {
                if f.type != .link { texts.append("[*]") }
                return (.collection(f.key, shape, []), type, true)
            }
            switch steps[i] {
            case .keys:
                texts.append("@keys")
                i += 1
                if i < steps.count, try index(steps[i]) != nil { i += 1 }
                guard i == steps.count else { throw noIndex() }
                return (.keys(f.key, []), .string, true)
            case .values:
                i += 1
                if f.type != .link { texts.append("[*]") }
                if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                if f.type == .link {
                    try hop(.dictionary, nil)
                    return nil
                }
                guard type == .mixed, f.type == .mixed else { throw noIndex() }
                let (all, _) = try mixedSteps()
                return (.collection(f.key, shape, [.all] + all), .mixed, true)
            case .links:
                guard f.type == .link else { throw noIndex() }
                try hop(.dictionary, nil)
                return nil
            default: break
            }
            if f.type == .link {
                // A name that is a property of the target reads it of all values; else it is a key.
                var x: PathIndex
                if case .name(let n) = steps[i] { x = .key(Array(n.utf8)) } else {
                    guard let found = try index(steps[i]) else { throw noIndex() }
                    x = found
                }
                if case .key(let k) = x, let target = try group.table(f.oppositeTable) {
                    let n = String(decoding: k, as: UTF8.self)
                    if target.column(named: alias(n, target)) != nil || names.aliases[target.key]?[n] != nil {
                        try hop(.dictionary, nil)
                        return nil
                    }
                }
                switch x {
                case .all:
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                    try hop(.dictionary, nil)
                    return nil
                case .key:
                    mark(x)
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, [x]), type, true) }
                    try hop(.dictionary, x)
                    return nil
                default: throw noIndex()
                }
            }
            // Values of any declared type may be stepped into as Mixed only when they are.
            var all: [PathIndex] = []
            if case .name(let n) = steps[i] { all.append(.key(Array(n.utf8))) } else {
                guard let x = try index(steps[i]) else { throw noIndex() }
                switch x {
                case .key, .all: all.append(x)
                default: throw noIndex()
                }
            }
            mark(all[0])
            i += 1
            if i < steps.count {
                let (more, keys) = try mixedSteps()
                if keys { throw .query("'@keys' is not supported here") }
                all += more
            }
            return (.collection(f.key, shape, all == [.all] ? [] : all), type, true)
        }
    }

    // MARK: Constants

    /// A constant, a list of them, or arithmetic on constants, as the other side wants it.
    private func constant(_ e: ExpressionSyntax, hint: Expression, _ op: CompareOperator?) throws(RealmError) -> Expression {
        switch e {
        case .constant(.argument(let n), let quantifier):
            if case .list(let values) = try argument(n) {
                return try list(values.map { .value($0) }, quantifier, hint, op)
            }
            if let quantifier { throw .query("The argument after '\(quantifier.rawValue)' must be a list") }
            let (v, type) = try value(.argument(n), hint: hint.type)
            try check(v, type, hint, op, isArgument: true)
            return ConstantExpression(v, type, arena)
        case .constant(let c, _):
            let (v, type) = try value(c, hint: hint.type)
            try check(v, type, hint, op, isArgument: false)
            return ConstantExpression(v, type, arena)
        case .list(let elements, let quantifier): return try list(elements.map { .syntax($0) }, quantifier, hint, op)
        case .arithmetic(let op, let a, let b):
            guard let x = try constant(a, hint: hint, nil) as? ConstantExpression, let y = try constant(b, hint: hint, nil) as? ConstantExpression else {
                throw .query("Constants cannot be combined")
            }
            guard x.type.isNumeric || x.type == .mixed, y.type.isNumeric || y.type == .mixed, !x.isList, !y.isList else {
                throw .queryArgument("Cannot perform '\(op.rawValue)' operation on '\(x.type.name)' and '\(y.type.name)'")
            }
            let v = ArithmeticExpression.apply(op, x.values[0], y.values[0])
            return ConstantExpression(v, ValueType(v), arena)
        default: throw .query("A constant is needed")
        }
    }
    private enum Element {
        case syntax(ConstantSyntax)
        case value(Mixed)
    }
    private func list(_ elements: [Element], _ quantifier: Quantifier?, _ hint: Expression, _ op: CompareOperator?) throws(RealmError) -> Expression {
        var values: [Mixed] = []
        var type: ValueType?
        let isExact = hint.directColumn != nil && hint.type != .mixed && !hint.type.isLink && (op == .equal || op == .in) && (quantifier == nil || quantifier == .any)
        for e in elements {
            var isArgument = false
            let v: Mixed, t: ValueType
            switch e {
            case .syntax(let c):
                if case .argument(let n) = c {
                    isArgument = true
                    if case .list = try argument(n) { throw .queryArgument("A list argument cannot stand inside a list") }
                }
                if hint.type == .typeName {
                    switch c {
                    case .string, .base64: break
                    case .argument(let n):
                        guard case .value(.string) = try argument(n) else { throw .query("Only type names can be compared with '@type'") }
                    default: throw .query("Only type names can be compared with '@type'")
                    }
                }
                (v, t) = try value(c, hint: hint.type)
            case .value(let m):
                isArgument = true
                if hint.type == .typeName { throw Self.noTypeName }
                (v, t) = try convert(arena.keep(m), hint: hint.type, isLiteral: false, source: nil)
            }
            if !isExact { try check(v, t, hint, op, isArgument: isArgument, isOnly: elements.count == 1) }
            values.append(v)
            if t != .null { type = type == nil || type == t ? t : .mixed }
        }
        // Types of elements were checked one by one.
        _ = type
        let common: ValueType = hint.type == .typeName ? .typeName : (type ?? .null)
        return ConstantExpression(list: values, isExact ? hint.type : common, quantifier, arena)
    }
    /// - Parameter isOnly: no other element stands beside it.
    private func check(_ v: Mixed, _ type: ValueType, _ hint: Expression, _ op: CompareOperator?, isArgument: Bool, isOnly: Bool = true) throws(RealmError) {
        if case .link(let target) = hint.type {
            if case .typedLink(let t, _) = v, t != target, !t.isNull {
                throw .queryArgument("Relationship '\(hint.text(QueryPrinter(group)))' must be compared with objects of its own class")
            }
            if v.isNull, isOnly, hint.isList, !Self.isElement(hint) {
                throw .query("Cannot compare linklist ('\(hint.text(QueryPrinter(group)))') with NULL")
            }
            return
        }
        guard let op, !op.isString, op != .text else { return }
        if ValueType.comparable(type, hint.type) { return }
        throw isArgument
            ? .queryArgument("Cannot compare argument of type '\(type.name)' to type '\(hint.type.name)'")
            : .query("Unsupported comparison between type '\(hint.type.name)' and type '\(type.name)'")
    }

    private static let noTypeName = RealmError.queryArgument("A type name is needed to compare with '@type'")
    private func value(_ c: ConstantSyntax, hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        switch c {
        case .null:
            if hint == .typeName { throw Self.noTypeName }
            return (.null, .null)
        case .true: return (.bool(true), .bool)
        case .false: return (.bool(false), .bool)
        case .nan:
            switch hint {
            case .float: return (.float(.nan), .float)
            case .decimal: return (.decimal(.nan), .decimal)
            case .int, .double, .mixed: return (.double(.nan), .double)
            default: throw .query("NaN not supported for \(hint.name)")
            }
        case .infinity(let negative):
            switch hint {
            case .float: return (.float(negative ? -.infinity : .infinity), .float)
            case .decimal: return (.decimal(.infinity(negative: negative)), .decimal)
            case .double, .mixed: return (.double(negative ? -.infinity : .infinity), .double)
            default: throw .query("Infinity not supported for \(hint.name)")
            }
        case .number(let s):
            let v = QueryParser.integer(s) ?? 0
            if hint == .typeName { throw Self.noTypeName }
            return hint == .decimal ? (.decimal(Decimal128(v)), .decimal) : (.int(v), .int)
        case .float(let s):
            if hint == .typeName { throw Self.noTypeName }
            if s.hasSuffix("f") {
                let f = Float(Self.complete(String(s.dropLast()))) ?? 0
                if hint == .int, let i = Int64(exactly: f) { return (.int(i), .int) }
                return (.float(f), .float)
            }
            let text = Self.complete(s)
            let d = Double(text) ?? 0
            switch hint {
            case .int: if let i = Int64(exactly: d) { return (.int(i), .int) }
            case .float: return (.float(Float(text) ?? Float(d)), .float)
            case .decimal: if let x = Decimal128(text: s.utf8) { return (.decimal(x), .decimal) }
            default: break
            }
            return (.double(d), .double)
        case .string(let b): return try convert(.string(arena.keep(b)), hint: hint, isLiteral: true, source: nil)
        case .base64(let s): return try convert(.string(arena.keep(QueryParser.base64(s) ?? [])), hint: hint, isLiteral: true, source: nil)
        case .binary(let b): return (.binary(arena.keep(b)), .binary)
        case .timestamp(let s): return (.timestamp(try Self.timestamp(s)), .timestamp)
        case .uuid(let s):
            let raw = Self.hex(s)
            return (.uuid(raw.withUnsafeBytes { UUIDValue(bytes: $0.baseAddress!) }), .uuid)
        case .objectId(let s):
            let raw = Self.hex(s)
            return (.objectId(raw.withUnsafeBytes { ObjectId(bytes: $0.baseAddress!) }), .objectId)
        case .link(let s):
            if s.hasPrefix("O") {
                let key = ObjKey(QueryParser.integer(String(s.dropFirst())) ?? -1)
                if case .link(let t) = hint { return (.typedLink(t, key), .link(t)) }
                return (.typedLink(.null, key), .link(.null))
            }
            let parts = s.dropFirst().split(separator: ":")
            let t = TableKey(UInt32(parts.first ?? "") ?? TableKey.null.raw)
            return (.typedLink(t, ObjKey(Int64(parts.last ?? "") ?? -1)), .link(t))
        case .argument(let n):
            guard case .value(let v) = try argument(n) else { throw .query("A list argument cannot be compared here") }
            return try convert(arena.keep(v), hint: hint, isLiteral: false, source: n)
        case .object(let className, let key):
            let name = String(decoding: className, as: UTF8.self)
            let table: Table
            if let t = try group.table(named: name.hasPrefix("class_") ? name : "class_" + name) { table = t } else { throw .query("Unknown object type '\(name)'") }
            guard let pk = table.primaryKey, let facts = table.facts(pk) else { throw .query("Class '\(name)' has no primary key") }
            let (v, _) = try value(key, hint: ValueType(facts))
            let found = try table.find(primaryKey: v)
            return (.typedLink(table.key, found ?? .null), .link(table.key))
        }
    }
    /// Digits on both sides of the point, as Swift reads them.
    private static func complete(_ s: String) -> String {
        var t = s.replacing(".e", with: ".0e").replacing(".E", with: ".0E")
        if t.hasSuffix(".") { t += "0" }
        if let c = t.first, c == "+" { t.removeFirst() }
        if t.hasPrefix(".") { t = "0" + t }
        if t.hasPrefix("-.") { t = "-0" + t.dropFirst() }
        return t
    }
    /// A value that carries its type, brought to what the other side is where that loses nothing.
    private func convert(_ v: Mixed, hint: ValueType, isLiteral: Bool, source: Int?) throws(RealmError) -> (Mixed, ValueType) {
        if hint == .typeName {
            guard case .string(let b) = v else { throw .queryArgument("A type name is needed to compare with '@type'") }
            guard let names = TypeNames(name: String(decoding: b, as: UTF8.self)) else {
                throw .queryArgument("Unable to parse the type attribute string '\(String(decoding: b, as: UTF8.self))', supported names are: \(TypeNames.allNames)")
            }
            return (names.value, .typeName)
        }
        switch (hint, v) {
        case (.decimal, .int(let i)): return (.decimal(Decimal128(i)), .decimal)
        case (.decimal, .double(let d)): return (.decimal(Decimal128(rounding: d, digits: 15)), .decimal)
        case (.int, .double(let d)) where d.isInfinite: throw .query("Infinity not supported for int")
        case (.int, .float(let f)) where f.isInfinite || f.isNaN: throw .query("Infinity and NaN not supported for int")
        case (.int, .double(let d)): if let i = Int64(exactly: d) { return (.int(i), .int) }
        case (.int, .float(let f)): if let i = Int64(exactly: f) { return (.int(i), .int) }
        case (.float, .double(let d)): return (.float(Float(d)), .float)
        case (.decimal, .string(let b)):
            if let d = Decimal128(text: b), !d.isNaN { return (.decimal(d), .decimal) }
        case (.int, .string(let b)):
            if let n = Self.leading(b, integer: true), let i = Int64(n) { return (.int(i), .int) }
        case (.float, .string(let b)):
            if let n = Self.leading(b, integer: false), let f = Float(n) { return (.float(f), .float) }
        case (.double, .string(let b)):
            if let n = Self.leading(b, integer: false), let d = Double(n) { return (.double(d), .double) }
        default: break
        }
        return (v, ValueType(v))
    }
    /// The number that a text starts with.
    private static func leading(_ b: Bytes, integer: Bool) -> String? {
        var i = 0
        while i < b.count, b[i] == 0x20 || (b[i] >= 0x09 && b[i] <= 0x0D) { i += 1 }
        var out = ""
        if i < b.count, b[i] == 0x2D || b[i] == 0x2B {
            if b[i] == 0x2D { out = "-" }
            i += 1
        }
        var digits = 0
        func take() {
            while i < b.count, b[i] >= 0x30, b[i] <= 0x39 {
                out.append(Character(UnicodeScalar(b[i])))
                digits += 1
                i += 1
            }
        }
        take()
        if integer { return digits > 0 ? out : nil }
        if i < b.count, b[i] == 0x2E {
            i += 1
            if digits == 0 { out += "0" }
            out += "."
            let before = digits
            take()
            if digits == before { out += "0" }
        }
        guard digits > 0 else { return nil }
        if i + 1 < b.count, b[i] | 0x20 == 0x65 {
            var j = i + 1
            var e = "e"
            if b[j] == 0x2D || b[j] == 0x2B {
                e.append(Character(UnicodeScalar(b[j])))
                j += 1
            }
            if j < b.count, b[j] >= 0x30, b[j] <= 0x39 {
                out += e
                i = j
                take()
            }
        }
        return out
    }
    private static func hex(_ s: String) -> [UInt8] {
        var out: [UInt8] = [], half: UInt8?
        for c in s.utf8 where c != 0x2D {
            let d = c <= 0x39 ? c - 0x30 : c | 0x20 - 0x57
            if let h = half {
                out.append(h << 4 | d)
                half = nil
            } else {
                half = d
            }
        }
        while out.count < 16 { out.append(0) }
        return out
    }
    static func timestamp(_ s: String) throws(RealmError) -> Timestamp {
        if s.hasPrefix("T") {
            let parts = s.dropFirst().split(separator: ":", maxSplits: 1)
            let seconds = QueryParser.integer(String(parts[0])) ?? 0, nanos = QueryParser.integer(String(parts[1])) ?? 0
            guard abs(nanos.clamped) < 1_000_000_000, seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0) else {
                throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
            }
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
        }
        let numbers = s.split(whereSeparator: { !$0.isNumber }).map { Int64($0) ?? 0 }
        guard numbers.count >= 6 else { throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format") }
        guard numbers[0] >= 1900 else { throw .query("Conversion of dates before 1900 is not supported.") }
        // Days since 1970 in the proleptic Gregorian calendar; fields may overflow.
        let months = numbers[1] - 1
        guard numbers[0] < 1 << 40, months.magnitude < 1 << 40, numbers[2] < 1 << 40, numbers[3] < 1 << 40, numbers[4] < 1 << 40, numbers[5] < 1 << 40 else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
        }
        let year = numbers[0] + (months >= 0 ? months / 12 : (months - 11) / 12)
        let month = (months % 12 + 12) % 12 + 1
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yoe = y - era * 400
        let doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        let days = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy + numbers[2] - 1 - 719468
        let seconds = days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        var nanos = numbers.count > 6 ? numbers[6] : 0
        guard nanos < 1_000_000_000 else { throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format") }
        if seconds < 0 { nanos = -nanos }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
    }
}

extension Int64 {
    /// Without the one value whose magnitude does not fit.
    fileprivate var clamped: Int64 { self == .min ? .max : self }
}
