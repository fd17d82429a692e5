extension ResultSet {
    /// Some rows of results with some of their properties, as the Realm sees them now; inside the Realm's door.
    ///
    /// - Parameters:
    ///   - value: gets row, index of the property, and value: what `Realm.value` gives; null where the object is gone.
    ///   - object: gets row and key; null where the object is gone.
    /// - Returns: how many rows there are of those asked for.
    /// - Throws: 3009 for a property that the class has not, 3001 for a collection, 2007 for results of values.
    package func fetch(
        _ first: Int, _ count: Int, _ properties: UnsafeBufferPointer<Int64>, value: (Int, Int, Mixed) -> Void,
        object: (Int, TableKey, ObjKey) -> Void
    ) throws(RealmError) -> Int {
        guard let table else { throw RealmError(.illegalOperation, "Results of values have no properties") }
        let owner = try realm.table(table)
        for key in properties { try realm.checkSingleValue(owner, ColKey(key)) }
        if !isWholeTable { try update() }
        let size = try self.count()
        guard first >= 0, first < size else { return 0 }
        let found = min(count, size - first)
        for i in 0..<found {
            let key = isWholeTable ? try owner.rows.key(at: first + i) : rows[first + i]
            guard key.raw >= 0, let row = try owner.rows.locate(key) else {
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
    /// Some rows of results as the Realm sees them now, column by column; inside the Realm's door.
    ///
    /// - Parameters:
    ///   - paths: the columns (`ColumnPlan`); nil: all properties that hold values or collections.
    ///   - schema: room for an `ArrowSchema`, if it is wanted.
    ///   - array: room for an `ArrowArray`. It has fewer rows than there are where the values of more do not fit.
    package func exportRows(
        _ first: Int, _ count: Int, _ paths: [Name]?, schema: UnsafeMutableRawPointer?, array: UnsafeMutableRawPointer
    ) throws(RealmError) {
        guard let table else { throw RealmError(.illegalOperation, "Results of values have no columns") }
        let group = try realm.reading().group
        let block = try ColumnBlock(group, realm.schema, table, paths, mayLackObjects: try mayLackObjects())
        if !isWholeTable { try update() }
        let size = try self.count(), t = try realm.table(table)
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
            for i in next..<next + some { keys.append(try t.rows.key(at: i)) }
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
    /// The value of a single-value property in a row; links with their class, those to what is not there yet as null.
    @inline(__always) fileprivate func value(_ row: ClusterTree.Row, _ column: ColKey) throws(RealmError) -> Mixed {
        switch try rows.get(row: row, column.index) {
        case .link(let key): return key.isUnresolved ? .null : .typedLink(facts(column)?.oppositeTable ?? .null, key)
        case .typedLink(_, let key) where key.isUnresolved: return .null
        case let value: return value
        }
    }
}
