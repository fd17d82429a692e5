import Synchronization

/// Where a Realm lives: a thread, a serial queue, an actor, a run loop. It says whether the caller is there, and runs
/// work there later.
///
/// Whoever is "there" is alone there: a scheduler stands for something that does one thing at a time. What it is
/// compared with is that something itself, never the number of a thread: a thread that ended is nobody's, also when the
/// system gives its number to another one, and a queue or an actor is itself on whichever thread it runs.
///
/// The engine has `ThreadScheduler`. Module `CoreEngineAsync` has `ActorScheduler` and `RealmExecutor`; module
/// `CoreEngineFoundation` has `QueueScheduler` and `RunLoopScheduler`.
public protocol Scheduler: AnyObject, Sendable {
    /// Whether the caller is there. Any thread.
    var isOnThread: Bool { get }

    /// Whether both stand for the same place. Any thread.
    func isSame(as other: any Scheduler) -> Bool

    /// Whether posted work will ever run. Any thread.
    var canDeliver: Bool { get }

    /// Queues work, which runs there later, in the order in which it came. Any thread; never blocks.
    func post(_ work: @escaping @Sendable () -> Void)
}

/// What schedulers of this package also tell, so that reading a property stays a matter of nanoseconds.
package protocol EngineScheduler: Scheduler {
    /// The thread, where the scheduler stands for one as long as it lives; 0: ask `isOnThread`.
    var threadId: UInt { get }

    /// A thread on which `isOnThread` always holds, though it may hold elsewhere, too; 0 where none is known.
    var surelyThreadId: UInt { get }

    /// A C function that answers as `isOnThread` does, for calls that cannot afford more; nil: ask `isOnThread`. The
    /// Realm keeps the scheduler.
    var threadCheck: ThreadCheck? { get }
    var threadCheckContext: UnsafeMutableRawPointer? { get }

    /// Whether somebody runs what is posted. While nobody does, Realms need not be told of new versions. A scheduler to
    /// which somebody comes later calls the `schedulerIsAttended` of its Realms then.
    var isAttended: Bool { get }

    /// As `post`, for work that is nothing without `owner`: a scheduler that may never run need not keep it when the
    /// owner is gone.
    func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void)

    /// A Realm lives here from now on. A scheduler that learns of the end of its thread has the Realm's `threadEnds`
    /// called there, and does not keep the Realm alive for it. Any thread.
    /// - Returns: false when the thread has ended.
    func add(_ realm: Realm) -> Bool

    /// It does so no longer.
    func remove(_ realm: Realm)

    /// What holds the write lock: the same number for schedulers that are the same, another one for all others.
    var place: UInt { get }

    /// What the program gave.
    var original: any Scheduler { get }
}

package typealias ThreadCheck = @convention(c) (UnsafeMutableRawPointer?) -> Bool

extension EngineScheduler {
    package var threadId: UInt { 0 }
    package var surelyThreadId: UInt { 0 }
    package var place: UInt { Self.place(self) }
    package var threadCheck: ThreadCheck? { nil }
    package var threadCheckContext: UnsafeMutableRawPointer? { nil }
    package var isAttended: Bool { true }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { post(work) }

    package func add(_ realm: Realm) -> Bool { true }

    package func remove(_ realm: Realm) {}
    package var original: any Scheduler { self }
}

/// A program's own scheduler, which tells nothing of this.
private final class ForeignScheduler: EngineScheduler {
    let original: any Scheduler
    private let home = SchedulerHome()
    var place: UInt { home.place(of: self) }

    init(_ original: any Scheduler) { self.original = original }
    var isOnThread: Bool { original.isOnThread }

    func isSame(as other: any Scheduler) -> Bool {
        original.isSame(as: (other as? ForeignScheduler)?.original ?? other)
    }

    var canDeliver: Bool { original.canDeliver }

    func post(_ work: @escaping @Sendable () -> Void) { original.post(work) }
}

extension EngineScheduler {
    /// As `place`, of what stands for one: objects lie where no thread number is, and the lowest bit tells them from
    /// those all the same.
    package static func place(_ object: AnyObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) | 1
    }
}

extension Scheduler {
    /// The same with what the engine asks for.
    var forEngine: any EngineScheduler { self as? any EngineScheduler ?? ForeignScheduler(self) }
}

/// Work that waits for a thread, which may never come for it: what belongs to somebody who is gone does not pile up.
package struct WorkList {
    private struct Entry {
        let isOwned: Bool
        weak var owner: AnyObject?
        let run: @Sendable () -> Void
    }

    private var entries: [Entry] = []

    /// With that many it is time to look who is gone: so that each is looked at twice on the average, however many
    /// there are.
    private var limit = 64

    package init() {}
    package var isEmpty: Bool { entries.isEmpty }

    /// - Returns: what was let go of, to be given up where no lock is held.
    package mutating func add(_ owner: AnyObject?, _ run: @escaping @Sendable () -> Void) -> [@Sendable () -> Void] {
        var gone: [@Sendable () -> Void] = []
        if entries.count >= limit {
            gone = entries.filter { $0.isOwned && $0.owner == nil }.map(\.run)
            entries.removeAll { $0.isOwned && $0.owner == nil }
            limit = max(64, 2 * entries.count)
        }
        entries.append(Entry(isOwned: owner != nil, owner: owner, run: run))
        return gone
    }

    /// Takes all out, in the order in which they came.
    package mutating func take() -> [@Sendable () -> Void] {
        defer { entries = [] }
        return entries.map(\.run)
    }
}

/// The scheduler of a thread without a run loop of its own: work waits until somebody calls `runPending` on that
/// thread. A descriptor becomes readable while work waits, so that it can stand in any poll loop.
///
/// When the thread ends, so does the scheduler: no thread is its own any more, also not one that gets the same number
/// from the system. What waits is dropped, and Realms that live here end their writes (`Realm.threadEnds`).
// `pending` is a Lock; the rest is atomic or immutable.
public final class ThreadScheduler: EngineScheduler, @unchecked Sendable {
    private let number = Platform.threadId
    private let hasEnded = Atomic(false)
    package var threadId: UInt { hasEnded.load(ordering: .acquiring) ? Platform.noThread : number }

    private struct Resident { weak var realm: Realm? }

    /// Under one lock, so that the descriptor is readable exactly while work waits.
    private struct Pending {
        var work = WorkList()
        var residents: [ObjectIdentifier: Resident] = [:]

        /// Neither work nor Realms are taken any more.
        var isClosed = false

        /// Somebody has asked for the descriptor, or has run what was posted.
        var isAttended = false

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

    /// The thread ends, and calls this as one of the last things that it does.
    private func end() {
        hasEnded.store(true, ordering: .releasing)
        Self.all.with { all in if all[number]?.scheduler === self { all[number] = nil } }
        let (work, residents) = pending.with { pending in
            pending.isClosed = true
            pending.wake?.drain()
            defer { pending.residents = [:] }
            return (pending.work.take(), pending.residents)
        }
        for resident in residents.values { resident.realm?.threadEnds(self) }
        withExtendedLifetime(work) {}
    }

    private func wakeDescriptor() -> WakeDescriptor? {
        pending.with { pending in
            if pending.wake == nil {
                pending.wake = try? WakeDescriptor()
                // Work may have come before anybody waited.
                if !pending.work.isEmpty { pending.wake?.signal() }
            }
            return pending.wake
        }
    }

    /// Whether the caller is on the thread.
    public var isOnThread: Bool { Platform.threadId == threadId }

    /// Whether both are the same: a thread has one.
    public func isSame(as other: any Scheduler) -> Bool { other === self }

    /// Whether the thread is still there. Whether it ever calls `runPending` nobody knows.
    public var canDeliver: Bool { !hasEnded.load(ordering: .acquiring) }
    package var isAttended: Bool { pending.with { $0.isAttended } }

    /// Readable while work waits; −1 when the system gave none.
    public var descriptor: Int32 {
        attend()
        return wakeDescriptor()?.readEnd ?? -1
    }

    /// Somebody comes for what is posted: Realms that live here are told of new versions from now on. Until then none
    /// of them costs a thread.
    private func attend() {
        let residents = pending.with { pending -> [Resident] in
            guard !pending.isAttended else { return [] }
            pending.isAttended = true
            return Array(pending.residents.values)
        }
        for resident in residents {
            guard let realm = resident.realm else { continue }
            let known = WeakRealm(realm)
            if isOnThread {
                realm.schedulerIsAttended()
            } else {
                post(for: realm) { known.realm?.schedulerIsAttended() }
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

    package func add(_ realm: Realm) -> Bool {
        pending.with { pending in
            if !pending.isClosed { pending.residents[ObjectIdentifier(realm)] = Resident(realm: realm) }
            return !pending.isClosed
        }
    }

    package func remove(_ realm: Realm) {
        let id = ObjectIdentifier(realm)
        pending.with { $0.residents[id] = nil }
    }

    /// Runs what is queued, waiting up to `timeout` milliseconds for something (negative: for ever). True when anything
    /// ran.
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
