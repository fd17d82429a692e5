import Synchronization

/// A version whose pages nobody overwrites as long as somebody refers to this: what transactions read, and what
/// outlives them.
///
/// The slot in the shared state is claimed while the version is the newest one, and passed on by reference only. A
/// second slot for a version that is not the newest could be missed by a writer: it may look at that slot before the
/// claim, and at the first one after its release.
///
/// Thread rule: any; `moved` is for the holder of the write lock.
package final class Pin: Sendable {
    let database: Database
    let state: SharedState.Version

    /// −1 in immutable files, where nothing needs to be pinned.
    private let slot: Int
    private let use = Atomic(Use.own.rawValue)

    private enum Use: Int {
        /// One transaction's, which takes the slot along when it moves.
        case own
        /// Others may refer to it, too.
        case shared
        /// The slot belongs to another pin now.
        case moved
    }

    /// Pins the newest version.
    /// - Parameter isBrief: for a look of a moment, which succeeds also where members hold all that they may hold.
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

    /// Whether the session still says what this pin made it say.
    var isIntact: Bool { database.lockFile?.shared.isPinned(slot: slot, at: version) ?? true }

    /// From now on the pin stays where it is, for whoever refers to it; false when it has gone on already.
    package func share() -> Bool {
        use.compareExchange(expected: Use.own.rawValue, desired: Use.shared.rawValue, ordering: .acquiringAndReleasing)
            .original != Use.moved.rawValue
    }

    /// As `share`, for somebody who keeps the version for longer than a transaction.
    /// - Throws: 3018 where this process keeps so many versions that its transactions would not get any.
    package func keep() throws(RealmError) -> Bool {
        if use.load(ordering: .acquiring) == Use.own.rawValue { try database.checkRoomToKeep() }
        return share()
    }

    /// The pin of the version that the holder of the write lock has just published, for the transaction that was at
    /// this one: with the same slot, unless somebody else uses that.
    func moved(to new: SharedState.Version) throws(RealmError) -> Pin {
        guard
            use.compareExchange(
                expected: Use.own.rawValue, desired: Use.moved.rawValue, ordering: .acquiringAndReleasing
            ).exchanged
        else {
            return try Pin(newestOf: database)
        }
        guard database.movePin(slot, to: new) else {
            // Others of this process read the version through the same slot.
            use.store(Use.shared.rawValue, ordering: .releasing)
            return try Pin(newestOf: database)
        }
        return Pin(database, new, slot)
    }
}
