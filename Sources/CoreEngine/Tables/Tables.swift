/// # Tables
///
/// Group, table, spec, objects; collections, links and backlinks; deletion with all that an object owns.
///
/// Promise
/// 1. A `Group` is one snapshot (or the write transaction on top of it); tables are read lazily and checked as they are read.
/// 2. Writing keeps every derived structure right in the same call: backlinks, search indexes, primary key order, counters.
/// 3. Object keys and column keys are assigned as logical §4 says, so that two engines given the same history agree on them.
/// 4. History is told through `MutationLog`, once per mutation, never per element read.
///
/// May use: Trees and below.
enum Tables {}

/// What the rooms above want to know of each change. The one upward arrow: Tables own this class, History implements it by a subclass.
/// (A class and not a protocol, so that a call per mutation needs no existential and counts no references.)
class MutationLog {
    func tableAdded(_ table: TableKey) {}
    func columnAdded(_ table: TableKey, _ column: ColKey) {}
    func columnErased(_ table: TableKey, _ column: ColKey) {}
    func objectCreated(_ table: TableKey, _ object: ObjKey) {}
    func objectRemoved(_ table: TableKey, _ object: ObjKey) {}
    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {}
    /// An element left a collection of `object` (lists and sets) or became null in it (dictionaries).
    func collectionErased(_ table: TableKey, _ object: ObjKey, _ column: ColKey, index: Int) {}
    func collectionSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey, index: Int) {}
}

/// Where a group and its tables find the log of the write in progress.
final class MutationLogSlot {
    var log: MutationLog? { didSet { unmanaged = log.map { .passUnretained($0) } } }
    /// The same, kept alive by `log`.
    private var unmanaged: Unmanaged<MutationLog>?
    @inline(__always) func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        unmanaged?._withUnsafeGuaranteedRef { $0.valueSet(table, object, column) }
    }
}
