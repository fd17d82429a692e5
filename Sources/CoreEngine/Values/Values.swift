/// # Values
///
/// What a user can store, and the keys by which tables, columns and objects are known: plain values, compared and
/// ordered as the file asks for.
///
/// Promise
/// 1. Values are trivial: copying one counts no reference and allocates nothing; texts and binaries point to where they
///    lie.
/// 2. Order and equality are those of logical §12.3, for every pair of types.
/// 3. What is looked up by a text is looked up by its bytes (`Name`), never by Unicode equivalence.
///
/// May use: Format, Platform, Basics.
enum Values {}
