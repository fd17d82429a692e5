/// Changes of the file's schema, before and after a migration function. Rules: live-objects §3.
extension Group {
    /// Runs before the function: makes new classes and columns, changes types, nullability and indexes, and removes
    /// primary keys that will change.
    func apply(_ changes: [SchemaChange]) throws(RealmError) {
        for case .addClass(let objectSchema) in changes { try createClass(objectSchema) }
        for change in changes {
            switch change {
            case .addInitialProperties(let objectSchema): try createProperties(objectSchema)
            case .addProperty(let objectSchema, let property):
                if let table = try table(named: objectSchema.tableName), table.column(named: property.name) == nil {
                    try addColumn(property, to: table)
                }
            case .changeType(let objectSchema, _, let property), .makeRequired(let objectSchema, let property):
                guard let table = try table(named: objectSchema.tableName), let old = table.column(named: property.name)
                else { continue }
                let wasPrimary = old.key == table.primaryKey
                try table.removeColumn(old.key)
                let new = try addColumn(property, to: table)
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
            case .addClass, .addInitialProperties, .addProperty, .changeType, .makeNullable, .makeRequired,
                .removeClass:
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
        for backlink in table.backlinkColumns {
            guard let origin = try self.table(backlink.oppositeTable),
                let column = origin.column(backlink.oppositeColumn)
            else { continue }
            for from in try table.backlinks(key, backlink.key).allKeys() {
                let copy = try self.copy(key, of: table, depth: 0)
                try origin.relink(from, column, table.key, old: key, new: copy)
            }
        }
        try delete(table, key)
    }

    /// Returns a new object with the same values; embedded children are copied too.
    private func copy(_ key: ObjKey, of table: Table, depth: Int) throws(RealmError) -> ObjKey {
        guard depth < Tables.maxNesting else { throw Tables.embeddedTooDeeply }
        let new = try table.createObject().key
        for column in table.publicColumns {
            guard let facts = table.facts(column.key), let value = try table.stored(key, column.key) else {
                continue
            }
            startWalk()
            let target = try self.table(column.oppositeTable)
            let isOwned = column.type == .link && target?.isEmbedded ?? false
            let path = CollectionPath(table: table.key, object: new, column: column.key)
            guard case .slot(let slot) = value else {
                switch value {
                case .link(let link) where isOwned:
                    guard let target else { continue }
                    _ = try table.set(new, facts, .typedLink(target.key, try copy(link, of: target, depth: depth + 1)))
                case .link(let link): _ = try table.set(new, facts, .typedLink(column.oppositeTable, link))
                case .list, .dictionary:
                    _ = try table.set(new, facts, value.emptied)
                    try copyNested(value, table, path)
                default: _ = try table.set(new, facts, value)
                }
                continue
            }
            guard slot.subtree != nil, let shape = column.shape,
                let content = try resolve(CollectionPath(table: table.key, object: key, column: column.key))
            else { continue }
            var elements: [(name: [UInt8], value: Mixed)] = []
            switch content {
            case .list(let list): for i in 0..<list.count { try elements.add(([], try list.get(i))) }
            case .dictionary(let dictionary):
                for i in 0..<dictionary.count {
                    if case .string(let name) = try dictionary.key(i) {
                        try elements.add((Array(name), try dictionary.value(i)))
                    }
                }
            }
            for (i, element) in elements.enumerated() {
                var newValue = element.value
                if isOwned, let target, case .typedLink(_, let link) = newValue {
                    newValue = .typedLink(target.key, try copy(link, of: target, depth: depth + 1))
                }
                try table.edit(path, as: shape) { (editor) throws(RealmError) in
                    switch shape {
                    case .list: try editor.insert(i, newValue.emptied)
                    case .set: _ = try editor.insertUnique(newValue)
                    case .dictionary:
                        _ = try element.name.withBytes { (bytes) throws(RealmError) in
                            try editor.setValue(newValue.emptied, for: bytes)
                        }
                    }
                }
                switch newValue {
                case .list, .dictionary:
                    let step: CollectionPath.Step
                    if shape == .dictionary {
                        step = .name(element.name)
                    } else {
                        step = .stableKey(
                            try table.edit(path, as: .list) { (editor) throws(RealmError) in try editor.stableKey(i) })
                    }
                    try copyNested(newValue, table, path.appending(step))
                default: break
                }
            }
        }
        return new
    }

    /// Copies the elements of a nested collection into the empty one at `path`.
    private func copyNested(_ value: Mixed, _ table: Table, _ path: CollectionPath) throws(RealmError) {
        try enterNested(at: .null)
        switch value {
        case .list(let root):
            let list = try ElementList(store, root: root, kind: .mixed, target: .null)
            for i in 0..<list.count {
                let element = try list.get(i)
                let key: Int64 = try table.edit(path, as: .list) { (editor) throws(RealmError) in
                    try editor.insert(i, element.emptied)
                    return try editor.stableKey(i)
                }
                try copyNested(element, table, path.appending(.stableKey(key)))
            }
        case .dictionary(let root):
            let dictionary = try ElementDictionary(store, root: root, keyType: .string, format: Format.currentVersion)
            for i in 0..<dictionary.count {
                guard case .string(let name) = try dictionary.key(i) else { continue }
                let element = try dictionary.value(i)
                let text = Array(name)
                _ = try table.edit(path, as: .dictionary) { (editor) throws(RealmError) in
                    try text.withBytes { (bytes) throws(RealmError) in try editor.setValue(element.emptied, for: bytes)
                    }
                }
                try copyNested(element, table, path.appending(.name(text)))
            }
        default: break
        }
    }
}

extension Mixed {
    /// An empty collection for a collection; any other value unchanged.
    fileprivate var emptied: Mixed {
        switch self {
        case .list: .emptyList
        case .dictionary: .emptyDictionary
        default: self
        }
    }
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
