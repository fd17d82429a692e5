internal import CoreEngine
internal import CoreEngineAsync
internal import CoreEngineFoundation
import Dispatch

/// Decides where a Realm may be used and where its notifications arrive. No other part of RealmSwift decides this.
///
/// A Realm that is opened on the main queue is confined to that queue, not to the main *thread*: on Linux, a program
/// with an asynchronous `main` gives up that thread, and its main queue continues on another one. A Realm that is
/// opened with a queue or an actor is confined to it. In all other cases the Realm is confined to the current thread.
enum Confinement {
    /// Returns the scheduler for a Realm that is opened in the current context.
    ///
    /// - Throws: An error for a global queue, because it runs several blocks at once.
    static func scheduler(_ queue: DispatchQueue?) throws(EngineError) -> any Scheduler {
        if let queue { return try QueueScheduler(queue) }
        if let main, main.isOnThread { return main }
        return ThreadScheduler.current
    }

    static func scheduler(_ actor: any Actor) -> any Scheduler { ActorScheduler(actor) }
    private static let main = try? QueueScheduler(.main)
}
