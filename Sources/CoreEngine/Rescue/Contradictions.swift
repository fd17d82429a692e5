/// Runs the check on the version that a root leads to.
extension DamagedFile {
    /// - Returns: the number of faults, and how many of them are contradictions: values that can all be read, but of
    ///   which at least one must be wrong. nil if no version can be checked.
    func check(_ root: Root, _ interruption: Interruption) throws(RealmError) -> (faults: Int, contradictions: Int)? {
        guard !root.top.isNull else { return nil }
        // A snapshot of an old format creates nodes, so it needs its own slab.
        let file = OldFormats.isRead(root.format) ? try DatabaseFile(viewing: file, needsSlab: true) : file
        do throws(RealmError) {
            try file.ensureMapped(size)
            let transaction = try Transaction(try Database(file, fixedAt: try state(of: root, in: file), .immutable))
            defer { transaction.close() }
            transaction.interruption = interruption
            try transaction.beginRead()
            let found = try Verifier(transaction, limit: 0).run()
            return (found.count, found.count(of: [.tree, .column, .value, .link, .index]))
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat else { throw error }
            return nil
        }
    }

    private func state(of root: Root, in file: DatabaseFile) throws(RealmError) -> DatabaseFile.State {
        let top = UInt64(root.top.offset)
        var state = DatabaseFile.State(
            header: FileHeader().selecting(top, format: root.format), physicalSize: size, topRef: root.top,
            format: root.format,
            logicalSize: Format.headerSize, version: root.version, historyType: 0, historySchemaVersion: 0,
            isStreaming: false)
        state.take(try file.topFields(root.top, physicalSize: size))
        return state
    }
}
