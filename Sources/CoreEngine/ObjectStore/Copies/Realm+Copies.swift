/// Compaction, copies and changes of the encryption key. Rules: live-objects §3.6, storage §8.
extension Realm {
    /// Rewrites the file without its free space. Objects, collections and results stay valid; a read transaction ends.
    ///
    /// The call needs a bounded amount of memory for any size of the file, and disk space for a second file while it
    /// runs. After a crash the file is the old one or the new one.
    /// - Returns: whether the file was rewritten. It is not rewritten while another instance or process has the file
    ///   open, or while a version of it is in use (frozen Realms, references to results, observers of what this Realm
    ///   shows).
    /// - Throws: 2005 inside a write transaction, and for a Realm opened for reading only.
    @discardableResult
    public func compact() throws(RealmError) -> Bool {
        try enter(.realm)
        defer { leave() }
        try checkReplaceable("compact")
        stateCount &+= 1
        let done = try transaction.compact()
        Log.write(
            .storage, .debug,
            done ? "Compacted: \(configuration.path)" : "Not compacted, somebody else uses it: \(configuration.path)")
        return done
    }

    /// Makes the file shorter while it stays in use: other instances and processes go on to read and write it.
    ///
    /// The call makes commits without changes. Each moves some data from the end of the file to free space further in;
    /// when the end is free and no version that is in use reaches there, it is cut off. So a version that somebody
    /// keeps limits what can be gained. A file stays as it is when less than 16 KB of it, or less than a 32nd, is free.
    /// After an error or an interruption the file is sound, and as short as it has become.
    /// - Returns: the size of the file in bytes before and after the call.
    /// - Throws: 2005 inside a write transaction, and for a Realm opened for reading only.
    @discardableResult
    public func compactOnline() throws(RealmError) -> (before: Int, after: Int) {
        try enter(.realm)
        defer { leave() }
        try checkReplaceable("compact")
        guard !configuration.isInMemory else {
            throw RealmError(.illegalCombination, "A Realm in memory has no file that could become shorter")
        }
        try refresh()
        let before = try transaction.fileSize()
        try transaction.shrinkNow { () throws(RealmError) in
            try beginWrite()
            do throws(RealmError) { try commitWrite() } catch {
                if isWriting { try? cancelWrite() }
                throw error
            }
        }
        return (before, try transaction.fileSize())
    }

    private func checkReplaceable(_ what: String) throws(RealmError) {
        guard !isFrozen else { throw frozenError(what) }
        guard database.isWritable, configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly else {
            throw RealmError(.wrongTransactionState, "Can't \(what) a read-only Realm.")
        }
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "Can't \(what) a Realm within a write transaction.")
        }
        // Removes notifiers whose handles were released: they would still pin a version.
        _ = notifiers.live()
    }

    /// Asks the configuration's function whether to compact the file. A compaction that fails does not stop the open.
    func offerCompaction() throws(RealmError) {
        guard let ask = configuration.shouldCompact, database.isWritable else { return }
        try transaction.beginRead()
        let (total, used) = try transaction.usage()
        transaction.endRead()
        guard used < total else { return }
        let wanted: Bool
        do { wanted = try ask(total, used) } catch { throw Self.callbackError(error) }
        guard wanted else { return }
        do throws(RealmError) { _ = try transaction.compact() } catch {
            if error.code == .interrupted { throw error }
            Log.write(.storage, .warning, "Compaction at the open failed: \(error.message)")
        }
    }

    /// Writes the snapshot of this Realm, or inside a write transaction its current state, to a new file without free
    /// space: a backup, a file with another key, or a plain file.
    ///
    /// - Parameters:
    ///   - path: the new file; 1020 when a file exists there.
    ///   - encryption: the encryption of the copy; nil for a plain file.
    public func writeCopy(to path: String, encryption: Encryption? = nil) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        let wasReading = isReading
        try reading().writeCopy(to: path, encryption)
        if !wasReading { transaction.endRead() }
    }

    /// As `writeCopy`, with the path and the key of a configuration.
    ///
    /// - Parameter merging: if the file exists, it gets the objects of this Realm, one by one, in one write
    ///   transaction. Objects whose primary keys exist in the file are overwritten, the others are added. Every class
    ///   needs a primary key (1002), except embedded classes.
    public func convert(to configuration: RealmConfiguration, merging: Bool = false) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        try configuration.check()
        guard merging, FileSystem.exists(configuration.path) else {
            return try writeCopy(to: configuration.path, encryption: try configuration.encryption())
        }
        let wasReading = isReading
        try merge(into: configuration)
        if !wasReading { transaction.endRead() }
    }

    /// Changes the key or passphrase of the file, encrypts a plain file, or decrypts the file (nil).
    ///
    /// A change from one key or passphrase of CRealm's form to another rewrites only the key block, in place. An
    /// attacker with the old key and an old copy of the beginning of the file can still read the file. A copy
    /// (`writeCopy`) has new keys throughout. Other changes rewrite the file as `compact` does.
    /// - Throws: 2012 when `compact` would not rewrite the file; 2005 inside a write transaction, and for a Realm
    ///   opened for reading only.
    public func changeKey(to encryption: Encryption?) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        try checkReplaceable("change the key of")
        var changed = configuration
        changed.take(encryption)
        try changed.check()
        stateCount &+= 1
        // Also after an error that leaves the result on the disk uncertain: this Realm has the file with the new key
        // open.
        defer {
            if transaction.opens(with: encryption) {
                configuration = changed
                RealmCoordinator.update(self)
            }
        }
        guard try transaction.changeEncryption(to: encryption) else {
            throw RealmError(
                .deleteOpenedRealm,
                "Cannot change the key of '\(changed.path)', which is still in use: another instance or process has it open, or something keeps a version "
                    + "of it: a frozen Realm, a reference to results, or an observer of objects, collections or results, also of this Realm",
                path: changed.path)
        }
    }
}
