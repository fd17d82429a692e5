/// Binds key paths: names, aliases, arguments and backlinks. `PathWalker` follows the steps.
extension Binder {
    func alias(_ name: Name, _ table: Table) -> Name {
        if case .property(let stored)? = names.aliases[table.key]?[name] { return stored }
        return name
    }

    func argument(_ index: Int) throws(RealmError) -> QueryArgument {
        guard index < arguments.count else {
            throw .queryArgument(
                "Request for argument at index \(index) but "
                    + "\(arguments.isEmpty ? "no" : "only \(arguments.count)") argument\(arguments.count == 1 ? " is" : "s are") provided"
            )
        }
        return arguments[index]
    }

    /// The steps, with a key path argument replaced by its own steps.
    func spelledOut(_ written: [PathStep]) throws(RealmError) -> [PathStep] {
        guard case .pathArgument(let index)? = written.first else { return written }
        guard written.count == 1 || names.reachFurther else {
            throw .query("Cannot mix a key path argument with other steps")
        }
        guard case .value(.string(let text)) = try argument(index) else {
            throw .queryArgument("Key path argument at index \(index) is not a string")
        }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: true).map {
            Name(String(decoding: $0, as: UTF8.self))
        }
        guard !parts.isEmpty else { throw .query("Empty key path") }
        let first = parts.map { (part) -> PathStep in
            switch part {
            case "@links": .links
            case "@keys": .keys
            case "@values": .values
            default: .name(part)
            }
        }
        return first + written.dropFirst()
    }

    /// Binds the path that starts at class `start`.
    func path(_ written: [PathStep], _ start: Table, _ quantifier: Quantifier?) throws(RealmError) -> PathExpression {
        var steps = try spelledOut(written)
        if case .name(let name)? = steps.first, let variable = variables.last, name == variable.name {
            steps.removeFirst()
            guard !steps.isEmpty else { throw .query("The variable of a subquery cannot be compared itself") }
        }
        var walker = PathWalker(self, steps, from: start)
        return try walker.walk(quantifier)
    }

    func backlink(_ className: Name, _ property: Name, _ table: Table) throws(RealmError) -> Hop {
        guard let origin = try group.table(named: Format.classPrefix + className),
            !className.hasPrefix(Format.classPrefix)
        else {
            throw .query("No class '\(className)' in @links")
        }
        let name = alias(property, origin)
        guard let column = origin.column(named: name) else {
            throw .query(
                "No property '\(property)' found in type '\(className)' which links to type '\(table.className ?? table.name)'"
            )
        }
        guard column.type == .link || column.type == .mixed,
            let backlink = table.columns.first(where: {
                $0.isBacklink && $0.oppositeTable == origin.key && $0.oppositeColumn == column.key
            })
        else {
            throw .query(
                "Property '\(name)' of type '\(className)' does not link to type '\(table.className ?? table.name)'")
        }
        return Hop(
            kind: .backlink, origin: table.key, column: backlink.key, target: origin.key, index: nil,
            text: "@links.\(className).\(name)")
    }
}
