/// The schema as it stands in a file: reading it, and making it. Format: logical §10.
extension Group {
    /// All classes with their persisted properties, in column order.
    func readSchema() throws(RealmError) -> Schema {
        var classes: [ObjectSchema] = []
        for i in liveIndexes where name(at: i).hasPrefix(Tables.classPrefix) {
            let t = try table(at: i)
            var properties: [Property] = []
            for c in t.publicColumns {
                guard let type = PropertyType(rawValue: Int32(c.type.rawValue)) else {
                    throw .corrupt("column of a type that no property has")
                }
                var p = Property(c.name, type)
                p.collection = c.isList ? .list : (c.isSet ? .set : (c.isDictionary ? .dictionary : .none))
                // Links in lists are never null, whatever the column says.
                p.isNullable = c.isNullable && !(type == .object && (p.collection == .list || p.collection == .set))
                if type == .object {
                    guard let target = try self.table(c.oppositeTable), let name = target.className else {
                        throw .corrupt("link column without a target class")
                    }
                    p.linkTarget = name
                    if p.collection == .none || p.collection == .dictionary { p.isNullable = true }
                }
                p.isPrimary = c.key == t.primaryKey
                let hasIndex = try t.index(of: c.index) != nil || !hasUsableIndexes && c.attributes.contains(.indexed)
                p.isFullTextIndexed = hasIndex && c.isFullTextIndexed
                // Files of formats 20 and 21 have no index on primary keys; the upgrade makes it.
                p.isIndexed = p.isPrimary || hasIndex && !c.isFullTextIndexed
                p.key = c.key
                properties.append(p)
            }
            var o = ObjectSchema(
                name: t.className ?? "", kind: ObjectSchema.Kind(rawValue: Int32(t.kind.rawValue)) ?? .topLevel,
                primaryKey: properties.first(where: \.isPrimary)?.name ?? "", persisted: properties, computed: [])
            o.key = t.key
            classes.append(o)
        }
        return Schema(classes)
    }

    /// The stored schema version; all ones when the file has none.
    func readSchemaVersion() throws(RealmError) -> UInt64 {
        guard let t = try table(named: Tables.metadata), let c = t.column(named: "version"), c.type == .int,
            !c.isCollection, try t.count() > 0
        else {
            return ObjectStore.notVersioned
        }
        guard case .int(let v)? = try t.rows.get(try t.rows.key(at: 0), c.index) else {
            return ObjectStore.notVersioned
        }
        return UInt64(bitPattern: v)
    }

    /// Makes the `metadata` table when it is missing. Format: logical §10.2.
    func ensureMetadata() throws(RealmError) {
        let existing = try table(named: Tables.metadata)
        let t = if let existing { existing } else { try addTable(Tables.metadata) }
        if t.column(named: "version") == nil { try t.addColumn("version", .int, []) }
        if try t.count() == 0 {
            let key = try t.createObject().key
            if let c = t.column(named: "version"), let facts = t.facts(c.key) { _ = try t.set(key, facts, .int(-1)) }
        }
    }

    func setSchemaVersion(_ version: UInt64) throws(RealmError) {
        try ensureMetadata()
        guard let t = try table(named: Tables.metadata), let c = t.column(named: "version"), let facts = t.facts(c.key)
        else { return }
        _ = try t.set(try t.rows.key(at: 0), facts, .int(Int64(bitPattern: version)))
    }

    /// Makes the table of a class with its primary key column. Other properties follow once all tables exist.
    func createClass(_ o: ObjectSchema) throws(RealmError) {
        guard o.name.utf8.count <= ObjectStore.maxClassName else {
            throw RealmError(
                .invalidName, "Class name '\(o.name)' is too long: at most \(ObjectStore.maxClassName) bytes")
        }
        let kind: Table.Kind = o.kind == .embedded ? .embedded : (o.kind == .asymmetric ? .asymmetric : .topLevel)
        let t = try addTable(o.tableName, kind: kind)
        if let pk = o.properties.first(where: { $0.name == o.primaryKey && $0.isPrimary }) {
            let key = try addColumn(pk, to: t, isKeyOfNewClass: true)
            try t.setPrimaryKey(key)
        } else if o.property(named: o.primaryKey) != nil {
            throw RealmError(
                .invalidName, "Property '\(o.name).\(o.primaryKey)' is named as the primary key but not marked as one")
        }
    }

    func createProperties(_ o: ObjectSchema) throws(RealmError) {
        guard let t = try table(named: o.tableName) else { return }
        for p in o.properties where t.column(named: p.name) == nil { try addColumn(p, to: t) }
    }

    /// Adds a property's column and the index it asks for. The index of the primary key of a new class comes with the
    /// key.
    @discardableResult
    func addColumn(_ p: Property, to t: Table, isKeyOfNewClass: Bool = false) throws(RealmError) -> ColKey {
        guard let type = ColumnType(rawValue: Int(p.type.rawValue)), type != .backlink else {
            throw RealmError(.illegalOperation, "Property '\(p.name)' is computed: it has no column")
        }
        var attributes: ColumnAttributes = []
        if p.isNullable { attributes.insert(.nullable) }
        switch p.collection {
        case .none: break
        case .list: attributes.insert(.list)
        case .set: attributes.insert(.set)
        case .dictionary: attributes.insert(.dictionary)
        }
        var target: Table?
        if p.type == .object {
            target = try table(named: Tables.classPrefix + p.linkTarget)
            guard target != nil else {
                throw RealmError(
                    .invalidTableRef, "Property '\(p.name)' links to class '\(p.linkTarget)', which does not exist")
            }
        }
        let key = try t.addColumn(p.name, type, attributes, target: target)
        if p.isFullTextIndexed && !p.needsIndex {
            guard p.type == .string, p.collection == .none || p.collection == .list else {
                throw RealmError(
                    .illegalOperation, "Property '\(p.name)' cannot have a full-text index: it is not a string")
            }
            t.setIndexAttribute(key, .fullTextIndexed)
            try t.addIndex(key.index, fullText: true)
        } else if p.needsIndex && !isKeyOfNewClass {
            t.setIndexAttribute(key, .indexed)
            try t.addIndex(key.index, fullText: false)
        }
        return key
    }
}
