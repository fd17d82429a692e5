/// Rules of classes for programs.
extension Realm {
    /// The rules of a class.
    ///
    /// - Throws: 3020 for an unknown class.
    package func rules(of tableKey: TableKey) throws(RealmError) -> ClassRules {
        let group = try reading().group
        guard let table = try group.table(tableKey) else { throw RealmError(.noSuchTable, "No such class") }
        return try group.rules(of: table)
    }

    /// Replaces the rules of a class, inside a write transaction.
    ///
    /// - Throws: 9006 when an object of the class breaks a new rule; 2005 outside a write transaction.
    package func setRules(_ rules: ClassRules, of tableKey: TableKey) throws(RealmError) {
        let group = try writing().group
        guard let table = try group.table(tableKey) else { throw RealmError(.noSuchTable, "No such class") }
        try changing { () throws(RealmError) in try group.setRules(rules, of: table) }
    }

    /// The objects that break a rule, at most `limit`.
    package func brokenRules(limit: Int) throws(RealmError) -> [RuleKeeper.Violation] {
        let group = try reading().group
        let isReading = group.rules == nil
        if isReading { try group.readRules() }
        defer { if isReading { group.forgetRules() } }
        var found: [RuleKeeper.Violation] = []
        try group.check { () throws(RealmError) in
            try RuleKeeper(transaction: self.transaction, group: group)?.forEachViolation {
                (violation) throws(RealmError) in
                guard found.count < limit else { return false }
                found.append(violation)
                return true
            }
        }
        return found
    }

    /// The object whose values of a unique rule are these; nil: no object has them.
    ///
    /// - Parameter properties: the properties of the rule, in its order.
    /// - Throws: 2007 when the class has no unique rule for these properties.
    package func find(_ tableKey: TableKey, unique properties: [Name], _ values: [Mixed]) throws(RealmError) -> ObjKey?
    {
        let group = try reading().group
        guard let table = try group.table(tableKey) else { throw RealmError(.noSuchTable, "No such class") }
        return try uniqueLookup.find(transaction, table, properties, values)
    }
}
