/// Values that contradict each other: what nobody loses when they are read, and what shows that one of them is wrong.
extension DamagedFile {
    /// How many faults of this kind the check of the version that a root leads to finds. Nodes that cannot be read are none of them, nor is space
    /// without an owner: the one is counted where the values are, and the other is of nobody.
    /// - Returns: nil where no version can be checked.
    func contradictions(of root: Root, _ interruption: Interruption) throws(RealmError) -> Int? {
        guard !root.top.isNull else { return nil }
        // A snapshot of an old format makes nodes, and needs a place of its own for them.
        let file = OldFormats.isRead(root.format) ? try DatabaseFile(viewing: file, needsSlab: true) : file
        do throws(RealmError) {
            try file.ensureMapped(size)
            let transaction = try Transaction(try Database(file, fixedAt: try state(of: root, in: file), .immutable))
            defer { transaction.close() }
            transaction.interruption = interruption
            try transaction.beginRead()
            return try Verifier(transaction, limit: 0).run().count(of: [.tree, .column, .value, .link, .index])
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat else { throw error }
            return nil
        }
    }
    private func state(of root: Root, in file: DatabaseFile) throws(RealmError) -> DatabaseFile.State {
        let top = UInt64(root.top.offset)
        var state = DatabaseFile.State(
            header: FileHeader().selecting(top, format: root.format), physicalSize: size, topRef: root.top, format: root.format,
            logicalSize: Format.headerSize, version: root.version, historyType: 0, historySchemaVersion: 0, isStreaming: false)
        state.take(try file.topFields(root.top, physicalSize: size))
        return state
    }
}
