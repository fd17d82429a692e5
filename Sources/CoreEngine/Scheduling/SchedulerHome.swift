/// The `place` number of a scheduler that defines equality itself (`isSame`): equal schedulers share one number.
///
/// `isSame` is called when the first Realm uses the new scheduler, once for each scheduler that already has a number.
/// It is a function of the program, so it is called outside of the lock.
package final class SchedulerHome: @unchecked Sendable {  // `mark` is used under the lock of `all`.

    private final class Mark: Sendable {}

    private struct Entry {
        weak var scheduler: (any EngineScheduler)?
        let home: SchedulerHome
    }

    private static let all = Lock(initial: [Entry]())
    private var mark: Mark?

    package init() {}

    /// - Parameter scheduler: the scheduler that owns this home.
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
                // When two schedulers get their numbers at the same time, the later one finds the earlier one.
                let common = mark ?? same?.mark ?? Mark()
                same?.mark = common
                mark = common
                return common
            })
    }

    private func number(_ mark: Mark) -> UInt { ThreadScheduler.place(mark) }
}
