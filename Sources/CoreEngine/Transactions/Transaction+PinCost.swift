/// What readers of old versions cost: space that their snapshots keep from being used again.
extension Transaction {
    /// The free space of the snapshot, as a commit upon it would see it beside readers of some versions.
    func freeSpace(beside pinned: [UInt64]) throws(RealmError) -> FreeSpace {
        guard !topRef.isNull else { return FreeSpace() }
        let lists = try database.file.topFields(store, topRef, physicalSize: logicalSize).freeLists
        return try FreeSpace(store, lists, logicalSize: logicalSize, base: version, pinned: Set(pinned).sorted(), pageSize: nil)
    }
    /// The commit in progress makes the file grow while a reader stays at version `oldest`.
    func noteCost(of oldest: UInt64, _ free: FreeSpace, newSize: Int) {
        let limit = PinWarning.limit, held = free.held(by: oldest, base: version)
        guard limit > 0, held >= newSize - logicalSize, newSize > max(limit, 2 * (logicalSize - free.totalSize)) else { return }
        costlyPin = database.firstWarning(of: oldest).map { PinnedVersion($0, heldBytes: held) }
    }
    /// Tells once.
    package func takeCostlyPin() -> PinnedVersion? {
        defer { costlyPin = nil }
        return costlyPin
    }
}
