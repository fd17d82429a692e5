/// The write lock, within the process and between processes, and what must be right before anything is written.
extension Database {
    /// Takes the write lock, waiting for other writers.
    /// - Parameter me: the place that writes, which must not hold the lock already: it would wait for itself.
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

    /// The same, for as long as the caller has patience. A thread of the library waits in the kernel's queue in its
    /// place: when the caller gives up and the lock is another process's, that thread stays until it comes, and passes
    /// it on.
    func lockForWriting(_ patience: Patience, at me: UInt) throws(RealmError) {
        guard patience.isLimited else { return try lockForWriting(at: me) }
        try checkProcess()
        while try !takeFreeLock(at: me) {
            // Who has no time does not start to wait.
            try patience.during { () throws(RealmError) in try patience.test(path) }
            let request = LockRequest(), arrival = Monitor<Result<Void, RealmError>?>(nil)
            try Thread.start { [self] in
                let error = takeLock(for: request)
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
            // Else another thread of this process wrote with it first.
            if take(request, at: me) { return }
        }
    }

    /// Takes the lock if it is free; false: somebody else has it.
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

    /// Takes the lock that waits for an asynchronous write: maybe one of the caller's own, which has its turn only when
    /// the caller is done.
    private func takeGranted(at me: UInt, except request: LockRequest) -> Bool {
        writer.with { holder in
            guard case .granted(let other) = holder, other !== request else { return false }
            other.isTaken = true
            holder = .writing(at: me)
            return true
        }
    }

    /// Takes the lock that was granted to a request; false when it went elsewhere.
    private func take(_ request: LockRequest, at me: UInt) -> Bool {
        writer.with { holder in
            guard case .granted(let granted) = holder, granted === request else { return false }
            holder = .writing(at: me)
            return true
        }
    }

    /// The transaction that writes at one place goes on at another.
    func moveWriting(from old: UInt, to new: UInt) {
        writer.with { holder in if case .writing(old) = holder { holder = .writing(at: new) } }
    }

    private static func alreadyWriting() -> RealmError {
        RealmError(
            .wrongTransactionState,
            "This thread, queue or actor is in a write transaction of the same file already (through another instance)")
    }

    /// The half of the lock that other processes see, and what must be right before anything is written.
    private func lockFiles() throws(RealmError) {
        do throws(RealmError) { try lockFile?.lockForWriting() } catch {
            unlockForWriting()
            throw error
        }
        try prepareFiles()
    }

    /// With the lock, which goes again after an error: what must be right before anything is written.
    private func prepareFiles() throws(RealmError) {
        do {
            try lockFile?.checkNames(identity)
            lockFile?.shared.restoreHead()
            // Two signs, of which a foreign word can hide one.
            let hasOtherMark = lockFile.map { $0.shared.lastWriter.load() != mark } ?? false
            let others = hasOtherMark || lockFile.map { $0.shared.newest() != lastWritten } ?? false
            // Whoever it was may have died in the middle of a commit.
            if others { file.headerState = .unknown }
            if hasOtherMark {
                // They have seen to it, or will be asked to. A commit of this process that failed without being taken
                // back was settled before they wrote: what it would put back may be theirs by now, also when they died
                // before anybody heard of their commit.
                file.unflushed = nil
                file.unsettled = nil
            }
            file.pages?.beginWrite(others: others)
            try recoverHeader(others)
            try confirmHeader()
            // Only now: while the recovery fails, it is due again.
            if hasOtherMark { lockFile?.shared.lastWriter.store(mark) }
        } catch {
            unlockForWriting()
            throw error
        }
    }

    /// The same between the writes of a round, which keep the lock: what failed since the last one is seen to before
    /// the next one begins.
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

    /// Takes the lock for a round, waiting for other writers; on a thread that nobody waits for. Ends, too, when the
    /// request is cancelled.
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
            try lockFiles()
        } catch { return error }
        let isCancelled = writer.with { holder -> Bool in
            if !request.isCancelled { holder = .granted(request) }
            return request.isCancelled
        }
        if isCancelled { unlockForWriting() }
        return nil
    }

    /// Whether the lock waits for this request.
    package func isGranted(_ request: LockRequest) -> Bool {
        writer.with { holder in if case .granted(let granted) = holder { granted === request } else { false } }
    }

    /// Whether somebody else wrote with the lock that was meant for this request.
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

    /// Whether versions were published that are not on the disk. The writer's.
    package var hasUnflushed: Bool { file.unflushed != nil }

    /// Puts published versions on the disk, in one piece. The holder of the write lock.
    package func flush() throws(RealmError) {
        guard file.unflushed != nil else { return }
        try checkProcess()
        lockFile?.shared.unflushed = .suspect
        lockFile?.shared.isUncertain = true
        try file.flushGroup(flushing)
        lockFile?.shared.isUncertain = false
        lockFile?.shared.unflushed = .none
    }

    /// As `flush`; then the lock is free, whatever came of it.
    package func flushAndUnlock() -> Result<Void, RealmError> {
        defer { unlockForWriting() }
        do throws(RealmError) { return .success(try flush()) } catch { return .failure(error) }
    }

    /// Before anything is written: a commit that failed without being taken back is taken back now, or nothing is
    /// written. And a writer may have died after it wrote the header and before it published the version, or even
    /// before it wrote the header: what is whole counts now, or it would only after the next crash.
    /// - Parameter others: another process has written since this one last did.
    private func recoverHeader(_ others: Bool) throws(RealmError) {
        guard let lockFile, durability != .memoryOnly else { return }
        let (newest, looked) = try newestOfSession()
        var known = looked
        lastWritten = newest
        if let pages = file.pages, !newest.topRef.isNull {
            try pages.withForm { (form) throws(RealmError) in form.expect(UInt64(newest.topRef.offset)) }
            // It may read as if another header were in place now.
            if looked?.liveTopRef != UInt64(newest.topRef.offset) { known = nil }
        }
        try file.verifyLength(newest.logicalSize)
        if let failed = file.unsettled {
            // Another process may have gone on from either state meanwhile.
            if failed.version == newest.number { try file.settle(durability == .full) } else { file.unsettled = nil }
            known = nil
        }
        // Versions that were published before they were flushed: by this process, whose flush failed, or by one that
        // has died.
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
            // The first to open it after a crash could not write.
            try file.select(found)
        } else {
            throw RealmError(
                .fileOperationFailed,
                "The content of the Realm file at path '\(path)' was replaced while it was open: close it everywhere and open it again",
                path: path)
        }
    }

    /// Before the first write of a session, and after a commit that did not end: what the system shows of the header,
    /// and the file's name, is put on the disk. A flush that failed may have left something else there, which leads to
    /// nodes that this transaction would write over.
    private func confirmHeader() throws(RealmError) {
        guard let lockFile, durability == .full, lockFile.shared.isUncertain else { return }
        try file.confirmHeader()
        try FileSystem.synchronizeFolder(of: path)
        lockFile.shared.isUncertain = false
    }

    /// Whoever wrote the header goes: what engines without commit records find is the newest snapshot. Where somebody
    /// writes now, his commit sees to that.
    ///
    /// A failure is told to nobody, because nothing that was promised is lost. But it leaves the mark: the system may
    /// take the header for flushed now, and two commits later the disk would lead to nodes that are written over.
    func flushHeader(_ lockFile: LockFile) {
        guard file.headerState == .written, lockFile.tryLockForWriting() else { return }
        defer { lockFile.unlockForWriting() }
        guard !lockFile.shared.isUncertain else { return }
        lockFile.shared.isUncertain = true
        if (try? file.flushHeader()) != nil { lockFile.shared.isUncertain = false }
    }

    /// Hands the slab to a write transaction.
    func takeSlab() -> Int { slabCommitted }

    func returnSlab(_ committed: Int) { slabCommitted = committed }

    /// Versions below `base`, the one the writer started from, that readers hold, in order.
    func pinnedVersions(below base: UInt64) -> [UInt64] {
        guard let lockFile else { return [] }
        return lockFile.shared.pinnedVersions(below: base) { lockFile.isDead($0) }
    }

    /// The oldest pin of a version, the first time that the holder of the write lock asks for it.
    func firstWarning(of version: UInt64) -> SharedState.Mark? {
        guard let lockFile,
            let mark = lockFile.shared.marks(isDead: { lockFile.isDead($0) }).first(where: { $0.version == version }),
            mark != warnedOf
        else { return nil }
        warnedOf = mark
        return mark
    }

    /// Throws unless the writer, with a pin of the version it builds upon, finds its pin in the lock file: else nothing
    /// that stands there says which space readers use.
    func verifySession(_ pin: Pin?) throws(RealmError) {
        try verifyWhole()
        if let pin, pin.isIntact {
            // The write lock is held, so nobody else has published anything.
            if let lockFile, lockFile.shared.newest() != pin.state { publish(pin.state) }
            return
        }
        throw RealmError(
            .brokenInvariant,
            "The lock file is damaged: another program wrote into it. Close every Realm of the file, and open it again",
            path: path)
    }

    /// Makes a commit the newest version: flushes, selects, publishes. Steps: docs/commit-and-locking.md.
    /// - Parameters: as of `DatabaseFile.commit`.
    func publish(
        _ result: CommitWriter.Result, onto base: CommitRecord, recordAt: Int, flushing isFlushed: Bool
    ) throws(RealmError) -> SharedState.Version {
        // What lies in the file by now may have been made from zeros, or lie where a reader that was not seen looks.
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

/// A wish for the write lock that somebody waits for in a queue.
package final class LockRequest: @unchecked Sendable {  // Both are under the monitor of the database's writer.
    fileprivate(set) var isCancelled = false

    /// Somebody else wrote with the lock that was meant for it.
    fileprivate(set) var isTaken = false

    package init() {}
}
