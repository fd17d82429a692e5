/// The state that the processes of one session share: a small map of the lock file. Format: storage §5.6 B.
///
///     0     init_complete = 1            4096   reader slots, one word each
///     6     shared_info_version (ours)              owner << 48 | version, 0 = free
///     8     layout version               20480  the same slots again
///     24    latest version, again        36864  for each slot: process << 32 | thread,
///     32    the bell: latest version << 8               microseconds since 1970 << 12 | low bits of the version
///           | number of calls
///     40    mark of the database that last held the write lock
///     48    version whose header is being written; 56 again
///     64    ring of 64 published versions: version, top ref, logical size, check
///     2112  number of slots ever claimed (those behind are free); 2176 again
///     2120  1 while header and folder on the disk may differ from what the operating system shows; 2184 again
///     2128  1 while published versions are not flushed, 2 from before their flush until it succeeded; 2192 again
///
/// Why readers need no lock. A reader stores the latest version in its slot and then reads `latest` again. If the
/// version changed, the reader tries again with the newer one. If it did not change, the writer of the second commit
/// after it (the first commit that could reuse space of the version) will see the slot, because that writer reads the
/// slots after the first commit was published. A ring entry is overwritten 64 versions later, so an entry read between
/// two equal values of `latest` is complete. A writer that dies between filling an entry and publishing it has
/// published nothing; one that dies after it wrote the file's header is completed by the next writer
/// (`Database.recoverHeader`).
///
/// The bell. Listeners of all processes sleep while the word with the latest version is unchanged. A commit adds one to
/// the version and wakes the listeners in one step of the kernel: a writer that is killed has done both or neither.
/// (Exception: in one commit of 16 million the half of the word that the kernel compares overflows. If the writer of
/// that commit is killed between the two steps, the next commit wakes the listeners.) A *call* changes the low byte, to
/// wake the listener of this process for another reason.
///
/// No word is trusted. Any program that may write the file may write any word of it at any time.
/// - Which member is the first, which file the session is about, and which durability it has: locks decide, never a
///   word (`LockFile`).
/// - The newest version is stored twice. Its ring entry has a check word, and both are compared with the file
///   (`Database+Session.swift`).
/// - Pins and marks are stored twice, and count when either copy has them: if one word is lost, the space is still held
///   back. Space that a wrong word holds back is released with the member whose number it has, or with the session.
/// - Facts about pins that are only for people are not checked.
struct SharedState {
    static let magicVersion: UInt16 = 0xC8EA
    static let layoutVersion: UInt64 = 7
    static let slotCount = 2048
    private static let slotsStart = 4096
    private static let copiesStart = slotsStart + slotCount * 8
    private static let factsStart = copiesStart + slotCount * 8
    private static let topsStart = factsStart + slotCount * 16
    static let size = topsStart + slotCount * 8
    private static let ringSize: UInt64 = 64

    let memory: SharedMemory

    /// Identifies this member in reader slots (1 … 65535).
    var owner: UInt64 = 0
    private let process = UInt64(UInt32(bitPattern: Platform.processId))

    init(_ memory: SharedMemory) { self.memory = memory }

    private func word(_ offset: Int) -> SharedWord { SharedWord(memory.base + offset) }
    private var newestAgain: SharedWord { word(24) }
    private var bell: SharedWord { word(32) }

    /// The mark of the database that wrote last: a number that each open database draws at random.
    var lastWriter: SharedWord { word(40) }

    /// A value that is stored twice: a wrong word in one place leaves the other.
    private struct Twin {
        let first, second: SharedWord
        var greater: UInt64 { max(first.load(), second.load()) }

        func store(_ value: UInt64) {
            first.store(value)
            second.store(value)
        }
    }

    private func twin(_ first: Int, _ second: Int) -> Twin { Twin(first: word(first), second: word(second)) }

    /// Whether the header on the disk may not be the one that the operating system shows: a commit is in progress or
    /// ended without a known outcome, or this session has not flushed the header yet. Then the header is written again
    /// and flushed before anything else is written (`Database.confirmHeader`).
    var isUncertain: Bool {
        get { twin(2120, 2184).greater != 0 }
        nonmutating set { twin(2120, 2184).store(newValue ? 1 : 0) }
    }

    /// Whether published versions are on the disk.
    enum Unflushed: UInt64 {
        case none = 0, published
        /// A flush began, and is not known to have succeeded: the operating system may have dropped written pages.
        case suspect
    }

    var unflushed: Unflushed {
        get { Unflushed(rawValue: twin(2128, 2192).greater) ?? .suspect }
        nonmutating set { twin(2128, 2192).store(newValue.rawValue) }
    }

    /// Notes that the header leads to `version`, or is about to, and that the version is not published yet; 0: no
    /// header is being written.
    func noteHeader(of version: UInt64) { twin(48, 56).store(version) }

    func isHeaderNoted(of version: UInt64) -> Bool { word(48).load() == version || word(56).load() == version }

    private var claimed: Twin { twin(2112, 2176) }

    /// Slots that may be in use.
    private var claimedSlots: Range<Int> { 0..<Int(min(claimed.greater, UInt64(Self.slotCount))) }

    private func slot(_ i: Int) -> SharedWord { word(Self.slotsStart + i * 8) }

    private func copy(_ i: Int) -> SharedWord { word(Self.copiesStart + i * 8) }

    // MARK: The session

    /// The first bytes, by which other engines and other versions of this library recognise the file.
    static var head: [UInt8] {
        var head = [UInt8](repeating: 0, count: 16)
        head[0] = 1
        head[6] = UInt8(magicVersion & 0xFF)
        head[7] = UInt8(magicVersion >> 8)
        head[8] = UInt8(layoutVersion)
        return head
    }

    /// Repairs the first bytes. Only for a member: while it is one, no other process writes the whole file again.
    func restoreHead() {
        let head = Self.head
        for at in [0, 8] {
            let wanted = head[at..<at + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if word(at).load() != wanted { word(at).store(wanted) }
        }
    }

    /// Clears everything that an earlier session left. Only for the first member, under the control lock.
    func begin() {
        for at in stride(from: 16, to: Self.size, by: 8) where word(at).load() != 0 { word(at).store(0) }
    }

    // MARK: Versions

    struct Version: Sendable, Equatable {
        var number: UInt64
        var topRef: Ref
        var logicalSize: Int

        /// Distinguishes a valid entry of the ring from one that another program overwrote.
        fileprivate var check: UInt64 {
            var hash: UInt64 = 0x2545_F491_4F6C_DD1D
            for part in [number, UInt64(bitPattern: Int64(topRef.offset)), UInt64(bitPattern: Int64(logicalSize))] {
                hash = (hash ^ part) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
            }
            return hash
        }
    }

    /// Makes `version` the newest version for all processes.
    func publish(_ version: Version) {
        let at = 64 + Int(version.number % Self.ringSize) * 32
        // The check word is wrong while the entry is being written.
        word(at).store(version.number)
        word(at + 8).store(UInt64(version.topRef.offset))
        word(at + 16).store(UInt64(version.logicalSize))
        word(at + 24).store(version.check)
        if version.number == Self.number(bell.load()) + 1 {
            bell.addWaking(1 << Self.callBits)
        }
        // The first version of a session, another file with the same number, or a word that another program wrote.
        if Self.number(bell.load()) != version.number {
            while case let old = bell.load(),
                !bell.exchange(from: old, to: version.number << Self.callBits | old & Self.callMask)
            {}
            bell.wake()
        }
        newestAgain.store(version.number)
    }

    private static let callBits: UInt64 = 8
    private static let callMask: UInt64 = 1 << callBits - 1

    fileprivate static func number(_ bell: UInt64) -> UInt64 { bell >> callBits }
    fileprivate static let limit: UInt64 = 1 << 47

    /// Number of the newest version. When its two words differ, a writer is between them, or another program wrote one
    /// of them: then the greater number that has an entry in the ring is used.
    var newestNumber: UInt64 { newestNumber(Self.number(bell.load())) }

    private func newestNumber(_ first: UInt64) -> UInt64 {
        let second = newestAgain.load()
        if first == second { return min(first, Self.limit - 1) }
        let greater = max(first, second), smaller = min(first, second)
        return entry(greater) != nil || entry(smaller) == nil ? min(greater, Self.limit - 1) : smaller
    }

    /// The ring entry of a version; nil when there is none, or a writer has published a newer version meanwhile.
    func entry(_ number: UInt64) -> Version? {
        let at = 64 + Int(number % Self.ringSize) * 32
        guard number > 0, number < Self.limit, word(at).load() == number else { return nil }
        let top = word(at + 8).load(), size = word(at + 16).load()
        guard top % 8 == 0, top < size, size >= UInt64(Format.headerSize), size < Self.limit else { return nil }
        let version = Version(number: number, topRef: Ref(Int(top)), logicalSize: Int(size))
        return word(at + 24).load() == version.check ? version : nil
    }

    /// The newest version, consistently; nil while writers keep publishing newer ones.
    func newest() -> Version? {
        for _ in 0..<1000 {
            let number = newestNumber
            if let version = entry(number), newestNumber == number { return version }
        }
        return nil
    }

    // MARK: Listening

    /// A value of the bell, to be read before the caller looks for work.
    struct BellState {
        fileprivate let word: UInt64
        let newestNumber: UInt64
    }

    var bellState: BellState {
        let word = bell.load()
        return BellState(word: word, newestNumber: newestNumber(Self.number(word)))
    }

    /// Waits until a version is published or this member is called; may return early.
    func waitForBell(after seen: BellState) { bell.wait(while: seen.word, channels: channel) }

    /// Wakes the listener of this member, and perhaps some others.
    func call() {
        while case let old = bell.load(),
            !bell.exchange(from: old, to: old & ~Self.callMask | (old &+ 1) & Self.callMask)
        {}
        bell.wake(channels: channel)
    }

    private var channel: UInt32 { 1 << UInt32(owner % 32) }

    // MARK: Readers

    /// Pins the newest version in a reader slot.
    /// - Parameters:
    ///   - held: the number of slots that this member has.
    ///   - known: returns the slot in which this member has a version pinned already, if that slot can be shared.
    ///   - isBrief: for a pin that is released at once, which may take one of the last slots.
    ///   - fromFile: reads a version from the file when the ring has no entry of it.
    /// - Returns: the version and its slot; `isShared` when the slot is the one of `known`.
    func pinNewest(
        held: Int, isBrief: Bool, known: (UInt64) -> Int?, isDead: (UInt64) -> Bool, fromFile: (UInt64) -> Version?
    ) throws(RealmError) -> (Version, slot: Int, isShared: Bool) {
        var own = -1
        for attempt in 0..<250 {
            let number = newestNumber
            let mark = owner << 48 | number
            let shared = known(number)
            if shared == nil {
                if own < 0 {
                    own = try claim(mark, held: held, isBrief: isBrief, isDead: isDead)
                } else {
                    store(mark, in: own)
                }
            }
            if newestNumber == number, let version = entry(number) ?? (attempt % 50 == 49 ? fromFile(number) : nil),
                newestNumber == number
            {
                if let shared {
                    unpin(own)
                    return (version, shared, true)
                }
                word(Self.factsStart + own * 16).store(process << 32 | UInt64(Platform.systemThreadId))
                noteFacts(own, version)
                return (version, own, false)
            }
        }
        unpin(own)
        throw RealmError(.brokenInvariant, "The lock file is damaged: no consistent version in it")
    }

    private func store(_ mark: UInt64, in held: Int) {
        slot(held).store(mark)
        copy(held).store(mark)
    }

    /// Each member gets this number of slots as long as any slot is free.
    static let everybodysShare = 16

    /// The last slots are reserved for pins that are released at once.
    private static let briefSlots = 8

    /// The number of free slots without the reserved ones.
    private func freeSlots() -> Int {
        var free = Self.slotCount - Self.briefSlots
        for i in claimedSlots where slot(i).load() != 0 || copy(i).load() != 0 { free -= 1 }
        return free
    }

    /// Whether a member that holds `held` slots may keep one of them longer than a transaction. When this is refused,
    /// its transactions still continue.
    func hasRoomToKeep(held: Int) -> Bool { held < Self.everybodysShare || held * 2 < freeSlots() }

    private func claim(_ mark: UInt64, held: Int, isBrief: Bool, isDead: (UInt64) -> Bool) throws(RealmError) -> Int {
        // A member may hold at most as many slots as are free: one greedy member leaves half of them, two leave a
        // third.
        if held >= Self.everybodysShare, !isBrief, held >= freeSlots() {
            throw RealmError(
                .limitExceeded,
                "This process holds \(held) versions of the file, and leaves the rest of \(Self.slotCount) to others: let go of some"
            )
        }
        let end = isBrief ? Self.slotCount : Self.slotCount - Self.briefSlots
        if let found = claimFree(mark, end) { return found }
        // Slots of dead members are cleared by the next commit, or now.
        for i in 0..<end { clearIfDead(i, isDead) }
        if let found = claimFree(mark, end) { return found }
        throw RealmError(.limitExceeded, "More than \(end) versions of this file are in use")
    }

    private func claimFree(_ mark: UInt64, _ end: Int) -> Int? {
        for index in 0..<end where slot(index).load() == 0 && copy(index).load() == 0 {
            // The number of claimed slots first: otherwise a writer could miss the slot.
            for known in [claimed.first, claimed.second] {
                while case let old = known.load(), old < UInt64(index) + 1,
                    !known.exchange(from: old, to: UInt64(index) + 1)
                {}
            }
            if slot(index).exchange(from: 0, to: mark) {
                copy(index).store(mark)
                return index
            }
        }
        return nil
    }

    private func clearIfDead(_ i: Int, _ isDead: (UInt64) -> Bool) {
        for place in [copy(i), slot(i)] {
            let mark = place.load()
            if mark != 0, mark >> 48 != owner, isDead(mark >> 48) { _ = place.exchange(from: mark, to: 0) }
        }
    }

    func unpin(_ held: Int) {
        guard held >= 0 else { return }
        // The copy first: another member claims a slot through its first word.
        copy(held).store(0)
        slot(held).store(0)
    }

    /// Moves a pin of the holder of the write lock to the version that it published.
    func movePin(slot held: Int, to version: Version) {
        guard held >= 0 else { return }
        store(owner << 48 | version.number, in: held)
        noteFacts(held, version)
    }

    /// Stores facts beside a pin: the time, and the top ref of its version.
    private func noteFacts(_ held: Int, _ version: Version) {
        let tag = version.number & Self.tagMask
        word(Self.factsStart + held * 16 + 8).store(Platform.microsecondsSince1970 << Self.tagBits | tag)
        word(Self.topsStart + held * 8).store(UInt64(version.topRef.offset / 8) << Self.tagBits | tag)
    }

    /// The top refs of pinned versions, as their readers stored them. Not trusted: the caller checks the version in the
    /// top array.
    func tops(of versions: [UInt64]) -> [UInt64: Ref] {
        var tops: [UInt64: Ref] = [:]
        for i in claimedSlots {
            let first = slot(i).load()
            let number = (first != 0 ? first : copy(i).load()) & 0xFFFF_FFFF_FFFF
            guard number != 0, tops[number] == nil, versions.contains(number) else { continue }
            let top = word(Self.topsStart + i * 8).load()
            guard top & Self.tagMask == number & Self.tagMask, top >> Self.tagBits < Self.limit / 8 else { continue }
            tops[number] = Ref(Int(top >> Self.tagBits) * 8)
        }
        return tops
    }

    /// The facts of a slot belong to the version in it if these low bits agree: the slot changes before its facts do.
    private static let tagBits: UInt64 = 12
    private static let tagMask: UInt64 = 1 << tagBits - 1

    /// A pin as it is stored in a slot.
    struct Mark: Equatable {
        var version: UInt64
        var owner: UInt64

        /// Zero while the pin is being made.
        var process: UInt32 = 0
        var thread: UInt32 = 0
        var microseconds: UInt64 = 0
    }

    /// The pins of living owners, the oldest versions first. Changes nothing.
    func marks(isDead: (UInt64) -> Bool) -> [Mark] {
        var marks: [Mark] = []
        var checked: [UInt64: Bool] = [:]
        for i in claimedSlots {
            let first = slot(i).load()
            let content = first != 0 ? first : copy(i).load()
            guard content != 0 else { continue }
            var mark = Mark(version: content & 0xFFFF_FFFF_FFFF, owner: content >> 48)
            if mark.owner != owner {
                let dead = checked[mark.owner] ?? isDead(mark.owner)
                checked[mark.owner] = dead
                if dead { continue }
            }
            let who = word(Self.factsStart + i * 16).load(), since = word(Self.factsStart + i * 16 + 8).load()
            if since & Self.tagMask == mark.version & Self.tagMask {
                mark.process = UInt32(truncatingIfNeeded: who >> 32)
                mark.thread = UInt32(truncatingIfNeeded: who)
                mark.microseconds = since >> Self.tagBits
            }
            // The pin may have moved meanwhile.
            if slot(i).load() == first { marks.append(mark) }
        }
        return marks.sorted { ($0.version, $0.microseconds) < ($1.version, $1.microseconds) }
    }

    /// Whether the lock file still contains a pin as its holder stored it. If one of its two words is wrong, it is
    /// repaired.
    func isPinned(slot held: Int, at number: UInt64) -> Bool {
        guard held >= 0 else { return false }
        let mark = owner << 48 | number
        let isFirst = slot(held).load() == mark, isSecond = copy(held).load() == mark
        guard isFirst || isSecond else { return false }
        if !isFirst || !isSecond { store(mark, in: held) }
        return true
    }

    /// The versions below `newest` that readers have pinned, in order. Slots of dead owners are cleared on the way.
    func pinnedVersions(below newest: UInt64, isDead: (UInt64) -> Bool) -> [UInt64] {
        var pinned: Set<UInt64> = []
        var checked: [UInt64: Bool] = [:]
        func note(_ place: SharedWord, _ mark: UInt64) {
            let version = mark & 0xFFFF_FFFF_FFFF, holder = mark >> 48
            guard version < newest else { return }
            if holder != owner {
                let dead = checked[holder] ?? isDead(holder)
                checked[holder] = dead
                if dead {
                    _ = place.exchange(from: mark, to: 0)
                    return
                }
            }
            pinned.insert(version)
        }
        for i in claimedSlots {
            let first = slot(i), second = copy(i)
            let marks = (first.load(), second.load())
            if marks.1 != 0 { note(second, marks.1) }
            if marks.0 != 0 { note(first, marks.0) }
        }
        return pinned.sorted()
    }

    func clearSlots(of holder: UInt64) {
        for i in claimedSlots {
            if copy(i).load() >> 48 == holder { copy(i).store(0) }
            if slot(i).load() >> 48 == holder { slot(i).store(0) }
        }
    }
}
