import Synchronization

/// # Tables
///
/// Group, table, spec, objects; collections, links and backlinks; deletion with everything that an object owns.
///
/// Promise
/// 1. A `Group` is one snapshot (or the write transaction on top of it); tables are read lazily and checked when they
///    are read.
/// 2. Every write updates all derived structures in the same call: backlinks, search indexes, primary key order,
///    counters.
/// 3. Object keys and column keys are assigned as logical §4 says, so that two engines with the same history agree on
///    them.
/// 4. Mutations are reported to `MutationLog`, once per mutation, never per element read.
///
/// May use: Elements, Trees, Arrays, Storage, Crypto, Platform, Basics.
enum Tables {
    /// The table that holds the version of the schema. Format: logical §10.2.
    static let metadata: Name = "metadata"
}

/// Receives each change. The subclass `ChangesetEncoder` encodes the changes. (A class and not a protocol, so that a
/// call per mutation needs no existential and counts no references.)
class MutationLog {
    func tableAdded(_ table: TableKey) {}

    func tableErased(_ table: TableKey) {}

    func tableRenamed(_ table: TableKey) {}

    func columnAdded(_ table: TableKey, _ column: ColKey) {}

    func columnErased(_ table: TableKey, _ column: ColKey) {}

    func columnRenamed(_ table: TableKey, _ column: ColKey) {}

    /// A Mixed column links to `target` for the first time.
    func typedLinkChanged(_ table: TableKey, _ column: ColKey, target: TableKey) {}

    func objectCreated(_ table: TableKey, _ object: ObjKey) {}

    /// An embedded object was created together with the link to it.
    func embeddedCreated(_ table: TableKey, _ object: ObjKey) {}

    func objectRemoved(_ table: TableKey, _ object: ObjKey) {}

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {}

    /// The value that was set last is the old one plus `delta`. Follows `valueSet`.
    func integerAdded(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ delta: Int64) {}

    func collectionChanged(_ place: CollectionPlace, _ change: CollectionChange) {}

    /// An element was inserted into the collection of a property.
    func elementInserted(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ index: Int) {}
}

/// Identifies the collection that changed. `path` holds the stable keys of nested collections below the first
/// collection, outermost first.
struct CollectionPlace: Equatable {
    let table: TableKey
    let object: ObjKey
    let column: ColKey
    var path: [Int64] = []

    /// The nested collection with this stable key.
    func inside(_ key: Int64) -> CollectionPlace {
        var inner = self
        inner.path.append(key)
        return inner
    }
}

/// A change of a collection; indexes are those of the stored collection at that time.
enum CollectionChange {
    case insert(Int)
    case set(Int)
    case erase(Int)
    case move(Int, Int)
    case clear(oldSize: Int)
}

/// Holds the log of the current write transaction, for a group and its tables.
final class MutationLogSlot {
    var log: MutationLog? {
        didSet {
            unmanaged = log.map { .passUnretained($0) }
            ofValues = unmanaged
        }
    }

    /// `log` without reference counts; `log` keeps it alive.
    private var unmanaged: Unmanaged<MutationLog>?

    /// The same, but nil while values are not logged.
    private var ofValues: Unmanaged<MutationLog>?

    @inline(__always) func objectCreated(_ table: TableKey, _ object: ObjKey, isEmbedded: Bool) {
        unmanaged?._withUnsafeGuaranteedRef {
            isEmbedded ? $0.embeddedCreated(table, object) : $0.objectCreated(table, object)
        }
    }

    @inline(__always) func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        ofValues?._withUnsafeGuaranteedRef { $0.valueSet(table, object, column) }
    }

    @inline(__always) func integerAdded(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ delta: Int64) {
        ofValues?._withUnsafeGuaranteedRef { $0.integerAdded(table, object, column, delta) }
    }

    /// Runs `body` without logging the values that it sets: no observer is notified of them.
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

/// The write transaction that created an object, shared by the references to the object. After a rollback these
/// references name no object, not even a later object with the same key.
package final class Creation: Sendable {
    private let undone = Atomic(false)

    /// Set by the writer. References may be on other threads by then.
    package internal(set) var isUndone: Bool {
        get { undone.load(ordering: .relaxed) }
        set { undone.store(newValue, ordering: .relaxed) }
    }
}

/// A key and the creation of its object.
package struct TrackedKey: Hashable, Sendable {
    /// The key that was assigned on creation.
    package let made: ObjKey
    package let creation: Creation?

    @inlinable @inline(__always) package init(_ key: ObjKey, _ creation: Creation?) {
        made = key
        self.creation = creation
    }

    /// The key; null after the creation of the object was rolled back.
    package var key: ObjKey {
        if let creation, creation.isUndone { return .null }
        return made
    }

    package static func == (a: TrackedKey, b: TrackedKey) -> Bool { a.made == b.made }

    package func hash(into hasher: inout Hasher) { hasher.combine(made) }
}
