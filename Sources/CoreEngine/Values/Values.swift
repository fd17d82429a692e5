/// # Values
///
/// The values that a user can store, and the keys that identify tables, columns and objects. All are plain values,
/// compared and ordered as the file format requires. `JSONText` writes all JSON of the engine.
///
/// Promise
/// 1. Values are trivial: copying one counts no reference and allocates nothing; texts and binaries point to the stored
///    bytes.
/// 2. Order and equality are those of logical §12.3, for every pair of types.
/// 3. A lookup by a text compares its bytes (`Name`), never Unicode equivalence.
///
/// May use: Format, Platform, Basics.
enum Values {}
