import Foundation

/// What changed in an object.
@frozen public enum ObjectChange<T> {
    case error(_ error: NSError)
    case change(_ object: T, _ properties: [PropertyChange])
    case deleted
}

/// A property that changed.
public struct PropertyChange {
    public let name: String

    /// What it was before the Realm moved to what others wrote. nil for what the Realm wrote itself, and for
    /// collections. Of a link the object that it led to, which may be deleted by now.
    public let oldValue: Any?

    /// nil for collections.
    public let newValue: Any?
}

/// What changed in results, a list, a set or linking objects. `deletions` and `modifications` are places before the
/// change, `insertions` after it.
@frozen public enum RealmCollectionChange<CollectionType> {
    case initial(CollectionType)
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}

/// What changed in a map.
@frozen public enum RealmMapChange<MapType: RealmKeyedCollection> {
    case initial(MapType)
    case update(MapType, deletions: [MapType.Key], insertions: [MapType.Key], modifications: [MapType.Key])
    case error(any Error)
}

extension Realm {
    /// What a Realm's observers are told.
    @frozen public enum Notification: String, Sendable {
        /// The Realm shows another version.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version that the Realm does not show.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}

public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void
