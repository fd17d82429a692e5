import Synchronization

/// When each page was last touched: the part of `DecryptedPages` that every translation of a ref looks at. Trivial;
/// valid while they are.
struct PageTimes {
    fileprivate let touched: UnsafeMutablePointer<Atomic<UInt64>>
    fileprivate let isSealed: Bool

    @inline(__always) var pageSize: Int { isSealed ? SealedForm.payload : 4096 }

    /// The page of a data position ≥ 0.
    @inline(__always) func page(_ at: Int) -> Int {
        isSealed ? Int(bitPattern: UInt(bitPattern: at) / UInt(bitPattern: SealedForm.payload)) : at >> 12
    }

    /// Whether page `page` can be read by the reader with `mark`.
    @inline(__always) func isGood(_ page: Int, _ mark: UInt64) -> Bool {
        touched[page].load(ordering: .acquiring) >= mark
    }
}

/// The decrypted pages of an encrypted file, where a map would show a plain one: accessors read them in place.
///
/// A page is decrypted when it is first touched. `touched[p]` is the epoch of the last touch that was looked at, 0 when
/// the page is not in memory. Each reader has a mark, the epoch at which it moved to its snapshot; a page touched at or
/// after the mark is good for it, which is one load and one comparison (`isGood`). All else happens under the lock.
///
/// Invariants
/// 1. A page touched since the mark of some reader stays: that reader may hold pointers into it.
/// 2. A page that a reachable snapshot needs is never written (`PageForm`), so it can be decrypted again at any time,
///    with the same bytes.
/// 3. After a commit of another process every page is compared by its stamp before it is used at the new version.
/// 4. Pages of the commit in progress stay until they are encrypted, and until the commit writes no more: it may come
///    back to one.
///
/// Memory: beyond `budget`, pages that no reader has touched since it moved are dropped, the longest untouched first,
/// whenever a reader moves. Thread rule: any; writing is the write-lock holder's.
final class DecryptedPages: @unchecked Sendable {  // Mutable state is behind `lock`, or atomic, or the writer's.

    /// One user of the pages, with its own snapshot.
    final class Reader: @unchecked Sendable {  // `mark` is read and changed under the lock of the pages.
        fileprivate var mark = UInt64.max

        fileprivate init() {}
    }

    private struct State {
        var epoch: UInt64 = 1

        /// Pages touched before this may be of a version that others have overwritten.
        var foreign: UInt64 = 0

        /// The newest version that this process has moved to or written.
        var seen: UInt64 = 0

        /// Bytes of the address space that are memory.
        var committed = 0
        var readers: [ObjectIdentifier: Reader] = [:]
        var resident = 0

        /// Resident pages at which to look for some to drop, and the epoch of the last look.
        var threshold: Int
        var lastLook: UInt64 = 0

        /// What was touched since then was held at the last look.
        var heldFrom = UInt64.max
        var highest = 0

        /// Resident pages when large pages were last asked for.
        var collapsed = 0
        var lastLoaded = -2
    }

    let form: any PageForm
    let pageSize: Int
    let times: PageTimes
    private let base: UnsafeMutableRawPointer
    private let space: AddressSpace
    private let table: PageTable
    private let touched: UnsafeMutablePointer<Atomic<UInt64>>
    private let stamps: UnsafeMutablePointer<UInt64>
    private let lock: Lock<State>
    private let budget: Int

    /// The file may be damaged: every page is looked at before it is used, and none is taken for one that nobody needs.
    private let isDamaged: Bool

    /// The run of pages being written: filled in memory, not yet encrypted.
    private var run = 0..<0
    private var writeEpoch: UInt64 = 0

    /// Pages that the commit in progress has written.
    private var written = 0

    /// `writeEpoch` while a commit has pages in memory that it may come back to. Only its pages were touched in that
    /// epoch.
    private var keepFrom = UInt64.max

    /// Decrypted bytes kept although nobody uses them.
    static let defaultBudget = min(256 << 20, Platform.physicalMemory / 16)

    init(_ form: any PageForm, _ space: AddressSpace, budget: Int = 0, isDamaged: Bool = false) throws(RealmError) {
        self.form = form
        self.isDamaged = isDamaged
        self.space = space
        base = space.base
        pageSize = form.pageSize
        table = try PageTable(pages: space.fileCapacity / form.pageSize + 1)
        touched = table.base.assumingMemoryBound(to: Atomic<UInt64>.self)
        times = PageTimes(touched: touched, isSealed: form.pageSize == SealedForm.payload)
        stamps = (table.base + table.pages * 8).assumingMemoryBound(to: UInt64.self)
        self.budget = max((budget > 0 ? budget : Self.defaultBudget) / form.pageSize, 16)
        lock = Lock(initial: State(threshold: self.budget))
    }

    // MARK: Readers

    func addReader() -> Reader {
        let reader = Reader()
        lock.with { $0.readers[ObjectIdentifier(reader)] = reader }
        return reader
    }

    func remove(_ reader: Reader) {
        lock.with { state in
            state.readers.removeValue(forKey: ObjectIdentifier(reader))
            look(&state, after: reader.mark)
        }
    }

    /// The reader moves to the snapshot of `version` and holds no pointer any more. When another process made that
    /// version, all that is in memory is compared before it is used again: in one step with the move, or a second
    /// reader could be faster than the comparison.
    /// - Parameter topRef: where that snapshot has its top array; 0: unknown.
    /// - Returns: its new mark.
    func move(_ reader: Reader, to version: UInt64, topRef: UInt64 = 0) -> UInt64 {
        lock.with { state in
            state.epoch += 1
            reader.mark = state.epoch
            if version > state.seen {
                state.seen = version
                suspect(&state)
                if topRef != 0 { form.expect(topRef) }
            }
            look(&state, after: .max)
            return state.epoch
        }
    }

    /// This process is about to publish `version`.
    func noteOwn(_ version: UInt64) { lock.with { $0.seen = max($0.seen, version) } }

    /// What is in memory may be older than the file. Not during a commit of this process.
    func distrust() {
        lock.with { state in
            state.epoch += 1
            suspect(&state)
        }
    }

    private func suspect(_ state: inout State) {
        state.foreign = state.epoch
        form.forget()
    }

    /// Bytes `[0, size)` of the address space are memory now.
    func noteCommitted(_ size: Int) { lock.with { $0.committed = size } }

    /// The reader holds no pointer and has no snapshot.
    func rest(_ reader: Reader) {
        lock.with { state in
            let mark = reader.mark
            reader.mark = .max
            look(&state, after: mark)
        }
    }

    /// Drops pages when there are many: more than at the last look, some time after it, or when the reader goes that
    /// held the most.
    /// - Parameter mark: that of a reader that goes.
    private func look(_ state: inout State, after mark: UInt64) {
        if state.resident > budget,
            state.resident > state.threshold || state.epoch - state.lastLook >= 64 || mark <= state.heldFrom
        {
            drop(&state)
        }
    }

    /// Pages touched before it are nobody's.
    private func unheldBefore(_ state: State) -> UInt64 {
        var limit = min(state.epoch, keepFrom)
        for reader in state.readers.values { limit = min(limit, reader.mark) }
        return limit
    }

    private func drop(_ state: inout State) {
        let limit = unheldBefore(state)
        // First those that nobody touched since the last look; when that leaves too many, all that nobody can hold.
        for oldest in [min(limit, state.lastLook), limit] {
            if state.resident > budget / 2 { dropTouched(before: oldest, &state) }
        }
        state.lastLook = state.epoch
        state.collapsed = min(state.collapsed, state.resident)
        state.heldFrom = limit
        state.threshold = max(budget, state.resident + state.resident / 4)
    }

    private func dropTouched(before limit: UInt64, _ state: inout State) {
        var page = 0
        while page <= state.highest {
            let first = page
            while page <= state.highest, case let time = touched[page].load(ordering: .relaxed), time > 0, time < limit
            {
                touched[page].store(0, ordering: .relaxed)
                page += 1
            }
            if page > first {
                state.resident -= page - first
                discard(first..<page)
            } else {
                page += 1
            }
        }
    }

    /// Gives the memory of dropped pages back. A page of the system at either end goes when nothing else that lies in
    /// it is in memory.
    private func discard(_ dropped: Range<Int>) {
        let unit = Platform.pageSize
        var from = dropped.lowerBound * pageSize, to = dropped.upperBound * pageSize
        let start = from / unit * unit, end = Format.roundUp(to, to: unit)
        from = isAbsent(start, from) ? start : start + unit
        to = isAbsent(to, end) ? end : end - unit
        space.discardMemory(from: from, to: to)
    }

    /// Whether no page in bytes `[from, to)` is in memory.
    private func isAbsent(_ from: Int, _ to: Int) -> Bool {
        guard to > from else { return true }
        for page in times.page(from)...min(times.page(to - 1), table.pages - 1)
        where touched[page].load(ordering: .relaxed) != 0 { return false }
        return true
    }

    /// Drops what only `reader` has touched; it holds no pointer now. For walks over a whole file.
    func dropAll(_ reader: Reader) -> UInt64 {
        lock.with { state in
            state.epoch += 1
            reader.mark = state.epoch
            if state.readers.count == 1, run.isEmpty, keepFrom == .max, table.clear() {
                dropEverything(&state)
            } else {
                dropTouched(before: unheldBefore(state), &state)
            }
            return state.epoch
        }
    }

    /// The address space no longer holds what was decrypted. Nobody has a snapshot.
    func forgetAll() {
        lock.with { state in
            for page in 0...state.highest { touched[page].store(0, ordering: .relaxed) }
            (state.resident, state.highest, state.lastLoaded, state.committed) = (0, 0, -2, 0)
        }
    }

    private func dropEverything(_ state: inout State) {
        space.discardMemory(from: 0, to: Format.roundUp((state.highest + 1) * pageSize, to: Platform.pageSize))
        (state.resident, state.highest, state.lastLoaded) = (0, 0, -2)
        try? form.release()
    }

    // MARK: Reading

    /// Makes pages `[p, last]` readable for the reader with `mark`.
    @inline(never) func load(_ first: Int, through last: Int, _ mark: UInt64) throws(RealmError) {
        for page in first...max(first, last) where !times.isGood(page, mark) { try load(page) }
    }

    @inline(never) func load(_ page: Int) throws(RealmError) {
        try lock.with { (state) throws(RealmError) in
            let time = touched[page].load(ordering: .relaxed)
            // What the commit in progress has put there is not in the file yet, and keeps its mark.
            if time == keepFrom { return }
            var isStale = time == 0
            if !isStale, time < state.foreign { isStale = try form.stamp(of: page) != stamps[page] }
            if isStale {
                stamps[page] = try form.read(page, into: base + page * pageSize)
                if time == 0 { state.resident += 1 }
                state.highest = max(state.highest, page)
                readAhead(page, &state)
            }
            touched[page].store(state.epoch, ordering: .releasing)
        }
    }

    /// Makes all pages of data `[0, size)` readable for the reader at `mark`, when they are to stay in memory anyway
    /// and few of them are missing: from then on a ref is translated as in a plain file. `looks`: how often pages were
    /// looked at one by one so far.
    func makeAllReadable(_ size: Int, looks: Int) -> Bool {
        if isDamaged { return false }
        return lock.with { state in
            let pages = times.page(max(size, 1) - 1) + 1
            guard pages <= budget, pages * pageSize <= state.committed else { return false }
            var missing: [Int] = []
            // To decrypt a page takes as long as some hundred looks.
            let most = max(pages / 64, looks / 256)
            for page in 0..<pages {
                let time = touched[page].load(ordering: .relaxed)
                guard time == 0 || (time < state.foreign && time != keepFrom) else { continue }
                guard let stamp = try? form.stamp(of: page) else { return false }
                if stamp == 0 || (time != 0 && stamp == stamps[page]) { continue }
                missing.append(page)
                guard missing.count <= most else { return false }
            }
            for page in missing {
                guard let read = try? form.read(page, into: base + page * pageSize) else { return false }
                stamps[page] = read
                if touched[page].load(ordering: .relaxed) == 0 { state.resident += 1 }
                state.highest = max(state.highest, page)
                touched[page].store(state.epoch, ordering: .releasing)
            }
            if pages * pageSize > 16 << 20, state.resident > state.collapsed + state.collapsed / 4 {
                // Scans run over memory as they do over a map of a file in large pieces.
                space.preferLargePages(from: 0, to: pages * pageSize, filled: true)
                state.collapsed = state.resident
            }
            for page in 0..<pages {
                // Pages of a commit in progress keep its mark; no snapshot needs them.
                if case let time = touched[page].load(ordering: .relaxed), time != 0, time != keepFrom {
                    touched[page].store(state.epoch, ordering: .releasing)
                }
            }
            return true
        }
    }

    /// Decrypts the neighbours of a page when pages are being read in order. What cannot be read is left alone.
    private func readAhead(_ page: Int, _ state: inout State) {
        defer { state.lastLoaded = page }
        guard state.lastLoaded == page - 1, let pageCount = try? form.pageCount else { return }
        // The file may have grown beyond what this process has memory for.
        for next in stride(from: page + 1, to: min(page + 8, pageCount, state.committed / pageSize), by: 1) {
            guard touched[next].load(ordering: .relaxed) == 0, !run.contains(next),
                let stamp = try? form.stamp(of: next), stamp != 0,
                let read = try? form.read(next, into: base + next * pageSize)
            else { return }
            stamps[next] = read
            touched[next].store(1, ordering: .releasing)
            state.resident += 1
            state.highest = max(state.highest, next)
            state.lastLoaded = next
        }
    }

    // MARK: Writing

    /// A commit begins. `others`: another process has written since this one last did.
    func beginWrite(others: Bool) {
        lock.with { state in
            state.epoch += 1
            written = 0
            run = 0..<0
            keepFrom = .max
            if others { suspect(&state) }
        }
    }

    /// Bytes for pages that no reachable snapshot needs. They are on disk after `finish`.
    func write(_ from: UnsafeRawPointer, count: Int, at: Int) throws(RealmError) {
        guard count > 0 else { return }
        let first = times.page(at), last = times.page(at + count - 1)
        try lock.with { (state) throws(RealmError) in
            if first < run.lowerBound || first > run.upperBound {
                try encryptRun()
                run = first..<first
            }
            if keepFrom == .max {
                // An epoch of its own: nothing that a reader touches before or after is taken for a page of the commit.
                writeEpoch = state.epoch + 1
                keepFrom = writeEpoch
                state.epoch += 2
            }
            for page in max(first, run.upperBound)...max(last, run.upperBound) where page <= last {
                written += 1
                // A large commit fills its memory from end to end.
                if written > 1024, page * pageSize % AddressSpace.largePage < pageSize {
                    let from = Format.roundUp(page * pageSize, to: AddressSpace.largePage)
                    if touched[page + 1].load(ordering: .relaxed) == 0 {
                        space.preferLargePages(
                            from: from, to: min(from + AddressSpace.largePage, state.committed), filled: false)
                    }
                }
                let time = touched[page].load(ordering: .relaxed)
                if time == 0 { state.resident += 1 }
                // A page of this commit that is written to again keeps what it has.
                if time != writeEpoch { Platform.zero(base + page * pageSize, pageSize) }
                touched[page].store(writeEpoch, ordering: .relaxed)
                state.highest = max(state.highest, page)
            }
            run = run.lowerBound..<max(run.upperBound, last + 1)
            Platform.copy(base + at, from, count)
            // All but the last page are complete when the writer goes forward.
            if run.count > 64 {
                let end = last
                try form.write(
                    run.lowerBound, end - run.lowerBound, from: base + run.lowerBound * pageSize,
                    stamps: stamps + run.lowerBound)
                run = end..<run.upperBound
            }
        }
    }

    /// Encrypts what was written so far and gives its memory back, but for the last page, to which more may be added.
    /// For copies, which are written forward and read by nobody yet.
    func settle() throws(RealmError) {
        try lock.with { (state) throws(RealmError) in
            guard state.readers.isEmpty, !run.isEmpty else { return }
            let last = run.upperBound - 1
            try encryptRun()
            try form.release()
            guard table.clear() else { return }
            touched[last].store(writeEpoch, ordering: .relaxed)
            space.discardMemory(from: 0, to: last * pageSize / Platform.pageSize * Platform.pageSize)
            (state.resident, state.highest) = (1, last)
        }
    }

    private func encryptRun() throws(RealmError) {
        guard !run.isEmpty else { return }
        try form.write(
            run.lowerBound, run.count, from: base + run.lowerBound * pageSize, stamps: stamps + run.lowerBound)
        run = 0..<0
    }

    /// Encrypts what is left of the commit, and what must be on disk before `header` is: `PageForm.prepare`.
    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool {
        try lock.with { (_) throws(RealmError) in
            try encryptRun()
            keepFrom = .max
            return try form.prepare(header, logicalSize: logicalSize, announcing: announcing)
        }
    }

    func commit() throws(RealmError) { try lock.with { (_) throws(RealmError) in try form.commit() } }

    /// A commit failed: the file may hold parts of it.
    func abandonWrite() {
        lock.with { state in
            run = 0..<0
            keepFrom = .max
            state.epoch += 1
            suspect(&state)
        }
    }

    var residentBytes: Int { lock.with { $0.resident } * pageSize }

    /// Makes the form's calls that need the lock.
    func withForm<R>(_ body: (any PageForm) throws(RealmError) -> R) throws(RealmError) -> R {
        try lock.with { (_) throws(RealmError) in try body(form) }
    }
}
