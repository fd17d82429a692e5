/// Changing the file's schema: what happens before a migration function runs, and after it. Rules: live-objects §3.
extension Group {
    /// Before the function: new classes, new columns, other types and nullability, indexes; primary keys that change
    /// are taken off.
    func apply(_ changes: [SchemaChange]) throws(RealmError) {
        for case .addClass(let c) in changes { try createClass(c) }
        for change in changes {
            switch change {
            case .addInitialProperties(let c): try createProperties(c)
            case .addProperty(let c, let p):
                if let t = try table(named: c.tableName), t.column(named: p.name) == nil { try addColumn(p, to: t) }
            case .changeType(let c, _, let p), .makeRequired(let c, let p):
                guard let t = try table(named: c.tableName), let old = t.column(named: p.name) else { continue }
                let wasPrimary = old.key == t.primaryKey
                try t.removeColumn(old.key)
                let new = try addColumn(p, to: t)
                if wasPrimary && p.isPrimary { try t.setPrimaryKey(new) }
            case .makeNullable(let c, let p):
                guard let t = try table(named: c.tableName), let old = t.column(named: p.name) else { continue }
                try t.setNullable(old.key, true)
            case .addIndex, .removeIndex: try applyIndex(change)
            case .changePrimaryKey(let c, _, _): try table(named: c.tableName)?.changePrimaryKey(to: nil)
            case .removeProperty, .changeKind, .addClass, .removeClass: continue
            }
        }
    }

    private func applyIndex(_ change: SchemaChange) throws(RealmError) {
        switch change {
        case .addIndex(let c, let p, let fullText):
            guard let t = try table(named: c.tableName), let column = t.column(named: p.name) else { return }
            if fullText, p.type != .string || (p.collection != .none && p.collection != .list) {
                throw RealmError(.illegalOperation, "Index not supported for this property: \(p.name)")
            }
            if try t.index(of: column.index) != nil {
                if column.attributes.contains(.indexed) != fullText { return }
                try t.removeIndex(column.index)
            }
            t.setIndexAttribute(column.key, fullText ? .fullTextIndexed : .indexed)
            try t.addIndex(column.index, fullText: fullText)
        case .removeIndex(let c, let p, let fullText):
            guard let t = try table(named: c.tableName), let column = t.column(named: p.name),
                try t.index(of: column.index) != nil,
                column.isFullTextIndexed == fullText
            else { return }
            try t.removeIndex(column.index)
            t.setIndexAttribute(column.key, [])
        default: return
        }
    }

    /// After the function: removed columns go, primary keys and class types become what the target says, indexes are
    /// put right; then primary keys must be unique.
    func finish(_ target: Schema, _ handlesBacklinks: Bool) throws(RealmError) {
        let changes = SchemaChange.between(try readSchema(), target)
        for change in changes {
            switch change {
            case .removeProperty(let c, let p):
                if let t = try table(named: c.tableName), let column = t.column(named: p.name) {
                    try t.removeColumn(column.key)
                }
            case .addIndex, .removeIndex: try applyIndex(change)
            case .changePrimaryKey(let c, _, let name):
                guard let t = try table(named: c.tableName) else { continue }
                try t.changePrimaryKey(to: t.column(named: name)?.key)
            case .changeKind(let c, _, let kind):
                if let t = try table(named: c.tableName) { try changeKind(t, to: kind, handlesBacklinks) }
            case .addClass, .addInitialProperties, .addProperty, .changeType, .makeNullable, .makeRequired,
                .removeClass:
                try apply([change])
            }
        }
        if !changes.isEmpty {
            // Taking a key off may have taken an index that the target wants.
            for change in SchemaChange.between(try readSchema(), target) where change.isIndexChange {
                try applyIndex(change)
            }
        }
        for c in target.classes { try table(named: c.tableName)?.checkPrimaryKeysAreUnique() }
    }

    // MARK: Class types

    private func changeKind(_ t: Table, to kind: ObjectSchema.Kind, _ handlesBacklinks: Bool) throws(RealmError) {
        guard kind != .asymmetric, t.kind != .asymmetric else {
            throw RealmError(
                .migrationFailed, "Class '\(t.className ?? t.name)' cannot change to or from an asymmetric class")
        }
        if kind == .embedded { try becomeEmbedded(t, handlesBacklinks) }
        t.setKind(kind == .embedded ? .embedded : .topLevel)
    }

    /// Each object must have exactly one owner. With `handling` orphans are deleted and objects with several links
    /// copied, once for each.
    private func becomeEmbedded(_ t: Table, _ handling: Bool) throws(RealmError) {
        let name = t.className ?? t.name
        guard t.primaryKey == nil else {
            throw RealmError(.illegalOperation, "Cannot convert '\(name)' to embedded: it has a primary key.")
        }
        for b in t.backlinkColumns {
            guard let origin = try table(b.oppositeTable), let c = origin.column(b.oppositeColumn), c.type == .mixed
            else { continue }
            for key in try t.allKeys() where try t.backlinks(key, b.key).count > 0 {
                throw RealmError(
                    .illegalOperation,
                    "Cannot convert '\(name)' to embedded: there is an incoming link "
                        + "from the Mixed property '\(origin.className ?? origin.name).\(c.name)', "
                        + "which does not support linking to embedded objects."
                )
            }
        }
        for key in try t.allKeys() {
            guard try t.isValid(key) else { continue }
            switch try t.backlinkCount(key) {
            case 1: continue
            case 0:
                guard handling else {
                    throw RealmError(
                        .illegalOperation,
                        "Cannot convert '\(name)' to embedded: at least one object has no incoming links and would be deleted."
                    )
                }
                try delete(t, key)
            default:
                guard handling else {
                    throw RealmError(
                        .illegalOperation,
                        "Cannot convert '\(name)' to embedded: at least one object has more than one incoming link.")
                }
                try split(t, key)
            }
        }
    }

    /// Gives each link to the object a copy of its own and deletes the object.
    private func split(_ t: Table, _ key: ObjKey) throws(RealmError) {
        for b in t.backlinkColumns {
            guard let origin = try table(b.oppositeTable), let c = origin.column(b.oppositeColumn) else { continue }
            for from in try t.backlinks(key, b.key).allKeys() {
                let copy = try self.copy(key, of: t, depth: 0)
                try origin.relink(from, c, t.key, old: key, new: copy)
            }
        }
        try delete(t, key)
    }

    /// A new object with the same values; embedded children are copied too.
    private func copy(_ key: ObjKey, of t: Table, depth: Int) throws(RealmError) -> ObjKey {
        guard depth < Trees.maxNesting else { throw Trees.embeddedTooDeeply }
        let new = try t.createObject().key
        for c in t.publicColumns {
            guard let facts = t.facts(c.key), let value = try t.rows.get(key, c.index) else { continue }
            startWalk()
            let target = try table(c.oppositeTable)
            let isOwned = c.type == .link && target?.isEmbedded ?? false
            let path = CollectionPath(table: t.key, object: new, column: c.key)
            guard case .slot(let s) = value else {
                switch value {
                case .link(let k) where isOwned:
                    guard let target else { continue }
                    _ = try t.set(new, facts, .typedLink(target.key, try copy(k, of: target, depth: depth + 1)))
                case .link(let k): _ = try t.set(new, facts, .typedLink(c.oppositeTable, k))
                case .list, .dictionary:
                    _ = try t.set(new, facts, value.emptied)
                    try copyNested(value, t, path)
                default: _ = try t.set(new, facts, value)
                }
                continue
            }
            guard s.subtree != nil, let shape = c.shape,
                let content = try resolve(CollectionPath(table: t.key, object: key, column: c.key))
            else { continue }
            var elements: [(name: [UInt8], value: Mixed)] = []
            switch content {
            case .list(let l): for i in 0..<l.count { try elements.add(([], try l.get(i))) }
            case .dictionary(let d):
                for i in 0..<d.count {
                    if case .string(let name) = try d.key(i) { try elements.add((Array(name), try d.value(i))) }
                }
            }
            for (i, e) in elements.enumerated() {
                var v = e.value
                if isOwned, let target, case .typedLink(_, let k) = v {
                    v = .typedLink(target.key, try copy(k, of: target, depth: depth + 1))
                }
                try t.edit(path, as: shape) { (editor) throws(RealmError) in
                    switch shape {
                    case .list: try editor.insert(i, v.emptied)
                    case .set: _ = try editor.insertUnique(v)
                    case .dictionary:
                        _ = try e.name.withBytes { (b) throws(RealmError) in try editor.setValue(v.emptied, for: b) }
                    }
                }
                switch v {
                case .list, .dictionary:
                    let step: CollectionPath.Step
                    if shape == .dictionary {
                        step = .name(e.name)
                    } else {
                        step = .salt(
                            try t.edit(path, as: .list) { (editor) throws(RealmError) in try editor.nestedKey(i) })
                    }
                    try copyNested(v, t, path.appending(step))
                default: break
                }
            }
        }
        return new
    }

    /// Copies the elements of a nested collection into the empty one at `path`.
    private func copyNested(_ v: Mixed, _ t: Table, _ path: CollectionPath) throws(RealmError) {
        try enterNested(at: .null)
        switch v {
        case .list(let root):
            let l = try ElementList(store, root: root, kind: .mixed, target: .null)
            for i in 0..<l.count {
                let e = try l.get(i)
                let key: Int64 = try t.edit(path, as: .list) { (editor) throws(RealmError) in
                    try editor.insert(i, e.emptied)
                    return try editor.nestedKey(i)
                }
                try copyNested(e, t, path.appending(.salt(key)))
            }
        case .dictionary(let root):
            let d = try ElementDictionary(store, root: root, keyType: .string, format: Format.currentVersion)
            for i in 0..<d.count {
                guard case .string(let name) = try d.key(i) else { continue }
                let e = try d.value(i)
                let text = Array(name)
                _ = try t.edit(path, as: .dictionary) { (editor) throws(RealmError) in
                    try text.withBytes { (b) throws(RealmError) in try editor.setValue(e.emptied, for: b) }
                }
                try copyNested(e, t, path.appending(.name(text)))
            }
        default: break
        }
    }
}

extension Mixed {
    /// Collections without their contents, everything else as it is.
    fileprivate var emptied: Mixed {
        switch self {
        case .list: .emptyList
        case .dictionary: .emptyDictionary
        default: self
        }
    }
}

extension Table {
    /// Points the first link to `old` in column `c` of `from` at `new` instead.
    func relink(_ from: ObjKey, _ c: Column, _ target: TableKey, old: ObjKey, new: ObjKey) throws(RealmError) {
        guard let facts = facts(c.key) else { return }
        guard let shape = c.shape else {
            _ = try set(from, facts, .typedLink(target, new))
            return
        }
        let path = CollectionPath(table: key, object: from, column: c.key)
        try edit(path, as: shape) { (e) throws(RealmError) in
            if shape == .dictionary {
                let d = try ElementDictionary(store, root: e.root, keyType: .string, format: Format.currentVersion)
                guard let i = try d.findValue(.typedLink(target, old)), case .string(let name) = try d.key(i) else {
                    return
                }
                _ = try Array(name).withBytes { (b) throws(RealmError) in
                    try e.setValue(.typedLink(target, new), for: b)
                }
            } else if shape == .set {
                if try e.eraseValue(.typedLink(target, old)) { _ = try e.insertUnique(.typedLink(target, new)) }
            } else {
                let l = try ElementList(store, root: e.root, kind: .objKey, target: target)
                if let i = try l.find(.typedLink(target, old)) { try e.set(i, .typedLink(target, new)) }
            }
        }
    }
}
