internal import CoreEngine
import Foundation

/// Exchanges the changes of a file with a hub, on a thread of its own, until `stop` is called or the session is
/// released.
///
///     let session = try realm.sync.session(over: transport) { event in print(event) }
///     let outcome = try await session.exchange()
///
/// The thread opens the file itself. It sleeps until this file is written in any program, `wake` is called, or the
/// interval is over. After an error of the transport or the hub it tries again, each time after a longer pause, up to
/// the interval. Other errors end the session: see `state`. A Realm of the program shows what came from the hub when it
/// advances: in turns of its queue, or in `refresh`.
///
/// Thread rule: any.
public final class SyncSession: Sendable {
    /// What a session does.
    public enum State: Sendable {
        /// The last exchange has succeeded, or the first one is under way.
        case active
        /// The last exchange has failed with this error of the transport or the hub. The session tries again.
        case waiting(any Swift.Error)
        /// The session makes no more exchanges: this error ended it, or it was stopped.
        case ended((any Swift.Error)?)

        /// The error; nil if there is none.
        public var error: (any Swift.Error)? {
            switch self {
            case .active: nil
            case .waiting(let error): error
            case .ended(let error): error
            }
        }
    }

    private let worker: SyncWorker

    init(
        _ configuration: Realm.Configuration, _ transport: any SyncTransport, _ interval: Duration,
        _ onEvent: (@Sendable (SyncEvent) -> Void)?
    ) {
        worker = SyncWorker(configuration, transport, interval, onEvent)
        worker.start()
    }

    /// The session stops without waiting for an exchange in progress.
    deinit { worker.askToStop() }

    public var state: State { worker.state }

    /// The number of exchanges that have succeeded.
    public var exchangeCount: Int { worker.successes }

    /// Begins an exchange soon; the call does not wait for it.
    public func wake() { worker.wake() }

    /// Waits until an exchange that begins after this call has succeeded. It blocks the thread, so it is for programs
    /// without actors. On the session's own thread, that is in `onEvent`, it returns false at once.
    ///
    /// - Parameter timeout: nil to wait without limit.
    /// - Returns: false if no such exchange succeeded in time, or if the session has ended.
    @discardableResult
    public func wait(timeout: Duration? = nil) -> Bool { worker.wait(timeout) }

    /// Waits until an exchange that begins after this call is over. The session begins it soon.
    ///
    /// - Returns: What the exchange did.
    /// - Throws: The error of that exchange; the error that ended the session; `Realm.Error` if the session was stopped;
    ///   `CancellationError` if the task was cancelled. The session goes on after errors of the transport.
    @discardableResult
    public func exchange() async throws -> SyncOutcome {
        let id = worker.newWaiter()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                worker.wait(id) { continuation.resume(with: $0) }
                // The task may have been cancelled before the continuation existed.
                if Task.isCancelled { worker.cancel(id) }
            }
        } onCancel: {
            worker.cancel(id)
        }
    }

    /// Returns the events of all exchanges from now on. The sequence ends with the session.
    public var events: AsyncStream<SyncEvent> { worker.events() }

    /// Returns the current state and all later ones. The sequence ends with the session, after the state `ended`.
    public var states: AsyncStream<State> { worker.states() }

    /// Ends the session. An exchange in progress is finished, and the call waits for it; then the session has closed
    /// the file. A second call has no effect. In `onEvent` the call does not wait.
    public func stop() {
        worker.askToStop()
        worker.waitForEnd()
    }

    /// Ends the session, as `stop`, and waits without blocking a thread.
    public func asyncStop() async {
        worker.askToStop()
        await withCheckedContinuation { continuation in worker.whenEnded { continuation.resume() } }
    }
}
