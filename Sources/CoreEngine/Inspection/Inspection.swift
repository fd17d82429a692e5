/// # Inspection
///
/// Reads any room to check it; for tests, `crealm_verify` and `crealm_find_faults`. Nothing in the engine depends on it.
///
/// Promise
/// 1. Nothing is changed, and damage is reported, not thrown.
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
