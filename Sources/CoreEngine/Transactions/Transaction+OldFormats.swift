/// Reads snapshots of files of an older format.
extension Transaction {
    /// Replaces the names and tables of an old file by their translation to the current form.
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
