/// Parts of a write transaction that can be rolled back alone.
extension Realm {
    /// Begins a savepoint, inside a write transaction. Savepoints nest.
    ///
    /// - Returns: its number, for the two functions below.
    /// - Throws: 2005 outside a write transaction.
    public func beginSavepoint() throws(RealmError) -> Int {
        try inside { () throws(RealmError) in
            _ = try writing()
            return try transaction.beginSavepoint()
        }
    }

    /// Ends a savepoint and those that began after it; its changes become part of the transaction around it.
    ///
    /// - Throws: 3000 when it is not open.
    public func releaseSavepoint(_ number: Int) throws(RealmError) {
        try inside { () throws(RealmError) in
            stateCount &+= 1
            try transaction.releaseSavepoint(number)
        }
    }

    /// Undoes all changes since a savepoint began, and ends it and those that began after it.
    ///
    /// - Throws: 3000 when it is not open.
    public func rollbackSavepoint(_ number: Int) throws(RealmError) {
        try inside { () throws(RealmError) in
            stateCount &+= 1
            try transaction.rollbackSavepoint(number)
        }
    }

    /// Runs `body` in a savepoint: its changes are kept when it returns, and undone alone when it throws.
    @discardableResult
    public func savepoint<R>(_ body: () throws -> R) throws -> R {
        let number = try beginSavepoint()
        do {
            let result = try body()
            if transaction.savepointDepth >= number { try releaseSavepoint(number) }
            return result
        } catch {
            if transaction.savepointDepth >= number { try rollbackSavepoint(number) }
            throw error
        }
    }
}
