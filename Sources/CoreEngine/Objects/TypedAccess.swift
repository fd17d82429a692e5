/// Reads and writes by keys, for callers that bind the keys of a class once: RealmSwift, and the most frequent C
/// functions.
///
/// Each is one call of the engine. Rules and errors are those of `value`, `set` and `ResultSet.object`.
extension Realm {
    /// A value; its bytes are valid until the Realm changes or moves.
    package func read(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed {
        guard enterQuickly() else {
            if let value = readFrozen(table, column, { $0.openedValue(object, column) }) { return value }
            return try inside(.object) { () throws(RealmError) in try value(table, object, column) }
        }
        guard let value = opened(table, column, { $0.openedValue(object, column) }) else {
            return try readClosed(table, object, column)
        }
        if !leaveQuickly() { try verifyWhole() }
        return value
    }

    /// Continues `read` after `enterQuickly`, when the leaf is not open.
    @inline(never) private func readClosed(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError)
        -> Mixed
    {
        try leaveQuickly { () throws(RealmError) in try valueInClosedLeaf(table, object, column) }
    }

    /// The integer in a property; nil when its value has another type.
    package func readInteger(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Int64? {
        if let integer = readQuickly(table, column, { $0.openedInteger(object, column) }) { return integer }
        return try inside(.object) { () throws(RealmError) in
            if case .int(let integer) = try value(table, object, column) { integer } else { nil }
        }
    }

    /// The double in a property; nil when its value has another type.
    package func readDouble(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> Double? {
        if let number = readQuickly(table, column, { $0.openedDouble(object, column) }) { return number }
        return try inside(.object) { () throws(RealmError) in
            if case .double(let number) = try value(table, object, column) { number } else { nil }
        }
    }

    /// A string, copied; nil when the value has another type.
    package func readText(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> String? {
        if let text = readQuickly(
            table, column, { $0.openedText(object, column).map { String(decoding: $0, as: UTF8.self) } })
        {
            return text
        }
        return try inside(.object) { () throws(RealmError) in
            guard case .string(let bytes) = try value(table, object, column) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Any single value, copied. For a collection in a Mixed property only its kind: the result is empty.
    package func readOwned(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> RealmValue {
        try inside(.object) { () throws(RealmError) in
            switch try value(table, object, column) {
            case .list: .list([])
            case .dictionary: .dictionary([])
            case let single: try reading().group.copy(single)
            }
        }
    }

    /// The value of a property in leaves that are already open. nil means "take the slow path": the value was not
    /// found, or something unusual happened; the general read then reports the error.
    @inline(__always) private func readQuickly<R>(_ table: TableKey, _ column: ColKey, _ body: (Table) -> R?) -> R? {
        guard enterQuickly() else { return readFrozen(table, column, body) }
        let found = opened(table, column, body)
        return leaveQuickly() ? found : nil
    }

    /// The same in a frozen Realm, with the reader of the calling thread; nil for other Realms.
    @inline(__always) private func readFrozen<R>(_ table: TableKey, _ column: ColKey, _ body: (Table) -> R?) -> R? {
        guard let reader = enterFrozen() else { return nil }
        let found: R? = reader._withUnsafeGuaranteedRef { reader in
            guard let openTable = reader.openTable(table) else { return nil }
            return openTable._withUnsafeGuaranteedRef { $0.isColumn(column) ? body($0) : nil }
        }
        return leaveFrozen(reader) ? found : nil
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

    /// Class and key of the object in a row of results, with the write transaction that created it if that is still
    /// open.
    package func object(of results: ResultSet, at i: Int) throws(RealmError) -> (table: TableKey, named: TrackedKey) {
        try insideQuickly(.results) { () throws(RealmError) -> (table: TableKey, named: TrackedKey) in
            let (table, key) = try results.object(i)
            return (table, TrackedKey(key, creation(table, key)))
        }
    }

    /// Number of rows of results; 0 when they are no longer valid.
    package func count(of results: ResultSet) throws(RealmError) -> Int {
        do throws(RealmError) { return try inside(.results) { () throws(RealmError) in try results.count() } } catch {
            guard error.code == .staleAccessor || error.code == .closedRealm else { throw error }
            return 0
        }
    }

    /// Releases the version being read, unless a write transaction is open: the next call reads the newest version.
    package func endRead() throws(RealmError) {
        try inside { () throws(RealmError) in
            guard !isFrozen, transaction.stage == .reading else { return }
            stateCount &+= 1
            transaction.endRead()
        }
    }
}
