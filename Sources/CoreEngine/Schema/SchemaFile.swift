/// Reads and writes the schema of a file. Format: logical §10.
extension Group {
    /// All classes with their stored properties, in column order.
    func readSchema() throws(RealmError) -> Schema {
        var classes: [ObjectSchema] = []
        for index in liveIndexes where name(at: index).hasPrefix(Format.classPrefix) {
            let classTable = try table(at: index)
            var properties: [Property] = []
            for column in classTable.publicColumns {
                guard let type = PropertyType(rawValue: Int32(column.type.rawValue)) else {
                    throw .corrupt("column of a type that no property has")
                }
                var property = Property(column.name, type)
                property.collection =
                    column.isList ? .list : (column.isSet ? .set : (column.isDictionary ? .dictionary : .none))
                // Links in lists and sets are never null, whatever the column's attributes are.
                property.isNullable =
                    column.isNullable
                    && !(type == .object && (property.collection == .list || property.collection == .set))
                if type == .object {
                    guard let target = try self.table(column.oppositeTable), let name = target.className else {
                        throw .corrupt("link column without a target class")
                    }
                    property.linkTarget = name
                    if property.collection == .none || property.collection == .dictionary { property.isNullable = true }
                }
                property.isPrimary = column.key == classTable.primaryKey
                let hasIndex =
                    try classTable.index(of: column.index) != nil
                    || !hasUsableIndexes && column.attributes.contains(.indexed)
                property.isFullTextIndexed = hasIndex && column.isFullTextIndexed
                // Files of formats 20 and 21 have no index on primary keys; the upgrade creates it.
                property.isIndexed = property.isPrimary || hasIndex && !column.isFullTextIndexed
                property.key = column.key
                properties.append(property)
            }
            var objectClass = ObjectSchema(
                name: classTable.className ?? "",
                kind: ObjectSchema.Kind(rawValue: Int32(classTable.kind.rawValue)) ?? .topLevel,
                primaryKey: properties.first(where: \.isPrimary)?.name ?? "", persisted: properties, computed: [])
            objectClass.key = classTable.key
            classes.append(objectClass)
        }
        return Schema(classes)
    }

    /// The stored schema version; all bits set when the file has none.
    func readSchemaVersion() throws(RealmError) -> UInt64 {
        guard let metadata = try table(named: Tables.metadata), let column = metadata.column(named: "version"),
            column.type == .int,
            !column.isCollection, try metadata.count() > 0
        else {
            return SchemaLimits.notVersioned
        }
        guard case .int(let version)? = try metadata.stored(try metadata.key(at: 0), column.key) else {
            return SchemaLimits.notVersioned
        }
        return UInt64(bitPattern: version)
    }

    /// Creates the `metadata` table if it is missing. Format: logical §10.2.
    func ensureMetadata() throws(RealmError) {
        let existing = try table(named: Tables.metadata)
        let metadata = if let existing { existing } else { try addTable(Tables.metadata) }
        if metadata.column(named: "version") == nil { try metadata.addColumn("version", .int, []) }
        if try metadata.count() == 0 {
            let key = try metadata.createObject().key
            if let column = metadata.column(named: "version"), let facts = metadata.facts(column.key) {
                _ = try metadata.set(key, facts, .int(-1))
            }
        }
    }

    func setSchemaVersion(_ version: UInt64) throws(RealmError) {
        try ensureMetadata()
        guard let metadata = try table(named: Tables.metadata), let column = metadata.column(named: "version"),
            let facts = metadata.facts(column.key)
        else { return }
        _ = try metadata.set(try metadata.key(at: 0), facts, .int(Int64(bitPattern: version)))
    }

    /// Creates the table of a class with its primary key column. The other properties follow once all tables exist.
    func createClass(_ objectClass: ObjectSchema) throws(RealmError) {
        guard objectClass.name.utf8.count <= SchemaLimits.maxClassName else {
            throw RealmError(
                .invalidName, "Class name '\(objectClass.name)' is too long: at most \(SchemaLimits.maxClassName) bytes"
            )
        }
        let kind: Table.Kind =
            objectClass.kind == .embedded ? .embedded : (objectClass.kind == .asymmetric ? .asymmetric : .topLevel)
        let table = try addTable(objectClass.tableName, kind: kind)
        if let pk = objectClass.properties.first(where: { $0.name == objectClass.primaryKey && $0.isPrimary }) {
            let key = try addColumn(pk, to: table, isKeyOfNewClass: true)
            try table.setPrimaryKey(key)
        } else if objectClass.property(named: objectClass.primaryKey) != nil {
            throw RealmError(
                .invalidName,
                "Property '\(objectClass.name).\(objectClass.primaryKey)' is named as the primary key but not marked as one"
            )
        }
    }

    func createProperties(_ objectClass: ObjectSchema) throws(RealmError) {
        guard let classTable = try table(named: objectClass.tableName) else { return }
        // Otherwise the error would come after the time for all of them.
        guard objectClass.properties.count <= Table.maxColumns else { throw Table.tooManyColumns() }
        for property in objectClass.properties where classTable.column(named: property.name) == nil {
            try addColumn(property, to: classTable)
        }
    }

    /// Adds the column of a property, and its index if it needs one. The index of the primary key of a new class is
    /// created with the key.
    @discardableResult
    func addColumn(_ property: Property, to owner: Table, isKeyOfNewClass: Bool = false) throws(RealmError) -> ColKey {
        guard let type = ColumnType(rawValue: Int(property.type.rawValue)), type != .backlink else {
            throw RealmError(.illegalOperation, "Property '\(property.name)' is computed: it has no column")
        }
        var attributes: ColumnAttributes = []
        if property.isNullable { attributes.insert(.nullable) }
        switch property.collection {
        case .none: break
        case .list: attributes.insert(.list)
        case .set: attributes.insert(.set)
        case .dictionary: attributes.insert(.dictionary)
        }
        var target: Table?
        if property.type == .object {
            target = try table(named: Format.classPrefix + property.linkTarget)
            guard target != nil else {
                throw RealmError(
                    .invalidTableRef,
                    "Property '\(property.name)' links to class '\(property.linkTarget)', which does not exist")
            }
        }
        let key = try owner.addColumn(property.name, type, attributes, target: target)
        if property.isFullTextIndexed && !property.needsIndex {
            guard property.type == .string, property.collection == .none || property.collection == .list else {
                throw RealmError(
                    .illegalOperation, "Property '\(property.name)' cannot have a full-text index: it is not a string")
            }
            owner.setIndexAttribute(key, .fullTextIndexed)
            try owner.addIndex(key.index, fullText: true)
        } else if property.needsIndex && !isKeyOfNewClass {
            owner.setIndexAttribute(key, .indexed)
            try owner.addIndex(key.index, fullText: false)
        }
        return key
    }
}
