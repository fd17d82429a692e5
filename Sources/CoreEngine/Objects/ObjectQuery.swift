/// A query with its Realm and the source of its rows.
package final class ObjectQuery {
    package let realm: Realm
    let bound: BoundQuery
    package let source: ResultSet.Source

    init(_ realm: Realm, _ bound: BoundQuery, _ source: ResultSet.Source) {
        self.realm = realm
        self.bound = bound
        self.source = source
    }

    package convenience init(_ realm: Realm, _ table: TableKey, _ text: String, _ arguments: [QueryArgument])
        throws(RealmError)
    {
        let bound = try BoundQuery.parse(text, try realm.reading().group, table, realm.queryNames, arguments)
        self.init(realm, bound, .table(table))
    }

    /// A query on the objects of a list or set.
    package convenience init(in path: CollectionPath, _ realm: Realm, _ text: String, _ arguments: [QueryArgument])
        throws(RealmError)
    {
        guard let target = try realm.linkTarget(path) else {
            throw RealmError(.illegalOperation, "Queries on collections of values are not supported")
        }
        let bound = try BoundQuery.parse(text, try realm.reading().group, target, realm.queryNames, arguments)
        self.init(realm, bound, .collection(path))
    }

    /// A query on the rows of results. It does not keep the ordering of the results.
    package convenience init(of results: ResultSet, _ text: String, _ arguments: [QueryArgument]) throws(RealmError) {
        guard let table = results.table else {
            throw RealmError(.illegalOperation, "Queries on results of values are not supported")
        }
        let realm = results.realm
        let bound = try BoundQuery.parse(text, try realm.reading().group, table, realm.queryNames, arguments)
        self.init(realm, results.query.and(bound, orderings: bound.orderings), results.source)
    }

    /// Returns this query AND another one. The orderings of the other query come after those of this one.
    package func appending(_ text: String, _ arguments: [QueryArgument]) throws(RealmError) -> ObjectQuery {
        let other = try BoundQuery.parse(text, try realm.reading().group, bound.table, realm.queryNames, arguments)
        var orderings = bound.orderings
        for ordering in other.orderings { Ordering.append(ordering, to: &orderings) }
        return ObjectQuery(realm, bound.and(other, orderings: orderings), source)
    }

    package func results() throws(RealmError) -> ResultSet {
        return try ResultSet(realm, source, self)
    }

    package func count() throws(RealmError) -> Int { try results().count() }

    package func first() throws(RealmError) -> (TableKey, ObjKey)? {
        if case .table = source, bound.orderings.isEmpty {
            try bound.expectStack()
            let bound = realm.isFrozen ? bound.copied() : bound
            guard let key = try bound.appending(.limit(1)).run(try realm.reading().group).first else { return nil }
            return (bound.table, key)
        }
        let results = try results()
        guard try results.count() > 0 else { return nil }
        return try results.object(0)
    }

    package func deleteAll() throws(RealmError) { try results().deleteAll() }

    /// Returns how the query finds its rows. This runs the query.
    package func plan() throws(RealmError) -> QueryPlan {
        let found = try count(), group = try realm.reading().group
        let bound = realm.isFrozen ? bound.copied() : bound
        var plan: QueryPlan
        if case .table = source {
            plan = try bound.plan(group)
        } else {
            let rows = try ResultSet(realm, source, ObjectQuery(realm, .all(bound.table), source)).count()
            plan = QueryPlan(access: .rows, objects: rows, tested: bound.isAll ? 0 : rows)
        }
        plan.found = found
        return plan
    }

    package func text() throws(RealmError) -> String { bound.text(try realm.reading().group) }
}
