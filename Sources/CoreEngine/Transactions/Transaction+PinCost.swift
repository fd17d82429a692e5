/// What readers of old versions cost: space that their snapshots keep from being used again.
extension Transaction {
    /// The free space of the snapshot, as a commit upon it would see it beside readers of some versions.
    func freeSpace(beside pinned: [UInt64]) throws(RealmError) -> FreeSpace {
        guard !topRef.isNull else { return FreeSpace() }
        let lists = try database.file.topFields(store, topRef, physicalSize: logicalSize).freeLists
        let held = Set(pinned).sorted()
        var space = PinnedSpace()
        space.update(held.filter { $0 + 1 < version }) { freeChunks(of: $0) }
        return try FreeSpace(
            store, lists, logicalSize: logicalSize, base: version, pinned: held, beside: space, pageSize: nil)
    }

    /// What is free in pinned versions, as their own lists say. Of versions whose lists are not found nothing is said.
    func freeChunks(of versions: [UInt64]) -> [UInt64: [FileChunk]] {
        guard let tops = database.lockFile?.shared.tops(of: versions) else { return [:] }
        var chunks: [UInt64: [FileChunk]] = [:]
        for (version, ref) in tops {
            guard !ref.isNull, let top = try? database.file.topFields(store, ref, physicalSize: logicalSize),
                top.version == version
            else { continue }
            chunks[version] = try? FreeSpace.chunks(
                store, (top.freeLists.positions, top.freeLists.lengths), logicalSize: top.logicalSize)
        }
        return chunks
    }

    /// The commit in progress makes the file grow while a reader stays at version `oldest`.
    func noteCost(of oldest: UInt64, _ free: FreeSpace, newSize: Int) {
        let limit = PinWarning.limit, held = free.held(by: oldest, base: version)
        guard limit > 0, held >= newSize - logicalSize, newSize > max(limit, 2 * (logicalSize - free.totalSize)) else {
            return
        }
        costlyPin = database.firstWarning(of: oldest).map { PinnedVersion($0, heldBytes: held) }
    }

    /// Tells once.
    package func takeCostlyPin() -> PinnedVersion? {
        defer { costlyPin = nil }
        return costlyPin
    }
}
