/// # Query
///
/// Whole queries: a condition with SORT, DISTINCT and LIMIT (`BoundQuery`), run on the objects of a class.
///
/// Promise
/// A query finds its rows through an index where one answers, and otherwise by a scan; both give the same rows in the
/// same order.
///
/// May use: Conditions, Scan, Language, Tables, Elements, Platform, Basics.
enum Query {}
