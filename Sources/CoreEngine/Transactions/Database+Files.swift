/// Queries and operations on the files of a database that need not be open.
extension Database {
    package static func parentExists(path: String) -> Bool { FileSystem.isDirectory(FileSystem.parent(of: path)) }

    /// Whether the format of the file at `path` is older than the one written. Reads the file, changes nothing.
    package static func needsFormatUpgrade(path: String, encryption: Encryption? = nil) throws(RealmError) -> Bool {
        try DatabaseFile.whileUnchanged(path) { () throws(RealmError) in
            guard FileSystem.exists(path) else { return false }
            let file = try DatabaseFile(path: path, access: .readOnly, needsSlab: false, encryption: encryption)
            guard try file.file.size() > 0 else { return false }
            let state = try file.newestState(readOnly: true).state
            return state.format != 0 && state.format < Format.currentVersion
        }
    }

    /// Removes the files of a database: the file itself, `.note`, `.log`, `.management`; never `.lock`. Returns whether
    /// the database file was removed.
    package static func deleteFiles(path given: String) throws(RealmError) -> Bool {
        let path = try FileSystem.canonical(given)
        guard FileSystem.isDirectory(FileSystem.parent(of: path)) else { return false }
        return try DatabaseRegistry.atGate(path) { () throws(RealmError) in try delete(path) }
    }

    private static func delete(_ path: String) throws(RealmError) -> Bool {
        func stillInUse() -> RealmError {
            RealmError(
                .deleteOpenedRealm, "Cannot delete files of an open Realm: '\(path)' is still in use", path: path)
        }
        if DatabaseRegistry.database(at: path) != nil { throw stillInUse() }
        let lockPath = path + ".lock"
        var lock: FileDescriptor?
        if FileSystem.exists(lockPath) {
            let file = try FileDescriptor(path: lockPath, access: .readWrite, isKeptFromChildren: true)
            guard try file.tryLockOrFail(.exclusive) else { throw stillInUse() }
            lock = file
        }
        defer { lock?.close() }
        let did = try FileSystem.remove(path)
        try FileSystem.remove(path + ".note")
        try FileSystem.remove(path + ".log")
        FileSystem.removeDirectory(path + ".management")
        return did
    }
}
