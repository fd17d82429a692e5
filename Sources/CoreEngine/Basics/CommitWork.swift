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
