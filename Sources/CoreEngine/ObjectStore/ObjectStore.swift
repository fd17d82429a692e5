/// # ObjectStore
///
/// The thread-confined `Realm`: opening with a schema, transactions, and how it moves from version to version. Four
/// folders:
/// - `Objects`: `Realm`, its configuration, and the Realms of a process.
/// - `Schema`: bringing the schema of a file to the requested one, migrations.
/// - `Live`: which calls may enter a Realm, and how it moves from version to version: transactions, turns, asynchronous
///   writes, observers, frozen versions.
/// - `Copies`: merging, copies of files.
///
/// Promise
/// 1. A schema is checked before the file is touched; an open that fails leaves the file unchanged.
/// 2. A `Realm` belongs to its scheduler's thread: a call on another thread gets an error, not a data race. A call on a
///    closed Realm gets an error, never a trap.
///
/// May use: Scheduling, Examination, Notifications, Marks, Rules, Query, Conditions, Schema, Transactions, Tables,
/// Elements, Storage, Crypto, Platform, Basics.
///
/// Folders:
/// - `Copies` may use: Live, Objects, Schema.
/// - `Live` may use: Objects, Schema.
/// - `ObjectStore` may use: nothing.
/// - `Objects` may use: Copies, Live, Schema.
/// - `Schema` may use: Copies, Live, Objects.
enum ObjectStore {}
