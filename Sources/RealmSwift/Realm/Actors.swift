internal import CoreEngine
import Foundation

/// Realms that belong to an actor. They are used in functions of the actor, their notifications arrive on the actor,
/// and they are written without blocking it.
///
///     actor Store {
///         var realm: Realm?
///         func open() async throws { realm = try await Realm(actor: self) }
///         func add(_ name: String) async throws {
///             try await realm?.asyncWrite { realm?.add(Person(value: ["name": name])) }
///         }
///     }
extension Realm {
    /// When to download a Realm before it is opened. Kept for source compatibility: no server exists to download from,
    /// so all values have the same effect.
    @frozen public enum OpenBehavior: Sendable {
        case never, once, always
    }

    /// Opens a Realm for an actor. The caller must run on this actor.
    ///
    /// - Throws: `Realm.Error`.
    public init(
        configuration: Configuration = .defaultConfiguration, actor: isolated any Actor,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        opened = try RealmCore.open(configuration, Confinement.scheduler(actor))
    }

    /// Opens a Realm for the main actor.
    @MainActor public init(configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior)
        async throws
    {
        opened = try RealmCore.open(configuration, Confinement.scheduler(MainActor.shared))
    }

    /// Opens a Realm for the current actor.
    public static func open(
        configuration: Configuration = .defaultConfiguration, _isolation actor: isolated any Actor = #isolation,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm {
        Realm(try RealmCore.open(configuration, Confinement.scheduler(actor)))
    }

    /// Runs `block` in a write transaction when the write lock is available, and returns when the changes are on disk.
    /// The actor is free for other work meanwhile.
    ///
    /// - Throws: The error that `block` throws, in which case nothing is written; `Realm.Error`; `CancellationError` if
    ///   the task was cancelled before the transaction began.
    @discardableResult
    public func asyncWrite<Result>(_isolation actor: isolated any Actor = #isolation, _ block: () throws -> Result)
        async throws -> Result
    {
        let core = core, engine = core.realm
        try Task.checkCancellation()
        let turn = AsyncTurn(engine)
        do {
            try await withTaskCancellationHandler {
                try await waiting(actor) { done in try turn.begin(done) }
            } onCancel: {
                Task { await actor.takeBack(turn) }
            }
        } catch { throw turn.isTakenBack ? CancellationError() : error }
        let result: Result
        core.isInAsyncBlock = true
        defer { core.isInAsyncBlock = false }
        do { result = try block() } catch {
            if isInWriteTransaction { cancelWrite() }
            throw error
        }
        // The block may have ended the transaction itself.
        guard isInWriteTransaction else { return result }
        if let failure = core.takeFailure() {
            cancelWrite()
            throw Realm.Error(failure)
        }
        try await waiting(actor) { done in
            core.isCommitting = true
            defer { core.isCommitting = false }
            return try engine.commitWriteAsync(allowsGrouping: true) { error in done(error) }
        }
        return result
    }

    /// Starts an operation with `body` and waits until it calls its argument, once. If the argument is released without
    /// a call, the Realm was closed.
    private func waiting(_ actor: isolated any Actor, _ body: (@escaping (EngineError?) -> Void) throws -> some Any)
        async throws
    {
        do {
            try await withCheckedThrowingContinuation(isolation: actor) {
                (continuation: CheckedContinuation<Void, any Swift.Error>) in
                let answer = Answer(continuation)
                do { _ = try body { error in answer.give(error) } } catch { answer.give(error) }
            }
        } catch let error as EngineError { throw Realm.Error.thrown(error) }
    }

    /// Advances the Realm to the newest version.
    ///
    /// - Returns: true if the Realm advanced.
    @discardableResult
    public func asyncRefresh(_isolation actor: isolated any Actor = #isolation) async -> Bool { refresh() }
}

/// The result of an operation that a task waits for. It is given once.
private final class Answer: Sendable {
    private let waiting: Lock<CheckedContinuation<Void, any Swift.Error>?>

    init(_ waiting: CheckedContinuation<Void, any Swift.Error>) { self.waiting = Lock(initial: waiting) }

    deinit { give(EngineError(.closedRealm, "The Realm was closed or invalidated before the write was done")) }

    func give(_ error: (any Swift.Error)?) {
        let continuation = waiting.with { continuation in
            defer { continuation = nil }
            return continuation
        }
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }
}

/// A queued write transaction. Used only by its actor.
private final class AsyncTurn: @unchecked Sendable {
    private let engine: EngineRealm
    private var id: UInt32?
    private(set) var isTakenBack = false

    init(_ engine: EngineRealm) { self.engine = engine }

    func begin(_ done: @escaping (EngineError?) -> Void) throws(EngineError) {
        id = try engine.beginWriteAsync(notifyOnly: true) { [weak self] error in
            self?.id = nil
            done(error)
        }
    }

    func takeBack() {
        guard let id else { return }
        // The engine releases the callback, which ends the wait.
        isTakenBack = true
        isTakenBack = (try? engine.cancelAsync(id)) ?? false
    }
}

extension Actor {
    fileprivate func takeBack(_ turn: AsyncTurn) { turn.takeBack() }
}
