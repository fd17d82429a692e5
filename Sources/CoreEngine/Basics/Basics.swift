/// # Basics
///
/// What every room takes for granted: the one error type, and memory lent for the time of a call without losing the
/// type of an error, sorting by numbers, and writing JSON.
///
/// Promise
/// 1. Nothing here knows of files, of the system or of values.
///
/// May use: nothing.
enum Basics {}
