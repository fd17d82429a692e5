/// # Elements
///
/// The elements of one collection, by index: of a list or set (`ElementList`), of a dictionary (`ElementDictionary`).
///
/// Promise
/// 1. Both read what their tree holds, and check each claim of the file that they use.
/// 2. Both are valid for one state of their Realm, and read the leaf of the last element again without a descent.
///
/// May use: Trees, Arrays, Storage, Basics.
enum Elements {}
