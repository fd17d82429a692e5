/// Makes an empty database in a file, converts a streaming file, repairs what a crash left, and changes the secret.
///
/// Thread rule: while no other process has the file open, or under the locks that each function names.
extension DatabaseFile {
    /// Makes an empty database in a file of size 0. Format: storage §1.2.
    /// - Parameter model: a file whose form and keys are used instead of `encryption`.
    func initialize(durable: Bool, like model: DatabaseFile? = nil) throws(RealmError) {
        let mine = file
        if let form = try model?.pages?.withForm({ (form) throws(RealmError) in try form.sibling(in: mine) }) {
            return try initialize(form, durable)
        }
        guard let encryption else {
            var page = [UInt8](repeating: 0, count: Platform.pageSize)
            page.withUnsafeMutableBytes { FileHeader().encode(into: $0.start) }
            try write(page, at: 0)
            if durable {
                try file.synchronizeData()
                headerState = .onDisk
            }
            return
        }
        if encryption.cipher == .realm { return try adopt(try RealmForm.create(file, encryption, durable: durable)) }
        try initialize(try SealedForm.create(file, encryption), durable)
    }

    private func initialize(_ form: any PageForm, _ durable: Bool) throws(RealmError) {
        try adopt(form)
        // Realm's form creates its first page itself.
        guard try form.pageCount == 0 else { return }
        try resize(to: form.pageSize, filled: true)
        var page = [UInt8](repeating: 0, count: form.pageSize)
        page.withUnsafeMutableBytes { FileHeader().encode(into: $0.start) }
        try write(page, at: 0)
        try put(FileHeader(), flipped: 0, logicalSize: 0, durable: durable)
        try form.finishCreation()
        if durable { try file.synchronizeData() }
    }

    /// Empties a file that an earlier in-memory session left when its process died: such a file has no snapshot on the
    /// disk.
    func emptyForMemory() throws(RealmError) {
        if try file.size() > 0, try readHeader().liveTopRef != 0 {
            throw RealmError(
                .fileAlreadyExists,
                "There is a Realm file at path '\(path)' already: a Realm in memory would replace and remove it. Choose another path",
                path: path)
        }
        try file.truncate(to: 0)
    }

    /// Turns a streaming file into a normal one, in two ordered steps. Format: storage §1.3.
    func convertFromStreaming(_ state: State) throws(RealmError) {
        var header = state.header
        header.topRefs.1 = UInt64(state.topRef.offset)
        header.formats.1 = header.formats.0
        try put(header, flipped: header.flags | 1, logicalSize: state.logicalSize, durable: true)
    }

    /// Completes what a crash left half-written, before anything else is written. Only while no other process writes.
    func repair() throws(RealmError) { try pages?.withForm { (form) throws(RealmError) in try form.repair() } }

    /// Completes a change of key that a crash interrupted. Only while no other process opens the file.
    func settleSecret() throws(RealmError) {
        try pages?.withForm { (form) throws(RealmError) in try form.settleSecret() }
    }

    /// Changes the secret of a file whose pages stay unchanged. False when the form has no separate secret.
    func changeSecret(_ encryption: Encryption) throws(RealmError) -> Bool {
        guard let pages, try pages.withForm({ (form) throws(RealmError) in try form.changeSecret(encryption) }) else {
            return false
        }
        secret.with { $0 = encryption }
        return true
    }

    /// Cuts what is beyond the logical end, or completes the last page. Only while no other process has the file open.
    /// Returns whether anything changed. Format: storage §5.4.
    func align(_ state: State) throws(RealmError) -> Bool {
        var wanted = Format.roundUp(state.logicalSize, to: pageSize)
        if isEncrypted {
            try cutRemainder()
            try repair()
            guard wanted > state.physicalSize else { return false }
            try resize(to: wanted, filled: false)
            return true
        }
        let size = try file.size()
        if state.topRef.isNull { wanted = Format.roundUp(size, to: Platform.pageSize) }
        guard wanted != size else { return false }
        // The header on the disk may still lead to the part that is cut off.
        if wanted < size { try confirmHeader() }
        try file.truncate(to: wanted)
        return true
    }
}
