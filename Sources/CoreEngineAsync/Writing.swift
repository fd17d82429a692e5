import Synchronization

extension Realm {
    /// Runs `body` in a write of its own, as soon as it is its turn, and returns what it returned when the changes are
    /// on the disk. Meanwhile the Realm's thread goes on. Writes that wait together reach the disk together. Rules:
    /// docs/live-objects.md §4.8.
    ///
    /// `body` runs on the Realm's scheduler. If it throws, nothing is changed, and the error arrives here. A write
    /// whose task was cancelled before its turn does not take place, and throws `CancellationError`; one that was
    /// committed stays.
    ///
    /// Thread rule: that of the Realm. So an actor that calls this owns the Realm; see `RealmExecutor`.
    /// - Throws: 2005 where nothing can be written; 2014 when the Realm is closed before its turn; what the commit
    ///   throws.
    @discardableResult
    public func writeAsync<R>(isolation: isolated (any Actor)? = #isolation, _ body: @escaping () throws -> R)
        async throws -> R
    {
        let write = AsyncWrite(self, body), cancellation = write.cancellation
        return try await withTaskCancellationHandler {
            // A closure belongs to the actor that it names.
            _ = isolation
            try await withCheckedThrowingContinuation { write.begin($0) }
            return try write.result()
        } onCancel: {
            cancellation.isWanted.store(true, ordering: .releasing)
        }
    }
}

/// Any thread.
private final class Cancellation: Sendable {
    let isWanted = Atomic(false)
}

/// Thread rule: that of the Realm.
private final class AsyncWrite<R> {
    private let realm: Realm
    private let body: () throws -> R
    let cancellation = Cancellation()

    /// Whoever waits; nil once there is an answer.
    private var waiter: CheckedContinuation<Void, any Error>?
    private var hasRun = false
    private var returned: R?

    init(_ realm: Realm, _ body: @escaping () throws -> R) {
        self.realm = realm
        self.body = body
    }

    func begin(_ waiter: CheckedContinuation<Void, any Error>) {
        self.waiter = waiter
        // A closed Realm lets go of what waits without a word.
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
