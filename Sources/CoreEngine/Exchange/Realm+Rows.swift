/// Objects created and written in one call. A call that fails has changed nothing: all values are checked before the
/// first is written, and a new object whose values are refused is removed.
extension Realm {
    /// What a call does with an object whose primary key already exists.
    package enum WhenFound: UInt32 {
        case refuse = 0
        /// Writes the values that differ.
        case updateModified = 1
        case updateAll = 2
    }

    /// One value of a call.
    package typealias PropertyValue = (column: ColKey, value: Mixed)

    /// Throws `noSuchTable` for a table that is not a class.
    package func checkClass(_ tableKey: TableKey) throws(RealmError) {
        // Called for each object in a loop: no reference is counted.
        guard let unmanaged = try readingTable(tableKey),
            try unmanaged.borrow({ (table: Table) throws(RealmError) in table.className != nil })
        else { throw RealmError(.noSuchTable, "No class with the key \(tableKey.raw)") }
    }

    /// Finds or creates an object, and writes values to its properties.
    ///
    /// - Parameters:
    ///   - primaryKey: nil for a class without primary key, and for one whose keys the engine makes.
    ///   - value: gives the value with a number below `count`; called several times for each.
    /// - Returns: the object's key, and whether the object is new.
    package func create(
        _ tableKey: TableKey, primaryKey: Mixed?, _ whenFound: WhenFound, count: Int,
        _ value: (Int) throws(RealmError) -> PropertyValue
    ) throws(RealmError) -> (key: ObjKey, isNew: Bool) {
        let table = try table(tableKey)
        _ = try writing()
        for index in 0..<count {
            let one = try value(index)
            let facts = try facts(table, one.column)
            guard !facts.isPrimaryKey else {
                throw RealmError(.modifyPrimaryKey, "The primary key is given apart from the other values")
            }
            try table.check(one.value, for: facts)
        }
        return try asOneCall { () throws(RealmError) in
            let (key, isNew): (ObjKey, Bool)
            if let primaryKey {
                (key, isNew) = try create(tableKey, primaryKey: primaryKey, mustBeNew: whenFound == .refuse)
            } else {
                (key, isNew) = (try create(tableKey), true)
            }
            do throws(RealmError) {
                for index in 0..<count {
                    let one = try value(index)
                    if !isNew, whenFound == .updateModified, holds(one, tableKey, key) { continue }
                    try set(tableKey, key, one.column, one.value)
                }
            } catch {
                // If the transaction is damaged, its rollback removes the object instead.
                if isNew { try? takeBack(tableKey, key) }
                throw error
            }
            return (key, isNew)
        }
    }

    private func holds(_ one: PropertyValue, _ tableKey: TableKey, _ object: ObjKey) -> Bool {
        guard let present = try? value(tableKey, object, one.column) else { return false }
        if case .link(let key) = present, case .typedLink(_, let other) = one.value { return key == other }
        return Mixed.same(present, one.value)
    }

    /// Writes values to properties of an object.
    package func set(
        _ tableKey: TableKey, _ object: ObjKey, count: Int, isDefault: Bool = false,
        _ value: (Int) throws(RealmError) -> PropertyValue
    ) throws(RealmError) {
        try verifyAlive(tableKey, object)
        for index in 0..<count {
            let one = try value(index)
            try checkValue(tableKey, object, one.column, one.value)
        }
        try asOneCall { () throws(RealmError) in
            for index in 0..<count {
                let one = try value(index)
                if isDefault {
                    try setDefault(tableKey, object, one.column, one.value)
                } else {
                    try set(tableKey, object, one.column, one.value)
                }
            }
        }
    }
}
