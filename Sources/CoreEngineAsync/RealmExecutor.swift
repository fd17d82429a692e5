import CoreEngine
import Synchronization

/// An executor with its own thread, for an actor that owns a Realm. The code of the actor and the notifications of the
/// Realm run on this thread, one after the other.
///
///     actor Store {
///         private let executor: RealmExecutor
///         nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///         private var realm: Realm?
///
///         init() throws { executor = try RealmExecutor() }
///         func open(_ path: String) throws {
///             realm = try Realm(RealmConfiguration(path: path, scheduler: executor.scheduler))
///         }
///     }
///
/// The thread ends when the executor is released.
public final class RealmExecutor: SerialExecutor {
    /// The scheduler for the configuration of the Realm.
    public let scheduler: ThreadScheduler
    private let life: Life

    /// The flag that the thread reads between its turns.
    private final class Life: Sendable {
        let isOver = Atomic(false)
    }

    /// Creates an executor and its thread.
    ///
    /// - Throws: The error of the operating system if it cannot create a thread.
    public init() throws(RealmError) {
        let life = Life(), made = Monitor<ThreadScheduler?>(nil)
        try Thread.start {
            let scheduler = ThreadScheduler.current
            made.with { $0 = scheduler }
            while !life.isOver.load(ordering: .acquiring) { _ = scheduler.runPending(timeout: -1) }
        }
        scheduler = made.wait { $0 }
        self.life = life
    }

    deinit {
        scheduler.post { [life] in life.isOver.store(true, ordering: .releasing) }
    }

    /// Adds a job of the actor to the queue of the thread. The runtime calls this function.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        scheduler.post { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Returns whether the caller runs on the thread of the executor.
    public func isIsolatingCurrentContext() -> Bool? { scheduler.isOnThread }
}
