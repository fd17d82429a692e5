/// # Inspection
///
/// Measures and checks an open Realm, with the help of all layers below: `crealm_verify`, `crealm_find_faults`,
/// `crealm_get_space`, `crealm_value_location`. No other layer depends on it.
///
/// Promise
/// 1. Nothing is changed. A check reports damage and does not throw it.
/// 2. The time is bounded by the size of the file, whatever it contains.
///
/// May use: ObjectStore, Examination and below.
enum Inspection {}

extension Realm {
    /// The violated invariants of the snapshot. The first `limit` of them have their places.
    package func findFaults(limit: Int) throws(RealmError) -> Faults {
        let transaction = try reading()
        return try transaction.store.during(.checking) { () throws(RealmError) in
            try Verifier(transaction, limit: limit).run()
        }
    }
}
