/// The place of a scheduler that says itself which others are the same: those share one.
///
/// What they say is asked once, of those that have a place already, when the first Realm comes to live there; outside
/// of the lock, because it is a function of the program.
package final class SchedulerHome: @unchecked Sendable {  // `mark` is used under the lock of `all`.

    private final class Mark: Sendable {}

    private struct Entry {
        weak var scheduler: (any EngineScheduler)?
        let home: SchedulerHome
    }

    private static let all = Lock(initial: [Entry]())
    private var mark: Mark?

    package init() {}

    /// - Parameter scheduler: the one that has this home.
    package func place(of scheduler: any EngineScheduler) -> UInt {
        let (known, others) = Self.all.with { all -> (Mark?, [(scheduler: any EngineScheduler, home: SchedulerHome)]) in
            if mark != nil { return (mark, []) }
            all.removeAll { $0.scheduler == nil || $0.home === self }
            let others = all.compactMap { e in e.scheduler.map { ($0, e.home) } }
            all.append(Entry(scheduler: scheduler, home: self))
            return (nil, others)
        }
        if let known { return number(known) }
        let same = others.first { $0.scheduler.isSame(as: scheduler) }?.home
        return number(
            Self.all.with { _ in
                // Of two that come at the same moment, the later one knows of the other.
                let common = mark ?? same?.mark ?? Mark()
                same?.mark = common
                mark = common
                return common
            })
    }

    private func number(_ mark: Mark) -> UInt { ThreadScheduler.place(mark) }
}
