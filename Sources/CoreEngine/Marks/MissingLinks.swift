/// The values of the hub that this file cannot show completely, because they have links to objects that it does not
/// have. When such an object appears, the property gets the value. Format: sync.md §2.
struct MissingLinks {
    /// A property of an object, which is named by its primary key as JSON.
    struct Place: Hashable {
        let table: TableKey
        let key: [UInt8]
        let column: ColKey
    }

    struct Entry {
        fileprivate let row: ObjKey

        /// The first object that is missing: its table, and its primary key as JSON.
        let target: TableKey
        let missing: [UInt8]

        /// The value of the property on the hub, as JSON.
        let value: [UInt8]
    }

    private let group: Group
    private var table: Table?
    private(set) var entries: [Place: Entry] = [:]
    private var nextRow: Int64 = 0

    init(_ group: Group) throws(RealmError) {
        self.group = group
        table = try group.table(named: MarkNames.links)
        guard let table else { return }
        func number(_ row: ObjKey, _ name: String) throws(RealmError) -> Int64 {
            guard case .int(let value)? = try table.get(row, try MarkTables.facts(table, name, .int)) else {
                throw .corrupt("a missing link without one of its numbers")
            }
            return value
        }
        func bytes(_ row: ObjKey, _ name: String) throws(RealmError) -> [UInt8] {
            guard case .binary(let value)? = try table.get(row, try MarkTables.facts(table, name, .binary)) else {
                throw .corrupt("a missing link without one of its texts")
            }
            return Array(value)
        }
        for row in try table.allKeys() {
            let place = Place(
                table: TableKey(UInt32(truncatingIfNeeded: try number(row, "class"))), key: try bytes(row, "key"),
                column: ColKey(try number(row, "column")))
            entries[place] = Entry(
                row: row, target: TableKey(UInt32(truncatingIfNeeded: try number(row, "target"))),
                missing: try bytes(row, "missing"), value: try bytes(row, "value"))
            nextRow = max(nextRow, row.raw + 1)
        }
    }

    mutating func note(_ place: Place, target: TableKey, missing: [UInt8], value: [UInt8]) throws(RealmError) {
        if let known = entries[place], known.target == target, known.missing == missing, known.value == value { return }
        if self.table == nil { self.table = try make() }
        guard let table else { return }
        let row = entries[place]?.row ?? ObjKey(nextRow)
        nextRow = max(nextRow, row.raw + 1)
        try table.place(Int64(place.table.raw), at: row, try MarkTables.facts(table, "class", .int))
        for (name, number) in [("column", place.column.raw), ("target", Int64(target.raw))] {
            try table.setPlaced(row, try MarkTables.facts(table, name, .int), .int(number))
        }
        for (name, value) in [("key", place.key), ("missing", missing), ("value", value)] {
            let facts = try MarkTables.facts(table, name, .binary)
            try value.withBytes { (bytes) throws(RealmError) in try table.setPlaced(row, facts, .binary(bytes)) }
        }
        entries[place] = Entry(row: row, target: target, missing: missing, value: value)
    }

    mutating func drop(_ place: Place) throws(RealmError) {
        guard let entry = entries.removeValue(forKey: place) else { return }
        try table?.removePlaced(entry.row)
    }

    /// The table is made with the first entry, because most files need none.
    private func make() throws(RealmError) -> Table {
        let table = try group.addTable(MarkNames.links)
        for name: Name in ["class", "column", "target"] { try table.addColumn(name, .int, []) }
        for name: Name in ["key", "missing", "value"] { try table.addColumn(name, .binary, []) }
        return table
    }
}
