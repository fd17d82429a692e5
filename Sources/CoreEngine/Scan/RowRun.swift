/// Rows of one cluster that are read together, column by column.
struct RowRun {
    let table: Table

    /// The cluster node, and its number of rows. Each column leaf must have as many elements.
    private let cluster: Node
    let size: Int

    /// The row indexes in the cluster, and the object keys.
    let rows: UnsafeBufferPointer<UInt16>
    let keys: UnsafePointer<ObjKey>

    /// The scan over all clusters that produced the run, if any. A scan prefetches the leaves that are read in every
    /// cluster.
    private let scan: ClusterScan?

    var count: Int { rows.count }

    /// Rows of the current cluster of a scan.
    init(_ scan: ClusterScan, rows: UnsafeBufferPointer<UInt16>, keys: UnsafePointer<ObjKey>) {
        table = scan.table
        cluster = scan.leaf
        size = scan.count
        self.rows = rows
        self.keys = keys
        self.scan = scan
    }

    /// The first of `keys`, and those behind it that are in the same cluster; nil when there is no such object.
    ///
    /// - Parameter rows: memory for the row indexes, as many as `keys`.
    init?(_ table: Table, _ keys: UnsafeBufferPointer<ObjKey>, rows: UnsafeMutablePointer<UInt16>) throws(RealmError) {
        guard let base = keys.baseAddress, base[0].raw >= 0, let first = try table.rows.locate(base[0]) else {
            return nil
        }
        let cursor = table.rows.cursor
        rows[0] = UInt16(truncatingIfNeeded: first.index)
        var count = 1
        while count < keys.count, case let key = UInt64(bitPattern: keys[count].raw), cursor.holds(key),
            let row = cursor.row(key)
        {
            rows[count] = UInt16(truncatingIfNeeded: row)
            count += 1
        }
        self.table = table
        cluster = cursor.leaf.node
        size = cursor.count
        self.rows = UnsafeBufferPointer(start: rows, count: count)
        self.keys = base
        scan = nil
    }

    /// Calls `body` with the objects that exist of `keys`, run by run. Neighbours in a cluster are one run.
    static func each(
        _ table: Table, _ keys: [ObjKey], _ body: (RowRun) throws(RealmError) -> Void
    ) throws(RealmError) {
        let capacity = Format.clusterCapacity, rows = UnsafeMutablePointer<UInt16>.allocate(capacity: capacity)
        defer { rows.deallocate() }
        try keys.withUnsafeBufferPointer { (all) throws(RealmError) in
            var at = 0
            while at < all.count {
                try table.test()
                let part = UnsafeBufferPointer(rebasing: all[at..<min(at + capacity, all.count)])
                guard let run = try RowRun(table, part, rows: rows) else {
                    at += 1
                    continue
                }
                try body(run)
                at += run.count
            }
        }
    }

    @inline(__always) private func leaf(_ column: ColKey) throws(RealmError) -> Ref {
        guard let scan else { return try ClusterLeaf.column(cluster, column.index) }
        return try scan.columnLeaf(column)
    }

    /// The leaf of a column of integers, which has `more` elements before those of the rows.
    @inline(__always) func integers(_ column: ColKey, more: Int = 0) throws(RealmError) -> NumberLeaf {
        try NumberLeaf(integers: table.store, try leaf(column), count: size, more: more)
    }

    /// The leaf of a column of floats (`width` 4) or doubles (8).
    @inline(__always) func floats(_ column: ColKey, width: Int) throws(RealmError) -> NumberLeaf {
        try NumberLeaf(floats: table.store, try leaf(column), count: size, width: width)
    }

    func timestamps(_ column: ColKey) throws(RealmError) -> TimestampRows {
        try TimestampRows(table.store, try leaf(column), count: size)
    }

    func texts(_ column: ColKey) throws(RealmError) -> TextLeaf {
        let leaf = try TextLeaf(table.store, try leaf(column), size)
        if let sizes = leaf.sizes { scan?.learn(column, offsets: sizes.offsets, text: sizes.text) }
        return leaf
    }

    /// Whether the texts of a column are stored once each, and numbered.
    func isEnumerated(_ column: ColKey) -> Bool { table.rows.isEnumerated(column) }

    /// Calls `body` with the value of each row, whatever its form.
    func values(_ column: ColKey, _ kind: LeafKind, _ body: (Mixed) throws(RealmError) -> Void) throws(RealmError) {
        let store = table.store, leaf = try leaf(column)
        if table.rows.isEnumerated(column) {
            for row in rows { try body(try table.rows.enumeratedValue(column, leaf, Int(row))) }
        } else {
            for row in rows { try body(try kind.get(store, leaf, Int(row))) }
        }
    }

    /// Calls `body` with the root of the collection of each row, or with a null slot.
    func roots(_ column: ColKey, _ body: (RefOrTagged) throws(RealmError) -> Void) throws(RealmError) {
        let slots = try LeafNodes.refs(table.store, try leaf(column))
        for row in rows { try body(try slots.slot(Int(row))) }
    }
}
