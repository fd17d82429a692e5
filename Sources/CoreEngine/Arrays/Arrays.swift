/// # Arrays
///
/// One node, or the small fixed group of nodes that forms a leaf, as a typed sequence: read in place, grow the width,
/// insert, erase.
///
/// Promise
/// 1. Reading allocates no memory and counts no references. Every index that can come from a file or a caller is
///    checked against the node.
/// 2. Every mutator takes a ref or node and returns (or updates) the ref or node that replaces it; the caller stores it
///    in the parent. Code of this layer does not know the parent of a node.
/// 3. Encodings are those of logical §6: forms only move up (small → medium → big strings); a width shrinks only when
///    an array becomes empty.
/// 4. All column leaves have one interface, `LeafKind`, both in a cluster and in a B+tree.
///
/// May use: Storage, Basics.
enum Arrays {}
