/// Finds objects through unique rules, also among the changes of an open write transaction, which the indexes do not
/// contain yet.
///
/// It reads each part of the changeset once: a look-up costs time in proportion to the changes since the one before it.
///
/// Thread rule: that of its transaction.
final class UniqueLookup {
    /// The transaction and the part of it that `changes` describes.
    private var base: (version: UInt64, undone: Int) = (0, -1)
    private var reader = ChangesetParser.Position()

    /// The objects that the transaction changed, by table.
    private var touched: TouchedObjects?

    /// For each rule: the changed objects, by the hash of the values that they had in the last look-up; the number of
    /// keys that were read; and the newest object of the class. The history does not name later values of this object,
    /// so each look-up reads its values again.
    private var changes: [ObjKey: (byHash: [Int64: [ObjKey]], seen: Int, newest: ObjKey)] = [:]

    /// The object with these values of the properties of a unique rule, in any order.
    func find(
        _ transaction: Transaction, _ table: Table, _ properties: [Name], _ values: [Mixed]
    ) throws(RealmError) -> ObjKey? {
        let group = transaction.group
        let given = properties.compactMap { table.column(named: $0)?.key }
        let rows = try group.ruleRows()
        guard given.count == properties.count, Set(given).count == given.count,
            let (key, row) = rows.first(where: {
                $0.row.kind == .unique && $0.row.table == table.key && $0.row.columns.count == given.count
                    && Set($0.row.columns) == Set(given)
            })
        else {
            throw RealmError(
                .illegalOperation,
                "Class '\(table.className ?? table.name)' has no unique rule for these properties")
        }
        let keys = row.columns
        guard values.count == keys.count else {
            throw RealmError(.invalidArgument, "\(keys.count) values are needed, \(values.count) were given")
        }
        // In the order of the rule.
        let wanted = keys.compactMap { key in given.firstIndex(of: key).map { values[$0] } }
        let rule = try UniqueIndex(group, table, row, key)
        guard rule.isWhole, let bytes = try rule.values(wanted) else { return nil }
        guard transaction.stage == .writing, let rules = group.rules else {
            let kept = rows.first { $0.row.kind == .kept && $0.row.table == table.key }?.row.number
            // Another library has written the class since, and no write transaction has repaired the index.
            guard kept == table.storedContentVersion else { return try rule.search(bytes) }
            return try rule.other(than: .null, with: bytes)
        }
        if let found = try rule.other(than: .null, with: bytes) { return found }
        try update(transaction, rules)
        return try findChanged(rule, key, table, bytes)
    }

    /// Reads the changes since the last look-up.
    private func update(_ transaction: Transaction, _ rules: GroupRules) throws(RealmError) {
        let now = (transaction.version, transaction.undoneParts)
        if base != now || touched?.isOf(rules) != true {
            (base, reader, changes) = (now, ChangesetParser.Position(), [:])
            touched = TouchedObjects(rules, transaction.group)
        }
        if let touched { try ChangesetParser.parse(try transaction.changeset, from: &reader, touched) }
    }

    private func findChanged(
        _ rule: UniqueIndex, _ key: ObjKey, _ table: Table, _ bytes: [UInt8]
    ) throws(RealmError) -> ObjKey? {
        guard let keys = touched?.unsettled(table.key) else { return nil }
        var known = changes.removeValue(forKey: key) ?? ([:], 0, .null)
        func note(_ object: ObjKey) throws(RealmError) {
            guard try table.isValid(object), let entry = try rule.entry(of: object, in: table) else { return }
            known.byHash[entry.hash, default: []].append(object)
        }
        // The object that was the newest one in the last look-up may have other values now.
        if known.newest != .null { try note(known.newest) }
        for object in keys[known.seen...] { try note(object) }
        known.seen = keys.count
        known.newest = try table.newestKey() ?? .null
        if known.newest != .null { try note(known.newest) }
        changes[key] = known
        for object in known.byHash[try rule.hash(bytes)] ?? [] where try table.isValid(object) {
            if try rule.values(table, object) == bytes { return object }
        }
        return nil
    }
}
