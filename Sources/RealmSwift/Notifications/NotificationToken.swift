internal import CoreEngine

/// A block is told of changes for as long as somebody has this, or until `invalidate`.
///
/// Thread rule: any.
public final class NotificationToken: @unchecked Sendable {  // What changes is behind a lock.
    private struct State {
        var end: (() -> Void)?
        var silenced: (notifier: Notifier, id: Int)?
    }
    private let state: Lock<State>

    init(_ silenced: (notifier: Notifier, id: Int)? = nil, _ end: @escaping () -> Void) {
        nonisolated(unsafe) let kept = State(end: end, silenced: silenced)
        state = Lock(initial: kept)
    }
    deinit { invalidate() }
    /// Ends it for good.
    public func invalidate() {
        let end = state.with { s in
            defer { s = State() }
            return Box(s.end)
        }
        end.value?()
    }
    /// For commits that this block is not told of.
    var silenced: (notifier: Notifier, id: Int)? { state.with { Box($0.silenced) }.value }
    private struct Box<T>: @unchecked Sendable {
        let value: T
        init(_ value: T) { self.value = value }
    }
}
