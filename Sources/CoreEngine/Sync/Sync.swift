/// # Sync
///
/// Exchanges changes with a hub, a PostgreSQL database that many copies of a file have in common. This layer has no
/// connection: it makes requests, which a program sends in its own way, and it takes the replies.
///
/// Promise
/// 1. The file shows one checkpoint of the hub, and in addition its own unsent changes.
/// 2. A batch is stored before it is sent, and is sent again byte for byte until the hub has acknowledged it: the hub
///    applies it exactly once.
/// 3. A reply is applied in one write transaction. After an error the file is as it was before the reply.
/// 4. No change is discarded silently: changes that the hub refused or overruled are reported.
///
/// Invariants
/// 1. While a batch is on its way, nothing is pulled: the rows of the hub would contain it or not.
/// 2. A class is compared only when all of its rows of the hub, also deleted ones, are known.
///
/// Bytes: docs/format/sync.md. Protocol and behaviour: docs/sync.md.
///
/// May use: Exchange, Objects, ObjectStore, Marks, Texts, Schema, Transactions, Tables, Conditions, Language,
/// Crypto, Basics.
enum Sync {
    /// The version of the protocol.
    static let version: Int64 = 1

    static func failed(_ what: String) -> RealmError { RealmError(.syncFailed, what) }

    static func invalidReply(_ what: String) -> RealmError { failed("The reply of the hub is invalid: \(what)") }
}

/// Something that a program should know: it happened while a reply was applied.
package struct SyncEvent: Sendable {
    package enum Kind: String, Sendable {
        /// The hub refused a change; it is in the list of refused changes.
        case refused
        /// An object was deleted on the hub, and changes of this file to it are lost.
        case overruled
        /// Collections that both sides had changed were merged.
        case merged
        /// Another copy of the file has sent batches under the same name: this file goes on under a new one.
        case forked
        /// The hub is another database than before, for instance a restored one.
        case moved
        /// A class was compared with the hub.
        case compared
        /// A value that another library wrote was replaced by that of the hub.
        case overwritten
    }

    static let deletedOnHub = "the object was deleted on the hub"

    package var kind: Kind
    package var className = ""
    package var key = ""
    package var detail = ""
    package var count = 0
}

/// A request to the hub: the name of a function, and its argument.
package struct SyncRequest: Sendable {
    package let function: String

    /// A JSON text.
    package let body: [UInt8]
}
