/// # Inspection
///
/// Reads any room to check it, or to measure it: for tests, `crealm_verify`, `crealm_find_faults` and `crealm_get_space`. Nothing in the engine
/// depends on it.
///
/// Promise
/// 1. Nothing is changed; a check reports damage, and does not throw it.
/// 2. The time is bounded by the size of the file, whatever it holds.
///
/// May use: ObjectStore and below.
enum Inspection {}

extension Realm {
    /// The violated invariants of the snapshot; the first `limit` of them with their places.
    package func findFaults(limit: Int) throws(RealmError) -> Faults {
        let transaction = try reading()
        return try transaction.store.during(.checking) { () throws(RealmError) in try Verifier(transaction, limit: limit).run() }
    }
}
