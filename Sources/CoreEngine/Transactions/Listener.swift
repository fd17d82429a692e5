/// Receives reports of new versions of a file.
package protocol VersionClient: AnyObject, Sendable {
    /// Whether the client wants a report that the newest version is `newest`. Called under the listener's lock.
    func wants(_ newest: UInt64) -> Bool

    /// Reports the newest version. Called on the listener's thread, without a lock. Must not wait.
    func tell(_ newest: UInt64)
}

/// Reports new versions of one file, whether this process or another one committed them.
///
/// A separate thread sleeps in the kernel until the shared state of the lock file names a newer version (`SharedState`,
/// "The bell"); it does no work in between. Each file with clients has one such thread, because a thread can wait for
/// only one word of memory. While no client wants a report, the thread does not even wake up for commits: a program
/// that runs no event loop pays nothing for them. Realms whose scheduler does not run are not clients
/// (`Scheduler.isAttended`), so such a program has no thread either.
///
/// The thread does not keep the file open. A process that dies leaves nothing behind. A forked child has neither this
/// thread nor the database: it must open the file anew.
///
/// Thread rule: any.
package final class Listener: Sendable {
    private struct State {
        var clients: [any VersionClient] = []

        /// Number of the thread that listens; threads with another number end. 0: none.
        var thread = 0
        var lastThread = 0
    }

    private let state = Monitor(State())
    private let shared: SharedState

    init(_ shared: SharedState) { self.shared = shared }

    // MARK: Clients

    /// Adds a client; begins to listen with the first one.
    /// - Throws: when the operating system refuses a thread; the client is added nevertheless.
    package func add(_ client: any VersionClient) throws(RealmError) {
        let thread = state.with { current -> Int in
            current.clients.append(client)
            guard current.thread == 0 else { return 0 }
            current.lastThread += 1
            current.thread = current.lastThread
            return current.thread
        }
        guard thread != 0 else { return }
        do throws(RealmError) { try Thread.start { [self] in listen(thread) } } catch {
            state.with { if $0.thread == thread { $0.thread = 0 } }
            throw error
        }
    }

    /// Removes a client; stops listening after the last one. A call of `tell` that has begun may still run.
    package func remove(_ client: any VersionClient) {
        let isLast = state.with { current -> Bool in
            guard let i = current.clients.firstIndex(where: { $0 === client }) else { return false }
            current.clients.remove(at: i)
            if current.clients.isEmpty { current.thread = 0 }
            return current.clients.isEmpty
        }
        if isLast { shared.call() }
    }

    /// Called when the result of a client's `wants` may have changed.
    package func look() { state.with { _ in } }

    // MARK: The thread

    private enum Step {
        case wait(SharedState.BellState)
        case tell(UInt64, [any VersionClient])
        case end
    }

    private func listen(_ thread: Int) {
        while true {
            switch next(thread) {
            case .end: return
            case .wait(let seen): shared.waitForBell(after: seen)
            case .tell(let newest, let clients):
                for client in clients where client.wants(newest) { client.tell(newest) }
            }
        }
    }

    private func next(_ thread: Int) -> Step {
        state.wait { current -> Step? in
            guard current.thread == thread else { return .end }
            // Read before the clients are asked: a version that is published later changes the bell.
            let seen = shared.bellState
            if current.clients.contains(where: { $0.wants(seen.newestNumber) }) {
                return .tell(seen.newestNumber, current.clients)
            }
            // When no client wants the next version, the thread waits for a change of the clients instead of the bell.
            return current.clients.contains { $0.wants(seen.newestNumber + 1) } ? .wait(seen) : nil
        }
    }
}
