/// The cost of readers of old versions: space that cannot be used again because of their snapshots.
extension Transaction {
    /// The free space of the snapshot, as a commit on top of it would see it while some versions are pinned.
    func freeSpace(beside pinned: [UInt64]) throws(RealmError) -> FreeSpace {
        guard !topRef.isNull else { return FreeSpace() }
        let lists = try database.file.topFields(store, topRef, physicalSize: logicalSize).freeLists
        let held = Set(pinned).sorted()
        var space = PinnedSpace()
        space.update(held.filter { $0 + 1 < version }) { freeChunks(of: $0) }
        return try FreeSpace(
            store, lists, logicalSize: logicalSize, base: version, pinned: held, beside: space, pageSize: nil)
    }

    /// The free chunks of pinned versions, from their own free lists. Versions whose lists are not found are missing
    /// from the result.
    func freeChunks(of versions: [UInt64]) -> [UInt64: [FileChunk]] {
        // An older version may reach farther than the newest one, when the file has shrunk.
        guard let tops = database.lockFile?.shared.tops(of: versions), let size = try? database.file.physicalSize(),
            (try? database.file.ensureMapped(size)) != nil
        else { return [:] }
        let older = NodeStore(space: database.file.space, fileLimit: size, pages: database.file.pages)
        older.move(toFileLimit: size, version: 0)
        defer { older.rest() }
        var chunks: [UInt64: [FileChunk]] = [:]
        for (version, ref) in tops {
            guard !ref.isNull, let top = try? database.file.topFields(older, ref, physicalSize: size),
                top.version == version
            else { continue }
            chunks[version] = try? FreeSpace.chunks(
                older, (top.freeLists.positions, top.freeLists.lengths), logicalSize: top.logicalSize)
        }
        return chunks
    }

    /// Called when the commit in progress makes the file grow while a reader stays at version `oldest`.
    func noteCost(of oldest: UInt64, _ free: FreeSpace, newSize: Int) {
        let limit = PinWarning.limit, held = free.held(by: oldest, base: version)
        guard limit > 0, held >= newSize - logicalSize, newSize > max(limit, 2 * (logicalSize - free.totalSize)) else {
            return
        }
        costlyPin = database.firstWarning(of: oldest).map { PinnedVersion($0, heldBytes: held) }
    }

    /// Returns the pin for the warning, once.
    package func takeCostlyPin() -> PinnedVersion? {
        defer { costlyPin = nil }
        return costlyPin
    }
}
