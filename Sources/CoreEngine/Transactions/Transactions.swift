/// # Transactions
///
/// Snapshots, the write lock, commit, the lock file and what stands in it.
///
/// Promise
/// 1. A snapshot, once begun, never changes and never waits for a writer; a reader takes no lock that a writer holds.
/// 2. One writer at a time over all threads and processes; its lock goes when its process dies.
/// 3. A commit that returned is there afterwards (durability full), one that failed never comes back; a crash leaves
///    the old or the new version.
/// 4. realm-core and this engine refuse each other while the other has the file open, and the lock file is never left
///    in a state that hangs either. Format: storage §5.6 B.
/// 5. A transaction whose snapshot cannot be read (again) is interrupted: it takes no call until that succeeds, and
///    commits nothing.
/// 6. A file has one session, under whatever names it is opened; a child process has no part in its parent's.
/// 7. Immutable and snapshot opens touch nothing: no lock file, no byte of the file.
/// 8. A snapshot open shows one committed version of a file that others write, this library or realm-core, or fails
///    (docs/commit-and-locking.md).
///
/// May use: History, OldFormats and below.
enum Transactions {}

/// How far a commit goes towards stable storage. Numbers as in realm-core's lock file.
package enum Durability: UInt32, Sendable {
    /// What was committed is never lost: one flush or two, see docs/commit-and-locking.md.
    case full = 0
    /// The file is only a backing store: no header, no flush, deleted when the last user closes it.
    case memoryOnly = 1
    /// Written, header included, but never flushed: a power failure may corrupt it.
    case unsafe = 2
}
