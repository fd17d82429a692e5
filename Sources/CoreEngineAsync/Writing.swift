import Synchronization

extension Realm {
    /// Runs `body` in a new write transaction when the write lock is available, and returns its result when the changes
    /// are on disk. The Realm's thread is free for other work meanwhile. Queued writes are flushed to disk together.
    /// Rules: docs/live-objects.md §4.8.
    ///
    /// `body` runs on the Realm's scheduler. If it throws, nothing is changed, and this function throws the error. A
    /// write whose task is cancelled before it begins does not take place, and throws `CancellationError`. A committed
    /// write stays.
    ///
    /// Thread rule: that of the Realm. So an actor that calls this function owns the Realm; see `RealmExecutor`.
    /// - Throws: 2005 if the Realm cannot be written; 2014 if the Realm is closed before the write begins; the errors
    ///   of the commit.
    @discardableResult
    public func writeAsync<R>(isolation: isolated (any Actor)? = #isolation, _ body: @escaping () throws -> R)
        async throws -> R
    {
        let write = AsyncWrite(self, body), cancellation = write.cancellation
        return try await withTaskCancellationHandler {
            // The closure is isolated to the actor because it captures `isolation`.
            _ = isolation
            try await withCheckedThrowingContinuation { write.begin($0) }
            return try write.result()
        } onCancel: {
            cancellation.isWanted.store(true, ordering: .releasing)
        }
    }
}

/// The request to cancel a write. Any thread.
private final class Cancellation: Sendable {
    let isWanted = Atomic(false)
}

/// A queued write. Thread rule: that of the Realm.
private final class AsyncWrite<R> {
    private let realm: Realm
    private let body: () throws -> R
    let cancellation = Cancellation()

    /// The waiting task; nil after the result was given.
    private var waiter: CheckedContinuation<Void, any Error>?
    private var hasRun = false
    private var returned: R?

    init(_ realm: Realm, _ body: @escaping () throws -> R) {
        self.realm = realm
        self.body = body
    }

    func begin(_ waiter: CheckedContinuation<Void, any Error>) {
        self.waiter = waiter
        // A closed Realm releases queued writes without a call.
        let end = End { [self] in
            if !hasRun { answer(RealmError(.closedRealm, "The Realm was closed before the write began")) }
        }
        do throws(RealmError) {
            try realm.beginWriteAsync { [self] error in withExtendedLifetime(end) { run(error) } }
        } catch {
            hasRun = true
            answer(error)
        }
    }

    private func run(_ error: RealmError?) {
        hasRun = true
        if let error { return answer(error) }
        do {
            if cancellation.isWanted.load(ordering: .acquiring) { throw CancellationError() }
            returned = try body()
            // The body may have ended the write itself.
            guard realm.isWriting || realm.isClosed else { return answer(nil) }
            try realm.commitWriteAsync(allowsGrouping: true) { [self] error in answer(error) }
        } catch {
            if realm.isWriting { try? realm.cancelWrite() }
            answer(error)
        }
    }

    private func answer(_ error: (any Error)?) {
        guard let waiter else { return }
        self.waiter = nil
        if let error { waiter.resume(throwing: error) } else { waiter.resume() }
    }

    func result() throws -> R {
        guard let returned else { throw CancellationError() }
        return returned
    }
}
