/// An export in progress behind an `ArrowArrayStream`: a pinned version, and the position in its rows.
///
/// Thread rule: any thread, one at a time. It needs no Realm: the Realm that created it may advance or be closed.
final class ColumnStream: ArrowStream {
    struct Limits {
        /// Maximum number of rows per array.
        var rows = 65_536

        /// An array ends after this many bytes, which bounds the memory of a stream.
        var size = 64 << 20

        /// Maximum bytes of the texts of a column, or elements of its lists.
        var bytes = Int(Int32.max)
    }

    private enum Rows {
        /// All objects of the class; `next` is the next row of the current cluster.
        case all(ClusterScan, next: Int)
        /// Objects by key; `next` is the index of the next key.
        case keys([ObjKey], next: Int)
    }

    private let limits: Limits

    /// nil after the last row.
    private var transaction: Transaction?
    private var rows: Rows
    private let block: ColumnBlock
    private var failure: RealmError?

    /// - Parameter keys: nil for all objects of the class.
    private init(
        _ pin: Pin, _ schema: Schema, _ table: TableKey, keys: [ObjKey]?, mayLackObjects: Bool, paths: [Name]?,
        limits: Limits
    ) throws(RealmError) {
        let transaction = try Transaction(reading: pin)
        block = try ColumnBlock(
            transaction.group, schema, table, paths, mayLackObjects: mayLackObjects, mostBytes: limits.bytes)
        guard let rowsTable = try transaction.group.table(table) else {
            throw RealmError(.noSuchTable, "No table with key \(table.raw)")
        }
        self.limits = limits
        self.transaction = transaction
        rows = keys.map { .keys($0, next: 0) } ?? .all(ClusterScan(rowsTable), next: 0)
    }

    /// Creates a stream of the objects of results, in the version that their Realm reads.
    ///
    /// - Throws: 2005 inside a write transaction, 2007 for results of values, 3009 for paths.
    static func make(_ results: ResultSet, paths: [Name]?, limits: Limits) throws(RealmError) -> ColumnStream {
        let realm = results.realm
        guard !realm.isWriting else {
            throw RealmError(
                .wrongTransactionState,
                "Columns are read from a version: not inside a write transaction, whose values are not one yet")
        }
        guard let table = results.table else {
            throw RealmError(.illegalOperation, "Results of values have no columns")
        }
        let keys = results.isWholeTable ? nil : try results.keys()
        let pin = realm.frozen == nil ? try realm.reading().pin : realm.frozen?.pin
        guard let pin, try pin.keep() else { throw realm.closedError() }
        return try ColumnStream(
            pin, realm.schema, table, keys: keys, mayLackObjects: try results.mayLackObjects(), paths: paths,
            limits: limits)
    }

    // MARK: Reading

    override var field: ColumnField { block.field }

    override func next(_ array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) -> Bool {
        if let failure { throw failure }
        guard let transaction else { return false }
        do throws(RealmError) {
            let result = Result { () throws(RealmError) in try fill() }
            // Checked before the result or the error is used: lost pages may have been read as zeros.
            try transaction.database.verifyWhole()
            guard try result.get() > 0 else {
                transaction.close()
                self.transaction = nil
                return false
            }
            try block.export(to: array)
            return true
        } catch {
            failure = error
            throw error
        }
    }

    /// Reads rows into the empty block and returns their number.
    private func fill() throws(RealmError) -> Int {
        switch rows {
        case .all(let scan, _): try block.prepare(min(limits.rows, try scan.table.count()))
        case .keys(let keys, let next): try block.prepare(min(limits.rows, keys.count - next))
        }
        while block.count < limits.rows, !block.isFull, block.size < limits.size {
            if try readSome(limits.rows - block.count) == 0 { break }
        }
        return block.count
    }

    /// Reads at most `most` rows; 0 after the last row.
    private func readSome(_ most: Int) throws(RealmError) -> Int {
        switch rows {
        case .all(let scan, var next):
            if next == scan.count {
                guard try scan.advance() else { return 0 }
                next = 0
            }
            let added = try block.append(scan, next, min(most, scan.count - next))
            rows = .all(scan, next: next + added)
            return added
        case .keys(let keys, let next):
            let added = try block.append(keys[next..<next + min(most, keys.count - next, ColumnBlock.mostRows)])
            rows = .keys(keys, next: next + added)
            return added
        }
    }
}

extension ResultSet {
    /// Whether a row may have no object: the object was deleted after the snapshot was made, or a dictionary entry is
    /// null.
    func mayLackObjects() throws(RealmError) -> Bool {
        guard !isFixed, let path = collectionPath else { return isFixed }
        return try realm.table(path.table).facts(path.column)?.shape == .dictionary
    }

    /// Creates an Arrow stream of the columns of the rows. Called inside the entry point of the Realm.
    ///
    /// - Parameters:
    ///   - paths: the columns (`ColumnPlan`); nil for all properties with values or collections.
    ///   - rows: maximum number of rows per array; 0 means 65 536.
    ///   - out: memory for an `ArrowArrayStream`.
    package func exportColumns(_ paths: [Name]?, rows: Int, to out: UnsafeMutableRawPointer) throws(RealmError) {
        var limits = ColumnStream.Limits()
        if rows > 0 { limits.rows = rows }
        try ColumnStream.make(self, paths: paths, limits: limits).export(to: out)
    }
}
