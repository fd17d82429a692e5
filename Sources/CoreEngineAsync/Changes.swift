/// Returns changes as an asynchronous sequence, for `for await`. The sequence starts to observe when it is created. It
/// ends when the observed object is deleted, when its Realm is closed, and when its iteration ends. Changes are
/// buffered one by one while the loop is busy.
///
/// The changes arrive on the Realm's thread, as with `observe`, and may be awaited on any thread. The first change is
/// empty.
private func sequence<Change: Sendable>(
    of realm: Realm, isLast: @escaping (Change) -> Bool = { _ in false },
    _ observe: (@escaping (Change) -> Void) throws(RealmError) -> Observation
) throws(RealmError) -> AsyncStream<Change> {
    let (stream, line) = AsyncStream<Change>.makeStream()
    let observation = try observe { change in
        line.yield(change)
        if isLast(change) { line.finish() }
    }
    // A closed Realm releases its observers, which ends the sequence.
    let end = End { line.finish() }
    let closing = try realm.observe { withExtendedLifetime(end) {} }
    line.onTermination = { _ in
        observation.invalidate()
        closing.invalidate()
    }
    return stream
}

/// Calls a function when its last reference is released.
final class End {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    deinit { body() }
}

extension Realm {
    /// Returns the versions to which the Realm advances: after each of its own commits, and when it advances to commits
    /// of other writers.
    public func changes() throws(RealmError) -> AsyncStream<UInt64> {
        try sequence(of: self) { (tell) throws(RealmError) in
            try observe { [weak self] in if let version = self?.version { tell(version) } }
        }
    }
}

extension RealmObject {
    /// Returns the changes of the object as an asynchronous sequence, with the same content as `observe`.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<ObjectChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension Results {
    /// Returns the changes of the collection as an asynchronous sequence, with the same content as `observe`.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmList {
    /// Returns the changes of the collection as an asynchronous sequence, with the same content as `observe`.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmSet {
    /// Returns the changes of the collection as an asynchronous sequence, with the same content as `observe`.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<CollectionChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmDictionary {
    /// Returns the changes of the dictionary as an asynchronous sequence, with the same content as `observe`.
    public func changes(keyPaths: [String]? = nil) throws(RealmError) -> AsyncStream<DictionaryChangeSet> {
        try sequence(of: realm, isLast: { $0.isDeleted }) { (tell) throws(RealmError) in
            try observe(keyPaths: keyPaths, tell)
        }
    }
}
