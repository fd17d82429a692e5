/// A query on one class: a condition, and the orderings of its rows. Immutable; combining queries makes a new one.
///
/// Thread rule: conditions hold buffers, so a query runs once at a time, on the thread of one Realm. `copied` may be
/// called on any thread.
package final class BoundQuery {
    let table: TableKey
    let condition: Condition
    let orderings: [Ordering]
    private let arena: ConstantArena

    /// Queries that this query was made from. They hold the arenas of its constants.
    private let parents: [BoundQuery]

    /// The query matches all rows because no condition was given.
    private let isImplicit: Bool

    /// Depth of the tree of operators.
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
        try bind(try QueryParser.parse(text, knowingAccents: names.reachFurther), group, table, names, arguments)
    }

    /// Binds a query. Nothing in it refers to the syntax tree afterwards.
    static func bind(
        _ syntax: QuerySyntax, _ group: Group, _ table: TableKey, _ names: QueryNames, _ arguments: [QueryArgument]
    ) throws(RealmError) -> BoundQuery {
        guard let opened = try group.table(table) else {
            throw RealmError(.noSuchTable, "No table with key \(table.raw)")
        }
        guard syntax.grouping == nil else {
            throw .queryArgument(
                "GROUP BY and AGGREGATE give columns, not objects: in Python by group_by(), in C by "
                    + "crealm_results_aggregate_arrow()")
        }
        let arena = ConstantArena()
        var binder = Binder(group, names, arguments, arena)
        let condition = try binder.condition(syntax.predicate, opened)
        var orderings: [Ordering] = []
        // Merges adjacent SORTs; the keys of the later one come first. Starting at the end avoids copying the keys
        // again for each SORT.
        var written: [Ordering] = []
        for ordering in syntax.orderings { written.append(try binder.ordering(ordering, opened)) }
        for ordering in written.reversed() {
            if case .sort(let keys) = ordering, case .sort(var all)? = orderings.last {
                orderings.removeLast()
                all += keys
                orderings.append(.sort(all))
            } else {
                orderings.append(ordering)
            }
        }
        orderings.reverse()
        return BoundQuery(table, condition, orderings, arena, depth: syntax.depth)
    }

    static func all(_ table: TableKey) -> BoundQuery {
        BoundQuery(table, ConstantCondition(true), [], ConstantArena(), isImplicit: true)
    }

    /// A query with both conditions and the given orderings.
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

    /// A copy for a separate run, which can take place on another thread at the same time.
    func copied() -> BoundQuery {
        BoundQuery(
            table, condition.copied(), orderings.map { $0.copied() }, arena, parents: [self], isImplicit: isImplicit,
            depth: depth)
    }

    func with(_ orderings: [Ordering]) -> BoundQuery {
        BoundQuery(table, condition, orderings, arena, parents: [self], depth: depth)
    }

    /// Throws if the stack of this thread is too small for the query. The query may come from another thread.
    func expectStack() throws(RealmError) {
        if depth > QueryLimits.flatDepth, depth > QueryLimits.levelsOfStack {
            throw QueryLimits.stackTooSmall(for: depth)
        }
    }

    func appending(_ ordering: Ordering) -> BoundQuery {
        var all = orderings
        Ordering.append(ordering, to: &all)
        return with(all)
    }

    var isAll: Bool { (condition as? ConstantCondition)?.value ?? false }

    /// The properties that decide whether a row matches, and its position.
    var reads: RowReads {
        var found = RowReads()
        condition.reads(&found, [])
        for ordering in orderings {
            switch ordering {
            case .sort(let keys), .distinct(let keys):
                for sortKey in keys {
                    if let expression = sortKey.expression {
                        expression.reads(&found, [])
                        continue
                    }
                    let end = KeyPath.Step(table: sortKey.end, column: sortKey.column, target: nil, isBacklink: false)
                    found.add(sortKey.hops.map { KeyPath.Step($0) } + [end])
                }
            case .limit: continue
            }
        }
        return found
    }

    /// The sort keys and the smallest limit. nil unless the orderings are LIMITs, with at most one SORT before them.
    var window: (keys: [SortKey], limit: Int)? {
        var keys: [SortKey] = [], limit = Int.max
        for (i, ordering) in orderings.enumerated() {
            switch ordering {
            case .sort(let all) where i == 0 && !all.contains(where: \.isInvalid): keys = all
            case .limit(let count): limit = min(limit, count)
            case .sort, .distinct: return nil
            }
        }
        return (keys, limit)
    }

    /// The same query without LIMITs. For queries with a `window`, where each LIMIT follows the SORT.
    var unlimited: BoundQuery { with(orderings.filter { if case .limit = $0 { false } else { true } }) }

    func text(_ group: Group) -> String {
        ([QueryPrinter(group).captured { condition.write($0) }] + orderings.map(\.text)).joined(separator: " ")
    }

    // MARK: Running

    func open(_ group: Group) throws(RealmError) -> Table {
        try expectStack()
        guard let opened = try group.table(table) else {
            throw RealmError(.staleAccessor, "The class of the query does not exist any more")
        }
        try condition.prepare(group)
        return opened
    }

    /// Keys of the matching objects, in the order of `orderings`. Without orderings: ascending, or in the order of
    /// `source` with its duplicates.
    func run(_ group: Group, source: [ObjKey]? = nil) throws(RealmError) -> [ObjKey] {
        try group.query { () throws(RealmError) in try find(group, source) }
    }

    private func find(_ group: Group, _ source: [ObjKey]?) throws(RealmError) -> [ObjKey] {
        let opened = try open(group)
        var rows: [ObjKey] = []
        if let source {
            for key in source where try opened.isValid(key) {
                try opened.test()
                if try condition.matches(opened, key) { try rows.add(key) }
            }
            try opened.test()
        } else if let keys = try condition.lookup(opened) {
            rows = keys
        } else {
            var limit = Int.max
            if case .limit(let count)? = orderings.first { limit = count }
            if case .sort(let keys)? = orderings.first, keys.count == 1, keys[0].isOwnProperty {
                var wanted = Int.max
                if orderings.count > 1, case .limit(let count) = orderings[1] { wanted = count }
                let sorted = try SortScan.run(
                    opened, condition, keys[0].column, ascending: keys[0].ascending, limit: wanted)
                if let sorted {
                    return try RowOrderer(opened).apply(Array(orderings.dropFirst()), sorted)
                }
            }
            if limit > 0 {
                let scan = ClusterScan(opened)
                try scan.run(condition) { (mask) throws(RealmError) in
                    try rows.makeRoom(for: scan.count)
                    for row in 0..<scan.count where mask[row] != 0 { rows.append(scan.key(row)) }
                    return rows.count < limit
                }
            }
        }
        return orderings.isEmpty ? rows : try RowOrderer(opened).apply(orderings, rows)
    }

    /// Number of rows. Only DISTINCT needs the rows themselves.
    func count(_ group: Group, source: [ObjKey]? = nil) throws(RealmError) -> Int {
        var limit = Int.max
        for ordering in orderings {
            switch ordering {
            case .distinct: return try run(group, source: source).count
            case .limit(let count): limit = min(limit, count)
            case .sort: continue
            }
        }
        let opened = try open(group)
        if isAll, source == nil { return min(try opened.count(), limit) }
        return min(
            limit, try group.query { () throws(RealmError) in try tally(opened, source, limit) })
    }

    private func tally(_ opened: Table, _ source: [ObjKey]?, _ limit: Int) throws(RealmError) -> Int {
        if let source {
            var count = 0
            for key in source where try opened.isValid(key) {
                try opened.test()
                if try condition.matches(opened, key) { count += 1 }
            }
            return count
        }
        if let count = try condition.lookupCount(opened) { return count }
        let scan = ClusterScan(opened), mask = scan.scratch()
        if let count = try condition.tally(scan, limit: limit) { return count }
        return try scan.sum(until: limit) { () throws(RealmError) in
            mask.fill(scan.count)
            try condition.narrow(scan, mask)
            return mask.count(scan.count)
        }
    }
}

extension BoundQuery {
    /// The plan for a whole table, without the number of rows it finds.
    func plan(_ group: Group) throws(RealmError) -> QueryPlan {
        let table = try open(group), objects = try table.count()
        guard let use = try condition.indexUse(table) else {
            return QueryPlan(access: .scan, objects: objects, tested: objects)
        }
        return QueryPlan(
            access: use.access, property: use.column, objects: objects, tested: use.isTested ? use.candidates : 0)
    }
}
