/// Writes that wait for the lock, and commits that wait for the disk, while the Realm's thread goes on. Rules:
/// live-objects §4.8.
///
/// Blocks wait in a queue of the Realm. Some thread of the library takes the write lock; then a turn of the scheduler
/// runs the blocks in their order, a *round*. Commits of a round are seen by everybody at once; at its end they are
/// flushed together, on a thread of the library, and what was to be called after them is called in another turn. The
/// lock is held until then.
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

    /// Commits on their way to the disk: done when there is an answer.
    fileprivate final class Flush: Sendable {
        let answer = Monitor<Result<Void, RealmError>?>(nil)
    }

    /// Stands for the Realm where its last reference must not end up on another thread.
    fileprivate final class Owner: Sendable {}
    fileprivate let owner = Owner()
    fileprivate var blocks: [Block] = []

    /// Commits that nobody was told of, in their order.
    fileprivate var committed: [Completion] = []
    fileprivate var next: UInt32 = 0

    /// The lock was asked for.
    fileprivate var request: LockRequest?
    fileprivate var flush: Flush?
    fileprivate var isInRound = false
    fileprivate var endsRound = false

    /// What is called after commits runs now.
    fileprivate(set) var isCompleting = false
    fileprivate var isPending: Bool { !blocks.isEmpty || !committed.isEmpty || flush != nil }

    /// Commits that may wait for one flush.
    fileprivate static let longestRound = 20
}

/// A Realm in work that is done for it on other threads, and comes back to its scheduler. It does not keep the Realm
/// alive.
// The reference is atomic, and the Realm's door is the one way into what it leads to.
struct WeakRealm: @unchecked Sendable {
    private(set) weak var realm: Realm?

    init(_ realm: Realm) { self.realm = realm }

    func tellingNobody(_ body: (Realm) throws(RealmError) -> Void) {
        guard let realm else { return }
        realm.tellingNobody { () throws(RealmError) in try body(realm) }
    }
}

extension Realm {
    // MARK: What programs call

    /// Queues a write: `block` runs on the scheduler, in a write transaction, which it ends with `commitWrite`,
    /// `commitWriteAsync` or `cancelWrite`; else it is rolled back. Its argument says why there is no transaction.
    ///
    /// - Parameter notifyOnly: the block is told that the transaction has begun, and somebody ends it later; other
    ///   blocks wait until then.
    /// - Returns: a number for `cancelAsync`.
    /// - Throws: 2005 where nothing can be written, inside a completion, and when the scheduler delivers nothing.
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

    /// Commits for all readers at once; `completion` runs on the scheduler when the commit is on the disk, or with the
    /// error because of which that is not known.
    ///
    /// - Parameter allowsGrouping: in a block: the next block may run before this commit is flushed, and is flushed
    ///   with it.
    /// - Returns: a number for `cancelAsync`.
    /// - Throws: what `commitWrite` throws; then nothing was committed, and `completion` does not run.
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

    /// Takes a waiting block, or what was to be called after a commit, back. false: it has run, or there is none.
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

    /// Whether a write is under way: a transaction, a block that waits, or a commit that is not known to be on the
    /// disk. Any thread.
    public var isWritingOrWaiting: Bool { isWriting || hasAsyncWrites.load(ordering: .relaxed) }

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

    private func asyncChanged() { hasAsyncWrites.store(asyncWrites.isPending, ordering: .relaxed) }

    // MARK: The lock

    /// Has some thread take the write lock for the blocks that wait, unless one is at it, or this Realm writes.
    private func requestLock() {
        guard !asyncWrites.blocks.isEmpty, asyncWrites.request == nil, asyncWrites.flush == nil, !asyncWrites.isInRound,
            !isWriting, !isClosed
        else {
            return
        }
        let request = LockRequest()
        asyncWrites.request = request
        let database = database, scheduler = home
        let me = WeakRealm(self)
        let work = { @Sendable [weak owner = asyncWrites.owner] in
            let error = database.takeLock(for: request)
            guard let owner else { return }
            scheduler.post(for: owner) { me.realm?.lockArrived(request, error) }
        }
        do throws(RealmError) { try Thread.start(work) } catch {
            home.post(for: asyncWrites.owner) {
                guard let realm = me.realm else { return }
                realm.lockArrived(request, database.takeLock(for: request))
            }
        }
    }

    private func takeRequestBack() {
        guard let request = asyncWrites.request else { return }
        asyncWrites.request = nil
        database.cancel(request)
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
            // A write of another instance came first, or one of this Realm, which asks again when it ends.
            guard database.isGranted(request) else { return requestLock() }
            guard !isWriting, !asyncWrites.isCompleting else { return database.cancel(request) }
            runRound()
        }
    }

    /// In turns: an error has nobody to go to.
    fileprivate func tellingNobody(_ body: () throws(RealmError) -> Void) {
        do throws(RealmError) { try inside(.realm, body) } catch {
            // A turn on the thread that the Realm had before is not its own.
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
            // Callbacks of the move may have taken it back.
            guard !asyncWrites.blocks.isEmpty else {
                if isWriting { try? cancelWrite() }
                break
            }
            // They gave the lock back: the block waits for it once more.
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
            // A commit that waited for the disk has given the lock back.
            if failure == nil, !transaction.holdsLock { break }
        }
        asyncWrites.isInRound = false
        transaction.keepsLock = false
        endRound()
    }

    /// Begins the transaction of a block. Callbacks of the move may end it: then it is begun again, with nothing left
    /// to tell them, unless they gave the lock back.
    private func beginForBlock() throws(RealmError) {
        try beginTelling()
        if !isWriting, !isClosed, transaction.holdsLock { try beginUntold() }
        guard isWriting || isClosed || !transaction.holdsLock else {
            throw RealmError(
                .wrongTransactionState, "Callbacks ended the transaction of an asynchronous write before its block ran")
        }
    }

    /// The commits so far go to the disk, and the lock is given back.
    private func endRound() {
        if transaction.holdsLock, database.hasUnflushed {
            flushLater()
        } else {
            transaction.releaseLock()
            if !asyncWrites.committed.isEmpty {
                // They are on the disk, or will never be: what follows is called in a turn all the same.
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
        let database = database, scheduler = home
        let me = WeakRealm(self)
        let work = { @Sendable [weak owner = asyncWrites.owner] in
            let answer = database.flushAndUnlock()
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

    /// Waits for the flush that is under way, and calls what is due after it. Before this Realm takes the lock again.
    func awaitFlush() {
        guard let flush = asyncWrites.flush else { return }
        let answer = flush.answer.wait { $0 }
        guard asyncWrites.flush === flush else { return }
        asyncWrites.flush = nil
        if case .failure(let error) = answer { complete(error) } else { complete(nil) }
    }

    /// Calls what was to be called after the commits so far.
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

    // MARK: Beside other writes

    /// Before a commit that waits for the disk: those before it go first.
    func flushEarlier() throws(RealmError) {
        guard transaction.holdsLock, database.hasUnflushed else { return }
        do throws(RealmError) { try database.flush() } catch {
            try? transaction.rollback()
            complete(error)
            throw error
        }
    }

    /// A commit that waited for the disk is there, and so are those before it.
    func completeEarlier() { if !asyncWrites.committed.isEmpty { complete(nil) } }

    /// A write has ended: who waited goes on.
    func asyncMayGoOn() {
        guard !asyncWrites.isInRound, !asyncWrites.isCompleting, asyncWrites.flush == nil else { return }
        if transaction.holdsLock { return endRound() }
        if let request = asyncWrites.request, database.isTaken(request) { asyncWrites.request = nil }
        requestLock()
    }

    /// The Realm lives on another scheduler: what was on its way to the one before comes to this one. Nobody else is
    /// inside.
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

    /// The Realm closes: what waits is let go of; what was committed goes to the disk, and is told.
    func endAsyncWrites() {
        guard asyncWrites.isPending || asyncWrites.request != nil || transaction.holdsLock else { return }
        let gone = asyncWrites.blocks
        asyncWrites.blocks = []
        takeRequestBack()
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
