/// # OldFormats
///
/// Presents snapshots of formats 2 to 9 (2014 to 2019) to the layers above as a group of format 24. Its nodes are
/// created when they are first read. Format: old-formats.
///
/// Promise
/// 1. The file is only read. Created nodes are in memory, in the slab of the reading transaction.
/// 2. Classes, properties, flags, keys and values are those that an upgrade by Realm produces (old-formats §12): rows 0
///    … n−1 become objects with these keys. Where that upgrade loses or breaks values (§13), the values of the file are
///    shown.
/// 3. Opening a file reads only its schema. Rows are translated on demand, 256 at a time, one column at a time. Trees
///    of row numbers and of integers mean the same in both formats and are read in place.
/// 4. A damaged file causes an error with the place of the damage. Counts stored in the file are bounded by the size of
///    the file.
///
/// Readers of old formats: `OldSpec` (columns), `OldTree` (the elements of a column), `OldLeaf` (one value). Creators
/// of new nodes: `OldSchema` (tables, specs, keys), `RowTranslation` (the leaves of clusters and lists), `OldSnapshot`
/// (the node of each ref).
///
/// May use: Arrays, Storage, Basics.
enum OldFormats {
    /// Whether a format is read through this layer.
    static func isRead(_ format: UInt8) -> Bool { (2...9).contains(format) }

    /// Maximum depth of a tree.
    static let maxDepth = 16

    /// Maximum number of columns of a table.
    static let maxColumns = 4096

    /// Maximum number of rows in a file of this size. A column of zeros needs hardly one byte per hundred rows.
    static func mostRows(_ bytes: Int) -> Int { bytes * 200 + 1_000_000 }
}
