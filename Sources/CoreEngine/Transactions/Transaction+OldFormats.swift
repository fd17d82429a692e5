/// Snapshots of files that are read in an older form.
extension Transaction {
    /// Puts names and tables in today's form in the place of those of an old file.
    func translate(_ top: inout DatabaseFile.TopFields) throws(RealmError) {
        group.forgetTables()
        let (names, tables) = (top.names, top.tables)
        do throws(RealmError) {
            let old = try store.useSource { () throws(RealmError) in
                try OldSnapshot(store, names: names, tables: tables)
            }
            (top.names, top.tables) = (old.names, old.tablesRef)
            self.old = old
        } catch {
            guard error.code == .unsupportedFileFormat else { throw error }
            throw RealmError(
                error.code, "The Realm file at path '\(database.path)' \(error.message)", path: database.path)
        }
    }
}
