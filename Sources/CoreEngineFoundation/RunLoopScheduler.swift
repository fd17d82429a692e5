import CoreEngine
import Foundation

/// A scheduler that confines a Realm to the thread of a run loop. The Realm is used on that thread until the thread
/// ends, and its notifications arrive in turns of the loop.
///
/// On the main thread of a program that uses dispatch queues, use the `QueueScheduler` of the main queue instead: on
/// Linux the main queue may leave the thread.
// Sendable: run loops accept blocks from any thread.
public final class RunLoopScheduler: Scheduler, EngineScheduler, @unchecked Sendable {
    private let loop: RunLoop

    /// The scheduler of the thread, which knows the end of the thread and queues the work.
    private let thread = ThreadScheduler.current

    /// Creates a scheduler for the run loop of the calling thread.
    public init() { loop = RunLoop.current }

    /// A Boolean value that indicates whether the caller runs on the thread of the loop.
    public var isOnThread: Bool { thread.isOnThread }

    /// Returns whether both schedulers belong to the same thread.
    public func isSame(as other: any Scheduler) -> Bool { (other as? RunLoopScheduler)?.thread === thread }

    /// A Boolean value that indicates whether the thread still exists.
    public var canDeliver: Bool { thread.canDeliver }

    /// Runs `work` in a turn of the loop.
    public func post(_ work: @escaping @Sendable () -> Void) {
        thread.post(work)
        wake()
    }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) {
        thread.post(for: owner, work)
        wake()
    }

    private func wake() {
        loop.perform { [thread] in _ = thread.runPending() }
    }

    package var threadId: UInt { thread.threadId }
    package var place: UInt { thread.place }

    package func add(_ resident: any SchedulerResident) -> Bool { thread.add(resident) }

    package func remove(_ resident: any SchedulerResident) { thread.remove(resident) }
}
