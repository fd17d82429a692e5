/// # Trees
///
/// Many nodes as one structure: B+trees (lists, sets, dictionary keys and values, backlinks, index lists), cluster
/// trees (the rows of a table), search indexes.
///
/// Promise
/// 1. Shapes, split and merge rules are those of logical §5, §7, §9, so that trees grow node for node as realm-core's
///    do.
/// 2. Every mutator takes the root ref and returns the root that stands for the tree afterwards; path nodes are copied
///    to the slab on the way.
/// 3. Depth, child counts and offsets from a file are checked on every descent: damage ends in an error, never in a
///    loop or a stray read.
///
/// May use: Arrays and below.
enum Trees {
    /// No tree of a file below 2^47 bytes is deeper; a deeper one is a cycle.
    static let maxDepth = 24
}
