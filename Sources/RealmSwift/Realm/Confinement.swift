internal import CoreEngine
import Dispatch
import Foundation
import Synchronization

/// Where a Realm may be used, and where its notifications arrive: the one place of the façade that decides it.
///
/// A Realm that is opened on the main queue lives there: not on the main *thread*, because on Linux a program with an asynchronous `main` gives that
/// thread up, and its main queue goes on elsewhere. A Realm that is opened with a queue lives on that queue; on any other thread it belongs to the
/// thread.
enum Confinement {
    /// The scheduler for a Realm that is opened here, now.
    static func scheduler(_ queue: DispatchQueue?) -> any Scheduler {
        if let queue { return queue === DispatchQueue.main ? QueueScheduler.main : QueueScheduler.of(queue) }
        return QueueScheduler.main.isOnThread ? QueueScheduler.main : ThreadScheduler.current
    }
}

/// A serial queue.
///
/// Sendable: all is immutable.
final class QueueScheduler: Scheduler, @unchecked Sendable {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    static let main = QueueScheduler(.main)

    private let queue: DispatchQueue
    private let isMain: Bool
    private init(_ queue: DispatchQueue) {
        self.queue = queue
        isMain = queue === DispatchQueue.main
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }
    /// Queues are told apart by what they are; a scheduler for one that has another already does no harm.
    static func of(_ queue: DispatchQueue) -> QueueScheduler { QueueScheduler(queue) }

    var isOnThread: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) || (isMain && Thread.isMainThread) }
    func isSame(as other: any Scheduler) -> Bool { (other as? QueueScheduler)?.queue === queue }
    var canDeliver: Bool { true }
    func post(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
    var threadCheck: (@convention(c) (UnsafeMutableRawPointer?) -> Bool)? {
        { context in
            guard let context else { return false }
            return Unmanaged<QueueScheduler>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.isOnThread }
        }
    }
    /// Good while the scheduler lives, which the Realm keeps.
    var threadCheckContext: UnsafeMutableRawPointer? { Unmanaged.passUnretained(self).toOpaque() }
}
