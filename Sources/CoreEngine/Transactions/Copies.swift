import Synchronization

/// Copies of snapshots, and rewriting a file in place. Format: storage §8; rules: live-objects §3.6.
extension Transaction {
    /// The size of the snapshot's file in bytes, and the bytes of it that are not free.
    func usage() throws(RealmError) -> (total: UInt64, used: UInt64) {
        guard !topRef.isNull else {
            return (UInt64(max(try database.file.dataSize(), database.file.pageSize)), UInt64(Format.headerSize))
        }
        let lists = try database.file.topFields(store, topRef, physicalSize: logicalSize).freeLists
        let free = try store.freeBytes(lists.lengths, most: logicalSize)
        return (UInt64(logicalSize), UInt64(logicalSize - free))
    }

    /// Writes the snapshot, or in a write transaction its present state, to a new file. An error leaves no file behind.
    func writeCopy(to given: String, _ encryption: Encryption?) throws(RealmError) {
        try store.during(.copying) { () throws(RealmError) in
            try copySnapshot(to: try FileSystem.canonical(given), encryption)
        }
    }

    private func copySnapshot(to path: String, _ encryption: Encryption?) throws(RealmError) {
        guard stage == .reading || stage == .writing else {
            throw RealmError(.wrongTransactionState, "A copy needs a snapshot")
        }
        if let damage { throw damage }
        guard !FileSystem.exists(path) else { throw FileSystem.alreadyExists(path) }
        try Self.makingCopy(path) { (temporary) throws(RealmError) in
            let copy = try DatabaseFile(
                path: temporary, access: .createNew, needsSlab: false, encryption: encryption, room: store.extent,
                permissions: try database.file.file.permissions())
            // While this process lives, no other process takes the copy for an abandoned one. Where the file system has
            // no such locks, no process removes abandoned copies.
            _ = copy.file.tryLock(.exclusive)
            copy.file.copyPermissions(of: database.file.file)
            try copy.initialize(durable: false)
            var content = CopyWriter.Content(
                topRef: topRef, logicalSize: logicalSize, format: database.format, keepsSyncFileId: false)
            content.interruption = interruption
            if stage == .writing {
                do throws(RealmError) { try group.flush() } catch {
                    noteFailure(error)
                    throw error
                }
                content.running = (store, group.namesRef, group.tablesRef)
            }
            if try CopyWriter.copy(content, of: database.file, into: copy, durable: true).topRef.isNull {
                try copy.file.synchronizeData()
            }
            return copy.file
        }
    }

    /// Makes a new file: `body` writes it under a temporary name, completely and to the disk, and returns it. It gets its
    /// name when it is complete: a crash leaves no incomplete file under that name.
    static func makingCopy(_ path: String, _ body: (_ temporary: String) throws(RealmError) -> FileDescriptor)
        throws(RealmError)
    {
        removeAbandonedCopies(path)
        FileSystem.removeAbandoned(in: FileSystem.parent(of: path), suffix: copySuffix)
        let number = "\(Platform.processId)_\(copyNumber.add(1, ordering: .relaxed).newValue)"
        let temporary = FileSystem.temporary(path, copySuffix + number)
        try making(temporary) { () throws(RealmError) in try body(temporary).renameKeeping(path) }
        try making(path) { () throws(RealmError) in try FileSystem.synchronizeFolder(of: path) }
    }

    private static let copyNumber = Atomic(0)
    private static let copySuffix = ".tmp_copy_"

    /// Removes unfinished copies to `path` that processes left when they died: their names contain the process id and a
    /// number.
    fileprivate static func removeAbandonedCopies(_ path: String) {
        FileSystem.removeAbandoned(FileSystem.temporary(path, copySuffix)) { rest in
            let numbers = rest.split(separator: "_", omittingEmptySubsequences: false)
            return numbers.count == 2
                && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }
        }
    }

    /// Runs `body`, which makes a file; after an error the file is removed.
    fileprivate static func making(_ path: String, _ body: () throws(RealmError) -> Void) throws(RealmError) {
        do { try body() } catch {
            _ = try? FileSystem.remove(path)
            throw error
        }
    }

    /// Rewrites the file without free space. Returns false when it has other users: then nothing was done. The read
    /// transaction ends in any case.
    func compact() throws(RealmError) -> Bool {
        endRead()
        return try database.exclusively { () throws(RealmError) in
            try store.during(.copying) { () throws(RealmError) in
                try database.rewrite(database.file.encryption, keepsForm: true, for: self)
            }
        } ?? false
    }

    /// Whether the file is open here with this key or passphrase.
    func opens(with encryption: Encryption?) -> Bool { database.file.encryption == encryption }

    /// Changes or removes the key or passphrase of the file. A file in CRealm's form gets a new key block; every other
    /// change is a change of form, for which the file is rewritten. Returns false when the file has other users: then
    /// nothing was done. The read transaction ends in any case.
    func changeEncryption(to new: Encryption?) throws(RealmError) -> Bool {
        endRead()
        return try database.exclusively { () throws(RealmError) in
            if let new, new.cipher != .realm, try database.rewrap(new) { return true }
            return try store.during(.copying) { () throws(RealmError) in
                try database.rewrite(new, keepsForm: false, for: self)
            }
        } ?? false
    }
}

extension Database {
    private func ownSession() throws(RealmError) -> LockFile {
        guard let lockFile, isWritable, belongsToThisProcess else {
            throw RealmError(
                .wrongTransactionState, "The file was opened for reading only, or by the parent process", path: path)
        }
        return lockFile
    }

    /// Runs `body` as the only user of the file, holding the write lock; false when another process has it open. The
    /// caller is the only user in this process, and no thread opens the file here meanwhile, because the file at the
    /// path and the state that this process keeps of the file change together.
    /// - Parameter isOpening: whether the file is just being opened, so that this object has never written to it.
    private func alone(isOpening: Bool = false, _ body: (LockFile) throws(RealmError) -> Bool) throws(RealmError)
        -> Bool
    {
        let lockFile = try ownSession()
        if isOpening {
            return try lockFile.withControlLock { () throws(RealmError) in
                lockFile.isLastMember ? try body(lockFile) : false
            }
        }
        return try DatabaseRegistry.atGate(path) { () throws(RealmError) in
            try lockFile.withControlLock { () throws(RealmError) in
                guard lockFile.isLastMember else { return false }
                // Also publishes a version that a writer left behind when it died.
                try lockForWriting()
                defer { unlockForWriting() }
                return try body(lockFile)
            }
        }
    }

    /// The name of the copy that is to replace the file. The copy exists only while its process has the control lock.
    static func compactionSpace(_ path: String) -> String { FileSystem.temporary(path, ".tmp_compaction_space") }

    /// Replaces the file by a copy of its newest snapshot. The caller is the only user of the file in this process.
    ///
    /// A crash leaves the old file or the new one; the next attempt removes temporary files that it left, and so does
    /// the next open for writing.
    /// - Parameter form: the snapshot in the current form, for a file of a format that is upgraded by a copy.
    func rewrite(
        _ encryption: Encryption?, keepsForm: Bool, for user: Transaction,
        form: (store: NodeStore, names: Ref, tables: Ref)? = nil
    ) throws(RealmError) -> Bool {
        try alone(isOpening: form != nil) { (lockFile) throws(RealmError) in
            let newest = try newestOfSession().0
            if form != nil { try FormatUpgrade.requireBackup(path, format: format) }
            let isDurable = durability == .full
            let name = path
            let temporary = Self.compactionSpace(name)
            try FileSystem.remove(temporary)
            Transaction.removeAbandonedCopies(name)
            var isNameCertain = true
            try Transaction.making(temporary) { () throws(RealmError) in
                var copy = try DatabaseFile(
                    path: temporary, access: .createNew, needsSlab: false, encryption: encryption,
                    room: newest.logicalSize,
                    permissions: try file.file.permissions())
                copy.file.setRights(try file.file.rights())
                try copy.initialize(durable: false, like: keepsForm ? file : nil)
                var content = CopyWriter.Content(
                    topRef: newest.topRef, logicalSize: newest.logicalSize, format: format, keepsSyncFileId: true)
                content.interruption = user.interruption
                if let form {
                    content.format = Format.currentVersion
                    content.running = form
                }
                var new = (
                    number: newest.number, end: try CopyWriter.copy(content, of: file, into: copy, durable: isDurable)
                )
                if form != nil {
                    new = try FormatUpgrade.finish(temporary, encryption, durability)
                    copy = try DatabaseFile(
                        path: temporary, access: .readWrite, needsSlab: false, encryption: encryption,
                        room: newest.logicalSize)
                }
                if isDurable { try copy.file.synchronizeData() }
                let identity = try copy.file.identity()
                let claim = try lockFile.claim(temporary, identity)
                try file.replace(with: copy, encryption) { () throws(RealmError) in
                    // If this process dies before the new version is published, the process that waits for the control
                    // lock becomes the first of a new session.
                    lockFile.shared.isUncertain = true
                    try copy.file.rename(to: name)
                }
                // The new file is valid, whatever the folder says; but nothing is written to it until its folder entry
                // is on the disk.
                isNameCertain = (try? FileSystem.synchronizeFolder(of: name)) != nil
                if isNameCertain { lockFile.shared.isUncertain = false }
                publish(
                    SharedState.Version(
                        number: new.number, topRef: new.end.topRef,
                        logicalSize: new.end.topRef.isNull ? newest.logicalSize : new.end.logicalSize))
                lockFile.hold(claim)
                DatabaseRegistry.change(self, to: identity)
            }
            user.fileChanged()
            guard isNameCertain || keepsForm || !isDurable else {
                throw RealmError(
                    .commitOutcomeUnknown,
                    "The file has its new key, but its folder could not be written to the disk: "
                        + "after a failure of power it may be the old file, with the "
                        + "old key. Keep both", path: path)
            }
            return true
        }
    }

    /// Changes the secret of a file in CRealm's form; false when it is in another form, or has other users.
    fileprivate func rewrap(_ encryption: Encryption) throws(RealmError) -> Bool {
        try alone { (_) throws(RealmError) in try file.changeSecret(encryption) }
    }
}
