/// # Basics
///
/// The base of every layer: the only error type, functions that lend memory for the duration of a call and keep the
/// type of an error, and sorting by numbers.
///
/// Promise
/// 1. Nothing here depends on files, the operating system or values.
///
/// May use: nothing.
enum Basics {}
