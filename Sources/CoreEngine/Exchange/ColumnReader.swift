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
        case .link(let column): try ColumnLoops.links(run, column, builder)
        case .mixed(let column):
            try run.values(column, .mixed) { (value) throws(RealmError) in try append(value, builder, &text) }
        case .primaryKey(let column, let kind):
            try run.values(column, kind) { (value) throws(RealmError) in
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
        switch kind {
        case .int: try ColumnLoops.integers(run, column, builder)
        case .nullableInt: try ColumnLoops.nullableIntegers(run, column, builder)
        case .double: try ColumnLoops.doubles(run, column, builder)
        case .float: try ColumnLoops.floats(run, column, builder)
        case .timestamp: try ColumnLoops.timestamps(run, column, builder)
        case .string where !run.isEnumerated(column): try ColumnLoops.texts(run, column, builder)
        default: try run.values(column, kind) { (value) throws(RealmError) in try builder.append(value) }
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
        let group = run.table.group
        try run.roots(column.key) { (slot) throws(RealmError) in
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
            let rest = UnsafeBufferPointer(start: keys + i, count: objectCount - i)
            guard let table, let run = try RowRun(table, rest, rows: rows) else {
                try whole?.appendAbsent()
                for column in columns { try column.builder.appendMissing() }
                i += 1
                continue
            }
            try whole?.appendWhole(run.count)
            try read(run, &text)
            i += run.count
        }
    }

    /// Does the same for the objects behind a link of other rows.
    func read(behind run: RowRun, _ column: ColKey, _ text: inout MixedText, in whole: ColumnBuilder?)
        throws(RealmError)
    {
        let links = try run.integers(column)
        for i in 0..<run.count { keys[i] = ObjKey(links[Int(run.rows[i])] &- 1) }
        try read(run.count, run.table.group, &text, in: whole)
    }

    /// Appends the values of `count` rows of the current cluster of a scan, starting at row `first`.
    func read(_ scan: ClusterScan, _ first: Int, _ count: Int, _ text: inout MixedText) throws(RealmError) {
        for i in 0..<count {
            rows[i] = UInt16(truncatingIfNeeded: first &+ i)
            keys[i] = scan.key(first &+ i)
        }
        let run = RowRun(scan, rows: UnsafeBufferPointer(start: rows, count: count), keys: keys)
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
