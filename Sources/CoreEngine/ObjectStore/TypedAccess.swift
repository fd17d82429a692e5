/// Reading and writing by keys, through the door, for those who bind the keys of a class once: RealmSwift, and C
/// functions that are called most.
///
/// One call of the engine each. Rules and errors are those of `value`, `set` and `ResultSet.object`.
extension Realm {
    /// A value; its bytes are good until the Realm changes or moves.
    package func read(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed {
        guard enterQuickly() else {
            return try inside(.object) { () throws(RealmError) in try value(table, object, column) }
        }
        guard let value = opened(table, column, { $0.rows.openedValue(object, column.index) }) else {
            return try readClosed(table, object, column)
        }
        if !leaveQuickly() { try verifyWhole() }
        return value
    }

    /// The rest of it, between `enterQuickly` and here, where the leaf is not open.
    @inline(never) private func readClosed(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError)
        -> Mixed
    {
        try leaveQuickly { () throws(RealmError) in try valueInClosedLeaf(table, object, column) }
    }

    /// The integer in a property; nil when it holds none.
    package func readInteger(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Int64? {
        if let integer = glance(table, column, { $0.rows.openedInteger(object, column.index) }) { return integer }
        return try inside(.object) { () throws(RealmError) in
            if case .int(let integer) = try value(table, object, column) { integer } else { nil }
        }
    }

    /// The number in a property; nil when it holds none.
    package func readDouble(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Double? {
        if let number = glance(table, column, { $0.rows.openedDouble(object, column.index) }) { return number }
        return try inside(.object) { () throws(RealmError) in
            if case .double(let number) = try value(table, object, column) { number } else { nil }
        }
    }

    /// A text, copied; nil when the property holds none.
    package func readText(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> String? {
        if let text = glance(
            table, column, { $0.rows.openedText(object, column.index).map { String(decoding: $0, as: UTF8.self) } })
        {
            return text
        }
        return try inside(.object) { () throws(RealmError) in
            guard case .string(let bytes) = try value(table, object, column) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Any single value, copied; of a collection in a Mixed property only which kind it is.
    package func readOwned(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> RealmValue {
        try inside(.object) { () throws(RealmError) in
            switch try value(table, object, column) {
            case .list: .list([])
            case .dictionary: .dictionary([])
            case let single: try reading().group.copy(single)
            }
        }
    }

    /// What is found of a property in the leaves that are open already; nil where that is nothing, or anything is out
    /// of the ordinary: then the property is read the general way, which says what is wrong.
    @inline(__always) private func glance<R>(_ table: TableKey, _ column: ColKey, _ body: (Table) -> R?) -> R? {
        guard enterQuickly() else { return nil }
        let found = opened(table, column, body)
        return leaveQuickly() ? found : nil
    }

    @inline(__always) private func opened<R>(_ table: TableKey, _ column: ColKey, _ body: (Table) -> R?) -> R? {
        guard transaction.stage == .reading || transaction.stage == .writing,
            let openTable = Unmanaged.passUnretained(transaction.group)._withUnsafeGuaranteedRef({ $0.openTable(table) }
            )
        else { return nil }
        return openTable._withUnsafeGuaranteedRef { $0.isColumn(column) ? body($0) : nil }
    }

    /// Stores a value; inside a write transaction.
    package func write(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ value: Mixed) throws(RealmError) {
        try insideQuickly(.object) { () throws(RealmError) in try set(table, object, column, value) }
    }

    /// Key of the object in a row of results.
    package func key(of results: ResultSet, at i: Int) throws(RealmError) -> ObjKey {
        try insideQuickly(.results) { () throws(RealmError) in try results.object(i).1 }
    }

    /// Class and key of the object in a row of results, and the write transaction that made it, where that is open.
    package func object(of results: ResultSet, at i: Int) throws(RealmError) -> (table: TableKey, named: BornKey) {
        try insideQuickly(.results) { () throws(RealmError) -> (table: TableKey, named: BornKey) in
            let (table, key) = try results.object(i)
            return (table, BornKey(key, birth(table, key)))
        }
    }

    /// Number of rows of results; 0 when they are gone.
    package func count(of results: ResultSet) throws(RealmError) -> Int {
        do throws(RealmError) { return try inside(.results) { () throws(RealmError) in try results.count() } } catch {
            guard error.code == .staleAccessor || error.code == .closedRealm else { throw error }
            return 0
        }
    }

    /// Lets go of the version that is read, where nothing is being written: the next call reads the newest one.
    package func endRead() throws(RealmError) {
        try inside { () throws(RealmError) in
            guard !isFrozen, transaction.stage == .reading else { return }
            stateCount &+= 1
            transaction.endRead()
        }
    }
}
