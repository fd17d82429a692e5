extension ResultSet {
    /// Sets properties of the objects of the rows, as one call. An object that occurs in several rows is set once.
    ///
    /// - Parameter text: assignments, as `n = n + 1, city = $0`.
    /// - Returns: how many objects there are.
    /// - Throws: 2005 outside a write transaction; 2007 for results of values; errors of the query language; 3007 for
    ///   the primary key; 3001, 3002 and 1001 for values that a property cannot hold; 9006 for a broken rule.
    package func update(_ text: String, _ arguments: [QueryArgument]) throws(RealmError) -> Int {
        guard let tableKey = table else {
            throw RealmError(.illegalOperation, "Results of values have no properties to be changed")
        }
        guard realm.isWriting else { throw RealmError(.wrongTransactionState, "Must be in a write transaction") }
        let group = try realm.reading().group
        let (written, depth) = try QueryParser.assignments(text)
        try QueryLimits.expect(depth: depth)
        guard let table = try group.table(tableKey) else { throw stale() }
        var binder = Binder(group, realm.queryNames, arguments, ConstantArena())
        binder.isStrict = true
        var assignments: [Assignment] = []
        for one in written {
            let assignment = try Assignment(one, table, &binder)
            guard !assignments.contains(where: { $0.facts.key == assignment.facts.key }) else {
                throw .queryArgument("Property '\(one.name)' is set twice")
            }
            assignments.append(assignment)
        }
        let keys = try sortedKeys()
        return try realm.allOrNothing { () throws(RealmError) in
            try group.query { () throws(RealmError) in
                for assignment in assignments { try assignment.prepare(group) }
                return try Self.update(table, keys, assignments)
            }
        }
    }

    /// The same with values of the program as arguments.
    package func update(_ text: String, values: [RealmValue]) throws(RealmError) -> Int {
        let arena = ConstantArena()
        var arguments: [QueryArgument] = []
        for value in values { arguments.append(try arena.argument(value)) }
        defer { withExtendedLifetime(arena) {} }
        return try update(text, arguments)
    }

    /// The keys of the objects, each once, in ascending order.
    private func sortedKeys() throws(RealmError) -> [ObjKey] {
        var keys = try keys()
        var isAscending = true
        for i in keys.indices.dropFirst() where !(keys[i - 1] < keys[i]) { isAscending = false }
        guard !isAscending else { return keys }
        keys.sort()
        var last = ObjKey.null
        keys.removeAll { key in
            defer { last = key }
            return key == last
        }
        return keys
    }

    private static func update(
        _ table: Table, _ keys: [ObjKey], _ assignments: [Assignment]
    ) throws(RealmError) -> Int {
        let isApart = assignments.allSatisfy(\.readsOnlyItsObject)
        var count = 0
        if !isApart {
            try RowRun.each(table, keys) { (run) throws(RealmError) in
                for assignment in assignments { try assignment.read(run, adding: true) }
            }
        }
        try RowRun.each(table, keys) { (run) throws(RealmError) in
            if isApart { for assignment in assignments { try assignment.read(run, adding: false) } }
            for assignment in assignments {
                try assignment.write(run.keys, run.count, from: isApart ? 0 : count)
            }
            count += run.count
        }
        return count
    }
}
