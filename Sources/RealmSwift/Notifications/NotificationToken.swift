internal import CoreEngine

/// A block is told of changes for as long as somebody has this, or until `invalidate`.
///
/// Thread rule: any.
public final class NotificationToken: @unchecked Sendable {  // What changes is behind a lock.

    private struct State {
        var end: (() -> Void)?
        var silenced: (notifier: Notifier, id: Int)?
        var skip: (() -> Void)?

        /// Of an observer of a Realm itself.
        var observer: RealmObserver?
    }

    private let state: Lock<State>

    /// - Parameters:
    ///   - skip: of an observer that compares states itself; see `skip()`.
    ///   - end: nil for a token of nothing.
    init(_ silenced: (notifier: Notifier, id: Int)? = nil, skip: (() -> Void)? = nil, _ end: (() -> Void)?) {
        nonisolated(unsafe) let kept = State(end: end, silenced: silenced, skip: skip)
        state = Lock(initial: kept)
    }

    init(_ observer: RealmObserver) {
        nonisolated(unsafe) let kept = State(end: { observer.end() }, observer: observer)
        state = Lock(initial: kept)
    }

    deinit { invalidate() }

    /// Ends it for good.
    ///
    /// - Returns: whether there was something to end.
    @discardableResult
    public func invalidate() -> Bool {
        let end = state.with { s in
            defer { s = State() }
            return Box(s.end)
        }
        end.value?()
        return end.value != nil
    }

    /// For commits that this block is not told of.
    var silenced: (notifier: Notifier, id: Int)? { state.with { Box($0.silenced) }.value }

    /// Called at the end of a transaction that this block is not told of, before the commit: what the next change is
    /// compared with is then the state that the transaction leaves.
    func skip() { state.with { Box($0.skip) }.value?() }
    var observer: RealmObserver? { state.with { $0.observer } }

    private struct Box<T>: @unchecked Sendable {
        let value: T

        init(_ value: T) { self.value = value }
    }
}
