import Synchronization

/// Live rows: objects of a class, of a collection or behind backlinks that match a query; or the values of a
/// collection.
///
/// Nothing runs before the first access; the rows found are kept until the Realm's state changes. Thread rule: that of
/// the Realm. Frozen results: any thread, many at once; the first thread runs the query, and the others wait for it.
/// Sendable: results are used only within `Realm.inside`; state that several threads share in frozen results is atomic
/// or immutable.
package final class ResultSet: @unchecked Sendable {
    package typealias Source = RowSource
    package let realm: Realm
    package let source: Source

    /// The collection whose elements are the rows; nil for rows from elsewhere.
    var collectionPath: CollectionPath? { if case .collection(let path) = source { path } else { nil } }

    /// Class of the rows; nil for values.
    package let table: TableKey?
    let query: BoundQuery

    /// Keys of the objects; null where a dictionary has no object.
    private(set) var rows: [ObjKey] = []
    private let rowsAt = Atomic(UInt64.max)

    /// The first rows of a sort by texts, while only they were asked for, and the state of the Realm for which they
    /// hold.
    private var firstRows: [ObjKey] = []
    private var firstRowsAt = UInt64.max

    /// Whether the rows of frozen results were found; locked by the thread that finds them. nil in live results.
    private let search: Lock<Bool>?

    /// Whether this is a snapshot, which never searches again.
    let isFixed: Bool
    package var isSnapshot: Bool { isFixed }
    private let fixedValues: [Mixed]

    /// Paths of those values of a snapshot that are collections, by index.
    private let fixedPaths: [Int: CollectionPath]
    private let arena = ConstantArena()

    /// Maximum number of values in value results.
    let valueLimit: Int

    /// Orderings of value results; empty: the order of the collection.
    let valueOrderings: [ValueOrdering]

    /// Indices in the collection, for ordered value results. Found together with the rows.
    private var places: [Int] = []

    /// Whether the collection is a dictionary; nil when there was no collection. A collection of another kind at the
    /// same path is not the same collection.
    private let ofDictionary: Bool?

    package init(_ realm: Realm, _ source: Source) throws(RealmError) {
        self.realm = realm
        search = realm.isFrozen ? Lock(initial: false) : nil
        self.source = source
        switch source {
        case .table(let key): table = key
        case .backlinks(_, _, let key, _): table = key
        case .collection(let path): table = try realm.linkTarget(path)
        case .keys: table = nil
        }
        if table == nil, case .collection(let path) = source, realm.isValid(path.table, path.object),
            let content = try realm.collection(path)
        {
            if case .dictionary = content { ofDictionary = true } else { ofDictionary = false }
        } else {
            ofDictionary = nil
        }
        query = BoundQuery.all(table ?? .null)
        isFixed = false
        fixedValues = []
        fixedPaths = [:]
        valueLimit = .max
        valueOrderings = []
    }

    init(_ other: ResultSet, _ query: BoundQuery, valueLimit: Int? = nil, valueOrderings: [ValueOrdering]? = nil) {
        realm = other.realm
        search = realm.isFrozen ? Lock(initial: false) : nil
        source = other.source
        table = other.table
        self.query = query
        isFixed = false
        fixedValues = []
        fixedPaths = [:]
        self.valueLimit = valueLimit ?? other.valueLimit
        self.valueOrderings = valueOrderings ?? other.valueOrderings
        ofDictionary = other.ofDictionary
    }

    init(fixing other: ResultSet, rows: [ObjKey], values: [Mixed] = [], paths: [Int: CollectionPath] = [:]) {
        realm = other.realm
        search = nil
        source = other.source
        table = other.table
        query = other.query
        isFixed = true
        valueLimit = other.valueLimit
        valueOrderings = []
        ofDictionary = other.ofDictionary
        var kept: [Mixed] = []
        for value in values { kept.append(arena.keep(value)) }
        fixedValues = kept
        fixedPaths = paths
        self.rows = rows
    }

    package convenience init(_ realm: Realm, _ source: Source, _ query: ObjectQuery) throws(RealmError) {
        let base = try ResultSet(realm, source)
        self.init(base, query.bound)
    }

    /// The description of results, from which the same results can be made in another Realm, also of another thread.
    package struct Recipe {
        let source: Source
        let query: BoundQuery
        let valueLimit: Int
        let valueOrderings: [ValueOrdering]
    }

    package var recipe: Recipe {
        Recipe(source: source, query: query.copied(), valueLimit: valueLimit, valueOrderings: valueOrderings)
    }

    package convenience init(_ realm: Realm, _ recipe: Recipe) throws(RealmError) {
        let base = try ResultSet(realm, recipe.source)
        self.init(base, recipe.query.copied(), valueLimit: recipe.valueLimit, valueOrderings: recipe.valueOrderings)
    }

    /// The same results in another Realm.
    package func resolved(in other: Realm) throws(RealmError) -> ResultSet { try ResultSet(other, recipe) }

    // MARK: Rows

    func stale() -> RealmError { RealmError(.staleAccessor, "Access to invalidated Results objects") }

    /// Checks that the collection behind the rows exists; throws 2009 when its owner was deleted.
    package func verifyOwner() throws(RealmError) {
        switch source {
        case .collection(let path), .keys(let path):
            guard try realm.isAlive(path.table, path.object) else { throw stale() }
        case .table, .backlinks: break
        }
    }

    var isWholeTable: Bool {
        if case .table = source { return query.isAll && query.orderings.isEmpty && !isFixed }
        return false
    }

    private var isUpToDate: Bool { isFixed || rowsAt.load(ordering: .acquiring) == realm.stateCount }

    func update() throws(RealmError) {
        if isUpToDate { return }
        guard let search else { return try findRows(query) }
        try search.with { (isDone) throws(RealmError) in
            // Other frozen results may share the conditions: search with a copy.
            if !isDone {
                try query.expectStack()
                try findRows(query.copied())
            }
            isDone = true
        }
    }

    /// The number of rows of `firstRows`: a page of a program that shows rows.
    private static let firstCount = 1024

    /// Finds the rows below `end`. Of a sort by texts only the first rows are found, without sorting the others, as long
    /// as the program asks for no later row.
    ///
    /// - Returns: whether they are in `firstRows`; otherwise `rows` has all rows.
    func updateFirst(_ end: Int) throws(RealmError) -> Bool {
        guard !isUpToDate, end <= Self.firstCount, end > 0, search == nil, case .table(let key) = source,
            case .sort(let keys)? = query.orderings.first, query.orderings.count == 1, keys.count == 1,
            keys[0].isOwnProperty
        else {
            try update()
            return false
        }
        let group = try realm.reading().group
        if firstRowsAt != realm.stateCount {
            guard let facts = try group.table(key)?.facts(keys[0].column), facts.type == .string, !facts.isCollection
            else {
                try update()
                return false
            }
            firstRows = try query.with(query.orderings + [.limit(Self.firstCount)]).run(group)
            firstRowsAt = realm.stateCount
        }
        // Fewer rows than were asked for are all rows.
        guard firstRows.count == Self.firstCount else {
            rows = firstRows
            rowsAt.store(realm.stateCount, ordering: .releasing)
            return false
        }
        return true
    }

    /// The rows below `end`, and perhaps more.
    package func rows(upTo end: Int) throws(RealmError) -> [ObjKey] { try updateFirst(end) ? firstRows : rows }

    private func findRows(_ query: BoundQuery) throws(RealmError) {
        if table == nil {
            places = try orderedPlaces()
        } else {
            rows = try source.rows(try realm.reading().group, query)
        }
        rowsAt.store(realm.stateCount, ordering: .releasing)
    }

    /// The collection of value results; throws 2009 when its owner was deleted.
    func content() throws(RealmError) -> CollectionContent {
        let path: CollectionPath
        switch source {
        case .collection(let collectionPath), .keys(let collectionPath): path = collectionPath
        default: throw stale()
        }
        guard realm.isValid(path.table, path.object), let found = try realm.collection(path) else { throw stale() }
        switch found {
        case .list where ofDictionary == true, .dictionary where ofDictionary == false: throw stale()
        default: return found
        }
    }

    package func count() throws(RealmError) -> Int {
        if isFixed { return table == nil ? fixedValues.count : rows.count }
        guard let table else {
            let size = try content().count
            guard !valueOrderings.isEmpty else { return min(size, valueLimit) }
            try update()
            return min(places.count, valueLimit)
        }
        if isWholeTable { return try realm.objectCount(table) }
        if isUpToDate { return rows.count }
        if case .table = source, !realm.isFrozen { return try query.count(try realm.reading().group) }
        try update()
        return rows.count
    }

    /// Whether the rows can be read.
    package func isValid() throws(RealmError) -> Bool {
        if isFixed { return true }
        guard table == nil else {
            guard let table else { return true }
            return (try realm.reading().group.table(table)) != nil
        }
        return (try? content()) != nil
    }

    private func outOfRange(_ index: Int, _ count: Int) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(index) calling get() on Results of \(count) rows")
    }

    /// Class and key of the object at an index.
    @inline(__always) package func object(_ index: Int) throws(RealmError) -> (TableKey, ObjKey) {
        if case .table(let wholeTable) = source, isWholeTable {
            return (wholeTable, try realm.objectKey(wholeTable, at: index))
        }
        return try otherObject(index)
    }

    private func otherObject(_ index: Int) throws(RealmError) -> (TableKey, ObjKey) {
        guard let table else {
            guard case .typedLink(let target, let key) = try value(index) else {
                throw RealmError(.indexOutOfBounds, "Row \(index) is no object")
            }
            return (target, key)
        }
        if index >= 0, !isUpToDate, try updateFirst(index &+ 1) { return (table, firstRows[index]) }
        try update()
        guard index >= 0, index < rows.count else { throw outOfRange(index, rows.count) }
        guard !rows[index].isNull else { throw RealmError(.indexOutOfBounds, "Row \(index) is no object") }
        return (table, rows[index])
    }

    /// The row at an index: a link for objects; null where a dictionary has no object, and where an object of a
    /// snapshot was deleted.
    package func value(_ index: Int) throws(RealmError) -> Mixed {
        if let table {
            if isWholeTable {
                let (objectTable, key) = try object(index)
                return .typedLink(objectTable, key)
            }
            if index >= 0, !isUpToDate, try updateFirst(index &+ 1) { return .typedLink(table, firstRows[index]) }
            try update()
            guard index >= 0, index < rows.count else { throw outOfRange(index, rows.count) }
            if rows[index].isNull || (isFixed && !realm.isValid(table, rows[index])) { return .null }
            return .typedLink(table, rows[index])
        }
        if isFixed {
            guard index >= 0, index < fixedValues.count else { throw outOfRange(index, fixedValues.count) }
            return fixedValues[index]
        }
        let size = try count()
        guard index >= 0, index < size else { throw outOfRange(index, size) }
        return try value(place(index), in: try content())
    }

    /// Index in the collection of a row of value results.
    private func place(_ index: Int) -> Int { valueOrderings.isEmpty ? index : places[index] }

    func value(_ index: Int, in content: CollectionContent) throws(RealmError) -> Mixed {
        switch (content, source) {
        case (.list(let list), _): try list.get(index)
        case (.dictionary(let dictionary), .keys): try dictionary.key(index)
        case (.dictionary(let dictionary), _): try dictionary.value(index)
        }
    }

    /// Path of the collection that is the value at an index; nil when the value is not a collection.
    ///
    /// - Throws: 2007 when the rows are not Mixed values.
    package func nestedPath(_ i: Int) throws(RealmError) -> CollectionPath? {
        guard case .collection(let path) = source, try realm.elementType(path) == .mixed else {
            throw RealmError(.illegalOperation, "Rows of this kind hold no collections")
        }
        switch try value(i) {
        case .list, .dictionary: break
        default: return nil
        }
        if isFixed { return fixedPaths[i] }
        let i = place(i)
        switch try content() {
        case .list(let list): return path.appending(.stableKey(try list.stableKey(i)))
        case .dictionary(let dictionary):
            guard case .string(let name) = try dictionary.key(i) else { return nil }
            return path.appending(.name(Array(name)))
        }
    }

    /// Index of an object or value; nil when the results do not contain it.
    package func find(_ wanted: Mixed) throws(RealmError) -> Int? {
        if let table {
            guard case .typedLink(let target, let key) = wanted else { return nil }
            guard target == table else { return nil }
            if isWholeTable {
                guard realm.isValid(target, key) else { return nil }
                return try realm.objectIndex(target, key)
            }
            try update()
            return rows.firstIndex(of: key)
        }
        if case .collection(let path) = source, !wanted.isNull, case let type = try realm.elementType(path),
            type != .mixed,
            type != ValueType(wanted)
        {
            return nil
        }
        for i in 0..<(try count()) where Mixed.same(try value(i), wanted) { return i }
        return nil
    }

    /// Index of an object; nil when the results do not contain it.
    ///
    /// - Throws: 3019 when the rows belong to another class, 2009 when the object is deleted.
    package func find(_ objectTable: TableKey, _ key: ObjKey) throws(RealmError) -> Int? {
        if let table, objectTable != table {
            throw RealmError(.objectTypeMismatch, "The object is of another class than the results")
        }
        guard realm.isValid(objectTable, key) else {
            throw RealmError(.staleAccessor, "Access to an object that was deleted")
        }
        return try find(.typedLink(objectTable, key))
    }
}
