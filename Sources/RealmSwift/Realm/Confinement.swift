internal import CoreEngine
internal import CoreEngineAsync
internal import CoreEngineFoundation
import Dispatch

/// Where a Realm may be used, and where its notifications arrive: the one place of the façade that decides it.
///
/// A Realm that is opened on the main queue lives there: not on the main *thread*, because on Linux a program with an
/// asynchronous `main` gives that thread up, and its main queue goes on elsewhere. A Realm that is opened with a queue
/// or an actor lives there; on any other thread it belongs to the thread.
enum Confinement {
    /// The scheduler for a Realm that is opened here, now.
    ///
    /// - Throws: for a global queue, which does many things at a time.
    static func scheduler(_ queue: DispatchQueue?) throws(EngineError) -> any Scheduler {
        if let queue { return try QueueScheduler(queue) }
        if let main, main.isOnThread { return main }
        return ThreadScheduler.current
    }

    static func scheduler(_ actor: any Actor) -> any Scheduler { ActorScheduler(actor) }
    private static let main = try? QueueScheduler(.main)
}
