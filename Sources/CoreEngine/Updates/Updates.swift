/// # Updates
///
/// Changes of many objects by expressions: `n = n + 1, price = price * 0.9, city = $0`, as UPDATE in SQL.
///
/// Promise
/// 1. Each object is set once. All expressions see the values from before the update, also those of other objects.
/// 2. An update that fails has changed nothing, and its error names the property and the object.
/// 3. The objects, the history and the indexes are the same as after single calls. Rules hold for an update as for one
///    call.
/// 4. A number is stored as the type of its property: exactly in integers, as the nearest value in other types.
///    A number that a property cannot hold is an error, and so is the division of an integer by zero.
///
/// Invariants
/// 1. The objects are set in the order of their keys, block by block: all new values of a block are known before the
///    first of them is written. If an expression reads other objects, all new values are known before.
/// 2. Properties of integers and doubles are computed column by column: no allocation and no reference counting per
///    object.
///
/// May use: Objects, ObjectStore, Conditions, Scan, Language, Transactions, Tables, Basics.
enum Updates {}
