/// Binds expressions: paths, constants, and what is computed from them.
extension Binder {
    mutating func expression(_ syntax: ExpressionSyntax, _ table: Table) throws(RealmError) -> Expression {
        switch syntax {
        case .constant, .list: throw .query("A constant stands where a property is needed")
        case .path(let steps, let quantifier, let end):
            if columns != nil {
                guard quantifier == nil, end == .value else { throw .query("A column of a group has one value") }
                return try column(steps)
            }
            if quantifier == nil, end == .value, let inner = try computed(try spelledOut(steps), table) {
                computedLevel += 1
                defer { computedLevel -= 1 }
                return try expression(inner, table)
            }
            switch end {
            case .value: return try path(steps, table, quantifier)
            case .size: return try size(steps, table, quantifier)
            case .type:
                let base = try path(steps, table, quantifier)
                if base.type != .mixed {
                    guard !base.isList else {
                        throw .query("Operation '@type' is not supported on a list of type '\(base.type.name)'")
                    }
                    return ConstantExpression(Self.typeName(of: base.type).value, .typeName, arena)
                }
                return TypeExpression(base)
            }
        case .part(let part, let inner):
            let whole = try expression(inner, table)
            guard whole.type == .timestamp || whole.type == .mixed else {
                throw .queryArgument("Cannot take '\(part.rawValue)' of '\(whole.type.name)'")
            }
            return DatePartExpression(part, whole)
        case .aggregate where columns != nil, .subquery where columns != nil:
            throw .query("A column of a group has one value")
        case .aggregate(let steps, let kind, let property): return try aggregate(steps, kind, property, table)
        case .subquery(let steps, let variable, let predicate):
            guard !variables.contains(where: { $0.name == variable }) else {
                throw .query(
                    "Unable to create a subquery expression with variable '\(variable)' since an identical variable already exists in this context"
                )
            }
            let base = try path(steps, table, nil)
            let (hops, isList): ([Hop], Bool)
            switch base.tail {
            case .object: (hops, isList) = (base.hops, true)
            case .value(let column) where base.type.isLink && names.reachFurther:
                guard case .link(let target) = base.type else { throw .query("A subquery needs links") }
                (hops, isList) = (
                    base.hops + [
                        Hop(kind: .toOne, origin: base.end, column: column, target: target, index: nil, text: "")
                    ], true
                )
            case .collection(let column, let shape, let steps) where base.type.isLink && reaches(shape, steps):
                guard case .link(let target) = base.type else { throw .query("A subquery needs a list of links") }
                let kind: Hop.Kind = shape == .list ? .list : (shape == .set ? .set : .dictionary)
                (hops, isList) = (
                    base.hops + [
                        Hop(kind: kind, origin: base.end, column: column, target: target, index: nil, text: "")
                    ], true
                )
            default: (hops, isList) = ([], false)
            }
            guard isList, case .link(let target) = base.type, let linkedTable = try group.table(target) else {
                throw .query("A subquery can not be created on anything but a list of links")
            }
            variables.append((variable, target))
            defer { variables.removeLast() }
            let inner = try condition(predicate, linkedTable)
            let walk = PathExpression(
                hops: hops, tail: .object, end: target, type: base.type, isList: true, quantifier: nil, source: "")
            return SubqueryExpression(walk, target: target, inner, source: base.text(QueryPrinter(group)))
        case .arithmetic(let op, let leftSyntax, let rightSyntax):
            let (left, right) = try sides(leftSyntax, rightSyntax, nil, table)
            for side in [left, right] {
                guard side.type.isNumeric || side.type == .mixed else {
                    throw .queryArgument(
                        "Cannot perform '\(op.rawValue)' operation on '\(left.type.name)' and '\(right.type.name)'")
                }
            }
            if left.isList && right.isList { throw .query("Arithmetic between two lists is not supported") }
            return ArithmeticExpression(op, left, right, isStrict: isStrict)
        }
    }

    /// The column of a grouping that a path names.
    func column(_ steps: [PathStep]) throws(RealmError) -> Expression {
        let columns = columns ?? []
        let names = steps.map { if case .name(let name) = $0 { name.text } else { "[]" } }
        let wanted = Name(names.joined(separator: "."))
        guard let column = columns.first(where: { $0.name == wanted }) else {
            let known = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw .query("The groups have no column '\(wanted)', but \(known)")
        }
        return GroupColumnExpression(column.values, column.name)
    }

    /// Whether a subquery may iterate over a collection of links.
    private func reaches(_ shape: CollectionShape, _ steps: [PathIndex]) -> Bool {
        names.reachFurther ? steps.isEmpty || steps == [.all] : shape == .list && steps.isEmpty
    }

    static func typeName(of type: ValueType) -> TypeNames {
        switch type {
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

    /// A quantifier before the size of a list is ignored. Before a single value that is not a link it is an error, as
    /// elsewhere.
    mutating func size(_ steps: [PathStep], _ table: Table, _ quantifier: Quantifier?) throws(RealmError) -> Expression
    {
        let base = try path(steps, table, nil)
        if let quantifier, !base.isList {
            switch base.tail {
            case .value where !base.type.isLink, .mixed:
                throw .query("The keypath after '\(quantifier.rawValue)' must contain a list")
            default: break
            }
        }
        func unsupported() -> RealmError {
            .query("Operation '@count' is not supported on property of type '\(base.type.name)'")
        }
        switch base.tail {
        case .allBacklinks: return SizeExpression(base, .allBacklinks, mark: "")
        case .value(let column):
            switch base.type {
            case .string, .binary: return SizeExpression(base, .bytes, mark: ".@size")
            case .link(let target):
                let hop = Hop(kind: .toOne, origin: base.end, column: column, target: target, index: nil, text: "")
                let before = PathExpression(
                    hops: base.hops, tail: .object, end: base.end, type: .link(base.end), isList: base.hasManyHops,
                    quantifier: nil,
                    source: "")
                return LinkCountExpression(before, last: hop, text: base.text(QueryPrinter(group)) + ".@count")
            default: throw unsupported()
            }
        case .collection(let column, let shape, let steps):
            if case .link(let target) = base.type, steps.isEmpty || steps == [.all] {
                let kind: Hop.Kind = shape == .list ? .list : (shape == .set ? .set : .dictionary)
                let hop = Hop(kind: kind, origin: base.end, column: column, target: target, index: nil, text: "")
                let before = PathExpression(
                    hops: base.hops, tail: .object, end: base.end, type: .link(base.end), isList: base.hasManyHops,
                    quantifier: nil,
                    source: "")
                return LinkCountExpression(before, last: hop, text: base.text(QueryPrinter(group)) + ".@count")
            }
            return SizeExpression(base, steps.isEmpty || steps == [.all] ? .elements(column) : .mixed, mark: ".@size")
        case .mixed(_, _, false): return SizeExpression(base, .mixed, mark: ".@size")
        case .object:
            guard let last = base.hops.last else { throw unsupported() }
            let hops = Array(base.hops.dropLast())
            let before = PathExpression(
                hops: hops, tail: .object, end: last.origin, type: .link(last.origin),
                isList: hops.contains(where: \.isMultiple), quantifier: nil,
                source: "")
            return LinkCountExpression(before, last: last, text: base.text(QueryPrinter(group)) + ".@count")
        case .keys, .lengths, .mixed: throw unsupported()
        }
    }

    mutating func aggregate(_ steps: [PathStep], _ kind: AggregateKind, _ property: Name?, _ table: Table)
        throws(RealmError) -> Expression
    {
        let base = try path(steps, table, nil)
        let printer = QueryPrinter(group)
        func numeric(_ type: ValueType, dates: Bool) throws(RealmError) {
            switch type {
            case .int, .float, .double, .decimal, .mixed: return
            case .timestamp where dates && (kind == .min || kind == .max): return
            default: throw .query("collection aggregate not supported for type '\(type.name)'")
            }
        }
        guard let property else {
            guard case .collection(_, _, let steps) = base.tail, steps.isEmpty || steps == [.all], !base.type.isLink
            else {
                throw .query(
                    "Operation '\(kind.word)' is not supported: '\(base.text(printer))' is not a list of values")
            }
            var type = base.type
            if case .collection(let column, .dictionary, _) = base.tail,
                let facts = try group.table(base.end)?.facts(column)
            {
                type = ValueType(elementOf: facts)
            }
            try numeric(type, dates: names.reachFurther)
            return AggregateExpression(
                base, kind, element: type, flattens: false,
                text: QueryPrinter.whole(base.text(printer)) + "." + kind.word)
        }
        guard case .link(let target) = base.type, let linkedTable = try group.table(target) else {
            throw .query("'\(base.text(printer))' is not a list of links")
        }
        var hops = base.hops
        switch base.tail {
        case .value(let column):
            hops.append(Hop(kind: .toOne, origin: base.end, column: column, target: target, index: nil, text: ""))
        case .collection(let column, let shape, let steps) where steps.isEmpty || steps == [.all]:
            hops.append(
                Hop(
                    kind: shape == .list ? .list : (shape == .set ? .set : .dictionary), origin: base.end,
                    column: column,
                    target: target, index: nil,
                    text: ""))
        case .object: break
        default: throw .query("'\(base.text(printer))' is not a list of links")
        }
        let name = alias(property, linkedTable)
        guard let column = linkedTable.column(named: name), let facts = linkedTable.facts(column.key) else {
            throw .query("'\(linkedTable.className ?? linkedTable.name)' has no property '\(property)'")
        }
        guard !facts.isCollection else { throw .query("collection aggregate not supported for a collection property") }
        let type = ValueType(facts)
        try numeric(type, dates: true)
        let values = PathExpression(
            hops: hops, tail: type == .mixed ? .mixed(column.key, [], keys: false) : .value(column.key), end: target,
            type: type,
            isList: true, quantifier: nil,
            source: "")
        values.isByKey = kind == .average || kind == .sum && type != .int
        // A to-one link counts as a list of at most one object. A missing object gives NULL, which aggregates skip.
        return AggregateExpression(
            values, kind, element: type, flattens: true, text: "\(base.text(printer)).\(kind.word).\(name)")
    }
}
