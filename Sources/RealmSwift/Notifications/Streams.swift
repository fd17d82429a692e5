internal import CoreEngine

/// Changes as they come, for `for await`. What comes are places and names, which may go to any task; what changed is
/// looked up where its Realm lives.
///
/// A sequence begins to observe when it is made, and ends with what it observes and when nobody iterates any more.
/// Changes wait in line while the loop is busy. The first one, of a collection, is empty.

/// What changed in a collection: as `RealmCollectionChange`.
public struct CollectionChange: Sendable, Equatable {
    public let deletions: [Int]
    public let insertions: [Int]
    public let modifications: [Int]
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// What changed in an object: names of properties.
public struct ObjectChangeNames: Sendable, Equatable {
    public let isDeleted: Bool
    public let properties: [String]
}

extension RealmCollection {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) -> AsyncStream<CollectionChange> {
        let (stream, line) = AsyncStream<CollectionChange>.makeStream()
        let token = observe(keyPaths: keyPaths) { change in
            switch change {
            case .initial: line.yield(CollectionChange(deletions: [], insertions: [], modifications: []))
            case .update(_, let deletions, let insertions, let modifications):
                line.yield(CollectionChange(deletions: deletions, insertions: insertions, modifications: modifications))
            case .error: line.finish()
            }
        }
        line.onTermination = { _ in token.invalidate() }
        return stream
    }
}

extension _ObservableObject where Self: ObjectBase & RealmCollectionValue {
    /// What `observe` tells.
    public func changes(keyPaths: [String]? = nil) -> AsyncStream<ObjectChangeNames> {
        let (stream, line) = AsyncStream<ObjectChangeNames>.makeStream()
        let token = observe(keyPaths: keyPaths) { change in
            switch change {
            case .change(_, let properties):
                line.yield(ObjectChangeNames(isDeleted: false, properties: properties.map(\.name)))
            case .deleted:
                line.yield(ObjectChangeNames(isDeleted: true, properties: []))
                line.finish()
            case .error: line.finish()
            }
        }
        line.onTermination = { _ in token.invalidate() }
        return stream
    }
}
