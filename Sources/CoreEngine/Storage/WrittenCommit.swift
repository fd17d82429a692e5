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
