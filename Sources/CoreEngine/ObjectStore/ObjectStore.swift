/// # ObjectStore
///
/// Classes and properties over tables and columns; opening with a schema; the thread-confined `Realm`; results.
///
/// Promise
/// 1. A schema is checked before the file is touched; an open that fails leaves the file as it was.
/// 2. A `Realm` belongs to its scheduler's thread and says so instead of racing; a closed one answers with an error,
///    never with a trap.
/// 3. Handles name objects by keys and resolve them at the current version, so nothing dangles when the version moves.
///
/// May use: Notifications, Query, Examination, Transactions and below.
enum ObjectStore {
    /// Longest class and property names, in bytes.
    static let maxClassName = 57
    static let maxPropertyName = 63

    /// Schema version of a file that has none.
    static let notVersioned = UInt64.max
}
