/// Observes rows that are objects, found by a query.
package final class ResultsNotifier: Notifier {
    private enum Rows {
        /// Not read yet: the first pass finds the rows and reports nothing.
        case unknown
        /// All objects of the class, or the first of them.
        case whole
        /// The rows of a class that match a condition, in their order: only objects that may have changed are checked.
        case followed(FollowedRows)
        /// Any other rows: searched again when something changed that they may depend on.
        case listed([ObjKey])
    }

    private let table: TableKey
    private let source: RowSource
    private let query: BoundQuery
    private let reads: RowReads

    /// Sort keys and limit, when rows can be followed.
    private let window: (keys: [SortKey], limit: Int)?
    private var rows = Rows.unknown

    package init(_ table: TableKey, _ source: RowSource, _ query: BoundQuery, at version: UInt64) {
        self.table = table
        self.source = source
        self.query = query
        reads = query.reads
        if case .table = source { window = query.window } else { window = nil }
        super.init(version)
    }

    override var isUnprepared: Bool { if case .unknown = rows { true } else { false } }

    override func changes(in pass: NotificationPass, _ tracker: CollectionTracker?) throws(RealmError) -> Pending {
        let changed = try pass.changed.keys(of: table, view)
        let own = pass.changes.tables[table] ?? TransactionChanges.Objects()
        switch rows {
        case .unknown:
            rows = try found(pass.group)
            return nothing
        case .whole: return .rows(try whole(pass.group, own, changed))
        case .followed(var followed):
            guard let touched = try followed.touched(reads, own, changed, pass) else {
                return .rows(try findAgain(followed.shown, own, changed, pass))
            }
            let meeting = try query.unlimited.run(pass.group, source: touched.sorted())
            // The pieces of the list are changed in place, so `rows` must not hold a second reference to them.
            rows = .unknown
            defer { rows = .followed(followed) }
            return .rows(try followed.follow(touched, meeting: meeting, own, changed, pass))
        case .listed(let before):
            if try mayDiffer(pass) { return .rows(try findAgain(before, own, changed, pass)) }
            let modified = changed.isEmpty ? [] : before.indices.filter { changed.contains(before[$0]) }
            return .rows(ChangeBuilder(modifications: IndexSet(ascending: modified)))
        }
    }

    private func found(_ group: Group) throws(RealmError) -> Rows {
        guard let window, let classTable = try group.table(table), !classTable.isEmbedded, try canFollow(group) else {
            return .listed(try source.rows(group, query))
        }
        if query.isAll, window.keys.isEmpty { return .whole }
        return .followed(
            try FollowedRows(table, try source.rows(group, query.unlimited), window.keys, limit: window.limit))
    }

    /// Whether the history names everything that decides which rows match. It does not name the objects that new
    /// embedded objects link to, and not all links inside Mixed values can be followed.
    private func canFollow(_ group: Group) throws(RealmError) -> Bool {
        guard reads.isComplete else { return false }
        for path in reads.paths {
            for step in path.steps where step.isBacklink {
                guard let backlink = try group.table(step.table)?.facts(step.column),
                    let origin = try group.table(backlink.oppositeTable), !origin.isEmbedded,
                    let link = origin.facts(backlink.oppositeColumn), link.type == .link
                else { return false }
            }
        }
        return true
    }

    /// Whether a new search may find other rows than before.
    private func mayDiffer(_ pass: NotificationPass) throws(RealmError) -> Bool {
        if pass.changes.tables.isEmpty { return false }
        guard reads.isComplete else { return true }
        let involved = reads.tables.union([table]).union(source.owner.map { [$0] } ?? [])
        for involvedTable in involved {
            if pass.changes.tables[involvedTable] != nil { return true }
            // The history does not name new embedded objects.
            if let known = try pass.group.table(involvedTable), known.isEmbedded { return true }
        }
        return false
    }

    /// - Parameter before: the rows shown so far.
    private func findAgain(
        _ before: [ObjKey], _ own: TransactionChanges.Objects, _ changed: Set<ObjKey>, _ pass: NotificationPass
    ) throws(RealmError) -> ChangeBuilder {
        let found = try found(pass.group)
        let after: [ObjKey]
        switch found {
        case .followed(let followed): after = followed.shown
        case .listed(let all): after = all
        case .unknown, .whole: after = []
        }
        let isSorted = query.orderings.contains { if case .sort = $0 { true } else { false } }
        var isOfClass = false
        if case .table = source { isOfClass = true }
        rows = found
        return RowDifference(
            before, after, isGone: { own.deleted.contains($0) }, isChanged: { changed.contains($0) },
            isInTableOrder: isOfClass && !isSorted
        ).result
    }

    private func whole(_ group: Group, _ own: TransactionChanges.Objects, _ changed: Set<ObjKey>) throws(RealmError)
        -> ChangeBuilder
    {
        guard let classTable = try group.table(table), let window else { return ChangeBuilder() }
        var builder = ChangeBuilder()
        let inserted = own.inserted.sorted()
        for key in inserted { builder.insertions.add(try classTable.rank(of: key)) }
        // The old index of a deleted object, computed from the index that it would have now.
        for (earlier, key) in own.deleted.sorted().enumerated() {
            builder.deletions.add(try classTable.rank(of: key) - inserted.place { $0 < key } + earlier)
        }
        for key in changed.subtracting(own.inserted).sorted() {
            builder.modifications.add(try classTable.rank(of: key))
        }
        let count = try classTable.count()
        return builder.limited(to: window.limit, before: count + own.deleted.count - own.inserted.count, after: count)
    }
}
