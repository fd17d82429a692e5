internal import CoreEngine
import Foundation

/// The identifier of a queued write transaction, or of a callback for a commit.
public typealias AsyncTransactionId = UInt32

/// Asynchronous write transactions: they wait for the write lock while the program continues. They need a Realm that is
/// confined to a queue. On a plain thread the program has to call `refresh`.
extension Realm {
    /// Runs `block` in a new write transaction when the write lock is available, then commits.
    ///
    /// - Parameter onComplete: Called when the changes are on disk, or with the error that prevented it.
    @discardableResult
    public func writeAsync(_ block: @escaping () -> Void, onComplete: ((Swift.Error?) -> Void)? = nil)
        -> AsyncTransactionId
    {
        beginAsyncWrite {
            block()
            if isInWriteTransaction { commitAsyncWrite(onComplete) }
        }
    }

    /// Begins a write transaction when the write lock is available. `asyncWriteBlock` ends it with `commitAsyncWrite`
    /// or `cancelWrite`.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
        let core = core
        return must { () throws(EngineError) in
            try core.realm.beginWriteAsync { error in
                if let error { misuse(error) }
                core.isInAsyncBlock = true
                defer { core.isInAsyncBlock = false }
                asyncWriteBlock()
            }
        }
    }

    /// Commits, which makes the changes visible to all readers at once, and calls `onComplete` when the changes are on
    /// disk.
    ///
    /// - Parameter allowGrouping: true if the next queued write may be flushed to disk together with this one.
    @discardableResult
    public func commitAsyncWrite(allowGrouping: Bool = false, _ onComplete: ((Swift.Error?) -> Void)? = nil)
        -> AsyncTransactionId
    {
        if let failure = core.takeFailure() {
            cancelWrite()
            nonisolated(unsafe) let tell = onComplete
            engine.scheduler.post { tell?(Realm.Error(failure)) }
            return 0
        }
        let core = core
        core.isCommitting = true
        defer { core.isCommitting = false }
        return must { () throws(EngineError) in
            try engine.commitWriteAsync(allowsGrouping: allowGrouping) { error in
                onComplete?(error.map { Realm.Error($0) })
            }
        }
    }

    /// Cancels a queued write transaction.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        do throws(EngineError) { try engine.cancelAsync(asyncTransactionId) } catch { throw Realm.Error.thrown(error) }
    }

    /// A Boolean value that indicates whether a write is queued, is being flushed to disk, or runs in an asynchronous
    /// block.
    public var isPerformingAsynchronousWriteOperations: Bool {
        engine.isWritingOrWaiting && (core.isInAsyncBlock || !isInWriteTransaction)
    }
}
