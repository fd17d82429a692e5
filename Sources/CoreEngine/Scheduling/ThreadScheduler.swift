import Synchronization

/// The scheduler of a thread without its own run loop: work waits until the program calls `runPending` on that thread.
/// A descriptor becomes readable while work waits, for use in any poll loop.
///
/// The scheduler ends with its thread: it matches no later thread, even one with the same number. Waiting work is
/// dropped, and Realms that belong to it end their writes (`Realm.threadEnds`).
// Sendable: `pending` is a Lock; the rest is atomic or immutable.
public final class ThreadScheduler: EngineScheduler, @unchecked Sendable {
    private let number = Platform.threadId
    private let hasEnded = Atomic(false)
    package var threadId: UInt { hasEnded.load(ordering: .acquiring) ? Platform.noThread : number }

    // Sendable: the weak reference is only read; the resident is used on the scheduler's thread.
    private struct Resident: @unchecked Sendable { weak var itself: (any SchedulerResident)? }

    /// Protected by one lock, so that the descriptor is readable exactly while work waits.
    private struct Pending {
        var work = WorkList()
        var residents: [ObjectIdentifier: Resident] = [:]

        /// The thread has ended: neither work nor Realms are accepted.
        var isClosed = false

        /// The program has asked for the descriptor or has run posted work.
        var isAttended = false

        /// Created by the first wait; many threads never need it.
        var wake: WakeDescriptor?
    }

    private let pending = Lock(initial: Pending())

    private init() {}

    private struct Entry {
        weak var scheduler: ThreadScheduler?

        /// A forked child does not use the scheduler of its parent's thread.
        let generation = ForkGuard.generation
    }

    private static let all = Lock(initial: [UInt: Entry](), of: .schedulers)

    /// The scheduler of the calling thread: created on first use, then shared by all callers on this thread.
    public static var current: ThreadScheduler {
        all.with { all in
            let me = Platform.threadId
            if let known = all[me], known.generation == ForkGuard.generation, let scheduler = known.scheduler {
                return scheduler
            }
            all = all.filter { $0.value.scheduler != nil }
            let new = ThreadScheduler()
            all[me] = Entry(scheduler: new)
            ThreadEnd.set { [weak new] in new?.end() }
            return new
        }
    }

    /// Called by the thread as one of its last actions.
    private func end() {
        hasEnded.store(true, ordering: .releasing)
        Self.all.with { all in if all[number]?.scheduler === self { all[number] = nil } }
        let (work, residents) = pending.with { pending in
            pending.isClosed = true
            pending.wake?.drain()
            defer { pending.residents = [:] }
            return (pending.work.take(), pending.residents)
        }
        for resident in residents.values { resident.itself?.threadEnds(self) }
        withExtendedLifetime(work) {}
    }

    private func wakeDescriptor() -> WakeDescriptor? {
        pending.with { pending in
            if pending.wake == nil {
                pending.wake = try? WakeDescriptor()
                // Work may have arrived before the descriptor existed.
                if !pending.work.isEmpty { pending.wake?.signal() }
            }
            return pending.wake
        }
    }

    /// Whether the caller is on the thread.
    public var isOnThread: Bool { Platform.threadId == threadId }

    /// Whether both are the same scheduler: a thread has only one.
    public func isSame(as other: any Scheduler) -> Bool { other === self }

    /// Whether the thread still exists. Whether it will call `runPending` is unknown.
    public var canDeliver: Bool { !hasEnded.load(ordering: .acquiring) }
    package var isAttended: Bool { pending.with { $0.isAttended } }

    /// Readable while work waits; −1 when the operating system could not provide one.
    public var descriptor: Int32 {
        attend()
        return wakeDescriptor()?.readEnd ?? -1
    }

    /// The program runs posted work from now on: Realms of this scheduler are then notified of new versions. Before
    /// that none of them needs a listener thread.
    private func attend() {
        let residents = pending.with { pending -> [Resident] in
            guard !pending.isAttended else { return [] }
            pending.isAttended = true
            return Array(pending.residents.values)
        }
        for resident in residents {
            guard let present = resident.itself else { continue }
            if isOnThread {
                present.schedulerIsAttended()
            } else {
                post(for: present) { resident.itself?.schedulerIsAttended() }
            }
        }
    }

    /// Queues work for `runPending`.
    public func post(_ work: @escaping @Sendable () -> Void) { add(nil, work) }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { add(owner, work) }

    private func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        let gone = pending.with { pending in
            if pending.isClosed { return [work] }
            if pending.work.isEmpty { pending.wake?.signal() }
            return pending.work.add(owner, work)
        }
        withExtendedLifetime(gone) {}
    }

    package func add(_ resident: any SchedulerResident) -> Bool {
        pending.with { pending in
            if !pending.isClosed { pending.residents[ObjectIdentifier(resident)] = Resident(itself: resident) }
            return !pending.isClosed
        }
    }

    package func remove(_ resident: any SchedulerResident) {
        let id = ObjectIdentifier(resident)
        pending.with { $0.residents[id] = nil }
    }

    /// Runs the queued work; waits up to `timeout` milliseconds for some (negative: without limit). Returns whether any
    /// work ran.
    public func runPending(timeout: Int32 = 0) -> Bool {
        attend()
        if timeout != 0, let wake = wakeDescriptor() { wake.wait(milliseconds: timeout) }
        let work = pending.with { pending in
            pending.wake?.drain()
            return pending.work.take()
        }
        for run in work { run() }
        return !work.isEmpty
    }
}
