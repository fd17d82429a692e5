/// A condition that each object of a class meets.
struct RuleCheck {
    private let group: Group
    let table: Table
    let row: RuleRow
    private let query: BoundQuery

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

    /// The first of the objects, which exist, that does not meet the condition.
    func firstBroken(_ keys: [ObjKey]) throws(RealmError) -> ObjKey? {
        _ = try query.open(group)
        for key in keys {
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
