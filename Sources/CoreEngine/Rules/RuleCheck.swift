/// A condition that each object of a class meets.
struct RuleCheck {
    private let group: Group
    let table: Table
    let row: RuleRow
    let query: BoundQuery

    /// With a condition that was bound before.
    init(_ group: Group, _ table: Table, _ row: RuleRow, _ query: BoundQuery) {
        (self.group, self.table, self.row, self.query) = (group, table, row, query)
    }

    /// - Throws: 1009 and 3008 for an invalid condition.
    init(_ group: Group, _ table: Table, _ row: RuleRow) throws(RealmError) {
        self.group = group
        self.table = table
        self.row = row
        // The names are those of the file, which every program knows.
        query = try BoundQuery.parse(row.text, group, table.key, QueryNames(), [])
        guard query.orderings.isEmpty else {
            throw RealmError(.invalidQuery, "A check cannot have an order or a limit: '\(row.text)'")
        }
    }

    /// The reason why a check has no effect; nil when the check has an effect.
    static func fault(_ group: Group, _ table: Table, _ row: RuleRow) throws(RealmError) -> String? {
        do throws(RealmError) {
            _ = try RuleCheck(group, table, row)
            return nil
        } catch {
            let title = row.label.isEmpty ? row.text : row.label
            return "Check '\(title)' of class '\(table.className ?? table.name)' has no effect: \(error.message)"
        }
    }

    /// The check of a row; nil when it is not valid any more, because a property that it names does not exist, or has
    /// another type or no full-text index: then it has no effect.
    static func bound(_ group: Group, _ table: Table, _ row: RuleRow) throws(RealmError) -> RuleCheck? {
        do throws(RealmError) { return try RuleCheck(group, table, row) } catch {
            switch error.code {
            case .invalidQuery, .invalidQueryString, .invalidQueryArg, .invalidProperty, .illegalOperation,
                .typeMismatch:
                return nil
            default: throw error
            }
        }
    }

    /// The first of the objects that does not meet the condition. Objects that do not exist are skipped.
    func firstBroken(_ keys: [ObjKey]) throws(RealmError) -> ObjKey? {
        // Counting all objects that meet the condition is faster than to test many of them one by one.
        if keys.count > 1000, try keys.count >= table.count() / 8, try query.count(group) == table.count() {
            return nil
        }
        _ = try query.open(group)
        for key in keys where try table.isValid(key) {
            try table.test()
            if try !query.condition.matches(table, key) { return key }
        }
        return nil
    }

    /// Passes the objects that do not meet the condition to `report`, which returns whether to go on.
    func forEachBroken(_ report: (ObjKey) throws(RealmError) -> Bool) throws(RealmError) {
        let meets = try query.run(group)
        var next = 0
        for key in try table.allKeys() {
            if next < meets.count, meets[next] == key {
                next += 1
            } else if try !report(key) {
                return
            }
        }
    }

    /// Throws 9006 unless all objects of the class meet the condition.
    func expectAll() throws(RealmError) {
        try forEachBroken { (key) throws(RealmError) in throw try broken(key) }
    }

    var title: String { row.label.isEmpty ? row.text : row.label }

    func broken(_ key: ObjKey) throws(RealmError) -> RealmError {
        let condition = row.label.isEmpty ? "" : " (\(row.text))"
        return RealmError(.ruleBroken, "Check '\(title)'\(condition): \(try table.description(of: key)) breaks it")
    }
}

extension Group {
    /// Runs a rename of classes or properties, and puts the new names into all conditions and computed properties.
    ///
    /// - Throws: 3010 when a condition cannot contain a new name.
    func keepingConditions(_ rename: () throws(RealmError) -> Void) throws(RealmError) {
        guard let before = try RuleTable(self) else { return try rename() }
        var bound: [(row: (key: ObjKey, row: RuleRow), names: ConditionNames)] = []
        for found in try before.rows() where found.row.kind == .check || found.row.kind == .computed {
            guard let owner = try table(found.row.table), try isBound(found.row.text, found.row, owner) else {
                continue
            }
            bound.append((found, try ConditionNames(found.row.text, self, owner)))
        }
        try rename()
        guard !bound.isEmpty, let after = try RuleTable(self) else { return }
        for (found, names) in bound {
            let new = try names.text(self)
            if let label = try limitName(found.row, names) { try after.setLabel(found.key, label) }
            guard Name(new) != Name(found.row.text) else { continue }
            var isSame = false
            if let owner = try table(found.row.table), try isBound(new, found.row, owner),
                let renamed = try? ConditionNames(new, self, owner)
            {
                isSame = names.areSame(as: renamed)
            }
            guard isSame else {
                throw RealmError(
                    .invalidName, "A condition cannot contain the new name: '\(found.row.text)' would be '\(new)'")
            }
            try after.setText(found.key, new)
        }
        try rulesChanged()
    }

    /// Removes the checks that name a property which a migration is about to remove. Otherwise a later property with
    /// the same name would bring them into effect again.
    func removeChecks(naming column: ColKey, of table: Table) throws(RealmError) {
        guard let store = try RuleTable(self) else { return }
        for (key, row) in try store.rows() where row.kind == .check {
            guard let owner = try self.table(row.table), let names = try? ConditionNames(row.text, self, owner),
                names.contains(column, of: table.key)
            else { continue }
            try store.remove(key)
        }
        try rulesChanged()
    }

    /// The new name of the check of a limit, which is the name of its property and the kind of the limit: `age.min`. nil:
    /// it keeps its name.
    private func limitName(_ row: RuleRow, _ names: ConditionNames) throws(RealmError) -> String? {
        guard row.kind == .check else { return nil }
        for (old, new) in try names.renamedProperties(of: row.table, self) {
            for limit in ["min", "max", "min_length", "max_length", "min_count", "max_count", "required"]
            where Name(row.label) == Name("\(old).\(limit)") {
                return "\(new).\(limit)"
            }
        }
        return nil
    }

    /// Whether a text is valid as the condition of a check, or the expression of a computed property.
    private func isBound(_ text: String, _ row: RuleRow, _ owner: Table) throws(RealmError) -> Bool {
        var row = row
        row.text = text
        if row.kind == .check { return try RuleCheck.bound(self, owner, row) != nil }
        return (try? ComputedProperty.check(row, owner)) != nil
    }
}
