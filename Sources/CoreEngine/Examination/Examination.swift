/// # Examination
///
/// Reads facts about a file and checks whether it is sound, for users who do not know what a file is or whether they
/// can trust it. The check of an open snapshot is also here.
///
/// Promise
/// 1. Nothing is written, locked or created, neither in the file nor beside it.
/// 2. Damage is a result, with its place, and never an error, even if the file cannot be opened at all. An error means
///    that the file could not be read and nothing is known about it.
/// 3. The time is bounded by the size of the file, whatever it contains.
///
/// `FileFacts` reads the facts of a file. `Verifier` checks a snapshot and reports `Fault`s. `FileCheck` checks a file,
/// with both slots of its header. `SlotReuse` decides whether the version before the newest one is still intact.
///
/// May use: Transactions, OldFormats, History, Tables, Elements, Trees, Arrays, Storage, Pages, Crypto, Platform,
/// Basics.
enum Examination {}
