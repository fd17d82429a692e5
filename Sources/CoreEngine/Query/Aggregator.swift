/// Sum, average, least or greatest of a column, leaf by leaf.
struct Aggregator {
    private let kind: AggregateKind
    private let type: ValueType
    private var values: [Mixed] = []
    private var rows = 0

    init(_ kind: AggregateKind, _ type: ValueType) {
        self.kind = kind
        self.type = type
    }
    /// Adds the rows of the scan's present cluster.
    mutating func add(_ scan: ClusterScan, _ column: ColKey, _ leaf: LeafKind) throws(RealmError) {
        let ref = try scan.columnLeaf(column)
        let store = scan.table.store
        for row in 0..<scan.count { values.append(try leaf.get(store, ref, row)) }
        rows += scan.count
    }
    var result: (value: Mixed, found: Bool) {
        if rows == 0 { return (kind == .sum ? Aggregate.over(.sum, type, []) : .null, false) }
        let v = Aggregate.over(kind, type, values[...])
        return (v, kind == .sum ? true : !v.isNull)
    }
}
