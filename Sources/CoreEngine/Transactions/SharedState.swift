/// What the processes of one session share: a small map of the lock file. Format: storage §5.6 B.
///
///     0     init_complete = 1            4096   reader slots, one word each
///     6     shared_info_version (ours)              owner << 48 | version, 0 = free
///     8     layout version                   20480 for each slot: process << 32 | thread,
///                                                  microseconds since 1970 << 12 | low bits of the version
///     16    durability
///     24    initialised: 1 once the ring holds a version
///     32    the bell: latest version << 8 | number of calls
///     40    owner that last held the write lock
///     48    device and inode of the database file
///     64    ring of 64 published versions: version, top ref, logical size, 0
///     2112  number of slots ever claimed (those behind are free)
///     2120  1 while what is on the disk of header and folder may differ from what the system shows
///     2128  1 while published versions are not flushed, 2 from before their flush until it succeeded
///
/// Why readers need no lock. A reader stores the latest version in its slot and then looks at `latest` again. If it still is that version,
/// the writer of the next commit but one (the first that could reuse space of the version) will see the slot, because it scans the slots
/// after publishing the version in between; if it is not, the reader takes the newer one. A ring entry is overwritten 64 versions later, so
/// an entry read between two equal looks at `latest` is whole. A writer that dies between filling an entry and publishing it has published
/// nothing; one that dies after the file's header was flipped is completed by the next writer (`Database.recoverHeader`).
///
/// The bell. Listeners of all processes sleep while the word that holds the latest version stays what it was. A commit adds one to the version and
/// wakes them in one step of the kernel: a writer that is killed has published and woken, or neither. (But for one commit in 16 million, at which
/// the half of the word that the kernel sees overflows: if its writer is killed between the two steps, the next commit wakes everybody.) A
/// *call* changes the low byte, to wake the listener of this process for another reason.
struct SharedState {
    static let magicVersion: UInt16 = 0xC8EA
    static let layoutVersion: UInt64 = 5
    static let slotCount = 2048
    private static let factsStart = 4096 + slotCount * 8
    static let size = factsStart + slotCount * 16
    private static let ringSize: UInt64 = 64

    let memory: SharedMemory
    /// Identifies this process's membership in reader slots (1 … 65535).
    var owner: UInt64 = 0
    private let process = UInt64(UInt32(bitPattern: Platform.processId))

    init(_ memory: SharedMemory) { self.memory = memory }

    private func word(_ offset: Int) -> SharedWord { SharedWord(memory.base + offset) }
    var durability: SharedWord { word(16) }
    var initialised: SharedWord { word(24) }
    private var bell: SharedWord { word(32) }
    var lastWriter: SharedWord { word(40) }
    /// A commit is under way or ended without a known outcome, or an earlier session left the file: before anything is written again, what leads
    /// to the newest version is made certain (`Database.confirmHeader`).
    var isUncertain: Bool {
        get { word(2120).load() != 0 }
        nonmutating set { word(2120).store(newValue ? 1 : 0) }
    }
    /// Versions that asynchronous commits published, and to which no header leads yet.
    enum Unflushed: UInt64 {
        case none = 0, published
        /// A flush began, and is not known to have succeeded: the system may have dropped what was written.
        case suspect
    }
    var unflushed: Unflushed {
        get { Unflushed(rawValue: word(2128).load()) ?? .suspect }
        nonmutating set { word(2128).store(newValue.rawValue) }
    }
    private var claimed: SharedWord { word(2112) }
    /// Slots that may be in use.
    private var claimedSlots: Range<Int> { 0..<Int(min(claimed.load(), UInt64(Self.slotCount))) }
    /// The database file that the session is about.
    var database: FileIdentity {
        get { FileIdentity(device: word(48).load(), inode: word(56).load(), linkCount: 1) }
        nonmutating set {
            word(48).store(newValue.device)
            word(56).store(newValue.inode)
        }
    }
    private func slot(_ i: Int) -> SharedWord { word(4096 + i * 8) }

    struct Version: Sendable {
        var number: UInt64
        var topRef: Ref
        var logicalSize: Int
    }

    /// Makes `v` the newest version for everybody.
    func publish(_ v: Version) {
        let at = 64 + Int(v.number % Self.ringSize) * 32
        word(at).store(v.number)
        word(at + 8).store(UInt64(v.topRef.offset))
        word(at + 16).store(UInt64(v.logicalSize))
        if v.number == Self.number(bell.load()) + 1 { return bell.addWaking(1 << Self.callBits) }
        // The first of a session, or another file with the same number: nobody else is in the session.
        while case let old = bell.load(), !bell.exchange(from: old, to: v.number << Self.callBits | old & Self.callMask) {}
        bell.wake()
    }
    private static let callBits: UInt64 = 8
    private static let callMask: UInt64 = 1 << callBits - 1
    fileprivate static func number(_ bell: UInt64) -> UInt64 { bell >> callBits }
    /// What is in shared memory is not believed: any program that may write the file may have written anything there.
    fileprivate static let limit: UInt64 = 1 << 47
    /// Number of the newest version.
    var newestNumber: UInt64 { min(Self.number(bell.load()), Self.limit - 1) }
    /// The newest version, consistently; nil when a writer moved on meanwhile.
    private func entry(_ number: UInt64) -> Version? {
        let at = 64 + Int(number % Self.ringSize) * 32
        guard number > 0, word(at).load() == number else { return nil }
        let top = word(at + 8).load(), size = word(at + 16).load()
        guard top % 8 == 0, top < size, size >= UInt64(Format.headerSize), size < Self.limit else { return nil }
        return Version(number: number, topRef: Ref(Int(top)), logicalSize: Int(size))
    }
    func newest() -> Version? {
        for _ in 0..<1000 {
            let number = newestNumber
            if let v = entry(number), newestNumber == number { return v }
        }
        return nil
    }

    // MARK: Listening

    /// A look at the bell, to be taken before one looks for what there is to do.
    struct BellState {
        fileprivate let word: UInt64
        var newestNumber: UInt64 { min(SharedState.number(word), SharedState.limit - 1) }
    }
    var bellState: BellState { BellState(word: bell.load()) }
    /// Waits until a version comes or somebody calls this member; sometimes for less.
    func waitForBell(after seen: BellState) { bell.wait(while: seen.word, channels: channel) }
    /// Wakes the listener of this member, and perhaps some others.
    func call() {
        while case let old = bell.load(), !bell.exchange(from: old, to: old & ~Self.callMask | (old &+ 1) & Self.callMask) {}
        bell.wake(channels: channel)
    }
    private var channel: UInt32 { 1 << UInt32(owner % 32) }

    // MARK: Readers

    /// Pins the newest version in a reader slot.
    func pinNewest() throws(RealmError) -> (Version, slot: Int) {
        var held = -1
        for _ in 0..<10_000 {
            let number = newestNumber
            let mark = owner << 48 | number
            if held < 0 { held = try claim(mark) } else { slot(held).store(mark) }
            if newestNumber == number, let v = entry(number), newestNumber == number {
                word(Self.factsStart + held * 16).store(process << 32 | UInt64(Platform.systemThreadId))
                noteTime(held, number)
                return (v, held)
            }
        }
        unpin(held)
        throw RealmError(.brokenInvariant, "The lock file is damaged: no consistent version in it")
    }
    private func claim(_ mark: UInt64) throws(RealmError) -> Int {
        for s in 0..<Self.slotCount where slot(s).load() == 0 {
            // First the number: a writer that does not see the slot must not have missed it.
            while case let known = claimed.load(), known < UInt64(s) + 1 { _ = claimed.exchange(from: known, to: UInt64(s) + 1) }
            if slot(s).exchange(from: 0, to: mark) { return s }
        }
        throw RealmError(.limitExceeded, "More than \(Self.slotCount) snapshots of this file are in use")
    }
    func unpin(_ held: Int) { if held >= 0 { slot(held).store(0) } }
    /// Moves a pin that the holder of the write lock has to the version that it published.
    func movePin(slot held: Int, to number: UInt64) {
        guard held >= 0 else { return }
        slot(held).store(owner << 48 | number)
        noteTime(held, number)
    }
    private func noteTime(_ held: Int, _ number: UInt64) {
        word(Self.factsStart + held * 16 + 8).store(Platform.microsecondsSince1970 << Self.tagBits | number & Self.tagMask)
    }
    /// What is told of a slot belongs to the version that stands in it if the low bits agree: a slot changes before it does.
    private static let tagBits: UInt64 = 12
    private static let tagMask: UInt64 = 1 << tagBits - 1

    /// A pin as it stands in a slot.
    struct Mark: Equatable {
        var version: UInt64
        var owner: UInt64
        /// Zeros where the pin is just being made.
        var process: UInt32 = 0
        var thread: UInt32 = 0
        var microseconds: UInt64 = 0
    }
    /// The pins of owners that live, those of the oldest versions first. Changes nothing.
    func marks(isDead: (UInt64) -> Bool) -> [Mark] {
        var marks: [Mark] = []
        var checked: [UInt64: Bool] = [:]
        for i in claimedSlots {
            let content = slot(i).load()
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
            // It may have gone on meanwhile.
            if slot(i).load() == content { marks.append(mark) }
        }
        return marks.sorted { ($0.version, $0.microseconds) < ($1.version, $1.microseconds) }
    }
    /// Whether a pin is still what its holder made it.
    func isPinned(slot held: Int, at number: UInt64) -> Bool { held >= 0 && slot(held).load() == owner << 48 | number }

    /// The versions below `newest` that readers have pinned, in order. Slots of owners that `isDead` are cleared on the way.
    func pinnedVersions(below newest: UInt64, isDead: (UInt64) -> Bool) -> [UInt64] {
        var pinned: Set<UInt64> = []
        var checked: [UInt64: Bool] = [:]
        for i in claimedSlots {
            let mark = slot(i).load()
            guard mark != 0 else { continue }
            let version = mark & 0xFFFF_FFFF_FFFF, holder = mark >> 48
            guard version < newest else { continue }
            if holder != owner {
                let dead = checked[holder] ?? isDead(holder)
                checked[holder] = dead
                if dead {
                    _ = slot(i).exchange(from: mark, to: 0)
                    continue
                }
            }
            pinned.insert(version)
        }
        return pinned.sorted()
    }
    func clearSlots(of holder: UInt64) {
        for i in claimedSlots where slot(i).load() >> 48 == holder { slot(i).store(0) }
    }
}
