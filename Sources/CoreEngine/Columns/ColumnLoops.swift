/// Loops that copy the rows of a run from a column leaf to an array. The element width of the leaf is decided once per
/// leaf, outside the loop.
///
/// Before elements are read, each leaf is checked to have as many elements as its cluster has rows.
enum ColumnLoops {
    @inline(__always) private static func checked(_ node: Node, _ needed: Int) throws(RealmError) -> Node {
        guard node.count >= needed else { throw .corrupt("leaf is too short", at: node.ref.offset) }
        return node
    }

    /// Copies elements `first` + row of an integer leaf as 64-bit integers.
    @inline(__always) private static func widen(
        _ node: Node, _ first: Int, _ rows: UnsafeBufferPointer<UInt16>, _ to: UnsafeMutablePointer<Int64>
    ) {
        switch node.width {
        case 64: copy(node.payload.assumingMemoryBound(to: Int64.self) + first, rows, to)
        case 32: copy(node.payload.assumingMemoryBound(to: Int32.self) + first, rows, to)
        case 16: copy(node.payload.assumingMemoryBound(to: Int16.self) + first, rows, to)
        case 8: copy(node.payload.assumingMemoryBound(to: Int8.self) + first, rows, to)
        default: for i in 0..<rows.count { to[i] = node.get(Int(rows[i]) &+ first) }
        }
    }

    @inline(__always)
    private static func copy(
        _ pointer: UnsafePointer<some FixedWidthInteger>, _ rows: UnsafeBufferPointer<UInt16>,
        _ to: UnsafeMutablePointer<Int64>
    ) {
        for i in 0..<rows.count { to[i] = Int64(truncatingIfNeeded: pointer[Int(rows[i])]) }
    }

    static func keys(_ run: RowRun, _ out: ColumnBuilder) throws(RealmError) {
        try out.appendFixed(
            run.count,
            { (to: UnsafeMutablePointer<Int64>) throws(RealmError) in for i in 0..<run.count { to[i] = run.keys[i].raw }
            }, isNull: nil)
    }

    static func integers(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let node = try checked(try run.table.store.integers(leaf), run.size)
        try out.appendFixed(run.count, { to throws(RealmError) in widen(node, 0, run.rows, to) }, isNull: nil)
    }

    static func nullableIntegers(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let node = try checked(try run.table.store.integers(leaf), run.size + 1), null = node.get(0)
        try out.appendFixed(
            run.count, { to throws(RealmError) in widen(node, 1, run.rows, to) }, isNull: { v, _ in v == null })
    }

    static func links(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let node = try checked(try run.table.store.integers(leaf), run.size)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in
                widen(node, 0, run.rows, to)
                // Null links, and links to objects that do not exist yet, become negative.
                for i in 0..<run.count { to[i] &-= 1 }
            }, isNull: { v, _ in v < 0 })
    }

    static func doubles(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let node = try checked(try FloatLeaf.node(run.table.store, leaf, width: 8), run.size)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in for i in 0..<run.count { to[i] = FloatLeaf.double(node, Int(run.rows[i])) } },
            isNull: { v, _ in v == FloatLeaf.nullDouble })
    }

    static func floats(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let node = try checked(try FloatLeaf.node(run.table.store, leaf, width: 4), run.size)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in for i in 0..<run.count { to[i] = FloatLeaf.float(node, Int(run.rows[i])) } },
            isNull: { v, _ in v == FloatLeaf.nullFloat })
    }

    static func timestamps(_ run: RowRun, _ leaf: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let store = run.table.store, parts = try store.refsNode(leaf)
        let seconds = try checked(try store.integers(try parts.child(0)), run.size + 1), null = seconds.get(0)
        let rest = try checked(try store.integers(try parts.child(1)), run.size)
        for row in run.rows {
            let second = seconds.get(Int(row) &+ 1)
            guard second != null else {
                try out.appendNull()
                continue
            }
            try out.append(
                .timestamp(Timestamp(seconds: second, nanoseconds: Int32(truncatingIfNeeded: rest.get(Int(row))))))
        }
    }

    static func texts(_ run: RowRun, _ column: ColKey, _ ref: Ref, _ out: ColumnBuilder) throws(RealmError) {
        let store = run.table.store, leaf = try TextLeaf(store, ref, run.size)
        if let sizes = leaf.sizes { run.scan?.learn(column, offsets: sizes.offsets, text: sizes.text) }
        for row in run.rows {
            if let bytes = try leaf.text(store, Int(row)) {
                try out.append(bytes, isText: true)
            } else {
                try out.appendNull()
            }
        }
    }
}
