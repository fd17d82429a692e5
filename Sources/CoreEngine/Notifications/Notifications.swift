/// # Notifications
///
/// What changed between two versions, told in terms of what somebody observes: an object, a collection, the rows of results.
///
/// Promise
/// 1. Applying a change set to what a collection held at the old version gives what it holds at the new one (`CollectionChanges`).
/// 2. A change is reported once: to each observer in one change set, of one version range after the other, without gap or overlap.
/// 3. The time taken is in proportion to what changed, not to what is observed, but where the rows have to be found anew: results with
///    SORT, DISTINCT or LIMIT, of a collection or of backlinks, or with a condition that follows links (`ResultsNotifier`).
///
/// Invariants
/// 1. Everything is computed from the changesets of the file's history and a snapshot of the new version; nothing from the old snapshot but
///    what a notifier has kept of it.
/// 2. Nothing here knows a Realm: a notifier is moved by whoever has a snapshot (ObjectStore), on any thread, one at a time.
///
/// May use: Query, Transactions and below.
enum Notifications {
    /// Links that an observer without key paths looks through. Rules: live-objects §6.9.
    static let depth = 3
}
