extension Group {
    /// The expression of a computed property; nil: the class has no such property.
    func computed(_ name: Name, _ table: Table) throws(RealmError) -> String? {
        guard hasRules else { return nil }
        let rows: [(key: ObjKey, row: RuleRow)]
        do throws(RealmError) { rows = try ruleRows() } catch {
            // Damaged rules, or rules of a later version, do not prevent reading.
            return nil
        }
        return rows.first {
            $0.row.kind == .computed && $0.row.table == table.key && Name($0.row.label) == name
        }?.row.text
    }
}

extension Binder {
    /// The greatest number of levels: a computed property may use others in its expression, and these others again.
    private static let maxComputedLevels = 8

    /// The number of computed properties in one query, those in their expressions included.
    private static let maxComputedUses = 1000

    /// The syntax tree of a computed property.
    static func computedValue(_ text: String) throws(RealmError) -> ExpressionSyntax {
        try QueryParser.value(text, deepest: 16)
    }

    /// The expression of the computed property at the end of a path; nil: the path ends in something else.
    mutating func computed(_ steps: [PathStep], _ start: Table) throws(RealmError) -> ExpressionSyntax? {
        guard group.hasRules, case .name(let last)? = steps.last else { return nil }
        var table = start, isMany = false
        for (i, step) in steps.dropLast().enumerated() {
            guard case .name(let name) = step else { return nil }
            if i == 0, let variable = variables.last, variable.name == name { continue }
            guard let column = table.column(named: alias(name, table)), let facts = table.facts(column.key),
                facts.type == .link, let target = try group.table(facts.oppositeTable)
            else { return nil }
            isMany = isMany || facts.isCollection
            table = target
        }
        guard table.column(named: alias(last, table)) == nil, let text = try group.computed(last, table) else {
            return nil
        }
        if isMany { throw .query("The computed property '\(last)' cannot be reached over a collection") }
        computedUses += 1
        guard computedLevel < Self.maxComputedLevels, computedUses <= Self.maxComputedUses else {
            throw .query("The computed property '\(last)' needs too many others")
        }
        return Self.prefixed(try Self.computedValue(text), Array(steps.dropLast()))
    }

    /// The expression of the object to which the steps lead.
    private static func prefixed(_ syntax: ExpressionSyntax, _ steps: [PathStep]) -> ExpressionSyntax {
        switch syntax {
        case .constant, .list: syntax
        case .path(let path, let quantifier, let end): .path(steps + path, quantifier, end)
        case .aggregate(let path, let kind, let property): .aggregate(steps + path, kind, property: property)
        case .subquery(let path, let variable, let predicate):
            .subquery(steps + path, variable: variable, predicate)
        case .arithmetic(let op, let left, let right): .arithmetic(op, prefixed(left, steps), prefixed(right, steps))
        case .part(let part, let value): .part(part, prefixed(value, steps))
        }
    }
}
