/// Changes as they come, for `for await`. A sequence begins to observe when it is made, and ends when what it observes
/// is deleted, when its Realm is closed, and when nobody iterates any more. Changes wait in line, each on its own,
/// while the loop is busy.
///
/// They are told on the Realm's thread, as with `observe`, and may be awaited anywhere. The first one is empty.
private func sequence<Change: Sendable>(
    of realm: Realm, isLast: @escaping (Change) -> Bool = { _ in false },
    _ observe: (@escaping (Change) -> Void) throws(RealmError) -> Observation
) throws(RealmError) -> AsyncStream<Change> {
    let (stream, line) = AsyncStream<Change>.makeStream()
    let observation = try observe { change in
        line.yield(change)
        if isLast(change) { line.finish() }
    }
    // A Realm that is closed lets go of those who observe it.
    let end = End { line.finish() }
    let closing = try realm.observe { withExtendedLifetime(end) {} }
    line.onTermination = { _ in
        observation.invalidate()
        closing.invalidate()
    }
    return stream
}

/// Does something when the last one lets go of it.
final class End {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    deinit { body() }
}

extension Realm {
    /// The versions that the Realm moves to: after each of its own commits, and those of others that it takes notice
    /// of.
    public func changes() throws(RealmError) -> AsyncStream<UInt64> {
        try sequence(of: self) { (tell) throws(RealmError) in
            try observe { [weak self] in if let version = self?.version { tell(version) } }
        }
    }
}

extension RealmObject {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<ObjectChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension Results {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmList {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmSet {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmDictionary {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<DictionaryChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}
