/// Tests the checks that are declared for each call, on the objects that a call changed. A call that breaks one has
/// changed nothing: it is undone like a savepoint. Objects that the transaction created are tested by the commit only,
/// because a program gives them their values one after the other.
///
/// Thread rule: that of its transaction.
package final class CallChecks {
    /// The transaction and the part of it that `reader` has read.
    private var base: (version: UInt64, undone: Int) = (0, -1)
    private var reader = ChangesetParser.Position()

    /// The rules that `checks` belong to.
    private var rules: GroupRules?
    private var checks: [TableKey: [(row: RuleRow, query: BoundQuery)]] = [:]

    /// Whether a call is in progress: the calls inside it are a part of it.
    private var isInside = false

    package init() {}

    /// Whether each call must run inside `run`.
    @inline(__always) package static func areNeeded(_ transaction: Transaction) -> Bool {
        transaction.group.rules?.hasCallChecks ?? false
    }

    /// Runs a call that changes objects.
    ///
    /// - Throws: 9006 when an object breaks a check.
    package func run<R>(
        _ transaction: Transaction, _ body: () throws(RealmError) -> R
    ) throws(RealmError) -> R {
        guard !isInside, transaction.stage == .writing, let rules = transaction.group.rules else { return try body() }
        isInside = true
        defer { isInside = false }
        let number = try transaction.beginSavepoint(isOwn: true)
        do throws(RealmError) {
            // Reads earlier changes first, because they are not part of this call.
            try read(transaction, nil)
            let start = reader
            do throws(RealmError) {
                let result = try body()
                try test(transaction, rules)
                try transaction.releaseSavepoint(number)
                return result
            } catch {
                reader = start
                throw error
            }
        } catch {
            try transaction.rollbackSavepoint(number)
            base.undone = transaction.undoneParts
            throw error
        }
    }

    /// Reads the changes since the last time.
    private func read(_ transaction: Transaction, _ touched: TouchedObjects?) throws(RealmError) {
        let now = (transaction.version, transaction.undoneParts)
        if base != now { (base, reader) = (now, ChangesetParser.Position()) }
        if let touched {
            try ChangesetParser.parse(try transaction.changeset, from: &reader, touched)
        } else {
            try ChangesetParser.parse(try transaction.changeset, from: &reader, NoChanges())
        }
    }

    private func test(_ transaction: Transaction, _ rules: GroupRules) throws(RealmError) {
        let group = transaction.group
        // The call may have changed the rules; the new ones were tested then.
        guard group.rules === rules else { return }
        let touched = TouchedObjects(rules, group)
        try read(transaction, touched)
        try RuleKeeper(transaction)?.addOwnersOfChanged(touched)
        for one in touched.all where !one.rules.atCall.isEmpty {
            guard let table = try group.table(one.rules.key) else { continue }
            let keys = one.keys.filter { !table.isNew($0) }
            if keys.isEmpty { continue }
            for (row, query) in try known(rules, group, table) {
                let check = RuleCheck(group, table, row, query)
                if let broken = try check.firstBroken(keys) { throw try check.broken(broken) }
            }
        }
    }

    private func known(
        _ rules: GroupRules, _ group: Group, _ table: Table
    ) throws(RealmError) -> [(row: RuleRow, query: BoundQuery)] {
        if self.rules !== rules { (self.rules, checks) = (rules, [:]) }
        if let known = checks[table.key] { return known }
        var all: [(row: RuleRow, query: BoundQuery)] = []
        for row in rules[table.key]?.atCall ?? [] {
            guard let check = try RuleCheck.bound(group, table, row) else { continue }
            all.append((row, check.query))
        }
        checks[table.key] = all
        return all
    }
}

/// Skips changes.
private final class NoChanges: ChangesetHandler {
    func objectCreated(_ table: TableKey, _ object: ObjKey) {}

    func objectRemoved(_ table: TableKey, _ object: ObjKey) {}

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {}

    func collectionSelected(_ place: CollectionPlace) {}

    func collectionChanged(_ change: CollectionChange) {}

    func schemaChanged() {}
}
