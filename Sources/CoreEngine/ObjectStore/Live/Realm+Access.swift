import Synchronization

/// The entry point of a Realm. Every use of the Realm's data begins with `enter` and ends with `leave`, or runs inside
/// `inside`.
///
/// Promise
/// 1. Only the Realm's own thread (with a `SerialScheduler`: one thread at a time) enters, only while the Realm is
///    open, and only while its file has all its pages.
///    Other callers get an error before any data is touched. Every thread may enter a frozen Realm; each thread uses
///    its own reader.
/// 2. In a forked child no call enters a Realm that the parent opened. The child does not use those Realms, and opens
///    the file again.
/// 3. `close` may be called on any thread. It does not disturb a call that is inside: that call finishes, and closes
///    the Realm when it leaves. The next call finds the Realm closed.
///
/// Entering and leaving need only plain loads and stores. A thread that closes the Realm does more work: it sets the
/// closed flag, issues a memory fence on all threads of the process, and then checks whether a call is inside. After
/// the fence either the call sees the flag, or the closing thread sees the call. Where the operating system has no such
/// fence, the Realm's own thread closes the Realm, at its next call or when it releases the last reference.
extension Realm {
    /// Decides which calls may enter a Realm.
    ///
    /// Thread rule: `visits` is written by the Realm's own thread; the rest is immutable, atomic or behind the lock.
    struct Access: ~Copyable {
        /// The scheduler that the Realm belongs to, and the state of a move to another one.
        struct Binding {
            var scheduler: any EngineScheduler

            /// Number of calls inside the Realm while it is in transit; `Access.visits` counts the others.
            var visits = 0

            /// The Realm is changing its owner: no call may enter.
            var isMoving = false

            /// A thread other than the Realm's own has put it in transit.
            var isUncertain = false
        }

        let binding: Lock<Binding>

        /// Number of the thread, when the scheduler is bound to one; 0 when the scheduler must be asked.
        let thread: Atomic<UInt>

        /// A second thread that needs no check, in addition to `thread`; 0 when there is none.
        let sureThread: Atomic<UInt>

        /// The thread check of the scheduler that the Realm was opened with, if it has one.
        let threadCheck: ThreadCheck?
        let threadCheckContext: UnsafeMutableRawPointer?

        /// The scheduler, if it lets any thread enter, one at a time.
        let serial: SerialScheduler?

        /// Number of nested calls inside the Realm.
        let visits = Atomic(0)

        /// Bits that make a call leave the fast path of plain loads and stores.
        let standing = Atomic(0)

        /// Differs from the current generation when a forked child process has inherited the Realm.
        let generation = ForkGuard.generation

        /// Everything that the Realm held is released.
        let hasEnded = Atomic(false)

        /// Whether asynchronous writes exist.
        let hasAsyncWrites = Atomic(false)

        init(_ scheduler: any EngineScheduler) {
            binding = Lock(initial: Binding(scheduler: scheduler))
            thread = Atomic(scheduler.threadId)
            sureThread = Atomic(scheduler.surelyThreadId)
            threadCheck = scheduler.threadCheck
            threadCheckContext = scheduler.threadCheckContext
            serial = scheduler as? SerialScheduler
            if serial != nil { standing.store(Standing.serial, ordering: .relaxed) }
        }

        /// For the Realm of the old data in a migration: the calls that may enter `realm` may enter it, too.
        init(sharing realm: Realm) {
            binding = Lock(initial: Binding(scheduler: realm.home))
            thread = Atomic(realm.access.thread.load(ordering: .relaxed))
            sureThread = Atomic(realm.access.sureThread.load(ordering: .relaxed))
            threadCheck = realm.access.threadCheck
            threadCheckContext = realm.access.threadCheckContext
            serial = realm.access.serial
            if serial != nil { standing.store(Standing.serial, ordering: .relaxed) }
        }

        /// A frozen Realm is used on every thread.
        init(frozen scheduler: any EngineScheduler) {
            binding = Lock(initial: Binding(scheduler: scheduler))
            thread = Atomic(0)
            sureThread = Atomic(0)
            threadCheck = nil
            threadCheckContext = nil
            serial = nil
        }
    }

    /// The bits of `Access.standing`.
    enum Standing { static let closed = 1, inTransit = 2, reporting = 4, serial = 8 }

    /// The kind of value that the caller uses. It decides which error reports that the Realm is closed.
    package enum Accessor { case realm, object, collection, results }

    @inline(__always) package func inside<R>(_ accessor: Accessor = .realm, _ body: () throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        try enter(accessor)
        let result: Result<R, RealmError>
        do throws(RealmError) { result = .success(try body()) } catch { result = .failure(error) }
        // Lost pages are reported before any result or error of the call: the call may have read zeros in their place.
        if leave() { try verifyWhole() }
        return try result.get()
    }

    @inline(__always) func inside<R>(_ accessor: Accessor, do body: @autoclosure () throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        try inside(accessor, body)
    }

    /// The caller calls `leave` after each success. Calls may nest: callbacks enter again.
    package func enter(_ accessor: Accessor) throws(RealmError) {
        if let frozen { return try enter(frozen, accessor) }
        guard isOnFixedThread else { return try enterInTransit(accessor) }
        access.visits.store(access.visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        Platform.keepOrder()
        guard access.standing.load(ordering: .acquiring) == 0, !FaultGuard.hasFaults else {
            return try enterLooking(accessor)
        }
    }

    /// - Returns: whether pages of any file were lost; `verifyWhole` reports whether this file lost pages.
    @discardableResult
    package func leave() -> Bool {
        if let frozen { return leave(frozen) }
        if isInTransit { return leaveInTransit() }
        let rest = access.visits.load(ordering: .relaxed) &- 1
        access.visits.store(rest, ordering: .releasing)
        Platform.keepOrder()
        if isClosed, rest == 0 { endForGood() }
        access.serial?.end()
        return FaultGuard.hasFaults
    }

    // MARK: Inlined entry

    /// The inlined `enter` of property accessors, for the common case only. The caller calls `leaveQuickly` after each
    /// success. After a failure the state is unchanged, and `enter` finds the reason.
    @inline(__always) func enterQuickly() -> Bool {
        let me = Platform.threadId
        // No thread has the number 0. A frozen Realm has 0 here, so it always takes the slow path.
        guard
            me == access.sureThread.load(ordering: .relaxed) || me == access.thread.load(ordering: .relaxed)
                || isOnCheckedThread
        else { return false }
        access.visits.store(access.visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        Platform.keepOrder()
        if access.standing.load(ordering: .acquiring) == 0, !FaultGuard.hasFaults { return true }
        retreat()
        return false
    }

    /// - Returns: false when pages of any file were lost: then the caller must not use the values it read.
    @inline(__always) func leaveQuickly() -> Bool {
        guard access.standing.load(ordering: .acquiring) == 0 else { return !leave() }
        let rest = access.visits.load(ordering: .relaxed) &- 1
        access.visits.store(rest, ordering: .releasing)
        Platform.keepOrder()
        if isClosed, rest == 0 { endForGood() }
        return !FaultGuard.hasFaults
    }

    /// `inside`, inlined for the common case.
    @inline(__always) func insideQuickly<R>(_ accessor: Accessor, _ body: () throws(RealmError) -> R) throws(RealmError)
        -> R
    {
        guard enterQuickly() else { return try inside(accessor, body) }
        return try leaveQuickly(body)
    }

    /// Runs `body` and leaves, whether `body` returns or throws.
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
        access.visits.store(access.visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
    }

    @inline(never) private func enterLooking(_ accessor: Accessor) throws(RealmError) {
        guard isInTransit else { return try refuse(accessor) }
        access.visits.store(access.visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
        try enterInTransit(accessor)
    }

    /// Enters a Realm that another thread may take over. Where no other thread may, it refuses the call.
    @inline(never) private func enterInTransit(_ accessor: Accessor) throws(RealmError) {
        if let serial = access.serial { return try enter(serial, accessor) }
        guard isInTransit else { throw refusal(accessor) }
        // The application may have supplied the check: no lock is held here.
        let owner = home
        guard owner.isOnThread,
            (access.binding.with { state in
                guard state.scheduler === owner, !state.isMoving else { return false }
                state.visits += 1
                return true
            })
        else { throw refusal(accessor) }
        if isClosed || isReporting || FaultGuard.hasFaults { try refuse(accessor) }
    }

    /// Enters a Realm that any thread may use while no other thread is inside.
    private func enter(_ serial: SerialScheduler, _ accessor: Accessor) throws(RealmError) {
        if isInherited { throw Self.inheritedError() }
        guard serial.begin() else {
            throw isClosed
                ? refusal(accessor) : RealmError(.wrongThread, "Another thread is inside a call of this Realm.")
        }
        access.visits.store(access.visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        Platform.keepOrder()
        if access.standing.load(ordering: .acquiring) != Standing.serial || FaultGuard.hasFaults {
            try refuse(accessor)
        }
    }

    /// Runs `body` where the caller may use the Realm now: on its own thread, or, with a serial scheduler, while no
    /// other thread is inside. Returns nil elsewhere.
    func whereAllowed<R>(_ body: () -> R) -> R? {
        guard let serial = access.serial else { return isOnThread ? body() : nil }
        guard !isInherited, serial.begin() else { return nil }
        defer { serial.end() }
        return body()
    }

    private func leaveInTransit() -> Bool {
        let rest = access.binding.with { state in
            // Calls that entered before the transit began are counted in `Realm.visits`.
            if state.visits > 0 {
                state.visits -= 1
            } else {
                access.visits.store(access.visits.load(ordering: .relaxed) &- 1, ordering: .releasing)
            }
            return state.visits + access.visits.load(ordering: .relaxed)
        }
        if isClosed, rest == 0 { endForGood() }
        return FaultGuard.hasFaults
    }

    /// The inlined `enter` for a frozen Realm that the calling thread has used before; nil in other cases, with
    /// nothing changed. The caller calls `leaveFrozen`.
    @inline(__always) func enterFrozen() -> Unmanaged<FrozenReaders.Reader>? {
        guard let readers = frozenReaders, let own = readers._withUnsafeGuaranteedRef({ $0.own }) else { return nil }
        own._withUnsafeGuaranteedRef { reader in
            reader.visits.store(reader.visits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        }
        Platform.keepOrder()
        if access.standing.load(ordering: .acquiring) == 0, !FaultGuard.hasFaults { return own }
        _ = leaveFrozen(own)
        return nil
    }

    /// - Returns: false when pages of any file were lost: then the caller must not use the values it read.
    @inline(__always) func leaveFrozen(_ reader: Unmanaged<FrozenReaders.Reader>) -> Bool {
        reader._withUnsafeGuaranteedRef { reader in
            let rest = reader.visits.load(ordering: .relaxed) &- 1
            reader.visits.store(rest, ordering: .releasing)
            Platform.keepOrder()
            guard access.standing.load(ordering: .acquiring) == 0 else {
                if isClosed, rest == 0 { reader.end() }
                return false
            }
            return !FaultGuard.hasFaults
        }
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

    /// Throws when pages of the file were lost. Called at the beginning of calls, and at their end before they return
    /// what they read.
    @inline(__always) package func verifyWhole() throws(RealmError) { if FaultGuard.hasBrokenMaps { try verifyFile() } }

    @inline(never) private func verifyFile() throws(RealmError) { try openDatabase?.verifyWhole() }

    /// Whether the Realm was opened by the process of which this one is a forked child.
    package var isInherited: Bool { access.generation != ForkGuard.generation }

    package static func inheritedError() -> RealmError {
        RealmError(
            .wrongTransactionState, "This Realm was opened by the parent process, before the fork: open it again")
    }

    /// Changes with each fork: a child must not use what its parent opened.
    static var processGeneration: UInt32 { ForkGuard.generation }

    /// A memory fence on all threads of the process; false where the system has none.
    static func fenceAllThreads() -> Bool { Platform.fenceAllThreads() }

    /// Whether the caller is on the Realm's own thread.
    package var isOnThread: Bool {
        if let serial = access.serial { return serial.isOnThread }
        return isInTransit || isFrozen ? home.isOnThread : isOnFixedThread
    }

    /// As `isOnThread`; false for a Realm in transit whose scheduler does not represent a thread.
    @inline(__always) private var isOnFixedThread: Bool {
        let own = access.thread.load(ordering: .relaxed), me = Platform.threadId
        if own != 0 { return me == own }
        if me == access.sureThread.load(ordering: .relaxed) { return true }
        if isInTransit { return false }
        if let check = access.threadCheck { return check(access.threadCheckContext) }
        return home.isOnThread
    }

    /// The answer of the scheduler's C function; false without such a function, and for frozen Realms.
    @inline(__always) private var isOnCheckedThread: Bool {
        guard let check = access.threadCheck, access.thread.load(ordering: .relaxed) == 0, !isInTransit else {
            return false
        }
        return check(access.threadCheckContext)
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

    /// Closes this instance and releases everything it holds; an open write is rolled back. Any thread. Repeated calls
    /// have no effect. When the Realm's own thread is inside a call, that call closes the Realm when it leaves.
    public func close() {
        access.standing.bitwiseOr(Standing.closed, ordering: .sequentiallyConsistent)
        // The call that runs the program's progress function still needs the Realm.
        if isReporting, isOnThread { return }
        if isOnThread
            || (Platform.fenceAllThreads() && access.visits.load(ordering: .acquiring) == 0
                && access.binding.with { $0.visits == 0 && !$0.isMoving })
        {
            endForGood()
        }
    }

    // MARK: The end of the thread

    /// From now on the Realm is told when the scheduler's thread ends, if the scheduler can detect that.
    func live(on scheduler: any EngineScheduler) { if !scheduler.add(self) { threadEnds(scheduler) } }

    /// Called by the scheduler's thread as one of its last actions. From then on no call enters, even if a new thread
    /// gets the same thread number, and a write that would have ended on this thread keeps no other writer waiting.
    /// Other threads can close the Realm, or take it over if that was offered.
    package func threadEnds(_ gone: any EngineScheduler) {
        if isInherited { return }
        let isMine = access.binding.with { state in
            guard state.scheduler === gone, !state.isMoving else { return false }
            access.thread.store(Platform.noThread, ordering: .relaxed)
            access.sureThread.store(0, ordering: .relaxed)
            // Calls of the thread that never ended do not count; this call does.
            state.visits = 0
            access.visits.store(1, ordering: .relaxed)
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

extension Realm: SchedulerResident {}
