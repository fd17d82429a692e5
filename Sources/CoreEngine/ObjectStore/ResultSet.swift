import Synchronization

/// Rows that follow the data: objects of a class, of a list, behind backlinks, that meet a query; or the values of a collection.
///
/// Nothing runs before the first access; what was found is kept while the Realm's state does not change.
/// Thread rule: that of the Realm. Of a frozen one: any, many at once; whoever comes first runs the query, the others wait for that.
/// Sendable: all is used inside the Realm's door; what several threads see of a frozen one is atomic or immutable.
package final class ResultSet: @unchecked Sendable {
    package typealias Source = RowSource
    package let realm: Realm
    package let source: Source
    /// Class of the rows; nil for values.
    package let table: TableKey?
    let query: BoundQuery
    /// Keys of the objects; null where a dictionary has no object.
    private var rows: [ObjKey] = []
    private let rowsAt = Atomic(UInt64.max)
    /// Whether the rows of frozen results were found; held by the thread that finds them. nil in live ones.
    private let search: Lock<Bool>?
    /// A snapshot never looks again.
    private let isFixed: Bool
    package var isSnapshot: Bool { isFixed }
    private let fixedValues: [Mixed]
    /// Of a snapshot's values that are collections, by index: where these are.
    private let fixedPaths: [Int: CollectionPath]
    private let arena = ConstantArena()
    /// Most values that value results show.
    let valueLimit: Int
    /// Whether the values are those of a dictionary; nil where there was no collection. Another kind in its place is not the same collection.
    private let ofDictionary: Bool?

    package init(_ realm: Realm, _ source: Source) throws(RealmError) {
        self.realm = realm
        search = realm.isFrozen ? Lock(initial: false) : nil
        self.source = source
        switch source {
        case .table(let t): table = t
        case .backlinks(_, _, let t, _): table = t
        case .collection(let path): table = try realm.linkTarget(path)
        case .keys: table = nil
        }
        if table == nil, case .collection(let path) = source, realm.isValid(path.table, path.object), let content = try realm.collection(path) {
            if case .dictionary = content { ofDictionary = true } else { ofDictionary = false }
        } else {
            ofDictionary = nil
        }
        query = BoundQuery.all(table ?? .null)
        isFixed = false
        fixedValues = []
        fixedPaths = [:]
        valueLimit = .max
    }
    private init(_ other: ResultSet, _ query: BoundQuery, valueLimit: Int? = nil) {
        realm = other.realm
        search = realm.isFrozen ? Lock(initial: false) : nil
        source = other.source
        table = other.table
        self.query = query
        isFixed = false
        fixedValues = []
        fixedPaths = [:]
        self.valueLimit = valueLimit ?? other.valueLimit
        ofDictionary = other.ofDictionary
    }
    private init(fixing other: ResultSet, rows: [ObjKey], values: [Mixed] = [], paths: [Int: CollectionPath] = [:]) {
        realm = other.realm
        search = nil
        source = other.source
        table = other.table
        query = other.query
        isFixed = true
        valueLimit = other.valueLimit
        ofDictionary = other.ofDictionary
        var kept: [Mixed] = []
        for v in values { kept.append(arena.keep(v)) }
        fixedValues = kept
        fixedPaths = paths
        self.rows = rows
    }
    package convenience init(_ realm: Realm, _ source: Source, _ query: ObjectQuery) throws(RealmError) {
        let base = try ResultSet(realm, source)
        self.init(base, query.bound)
    }
    /// What makes the same results in another Realm, which may be another thread's.
    package struct Recipe {
        let source: Source
        let query: BoundQuery
        let valueLimit: Int
    }
    package var recipe: Recipe { Recipe(source: source, query: query.copied(), valueLimit: valueLimit) }
    package convenience init(_ realm: Realm, _ r: Recipe) throws(RealmError) {
        let base = try ResultSet(realm, r.source)
        self.init(base, r.query.copied(), valueLimit: r.valueLimit)
    }
    /// The same in another Realm.
    package func resolved(in other: Realm) throws(RealmError) -> ResultSet { try ResultSet(other, recipe) }

    // MARK: Rows

    private func stale() -> RealmError { RealmError(.staleAccessor, "Access to invalidated Results objects") }
    /// For what needs the collection that the rows come from: 2009 when its owner is gone.
    package func verifyOwner() throws(RealmError) {
        switch source {
        case .collection(let path), .keys(let path): guard try realm.isAlive(path.table, path.object) else { throw stale() }
        case .table, .backlinks: break
        }
    }
    private var isWholeTable: Bool {
        if case .table = source { return query.isAll && query.orderings.isEmpty && !isFixed }
        return false
    }
    private var isUpToDate: Bool { isFixed || rowsAt.load(ordering: .acquiring) == realm.stateCount }
    private func update() throws(RealmError) {
        if isUpToDate { return }
        guard let search else { return try findRows(query) }
        try search.with { (isDone) throws(RealmError) in
            // Other frozen results may have the same conditions.
            if !isDone { try findRows(query.copied()) }
            isDone = true
        }
    }
    private func findRows(_ query: BoundQuery) throws(RealmError) {
        rows = try source.rows(try realm.reading().group, query)
        rowsAt.store(realm.stateCount, ordering: .releasing)
    }
    /// The collection of value results; 2009 when its owner is gone.
    private func content() throws(RealmError) -> CollectionContent {
        let path: CollectionPath
        switch source {
        case .collection(let p), .keys(let p): path = p
        default: throw stale()
        }
        guard realm.isValid(path.table, path.object), let c = try realm.collection(path) else { throw stale() }
        switch c {
        case .list where ofDictionary == true, .dictionary where ofDictionary == false: throw stale()
        default: return c
        }
    }
    package func count() throws(RealmError) -> Int {
        if isFixed { return table == nil ? fixedValues.count : rows.count }
        guard let table else {
            switch try content() {
            case .list(let l): return min(l.count, valueLimit)
            case .dictionary(let d): return min(d.count, valueLimit)
            }
        }
        if isWholeTable { return try realm.objectCount(table) }
        if isUpToDate { return rows.count }
        if case .table = source, !realm.isFrozen { return try query.count(try realm.reading().group) }
        try update()
        return rows.count
    }
    /// Whether the rows can be read at all.
    package func isValid() throws(RealmError) -> Bool {
        if isFixed { return true }
        guard table == nil else {
            guard let table else { return true }
            return (try realm.reading().group.table(table)) != nil
        }
        return (try? content()) != nil
    }
    private func outOfRange(_ i: Int, _ n: Int) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(i) calling get() on Results of \(n) rows")
    }
    /// Key of the object at an index.
    @inline(__always) package func object(_ i: Int) throws(RealmError) -> (TableKey, ObjKey) {
        if case .table(let t) = source, isWholeTable {
            return (t, try realm.objectKey(t, at: i))
        }
        return try otherObject(i)
    }
    private func otherObject(_ i: Int) throws(RealmError) -> (TableKey, ObjKey) {
        guard let table else {
            guard case .typedLink(let t, let k) = try value(i) else { throw RealmError(.indexOutOfBounds, "Row \(i) is no object") }
            return (t, k)
        }
        try update()
        guard i >= 0, i < rows.count else { throw outOfRange(i, rows.count) }
        guard !rows[i].isNull else { throw RealmError(.indexOutOfBounds, "Row \(i) is no object") }
        return (table, rows[i])
    }
    /// The row at an index: a link for objects, null where a dictionary has none and where a snapshot's object is gone.
    package func value(_ i: Int) throws(RealmError) -> Mixed {
        if let table {
            if isWholeTable {
                let (t, k) = try object(i)
                return .typedLink(t, k)
            }
            try update()
            guard i >= 0, i < rows.count else { throw outOfRange(i, rows.count) }
            if rows[i].isNull || (isFixed && !realm.isValid(table, rows[i])) { return .null }
            return .typedLink(table, rows[i])
        }
        if isFixed {
            guard i >= 0, i < fixedValues.count else { throw outOfRange(i, fixedValues.count) }
            return fixedValues[i]
        }
        let n = try count()
        guard i >= 0, i < n else { throw outOfRange(i, n) }
        switch (try content(), source) {
        case (.list(let l), _): return try l.get(i)
        case (.dictionary(let d), .keys): return try d.key(i)
        case (.dictionary(let d), _): return try d.value(i)
        }
    }
    /// Path of the collection that the value at an index holds, when it holds one.
    ///
    /// - Throws: 2007 when the rows are no Mixed values.
    package func nestedPath(_ i: Int) throws(RealmError) -> CollectionPath? {
        guard case .collection(let path) = source, try realm.elementType(path) == .mixed else {
            throw RealmError(.illegalOperation, "Rows of this kind hold no collections")
        }
        switch try value(i) {
        case .list, .dictionary: break
        default: return nil
        }
        if isFixed { return fixedPaths[i] }
        switch try content() {
        case .list(let l): return path.appending(.salt(try l.nestedKey(i)))
        case .dictionary(let d):
            guard case .string(let name) = try d.key(i) else { return nil }
            return path.appending(.name(Array(name)))
        }
    }
    /// Index of an object or value, nil when it is no row.
    package func find(_ v: Mixed) throws(RealmError) -> Int? {
        if let table {
            guard case .typedLink(let t, let k) = v else { return nil }
            guard t == table else { return nil }
            if isWholeTable {
                guard realm.isValid(t, k) else { return nil }
                return try realm.objectIndex(t, k)
            }
            try update()
            return rows.firstIndex(of: k)
        }
        if case .collection(let path) = source, !v.isNull, case let type = try realm.elementType(path), type != .mixed, type != ValueType(v) {
            return nil
        }
        for i in 0..<(try count()) where Mixed.same(try value(i), v) { return i }
        return nil
    }

    /// Index of an object, nil when it is no row.
    ///
    /// - Throws: 3019 when the rows are of another class, 2009 when the object is deleted.
    package func find(_ t: TableKey, _ k: ObjKey) throws(RealmError) -> Int? {
        if let table, t != table { throw RealmError(.objectTypeMismatch, "The object is of another class than the results") }
        guard realm.isValid(t, k) else { throw RealmError(.staleAccessor, "Access to an object that was deleted") }
        return try find(.typedLink(t, k))
    }

    // MARK: Making others

    private func objects(_ what: String) throws(RealmError) -> TableKey {
        guard let table else { throw RealmError(.illegalOperation, "Results of values cannot be \(what)") }
        return table
    }
    package func filtered(_ other: ObjectQuery) throws(RealmError) -> ResultSet {
        let t = try objects("filtered")
        guard other.bound.table == t else { throw RealmError(.invalidArgument, "The query is on another class than the results") }
        return try filtered(other.bound, query.orderings)
    }
    private func filtered(_ other: BoundQuery, _ orderings: [Ordering]) throws(RealmError) -> ResultSet {
        for case .limit in query.orderings {
            throw RealmError(.illegalOperation, "Results with a limit cannot be filtered: it would change which rows are within it")
        }
        return ResultSet(self, query.and(other, orderings: orderings))
    }
    /// The rows that also meet a query text, whose orderings come after those there are.
    func filtered(_ text: String, _ arguments: [QueryArgument]) throws(RealmError) -> ResultSet {
        let other = try ObjectQuery(realm, try objects("filtered"), text, arguments).bound
        var orderings = query.orderings
        for o in other.orderings { Ordering.append(o, to: &orderings) }
        return try filtered(other, orderings)
    }
    /// Keys of the rows as they are now; null where a dictionary has no object.
    func keys() throws(RealmError) -> [ObjKey] {
        guard let table, isWholeTable else {
            try update()
            return rows
        }
        return try realm.table(table).allKeys()
    }
    package func sorted(_ text: String) throws(RealmError) -> ResultSet { try ordered(try QueryParser.sort(text), "sorted") }
    package func distinct(_ text: String) throws(RealmError) -> ResultSet { try ordered(try QueryParser.distinct(text), "made distinct") }
    private func ordered(_ o: OrderingSyntax, _ what: String) throws(RealmError) -> ResultSet {
        let t = try objects(what)
        let group = try realm.reading().group
        guard let table = try group.table(t) else { throw stale() }
        // Stored names only.
        let bound = try Binder(group, QueryNames(), [], ConstantArena()).ordering(o, table)
        return ResultSet(self, query.appending(bound))
    }
    package func limited(_ n: Int) throws(RealmError) -> ResultSet {
        if table == nil { return ResultSet(self, query, valueLimit: min(valueLimit, n)) }
        return ResultSet(self, query.appending(.limit(n)))
    }
    package func snapshot() throws(RealmError) -> ResultSet {
        if isFixed { return self }
        guard let table else {
            var values: [Mixed] = []
            var paths: [Int: CollectionPath] = [:]
            for i in 0..<(try count()) {
                let v = try value(i)
                values.append(v)
                switch v {
                case .list, .dictionary: paths[i] = try nestedPath(i)
                default: continue
                }
            }
            return ResultSet(fixing: self, rows: [], values: values, paths: paths)
        }
        if isWholeTable {
            var all: [ObjKey] = []
            for i in 0..<(try realm.objectCount(table)) { all.append(try realm.objectKey(table, at: i)) }
            return ResultSet(fixing: self, rows: all)
        }
        try update()
        return ResultSet(fixing: self, rows: rows)
    }
    /// The query behind the rows, with its source and orderings.
    package func objectQuery() throws(RealmError) -> ObjectQuery {
        try verifyOwner()
        _ = try objects("made a query")
        return ObjectQuery(realm, query, source)
    }
    /// Deletes the objects of the rows; of values and of a whole dictionary, empties the collection.
    package func deleteAll() throws(RealmError) {
        guard realm.isWriting else { throw RealmError(.wrongTransactionState, "Must be in a write transaction") }
        guard let table else {
            guard case .collection(let path) = source else { throw RealmError(.illegalOperation, "Keys cannot be deleted through results") }
            switch try content() {
            case .dictionary: try realm.clear(path, .dictionary)
            case .list: try realm.clear(path, try realm.shape(path))
            }
            return
        }
        if query.isAll, query.orderings.isEmpty, !isFixed, case .collection(let path) = source, try realm.isAlive(path.table, path.object),
            case .dictionary? = try realm.collection(path)
        {
            try realm.clear(path, .dictionary)
            return
        }
        var keys: [ObjKey]
        if isWholeTable {
            keys = try realm.table(table).allKeys()
        } else {
            try update()
            keys = rows.filter { !$0.isNull }
        }
        try realm.delete(table, keys)
    }

    // MARK: Aggregates

    /// - Returns: nil and whether there was any value: see the C API.
    package func aggregate(_ kind: Aggregation, _ column: ColKey) throws(RealmError) -> (value: Mixed, found: Bool) {
        let group = try realm.reading().group
        let op: AggregateKind = kind == .min ? .min : (kind == .max ? .max : (kind == .sum ? .sum : .average))
        var values: [Mixed] = []
        // Objects of a snapshot that were deleted since count as null.
        var deleted = 0
        let type: ValueType
        let name: String
        if let table {
            guard let t = try group.table(table) else { throw stale() }
            guard let f = t.facts(column), f.type != .backlink else {
                throw RealmError(.invalidProperty, "Class '\(t.className ?? t.name)' has no property with key \(column.raw)")
            }
            name = t.column(column)?.name.text ?? ""
            type = ValueType(f)
            try Self.check(kind, type, f.isCollection, name)
            if isWholeTable {
                let scan = ClusterScan(t)
                var total = Aggregator(op, type)
                while try scan.next() { try total.add(scan, column, f.kind) }
                return total.result
            }
            try update()
            for k in rows { if !k.isNull, let v = try t.rows.peek(k, column.index) { values.append(v) } else { deleted += 1 } }
        } else {
            let path: CollectionPath
            switch source {
            case .collection(let p), .keys(let p): path = p
            default: throw stale()
            }
            for i in 0..<(try count()) { values.append(try value(i)) }
            type = try { () throws(RealmError) -> ValueType in
                if case .keys = source { return .string }
                return try realm.elementType(path)
            }()
            name = "elements"
            try Self.check(kind, type, false, name)
        }
        if values.isEmpty { return (kind == .sum ? Aggregate.over(.sum, type, []) : .null, kind == .sum && deleted > 0) }
        let v = Aggregate.over(op, type, values[...])
        return (v, kind == .sum ? true : !v.isNull)
    }
    package enum Aggregation: String { case min, max, sum, average }
    private static func check(_ kind: Aggregation, _ type: ValueType, _ isCollection: Bool, _ name: String) throws(RealmError) {
        if !isCollection {
            switch type {
            case .int, .float, .double, .decimal, .mixed: return
            case .timestamp where kind == .min || kind == .max: return
            default: break
            }
        }
        throw RealmError(.illegalOperation, "Cannot \(kind.rawValue) '\(name)': operation not supported for '\(type.name)' properties")
    }
}

/// A query with the Realm it belongs to and where its rows come from.
package final class ObjectQuery {
    package let realm: Realm
    let bound: BoundQuery
    package let source: ResultSet.Source

    init(_ realm: Realm, _ bound: BoundQuery, _ source: ResultSet.Source) {
        self.realm = realm
        self.bound = bound
        self.source = source
    }
    package convenience init(_ realm: Realm, _ table: TableKey, _ text: String, _ arguments: [QueryArgument]) throws(RealmError) {
        let bound = try BoundQuery.parse(text, try realm.reading().group, table, realm.queryNames, arguments)
        self.init(realm, bound, .table(table))
    }
    /// On the objects of a list or set.
    package convenience init(in path: CollectionPath, _ realm: Realm, _ text: String, _ arguments: [QueryArgument]) throws(RealmError) {
        guard let t = try realm.linkTarget(path) else { throw RealmError(.illegalOperation, "Queries on collections of values are not supported") }
        let bound = try BoundQuery.parse(text, try realm.reading().group, t, realm.queryNames, arguments)
        self.init(realm, bound, .collection(path))
    }
    /// On the rows of results, whose ordering is not taken over.
    package convenience init(of results: ResultSet, _ text: String, _ arguments: [QueryArgument]) throws(RealmError) {
        guard let t = results.table else { throw RealmError(.illegalOperation, "Queries on results of values are not supported") }
        let realm = results.realm
        let bound = try BoundQuery.parse(text, try realm.reading().group, t, realm.queryNames, arguments)
        self.init(realm, results.query.and(bound, orderings: bound.orderings), results.source)
    }
    /// AND of both, orderings one after the other.
    package func appending(_ text: String, _ arguments: [QueryArgument]) throws(RealmError) -> ObjectQuery {
        let other = try BoundQuery.parse(text, try realm.reading().group, bound.table, realm.queryNames, arguments)
        var orderings = bound.orderings
        for o in other.orderings { Ordering.append(o, to: &orderings) }
        return ObjectQuery(realm, bound.and(other, orderings: orderings), source)
    }
    package func results() throws(RealmError) -> ResultSet {
        return try ResultSet(realm, source, self)
    }
    package func count() throws(RealmError) -> Int { try results().count() }
    package func first() throws(RealmError) -> (TableKey, ObjKey)? {
        if case .table = source, bound.orderings.isEmpty {
            let bound = realm.isFrozen ? bound.copied() : bound
            guard let k = try bound.appending(.limit(1)).run(try realm.reading().group).first else { return nil }
            return (bound.table, k)
        }
        let r = try results()
        guard try r.count() > 0 else { return nil }
        return try r.object(0)
    }
    package func deleteAll() throws(RealmError) { try results().deleteAll() }
    package func text() throws(RealmError) -> String { bound.text(try realm.reading().group) }
}

extension Realm {
    /// Class that the links of a collection lead to; nil when it holds values.
    func linkTarget(_ path: CollectionPath) throws(RealmError) -> TableKey? {
        guard let c = try table(path.table).facts(path.column), c.type == .link, path.steps.isEmpty else { return nil }
        return c.oppositeTable
    }
    func elementType(_ path: CollectionPath) throws(RealmError) -> ValueType {
        guard let c = try table(path.table).facts(path.column) else { throw invalidated() }
        if c.shape == .dictionary && path.steps.isEmpty {
            switch c.type {
            case .int: return .int
            case .float: return .float
            case .double: return .double
            case .decimal: return .decimal
            case .timestamp: return .timestamp
            case .bool: return .bool
            case .string: return .string
            case .binary: return .binary
            case .objectId: return .objectId
            case .uuid: return .uuid
            default: return .mixed
            }
        }
        return ValueType(c)
    }
    func shape(_ path: CollectionPath) throws(RealmError) -> CollectionShape {
        guard path.steps.isEmpty, let c = try table(path.table).facts(path.column), let s = c.shape else { return .list }
        return s
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
