/// An open Realm is measured and checked: `crealm_verify`, `crealm_find_faults`, `crealm_get_space`,
/// `crealm_value_location`. Nothing is changed, and a check reports damage and does not throw it.
extension Realm {
    /// The violated invariants of the snapshot. The first `limit` of them have their places.
    package func findFaults(limit: Int) throws(RealmError) -> Faults {
        let transaction = try reading()
        return try transaction.group.check { () throws(RealmError) in
            try Verifier(transaction, limit: limit).run()
        }
    }

    /// How the bytes of the file of the snapshot are used.
    package func spaceUsage() throws(RealmError) -> (
        parts: [(kind: UInt32, className: Name?, property: Name?, bytes: Int)], size: Int
    ) {
        let transaction = try reading()
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "What a write transaction has changed lies in no file yet")
        }
        return try transaction.group.check { () throws(RealmError) in
            let found = try SpaceUsage(transaction).run()
            return (found.parts.map { ($0.kind.rawValue, $0.className, $0.property, $0.bytes) }, found.size)
        }
    }

    /// The place of a value of an object, or of element `index` of a collection. If `index` is nil, the place of the
    /// collection itself.
    package func location(
        _ table: TableKey, _ object: ObjKey, _ property: ColKey, index: Int?
    ) throws(RealmError) -> ValueLocation {
        let transaction = try reading(), t = try objectTable(table)
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "What a write transaction has changed lies in no file yet")
        }
        try verifyAlive(table, object)
        _ = try facts(t, property)
        guard let column = t.column(property) else { throw invalidated() }
        var finder = ValueFinder(transaction)
        try finder.find(t, column, object, index)
        return finder.found
    }
}
