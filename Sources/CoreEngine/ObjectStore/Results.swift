/// Objects that follow the data: those of a class, of a list, or those of them that meet a query. Nothing is copied,
/// and nothing runs before the first access; what was found is kept while the Realm's state does not change.
///
///     let adults = try realm.objects("Person").where("age >= $0 AND ANY dogs.name IN $1", 18, ["Rex", "Ida"]).sorted(by: "name")
///     for person in adults { print(person["name"]) }
///     try adults.average(of: "age")
///
/// A `for` loop goes over the rows as they were when it began, so objects may be changed and deleted in it; access by
/// index is live. Where reading cannot throw, results of a closed Realm, on another thread than their Realm's, or whose
/// query fails, and an index out of range are a `Misuse`. `load`, `object(at:)` and `elements` throw.
///
/// Thread rule: that of the Realm. Errors of every method that throws: 2009 when the Realm is closed, 2006 on another
/// thread.
public struct Results: LiveCollection {
    let found: ResultSet

    /// Class of the objects.
    public let table: TableKey

    /// The Realm they belong to.
    public var realm: Realm { found.realm }

    init(_ found: ResultSet, _ table: TableKey) {
        self.found = found
        self.table = table
    }

    private func derived(_ make: () throws(RealmError) -> ResultSet) throws(RealmError) -> Results {
        Results(try realm.inside(.results, make), table)
    }

    // MARK: Reading

    /// The object at an index.
    ///
    /// - Throws: 3017 when the index is out of range, or a dictionary has no object there; errors of the query.
    public func object(at i: Int) throws(RealmError) -> RealmObject {
        let (table, key) = try realm.inside(.results) { () throws(RealmError) in try found.object(i) }
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// Number of objects, or the error that `count` cannot throw: 3000 for TEXT without a word to search for, 3013 for
    /// an order by a collection, 3018 for a key path that reaches too many objects.
    @discardableResult
    public func load() throws(RealmError) -> Int {
        try realm.inside(.results) { () throws(RealmError) in try found.count() }
    }

    /// Whether the rows can be read at all.
    public var isValid: Bool {
        Misuse.isThere("Results.isValid") { () throws(RealmError) in
            try realm.inside(.results) { () throws(RealmError) in try found.isValid() }
        }
    }

    /// The object that stands there now.
    public subscript(position: Int) -> RealmObject {
        Misuse.avoided("Results.subscript", else: noElement) { () throws(RealmError) in try object(at: position) }
    }

    /// As `object(at:)`.
    public func element(at i: Int) throws(RealmError) -> RealmObject { try object(at: i) }

    /// The objects of this moment: those in `bounds`, or all of them.
    public func elements(in bounds: Range<Int>?) throws(RealmError) -> [RealmObject] {
        try keys(bounds).map { RealmObject(realm: realm, table: table, key: $0) }
    }

    /// An object that is not valid.
    public var noElement: RealmObject { RealmObject(realm: realm, table: table, key: .null) }

    private func keys(_ bounds: Range<Int>? = nil) throws(RealmError) -> [ObjKey] {
        try realm.inside(.results) { () throws(RealmError) in
            guard let bounds else { return try found.keys() }
            let part = try Range.checked(bounds, count: try found.count())
            guard found.isWholeTable else { return Array(try found.keys()[part]) }
            var keys: [ObjKey] = []
            for i in part { keys.append(try found.object(i).1) }
            return keys
        }
    }

    /// Index of an object, nil when it is none of these.
    ///
    /// - Throws: 3019 for an object of another class, 2007 for one of another file, 2009 when it is deleted.
    public func find(_ object: RealmObject) throws(RealmError) -> Int? {
        try realm.checkSameFile(object.realm)
        return try realm.inside(.results) { () throws(RealmError) in try found.find(object.table, object.key) }
    }

    /// Goes over the objects that there were when it was made.
    public struct Iterator: IteratorProtocol {
        let realm: Realm
        let table: TableKey
        private var keys: [ObjKey].Iterator

        init(_ results: Results) {
            realm = results.realm
            table = results.table
            keys = Misuse.avoided("Results.iteration", else: []) { () throws(RealmError) in try results.keys() }
                .makeIterator()
        }

        public mutating func next() -> RealmObject? {
            keys.next().map { RealmObject(realm: realm, table: table, key: $0) }
        }
    }

    /// Goes over the objects that there are now.
    public func makeIterator() -> Iterator { Iterator(self) }

    // MARK: Making others

    /// Those that also meet a query text. `$0` is the first argument; a list stands for `{…}`, `RealmObject.link` for
    /// an object. SORT, DISTINCT and LIMIT at the end of the text come after the orderings of these results.
    ///
    /// - Throws: 3008 when the text is no query, 1009 for names and types, 3015 for arguments, 2007 when these results
    ///   have a limit.
    public func `where`(_ text: String, _ arguments: RealmValue...) throws(RealmError) -> Results {
        try self.where(text, arguments: arguments)
    }

    /// The same with the arguments as an array.
    public func `where`(_ text: String, arguments: [RealmValue]) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.filtered(text, values: arguments) }
    }

    /// Sorted by a property, or one behind links (`best.name`). Stable: of equal objects the order stays what it was.
    ///
    /// - Throws: 1009 when there is no such property.
    public func sorted(by path: String, ascending: Bool = true) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.sorted("\(path) \(ascending ? "ASC" : "DESC")") }
    }

    /// The first of those that are equal in all the given properties.
    public func distinct(by paths: String...) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.distinct(paths.joined(separator: ", ")) }
    }

    /// At most the first `n`.
    public func limit(_ n: Int) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.limited(Swift.max(0, n)) }
    }

    /// The objects of this moment: size and order stay; one that is deleted is not valid from then on. What is made
    /// from it is live.
    public func snapshot() throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.snapshot() }
    }

    // MARK: Aggregates

    private func aggregate(_ kind: AggregateKind, _ name: Name) throws(RealmError) -> RealmValue {
        let property = try RealmObject(realm: realm, table: table, key: .null).property(name)
        return try realm.inside(.results) { () throws(RealmError) in
            try realm.reading().group.copy(try found.aggregate(kind, property.key).value)
        }
    }

    /// The least value of a property; null when no object has one.
    ///
    /// - Throws: 3009 when there is no such property, 2007 when it holds no numbers or dates.
    public func min(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.min, name) }

    /// The greatest value; as `min`.
    public func max(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.max, name) }

    /// The sum of a property that holds numbers; 0 of none.
    public func sum(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.sum, name) }

    /// The average of a property that holds numbers, a double or a decimal; null when no object has one.
    public func average(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.average, name) }

    // MARK: Changing

    /// Deletes the objects with everything they own; inside a write transaction.
    public func deleteAll() throws(RealmError) {
        try realm.inside(.results) { () throws(RealmError) in try found.deleteAll() }
    }
}

extension ResultSet {
    /// The rows that also meet a query text with values for its arguments; a list stands for `{…}`.
    package func filtered(
        _ text: String, values arguments: [RealmValue], reachingFurther: Bool = false
    ) throws(RealmError) -> ResultSet {
        // Bound queries keep what they need of the arguments.
        let arena = ConstantArena()
        var all: [QueryArgument] = []
        for argument in arguments {
            guard case .list(let elements) = argument else {
                all.append(.value(try arena.keep(argument)))
                continue
            }
            var values: [Mixed] = []
            for element in elements { values.append(try arena.keep(element)) }
            all.append(.list(values))
        }
        defer { withExtendedLifetime(arena) {} }
        return try filtered(text, all, reachingFurther: reachingFurther)
    }
}

extension ConstantArena {
    fileprivate func keep(_ value: RealmValue) throws(RealmError) -> Mixed {
        try value.withMixed { (mixed) throws(RealmError) in self.keep(mixed) }
    }
}

extension RealmValue: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: RealmValue...) { self = .list(elements) }
}

extension Realm {
    fileprivate func objects(of path: CollectionPath) throws(RealmError) -> Results {
        try inside(.collection) { () throws(RealmError) in
            guard try collection(path) != nil else { throw invalidated() }
            let found = try ResultSet(self, .collection(path))
            guard let table = found.table else {
                throw RealmError(.illegalOperation, "The elements are values, not objects")
            }
            return Results(found, table)
        }
    }
}

extension RealmList {
    /// The objects of a list of links, in its order, live: to be queried and sorted.
    ///
    /// - Throws: 2007 when the elements are values; 2010 when the list is gone.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}

extension RealmSet {
    /// The objects of a set of links, live.
    ///
    /// - Throws: as for lists.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}

extension RealmDictionary {
    /// The objects of a dictionary of links, in the order of its keys, live. Where a key has none, `object(at:)` throws
    /// 3017.
    ///
    /// - Throws: as for lists.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}
