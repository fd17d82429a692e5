import CoreEngine
import Foundation

/// Confines a Realm to the thread of a run loop: it is used on that thread, until the thread ends, and what the Realm
/// tells is told in turns of the loop.
///
/// On the main thread of a program that dispatches, `QueueScheduler` of the main queue is right: on Linux the queue may
/// leave the thread.
// Run loops take blocks from any thread.
public final class RunLoopScheduler: Scheduler, EngineScheduler, @unchecked Sendable {
    private let loop: RunLoop

    /// The thread, of which it knows the end, and the line of what waits.
    private let thread = ThreadScheduler.current

    /// The run loop of the calling thread.
    public init() { loop = RunLoop.current }

    /// Whether the caller is on the loop's thread.
    public var isOnThread: Bool { thread.isOnThread }

    /// Whether both are of the same thread.
    public func isSame(as other: any Scheduler) -> Bool { (other as? RunLoopScheduler)?.thread === thread }

    /// Whether the thread is still there.
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

    package func add(_ realm: Realm) -> Bool { thread.add(realm) }

    package func remove(_ realm: Realm) { thread.remove(realm) }
}
