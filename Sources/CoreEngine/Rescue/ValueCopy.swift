/// Copies values of a damaged file into a new one, and counts the losses.
///
/// Every node of a collection is read as part of one value, and every embedded object gets one owner.
final class ValueCopy {
    let source: DamagedFile
    let target: Group

    /// The new table of each table of the file.
    private let tables: [TableKey: Table]
    private var visited: Visited

    private let owners: Owners

    init(_ source: DamagedFile, _ target: Group, _ tables: [TableKey: Table], _ owners: Owners) {
        self.source = source
        self.target = target
        self.tables = tables
        self.owners = owners
        visited = Visited(source.size)
    }

    private var store: NodeStore { source.store }

    /// The destination of a value.
    struct Goal {
        let table: Table
        let object: ObjKey
        let facts: ColumnFacts

        /// The property of the damaged file that has the value.
        let origin: Origin

        /// Format of the root that has the value.
        var format = Format.currentVersion
    }

    // MARK: Values

    /// Sets a property. A value that cannot be set leaves the default.
    /// - Parameters:
    ///   - found: nil if the value is lost.
    ///   - table: the target table of links.
    func copy(
        _ found: MergedRows.Found?, _ table: TableKey, to goal: Goal, _ loss: inout SalvageReport.Property
    ) throws(RealmError) {
        guard let found else {
            guard let embedded = owners.object(of: goal.origin), let value = try link(table, embedded, goal, &loss)
            else {
                loss.lost += 1
                return
            }
            _ = try goal.table.set(goal.object, goal.facts, value)
            return
        }
        if found.isOlder { loss.older += 1 }
        var goal = goal
        goal.format = found.format
        var column = found.column
        if column.type == .link { column.oppositeTable = table }
        guard let shape = column.shape else {
            guard let value = try single(found.value, column, goal, &loss) else { return }
            _ = try goal.table.set(goal.object, goal.facts, value)
            try fill(
                found.value, CollectionPath(table: goal.table.key, object: goal.object, column: goal.facts.key), column,
                goal, &loss, depth: 0)
            return
        }
        guard case .slot(let slot) = found.value, !slot.isTagged else {
            loss.lost += 1
            return
        }
        guard let root = slot.subtree else { return }
        let path = CollectionPath(table: goal.table.key, object: goal.object, column: goal.facts.key)
        if shape == .dictionary {
            return try dictionary(root, path, column, found.column.keyType, goal, &loss, depth: 0)
        }
        guard let kind = column.elementKind else { return }
        try elements(FoundTree(store, kind, root, &visited), path, shape, column, goal, &loss, depth: 0)
    }

    /// Translates a single value for the new file; nil if the default stays.
    private func single(_ value: Mixed, _ column: Column, _ goal: Goal, _ loss: inout SalvageReport.Property)
        throws(RealmError)
        -> Mixed?
    {
        if value.isNull {
            if !goal.facts.isNullable { loss.lost += 1 }
            return nil
        }
        return try translated(value, column, goal, &loss)
    }

    /// Translates an element or value for the new file. Collections become empty ones. nil for a link without an
    /// object, and for a value that no property can hold.
    private func translated(_ value: Mixed, _ column: Column, _ goal: Goal, _ loss: inout SalvageReport.Property)
        throws(RealmError) -> Mixed?
    {
        switch value {
        case .link(let key): return try link(column.oppositeTable, key, goal, &loss)
        case .typedLink(let table, let key): return try link(table, key, goal, &loss)
        case .list: return column.type == .mixed ? .emptyList : nil
        case .dictionary: return column.type == .mixed ? .emptyDictionary : nil
        case .string(let text):
            if !isUTF8(text) { loss.texts += 1 }
            return try checked(value, goal, &loss)
        case .timestamp(let time) where !time.isValid:
            loss.lost += 1
            return nil
        default: return try checked(value, goal, &loss)
        }
    }

    private func checked(_ value: Mixed, _ goal: Goal, _ loss: inout SalvageReport.Property) throws(RealmError)
        -> Mixed?
    {
        if value.isNull || Table.matches(value, goal.facts) { return value }
        loss.lost += 1
        return nil
    }

    /// The link in the new file, if its object exists there and may be linked to.
    private func link(_ table: TableKey, _ key: ObjKey, _ goal: Goal, _ loss: inout SalvageReport.Property)
        throws(RealmError) -> Mixed?
    {
        if key.isNull || key.isUnresolved { return nil }
        if let owner = tables[table], try owner.isValid(key), try isFree(owner, table, key, goal) {
            return .typedLink(owner.key, key)
        }
        loss.links += 1
        return nil
    }

    /// Whether a property may link to an object: an embedded object has one owner, which is never a Mixed value.
    private func isFree(_ table: Table, _ key: TableKey, _ object: ObjKey, _ goal: Goal) throws(RealmError) -> Bool {
        guard table.kind != .asymmetric, goal.facts.type != .link || table.key == goal.facts.oppositeTable else {
            return false
        }
        guard table.isEmbedded else { return true }
        guard goal.facts.type == .link, owners.owner(of: key, object) == goal.origin else { return false }
        return try table.backlinkCount(object) == 0
    }

    // MARK: Collections

    private func elements(
        _ tree: FoundTree, _ path: CollectionPath, _ shape: CollectionShape, _ column: Column, _ goal: Goal,
        _ loss: inout SalvageReport.Property,
        depth: Int
    ) throws(RealmError) {
        loss.elements += tree.lost + (tree.isBroken ? 1 : 0)
        var nested: [(key: Int64, value: Mixed)] = []
        var counted = loss
        try goal.table.edit(path, as: shape) { (editor) throws(RealmError) in
            var at = 0
            try tree.eachElement { (_, value) throws(RealmError) in
                guard let value, let new = try self.element(value, column, goal, &counted) else {
                    if value == nil { counted.elements += 1 }
                    return
                }
                if shape == .set {
                    _ = try editor.insertUnique(new)
                    return
                }
                try editor.insert(at, new)
                if value.isNestedCollection { nested.append((try editor.stableKey(at), value)) }
                at += 1
            }
        }
        loss = counted
        for (key, value) in nested {
            try fill(value, path.appending(.stableKey(key)), column, goal, &loss, depth: depth + 1)
        }
    }

    private func element(_ value: Mixed, _ column: Column, _ goal: Goal, _ loss: inout SalvageReport.Property)
        throws(RealmError)
        -> Mixed?
    {
        if value.isNull {
            if goal.facts.isNullable, goal.facts.type != .link { return .null }
            loss.elements += 1
            return nil
        }
        if case .decimal = value, goal.facts.type == .decimal { return value }
        guard let new = try translated(value, column, goal, &loss) else { return column.type == .mixed ? .null : nil }
        return new
    }

    private func dictionary(
        _ root: Ref, _ path: CollectionPath, _ column: Column, _ keyType: ColumnType, _ goal: Goal,
        _ loss: inout SalvageReport.Property, depth: Int
    ) throws(RealmError) {
        guard keyType == .string else {
            loss.lost += 1
            return
        }
        var entries: [(name: [UInt8], value: Mixed)] = []
        if goal.format < 23, !OldFormats.isRead(goal.format), depth == 0 {
            guard let old = try? ElementDictionary(store, root: root, keyType: keyType, format: 22) else {
                loss.lost += 1
                return
            }
            for i in 0..<old.count {
                if case .string(let name)? = try? old.key(i), let value = try? old.value(i) {
                    entries.append((Array(name), value))
                }
            }
            return try put(entries, path, column, goal, &loss, depth: depth)
        }
        guard visited.insert(root), let top = try? store.refsNode(root), !top.isInner, let keyRoot = try? top.child(0)
        else {
            loss.lost += 1
            return
        }
        let keys = FoundTree(store, .string, keyRoot, &visited)
        let values = (try? top.child(1)).map { FoundTree(store, .mixed, $0, &visited) }
        loss.elements += keys.lost + (keys.isBroken ? 1 : 0)
        let isAligned = !keys.isBroken && !(values?.isBroken ?? true) && keys.total == values?.total
        try keys.eachElement { (i, key) throws(RealmError) in
            guard case .string(let name)? = key, isAligned, let value = values?.value(at: i) else {
                loss.elements += 1
                return
            }
            entries.append((Array(name), value))
        }
        try put(entries, path, column, goal, &loss, depth: depth)
    }

    private func put(
        _ entries: [(name: [UInt8], value: Mixed)], _ path: CollectionPath, _ column: Column, _ goal: Goal,
        _ loss: inout SalvageReport.Property,
        depth: Int
    ) throws(RealmError) {
        var counted = loss
        try goal.table.edit(path, as: .dictionary) { (editor) throws(RealmError) in
            for (name, value) in entries {
                let new: Mixed?
                if value.isNull {
                    new = goal.facts.isNullable ? .null : nil
                } else {
                    new = try self.translated(value, column, goal, &counted)
                }
                guard let new = new ?? (goal.facts.isNullable ? .null : nil) else {
                    counted.elements += 1
                    continue
                }
                _ = try name.withBytes { (b) throws(RealmError) in try editor.setValue(new, for: b) }
            }
        }
        loss = counted
        for (name, value) in entries where value.isNestedCollection {
            try fill(value, path.appending(.name(name)), column, goal, &loss, depth: depth + 1)
        }
    }

    /// Fills the empty collection at `path` with the elements of a nested one. Does nothing for other values.
    private func fill(
        _ value: Mixed, _ path: CollectionPath, _ column: Column, _ goal: Goal, _ loss: inout SalvageReport.Property,
        depth: Int
    ) throws(RealmError) {
        guard value.isNestedCollection, column.type == .mixed else { return }
        guard depth < Table.maxNesting else {
            loss.elements += 1
            return
        }
        switch value {
        case .list(let root) where !root.isNull:
            try elements(FoundTree(store, .mixed, root, &visited), path, .list, column, goal, &loss, depth: depth)
        case .dictionary(let root) where !root.isNull:
            try dictionary(root, path, column, .string, goal, &loss, depth: depth + 1)
        default: break
        }
    }
}

extension Mixed {
    fileprivate var isNestedCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }
}
