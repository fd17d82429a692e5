/// # Scan
///
/// Reads many rows of a table at a time, from the bytes of its leaves: tests, sums, sorts and copies of whole clusters.
/// Conditions of a query and columns of an export are made of these loops.
///
/// Promise
/// 1. A loop over the rows of a leaf allocates nothing and counts no references (`Scripts/check_hot_loops.py`). The
///    width of the elements is decided once per leaf, outside the loop.
/// 2. Every leaf is checked to have as many elements as its cluster has rows before one of them is read: a damaged leaf
///    is an error.
/// 3. A loop finds the same rows as a test of single values: `ColumnTest` agrees with `Mixed.compare`, and `TextTest`
///    with `Pattern.matches`.
/// 4. This layer uses no conditions and no Arrow arrays: its callers pass a test (`RowTest`), or take the values.
///
/// Invariants
/// 1. A mask (`RowMask`) has a byte for each row of the current cluster, 0 or 1; a test only clears bytes.
/// 2. The nodes that a scan hands out are valid until it moves to the next cluster.
///
/// Walk: `ClusterScan`. Tests: `ColumnTest`, `LeafLoops`, `TextTest`, `LinkReach`. Sums: `Aggregator`. Sorts:
/// `SortScan`. Copies: `RowRun`, `NumberLeaf`, `TextLeaf`.
///
/// May use: Language, Tables, Trees, Arrays, Storage, Basics.
enum Scan {}
