/// Where a Realm lives: says whether the caller is on the right thread, and runs work there later.
public protocol Scheduler: AnyObject, Sendable {
    /// Any thread.
    var isOnThread: Bool { get }
    func isSame(as other: any Scheduler) -> Bool
    /// The thread, where the scheduler stands for one as long as it lives; 0: ask `isOnThread`.
    var threadId: UInt { get }
    /// A C function that answers as `isOnThread` does, for calls that cannot afford more; nil: ask `isOnThread`.
    var threadCheck: (@convention(c) (UnsafeMutableRawPointer?) -> Bool)? { get }
    var threadCheckContext: UnsafeMutableRawPointer? { get }
    /// Whether posted work will ever run.
    var canDeliver: Bool { get }
    /// Queues work for the scheduler's thread. Any thread; never blocks.
    func post(_ work: @escaping @Sendable () -> Void)
}

extension Scheduler {
    public var threadId: UInt { 0 }
    public var threadCheck: (@convention(c) (UnsafeMutableRawPointer?) -> Bool)? { nil }
    public var threadCheckContext: UnsafeMutableRawPointer? { nil }
}

/// The scheduler of a thread without a run loop of its own: work waits until somebody calls `runPending` on that thread.
/// A descriptor becomes readable while work waits, so that it can stand in any poll loop.
public final class ThreadScheduler: Scheduler, @unchecked Sendable {  // `pending` is a Lock; the rest is immutable.
    public let threadId = Platform.threadId
    /// Under one lock, so that the descriptor is readable exactly while work waits.
    private struct Pending {
        var work: [@Sendable () -> Void] = []
        /// Made when somebody first wants to wait; many threads never do.
        var wake: WakeDescriptor?
    }
    private let pending = Lock(initial: Pending())

    private init() {}

    private struct Entry {
        weak var scheduler: ThreadScheduler?
        /// A child does not wait for what is posted to its parent's thread.
        let generation = ForkGuard.generation
    }
    private static let all = Lock(initial: [UInt: Entry](), of: .schedulers)
    /// The calling thread's scheduler, made on first use and shared by all who ask on this thread.
    public static var current: ThreadScheduler {
        all.with { all in
            let me = Platform.threadId
            if let known = all[me], known.generation == ForkGuard.generation, let s = known.scheduler { return s }
            all = all.filter { $0.value.scheduler != nil }
            let new = ThreadScheduler()
            all[me] = Entry(scheduler: new)
            return new
        }
    }
    private func wakeDescriptor() -> WakeDescriptor? {
        pending.with { p in
            if p.wake == nil {
                p.wake = try? WakeDescriptor()
                // Work may have come before anybody waited.
                if !p.work.isEmpty { p.wake?.signal() }
            }
            return p.wake
        }
    }

    public var isOnThread: Bool { Platform.threadId == threadId }
    public func isSame(as other: any Scheduler) -> Bool { (other as? ThreadScheduler)?.threadId == threadId }
    public var canDeliver: Bool { true }
    /// Readable while work waits; −1 when the system gave none.
    public var descriptor: Int32 { wakeDescriptor()?.readEnd ?? -1 }

    public func post(_ work: @escaping @Sendable () -> Void) {
        pending.with { p in
            if p.work.isEmpty { p.wake?.signal() }
            p.work.append(work)
        }
    }
    /// Runs what is queued, waiting up to `timeout` milliseconds for something (negative: for ever). True when anything ran.
    public func runPending(timeout: Int32 = 0) -> Bool {
        if timeout != 0, let wake = wakeDescriptor() { wake.wait(milliseconds: timeout) }
        let work = pending.with { p -> [@Sendable () -> Void] in
            defer { p.work = [] }
            p.wake?.drain()
            return p.work
        }
        for w in work { w() }
        return !work.isEmpty
    }
}
