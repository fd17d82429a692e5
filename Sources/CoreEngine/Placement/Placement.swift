/// # Placement
///
/// Where nodes go in the file: the free space, what a commit writes (`CommitWriter`), copies of whole snapshots
/// (`CopyWriter`), and moving nodes to the front of a file that shrinks (`TailMover`).
///
/// Promise
/// 1. `[24, L)` of every committed snapshot is tiled exactly by reachable nodes and free-list entries (storage §3.2).
/// 2. Space freed by commit v is first allocated by commit v + 2, and only when no reader can hold a version below v
///    (storage §3.4); no node crosses a section boundary.
///
/// May use: Storage, Pages, Crypto, Platform, Basics.
enum Placement {}
