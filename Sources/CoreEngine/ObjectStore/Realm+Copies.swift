/// Compaction, copies and changes of key. Rules: live-objects §3.6, storage §8.
extension Realm {
    /// Rewrites the file without its free space. Objects, collections and results stay good; a read transaction ends.
    ///
    /// Memory is bounded, whatever the size of the file; disk space for a second file is needed meanwhile. A crash
    /// leaves the old file or the new one.
    /// - Returns: whether it was done: not while another instance or process has the file open, or something keeps a
    ///   version of it (frozen Realms, references to results, observers of what this Realm shows).
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

    private func checkReplaceable(_ what: String) throws(RealmError) {
        guard !isFrozen else { throw frozenError(what) }
        guard database.isWritable, configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly else {
            throw RealmError(.wrongTransactionState, "Can't \(what) a read-only Realm.")
        }
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "Can't \(what) a Realm within a write transaction.")
        }
        // Those whose handles are gone keep no version any more.
        _ = notifiers.live()
    }

    /// Asks the configuration's function whether the file should be compacted. A compaction that fails does not stop
    /// the open.
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

    /// Writes the snapshot that this Realm looks at, in a write transaction its present state, to a new file without
    /// free space: a backup, a file with another key, or a plain one.
    ///
    /// - Parameters:
    ///   - path: where; 1020 when something is there.
    ///   - encryption: what opens the copy; nil for a plain file.
    public func writeCopy(to path: String, encryption: Encryption? = nil) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        let wasReading = isReading
        try reading().writeCopy(to: path, encryption)
        if !wasReading { transaction.endRead() }
    }

    /// As `writeCopy`, with path and key of a configuration.
    ///
    /// - Parameter merging: a file that is there gets the objects of this Realm, one by one, in one write transaction:
    ///   those with a primary key that it has are overwritten, the others added. Every class needs a primary key
    ///   (1002), embedded ones aside.
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

    /// Gives the file another key or passphrase, encrypts a plain one, or decrypts it (nil).
    ///
    /// From one key or passphrase to another of CRealm's form only the key block changes, in place: whoever has the old
    /// key and an old copy of the file's beginning can still read it. A copy (`writeCopy`) has new keys throughout.
    /// Other changes rewrite the file as `compact` does.
    /// - Throws: 2012 where `compact` would do nothing, 2005 inside a write transaction or for a Realm opened for
    ///   reading only.
    public func changeKey(to encryption: Encryption?) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        try checkReplaceable("change the key of")
        var changed = configuration
        changed.take(encryption)
        try changed.check()
        stateCount &+= 1
        // Also where it is not certain that the disk will say so: what this Realm has open is the file with the new
        // key.
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
