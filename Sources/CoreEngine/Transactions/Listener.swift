/// Who is told of new versions of a file.
package protocol VersionClient: AnyObject, Sendable {
    /// Whether it should be told that the newest version is `newest`. Asked under the listener's lock.
    func wants(_ newest: UInt64) -> Bool
    /// On the listener's thread, no lock held. Must not wait for anybody.
    func tell(_ newest: UInt64)
}
/// What runs on the listener's thread before clients are told of a version.
package protocol VersionPass: AnyObject, Sendable {
    func run(_ database: Database)
}

/// Tells of new versions of one file, whoever committed them: this process, or another one.
///
/// A thread of its own sleeps in the kernel until the shared state of the lock file names a newer version (`SharedState`, "The bell"); it looks
/// at nothing in between. There is one such thread for each file that has clients, not one for the process: a thread can wait for one word of
/// memory, and a long pass over one file holds nobody else up. While nobody wants to be told of anything, the thread does not even wake up for
/// commits: a program that takes no turns pays for none.
///
/// The thread does not keep the file open, except while a pass runs. A process that dies takes nothing of this along, and leaves nothing behind.
/// In a forked child there is no such thread, as there is no database: the child opens the file anew.
///
/// Thread rule: any.
package final class Listener: @unchecked Sendable {  // All that changes is in `state`, but for `database`, which is set once.
    private struct State {
        var clients: [any VersionClient] = []
        var pass: (any VersionPass)?
        /// The thread that listens; one with another number ends. 0: none.
        var thread = 0
        var lastThread = 0
        /// A round was asked for, whether or not there is a new version.
        var isCalled = false
        /// The threads that run a pass: the listener, and one that is about to end.
        var passing: [UInt] = []
    }
    private let state = Monitor(State())
    private let shared: SharedState
    private weak var database: Database?

    init(_ shared: SharedState, of database: Database) {
        self.shared = shared
        self.database = database
    }

    // MARK: Clients

    /// Begins to listen for the first client. - Throws: when the system gives no thread; the client is there all the same.
    package func add(_ client: any VersionClient) throws(RealmError) {
        let thread = state.with { s -> Int in
            s.clients.append(client)
            guard s.thread == 0 else { return 0 }
            s.lastThread += 1
            s.thread = s.lastThread
            return s.thread
        }
        guard thread != 0 else { return }
        do throws(RealmError) { try Thread.start { [self] in listen(thread) } } catch {
            state.with { if $0.thread == thread { $0.thread = 0 } }
            throw error
        }
    }
    /// Ends listening with the last client; then no pass runs any more when it returns.
    package func remove(_ client: any VersionClient) {
        let isLast = state.with { s -> Bool in
            guard let i = s.clients.firstIndex(where: { $0 === client }) else { return false }
            s.clients.remove(at: i)
            if s.clients.isEmpty { s.thread = 0 }
            return s.clients.isEmpty
        }
        guard isLast else { return }
        shared.call()
        let me = Platform.threadId
        state.wait { s in s.passing.allSatisfy { $0 == me } ? () : nil }
    }
    /// Something that `wants` goes by has changed.
    package func look() { state.with { _ in } }
    /// Asks for a pass although there may be no new version.
    package func callForPass() {
        let isFirst = state.with { s -> Bool in
            defer { s.isCalled = true }
            return !s.isCalled
        }
        if isFirst { shared.call() }
    }
    package func setPass(_ pass: (any VersionPass)?) { state.with { $0.pass = pass } }

    // MARK: The thread

    private enum Step {
        case wait(SharedState.BellState)
        case round(UInt64, [any VersionClient], (any VersionPass)?, wasCalled: Bool)
        case end
    }
    private func listen(_ thread: Int) {
        while true {
            switch next(thread) {
            case .end: return
            case .wait(let seen): shared.waitForBell(after: seen)
            case .round(let newest, let clients, let pass, let wasCalled):
                if let pass, let database { pass.run(database) }
                let me = Platform.threadId
                state.with { s in s.passing.removeAll { $0 == me } }
                for c in clients where wasCalled || c.wants(newest) { c.tell(newest) }
            }
        }
    }
    private func next(_ thread: Int) -> Step {
        state.wait { s -> Step? in
            guard s.thread == thread else { return .end }
            // Before looking for what there is to do: what comes later rings the bell.
            let seen = shared.bellState
            if s.isCalled || s.clients.contains(where: { $0.wants(seen.newestNumber) }) {
                defer {
                    s.isCalled = false
                    s.passing.append(Platform.threadId)
                }
                return .round(seen.newestNumber, s.clients, s.pass, wasCalled: s.isCalled)
            }
            // With nobody to tell it is not the bell that is waited for, but a client who can be told.
            return s.clients.contains { $0.wants(seen.newestNumber + 1) } ? .wait(seen) : nil
        }
    }
}
