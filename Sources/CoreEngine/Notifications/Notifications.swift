/// # Notifications
///
/// What changed between two versions, told in terms of what somebody observes: an object, a collection, the rows of
/// results.
///
/// Promise
/// 1. Applying a change set to what a collection held at the old version gives what it holds at the new one
///    (`CollectionChanges`).
/// 2. A change is reported once: to each observer in one change set, of one version range after the other, without gap
///    or overlap.
/// 3. The time taken is in proportion to what changed, not to what is observed, but where the rows have to be found
///    anew. That is so for results of a collection, of backlinks or of an embedded class; with DISTINCT, or a SORT
///    behind a LIMIT; with a condition whose values the history does not name: steps into Mixed values by name,
///    `@links.@count`, backlinks from Mixed properties or from embedded objects; and when more than one row in sixteen
///    (and more than 256) may have changed (`ResultsNotifier`, `FollowedRows`).
///
/// Invariants
/// 1. Everything is computed from the changesets of the file's history, a snapshot of the new version and what a
///    notifier has kept of the old one. The old one, which stays pinned until all notifiers have left it, is opened
///    only to see where sorted rows stood in it, and who was behind a backlink.
/// 2. Nothing here knows a Realm: a notifier is moved by whoever has a snapshot (ObjectStore), on any thread, one at a
///    time.
///
/// May use: Query, Transactions and below.
enum Notifications {
    /// Links that an observer without key paths looks through. Rules: live-objects §6.9.
    static let depth = 3
}
