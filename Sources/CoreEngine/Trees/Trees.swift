/// # Trees
///
/// Many nodes as one structure: B+trees (lists, sets, dictionary keys and values, backlinks, index lists), cluster
/// trees (the rows of a table), search indexes.
///
/// Promise
/// 1. Shapes and the rules for splits and merges are those of logical §5, §7, §9, so that trees grow node for node as
///    in realm-core.
/// 2. Every mutator takes the root ref and returns the new root; the nodes on the path are copied to the slab.
/// 3. Depth, child counts and offsets from a file are checked on every descent: damage causes an error, never an
///    endless loop or a read outside of the file.
///
/// May use: Arrays, Storage, Platform, Basics.
enum Trees {
    /// No tree in a file below 2^47 bytes is deeper; a greater depth means a cycle.
    static let maxDepth = 24
}
