/// How a Realm begins to read and to write, and how it moves between versions.
///
/// Every call that needs data asks `reading` or `writing` for the transaction. A Realm that does not read yet begins to
/// read, and data from lost pages is never returned. `beginWrite`, `refresh` and turns of the scheduler move the Realm.
/// Each move first updates the schema, then calls the callbacks. After a move that fails, the Realm is still at the old
/// version.
extension Realm {
    func frozenError(_ what: String) -> RealmError {
        RealmError(.wrongTransactionState, "Can't \(what) a frozen Realm.")
    }

    func closedError() -> RealmError { RealmError(.closedRealm, "Cannot access realm that has been closed.") }

    /// Returns the transaction; begins to read if necessary.
    @inline(__always) package func reading() throws(RealmError) -> Transaction {
        if transaction.stage != .reading && transaction.stage != .writing {
            if let frozen { return try reading(frozen) }
            try beginImplicitly()
        }
        try verifyWhole()
        return transaction
    }

    /// Returns the table in the snapshot without counting references; nil when it does not exist. Valid until the Realm
    /// moves.
    @inline(__always) func readingTable(_ key: TableKey) throws(RealmError) -> Unmanaged<Table>? {
        if transaction.stage != .reading && transaction.stage != .writing {
            return try reading().group.unmanagedTable(key)
        }
        try verifyWhole()
        return try Unmanaged.passUnretained(transaction.group).borrow { (group: Group) throws(RealmError) in
            try group.unmanagedTable(key)
        }
    }

    private func reading(_ frozen: FrozenReaders) throws(RealmError) -> Transaction {
        guard let reader = frozen.own else { throw closedError() }
        try verifyWhole()
        return reader._withUnsafeGuaranteedRef { $0.transaction }
    }

    @inline(never) private func beginImplicitly() throws(RealmError) {
        if transaction.stage == .closed { throw closedError() }
        if transaction.stage == .interrupted { return try transaction.restore() }
        try transaction.beginRead()
        try noteBegin()
    }

    /// Begins to read a version that is already pinned.
    func beginRead(at pin: Pin) throws(RealmError) {
        try transaction.beginRead(at: pin)
        try noteBegin()
    }

    private func noteBegin() throws(RealmError) {
        movement.shownVersion = nil
        do throws(RealmError) { try versionMoved() } catch {
            transaction.endRead()
            throw error
        }
    }

    /// Returns the transaction, which must be a write transaction.
    @inline(__always) package func writing() throws(RealmError) -> Transaction {
        try verifyWriting()
        return transaction
    }

    /// Throws unless data may be changed now. Marks the state as changed.
    @inline(__always) func verifyWriting() throws(RealmError) {
        guard transaction.stage == .writing else {
            throw RealmError(.wrongTransactionState, "Cannot modify managed objects outside of a write transaction.")
        }
        if let damage = transaction.damage { throw damage }
        try verifyWhole()
        stateCount &+= 1
    }

    /// Runs a change. A refused change has changed nothing. After a change that fails halfway, the transaction can only
    /// be rolled back.
    @inline(__always) func changing<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        if CallChecks.areNeeded(transaction) { return try asOneCall { () throws(RealmError) in try plainly(body) } }
        return try plainly(body)
    }

    /// Runs several changes as one call: the rules that are checked in each call are checked after the last change. If
    /// a rule is broken, nothing was changed.
    @inline(never) package func asOneCall<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        guard CallChecks.areNeeded(transaction) else { return try body() }
        do throws(RealmError) { return try callChecks.run(transaction, body) } catch {
            stateCount &+= 1
            throw error
        }
    }

    /// Runs changes as one: when it throws, nothing was changed. Costs a savepoint.
    package func allOrNothing<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        stateCount &+= 1
        let number = try transaction.beginSavepoint(isOwn: true)
        do throws(RealmError) {
            let result = try changing(body)
            try transaction.releaseSavepoint(number)
            return result
        } catch {
            stateCount &+= 1
            try transaction.rollbackSavepoint(number)
            throw error
        }
    }

    @inline(__always) private func plainly<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let before = transaction.startChange()
        defer { transaction.endChange(before) }
        do throws(RealmError) { return try body() } catch {
            transaction.noteFailure(error)
            throw error
        }
    }

    /// What the last commit of this instance wrote.
    package var lastCommitWork: CommitWork { transaction.lastWork }

    /// Whether a write transaction is open. Any thread.
    public var isWriting: Bool { transaction.isWriting.load(ordering: .relaxed) }
    package var isReading: Bool { isFrozen || transaction.stage == .reading || transaction.stage == .writing }

    /// The version of the snapshot; nil when the Realm has no snapshot or is closed. On another thread than the Realm's
    /// this is a `Misuse`.
    public var version: UInt64? {
        var version: UInt64?
        _ = Misuse.isThere("Realm.version") { () throws(RealmError) in
            version = try readVersion()
            return true
        }
        return version
    }

    /// The version of the snapshot; nil when the Realm has none.
    package func readVersion() throws(RealmError) -> UInt64? {
        try inside { () throws(RealmError) in isReading ? frozen?.version ?? transaction.version : nil }
    }

    /// The number of versions that the file keeps; 0 when the Realm is closed. Any thread.
    public var versionCount: UInt64 { openDatabase?.versionCount ?? 0 }

    /// All pinned versions of the file, oldest first: those of every process that has the file open.
    public func pinnedVersions() throws(RealmError) -> [PinnedVersion] {
        try inside { () throws(RealmError) in try database.pinnedVersions() }
    }

    /// Begins to read the newest version, unless the Realm reads already. Every call that reads also does this.
    ///
    /// - Throws: 1021 for a damaged file, 1017–1020 for I/O errors.
    public func beginRead() throws(RealmError) {
        try inside { () throws(RealmError) in
            _ = try reading()
        }
    }

    /// Waits for the write lock and moves to the newest version. Callbacks for this move run inside the transaction.
    /// Their changes become part of it, and they cannot begin another transaction, but they may call `write`.
    ///
    /// - Throws: 2005 inside a write transaction, and for a Realm that cannot be written.
    public func beginWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            try beginTelling()
            // A callback may have ended the transaction.
            if !isWriting { try beginUntold() }
        }
    }

    /// As `beginWrite`, for programs that write each time they are told of a change. Inside a callback no other
    /// callback is called before that callback has returned. A callback that is called because a write begins uses the
    /// open transaction; afterwards that write begins again.
    package func beginOwnWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            if isWriting, movement.isBeginning {
                movement.isBeginning = false
                // Changes that other callbacks made without their own transaction are kept, even if this transaction is
                // rolled back.
                guard transaction.hasChanges else { return }
                try commitWrite()
                return try beginUntold()
            }
            if isNotifying { return try beginUntold() }
            try beginWrite()
        }
    }

    /// Begins a write transaction and calls the callbacks for the move inside it. They may end the transaction.
    func beginTelling() throws(RealmError) {
        let moved = try moveToWrite()
        movement.isBeginning = true
        defer { movement.isBeginning = false }
        notifyMoved(moved)
        deliver()
    }

    /// Begins a write transaction without calling callbacks for the move. The next operation that calls callbacks calls
    /// them, at the latest the next turn.
    func beginUntold() throws(RealmError) {
        if try moveToWrite() { movement.owesNotice = true }
        movement.isBeginning = false
        movement.owesTurn = true
    }

    /// - Returns: whether the Realm moved to another version.
    private func moveToWrite() throws(RealmError) -> Bool {
        let transaction = transaction
        guard !isClosed else { throw closedError() }
        guard !isFrozen else { throw frozenError("perform transactions on") }
        guard configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly else {
            throw RealmError(.wrongTransactionState, "Can't perform transactions on read-only Realms.")
        }
        awaitFlush()
        guard transaction.stage != .writing else {
            throw RealmError(.wrongTransactionState, "The Realm is already in a write transaction")
        }
        if configuration.maxActiveVersions != .max, versionCount > configuration.maxActiveVersions {
            throw RealmError(
                .wrongTransactionState,
                "Number of active versions (\(versionCount)) in the Realm exceeded the limit of \(configuration.maxActiveVersions)"
            )
        }
        let wasIdle = transaction.stage == .idle
        if wasIdle { _ = try reading() }
        prepareMove()
        let moved = try transaction.beginWrite(accepting: { (_) throws(RealmError) in try self.versionMoved() })
        try verifyWhole()
        do throws(RealmError) { try catchUpRules() } catch {
            try? transaction.rollback()
            throw error
        }
        prepareDelivery()
        return moved || wasIdle
    }

    /// Commits the write transaction: its changes are on the disk, and every reader that begins later sees them.
    ///
    /// - Throws: 2005 outside a write transaction; 9006 when an object breaks a rule, and the transaction goes on; 9001
    ///   when it is unknown whether the changes are on the disk; the errors of the operating system.
    public func commitWrite() throws(RealmError) { try commitWrite(silent: []) }

    /// - Parameter silent: callbacks of objects, collections and results that are not told of this commit.
    package func commitWrite(silent: [(notifier: Notifier, id: Int)]) throws(RealmError) {
        // Does not use `inside`: pages that are lost after the commit do not make it fail.
        try enter(.realm)
        defer { leave() }
        let transaction = transaction
        guard transaction.stage == .writing else {
            throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction")
        }
        try checkCallbackGuard()
        stateCount &+= 1
        try flushEarlier()
        try commitLogged()
        if !silent.isEmpty { skip(silent) }
        notifyMoved()
        completeEarlier()
        asyncMayGoOn()
        payTurn()
    }

    /// A migration or initialization function may not end the transaction that it runs in.
    func checkCallbackGuard() throws(RealmError) {
        guard schemaState.callbackGuard != .none else { return }
        schemaState.callbackGuard = .violated
        throw RealmError(
            .wrongTransactionState, "A migration or initialization function cannot end its write transaction")
    }

    func commitLogged(flushing: Bool = true) throws(RealmError) {
        try keepRules()
        try MarkKeeper.keep(transaction)
        Log.write(.transaction, .debug, "Initiate commit version: \(transaction.version + 1)")
        let start = Log.isEnabled(.transaction, .debug) ? Platform.monotonicSeconds : 0
        do throws(RealmError) { try transaction.commit(flushing: flushing) } catch {
            try verifyWhole()
            throw error
        }
        if let pin = transaction.takeCostlyPin() {
            Log.write(
                .transaction, .warning,
                "The file '\(database.path)' grew to \(transaction.logicalSize) bytes because version \(pin.version) is still in use: "
                    + "it was pinned by thread "
                    + "\(pin.threadId) of process \(pin.processId), and \(pin.heldBytes) bytes that were freed since cannot be used again"
            )
        }
        Log.write(
            .transaction, .debug,
            "Commit of size \(transaction.logicalSize) done in \(Int((Platform.monotonicSeconds - start) * 1e6)) us")
    }

    /// Rolls back the write transaction.
    ///
    /// - Throws: 2005 outside a write transaction.
    public func cancelWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            let transaction = transaction
            guard transaction.stage == .writing else {
                throw RealmError(.wrongTransactionState, "Can't cancel a non-existing write transaction")
            }
            try checkCallbackGuard()
            guard !asyncWrites.isCompleting else {
                throw RealmError(
                    .wrongTransactionState, "Can't cancel a write transaction from inside a commit completion callback."
                )
            }
            stateCount &+= 1
            defer {
                asyncMayGoOn()
                payTurn()
            }
            try transaction.rollback()
        }
    }

    /// Runs `body` in a write transaction. Commits when `body` returns, rolls back when it throws.
    @discardableResult
    public func write<R>(_ body: () throws -> R) throws -> R {
        try beginOwnWrite()
        do {
            let result = try body()
            if isWriting { try commitWrite() }
            return result
        } catch {
            if isWriting { try? cancelWrite() }
            throw error
        }
    }

    /// Moves to the newest version. Inside a callback the Realm does not move.
    ///
    /// - Returns: whether the Realm moved, or began to read. A Realm without its own schema shows the schema of one
    ///   version from the start: to begin to read that version is no move.
    @discardableResult
    public func refresh() throws(RealmError) -> Bool {
        try inside { () throws(RealmError) -> Bool in
            if isFrozen { return false }
            if configuration.schemaMode == .immutable {
                throw RealmError(.wrongTransactionState, "Can't refresh an immutable Realm.")
            }
            guard !isWriting, !isFixedView, !isNotifying else { return false }
            let moved: Bool
            if transaction.stage == .idle {
                let shown = movement.shownVersion
                _ = try reading()
                moved = shown != transaction.version
            } else {
                moved = try moveSnapshot()
            }
            prepareDelivery()
            notifyMoved(moved)
            deliver()
            return moved
        }
    }

    /// Runs a turn of a Realm that neither writes nor runs callbacks.
    /// - Returns: the version that callbacks are told of; the callbacks may have moved the Realm further.
    func moveInTurn() throws(RealmError) -> UInt64 {
        guard !isFixedView else { return transaction.version }
        let moved: Bool
        if transaction.stage == .idle, !notifiers.live().isEmpty {
            _ = try reading()
            moved = true
        } else if transaction.stage == .idle {
            // The Realm has no snapshot: the schema follows the file, and callbacks are called. An open snapshot would
            // stay pinned until the next turn.
            moved = database.newestVersion != transaction.version
            if moved {
                _ = try reading()
                if schemaState.isDynamic { movement.shownVersion = transaction.version }
                transaction.endRead()
            }
        } else {
            moved = try moveSnapshot()
        }
        prepareDelivery()
        let version = transaction.version
        notifyMoved(moved)
        deliver()
        return version
    }

    private func moveSnapshot() throws(RealmError) -> Bool {
        try transaction.restore()
        prepareMove()
        let moved = try transaction.refresh(accepting: { (_) throws(RealmError) in try self.versionMoved() })
        try verifyWhole()
        return moved
    }
}
