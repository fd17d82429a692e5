/// Loops that copy the rows of a run from a column leaf to an array. The element width of the leaf is decided once per
/// leaf, outside the loop (`NumberLeaf`).
enum ColumnLoops {
    static func keys(_ run: RowRun, _ out: ColumnBuilder) throws(RealmError) {
        try out.appendFixed(
            run.count,
            { (to: UnsafeMutablePointer<Int64>) throws(RealmError) in for i in 0..<run.count { to[i] = run.keys[i].raw }
            }, isNull: nil)
    }

    static func integers(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.integers(column)
        try out.appendFixed(run.count, { to throws(RealmError) in leaf.copy(0, run.rows, to: to) }, isNull: nil)
    }

    static func nullableIntegers(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.integers(column, more: 1), null = leaf[0]
        try out.appendFixed(
            run.count, { to throws(RealmError) in leaf.copy(1, run.rows, to: to) }, isNull: { v, _ in v == null })
    }

    static func links(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.integers(column)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in
                leaf.copy(0, run.rows, to: to)
                // Null links, and links to objects that do not exist yet, become negative.
                for i in 0..<run.count { to[i] &-= 1 }
            }, isNull: { v, _ in v < 0 })
    }

    static func doubles(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.floats(column, width: 8)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in for i in 0..<run.count { to[i] = leaf.double(Int(run.rows[i])) } },
            isNull: { v, _ in v == NumberLeaf.nullDouble })
    }

    static func floats(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.floats(column, width: 4)
        try out.appendFixed(
            run.count,
            { to throws(RealmError) in for i in 0..<run.count { to[i] = leaf.float(Int(run.rows[i])) } },
            isNull: { v, _ in v == NumberLeaf.nullFloat })
    }

    static func timestamps(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let leaf = try run.timestamps(column)
        for row in run.rows {
            if let value = leaf[Int(row)] { try out.append(.timestamp(value)) } else { try out.appendNull() }
        }
    }

    static func texts(_ run: RowRun, _ column: ColKey, _ out: ColumnBuilder) throws(RealmError) {
        let store = run.table.store, leaf = try run.texts(column)
        for row in run.rows {
            if let bytes = try leaf.text(store, Int(row)) {
                try out.append(bytes, isText: true)
            } else {
                try out.appendNull()
            }
        }
    }
}
