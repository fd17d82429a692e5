import CRealmHeaders
import CoreEngine

/// A scheduler that calls C functions.
// Sendable: immutable except for the queue, which has its own lock.
final class CallbackScheduler: EngineScheduler, @unchecked Sendable {
    let data: UserData
    private let notify: realm_scheduler_notify_func_t?
    private let onThread: realm_scheduler_is_on_thread_func_t?
    private let same: realm_scheduler_is_same_as_func_t?
    private let deliver: realm_scheduler_can_deliver_notifications_func_t?
    private let queue = WorkQueue()
    private let home = SchedulerHome()

    init(
        _ data: UserData, _ notify: realm_scheduler_notify_func_t?, _ onThread: realm_scheduler_is_on_thread_func_t?,
        _ same: realm_scheduler_is_same_as_func_t?, _ deliver: realm_scheduler_can_deliver_notifications_func_t?
    ) {
        self.data = data
        self.notify = notify
        self.onThread = onThread
        self.same = same
        self.deliver = deliver
    }

    deinit { queue.empty() }
    var isOnThread: Bool { onThread?(data.pointer) ?? false }
    var threadCheck: ThreadCheck? { onThread }
    var threadCheckContext: UnsafeMutableRawPointer? { data.pointer }

    func isSame(as other: any Scheduler) -> Bool {
        guard let peer = other as? CallbackScheduler else { return false }
        if peer === self { return true }
        guard (notify == nil) == (peer.notify == nil),
            unsafeBitCast(notify, to: UInt.self) == unsafeBitCast(peer.notify, to: UInt.self),
            unsafeBitCast(onThread, to: UInt.self) == unsafeBitCast(peer.onThread, to: UInt.self),
            unsafeBitCast(same, to: UInt.self) == unsafeBitCast(peer.same, to: UInt.self),
            unsafeBitCast(deliver, to: UInt.self) == unsafeBitCast(peer.deliver, to: UInt.self)
        else { return false }
        if data.pointer == peer.data.pointer { return true }
        return same?(data.pointer, peer.data.pointer) ?? false
    }

    var canDeliver: Bool { deliver?(data.pointer) ?? false }
    var isAttended: Bool { notify != nil }
    var place: UInt { home.place(of: self) }

    func post(_ work: @escaping @Sendable () -> Void) { add(nil, work) }

    func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { add(owner, work) }

    private func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        guard let notify else { return }
        queue.add(owner, work)
        notify(data.pointer, queue.handedOut())
    }
}

/// Work that waits for the thread of a C scheduler.
///
/// A client may keep the pointer after the scheduler is released. So a queue whose pointer was passed to `notify` is
/// never released. It is empty after the end of its scheduler.
final class WorkQueue: Handle, @unchecked Sendable {  // The mutable state is behind locks.
    private let items = Lock(initial: WorkList())
    private let isHandedOut = Lock(initial: false)

    init() { super.init(.workQueue) }

    /// Returns the pointer for `notify`.
    func handedOut() -> OpaquePointer {
        let isFirst = isHandedOut.with { was in
            defer { was = true }
            return !was
        }
        return isFirst ? out() : OpaquePointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Drops all work after the scheduler was released, because it can never run.
    func empty() {
        let gone = items.with { $0.take() }
        withExtendedLifetime(gone) {}
    }

    func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        let gone = items.with { $0.add(owner, work) }
        withExtendedLifetime(gone) {}
    }

    /// Runs the queued work. Work that is added meanwhile runs in the next call.
    func run() { for work in items.with({ $0.take() }) { work() } }
}

final class SchedulerHandle: Handle {
    let scheduler: any EngineScheduler

    init(_ scheduler: any EngineScheduler) {
        self.scheduler = scheduler
        super.init(.scheduler)
    }

    override func isEqual(to other: Handle) -> Bool {
        (other as? SchedulerHandle)?.scheduler.isSame(as: scheduler) ?? false
    }

    override func cloned() -> Handle? { SchedulerHandle(scheduler) }
}

@_cdecl("realm_scheduler_new")
public func realm_scheduler_new(
    _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?, _ notify: realm_scheduler_notify_func_t?,
    _ isOnThread: realm_scheduler_is_on_thread_func_t?, _ isSameAs: realm_scheduler_is_same_as_func_t?,
    _ canDeliver: realm_scheduler_can_deliver_notifications_func_t?
) -> OpaquePointer? {
    SchedulerHandle(CallbackScheduler(UserData(userdata, free), notify, isOnThread, isSameAs, canDeliver)).out()
}

@_cdecl("realm_scheduler_perform_work")
public func realm_scheduler_perform_work(_ queue: OpaquePointer?) {
    anywhere(.workQueue, queue, ()) { (queue) throws(RealmError) in queue.run() }
}

@_cdecl("realm_scheduler_make_default")
public func realm_scheduler_make_default() -> OpaquePointer? { SchedulerHandle(ThreadScheduler.current).out() }

@_cdecl("realm_scheduler_get_frozen")
public func realm_scheduler_get_frozen() -> OpaquePointer? { nil }

@_cdecl("crealm_scheduler_new_serial")
public func crealm_scheduler_new_serial(
    _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ notify: crealm_work_waits_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    guard let notify else { return SchedulerHandle(SerialScheduler { withExtendedLifetime(data) {} }).out() }
    return SchedulerHandle(SerialScheduler { notify(data.pointer) }).out()
}

@_cdecl("crealm_scheduler_get_fd")
public func crealm_scheduler_get_fd(_ scheduler: OpaquePointer?, _ out: UnsafeMutablePointer<Int32>?) -> Bool {
    anywhere(.scheduler, scheduler, false) { (schedulerHandle) throws(RealmError) in
        guard let out else { throw nullArgument() }
        switch schedulerHandle.scheduler {
        case let scheduler as ThreadScheduler: out.pointee = scheduler.descriptor
        case let scheduler as SerialScheduler: out.pointee = scheduler.descriptor
        default: throw RealmError(.notSupported, "Only a default or serial scheduler has a descriptor")
        }
        return true
    }
}

@_cdecl("crealm_scheduler_run")
public func crealm_scheduler_run(_ scheduler: OpaquePointer?, _ timeout: Int32, _ didWork: UnsafeMutablePointer<Bool>?)
    -> Bool
{
    anywhere(.scheduler, scheduler, false) { (schedulerHandle) throws(RealmError) in
        switch schedulerHandle.scheduler {
        case let scheduler as ThreadScheduler:
            guard scheduler.isOnThread else {
                throw RealmError(.wrongThread, "A scheduler runs on the thread it was made on")
            }
            let did = scheduler.runPending(timeout: timeout)
            didWork?.pointee = did
        case let scheduler as SerialScheduler:
            let did = try scheduler.runPending(timeout: timeout)
            didWork?.pointee = did
        default: throw RealmError(.notSupported, "Only a default or serial scheduler can be run")
        }
        return true
    }
}
