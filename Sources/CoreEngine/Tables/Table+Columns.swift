/// Changing the shape of a table: its columns, primary key and indexes. Format: logical §3, §4, §10.
extension Table {
    static let maxColumns = 0xFFFF

    static func tooManyColumns() -> RealmError {
        RealmError(.limitExceeded, "A class cannot have more than \(maxColumns) columns")
    }

    func setPrimaryKey(_ key: ColKey?) throws(RealmError) {
        state.primaryKey = key
        if let key, let definition = column(key), try index(of: definition.index) == nil {
            try addIndex(definition.index, fullText: false)
        }
        refreshFacts()
    }

    func setKind(_ kind: Kind) { state.kind = kind }

    /// The key of a new column: the lowest unused column index, and a tag. Format: logical §4.1.
    private func newColKey(_ type: ColumnType, _ attributes: ColumnAttributes) -> ColKey {
        ColKey(
            index: spec.freeIndex, type: type, attributes: attributes,
            tag: UInt32(truncatingIfNeeded: state.columnKeyCounter ^ UInt64(key.raw)))
    }

    /// Adds a public column. A link column gets its backlink column in `target`.
    @discardableResult
    func addColumn(_ name: Name, _ type: ColumnType, _ attributes: ColumnAttributes, target: Table? = nil)
        throws(RealmError) -> ColKey
    {
        try LongNames.check(name)
        guard column(named: name) == nil, !name.isEmpty else {
            throw RealmError(.invalidName, "Class '\(className ?? self.name)' has a property named '\(name)' already")
        }
        guard columns.count < Self.maxColumns else { throw Self.tooManyColumns() }
        var form = attributes.subtracting([.indexed, .fullTextIndexed])
        if type == .mixed { form.insert(.nullable) }
        if type == .link {
            if form.isDisjoint(with: .collection) || form.contains(.dictionary) {
                form.insert(.nullable)
            } else {
                form.remove(.nullable)
            }
        }
        let key = newColKey(type, form)
        let isDictionary = form.contains(.dictionary)
        var column = Column(
            key: key, type: type, attributes: form, name: name,
            specType: Int64(type.rawValue) | (isDictionary ? 2 << 16 : 0))
        if type == .link {
            guard let target else {
                throw RealmError(.invalidTableRef, "Property '\(name)' links to a class that does not exist")
            }
            column.oppositeTable = target.key
        }
        column.storedName = try spec.storedName(for: name)
        try insert(column)
        group.log?.columnAdded(self.key, key)
        if column.storedName != nil { try group.noteLongName(name, self.key, key) }
        if let target {
            let backlink = try target.addBacklinkColumn(origin: self, originColumn: key)
            spec.change(key) { $0.oppositeColumn = backlink }
            column.oppositeColumn = backlink
            updateFacts(column)
        }
        return key
    }

    /// Adds the backlink column for links from `originColumn` of `origin`.
    func addBacklinkColumn(origin: Table, originColumn: ColKey) throws(RealmError) -> ColKey {
        let key = newColKey(.backlink, [])
        try insert(
            Column(
                key: key, type: .backlink, attributes: [], name: "", oppositeTable: origin.key,
                oppositeColumn: originColumn,
                specType: Int64(ColumnType.backlink.rawValue)))
        return key
    }

    /// The backlink column for (`origin`, `column`), created on first use. Format: logical §8.5.
    func backlinkColumn(origin: Table, column: ColKey) throws(RealmError) -> ColKey {
        for definition in columns
        where definition.isBacklink && definition.oppositeTable == origin.key && definition.oppositeColumn == column {
            return definition.key
        }
        let key = try addBacklinkColumn(origin: origin, originColumn: column)
        group.log?.typedLinkChanged(origin.key, column, target: self.key)
        return key
    }

    private func insert(_ column: Column) throws(RealmError) {
        try indexes.settle()
        guard let clusterColumn = column.clusterColumn else {
            throw RealmError(.illegalOperation, "A column of this type cannot be made")
        }
        try eachTree { (rows) throws(RealmError) in try rows.addColumn(column.index, clusterColumn) }
        try spec.insert(column)
        columnAdded(column)
    }

    /// Removes a column: its leaves, its index and its entry in the spec. The caller first removes the links and
    /// backlinks in it.
    private func remove(_ key: ColKey) throws(RealmError) {
        guard spec.column(key) != nil else { return }
        try indexes.drop(key.index)
        try eachTree { (rows) throws(RealmError) in try rows.removeColumn(key.index) }
        try spec.remove(key, store)
        state.columnKeyCounter &+= 1
        if primaryKey == key { state.primaryKey = nil }
        columnsChanged()
    }

    /// Calls `body` for the rows and for the tombstones, which have the same columns.
    private func eachTree(_ body: (ClusterTree) throws(RealmError) -> Void) throws(RealmError) {
        try body(rows)
        guard !tombstones.isNull else { return }
        let others = ClusterTree(store, root: tombstones, columns: rows.columns)
        try body(others)
        state.tombstones = others.root
    }

    /// Removes a public column and everything that belongs to it at both ends; embedded objects that it owns are
    /// deleted too.
    func removeColumn(_ key: ColKey) throws(RealmError) {
        guard let definition = column(key), !definition.isBacklink else {
            throw RealmError(.invalidProperty, "Class '\(className ?? name)' has no property with key \(key.raw)")
        }
        if definition.type == .link || definition.type == .mixed {
            // Before the column is removed, embedded targets lose their owner, and the backlink columns are removed.
            if let target = try group.table(definition.oppositeTable), target.isEmbedded { try clearColumn(definition) }
            for i in group.liveIndexes {
                let other = try group.table(at: i)
                guard
                    let backlink = other.columns.first(where: {
                        $0.isBacklink && $0.oppositeTable == self.key && $0.oppositeColumn == key
                    })
                else {
                    continue
                }
                try other.remove(backlink.key)
            }
        }
        if name != RuleTable.name, let rules = try RuleTable(group) {
            try rules.removeRules(of: self.key, key)
            try group.rulesChanged()
        }
        try remove(key)
        group.log?.columnErased(self.key, key)
    }

    /// Sets a link column to null or empty in every row.
    private func clearColumn(_ column: Column) throws(RealmError) {
        guard let facts = facts(column.key) else { return }
        for key in try allKeys() {
            if let shape = column.shape {
                guard case .slot(let slot)? = try rows.get(key, column.index), slot.subtree != nil else { continue }
                try edit(CollectionPath(table: self.key, object: key, column: column.key), as: shape) {
                    (e) throws(RealmError) in try e.clear()
                }
            } else {
                _ = try set(key, facts, .null)
            }
        }
    }

    func renameColumn(_ key: ColKey, to new: Name) throws(RealmError) {
        try LongNames.check(new)
        guard column(named: new) == nil, !new.isEmpty else {
            throw RealmError(.invalidName, "Class '\(className ?? name)' has a property named '\(new)' already")
        }
        let short = try spec.storedName(for: new)
        let wasLong = column(key)?.storedName != nil
        let isChanged = spec.change(key) { column in
            column.name = new
            column.storedName = short
        }
        guard isChanged else { return }
        if short != nil || wasLong { try group.noteLongName(short == nil ? nil : new, self.key, key) }
        group.log?.columnRenamed(self.key, key)
    }

    /// Makes a column nullable or not nullable. A new column with a new key, in the last position, replaces it; the
    /// values are copied, and null becomes the default. Format: logical §10.6.
    @discardableResult
    func setNullable(_ key: ColKey, _ nullable: Bool) throws(RealmError) -> ColKey {
        guard let old = column(key), old.isNullable != nullable, old.type != .link, old.type != .mixed else {
            return key
        }
        let wasPrimary = primaryKey == key
        let hadIndex = try index(of: old.index) != nil && !wasPrimary
        var form = old.attributes.subtracting([.indexed, .fullTextIndexed, .nullable])
        if nullable { form.insert(.nullable) }
        let new = try addColumn(Name("__temporary_\(old.index)"), old.type, form)
        guard let added = column(new) else { return key }
        for key in try allKeys() { try copyValue(key, from: old, to: added) }
        let name = old.name
        if wasPrimary { state.primaryKey = nil }
        if let rules = try RuleTable(group) {
            try rules.replaceColumn(key, by: new, in: self.key)
            try group.rulesChanged()
        }
        try removeColumn(key)
        try renameColumn(new, to: name)
        setIndexAttribute(new, old.attributes.intersection([.indexed, .fullTextIndexed]))
        if hadIndex { try addIndex(new.index, fullText: old.attributes.contains(.fullTextIndexed)) }
        if wasPrimary { try setPrimaryKey(new) }
        return new
    }

    private func copyValue(_ key: ObjKey, from old: Column, to new: Column) throws(RealmError) {
        guard let value = try rows.get(key, old.index) else { return }
        guard let shape = new.shape else {
            _ = try rows.set(key, new.index, value.isNull ? new.initial : try store.stable(value))
            return
        }
        guard case .slot(let slot) = value, let root = slot.subtree, let kind = old.elementKind,
            let newKind = new.elementKind
        else { return }
        if shape == .dictionary {
            // Values are Mixed in both columns: the entries are copied, and only nulls change.
            let entries = try ElementDictionary(store, root: root, keyType: old.keyType, format: Format.currentVersion)
            try edit(CollectionPath(table: self.key, object: key, column: new.key), as: shape) {
                (e) throws(RealmError) in
                for i in 0..<entries.count {
                    guard case .string(let name) = try entries.key(i) else { continue }
                    let value = try entries.value(i)
                    _ = try e.setValue(value.isNull && !new.isNullable ? new.initialElement : value, for: name)
                }
            }
            return
        }
        let from = BPlusTree(store, kind: kind, root: root)
        var to = try BPlusTree.create(store, kind: newKind)
        for i in 0..<(try from.count()) {
            let value = try from.get(i)
            try to.append(value.isNull && !new.isNullable ? new.initialElement : try store.stable(value))
        }
        _ = try rows.set(key, new.index, .slot(RefOrTagged(to.root)))
    }

    /// Removes all public columns and their backlink columns.
    func removeAllColumns() throws(RealmError) {
        for column in publicColumns.map(\.key) { try removeColumn(column) }
    }

    /// Removes all columns and then the nodes of the table itself. The group then removes the table.
    func destroyAll() throws(RealmError) {
        try removeAllColumns()
        for column in backlinkColumns.map(\.key) { try remove(column) }
        try store.destroy(try flush())
    }

    /// Changes the key of a column; its column index stays the same.
    func replaceKey(_ old: ColKey, by new: ColKey) throws(RealmError) {
        guard old.index == new.index, spec.change(old, { $0.key = new }) else { return }
        columnsChanged()
    }

    func replaceOpposite(of table: TableKey, _ old: ColKey, by new: ColKey) throws(RealmError) {
        var changed = false
        for column in columns where column.oppositeTable == table && column.oppositeColumn == old {
            changed = spec.change(column.key) { $0.oppositeColumn = new } || changed
        }
        if changed { columnsChanged() }
    }

    /// Whether another table has link columns to this table.
    var isLinkTarget: Bool { backlinkColumns.contains { $0.oppositeTable != key } }

    /// Changes the primary key. The index of the old primary key is kept only if the user requested it. Format: logical
    /// §10.7.
    ///
    /// - Throws: 2007 if a property of this type cannot be a primary key.
    func changePrimaryKey(to key: ColKey?) throws(RealmError) {
        guard key != primaryKey else { return }
        if let key {
            guard let definition = column(key), !definition.isCollection,
                [.int, .string, .objectId, .uuid].contains(definition.type)
            else {
                throw RealmError(
                    .illegalOperation,
                    "Property '\(className ?? name).\(column(key)?.name ?? "")' is of a type that cannot be a primary key"
                )
            }
        }
        if let old = primaryKey, let definition = column(old), !definition.attributes.contains(.indexed),
            try index(of: definition.index) != nil
        {
            try removeIndex(definition.index)
        }
        try setPrimaryKey(key)
    }

    /// Throws 2020 if two objects have the same primary key value.
    func checkPrimaryKeysAreUnique() throws(RealmError) {
        guard let pk = primaryKey, let index = try index(of: pk.index) else { return }
        var seen = 0
        for key in try allKeys() {
            guard let value = try rows.peek(key, pk.index) else { continue }
            var first: ObjKey?
            seen = 0
            try index.findAll(value) { (k) throws(RealmError) in
                if first == nil { first = k }
                seen += 1
            }
            guard seen <= 1 else {
                throw RealmError(
                    .migrationFailed,
                    "Primary key property '\(className ?? name).\(column(pk)?.name ?? "")' has duplicate values after migration."
                )
            }
        }
    }

    /// Builds a search index over the existing rows.
    func addIndex(_ column: Int, fullText: Bool) throws(RealmError) {
        guard try index(of: column) == nil else { return }
        try indexes.build(column, isFullText: fullText)
        refreshFacts()
    }

    func removeIndex(_ column: Int) throws(RealmError) {
        try indexes.drop(column)
        refreshFacts()
    }

    /// Records in the spec that the user requested an index.
    func setIndexAttribute(_ key: ColKey, _ attributes: ColumnAttributes) {
        guard
            spec.change(
                key, { $0.attributes = $0.attributes.subtracting([.indexed, .fullTextIndexed]).union(attributes) })
        else { return }
        refreshFacts()
    }
}
