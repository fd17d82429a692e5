import Synchronization

/// The state of a frozen Realm, in place of a transaction: a pinned version, and a reader of that version for each
/// thread that has used the Realm.
///
/// Promise
/// 1. A thread finds its reader with a few loads and without waiting. Only its first call takes a lock, to make the
///    reader.
/// 2. Data that two threads share does not change while they read: cursors and opened collections belong to one reader.
/// 3. `end`, on any thread, closes the readers that are not in use. Each of the others is closed by its own thread when
///    that thread leaves. The version stays pinned until the last reader is closed.
///
/// When a thread ends, its reader stays for the next thread that gets the same number. The end of the Realm closes all
/// readers.
final class FrozenReaders: Sendable {
    /// One thread's view of the version.
    // Only the thread uses `transaction` and what comes from it. Other threads see only the atomic members.
    final class Reader: @unchecked Sendable {
        let thread: UInt
        let transaction: Transaction

        /// The number of nested calls of the thread that are inside.
        let visits = Atomic(0)
        private let hasEnded = Atomic(false)

        /// The most recently used collections, newest first. Their handles cannot keep them, because all threads share
        /// the handles.
        private var opened: [(path: CollectionPath, content: CollectionContent)] = []
        private static let mostOpened = 4

        fileprivate init(_ pin: Pin, _ interruption: Interruption) throws(RealmError) {
            thread = Platform.threadId
            transaction = try Transaction(reading: pin)
            transaction.interruption = interruption
        }

        func collection(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
            if let first = opened.first, first.path == path { return first.content }
            if let index = opened.firstIndex(where: { $0.path == path }) {
                let known = opened.remove(at: index)
                opened.insert(known, at: 0)
                return known.content
            }
            guard let content = try transaction.group.resolve(path) else { return nil }
            if opened.count == Self.mostOpened { opened.removeLast() }
            opened.insert((path, content), at: 0)
            return content
        }

        /// A table that the reader has opened before, without counting references; nil otherwise.
        @inline(__always) func openTable(_ key: TableKey) -> Unmanaged<Table>? {
            Unmanaged.passUnretained(transaction)._withUnsafeGuaranteedRef { transaction in
                guard transaction.stage == .reading else { return nil }
                return Unmanaged.passUnretained(transaction.group)._withUnsafeGuaranteedRef { $0.openTable(key) }
            }
        }

        /// Called when no call is inside and none can enter any more.
        func end() {
            guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
            opened = []
            transaction.close()
        }
    }

    /// A hash map from threads to readers. An entry is two words: the thread number, 0 in a free entry, and the reader.
    /// Entries never change and are never removed.
    private final class Map: @unchecked Sendable {  // The words are atomic.
        private let words: UnsafeMutablePointer<Atomic<UInt>>
        private let mask: Int

        /// - Parameter room: the capacity, a power of two; at most half of it is used.
        init(room: Int) {
            mask = room - 1
            words = .allocate(capacity: room * 2)
            for i in 0..<room * 2 { (words + i).initialize(to: Atomic(0)) }
        }

        deinit { words.deallocate() }
        var room: Int { mask + 1 }

        private func place(_ thread: UInt) -> Int {
            Int(truncatingIfNeeded: (UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        }

        func find(_ thread: UInt) -> Unmanaged<Reader>? {
            var i = place(thread)
            while case let known = words[i * 2].load(ordering: .acquiring), known != 0 {
                if known == thread {
                    return UnsafeRawPointer(bitPattern: words[i * 2 + 1].load(ordering: .relaxed)).map {
                        Unmanaged<Reader>.fromOpaque($0)
                    }
                }
                i = (i + 1) & mask
            }
            return nil
        }

        func add(_ reader: Reader) {
            var i = place(reader.thread)
            while words[i * 2].load(ordering: .relaxed) != 0 { i = (i + 1) & mask }
            words[i * 2 + 1].store(UInt(bitPattern: Unmanaged.passUnretained(reader).toOpaque()), ordering: .relaxed)
            words[i * 2].store(reader.thread, ordering: .releasing)
        }
    }

    private let interruption: Interruption

    private struct Kept {
        /// nil once the Realm is closed.
        var pin: Pin?
        var readers: [Reader] = []

        /// The smaller maps stay, because threads may still read them.
        var maps: [Map]
    }

    let version: UInt64
    private let kept: Lock<Kept>

    /// The last map in `Kept.maps`.
    private let map: Atomic<Unmanaged<Map>>

    init(_ pin: Pin, _ interruption: Interruption) {
        self.interruption = interruption
        version = pin.version
        let first = Map(room: 16)
        map = Atomic(.passUnretained(first))
        kept = Lock(initial: Kept(pin: pin, maps: [first]))
    }

    /// The pin, for another frozen Realm; nil when this Realm is closed.
    var pin: Pin? { kept.with { $0.pin } }

    /// The calling thread's reader; nil when the thread has none.
    @inline(__always) var own: Unmanaged<Reader>? {
        map.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.find(Platform.threadId) }
    }

    /// Makes a reader for the calling thread and counts the caller as inside it. Returns false when the Realm is
    /// closed.
    func makeOwn() throws(RealmError) -> Bool {
        try kept.with { (state) throws(RealmError) in
            guard let pin = state.pin else { return false }
            let new = try Reader(pin, interruption)
            new.visits.store(1, ordering: .relaxed)
            state.readers.append(new)
            guard let last = state.maps.last else { return false }
            if state.readers.count * 2 > last.room {
                let larger = Map(room: last.room * 2)
                for reader in state.readers { larger.add(reader) }
                state.maps.append(larger)
                map.store(.passUnretained(larger), ordering: .releasing)
            } else {
                last.add(new)
            }
            return true
        }
    }

    /// Closes the readers that are not in use. Later calls find the Realm closed.
    func end() {
        let isSeen = Platform.fenceAllThreads(), me = Platform.threadId
        let (pin, idle) = kept.with { state in
            defer { state.pin = nil }
            return (
                state.pin,
                state.readers.filter { (isSeen || $0.thread == me) && $0.visits.load(ordering: .acquiring) == 0 }
            )
        }
        for reader in idle { reader.end() }
        withExtendedLifetime(pin) {}
    }
}

/// The scheduler of frozen Realms: every thread is the right one, and no work is ever queued.
final class FrozenScheduler: EngineScheduler {
    private let version: UInt64

    init(_ version: UInt64) { self.version = version }
    var isOnThread: Bool { true }

    func isSame(as other: any Scheduler) -> Bool { (other as? FrozenScheduler)?.version == version }
    var canDeliver: Bool { false }

    func post(_ work: @escaping @Sendable () -> Void) {}
}

extension Realm {
    /// Whether the Realm never changes and can be read on any thread.
    public var isFrozen: Bool { frozen != nil }

    /// Returns this Realm frozen at the version that it reads, for reading on many threads at once. Inside a write
    /// transaction it is the version before the transaction. Freezing copies nothing, and its cost does not grow with
    /// the file. The file keeps the version until the frozen Realm and everything that came from it is released, or
    /// until the frozen Realm is closed.
    ///
    /// Freezing a cached Realm twice at one version gives the same instance. A frozen Realm never changes: writing
    /// throws 2005, and `refresh` returns false.
    public func freeze() throws(RealmError) -> Realm {
        try inside { () throws(RealmError) -> Realm in
            let pin = frozen == nil ? try reading().pin : frozen?.pin
            guard let pin, try pin.keep() else { throw closedError() }
            return RealmCoordinator.register(frozen: try Realm(freezing: self, pin))
        }
    }
}
