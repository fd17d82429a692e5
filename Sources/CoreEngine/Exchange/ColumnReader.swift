/// Rows of one cluster that are read together, column by column.
struct RowRun {
    let table: Table

    /// The cluster node, and its number of rows. Each column leaf must have as many elements.
    let leaf: Node
    let size: Int

    /// The row indexes in the cluster, and the object keys.
    let rows: UnsafeBufferPointer<UInt16>
    let keys: UnsafePointer<ObjKey>

    /// The scan over all clusters that produced the run, if any. A scan prefetches the leaves that are read in every
    /// cluster.
    let scan: ClusterScan?

    var count: Int { rows.count }

    @inline(__always) func leaf(_ column: ColKey) throws(RealmError) -> Ref {
        guard let scan else { return try ClusterLeaf.column(leaf, column.index) }
        return try scan.columnLeaf(column)
    }
}

/// A column of an export: the place of its values, and the array that receives them.
final class ColumnReader {
    enum Source {
        /// The key of the object itself.
        case key
        /// A value of the object.
        case value(ColKey, LeafKind)
        case link(ColKey)
        /// A primary key that represents a link; never null.
        case primaryKey(ColKey, LeafKind)
        /// A Mixed value, as JSON text.
        case mixed(ColKey)
        case collection(Column, elements: Elements)
        /// A value of the object behind a link.
        case behind(ColKey, TableReader)
        /// An embedded object with all its values.
        case embedded(ColKey, TableReader)
    }

    /// How the elements of a collection are exported.
    enum Elements {
        case values
        case mixed
        /// Embedded objects with all their values.
        case objects(TableReader)
        /// Objects by their primary keys.
        case primaryKeys(TableReader)
    }

    let source: Source
    let builder: ColumnBuilder

    init(_ source: Source, _ builder: ColumnBuilder) {
        self.source = source
        self.builder = builder
    }

    /// Appends the values of the rows.
    func read(_ run: RowRun, _ text: inout MixedText) throws(RealmError) {
        switch source {
        case .key: try ColumnLoops.keys(run, builder)
        case .value(let column, let kind): try values(run, column, kind)
        case .link(let column): try ColumnLoops.links(run, try run.leaf(column), builder)
        case .mixed(let column):
            let leaf = try run.leaf(column)
            for row in run.rows { try append(try LeafKind.mixed.get(run.table.store, leaf, Int(row)), builder, &text) }
        case .primaryKey(let column, let kind):
            let leaf = try run.leaf(column)
            for row in run.rows {
                let isNumbered = run.table.rows.isEnumerated(column)
                let value =
                    isNumbered
                    ? try run.table.rows.enumeratedValue(column, leaf, Int(row))
                    : try kind.get(run.table.store, leaf, Int(row))
                guard !value.isNull else {
                    let name = run.table.className ?? run.table.name
                    throw RealmError(
                        .typeMismatch,
                        "a link to the object of class '\(name)' whose primary key is null: '.@key' has its object key")
                }
                try builder.append(value)
            }
        case .collection(let column, let elements): try collections(run, column, elements, &text)
        case .behind(let column, let target): try target.read(behind: run, column, &text, in: nil)
        case .embedded(let column, let target): try target.read(behind: run, column, &text, in: builder)
        }
    }

    private func values(_ run: RowRun, _ column: ColKey, _ kind: LeafKind) throws(RealmError) {
        let store = run.table.store, leaf = try run.leaf(column)
        switch kind {
        case .int: try ColumnLoops.integers(run, leaf, builder)
        case .nullableInt: try ColumnLoops.nullableIntegers(run, leaf, builder)
        case .double: try ColumnLoops.doubles(run, leaf, builder)
        case .float: try ColumnLoops.floats(run, leaf, builder)
        case .timestamp: try ColumnLoops.timestamps(run, leaf, builder)
        case .string where run.table.rows.isEnumerated(column):
            for row in run.rows { try builder.append(try run.table.rows.enumeratedValue(column, leaf, Int(row))) }
        case .string: try ColumnLoops.texts(run, column, leaf, builder)
        default: for row in run.rows { try builder.append(try kind.get(store, leaf, Int(row))) }
        }
    }

    private func append(_ value: Mixed, _ to: ColumnBuilder, _ text: inout MixedText) throws(RealmError) {
        switch value {
        case .null, .slot: return try to.appendNull()
        case .link(let key) where key.raw < 0: return try to.appendNull()
        case .typedLink(_, let key) where key.raw < 0: return try to.appendNull()
        default:
            guard let json = to.children.first else { return }
            try text.write(value) { (b) throws(RealmError) in try json.append(b, isText: true) }
            try to.appendWhole(1)
        }
    }

    // MARK: Collections

    private func collections(_ run: RowRun, _ column: Column, _ elements: Elements, _ text: inout MixedText)
        throws(RealmError)
    {
        guard let facts = run.table.facts(column.key) else { throw .corrupt("no such column") }
        let group = run.table.group, slots = try run.table.store.refsNode(try run.leaf(column.key))
        for row in run.rows {
            let slot = try slots.slot(Int(row))
            switch try group.collection(facts, at: slot) {
            case .list(let list):
                if let child = builder.children.first {
                    try add(list.count, of: group, to: child, elements, &text) { i throws(RealmError) in try list.get(i)
                    }
                }
            case nil: break
            case .dictionary(let entries):
                guard let pairs = builder.children.first, let names = pairs.children.first,
                    let values = pairs.children.last
                else { break }
                for i in 0..<entries.count { try names.append(try entries.key(i)) }
                try add(entries.count, of: group, to: values, elements, &text) { i throws(RealmError) in
                    try entries.value(i)
                }
                try pairs.appendWhole(entries.count)
            }
            try builder.appendElements()
        }
    }

    private func add(
        _ count: Int, of group: Group, to builder: ColumnBuilder, _ elements: Elements, _ text: inout MixedText,
        _ element: (Int) throws(RealmError) -> Mixed
    ) throws(RealmError) {
        switch elements {
        case .values: for i in 0..<count { try builder.append(try element(i)) }
        case .mixed: for i in 0..<count { try append(try element(i), builder, &text) }
        case .objects(let target), .primaryKeys(let target):
            let whole = if case .objects = elements { builder } else { nil as ColumnBuilder? }
            var i = 0
            while i < count {
                let batch = min(count - i, TableReader.mostRows)
                for j in 0..<batch {
                    switch try element(i + j) {
                    case .typedLink(_, let key), .link(let key): target.keys[j] = key
                    default: target.keys[j] = .null
                    }
                }
                try target.read(batch, group, &text, in: whole)
                i += batch
            }
        }
    }
}

/// Columns of one class, and the keys of the objects to read next.
final class TableReader {
    /// Maximum number of objects per read, equal to the capacity of a cluster.
    static let mostRows = Format.clusterCapacity
    let table: TableKey
    let columns: [ColumnReader]

    /// The caller fills in the keys.
    let keys: UnsafeMutablePointer<ObjKey>
    private let rows: UnsafeMutablePointer<UInt16>

    /// The column being read. After an error, the column that caused it.
    private(set) var present: ColumnReader?

    init(_ table: TableKey, _ columns: [ColumnReader]) {
        self.table = table
        self.columns = columns
        keys = .allocate(capacity: Self.mostRows)
        rows = .allocate(capacity: Self.mostRows)
        keys.initialize(repeating: .null, count: Self.mostRows)
        for i in 0..<Self.mostRows { (rows + i).initialize(to: UInt16(truncatingIfNeeded: i)) }
    }

    deinit {
        keys.deallocate()
        rows.deallocate()
    }

    /// Appends the values of the first `objectCount` objects in `keys`. An object that does not exist gets
    /// placeholders.
    ///
    /// - Parameter whole: the builder of the structures that the columns are parts of, for embedded objects; otherwise
    ///   nil.
    func read(_ objectCount: Int, _ group: Group, _ text: inout MixedText, in whole: ColumnBuilder?) throws(RealmError)
    {
        let table = try group.table(self.table)
        var i = 0
        while i < objectCount {
            guard let table, keys[i].raw >= 0, let first = try table.rows.locate(keys[i]) else {
                try whole?.appendAbsent()
                for column in columns { try column.builder.appendMissing() }
                i += 1
                continue
            }
            // Consecutive keys of the same cluster are read together.
            let cursor = table.rows.cursor
            rows[0] = UInt16(truncatingIfNeeded: first.index)
            var count = 1
            while i + count < objectCount, case let key = UInt64(bitPattern: keys[i + count].raw), cursor.holds(key),
                let row = cursor.row(key)
            {
                rows[count] = UInt16(truncatingIfNeeded: row)
                count += 1
            }
            let run = RowRun(
                table: table, leaf: cursor.leaf.node, size: cursor.count,
                rows: UnsafeBufferPointer(start: rows, count: count), keys: keys + i,
                scan: nil)
            try whole?.appendWhole(count)
            try read(run, &text)
            i += count
        }
    }

    /// Does the same for the objects behind a link of other rows.
    func read(behind run: RowRun, _ column: ColKey, _ text: inout MixedText, in whole: ColumnBuilder?)
        throws(RealmError)
    {
        let links = try run.table.store.integers(try run.leaf(column))
        guard links.count >= run.size else { throw .corrupt("leaf is too short", at: links.ref.offset) }
        for i in 0..<run.count {
            keys[i] = ObjKey(links.get(Int(run.rows[i])) &- 1)
        }
        try read(run.count, run.table.group, &text, in: whole)
    }

    /// Appends the values of `count` rows of the current cluster of a scan, starting at row `first`.
    func read(_ scan: ClusterScan, _ first: Int, _ count: Int, _ text: inout MixedText) throws(RealmError) {
        for i in 0..<count {
            rows[i] = UInt16(truncatingIfNeeded: first &+ i)
            keys[i] = scan.key(first &+ i)
        }
        let run = RowRun(
            table: scan.table, leaf: scan.leaf, size: scan.count, rows: UnsafeBufferPointer(start: rows, count: count),
            keys: keys, scan: scan)
        try read(run, &text)
    }

    private func read(_ run: RowRun, _ text: inout MixedText) throws(RealmError) {
        for column in columns {
            present = column
            try column.read(run, &text)
        }
        present = nil
    }
}
