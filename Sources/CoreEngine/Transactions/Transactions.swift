/// # Transactions
///
/// Snapshots, the write lock, commits, and the lock file with its content.
///
/// Promise
/// 1. A snapshot, once begun, never changes and never waits for a writer; a reader takes no lock that a writer holds.
/// 2. There is one writer at a time over all threads and processes; its lock is released when its process dies.
/// 3. A commit that returned is durable (durability full), one that failed never comes back; a crash leaves the old or
///    the new version.
/// 4. realm-core and this engine refuse each other while the other has the file open, and the lock file is never left
///    in a state in which either of them hangs. Format: storage §5.6 B.
/// 5. A transaction whose snapshot cannot be read (again) is interrupted: it accepts no other call until that succeeds,
///    and commits nothing.
/// 6. A file has one session, under whatever names it is opened; a child process has no part in the session of its
///    parent.
/// 7. Immutable and snapshot opens change nothing: no lock file, no byte of the file.
/// 8. A snapshot open shows one committed version of a file that others write, with this library or realm-core, or it
///    fails (docs/commit-and-locking.md).
///
/// May use: Placement, OldFormats, History, Tables, Storage, Pages, Crypto, Platform, Basics.
enum Transactions {}

/// How durable a commit is. Numbers as in realm-core's lock file.
package enum Durability: UInt32, Sendable {
    /// A committed version is never lost: one flush or two, see docs/commit-and-locking.md.
    case full = 0
    /// The file is only a backing store: no header, no flush, deleted when the last user closes it.
    case memoryOnly = 1
    /// Written, header included, but never flushed: a power failure may corrupt it.
    case unsafe = 2
}
