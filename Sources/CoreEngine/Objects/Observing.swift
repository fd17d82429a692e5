/// Observers of changes, for Swift programs. A body is called once with an empty change when it begins to observe, then
/// after each change, on the Realm's thread: in `refresh`, in `beginWrite` and in turns of the scheduler. Rules:
/// docs/live-objects.md §6.

/// Keeps an observer active: its body is called until this object is released or `invalidate` is called.
///
/// Thread rule: release and `invalidate` on any thread.
public final class Observation: @unchecked Sendable {  // `end` may be called on any thread, and more than once.
    private let end: () -> Void

    fileprivate init(_ end: @escaping () -> Void) { self.end = end }

    deinit { end() }

    /// Stops further calls of the body. Does not wait for a running call. Any thread.
    public func invalidate() { end() }
}

/// The changes of a list, a set or the rows of results, as indices in ascending order. To update a list on the screen,
/// remove `deletions` from back to front, insert `insertions` from front to back, and redraw `modificationsAfter`.
public struct CollectionChangeSet: Sendable {
    /// Indices before the change.
    public let deletions: [Int]

    /// Indices after the change.
    public let insertions: [Int]

    /// Indices before the change of rows that were modified and remain.
    public let modifications: [Int]

    /// The same rows as in `modifications`, as indices after the change.
    public let modificationsAfter: [Int]

    /// For lists only; `from` is one of the deletions, `to` one of the insertions.
    public let moves: [(from: Int, to: Int)]

    /// Whether the collection was emptied as a whole, and nothing was inserted since.
    public let isCleared: Bool

    /// Whether the collection was deleted with its owner, or replaced by another value.
    public let isDeleted: Bool

    init(_ changes: CollectionChanges) {
        deletions = changes.deletions.indices
        insertions = changes.insertions.indices
        modifications = changes.modifications.indices
        modificationsAfter = changes.modificationsAfter.indices
        moves = changes.moves
        isCleared = changes.isCleared
        isDeleted = changes.isDeleted
    }
}

/// The changes of a dictionary, as keys.
public struct DictionaryChangeSet: Sendable {
    /// Removed keys.
    public let deletions: [String]

    /// New keys.
    public let insertions: [String]

    /// Keys whose values were replaced or modified.
    public let modifications: [String]

    /// Whether the collection was emptied as a whole, and nothing was inserted since.
    public let isCleared: Bool

    /// Whether the collection was deleted with its owner, or replaced by another value.
    public let isDeleted: Bool
}

/// The changes of an object.
public struct ObjectChangeSet: Sendable {
    /// Whether the object was deleted.
    public let isDeleted: Bool

    /// The changed properties; for a key path its first property.
    public let properties: [Name]
}

extension Realm {
    /// Calls `body` each time the Realm moves to another version.
    public func observe(_ body: @escaping () -> Void) throws(RealmError) -> Observation {
        let id = try inside { () throws(RealmError) in try addChangedCallback(body) }
        return Observation { [weak self] in self?.removeCallback(id) }
    }

    fileprivate func observation(
        _ accessor: Accessor, of table: TableKey, _ keyPaths: [String]?,
        _ make: (Transaction) throws(RealmError) -> Notifier,
        _ body: @escaping (ChangeSet) -> Void
    ) throws(RealmError) -> Observation {
        try inside(accessor) { () throws(RealmError) in
            var paths: [KeyPath]?
            for text in keyPaths ?? [] { paths = (paths ?? []) + (try self.keyPaths(text, of: table)) }
            if let keyPaths, keyPaths.isEmpty { paths = [] }
            var kept: Notifier?
            let (notifier, id) = try observe(&kept, paths, make) { (changes, _) in body(changes) }
            // The observation keeps the notifier alive.
            return Observation { notifier.remove(id) }
        }
    }

    fileprivate func observation(
        of path: CollectionPath, _ kind: CollectionNotifier.Kind, _ keyPaths: [String]?,
        _ body: @escaping (ChangeSet) -> Void
    ) throws(RealmError) -> Observation {
        let target = try inside(.collection) { () throws(RealmError) in try linkTarget(path) }
        return try observation(
            .collection, of: target ?? path.table, keyPaths,
            { (t) throws(RealmError) in try CollectionNotifier(path, kind, t) }, body)
    }
}

extension RealmObject {
    /// Calls `body` when properties of the object change, and once more when the object is deleted.
    /// - Parameter keyPaths: public names joined by dots; nil: all properties of the object itself.
    public func observe(keyPaths: [String]? = nil, _ body: @escaping (ObjectChangeSet) -> Void) throws(RealmError)
        -> Observation
    {
        let realm = realm, table = table, key = key
        return try realm.observation(
            .object, of: table, keyPaths,
            { (transaction) throws(RealmError) in
                try realm.checkObject(table, key)
                return ObjectNotifier(table, key, at: transaction.version)
            },
            { [weak realm] changes in
                guard case .object(let change) = changes, let realm else { return }
                let known = realm.schema.index(of: table).map { realm.schema.classes[$0].properties } ?? []
                body(
                    ObjectChangeSet(
                        isDeleted: change.isDeleted,
                        properties: change.properties.compactMap { key in known.first { $0.key == key }?.name }))
            })
    }
}

/// Converts the body of an observer of rows to the form that notifiers call.
private func rows(_ body: @escaping (CollectionChangeSet) -> Void) -> (ChangeSet) -> Void {
    { changes in if case .collection(let change) = changes { body(CollectionChangeSet(change)) } }
}

extension Results {
    /// Calls `body` when rows are added, removed, moved or modified.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil: all properties of an object, and
    ///   of objects up to three links away.
    public func observe(keyPaths: [String]? = nil, _ body: @escaping (CollectionChangeSet) -> Void) throws(RealmError)
        -> Observation
    {
        let found = found
        return try realm.observation(
            .results, of: table, keyPaths, { (t) throws(RealmError) in try found.makeNotifier(t) }, rows(body))
    }
}

extension RealmList {
    /// Calls `body` when elements are added, removed, moved or modified.
    /// - Parameter keyPaths: as in `Results.observe`, for the objects in the list.
    public func observe(keyPaths: [String]? = nil, _ body: @escaping (CollectionChangeSet) -> Void) throws(RealmError)
        -> Observation
    {
        try realm.observation(of: path, .rows, keyPaths, rows(body))
    }
}

extension RealmSet {
    /// Calls `body` when elements are added, removed or modified.
    public func observe(keyPaths: [String]? = nil, _ body: @escaping (CollectionChangeSet) -> Void) throws(RealmError)
        -> Observation
    {
        try realm.observation(of: path, .rows, keyPaths, rows(body))
    }
}

extension RealmDictionary {
    /// Calls `body` when entries are added, removed or changed.
    public func observe(keyPaths: [String]? = nil, _ body: @escaping (DictionaryChangeSet) -> Void) throws(RealmError)
        -> Observation
    {
        try realm.observation(of: path, .dictionary, keyPaths) { changes in
            guard case .dictionary(let change) = changes else { return }
            func texts(_ keys: [[UInt8]]) -> [String] { keys.map { String(decoding: $0, as: UTF8.self) } }
            body(
                DictionaryChangeSet(
                    deletions: texts(change.deletions), insertions: texts(change.insertions),
                    modifications: texts(change.modifications), isCleared: change.isCleared,
                    isDeleted: change.isDeleted))
        }
    }
}
