/// Observation on actors: the observed value is looked up in a Realm of the actor, and the block runs on the actor with
/// access to its state.

/// A function that starts an observation. Sendable: it captures only names and types.
private struct Function<T, Change>: @unchecked Sendable {
    let call: (T, @escaping (Change) -> Void) -> NotificationToken

    init(_ call: @escaping (T, @escaping (Change) -> Void) -> NotificationToken) { self.call = call }
}

extension Actor {
    /// Starts to observe on this actor. Returns nil if the Realm cannot be opened, if the observed value no longer
    /// exists, or if the task was cancelled.
    fileprivate func observing<T: ThreadConfined, Change>(
        _ reference: ThreadSafeReference<T>, _ configuration: Realm.Configuration,
        _ observe: Function<T, Change>, _ block: @escaping @Sendable (isolated Self, Change) -> Void
    ) -> NotificationToken? {
        guard !Task.isCancelled, let core = try? RealmCore.open(configuration, Confinement.scheduler(self)),
            let here = Realm(core).resolve(reference)
        else {
            return nil
        }
        return observe.call(here) { change in block(self, change) }
    }
}

private func configuration(of confined: some ThreadConfined) -> Realm.Configuration {
    guard let realm = confined.realm else {
        misuse("Only objects which are managed by a Realm support change notifications")
    }
    return realm.configuration
}

/// Returns a token without an observation.
private func ended() -> NotificationToken { NotificationToken(nil, nil) }

/// Observes on an actor. Returns a token without an observation if the observed value no longer exists.
func observing<T: ThreadConfined, A: Actor, Change>(
    _ confined: T, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ observe: @escaping (T, @escaping (Change) -> Void) -> NotificationToken,
    _ block: @escaping @Sendable (isolated A, Change) -> Void
) async -> NotificationToken {
    let reference = ThreadSafeReference(to: confined), configuration = configuration(of: confined)
    return await actor.observing(reference, configuration, Function(observe), block) ?? ended()
}

extension RealmCollection {
    /// Calls `block` on an actor when the collection changes. See `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        let reference = ThreadSafeReference(to: self), configuration = configuration(of: self)
        return await actor.observing(reference, configuration, Function { $0.observe(keyPaths: keyPaths, $1) }, block)
            ?? ended()
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Calls `block` on an actor when the collection changes, with key paths that the compiler checks. See
    /// `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { name(of: $0) }, on: actor, _isolation: _isolation, block)
    }
}

extension Map {
    /// Calls `block` on an actor when the map changes. See `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        let reference = ThreadSafeReference(to: self), configuration = configuration(of: self)
        return await actor.observing(reference, configuration, Function { $0.observe(keyPaths: keyPaths, $1) }, block)
            ?? ended()
    }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// Calls `block` on an actor when the map changes, with key paths that the compiler checks. See
    /// `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { name(of: $0) }, on: actor, _isolation: _isolation, block)
    }
}

extension _ObservableObject where Self: ObjectBase & RealmCollectionValue {
    /// Calls `block` on an actor when the object changes. See `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let reference = ThreadSafeReference(to: self), configuration = configuration(of: self)
        return await actor.observing(reference, configuration, Function { $0.observe(keyPaths: keyPaths, $1) }, block)
            ?? ended()
    }
    /// Calls `block` on an actor when the object changes, with key paths that the compiler checks. See
    /// `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { name(of: $0) }, on: actor, _isolation: _isolation, block)
    }
}
