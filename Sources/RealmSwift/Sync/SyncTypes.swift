internal import CoreEngine
import Foundation

/// A way to a hub: it sends a request, and returns the reply. A program may pass its own.
///
/// The module `RealmSync` has `HTTPSyncTransport`, for HTTPS gateways such as PostgREST. For a connection to PostgreSQL,
/// a program writes one with the client of its choice:
///
///     func call(_ function: String, _ body: Data) throws -> Data {
///         // One transaction, and its result as text: SELECT crealm.<function>($1::json)
///     }
///
/// Thread rule: a session calls its transport on the session's own thread, `Realm.Sync.exchange` on the thread of the
/// Realm, `asyncExchange` on any thread. Calls never overlap within one of them. A transport that serves several of them
/// at a time needs a lock.
public protocol SyncTransport: Sendable {
    /// Calls a function of the hub, and waits for its result. The hub runs the function as one transaction.
    ///
    /// - Parameters:
    ///   - function: `hello`, `push`, `pull` or `listing`, of the schema `crealm`.
    ///   - body: The argument, a JSON text.
    /// - Returns: The result, a JSON text.
    /// - Throws: Any error. It ends the exchange; the file is as before the request, and keeps its unsent changes. A
    ///   session tries again later.
    func call(_ function: String, _ body: Data) throws -> Data

    /// Closes the connection. A session calls it once, when it ends. A later `call` may open the connection again.
    func close()
}

extension SyncTransport {
    /// Does nothing, for transports without a connection.
    public func close() {}
}

/// Something that happened while the file took changes of the hub.
public struct SyncEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, CaseIterable {
        /// The hub did not take a change: see `SyncStatus.refused`.
        case refused
        /// An object was deleted on the hub, and changes of this file to it are lost.
        case overruled
        /// A collection that both sides had changed was merged.
        case merged
        /// A copy of the file has sent changes under the same name. This file got a new name.
        case forked
        /// The hub is another database than before, for instance a restored one.
        case moved
        /// A class was compared with the hub.
        case compared
        /// A value that another library wrote was replaced by that of the hub.
        case overwritten
    }

    public let kind: Kind

    /// The class, as the file names it; empty for an event that concerns no class.
    public let className: String

    /// The primary key of the object as JSON; empty for an event that concerns no single object.
    public let key: String
    public let detail: String

    /// How many; 0 if it is one.
    public let count: Int

    /// Creates an event, for tests of programs.
    public init(_ kind: Kind, className: String = "", key: String = "", detail: String = "", count: Int = 0) {
        self.kind = kind
        self.className = className
        self.key = key
        self.detail = detail
        self.count = count
    }

    init(_ event: CoreEngine.SyncEvent) {
        let kind: Kind =
            switch event.kind {
            case .refused: .refused
            case .overruled: .overruled
            case .merged: .merged
            case .forked: .forked
            case .moved: .moved
            case .compared: .compared
            case .overwritten: .overwritten
            }
        self.init(kind, className: event.className, key: event.key, detail: event.detail, count: event.count)
    }
}

/// What an exchange did.
public struct SyncOutcome: Sendable, Hashable {
    /// The number of requests that the hub has answered.
    public internal(set) var requests = 0

    /// The bytes of the requests and of the replies.
    public internal(set) var sentBytes = 0
    public internal(set) var receivedBytes = 0
    public internal(set) var events: [SyncEvent] = []
}

/// How far an exchange is.
public struct SyncProgress: Sendable, Hashable {
    /// The number of requests that the hub has answered.
    public let requests: Int

    /// The bytes of the requests and of the replies.
    public let sentBytes: Int
    public let receivedBytes: Int

    /// The number of objects with unsent changes.
    public let pending: Int
}

/// The state of synchronisation of a file.
public struct SyncStatus: Sendable, Hashable {
    /// The state of one class.
    public struct OfClass: Sendable, Hashable {
        /// The number of objects with unsent changes.
        public let pending: Int

        /// A Boolean value that indicates whether the next exchange compares all objects with the hub.
        public let mustCompare: Bool

        /// The condition of the objects that this file has, in the query language; nil: all objects.
        public let subset: String?
    }

    /// A Boolean value that indicates whether the file is synchronised. All other values are empty for one that is not.
    public let isEnabled: Bool

    /// The name of this file at the hub.
    public let device: String

    /// The identity of the hub; nil before the first exchange.
    public let hub: String?

    /// The checkpoint of the hub that the file shows; nil before the first exchange. Only the hub knows its meaning.
    public let cursor: String?

    /// The number of batches that the hub has taken.
    public let batch: Int

    /// The number of bytes that were sent and that the hub has not acknowledged.
    public let inflight: Int

    /// The synchronised classes, by their names in the file.
    public let classes: [String: OfClass]

    /// The changes that the hub did not take, in the order in which it refused them.
    public let refused: [SyncRefusal]

    /// The number of objects with unsent changes.
    public var pending: Int { classes.values.reduce(0) { $0 + $1.pending } }

    init(_ status: CoreEngine.SyncStatus?) {
        isEnabled = status != nil
        device = status?.device ?? ""
        hub = status.flatMap { $0.hub.isEmpty ? nil : $0.hub }
        cursor = status.flatMap { $0.cursor.isEmpty ? nil : $0.cursor }
        batch = Int(clamping: status?.batch ?? 0)
        inflight = status?.inflight ?? 0
        classes = Dictionary(
            (status?.classes ?? []).map { one in
                let subset = one.subset.isEmpty ? nil : one.subset
                return (one.name.text, OfClass(pending: one.pending, mustCompare: one.mustCompare, subset: subset))
            }, uniquingKeysWith: { first, _ in first })
        refused = (status?.refused ?? []).map { SyncRefusal($0) }
    }
}

/// A change that the hub did not take. The object has become that of the hub.
public struct SyncRefusal: Sendable, Hashable {
    /// When the hub refused the change.
    public let date: Date

    /// The class, as the file names it.
    public let className: String

    /// The primary key of the object as JSON.
    public let key: String
    public let reason: String

    /// What was sent, as JSON.
    public let change: String

    init(_ refused: CoreEngine.SyncStatus.Refused) {
        date = Date(timeIntervalSince1970: Double(refused.time) / 1000)
        className = refused.className
        key = refused.key
        reason = refused.reason
        change = refused.change
    }
}
