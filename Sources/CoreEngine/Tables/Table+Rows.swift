/// The rows of a table for the layers above, which do not see the tree that stores them. Each call is one of
/// `ClusterTree` or `NodeStore`.
extension Table {
    typealias Row = ClusterTree.Row

    /// The key of the object at `index` in key order.
    @inline(__always) func key(at index: Int) throws(RealmError) -> ObjKey { try rows.key(at: index) }

    /// The key of the object at `index`, if the cursor's leaf holds it; otherwise nil.
    @inline(__always) func keyNear(_ index: Int) -> ObjKey? { rows.keyNear(index) }

    /// Number of objects whose keys are below `key`.
    func rank(of key: ObjKey) throws(RealmError) -> Int { try rows.rank(of: key) }

    /// The row of an object; nil if it does not exist.
    @inline(__always) func locate(_ key: ObjKey) throws(RealmError) -> Row? { try rows.locate(key) }

    /// A value as it is stored; nil if the object does not exist.
    @inline(__always) func stored(_ key: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed? {
        try rows.get(key, column.index)
    }

    /// A value of a row as it is stored.
    @inline(__always) func stored(_ row: Row, _ column: ColKey) throws(RealmError) -> Mixed {
        try rows.get(row: row, column.index)
    }

    /// As `stored`, for visits that leave the cursor where it is.
    @inline(__always) func peek(_ key: ObjKey, _ column: ColKey) throws(RealmError) -> Mixed? {
        try rows.peek(key, column.index)
    }

    /// A value, if its leaf is open: `ClusterTree.openedValue`.
    @inline(__always) func openedValue(_ key: ObjKey, _ column: ColKey) -> Mixed? {
        rows.openedValue(key, column.index)
    }

    @inline(__always) func openedInteger(_ key: ObjKey, _ column: ColKey) -> Int64? {
        rows.openedInteger(key, column.index)
    }

    @inline(__always) func openedDouble(_ key: ObjKey, _ column: ColKey) -> Double? {
        rows.openedDouble(key, column.index)
    }

    @inline(__always) func openedText(_ key: ObjKey, _ column: ColKey) -> Bytes? {
        rows.openedText(key, column.index)
    }

    /// Stores the root of a list that was changed in place.
    @inline(__always) func keep(_ list: ElementList, _ key: ObjKey, _ column: ColKey) throws(RealmError) {
        _ = try rows.set(key, column.index, .slot(RefOrTagged(list.root)))
    }

    /// A copy of a value that stays when nodes move.
    func stable(_ value: Mixed) throws(RealmError) -> Mixed { try store.stable(value) }

    /// Throws when the call was interrupted; reports how far it is.
    @inline(__always) func test(_ done: Int = 0, of total: Int = 0) throws(RealmError) {
        try store.test(done, of: total)
    }

    // MARK: Rows of tables that are not classes

    /// Stores an integer at a key that the caller chose, in a table without indexes. Its other columns get
    /// their defaults. Observers are not told.
    func place(_ integer: Int64, at key: ObjKey, _ column: ColumnFacts) throws(RealmError) {
        if try rows.set(key, column.key.index, .int(integer)) { return }
        _ = try rows.insert(key, initial: (column.key.index, .int(integer)))
    }

    /// Stores a value in a row that `place` added. Observers are not told.
    func setPlaced(_ key: ObjKey, _ column: ColumnFacts, _ value: Mixed) throws(RealmError) {
        _ = try rows.set(key, column.key.index, try store.stable(value))
    }

    /// Removes a row that `place` added.
    func removePlaced(_ key: ObjKey) throws(RealmError) { _ = try rows.erase(key) }

    // MARK: Indexes

    /// Keys of the objects with a value, ascending, from the index of a property; nil if no index can answer. The index
    /// of a Mixed property cannot, because equal values of different types are in different places.
    func objects(with value: Mixed, in column: ColKey) throws(RealmError) -> [ObjKey]? {
        guard let index = try index(of: column.index), facts(column)?.type != .mixed else { return nil }
        var keys: [ObjKey] = []
        var ascending = true
        try index.findAll(value) { (key) throws(RealmError) in
            if let last = keys.last, last > key { ascending = false }
            keys.append(key)
        }
        return ascending ? keys : keys.sorted()
    }

    /// Keys of the objects with one of the values, ascending, from the index of a property; nil if it has no index.
    func objects(withAnyOf values: [Mixed], in column: ColKey) throws(RealmError) -> [ObjKey]? {
        guard let index = try index(of: column.index) else { return nil }
        var all = Set<ObjKey>()
        for value in values { try index.findAll(value) { (key) throws(RealmError) in all.insert(key) } }
        return all.sorted()
    }

    /// The number of objects with a value.
    func count(of value: Mixed, in column: ColKey) throws(RealmError) -> Int? {
        guard let index = try index(of: column.index), facts(column)?.type != .mixed else { return nil }
        return try index.count(of: value)
    }

    /// Throws if a word is too long for a full-text index.
    static func checkWord(_ word: Bytes) throws(RealmError) { try SearchIndex.checkWord(word) }

    /// Finds objects by their primary keys, many times. nil: the table has no index for it.
    struct PrimaryKeys {
        private let index: SearchIndex

        fileprivate init(_ index: SearchIndex) { self.index = index }

        func find(_ value: Mixed) throws(RealmError) -> ObjKey? { try index.find(value) }
    }

    /// Valid until the index changes.
    func primaryKeys(_ column: ColKey) -> PrimaryKeys? {
        indexes.primaryKeyIndex(column.index).map { PrimaryKeys($0) }
    }
}

extension Table {
    /// Whether the texts of a column are stored once each, and numbered.
    func isEnumerated(_ column: ColKey) -> Bool { rows.isEnumerated(column) }
}

extension Group {
    /// Throws when the call was interrupted; reports how far it is.
    @inline(__always) func test(_ done: Int = 0, of total: Int = 0) throws(RealmError) {
        try store.test(done, of: total)
    }

    /// Runs a long call on the data of the snapshot: a query, a check.
    func query<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R { try store.during(.querying, body) }

    func check<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R { try store.during(.checking, body) }

    /// Upper bound for the bytes of all different values of the snapshot. A sum of up to `unmeasured` bytes need not be
    /// compared with it.
    var measuredExtent: Int { store.measuredExtent }
    static var unmeasured: Int { NodeStore.unmeasured }
}
