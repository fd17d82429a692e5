/// Asynchronous writes: the Realm's thread goes on while a write waits for the write lock and while a commit is flushed
/// to disk. Rules: live-objects §4.8.
///
/// Each Realm has a queue of blocks. A thread of the library takes the write lock. Then a turn of the scheduler (work
/// that runs on the Realm's thread) runs the blocks in order; this is a *round*. Readers see each commit of a round at
/// once. At the end of the round a thread of the library flushes the commits together, and another turn calls their
/// completions. The Realm holds the lock until the flush has ended.
///
/// Thread rule: that of the Realm.
struct AsyncWrites {
    fileprivate struct Block {
        let id: UInt32
        let isNotice: Bool
        let run: (RealmError?) -> Void
    }

    fileprivate struct Completion {
        let id: UInt32
        var run: ((RealmError?) -> Void)?
    }

    /// A flush that runs on another thread. `answer` is its result; nil until it has ended.
    fileprivate final class Flush: Sendable {
        let answer = Monitor<Result<Void, RealmError>?>(nil)
    }

    /// A token that other threads hold in place of the Realm, so that no other thread releases the last reference to
    /// the Realm.
    fileprivate final class Owner: Sendable {}
    fileprivate let owner = Owner()
    fileprivate var blocks: [Block] = []

    /// Commits whose completions were not called yet, in commit order.
    fileprivate var committed: [Completion] = []
    fileprivate var next: UInt32 = 0

    /// The pending request for the write lock; nil when the lock was not requested.
    fileprivate var request: LockRequest?
    fileprivate var flush: Flush?
    fileprivate var isInRound = false
    fileprivate var endsRound = false

    /// Whether completions run now.
    fileprivate(set) var isCompleting = false
    fileprivate var isPending: Bool { !blocks.isEmpty || !committed.isEmpty || flush != nil }

    /// The most commits that share one flush.
    fileprivate static let longestRound = 20
}

/// A weak reference to a Realm, for work that other threads do for it and that returns to its scheduler. It does not
/// keep the Realm alive.
// The weak reference is atomic, and `Realm.enter` checks the thread of every use.
struct WeakRealm: @unchecked Sendable {
    private(set) weak var realm: Realm?

    init(_ realm: Realm) { self.realm = realm }

    func tellingNobody(_ body: (Realm) throws(RealmError) -> Void) {
        guard let realm else { return }
        realm.tellingNobody { () throws(RealmError) in try body(realm) }
    }
}

extension Realm {
    // MARK: Public calls

    /// Queues a write. `block` runs on the scheduler, inside a write transaction. The block ends the transaction with
    /// `commitWrite`, `commitWriteAsync` or `cancelWrite`; otherwise the transaction is rolled back. The argument of
    /// the block is nil, or the error that prevented the transaction.
    ///
    /// - Parameter notifyOnly: the block only reports that the transaction has begun, and the program ends the
    ///   transaction later. Other blocks wait until then.
    /// - Returns: a number for `cancelAsync`.
    /// - Throws: 2005 when the Realm cannot be written, inside a completion, and when the scheduler cannot run work.
    @discardableResult
    public func beginWriteAsync(notifyOnly: Bool = false, _ block: @escaping (RealmError?) -> Void) throws(RealmError)
        -> UInt32
    {
        try inside { () throws(RealmError) in
            try checkAsync("begin")
            guard scheduler.canDeliver else {
                throw RealmError(
                    .wrongTransactionState,
                    "Cannot schedule an asynchronous write: the scheduler of this Realm delivers nothing")
            }
            _ = try reading()
            let id = nextAsync()
            asyncWrites.blocks.append(AsyncWrites.Block(id: id, isNotice: notifyOnly, run: block))
            asyncChanged()
            requestLock()
            return id
        }
    }

    /// Commits. All readers see the changes at once. `completion` runs on the scheduler when the commit is on the disk.
    /// It gets an error when it is unknown whether the commit is on the disk.
    ///
    /// - Parameter allowsGrouping: inside a block: the next block may run before this commit is flushed, and one flush
    ///   serves both.
    /// - Returns: a number for `cancelAsync`.
    /// - Throws: the errors of `commitWrite`; then nothing was committed, and `completion` does not run.
    @discardableResult
    public func commitWriteAsync(allowsGrouping: Bool = false, _ completion: ((RealmError?) -> Void)? = nil)
        throws(RealmError) -> UInt32
    {
        try enter(.realm)
        defer { leave() }
        try checkAsync("commit")
        guard isWriting else {
            throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction")
        }
        try checkCallbackGuard()
        let id = nextAsync()
        stateCount &+= 1
        try commitLogged(flushing: false)
        asyncWrites.committed.append(AsyncWrites.Completion(id: id, run: completion))
        asyncChanged()
        notifyMoved()
        if asyncWrites.isInRound {
            if !allowsGrouping { asyncWrites.endsRound = true }
        } else {
            endRound()
        }
        payTurn()
        return id
    }

    /// Removes a waiting block or a pending completion.
    ///
    /// - Returns: false when it has run already, or when the number is unknown.
    @discardableResult
    public func cancelAsync(_ id: UInt32) throws(RealmError) -> Bool {
        try inside { () throws(RealmError) in
            if let index = asyncWrites.blocks.firstIndex(where: { $0.id == id }) {
                let gone = asyncWrites.blocks.remove(at: index)
                asyncChanged()
                if asyncWrites.blocks.isEmpty { takeRequestBack() }
                withExtendedLifetime(gone) {}
                return true
            }
            guard let index = asyncWrites.committed.firstIndex(where: { $0.id == id }),
                asyncWrites.committed[index].run != nil
            else { return false }
            let gone = asyncWrites.committed[index].run
            asyncWrites.committed[index].run = nil
            withExtendedLifetime(gone) {}
            return true
        }
    }

    /// Whether a transaction is open, a block waits, or a commit may not be on the disk yet. Any thread.
    public var isWritingOrWaiting: Bool { isWriting || access.hasAsyncWrites.load(ordering: .relaxed) }

    private func checkAsync(_ what: String) throws(RealmError) {
        guard configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly, database.isWritable else {
            throw RealmError(.wrongTransactionState, "Can't perform transactions on read-only Realms.")
        }
        guard !asyncWrites.isCompleting else {
            throw RealmError(
                .wrongTransactionState, "Can't \(what) a write transaction from inside a commit completion callback.")
        }
    }

    private func nextAsync() -> UInt32 {
        defer { asyncWrites.next &+= 1 }
        return asyncWrites.next
    }

    private func asyncChanged() { access.hasAsyncWrites.store(asyncWrites.isPending, ordering: .relaxed) }

    // MARK: The lock

    /// Starts a thread that takes the write lock for the waiting blocks. Does nothing when a request is pending, or
    /// when this Realm writes.
    private func requestLock() {
        guard !asyncWrites.blocks.isEmpty, asyncWrites.request == nil, asyncWrites.flush == nil, !asyncWrites.isInRound,
            !isWriting, !isClosed
        else {
            return
        }
        let request = LockRequest()
        asyncWrites.request = request
        let database = database, scheduler = home, loan = Loan(database)
        let me = WeakRealm(self)
        let work = { @Sendable [weak owner = asyncWrites.owner] in
            let error = loan.use { $0.takeLock(for: request) }.flatMap { $0 }
            request.note(.ended)
            guard let owner else { return }
            scheduler.post(for: owner) { me.realm?.lockArrived(request, error) }
        }
        do throws(RealmError) { try Thread.start(work) } catch {
            request.note(.ended)
            home.post(for: asyncWrites.owner) {
                guard let realm = me.realm else { return }
                realm.lockArrived(request, database.takeLock(for: request))
            }
        }
    }

    @discardableResult
    private func takeRequestBack() -> LockRequest? {
        guard let request = asyncWrites.request else { return nil }
        asyncWrites.request = nil
        database.cancel(request)
        return request
    }

    private func lockArrived(_ request: LockRequest, _ error: RealmError?) {
        tellingNobody { () throws(RealmError) in
            guard asyncWrites.request === request else { return }
            asyncWrites.request = nil
            if let error {
                let block = asyncWrites.blocks.isEmpty ? nil : asyncWrites.blocks.removeFirst()
                asyncChanged()
                block?.run(error)
                return requestLock()
            }
            // If another instance took the lock first, this Realm requests it again now. If this Realm writes, it
            // requests the lock when the write ends.
            guard database.isGranted(request) else { return requestLock() }
            guard !isWriting, !asyncWrites.isCompleting else { return database.cancel(request) }
            runRound()
        }
    }

    /// Runs `body` in a turn, where no caller can receive an error: errors are logged.
    fileprivate func tellingNobody(_ body: () throws(RealmError) -> Void) {
        do throws(RealmError) { try inside(.realm, body) } catch {
            // A wrong thread is no error here: the turn was queued on the scheduler that the Realm had before.
            if !isClosed, error.code != .wrongThread {
                Log.write(.transaction, .error, "An asynchronous write of '\(configuration.path)': \(error.message)")
            }
        }
    }

    // MARK: Rounds

    private func runRound() {
        asyncWrites.isInRound = true
        asyncWrites.endsRound = false
        transaction.keepsLock = true
        var commits = 0
        while !asyncWrites.endsRound, commits < AsyncWrites.longestRound, !asyncWrites.blocks.isEmpty {
            var failure: RealmError?
            do throws(RealmError) { try beginForBlock() } catch { failure = error }
            guard !isClosed else { return }
            // A callback that `beginForBlock` called may have cancelled the block.
            guard !asyncWrites.blocks.isEmpty else {
                if isWriting { try? cancelWrite() }
                break
            }
            // A callback released the lock: the block waits for the lock again.
            guard isWriting || failure != nil else { break }
            let block = asyncWrites.blocks.removeFirst()
            let before = transaction.version
            if block.isNotice, failure == nil {
                asyncWrites.isInRound = false
                transaction.keepsLock = false
                block.run(nil)
                return asyncChanged()
            }
            block.run(failure)
            guard !isClosed else { return }
            if isWriting { try? cancelWrite() }
            if transaction.version != before { commits += 1 }
            // A commit that waited for the disk has released the lock.
            if failure == nil, !transaction.holdsLock { break }
        }
        asyncWrites.isInRound = false
        transaction.keepsLock = false
        endRound()
    }

    /// Begins the transaction of a block, and calls the callbacks for the new version. A callback may end the
    /// transaction. If the Realm still holds the lock, the transaction then begins again without callbacks.
    private func beginForBlock() throws(RealmError) {
        try beginTelling()
        if !isWriting, !isClosed, transaction.holdsLock { try beginUntold() }
        guard isWriting || isClosed || !transaction.holdsLock else {
            throw RealmError(
                .wrongTransactionState, "Callbacks ended the transaction of an asynchronous write before its block ran")
        }
    }

    /// Flushes the commits of the round and releases the lock.
    private func endRound() {
        if transaction.holdsLock, database.hasUnflushed {
            flushLater()
        } else {
            transaction.releaseLock()
            if !asyncWrites.committed.isEmpty {
                // The commits are on the disk, or never will be. The completions still run in a turn.
                let me = WeakRealm(self)
                home.post(for: asyncWrites.owner) {
                    me.tellingNobody { (realm) throws(RealmError) in
                        guard realm.asyncWrites.flush == nil, !realm.asyncWrites.isCompleting else { return }
                        realm.complete(nil)
                    }
                }
            } else {
                requestLock()
            }
        }
        asyncChanged()
    }

    private func flushLater() {
        let flush = AsyncWrites.Flush()
        asyncWrites.flush = flush
        transaction.handOverLock()
        let scheduler = home, loan = Loan(database)
        let me = WeakRealm(self)
        let work = { @Sendable [weak owner = asyncWrites.owner] in
            let answer = loan.use { $0.flushAndUnlock() } ?? .success(())
            flush.answer.with { $0 = answer }
            guard let owner else { return }
            scheduler.post(for: owner) {
                me.tellingNobody { (realm) throws(RealmError) in
                    guard realm.asyncWrites.flush === flush, !realm.asyncWrites.isCompleting else { return }
                    realm.awaitFlush()
                }
            }
        }
        do throws(RealmError) { try Thread.start(work) } catch { work() }
    }

    /// Waits for the running flush, then calls the completions. Called before this Realm takes the lock again.
    func awaitFlush() {
        guard let flush = asyncWrites.flush else { return }
        let answer = flush.answer.wait { $0 }
        guard asyncWrites.flush === flush else { return }
        asyncWrites.flush = nil
        if case .failure(let error) = answer { complete(error) } else { complete(nil) }
    }

    /// Calls the completions of the commits so far.
    private func complete(_ error: RealmError?) {
        guard !asyncWrites.isCompleting, !asyncWrites.committed.isEmpty else { return requestLock() }
        let due = asyncWrites.committed
        asyncWrites.committed = []
        asyncWrites.isCompleting = true
        for completion in due { completion.run?(error) }
        asyncWrites.isCompleting = false
        asyncChanged()
        requestLock()
    }

    // MARK: Other writes

    /// Flushes the earlier commits, before a commit that waits for the disk.
    func flushEarlier() throws(RealmError) {
        guard transaction.holdsLock, database.hasUnflushed else { return }
        do throws(RealmError) { try database.flush() } catch {
            try? transaction.rollback()
            complete(error)
            throw error
        }
    }

    /// Called after a commit that waited for the disk: the earlier commits are on the disk too, so their completions
    /// run.
    func completeEarlier() { if !asyncWrites.committed.isEmpty { complete(nil) } }

    /// Called when a write has ended: waiting blocks can run.
    func asyncMayGoOn() {
        guard !asyncWrites.isInRound, !asyncWrites.isCompleting, asyncWrites.flush == nil else { return }
        if transaction.holdsLock { return endRound() }
        if let request = asyncWrites.request, database.isTaken(request) { asyncWrites.request = nil }
        requestLock()
    }

    /// Called when the Realm has moved to another scheduler: pending work moves to the new scheduler. No call is inside
    /// the Realm.
    func moveAsyncWrites() {
        guard asyncWrites.isPending else { return }
        takeRequestBack()
        requestLock()
        guard asyncWrites.flush != nil || !asyncWrites.committed.isEmpty else { return }
        let me = WeakRealm(self)
        home.post(for: asyncWrites.owner) {
            me.tellingNobody { (realm) throws(RealmError) in
                guard !realm.asyncWrites.isCompleting else { return }
                realm.awaitFlush()
                if !realm.transaction.holdsLock { realm.complete(nil) }
            }
        }
    }

    /// Called when the Realm closes. Waiting blocks are dropped without a call; commits are flushed, and their
    /// completions run.
    func endAsyncWrites() {
        guard asyncWrites.isPending || asyncWrites.request != nil || transaction.holdsLock else { return }
        let gone = asyncWrites.blocks
        asyncWrites.blocks = []
        // Otherwise the thread might keep the file open after the Realm is closed.
        takeRequestBack()?.awaitEnd()
        if transaction.stage == .writing { try? transaction.rollback() }
        awaitFlush()
        var failure: RealmError?
        if transaction.holdsLock, database.hasUnflushed {
            do throws(RealmError) { try database.flush() } catch { failure = error }
        }
        transaction.keepsLock = false
        transaction.releaseLock()
        complete(failure)
        asyncChanged()
        withExtendedLifetime(gone) {}
    }
}
