/// # Inspection
///
/// Reads any room to measure an open Realm, and has it checked: `crealm_verify`, `crealm_find_faults`,
/// `crealm_get_space`, `crealm_value_location`. Nothing in the engine depends on it.
///
/// Promise
/// 1. Nothing is changed; a check reports damage, and does not throw it.
/// 2. The time is bounded by the size of the file, whatever it holds.
///
/// May use: ObjectStore, Examination and below.
enum Inspection {}

extension Realm {
    /// The violated invariants of the snapshot; the first `limit` of them with their places.
    package func findFaults(limit: Int) throws(RealmError) -> Faults {
        let transaction = try reading()
        return try transaction.store.during(.checking) { () throws(RealmError) in
            try Verifier(transaction, limit: limit).run()
        }
    }
}
