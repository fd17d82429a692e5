/// # Basics
///
/// The words in which all layers speak: the only error type, memory, texts and numbers, the values that a user can
/// store, the keys that identify tables, columns and objects, and refs, the places of nodes.
///
/// Promise
/// 1. Nothing here depends on files or processes: the functions of the C library (`CLibrary`) handle memory, mutexes and
///    numbers only.
/// 2. Values (`Values`) are trivial: copying one counts no reference and allocates nothing; texts and binaries point to
///    the stored bytes. Order and equality are those of logical §12.3, for every pair of types.
/// 3. A lookup by a text compares its bytes (`Name`), never Unicode equivalence.
///
/// May use: nothing.
///
/// Folders:
/// - `Basics` may use: CLibrary, Values.
/// - `CLibrary` may use: Basics.
/// - `Values` may use: Basics, CLibrary.
enum Basics {}
