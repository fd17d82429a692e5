/// # Examination
///
/// What a file says of itself, and whether it is sound: for those who have a file and do not know what it is, or
/// whether it can be trusted. Here is also the check of a snapshot that is open.
///
/// Promise
/// 1. Nothing is written, locked or made, neither in the file nor beside it.
/// 2. Damage is an answer, with its place, and never an error: also of a file that cannot be opened at all. An error
///    says that the file could not be read, so that nothing is known of it.
/// 3. The time is bounded by the size of the file, whatever it holds.
///
/// What a file says of itself: `FileFacts`. Whether a snapshot is sound: `Verifier`, whose findings are `Fault`s. The
/// same of a file with both slots of its header: `FileCheck`. Whether the version before the newest one is still whole:
/// `SlotReuse`.
///
/// May use: Transactions and below.
enum Examination {}
