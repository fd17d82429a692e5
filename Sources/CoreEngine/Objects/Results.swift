/// Live objects: those of a class or a collection, or those of them that match a query. Nothing is copied, and nothing
/// runs before the first access; the rows found are kept until the Realm's state changes.
///
///     let adults = try realm.objects("Person").where("age >= $0 AND ANY dogs.name IN $1", 18, ["Rex", "Ida"]).sorted(by: "name")
///     for person in adults { print(person["name"]) }
///     try adults.average(of: "age")
///
/// A `for` loop iterates over the rows as they were when it began, so its body may change and delete objects; access by
/// index is live. Where reading cannot throw, the following are a `Misuse`: a closed Realm, a wrong thread, a failing
/// query, an index out of range. `load`, `object(at:)` and `elements` throw instead.
///
/// Thread rule: that of the Realm. Errors of every method that throws: 2009 when the Realm is closed, 2006 on another
/// thread.
public struct Results: LiveCollection {
    let found: ResultSet

    /// Class of the objects.
    public let table: TableKey

    /// The Realm that the objects belong to.
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
    /// - Throws: 3017 when the index is out of range, or when a dictionary has no object there; errors of the query.
    public func object(at i: Int) throws(RealmError) -> RealmObject {
        let (table, key) = try realm.inside(.results) { () throws(RealmError) in try found.object(i) }
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// Number of objects. Throws the error that `count` cannot throw: 3000 for TEXT without a word to search for, 3013
    /// for an order by a collection, 3018 for a key path that reaches too many objects.
    @discardableResult
    public func load() throws(RealmError) -> Int {
        try realm.inside(.results) { () throws(RealmError) in try found.count() }
    }

    /// Whether the rows can be read.
    public var isValid: Bool {
        Misuse.isThere("Results.isValid") { () throws(RealmError) in
            try realm.inside(.results) { () throws(RealmError) in try found.isValid() }
        }
    }

    /// The current object at a position.
    public subscript(position: Int) -> RealmObject {
        Misuse.avoided("Results.subscript", else: noElement) { () throws(RealmError) in try object(at: position) }
    }

    /// Same as `object(at:)`.
    public func element(at i: Int) throws(RealmError) -> RealmObject { try object(at: i) }

    /// The current objects: those in `bounds`, or all of them.
    public func elements(in bounds: Range<Int>?) throws(RealmError) -> [RealmObject] {
        try keys(bounds).map { RealmObject(realm: realm, table: table, key: $0) }
    }

    /// Placeholder: an object that is not valid.
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

    /// Index of an object; nil when the results do not contain it.
    ///
    /// - Throws: 3019 for an object of another class, 2007 for one of another file, 2009 when it is deleted.
    public func find(_ object: RealmObject) throws(RealmError) -> Int? {
        try realm.checkSameFile(object.realm)
        return try realm.inside(.results) { () throws(RealmError) in try found.find(object.table, object.key) }
    }

    /// Iterates over the objects that existed when the iterator was created.
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

    /// Iterates over the current objects.
    public func makeIterator() -> Iterator { Iterator(self) }

    // MARK: Derived results

    /// The objects that also match a query text. `$0` is the first argument; a list provides the values of `{…}`, and
    /// `RealmObject.link` an object. SORT, DISTINCT and LIMIT at the end of the text come after the orderings of these
    /// results.
    ///
    /// - Throws: 3008 for invalid query text, 1009 for names and types, 3015 for arguments, 2007 when these results
    ///   have a limit.
    public func `where`(_ text: String, _ arguments: RealmValue...) throws(RealmError) -> Results {
        try self.where(text, arguments: arguments)
    }

    /// Same, with the arguments as an array.
    public func `where`(_ text: String, arguments: [RealmValue]) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.filtered(text, values: arguments) }
    }

    /// Sorted by a property, or by a property behind links (`best.name`). The sort is stable: equal objects keep their
    /// order.
    ///
    /// - Throws: 1009 for an unknown property.
    public func sorted(by path: String, ascending: Bool = true) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.sorted("\(path) \(ascending ? "ASC" : "DESC")") }
    }

    /// Of objects that are equal in all given properties, only the first.
    public func distinct(by paths: String...) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.distinct(paths.joined(separator: ", ")) }
    }

    /// At most the first `n` objects.
    public func limit(_ n: Int) throws(RealmError) -> Results {
        try derived { () throws(RealmError) in try found.limited(Swift.max(0, n)) }
    }

    /// The current objects: their number and order no longer change; a deleted object becomes invalid. Results derived
    /// from the snapshot are live.
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

    /// The smallest value of a property; null when no object has one.
    ///
    /// - Throws: 3009 for an unknown property, 2007 when it does not hold numbers or dates.
    public func min(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.min, name) }

    /// The largest value; otherwise the same as `min`.
    public func max(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.max, name) }

    /// The sum of a numeric property; 0 without values.
    public func sum(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.sum, name) }

    /// The average of a numeric property, a double or a decimal; null when no object has a value.
    public func average(of name: Name) throws(RealmError) -> RealmValue { try aggregate(.average, name) }

    // MARK: Changing

    /// Deletes the objects and everything they own; inside a write transaction.
    public func deleteAll() throws(RealmError) {
        try realm.inside(.results) { () throws(RealmError) in try found.deleteAll() }
    }
}

extension ResultSet {
    /// The rows that also match a query text, with values for its arguments; a list provides the values of `{…}`.
    package func filtered(
        _ text: String, values arguments: [RealmValue], reachingFurther: Bool = false
    ) throws(RealmError) -> ResultSet {
        // Bound queries copy what they need of the arguments.
        let arena = ConstantArena()
        var all: [QueryArgument] = []
        for argument in arguments { all.append(try arena.argument(argument)) }
        defer { withExtendedLifetime(arena) {} }
        return try filtered(text, all, reachingFurther: reachingFurther)
    }
}

extension ConstantArena {
    /// A value of the program as an argument; a list gives the values of `{…}`.
    ///
    /// - Throws: 2007 for a collection inside a list, and for a dictionary.
    package func argument(_ value: RealmValue) throws(RealmError) -> QueryArgument {
        guard case .list(let elements) = value else { return .value(try keep(value)) }
        var values: [Mixed] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try keep(element)) }
        return .list(values)
    }

    private func keep(_ value: RealmValue) throws(RealmError) -> Mixed {
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
    /// The objects of a list of links, live, in the order of the list: for queries and sorting.
    ///
    /// - Throws: 2007 when the elements are values; 2010 when the list was deleted.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}

extension RealmSet {
    /// The objects of a set of links, live.
    ///
    /// - Throws: as for lists.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}

extension RealmDictionary {
    /// The objects of a dictionary of links, live, in the order of its keys. For a key without an object, `object(at:)`
    /// throws 3017.
    ///
    /// - Throws: as for lists.
    public func objects() throws(RealmError) -> Results { try realm.objects(of: path) }
}
