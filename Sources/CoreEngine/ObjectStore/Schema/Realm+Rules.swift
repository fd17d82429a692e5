/// The rules of classes: as part of the schema, at commits, and after other libraries wrote the file.
extension Realm {
    /// Whether the file lacks rules that the configuration declares.
    ///
    /// - Parameter isMigrating: the file gets another schema version.
    func lacksRules(_ mode: SchemaMode, isMigrating: Bool) throws(RealmError) -> Bool {
        guard let wanted = configuration.rules else { return false }
        let group = try reading().group
        for (name, rules) in wanted where !rules.isOnlyRenames {
            guard let table = try group.table(named: Format.classPrefix + name) else {
                if rules.isEmpty { continue }
                return true
            }
            // Rules for properties that the file does not have yet are not valid before the schema is.
            let isAdding = try onlyAdds(rules, table, mode, isMigrating)
            let has = try? group.hasRules(rules, of: table, addingOnly: isAdding)
            if has != true { return true }
        }
        return false
    }

    /// Gives the classes the rules of the configuration, inside the transaction that changes the schema.
    func applyRules(_ mode: SchemaMode, isMigrating: Bool) throws(RealmError) {
        guard let wanted = configuration.rules else { return }
        let group = transaction.group
        var all: [(table: Table, rules: ClassRules)] = []
        for (name, rules) in wanted.sorted(by: { $0.key < $1.key }) where !rules.isOnlyRenames {
            guard let table = try group.table(named: Format.classPrefix + name) else {
                if rules.isEmpty { continue }
                throw RealmError(.noSuchTable, "Rules for class '\(name)', which does not exist")
            }
            all.append((table, rules))
        }
        try group.addComputed(all)
        for (table, rules) in all {
            try group.setRules(rules, of: table, addingOnly: try onlyAdds(rules, table, mode, isMigrating))
        }
        for (table, rules) in all where !rules.computed.isEmpty { try group.checkComputed(table) }
    }

    private func onlyAdds(_ rules: ClassRules, _ table: Table, _ mode: SchemaMode, _ isMigrating: Bool)
        throws(RealmError) -> Bool
    {
        if mode.isAdditive || isMigrating { return mode.isAdditive }
        return try table.group.hasOtherSubclasses(rules, table)
    }

    /// Called before each commit.
    ///
    /// - Throws: 9006 when an object breaks a rule: the transaction goes on.
    func keepRules() throws(RealmError) {
        guard transaction.group.rules != nil else { return }
        try transaction.database.checkProcess()
        if transaction.isDamaged { return }
        stateCount &+= 1
        try RuleKeeper(transaction)?.keep()
    }

    /// Called when a write transaction has begun: examines what libraries without rules wrote since the last one.
    func catchUpRules() throws(RealmError) {
        guard let found = try RuleKeeper(transaction)?.catchUp(), found.count > 0 else { return }
        var text = "Another library wrote \(found.count) object(s) that break a rule of the file '\(database.path)'"
        for violation in found.first { text += "\n- \(violation.text)" }
        if found.count > found.first.count { text += "\n- …" }
        if configuration.refusesBrokenRules { throw RealmError(.ruleBroken, text, path: database.path) }
        Log.write(.transaction, .warning, text)
    }
}
