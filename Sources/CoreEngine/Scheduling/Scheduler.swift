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
    func add(_ resident: any SchedulerResident) -> Bool

    /// The Realm no longer belongs to this scheduler.
    func remove(_ resident: any SchedulerResident)

    /// Identifies the holder of the write lock: equal for schedulers that are the same, different for all others.
    var place: UInt { get }

    /// The scheduler that the program gave.
    var original: any Scheduler { get }
}

/// A Realm, as its scheduler sees it.
package protocol SchedulerResident: AnyObject {
    /// The thread of the scheduler ends. Called on that thread.
    func threadEnds(_ gone: any EngineScheduler)

    /// The program runs posted work from now on. Called on the scheduler's thread.
    func schedulerIsAttended()
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

    package func add(_ resident: any SchedulerResident) -> Bool { true }

    package func remove(_ resident: any SchedulerResident) {}
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
