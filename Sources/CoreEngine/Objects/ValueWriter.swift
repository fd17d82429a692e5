/// Writes many values into objects, and creates objects from values: all or nothing.
///
/// Everything is checked before anything is written: names, types, links, dictionary keys and primary keys, in nested
/// objects too. A refused value therefore changes nothing and leaves no incomplete object. An error after the checks
/// (two nested objects with the same new primary key, a full disk) deletes the objects created so far.
///
/// In a property that links to objects, a dictionary describes an object with these values: a new object or, with
/// `update`, the existing object with the primary key in the dictionary. In a property of an embedded class, it
/// describes a new object that replaces the old one.
///
/// Call within `Realm.inside`.
struct ValueWriter {
    private let realm: Realm

    /// Whether existing objects with the same primary keys receive the values.
    private let updates: Bool
    private var made: [(TableKey, ObjKey)] = []

    init(_ realm: Realm, updates: Bool = false) {
        self.realm = realm
        self.updates = updates
    }

    // MARK: Entry points

    /// Creates an object of a class with these values.
    mutating func create(_ objectClass: ObjectSchema, _ key: RealmValue?, _ values: [Name: RealmValue])
        throws(RealmError)
        -> RealmObject
    {
        let primaryKey = try primaryKey(of: objectClass, key, values)
        if !values.isEmpty {
            _ = try realm.writing()
            try check(values, of: objectClass, 0)
        }
        return try orNothing { (writer) throws(RealmError) in try writer.make(objectClass, primaryKey, values) }
    }

    /// Replaces the value of a property.
    mutating func set(_ value: RealmValue, _ property: Property, of object: RealmObject) throws(RealmError) {
        let table = try realm.writableTable(object.table, object.key)
        guard try table.isValid(object.key) else { throw realm.invalidated() }
        try check(value, for: property, try realm.facts(table, property.key), table, 0)
        try orNothing { (writer) throws(RealmError) in try writer.write(value, property, object) }
    }

    private mutating func orNothing<R>(_ body: (inout ValueWriter) throws(RealmError) -> R) throws(RealmError) -> R {
        do throws(RealmError) { return try body(&self) } catch {
            // If the transaction is damaged, its rollback removes the objects instead.
            // `takeBack` applies no rules of deletion: the rules are for objects that existed before the call.
            for (table, key) in made.reversed() { try? realm.takeBack(table, key) }
            throw error
        }
    }

    // MARK: Checking

    /// The primary key, given separately or among the values; nil for a class without one.
    private func primaryKey(of objectClass: ObjectSchema, _ key: RealmValue?, _ values: [Name: RealmValue])
        throws(RealmError)
        -> RealmValue?
    {
        guard !objectClass.primaryKey.isEmpty, let among = values[objectClass.primaryKey] else { return key }
        guard key == nil || key == among else {
            throw RealmError(
                .invalidArgument,
                "Two primary keys for one object of class '\(objectClass.name)': \(key ?? .null) and \(among)")
        }
        return among
    }

    private func check(_ values: [Name: RealmValue], of objectClass: ObjectSchema, _ level: Int) throws(RealmError) {
        guard level < Table.maxNesting else {
            throw RealmError(.limitExceeded, "Objects nest at most \(Table.maxNesting) deep")
        }
        let table = try realm.table(objectClass.key)
        for (name, value) in values where name != objectClass.primaryKey {
            guard let property = objectClass.property(named: name) else {
                throw RealmError(.invalidProperty, "Class '\(objectClass.name)' has no property '\(name)'")
            }
            guard !property.isComputed else {
                throw RealmError(.readOnlyProperty, "Property '\(objectClass.name).\(name)' is computed")
            }
            try check(value, for: property, try realm.facts(table, property.key), table, level)
        }
    }

    private func check(_ value: RealmValue, for property: Property, _ column: ColumnFacts, _ table: Table, _ level: Int)
        throws(RealmError)
    {
        switch (property.collection, value) {
        case (.none, .dictionary(let entries)) where property.type == .object: try checkObject(entries, property, level)
        case (.none, .list), (.none, .dictionary):
            guard property.type == .mixed else { throw wrongType(property) }
            try checkNested(value, column, table, 0)
        case (.none, _): try value.withMixed { (m) throws(RealmError) in try table.check(m, for: column) }
        case (.list, .list(let all)):
            for element in all { try checkElement(element, .list, property, column, table, level) }
        case (.set, .list(let all)):
            for element in all { try checkElement(element, .set, property, column, table, level) }
        case (.dictionary, .dictionary(let entries)):
            for entry in entries {
                try checkKey(entry.key)
                try checkElement(entry.value, .dictionary, property, column, table, level)
            }
        default: throw wrongType(property)
        }
    }

    private func checkElement(
        _ value: RealmValue, _ shape: CollectionShape, _ property: Property, _ column: ColumnFacts, _ table: Table,
        _ level: Int
    ) throws(RealmError) {
        switch value {
        case .dictionary(let entries) where property.type == .object: try checkObject(entries, property, level)
        case .list, .dictionary:
            guard property.type == .mixed else { throw wrongType(property) }
            guard shape != .set else {
                throw RealmError(.illegalOperation, "The set '\(property.name)' cannot hold collections")
            }
            try checkNested(value, column, table, 1)
        default:
            try value.withMixed { (m) throws(RealmError) in try table.checkElement(m, of: column, shape, level: 0) }
        }
    }

    /// Checks a collection inside a Mixed value.
    private func checkNested(_ value: RealmValue, _ column: ColumnFacts, _ table: Table, _ level: Int)
        throws(RealmError)
    {
        guard level < Table.maxNesting else {
            throw RealmError(
                .limitExceeded, "Max nesting level reached: collections nest at most \(Table.maxNesting) deep")
        }
        switch value {
        case .list(let all): for element in all { try checkNested(element, column, table, level + 1) }
        case .dictionary(let entries):
            for entry in entries {
                try checkKey(entry.key)
                try checkNested(entry.value, column, table, level + 1)
            }
        default:
            try value.withMixed { (m) throws(RealmError) in try table.checkElement(m, of: column, .list, level: 0) }
        }
    }

    private func checkKey(_ name: Name) throws(RealmError) {
        try Array(name.utf8).withBytes { (b) throws(RealmError) in try Realm.checkKey(b) }
    }

    /// Checks a dictionary that describes an object.
    private func checkObject(_ entries: [RealmValue.Entry], _ property: Property, _ level: Int) throws(RealmError) {
        let targetClass = try target(property), values = Self.values(entries)
        try check(values, of: targetClass, level + 1)
        guard !targetClass.primaryKey.isEmpty else { return }
        guard let key = values[targetClass.primaryKey] else {
            throw RealmError(
                .missingPrimaryKey, "Class '\(targetClass.name)' has a primary key: a value for it is needed")
        }
        let table = try realm.table(targetClass.key)
        let isThere = try key.withMixed { (mixed) throws(RealmError) in
            if let facts = table.primaryKey.flatMap({ table.facts($0) }) { try table.check(mixed, for: facts) }
            return try table.find(primaryKey: mixed) != nil
        }
        guard updates || !isThere else {
            throw RealmError(
                .objectAlreadyExists,
                "Attempting to create an object of type '\(targetClass.name)' with an existing primary key value")
        }
    }

    private func target(_ property: Property) throws(RealmError) -> ObjectSchema {
        guard let targetClass = realm.schema[property.linkTarget] else {
            throw RealmError(.noSuchTable, "The schema has no class '\(property.linkTarget)'")
        }
        return targetClass
    }

    private static func values(_ entries: [RealmValue.Entry]) -> [Name: RealmValue] {
        Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }

    private func wrongType(_ property: Property) -> RealmError {
        RealmError(
            .typeMismatch,
            "Property '\(property.name)' of type '\(property.typeText)' does not take a value of this type")
    }

    // MARK: Writing

    private mutating func make(_ objectClass: ObjectSchema, _ primaryKey: RealmValue?, _ values: [Name: RealmValue])
        throws(RealmError) -> RealmObject
    {
        let key: ObjKey
        if let primaryKey {
            let (found, isNew) = try primaryKey.withMixed { (mixed) throws(RealmError) in
                try realm.create(objectClass.key, primaryKey: mixed, mustBeNew: !updates)
            }
            if isNew { made.append((objectClass.key, found)) }
            key = found
        } else {
            key = try realm.create(objectClass.key)
            made.append((objectClass.key, key))
        }
        let object = RealmObject(realm: realm, table: objectClass.key, key: key)
        try fill(object, objectClass, values)
        return object
    }

    /// Writes in the order of the properties, so that the order is the same each time.
    private mutating func fill(_ object: RealmObject, _ objectClass: ObjectSchema, _ values: [Name: RealmValue])
        throws(RealmError)
    {
        guard !values.isEmpty else { return }
        for property in objectClass.properties where property.name != objectClass.primaryKey {
            if let value = values[property.name] { try write(value, property, object) }
        }
    }

    private mutating func write(_ value: RealmValue, _ property: Property, _ object: RealmObject) throws(RealmError) {
        switch (property.type, property.collection, value) {
        case (.object, .none, .dictionary(let entries)):
            let targetClass = try target(property)
            if targetClass.kind == .embedded {
                return try fill(try object.setEmbedded(property.name), targetClass, Self.values(entries))
            }
            try object.setValue(try makeNested(targetClass, entries).link, property)
        case (.object, .list, .list(let all)):
            let list = object.list(of: property)
            try list.removeAll()
            for (index, element) in all.enumerated() {
                try write(element, property) { () throws(RealmError) in
                    try list.insertEmbedded(at: index)
                } link: { (element) throws(RealmError) in
                    try list.insert(element, at: index)
                }
            }
        case (.object, .dictionary, .dictionary(let all)):
            let dictionary = object.dictionary(of: property)
            try dictionary.removeAll()
            for entry in all {
                try write(entry.value, property) { () throws(RealmError) in
                    try dictionary.setEmbedded(for: entry.key)
                } link: { (v) throws(RealmError) in
                    try dictionary.set(v, for: entry.key)
                }
            }
        case (.object, .set, .list(let all)):
            var links: [RealmValue] = []
            for element in all { links.append(try linked(element, property)) }
            try object.replace(property, with: .list(links))
        case (_, _, .list), (_, _, .dictionary): try object.replace(property, with: value)
        default: try object.setValue(value, property)
        }
    }

    /// Writes an element of a collection of objects: an embedded object is created in place, any other is linked.
    private mutating func write(
        _ value: RealmValue, _ property: Property, embed: () throws(RealmError) -> RealmObject,
        link: (RealmValue) throws(RealmError) -> Void
    ) throws(RealmError) {
        if case .dictionary(let entries) = value, case let targetClass = try target(property),
            targetClass.kind == .embedded
        {
            return try fill(try embed(), targetClass, Self.values(entries))
        }
        try link(try linked(value, property))
    }

    /// A link. A dictionary is first made into an object.
    private mutating func linked(_ value: RealmValue, _ property: Property) throws(RealmError) -> RealmValue {
        guard case .dictionary(let entries) = value else { return value }
        return try makeNested(try target(property), entries).link
    }

    private mutating func makeNested(_ objectClass: ObjectSchema, _ entries: [RealmValue.Entry]) throws(RealmError)
        -> RealmObject
    {
        let values = Self.values(entries)
        return try make(objectClass, objectClass.primaryKey.isEmpty ? nil : values[objectClass.primaryKey], values)
    }
}
