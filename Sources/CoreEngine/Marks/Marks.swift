/// # Marks
///
/// Notes, in the commit itself, which properties of which objects a program has changed since they were last sent to
/// the hub. The layer Sync sends them. A mark names the property; its value is read when it is sent. What the object no
/// longer has by then is noted with the mark: the sum that was added to an integer, the elements that a collection had
/// before, the primary key of a deleted object.
///
/// Promise
/// 1. A change and its mark are in the same commit: neither is ever in the file without the other.
/// 2. A file that is not synchronised pays one look-up of a name for each write transaction and each commit.
/// 3. The marks take space in proportion to the unsent changes.
/// 4. A class that a library without marks has written is found at the next commit, and noted as one to compare.
///
/// Invariants
/// 1. After a commit, `crealm_sync_classes` has the content version of each synchronised class.
/// 2. Clocks in a file ascend: `clock` in `crealm_sync` is the largest.
/// 3. A row of a table of pending changes has the key of its object.
///
/// Bytes: docs/format/sync.md. Behaviour: docs/sync.md.
///
/// May use: Texts, Transactions, History, Tables, Platform, Basics.
enum Marks {}
