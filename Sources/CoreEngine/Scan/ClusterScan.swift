/// Walks over the clusters of a table in key order. Conditions process one cluster at a time.
///
/// The nodes of a cluster are scattered over the file. While the scan works on one cluster, it prefetches nodes of the
/// next ones, parents earlier than their children. A cluster has 256 rows and takes a tenth of a
/// microsecond, so the fixed cost per cluster matters. The scan therefore finds the next cluster in a copy of the
/// parent's children; the whole copy is checked when the parent is entered.
final class ClusterScan {
    let table: Table
    let store: NodeStore

    /// Number of rows in the current cluster.
    private(set) var count = 0
    private(set) var leaf = ClusterTree.noNode

    /// The keys of the current cluster, unless it is compact: then they are 0 … count − 1.
    private var keys = ClusterTree.noNode
    private var isCompact = true

    /// Offset of the keys of the current cluster.
    private var offset: UInt64 = 0

    /// The children of the current parent, the innermost inner node: copied, 64 bits wide, refs checked. Parents with
    /// more than `Format.clusterCapacity` children are not copied.
    private let children: UnsafeMutablePointer<Int64>

    /// Key offsets of the children, unless they are 256 keys apart, and the key offset of the parent itself.
    private var starts = ClusterTree.noNode
    private var startsAreEven = true
    private var parentBase: UInt64 = 0
    private var next = 0
    private var end = 0

    /// An inner node on the way from the root to the parent.
    private struct Level {
        let inner: ClusterInner
        var base: UInt64

        /// Index of the next child to enter.
        var next: Int
    }

    private let levels: UnsafeMutablePointer<Level>
    private var depth = -1
    private var limit: WalkLimit

    /// `touched`: the columns that were read, one bit each (modulo 64). `texts`: those of them whose leaves are texts
    /// in three nodes. `lines`: number of cache lines of a column's last leaf; for texts, of its offsets and of its
    /// bytes.
    private var touched: UInt64 = 0
    private var texts: UInt64 = 0
    private let lines: UnsafeMutablePointer<(UInt8, UInt8)>

    /// All allocated masks; the first `used` of them are in use.
    private var masks: [RowMask] = []
    private var used = 0

    /// Buffer for the unpacked elements of a leaf, a byte each.
    let unpacked: UnsafeMutablePointer<Int8>

    init(_ table: Table) {
        self.table = table
        store = table.store
        limit = WalkLimit(table.store, each: table.rows.leastLeafSize)
        unpacked = .allocate(capacity: Format.clusterCapacity + 8)
        children = .allocate(capacity: ClusterInner.firstChild + Format.clusterCapacity)
        levels = .allocate(capacity: Trees.maxDepth)
        lines = .allocate(capacity: 64)
        lines.initialize(repeating: (16, 16), count: 64)
    }

    deinit {
        for mask in masks { mask.bytes.deallocate() }
        unpacked.deallocate()
        children.deallocate()
        levels.deallocate()
        lines.deallocate()
    }

    @inline(__always) func key(_ row: Int) -> ObjKey {
        ObjKey(Int64(bitPattern: (isCompact ? UInt64(row) : keys.getUnsigned(row)) &+ offset))
    }

    /// Returns a mask with undefined contents. Release masks in reverse order.
    func scratch() -> RowMask {
        if used == masks.count { masks.append(RowMask(bytes: .allocate(capacity: Format.clusterCapacity))) }
        used += 1
        return masks[used - 1]
    }

    func release(_ number: Int) { used -= number }

    /// Runs `body` with the mask of matching rows of each cluster, in key order, until `body` returns false.
    func run(_ test: RowTest, _ body: (RowMask) throws(RealmError) -> Bool) throws(RealmError) {
        let mask = scratch()
        while try advance() {
            mask.fill(count)
            try test.narrow(self, mask)
            if try !body(mask) { return }
        }
    }

    /// Adds the results of `body` for the clusters until the sum reaches `limit`.
    @inline(__always) func sum(until limit: Int, _ body: () throws(RealmError) -> Int) throws(RealmError) -> Int {
        var total = 0
        while total < limit, try advance() { total &+= try body() }
        return total
    }

    /// Moves to the next cluster that has rows; the first call moves to the first. Returns false after the last.
    func advance() throws(RealmError) -> Bool {
        while true {
            while next < end {
                try store.test()
                let slot = next
                next = slot &+ 1
                if touched != 0 { announce(slot) }
                let ref = RefOrTagged(raw: children[slot]).ref
                try limit.enter(ref, store)
                let node = try LeafNodes.refs(store, ref)
                guard !node.isInner else {
                    throw .corrupt("an inner cluster stands where a leaf is expected", at: node.ref.offset)
                }
                let child = slot &- ClusterInner.firstChild
                try open(node, parentBase &+ (startsAreEven ? UInt64(child) << 8 : starts.getUnsigned(child)))
                if count > 0 { return true }
            }
            switch try climb() {
            case .rows: return true
            case .children: continue
            case .nothing: return false
            }
        }
    }

    @inline(__always) private func open(_ node: Node, _ base: UInt64) throws(RealmError) {
        let first = try node.slot(0)
        isCompact = first.isTagged
        if isCompact {
            count = try ClusterLeaf.readCount(first, of: node)
        } else {
            keys = try ClusterLeaf.readKeys(store, first, of: node)
            count = keys.count
        }
        leaf = node
        offset = base
    }

    /// The result of a move through the tree.
    private enum Find {
        /// A cluster with rows, the children of a parent, or the end.
        case rows, children, nothing
    }

    /// Moves up and down through the tree to the next cluster with rows, or to the next parent of clusters.
    @inline(never) private func climb() throws(RealmError) -> Find {
        try store.test()
        (next, end) = (0, 0)
        if depth < 0 {
            depth = 0
            if let found = try enter(table.rows.root, 0) { return found }
        }
        while depth > 0 {
            try store.test()
            let level = levels + (depth &- 1)
            let index = level.pointee.next
            guard index < level.pointee.inner.count else {
                depth &-= 1
                continue
            }
            level.pointee.next = index &+ 1
            if let found = try enter(
                try level.pointee.inner.child(index), level.pointee.base &+ level.pointee.inner.offset(index))
            {
                return found
            }
        }
        return .nothing
    }

    /// Opens a cluster, or enters an inner node.
    ///
    /// - Returns: nil if the search must go on, in that inner node or after an empty cluster.
    private func enter(_ ref: Ref, _ base: UInt64) throws(RealmError) -> Find? {
        try limit.enter(ref, store)
        let node = try LeafNodes.refs(store, ref)
        guard node.isInner else {
            try open(node, base)
            return count > 0 ? .rows : nil
        }
        let inner = try ClusterInner(store, node)
        if inner.depth == 1, inner.count <= Format.clusterCapacity {
            guard node.widen(to: children) else {
                throw .corrupt("ref beyond the end of the file", at: node.ref.offset)
            }
            parentBase = base
            startsAreEven = inner.offsets == nil
            starts = inner.offsets ?? ClusterTree.noNode
            (next, end) = (ClusterInner.firstChild, ClusterInner.firstChild + inner.count)
            return .children
        }
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
        (levels + depth).initialize(to: Level(inner: inner, base: base, next: 0))
        depth += 1
        return nil
    }

    /// Prefetches what the clusters after slot `slot` of the parent need.
    @inline(__always) private func announce(_ slot: Int) {
        let head = slot &+ 6, leaves = slot &+ 3
        if head < end { CMemory.prefetch(store.base + Int(truncatingIfNeeded: children[head]), lines: 2) }
        if leaves < end, let next = LeafNodes.refsAtHand(store, RefOrTagged(raw: children[leaves]).ref) {
            var rest = touched
            while rest != 0 {
                let column = rest.trailingZeroBitCount
                rest &= rest &- 1
                guard column &+ 1 < next.count else { break }
                let isText = texts >> UInt64(column) & 1 != 0
                CMemory.prefetch(
                    store.base + Int(truncatingIfNeeded: next.get(column &+ 1)),
                    lines: isText ? 1 : Int(lines[column].0))
            }
        }
        if texts != 0 { announceTexts(slot &+ 1) }
    }

    /// Prefetches the parts of the texts of the cluster in slot `slot`.
    @inline(never) private func announceTexts(_ slot: Int) {
        guard slot < end, let next = LeafNodes.refsAtHand(store, RefOrTagged(raw: children[slot]).ref) else { return }
        var rest = texts
        while rest != 0 {
            let column = rest.trailingZeroBitCount
            rest &= rest &- 1
            guard column &+ 1 < next.count,
                let leaf = LeafNodes.refsAtHand(store, RefOrTagged(raw: next.get(column &+ 1)).ref)
            else { continue }
            guard !leaf.context, leaf.count > 2 else { continue }
            CMemory.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(0)), lines: Int(lines[column].0))
            CMemory.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(1)), lines: Int(lines[column].1))
            CMemory.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(2)), lines: 1)
        }
    }

    /// Records the size of the current leaf of a column, so that the next leaf of the column is prefetched whole.
    @inline(__always) func learn(_ column: ColKey, _ bytes: Int) {
        lines[column.index & 63].0 = UInt8(truncatingIfNeeded: min(bytes >> 6 &+ 1, 40))
    }

    /// Records the same for texts in three nodes.
    @inline(__always) func learn(_ column: ColKey, offsets: Int, text: Int) {
        texts |= 1 << UInt64(column.index & 63)
        lines[column.index & 63] = (
            UInt8(truncatingIfNeeded: min(offsets >> 6 &+ 1, 24)), UInt8(truncatingIfNeeded: min(text >> 6 &+ 1, 48))
        )
    }

    /// The leaf of a column in the current cluster.
    @inline(__always) func columnLeaf(_ column: ColKey) throws(RealmError) -> Ref {
        touched |= 1 << UInt64(column.index & 63)
        return try ClusterLeaf.column(leaf, column.index)
    }

    /// The leaf of a column of integers. It has at least one element for each row, and `more` elements besides.
    @inline(__always) func integers(_ column: ColKey, more: Int = 0) throws(RealmError) -> Node {
        try checked(column, try LeafNodes.integers(store, try columnLeaf(column)), more: more)
    }

    /// The leaf of a column of floats (`width` 4) or doubles (8).
    @inline(__always) func numbers(_ column: ColKey, width: Int) throws(RealmError) -> Node {
        try checked(column, try FloatLeaf.node(store, try columnLeaf(column), width: width), more: 0)
    }

    @inline(__always) private func checked(_ column: ColKey, _ node: Node, more: Int) throws(RealmError) -> Node {
        guard node.count >= count &+ more else { throw .corrupt("leaf is too short", at: node.ref.offset) }
        learn(column, node.payloadSize)
        return node
    }
}

/// A test of all rows of a cluster at once.
class RowTest {
    /// Clears the marks of rows that do not pass.
    func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {}
}
