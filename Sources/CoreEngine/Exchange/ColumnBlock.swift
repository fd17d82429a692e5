/// The columns of the rows being read. They become one `ArrowArray`, a structure per row.
final class ColumnBlock {
    /// Maximum number of rows per read.
    static let mostRows = TableReader.mostRows
    private let group: Group
    private let reader: TableReader
    private let root: ColumnBuilder
    private var text: MixedText

    /// The next row did not fit, so the block ends here.
    private(set) var isFull = false

    /// - Parameters: those of `ColumnPlan.columns`.
    init(
        _ group: Group, _ schema: Schema, _ table: TableKey, _ paths: [Name]?, mayLackObjects: Bool,
        mostBytes: Int = Int(Int32.max)
    ) throws(RealmError) {
        let columns = try ColumnPlan.columns(
            group, schema, of: table, paths: paths, mayLackObjects: mayLackObjects, mostBytes: mostBytes)
        let builders = columns.map(\.builder)
        self.group = group
        reader = TableReader(table, columns)
        root = ColumnBuilder(
            ColumnField(name: "", kind: .structure, isNullable: false, children: builders.map(\.field)),
            children: builders)
        text = MixedText(group)
    }

    var field: ColumnField { root.field }

    /// Number of rows, and of their bytes.
    var count: Int { root.count }
    var size: Int { root.size }

    /// Reserves memory for this many rows.
    func prepare(_ rows: Int) throws(RealmError) {
        isFull = false
        try root.prepare(rows)
    }

    /// Adds `count` rows of the current cluster of a scan, starting at row `first`.
    ///
    /// - Returns: the number of rows that fit.
    func append(_ scan: ClusterScan, _ first: Int, _ count: Int) throws(RealmError) -> Int {
        try checked(count) { () throws(RealmError) in try reader.read(scan, first, count, &text) }
    }

    /// Adds objects by their keys, at most `mostRows`.
    ///
    /// - Returns: the number of objects that fit.
    func append(_ keys: ArraySlice<ObjKey>) throws(RealmError) -> Int {
        for (i, key) in keys.enumerated() { reader.keys[i] = key }
        return try checked(keys.count) { () throws(RealmError) in try reader.read(keys.count, group, &text, in: nil) }
    }

    /// Moves the rows into `array` and leaves the block empty.
    func export(to array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) { try root.export(to: array) }

    /// Reads `rowCount` rows with `body`. If a row does not fit, the array is truncated before it.
    ///
    /// - Returns: the number of rows read.
    private func checked(_ rowCount: Int, _ body: () throws(RealmError) -> Void) throws(RealmError) -> Int {
        let before = count
        do throws(RealmError) { try body() } catch {
            let columns = reader.columns, kept = columns.map(\.builder.completeCount).min() ?? before
            guard columns.contains(where: \.builder.holdsFull), kept > 0 else { throw naming(error, before) }
            for column in columns { try column.builder.truncate(kept) }
            isFull = true
            try root.appendWhole(kept - before)
            return kept - before
        }
        try root.appendWhole(rowCount)
        return rowCount
    }

    /// Adds the column and the object to the message of an error.
    private func naming(_ error: RealmError, _ before: Int) -> RealmError {
        guard let builder = reader.present?.builder else { return error }
        let row = builder.completeCount - before
        guard row >= 0, row < TableReader.mostRows else { return error }
        return RealmError(
            error.code,
            "Column '\(builder.field.name)' of the object with key \(reader.keys[row].raw): \(error.message)")
    }
}
