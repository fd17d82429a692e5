/// A query on one class: a condition, and what orders its rows. Immutable; combining makes a new one.
///
/// Thread rule: conditions hold buffers, so it runs once at a time, on the thread of one Realm; `copied` is for any
/// thread.
package final class BoundQuery {
    let table: TableKey
    let condition: Condition
    let orderings: [Ordering]
    private let arena: ConstantArena

    /// Queries that this one was made of: their constants live in their arenas.
    private let parents: [BoundQuery]

    /// All rows without anybody having asked for them.
    private let isImplicit: Bool

    /// Levels of operators.
    private let depth: Int

    init(
        _ table: TableKey, _ condition: Condition, _ orderings: [Ordering], _ arena: ConstantArena,
        parents: [BoundQuery] = [],
        isImplicit: Bool = false, depth: Int = 0
    ) {
        self.depth = depth
        self.isImplicit = isImplicit
        self.table = table
        self.condition = condition
        self.orderings = orderings
        self.arena = arena
        self.parents = parents
    }

    static func parse(
        _ text: String, _ group: Group, _ table: TableKey, _ names: QueryNames, _ arguments: [QueryArgument]
    ) throws(RealmError) -> BoundQuery {
        guard let t = try group.table(table) else { throw RealmError(.noSuchTable, "No table with key \(table.raw)") }
        let syntax = try QueryParser.parse(text, knowingAccents: names.reachFurther)
        let arena = ConstantArena()
        var binder = Binder(group, names, arguments, arena)
        let condition = try binder.condition(syntax.predicate, t)
        var orderings: [Ordering] = []
        // Of adjacent sorts the later keys come first: gathered from the end, so that many of them are not copied at
        // each.
        var written: [Ordering] = []
        for o in syntax.orderings { written.append(try binder.ordering(o, t)) }
        for o in written.reversed() {
            if case .sort(let keys) = o, case .sort(var all)? = orderings.last {
                orderings.removeLast()
                all += keys
                orderings.append(.sort(all))
            } else {
                orderings.append(o)
            }
        }
        orderings.reverse()
        return BoundQuery(table, condition, orderings, arena, depth: syntax.depth)
    }

    static func all(_ table: TableKey) -> BoundQuery {
        BoundQuery(table, ConstantCondition(true), [], ConstantArena(), isImplicit: true)
    }

    /// Both conditions; the orderings one after the other.
    func and(_ other: BoundQuery, orderings: [Ordering]) -> BoundQuery {
        let condition: Condition
        if isImplicit {
            condition = other.condition
        } else if other.isImplicit {
            condition = self.condition
        } else {
            condition = AndCondition([self.condition, other.condition])
        }
        return BoundQuery(
            table, condition, orderings, arena, parents: [self, other], depth: max(depth, other.depth) + 1)
    }

    /// The same for a run of its own, beside others on other threads.
    func copied() -> BoundQuery {
        BoundQuery(table, condition.copied(), orderings, arena, parents: [self], isImplicit: isImplicit, depth: depth)
    }

    func with(_ orderings: [Ordering]) -> BoundQuery {
        BoundQuery(table, condition, orderings, arena, parents: [self], depth: depth)
    }

    /// Throws when this thread's stack is too small for the query, which may have been made on another thread.
    func expectStack() throws(RealmError) {
        if depth > QueryRoom.flatDepth, depth > QueryRoom.levelsOfStack { throw QueryRoom.stackTooSmall(for: depth) }
    }

    func appending(_ o: Ordering) -> BoundQuery {
        var all = orderings
        Ordering.append(o, to: &all)
        return with(all)
    }

    var isAll: Bool { (condition as? ConstantCondition)?.value ?? false }

    /// What decides whether a row meets the condition, and where it stands.
    var reads: RowReads {
        var found = RowReads()
        condition.reads(&found, [])
        for o in orderings {
            switch o {
            case .sort(let keys), .distinct(let keys):
                for k in keys {
                    let end = KeyPath.Step(table: k.end, column: k.column, target: nil, isBacklink: false)
                    found.add(k.hops.map { KeyPath.Step($0) } + [end])
                }
            case .limit: continue
            }
        }
        return found
    }

    /// The orderings when they are nothing but one SORT, or none, and what shows the first rows of it; nil: anything
    /// else.
    var window: (keys: [SortKey], limit: Int)? {
        var keys: [SortKey] = [], limit = Int.max
        for (i, o) in orderings.enumerated() {
            switch o {
            case .sort(let all) where i == 0 && !all.contains(where: \.isInvalid): keys = all
            case .limit(let n): limit = min(limit, n)
            case .sort, .distinct: return nil
            }
        }
        return (keys, limit)
    }

    /// The same without any LIMIT, which stands behind everything else.
    var unlimited: BoundQuery { with(orderings.filter { if case .limit = $0 { false } else { true } }) }

    func text(_ group: Group) -> String {
        ([QueryPrinter(group).captured { condition.write($0) }] + orderings.map(\.text)).joined(separator: " ")
    }

    // MARK: Running

    func open(_ group: Group) throws(RealmError) -> Table {
        try expectStack()
        guard let t = try group.table(table) else {
            throw RealmError(.staleAccessor, "The class of the query does not exist any more")
        }
        try condition.prepare(group)
        return t
    }

    /// Keys of the matching objects: ascending, or in the order of `source` (with its duplicates); then ordered.
    func run(_ group: Group, source: [ObjKey]? = nil) throws(RealmError) -> [ObjKey] {
        try group.store.during(.querying) { () throws(RealmError) in try find(group, source) }
    }

    private func find(_ group: Group, _ source: [ObjKey]?) throws(RealmError) -> [ObjKey] {
        let t = try open(group)
        var rows: [ObjKey] = []
        if let source {
            for k in source where try t.isValid(k) {
                try t.store.test()
                if try condition.matches(t, k) { try rows.add(k) }
            }
            try t.store.test()
        } else if let keys = try condition.lookup(t) {
            rows = keys
        } else {
            var limit = Int.max
            if case .limit(let n)? = orderings.first { limit = n }
            if case .sort(let keys)? = orderings.first, keys.count == 1 {
                var wanted = Int.max
                if orderings.count > 1, case .limit(let n) = orderings[1] { wanted = n }
                if let sorted = try SortScan.run(t, condition, keys[0], limit: wanted) {
                    return try RowOrderer(t).apply(Array(orderings.dropFirst()), sorted)
                }
            }
            if limit > 0 {
                let scan = ClusterScan(t)
                try scan.run(condition) { (mask) throws(RealmError) in
                    try rows.makeRoom(for: scan.count)
                    for row in 0..<scan.count where mask[row] != 0 { rows.append(scan.key(row)) }
                    return rows.count < limit
                }
            }
        }
        return orderings.isEmpty ? rows : try RowOrderer(t).apply(orderings, rows)
    }

    /// Number of rows; without building them where nothing makes two rows one.
    func count(_ group: Group, source: [ObjKey]? = nil) throws(RealmError) -> Int {
        var limit = Int.max
        for o in orderings {
            switch o {
            case .distinct: return try run(group, source: source).count
            case .limit(let n): limit = min(limit, n)
            case .sort: continue
            }
        }
        let t = try open(group)
        if isAll, source == nil { return min(try t.count(), limit) }
        return min(limit, try t.store.during(.querying) { () throws(RealmError) in try tally(t, source, limit) })
    }

    private func tally(_ t: Table, _ source: [ObjKey]?, _ limit: Int) throws(RealmError) -> Int {
        if let source {
            var n = 0
            for k in source where try t.isValid(k) {
                try t.store.test()
                if try condition.matches(t, k) { n += 1 }
            }
            return n
        }
        if let n = try condition.lookupCount(t) { return n }
        let scan = ClusterScan(t), mask = scan.scratch()
        if let n = try condition.tally(scan, limit: limit) { return n }
        return try scan.sum(until: limit) { () throws(RealmError) in
            mask.fill(scan.count)
            try condition.narrow(scan, mask)
            return mask.count(scan.count)
        }
    }
}
