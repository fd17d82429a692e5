/// How a query finds its rows, and how many objects it tested.
package struct QueryPlan {
    /// The numbers are those of `crealm_access_e`.
    package enum Access: UInt32 {
        /// Every object of the class is tested.
        case scan
        /// A search index gives the candidates.
        case index
        /// A full-text index gives the candidates.
        case words
        /// The rows of a collection or of other results are tested.
        case rows
        /// The condition is constantly true or false: nothing is tested.
        case nothing
    }

    package var access: Access

    /// The property whose index is used, the first one when there are several; null without an index.
    package var property = ColKey.null

    /// The number of objects of the class, or of rows of the source.
    package var objects: Int

    /// The number of objects whose values were tested.
    package var tested: Int
    package var found = 0
}

/// An index that gives the candidates of a condition without a scan.
struct IndexUse {
    var access: QueryPlan.Access
    var column: ColKey

    /// The number of candidates.
    var candidates: Int

    /// Whether other conditions remain to be tested on the candidates.
    var isTested = false
}

extension IndexUse {
    init(_ unique: UniqueAccess) {
        self.init(access: .index, column: unique.column, candidates: unique.keys.count, isTested: true)
    }
}
