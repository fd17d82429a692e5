/// A chain of properties from a class on: links, and any property at its end. Rules: live-objects §6.10.
package struct KeyPath: Hashable {
    package struct Step: Hashable {
        /// Class at which the step stands, its column there (for computed properties that of the backlinks), and the class it leads to.
        package let table: TableKey
        package let column: ColKey
        package let target: TableKey?
        package let isBacklink: Bool
        package init(table: TableKey, column: ColKey, target: TableKey?, isBacklink: Bool) {
            self.table = table
            self.column = column
            self.target = target
            self.isBacklink = isBacklink
        }
    }
    package let steps: [Step]
    package init(_ steps: [Step]) { self.steps = steps }
}

/// Which objects count as changed in a range of versions: found from what was modified, backwards over the links. Rules: live-objects §6.9, §6.10.
///
/// Thread rule: that of the group, which stands at the end of the range.
final class ChangedObjects {
    private let group: Group
    private let changes: TransactionChanges
    private var reaching: [TableKey: Set<ObjKey>] = [:]
    private var along: [KeyPath: Set<ObjKey>] = [:]
    /// Per class the backlink columns, made when first asked for.
    private var backlinks: [TableKey: [ColumnFacts]]?

    init(_ group: Group, _ changes: TransactionChanges) {
        self.group = group
        self.changes = changes
    }

    /// Objects of a class that changed along one of `paths`; nil: that were modified, or lead to one that was over up to three links.
    func keys(of table: TableKey, _ paths: [KeyPath]?) throws(RealmError) -> Set<ObjKey> {
        guard let paths else { return try reachingModified(table) }
        var all: Set<ObjKey> = []
        for p in paths { all.formUnion(try keys(along: p)) }
        return all
    }
    /// Objects of a class that were modified themselves.
    private func modified(_ table: TableKey) -> Set<ObjKey> { Set(changes.tables[table].map { Array($0.modified.keys) } ?? []) }

    // MARK: Without paths

    private func reachingModified(_ root: TableKey) throws(RealmError) -> Set<ObjKey> {
        if let known = reaching[root] { return known }
        let found = try search(root)
        reaching[root] = found
        return found
    }
    private func search(_ root: TableKey) throws(RealmError) -> Set<ObjKey> {
        let distances = try distances(from: root)
        var level: [TableKey: Set<ObjKey>] = [:]
        for t in distances.keys {
            let keys = modified(t)
            if !keys.isEmpty { level[t] = keys }
        }
        var seen = level
        var done = 0
        while done < Notifications.depth, !level.isEmpty {
            done += 1
            var next: [TableKey: Set<ObjKey>] = [:]
            for (t, keys) in level {
                for b in try backlinkColumns(of: t) {
                    // Objects too far from the root would not lead there in what is left.
                    guard let distance = distances[b.oppositeTable], distance + done <= Notifications.depth else { continue }
                    for origin in try origins(of: keys, t, b) where seen[b.oppositeTable]?.contains(origin) != true {
                        seen[b.oppositeTable, default: []].insert(origin)
                        next[b.oppositeTable, default: []].insert(origin)
                    }
                }
            }
            level = next
        }
        return seen[root] ?? []
    }
    /// Classes that links lead to from a class, and the fewest links on the way.
    private func distances(from root: TableKey) throws(RealmError) -> [TableKey: Int] {
        var targets: [TableKey: Set<TableKey>] = [:]
        for (t, columns) in try allBacklinks() { for b in columns { targets[b.oppositeTable, default: []].insert(t) } }
        var found = [root: 0]
        var level: Set<TableKey> = [root]
        for distance in 1...Notifications.depth {
            level = Set(level.flatMap { targets[$0] ?? [] }.filter { found[$0] == nil })
            for t in level { found[t] = distance }
        }
        return found
    }

    // MARK: Along paths

    private func keys(along path: KeyPath) throws(RealmError) -> Set<ObjKey> {
        if let known = along[path] { return known }
        var all: Set<ObjKey> = []
        // Who links to an object counts where a path ends.
        for i in path.steps.indices where !path.steps[i].isBacklink || i == path.steps.count - 1 {
            var keys = try changed(at: path.steps[i])
            for step in path.steps[..<i].reversed() where !keys.isEmpty { keys = try back(over: step, keys) }
            all.formUnion(keys)
        }
        along[path] = all
        return all
    }
    /// Objects at which a step finds a change.
    private func changed(at step: KeyPath.Step) throws(RealmError) -> Set<ObjKey> {
        if step.isBacklink {
            guard let b = try group.table(step.table)?.facts(step.column) else { return [] }
            return try targets(of: changed(b.oppositeTable, b.oppositeColumn), b.oppositeTable, b.oppositeColumn)
        }
        return changed(step.table, step.column)
    }
    private func changed(_ table: TableKey, _ column: ColKey) -> Set<ObjKey> {
        guard let t = changes.tables[table] else { return [] }
        var keys = t.inserted
        for (key, columns) in t.modified where columns.contains(column) { keys.insert(key) }
        return keys
    }
    /// Objects from which a step leads to one of `keys`.
    private func back(over step: KeyPath.Step, _ keys: Set<ObjKey>) throws(RealmError) -> Set<ObjKey> {
        guard let f = try group.table(step.table)?.facts(step.column) else { return [] }
        if step.isBacklink { return try targets(of: keys, f.oppositeTable, f.oppositeColumn) }
        guard let target = step.target, let b = try group.table(target)?.facts(f.oppositeColumn) else { return [] }
        return try origins(of: keys, target, b)
    }

    // MARK: Links

    private func allBacklinks() throws(RealmError) -> [TableKey: [ColumnFacts]] {
        if let backlinks { return backlinks }
        var all: [TableKey: [ColumnFacts]] = [:]
        for i in group.liveIndexes {
            let t = try group.table(at: i)
            all[t.key] = t.facts.compactMap { $0 }.filter { $0.type == .backlink }
        }
        backlinks = all
        return all
    }
    private func backlinkColumns(of table: TableKey) throws(RealmError) -> [ColumnFacts] { try allBacklinks()[table] ?? [] }

    /// Objects whose link behind backlink column `b` leads to one of `keys`: of Mixed values only those that are links or have them as elements.
    private func origins(of keys: Set<ObjKey>, _ table: TableKey, _ b: ColumnFacts) throws(RealmError) -> Set<ObjKey> {
        guard let t = try group.table(table), let origin = try group.table(b.oppositeTable), let link = origin.facts(b.oppositeColumn) else { return [] }
        var found: Set<ObjKey> = []
        for k in keys where try t.isValid(k) {
            for o in try t.backlinks(k, b.key).allKeys() where !found.contains(o) {
                if link.type == .mixed, try !targets(of: [o], b.oppositeTable, b.oppositeColumn, in: table).contains(k) { continue }
                found.insert(o)
            }
        }
        return found
    }
    /// Objects that the property of one of `keys` links to.
    /// - Parameter wanted: the class they must be of; nil: the column has only one.
    private func targets(
        of keys: Set<ObjKey>, _ table: TableKey, _ column: ColKey, in wanted: TableKey? = nil
    ) throws(RealmError) -> Set<ObjKey> {
        guard let t = try group.table(table), let f = t.facts(column) else { return [] }
        var found: Set<ObjKey> = []
        func note(_ v: Mixed) {
            switch v {
            case .link(let k) where !k.isNull && !k.isUnresolved: found.insert(k)
            case .typedLink(let to, let k) where wanted == nil || to == wanted: found.insert(k)
            default: break
            }
        }
        for k in keys where try t.isValid(k) {
            if !f.isCollection, let v = try t.rows.get(k, column.index) { note(v) }
            guard f.isCollection || f.type == .mixed else { continue }
            switch try group.resolve(CollectionPath(table: table, object: k, column: column)) {
            case .list(let l)?: for i in 0..<l.count { note(try l.get(i)) }
            case .dictionary(let d)?: for i in 0..<d.count { note(try d.value(i)) }
            case nil: break
            }
        }
        return found
    }
}
