/// Opens a file: returns the object that this process already has, or makes a new one.
///
/// A file has one object in a process, under whatever names it is opened; a second open must ask for the same settings.
/// Opens of states and versions that never change (immutable, snapshot) have a separate object each, and no session.
extension Database {
    /// Opens the file, or returns the object that this process has already. A file of an older format is upgraded,
    /// after a backup, when it is opened for writing; when `upgrades` is false, the open fails with error 1024.
    package static func open(
        path given: String, access: Access, durability: Durability = .full, flushesTwice: Bool = false,
        upgrades: Bool = true,
        encryption: Encryption? = nil
    ) throws(RealmError) -> Database {
        try open(
            canonical: try FileSystem.canonical(given), access: access, durability: durability,
            flushesTwice: flushesTwice, upgrades: upgrades,
            encryption: encryption)
    }

    static func open(
        canonical path: String, access: Access, durability: Durability, flushesTwice: Bool, upgrades: Bool,
        encryption: Encryption?,
        patience: Patience = .endless
    ) throws(RealmError) -> Database {
        switch access {
        case .immutable: return try Database(immutable: path, encryption)
        case .snapshot: return try Database(snapshot: path, encryption)
        case .readWrite, .readOnly: break
        }
        return try DatabaseRegistry.atGate(path) { () throws(RealmError) in
            if let db = DatabaseRegistry.database(at: path), !db.isAbandoned {
                guard db.durability == durability else {
                    throw RealmError(
                        .mismatchedConfig,
                        "Realm at path '\(path)' already opened with different durability or in-memory settings",
                        path: path)
                }
                guard db.file.encryption == encryption else {
                    throw RealmError(
                        .mismatchedConfig, "Realm at path '\(path)' already opened with different encryption key.",
                        path: path)
                }
                try db.verifyWhole()
                let isEnough = if case .readWrite = access { db.isWritable } else { try db.upgradedFormat() == nil }
                if isEnough {
                    // Once one user asks for two flushes, all users get them.
                    if flushesTwice { db.flushesTwice.with { $0 = true } }
                    return db
                }
            }
            do throws(RealmError) {
                let db = try upgraded(path, access, durability, upgrades, encryption, patience)
                if flushesTwice { db.flushesTwice.with { $0 = true } }
                DatabaseRegistry.register(db)
                return db
            } catch {
                guard case .readOnly = access, error.code == .permissionDenied else { throw error }
                throw RealmError(
                    .permissionDenied,
                    "\(error.message). Reading a file that others may write takes part in its lock file; open it as immutable if nobody writes to it",
                    path: error.path ?? path)
            }
        }
    }

    private static func upgraded(
        _ path: String, _ access: Access, _ durability: Durability, _ upgrades: Bool, _ encryption: Encryption?,
        _ patience: Patience
    ) throws(RealmError) -> Database {
        // Several programs may open the file at once; one of them upgrades it when the others have closed it for a
        // moment. A program that only reads it may keep it open for hours: without a time limit, trying for about a
        // second is enough.
        func attempt() throws(RealmError) -> Database? {
            for _ in 0..<50 {
                let (db, isUpgraded) = try upgrading(path, access, durability, upgrades, encryption, patience)
                if db != nil || !isUpgraded { return db }
            }
            return nil
        }
        if let db = try attempt() { return db }
        return try patience.during { () throws(RealmError) in
            for round in 0... {
                try patience.test(path)
                if round >= 50, !patience.hasLimit { break }
                let pause =
                    1000 + min(UInt32(round), 50) * 1000 * (UInt32(truncatingIfNeeded: Platform.processId) % 7 + 1) / 4
                Platform.sleep(microseconds: min(pause, UInt32(patience.milliseconds(atMost: 100)) * 1000))
                if let db = try attempt() { return db }
            }
            throw RealmError(
                .incompatibleSession,
                "The Realm file at path '\(path)' has an old format and is open in another program: it is upgraded when nobody else has it open",
                path: path)
        }
    }

    /// Returns no database when the file was of an older format: then it must be opened again, whether the upgrade
    /// succeeded or not.
    private static func upgrading(
        _ path: String, _ access: Access, _ durability: Durability, _ upgrades: Bool, _ encryption: Encryption?,
        _ patience: Patience
    ) throws(RealmError) -> (database: Database?, isUpgraded: Bool) {
        let db = try Database(
            path: path, access: access, durability: durability, upgrades: upgrades, encryption, patience)
        guard db.isWritable, db.format != Format.currentVersion else { return (db, true) }
        return (nil, try FormatUpgrade.run(db))
    }

    convenience init(immutable path: String, _ encryption: Encryption?) throws(RealmError) {
        let file = try DatabaseFile(path: path, access: .readOnly, needsSlab: false, encryption: encryption)
        try self.init(file, fixedAt: try file.newestState(readOnly: true).state, .immutable)
    }

    convenience init(snapshot path: String, _ encryption: Encryption?) throws(RealmError) {
        let source = try FileDescriptor(path: path, access: .readOnly)
        let copy = try PrivateCopy.take(of: source, path: path, encryption)
        // The state to which a record leads may be a commit on its way to the disk, which can still fail: it is valid
        // only while no process has the file open.
        if LockFile.isClaimed(source),
            let state = try RealmError.unlessDamaged({ () throws(RealmError) in try copy.validate(readOnly: true) })
        {
            try self.init(copy, fixedAt: state, .snapshot)
        } else {
            try self.init(copy, fixedAt: try copy.newestState(readOnly: true).state, .snapshot)
        }
    }
}
