/// # OldFormats
///
/// Snapshots of formats 2 to 9, of the years 2014 to 2019, as the rooms above know them: a group of format 24, whose
/// nodes are made when they are first asked for. Format: old-formats.
///
/// Promise
/// 1. The file is only read. What is made lies in memory, in the slab of the transaction that reads.
/// 2. Classes, properties, flags, keys and values are those that an upgrade by Realm gives (old-formats §12): rows 0 …
///    n−1 are objects with these keys. Where that upgrade loses or breaks values (§13), the values of the file are
///    shown.
/// 3. Who opens a file reads its schema. Rows are translated 256 at a time, one column at a time, when somebody asks
///    for them. Trees of row numbers and of integers mean the same in both formats and are read where they are.
/// 4. A damaged file ends in an error that names the place. What a count in the file claims is bounded by the size of
///    the file.
///
/// Who reads old formats: `OldSpec` (what columns there are), `OldTree` (the elements of a column), `OldLeaf` (one
/// value). Who makes new ones: `OldSchema` (tables, specs, keys), `RowTranslation` (the leaves of clusters and lists),
/// `OldSnapshot` (which ref stands for what).
///
/// May use: Tables and below.
enum OldFormats {
    /// Formats that are read through this room.
    static func isRead(_ format: UInt8) -> Bool { (2...9).contains(format) }

    /// Deepest tree that is followed.
    static let maxDepth = 16

    /// Most columns of a table.
    static let maxColumns = 4096

    /// Nodes that a file of so many bytes may hold rows for: a column of zeros takes hardly a byte for a hundred rows.
    static func mostRows(_ bytes: Int) -> Int { bytes * 200 + 1_000_000 }
}
