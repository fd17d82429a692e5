import Synchronization

/// A version that a reader holds, and its cost.
public struct PinnedVersion: Sendable {
    /// The number of the version.
    public let version: UInt64

    /// When the version was pinned; 1970 while the pin is being made.
    public let since: Timestamp

    /// The process that pinned it, by the number of the operating system; 0 while the pin is being made.
    public let processId: UInt32

    /// The thread that pinned it, by the number of the operating system.
    public let threadId: UInt32

    /// Bytes of the file that were freed since the version was pinned, and cannot be used again before this version and
    /// all older ones are released.
    public let heldBytes: Int

    init(_ mark: SharedState.Mark, heldBytes: Int) {
        version = mark.version
        since = Timestamp(
            seconds: Int64(mark.microseconds / 1_000_000), nanoseconds: Int32(mark.microseconds % 1_000_000) * 1000)
        processId = mark.process
        threadId = mark.thread
        self.heldBytes = heldBytes
    }
}

extension Database {
    /// The pinned versions, the oldest first; for a snapshot open, those of all processes that have the file open.
    package func pinnedVersions() throws(RealmError) -> [PinnedVersion] {
        let marks: [SharedState.Mark]
        if let lockFile {
            try checkProcess()
            marks = lockFile.shared.marks { lockFile.isDead($0) }
        } else if case .snapshot = access {
            marks = try LockFile.marks(beside: path)
        } else {
            return []
        }
        guard !marks.isEmpty else { return [] }
        let newest = try Transaction(self)
        defer { newest.close() }
        do throws(RealmError) { try newest.beginRead(at: try Pin(newestOf: self, isBrief: true)) } catch {
            // The caller wants to know who holds all slots, so the list is returned without costs.
            guard error.code == .limitExceeded else { throw error }
            return marks.map { PinnedVersion($0, heldBytes: 0) }
        }
        let free = try newest.freeSpace(beside: marks.map(\.version))
        return marks.map { PinnedVersion($0, heldBytes: free.held(by: $0.version, base: newest.version)) }
    }
}

/// The limit for the warning that a pin makes a file grow too far. The program gets the warning once for each pin.
public enum PinWarning {
    private static let bytes = Atomic(64 << 20)

    /// The warning is given when the file is longer than this, and longer than twice the data in it; 0: never.
    public static var limit: Int {
        get { bytes.load(ordering: .relaxed) }
        set { bytes.store(max(0, newValue), ordering: .relaxed) }
    }
}
