/// # Conditions
///
/// Conditions and values over the rows of a class: the tree of a query bound to tables (`Binder`), conditions
/// (`Condition`), values (`Expression`), and the tree back to text (`QueryPrinter`).
///
/// Promise
/// 1. Binding finds every error in names, types and arguments (1009, 3015, 2007). Running finds the errors that depend
///    on data.
/// 2. A condition narrows the rows of one cluster at a time: it works on a mask of up to 256 bytes, with the loops of
///    Scan.
/// 3. Evaluation and release recurse over the tree; its depth is bounded by the stack of the thread.
///
/// May use: Scan, Language, UniqueIndexes, Tables, Elements, Storage, Basics.
enum Conditions {}
