internal import CoreEngine

/// Changes as asynchronous sequences, for `for await`. The elements are indices and names, which may go to any task.
/// The changed values must be looked up where their Realm is confined.
///
/// A sequence starts to observe when it is created. It ends when the observed value is deleted, and when its iteration
/// ends. Changes are buffered while the loop is busy. The first change of a collection is empty.

/// A change of a collection. See `RealmCollectionChange`.
public struct CollectionChange: Sendable, Equatable {
    public let deletions: [Int]
    public let insertions: [Int]
    public let modifications: [Int]
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// A change of an object, with the names of the changed properties.
public struct ObjectChangeNames: Sendable, Equatable {
    public let isDeleted: Bool
    public let properties: [String]
}

extension RealmCollection {
    /// Returns the changes of the collection as an asynchronous sequence, with the same content as `observe`.
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
    /// Returns the changes of the object as an asynchronous sequence, with the same content as `observe`.
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
