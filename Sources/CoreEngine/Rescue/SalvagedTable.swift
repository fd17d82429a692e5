/// A table that is copied from a damaged file into a new one.
final class SalvagedTable {
    /// The description by the first root that has the table, completed from other roots.
    let found: FoundTable
    let rows: MergedRows

    /// The new table.
    let table: Table

    /// The table for objects that cannot be stored in `table`; created for the first such object.
    private(set) var apart: Table?

    /// Objects for `apart`, with their keys there.
    private(set) var placedApart: [(place: MergedRows.Place, key: ObjKey)] = []

    /// Objects found without their keys, with new keys.
    private var placedStrays: [(place: MergedRows.Place, key: ObjKey)] = []

    /// Columns of the file, with their keys in the new table and the index of their losses in the report.
    private(set) var columns: [(from: Column, to: ColKey, losses: Int)] = []
    private(set) var report: SalvageReport.Class

    /// Target tables of link columns, as keys in the file.
    private var targets: [ColKey: TableKey] = [:]

    init(_ found: FoundTable, _ rows: MergedRows, _ table: Table) {
        self.found = found
        self.rows = rows
        self.table = table
        report = SalvageReport.Class(name: table.className ?? table.name)
        report.hasNames = found.hasNames
    }

    // MARK: Columns

    /// - Parameter tables: the new table of each table of the file.
    func addColumns(_ tables: [TableKey: SalvagedTable]) {
        for column in found.publicColumns {
            var loss = SalvageReport.Property(column.name)
            let opposite = opposite(of: column, tables), target = column.type == .link ? tables[opposite]?.table : nil
            if target != nil { targets[column.key] = opposite }
            do throws(RealmError) {
                let key = try table.addColumn(
                    freeName(name(of: column)), column.type, Self.form(column), target: target)
                columns.append((column, key, report.properties.count))
            } catch {
                // A link column without its target table cannot be created.
                loss.lost = rows.objects
            }
            report.properties.append(loss)
        }
    }

    private static func form(_ column: Column) -> ColumnAttributes {
        var form = column.key.attributes.intersection([.nullable, .list, .set, .dictionary])
        if column.isList { form.insert(.list) }
        return form
    }

    /// The target class of a link; if it is lost, the class with the backlinks of this link.
    private func opposite(of column: Column, _ tables: [TableKey: SalvagedTable]) -> TableKey {
        if tables[column.oppositeTable] != nil { return column.oppositeTable }
        let back = tables.first {
            $0.value.found.columns.contains {
                $0.isBacklink && $0.oppositeTable == found.key && $0.oppositeColumn == column.key
            }
        }
        return back?.key ?? .null
    }

    func target(of column: Column) -> TableKey { targets[column.key] ?? .null }

    /// The table of the schema version has only this column, and readers look for it under this name.
    private func name(of column: Column) -> Name {
        table.name == Tables.metadata && column.type == .int && !column.isCollection ? "version" : column.name
    }

    private func freeName(_ name: Name) -> Name {
        guard !name.isEmpty, name.utf8.count <= 63, table.column(named: name) == nil else {
            return Name("lost_\(columns.count)")
        }
        return name
    }

    // MARK: Objects

    /// Creates the objects, with no values except the primary key.
    /// - Parameter mayStand: whether an object may be stored in its class.
    func makeObjects(_ group: Group, mayStand: (ObjKey) -> Bool) throws(RealmError) {
        let from = found.primaryKey
        let key = from.flatMap { pk in columns.first { $0.from.key == pk }?.to }
        if let key { try table.setPrimaryKey(key) }
        var last = ObjKey.null
        // The most trusted root comes first, so that its object wins if two have the same primary key.
        for root in rows.sources.indices {
            try rows.eachObject(ofRoot: root) { (place) throws(RealmError) in
                try table.store.test()
                var value: Mixed?
                if let from, key != nil {
                    guard let element = rows.value(place, from)?.value, isGoodKey(element) else {
                        return try putApart(place, group)
                    }
                    value = element
                }
                guard mayStand(place.key), try table.restore(place.key, primaryKey: value) else {
                    return try putApart(place, group)
                }
                report.objects += 1
                last = max(last, place.key)
            }
        }
        table.continueKeys(behind: last, found.sequence)
        try rows.eachStray { (place) throws(RealmError) in try takeStray(place, group) }
        report.older = rows.older
        report.lost = rows.lost.map { max(0, $0 - (rows.strays?.objects ?? 0)) }
    }

    /// Adds an object that was found without its key. It stays in its class if a primary key identifies it.
    private func takeStray(_ place: MergedRows.Place, _ group: Group) throws(RealmError) {
        report.found += 1
        if table.primaryKey != nil, let from = found.primaryKey, let value = rows.value(place, from)?.value,
            isGoodKey(value)
        {
            let (key, isNew) = try table.createObject(primaryKey: value)
            if isNew {
                placedStrays.append((place, key))
                report.objects += 1
                return
            }
        }
        try putApart(place, group)
    }

    private func isGoodKey(_ value: Mixed) -> Bool {
        guard let pk = table.primaryKey, let facts = table.facts(pk) else { return false }
        return Table.matches(value, facts)
    }

    private func putApart(_ place: MergedRows.Place, _ group: Group) throws(RealmError) {
        let to = if let apart { apart } else { try makeApart(group) }
        let key = try to.createObject().key
        placedApart.append((place, key))
        report.objects += 1
        report.apart += 1
    }

    private func makeApart(_ group: Group) throws(RealmError) -> Table {
        var name = table.name + "_salvaged", number = 2
        while name.utf8.count > 63 || group.tableIndex(named: name) != nil {
            name = Name(String(table.name.text.prefix(40)) + "_salvaged\(number)")
            number += 1
        }
        let new = try group.addTable(name)
        for (i, column) in columns.enumerated() {
            guard let there = table.column(column.to) else { continue }
            let target = there.type == .link ? try group.table(there.oppositeTable) : nil
            try new.addColumn(there.name, there.type, Self.form(columns[i].from), target: target)
        }
        apart = new
        return new
    }

    // MARK: Values

    /// Sets all properties of all objects.
    func copyValues(_ copy: ValueCopy) throws(RealmError) {
        for root in rows.sources.indices {
            try rows.eachObject(ofRoot: root) { (place) throws(RealmError) in
                try table.store.test()
                guard try table.isValid(place.key), !isApart(place) else { return }
                try copyObject(place, to: table, place.key, copy)
            }
        }
        for (place, key) in placedStrays { try copyObject(place, to: table, key, copy) }
        for (place, key) in placedApart {
            if let apart { try copyObject(place, to: apart, key, copy) }
        }
    }

    private lazy var placesApart = Set(placedApart.map { Spot($0.place) })

    private struct Spot: Hashable {
        let root: Int, leaf: Int, row: Int

        init(_ place: MergedRows.Place) { (root, leaf, row) = (place.root, place.leaf, place.row) }
    }

    private func isApart(_ place: MergedRows.Place) -> Bool {
        !placedApart.isEmpty && placesApart.contains(Spot(place))
    }

    private func copyObject(_ place: MergedRows.Place, to: Table, _ key: ObjKey, _ copy: ValueCopy) throws(RealmError) {
        for column in columns {
            let there = to === table ? column.to : to.column(named: table.column(column.to)?.name ?? "")?.key
            guard let there, let facts = to.facts(there) else { continue }
            if facts.isPrimaryKey { continue }
            let origin = Origin(table: found.key, column: column.from.key, object: place.key)
            let goal = ValueCopy.Goal(table: to, object: key, facts: facts, origin: origin)
            try copy.copy(
                rows.value(place, column.from.key), target(of: column.from), to: goal, &report.properties[column.losses]
            )
        }
    }

    // MARK: Indexes

    func addIndexes() throws(RealmError) {
        for (from, to, _) in columns {
            guard let column = table.column(to), column.isIndexable else { continue }
            var asked = from.attributes.intersection([.indexed, .fullTextIndexed])
            // Only string columns can have a full-text index, and only instead of an ordinary one.
            if column.type != .string || asked.contains(.indexed) { asked.remove(.fullTextIndexed) }
            if !asked.isEmpty { table.setIndexAttribute(to, asked) }
            guard to != table.primaryKey, found.indexed.contains(from.index) else { continue }
            try table.addIndex(column.index, fullText: asked.contains(.fullTextIndexed))
        }
    }
}

extension Column {
    fileprivate var isIndexable: Bool {
        guard !isCollection else { return type == .string && isList }
        return [.int, .bool, .timestamp, .string, .objectId, .uuid, .mixed].contains(type)
    }
}

extension MergedRows {
    /// Calls `body` for each object that comes from one root.
    func eachObject(ofRoot root: Int, _ body: (Place) throws(RealmError) -> Void) throws(RealmError) {
        guard let source = sources[root] else { return }
        for piece in pieces where piece.root == root {
            for row in piece.rows {
                guard let key = source.key(piece.leaf, row) else { continue }
                try body(Place(root: root, leaf: piece.leaf, row: row, key: ObjKey(Int64(bitPattern: key))))
            }
        }
    }
}

extension Table {
    /// Creates an object with a given key; false if an object with this key, or with its primary key, already exists.
    func restore(_ key: ObjKey, primaryKey value: Mixed?) throws(RealmError) -> Bool {
        guard key.raw >= 0, try !rows.contains(key) else { return false }
        let pk = primaryKey
        if let pk, let value, try indexes.findOrInsert(value, key, primaryKey: pk.index) != nil { return false }
        try indexes.settle()
        guard try rows.insert(key, initial: pk.map { ($0.index, value ?? .null) }) else { return false }
        indexes.created(key)
        return true
    }

    /// Makes sure that new objects get keys after `last`, and sequence numbers of at least `stated`.
    func continueKeys(behind last: ObjKey, _ stated: UInt64) {
        let stated = stated < 1 << 40 ? stated : 0
        guard !last.isNull else {
            state.sequence = max(state.sequence, stated)
            return
        }
        // Without a primary key, the second byte of an object key identifies the file and is not part of the sequence
        // number.
        let raw = UInt64(bitPattern: last.raw), number = primaryKey != nil ? raw : raw & 0xFF | raw >> 8 & 0xFFFF_FF00
        state.sequence = max(state.sequence, stated, number < 1 << 40 ? number &+ 1 : 0)
    }
}
