import Synchronization

/// A version whose pages are not overwritten as long as a reference to this object exists: the version that a
/// transaction reads, or one that is kept longer.
///
/// The slot in the shared state is claimed while the version is the newest one; after that, it is only shared by
/// reference. A second slot for an older version could be missed by a writer: the writer may read the new slot before
/// it is claimed, and the old slot after its release.
///
/// Thread rule: any; `moved` is for the holder of the write lock.
package final class Pin: Sendable {
    let database: Database
    let state: SharedState.Version

    /// −1 in immutable files, where no pin is needed.
    private let slot: Int
    private let use = Atomic(Use.own.rawValue)

    private enum Use: Int {
        /// Used by one transaction, which takes the slot along when it moves.
        case own
        /// May have other users, too.
        case shared
        /// The slot now belongs to another pin.
        case moved
    }

    /// Pins the newest version.
    /// - Parameter isBrief: for a pin that is released again at once. It succeeds even when the processes that have the
    ///   file open use all the slots that they may use.
    init(newestOf database: Database, isBrief: Bool = false) throws(RealmError) {
        self.database = database
        (state, slot) = try database.pinNewest(isBrief: isBrief)
    }

    private init(_ database: Database, _ state: SharedState.Version, _ slot: Int) {
        self.database = database
        self.state = state
        self.slot = slot
    }

    deinit { if use.load(ordering: .acquiring) != Use.moved.rawValue { database.unpin(slot) } }

    package var version: UInt64 { state.number }

    /// Whether the lock file still contains this pin.
    var isIntact: Bool { database.lockFile?.shared.isPinned(slot: slot, at: version) ?? true }

    /// Makes the pin stay at its version, so that several users can share it. Returns false if it has already moved.
    package func share() -> Bool {
        use.compareExchange(expected: Use.own.rawValue, desired: Use.shared.rawValue, ordering: .acquiringAndReleasing)
            .original != Use.moved.rawValue
    }

    /// As `share`, for a user who keeps the version longer than a transaction.
    /// - Throws: 3018 when this process keeps so many versions that none would be left for its transactions.
    package func keep() throws(RealmError) -> Bool {
        if use.load(ordering: .acquiring) == Use.own.rawValue { try database.checkRoomToKeep() }
        return share()
    }

    /// Moves this pin to the version that the holder of the write lock has just published, and returns the new pin. It
    /// has the same slot, unless the slot has other users.
    func moved(to new: SharedState.Version) throws(RealmError) -> Pin {
        guard
            use.compareExchange(
                expected: Use.own.rawValue, desired: Use.moved.rawValue, ordering: .acquiringAndReleasing
            ).exchanged
        else {
            return try Pin(newestOf: database)
        }
        guard database.movePin(slot, to: new) else {
            // Other readers of this process use the same slot.
            use.store(Use.shared.rawValue, ordering: .releasing)
            return try Pin(newestOf: database)
        }
        return Pin(database, new, slot)
    }
}
