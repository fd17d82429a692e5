/// # Rescue
///
/// Copies the readable part of a damaged file into a new file (`Salvage`), and finds what a file still contains of
/// deleted objects (`Remains`). Backups in steps, and files restored from them, are here, too (`BackupSteps`).
///
/// Promise
/// 1. The damaged file is only read. A new file appears complete or not at all, and never replaces another file.
/// 2. Salvage of a sound file returns everything that an ordinary read returns: classes, properties, object keys,
///    values, primary keys, indexes, and owners of embedded objects.
/// 3. Nothing is guessed. A value is what an intact node says, or it is lost: then the property has its default, and
///    the loss is counted.
/// 4. No file causes a crash or a hang, or memory use of more than a few times the file size: each node is read as part
///    of one thing, once per walk.
/// 5. Remains of deleted objects are kept apart from existing objects: they never enter the new file.
///
/// Invariants
/// 1. A *root* is a place where a walk may begin: a top array, or something that a scan of the file found. Roots are
///    ordered, the most trusted first.
/// 2. A range of object keys is read from the first root whose clusters for it are readable; later roots are ignored
///    for this range. So objects that were deleted since do not come back.
/// 3. If a property of an object is lost in the root that has the object, the value is taken from the next root that
///    has the object, and counted as older.
///
/// Readers: `DamagedFile` (bytes and roots), `FoundTable` (classes), `FoundRows` (objects of a class at one root),
/// `MergedRows` (over all roots), `FoundTree` and `FoundDictionary` (elements of collections). Writers: `Salvage`,
/// `ValueCopy`. Result: `SalvageReport`.
///
/// May use: ObjectStore, Examination, Schema, Transactions, OldFormats, Tables, Elements, Trees, Arrays, Storage,
/// Pages, Crypto, Platform, Basics.
enum Rescue {}
