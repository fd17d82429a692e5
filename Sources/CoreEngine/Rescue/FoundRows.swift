/// The objects of a table according to one root: readable clusters, and ranges of keys of which nothing is known.
///
/// Invariant: `leaves` are sorted by their keys and do not overlap. None of their keys is in `unknown`.
final class FoundRows {
    struct Leaf {
        let ref: Ref

        /// Added to the keys that the leaf stores.
        let offset: UInt64
        let first: UInt64
        let last: UInt64
        let count: Int
    }

    let store: NodeStore
    let table: FoundTable
    private(set) var leaves: [Leaf] = []
    private(set) var unknown: [ClosedRange<UInt64>] = []

    /// Number of lost objects according to the nodes above lost clusters; nil if it is not known for all of them.
    private(set) var lostCount: Int? = 0
    private var visited: Visited
    private let known: Set<Int>

    /// Nodes above the clusters.
    private(set) var inner: [Ref] = []
    private(set) var objects = 0

    // The leaf read last.
    private var open = -1
    private var cluster = ClusterLeaf()
    private var opened: [Ref?] = []
    private var isOpened: [Bool] = []

    /// - Parameter known: nodes to skip, with everything below them.
    init(_ store: NodeStore, _ table: FoundTable, except known: Set<Int> = []) {
        self.store = store
        self.table = table
        self.known = known
        visited = Visited(known.isEmpty ? store.fileSize : 0)
        walk(table.rows, offset: 0, low: 0, high: UInt64(Int64.max), depth: nil)
        // The walk is over, so its memory is freed.
        visited = Visited(0)
        opened = [Ref?](repeating: nil, count: (table.columns.map(\.index).max() ?? -1) + 1)
        isOpened = [Bool](repeating: false, count: opened.count)
    }

    /// Takes those of `clusters` that have the columns of the table, with a value in each column for each object. Their
    /// position in the tree is unknown, so the keys are used as stored.
    init(_ store: NodeStore, _ table: FoundTable, among clusters: [Ref]) {
        self.store = store
        self.table = table
        known = []
        visited = Visited(0)
        opened = [Ref?](repeating: nil, count: (table.columns.map(\.index).max() ?? -1) + 1)
        isOpened = [Bool](repeating: false, count: opened.count)
        for ref in clusters {
            // A cluster of one column looks like many other nodes.
            guard table.columns.count > 1, let node = try? store.refsNode(ref), node.count > opened.count,
                let leaf = try? ClusterLeaf(store, node),
                (opened.count + 1..<node.count).allSatisfy({ (try? node.slot($0))?.isNull ?? false })
            else { continue }
            guard take(leaf, 0, 0, .max) else { continue }
            if !hasAllColumns(leaves.count - 1) { leaves.removeLast() }
        }
    }

    private func hasAllColumns(_ leaf: Int) -> Bool {
        open = -1
        return enter(leaf) && table.columns.allSatisfy { column($0) != nil }
    }

    // MARK: The tree

    private func lose(_ low: UInt64, _ high: UInt64) {
        guard low <= high else { return }
        unknown.append(low...high)
        lostCount = nil
    }

    /// - Parameters:
    ///   - low, high: range of the keys that belong here.
    ///   - depth: number of levels below, according to the node above.
    private func walk(_ ref: Ref, offset: UInt64, low: UInt64, high: UInt64, depth: Int?) {
        if known.contains(ref.offset) { return }
        guard !ref.isNull, visited.insert(ref), let node = try? store.refsNode(ref) else { return lose(low, high) }
        guard node.isInner else {
            guard depth ?? 0 == 0, let leaf = try? ClusterLeaf(store, node), take(leaf, offset, low, high) else {
                return lose(low, high)
            }
            return
        }
        guard let inner = try? ClusterInner(store, node), depth ?? inner.depth == inner.depth, inner.depth > 0 else {
            return lose(low, high)
        }
        self.inner.append(ref)
        let total = (try? inner.objects()).flatMap { store.admits($0, perByte: 32) ? Int($0) : nil }
        let before = objects, lostBefore = unknown.count
        for i in 0..<inner.count {
            // The keys of a child begin at its offset. If offsets are out of order, the rest of the node is not
            // trusted.
            let first = inner.offset(i), next = i + 1 < inner.count ? inner.offset(i + 1) : 0
            let from = offset &+ first, to = i + 1 < inner.count ? offset &+ next &- 1 : high
            guard i > 0 || first == 0, from >= low, from <= to, to <= high, i + 1 == inner.count || next > first else {
                lose(max(low, min(from, high)), high)
                break
            }
            walk((try? inner.child(i)) ?? .null, offset: from, low: from, high: to, depth: inner.depth - 1)
        }
        // Objects that the node counts but that were not found below it are lost. The count of the root is set last and
        // overrides those of deeper nodes.
        if unknown.count > lostBefore, let total { lostCount = max(0, total - (objects - before)) }
    }

    /// Adds a cluster if its keys are in order and in the expected range; otherwise false.
    private func take(_ leaf: ClusterLeaf, _ offset: UInt64, _ low: UInt64, _ high: UInt64) -> Bool {
        guard leaf.count > 0 else { return true }
        var before: UInt64?
        for row in 0..<leaf.count {
            let (key, overflow) = offset.addingReportingOverflow(leaf.key(row))
            guard !overflow, key >= low, key <= high, before.map({ $0 < key }) ?? true else { return false }
            before = key
        }
        objects += leaf.count
        leaves.append(
            Leaf(ref: leaf.ref, offset: offset, first: offset &+ leaf.key(0), last: before ?? 0, count: leaf.count))
        return true
    }

    // MARK: Reading

    /// Opens a leaf for the next calls; false if it cannot be read.
    @discardableResult
    private func enter(_ i: Int) -> Bool {
        if open == i { return true }
        guard i < leaves.count, let node = try? store.refsNode(leaves[i].ref), let leaf = try? ClusterLeaf(store, node),
            leaf.count == leaves[i].count
        else {
            open = -1
            return false
        }
        (open, cluster) = (i, leaf)
        for index in isOpened.indices { isOpened[index] = false }
        return true
    }

    func key(_ leaf: Int, _ row: Int) -> UInt64? {
        enter(leaf) && row < cluster.count ? leaves[leaf].offset &+ cluster.key(row) : nil
    }

    /// The first row of a leaf whose key is at least `key`.
    func position(_ leaf: Int, _ key: UInt64) -> Int {
        guard enter(leaf), key > leaves[leaf].offset else { return 0 }
        return cluster.position(key &- leaves[leaf].offset)
    }

    /// The first leaf with a key of at least `key`.
    func firstLeaf(from key: UInt64) -> Int {
        var low = 0, high = leaves.count
        while low < high {
            let mid = (low + high) / 2
            if leaves[mid].last < key { low = mid + 1 } else { high = mid }
        }
        return low
    }

    func find(_ key: UInt64) -> (leaf: Int, row: Int)? {
        let i = firstLeaf(from: key)
        guard i < leaves.count, leaves[i].first <= key, enter(i) else { return nil }
        return cluster.row(key &- leaves[i].offset).map { (i, $0) }
    }

    /// The leaf of a column, if it has a value for every object.
    private func column(_ column: Column) -> Ref? {
        guard column.index < opened.count else { return nil }
        if !isOpened[column.index] {
            isOpened[column.index] = true
            opened[column.index] = try? wholeColumn(column)
        }
        return opened[column.index]
    }

    private func wholeColumn(_ column: Column) throws(RealmError) -> Ref? {
        guard let kind = column.leafKind else { return nil }
        let ref = try cluster.column(column.index)
        if isEnumerated(column), case let node = try store.node(ref), !node.hasRefs, node.widthType == 0 {
            return node.count == cluster.count ? ref : nil
        }
        return try kind.count(store, ref) == cluster.count ? ref : nil
    }

    /// Whether a cluster should have a leaf for a column, readable or not.
    func hasLeaf(_ column: Column, _ leaf: Int) -> Bool { enter(leaf) && column.leafKind != nil }

    private func isEnumerated(_ column: Column) -> Bool {
        column.type == .string && !column.isCollection && !column.enumeratedValues.isNull
    }

    /// The array of keys of a leaf, if there is one, and a function that returns the leaf of a column.
    func nodes(_ leaf: Int) -> (keys: Node?, column: (Column) -> Ref?) {
        guard enter(leaf) else { return (nil, { _ in nil }) }
        return (cluster.keys, { [unowned self] in self.column($0) })
    }

    /// The value stored in the leaf of the column; nil if it is damaged.
    func value(_ leaf: Int, _ row: Int, _ definition: Column) -> Mixed? {
        guard enter(leaf), let ref = column(definition), let kind = definition.leafKind else { return nil }
        if isEnumerated(definition), let node = try? store.node(ref), !node.hasRefs, node.widthType == 0 {
            let i = row < node.count ? node.get(row) : -1
            guard i >= 0, i < 1 << 24 else { return nil }
            return try? LeafKind.string.get(store, definition.enumeratedValues, Int(i))
        }
        // `LeafKind.get` reads any other number as true.
        if kind == .bool, let node = try? store.integers(ref), row < node.count,
            ![0, 1, definition.isNullable ? 3 : 0].contains(node.get(row))
        {
            return nil
        }
        return try? kind.get(store, ref, row)
    }
}
