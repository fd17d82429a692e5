/// # Notifications
///
/// Reports what changed between two versions to the observers of an object, a collection or results.
///
/// Promise
/// 1. Applying a change set to the content of a collection at the old version gives its content at the new version
///    (`CollectionChanges`).
/// 2. Each change is reported once to each observer: its change sets cover consecutive version ranges without gap or
///    overlap.
/// 3. The time is proportional to what changed, not to what is observed, except where the rows must be searched again:
///    results of a collection, of backlinks or of an embedded class; DISTINCT, or a SORT behind a LIMIT; a condition on
///    values that the history does not name (steps into Mixed values by name, `@links.@count`, backlinks from Mixed
///    properties or from embedded objects); and when more than one row in 16 (and more than 256) may have changed
///    (`ResultsNotifier`, `FollowedRows`).
///
/// Invariants
/// 1. Everything is computed from the changesets of the file's history, a snapshot of the new version, and what a
///    notifier has kept of the old version. The old version stays pinned until all notifiers have left it. It is opened
///    only to find the old positions of sorted rows, and the old objects behind a backlink.
/// 2. This layer does not know `Realm`: the owner of a snapshot (ObjectStore) moves a notifier, on any thread, one at a
///    time.
///
/// May use: Query, Conditions, Transactions, History, Tables, Elements, Basics.
enum Notifications {
    /// Number of links that an observer without key paths follows. Rules: live-objects §6.9.
    static let depth = 3
}
