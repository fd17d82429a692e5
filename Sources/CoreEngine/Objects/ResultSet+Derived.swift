/// Results derived from other results: with further conditions, orderings or limits; a snapshot; a query. Also the
/// deletion of the rows.
///
/// A snapshot keeps its rows. All other results find their own rows on first access.
extension ResultSet {
    private func objects(_ what: String) throws(RealmError) -> TableKey {
        guard let table else { throw RealmError(.illegalOperation, "Results of values cannot be \(what)") }
        return table
    }

    package func filtered(_ other: ObjectQuery) throws(RealmError) -> ResultSet {
        let table = try objects("filtered")
        guard other.bound.table == table else {
            throw RealmError(.invalidArgument, "The query is on another class than the results")
        }
        return try filtered(other.bound, query.orderings)
    }

    private func filtered(_ other: BoundQuery, _ orderings: [Ordering]) throws(RealmError) -> ResultSet {
        for case .limit in query.orderings {
            throw RealmError(
                .illegalOperation, "Results with a limit cannot be filtered: it would change which rows are within it")
        }
        return ResultSet(self, query.and(other, orderings: orderings))
    }

    /// The rows that also match a query text; its orderings come after the existing ones.
    ///
    /// - Parameter reachingFurther: allow what Realm's Swift API accepts and the query language does not.
    func filtered(_ text: String, _ arguments: [QueryArgument], reachingFurther: Bool = false) throws(RealmError)
        -> ResultSet
    {
        let table = try objects("filtered")
        var names = realm.queryNames
        names.reachFurther = reachingFurther
        return try filtered(BoundQuery.parse(text, try realm.reading().group, table, names, arguments))
    }

    /// The rows that also match a condition that was made without a text. It may use what Realm's Swift API accepts and
    /// the query language does not.
    package func filtered(_ condition: QuerySyntax) throws(RealmError) -> ResultSet {
        let table = try objects("filtered")
        var names = realm.queryNames
        names.reachFurther = true
        try QueryLimits.expect(depth: condition.depth)
        defer { withExtendedLifetime(condition) {} }
        return try filtered(BoundQuery.bind(condition, try realm.reading().group, table, names, []))
    }

    /// The rows that also match a query on their class; its orderings come after the existing ones.
    func filtered(_ other: BoundQuery) throws(RealmError) -> ResultSet {
        var orderings = query.orderings
        for ordering in other.orderings { Ordering.append(ordering, to: &orderings) }
        return try filtered(other, orderings)
    }

    /// Keys of the current rows; null where a dictionary has no object.
    package func keys() throws(RealmError) -> [ObjKey] {
        guard let table, isWholeTable else {
            try update()
            return rows
        }
        return try realm.table(table).allKeys()
    }

    package func sorted(_ text: String) throws(RealmError) -> ResultSet {
        try ordered(try QueryParser.sort(text), "sorted")
    }

    package func distinct(_ text: String) throws(RealmError) -> ResultSet {
        try ordered(try QueryParser.distinct(text), "made distinct")
    }

    private func ordered(_ syntax: OrderingSyntax, _ what: String) throws(RealmError) -> ResultSet {
        let tableKey = try objects(what)
        let group = try realm.reading().group
        guard let table = try group.table(tableKey) else { throw stale() }
        // Names of stored properties only.
        var binder = Binder(group, QueryNames(), [], ConstantArena())
        let bound = try binder.ordering(syntax, table)
        return ResultSet(self, query.appending(bound))
    }

    package func limited(_ limit: Int) throws(RealmError) -> ResultSet {
        if table == nil { return ResultSet(self, query, valueLimit: min(valueLimit, limit)) }
        return ResultSet(self, query.appending(.limit(limit)))
    }

    package func snapshot() throws(RealmError) -> ResultSet {
        if isFixed { return self }
        guard let table else {
            var values: [Mixed] = []
            var paths: [Int: CollectionPath] = [:]
            for i in 0..<(try count()) {
                let element = try value(i)
                try values.add(element)
                switch element {
                case .list, .dictionary: paths[i] = try nestedPath(i)
                default: continue
                }
            }
            return ResultSet(fixing: self, rows: [], values: values, paths: paths)
        }
        if isWholeTable {
            var all: [ObjKey] = []
            for i in 0..<(try realm.objectCount(table)) { try all.add(try realm.objectKey(table, at: i)) }
            return ResultSet(fixing: self, rows: all)
        }
        try update()
        return ResultSet(fixing: self, rows: rows)
    }

    /// The query that finds the rows, with its source and orderings.
    package func objectQuery() throws(RealmError) -> ObjectQuery {
        try verifyOwner()
        _ = try objects("made a query")
        return ObjectQuery(realm, query, source)
    }

    /// Deletes the objects of the rows. For values, and for a whole dictionary, clears the collection.
    package func deleteAll() throws(RealmError) {
        guard realm.isWriting else { throw RealmError(.wrongTransactionState, "Must be in a write transaction") }
        guard let table else {
            guard case .collection(let path) = source else {
                throw RealmError(.illegalOperation, "Keys cannot be deleted through results")
            }
            switch try content() {
            case .dictionary: try realm.clear(path, .dictionary)
            case .list: try realm.clear(path, try realm.shape(path))
            }
            return
        }
        if query.isAll, query.orderings.isEmpty, !isFixed, case .collection(let path) = source,
            try realm.isAlive(path.table, path.object),
            case .dictionary? = try realm.collection(path)
        {
            try realm.clear(path, .dictionary)
            return
        }
        var keys: [ObjKey]
        if isWholeTable {
            keys = try realm.table(table).allKeys()
        } else {
            try update()
            keys = rows.filter { !$0.isNull }
        }
        try realm.delete(table, keys)
    }
}
