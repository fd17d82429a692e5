/// # Rescue
///
/// What a damaged file still holds, in a new file (`Salvage`), and what still lies in a file of objects that were
/// deleted (`Remains`).
///
/// Promise
/// 1. The damaged file is only read. A new file appears complete or not at all, and never in the place of another.
/// 2. What an ordinary read of a sound file gives, salvage gives, too: classes, properties, keys of objects, values,
///    primary keys, indexes, owners of embedded objects.
/// 3. Nothing is guessed. A value is what an intact node says, or it is lost: then the property has its default, and
///    the loss is counted.
/// 4. No file makes it crash or hang, or use more memory than a few times the file: each node is read as part of one
///    thing, once in a walk.
/// 5. Remains of deleted objects are told apart from what lives: nothing of them enters the new file.
///
/// Invariants
/// 1. A *root* is a place where a walk may begin: a top array, or what a scan of the file found. Roots have an order,
///    the most trusted first.
/// 2. A range of object keys is known from the first root whose clusters for it are readable; later roots say nothing
///    of it. So what was deleted since does not come back.
/// 3. A property of an object that the first root lost is taken from the next root that has the object, and counted as
///    older.
///
/// Who reads: `DamagedFile` (bytes and roots), `FoundTable` (classes), `FoundRows` (objects of a class at one root),
/// `MergedRows` (over all roots), `FoundTree` (elements of collections). Who writes: `Salvage`, `ValueCopy`. What is
/// told: `SalvageReport`.
///
/// May use: Inspection and below.
enum Rescue {}
