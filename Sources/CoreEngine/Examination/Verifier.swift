/// Checks a whole snapshot. The checks, by number:
/// 1. Every byte from 24 to the logical end is reachable or free, exactly once (normal form; storage §3.2).
/// 2. Trees are consistent: keys ascend and are in the range that their parents state, counts and offsets agree, and
///    every column has a value for each object.
/// 3. Every value can be read and is one that its column can hold. Sets and dictionaries are in order.
/// 4. Every link has exactly one backlink, and every backlink one link. Every embedded object has one owner.
/// 5. Every row is found through each of its search indexes, and indexes contain nothing else.
/// 6. Tables, specs and leaves have the stored form that the format requires, even in parts that readers ignore.
///
/// A fault does not end the check: a damaged node is skipped with everything below it, and faults that only follow from
/// its absence are not reported. Each node is walked once, however often it is reached, so the time is bounded by the
/// size of the file.
final class Verifier {
    let transaction: Transaction
    var store: NodeStore { transaction.store }
    var group: Group { transaction.group }
    private(set) var faults: Faults

    /// Tree nodes that were walked.
    private var walked: Swift.Set<Int> = []

    /// Links whose backlink was not found yet.
    var links: [LinkEnd: Int] = [:]

    /// Number of owners of each embedded object.
    var owners: [ObjectPlace: Int] = [:]

    /// Values that could not be read: their links or backlinks are unknown.
    var unread: Swift.Set<ValuePlace> = []

    /// How many collections of the value that is being checked contain each other, and those that wait for their check.
    var nestedLevels = 0
    var deepCollections: [NestedCollection] = []
    private(set) var walks: [TableWalk] = []

    /// Bytes of the texts that were split into words in one column, and of the file.
    var textBytes = 0
    var textRoom: Int?

    /// Finished and total steps. Each object is one step in its cluster, one in the backlinks and one in the indexes.
    private var steps = (done: 0, total: 0)
    private var walkOf: [TableKey: TableWalk] = [:]

    struct ObjectPlace: Hashable { let table: TableKey, object: ObjKey }

    struct ValuePlace: Hashable { let table: TableKey, column: ColKey, object: ObjKey }

    struct LinkEnd: Hashable { let target: ObjectPlace, origin: ValuePlace }

    /// The result of the walk over the rows of a table.
    final class TableWalk {
        let table: Table

        /// Keys of the objects, ascending unless a fault was reported.
        var keys: [ObjKey] = []

        /// The clusters, with the range of their rows.
        var clusters: [(node: Ref, rows: Range<Int>)] = []

        /// Some objects could not be read.
        var isIncomplete = false

        init(_ table: Table) { self.table = table }

        func contains(_ key: ObjKey) -> Bool {
            var low = 0, high = keys.count
            while low < high {
                let mid = (low + high) / 2
                if keys[mid] < key { low = mid + 1 } else { high = mid }
            }
            return low < keys.count && keys[low] == key
        }
    }

    /// - Parameter limit: maximum number of faults kept with their places.
    init(_ transaction: Transaction, limit: Int = 1000) {
        self.transaction = transaction
        faults = Faults(limit: limit)
    }

    /// - Throws: errors that prevent the check; faults are not errors.
    func run() throws(RealmError) -> Faults {
        for i in group.liveIndexes {
            let place = Fault.Place(table: group.name(at: i).after(Format.classPrefix) ?? group.name(at: i))
            guard let table = try reading(place, { () throws(RealmError) in try group.table(at: i) }) else { continue }
            let walk = TableWalk(table)
            walks.append(walk)
            walkOf[table.key] = walk
            steps.total += Self.rounds * ((try? table.count()) ?? 0)
        }
        try checkTables()
        for walk in walks {
            try checkColumns(walk.table)
            try checkRows(walk)
        }
        for walk in walks {
            try checkBacklinks(walk)
            try advance(walk.keys.count)
        }
        reportLinksWithoutBacklink()
        for walk in walks {
            reportOwners(walk)
            for column in walk.table.indexes.columns { try checkIndex(walk, column) }
            try advance(walk.keys.count)
        }
        if transaction.stage == .reading { try checkTiling() }
        return faults
    }

    private static let rounds = 3

    /// Counts processed objects. Throws if the check was interrupted.
    func advance(_ objects: Int) throws(RealmError) {
        steps.done += objects
        try store.test(min(steps.done, steps.total), of: steps.total)
    }

    // MARK: Reporting

    func report(_ kind: Fault.Kind, _ what: @autoclosure () -> String, _ place: Fault.Place, offset: Int = 0) {
        faults.add(kind, what(), place, offset: offset)
    }

    /// The result of `body`. If it cannot read its data, adds a fault and returns nil.
    func reading<T>(_ place: Fault.Place, _ body: () throws(RealmError) -> T) throws(RealmError) -> T? {
        do throws(RealmError) { return try body() } catch {
            guard error.code == .invalidDatabase || error.code == .decryptionFailed else { throw error }
            faults.add(error, place)
            return nil
        }
    }

    func noteUnread(_ place: ValuePlace) throws(RealmError) {
        try unread.makeRoom()
        unread.insert(place)
    }

    /// Whether to walk a tree node. If it was walked before, adds a fault and returns false.
    func enter(_ ref: Ref, _ place: Fault.Place) throws(RealmError) -> Bool {
        try walked.makeRoom()
        if walked.insert(ref.offset).inserted { return true }
        report(.space, "two owners of one node", place, offset: ref.offset)
        return false
    }

    func place(_ table: Table, _ column: Column? = nil, _ key: ObjKey? = nil) -> Fault.Place {
        guard let column, column.isBacklink else {
            return Fault.Place(table: name(table), property: column?.name, object: key)
        }
        return Fault.Place(table: name(table), object: key, part: "backlinks from '\(name(column.oppositeTable))'")
    }

    private func name(_ table: Table) -> Name { table.className ?? table.name }

    private func name(_ key: TableKey) -> Name { walkOf[key].map { name($0.table) } ?? Name("table \(key.raw)") }

    // MARK: Space (check 1)

    private func checkTiling() throws(RealmError) {
        let nowhere = Fault.Place()
        let top = transaction.topRef
        guard !top.isNull else { return }
        let fields = try transaction.database.file.topFields(store, top, physicalSize: transaction.logicalSize)
        var space = Tiling(end: fields.logicalSize)
        var pending = [top]
        while let ref = pending.popLast() {
            try advance(0)
            guard let node = try reading(nowhere, { () throws(RealmError) in try store.node(ref) }) else { continue }
            guard space.take(ref.offset, node.size) else {
                report(.space, "two owners of one byte", nowhere, offset: ref.offset)
                continue
            }
            if ref.offset / Format.sectionSize != (ref.offset + node.size - 1) / Format.sectionSize {
                report(.space, "node across the boundary of two sections", nowhere, offset: ref.offset)
            }
            guard node.hasRefs else { continue }
            for i in 0..<node.count {
                guard let slot = try reading(nowhere, { () throws(RealmError) in try node.slot(i) }) else { continue }
                if let child = slot.subtree { try pending.add(child) }
            }
        }
        if fields.slotCount < 5 { return }  // A copy in streaming form has no lists.
        let lists = fields.freeLists
        guard !lists.positions.isNull else {
            return report(.space, "top array without free-space lists", nowhere, offset: top.offset)
        }
        try checkFreeSpace(lists, &space)
        space.forEachGap { (at, size) in
            report(.space, "\(size) bytes that are neither reachable nor free", nowhere, offset: at)
        }
    }

    private func checkFreeSpace(_ lists: (positions: Ref, lengths: Ref, versions: Ref), _ space: inout Tiling)
        throws(RealmError)
    {
        let nowhere = Fault.Place()
        guard let positions = try reading(nowhere, { () throws(RealmError) in try store.integers(lists.positions) }),
            let lengths = try reading(nowhere, { () throws(RealmError) in try store.integers(lists.lengths) })
        else { return }
        let versions =
            lists.versions.isNull
            ? nil : try reading(nowhere) { () throws(RealmError) in try store.integers(lists.versions) }
        if positions.count != lengths.count || versions.map({ $0.count != positions.count }) ?? false {
            report(.space, "free-space lists of unequal length", nowhere, offset: lists.positions.offset)
        }
        var last = Int64(0)
        for i in 0..<min(positions.count, lengths.count) {
            // A damaged list of only eight bytes may claim to have 16 million elements.
            if i & 4095 == 0 { try advance(0) }
            let at = positions.get(i), size = lengths.get(i)
            if at < last {
                report(.tree, "free space out of order: entry \(i)", nowhere, offset: lists.positions.offset)
            }
            last = at
            guard let start = Int(exactly: at), let count = Int(exactly: size), start & 7 == 0, count & 7 == 0,
                count > 0, space.holds(start, count)
            else {
                report(
                    .tree, "free space outside of the file: entry \(i), \(size) bytes at \(at)", nowhere,
                    offset: lists.lengths.offset)
                continue
            }
            if !space.take(start, count) {
                report(.space, "free space that is in use, or free twice", nowhere, offset: start)
            }
        }
    }

    // MARK: Links (check 4)

    /// Checks that link and backlink columns name each other. When other libraries remove a Mixed property or its
    /// class, its backlink columns stay with their content; nothing reads them.
    private func checkColumns(_ table: Table) throws(RealmError) {
        for column in table.columns where column.type == .link || column.isBacklink {
            let there = walkOf[column.oppositeTable]?.table.column(column.oppositeColumn)
            guard let opposite = there else {
                let isKnown =
                    walkOf[column.oppositeTable] != nil || !group.liveIndexes.contains(column.oppositeTable.index)
                if !column.isBacklink && isKnown {
                    report(.column, "links without a column of backlinks at their other end", place(table, column))
                }
                continue
            }
            let matches = column.isBacklink ? opposite.type == .link || opposite.type == .mixed : opposite.isBacklink
            // A Mixed column has many backlink columns and names none of them.
            guard matches,
                opposite.type == .mixed
                    || (opposite.oppositeTable == table.key && opposite.oppositeColumn == column.key)
            else {
                report(.column, "the column at the other end is another's", place(table, column))
                continue
            }
        }
    }

    private func checkBacklinks(_ walk: TableWalk) throws(RealmError) {
        let table = walk.table
        for column in table.columns where column.isBacklink {
            guard let from = walkOf[column.oppositeTable], let source = from.table.column(column.oppositeColumn) else {
                continue
            }
            for cluster in walk.clusters {
                guard let leaf = try columnLeaf(walk, column, cluster.node, cluster.rows) else { continue }
                try advance(0)
                for (i, row) in cluster.rows.enumerated() {
                    let key = walk.keys[row], here = place(table, column, key)
                    guard let slot = try reading(here, { () throws(RealmError) in try leaf.slot(i) }) else {
                        try noteUnread(ValuePlace(table: table.key, column: column.key, object: key))
                        continue
                    }
                    let meet = { (origin: ObjKey) in
                        let end = LinkEnd(
                            target: ObjectPlace(table: table.key, object: key),
                            origin: ValuePlace(table: from.table.key, column: source.key, object: origin))
                        if let count = self.links[end] {
                            self.links[end] = count > 1 ? count - 1 : nil
                        } else if !self.unread.contains(end.origin), !(from.isIncomplete && !from.contains(origin)) {
                            self.report(
                                .link,
                                "backlink without link: of object \(origin.raw) of '\(self.name(from.table)).\(source.name)'",
                                here)
                        }
                    }
                    if let single = slot.number {
                        meet(ObjKey(Int64(bitPattern: single)))
                    } else if let root = slot.subtree {
                        let whole = try walkTree(root, .int, here, leafLimit: .max) { (value, _) throws(RealmError) in
                            if case .int(let origin) = value { meet(ObjKey(origin)) }
                        }
                        if !whole { try noteUnread(ValuePlace(table: table.key, column: column.key, object: key)) }
                    }
                }
            }
        }
    }

    private func reportLinksWithoutBacklink() {
        var left: [(place: Fault.Place, what: String)] = []
        for (end, count) in links {
            let origin = end.origin
            guard let from = walkOf[origin.table] else { continue }
            let here = place(from.table, from.table.column(origin.column), origin.object)
            let target = "object \(end.target.object.raw) of '\(name(end.target.table))'"
            guard let to = walkOf[end.target.table] else {
                if !group.liveIndexes.contains(end.target.table.index) {
                    left.append((here, "link to \(target), a class that does not exist"))
                }
                continue
            }
            guard to.contains(end.target.object) else {
                if !to.isIncomplete { left.append((here, "link to \(target), which does not exist")) }
                continue
            }
            let back = to.table.columns.first {
                $0.isBacklink && $0.oppositeTable == origin.table && $0.oppositeColumn == origin.column
            }
            if let back, unread.contains(ValuePlace(table: to.table.key, column: back.key, object: end.target.object)) {
                continue
            }
            left.append((here, "\(count == 1 ? "link" : "\(count) links") without backlink: to \(target)"))
        }
        let order = { (p: Fault.Place) in (p.table ?? "", p.property ?? "", p.object ?? .null) }
        left.sort { (a, b) in
            order(a.place) == order(b.place) ? Name(a.what) < Name(b.what) : order(a.place) < order(b.place)
        }
        for fault in left { report(.link, fault.what, fault.place) }
    }

    private func reportOwners(_ walk: TableWalk) {
        guard walk.table.isEmbedded else { return }
        let mayHaveMore =
            walks.contains(where: \.isIncomplete)
            || unread.contains {
                walkOf[$0.table]?.table.column($0.column).map { !$0.isBacklink && $0.oppositeTable == walk.table.key }
                    ?? false
            }
        for key in walk.keys {
            let count = owners[ObjectPlace(table: walk.table.key, object: key)] ?? 0
            if count > 1 || count == 0 && !mayHaveMore {
                report(.link, "embedded object with \(count) owners", place(walk.table, nil, key))
            }
        }
    }
}
