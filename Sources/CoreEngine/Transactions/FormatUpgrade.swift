/// Upgrades files of formats 10, 11 and 20–23 to format 24 when they are first opened for writing: in one transaction,
/// so that a crash leaves the old file or the new one. Files of formats 2–9 are upgraded by a copy, which then replaces
/// the file. Format: logical §11, storage §8.4.
enum FormatUpgrade {
    /// Backups older than this many seconds are removed when a file is opened.
    private static let backupLifetime = 8_035_200

    /// Upgrades the file that `db` opened. Another process may be faster: then nothing is left to do.
    /// - Returns: false when nothing was done, because other processes have the file open.
    static func run(_ db: Database) throws(RealmError) -> Bool {
        let transaction = try Transaction(db)
        defer { transaction.close() }
        if OldFormats.isRead(db.format) { return try replace(db, transaction) }
        do throws(RealmError) { _ = try transaction.beginWrite() } catch {
            if try db.upgradedFormat() != nil { return true }
            throw error
        }
        let group = transaction.group
        for i in group.liveIndexes { try group.table(at: i).upgradeLinkListKeys() }
        for i in group.liveIndexes {
            let table = try group.table(at: i)
            if group.format == 22 && table.kind == .asymmetric { try group.delete(table, try table.allKeys()) }
            try table.upgradeCollections(from: group.format)
            if group.format < 22, let pk = table.primaryKey, try table.index(of: pk.index) == nil {
                try table.addIndex(pk.index, fullText: false)
            }
        }
        try transaction.commit()
        return true
    }

    // MARK: By a copy

    private static func replace(_ db: Database, _ transaction: Transaction) throws(RealmError) -> Bool {
        try transaction.beginRead()
        let group = transaction.group
        return try transaction.store.during(.copying) { () throws(RealmError) in
            try db.rewrite(
                db.file.encryption, keepsForm: true, for: transaction,
                form: (transaction.store, group.namesRef, group.tablesRef))
        }
    }

    /// Completes a copy that has no name yet: adds the indexes.
    static func finish(
        _ path: String, _ encryption: Encryption?, _ durability: Durability
    ) throws(RealmError) -> (number: UInt64, end: (topRef: Ref, logicalSize: Int)) {
        let lock = path + ".lock"
        _ = try? FileSystem.remove(lock)
        defer { _ = try? FileSystem.remove(lock) }
        let db = try Database(
            path: path, access: .readWrite(create: false), durability: durability, upgrades: true, encryption, .endless)
        let transaction = try Transaction(db)
        defer { transaction.close() }
        _ = try transaction.beginWrite()
        for i in transaction.group.liveIndexes {
            let table = try transaction.group.table(at: i)
            for column in table.publicColumns
            where column.key == table.primaryKey || column.attributes.contains(.indexed) && !column.isCollection {
                if try table.index(of: column.index) == nil { try table.addIndex(column.index, fullText: false) }
            }
        }
        try transaction.commit()
        return (transaction.version, (transaction.topRef, transaction.logicalSize))
    }

    // MARK: Backups

    /// As `keepBackup`, but the upgrade needs the backup: such an old format may contain data that the newest one
    /// cannot store, such as binaries of more than 16 MB. When the name belongs to something other than a copy of this
    /// file, the backup gets a number.
    static func requireBackup(_ path: String, format: UInt8) throws(RealmError) {
        for number in 1...99 {
            let name = prefix(path) + "v\(format)" + (number == 1 ? "" : "-\(number)") + suffix
            if FileSystem.isCopy(name, of: path) { return }
            if !FileSystem.exists(name), FileSystem.copy(path, to: name), FileSystem.isCopy(name, of: path) { return }
            if !FileSystem.exists(name) { break }
        }
        throw RealmError(
            .fileOperationFailed,
            "The Realm file at path '\(path)' has format \(format) and is upgraded after a backup, which cannot be written beside it",
            path: path)
    }

    private static let suffix = ".backup.realm"

    private static func backupName(_ path: String, _ format: UInt8) -> String { prefix(path) + "v\(format)" + suffix }

    private static func prefix(_ path: String) -> String {
        if path.hasSuffix(".realm") { return String(path.dropLast(5)) }
        return path.hasSuffix(".") ? path : path + "."
    }

    /// Copies a file before its upgrade, once; if the copy cannot be made, the upgrade continues. Removes old backups,
    /// except those of formats 2 to 9, which may contain data that the upgrade could not keep.
    static func keepBackup(_ path: String, format: UInt8) {
        let start = prefix(path)
        for old in ["v23", "v22", "v21", "v20", "v11", "v10"] {
            let name = start + old + suffix
            if let age = FileSystem.age(name), age > backupLifetime { _ = try? FileSystem.remove(name) }
        }
        let name = backupName(path, format)
        guard format != 0, format < Format.currentVersion, !FileSystem.exists(name) else { return }
        _ = FileSystem.copy(path, to: name)
    }
}
