/// A live object: a place in a Realm, read and written by property name.
///
/// Thread rule: that of its Realm: elsewhere access throws 2006. After deletion or `close` access throws 2010.
public struct RealmObject: Hashable {
    /// The Realm it belongs to.
    public let realm: Realm

    /// Its class.
    public let table: TableKey
    let named: BornKey

    /// Null once the transaction that made the object was rolled back.
    public var key: ObjKey { named.key }

    init(realm: Realm, table: TableKey, key: ObjKey) {
        self.realm = realm
        self.table = table
        named = BornKey(
            key, try? realm.inside(.object) { () throws(RealmError) in realm.transaction.birth(table, key) })
    }

    public static func == (a: RealmObject, b: RealmObject) -> Bool {
        a.realm === b.realm && a.table == b.table && a.named == b.named
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(realm))
        hasher.combine(table)
        hasher.combine(named)
    }

    /// Whether the object still exists, and its Realm is open.
    public var isValid: Bool {
        Misuse.isThere("RealmObject.isValid") { () throws(RealmError) in
            try realm.inside(.object) { () throws(RealmError) in try realm.isAlive(table, key) }
        }
    }

    /// The object as a value, for properties, lists and arguments of queries of the same file. It does not say which
    /// file that is.
    public var link: RealmValue { .link(table, key) }

    /// Name of its class.
    public var className: Name { realm.schema.index(of: table).map { realm.schema.classes[$0].name } ?? "" }

    func property(_ name: Name) throws(RealmError) -> Property {
        guard let property = realm.property(name, of: table) else {
            throw RealmError(.invalidProperty, "Class '\(className)' has no property '\(name)'")
        }
        return property
    }

    /// The value of a property, copied: collections come as arrays and entries.
    public func get(_ name: Name) throws(RealmError) -> RealmValue {
        let property = try property(name)
        return try realm.inside(.object) { () throws(RealmError) in
            if property.isComputed { return .list(try linkingObjects(property).map { .link($0.table, $0.key) }) }
            if property.collection != .none {
                guard
                    let content = try realm.collection(CollectionPath(table: table, owner: named, column: property.key))
                else { return .list([]) }
                return try realm.reading().group.copy(content)
            }
            return try realm.reading().group.copy(try realm.value(table, key, property.key))
        }
    }

    /// Stores a value; inside a write transaction. A list or dictionary replaces the contents of a collection property
    /// (sets take a list), or makes a Mixed property that collection. Where the property leads to objects, a dictionary
    /// stands for a new one with these values. What is refused has changed nothing.
    ///
    /// - Throws: 3009 when there is no such property, 3003 when it is computed, 3001 and 3002 for a value that it does
    ///   not take, 3016 for a link to a deleted object, 1013 for a new object whose primary key there is, 2005 outside
    ///   of a write transaction.
    public func set(_ name: Name, _ value: RealmValue) throws(RealmError) {
        let property = try property(name)
        if property.isComputed { throw RealmError(.readOnlyProperty, "Property '\(className).\(name)' is computed") }
        switch value {
        case .list, .dictionary:
            try realm.inside(.object) { () throws(RealmError) in
                var writer = ValueWriter(realm)
                try writer.set(value, property, of: self)
            }
        default: try setValue(value, property)
        }
    }

    /// Stores a single value.
    @inline(__always) func setValue(_ value: RealmValue, _ property: Property) throws(RealmError) {
        try value.withMixed { (mixed) throws(RealmError) in
            try realm.inside(.object, do: try realm.set(table, key, property.key, mixed))
        }
    }

    /// Links this object's property to `other`; nil clears.
    ///
    /// - Throws: 2007 for an object of another file, whose keys would name another object here; else as `set` with a
    ///   value.
    public func set(_ name: Name, to other: RealmObject?) throws(RealmError) {
        if let other { try realm.checkSameFile(other.realm) }
        try set(name, other?.link ?? .null)
    }

    /// The object a property links to.
    public func object(_ name: Name) throws(RealmError) -> RealmObject? {
        guard case .link(let table, let key) = try get(name) else { return nil }
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// As `get`, for reading where nothing can be thrown: errors go to `Misuse`.
    public subscript(name: Name) -> RealmValue {
        Misuse.avoided("RealmObject.subscript", else: .null) { () throws(RealmError) in try get(name) }
    }

    private func linkingObjects(_ property: Property) throws(RealmError) -> [RealmObject] {
        guard let origin = realm.schema[property.linkTarget], let column = origin.property(named: property.linkOrigin)
        else {
            return []
        }
        return try realm.backlinks(table, key, from: origin.key, column.key).map {
            RealmObject(realm: realm, table: origin.key, key: $0)
        }
    }

    /// Deletes the object with everything it owns; inside a write transaction.
    public func delete() throws(RealmError) { try realm.inside(.object, do: try realm.delete(table, key)) }
}

extension Realm {
    private func classKey(_ name: Name) throws(RealmError) -> TableKey {
        guard let objectClass = schema[name] else {
            throw RealmError(.noSuchTable, "The schema has no class '\(name)'")
        }
        return objectClass.key
    }

    /// All objects of a class, in key order, live.
    public func objects(_ className: Name) throws(RealmError) -> Results {
        try inside { () throws(RealmError) in
            let table = try classKey(className)
            return Results(try ResultSet(self, .table(table)), table)
        }
    }

    /// The object with a primary key, nil when there is none.
    public func object(_ className: Name, primaryKey: RealmValue) throws(RealmError) -> RealmObject? {
        let table = try classKey(className)
        let found = try inside { () throws(RealmError) in
            try primaryKey.withMixed { (mixed) throws(RealmError) in try find(table, primaryKey: mixed) }
        }
        guard let key = found else { return nil }
        return RealmObject(realm: self, table: table, key: key)
    }

    /// A new object with the given values, or an error that leaves nothing behind; inside a write transaction.
    ///
    ///     try realm.create("Person", ["id": 1, "name": "Ann", "address": ["street": "Elm"], "dogs": [["name": "Rex"], rex.link]])
    ///
    /// - Parameters:
    ///   - primaryKey: may stand among the values, too.
    ///   - update: an object with the same primary key takes the values, instead of an error.
    ///   - values: by property. Where a property leads to objects, a dictionary stands for a new one, or with `update`
    ///     for the one with its primary key.
    /// - Throws: 3020 and 3009 for names that are none, 3001 and 3002 for values that do not fit, 3005 without a
    ///   primary key, 1013 for one that there is, 3016 for a link to a deleted object, 2005 outside of a write
    ///   transaction.
    @discardableResult
    public func create(
        _ className: Name, primaryKey: RealmValue? = nil, update: Bool = false, _ values: [Name: RealmValue] = [:]
    ) throws(RealmError) -> RealmObject {
        try inside { () throws(RealmError) in
            guard let objectClass = schema[className] else {
                throw RealmError(.noSuchTable, "The schema has no class '\(className)'")
            }
            var writer = ValueWriter(self, updates: update)
            return try writer.create(objectClass, primaryKey, values)
        }
    }
}
