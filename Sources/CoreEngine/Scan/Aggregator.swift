/// Sum, average, minimum or maximum of a column, computed leaf by leaf.
///
/// Integers and doubles are read from the leaf's bytes. Doubles are added in eight lanes, so the last digit of a sum
/// over more than one leaf can differ from the result of adding one by one. Values of every other type are collected
/// and passed to `Aggregate`.
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

    /// Adds the rows of the scan's current cluster.
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

    private mutating func addIntegers(_ node: Node, _ scan: ClusterScan) {
        let isSum = kind == .sum || kind == .average
        taken &+= Int64(scan.count)
        if kind == .average && node.width == 64 {
            // The sum can be too large for an exact double: add one by one, as `Aggregate` does.
            for row in 0..<scan.count { number += Double(node.get(row)) }
            return
        }
        if isSum {
            let sum = LeafLoops.sum(node, 0, scan.count, scan.unpacked)
            integers &+= sum
            // Only averages use the double, and averages of elements of 64 bits never get here: the sum fits 64 bits.
            // The conversion of 128 bits takes longer than all the rest.
            number += Double(Int64(truncatingIfNeeded: sum))
            return
        }
        let leafBest = LeafLoops.extreme(node, 0, scan.count, scan.unpacked, kind)
        if case .int(let current)? = best, kind == .min ? current <= leafBest : current >= leafBest { return }
        best = .int(leafBest)
    }

    private mutating func addDoubles(_ node: Node, _ count: Int) {
        let sum = LeafLoops.sum(node, count)
        if !sum.isNaN && rows > count {
            number += sum
            taken &+= Int64(count)
            return
        }
        for row in 0..<count {
            let value = Double(bitPattern: FloatLeaf.double(node, row))
            if value.isNaN { continue }
            number += value
            taken &+= 1
        }
    }

    var result: (value: Mixed, found: Bool) {
        if rows == 0 { return (kind == .sum ? Aggregate.over(.sum, type, []) : .null, false) }
        let value: Mixed
        switch (type, kind) {
        case (.int, .sum) where values.isEmpty: value = .whole(integers)
        case (.int, .min) where values.isEmpty, (.int, .max) where values.isEmpty: value = best ?? .null
        case (.double, .sum) where values.isEmpty: value = .double(number)
        case (.int, .average) where values.isEmpty, (.double, .average) where values.isEmpty:
            value = taken == 0 ? .null : .double(number / Double(taken))
        default: value = Aggregate.over(kind, type, values[...])
        }
        return (value, kind == .sum ? true : !value.isNull)
    }
}
