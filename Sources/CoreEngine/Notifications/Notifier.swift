/// The changes of one object. Rules: live-objects §6.11.
package struct ObjectChanges {
    package internal(set) var isDeleted = false

    /// Changed properties, in the order of their first change.
    package internal(set) var properties: [ColKey] = []
    var isEmpty: Bool { !isDeleted && properties.isEmpty }
}

/// The changes of a dictionary, by key.
package struct DictionaryChanges {
    package let deletions: [[UInt8]]
    package let insertions: [[UInt8]]
    package let modifications: [[UInt8]]
    package let isCleared: Bool
    package let isDeleted: Bool
}

package enum ChangeSet {
    case object(ObjectChanges)
    case collection(CollectionChanges)
    case dictionary(DictionaryChanges)
}

/// One step of all notifiers from a version to a later one.
struct NotificationPass {
    let group: Group
    let changes: TransactionChanges
    let changed: ChangedObjects
    let version: UInt64

    /// The snapshot where the step begins; nil when that version is not pinned.
    let before: SnapshotBefore?
}

/// A pinned version, opened on first use.
final class SnapshotBefore {
    private let pin: Pin
    private var transaction: Transaction?

    init(_ pin: Pin) { self.pin = pin }

    var group: Group {
        get throws(RealmError) {
            let open: Transaction
            if let transaction { open = transaction } else { open = try Transaction(reading: pin) }
            transaction = open
            return open.group
        }
    }
}

/// The union of what the callbacks of one handle observe: a change that one of them observes is reported to all. Rules:
/// live-objects §6.10.
struct NotificationView {
    /// At least one callback has no key paths.
    private(set) var isPlain = false

    /// Key paths of the callbacks that have some.
    private(set) var paths: [KeyPath] = []

    /// - Parameter own: key paths of one callback; nil: it has none.
    mutating func add(_ own: [KeyPath]?) {
        if let own { paths += own.filter { !paths.contains($0) } } else { isPlain = true }
    }
}

/// The only observer of a handle, with all callbacks of that handle. Each kind of handle has a subclass.
///
/// Thread rule: that of the Realm; callbacks can be removed on any thread.
package class Notifier {
    private struct Callback {
        let id: Int
        let paths: [KeyPath]?
        let call: (ChangeSet, ClosedRange<UInt64>) -> Void

        /// The first call is still to come. It is made with or without changes.
        var isNew = true
        var pending: Pending

        /// The version that was reported last, or at which the callback was added.
        var told: UInt64

        /// Number of calls so far.
        var calls = 0

        /// A call is running; the callback is not called again until the call returns.
        var isRunning = false
        var isDue: Bool { !isRunning && (isNew || !pending.isEmpty) }
    }

    /// A callback with something to report, and its number of calls at that time.
    package struct Due {
        fileprivate let id: Int
        fileprivate let calls: Int
    }

    private struct Callbacks {
        var all: [Callback] = []
        var lastId = 0
    }

    /// Changes that were not yet reported to a callback.
    enum Pending {
        case object(ObjectChanges)
        case rows(ChangeBuilder)
        /// With the keys before the first of the changes.
        case dictionary(ChangeBuilder, before: [[UInt8]])

        var isEmpty: Bool {
            switch self {
            case .object(let changes): changes.isEmpty
            case .rows(let builder), .dictionary(let builder, _): builder.isEmpty
            }
        }

        /// Adds changes that happened later.
        mutating func merge(_ later: Pending) {
            switch (self, later) {
            case (.object(var changes), .object(let more)):
                changes.isDeleted = changes.isDeleted || more.isDeleted
                changes.properties =
                    changes.isDeleted
                    ? [] : changes.properties + more.properties.filter { !changes.properties.contains($0) }
                self = .object(changes)
            case (.rows(var builder), .rows(let more)):
                builder.merge(more)
                self = .rows(builder)
            case (.dictionary(var builder, let before), .dictionary(let more, _)) where !builder.isEmpty:
                builder.merge(more)
                self = .dictionary(builder, before: before)
            default: self = later
            }
        }
    }

    /// The version up to which all changes were recorded.
    package private(set) var version: UInt64

    /// The observed object or collection was deleted: no more changes will follow.
    var isOver = false
    private let callbacks = Lock(initial: Callbacks())

    init(_ version: UInt64) { self.version = version }

    // MARK: Callbacks

    package var isIdle: Bool { callbacks.with { $0.all.isEmpty } }

    /// - Parameter paths: key paths to observe; nil: everything.
    /// - Parameter call: called with the changes and the range of versions in which they happened.
    package func add(_ paths: [KeyPath]?, _ call: @escaping (ChangeSet, ClosedRange<UInt64>) -> Void) -> Int {
        callbacks.with { callbacks in
            callbacks.lastId += 1
            callbacks.all.append(
                Callback(id: callbacks.lastId, paths: paths, call: call, pending: nothing, told: version))
            return callbacks.lastId
        }
    }

    /// Any thread. The callback is released where no lock is held, because its owner may call back in.
    package func remove(_ id: Int) {
        let gone = callbacks.with { callbacks in
            callbacks.all.firstIndex { $0.id == id }.map { callbacks.all.remove(at: $0) }
        }
        withExtendedLifetime(gone) {}
    }

    /// The handle is gone: removes all its callbacks. Any thread.
    package func end() {
        let gone = callbacks.with { callbacks in
            defer { callbacks.all = [] }
            return callbacks.all
        }
        withExtendedLifetime(gone) {}
    }

    /// The union of what the callbacks observe. Rules: live-objects §6.10.
    final var view: NotificationView {
        callbacks.with { callbacks in
            var view = NotificationView()
            for callback in callbacks.all { view.add(callback.paths) }
            return view
        }
    }

    /// The callbacks with something to report, in the order in which they were added.
    package var due: [Due] { callbacks.with { $0.all.filter(\.isDue).map { Due(id: $0.id, calls: $0.calls) } } }

    /// Calls one callback, unless another callback has caused that call already: then later changes wait for the next
    /// delivery.
    package func deliver(_ due: Due) {
        let found = callbacks.with { callbacks -> Callback? in
            guard let index = callbacks.all.firstIndex(where: { $0.id == due.id }), callbacks.all[index].isDue,
                callbacks.all[index].calls == due.calls
            else { return nil }
            let before = callbacks.all[index]
            callbacks.all[index].isNew = false
            callbacks.all[index].pending = nothing
            callbacks.all[index].told = version
            callbacks.all[index].calls &+= 1
            callbacks.all[index].isRunning = true
            return before
        }
        guard let found else { return }
        found.call(changeSet(found.pending), min(found.told, version)...version)
        callbacks.with { callbacks in
            if let index = callbacks.all.firstIndex(where: { $0.id == due.id }) {
                callbacks.all[index].isRunning = false
            }
        }
    }

    // MARK: Overrides of subclasses

    var nothing: Pending { .rows(ChangeBuilder()) }

    /// Collects the instructions on the observed collection from the changesets; nil when none are needed.
    var tracker: CollectionTracker? { nil }

    func changes(in pass: NotificationPass, _ tracker: CollectionTracker?) throws(RealmError) -> Pending { nothing }

    fileprivate func changeSet(_ pending: Pending) -> ChangeSet {
        switch pending {
        case .object(let changes): return .object(changes)
        case .rows(let builder): return .collection(CollectionChanges(builder))
        case .dictionary(let builder, let before): return .dictionary(names(builder, before))
        }
    }

    fileprivate func names(_ builder: ChangeBuilder, _ before: [[UInt8]]) -> DictionaryChanges {
        DictionaryChanges(
            deletions: [], insertions: [], modifications: [], isCleared: builder.isCleared, isDeleted: builder.isDeleted
        )
    }

    /// Records the changes of a pass, which begins at `version`.
    /// - Parameter silent: callbacks that must not receive these changes.
    fileprivate func take(_ pass: NotificationPass, _ tracker: CollectionTracker?, _ silent: Set<Int>)
        throws(RealmError)
    {
        let new = isOver ? nothing : try changes(in: pass, tracker)
        version = pass.version
        if new.isEmpty { return }
        callbacks.with { callbacks in
            for i in callbacks.all.indices where !silent.contains(callbacks.all[i].id) {
                callbacks.all[i].pending.merge(new)
            }
        }
    }

    /// Whether the rows were not read yet. The notifier then begins at the first pass; earlier changes are not
    /// reported.
    var isUnprepared: Bool { false }

    /// The notifier must report the versions after this one, up to `newest`.
    fileprivate func base(_ newest: UInt64) -> UInt64 { isUnprepared ? newest : version }
}

extension Transaction {
    /// Moves notifiers from their versions to that of the snapshot.
    /// - Parameters:
    ///   - pin: pin of the notifiers' old version.
    ///   - silent: callbacks that must not receive the changes of this move.
    package func advance(_ notifiers: [Notifier], from pin: Pin?, silent: [ObjectIdentifier: Set<Int>] = [:])
        throws(RealmError)
    {
        for base in Set(notifiers.map { $0.base(version) }).sorted() where base <= version {
            let ours = notifiers.filter { $0.base(version) == base && (base < version || $0.isUnprepared) }
            if ours.isEmpty { continue }
            let changes = TransactionChanges()
            var trackers: [CollectionTracker?] = []
            for notifier in ours {
                let tracker = notifier.isOver ? nil : notifier.tracker
                if let tracker { changes.track(tracker) }
                trackers.append(tracker)
            }
            try replay(since: base, changes)
            for tracker in trackers { tracker?.builder.finish() }
            let before = pin.flatMap { $0.version == base ? SnapshotBefore($0) : nil }
            let pass = NotificationPass(
                group: group, changes: changes, changed: ChangedObjects(group, changes), version: version,
                before: before)
            for (notifier, tracker) in zip(ours, trackers) {
                try notifier.take(pass, tracker, silent[ObjectIdentifier(notifier)] ?? [])
            }
        }
    }
}

// MARK: -

package final class ObjectNotifier: Notifier {
    private let table: TableKey
    private let object: ObjKey

    package init(_ table: TableKey, _ object: ObjKey, at version: UInt64) {
        self.table = table
        self.object = object
        super.init(version)
    }

    override var nothing: Pending { .object(ObjectChanges()) }

    override func changes(in pass: NotificationPass, _ tracker: CollectionTracker?) throws(RealmError) -> Pending {
        var changes = ObjectChanges()
        if pass.changes.isDeleted(table, object) {
            changes.isDeleted = true
            isOver = true
            return .object(changes)
        }
        let view = view
        if view.isPlain { changes.properties = pass.changes.tables[table]?.modified[object] ?? [] }
        for path in view.paths {
            guard let first = path.steps.first, !changes.properties.contains(first.column) else { continue }
            if try pass.changed.keys(along: path).contains(object) { changes.properties.append(first.column) }
        }
        return .object(changes)
    }
}

/// Observes lists, sets and dictionaries, and results that show a collection without changes.
package final class CollectionNotifier: Notifier {
    package enum Kind {
        case rows
        /// Changes are reported by key.
        case dictionary
    }

    private let path: CollectionPath
    private let kind: Kind

    /// Largest number of elements shown.
    private let limit: Int
    private let isDictionary: Bool

    /// Class of the objects in the collection; nil for values.
    private let target: TableKey?

    /// The place of the collection, as the history names it.
    private var place: CollectionPlace
    private var count: Int
    private var keys: [[UInt8]] = []

    /// - Parameter snapshot: the snapshot of `version`, which contains the collection.
    package init(_ path: CollectionPath, _ kind: Kind, limit: Int = .max, _ snapshot: Transaction) throws(RealmError) {
        let group = snapshot.group
        self.path = path
        self.kind = kind
        self.limit = limit
        guard let content = try group.collection(path), let place = try group.place(of: path),
            let facts = try group.table(path.table)?.facts(path.column)
        else {
            throw RealmError(.staleAccessor, "Access to a collection that is gone")
        }
        self.place = place
        target = facts.type == .link && path.steps.isEmpty ? facts.oppositeTable : nil
        switch content {
        case .list(let list): (isDictionary, count) = (false, list.count)
        case .dictionary(let dictionary):
            (isDictionary, count) = (true, dictionary.count)
            if kind == .dictionary { keys = try dictionary.allNames() }
        }
        super.init(snapshot.version)
    }

    override var nothing: Pending {
        kind == .dictionary ? .dictionary(ChangeBuilder(), before: keys) : .rows(ChangeBuilder())
    }

    override var tracker: CollectionTracker? { CollectionTracker(place) }

    override func changes(in pass: NotificationPass, _ tracker: CollectionTracker?) throws(RealmError) -> Pending {
        guard let tracker else { return nothing }
        let before = keys, old = count
        var builder = tracker.builder
        if tracker.isOwnerGone ? true : try !update(&builder, tracker, pass) {
            builder = ChangeBuilder(deletions: IndexSet([0..<count]), isDeleted: true)
            isOver = true
        }
        return kind == .dictionary
            ? .dictionary(builder, before: before)
            : .rows(builder.limited(to: limit, before: old, after: isOver ? 0 : count))
    }

    /// - Returns: false when the collection no longer exists.
    private func update(_ builder: inout ChangeBuilder, _ tracker: CollectionTracker, _ pass: NotificationPass)
        throws(RealmError) -> Bool
    {
        guard let content = try pass.group.collection(path), try pass.group.place(of: path) == place else {
            return false
        }
        let new: Int
        switch content {
        case .list(let list):
            if isDictionary { return false }
            new = list.count
            for key in tracker.nested {
                if let index = try list.index(ofNested: key) { builder.modifications.add(index) }
            }
        case .dictionary(let dictionary):
            guard isDictionary else { return false }
            new = dictionary.count
            if !tracker.nested.isEmpty {
                for i in 0..<new where tracker.nested.contains(try dictionary.stableKey(i)) {
                    builder.modifications.add(i)
                }
            }
            if kind == .dictionary, !builder.isEmpty { keys = try dictionary.allNames() }
        }
        if let target {
            let changed = try pass.changed.keys(of: target, view)
            if !changed.isEmpty {
                for i in 0..<new {
                    let element: Mixed
                    switch content {
                    case .list(let list): element = try list.get(i)
                    case .dictionary(let dictionary): element = try dictionary.value(i)
                    }
                    if case .typedLink(_, let key) = element, changed.contains(key) { builder.modifications.add(i) }
                }
            }
        }
        if count + builder.insertions.count - builder.deletions.count != new {
            // The history does not explain the new content, as when a Mixed value was replaced by a new collection.
            builder = ChangeBuilder(deletions: IndexSet([0..<count]), insertions: IndexSet([0..<new]))
            if kind == .dictionary, case .dictionary(let dictionary) = content { keys = try dictionary.allNames() }
        }
        count = new
        return true
    }

    override fileprivate func names(_ builder: ChangeBuilder, _ before: [[UInt8]]) -> DictionaryChanges {
        let changes = CollectionChanges(builder)
        func names(_ set: IndexSet, _ all: [[UInt8]]) -> [[UInt8]] {
            set.indices.compactMap { $0 < all.count ? all[$0] : nil }
        }
        return DictionaryChanges(
            deletions: names(changes.deletions, before), insertions: names(changes.insertions, keys),
            modifications: names(changes.modificationsAfter, keys),
            isCleared: changes.isCleared, isDeleted: changes.isDeleted)
    }
}

extension ElementDictionary {
    /// The keys, in order.
    func allNames() throws(RealmError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for i in 0..<count {
            if case .string(let name) = try key(i) { try all.add(Array(name)) } else { try all.add([]) }
        }
        return all
    }
}
