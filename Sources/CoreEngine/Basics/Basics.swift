/// # Basics
///
/// The base of every layer: the only error type, lending memory for the duration of a call without losing the type of
/// an error, sorting by numbers, and writing JSON.
///
/// Promise
/// 1. Nothing here depends on files, the operating system or values.
///
/// May use: nothing.
enum Basics {}
