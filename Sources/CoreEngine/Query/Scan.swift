/// One byte per row of a cluster: not zero while the row is in.
struct RowMask {
    let bytes: UnsafeMutablePointer<UInt8>
    subscript(i: Int) -> UInt8 {
        @inline(__always) get { bytes[i] }
        @inline(__always) nonmutating set { bytes[i] = newValue }
    }
    func fill(_ n: Int) { for i in 0..<n { bytes[i] = 1 } }
    func clear(_ n: Int) { for i in 0..<n { bytes[i] = 0 } }
    func copy(_ other: RowMask, _ n: Int) { for i in 0..<n { bytes[i] = other.bytes[i] } }
    /// Takes the rows of `other` out.
    func subtract(_ other: RowMask, _ n: Int) { for i in 0..<n { bytes[i] &= other.bytes[i] ^ 1 } }
    /// Takes out the rows that are not in `other`, or those that are.
    func keep(_ other: RowMask, _ n: Int, negated: Bool) {
        let flip: UInt8 = negated ? 1 : 0
        for i in 0..<n { bytes[i] &= other.bytes[i] ^ flip }
    }
    func count(_ n: Int) -> Int {
        var sum = 0, start = 0
        while start < n {
            // So few that a byte holds their sum.
            let end = min(start &+ 128, n)
            var part: UInt8 = 0
            for i in start..<end { part = part &+ bytes[i] }
            sum &+= Int(part)
            start = end
        }
        return sum
    }
    func isEmpty(_ n: Int) -> Bool {
        var any: UInt8 = 0
        for i in 0..<n { any |= bytes[i] }
        return any == 0
    }
}

/// A walk over the clusters of a table in key order. Conditions see one cluster at a time.
///
/// The nodes of a cluster are scattered over the file: while one is worked on, the next ones are asked for, the farther the nearer to
/// the top of their tree.
final class ClusterScan {
    let table: Table
    let store: NodeStore
    /// Rows of the present cluster.
    private(set) var count = 0
    private(set) var leaf = ClusterTree.noNode
    private var keys: Node?
    private var offset: UInt64 = 0
    /// Inner nodes from the root to the present cluster.
    private struct Level {
        let inner: ClusterInner
        var base: UInt64
        /// The next child.
        var next: Int
    }
    private let levels: UnsafeMutablePointer<Level>
    private var depth = -1
    /// Columns that were asked for, a bit each (modulo 64), those among them whose leaves are texts in three nodes, and how many cache
    /// lines their leaves last spanned: for texts of the offsets and of the bytes.
    private var touched: UInt64 = 0
    private var texts: UInt64 = 0
    private let lines: UnsafeMutablePointer<(UInt8, UInt8)>
    /// Masks in use and those given back.
    private var masks: [RowMask] = []
    private var used = 0
    /// Room for the elements of a leaf, a byte each.
    let unpacked: UnsafeMutablePointer<Int8>

    init(_ table: Table) {
        self.table = table
        store = table.store
        unpacked = .allocate(capacity: Format.clusterCapacity + 8)
        levels = .allocate(capacity: Trees.maxDepth)
        lines = .allocate(capacity: 64)
        lines.initialize(repeating: (16, 16), count: 64)
    }
    deinit {
        for m in masks { m.bytes.deallocate() }
        unpacked.deallocate()
        levels.deallocate()
        lines.deallocate()
    }

    @inline(__always) func key(_ row: Int) -> ObjKey {
        ObjKey(Int64(bitPattern: ClusterLeaf.key(row, keys) &+ offset))
    }
    /// A mask of undefined contents; given back in reverse order.
    func scratch() -> RowMask {
        if used == masks.count { masks.append(RowMask(bytes: .allocate(capacity: Format.clusterCapacity))) }
        used += 1
        return masks[used - 1]
    }
    func release(_ n: Int) { used -= n }

    /// Runs `body` with the mask of matching rows of each cluster in key order, until it returns false.
    func run(_ condition: Condition, _ body: (RowMask) throws(RealmError) -> Bool) throws(RealmError) {
        let mask = scratch()
        while try next() {
            mask.fill(count)
            try condition.narrow(self, mask)
            if try !body(mask) { return }
        }
    }
    /// Moves on to the next cluster that has rows, the first time to the first; false after the last.
    func next() throws(RealmError) -> Bool {
        try store.test()
        if depth < 0 {
            depth = 0
            if try open(table.rows.root, 0) { return true }
        }
        while depth > 0 {
            let l = levels + (depth &- 1)
            let i = l.pointee.next
            guard i < l.pointee.inner.count else {
                depth &-= 1
                continue
            }
            l.pointee.next = i &+ 1
            if l.pointee.inner.depth == 1 { try announce(l.pointee.inner.node, i &+ 3) }
            if try open(try l.pointee.inner.child(i), l.pointee.base &+ l.pointee.inner.offset(i)) { return true }
        }
        return false
    }
    /// Opens a cluster, or goes down into an inner node; whether there are rows now.
    @inline(__always) private func open(_ ref: Ref, _ base: UInt64) throws(RealmError) -> Bool {
        let n = try store.refsNode(ref)
        if n.isInner {
            guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
            (levels + depth).initialize(to: Level(inner: try ClusterInner(store, n), base: base, next: 0))
            depth += 1
            return false
        }
        (keys, count) = try ClusterLeaf.rows(store, of: n)
        leaf = n
        offset = base
        return count > 0
    }
    /// Asks for what the clusters after slot `i` need.
    @inline(__always) private func announce(_ n: Node, _ i: Int) throws(RealmError) {
        guard touched != 0 else { return }
        let head = i &+ 6, leaves = i &+ 3, parts = i &+ 1
        if head < n.count { Platform.prefetch(store.base + Int(truncatingIfNeeded: n.get(head)), lines: 2) }
        if leaves < n.count {
            let next = try store.refsNode(try n.child(leaves))
            var rest = touched
            while rest != 0 {
                let column = rest.trailingZeroBitCount
                rest &= rest &- 1
                guard column &+ 1 < next.count else { continue }
                let isText = texts >> UInt64(column) & 1 != 0
                Platform.prefetch(store.base + Int(truncatingIfNeeded: next.get(column &+ 1)), lines: isText ? 1 : Int(lines[column].0))
            }
        }
        guard texts != 0, parts < n.count else { return }
        let next = try store.refsNode(try n.child(parts))
        var rest = texts
        while rest != 0 {
            let column = rest.trailingZeroBitCount
            rest &= rest &- 1
            guard column &+ 1 < next.count, case let slot = try next.slot(column &+ 1), slot.subtree != nil else { continue }
            let leaf = try store.node(slot.ref)
            guard leaf.hasRefs, !leaf.context, leaf.count > 2 else { continue }
            Platform.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(0)), lines: Int(lines[column].0))
            Platform.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(1)), lines: Int(lines[column].1))
            Platform.prefetch(store.base + Int(truncatingIfNeeded: leaf.get(2)), lines: 1)
        }
    }
    /// Says how many bytes the present leaf of a column has.
    @inline(__always) func learn(_ column: ColKey, _ bytes: Int) {
        lines[column.index & 63].0 = UInt8(truncatingIfNeeded: min(bytes >> 6 &+ 1, 40))
    }
    /// The same for a text in three nodes.
    @inline(__always) func learn(_ column: ColKey, offsets: Int, text: Int) {
        texts |= 1 << UInt64(column.index & 63)
        lines[column.index & 63] = (
            UInt8(truncatingIfNeeded: min(offsets >> 6 &+ 1, 24)), UInt8(truncatingIfNeeded: min(text >> 6 &+ 1, 48))
        )
    }
    /// The leaf of a column in the present cluster.
    @inline(__always) func columnLeaf(_ column: ColKey) throws(RealmError) -> Ref {
        touched |= 1 << UInt64(column.index & 63)
        return try ClusterLeaf.column(leaf, column.index)
    }
}
