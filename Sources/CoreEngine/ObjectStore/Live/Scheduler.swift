import Synchronization

/// The home of a Realm: a thread, a serial queue, an actor or a run loop. It answers whether the caller runs there, and
/// runs work there later.
///
/// A scheduler represents something that does one thing at a time, so a caller that runs there is alone. The check
/// compares that thing itself, never a thread number: the operating system may give the number of an ended thread to a
/// new thread, and a queue or an actor may run on any thread.
///
/// The engine has `ThreadScheduler`. Module `CoreEngineAsync` has `ActorScheduler` and `RealmExecutor`; module
/// `CoreEngineFoundation` has `QueueScheduler` and `RunLoopScheduler`.
public protocol Scheduler: AnyObject, Sendable {
    /// Whether the caller runs on this scheduler. Any thread.
    var isOnThread: Bool { get }

    /// Whether both represent the same thread, queue, actor or run loop. Any thread.
    func isSame(as other: any Scheduler) -> Bool

    /// Whether posted work can still run. Any thread.
    var canDeliver: Bool { get }

    /// Queues work; it runs later on this scheduler, in the order of posting. Any thread; never blocks.
    func post(_ work: @escaping @Sendable () -> Void)
}

/// More answers, given by the schedulers of this package, so that reading a property takes only nanoseconds.
package protocol EngineScheduler: Scheduler {
    /// Number of the thread, when the scheduler is bound to one for its lifetime; 0: ask `isOnThread`.
    var threadId: UInt { get }

    /// A thread on which `isOnThread` is always true, although it may be true on others as well; 0 when none is known.
    var surelyThreadId: UInt { get }

    /// A C function with the same answer as `isOnThread`, because calling `isOnThread` takes longer; nil: ask
    /// `isOnThread`. The Realm keeps the scheduler alive.
    var threadCheck: ThreadCheck? { get }
    var threadCheckContext: UnsafeMutableRawPointer? { get }

    /// Whether the program runs posted work. Otherwise Realms need no notification of new versions. A scheduler that
    /// the program starts to run later then calls `schedulerIsAttended` of its Realms.
    var isAttended: Bool { get }

    /// Same as `post`, for work that is needed only by `owner`: a scheduler that may never run can drop the work when
    /// the owner is gone.
    func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void)

    /// A Realm belongs to this scheduler from now on. A scheduler that learns of the end of its thread calls the
    /// Realm's `threadEnds` there. It does not keep the Realm alive for that. Any thread.
    /// - Returns: false when the thread has ended.
    func add(_ realm: Realm) -> Bool

    /// The Realm no longer belongs to this scheduler.
    func remove(_ realm: Realm)

    /// Identifies the holder of the write lock: equal for schedulers that are the same, different for all others.
    var place: UInt { get }

    /// The scheduler that the program gave.
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

/// Wraps a scheduler of the program, which does not have the members of `EngineScheduler`.
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
    /// A `place` number made from an object. No thread number equals the address of an object, and the lowest bit
    /// separates the two in any case.
    package static func place(_ object: AnyObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) | 1
    }
}

extension Scheduler {
    /// This scheduler with the answers that the engine needs.
    var forEngine: any EngineScheduler { self as? any EngineScheduler ?? ForeignScheduler(self) }
}

/// Work that waits for a thread, which may never run it. Work of owners that no longer exist does not accumulate.
package struct WorkList {
    private struct Entry {
        let isOwned: Bool
        weak var owner: AnyObject?
        let run: @Sendable () -> Void
    }

    private var entries: [Entry] = []

    /// At this number of entries the next `add` removes those without an owner. The limit doubles with what remains, so
    /// each entry is checked twice on average.
    private var limit = 64

    package init() {}
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds work.
    ///
    /// - Returns: dropped work, to be released where no lock is held.
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

    /// Removes and returns all work, in the order of arrival.
    package mutating func take() -> [@Sendable () -> Void] {
        defer { entries = [] }
        return entries.map(\.run)
    }
}

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

    private struct Resident { weak var realm: Realm? }

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
        for resident in residents.values { resident.realm?.threadEnds(self) }
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
