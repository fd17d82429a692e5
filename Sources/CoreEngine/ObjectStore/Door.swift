/// The one way into a Realm: whoever touches what it reads goes in with `enter` and out with `leave`, or between both
/// with `inside`.
///
/// Promise
/// 1. Only the Realm's own thread comes in, only while the Realm is open, and only while its file has all its pages;
///    everybody else gets an error before anything is touched. To a frozen Realm every thread comes in, each to a
///    reader of its own.
/// 2. In a forked child nobody comes in who was opened by the parent. The child leaves all of it alone, and opens the
///    file anew.
/// 3. `close` may be called on any thread. It never takes anything away from a call that is inside: that call finishes,
///    closes the Realm on its way out, and the next one finds it closed.
///
/// Coming and going is a matter of plain loads and stores. The other thread pays: it says that it closes, makes sure
/// with a fence over all threads of the process that everybody sees this or is seen, and looks whether somebody is
/// inside. Where the system has no such fence the Realm's own thread closes, at the next call or when the last
/// reference goes.
extension Realm {
    /// What somebody came to use, which decides how they learn that the Realm was closed.
    package enum Accessor { case realm, object, collection, results }

    @inline(__always) package func inside<R>(_ accessor: Accessor = .realm, _ body: () throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        try enter(accessor)
        let result: Result<R, RealmError>
        do throws(RealmError) { result = .success(try body()) } catch { result = .failure(error) }
        // Lost pages come first, whatever the call found or complained of: it may have read zeros in their place.
        if leave() { try verifyWhole() }
        return try result.get()
    }

    @inline(__always) func inside<R>(_ accessor: Accessor, do body: @autoclosure () throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        try inside(accessor, body)
    }

    /// Each success is followed by `leave`. Calls may nest: callbacks come in again.
    package func enter(_ accessor: Accessor) throws(RealmError) {
        if let frozen { return try enter(frozen, accessor) }
        guard isOnFixedThread else { return try enterInTransit(accessor) }
        visits.store(visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        Platform.keepOrder()
        guard standing.load(ordering: .acquiring) == 0, !FaultGuard.hasFaults else { return try enterLooking(accessor) }
    }

    /// - Returns: whether pages of any file were lost: `verifyWhole` tells whether it was this one.
    @discardableResult
    package func leave() -> Bool {
        if let frozen { return leave(frozen) }
        if isInTransit { return leaveInTransit() }
        let rest = visits.load(ordering: .relaxed) &- 1
        visits.store(rest, ordering: .releasing)
        Platform.keepOrder()
        if isClosed, rest == 0 { endForGood() }
        return FaultGuard.hasFaults
    }

    // MARK: Without a call

    /// `enter` for the accessors of properties, in line: only where nothing is out of the ordinary. Each success is
    /// followed by `leaveQuickly`; after a failure nothing has happened, and `enter` finds out more.
    @inline(__always) func enterQuickly() -> Bool {
        let me = Platform.threadId
        // No thread has the number 0; that of a frozen Realm is 0.
        guard me == sureThread.load(ordering: .relaxed) || me == thread.load(ordering: .relaxed) || isOnCheckedThread
        else { return false }
        visits.store(visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        Platform.keepOrder()
        if standing.load(ordering: .acquiring) == 0, !FaultGuard.hasFaults { return true }
        retreat()
        return false
    }

    /// - Returns: false when pages of any file were lost: what was read is not to be used.
    @inline(__always) func leaveQuickly() -> Bool {
        guard standing.load(ordering: .acquiring) == 0 else { return !leave() }
        let rest = visits.load(ordering: .relaxed) &- 1
        visits.store(rest, ordering: .releasing)
        Platform.keepOrder()
        if isClosed, rest == 0 { endForGood() }
        return !FaultGuard.hasFaults
    }

    /// `inside`, in line where nothing is out of the ordinary.
    @inline(__always) func insideQuickly<R>(_ accessor: Accessor, _ body: () throws(RealmError) -> R) throws(RealmError)
        -> R
    {
        guard enterQuickly() else { return try inside(accessor, body) }
        return try leaveQuickly(body)
    }

    /// Leaves behind `body`, however it ends.
    @inline(__always) func leaveQuickly<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let result: Result<R, RealmError>
        do throws(RealmError) { result = .success(try body()) } catch { result = .failure(error) }
        if !leaveQuickly() { try verifyWhole() }
        return try result.get()
    }

    @inline(never) private func retreat() {
        guard isInTransit else {
            leave()
            return
        }
        visits.store(visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
    }

    @inline(never) private func enterLooking(_ accessor: Accessor) throws(RealmError) {
        guard isInTransit else { return try refuse(accessor) }
        visits.store(visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
        try enterInTransit(accessor)
    }

    /// While another thread may take the Realm over, and where that has never been so, the place where all others are
    /// refused.
    @inline(never) private func enterInTransit(_ accessor: Accessor) throws(RealmError) {
        guard isInTransit else { throw refusal(accessor) }
        // The check may be the application's: no lock is held.
        let owner = home
        guard owner.isOnThread,
            (binding.with { state in
                guard state.scheduler === owner, !state.isMoving else { return false }
                state.visits += 1
                return true
            })
        else { throw refusal(accessor) }
        if isClosed || isReporting || FaultGuard.hasFaults { try refuse(accessor) }
    }

    private func leaveInTransit() -> Bool {
        let rest = binding.with { state in
            // Calls that came in before are counted where they were.
            if state.visits > 0 {
                state.visits -= 1
            } else {
                visits.store(visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
            }
            return state.visits + visits.load(ordering: .relaxed)
        }
        if isClosed, rest == 0 { endForGood() }
        return FaultGuard.hasFaults
    }

    private func enter(_ frozen: FrozenReaders, _ accessor: Accessor) throws(RealmError) {
        if let own = frozen.own {
            own._withUnsafeGuaranteedRef { reader in
                reader.visits.store(reader.visits.load(ordering: .acquiring) &+ 1, ordering: .relaxed)
            }
        } else {
            if isInherited { throw Self.inheritedError() }
            guard !isClosed, try frozen.makeOwn() else { throw refusal(accessor) }
        }
        Platform.keepOrder()
        if isClosed || FaultGuard.hasFaults { try refuse(accessor) }
    }

    private func leave(_ frozen: FrozenReaders) -> Bool {
        frozen.own?._withUnsafeGuaranteedRef { reader in
            let rest = reader.visits.load(ordering: .relaxed) &- 1
            reader.visits.store(rest, ordering: .releasing)
            Platform.keepOrder()
            if isClosed, rest == 0 { reader.end() }
        }
        return FaultGuard.hasFaults
    }

    /// Throws when pages of the file were lost: at the beginning of calls, and at their end, before what they read is
    /// handed out.
    @inline(__always) package func verifyWhole() throws(RealmError) { if FaultGuard.hasFaults { try verifyFile() } }

    @inline(never) private func verifyFile() throws(RealmError) { try openDatabase?.verifyWhole() }

    /// Whether the Realm was opened by the process of which this one is a forked child.
    package var isInherited: Bool { generation != ForkGuard.generation }

    package static func inheritedError() -> RealmError {
        RealmError(
            .wrongTransactionState, "This Realm was opened by the parent process, before the fork: open it again")
    }

    /// Whether the caller is on the Realm's own thread.
    package var isOnThread: Bool { isInTransit || isFrozen ? home.isOnThread : isOnFixedThread }

    /// The same, false for a Realm in transit whose scheduler does not stand for a thread.
    @inline(__always) private var isOnFixedThread: Bool {
        let own = thread.load(ordering: .relaxed), me = Platform.threadId
        if own != 0 { return me == own }
        if me == sureThread.load(ordering: .relaxed) { return true }
        if isInTransit { return false }
        if let threadCheck { return threadCheck(threadCheckContext) }
        return home.isOnThread
    }

    /// Whether a C function of the scheduler says so; false where there is none, as for frozen Realms.
    @inline(__always) private var isOnCheckedThread: Bool {
        guard let threadCheck, thread.load(ordering: .relaxed) == 0, !isInTransit else { return false }
        return threadCheck(threadCheckContext)
    }

    @inline(never) private func refuse(_ accessor: Accessor) throws(RealmError) {
        do throws(RealmError) {
            if isInherited { throw Self.inheritedError() }
            if isClosed { throw refusal(accessor) }
            if isReporting {
                throw RealmError(
                    .illegalOperation, "A progress function cannot use the Realm whose call it was called from")
            }
            try verifyWhole()
        } catch {
            leave()
            throw error
        }
    }

    @inline(never) private func refusal(_ accessor: Accessor) -> RealmError {
        guard isClosed else { return RealmError(.wrongThread, "Realm accessed from incorrect thread.") }
        switch accessor {
        case .realm: return closedError()
        case .object: return invalidated()
        case .collection:
            return RealmError(.invalidatedObject, "Access to invalidated collection: the Realm has been closed")
        case .results: return RealmError(.staleAccessor, "Access to invalidated Results objects")
        }
    }

    /// Ends everything this instance holds; a running write is rolled back. Harmless when repeated, and on any thread:
    /// when the Realm's own one is in a call, that call ends it.
    public func close() {
        standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
        // The call that the program's function was called from still needs everything.
        if isReporting, isOnThread { return }
        if isOnThread
            || (Platform.fenceAllThreads() && visits.load(ordering: .acquiring) == 0
                && binding.with { $0.visits == 0 && !$0.isMoving })
        {
            endForGood()
        }
    }

    // MARK: The end of the thread

    /// Learns of the end of the scheduler's thread from now on, where the scheduler learns of it.
    func live(on scheduler: any EngineScheduler) { if !scheduler.add(self) { threadEnds(scheduler) } }

    /// The scheduler's thread ends, and calls this as one of the last things that it does: nobody comes in any more,
    /// whatever number the next threads get, and nobody waits for a write that would have ended there. Others can close
    /// the Realm, or take it over where that was offered.
    func threadEnds(_ gone: any EngineScheduler) {
        if isInherited { return }
        let isMine = binding.with { state in
            guard state.scheduler === gone, !state.isMoving else { return false }
            thread.store(Platform.noThread, ordering: .relaxed)
            sureThread.store(0, ordering: .relaxed)
            // Calls of the thread that were never left do not count; this one does.
            state.visits = 0
            visits.store(1, ordering: .relaxed)
            return true
        }
        guard isMine else { return }
        Platform.keepOrder()
        if !isClosed {
            stopListening()
            endAsyncWrites()
        }
        leave()
    }
}
