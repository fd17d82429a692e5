import CoreEngine
import Foundation
import Synchronization

/// Confines a Realm to a serial queue: it is used in blocks of the queue, on whichever thread these run, and what the
/// Realm tells is told there.
///
/// The queue is known by a mark on itself, not by its thread: `DispatchQueue.main` is the main queue also after an
/// asynchronous `main` has given up the main thread, and blocks of queues whose target is this one are its own.
///
/// The queue must do one thing at a time. The global queues are refused; that a queue of one's own was made concurrent
/// cannot be seen from here, and is an error like that of two threads which share what is not theirs.
public final class QueueScheduler: Scheduler, EngineScheduler {
    private let queue: DispatchQueue
    private let mark: Mark

    /// What makes a queue known: a key of its own, kept under a key that all share.
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

        /// The main queue is on the main thread for as long as the program has not given that up, and asking for the
        /// thread costs a fifth. What is run on that thread meanwhile by `sync` of another queue has the main queue
        /// stand still: it is alone, too.
        var isHere: Bool { (isMain && Self.isMainThread) || DispatchQueue.getSpecific(key: key) != nil }

        /// The main thread, of the mark of the main queue, once it is known.
        var sureThread: UInt {
            guard isMain else { return 0 }
            // Whoever asks on it makes it known.
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

    /// Any thread.
    ///
    /// - Throws: 3000 for a global queue, which does many things at a time.
    public init(_ queue: DispatchQueue) throws(RealmError) {
        // On Linux no two wrappers of a global queue are the same object.
        guard !queue.label.hasPrefix("com.apple.root.") else {
            throw RealmError(
                .invalidArgument, "A Realm belongs to a serial queue: a global queue does many things at a time")
        }
        self.queue = queue
        mark = Mark.of(queue)
    }

    /// Whether the caller is a block of the queue.
    public var isOnThread: Bool { mark.isHere }

    /// Whether both are of the same queue.
    public func isSame(as other: any Scheduler) -> Bool { (other as? QueueScheduler)?.mark === mark }

    /// Always true: queues run what they have.
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
    /// Opens a Realm, or finds the cached one, for a serial queue. Any thread may do that; the Realm is used in blocks
    /// of the queue.
    ///
    /// - Parameters:
    ///   - configuration: its scheduler does not count.
    ///   - queue: to which the Realm belongs from now on; `.main` for the main queue.
    /// - Throws: 3000 for a global queue; else as opening without a queue.
    public init(_ configuration: RealmConfiguration, queue: DispatchQueue) throws(RealmError) {
        var configuration = configuration
        configuration.scheduler = try QueueScheduler(queue)
        self = try Realm.open(configuration)
    }
}
