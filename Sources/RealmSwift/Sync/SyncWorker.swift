internal import CoreEngine
import Foundation

/// The thread of a session.
///
/// Sendable: the mutable state is behind a lock; the Realm exists only on the thread.
final class SyncWorker: Sendable {
    private let configuration: Realm.Configuration
    private let transport: any SyncTransport
    private let interval: Duration
    private let pauseAfterError: Duration
    private let shared: Lock<Shared>

    /// Is left when the thread ends.
    private let running = DispatchGroup()

    private typealias StateLine = AsyncStream<SyncSession.State>.Continuation

    private struct Shared {
        var onEvent: (@Sendable (SyncEvent) -> Void)?

        /// Wakes the thread; nil before it has begun.
        var scheduler: ThreadScheduler?
        var isAsked = false
        var isStopping = false
        var state = SyncSession.State.active

        /// The exchanges that have begun, and those that have succeeded.
        var attempts = 0
        var successes = 0

        /// Those that wait for an exchange.
        var waiters: [Int: Waiter] = [:]
        var eventLines: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
        var stateLines: [Int: StateLine] = [:]
        var lastId = 0

        var hasEnded: Bool { if case .ended = state { true } else { false } }

        mutating func newId() -> Int {
            lastId += 1
            return lastId
        }

        mutating func enter(_ state: SyncSession.State) -> [StateLine] {
            self.state = state
            return Array(stateLines.values)
        }
    }

    private struct Waiter {
        /// The number of the first exchange that counts.
        let wanted: Int

        /// Whether an exchange that fails ends the wait.
        let isTold: Bool
        let done: @Sendable (Result<SyncOutcome, any Swift.Error>) -> Void
    }

    init(
        _ configuration: Realm.Configuration, _ transport: any SyncTransport, _ interval: Duration,
        _ onEvent: (@Sendable (SyncEvent) -> Void)?
    ) {
        self.configuration = configuration
        self.transport = transport
        self.interval = max(interval, .milliseconds(10))
        pauseAfterError = min(self.interval, .milliseconds(500))
        shared = Lock(initial: Shared(onEvent: onEvent))
    }

    func start() {
        running.enter()
        let thread = Foundation.Thread { self.run() }
        thread.name = "realm-sync"
        // Values may be nested a hundred times.
        thread.stackSize = 4 << 20
        thread.start()
    }

    // MARK: Any thread

    var state: SyncSession.State { shared.with { $0.state } }
    var successes: Int { shared.with { $0.successes } }

    func wake() {
        let scheduler = shared.with { shared in
            shared.isAsked = true
            return shared.scheduler
        }
        scheduler?.post {}
    }

    func askToStop() {
        shared.with { $0.isStopping = true }
        wake()
    }

    private var isOnThread: Bool { shared.with { $0.scheduler }?.isOnThread ?? false }

    func waitForEnd() { if !isOnThread { running.wait() } }

    func whenEnded(_ done: @escaping @Sendable () -> Void) { running.notify(queue: .global(), execute: done) }

    func newWaiter() -> Int { shared.with { $0.newId() } }

    /// Calls `done` when an exchange that begins from now on is over, or none will be. The exchange begins soon.
    ///
    /// - Parameter isTold: false to wait for an exchange that succeeds.
    func wait(
        _ id: Int, isTold: Bool = true, _ done: @escaping @Sendable (Result<SyncOutcome, any Swift.Error>) -> Void
    ) {
        let isWaiting = shared.with { shared in
            guard !shared.hasEnded else { return false }
            shared.waiters[id] = Waiter(wanted: shared.attempts + 1, isTold: isTold, done: done)
            return true
        }
        if isWaiting { wake() } else { done(.failure(stopped)) }
    }

    /// The error for those that wait for a session that has ended.
    private var stopped: any Swift.Error {
        state.error ?? Realm.Error(.fail, "The session of synchronisation was stopped")
    }

    func cancel(_ id: Int) {
        shared.with { $0.waiters.removeValue(forKey: id) }?.done(.failure(CancellationError()))
    }

    func wait(_ timeout: Duration?) -> Bool {
        guard !isOnThread else { return false }
        let id = newWaiter(), arrived = DispatchSemaphore(value: 0), succeeded = Lock(initial: false)
        wait(id, isTold: false) { result in
            if case .success = result { succeeded.with { $0 = true } }
            arrived.signal()
        }
        if let timeout {
            let milliseconds = Int(clamping: max(timeout.wholeMilliseconds, 0))
            if arrived.wait(timeout: .now() + .milliseconds(min(milliseconds, 1 << 40))) == .timedOut { cancel(id) }
        } else {
            arrived.wait()
        }
        return succeeded.with { $0 }
    }

    func events() -> AsyncStream<SyncEvent> {
        let (stream, line) = AsyncStream<SyncEvent>.makeStream()
        let id: Int? = shared.with { shared in
            guard !shared.hasEnded else { return nil }
            let id = shared.newId()
            shared.eventLines[id] = line
            return id
        }
        guard let id else {
            line.finish()
            return stream
        }
        line.onTermination = { [weak self] _ in _ = self?.shared.with { $0.eventLines.removeValue(forKey: id) } }
        return stream
    }

    func states() -> AsyncStream<SyncSession.State> {
        let (stream, line) = AsyncStream<SyncSession.State>.makeStream()
        let id: Int? = shared.with { shared in
            line.yield(shared.state)
            guard !shared.hasEnded else { return nil }
            let id = shared.newId()
            shared.stateLines[id] = line
            return id
        }
        guard let id else {
            line.finish()
            return stream
        }
        line.onTermination = { [weak self] _ in _ = self?.shared.with { $0.stateLines.removeValue(forKey: id) } }
        return stream
    }

    // MARK: The thread

    private func run() {
        let scheduler = ThreadScheduler.current
        shared.with { $0.scheduler = scheduler }
        var ended: (any Swift.Error)?
        do {
            var engine = try configuration.engine()
            engine.scheduler = scheduler
            let realm: EngineRealm
            do throws(EngineError) { realm = try EngineRealm(engine) } catch { throw Realm.Error(error) }
            defer { realm.close() }
            try loop(realm, scheduler)
        } catch { ended = (error as? EngineError).map { Realm.Error($0) } ?? error }
        transport.close()
        end(ended)
        running.leave()
    }

    private func loop(_ realm: EngineRealm, _ scheduler: ThreadScheduler) throws {
        var pause = pauseAfterError
        while begins() {
            do {
                let outcome = try autoreleasepool { try Exchange.run(realm, transport) }
                pause = pauseAfterError
                succeeded(outcome)
                for event in outcome.events { tell(event) }
                try rest(realm, scheduler, varied(interval), untilCommit: true)
            } catch let failure as Exchange.Failure {
                guard failure.isPassing else { throw failure.error }
                failed(failure.error)
                try rest(realm, scheduler, varied(pause), untilCommit: false)
                pause = min(pause * 2, interval)
            }
        }
    }

    /// Begins an exchange, unless the session was stopped.
    private func begins() -> Bool {
        shared.with { shared in
            guard !shared.isStopping else { return false }
            shared.isAsked = false
            shared.attempts += 1
            return true
        }
    }

    private func succeeded(_ outcome: SyncOutcome) {
        let (done, lines) = shared.with { shared -> ([Int: Waiter], [StateLine]) in
            shared.successes += 1
            let done = shared.waiters.filter { $0.value.wanted <= shared.attempts }
            for id in done.keys { shared.waiters[id] = nil }
            guard case .waiting = shared.state else { return (done, []) }
            return (done, shared.enter(.active))
        }
        for line in lines { line.yield(.active) }
        for waiter in done.values { waiter.done(.success(outcome)) }
    }

    private func failed(_ error: any Swift.Error) {
        let (done, lines) = shared.with { shared in
            let done = shared.waiters.filter { $0.value.wanted <= shared.attempts && $0.value.isTold }
            for id in done.keys { shared.waiters[id] = nil }
            return (done, shared.enter(.waiting(error)))
        }
        for line in lines { line.yield(.waiting(error)) }
        for waiter in done.values { waiter.done(.failure(error)) }
    }

    private func tell(_ event: SyncEvent) {
        let (onEvent, lines) = shared.with { ($0.onEvent, Array($0.eventLines.values)) }
        onEvent?(event)
        for line in lines { line.yield(event) }
    }

    private func end(_ error: (any Swift.Error)?) {
        let (waiters, stateLines, eventLines, onEvent) = shared.with { shared in
            let lines = shared.enter(.ended(error))
            defer {
                shared.waiters = [:]
                shared.stateLines = [:]
                shared.eventLines = [:]
                shared.onEvent = nil
                shared.scheduler = nil
            }
            return (shared.waiters, lines, Array(shared.eventLines.values), shared.onEvent)
        }
        for waiter in waiters.values { waiter.done(.failure(stopped)) }
        for line in stateLines {
            line.yield(.ended(error))
            line.finish()
        }
        for line in eventLines { line.finish() }
        // What the block holds is released outside of the lock.
        withExtendedLifetime(onEvent) {}
    }

    /// Devices that began together do not stay together.
    private func varied(_ duration: Duration) -> Duration { duration * Double.random(in: 0.8...1.2) }

    /// Sleeps, until the session is asked to do something.
    ///
    /// - Parameter untilCommit: Whether unsent changes also end the sleep.
    private func rest(_ realm: EngineRealm, _ scheduler: ThreadScheduler, _ duration: Duration, untilCommit: Bool)
        throws
    {
        let end = ContinuousClock.now + duration
        while !shared.with({ $0.isAsked || $0.isStopping }) {
            let left = (end - ContinuousClock.now).wholeMilliseconds
            guard left >= 0 else { return }
            // A turn of the scheduler is a commit, or somebody who asks.
            guard scheduler.runPending(timeout: Int32(clamping: left + 1)), untilCommit else { continue }
            let pending = try realm.inside(.realm) { () throws(EngineError) in
                _ = try realm.refresh()
                return try realm.unsentCount()
            }
            if pending > 0 { return }
        }
    }
}
