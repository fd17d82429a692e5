import CHints
import CoreEngine

/// Confines a Realm to an actor: it is used in the actor's functions, on whichever thread these run, and what the Realm
/// tells is told there.
///
///     actor Store {
///         private var realm: Realm?
///         func open(_ configuration: RealmConfiguration) throws { realm = try Realm(configuration, actor: self) }
///     }
///
/// The scheduler does not keep the actor alive. When the actor is gone nobody may use the Realm any more, except to
/// close it.
///
/// `MainActor.shared` is an actor like others: on Linux its code moves from thread to thread once `main` has awaited
/// something, and the Realm stays right.
public final class ActorScheduler: Scheduler, EngineScheduler {
    /// What is asked whether it is the present one.
    private let executor: UnownedSerialExecutor
    private weak let actor: (any Actor)?

    private struct Pending {
        var work = WorkList()

        /// A task is on its way to the actor.
        var isCalled = false
    }

    private let pending = Lock(initial: Pending())

    /// Any thread.
    public init(_ actor: any Actor) {
        self.actor = actor
        executor = actor.unownedExecutor
    }

    /// Whether the caller is one of the actor's functions.
    public var isOnThread: Bool {
        guard let actor else { return false }
        return withExtendedLifetime(actor) { isCurrent(executor) }
    }

    /// Whether both are of the same actor.
    public func isSame(as other: any Scheduler) -> Bool {
        guard let other = other as? ActorScheduler, let actor else { return other === self }
        return other.actor === actor
    }

    /// Whether the actor is still there.
    public var canDeliver: Bool { actor != nil }

    /// Runs `work` on the actor, in a task.
    public func post(_ work: @escaping @Sendable () -> Void) { add(nil, work) }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { add(owner, work) }

    private func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        guard let actor else { return }
        let (gone, mustCall) = pending.with { p in
            defer { p.isCalled = true }
            return (p.work.add(owner, work), !p.isCalled)
        }
        withExtendedLifetime(gone) {}
        // One task takes all that waits, so that tasks which pass one another change no order.
        if mustCall { Task { [self] in await run(on: actor) } }
    }

    private func run(on actor: isolated any Actor) {
        let work = pending.with { p in
            p.isCalled = false
            return p.work.take()
        }
        for item in work { item() }
    }

    package var place: UInt { actor.map { Self.place($0) } ?? 0 }

    package var threadCheck: ThreadCheck? {
        { context in
            context.map { Unmanaged<ActorScheduler>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.isOnThread } } ?? false
        }
    }

    package var threadCheckContext: UnsafeMutableRawPointer? { Unmanaged.passUnretained(self).toOpaque() }
}

/// What `assumeIsolated` asks, which ends the program where the answer is no.
private func isCurrent(_ executor: UnownedSerialExecutor) -> Bool {
    let (identity, implementation) = unsafeBitCast(
        executor, to: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?).self)
    return hint_is_current_executor(identity, implementation)
}

extension RealmOpening where Self == Realm {
    /// Opens a Realm, or finds the cached one, for an actor, whose function the caller is.
    ///
    /// - Parameters:
    ///   - configuration: its scheduler does not count.
    ///   - actor: to which the Realm belongs from now on; in its functions, `self`. `MainActor.shared` for the main
    ///     actor.
    /// - Throws: as opening without an actor.
    public init(_ configuration: RealmConfiguration, actor: isolated any Actor) throws(RealmError) {
        var configuration = configuration
        configuration.scheduler = ActorScheduler(actor)
        self = try Realm.open(configuration)
    }
}
