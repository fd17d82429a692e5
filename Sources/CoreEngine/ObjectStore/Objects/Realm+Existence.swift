/// Whether objects exist.
extension Realm {
    @inline(never) func invalidated() -> RealmError {
        RealmError(.invalidatedObject, "Accessing object which has been invalidated or deleted")
    }

    package func isAlive(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) -> Bool {
        try reading().group.table(tableKey)?.isValid(object) ?? false
    }

    /// Throws 2010 unless the object exists.
    package func verifyAlive(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) {
        guard try isAlive(tableKey, object) else { throw invalidated() }
    }
}
