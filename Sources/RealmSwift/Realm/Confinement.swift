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
        if let queue { return QueueScheduler(queue) }
        return QueueScheduler.main.isOnThread ? QueueScheduler.main : ThreadScheduler.current
    }
}

/// A serial queue. Two for one queue are the same.
///
/// Sendable: all is immutable.
final class QueueScheduler: Scheduler, @unchecked Sendable {
    /// What a queue is known by: the library gives a new instance of `DispatchQueue` for the main queue each time.
    private final class Identity: Sendable {
        let isMain: Bool
        init(_ isMain: Bool) { self.isMain = isMain }
    }
    private static let key = DispatchSpecificKey<Identity>()
    private static let identities = Mutex<Void>(())
    static let main = QueueScheduler(.main, isMain: true)

    private let queue: DispatchQueue
    private let identity: Identity

    init(_ queue: DispatchQueue, isMain: Bool = false) {
        self.queue = queue
        identity = Self.identities.withLock { _ in
            if let known = queue.getSpecific(key: Self.key) { return known }
            let new = Identity(isMain || queue.label == "com.apple.main-thread")
            queue.setSpecific(key: Self.key, value: new)
            return new
        }
    }

    /// The main queue is on the main thread for as long as the program has not given that up, and asking for the thread costs less.
    var isOnThread: Bool { (identity.isMain && Self.isMainThread) || DispatchQueue.getSpecific(key: Self.key) === identity }
    private static let mainThread = Atomic(UInt(0))
    private static var isMainThread: Bool {
        let me = UInt(pthread_self()), known = mainThread.load(ordering: .relaxed)
        if known != 0 { return me == known }
        guard Thread.isMainThread else { return false }
        mainThread.store(me, ordering: .relaxed)
        return true
    }
    func isSame(as other: any Scheduler) -> Bool { (other as? QueueScheduler)?.identity === identity }
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
