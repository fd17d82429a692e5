/// # CRealm
///
/// The C layer: one exported function for each function of the API. Each function only converts its arguments, calls an
/// entry point, and converts the result. See docs/architecture.md, "The C layer".
///
/// Promise
/// 1. Every function has a defined result for every argument. A failure becomes the last error of the thread.
/// 2. `Boundary/EntryPoints.swift` is the only way to the object behind a handle.
/// 3. This layer does not access nodes, leaves or trees.
///
/// May use: Sync, Grouping, Exchange, Blobs, Updates, Objects, Rescue, ObjectStore, Scheduling, Examination,
/// Notifications, Rules, Conditions, Language, Schema, Transactions, Tables, Elements, Crypto, Platform, Basics.
///
/// Folders:
/// - `Boundary` may use: CRealm.
/// - `CRealm` may use: Boundary.
