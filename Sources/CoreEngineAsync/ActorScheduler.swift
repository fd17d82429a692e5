import CHints
import CoreEngine

/// A scheduler that confines a Realm to an actor. The Realm is used in functions of the actor, on whichever thread they
/// run, and its notifications arrive on the actor.
///
///     actor Store {
///         private var realm: Realm?
///         func open(_ configuration: RealmConfiguration) throws { realm = try Realm(configuration, actor: self) }
///     }
///
/// The scheduler does not keep the actor alive. After the end of the actor, the Realm must not be used any more, except
/// to close it.
///
/// `MainActor.shared` works like any other actor. On Linux its code moves from thread to thread once `main` has awaited
/// something, and the Realm still works correctly.
public final class ActorScheduler: Scheduler, EngineScheduler {
    /// The executor of the actor, which is compared with the current one.
    private let executor: UnownedSerialExecutor
    private weak let actor: (any Actor)?

    private struct Pending {
        var work = WorkList()

        /// Whether a task on the actor is scheduled.
        var isCalled = false
    }

    private let pending = Lock(initial: Pending())

    /// Creates a scheduler for an actor. Any thread.
    public init(_ actor: any Actor) {
        self.actor = actor
        executor = actor.unownedExecutor
    }

    /// A Boolean value that indicates whether the caller runs on the actor.
    public var isOnThread: Bool {
        guard let actor else { return false }
        return withExtendedLifetime(actor) { isCurrent(executor) }
    }

    /// Returns whether both schedulers belong to the same actor.
    public func isSame(as other: any Scheduler) -> Bool {
        guard let other = other as? ActorScheduler, let actor else { return other === self }
        return other.actor === actor
    }

    /// A Boolean value that indicates whether the actor still exists.
    public var canDeliver: Bool { actor != nil }

    /// Runs `work` on the actor, in a task.
    public func post(_ work: @escaping @Sendable () -> Void) { add(nil, work) }

    package func post(for owner: AnyObject, _ work: @escaping @Sendable () -> Void) { add(owner, work) }

    private func add(_ owner: AnyObject?, _ work: @escaping @Sendable () -> Void) {
        guard let actor else { return }
        let (gone, mustCall) = pending.with { property in
            defer { property.isCalled = true }
            return (property.work.add(owner, work), !property.isCalled)
        }
        withExtendedLifetime(gone) {}
        // One task takes all queued work, so that tasks that overtake one another do not change the order.
        if mustCall { Task { [self] in await run(on: actor) } }
    }

    private func run(on actor: isolated any Actor) {
        let work = pending.with { property in
            property.isCalled = false
            return property.work.take()
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

/// Performs the same check as `assumeIsolated`, which would end the program on failure.
private func isCurrent(_ executor: UnownedSerialExecutor) -> Bool {
    let (identity, implementation) = unsafeBitCast(
        executor, to: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?).self)
    return hint_is_current_executor(identity, implementation)
}

extension RealmOpening where Self == Realm {
    /// Opens a Realm for an actor, or returns the cached one. The caller must run on this actor.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. Its scheduler is ignored.
    ///   - actor: The actor to which the Realm is confined: `self` in functions of the actor, or `MainActor.shared`.
    /// - Throws: The same errors as opening without an actor.
    public init(_ configuration: RealmConfiguration, actor: isolated any Actor) throws(RealmError) {
        var configuration = configuration
        configuration.scheduler = ActorScheduler(actor)
        self = try Realm.open(configuration)
    }
}
