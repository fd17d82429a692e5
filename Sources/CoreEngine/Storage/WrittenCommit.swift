/// A commit that is written but not yet selected.
struct WrittenCommit {
    var topRef: Ref
    var logicalSize: Int
    var version: UInt64

    /// The checksum and the extents for the record behind the base snapshot; nil for a commit that is too large or
    /// too scattered.
    var content: (checksum: Checksum, extents: [FileChunk])?

    /// The place of the record behind this snapshot; 0 when the snapshot has no record.
    var recordAt = 0

    /// What the commit wrote.
    var work = CommitWork()
}

/// What a commit wrote, in bytes before encryption, and the free space after it.
package struct CommitWork: Sendable {
    /// The version that the commit made; 0: no commit.
    package var version: UInt64 = 0

    /// Nodes of objects, indexes and schema.
    package var objects = 0

    /// Nodes of the history.
    package var history = 0

    /// Free lists, top array and commit record.
    package var freeLists = 0

    /// Pieces of free space, and their bytes.
    package var freePieces = 0
    package var freeBytes = 0

    /// The size of the file.
    package var fileSize = 0
}
