/// Finds objects through unique rules.
enum UniqueLookup {
    /// The object with these values. Inside a write transaction the index does not contain its changes yet: the objects
    /// that it changed are compared one by one.
    ///
    /// - Parameter touched: the changeset of the open write transaction.
    static func find(
        _ group: Group, _ table: Table, _ properties: [Name], _ values: [Mixed], touched: Bytes?
    ) throws(RealmError) -> ObjKey? {
        let keys = properties.compactMap { table.column(named: $0)?.key }
        guard let store = try RuleTable(group), keys.count == properties.count,
            let (key, row) = try store.rows().first(where: {
                $0.row.kind == .unique && $0.row.table == table.key && UniqueRule.columns($0.row) == keys
            })
        else {
            throw RealmError(
                .illegalOperation,
                "Class '\(table.className ?? table.name)' has no unique rule for these properties")
        }
        guard values.count == keys.count else {
            throw RealmError(.invalidArgument, "\(keys.count) values are needed, \(values.count) were given")
        }
        let rule = try UniqueRule(group, table, row, key)
        guard rule.isWhole, let bytes = try rule.values(values) else { return nil }
        let kept = try store.rows().first { $0.row.kind == .kept && $0.row.table == table.key }?.row.number
        if touched == nil, kept != table.storedContentVersion {
            // Another library has written the class since, and no write transaction has repaired the index.
            return try rule.search(bytes)
        }
        if let found = try rule.other(than: .null, with: bytes) { return found }
        guard let touched, let rules = group.rules else { return nil }
        let changed = TouchedObjects(rules)
        try ChangesetParser.parse(touched, changed)
        for one in changed.all where one.rules.key == table.key {
            for object in one.keys where try table.isValid(object) {
                if try rule.values(table, object) == bytes { return object }
            }
        }
        return nil
    }
}
