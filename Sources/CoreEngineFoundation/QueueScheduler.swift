import CoreEngine
import Foundation
import Synchronization

/// A scheduler that confines a Realm to a serial queue. The Realm is used in blocks of the queue, on whichever thread
/// they run, and its notifications arrive on the queue.
///
/// The scheduler identifies the queue by a queue-specific value, not by its thread. `DispatchQueue.main` is still the
/// main queue after an asynchronous `main` has given up the main thread. Blocks of queues whose target is this queue
/// count as blocks of this queue.
///
/// The queue must be serial. Global queues are refused. A concurrent queue of the program cannot be detected. Its use
/// is an error, like the use of unsynchronized data on two threads.
public final class QueueScheduler: Scheduler, EngineScheduler {
    private let queue: DispatchQueue
    private let mark: Mark

    /// The mark of a queue, which is stored in the queue under a key that all marks share. Each mark has its own key to
    /// identify the queue.
    private final class Mark: Sendable {
        let key = DispatchSpecificKey<Bool>()
        private let isMain: Bool

        private init(_ isMain: Bool) { self.isMain = isMain }
        private static let shared = DispatchSpecificKey<Mark>()
        private static let making = Lock(initial: ())

        static func of(_ queue: DispatchQueue) -> Mark {
            making.with { _ in
                if let known = queue.getSpecific(key: shared) { return known }
                let new = Mark(queue.label == "com.apple.main-thread")
                queue.setSpecific(key: shared, value: new)
                queue.setSpecific(key: new.key, value: true)
                return new
            }
        }

        /// Whether the caller runs on the queue. Until the program gives up the main thread, the main queue is on it,
        /// and the check of the thread takes a fifth of the time. If `sync` of another queue runs a block on the main
        /// thread, the main queue waits meanwhile, so the access is exclusive too.
        var isHere: Bool { (isMain && Self.isMainThread) || DispatchQueue.getSpecific(key: key) != nil }

        /// The main thread, for the mark of the main queue, once it is known; otherwise 0.
        var sureThread: UInt {
            guard isMain else { return 0 }
            // A call on the main thread makes it known.
            _ = Self.isMainThread
            return Self.mainThread.load(ordering: .relaxed)
        }

        private static let mainThread = Atomic(UInt(0))

        private static var isMainThread: Bool {
            let me = Platform.threadId
            let known = mainThread.load(ordering: .relaxed)
            if known != 0 { return me == known }
            guard Thread.isMainThread else { return false }
            mainThread.store(me, ordering: .relaxed)
            return true
        }
    }

    /// Creates a scheduler for a serial queue. Any thread.
    ///
    /// - Throws: 3000 for a global queue, because it runs several blocks at once.
    public init(_ queue: DispatchQueue) throws(RealmError) {
        // On Linux, each wrapper of a global queue is a different object, so the label is compared.
        guard !queue.label.hasPrefix("com.apple.root.") else {
            throw RealmError(
                .invalidArgument, "A Realm belongs to a serial queue: a global queue does many things at a time")
        }
        self.queue = queue
        mark = Mark.of(queue)
    }

    /// A Boolean value that indicates whether the caller runs in a block of the queue.
    public var isOnThread: Bool { mark.isHere }

    /// Returns whether both schedulers belong to the same queue.
    public func isSame(as other: any Scheduler) -> Bool { (other as? QueueScheduler)?.mark === mark }

    /// Always true, because queues run all their blocks.
    public var canDeliver: Bool { true }

    /// Runs `work` in a block of the queue.
    public func post(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
    package var place: UInt { Self.place(mark) }
    package var surelyThreadId: UInt { mark.sureThread }

    package var threadCheck: ThreadCheck? {
        { context in
            context.map { Unmanaged<QueueScheduler>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.mark.isHere } }
                ?? false
        }
    }

    package var threadCheckContext: UnsafeMutableRawPointer? { Unmanaged.passUnretained(self).toOpaque() }
}

extension RealmOpening where Self == Realm {
    /// Opens a Realm for a serial queue, or returns the cached one. Any thread may call this; the Realm is used in
    /// blocks of the queue.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. Its scheduler is ignored.
    ///   - queue: The queue to which the Realm is confined; `.main` for the main queue.
    /// - Throws: 3000 for a global queue; otherwise the same errors as opening without a queue.
    public init(_ configuration: RealmConfiguration, queue: DispatchQueue) throws(RealmError) {
        var configuration = configuration
        configuration.scheduler = try QueueScheduler(queue)
        self = try Realm.open(configuration)
    }
}
