import CoreEngine
import Synchronization

/// A thread for an actor that owns a Realm: what the actor does and what the Realm tells run there, one after the
/// other.
///
///     actor Store {
///         private let executor: RealmExecutor
///         nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///         private var realm: Realm?
///
///         init() throws { executor = try RealmExecutor() }
///         func open(_ path: String) throws { realm = try Realm(RealmConfiguration(path: path, scheduler: executor.scheduler)) }
///     }
///
/// The thread ends when nobody has the executor any more.
public final class RealmExecutor: SerialExecutor {
    /// For the configuration of a Realm.
    public let scheduler: ThreadScheduler
    private let life: Life

    /// What the thread looks at between its turns.
    private final class Life: Sendable {
        let isOver = Atomic(false)
    }

    /// - Throws: what the system says when it has no thread.
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

    /// For the runtime: puts a job of the actor into the thread's line.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        scheduler.post { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Whether the caller is on the thread.
    public func isIsolatingCurrentContext() -> Bool? { scheduler.isOnThread }
}
