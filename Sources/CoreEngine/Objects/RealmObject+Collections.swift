/// The collections of an object, and whole objects as values.
extension RealmObject {
    private func path(_ name: Name, _ shape: CollectionShape) throws(RealmError) -> CollectionPath {
        let property = try property(name)
        try realm.inside(.object, do: try realm.checkCollection(table, key, property.key, as: shape))
        return CollectionPath(table: table, owner: named, column: property.key)
    }

    /// The list in a property, or in a Mixed property that contains a list.
    public func list(_ name: Name) throws(RealmError) -> RealmList {
        RealmList(realm: realm, path: try path(name, .list))
    }

    /// The set in a property.
    public func set(_ name: Name) throws(RealmError) -> RealmSet { RealmSet(realm: realm, path: try path(name, .set)) }

    /// The dictionary in a property, or in a Mixed property that contains a dictionary.
    public func dictionary(_ name: Name) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try path(name, .dictionary))
    }

    /// Makes the value of a Mixed property a list; an existing list is kept.
    public func setList(_ name: Name) throws(RealmError) -> RealmList {
        try realm.inside(.object, do: try realm.setCollection(.list, table, key, try property(name).key))
        return try list(name)
    }

    /// Makes the value of a Mixed property a dictionary; an existing dictionary is kept.
    public func setDictionary(_ name: Name) throws(RealmError) -> RealmDictionary {
        try realm.inside(.object, do: try realm.setCollection(.dictionary, table, key, try property(name).key))
        return try dictionary(name)
    }

    /// Creates an embedded object in a link property; it replaces an existing one.
    public func setEmbedded(_ name: Name) throws(RealmError) -> RealmObject {
        let (newTable, newKey) = try realm.inside(
            .object, do: try realm.setNewObject(table, key, try property(name).key))
        return RealmObject(realm: realm, table: newTable, key: newKey)
    }

    /// The object that an embedded object belongs to.
    public func parent() throws(RealmError) -> RealmObject? {
        try realm.inside(.object, do: try realm.parent(table, key)).map {
            RealmObject(realm: realm, table: $0.0, key: $0.1)
        }
    }

    /// The list of a property that is known to be one; the next function does the same for a dictionary.
    func list(of property: Property) -> RealmList {
        RealmList(realm: realm, path: CollectionPath(table: table, owner: named, column: property.key))
    }

    func dictionary(of property: Property) -> RealmDictionary {
        RealmDictionary(realm: realm, path: CollectionPath(table: table, owner: named, column: property.key))
    }

    /// Replaces the contents of a collection property. The values were checked before.
    func replace(_ property: Property, with value: RealmValue) throws(RealmError) {
        let path = CollectionPath(table: table, owner: named, column: property.key)
        switch (property.collection, value) {
        case (.list, .list(let elements)): try list(of: property).replace(with: elements)
        case (.set, .list(let elements)):
            let set = RealmSet(realm: realm, path: path)
            try set.removeAll()
            for element in elements { try set.insert(element) }
        case (.dictionary, .dictionary(let entries)): try dictionary(of: property).replace(with: entries)
        case (.none, .list(let elements)):
            try realm.inside(.object, do: try realm.setCollection(.list, table, key, property.key))
            try list(of: property).replace(with: elements)
        case (.none, .dictionary(let entries)):
            try realm.inside(.object, do: try realm.setCollection(.dictionary, table, key, property.key))
            try dictionary(of: property).replace(with: entries)
        default:
            throw RealmError(
                .typeMismatch, "Property '\(className).\(property.name)' does not take a value of this type")
        }
    }

    // MARK: Whole objects as values

    /// The properties of the object by name. Links are followed `depth` levels; embedded objects are always followed.
    /// Deeper links, and links back to an object on the way, stay links.
    public func toDictionary(depth: Int = 1) throws(RealmError) -> RealmValue {
        var way: [RealmObject] = []
        return try expand(depth, &way)
    }

    private func expand(_ depth: Int, _ way: inout [RealmObject]) throws(RealmError) -> RealmValue {
        guard let classIndex = realm.schema.index(of: table) else {
            throw RealmError(.noSuchTable, "The class is not in the schema")
        }
        way.append(self)
        defer { way.removeLast() }
        var entries: [RealmValue.Entry] = []
        for property in realm.schema.classes[classIndex].properties {
            entries.append(RealmValue.Entry(key: property.name, value: try expand(try get(property.name), depth, &way)))
        }
        return .dictionary(entries)
    }

    private func expand(_ value: RealmValue, _ depth: Int, _ way: inout [RealmObject]) throws(RealmError) -> RealmValue
    {
        switch value {
        case .link(let targetTable, let targetKey):
            let target = RealmObject(realm: realm, table: targetTable, key: targetKey)
            let isEmbedded = try realm.inside(.object, do: try realm.isEmbedded(targetTable))
            guard depth > 0 || isEmbedded, !way.contains(target), way.count < Table.maxNesting,
                realm.schema.index(of: targetTable) != nil
            else { return value }
            return try target.expand(isEmbedded ? depth : depth - 1, &way)
        case .list(let elements):
            var all: [RealmValue] = []
            for element in elements { all.append(try expand(element, depth, &way)) }
            return .list(all)
        case .dictionary(let entries):
            var all: [RealmValue.Entry] = []
            for entry in entries {
                all.append(RealmValue.Entry(key: entry.key, value: try expand(entry.value, depth, &way)))
            }
            return .dictionary(all)
        default: return value
        }
    }
}
