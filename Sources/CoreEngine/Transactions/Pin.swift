import Synchronization

/// A version whose pages nobody overwrites as long as somebody refers to this: what transactions read, and what outlives them.
///
/// The slot in the shared state is claimed while the version is the newest one, and passed on by reference only. A second slot for a version
/// that is not the newest could be missed by a writer: it may look at that slot before the claim, and at the first one after its release.
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
    init(newestOf database: Database) throws(RealmError) {
        self.database = database
        (state, slot) = try database.pinNewest()
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
        use.compareExchange(expected: Use.own.rawValue, desired: Use.shared.rawValue, ordering: .acquiringAndReleasing).original != Use.moved.rawValue
    }
    /// The pin of the version that the holder of the write lock has just published, for the transaction that was at this one: with the same slot,
    /// unless somebody else uses that.
    func moved(to new: SharedState.Version) throws(RealmError) -> Pin {
        guard use.compareExchange(expected: Use.own.rawValue, desired: Use.moved.rawValue, ordering: .acquiringAndReleasing).exchanged else {
            return try Pin(newestOf: database)
        }
        database.lockFile?.shared.movePin(slot: slot, to: new.number)
        return Pin(database, new, slot)
    }
}
