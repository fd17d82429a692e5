/// # CRealm
///
/// The C skin: one exported function for each of the API, none of which does more than translate arguments, pass the
/// door, and translate the outcome. See docs/architecture.md, "The C skin".
///
/// Promise
/// 1. Every function has an answer for every argument; what fails becomes the thread's last error.
/// 2. What stands behind a handle is reached through `Boundary/Door.swift` and in no other way.
/// 3. No node, leaf or tree is seen from here.
///
/// May use: Rescue, Columns, Examination, Inspection, ObjectStore, Notifications, Query, Transactions, Tables, Values,
/// Crypto, Platform, Basics.
