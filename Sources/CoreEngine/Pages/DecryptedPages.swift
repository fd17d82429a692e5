import Synchronization

/// The time of the last touch of each page: the part of `DecryptedPages` that every translation of a ref reads.
/// Trivial; valid as long as the pages are.
struct PageTimes {
    fileprivate let touched: UnsafeMutablePointer<Atomic<UInt64>>
    fileprivate let isSealed: Bool

    @inline(__always) var pageSize: Int { isSealed ? SealedForm.payload : 4096 }

    /// The page that contains data position `at`, which must be ≥ 0.
    @inline(__always) func page(_ at: Int) -> Int {
        isSealed ? Int(bitPattern: UInt(bitPattern: at) / UInt(bitPattern: SealedForm.payload)) : at >> 12
    }

    /// Whether the reader with `mark` can read `page`.
    @inline(__always) func isGood(_ page: Int, _ mark: UInt64) -> Bool {
        touched[page].load(ordering: .acquiring) >= mark
    }
}

/// The decrypted pages of an encrypted file, at the addresses where a plain file is mapped: accessors read them in
/// place.
///
/// A page is decrypted when it is first touched. `touched[page]` is the epoch of the last touch that took the slow
/// path, 0 when the page is not in memory. Each reader has a mark, the epoch at which it moved to its snapshot. A page
/// touched at or after the mark is valid for the reader; this check is one load and one comparison (`isGood`). All
/// other operations run under the lock.
///
/// Invariants
/// 1. A page touched since the mark of a reader stays in memory: that reader may hold pointers into it.
/// 2. A page that a reachable snapshot needs is never written (`PageForm`), so it can be decrypted again at any time,
///    with the same bytes.
/// 3. After a commit of another process, the stamp of each page is compared before the page is used at the new version.
/// 4. Pages of the commit in progress stay in memory until they are encrypted and the commit has written its last byte:
///    it may write to a page again.
///
/// Memory: beyond `budget`, pages that no reader has touched since it moved are dropped whenever a reader moves, the
/// least recently touched first. Thread rule: any; only the holder of the write lock writes.
final class DecryptedPages: @unchecked Sendable {  // Mutable state is behind `lock`, or atomic, or the writer's.

    /// One user of the pages, with its own snapshot.
    final class Reader: @unchecked Sendable {  // The lock of the pages guards `mark`.
        fileprivate var mark = UInt64.max

        fileprivate init() {}
    }

    private struct State {
        var epoch: UInt64 = 1

        /// Pages touched before this epoch may hold bytes that another process has replaced in the file since.
        var foreign: UInt64 = 0

        /// The newest version that this process has moved to or written.
        var seen: UInt64 = 0

        /// Bytes of the address space that are committed memory.
        var committed = 0
        var readers: [ObjectIdentifier: Reader] = [:]
        var resident = 0

        /// The number of resident pages above which pages are dropped, and the epoch of the last drop.
        var threshold: Int
        var lastLook: UInt64 = 0

        /// At the last drop, pages touched since this epoch were held by readers.
        var heldFrom = UInt64.max
        var highest = 0

        /// Number of resident pages when large pages were last requested.
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

    /// The file may be damaged: every page is checked before it is used, and no page counts as unneeded.
    private let isDamaged: Bool

    /// The run of pages that is being written: filled in memory, not yet encrypted.
    private var run = 0..<0
    private var writeEpoch: UInt64 = 0

    /// Pages that the commit in progress has written.
    private var written = 0

    /// `writeEpoch` while a commit has pages in memory to which it may write again; otherwise the maximum. Only pages
    /// of the commit were touched in that epoch.
    private var keepFrom = UInt64.max

    /// Bytes of decrypted pages that are kept although no reader uses them.
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

    /// The reader moves to the snapshot of `version` and no longer holds a pointer. When another process made that
    /// version, all pages in memory are compared before they are used again. Both happen in one step: otherwise a
    /// second reader could use a page before it is compared.
    /// - Parameter topRef: the top ref of that snapshot; 0: unknown.
    /// - Returns: the new mark of the reader.
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

    /// Pages in memory may be older than the file. Not during a commit of this process.
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

    /// Bytes `[0, size)` of the address space are committed memory now.
    func noteCommitted(_ size: Int) { lock.with { $0.committed = size } }

    /// The reader no longer holds a pointer or a snapshot.
    func rest(_ reader: Reader) {
        lock.with { state in
            let mark = reader.mark
            reader.mark = .max
            look(&state, after: mark)
        }
    }

    /// Drops pages when more than `budget` are in memory and one of these conditions holds: a quarter more pages are in
    /// memory than after the last drop; 64 epochs have passed since the last drop; a reader leaves whose mark kept
    /// pages in memory at the last drop.
    /// - Parameter mark: the mark of the reader that leaves; the maximum if no reader leaves.
    private func look(_ state: inout State, after mark: UInt64) {
        if state.resident > budget,
            state.resident > state.threshold || state.epoch - state.lastLook >= 64 || mark <= state.heldFrom
        {
            drop(&state)
        }
    }

    /// Returns an epoch: no reader holds a page that was last touched before that epoch.
    private func unheldBefore(_ state: State) -> UInt64 {
        var limit = min(state.epoch, keepFrom)
        for reader in state.readers.values { limit = min(limit, reader.mark) }
        return limit
    }

    private func drop(_ state: inout State) {
        let limit = unheldBefore(state)
        // First those that no reader touched since the last drop; if too many remain, all that no reader can hold.
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

    /// Releases the memory of dropped pages. A page of the operating system at either end is released only when it
    /// contains no other page that is in memory.
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

    /// Drops the pages that only `reader` has touched; it no longer holds a pointer. For walks over a whole file.
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

    /// The address space no longer contains the decrypted pages. No transaction has a snapshot.
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

    /// Makes pages `first` to `last` readable for the reader with `mark`.
    @inline(never) func load(_ first: Int, through last: Int, _ mark: UInt64) throws(RealmError) {
        for page in first...max(first, last) where !times.isGood(page, mark) { try load(page) }
    }

    @inline(never) func load(_ page: Int) throws(RealmError) {
        try lock.with { (state) throws(RealmError) in
            let time = touched[page].load(ordering: .relaxed)
            // Pages of the commit in progress are not in the file yet, and keep their epoch.
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

    /// Makes all pages of data `[0, size)` readable for the reader at `mark`, if all of them may stay in memory and few
    /// are missing. From then on a ref is translated as in a plain file.
    /// - Parameter looks: how often single pages were checked so far.
    func makeAllReadable(_ size: Int, looks: Int) -> Bool {
        if isDamaged { return false }
        return lock.with { state in
            let pages = times.page(max(size, 1) - 1) + 1
            guard pages <= budget, pages * pageSize <= state.committed else { return false }
            var missing: [Int] = []
            // Decrypting a page takes as long as some hundred checks.
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
                // Scans are as fast as over the map of a plain file when the memory is in large pages.
                space.preferLargePages(from: 0, to: pages * pageSize, filled: true)
                state.collapsed = state.resident
            }
            for page in 0..<pages {
                // Pages of a commit in progress keep its epoch; no snapshot needs them.
                if case let time = touched[page].load(ordering: .relaxed), time != 0, time != keepFrom {
                    touched[page].store(state.epoch, ordering: .releasing)
                }
            }
            return true
        }
    }

    /// Decrypts the next pages when pages are being read in order. Pages that cannot be read are skipped.
    private func readAhead(_ page: Int, _ state: inout State) {
        defer { state.lastLoaded = page }
        guard state.lastLoaded == page - 1, let pageCount = try? form.pageCount else { return }
        // The file may have grown beyond the memory that this process has committed.
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

    /// A commit begins.
    /// - Parameter others: whether another process has written since the last commit of this process.
    func beginWrite(others: Bool) {
        lock.with { state in
            state.epoch += 1
            written = 0
            run = 0..<0
            keepFrom = .max
            if others { suspect(&state) }
        }
    }

    /// Writes data to pages that no reachable snapshot needs. They are encrypted and written to the file by `prepare`
    /// at the latest.
    func write(_ from: UnsafeRawPointer, count: Int, at: Int) throws(RealmError) {
        guard count > 0 else { return }
        let first = times.page(at), last = times.page(at + count - 1)
        try lock.with { (state) throws(RealmError) in
            if first < run.lowerBound || first > run.upperBound {
                try encryptRun()
                run = first..<first
            }
            if keepFrom == .max {
                // A separate epoch: no page that a reader touches before or after counts as a page of the commit.
                writeEpoch = state.epoch + 1
                keepFrom = writeEpoch
                state.epoch += 2
            }
            for page in max(first, run.upperBound)...max(last, run.upperBound) where page <= last {
                written += 1
                // A large commit fills its memory from the start to the end.
                if written > 1024, page * pageSize % AddressSpace.largePage < pageSize {
                    let from = Format.roundUp(page * pageSize, to: AddressSpace.largePage)
                    if touched[page + 1].load(ordering: .relaxed) == 0 {
                        space.preferLargePages(
                            from: from, to: min(from + AddressSpace.largePage, state.committed), filled: false)
                    }
                }
                let time = touched[page].load(ordering: .relaxed)
                if time == 0 { state.resident += 1 }
                // A page of this commit that is written to again keeps its content.
                if time != writeEpoch { CMemory.zero(base + page * pageSize, pageSize) }
                touched[page].store(writeEpoch, ordering: .relaxed)
                state.highest = max(state.highest, page)
            }
            run = run.lowerBound..<max(run.upperBound, last + 1)
            CMemory.copy(base + at, from, count)
            // While the writer goes forward, all pages but the last are complete.
            if run.count > 64 {
                let end = last
                try form.write(
                    run.lowerBound, end - run.lowerBound, from: base + run.lowerBound * pageSize,
                    stamps: stamps + run.lowerBound)
                run = end..<run.upperBound
            }
        }
    }

    /// Encrypts what was written so far and releases its memory, except for the last page, to which more may be added.
    /// For copies, which are written from the start to the end and have no readers yet.
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

    /// Encrypts the rest of the commit and writes everything that must be on disk before `header`: `PageForm.prepare`.
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

    /// Calls functions of the form that need the lock.
    func withForm<R>(_ body: (any PageForm) throws(RealmError) -> R) throws(RealmError) -> R {
        try lock.with { (_) throws(RealmError) in try body(form) }
    }
}
