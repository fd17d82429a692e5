/// Expressions: paths, constants and what is computed from them.
extension Binder {
    mutating func expression(_ e: ExpressionSyntax, _ t: Table) throws(RealmError) -> Expression {
        switch e {
        case .constant, .list: throw .query("A constant stands where a property is needed")
        case .path(let steps, let quantifier, let end):
            switch end {
            case .value: return try path(steps, t, quantifier)
            case .size: return try size(steps, t, quantifier)
            case .type:
                let p = try path(steps, t, quantifier)
                if p.type != .mixed {
                    guard !p.isList else {
                        throw .query("Operation '@type' is not supported on a list of type '\(p.type.name)'")
                    }
                    return ConstantExpression(Self.typeName(of: p.type).value, .typeName, arena)
                }
                return TypeExpression(p)
            }
        case .aggregate(let steps, let kind, let property): return try aggregate(steps, kind, property, t)
        case .subquery(let steps, let variable, let predicate):
            guard !variables.contains(where: { $0.name == variable }) else {
                throw .query(
                    "Unable to create a subquery expression with variable '\(variable)' since an identical variable already exists in this context"
                )
            }
            let p = try path(steps, t, nil)
            let (hops, isList): ([Hop], Bool)
            switch p.tail {
            case .object: (hops, isList) = (p.hops, true)
            case .value(let c) where p.type.isLink && names.reachFurther:
                guard case .link(let target) = p.type else { throw .query("A subquery needs links") }
                (hops, isList) = (
                    p.hops + [Hop(kind: .toOne, origin: p.end, column: c, target: target, index: nil, text: "")], true
                )
            case .collection(let c, let shape, let steps) where p.type.isLink && reaches(shape, steps):
                guard case .link(let target) = p.type else { throw .query("A subquery needs a list of links") }
                let kind: Hop.Kind = shape == .list ? .list : (shape == .set ? .set : .dictionary)
                (hops, isList) = (
                    p.hops + [Hop(kind: kind, origin: p.end, column: c, target: target, index: nil, text: "")], true
                )
            default: (hops, isList) = ([], false)
            }
            guard isList, case .link(let target) = p.type, let table = try group.table(target) else {
                throw .query("A subquery can not be created on anything but a list of links")
            }
            variables.append((variable, target))
            defer { variables.removeLast() }
            let inner = try condition(predicate, table)
            let walk = PathExpression(
                hops: hops, tail: .object, end: target, type: p.type, isList: true, quantifier: nil, source: "")
            return SubqueryExpression(walk, target: target, inner, source: p.text(QueryPrinter(group)))
        case .arithmetic(let op, let a, let b):
            let (left, right) = try sides(a, b, nil, t)
            for side in [left, right] {
                guard side.type.isNumeric || side.type == .mixed else {
                    throw .queryArgument(
                        "Cannot perform '\(op.rawValue)' operation on '\(left.type.name)' and '\(right.type.name)'")
                }
            }
            if left.isList && right.isList { throw .query("Arithmetic between two lists is not supported") }
            return ArithmeticExpression(op, left, right)
        }
    }

    /// Whether a subquery may go over a collection of links.
    private func reaches(_ shape: CollectionShape, _ steps: [PathIndex]) -> Bool {
        names.reachFurther ? steps.isEmpty || steps == [.all] : shape == .list && steps.isEmpty
    }

    static func typeName(of t: ValueType) -> TypeNames {
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

    /// Sizes have no quantifier, even where one stands before a list; before a single text it is as wrong as elsewhere.
    mutating func size(_ steps: [PathStep], _ t: Table, _ quantifier: Quantifier?) throws(RealmError) -> Expression {
        let p = try path(steps, t, nil)
        if let quantifier, !p.isList {
            switch p.tail {
            case .value where !p.type.isLink, .mixed:
                throw .query("The keypath after '\(quantifier.rawValue)' must contain a list")
            default: break
            }
        }
        func unsupported() -> RealmError {
            .query("Operation '@count' is not supported on property of type '\(p.type.name)'")
        }
        switch p.tail {
        case .allBacklinks: return SizeExpression(p, .allBacklinks, mark: "")
        case .value(let c):
            switch p.type {
            case .string, .binary: return SizeExpression(p, .bytes, mark: ".@size")
            case .link(let target):
                let hop = Hop(kind: .toOne, origin: p.end, column: c, target: target, index: nil, text: "")
                let before = PathExpression(
                    hops: p.hops, tail: .object, end: p.end, type: .link(p.end), isList: p.hasManyHops, quantifier: nil,
                    source: "")
                return LinkCountExpression(before, last: hop, text: p.text(QueryPrinter(group)) + ".@count")
            default: throw unsupported()
            }
        case .collection(let c, let shape, let steps):
            if case .link(let target) = p.type, steps.isEmpty || steps == [.all] {
                let kind: Hop.Kind = shape == .list ? .list : (shape == .set ? .set : .dictionary)
                let hop = Hop(kind: kind, origin: p.end, column: c, target: target, index: nil, text: "")
                let before = PathExpression(
                    hops: p.hops, tail: .object, end: p.end, type: .link(p.end), isList: p.hasManyHops, quantifier: nil,
                    source: "")
                return LinkCountExpression(before, last: hop, text: p.text(QueryPrinter(group)) + ".@count")
            }
            return SizeExpression(p, steps.isEmpty || steps == [.all] ? .elements(c) : .mixed, mark: ".@size")
        case .mixed(_, _, false): return SizeExpression(p, .mixed, mark: ".@size")
        case .object:
            guard let last = p.hops.last else { throw unsupported() }
            let hops = Array(p.hops.dropLast())
            let before = PathExpression(
                hops: hops, tail: .object, end: last.origin, type: .link(last.origin),
                isList: hops.contains(where: \.isMultiple), quantifier: nil,
                source: "")
            return LinkCountExpression(before, last: last, text: p.text(QueryPrinter(group)) + ".@count")
        case .keys, .lengths, .mixed: throw unsupported()
        }
    }

    mutating func aggregate(_ steps: [PathStep], _ kind: AggregateKind, _ property: Name?, _ t: Table)
        throws(RealmError) -> Expression
    {
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
                throw .query("Operation '\(kind.word)' is not supported: '\(p.text(printer))' is not a list of values")
            }
            var type = p.type
            if case .collection(let c, .dictionary, _) = p.tail, let facts = try group.table(p.end)?.facts(c) {
                type = ValueType(elementOf: facts)
            }
            try numeric(type, dates: names.reachFurther)
            return AggregateExpression(
                p, kind, element: type, flattens: false, text: QueryPrinter.whole(p.text(printer)) + "." + kind.word)
        }
        guard case .link(let target) = p.type, let table = try group.table(target) else {
            throw .query("'\(p.text(printer))' is not a list of links")
        }
        var hops = p.hops
        switch p.tail {
        case .value(let c):
            hops.append(Hop(kind: .toOne, origin: p.end, column: c, target: target, index: nil, text: ""))
        case .collection(let c, let shape, let steps) where steps.isEmpty || steps == [.all]:
            hops.append(
                Hop(
                    kind: shape == .list ? .list : (shape == .set ? .set : .dictionary), origin: p.end, column: c,
                    target: target, index: nil,
                    text: ""))
        case .object: break
        default: throw .query("'\(p.text(printer))' is not a list of links")
        }
        let name = alias(property, table)
        guard let c = table.column(named: name), let facts = table.facts(c.key) else {
            throw .query("'\(table.className ?? table.name)' has no property '\(property)'")
        }
        guard !facts.isCollection else { throw .query("collection aggregate not supported for a collection property") }
        let type = ValueType(facts)
        try numeric(type, dates: true)
        let values = PathExpression(
            hops: hops, tail: type == .mixed ? .mixed(c.key, [], keys: false) : .value(c.key), end: target, type: type,
            isList: true, quantifier: nil,
            source: "")
        values.isByKey = kind == .average || kind == .sum && type != .int
        // A to-one link is a list of none or one; a missing object gives NULL, which aggregates skip.
        return AggregateExpression(
            values, kind, element: type, flattens: true, text: "\(p.text(printer)).\(kind.word).\(name)")
    }
}
