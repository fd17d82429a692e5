/// The operations of object handles, for callers that have entered the Realm. Each call resolves keys at the current
/// version and returns a value or a typed error.
///
/// Order of checks: object deleted (2010), write transaction (2005), property and value.
extension Realm {
    // MARK: Resolving

    @inline(__always) func table(_ key: TableKey) throws(RealmError) -> Table {
        guard let table = try reading().group.table(key) else { throw noSuchTable(key) }
        return table
    }

    @inline(__always) func facts(_ table: Table, _ column: ColKey) throws(RealmError) -> ColumnFacts {
        guard let facts = table.facts(column), facts.type != .backlink else {
            throw RealmError(
                .invalidProperty, "Class '\(table.className ?? table.name)' has no property with key \(column.raw)")
        }
        return facts
    }

    @inline(never) private func noSuchTable(_ key: TableKey) -> RealmError {
        RealmError(.noSuchTable, "No table with key \(key.raw)")
    }

    @inline(__always) func objectTable(_ key: TableKey) throws(RealmError) -> Table {
        guard let table = try reading().group.table(key) else { throw invalidated() }
        return table
    }

    /// Returns the table for a write to an object. Outside a write transaction it throws 2010 for a deleted object,
    /// otherwise 2005. Inside one the caller checks the object.
    @inline(__always) func writableTable(_ key: TableKey, _ object: ObjKey) throws(RealmError) -> Table {
        let table = try objectTable(key)
        if !isWriting {
            guard try table.isValid(object) else { throw invalidated() }
        }
        _ = try writing()
        return table
    }

    /// The open write transaction that made the object; nil when no open one did.
    package func creation(_ tableKey: TableKey, _ object: ObjKey) -> Creation? {
        transaction.stage == .writing ? transaction.creation(tableKey, object) : nil
    }

    // MARK: Reading objects

    package func isValid(_ tableKey: TableKey, _ object: ObjKey) -> Bool {
        // On another thread no data may be read: the answer is only whether the Realm is open.
        whereAllowed {
            (try? inside(.object) { () throws(RealmError) in try isAlive(tableKey, object) }) ?? false
        } ?? !isClosed
    }

    package func objectCount(_ tableKey: TableKey) throws(RealmError) -> Int { try self.table(tableKey).count() }

    /// The key of the object at an index in key order.
    @inline(__always) package func objectKey(_ tableKey: TableKey, at index: Int) throws(RealmError) -> ObjKey {
        guard let unmanaged = try readingTable(tableKey) else { throw noSuchTable(tableKey) }
        return try unmanaged.borrow { (table: Table) throws(RealmError) -> ObjKey in
            if let key = table.keyNear(index) { return key }
            let count = try table.count()
            guard index >= 0, index < count else {
                throw RealmError(
                    .indexOutOfBounds, "Requested index \(index) calling get() on Results of \(count) objects")
            }
            return try table.key(at: index)
        }
    }

    package func objectExists(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) -> Bool {
        try self.table(tableKey).isValid(object)
    }

    package func tableName(_ tableKey: TableKey) throws(RealmError) -> Name { try self.table(tableKey).name }

    package func isEmbedded(_ tableKey: TableKey) throws(RealmError) -> Bool { try self.table(tableKey).isEmbedded }

    /// Returns a single value. A collection property throws 3001; a Mixed property that holds a collection gives
    /// `.list` or `.dictionary`.
    @inline(__always) package func value(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError)
        -> Mixed
    {
        guard let unmanaged = try readingTable(tableKey) else { throw invalidated() }
        return try unmanaged.borrow { (table: Table) throws(RealmError) -> Mixed in
            // Only single int, bool, double and string columns have opened leaves: a matching column key is enough,
            // their facts need no check.
            if table.isColumn(column), let value = table.openedValue(object, column) { return value }
            return try otherValue(table, object, column)
        }
    }

    /// As `value`, for a leaf that is known not to be open.
    func valueInClosedLeaf(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed {
        guard let unmanaged = try readingTable(tableKey) else { throw invalidated() }
        return try unmanaged.borrow { (table: Table) throws(RealmError) in try otherValue(table, object, column) }
    }

    @inline(never) private func otherValue(_ table: Table, _ object: ObjKey, _ column: ColKey) throws(RealmError)
        -> Mixed
    {
        guard let facts = table.facts(column), !facts.isCollection, facts.type != .backlink, object.raw >= 0,
            let value = try table.get(object, facts)
        else {
            throw unreadable(table, object, column)
        }
        if case .link(let key) = value { return .typedLink(facts.oppositeTable, key) }
        return value
    }

    /// Throws unless the class has this property and it holds a single value.
    func checkSingleValue(_ table: Table, _ column: ColKey) throws(RealmError) {
        guard try facts(table, column).isCollection else { return }
        throw RealmError(
            .typeMismatch, "Property '\(table.column(column)?.name ?? "")' is a collection: it has no single value")
    }

    /// Returns the error that explains why a value cannot be read.
    @inline(never) private func unreadable(_ table: Table, _ object: ObjKey, _ column: ColKey) -> RealmError {
        do throws(RealmError) {
            guard try table.isValid(object) else { return invalidated() }
            try checkSingleValue(table, column)
            return invalidated()
        } catch { return error }
    }

    package func find(_ tableKey: TableKey, primaryKey value: Mixed) throws(RealmError) -> ObjKey? {
        guard let unmanaged = try readingTable(tableKey) else { throw noSuchTable(tableKey) }
        return try unmanaged.borrow { (table: Table) throws(RealmError) in try table.find(primaryKey: value) }
    }

    /// Returns the object that a link or Mixed property leads to; nil for a null link. Throws 2015 when the property or
    /// its value is no link.
    package func linkedObject(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> (
        TableKey, ObjKey
    )? {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        let facts = try facts(table, column)
        let isLink = facts.type == .link && !facts.isCollection
        if isLink || (facts.type == .mixed && !facts.isCollection) {
            switch try value(tableKey, object, column) {
            case .typedLink(let target, let key): return (target, key)
            case .null where isLink: return nil
            default: break
            }
        }
        throw RealmError(.invalidTableRef, "Property '\(table.column(column)?.name ?? "")' is not a link")
    }

    /// Returns the object that owns an embedded object.
    package func parent(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) -> (TableKey, ObjKey)? {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        guard table.isEmbedded else {
            throw RealmError(.topLevelObject, "An object of a top-level class has no parent")
        }
        for case let backlink? in table.facts where backlink.type == .backlink {
            let links = try table.backlinks(object, backlink.key)
            if links.count > 0 { return (backlink.oppositeTable, try links.key(at: 0)) }
        }
        return nil
    }

    /// Returns the objects that link to `object` through property `column` of class `source`.
    package func backlinks(_ tableKey: TableKey, _ object: ObjKey, from source: TableKey, _ column: ColKey)
        throws(RealmError) -> [ObjKey]
    {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        let origin = try self.table(source)
        guard let facts = origin.facts(column), facts.type == .link else {
            throw RealmError(
                .invalidProperty,
                "Class '\(origin.className ?? origin.name)' has no link property with key \(column.raw)")
        }
        guard facts.oppositeTable == tableKey else {
            throw RealmError(
                .invalidProperty,
                "Property '\(origin.column(column)?.name ?? "")' does not link to class '\(table.className ?? table.name)'"
            )
        }
        for case let backlink? in table.facts
        where backlink.type == .backlink && backlink.oppositeTable == source && backlink.oppositeColumn == column {
            return try table.backlinks(object, backlink.key).allKeys()
        }
        return []
    }

    // MARK: Writing objects

    package func create(_ tableKey: TableKey) throws(RealmError) -> ObjKey {
        let table = try self.table(tableKey)
        guard !table.isEmbedded else {
            throw RealmError(
                .illegalOperation,
                "Embedded objects cannot be created on their own: class '\(table.className ?? table.name)'")
        }
        let needsKey = table.primaryKey == nil ? false : try !isAutomatic(table)
        guard !needsKey else {
            throw RealmError(
                .missingPrimaryKey,
                "Class '\(table.className ?? table.name)' has a primary key: a value for it is needed")
        }
        _ = try writing()
        return try changing { () throws(RealmError) in try table.createObject().key }
    }

    /// Whether the engine makes the primary keys of a class. Known in write transactions only.
    private func isAutomatic(_ table: Table) throws(RealmError) -> Bool {
        guard isWriting else { return false }
        return table.rules?.automatic.contains { $0.column == table.primaryKey } ?? false
    }

    /// Finds or creates the object with a primary key. Only a new object needs a write transaction.
    ///
    /// - Parameter mustBeNew: an existing object throws 1013.
    /// - Returns: the object's key, and whether the object is new.
    package func create(_ tableKey: TableKey, primaryKey value: Mixed, mustBeNew: Bool) throws(RealmError) -> (
        ObjKey, Bool
    ) {
        guard let unmanaged = try readingTable(tableKey) else { throw noSuchTable(tableKey) }
        return try unmanaged.borrow { (table: Table) throws(RealmError) in
            try create(table, primaryKey: value, mustBeNew: mustBeNew)
        }
    }

    @inline(__always) private func create(_ table: Table, primaryKey value: Mixed, mustBeNew: Bool) throws(RealmError)
        -> (ObjKey, Bool)
    {
        guard let keyColumn = table.primaryKey, let facts = table.facts(keyColumn) else {
            throw RealmError(.unexpectedPrimaryKey, "Class '\(table.className ?? table.name)' has no primary key")
        }
        if value.isNull {
            guard facts.isNullable else {
                throw RealmError(
                    .notNullable, "The primary key of class '\(table.className ?? table.name)' cannot be null")
            }
        } else {
            guard Table.matches(value, facts) else {
                throw RealmError(
                    .typeMismatch, "Wrong type of primary key for class '\(table.className ?? table.name)'")
            }
            if case .int = value {} else { try table.check(value, for: facts) }
        }
        let result: (key: ObjKey, isNew: Bool)
        if !isWriting, let existing = try table.find(primaryKey: value) {
            result = (existing, false)
        } else {
            try verifyWriting()
            result = try changing { () throws(RealmError) in try table.createObject(primaryKey: value) }
        }
        if mustBeNew && !result.isNew {
            throw RealmError(
                .objectAlreadyExists,
                "Attempting to create an object of type '\(table.className ?? table.name)' with an existing primary key value"
            )
        }
        return result
    }

    package func delete(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { throw invalidated() }
        try changing { () throws(RealmError) in try table.group.deleteByRules(table, object) }
    }

    /// Deletes an object that a refused call has made: no rule adds other objects or forbids it.
    func takeBack(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { return }
        try changing { () throws(RealmError) in try table.group.delete(table, object) }
    }

    /// Checks a single value and sets it.
    @inline(__always) package func set(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed)
        throws(RealmError)
    {
        guard let unmanaged = try readingTable(tableKey) else { throw invalidated() }
        try unmanaged.borrow { (table: Table) throws(RealmError) in
            guard isWriting, !transaction.isDamaged, let facts = table.facts(column), facts.type != .backlink else {
                throw unwritable(table, object, column)
            }
            stateCount &+= 1
            // Numbers of the column's own type need no check.
            switch value {
            case .int where facts.type == .int && !facts.isCollection && !facts.isPrimaryKey,
                .double where facts.type == .double && !facts.isCollection:
                break
            default: try check(table, object, facts, value)
            }
            guard try changing({ () throws(RealmError) in try table.set(object, facts, value) }) else {
                throw invalidated()
            }
        }
    }

    /// Sets a property if the object still has a certain revision.
    ///
    /// - Returns: whether the object had this revision.
    /// - Throws: 2007 when no property of the class has the rule "revision".
    package func set(
        _ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed, ifRevision revision: Int64
    ) throws(RealmError) -> Bool {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { throw invalidated() }
        guard let row = table.rules?.atCommit.first(where: { $0.kind == .revision }),
            let facts = table.facts(row.column)
        else {
            throw RealmError(
                .illegalOperation,
                "Class '\(table.className ?? table.name)' has no property with the rule 'revision'")
        }
        guard case .int(let present)? = try table.get(object, facts), present == revision else { return false }
        try set(tableKey, object, column, value)
        return true
    }

    /// Writes the default value of a property. Change callbacks do not report this write.
    package func setDefault(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed) throws(RealmError)
    {
        try reading().group.logSlot.withoutValues { () throws(RealmError) in try set(tableKey, object, column, value) }
    }

    /// Returns the error that explains why a value cannot be written.
    @inline(never) private func unwritable(_ table: Table, _ object: ObjKey, _ column: ColKey) -> RealmError {
        do throws(RealmError) {
            guard try table.isValid(object) else { return invalidated() }
            _ = try writing()
            _ = try facts(table, column)
            return invalidated()
        } catch { return error }
    }

    private func check(_ table: Table, _ object: ObjKey, _ facts: ColumnFacts, _ value: Mixed) throws(RealmError) {
        switch (value, facts.type, facts.isCollection) {
        // The common cases need no check.
        case (.int, .int, false), (.bool, .bool, false), (.double, .double, false), (.float, .float, false): break
        default: try table.check(value, for: facts)
        }
        // Migrations set primary keys freely: the keys are checked at the end.
        if facts.isPrimaryKey && schemaState.callbackGuard == .none {
            // A primary key may be set to its own value, or to another unique value.
            if let other = try table.find(primaryKey: value), other != object {
                throw RealmError(
                    .objectAlreadyExists,
                    "Another object of class '\(table.className ?? table.name)' has this primary key")
            }
        }
    }

    /// Checks a value for a property and does not store it.
    package func checkValue(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed) throws(RealmError)
    {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { throw invalidated() }
        try check(table, object, try facts(table, column), value)
    }

    package func addInteger(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ delta: Int64) throws(RealmError)
    {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { throw invalidated() }
        let facts = try facts(table, column)
        guard try changing({ () throws(RealmError) in try table.addInteger(object, facts, delta) }) else {
            throw invalidated()
        }
    }

    /// Deletes many objects of a class.
    func delete(_ tableKey: TableKey, _ keys: [ObjKey]) throws(RealmError) {
        let table = try self.table(tableKey)
        _ = try writing()
        try changing { () throws(RealmError) in try table.group.deleteByRules(table, keys) }
    }

    /// Deletes all objects of all classes of the schema in one step, so that links between them do not forbid the
    /// deletion.
    package func deleteAllObjects() throws(RealmError) {
        let group = try writing().group
        var objects: [(table: Table, keys: [ObjKey])] = []
        for objectClass in schema.classes where !objectClass.key.isNull && objectClass.kind != .embedded {
            let table = try self.table(objectClass.key)
            objects.append((table, try table.allKeys()))
        }
        try changing { () throws(RealmError) in try group.deleteByRules(objects) }
    }

    /// The index of an object in key order.
    func objectIndex(_ tableKey: TableKey, _ key: ObjKey) throws(RealmError) -> Int? {
        let table = try self.table(tableKey)
        var low = 0, high = try table.count()
        while low < high {
            let mid = (low + high) / 2
            if try table.key(at: mid) < key { low = mid + 1 } else { high = mid }
        }
        guard low < (try table.count()), try table.key(at: low) == key else { return nil }
        return low
    }
}
