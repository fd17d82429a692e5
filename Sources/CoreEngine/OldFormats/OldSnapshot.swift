/// A snapshot of an old file. It creates the node for each ref that its created nodes contain.
///
/// The refs for the rows of all tables are numbered when the file is opened: the clusters, the inner nodes above them,
/// and one leaf per column and cluster. The refs of lists are allocated when the leaf with these lists is created.
///
/// Invariants
/// 1. `made[i]` is the slab ref of the node for ref number `i`; 0 if there is none.
/// 2. The meaning of a ref never changes while the snapshot exists; its node may be created again.
///
/// Thread rule: that of its store.
package final class OldSnapshot: NodeSource {
    /// The refs for the rows of a table.
    private struct Rows {
        let table: OldTable
        let first: Int

        /// Number of nodes per level, the clusters first.
        let levels: [Int]

        /// Columns that have leaves.
        let columns: [Int]
        var clusters: Int { levels[0] }
        var inner: Int { levels.dropFirst().reduce(0, +) }
        var count: Int { clusters + inner + clusters * columns.count }
    }

    /// The elements of a list that becomes a tree. There may be as many lists as objects.
    private struct List {
        /// Index of the column in `listColumns`.
        let column: Int32

        /// The columns array of the sub-table, or the tree of links.
        let elements: Ref
        let rows: Range<Int>
    }

    /// The store owns the snapshot.
    private unowned(unsafe) let store: NodeStore
    let schema: OldSchema
    private var tables: [Rows] = []
    private var lists: [List] = []
    private var listColumns = [OldColumn.numbers]

    /// Total cost, in elements, of the lists that received refs since the last `forget`.
    private var listed = 0
    private var listColumnOfRoot: [Ref: Int32] = [:]
    private var made: [Int] = []

    /// Offset of the first ref, and number of refs for the rows of the tables.
    private let firstRef: Int
    private var fixedCount = 0

    /// End of the slab part with the nodes of the schema.
    private var schemaEnd = 0
    package private(set) var names = Ref.null
    package private(set) var tablesRef = Ref.null

    /// - Parameters:
    ///   - oldNames, oldTables: slots 0 and 1 of the top array of the file.
    ///   - isDamaged: unreadable parts of the schema are skipped.
    init(_ store: NodeStore, names oldNames: Ref, tables oldTables: Ref, isDamaged: Bool = false) throws(RealmError) {
        self.store = store
        firstRef = Format.roundUp(store.fileSize, to: 8)
        schema = try OldSchema(store, names: oldNames, tables: oldTables, isDamaged: isDamaged)
        for case let table? in schema.tables {
            let rows = Rows(
                table: table, first: fixedCount, levels: Self.levels(table.count),
                columns: table.columns.indices.filter { table.columns[$0].form != .hidden })
            tables.append(rows)
            fixedCount += rows.count
        }
        guard firstRef + fixedCount * 8 < store.slabStart / 2 else {
            throw .corrupt("impossible number of objects", at: oldTables.offset)
        }
        try CMemory.expect(fixedCount, each: 8)
        made = [Int](repeating: 0, count: fixedCount)
        var next = tables.makeIterator()
        (names, tablesRef) = try schema.make(store) { (_) throws(RealmError) in
            next.next().map { ref($0.first + $0.clusters + $0.inner - 1) } ?? .null
        }
        schemaEnd = store.slabEnd
    }

    /// Number of clusters, then of the inner nodes per level, up to a single node.
    private static func levels(_ rows: Int) -> [Int] {
        var levels = [max(1, (rows + Format.clusterCapacity - 1) / Format.clusterCapacity)]
        while let last = levels.last, last > 1 {
            levels.append((last + Format.clusterCapacity - 1) / Format.clusterCapacity)
        }
        return levels
    }

    private func ref(_ number: Int) -> Ref { Ref(firstRef + number * 8) }

    // MARK: NodeSource

    var extent: Int { OldFormats.mostRows(store.fileSize) }

    func node(_ ref: Ref) throws(RealmError) -> Node {
        let number = (ref.offset - firstRef) / 8
        guard ref.offset & 7 == 0, number >= 0, number < made.count else {
            throw .corrupt("ref outside the file or misaligned", at: ref.offset)
        }
        if made[number] == 0 {
            made[number] = try store.making { () throws(RealmError) in try make(number).offset }
        }
        return try store.node(Ref(made[number]))
    }

    func isEntry(_ ref: Ref) -> Bool { ref.offset >= firstRef && ref.offset < firstRef + fixedCount * 8 }

    func forget() {
        for i in made.indices { made[i] = 0 }
        listed = 0
        store.cutSlab(to: schemaEnd)
    }

    // MARK: Making nodes

    private func make(_ number: Int) throws(RealmError) -> Ref {
        if number >= fixedCount { return try makeList(lists[number - fixedCount]) }
        var low = 0, high = tables.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if tables[middle].first <= number { low = middle } else { high = middle - 1 }
        }
        let tableRows = tables[low]
        var i = number - tableRows.first
        for (depth, count) in tableRows.levels.enumerated() {
            if i < count { return depth == 0 ? try makeCluster(tableRows, i) : try makeInner(tableRows, depth, i) }
            i -= count
        }
        return try translation.leaf(
            tableRows.table.columns[tableRows.columns[i / tableRows.clusters]], rows(tableRows, i % tableRows.clusters))
    }

    /// The row numbers of a cluster.
    private func rows(_ tableRows: Rows, _ cluster: Int) -> Range<Int> {
        let from = cluster * Format.clusterCapacity
        return from..<min(from + Format.clusterCapacity, tableRows.table.count)
    }

    private func makeCluster(_ tableRows: Rows, _ cluster: Int) throws(RealmError) -> Ref {
        var slots = [RefOrTagged](repeating: RefOrTagged(.null), count: tableRows.table.columns.count + 1)
        slots[0] = RefOrTagged(tagged: rows(tableRows, cluster).count)
        for (place, column) in tableRows.columns.enumerated() {
            slots[column + 1] = RefOrTagged(
                ref(tableRows.first + tableRows.clusters + tableRows.inner + place * tableRows.clusters + cluster))
        }
        while slots.count > 1, slots[slots.count - 1].isNull { slots.removeLast() }
        return try store.makeRefs(slots).ref
    }

    private func makeInner(_ tableRows: Rows, _ depth: Int, _ i: Int) throws(RealmError) -> Ref {
        let below = tableRows.first + tableRows.levels[..<(depth - 1)].reduce(0, +)
        let children = i * Format.clusterCapacity..<min((i + 1) * Format.clusterCapacity, tableRows.levels[depth - 1])
        var span = Format.clusterCapacity
        for _ in 0..<depth { span *= Format.clusterCapacity }
        let objects = min((i + 1) * span, tableRows.table.count) - i * span
        let head = [RefOrTagged(.null), RefOrTagged(tagged: depth), RefOrTagged(tagged: objects)]
        return try store.makeRefs(head + children.map { RefOrTagged(ref(below + $0)) }, inner: true).ref
    }

    /// Creates one leaf, or an inner node whose children begin at multiples of one number.
    private func makeList(_ list: List) throws(RealmError) -> Ref {
        let count = list.rows.count
        if count <= Format.treeCapacity {
            return try translation.elements(listColumns[Int(list.column)], list.elements, list.rows)
        }
        var each = Format.treeCapacity
        while each * Format.treeCapacity < count { each *= Format.treeCapacity }
        var slots = [RefOrTagged(tagged: each)]
        for from in stride(from: list.rows.lowerBound, to: list.rows.upperBound, by: each) {
            slots.append(
                RefOrTagged(
                    reserve(
                        List(
                            column: list.column, elements: list.elements,
                            rows: from..<min(from + each, list.rows.upperBound)))))
        }
        slots.append(RefOrTagged(tagged: count))
        return try store.makeRefs(slots, inner: true).ref
    }

    private func reserve(_ list: List) -> Ref {
        lists.append(list)
        made.append(0)
        return ref(made.count - 1)
    }

    private var translation: RowTranslation {
        RowTranslation(store: store, tableKey: { [schema] in schema.key(ofTable: $0) }) {
            [unowned self] (column, elements, count) throws(RealmError) in
            listed += count * column.cost
            guard listed <= OldFormats.mostRows(store.fileSize) else {
                throw .corrupt("more elements of lists than the file has room for", at: elements.offset)
            }
            return reserve(List(column: number(of: column), elements: elements, rows: 0..<count))
        }
    }

    private func number(of column: OldColumn) -> Int32 {
        if column.form == .numbers { return 0 }
        // Each table inside a Mixed value has its own columns; the columns of other tables are identified by their
        // roots.
        if !column.root.isNull, let known = listColumnOfRoot[column.root] { return known }
        let new = Int32(truncatingIfNeeded: listColumns.count)
        listColumns.append(column)
        if !column.root.isNull { listColumnOfRoot[column.root] = new }
        return new
    }
}
