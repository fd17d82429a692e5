/// # Exchange
///
/// Objects in the forms of other programs: many objects as columns of values, in the memory layout of Apache Arrow, and
/// single objects as JSON. Data tools use columns to read and fill a database without a call per value.
///
/// Promise
/// 1. An exported array is an independent copy: it outlives the snapshot, the Realm and the file, and frees its own
///    memory. No pointer in it leads into the file.
/// 2. An export shows one version, even if other commits happen meanwhile.
/// 3. Imported arrays are only read. They are checked before anything is changed: counts, offsets, lengths and texts of
///    another program are trusted as little as the bytes of a file.
/// 4. Loops over elements allocate no memory and change no reference counts. The element width is decided once per
///    leaf.
///
/// Invariants
/// 1. `ArrowSchema`, `ArrowArray` and `ArrowArrayStream` match the structs of the Arrow C data interface, field for
///    field.
/// 2. A struct of the interface is released once, by its own `release`. `release` is nil in a released or moved struct.
///
/// May use: Objects, ObjectStore, Rules, Scan, Schema, Texts, Transactions, Tables, Elements, Basics.
enum Exchange {}
