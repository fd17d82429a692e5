/// The steps by which a commit makes the file shorter. The rules: docs/commit-and-locking.md, "A file that shrinks".
extension Transaction {
    /// Moves nodes from the end of the file into the slab, if the file is to shrink, and keeps the end free.
    /// - Returns: what the commit does for it; nil when the file does not shrink.
    func shrink(_ roots: inout [Ref], _ free: inout FreeSpace, isPinned: Bool) throws(RealmError) -> Shrinking.Plan? {
        let file = database.file
        guard file.unflushed == nil, !topRef.isNull, shrinkingStep != nil || shrinkingPolicy.freePercent < 100,
            let plan = database.shrinking.plan(
                free, logicalSize: logicalSize, pageSize: file.pageSize,
                shrinkingStep == nil ? shrinkingPolicy : .now, isPinned: isPinned, step: shrinkingStep)
        else { return nil }
        if plan.budget > 0 {
            var mover = TailMover(store, cutoff: plan.cutoff, budget: plan.budget, from: database.shrinking.position)
            roots = mover.move(roots)
            if let failure = mover.failure, mover.isFatal { throw failure }
            database.shrinking.note(mover, logicalSize: logicalSize)
            movedBytes += mover.movedBytes
        }
        free.withhold(from: plan.cutoff)
        return plan
    }

    /// Shrinks the file as far as it can be shrunk now. A file with little free space stays as it is: the commits that
    /// move its nodes would need as much.
    /// - Parameter commit: makes a commit without changes.
    package func shrinkNow(_ commit: () throws(RealmError) -> Void) throws(RealmError) {
        defer { shrinkingStep = nil }
        try store.during(.copying) { () throws(RealmError) in
            let first = try fileSize(), usage = try usage()
            let free = max(Int(usage.total - usage.used), first - logicalSize)
            guard free >= max(Self.leastFreeNow, first / 32) else { return }
            // The space that a commit frees is usable two commits later, and the end of the file is cut off one later.
            // The number of commits is limited: one walk through all nodes that gains nothing must be the last.
            // A commit needs room for what it moves before the old place is free, so in short files it moves little.
            let step = min(max(logicalSize / 16, 256 << 10), Self.greatestStepNow)
            shrinkingStep = step
            let most = Self.idleCommits + 2 * (logicalSize / step + 1)
            var idle = 0, fruitless = 0, smallest = Int.max
            while idle < Self.idleCommits, fruitless < most {
                let before = (size: try fileSize(), logical: logicalSize)
                movedBytes = 0
                try commit()
                let size = try fileSize()
                idle = movedBytes == 0 && size == before.size && logicalSize == before.logical ? idle + 1 : 0
                fruitless = size + logicalSize < smallest ? 0 : fruitless + 1
                smallest = min(smallest, size + logicalSize)
                try store.testAfterLongWork(max(0, first - size), of: first)
            }
        }
    }

    private static let greatestStepNow = 8 << 20
    private static let idleCommits = 4
    private static let leastFreeNow = 16 << 10

    /// The present size of the file in bytes.
    package func fileSize() throws(RealmError) -> Int { try database.file.file.size() }

    /// Cuts off the part of the file behind the end of every version that may be needed: the base of this commit, the
    /// version before it, to which the header on the disk may lead, and those that readers hold. No version uses that
    /// part, but each of them must lie completely in the file.
    ///
    /// An encrypted file is cut only after a commit of this process, whose header is on the disk: in Realm's form the
    /// copies of page 0, which are at the end, may be needed until then.
    func cutEnd() throws(RealmError) {
        guard shrinkingStep != nil || shrinkingPolicy.freePercent < 100 else { return }
        let file = database.file
        let size = try file.physicalSize(), gain = ShrinkingPolicy.now.leastGain
        guard size - logicalSize >= gain, !topRef.isNull, version > 1, file.unflushed == nil,
            file.unsettled == nil, file.pages == nil || file.headerState != .unknown,
            let shared = database.lockFile?.shared, let before = shared.entry(version - 1)
        else { return }
        var needed = max(logicalSize, before.logicalSize)
        let pinned = database.pinnedVersions(below: version).filter { $0 != before.number }
        if !pinned.isEmpty {
            try file.ensureMapped(size)
            let tops = shared.tops(of: pinned)
            for number in pinned {
                guard let top = tops[number], let fields = try? file.topFields(top, physicalSize: size),
                    fields.version == number
                else { return }
                needed = max(needed, fields.logicalSize)
            }
        }
        guard size - needed >= gain else { return }
        try file.cut(to: size - database.shrinking.cut(of: size - needed, isAtOnce: shrinkingStep != nil))
    }
}
