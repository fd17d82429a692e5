/// What the session says, compared with what else is known: the file, its locks, and what this process itself has
/// written.
///
/// Any program may write any word of the lock file. What a foreign word can do: a call fails with an error that says
/// so, or space stays in use for longer. It makes nothing the newest version that the file does not hold as such.
extension Database {
    /// The slots in which this process holds versions.
    ///
    /// Each pin has one of its own, with the thread and the time of it, as long as they are few. From then on pins of
    /// one version share: programs with thousands of Realms need as many slots as there are versions among them.
    struct Pins {
        /// How many there are, and in how many slots.
        private(set) var count = 0
        private(set) var slots = 0

        /// The slots that may be shared, and by how many they are.
        private var shared: [UInt64: Int] = [:]
        private var users: [Int: (version: UInt64, count: Int)] = [:]
        private static let few = 64

        var isEmpty: Bool { count == 0 }

        func slot(of version: UInt64) -> Int? { shared.isEmpty ? nil : shared[version] }

        mutating func add(_ version: UInt64, in slot: Int, isShared: Bool) {
            count += 1
            if isShared {
                users[slot]?.count += 1
                return
            }
            slots += 1
            guard slots > Self.few else { return }
            shared[version] = slot
            users[slot] = (version, 1)
        }

        /// Whether the slot is nobody's any more.
        mutating func remove(from slot: Int) -> Bool {
            count -= 1
            if !users.isEmpty, let user = users[slot] {
                guard user.count == 1 else {
                    users[slot]?.count -= 1
                    return false
                }
                forget(slot, user.version)
            }
            slots -= 1
            return true
        }

        /// Whether the one user of a slot may take it along to another version.
        mutating func move(_ slot: Int, to version: UInt64) -> Bool {
            guard !users.isEmpty, let user = users[slot] else { return true }
            guard user.count == 1 else { return false }
            forget(slot, user.version)
            return true
        }

        private mutating func forget(_ slot: Int, _ version: UInt64) {
            users[slot] = nil
            if shared[version] == slot { shared[version] = nil }
        }
    }

    // MARK: Pins

    /// Pins the newest version, in a reader slot.
    func pinNewest(isBrief: Bool = false) throws(RealmError) -> (SharedState.Version, slot: Int) {
        if let fixed { return (fixed, -1) }
        try checkProcess()
        guard let lockFile else { throw RealmError(.brokenInvariant, "No session") }
        var failure: RealmError?
        for attempt in 0..<40 {
            do throws(RealmError) {
                let pinned = try users.with { (users) throws(RealmError) -> (SharedState.Version, slot: Int) in
                    let (version, slot, isShared) = try lockFile.shared.pinNewest(
                        held: users.pins.slots, isBrief: isBrief, known: { users.pins.slot(of: $0) },
                        isDead: { lockFile.isDead($0) },
                        fromFile: { self.version($0) })
                    users.pins.add(version.number, in: slot, isShared: isShared)
                    return (version, slot)
                }
                do throws(RealmError) { if try isNewest(pinned.0) { return pinned } } catch {
                    unpin(pinned.slot)
                    throw error
                }
                unpin(pinned.slot)
            } catch {
                guard error.code == .brokenInvariant else { throw error }
                failure = error
            }
            // A writer has moved on, or somebody wrote into the lock file: who may write puts that right where nobody
            // is at it.
            if attempt % 10 == 9, !putRight() { Platform.sleep(microseconds: 500) }
        }
        throw failure ?? contradiction()
    }

    func unpin(_ slot: Int) {
        guard belongsToThisProcess, slot >= 0 else { return }
        users.with { if $0.pins.remove(from: slot) { lockFile?.shared.unpin(slot) } }
    }

    /// Moves a pin of the holder of the write lock to the version that it published; false: others read through the
    /// same slot.
    func movePin(_ slot: Int, to version: SharedState.Version) -> Bool {
        guard slot >= 0 else { return true }
        return users.with { users in
            guard users.pins.move(slot, to: version.number) else { return false }
            lockFile?.shared.movePin(slot: slot, to: version)
            return true
        }
    }

    /// Throws where this process holds so many versions that its transactions would not get any more.
    func checkRoomToKeep() throws(RealmError) {
        guard let lockFile else { return }
        let held = users.with { $0.pins.slots }
        guard !lockFile.shared.hasRoomToKeep(held: held) else { return }
        throw RealmError(
            .limitExceeded,
            "This process keeps \(held) versions of the file, and leaves the rest to transactions and to others: let go of some",
            path: path)
    }

    private func contradiction() -> RealmError {
        RealmError(
            .brokenInvariant,
            "The lock file is damaged: it contradicts the file. Close every Realm of the file, and open it again",
            path: path)
    }

    // MARK: The newest version

    /// Whether what is published here can be compared with the header: files in memory have none, and those of older
    /// formats stay as they are.
    private var hasHeader: Bool { durability != .memoryOnly && !OldFormats.isRead(format) }

    /// Whether a version that the session calls the newest can be that by what the file says; false also where a writer
    /// has moved on meanwhile.
    private func isNewest(_ version: SharedState.Version) throws(RealmError) -> Bool {
        guard hasHeader, let lockFile, version.number != ownNumber.load(ordering: .relaxed) else { return true }
        // A header comes before its version is published, and stays when its writer dies in between.
        func hasNext() -> Bool {
            lockFile.shared.isHeaderNoted(of: version.number + 1) && lockFile.shared.newestNumber == version.number
        }
        if hasNext() { return true }
        let header = try header(of: version)
        if header.liveTopRef == UInt64(version.topRef.offset) || header.isStreaming || hasNext() { return true }
        guard lockFile.shared.newestNumber == version.number else { return false }
        guard let inFile = try versionOfHeader(header) else {
            // A crash tore the header, and nobody who may write has opened the file since.
            guard !file.isEncrypted, let found = try? file.newestState(readOnly: true).state else { return false }
            return found.topRef == version.topRef && found.version == version.number
        }
        // Commits that are flushed as a group come before their header, and what a record leads to may stay without one
        // while nobody can write.
        return inFile.number < version.number
    }

    /// The header of a file that holds a version. A file that was cut is lost, whatever else is wrong with what is left
    /// of it.
    private func header(of version: SharedState.Version?) throws(RealmError) -> FileHeader {
        do throws(RealmError) { return try file.readHeader() } catch {
            if let version { try file.verifyLength(version.logicalSize) }
            throw error
        }
    }

    /// What the header leads to; nil when that is nothing that can be read: it has changed meanwhile.
    private func versionOfHeader(_ header: FileHeader) throws(RealmError) -> SharedState.Version? {
        guard header.liveTopRef > 0 else {
            return SharedState.Version(number: 1, topRef: .null, logicalSize: Format.headerSize)
        }
        return try RealmError.unlessDamaged { () throws(RealmError) -> SharedState.Version? in
            // Decrypted pages that are in memory may be those of an older version.
            let looked = file.isEncrypted ? try DatabaseFile(viewing: file) : file
            let size = try looked.dataSize() & ~7
            guard header.liveTopRef % 8 == 0, header.liveTopRef < UInt64(size) else { return nil }
            try looked.ensureMapped(size)
            let top = Ref(Int(header.liveTopRef))
            let fields = try looked.topFields(top, physicalSize: size)
            return SharedState.Version(number: fields.version, topRef: top, logicalSize: fields.logicalSize)
        } ?? nil
    }

    /// What the file says of a version, when that is the one in its header.
    private func version(_ number: UInt64) -> SharedState.Version? {
        guard hasHeader, let header = try? file.readHeader(), !header.isStreaming,
            let found = try? versionOfHeader(header), found.number == number
        else { return nil }
        return found
    }

    /// Brings the session in line with the file, if nobody writes now and this process may. Whether it did.
    private func putRight() -> Bool {
        guard isWritable, hasHeader, (try? takeFreeLock(at: Platform.noThread)) ?? false else { return false }
        unlockForWriting()
        return true
    }

    /// The newest version, for the holder of the write lock, whatever stands in the lock file; what is not right there
    /// is put right.
    /// - Returns: also the header of the file, where that was looked at.
    /// - Throws: where the content of the file is not the session's.
    func newestOfSession() throws(RealmError) -> (SharedState.Version, FileHeader?) {
        guard let lockFile else { throw RealmError(.brokenInvariant, "No session") }
        let shared = lockFile.shared
        var published = shared.newest()
        if published == nil, let own = lastWritten, own.number == shared.newestNumber {
            // Its entry in the ring is not what this database has put there.
            publish(own)
            published = own
        }
        guard hasHeader, case let header = try header(of: published), !header.isStreaming else {
            guard let published else { throw contradiction() }
            return (published, nil)
        }
        if let published, header.liveTopRef == UInt64(published.topRef.offset) { return (published, header) }
        guard let found = try versionOfHeader(header) else {
            guard let published else { throw contradiction() }
            return (published, header)
        }
        let isKnown = found == lastWritten || found == shared.entry(found.number)
        let isRight: Bool
        if let published {
            // A writer died before it published, or the words that name the newest version are an older one's.
            isRight =
                found.number > published.number && (isKnown || found.number == published.number + 1)
                || found.number == published.number && found == lastWritten
        } else {
            isRight = isKnown || found.number == shared.newestNumber
        }
        if isRight {
            publish(found)
            return (found, header)
        }
        guard let published else { throw contradiction() }
        return (published, header)
    }

    /// Makes `version` the newest version for everybody. The holder of the write lock.
    func publish(_ version: SharedState.Version) {
        lastWritten = version
        ownNumber.store(version.number, ordering: .relaxed)
        lockFile?.shared.publish(version)
        lockFile?.shared.noteHeader(of: 0)
    }
}
