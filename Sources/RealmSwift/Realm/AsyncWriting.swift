internal import CoreEngine
import Foundation

/// Names a write that waits, or what is to be called after one.
public typealias AsyncTransactionId = UInt32

/// Writes that wait for their turn while the program goes on. They need a Realm that lives on a queue: on a plain
/// thread somebody has to call `refresh`.
extension Realm {
    /// Runs `block` in a write transaction of its own as soon as it is its turn, then commits.
    ///
    /// - Parameter onComplete: called when the changes are on the disk, or with the error because of which they are
    ///   not.
    @discardableResult
    public func writeAsync(_ block: @escaping () -> Void, onComplete: ((Swift.Error?) -> Void)? = nil)
        -> AsyncTransactionId
    {
        beginAsyncWrite {
            block()
            if isInWriteTransaction { commitAsyncWrite(onComplete) }
        }
    }

    /// Begins a write transaction as soon as it is its turn; `asyncWriteBlock` ends it with `commitAsyncWrite` or
    /// `cancelWrite`.
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

    /// Commits for all readers at once, and tells when the changes are on the disk.
    ///
    /// - Parameter allowGrouping: the next write that waits may reach the disk together with this one.
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

    /// Takes a write that waits back.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        do throws(EngineError) { try engine.cancelAsync(asyncTransactionId) } catch { throw Realm.Error.thrown(error) }
    }

    /// Whether a write waits, is on its way to the disk, or goes on in a block that waited.
    public var isPerformingAsynchronousWriteOperations: Bool {
        engine.isWritingOrWaiting && (core.isInAsyncBlock || !isInWriteTransaction)
    }
}
