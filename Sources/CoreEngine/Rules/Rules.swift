/// # Rules
///
/// What a file demands of its objects, beyond the types of their properties: which values are unique, which conditions
/// are met, which values the engine makes. Automatic values and defaults act on new objects, and belong to Tables
/// (`TableRules`). This layer declares all rules; it follows those of deletion (`DeletionPlan`), tests checks after a
/// call (`CallChecks`), and keeps the others when a transaction is committed (`RuleKeeper`).
///
/// Promise
/// 1. A commit through this library never breaks a rule of its file. A commit that would is refused, and changes
///    nothing.
/// 2. A rule is added only to data that keep it.
/// 3. What another library wrote is examined by the next write transaction: counters and unique indexes are repaired,
///    and objects that break a rule are reported. They stay as they are.
/// 4. The time of a commit grows with the number of objects that it changed, not with those of the class.
///
/// Bytes: docs/format/rules.md. Behaviour: docs/rules.md.
///
/// May use: Query, Conditions, Language, UniqueIndexes, Transactions, History, Tables, Basics.
enum Rules {}
