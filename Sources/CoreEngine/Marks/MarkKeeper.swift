/// Notes the changes of a write transaction before its commit.
///
/// Thread rule: that of its transaction.
struct MarkKeeper {
    private let transaction: Transaction
    private let group: Group
    private let tables: MarkTables
    private typealias Sums = [TableKey: [ObjKey: [ColKey: (count: Int, delta: Int64)]]]

    /// Whether the file is synchronised.
    @inline(__always) static func isNeeded(_ group: Group) -> Bool {
        group.tableIndex(named: MarkNames.settings) != nil
    }

    /// Called before the commit of each write transaction, when the rules are kept. Costs one look-up of a name in a
    /// file that is not synchronised.
    ///
    /// - Throws: 2001 for a state of synchronisation that this version does not know: the transaction goes on.
    @inline(__always) static func keep(_ transaction: Transaction) throws(RealmError) {
        guard isNeeded(transaction.group) else { return }
        try transaction.database.checkProcess()
        if transaction.isDamaged { return }
        try MarkKeeper(transaction)?.keep()
    }

    /// nil: the file is not synchronised.
    private init?(_ transaction: Transaction) throws(RealmError) {
        guard let tables = try MarkTables(transaction.group) else { return nil }
        self.tables = tables
        self.transaction = transaction
        group = transaction.group
    }

    private func keep() throws(RealmError) {
        let all = try tables.all()
        for one in all where one.kept != one.table.storedContentVersion {
            // A savepoint stores versions that no other program has written.
            if let before = try versionBefore(one.table), before == one.kept { continue }
            try tables.setComparison(one, .needed)
        }
        if !transaction.isApplying { try mark(all) }
        for one in all where one.kept != one.table.nextContentVersion {
            try tables.setKept(one, one.table.nextContentVersion)
        }
    }

    /// The content version of a class before the transaction.
    private func versionBefore(_ table: Table) throws(RealmError) -> Int64? {
        guard let pin = transaction.sharedPin else { return nil }
        let before = try Transaction(reading: pin)
        defer { before.endReading() }
        return try before.group.table(table.key)?.storedContentVersion
    }

    private func mark(_ all: [MarkTables.SyncedClass]) throws(RealmError) {
        let changes = ChangedProperties(group, all.map(\.table))
        try ChangesetParser.parse(try transaction.changeset, changes)
        try changes.addOwners()
        guard try changes.isAny() else { return }
        let clock = HybridClock.next(after: try tables.integer(.clock), offset: try tables.integer(.offset))
        try tables.set(.clock, clock)
        var before: Transaction?
        defer { before?.endReading() }
        if changes.needsVersionBefore, let pin = transaction.sharedPin { before = try Transaction(reading: pin) }
        let sums = sums()
        for one in all {
            guard let own = changes[one.table.key] else { continue }
            let old = try before?.group.table(one.table.key)
            for key in own.removed {
                guard let old, let id = try WireText.primaryKey(old, key) else { continue }
                try one.pending.put(key, PendingObject(state: .deleted, clock: clock, key: id))
            }
            for (key, columns) in own.changed where try one.table.isValid(key) {
                try mark(one, key, columns, sums[one.table.key]?[key] ?? [:], clock, old)
            }
            for key in try one.table.newKeys() where try one.table.isValid(key) {
                try one.pending.put(key, PendingObject(state: .created, clock: clock))
            }
        }
    }

    private func mark(
        _ one: MarkTables.SyncedClass, _ key: ObjKey, _ columns: [ColKey: Int],
        _ additions: [ColKey: (count: Int, delta: Int64)], _ clock: Int64, _ old: Table?
    ) throws(RealmError) {
        var change = try one.pending.get(key) ?? PendingObject(state: .changed, clock: clock)
        // The same object cannot be deleted and changed: keys are not used twice.
        if change.state == .deleted { change = PendingObject(state: .created, clock: clock) }
        for (column, count) in columns.sorted(by: { $0.key.raw < $1.key.raw }) {
            guard let facts = one.table.facts(column), facts.type != .backlink, !facts.isPrimaryKey else { continue }
            if let sum = additions[column], sum.count == count {
                change.add(column, sum.delta, clock: clock)
            } else if WireText.isMerged(facts, group) {
                var before: [UInt8] = []
                if change.property(column) == nil, change.state == .changed, let old, let facts = old.facts(column) {
                    before = try WireText.property(old, key, facts) ?? []
                }
                change.note(column, .collection, clock: clock, before: before)
            } else {
                change.note(column, .set, clock: clock)
            }
        }
        if change.state != .created { change.clock = max(change.clock, clock) }
        if !change.properties.isEmpty || change.state == .created { try one.pending.put(key, change) }
    }

    /// For each integer that something was added to: how often, and the sum.
    private func sums() -> Sums {
        var all: Sums = [:]
        for one in transaction.additions {
            let known = all[one.table]?[one.object]?[one.column] ?? (0, 0)
            all[one.table, default: [:]][one.object, default: [:]][one.column] =
                (known.count + 1, known.delta &+ one.delta)
        }
        return all
    }
}

extension WireText {
    /// Whether the hub compares the elements with those before, and changes of both sides are merged.
    static func isMerged(_ facts: ColumnFacts, _ group: Group) -> Bool {
        if facts.isCollection { return true }
        guard facts.type == .link else { return false }
        return (try? group.table(facts.oppositeTable))??.isEmbedded ?? false
    }
}

/// What a transaction changed in objects that existed before, by class. New objects are known to their tables.
final class ChangedProperties: ChangesetHandler {
    /// The changes of one class.
    struct Changes {
        /// For each object, how often each property was set.
        var changed: [ObjKey: [ColKey: Int]] = [:]
        var removed: [ObjKey] = []
    }

    private let group: Group
    private var classes: [TableKey: Changes] = [:]
    private var tables: [TableKey: Table] = [:]

    /// Changed objects of embedded classes.
    private var embedded: [TableKey: Set<ObjKey>] = [:]

    /// The class of the last change.
    private var last = TableKey.null
    private var lastTable: Table?

    init(_ group: Group, _ synced: [Table]) {
        self.group = group
        for table in synced {
            tables[table.key] = table
            classes[table.key] = Changes()
        }
    }

    subscript(_ table: TableKey) -> Changes? { classes[table] }

    func isAny() throws(RealmError) -> Bool {
        for (key, changes) in classes {
            if !changes.changed.isEmpty || !changes.removed.isEmpty { return true }
            if let table = tables[key], try !table.newKeys().isEmpty { return true }
        }
        return false
    }

    /// Whether the version before the transaction is needed: for primary keys and elements.
    var needsVersionBefore: Bool {
        classes.contains { key, changes in
            if !changes.removed.isEmpty { return true }
            return changes.changed.contains { _, columns in
                columns.contains { column, _ in
                    tables[key]?.facts(column).map { WireText.isMerged($0, group) } ?? false
                }
            }
        }
    }

    private func note(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        if table != last { (last, lastTable) = (table, tables[table]) }
        guard let lastTable else {
            if let other = try? group.table(table), other.isEmbedded { embedded[table, default: []].insert(object) }
            return
        }
        if lastTable.isNew(object) { return }
        classes[table]?.changed[object, default: [:]][column, default: 0] += 1
    }

    func objectCreated(_ table: TableKey, _ object: ObjKey) {}

    func objectRemoved(_ table: TableKey, _ object: ObjKey) {
        guard let known = tables[table], !known.isNew(object) else { return }
        classes[table]?.removed.append(object)
    }

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) { note(table, object, column) }

    func collectionSelected(_ place: CollectionPlace) { note(place.table, place.object, place.column) }

    func collectionChanged(_ change: CollectionChange) {}

    func schemaChanged() {}

    /// Notes the properties that hold changed embedded objects.
    func addOwners() throws(RealmError) {
        for (key, objects) in embedded {
            guard let table = try group.table(key) else { continue }
            for object in objects where try table.isValid(object) {
                var place: (table: Table, object: ObjKey)? = (table, object)
                // A damaged file may have embedded objects that own each other.
                for _ in 0..<Table.maxNesting {
                    guard let here = place, here.table.isEmbedded else { break }
                    place = try owner(of: here.object, in: here.table)
                }
            }
        }
    }

    /// The object that holds an embedded object. If it belongs to a synchronised class, its property is noted.
    private func owner(of object: ObjKey, in table: Table) throws(RealmError) -> (table: Table, object: ObjKey)? {
        for case let backlink? in table.facts where backlink.type == .backlink {
            let links = try table.backlinks(object, backlink.key)
            guard links.count > 0, let owner = try group.table(backlink.oppositeTable) else { continue }
            let key = try links.key(at: 0)
            if !owner.isEmbedded { note(owner.key, key, backlink.oppositeColumn) }
            return (owner, key)
        }
        return nil
    }
}
