/// # Columns
///
/// Many objects as columns of values, in the memory layout of Apache Arrow: how data tools read and fill a database
/// without a call per value.
///
/// Promise
/// 1. What is handed out is a copy that stands by itself: it outlives the snapshot, the Realm and the file, and each
///    array gives its own memory back. Nothing in it points into the file.
/// 2. What is handed out is of one version, whatever is committed meanwhile.
/// 3. What comes in is only read. It is checked before anything is changed: counts, offsets, lengths and texts of a
///    foreign program are trusted as little as the bytes of a file.
/// 4. Loops over elements allocate nothing and count no references; how wide the elements of a leaf are is decided once
///    per leaf.
///
/// Invariants
/// 1. `ArrowSchema`, `ArrowArray` and `ArrowArrayStream` are those of the Arrow C data interface, field for field.
/// 2. A struct of the interface is released by its own `release`, once; `release` is nil in one that was released or
///    moved away.
///
/// May use: ObjectStore and below.
enum Columns {}
