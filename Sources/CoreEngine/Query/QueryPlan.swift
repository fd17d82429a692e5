/// How a query finds its rows, and what that took.
package struct QueryPlan {
    /// Numbers: `crealm_access_e`.
    package enum Access: UInt32 {
        /// Every object of the class is tested.
        case scan
        /// A search index names the candidates.
        case index
        /// An index of words does.
        case words
        /// The rows of a collection or of other results are tested.
        case rows
        /// The condition is true for all, or for none: nothing is tested.
        case nothing
    }

    package var access: Access

    /// The property whose index it is; null without one. Of several the first.
    package var property = ColKey.null

    /// Objects of the class, or rows of the source.
    package var objects: Int

    /// Objects whose values were tested.
    package var tested: Int
    package var found = 0
}

/// What names the candidates of a condition without a scan.
struct IndexUse {
    var access: QueryPlan.Access
    var column: ColKey

    /// Objects that it names.
    var candidates: Int

    /// Whether conditions beside it are left to be tested on those.
    var isTested = false
}

extension BoundQuery {
    /// The plan for a whole table, without what it finds.
    func plan(_ group: Group) throws(RealmError) -> QueryPlan {
        let table = try open(group), objects = try table.count()
        guard let use = try condition.indexUse(table) else {
            return QueryPlan(access: .scan, objects: objects, tested: objects)
        }
        return QueryPlan(
            access: use.access, property: use.column, objects: objects, tested: use.isTested ? use.candidates : 0)
    }
}
