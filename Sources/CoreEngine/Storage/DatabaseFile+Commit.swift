/// How often a commit waits for the disk.
enum Flushing {
    case never, once, twice
}

/// Selects the newest snapshot: makes a new one the newest, withdraws it after an error, and finds the newest one after
/// a crash. The order of the steps and the reasons: docs/commit-and-locking.md.
///
/// Thread rule: only for the holder of the write lock; `newestState` also while no process writes.
extension DatabaseFile {
    /// Whether the header that is in the file is also on the disk.
    enum HeaderState {
        case onDisk
        /// This process wrote it and has not flushed since.
        case written
        /// Perhaps another process wrote it, and a failed flush may have kept it from the disk: it is written again
        /// before the next flush.
        case unknown
    }

    /// A commit that failed and could not be withdrawn yet.
    struct Withdrawal {
        /// The header before the commit, and the version it leads to.
        var header: FileHeader
        var version: UInt64

        /// The record behind that version's top array, and its place; 0: none.
        var record: CommitRecord
        var recordAt: Int
    }

    // MARK: Commit

    /// Makes `result` the newest snapshot. When this returns, it is and stays the newest one. When it throws, the
    /// previous snapshot is and stays the newest one, except after `commitOutcomeUnknown`.
    /// - Parameters:
    ///   - base: the record behind the base snapshot, in its form that names no next commit.
    ///   - recordAt: the place of this record. 0 if the base snapshot has no record: the commit then takes two flushes.
    func commit(_ result: WrittenCommit, onto base: CommitRecord, recordAt: Int, flushing: Flushing)
        throws(RealmError)
    {
        let old = try readHeader(again: false)
        var isDecisive = false
        do throws(RealmError) {
            try makeNewest(
                result, onto: base, recordAt: recordAt, from: old, flushing: flushing, isDecisive: &isDecisive)
        } catch {
            guard isDecisive else {
                // The slot that is not selected is never read.
                try? writeHeader(old)
                throw error
            }
            unsettled = Withdrawal(header: old, version: base.baseVersion, record: base, recordAt: recordAt)
            do throws(RealmError) { try settle(flushing != .never) } catch let second {
                throw RealmError(
                    .commitOutcomeUnknown,
                    "The commit failed (\(error.message)), and it could not be taken back "
                        + "(\(second.message)): whether it will be there after the file "
                        + "was opened anew is unknown", path: path)
            }
            throw error
        }
    }

    /// The steps of a commit, up to the first error.
    /// - Parameter isDecisive: set before the first step after which a crash may leave the new snapshot as the newest
    ///   one.
    private func makeNewest(
        _ result: WrittenCommit, onto base: CommitRecord, recordAt: Int, from old: FileHeader, flushing: Flushing,
        isDecisive: inout Bool
    ) throws(RealmError) {
        let new = old.selecting(UInt64(result.topRef.offset), format: Format.currentVersion)
        if headerState == .unknown, flushing != .never { try rewriteHeader(old) }
        if let pages {
            isDecisive = true
            let isEnough = try pages.prepare(new, logicalSize: result.logicalSize, announcing: flushing != .never)
            if flushing != .never { try file.synchronizeData() }
            try pages.commit()
            if flushing == .twice || (flushing == .once && !isEnough) { try file.synchronizeData() }
            headerState = flushing == .once && isEnough ? .written : .onDisk
        } else if flushing == .once, recordAt != 0, let content = result.content {
            var record = base
            record.describe(top: result.topRef, extents: content.extents, content: content.checksum)
            isDecisive = true
            try write(record, at: recordAt)
            try file.synchronizeData()
            headerState = .written
            try writeHeader(new)
        } else if flushing != .never {
            // Removes what an earlier attempt may have left there.
            if recordAt != 0 { try write(base, at: recordAt) }
            // Until the present header is flushed, the disk may have an older header, which selects the slot that is
            // written now.
            if headerState != .onDisk { try file.synchronizeData() }
            headerState = .onDisk
            var unselected = new
            unselected.flags = old.flags
            try writeHeader(unselected)
            try file.synchronizeData()
            isDecisive = true
            try writeFlags(new.flags)
            try file.synchronizeData()
        } else {
            isDecisive = true
            try writeHeader(new)
        }
    }

    /// Withdraws a failed commit permanently: after that, a crash leaves nothing that leads to it.
    func settle(_ durable: Bool = true) throws(RealmError) {
        guard let withdrawal = unsettled else { return }
        headerState = .unknown
        if let pages {
            pages.abandonWrite()
            try pages.withForm { (form) throws(RealmError) in try form.withdraw(withdrawal.header) }
        } else {
            // One byte withdraws the commit. The rest is restored only after it is on the disk, because the rest may
            // reach the disk in any order.
            try writeFlags(withdrawal.header.flags)
            if durable { try file.synchronizeData() }
            try writeHeader(withdrawal.header)
            if withdrawal.recordAt != 0 { try write(withdrawal.record, at: withdrawal.recordAt) }
        }
        if durable {
            try file.synchronizeData()
            headerState = .onDisk
        }
        unsettled = nil
    }

    // MARK: Groups

    /// Commits that were published one after the other, and are flushed together.
    struct UnflushedGroup {
        /// The base snapshot of the first commit. Until the group is flushed, the header on the disk may lead to this
        /// snapshot or to the previous one.
        let base: CommitRecord
        let recordAt: Int
        let header: FileHeader
        var newest: WrittenCommit

        /// The places where the commits were written; nil when a record cannot hold them.
        var extents: [FileChunk]?

        /// A flush failed: the operating system may have dropped written pages.
        var isSuspect = false
    }

    /// The versions that readers hold, and the version before the base of the group: the header on the disk may lead
    /// to it. Until the group is flushed, no space is allocated that this version or a later one needs.
    func heldBack(beside pinned: [UInt64]) -> [UInt64] {
        guard let base = unflushed?.base.baseVersion else { return pinned }
        return Array(Set(pinned + [base - min(base, 1)])).sorted()
    }

    /// Adds a commit that will be flushed with the group.
    func addToGroup(_ result: WrittenCommit, onto base: CommitRecord, recordAt: Int) throws(RealmError) {
        var group =
            if let unflushed { unflushed } else {
                UnflushedGroup(
                    base: base, recordAt: recordAt, header: try readHeader(again: false), newest: result, extents: [])
            }
        group.newest = result
        group.extents = result.content.flatMap { new in group.extents.flatMap { CommitRecord.joined($0, new.extents) } }
        unflushed = group
    }

    /// Makes the newest version of the group durable, as if the group were one commit. It cannot be withdrawn, because
    /// other users have seen it. After an error the flush is tried again before anything else is written; until then it
    /// is unknown whether the version survives a crash.
    func flushGroup(_ flushing: Flushing) throws(RealmError) {
        guard var group = unflushed else { return }
        do throws(RealmError) {
            if group.isSuspect {
                try selectPublished(
                    group.newest.topRef, logicalSize: group.newest.logicalSize, version: group.newest.version,
                    isSuspect: true)
            } else {
                group.isSuspect = true
                unflushed = group
                var result = group.newest
                result.content = nil
                if let extents = group.extents { result.content = (try checksum(of: extents), extents) }
                var isDecisive = false
                try makeNewest(
                    result, onto: group.base, recordAt: group.recordAt, from: group.header, flushing: flushing,
                    isDecisive: &isDecisive)
            }
            unflushed = nil
        } catch {
            headerState = .unknown
            throw RealmError(
                .commitOutcomeUnknown,
                "Commits that are visible could not be put on the disk "
                    + "(\(error.message)): whether they will be there after the file was opened anew is "
                    + "unknown. The next write transaction tries again", path: path)
        }
    }

    private func checksum(of extents: [FileChunk]) throws(RealmError) -> Checksum {
        let content = Checksum()
        let memory = try HiddenMemory(CommitRecord.contentLimit)
        defer { withExtendedLifetime(memory) {} }
        for extent in extents {
            guard try file.read(into: memory.base, count: extent.size, at: extent.offset) == extent.size else {
                throw lost()
            }
            content.add(memory.base, extent.size)
        }
        return content
    }

    /// Makes the header lead to a version that was published but not flushed by its writer. For the holder of the write
    /// lock.
    /// - Parameter isSuspect: whether a flush may have failed, so that the disk may differ from what the operating
    ///   system shows: then the file is written again.
    func selectPublished(_ topRef: Ref, logicalSize: Int, version: UInt64, isSuspect: Bool) throws(RealmError) {
        guard try topFields(topRef, physicalSize: try dataSize()).version == version else {
            throw invalid("the lock file contradicts it")
        }
        if isSuspect { try file.rewrite(0, count: logicalSize) }
        try file.synchronizeData()
        let header = try readHeader()
        if header.liveTopRef != UInt64(topRef.offset) {
            try writeHeader(header.selecting(UInt64(topRef.offset), format: Format.currentVersion), from: header)
        }
        try file.synchronizeData()
        headerState = .onDisk
    }

    /// Writes a header that selects the other slot. In plain files the slot is on the disk before the bit that selects
    /// it: the file may have been written with two flushes, which rely on single bytes only.
    private func writeHeader(_ new: FileHeader, from old: FileHeader) throws(RealmError) {
        guard pages == nil else { return try writeHeader(new) }
        var unselected = new
        unselected.flags = old.flags
        try writeHeader(unselected)
        try file.synchronizeData()
        try writeFlags(new.flags)
    }

    /// Flushes a header that this process wrote. Only while no other process writes: a failed flush may drop what is
    /// being written.
    func flushHeader() throws(RealmError) {
        try file.synchronizeData()
        headerState = .onDisk
    }

    /// Writes again and flushes everything that leads to the newest state, as the operating system shows it. Called
    /// before anything else is written.
    func confirmHeader() throws(RealmError) {
        if let pages {
            try pages.withForm { (form) throws(RealmError) in try form.rewriteFront() }
        } else {
            try file.rewrite(0, count: Format.headerSize)
        }
        try file.synchronizeData()
        headerState = .onDisk
    }

    private func rewriteHeader(_ header: FileHeader) throws(RealmError) {
        if let pages {
            try pages.withForm { (form) throws(RealmError) in try form.rewriteHeader() }
        } else {
            try writeHeader(header)
        }
    }

    // MARK: After a crash

    /// The newest snapshot that is completely on the disk, and whether the header leads to it.
    func newestState(readOnly: Bool) throws(RealmError) -> (state: State, isSelected: Bool) {
        if let pages {
            let isSelected = try pages.withForm { (form) throws(RealmError) in try form.findSuccessor() == nil }
            return (try validate(readOnly: readOnly), isSelected)
        }
        var state: State
        var isSelected = true
        do throws(RealmError) { state = try validate(readOnly: readOnly) } catch {
            guard error.code == .invalidDatabase,
                let other = try RealmError.unlessDamaged({ () throws(RealmError) in try beforeTornHeader() })
            else {
                throw error
            }
            state = other
            isSelected = false
        }
        // At most two commits are ahead of the header; no crash leaves a longer chain.
        for _ in 0..<4 {
            guard let next = try successor(of: state) else { break }
            state = next
            isSelected = false
        }
        return (state, isSelected)
    }

    /// Makes the header lead to a state found by `newestState`. Only while no other process has the file open.
    func select(_ state: State) throws(RealmError) {
        // The state may never have been flushed, and a failed flush may have kept it from the disk permanently: it is
        // written again.
        if let pages {
            try pages.withForm { (form) throws(RealmError) in try form.rewriteSuccessor() }
        } else {
            for chunk in state.ahead { try file.rewrite(chunk.offset, count: chunk.size) }
        }
        try file.synchronizeData()
        if let pages {
            try pages.withForm { (form) throws(RealmError) in try form.adoptSuccessor() }
        } else {
            var header = try readHeader()
            if try RealmError.unlessDamaged({ () throws(RealmError) in try examine(header, readOnly: false) }) == nil {
                header.flags ^= 1
                try writeFlags(header.flags)
                try file.synchronizeData()
            }
            guard header.liveTopRef != UInt64(state.topRef.offset) else { return }
            try writeHeader(header.selecting(UInt64(state.topRef.offset), format: state.format), from: header)
        }
        try file.synchronizeData()
        headerState = .onDisk
    }

    /// The commit that the record behind a snapshot describes, if it is complete.
    private func successor(of state: State) throws(RealmError) -> State? {
        guard !state.isStreaming, let (record, at) = try record(behind: state.topRef, physicalSize: state.physicalSize),
            record.baseTop == state.topRef, record.baseVersion == state.version,
            try record.isComplete({ (to, count, at) throws(RealmError) in try file.read(into: to, count: count, at: at)
            }),
            let fields = try RealmError.unlessDamaged({ () throws(RealmError) in
                try topFields(record.top, physicalSize: state.physicalSize)
            }),
            fields.version > state.version
        else { return nil }
        var next = state
        next.topRef = record.top
        next.format = Format.currentVersion
        next.take(fields)
        next.ahead += record.extents + [FileChunk(offset: at, size: CommitRecord.size)]
        return next
    }

    /// The place of the record behind a top array. Before the first commit it is behind the header.
    func recordPlace(behind top: Ref, _ store: NodeStore) throws(RealmError) -> Int {
        top.isNull ? Format.headerSize : top.offset + (try store.node(top)).size
    }

    /// Whether this engine wrote the snapshot: in plain files it leaves a record behind it.
    func hasRecord(behind state: State) throws(RealmError) -> Bool {
        state.isStreaming ? false : try record(behind: state.topRef, physicalSize: state.physicalSize) != nil
    }

    private func record(behind top: Ref, physicalSize: Int) throws(RealmError) -> (CommitRecord, at: Int)? {
        let at = top.isNull ? Format.headerSize : top.offset + (try nodeSize(top, physicalSize: physicalSize))
        guard at + CommitRecord.size <= physicalSize else { return nil }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: CommitRecord.size, alignment: 8)
        defer { bytes.deallocate() }
        guard try file.read(into: bytes, count: CommitRecord.size, at: at) == CommitRecord.size else { return nil }
        return CommitRecord(bytes).map { ($0, at) }
    }

    /// The state of the slot that is not live. Used when a crash tore the header, so that the live slot leads to no top
    /// array. The state is valid if the record behind its top array describes a complete commit. Such a record always
    /// exists if the header was written after one flush. A truncated file has no such commit, and is refused.
    private func beforeTornHeader() throws(RealmError) -> State? {
        var header = try readHeader()
        guard header.hasMnemonic, !header.isStreaming else { return nil }
        header.flags ^= 1
        let state = try examine(header, readOnly: true)
        return try successor(of: state) == nil ? nil : state
    }

    // MARK: Bytes

    private func write(_ record: CommitRecord, at offset: Int) throws(RealmError) {
        var bytes = [UInt8](repeating: 0, count: CommitRecord.size)
        bytes.withUnsafeMutableBytes { record.encode(into: $0.start) }
        try write(bytes, at: offset)
    }

    private func writeFlags(_ flags: UInt8) throws(RealmError) { try write([flags], at: 23) }

    func writeHeader(_ header: FileHeader) throws(RealmError) {
        var bytes = [UInt8](repeating: 0, count: Format.headerSize)
        bytes.withUnsafeMutableBytes { header.encode(into: $0.start) }
        try write(bytes, at: 0)
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(RealmError) {
        try bytes.withBytes { (raw) throws(RealmError) in
            if let start = raw.baseAddress { try write(start, count: raw.count, at: offset) }
        }
    }

    /// Makes `header` the header of a file that no other process has open: first it is written without the new `flags`,
    /// then the flags are written.
    func put(_ header: FileHeader, flipped flags: UInt8, logicalSize: Int, durable: Bool) throws(RealmError) {
        if let pages {
            var header = header
            header.flags = flags
            _ = try pages.prepare(header, logicalSize: logicalSize, announcing: false)
            if durable { try file.synchronizeData() }
            try pages.commit()
        } else {
            try writeHeader(header)
            if durable { try file.synchronizeData() }
            try writeFlags(flags)
        }
        if durable { try file.synchronizeData() }
        headerState = durable ? .onDisk : .unknown
    }

    /// Makes `topRef` the live top array of a new file.
    func select(topRef: Ref, logicalSize: Int, durable: Bool, format: UInt8) throws(RealmError) {
        let old = try readHeader(again: false)
        var header = old.selecting(UInt64(topRef.offset), format: format)
        let flags = header.flags
        header.flags = old.flags
        try put(header, flipped: flags, logicalSize: logicalSize, durable: durable)
        guard pages == nil else { return }
        // Written to both slots: a reader that finds a header torn by a later commit would take an empty slot for an
        // empty database.
        header.flags = flags
        header.topRefs = (header.liveTopRef, header.liveTopRef)
        header.formats = (format, format)
        try writeHeader(header)
        if durable { try file.synchronizeData() }
    }
}
