/// What handles ask of a Realm, inside its door: every call resolves keys at the present version and answers with a
/// value or a typed error.
///
/// Order of checks: object gone (2010), write transaction (2005), property and value.
extension Realm {
    // MARK: Resolving

    @inline(__always) func table(_ key: TableKey) throws(RealmError) -> Table {
        guard let t = try reading().group.table(key) else { throw noSuchTable(key) }
        return t
    }

    @inline(__always) func facts(_ t: Table, _ column: ColKey) throws(RealmError) -> ColumnFacts {
        guard let c = t.facts(column), c.type != .backlink else {
            throw RealmError(
                .invalidProperty, "Class '\(t.className ?? t.name)' has no property with key \(column.raw)")
        }
        return c
    }

    @inline(never) private func noSuchTable(_ key: TableKey) -> RealmError {
        RealmError(.noSuchTable, "No table with key \(key.raw)")
    }

    @inline(never) func invalidated() -> RealmError {
        RealmError(.invalidatedObject, "Accessing object which has been invalidated or deleted")
    }

    @inline(__always) func objectTable(_ key: TableKey) throws(RealmError) -> Table {
        guard let t = try reading().group.table(key) else { throw invalidated() }
        return t
    }

    /// The table, for a write to a live object.
    @inline(__always) func writableTable(_ key: TableKey, _ object: ObjKey) throws(RealmError) -> Table {
        let t = try objectTable(key)
        if !isWriting {
            guard try t.isValid(object) else { throw invalidated() }
        }
        _ = try writing()
        return t
    }

    /// The write transaction that made the object, while it is open.
    package func birth(_ table: TableKey, _ object: ObjKey) -> Birth? {
        transaction.stage == .writing ? transaction.birth(table, object) : nil
    }

    // MARK: Reading objects

    package func isValid(_ table: TableKey, _ object: ObjKey) -> Bool {
        // Elsewhere nothing may be touched: there it only tells that the Realm is open.
        guard isOnThread else { return !isClosed }
        return (try? inside(.object) { () throws(RealmError) in try isAlive(table, object) }) ?? false
    }

    package func isAlive(_ table: TableKey, _ object: ObjKey) throws(RealmError) -> Bool {
        try reading().group.table(table)?.isValid(object) ?? false
    }

    /// Throws 2010 where there is no such object (any more).
    package func verifyAlive(_ table: TableKey, _ object: ObjKey) throws(RealmError) {
        guard try isAlive(table, object) else { throw invalidated() }
    }

    package func objectCount(_ table: TableKey) throws(RealmError) -> Int { try self.table(table).count() }

    /// Key of the object at an index in key order.
    @inline(__always) package func objectKey(_ table: TableKey, at index: Int) throws(RealmError) -> ObjKey {
        guard let u = try readingTable(table) else { throw noSuchTable(table) }
        return try u.borrow { (t: Table) throws(RealmError) -> ObjKey in
            if let key = t.rows.keyNear(index) { return key }
            let count = try t.count()
            guard index >= 0, index < count else {
                throw RealmError(
                    .indexOutOfBounds, "Requested index \(index) calling get() on Results of \(count) objects")
            }
            return try t.rows.key(at: index)
        }
    }

    package func objectExists(_ table: TableKey, _ object: ObjKey) throws(RealmError) -> Bool {
        try self.table(table).isValid(object)
    }

    package func tableName(_ table: TableKey) throws(RealmError) -> Name { try self.table(table).name }

    package func isEmbedded(_ table: TableKey) throws(RealmError) -> Bool { try self.table(table).isEmbedded }

    /// A single value. Collection properties are 3001; a Mixed that holds a collection gives `.list` or `.dictionary`.
    @inline(__always) package func value(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError)
        -> Mixed
    {
        guard let u = try readingTable(table) else { throw invalidated() }
        return try u.borrow { (t: Table) throws(RealmError) -> Mixed in
            // Only single int, bool, double and string columns are read as they are opened; their facts need no further
            // look once the key matches.
            if t.isColumn(column), let v = t.rows.openedValue(object, column.index) { return v }
            return try otherValue(t, object, column)
        }
    }

    /// The same where the leaf was found not to be open.
    func valueInClosedLeaf(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed {
        guard let u = try readingTable(table) else { throw invalidated() }
        return try u.borrow { (t: Table) throws(RealmError) in try otherValue(t, object, column) }
    }

    @inline(never) private func otherValue(_ t: Table, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed {
        guard let c = t.facts(column), !c.isCollection, c.type != .backlink, object.raw >= 0,
            let v = try t.get(object, c)
        else {
            throw unreadable(t, object, column)
        }
        if case .link(let k) = v { return .typedLink(c.oppositeTable, k) }
        return v
    }

    /// Throws unless the class has this property, and it holds a single value.
    func checkSingleValue(_ t: Table, _ column: ColKey) throws(RealmError) {
        guard try facts(t, column).isCollection else { return }
        throw RealmError(
            .typeMismatch, "Property '\(t.column(column)?.name ?? "")' is a collection: it has no single value")
    }

    /// Why a value cannot be read.
    @inline(never) private func unreadable(_ t: Table, _ object: ObjKey, _ column: ColKey) -> RealmError {
        do throws(RealmError) {
            guard try t.isValid(object) else { return invalidated() }
            try checkSingleValue(t, column)
            return invalidated()
        } catch { return error }
    }

    package func find(_ table: TableKey, primaryKey value: Mixed) throws(RealmError) -> ObjKey? {
        guard let u = try readingTable(table) else { throw noSuchTable(table) }
        return try u.borrow { (t: Table) throws(RealmError) in try t.find(primaryKey: value) }
    }

    /// The object that a link or Mixed property leads to; nil when it is null. Errors: 2015 when the property or its
    /// value is no link.
    package func linkedObject(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> (
        TableKey, ObjKey
    )? {
        let t = try objectTable(table)
        guard try t.isValid(object) else { throw invalidated() }
        let c = try facts(t, column)
        let isLink = c.type == .link && !c.isCollection
        if isLink || (c.type == .mixed && !c.isCollection) {
            switch try value(table, object, column) {
            case .typedLink(let target, let key): return (target, key)
            case .null where isLink: return nil
            default: break
            }
        }
        throw RealmError(.invalidTableRef, "Property '\(t.column(column)?.name ?? "")' is not a link")
    }

    /// The object an embedded object belongs to.
    package func parent(_ table: TableKey, _ object: ObjKey) throws(RealmError) -> (TableKey, ObjKey)? {
        let t = try objectTable(table)
        guard try t.isValid(object) else { throw invalidated() }
        guard t.isEmbedded else { throw RealmError(.topLevelObject, "An object of a top-level class has no parent") }
        for case let c? in t.facts where c.type == .backlink {
            let links = try t.backlinks(object, c.key)
            if links.count > 0 { return (c.oppositeTable, try links.key(at: 0)) }
        }
        return nil
    }

    /// Objects that link to `object` through property `column` of class `source`.
    package func backlinks(_ table: TableKey, _ object: ObjKey, from source: TableKey, _ column: ColKey)
        throws(RealmError) -> [ObjKey]
    {
        let t = try objectTable(table)
        guard try t.isValid(object) else { throw invalidated() }
        let origin = try self.table(source)
        guard let c = origin.facts(column), c.type == .link else {
            throw RealmError(
                .invalidProperty,
                "Class '\(origin.className ?? origin.name)' has no link property with key \(column.raw)")
        }
        guard c.oppositeTable == table else {
            throw RealmError(
                .invalidProperty,
                "Property '\(origin.column(column)?.name ?? "")' does not link to class '\(t.className ?? t.name)'")
        }
        for case let b? in t.facts where b.type == .backlink && b.oppositeTable == source && b.oppositeColumn == column
        {
            return try t.backlinks(object, b.key).allKeys()
        }
        return []
    }

    // MARK: Writing objects

    package func create(_ table: TableKey) throws(RealmError) -> ObjKey {
        let t = try self.table(table)
        guard !t.isEmbedded else {
            throw RealmError(
                .illegalOperation, "Embedded objects cannot be created on their own: class '\(t.className ?? t.name)'")
        }
        guard t.primaryKey == nil else {
            throw RealmError(
                .missingPrimaryKey, "Class '\(t.className ?? t.name)' has a primary key: a value for it is needed")
        }
        _ = try writing()
        return try changing { () throws(RealmError) in try t.createObject().key }
    }

    /// - Returns: the object's key, and whether it is new. With `mustBeNew` an existing one is 1013. Only a new one
    ///   needs a write transaction.
    package func create(_ table: TableKey, primaryKey value: Mixed, mustBeNew: Bool) throws(RealmError) -> (
        ObjKey, Bool
    ) {
        guard let u = try readingTable(table) else { throw noSuchTable(table) }
        return try u.borrow { (t: Table) throws(RealmError) in try create(t, primaryKey: value, mustBeNew: mustBeNew) }
    }

    @inline(__always) private func create(_ t: Table, primaryKey value: Mixed, mustBeNew: Bool) throws(RealmError) -> (
        ObjKey, Bool
    ) {
        guard let pk = t.primaryKey, let c = t.facts(pk) else {
            throw RealmError(.unexpectedPrimaryKey, "Class '\(t.className ?? t.name)' has no primary key")
        }
        if value.isNull {
            guard c.isNullable else {
                throw RealmError(.notNullable, "The primary key of class '\(t.className ?? t.name)' cannot be null")
            }
        } else {
            guard Table.matches(value, c) else {
                throw RealmError(.typeMismatch, "Wrong type of primary key for class '\(t.className ?? t.name)'")
            }
            if case .int = value {} else { try t.check(value, for: c) }
        }
        let result: (key: ObjKey, isNew: Bool)
        if !isWriting, let existing = try t.find(primaryKey: value) {
            result = (existing, false)
        } else {
            try verifyWriting()
            result = try changing { () throws(RealmError) in try t.createObject(primaryKey: value) }
        }
        if mustBeNew && !result.isNew {
            throw RealmError(
                .objectAlreadyExists,
                "Attempting to create an object of type '\(t.className ?? t.name)' with an existing primary key value")
        }
        return result
    }

    package func delete(_ table: TableKey, _ object: ObjKey) throws(RealmError) {
        let t = try writableTable(table, object)
        guard try t.isValid(object) else { throw invalidated() }
        try changing { () throws(RealmError) in try t.group.delete(t, object) }
    }

    /// Sets a single value after checking it.
    @inline(__always) package func set(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed)
        throws(RealmError)
    {
        guard let u = try readingTable(table) else { throw invalidated() }
        try u.borrow { (t: Table) throws(RealmError) in
            guard isWriting, !transaction.isDamaged, let c = t.facts(column), c.type != .backlink else {
                throw unwritable(t, object, column)
            }
            stateCount &+= 1
            // Numbers of the column's own type need no further look.
            switch value {
            case .int where c.type == .int && !c.isCollection && !c.isPrimaryKey,
                .double where c.type == .double && !c.isCollection:
                break
            default: try check(t, object, c, value)
            }
            guard try changing({ () throws(RealmError) in try t.set(object, c, value) }) else { throw invalidated() }
        }
    }

    /// Writes a value that repeats a default: change callbacks are not told of it.
    package func setDefault(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed) throws(RealmError) {
        try reading().group.logSlot.withoutValues { () throws(RealmError) in try set(table, object, column, value) }
    }

    /// Why a value cannot be written.
    @inline(never) private func unwritable(_ t: Table, _ object: ObjKey, _ column: ColKey) -> RealmError {
        do throws(RealmError) {
            guard try t.isValid(object) else { return invalidated() }
            _ = try writing()
            _ = try facts(t, column)
            return invalidated()
        } catch { return error }
    }

    private func check(_ t: Table, _ object: ObjKey, _ c: ColumnFacts, _ value: Mixed) throws(RealmError) {
        switch (value, c.type, c.isCollection) {
        // The common cases need no further look.
        case (.int, .int, false), (.bool, .bool, false), (.double, .double, false), (.float, .float, false): break
        default: try t.check(value, for: c)
        }
        // Migrations set keys freely: they are checked at the end.
        if c.isPrimaryKey && callbackGuard == .none {
            // The value of a primary key may be written again, and changed as long as it stays unique.
            if let other = try t.find(primaryKey: value), other != object {
                throw RealmError(
                    .objectAlreadyExists, "Another object of class '\(t.className ?? t.name)' has this primary key")
            }
        }
    }

    /// Checks a value for a property without storing it.
    package func checkValue(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed) throws(RealmError) {
        let t = try writableTable(table, object)
        guard try t.isValid(object) else { throw invalidated() }
        try check(t, object, try facts(t, column), value)
    }

    package func addInteger(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ delta: Int64) throws(RealmError) {
        let t = try writableTable(table, object)
        guard try t.isValid(object) else { throw invalidated() }
        let c = try facts(t, column)
        guard try changing({ () throws(RealmError) in try t.addInteger(object, c, delta) }) else { throw invalidated() }
    }

    /// Deletes many objects of a class.
    func delete(_ table: TableKey, _ keys: [ObjKey]) throws(RealmError) {
        let t = try self.table(table)
        _ = try writing()
        try changing { () throws(RealmError) in try t.group.delete(t, keys) }
    }

    /// Index of an object in key order.
    func objectIndex(_ table: TableKey, _ key: ObjKey) throws(RealmError) -> Int? {
        let t = try self.table(table)
        var low = 0, high = try t.count()
        while low < high {
            let mid = (low + high) / 2
            if try t.rows.key(at: mid) < key { low = mid + 1 } else { high = mid }
        }
        guard low < (try t.count()), try t.rows.key(at: low) == key else { return nil }
        return low
    }
}
