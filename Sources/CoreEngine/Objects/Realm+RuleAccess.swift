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
        let reader = try reading(), group = reader.group
        let isReading = group.rules == nil
        if isReading { try group.readRules() }
        defer { if isReading { group.forgetRules() } }
        var found: [RuleKeeper.Violation] = []
        try group.check { () throws(RealmError) in
            try RuleKeeper(transaction: reader, group: group)?.forEachViolation {
                (violation) throws(RealmError) in
                guard found.count < limit else { return false }
                found.append(violation)
                return true
            }
        }
        return found
    }

    /// The value of a computed property of an object, valid as long as the snapshot.
    ///
    /// - Throws: 3009 when the class has no computed property with this name; 2010 for a deleted object.
    package func computed(_ tableKey: TableKey, _ object: ObjKey, _ name: Name) throws(RealmError) -> Mixed {
        try verifyAlive(tableKey, object)
        let group = try reading().group
        // A frozen Realm is read by several threads at once.
        if isFrozen, let found = try ComputedProperty(tableKey, name, group) { return try found.value(object, group) }
        let state = ComputedProperties.State(version: transaction.version, change: stateCount)
        if !isFrozen, let known = computedProperties.find(tableKey, name, state) {
            return try known.value(object, group)
        }
        guard let found = try ComputedProperty(tableKey, name, group) else {
            let owner = try group.table(tableKey)
            throw RealmError(
                .invalidProperty, "Class '\(owner?.className ?? "")' has no computed property '\(name)'")
        }
        computedProperties.add(found, tableKey, name, state)
        return try found.value(object, group)
    }

    /// A copy of the value of a computed property.
    package func computedValue(_ tableKey: TableKey, _ object: ObjKey, _ name: Name) throws(RealmError) -> RealmValue {
        try reading().group.copy(try computed(tableKey, object, name))
    }

    /// The object whose values of a unique rule are these; nil: no object has them.
    ///
    /// - Parameter properties: the properties of the rule, in any order.
    /// - Throws: 2007 when the class has no unique rule for these properties.
    package func find(_ tableKey: TableKey, unique properties: [Name], _ values: [Mixed]) throws(RealmError) -> ObjKey?
    {
        let reader = try reading()
        guard let table = try reader.group.table(tableKey) else { throw RealmError(.noSuchTable, "No such class") }
        // A frozen Realm is read by several threads at once.
        let lookup = isFrozen ? UniqueLookup() : uniqueLookup
        return try lookup.find(reader, table, properties, values)
    }
}
