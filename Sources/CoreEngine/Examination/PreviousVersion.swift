/// Opens the version of the unselected slot of the header: the state before the newest commit.
///
/// It is returned only if it is intact: its slot leads to a top array of an earlier version, nothing shows that a later
/// commit overwrote it (`SlotReuse`), and a full check finds no fault. A wrong value is then possible only if an
/// interrupted commit put a node of exactly the same form in the place of an old one.
extension Database {
    /// - Parameter isSnapshot: opens a private copy, because other processes may be writing the file.
    /// - Throws: 9005 if this version no longer exists.
    static func openPrevious(
        path: String, isSnapshot: Bool, _ encryption: Encryption?, _ interruption: Interruption
    ) throws(RealmError) -> Database {
        let file =
            isSnapshot
            ? try PrivateCopy.take(of: try FileDescriptor(path: path, access: .readOnly), path: path, encryption)
            : try DatabaseFile(path: path, access: .readOnly, needsSlab: false, encryption: encryption)
        let (state, newest) = try previousState(of: file, interruption)
        let database = try Database(file, fixedAt: state, isSnapshot ? .snapshot : .immutable)
        do throws(RealmError) {
            let transaction = try Transaction(database)
            defer { transaction.close() }
            transaction.interruption = interruption
            try transaction.beginRead()
            let faults = try interruption.during(.checking) { () throws(RealmError) in
                try Verifier(transaction, limit: 1).run()
            }
            if let first = faults.first.first { throw RealmError(.invalidDatabase, first.message) }
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat else { throw error }
            let why = SlotReuse.byUpgrade(of: state, to: newest, error) ?? error.message
            throw gone(path, "version \(state.version) is not whole any more: \(why)")
        }
        return database
    }

    /// - Returns: the version, and the newest one if it can be read.
    private static func previousState(
        of file: DatabaseFile, _ interruption: Interruption
    ) throws(RealmError) -> (DatabaseFile.State, newest: DatabaseFile.State?) {
        guard try file.dataSize() > 0 else { throw gone(file.path, "the file is empty") }
        // The newest version may be damaged; only its state is needed.
        let newest = try RealmError.unlessDamaged { () throws(RealmError) in try file.newestState(readOnly: true).state
        }
        let header = try file.readHeader()
        guard header.hasMnemonic else {
            throw file.invalid(
                "not a Realm file, encrypted with a key that was not given, or corrupt (invalid mnemonic)")
        }
        let other = header.selecting(slot: 1 - header.liveSlot)
        guard !header.isStreaming, other.liveTopRef != 0, other.liveTopRef != FileHeader.streamingMark else {
            throw gone(file.path, "it was committed to only once, or written in one piece")
        }
        guard other.liveTopRef != header.liveTopRef else {
            throw gone(file.path, "both slots of its header lead to the same version")
        }
        let state: DatabaseFile.State
        do throws(RealmError) { state = try file.examine(other, readOnly: true) } catch {
            guard error.isDamage else { throw error }
            throw gone(file.path, "the other slot of its header leads to no version (\(error.message))")
        }
        guard let newest else { return (state, nil) }
        guard state.version < newest.version else {
            throw gone(
                file.path, "the other slot of its header leads to version \(state.version), which was not committed")
        }
        let proof = try interruption.during(.checking) { () throws(RealmError) in
            try SlotReuse.proof(that: state, isNotWholeBeside: newest, in: file, interruption)
        }
        if let proof { throw gone(file.path, "version \(state.version) was written over: \(proof.message)") }
        return (state, newest)
    }

    private static func gone(_ path: String, _ what: String) -> RealmError {
        RealmError(
            .versionGone, "The Realm file at path '\(path)' has no version before the newest one: \(what)", path: path)
    }
}
