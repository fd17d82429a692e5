/// # Arrays
///
/// One node (or the small fixed cluster of nodes that forms a leaf) seen as a typed sequence: reading in place, width
/// growth, insert, erase.
///
/// Promise
/// 1. Reading allocates nothing and counts no references; every index that can come from a file or caller is checked
///    against the node.
/// 2. Every mutator takes the ref or node it changes and returns (or updates) the one that stands for it afterwards;
///    the caller stores it in the parent. Nothing here knows its parent.
/// 3. Encodings are those of logical §6: forms only move up (small → medium → big strings), widths never shrink except
///    on emptying.
/// 4. All column leaves answer to one interface, `LeafKind`, whether they stand in a cluster or in a B+tree.
///
/// May use: Storage, Values, Format, Platform, Basics.
enum Arrays {}
