/// Sum, average, least or greatest of a column, leaf by leaf.
///
/// Integers and doubles are taken from the leaf's bytes; doubles are added in eight lanes, so that the last digit of a
/// sum over more than one leaf may differ from adding one by one. Every other type is collected and handed to
/// `Aggregate`.
struct Aggregator {
    private let kind: AggregateKind
    private let type: ValueType
    private var values: [Mixed] = []
    private var rows = 0
    private var integers: Int128 = 0
    private var number = 0.0
    private var taken: Int64 = 0
    private var best: Mixed?

    init(_ kind: AggregateKind, _ type: ValueType) {
        self.kind = kind
        self.type = type
    }

    /// Adds the rows of the scan's present cluster.
    mutating func add(_ scan: ClusterScan, _ column: ColKey, _ leaf: LeafKind) throws(RealmError) {
        rows += scan.count
        switch leaf {
        case .int: addIntegers(try scan.integers(column), scan)
        case .double where kind == .sum || kind == .average: addDoubles(try scan.numbers(column, width: 8), scan.count)
        default: try addOthers(scan, column, leaf)
        }
    }

    @inline(never) private mutating func addOthers(_ scan: ClusterScan, _ column: ColKey, _ leaf: LeafKind)
        throws(RealmError)
    {
        let ref = try scan.columnLeaf(column)
        try values.makeRoom(for: scan.count)
        for row in 0..<scan.count { values.append(try leaf.get(scan.store, ref, row)) }
    }

    private mutating func addIntegers(_ n: Node, _ scan: ClusterScan) {
        let isSum = kind == .sum || kind == .average
        taken &+= Int64(scan.count)
        if kind == .average && n.width == 64 {
            // Too large to be exact: added one by one, as everywhere else.
            for i in 0..<scan.count { number += Double(n.get(i)) }
            return
        }
        if isSum {
            let sum = LeafLoops.sum(n, 0, scan.count, scan.unpacked)
            integers &+= sum
            number += Double(sum)
            return
        }
        let v = LeafLoops.extreme(n, 0, scan.count, scan.unpacked, kind)
        if case .int(let b)? = best, kind == .min ? b <= v : b >= v { return }
        best = .int(v)
    }

    private mutating func addDoubles(_ n: Node, _ count: Int) {
        let s = LeafLoops.sum(n, count)
        if !s.isNaN && rows > count {
            number += s
            taken &+= Int64(count)
            return
        }
        for i in 0..<count {
            let v = Double(bitPattern: FloatLeaf.double(n, i))
            if v.isNaN { continue }
            number += v
            taken &+= 1
        }
    }

    var result: (value: Mixed, found: Bool) {
        if rows == 0 { return (kind == .sum ? Aggregate.over(.sum, type, []) : .null, false) }
        let v: Mixed
        switch (type, kind) {
        case (.int, .sum) where values.isEmpty: v = .whole(integers)
        case (.int, .min) where values.isEmpty, (.int, .max) where values.isEmpty: v = best ?? .null
        case (.double, .sum) where values.isEmpty: v = .double(number)
        case (.int, .average) where values.isEmpty, (.double, .average) where values.isEmpty:
            v = taken == 0 ? .null : .double(number / Double(taken))
        default: v = Aggregate.over(kind, type, values[...])
        }
        return (v, kind == .sum ? true : !v.isNull)
    }
}
