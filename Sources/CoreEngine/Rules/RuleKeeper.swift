/// Keeps the rules of a file at the end of a write transaction, and examines what other libraries wrote.
///
/// Invariants
/// 1. A refused transaction was not changed: first everything is checked, then values, indexes and counters are
///    written.
/// 2. After a commit, the row `kept` of each class with rules names the content version of its table.
///
/// Thread rule: that of its transaction.
package struct RuleKeeper {
    private let transaction: Transaction
    private let group: Group
    private let rules: GroupRules

    /// nil: the file has no rules.
    package init?(_ transaction: Transaction) {
        guard let rules = transaction.group.rules else { return nil }
        self.transaction = transaction
        group = transaction.group
        self.rules = rules
    }

    /// For a group whose rules were read, also of a transaction that does not write.
    init?(transaction: Transaction, group: Group) {
        guard let rules = group.rules else { return nil }
        self.transaction = transaction
        self.group = group
        self.rules = rules
    }

    // MARK: Committing

    /// Called before the commit of the write transaction. It changes values, so values that the caller has read before
    /// are out of date afterwards.
    ///
    /// - Throws: 9006 for an object that breaks a rule. The transaction is as before, and may go on.
    package func keep() throws(RealmError) {
        let touched = TouchedObjects(rules, group)
        try ChangesetParser.parse(try transaction.changeset, touched)
        try addOwners(touched)
        let all = touched.all.filter { !$0.rules.atCommit.isEmpty }
        // Times and revisions come first, because checks may concern them; a refusal takes them back.
        let savepoint =
            !transaction.isApplying && all.contains { $0.rules.isStamped }
            ? try transaction.beginSavepoint(isOwn: true) : 0
        do throws(RealmError) {
            if savepoint > 0 {
                for one in all { if let table = try group.table(one.rules.key) { try stamp(table, one) } }
            }
            var entries: [UniqueChange] = []
            for one in all {
                guard let table = try group.table(one.rules.key) else { continue }
                for row in one.rules.atCommit {
                    switch row.kind {
                    case .check:
                        guard let check = try RuleCheck.bound(group, table, row) else { continue }
                        if let broken = try check.firstBroken(one.keys) { throw try check.broken(broken) }
                    case .typeProperty:
                        guard let types = SubclassNames(table, one.rules) else { continue }
                        if let unknown = try types.firstUnknown(one.keys) { throw try types.broken(unknown) }
                    case .unique: if let change = try uniqueChange(table, row, one) { entries.append(change) }
                    default: break
                    }
                }
            }
            for change in entries { try change.apply() }
        } catch {
            if savepoint > 0 { try transaction.rollbackSavepoint(savepoint) }
            throw error
        }
        if savepoint > 0 { try transaction.releaseSavepoint(savepoint) }
        try noteKept()
    }

    /// Adds new embedded objects, which the history does not name, and the owners of changed embedded objects: an
    /// object counts as changed when an embedded object that it owns was changed.
    private func addOwners(_ touched: TouchedObjects) throws(RealmError) {
        for own in rules.all where !own.atCommit.isEmpty {
            guard let table = try group.table(own.key), table.isEmbedded else { continue }
            for key in try table.newKeys() { touched.objectCreated(own.key, key) }
        }
        try addOwnersOfChanged(touched)
    }

    /// Adds the objects that own changed embedded objects.
    func addOwnersOfChanged(_ touched: TouchedObjects) throws(RealmError) {
        for (key, objects) in touched.embedded {
            guard let table = try group.table(key) else { continue }
            for object in objects where try table.isValid(object) {
                var place: (table: Table, object: ObjKey)? = (table, object)
                // A damaged file may have embedded objects that own each other.
                for _ in 0..<Tables.maxNesting {
                    guard let here = place, here.table.isEmbedded else { break }
                    place = try owner(of: here.object, in: here.table)
                    if let place { touched.valueSet(place.table.key, place.object, .null) }
                }
            }
        }
    }

    private func owner(of object: ObjKey, in table: Table) throws(RealmError) -> (table: Table, object: ObjKey)? {
        for case let backlink? in table.facts where backlink.type == .backlink {
            let links = try table.backlinks(object, backlink.key)
            guard links.count > 0, let owner = try group.table(backlink.oppositeTable) else { continue }
            return (owner, try links.key(at: 0))
        }
        return nil
    }

    /// The new entries and the removed entries of a unique index.
    private struct UniqueChange {
        let rule: UniqueIndex
        var leaving: [UniqueIndex.Entry] = []
        var entering: [UniqueIndex.Entry] = []

        func apply() throws(RealmError) {
            for entry in leaving { try rule.leave(entry) }
            for entry in entering { try rule.enter(entry) }
        }
    }

    private func uniqueChange(
        _ table: Table, _ row: RuleRow, _ touched: TouchedObjects.Touched
    ) throws(RealmError) -> UniqueChange? {
        guard let key = try key(of: row) else { return nil }
        let rule = try UniqueIndex(group, table, row, key)
        guard rule.isWhole else { return nil }
        var change = UniqueChange(rule: rule)
        try change.entering.makeRoom(for: touched.keys.count)
        for object in try touched.keys.living(in: table) {
            if let entry = try rule.entry(of: object, in: table) { change.entering.append(entry) }
        }
        // In the order of the index, which is sorted by hashes.
        change.entering.sort { $0.hash != $1.hash ? $0.hash < $1.hash : $0.object < $1.object }
        try rule.expectDifferent(change.entering)
        let isFirst = try rule.isEmpty
        if !isFirst {
            for entry in change.entering {
                if let other = try rule.other(than: entry) { throw try rule.broken(entry.object, other) }
            }
        }
        let changed = isFirst ? [] : touched.keys.filter { !table.isNew($0) }
        guard !changed.isEmpty, let pin = transaction.sharedPin else { return change }
        let before = try Transaction(reading: pin)
        defer { before.endReading() }
        guard let old = try before.group.table(table.key), rule.fits(old) else { return change }
        for object in changed where try old.isValid(object) {
            guard let entry = try rule.entry(of: object, in: old) else { continue }
            change.leaving.append(entry)
        }
        // An object whose values are the same keeps its entry.
        let present = Set(change.entering)
        let stays = Set(change.leaving.filter { present.contains($0) })
        if !stays.isEmpty {
            change.leaving.removeAll { stays.contains($0) }
            change.entering.removeAll { stays.contains($0) }
        }
        return change
    }

    private func key(of row: RuleRow) throws(RealmError) -> ObjKey? {
        try group.ruleRows().first { $0.row.isSame(as: row) }?.key
    }

    /// Writes times and numbers of changes.
    private func stamp(_ table: Table, _ touched: TouchedObjects.Touched) throws(RealmError) {
        let now = AutomaticValues.now()
        let kinds: [RuleKind] = [.created, .modified, .revision]
        for row in touched.rules.atCommit where kinds.contains(row.kind) {
            guard let column = table.facts(row.column) else { continue }
            for object in try touched.keys.living(in: table) {
                switch row.kind {
                case .modified: _ = try table.set(object, column, .timestamp(now))
                case .created where table.isNew(object):
                    // A program that copies objects keeps their times.
                    let value = try table.get(object, column) ?? .null
                    let isUnset = value.isNull || Mixed.equal(value, .timestamp(Timestamp(seconds: 0, nanoseconds: 0)))
                    if isUnset { _ = try table.set(object, column, .timestamp(now)) }
                case .revision:
                    var number: Int64 = 0
                    if case .int(let old)? = try table.get(object, column) { number = old }
                    _ = try table.set(object, column, .int(number == .max ? .max : number + 1))
                default: break
                }
            }
        }
    }

    /// Writes the counters and, for each class, the version of the table up to which its rules are kept.
    private func noteKept() throws(RealmError) {
        guard let store = try RuleTable(group) else { return }
        for own in rules.all {
            try own.writeCounters(store)
            guard let kept = own.kept, let table = try group.table(own.key) else { continue }
            let version = table.nextContentVersion
            if kept.version != version { try store.setNumber(kept.row, version) }
        }
    }

    // MARK: After other libraries

    /// An object that breaks a rule.
    package struct Violation: Sendable {
        package let className: String
        package let object: ObjKey
        package let rule: String
        package let text: String
    }

    /// Called at the beginning of a write transaction: examines classes that a library without rules has written since.
    /// Counters and unique indexes are repaired.
    ///
    /// - Returns: the first objects that break a rule, and how many there are.
    package func catchUp(limit: Int = 10) throws(RealmError) -> (first: [Violation], count: Int) {
        var first: [Violation] = [], count = 0
        for own in rules.all {
            guard let kept = own.kept, let table = try group.table(own.key), kept.version != table.storedContentVersion
            else { continue }
            for i in own.automatic.indices {
                let next = try TableRules.firstNumber(table, own.automatic[i].column)
                if next != 0 { own.note(next &- 1, in: own.automatic[i].column) }
            }
            try forEachViolation(own, table, repairing: true) { (violation) throws(RealmError) in
                count += 1
                if first.count < limit { first.append(violation) }
                return true
            }
        }
        return (first, count)
    }

    /// Passes each object that breaks a rule to `report`, which returns whether to go on.
    package func forEachViolation(_ report: (Violation) throws(RealmError) -> Bool) throws(RealmError) {
        for own in rules.all {
            guard let table = try group.table(own.key) else { continue }
            try forEachViolation(own, table, repairing: false, report)
        }
    }

    private func forEachViolation(
        _ own: TableRules, _ table: Table, repairing: Bool, _ report: (Violation) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let name = (table.className ?? table.name).text
        for row in own.atCommit {
            switch row.kind {
            case .check:
                if let fault = try RuleCheck.fault(group, table, row) {
                    let title = row.label.isEmpty ? row.text : row.label
                    if try !report(Violation(className: name, object: .null, rule: title, text: fault)) { return }
                    continue
                }
                let check = try RuleCheck(group, table, row)
                try check.forEachBroken { (object) throws(RealmError) in
                    try report(
                        Violation(
                            className: name, object: object, rule: check.title, text: try check.broken(object).message))
                }
            case .unique:
                guard let key = try key(of: row) else { continue }
                let rule = try UniqueIndex(group, table, row, key)
                guard rule.isWhole else { continue }
                try rule.forEachDuplicate(rebuilding: repairing) { (object, other) throws(RealmError) in
                    try report(
                        Violation(
                            className: name, object: object, rule: rule.title,
                            text: try rule.broken(object, other).message))
                }
            case .typeProperty:
                guard let types = SubclassNames(table, own) else { continue }
                try types.forEachUnknown { (object) throws(RealmError) in
                    try report(
                        Violation(
                            className: name, object: object, rule: types.title, text: try types.broken(object).message))
                }
            default: continue
            }
        }
    }
}

extension [ObjKey] {
    /// The keys of objects that exist.
    fileprivate func living(in table: Table) throws(RealmError) -> [ObjKey] {
        var living: [ObjKey] = []
        for key in self where try table.isValid(key) { living.append(key) }
        return living
    }
}
