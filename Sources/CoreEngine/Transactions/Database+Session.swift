/// Compares the content of the session with other sources: the file, its locks, and what this process itself has
/// written.
///
/// Any program may write any word of the lock file. The worst effects of a wrong word are: a call fails with an error
/// that says so, or space stays in use for longer. Because of a wrong word, no version becomes the newest one if the
/// file does not contain it as its newest version.
extension Database {
    /// The slots in which this process holds versions.
    ///
    /// While the pins are few, each of them has a separate slot, with the thread and the time of the pin. After that,
    /// pins of the same version share a slot: a program with thousands of Realms needs only as many slots as these have
    /// different versions.
    struct Pins {
        /// The number of pins, and the number of slots that they use.
        private(set) var count = 0
        private(set) var slots = 0

        /// The slots that may be shared (`shared`, by version), and their versions and numbers of pins (`users`, by
        /// slot).
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

        /// Removes a pin; returns true when its slot is no longer used.
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

        /// Whether the user of a slot is its only user, and may move it to another version.
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

    /// The number of attempts to pin a version while writers publish newer ones.
    private static let mostAttempts = 2_000

    /// The number of attempts in which the lock file contradicts the file, and how many of them come without a pause.
    private static let mostContradictions = 100, hastyContradictions = 10

    /// Pins the newest version, in a reader slot.
    func pinNewest(isBrief: Bool = false) throws(RealmError) -> (SharedState.Version, slot: Int) {
        if let fixed { return (fixed, -1) }
        try checkProcess()
        guard let lockFile else { throw RealmError(.brokenInvariant, "No session") }
        var failure: RealmError?
        // A writer that publishes a newer version during the comparison contradicts nothing.
        var contradictions = 0
        for _ in 0..<Self.mostAttempts where contradictions < Self.mostContradictions {
            var hasMovedOn = false
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
                hasMovedOn = lockFile.shared.newestNumber != pinned.0.number
                unpin(pinned.slot)
            } catch {
                guard error.code == .brokenInvariant else { throw error }
                failure = error
            }
            if hasMovedOn { continue }
            // A writer may be waiting for a processor in the middle of publishing, or a program wrote into the lock
            // file. A process that may write repairs that while no writer is active.
            contradictions += 1
            if contradictions % Self.hastyContradictions == 0, putRight() { continue }
            if contradictions >= Self.hastyContradictions { Platform.sleep(microseconds: 5000) }
        }
        throw failure ?? contradiction()
    }

    func unpin(_ slot: Int) {
        guard belongsToThisProcess, slot >= 0 else { return }
        users.with { if $0.pins.remove(from: slot) { lockFile?.shared.unpin(slot) } }
    }

    /// Moves a pin of the holder of the write lock to the version that it published; false when other readers share the
    /// slot.
    func movePin(_ slot: Int, to version: SharedState.Version) -> Bool {
        guard slot >= 0 else { return true }
        return users.with { users in
            guard users.pins.move(slot, to: version.number) else { return false }
            lockFile?.shared.movePin(slot: slot, to: version)
            return true
        }
    }

    /// Throws when this process keeps so many versions that none would be left for its transactions.
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

    /// Whether a published version can be compared with the header: files in memory have no valid header, and files of
    /// older formats stay unchanged.
    private var hasHeader: Bool { durability != .memoryOnly && !OldFormats.isRead(format) }

    /// Whether a version that the session calls the newest can be the newest according to the file. Also false when a
    /// writer has published a newer version meanwhile.
    private func isNewest(_ version: SharedState.Version) throws(RealmError) -> Bool {
        guard hasHeader, let lockFile, version.number != ownNumber.load(ordering: .relaxed) else { return true }
        // The header is written before its version is published, and remains when the writer dies in between.
        func hasNext() -> Bool {
            lockFile.shared.isHeaderNoted(of: version.number + 1) && lockFile.shared.newestNumber == version.number
        }
        if hasNext() { return true }
        let header = try header(of: version)
        if header.liveTopRef == UInt64(version.topRef.offset) || header.isStreaming || hasNext() { return true }
        guard lockFile.shared.newestNumber == version.number else { return false }
        guard let inFile = try versionOfHeader(header) else {
            // A crash tore the header, and no process that may write has opened the file since.
            guard !file.isEncrypted, let found = try? file.newestState(readOnly: true).state else { return false }
            return found.topRef == version.topRef && found.version == version.number
        }
        // Commits that are flushed as a group are published before the header is written. And after a crash, the header
        // stays behind a commit that a record describes until a process that can write opens the file.
        return inFile.number < version.number
    }

    /// The header of a file that contains a version. If the file was truncated, the error says that pages of the file
    /// are lost, whatever else is wrong.
    private func header(of version: SharedState.Version?) throws(RealmError) -> FileHeader {
        do throws(RealmError) { return try file.readHeader() } catch {
            if let version { try file.verifyLength(version.logicalSize) }
            throw error
        }
    }

    /// The version to which the header leads; nil if this version cannot be read, because the header has changed.
    private func versionOfHeader(_ header: FileHeader) throws(RealmError) -> SharedState.Version? {
        guard header.liveTopRef > 0 else {
            return SharedState.Version(number: 1, topRef: .null, logicalSize: Format.headerSize)
        }
        return try RealmError.unlessDamaged { () throws(RealmError) -> SharedState.Version? in
            // Decrypted pages in memory may be of an older version.
            let looked = file.isEncrypted ? try DatabaseFile(viewing: file) : file
            let size = try looked.dataSize() & ~7
            guard header.liveTopRef % 8 == 0, header.liveTopRef < UInt64(size) else { return nil }
            try looked.ensureMapped(size)
            let top = Ref(Int(header.liveTopRef))
            let fields = try looked.topFields(top, physicalSize: size)
            return SharedState.Version(number: fields.version, topRef: top, logicalSize: fields.logicalSize)
        } ?? nil
    }

    /// A version as the file describes it, if it is the one in the header.
    private func version(_ number: UInt64) -> SharedState.Version? {
        guard hasHeader, let header = try? file.readHeader(), !header.isStreaming,
            let found = try? versionOfHeader(header), found.number == number
        else { return nil }
        return found
    }

    /// Corrects the words of the session that contradict the file, if no process writes now and this process may write.
    /// Returns whether the words were corrected.
    private func putRight() -> Bool {
        guard isWritable, hasHeader, (try? takeFreeLock(at: Platform.noThread)) ?? false else { return false }
        unlockForWriting()
        return true
    }

    /// The newest version, for the holder of the write lock, whatever the lock file contains; wrong words are repaired.
    /// - Returns: also the header of the file, if it was read.
    /// - Throws: when the content of the file does not belong to the session.
    func newestOfSession() throws(RealmError) -> (SharedState.Version, FileHeader?) {
        guard let lockFile else { throw RealmError(.brokenInvariant, "No session") }
        let shared = lockFile.shared
        var published = shared.newest()
        if published == nil, let own = lastWritten, own.number == shared.newestNumber {
            // The entry in the ring is not the one that this database has written.
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
            // A writer died before it published the version, or the words that name the newest version are those of an
            // older one.
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

    /// Makes a version the newest for all processes. For the holder of the write lock.
    func publish(_ version: SharedState.Version) {
        lastWritten = version
        ownNumber.store(version.number, ordering: .relaxed)
        lockFile?.shared.publish(version)
        lockFile?.shared.noteHeader(of: 0)
    }
}
