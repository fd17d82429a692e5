import Synchronization

/// # Tables
///
/// Group, table, spec, objects; collections, links and backlinks; deletion with all that an object owns.
///
/// Promise
/// 1. A `Group` is one snapshot (or the write transaction on top of it); tables are read lazily and checked as they are
///    read.
/// 2. Writing keeps every derived structure right in the same call: backlinks, search indexes, primary key order,
///    counters.
/// 3. Object keys and column keys are assigned as logical §4 says, so that two engines given the same history agree on
///    them.
/// 4. History is told through `MutationLog`, once per mutation, never per element read.
///
/// May use: Trees and below.
enum Tables {
    /// What the names of the tables that hold a class begin with.
    static let classPrefix: Name = "class_"

    /// The table with the version of the schema. Format: logical §10.2.
    static let metadata: Name = "metadata"
}

/// What the rooms above want to know of each change. The one upward arrow: Tables own this class, History implements it
/// by a subclass. (A class and not a protocol, so that a call per mutation needs no existential and counts no
/// references.)
class MutationLog {
    func tableAdded(_ table: TableKey) {}

    func tableErased(_ table: TableKey) {}

    func columnAdded(_ table: TableKey, _ column: ColKey) {}

    func columnErased(_ table: TableKey, _ column: ColKey) {}

    func columnRenamed(_ table: TableKey, _ column: ColKey) {}

    /// Links of a Mixed column lead to `target` for the first time.
    func typedLinkChanged(_ table: TableKey, _ column: ColKey, target: TableKey) {}

    func objectCreated(_ table: TableKey, _ object: ObjKey) {}

    /// An embedded object came into being with the link to it.
    func embeddedCreated(_ table: TableKey, _ object: ObjKey) {}

    func objectRemoved(_ table: TableKey, _ object: ObjKey) {}

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {}

    func collectionChanged(_ place: CollectionPlace, _ change: CollectionChange) {}

    /// The same for an insertion into the collection of a property.
    func elementInserted(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ index: Int) {}
}

/// Which collection changed. `path` holds the stable keys of nested collections below the first, outermost first.
struct CollectionPlace: Equatable {
    let table: TableKey
    let object: ObjKey
    let column: ColKey
    var path: [Int64] = []

    /// The collection in the element with a stable key.
    func inside(_ key: Int64) -> CollectionPlace {
        var inner = self
        inner.path.append(key)
        return inner
    }
}

/// What happened to it; indices are those of the stored collection at the time.
enum CollectionChange {
    case insert(Int)
    case set(Int)
    case erase(Int)
    case move(Int, Int)
    case clear(oldSize: Int)
}

/// Where a group and its tables find the log of the write in progress.
final class MutationLogSlot {
    var log: MutationLog? {
        didSet {
            unmanaged = log.map { .passUnretained($0) }
            ofValues = unmanaged
        }
    }

    /// The same, kept alive by `log`.
    private var unmanaged: Unmanaged<MutationLog>?

    /// The same while values are logged.
    private var ofValues: Unmanaged<MutationLog>?

    @inline(__always) func objectCreated(_ table: TableKey, _ object: ObjKey, isEmbedded: Bool) {
        unmanaged?._withUnsafeGuaranteedRef {
            isEmbedded ? $0.embeddedCreated(table, object) : $0.objectCreated(table, object)
        }
    }

    @inline(__always) func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        ofValues?._withUnsafeGuaranteedRef { $0.valueSet(table, object, column) }
    }

    /// Values that are set in `body` are not logged, so that nobody is told of them.
    func withoutValues<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let kept = ofValues
        ofValues = nil
        defer { ofValues = kept }
        return try body()
    }

    @inline(__always) func elementInserted(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ index: Int) {
        ofValues?._withUnsafeGuaranteedRef { $0.elementInserted(table, object, column, index) }
    }
}

/// The write transaction that made an object, as those who name the object know it: once it was rolled back they name
/// nothing, not even a later object with the same key.
package final class Birth: Sendable {
    private let undone = Atomic(false)

    /// Set by the writer; whoever names the object may be on another thread by then.
    package internal(set) var isUndone: Bool {
        get { undone.load(ordering: .relaxed) }
        set { undone.store(newValue, ordering: .relaxed) }
    }
}

/// A key with the birth of its object.
package struct BornKey: Hashable, Sendable {
    /// The key as it was made.
    package let made: ObjKey
    package let birth: Birth?

    @inlinable @inline(__always) package init(_ key: ObjKey, _ birth: Birth?) {
        made = key
        self.birth = birth
    }

    /// What it names: nothing once the object's making was undone.
    package var key: ObjKey {
        if let birth, birth.isUndone { return .null }
        return made
    }

    package static func == (a: BornKey, b: BornKey) -> Bool { a.made == b.made }

    package func hash(into hasher: inout Hasher) { hasher.combine(made) }
}
