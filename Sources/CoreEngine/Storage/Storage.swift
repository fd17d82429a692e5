/// # Storage
///
/// Ownership of bytes: the mapped file, the slab of the write transaction, and the order in which bytes reach the
/// disk.
///
/// Promise
/// 1. A ref becomes a `Node` only through `NodeStore.node(_:)`, which checks alignment, bounds, width type and size: a
///    `Node` is always readable memory. All other claims of a file are checked by the layer that interprets them.
/// 2. Nodes in the file are immutable. A write transaction copies a node to the slab before it changes it and records
///    the old node as freed.
/// 3. A commit that returned is never lost, and a commit that failed never comes back. If the outcome of a commit is
///    unknown, the error says so (`DatabaseFile+Commit`, docs/commit-and-locking.md). A small commit waits for the disk
///    once.
///
/// Refs become nodes in few layers; the others get typed sequences, trees or rows from these.
/// `NodeStore+Translation.swift` is for: Placement, Arrays, Trees, OldFormats, Examination, Rescue.
///
/// May use: Pages, Crypto, Platform, Basics.
enum Storage {}
