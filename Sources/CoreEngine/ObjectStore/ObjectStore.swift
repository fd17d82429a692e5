/// # ObjectStore
///
/// Classes and properties on top of tables and columns, opening with a schema, the thread-confined `Realm`, and
/// results. Four folders:
/// - `Objects`: the dynamic Swift API: `Realm`, objects, collections, results, values.
/// - `Schema`: schemas, their differences, migrations.
/// - `Live`: which calls may enter a Realm, and how it moves from version to version: transactions, turns, asynchronous
///   writes, observers, frozen versions, schedulers.
/// - `Copies`: merging, copies of files, JSON and text of objects.
///
/// Promise
/// 1. A schema is checked before the file is touched; an open that fails leaves the file unchanged.
/// 2. A `Realm` belongs to its scheduler's thread: a call on another thread gets an error, not a data race. A call on a
///    closed Realm gets an error, never a trap.
/// 3. Handles store the keys of objects and resolve them at the current version, so no handle refers to freed data when
///    the version moves.
///
/// May use: Notifications, Query, Examination, Transactions and below.
enum ObjectStore {
    /// The maximum length of class and property names, in bytes.
    static let maxClassName = 57
    static let maxPropertyName = 63

    /// The schema version of a file without one.
    static let notVersioned = UInt64.max
}
