extension ResultSet {
    /// The end of a range of rows; the largest number if there is none.
    private func end(_ first: Int, _ count: Int) -> Int {
        let (end, isTooLarge) = max(first, 0).addingReportingOverflow(max(count, 0))
        return isTooLarge ? .max : end
    }

    /// Reads some properties of some rows of results, as the Realm sees them now. Called inside the entry point of the
    /// Realm.
    ///
    /// - Parameters:
    ///   - value: receives row, index of the property, and value as `Realm.value` returns it; null if the object no
    ///     longer exists.
    ///   - object: receives row and key; null if the object no longer exists.
    /// - Returns: the number of requested rows that exist.
    /// - Throws: 3009 for an unknown property, 3001 for a collection, 2007 for results of values.
    package func fetch(
        _ first: Int, _ count: Int, _ properties: UnsafeBufferPointer<Int64>, value: (Int, Int, Mixed) -> Void,
        object: (Int, TableKey, ObjKey) -> Void
    ) throws(RealmError) -> Int {
        guard let table else { throw RealmError(.illegalOperation, "Results of values have no properties") }
        let owner = try realm.table(table)
        for key in properties { try realm.checkSingleValue(owner, ColKey(key)) }
        let rows = isWholeTable ? [] : try rows(upTo: end(first, count))
        let size = isWholeTable ? try self.count() : rows.count
        guard first >= 0, first < size else { return 0 }
        let found = min(count, size - first)
        for i in 0..<found {
            let key = isWholeTable ? try owner.key(at: first + i) : rows[first + i]
            guard key.raw >= 0, let row = try owner.locate(key) else {
                object(i, table, .null)
                for j in properties.indices { value(i, j, .null) }
                continue
            }
            object(i, table, key)
            for (j, property) in properties.enumerated() { value(i, j, try owner.value(row, ColKey(property))) }
        }
        return found
    }
}

extension ResultSet {
    /// Exports some rows of results as the Realm sees them now, column by column. Called inside the entry point of the
    /// Realm.
    ///
    /// - Parameters:
    ///   - paths: the columns (`ColumnPlan`); nil for all properties with values or collections.
    ///   - schema: memory for an `ArrowSchema`, or nil.
    ///   - array: memory for an `ArrowArray`. It gets fewer rows than requested if the values of more rows do not fit.
    package func exportRows(
        _ first: Int, _ count: Int, _ paths: [Name]?, schema: UnsafeMutableRawPointer?, array: UnsafeMutableRawPointer
    ) throws(RealmError) {
        guard let table else { throw RealmError(.illegalOperation, "Results of values have no columns") }
        let group = try realm.reading().group
        let block = try ColumnBlock(group, realm.schema, table, paths, mayLackObjects: try mayLackObjects())
        let rows = isWholeTable ? [] : try rows(upTo: end(first, count))
        let size = isWholeTable ? try self.count() : rows.count, t = try realm.table(table)
        var next = max(0, min(first, size))
        let end = next + min(count, size - next)
        try block.prepare(end - next)
        while next < end, !block.isFull {
            let some = min(end - next, ColumnBlock.mostRows)
            guard isWholeTable else {
                next += try block.append(rows[next..<next + some])
                continue
            }
            var keys: [ObjKey] = []
            keys.reserveCapacity(some)
            for i in next..<next + some { keys.append(try t.key(at: i)) }
            next += try block.append(keys[...])
        }
        let filled = array.assumingMemoryBound(to: ArrowArray.self)
        try block.export(to: filled)
        guard let schema else { return }
        do throws(RealmError) { try block.field.export(to: schema.assumingMemoryBound(to: ArrowSchema.self)) } catch {
            filled.pointee.release?(filled)
            throw error
        }
    }
}

extension Table {
    /// The value of a single-value property in a row. Links carry their class; links to objects that do not exist yet
    /// are null.
    @inline(__always) fileprivate func value(_ row: Table.Row, _ column: ColKey) throws(RealmError) -> Mixed {
        switch try stored(row, column) {
        case .link(let key): return key.isUnresolved ? .null : .typedLink(facts(column)?.oppositeTable ?? .null, key)
        case .typedLink(_, let key) where key.isUnresolved: return .null
        case let value: return value
        }
    }
}
