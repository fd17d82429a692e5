/// Computes which objects count as changed in a range of versions: starts at the modified objects and follows links
/// backwards. Rules: live-objects §6.9, §6.10.
///
/// Thread rule: that of the group, which shows the version at the end of the range.
final class ChangedObjects {
    private let group: Group
    private let links: LinkWalk
    private let changes: TransactionChanges
    private var reaching: [TableKey: Set<ObjKey>] = [:]
    private var along: [KeyPath: Set<ObjKey>] = [:]

    /// The backlink columns of each class; built on first use.
    private var backlinks: [TableKey: [ColumnFacts]]?

    init(_ group: Group, _ changes: TransactionChanges) {
        self.group = group
        links = LinkWalk(group: group)
        self.changes = changes
    }

    /// Objects of a class that changed along one of the paths of a view. If a callback observes without paths (the
    /// view is plain), also the modified objects, and objects that reach a modified one over at most three links.
    func keys(of table: TableKey, _ view: NotificationView) throws(RealmError) -> Set<ObjKey> {
        var all = view.isPlain ? try reachingModified(table) : []
        for path in view.paths { all.formUnion(try keys(along: path)) }
        return all
    }

    /// Objects of a class that were modified themselves.
    private func modified(_ table: TableKey) -> Set<ObjKey> {
        Set(changes.tables[table].map { Array($0.modified.keys) } ?? [])
    }

    // MARK: Changes without paths

    private func reachingModified(_ root: TableKey) throws(RealmError) -> Set<ObjKey> {
        if let known = reaching[root] { return known }
        let found = try search(root)
        reaching[root] = found
        return found
    }

    private func search(_ root: TableKey) throws(RealmError) -> Set<ObjKey> {
        let distances = try distances(from: root)
        var level: [TableKey: Set<ObjKey>] = [:]
        for table in distances.keys {
            let keys = modified(table)
            if !keys.isEmpty { level[table] = keys }
        }
        var seen = level
        var done = 0
        while done < Notifications.depth, !level.isEmpty {
            done += 1
            var next: [TableKey: Set<ObjKey>] = [:]
            for (table, keys) in level {
                for backlink in try backlinkColumns(of: table) {
                    // Objects too far from the root could not reach it in the remaining steps.
                    guard let distance = distances[backlink.oppositeTable], distance + done <= Notifications.depth
                    else {
                        continue
                    }
                    for origin in try links.origins(of: keys, table, backlink) ?? []
                    where seen[backlink.oppositeTable]?.contains(origin) != true {
                        seen[backlink.oppositeTable, default: []].insert(origin)
                        next[backlink.oppositeTable, default: []].insert(origin)
                    }
                }
            }
            level = next
        }
        return seen[root] ?? []
    }

    /// Classes that links lead to from a class, each with the smallest number of links.
    private func distances(from root: TableKey) throws(RealmError) -> [TableKey: Int] {
        var targets: [TableKey: Set<TableKey>] = [:]
        for (table, columns) in try allBacklinks() {
            for backlink in columns { targets[backlink.oppositeTable, default: []].insert(table) }
        }
        var found = [root: 0]
        var level: Set<TableKey> = [root]
        for distance in 1...Notifications.depth {
            level = Set(level.flatMap { targets[$0] ?? [] }.filter { found[$0] == nil })
            for table in level { found[table] = distance }
        }
        return found
    }

    // MARK: Changes along paths

    /// Objects of the class where the path begins that changed along the path.
    func keys(along path: KeyPath) throws(RealmError) -> Set<ObjKey> {
        if let known = along[path] { return known }
        var all: Set<ObjKey> = []
        // A change of the links to an object counts only at the end of a path.
        for index in path.steps.indices where !path.steps[index].isBacklink || index == path.steps.count - 1 {
            var keys = try changed(at: path.steps[index])
            for step in path.steps[..<index].reversed() where !keys.isEmpty {
                keys = try links.back(over: step, keys) ?? []
            }
            all.formUnion(keys)
        }
        along[path] = all
        return all
    }

    /// Objects at which a step finds a change.
    private func changed(at step: KeyPath.Step) throws(RealmError) -> Set<ObjKey> {
        if step.isBacklink {
            guard let backlink = try group.table(step.table)?.facts(step.column) else { return [] }
            return try links.targets(
                of: changed(backlink.oppositeTable, backlink.oppositeColumn), backlink.oppositeTable,
                backlink.oppositeColumn)
                ?? []
        }
        return changed(step.table, step.column)
    }

    private func changed(_ table: TableKey, _ column: ColKey) -> Set<ObjKey> {
        modified(table, column).union(changes.tables[table]?.inserted ?? [])
    }

    // MARK: Readers of changed properties

    /// Objects with a path that passes over, or ends at, a property that was changed; nil: more than `most`.
    ///
    /// The links before the first changed property of a path are the same in both snapshots, so the new snapshot is
    /// enough to follow them back. Backlinks are the exception.
    /// - Parameter before: the snapshot at the beginning of the range, which still has the backlinks that an object
    ///   lost.
    func readers(_ paths: Set<KeyPath>, before: Group?, most: Int) throws(RealmError) -> Set<ObjKey>? {
        var all: Set<ObjKey> = []
        for path in paths {
            let then = path.steps.contains(where: \.isBacklink) ? before.map { LinkWalk(group: $0) } : nil
            for (walk, isBefore) in [(links, false)] + (then.map { [($0, true)] } ?? []) {
                for index in path.steps.indices {
                    guard var keys = try read(path.steps[index], walk, isBefore, most) else { return nil }
                    for step in path.steps[..<index].reversed() where !keys.isEmpty {
                        guard let next = try walk.back(over: step, keys, most: most) else { return nil }
                        keys = next
                    }
                    all.formUnion(keys)
                    if all.count > most { return nil }
                }
            }
        }
        return all
    }

    /// Objects at which the property that a step reads was changed. A changed backlink is a change of the linking
    /// object.
    private func read(
        _ step: KeyPath.Step, _ walk: LinkWalk, _ isBefore: Bool, _ most: Int
    ) throws(RealmError) -> Set<ObjKey>? {
        guard step.isBacklink else { return modified(step.table, step.column) }
        guard let backlink = try walk.group.table(step.table)?.facts(step.column) else { return [] }
        let origins = changes.tables[backlink.oppositeTable] ?? TransactionChanges.Objects()
        let keys = modified(backlink.oppositeTable, backlink.oppositeColumn).union(
            isBefore ? origins.deleted : origins.inserted)
        return try walk.targets(of: keys, backlink.oppositeTable, backlink.oppositeColumn, most: most)
    }

    private func modified(_ table: TableKey, _ column: ColKey) -> Set<ObjKey> {
        var keys: Set<ObjKey> = []
        for (key, columns) in changes.tables[table]?.modified ?? [:] where columns.contains(column) { keys.insert(key) }
        return keys
    }

    // MARK: Links

    private func allBacklinks() throws(RealmError) -> [TableKey: [ColumnFacts]] {
        if let backlinks { return backlinks }
        var all: [TableKey: [ColumnFacts]] = [:]
        for i in group.liveIndexes {
            let table = try group.table(at: i)
            all[table.key] = table.facts.compactMap { $0 }.filter { $0.type == .backlink }
        }
        backlinks = all
        return all
    }

    private func backlinkColumns(of table: TableKey) throws(RealmError) -> [ColumnFacts] {
        try allBacklinks()[table] ?? []
    }
}
