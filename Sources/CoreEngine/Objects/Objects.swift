/// # Objects
///
/// The dynamic Swift API on top of `Realm`: objects, collections, results and values. The C layer uses the same calls.
///
/// Promise
/// 1. Handles store the keys of objects and resolve them at the current version, so no handle refers to freed data when
///    the version moves.
/// 2. Every call enters the Realm first (`Realm.inside`), which checks its thread, and that the Realm is open.
/// 3. A call that cannot throw returns no plausible value in place of an error (`Misuse`).
///
/// May use: ObjectStore, Scheduling, Examination, Notifications, Rules, Query, Conditions, Scan, Language, Schema,
/// Transactions, Tables, Elements, Basics.
enum Objects {}
