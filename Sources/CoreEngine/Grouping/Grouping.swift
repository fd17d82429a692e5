/// # Grouping
///
/// Answers about many objects: GROUP BY, AGGREGATE and HAVING. The objects of results become groups; each group has the
/// values that its objects share and aggregates of their other values. The groups are columns (Arrow), not objects.
///
/// Promise
/// 1. A grouping reads one version and returns copies: nothing in the result depends on the Realm.
/// 2. Groups are in the order of their first objects, unless an ordering says otherwise. The result for integers is
///    exact; sums of floating-point numbers are added in the order of the objects.
/// 3. Time grows with the number of objects, and memory with the number of groups (for medians and distinct counts:
///    of values). A grouping can be interrupted.
///
/// Invariants
/// 1. Groups, and the distinct values of a key, are numbered from 0 in the order in which they appear.
/// 2. Equal values have one number: in Mixed values also 1 and 1.0; all kinds of not-a-number; 0.0 and −0.0.
/// 3. Loops over objects read leaves in place: no allocation and no reference counting per object, except for values
///    that an expression computes.
///
/// May use: Exchange, Notifications, Objects, ObjectStore, Query, Conditions, Scan, Language, Texts, Transactions, Tables,
/// Crypto, Basics.
enum Grouping {}
