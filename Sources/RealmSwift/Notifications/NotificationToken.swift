internal import CoreEngine

/// The registration of a notification block. The block receives changes until the token is released or `invalidate` is
/// called.
///
/// Thread rule: any.
public final class NotificationToken: @unchecked Sendable {  // The mutable state is behind a lock.

    private struct State {
        var end: (() -> Void)?
        var silenced: (notifier: Notifier, id: Int)?
        var skip: (() -> Void)?

        /// Set if the token belongs to an observer of a Realm itself.
        var observer: RealmObserver?
    }

    private let state: Lock<State>

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - skip: For observers that compare states themselves; see `skip()`.
    ///   - end: Ends the observation; nil for a token without an observation.
    init(_ silenced: (notifier: Notifier, id: Int)? = nil, skip: (() -> Void)? = nil, _ end: (() -> Void)?) {
        nonisolated(unsafe) let kept = State(end: end, silenced: silenced, skip: skip)
        state = Lock(initial: kept)
    }

    /// Creates a token without an observation.
    public convenience init() { self.init(nil, skip: nil, nil) }

    init(_ observer: RealmObserver) {
        nonisolated(unsafe) let kept = State(end: { observer.end() }, observer: observer)
        state = Lock(initial: kept)
    }

    deinit { invalidate() }

    /// Stops the notifications. The token cannot be used again.
    ///
    /// - Returns: true if a registration was ended; false if it had ended before.
    @discardableResult
    public func invalidate() -> Bool {
        let end = state.with { s in
            defer { s = State() }
            return Box(s.end)
        }
        end.value?()
        return end.value != nil
    }

    /// The notifier and the identifier of the block, for commits that exclude this block.
    var silenced: (notifier: Notifier, id: Int)? { state.with { Box($0.silenced) }.value }

    /// Records the current state as the base of the next comparison. Called at the end of a transaction that excludes
    /// this block, before the commit.
    func skip() { state.with { Box($0.skip) }.value?() }
    var observer: RealmObserver? { state.with { $0.observer } }

    private struct Box<T>: @unchecked Sendable {
        let value: T

        init(_ value: T) { self.value = value }
    }
}
