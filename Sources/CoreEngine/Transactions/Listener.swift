/// Who is told of new versions of a file.
package protocol VersionClient: AnyObject, Sendable {
    /// Whether it should be told that the newest version is `newest`. Asked under the listener's lock.
    func wants(_ newest: UInt64) -> Bool

    /// On the listener's thread, no lock held. Must not wait for anybody.
    func tell(_ newest: UInt64)
}

/// Tells of new versions of one file, whoever committed them: this process, or another one.
///
/// A thread of its own sleeps in the kernel until the shared state of the lock file names a newer version
/// (`SharedState`, "The bell"); it looks at nothing in between. There is one such thread for each file that has
/// clients, not one for the process: a thread can wait for one word of memory. While nobody wants to be told of
/// anything, the thread does not even wake up for commits: a program that takes no turns pays for none. Realms whose
/// scheduler nobody runs are no clients (`Scheduler.isAttended`), so that such a program has no thread either.
///
/// The thread does not keep the file open. A process that dies takes nothing of this along, and leaves nothing behind.
/// In a forked child there is no such thread, as there is no database: the child opens the file anew.
///
/// Thread rule: any.
package final class Listener: Sendable {
    private struct State {
        var clients: [any VersionClient] = []

        /// The thread that listens; one with another number ends. 0: none.
        var thread = 0
        var lastThread = 0
    }

    private let state = Monitor(State())
    private let shared: SharedState

    init(_ shared: SharedState) { self.shared = shared }

    // MARK: Clients

    /// Begins to listen for the first client. - Throws: when the system gives no thread; the client is there all the
    /// same.
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

    /// Ends listening with the last client. A call of `tell` that has begun may still run.
    package func remove(_ client: any VersionClient) {
        let isLast = state.with { current -> Bool in
            guard let i = current.clients.firstIndex(where: { $0 === client }) else { return false }
            current.clients.remove(at: i)
            if current.clients.isEmpty { current.thread = 0 }
            return current.clients.isEmpty
        }
        if isLast { shared.call() }
    }

    /// Something that `wants` goes by has changed.
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
            // Before looking for what there is to do: what comes later rings the bell.
            let seen = shared.bellState
            if current.clients.contains(where: { $0.wants(seen.newestNumber) }) {
                return .tell(seen.newestNumber, current.clients)
            }
            // With nobody to tell it is not the bell that is waited for, but a client who can be told.
            return current.clients.contains { $0.wants(seen.newestNumber + 1) } ? .wait(seen) : nil
        }
    }
}
