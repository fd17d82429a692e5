/// How a Realm comes to read and to write, and how it moves from version to version.
///
/// Whoever needs data asks `reading` or `writing` for the transaction, on every call: a Realm that does not read yet
/// begins to, and nothing is handed out that was read from lost pages. `beginWrite`, `refresh` and turns move it; every
/// move brings the schema along first, then tells the callbacks. A move that fails leaves the Realm where it was.
extension Realm {
    func frozenError(_ what: String) -> RealmError {
        RealmError(.wrongTransactionState, "Can't \(what) a frozen Realm.")
    }

    func closedError() -> RealmError { RealmError(.closedRealm, "Cannot access realm that has been closed.") }

    /// The transaction, in a snapshot.
    @inline(__always) package func reading() throws(RealmError) -> Transaction {
        if transaction.stage != .reading && transaction.stage != .writing {
            if let frozen { return try reading(frozen) }
            try beginImplicitly()
        }
        try verifyWhole()
        return transaction
    }

    /// The table in the snapshot, nil when there is none, without counting references: good until the Realm moves.
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

    /// Begins to read a version that is pinned already.
    func beginRead(at pin: Pin) throws(RealmError) {
        try transaction.beginRead(at: pin)
        try noteBegin()
    }

    private func noteBegin() throws(RealmError) {
        shownVersion = nil
        do throws(RealmError) { try versionMoved() } catch {
            transaction.endRead()
            throw error
        }
    }

    /// The transaction, writing.
    @inline(__always) package func writing() throws(RealmError) -> Transaction {
        try verifyWriting()
        return transaction
    }

    /// Throws unless something may be changed now, and notes that something is.
    @inline(__always) func verifyWriting() throws(RealmError) {
        guard transaction.stage == .writing else {
            throw RealmError(.wrongTransactionState, "Cannot modify managed objects outside of a write transaction.")
        }
        if let damage = transaction.damage { throw damage }
        try verifyWhole()
        stateCount &+= 1
    }

    /// Runs a change. One that is refused has changed nothing; one that fails halfway leaves the transaction fit for a
    /// rollback only.
    @inline(__always) func changing<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let before = transaction.startChange()
        defer { transaction.endChange(before) }
        do throws(RealmError) { return try body() } catch {
            transaction.noteFailure(error)
            throw error
        }
    }

    /// Whether a write transaction is open. Any thread.
    public var isWriting: Bool { transaction.isWriting.load(ordering: .relaxed) }
    package var isReading: Bool { isFrozen || transaction.stage == .reading || transaction.stage == .writing }

    /// Version of the snapshot; nil when none is open, or the Realm is closed. Elsewhere than on the Realm's thread
    /// that is a `Misuse`.
    public var version: UInt64? {
        var version: UInt64?
        _ = Misuse.isThere("Realm.version") { () throws(RealmError) in
            version = try readVersion()
            return true
        }
        return version
    }

    /// Version of the snapshot; nil when none is open.
    package func readVersion() throws(RealmError) -> UInt64? {
        try inside { () throws(RealmError) in isReading ? frozen?.version ?? transaction.version : nil }
    }

    /// Number of versions of the file that are kept; 0 when the Realm is closed. Any thread.
    public var versionCount: UInt64 { openDatabase?.versionCount ?? 0 }

    /// The versions of the file that anybody has pinned, the oldest first. A snapshot looks at those of whoever has the
    /// file open.
    public func pinnedVersions() throws(RealmError) -> [PinnedVersion] {
        try inside { () throws(RealmError) in try database.pinnedVersions() }
    }

    /// Begins to read the newest version, unless it reads one. Any call that reads does that by itself.
    ///
    /// - Throws: 1021 and its neighbours for a file that cannot be read.
    public func beginRead() throws(RealmError) {
        try inside { () throws(RealmError) in
            _ = try reading()
        }
    }

    /// Waits for the write lock and moves to the newest version. Callbacks that are told of this move run inside of the
    /// transaction: they may change something, which becomes part of it, but begin no other one. `write` may be called
    /// there.
    ///
    /// - Throws: 2005 inside a write transaction, and where nothing can be written.
    public func beginWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            try beginTelling()
            // A callback may have ended it.
            if !isWriting { try beginUntold() }
        }
    }

    /// As `beginWrite`, for programs that write whenever they are told of a change: inside a callback nobody else is
    /// told of anything before that callback has returned. One that is called because a write begins takes the
    /// transaction that is open, which is begun again afterwards.
    package func beginOwnWrite() throws(RealmError) {
        try inside { () throws(RealmError) in
            if isWriting, isBeginning {
                isBeginning = false
                // What other callbacks changed without a transaction of their own stands, however this one ends.
                guard transaction.hasChanges else { return }
                try commitWrite()
                return try beginUntold()
            }
            if isNotifying { return try beginUntold() }
            try beginWrite()
        }
    }

    /// Begins a write transaction, and tells the callbacks of the move there; they may end it.
    func beginTelling() throws(RealmError) {
        let moved = try moveToWrite()
        isBeginning = true
        defer { isBeginning = false }
        notifyMoved(moved)
        deliver()
    }

    /// Begins a write transaction without telling the callbacks of the move: they are told by the next one who does, at
    /// the latest in a turn.
    func beginUntold() throws(RealmError) {
        if try moveToWrite() { owesNotice = true }
        isBeginning = false
        owesTurn = true
    }

    /// - Returns: whether the Realm shows another version.
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
        prepareDelivery()
        return moved || wasIdle
    }

    /// Ends the write transaction: its changes are on the disk, and seen by all who read from then on.
    ///
    /// - Throws: 2005 when there is none; 9001 when it is not known whether the changes are on the disk; what the
    ///   system says.
    public func commitWrite() throws(RealmError) { try commitWrite(silent: []) }

    /// - Parameter silent: callbacks of objects, collections and results that are not told of this commit.
    package func commitWrite(silent: [(notifier: Notifier, id: Int)]) throws(RealmError) {
        // Not `inside`: pages that are lost after the commit make it no failure.
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
        guard callbackGuard != .none else { return }
        callbackGuard = .violated
        throw RealmError(
            .wrongTransactionState, "A migration or initialization function cannot end its write transaction")
    }

    func commitLogged(flushing: Bool = true) throws(RealmError) {
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

    /// Ends the write transaction, and nothing has changed.
    ///
    /// - Throws: 2005 when there is none.
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

    /// Runs `body` in a write transaction: commits when it returns, rolls back when it throws.
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

    /// Moves to the newest version; true when the snapshot moved, or when there was none. A Realm without a schema of
    /// its own shows that of a version from the start: reading that one is no move. Inside a callback nothing moves.
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
                let shown = shownVersion
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

    /// The turn of a Realm that neither writes nor runs callbacks.
    /// - Returns: the version that callbacks are told of; they may have moved the Realm further.
    func moveInTurn() throws(RealmError) -> UInt64 {
        guard !isFixedView else { return transaction.version }
        let moved: Bool
        if transaction.stage == .idle, !notifiers.live().isEmpty {
            _ = try reading()
            moved = true
        } else if transaction.stage == .idle {
            // Nobody reads: the schema follows, and callbacks find out. A snapshot would stay for as long as no other
            // turn comes.
            moved = database.newestVersion != transaction.version
            if moved {
                _ = try reading()
                if isDynamic { shownVersion = transaction.version }
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
