/// The write lock, within the process and between processes, and the preparations before a write.
extension Database {
    /// Takes the write lock, waiting for other writers.
    /// - Parameter me: the owner of the lock (`Transaction.place`). It is an error if it has the lock already, because
    ///   it would wait for itself.
    func lockForWriting(at me: UInt = Platform.threadId) throws(RealmError) {
        try checkProcess()
        let isLocked = try writer.wait { (holder) throws(RealmError) -> Bool? in
            switch holder {
            case .free:
                holder = .writing(at: me)
                return false
            case .granted(let request):
                request.isTaken = true
                holder = .writing(at: me)
                return true
            case .writing(me): throw Self.alreadyWriting()
            case .writing, .flushing: return nil
            }
        }
        if !isLocked { try lockFiles() }
    }

    /// As `lockForWriting(at:)`, but waits only as long as `patience` allows. A thread of the library waits in the
    /// kernel's queue for the caller. If the caller gives up while another process holds the lock, that thread waits
    /// until it gets the lock, and releases it again.
    func lockForWriting(_ patience: Patience, at me: UInt) throws(RealmError) {
        guard patience.isLimited else { return try lockForWriting(at: me) }
        try checkProcess()
        while try !takeFreeLock(at: me) {
            // A caller whose time is over does not begin to wait.
            try patience.during { () throws(RealmError) in try patience.test(path) }
            let request = LockRequest(), arrival = Monitor<Result<Void, RealmError>?>(nil)
            let loan = Loan(self)
            try Thread.start {
                let error = loan.use { $0.takeLock(for: request) }.flatMap { $0 }
                arrival.with { $0 = error.map { .failure($0) } ?? .success(()) }
            }
            let arrived = try patience.during { () throws(RealmError) -> Result<Void, RealmError>? in
                while true {
                    if let result = arrival.wait(milliseconds: patience.milliseconds(atMost: 20), { $0 }) {
                        return result
                    }
                    if takeGranted(at: me, except: request) {
                        cancel(request)
                        return nil
                    }
                    do throws(RealmError) { try patience.test(path) } catch {
                        cancel(request)
                        throw error
                    }
                }
            }
            guard let arrived else { return }
            try arrived.get()
            // Otherwise another thread of this process used the lock first.
            if take(request, at: me) { return }
        }
    }

    /// Takes the lock if it is free; false when another user holds it.
    func takeFreeLock(at me: UInt) throws(RealmError) -> Bool {
        let state = try writer.with { (holder) throws(RealmError) -> (isMine: Bool, isLocked: Bool) in
            switch holder {
            case .free:
                holder = .writing(at: me)
                return (true, false)
            case .granted(let request):
                request.isTaken = true
                holder = .writing(at: me)
                return (true, true)
            case .writing(me): throw Self.alreadyWriting()
            case .writing, .flushing: return (false, false)
            }
        }
        guard state.isMine, !state.isLocked else { return state.isMine }
        guard lockFile?.tryLockForWriting() ?? true else {
            writer.with { $0 = .free }
            return false
        }
        try prepareFiles()
        return true
    }

    /// Takes the lock that was granted to an asynchronous write. It may be a write of the caller itself, which cannot
    /// run before the caller is done.
    private func takeGranted(at me: UInt, except request: LockRequest) -> Bool {
        writer.with { holder in
            guard case .granted(let other) = holder, other !== request else { return false }
            other.isTaken = true
            holder = .writing(at: me)
            return true
        }
    }

    /// Takes the lock that was granted to a request; false when another user took it.
    private func take(_ request: LockRequest, at me: UInt) -> Bool {
        writer.with { holder in
            guard case .granted(let granted) = holder, granted === request else { return false }
            holder = .writing(at: me)
            return true
        }
    }

    /// Passes the write lock of a transaction from one owner to another.
    func moveWriting(from old: UInt, to new: UInt) {
        writer.with { holder in if case .writing(old) = holder { holder = .writing(at: new) } }
    }

    private static func alreadyWriting() -> RealmError {
        RealmError(
            .wrongTransactionState,
            "This thread, queue or actor is in a write transaction of the same file already (through another instance)")
    }

    /// Takes the lock between processes and prepares the files for a write.
    private func lockFiles(for request: LockRequest? = nil) throws(RealmError) {
        do throws(RealmError) {
            if let lockFile, !lockFile.tryLockForWriting() {
                request?.note(.waiting)
                try lockFile.lockForWriting()
                request?.note(.working)
            }
        } catch {
            unlockForWriting()
            throw error
        }
        try prepareFiles()
    }

    /// Prepares the files for a write. The caller holds the lock, which is released after an error.
    private func prepareFiles() throws(RealmError) {
        do {
            try lockFile?.checkNames(identity)
            lockFile?.shared.restoreHead()
            // Two independent signs: a wrong word in the lock file can hide one of them.
            let hasOtherMark = lockFile.map { $0.shared.lastWriter.load() != mark } ?? false
            let others = hasOtherMark || lockFile.map { $0.shared.newest() != lastWritten } ?? false
            // The other writer may have died in the middle of a commit.
            if others { file.headerState = .unknown }
            if hasOtherMark {
                // The other process already completed the group, or its next commit will. A failed commit of this
                // process was withdrawn before the other process wrote; the old bytes must not be restored now, because
                // they may belong to the other process by now, even if it died before any process knew of its commit.
                file.unflushed = nil
                file.unsettled = nil
            }
            file.pages?.beginWrite(others: others)
            try recoverHeader(others)
            try confirmHeader()
            // Only now: if the recovery fails, the next write must try it again.
            if hasOtherMark { lockFile?.shared.lastWriter.store(mark) }
        } catch {
            unlockForWriting()
            throw error
        }
    }

    /// Between the writes of a round, which keep the lock: earlier failures are resolved before the next write begins.
    func settleFailures() throws(RealmError) {
        try checkProcess()
        guard file.unsettled != nil || file.unflushed?.isSuspect == true || lockFile?.shared.isUncertain == true else {
            return
        }
        try recoverHeader(false)
        try confirmHeader()
    }

    func unlockForWriting() {
        lockFile?.unlockForWriting()
        writer.with { $0 = .free }
    }

    // MARK: Asynchronous writes

    /// Takes the lock for a round of asynchronous writes, waiting for other writers. Runs on a thread for which no
    /// caller waits. Also ends when the request is cancelled.
    package func takeLock(for request: LockRequest) -> RealmError? {
        let me = Platform.threadId
        do throws(RealmError) {
            try checkProcess()
            let isWanted = try writer.wait { (holder) throws(RealmError) -> Bool? in
                if request.isCancelled { return false }
                switch holder {
                case .free:
                    holder = .writing(at: 0)
                    return true
                case .writing(me): throw Self.alreadyWriting()
                case .writing, .granted, .flushing: return nil
                }
            }
            guard isWanted else { return nil }
            try lockFiles(for: request)
        } catch { return error }
        let isCancelled = writer.with { holder -> Bool in
            if !request.isCancelled { holder = .granted(request) }
            return request.isCancelled
        }
        if isCancelled { unlockForWriting() }
        return nil
    }

    /// Whether the lock is granted to this request.
    package func isGranted(_ request: LockRequest) -> Bool {
        writer.with { holder in if case .granted(let granted) = holder { granted === request } else { false } }
    }

    /// Whether another write used the lock that was granted to this request.
    package func isTaken(_ request: LockRequest) -> Bool { writer.with { _ in request.isTaken } }

    package func cancel(_ request: LockRequest) {
        let isGranted = writer.with { holder -> Bool in
            request.isCancelled = true
            guard case .granted(let granted) = holder, granted === request else { return false }
            holder = .writing(at: 0)
            return true
        }
        if isGranted { unlockForWriting() }
    }

    func noteFlushing() { writer.with { $0 = .flushing } }

    /// Whether published versions are not on the disk yet. For the writer.
    package var hasUnflushed: Bool { file.unflushed != nil }

    /// Makes the published versions durable, in one flush. For the holder of the write lock.
    package func flush() throws(RealmError) {
        guard file.unflushed != nil else { return }
        try checkProcess()
        lockFile?.shared.unflushed = .suspect
        lockFile?.shared.isUncertain = true
        try file.flushGroup(flushing)
        lockFile?.shared.isUncertain = false
        lockFile?.shared.unflushed = .none
    }

    /// As `flush`; then releases the lock, whatever the result.
    package func flushAndUnlock() -> Result<Void, RealmError> {
        defer { unlockForWriting() }
        do throws(RealmError) { return .success(try flush()) } catch { return .failure(error) }
    }

    /// Before anything is written: withdraws a failed commit that was not withdrawn yet, or throws, so that nothing is
    /// written. Also completes the commit of a writer that died after it wrote the header and before it published the
    /// version, or even before it wrote the header: a complete commit must be valid now, because after the next crash
    /// it would be.
    /// - Parameter others: whether another process has written since this one last did.
    private func recoverHeader(_ others: Bool) throws(RealmError) {
        guard let lockFile, durability != .memoryOnly else { return }
        let (newest, looked) = try newestOfSession()
        var known = looked
        lastWritten = newest
        if let pages = file.pages, !newest.topRef.isNull {
            try pages.withForm { (form) throws(RealmError) in form.expect(UInt64(newest.topRef.offset)) }
            // The form may now read as if another header were in place.
            if looked?.liveTopRef != UInt64(newest.topRef.offset) { known = nil }
        }
        try file.verifyLength(newest.logicalSize)
        if let failed = file.unsettled {
            // Another process may have continued from either state meanwhile.
            if failed.version == newest.number { try file.settle(durability == .full) } else { file.unsettled = nil }
            known = nil
        }
        // Versions that were published before they were flushed: by this process, whose flush failed, or by a process
        // that has died.
        if file.unflushed != nil {
            try flush()
            known = nil
        } else if !file.isEncrypted, lockFile.shared.unflushed != .none {
            try file.selectPublished(
                newest.topRef, logicalSize: newest.logicalSize, version: newest.number,
                isSuspect: lockFile.shared.unflushed == .suspect)
            lockFile.shared.unflushed = .none
            known = nil
        }
        let header = if let known { known } else { try file.readHeader() }
        try file.repair()
        guard header.liveTopRef != UInt64(newest.topRef.offset) else {
            if others, case (let found, let isSelected) = try file.newestState(readOnly: false), !isSelected,
                found.version == newest.number + 1
            {
                lockFile.shared.noteHeader(of: found.version)
                try file.select(found)
                publish(
                    SharedState.Version(number: found.version, topRef: found.topRef, logicalSize: found.logicalSize))
            }
            return
        }
        let state = try file.validate(readOnly: false)
        if state.version == newest.number + 1 {
            publish(SharedState.Version(number: state.version, topRef: state.topRef, logicalSize: state.logicalSize))
        } else if case (let found, let isSelected) = try file.newestState(readOnly: false), !isSelected,
            found.topRef == newest.topRef
        {
            // The first process that opened the file after a crash could not write.
            try file.select(found)
        } else {
            throw RealmError(
                .fileOperationFailed,
                "The content of the Realm file at path '\(path)' was replaced while it was open: close it everywhere and open it again",
                path: path)
        }
    }

    /// Before the first write of a session, and after a commit without a known outcome: writes the header again as the
    /// operating system shows it, and flushes it and the folder entry of the file. A failed flush may have left another
    /// header on the disk, which leads to nodes that this transaction would overwrite.
    private func confirmHeader() throws(RealmError) {
        guard let lockFile, durability == .full, lockFile.shared.isUncertain else { return }
        try file.confirmHeader()
        try FileSystem.synchronizeFolder(of: path)
        lockFile.shared.isUncertain = false
    }

    /// Called on close: flushes the header that this process wrote, so that engines without commit records find the
    /// newest snapshot. When another process holds the write lock, its commit will do so.
    ///
    /// A failure is not reported, because no promise is broken. But `isUncertain` stays set: the operating system may
    /// now treat the header as flushed, and two commits later the disk would lead to nodes that are overwritten.
    func flushHeader(_ lockFile: LockFile) {
        guard file.headerState == .written, lockFile.tryLockForWriting() else { return }
        defer { lockFile.unlockForWriting() }
        guard !lockFile.shared.isUncertain else { return }
        lockFile.shared.isUncertain = true
        if (try? file.flushHeader()) != nil { lockFile.shared.isUncertain = false }
    }

    /// The committed bytes of the slab, for a write transaction.
    func takeSlab() -> Int { slabCommitted }

    func returnSlab(_ committed: Int) { slabCommitted = committed }

    /// Versions that readers hold, in order: those below `base`, the version from which the writer started.
    func pinnedVersions(below base: UInt64) -> [UInt64] {
        guard let lockFile else { return [] }
        return lockFile.shared.pinnedVersions(below: base) { lockFile.isDead($0) }
    }

    /// The oldest pin of a version; nil when the program was already warned of it. For the holder of the write lock.
    func firstWarning(of version: UInt64) -> SharedState.Mark? {
        guard let lockFile,
            let mark = lockFile.shared.marks(isDead: { lockFile.isDead($0) }).first(where: { $0.version == version }),
            mark != warnedOf
        else { return nil }
        warnedOf = mark
        return mark
    }

    /// Throws unless the lock file contains the pin of the writer's base version: otherwise the lock file does not show
    /// reliably which space readers use.
    func verifySession(_ pin: Pin?) throws(RealmError) {
        try verifyWhole()
        if let pin, pin.isIntact {
            // The write lock is held, so no other process has published anything.
            if let lockFile, lockFile.shared.newest() != pin.state { publish(pin.state) }
            return
        }
        throw RealmError(
            .brokenInvariant,
            "The lock file is damaged: another program wrote into it. Close every Realm of the file, and open it again",
            path: path)
    }

    /// Makes a commit the newest version: flushes, selects, publishes. Steps: docs/commit-and-locking.md.
    /// - Parameters: as for `DatabaseFile.commit`.
    func publish(
        _ result: WrittenCommit, onto base: CommitRecord, recordAt: Int, flushing isFlushed: Bool
    ) throws(RealmError) -> SharedState.Version {
        // If a map lost pages, the bytes written so far may have been made from zeros, or the writer may have missed a
        // reader that uses their space.
        try verifyWhole()
        if !isFlushed, durability == .full, !file.isEncrypted {
            try file.addToGroup(result, onto: base, recordAt: recordAt)
            lockFile?.shared.unflushed = .published
        } else if durability != .memoryOnly {
            try flush()
            lockFile?.shared.isUncertain = true
            lockFile?.shared.noteHeader(of: result.version)
            try file.commit(result, onto: base, recordAt: recordAt, flushing: flushing)
            lockFile?.shared.isUncertain = false
        }
        file.pages?.noteOwn(result.version)
        recent.add(result.version, result.content?.extents)
        let new = SharedState.Version(number: result.version, topRef: result.topRef, logicalSize: result.logicalSize)
        publish(new)
        return new
    }

    var flushing: Flushing {
        switch durability {
        case .full: flushesTwice.with { $0 } ? .twice : .once
        case .memoryOnly, .unsafe: .never
        }
    }
}

/// A queued request for the write lock.
// The variables are guarded by the monitor of the database's writer.
package final class LockRequest: @unchecked Sendable {
    fileprivate(set) var isCancelled = false

    /// Another write used the lock that was granted to this request.
    fileprivate(set) var isTaken = false

    /// What the thread does that takes the lock. After its work it does not use the database any more. `waiting`: for
    /// another process, which may take any time.
    package enum Progress { case working, waiting, ended }

    private let progress = Monitor(Progress.working)

    package init() {}

    package func note(_ new: Progress) { progress.with { $0 = new } }

    /// Waits for the end of the thread, but not for another process that has the lock.
    package func awaitEnd() { _ = progress.wait(milliseconds: 2000) { $0 == .working ? nil : true } }
}
