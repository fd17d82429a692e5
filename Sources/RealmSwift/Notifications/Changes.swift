import Foundation

/// A change of an object.
@frozen public enum ObjectChange<T> {
    case error(_ error: NSError)
    case change(_ object: T, _ properties: [PropertyChange])
    case deleted
}

/// A changed property.
public struct PropertyChange {
    public let name: String

    /// The value before the Realm advanced to a version that was written elsewhere. It is nil for changes that this
    /// Realm wrote itself, and for collections. For a link it is the former target object, which may have been deleted.
    public let oldValue: Any?

    /// The new value; nil for collections.
    public let newValue: Any?
}

/// A change of results, a list, a set or linking objects. `deletions` and `modifications` are indices before the
/// change; `insertions` are indices after it.
@frozen public enum RealmCollectionChange<CollectionType> {
    case initial(CollectionType)
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}

/// A change of a map.
@frozen public enum RealmMapChange<MapType: RealmKeyedCollection> {
    case initial(MapType)
    case update(MapType, deletions: [MapType.Key], insertions: [MapType.Key], modifications: [MapType.Key])
    case error(any Error)
}

extension Realm {
    /// The events that observers of a Realm receive.
    @frozen public enum Notification: String, Sendable {
        /// The Realm has advanced to another version.
        case didChange = "RLMRealmDidChangeNotification"
        /// A newer version exists, but the Realm does not show it yet.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}

public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void
