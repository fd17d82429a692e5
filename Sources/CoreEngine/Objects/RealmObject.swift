/// A live object: its Realm, class and key. Properties are read and written by name.
///
/// Thread rule: that of its Realm; access on another thread throws 2006. Access after deletion or `close` throws 2010.
public struct RealmObject: Hashable {
    /// The Realm that the object belongs to.
    public let realm: Realm

    /// The class of the object.
    public let table: TableKey
    let named: TrackedKey

    /// Null after the transaction that created the object was rolled back.
    public var key: ObjKey { named.key }

    init(realm: Realm, table: TableKey, key: ObjKey) {
        self.realm = realm
        self.table = table
        named = TrackedKey(
            key, try? realm.inside(.object) { () throws(RealmError) in realm.transaction.creation(table, key) })
    }

    public static func == (a: RealmObject, b: RealmObject) -> Bool {
        a.realm === b.realm && a.table == b.table && a.named == b.named
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(realm))
        hasher.combine(table)
        hasher.combine(named)
    }

    /// Whether the object still exists and its Realm is open.
    public var isValid: Bool {
        Misuse.isThere("RealmObject.isValid") { () throws(RealmError) in
            try realm.inside(.object) { () throws(RealmError) in try realm.isAlive(table, key) }
        }
    }

    /// The object as a value: for properties, lists and query arguments of the same file. The value does not name the
    /// file.
    public var link: RealmValue { .link(table, key) }

    /// Name of the class.
    public var className: Name { realm.schema.index(of: table).map { realm.schema.classes[$0].name } ?? "" }

    func property(_ name: Name) throws(RealmError) -> Property {
        guard let property = realm.property(name, of: table) else {
            throw RealmError(.invalidProperty, "Class '\(className)' has no property '\(name)'")
        }
        return property
    }

    /// The value of a property, copied. A collection is copied into an array or into entries.
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
    /// (sets take a list), or makes the value of a Mixed property a collection. In a property that links to objects, a
    /// dictionary creates an object with these values. A refused value changes nothing.
    ///
    /// - Throws: 3009 for an unknown property, 3003 for a computed one, 3001 and 3002 for a value that the property
    ///   cannot store, 3016 for a link to a deleted object, 1013 for a new object whose primary key already exists,
    ///   2005 outside of a write transaction.
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

    /// Links this object's property to `other`; nil clears the link.
    ///
    /// - Throws: 2007 for an object of another file, because its keys would name another object here; otherwise the
    ///   errors of `set` with a value.
    public func set(_ name: Name, to other: RealmObject?) throws(RealmError) {
        if let other { try realm.checkSameFile(other.realm) }
        try set(name, other?.link ?? .null)
    }

    /// The object that a property links to.
    public func object(_ name: Name) throws(RealmError) -> RealmObject? {
        guard case .link(let table, let key) = try get(name) else { return nil }
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// Same as `get`, where errors cannot be thrown: they go to `Misuse`.
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

    /// Deletes the object and everything it owns; inside a write transaction.
    public func delete() throws(RealmError) { try realm.inside(.object, do: try realm.delete(table, key)) }
}

extension Realm {
    private func classKey(_ name: Name) throws(RealmError) -> TableKey {
        guard let objectClass = schema[name] else {
            throw RealmError(.noSuchTable, "The schema has no class '\(name)'")
        }
        return objectClass.key
    }

    /// All objects of a class, live, in key order.
    public func objects(_ className: Name) throws(RealmError) -> Results {
        try inside { () throws(RealmError) in
            let table = try classKey(className)
            return Results(try ResultSet(self, .table(table)), table)
        }
    }

    /// The object with a primary key; nil when it does not exist.
    public func object(_ className: Name, primaryKey: RealmValue) throws(RealmError) -> RealmObject? {
        let table = try classKey(className)
        let found = try inside { () throws(RealmError) in
            try primaryKey.withMixed { (mixed) throws(RealmError) in try find(table, primaryKey: mixed) }
        }
        guard let key = found else { return nil }
        return RealmObject(realm: self, table: table, key: key)
    }

    /// Creates an object with the given values; inside a write transaction. After an error no object was created.
    ///
    ///     try realm.create("Person", ["id": 1, "name": "Ann", "address": ["street": "Elm"], "dogs": [["name": "Rex"], rex.link]])
    ///
    /// - Parameters:
    ///   - primaryKey: may instead be one of the values.
    ///   - update: write the values to an existing object with the same primary key, instead of an error.
    ///   - values: by property. In a property that links to objects, a dictionary creates an object or, with `update`,
    ///     changes the existing object with the primary key in the dictionary.
    /// - Throws: 3020 and 3009 for unknown classes and properties, 3001 and 3002 for values that do not fit, 3005
    ///   without a primary key, 1013 for a primary key that already exists, 3016 for a link to a deleted object, 2005
    ///   outside of a write transaction.
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
