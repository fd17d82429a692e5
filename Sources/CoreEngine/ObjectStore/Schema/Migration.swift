/// Changes of the file's schema, before and after a migration function. Rules: live-objects §3.
extension Group {
    /// Runs before the function: makes new classes and columns, changes types, nullability and indexes, and removes
    /// primary keys that will change.
    func apply(_ changes: [SchemaChange]) throws(RealmError) {
        for case .addClass(let objectSchema) in changes { try createClass(objectSchema) }
        for change in changes {
            switch change {
            case .addInitialProperties(let objectSchema): try createProperties(objectSchema)
            case .addProperty(let objectSchema, let property), .addPropertyOfSubclass(let objectSchema, let property):
                if let table = try table(named: objectSchema.tableName), table.column(named: property.name) == nil {
                    try addColumn(property, to: table)
                }
            case .changeType(let objectSchema, _, let property), .makeRequired(let objectSchema, let property):
                guard let table = try table(named: objectSchema.tableName), let old = table.column(named: property.name)
                else { continue }
                let wasPrimary = old.key == table.primaryKey
                var rules: RuleTable?
                if case .makeRequired = change { rules = try RuleTable(self) }
                // Until the new column exists, the rules of the property are stored under a key that no column has.
                let waiting = ColKey(-1)
                try rules?.replaceColumn(old.key, by: waiting, in: table.key)
                try table.removeColumn(old.key)
                let new = try addColumn(property, to: table)
                try rules?.replaceColumn(waiting, by: new, in: table.key)
                if rules != nil { try rulesChanged() }
                if wasPrimary && property.isPrimary { try table.setPrimaryKey(new) }
            case .makeNullable(let objectSchema, let property):
                guard let table = try table(named: objectSchema.tableName), let old = table.column(named: property.name)
                else { continue }
                try table.setNullable(old.key, true)
            case .addIndex, .removeIndex: try applyIndex(change)
            case .changePrimaryKey(let objectSchema, _, _):
                try table(named: objectSchema.tableName)?.changePrimaryKey(to: nil)
            case .removeProperty, .changeKind, .addClass, .removeClass: continue
            }
        }
    }

    private func applyIndex(_ change: SchemaChange) throws(RealmError) {
        switch change {
        case .addIndex(let objectSchema, let property, let fullText):
            guard let table = try table(named: objectSchema.tableName), let column = table.column(named: property.name)
            else { return }
            if fullText, property.type != .string || (property.collection != .none && property.collection != .list) {
                throw RealmError(.illegalOperation, "Index not supported for this property: \(property.name)")
            }
            if try table.index(of: column.index) != nil {
                if column.attributes.contains(.indexed) != fullText { return }
                try table.removeIndex(column.index)
            }
            table.setIndexAttribute(column.key, fullText ? .fullTextIndexed : .indexed)
            try table.addIndex(column.index, fullText: fullText)
        case .removeIndex(let objectSchema, let property, let fullText):
            guard let table = try table(named: objectSchema.tableName), let column = table.column(named: property.name),
                try table.index(of: column.index) != nil,
                column.isFullTextIndexed == fullText
            else { return }
            try table.removeIndex(column.index)
            table.setIndexAttribute(column.key, [])
        default: return
        }
    }

    /// Runs after the function: removes columns, gives primary keys and class types the target's state, and corrects
    /// the indexes. Finally it checks that primary keys are unique.
    func finish(_ target: Schema, _ handlesBacklinks: Bool) throws(RealmError) {
        let changes = SchemaChange.between(try readSchema(), target)
        for change in changes {
            switch change {
            case .removeProperty(let objectSchema, let property):
                if let table = try table(named: objectSchema.tableName), let column = table.column(named: property.name)
                {
                    try removeChecks(naming: column.key, of: table)
                    try table.removeColumn(column.key)
                }
            case .addIndex, .removeIndex: try applyIndex(change)
            case .changePrimaryKey(let objectSchema, _, let name):
                guard let table = try table(named: objectSchema.tableName) else { continue }
                try table.changePrimaryKey(to: table.column(named: name)?.key)
            case .changeKind(let objectSchema, _, let kind):
                if let table = try table(named: objectSchema.tableName) {
                    try changeKind(table, to: kind, handlesBacklinks)
                }
            case .addClass, .addInitialProperties, .addProperty, .addPropertyOfSubclass, .changeType, .makeNullable,
                .makeRequired, .removeClass:
                try apply([change])
            }
        }
        if !changes.isEmpty {
            // Removing a primary key may have removed an index that the target wants.
            for change in SchemaChange.between(try readSchema(), target) where change.isIndexChange {
                try applyIndex(change)
            }
        }
        for objectSchema in target.classes { try table(named: objectSchema.tableName)?.checkPrimaryKeysAreUnique() }
    }

    // MARK: Class types

    private func changeKind(_ table: Table, to kind: ObjectSchema.Kind, _ handlesBacklinks: Bool) throws(RealmError) {
        guard kind != .asymmetric, table.kind != .asymmetric else {
            throw RealmError(
                .migrationFailed,
                "Class '\(table.className ?? table.name)' cannot change to or from an asymmetric class")
        }
        if kind == .embedded { try becomeEmbedded(table, handlesBacklinks) }
        table.setKind(kind == .embedded ? .embedded : .topLevel)
    }

    /// Makes a class embedded. Each object must have exactly one owner. With `handling`, orphans are deleted, and an
    /// object with several links is copied once for each link.
    private func becomeEmbedded(_ table: Table, _ handling: Bool) throws(RealmError) {
        let name = table.className ?? table.name
        guard table.primaryKey == nil else {
            throw RealmError(.illegalOperation, "Cannot convert '\(name)' to embedded: it has a primary key.")
        }
        for backlink in table.backlinkColumns {
            guard let origin = try self.table(backlink.oppositeTable),
                let column = origin.column(backlink.oppositeColumn), column.type == .mixed
            else { continue }
            for key in try table.allKeys() where try table.backlinks(key, backlink.key).count > 0 {
                throw RealmError(
                    .illegalOperation,
                    "Cannot convert '\(name)' to embedded: there is an incoming link "
                        + "from the Mixed property '\(origin.className ?? origin.name).\(column.name)', "
                        + "which does not support linking to embedded objects."
                )
            }
        }
        for key in try table.allKeys() {
            guard try table.isValid(key) else { continue }
            switch try table.backlinkCount(key) {
            case 1: continue
            case 0:
                guard handling else {
                    throw RealmError(
                        .illegalOperation,
                        "Cannot convert '\(name)' to embedded: at least one object has no incoming links and would be deleted."
                    )
                }
                try delete(table, key)
            default:
                guard handling else {
                    throw RealmError(
                        .illegalOperation,
                        "Cannot convert '\(name)' to embedded: at least one object has more than one incoming link.")
                }
                try split(table, key)
            }
        }
    }

    /// Gives each link its own copy of the object, and deletes the object.
    private func split(_ table: Table, _ key: ObjKey) throws(RealmError) {
        let rules = SameGroup(group: self)
        let copier = ObjectCopier(from: self, to: self, rules), plan = rules.plan(table)
        for backlink in table.backlinkColumns {
            guard let origin = try self.table(backlink.oppositeTable),
                let column = origin.column(backlink.oppositeColumn)
            else { continue }
            for from in try table.backlinks(key, backlink.key).allKeys() {
                let copy = try table.createObject().key
                try copier.copy(key, to: copy, plan)
                try origin.relink(from, column, table.key, old: key, new: copy)
            }
        }
        try delete(table, key)
    }
}

/// The rules of copies inside one group: every column, and links to the same objects.
private struct SameGroup: CopyRules {
    let group: Group

    func plan(_ table: Table) -> CopyPlan {
        var plan = CopyPlan(from: table, to: table)
        for column in table.publicColumns {
            if let facts = table.facts(column.key) { plan.columns.append((column, facts)) }
        }
        return plan
    }

    func ownedPlan(_ table: TableKey) throws(RealmError) -> CopyPlan? {
        guard let table = try group.table(table), table.isEmbedded else { return nil }
        return plan(table)
    }

    func link(_ table: TableKey, _ key: ObjKey) -> Mixed? { .typedLink(table, key) }
}

extension Table {
    /// In `column` of object `from`, replaces the first link to `old` by a link to `new`.
    func relink(_ from: ObjKey, _ column: Column, _ target: TableKey, old: ObjKey, new: ObjKey) throws(RealmError) {
        guard let facts = facts(column.key) else { return }
        guard let shape = column.shape else {
            _ = try set(from, facts, .typedLink(target, new))
            return
        }
        let path = CollectionPath(table: key, object: from, column: column.key)
        try edit(path, as: shape) { (editor) throws(RealmError) in
            if shape == .dictionary {
                let dictionary = try ElementDictionary(
                    store, root: editor.root, keyType: .string, format: Format.currentVersion)
                guard let index = try dictionary.findValue(.typedLink(target, old)),
                    case .string(let name) = try dictionary.key(index)
                else {
                    return
                }
                _ = try Array(name).withBytes { (bytes) throws(RealmError) in
                    try editor.setValue(.typedLink(target, new), for: bytes)
                }
            } else if shape == .set {
                if try editor.eraseValue(.typedLink(target, old)) {
                    _ = try editor.insertUnique(.typedLink(target, new))
                }
            } else {
                let list = try ElementList(store, root: editor.root, kind: .objKey, target: target)
                if let index = try list.find(.typedLink(target, old)) { try editor.set(index, .typedLink(target, new)) }
            }
        }
    }
}
