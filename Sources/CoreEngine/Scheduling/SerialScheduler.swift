import Synchronization

/// A scheduler for programs whose work moves between threads: goroutines, virtual threads, coroutines, thread pools.
///
/// Promise
/// 1. Every thread may use a Realm of this scheduler, one at a time: a call enters when no other thread is inside a
///    call on a Realm of this scheduler. Otherwise the call fails with `wrongThread`; it does not wait.
/// 2. A transaction is not bound to a thread: one thread may begin it and another may commit it.
/// 3. Posted work waits for `runPending`, which any thread may call. `notify` tells the program that work waits; a
///    descriptor is readable as long as work waits.
///
/// The Realm's `Access` calls `begin` and `end` around each call. Calls nest on the thread that is inside.
// Sendable: `holder` is atomic; `depth` belongs to the thread that is inside; the rest is a Lock or immutable.
public final class SerialScheduler: EngineScheduler, @unchecked Sendable {
    /// Number of the thread that is inside; 0: no thread.
    private let holder = Atomic<UInt>(0)

    /// Number of nested calls of that thread.
    private var depth = 0

    /// A run was refused because a thread was inside: that thread tells the program again when it leaves.
    private let isMissed = Atomic(false)

    /// Differs from the current generation in a forked child, where the thread that was inside does not exist.
    private let generation = Atomic(ForkGuard.generation)

    /// Tells the program that work waits. Called on any thread, without a lock.
    private let notify: (@Sendable () -> Void)?

    /// Protected by one lock, so that the descriptor is readable exactly while work waits.
    private struct Pending {
        var work = WorkList()
        var wake: WakeDescriptor?
    }

    private let pending = Lock(initial: Pending())

    /// - Parameter notify: called on any thread each time work is queued; must not call the engine.
    public init(notify: (@Sendable () -> Void)? = nil) { self.notify = notify }

    // MARK: One thread at a time

    /// Enters, unless another thread is inside. A successful call is followed by `end` on the same thread.
    @inline(__always) func begin() -> Bool {
        let me = Platform.threadId
        if generation.load(ordering: .relaxed) != ForkGuard.generation { forgetParent() }
        if holder.load(ordering: .relaxed) != me {
            guard holder.compareExchange(expected: 0, desired: me, ordering: .sequentiallyConsistent).exchanged else {
                return false
            }
        }
        depth += 1
        return true
    }

    @inline(never) private func forgetParent() {
        let old = generation.exchange(ForkGuard.generation, ordering: .sequentiallyConsistent)
        guard old != ForkGuard.generation else { return }
        depth = 0
        holder.store(0, ordering: .sequentiallyConsistent)
    }

    @inline(__always) func end() {
        assert(isOnThread && depth > 0, "`end` without `begin`")
        depth -= 1
        guard depth == 0 else { return }
        holder.store(0, ordering: .sequentiallyConsistent)
        // A refused run sets the flag and then tries to enter again: it either enters or is seen here.
        if isMissed.load(ordering: .sequentiallyConsistent), isMissed.exchange(false, ordering: .sequentiallyConsistent)
        {
            notify?()
        }
    }

    /// Enters to run work; the program is told again if another thread is inside.
    private func beginRun() -> Bool {
        if begin() { return true }
        isMissed.store(true, ordering: .sequentiallyConsistent)
        guard begin() else { return false }
        isMissed.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    /// Whether the calling thread is inside.
    public var isOnThread: Bool { holder.load(ordering: .relaxed) == Platform.threadId }

    /// No thread has this number: each call enters by `begin`.
    package var threadId: UInt { Platform.noThread }

    /// Whether both are the same object.
    public func isSame(as other: any Scheduler) -> Bool { other === self }

    /// Always true: any thread may run the work.
    public var canDeliver: Bool { true }

    // MARK: Work

    /// Queues work for `runPending`, and tells the program.
    public func post(_ work: @escaping @Sendable () -> Void) { add(nil, work) }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { add(owner, work) }

    private func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        let gone = pending.with { pending in
            if pending.work.isEmpty { pending.wake?.signal() }
            return pending.work.add(owner, work)
        }
        withExtendedLifetime(gone) {}
        notify?()
    }

    private func wakeDescriptor() -> WakeDescriptor? {
        pending.with { pending in
            if pending.wake == nil {
                pending.wake = try? WakeDescriptor()
                if !pending.work.isEmpty { pending.wake?.signal() }
            }
            return pending.wake
        }
    }

    /// Readable while work waits; −1 when the operating system could not provide one.
    public var descriptor: Int32 { wakeDescriptor()?.readEnd ?? -1 }

    /// Runs the queued work on the calling thread; waits up to `timeout` milliseconds for some (negative: without
    /// limit). Returns whether any work ran.
    /// - Throws: 2006 when another thread is inside. The work then stays in the queue, and the program is told again
    ///   when that thread leaves.
    public func runPending(timeout: Int32 = 0) throws(RealmError) -> Bool {
        if timeout != 0, let wake = wakeDescriptor() { wake.wait(milliseconds: timeout) }
        guard beginRun() else { throw RealmError(.wrongThread, "Another thread uses a Realm of this scheduler") }
        defer { end() }
        let work = pending.with { pending in
            pending.wake?.drain()
            return pending.work.take()
        }
        for run in work { run() }
        return !work.isEmpty
    }
}
