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
        var sum = 0
        for i in 0..<n { sum &+= Int(bytes[i]) }
        return sum
    }
    func isEmpty(_ n: Int) -> Bool {
        var any: UInt8 = 0
        for i in 0..<n { any |= bytes[i] }
        return any == 0
    }
}

/// A walk over the clusters of a table. Conditions see one cluster at a time.
final class ClusterScan {
    let table: Table
    /// Rows of the present cluster.
    private(set) var count = 0
    private(set) var leaf = ClusterTree.noNode
    private var keys: Node?
    private var offset: UInt64 = 0
    /// Columns that were asked for, a bit each.
    private var touched: UInt64 = 0
    /// Masks in use and those given back.
    private var masks: [RowMask] = []
    private var used = 0
    /// Room for the elements of a leaf, a byte each.
    let unpacked: UnsafeMutablePointer<Int8>

    init(_ table: Table) {
        self.table = table
        unpacked = .allocate(capacity: Format.clusterCapacity + 8)
    }
    deinit {
        for m in masks { m.bytes.deallocate() }
        unpacked.deallocate()
    }

    @inline(__always) func key(_ row: Int) -> ObjKey {
        ObjKey(Int64(bitPattern: (keys?.getUnsigned(row) ?? UInt64(row)) &+ offset))
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
        used = 0
        let mask = scratch()
        _ = try visit(table.rows.root, 0, depth: 0) { () throws(RealmError) in
            mask.fill(count)
            try condition.narrow(self, mask)
            return try body(mask)
        }
    }
    private func visit(_ ref: Ref, _ base: UInt64, depth: Int, _ body: () throws(RealmError) -> Bool) throws(RealmError) -> Bool {
        let store = table.store
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
        let n = try store.refsNode(ref)
        let first = try n.slot(0)
        if !n.isInner {
            leaf = n
            offset = base
            if first.isTagged {
                guard first.integer <= UInt64(Format.clusterCapacity) else { throw .corrupt("cluster with too many objects", at: ref.offset) }
                keys = nil
                count = Int(first.integer)
            } else {
                let k = try store.integers(first.ref)
                guard k.count <= Format.clusterCapacity else { throw .corrupt("cluster with too many objects", at: ref.offset) }
                keys = k
                count = k.count
            }
            return count == 0 ? true : try body()
        }
        let levels = try n.slot(1)
        guard levels.isTagged, levels.integer >= 1, levels.integer < 8, n.count > 3 else { throw .corrupt("inner cluster of impossible depth", at: ref.offset) }
        let offsets = first.raw == 0 ? nil : try store.integers(first.ref)
        for i in 0..<(n.count - 3) {
            if levels.integer == 1 { try announce(n, i + 4) }
            let o: UInt64
            if let offsets {
                guard i < offsets.count else { throw .corrupt("inner cluster with too few offsets", at: ref.offset) }
                o = offsets.getUnsigned(i)
            } else {
                o = UInt64(i) << (8 * levels.integer)
            }
            if try !visit(try n.child(i + 3), base &+ o, depth: depth + 1, body) { return false }
        }
        return true
    }
    /// Asks for the columns in use of the cluster in slot `i`, and for the head of the one after: they are scattered over the file.
    @inline(__always) private func announce(_ n: Node, _ i: Int) throws(RealmError) {
        let store = table.store
        guard touched != 0, i < n.count else { return }
        if i + 1 < n.count { Platform.prefetch(store.base + Int(truncatingIfNeeded: n.get(i + 1)), lines: 2) }
        let next = try store.refsNode(try n.child(i))
        var rest = touched
        while rest != 0 {
            let column = rest.trailingZeroBitCount
            rest &= rest - 1
            if column + 1 < next.count { Platform.prefetch(store.base + Int(truncatingIfNeeded: next.get(column + 1)), lines: 16) }
        }
    }
    /// The leaf of a column in the present cluster.
    @inline(__always) func columnLeaf(_ column: ColKey) throws(RealmError) -> Ref {
        touched |= 1 << UInt64(column.index & 63)
        let slot = try leaf.slot(column.index &+ 1)
        guard !slot.isTagged, slot.raw != 0 else { throw .corrupt("cluster without the leaf of a column", at: leaf.ref.offset) }
        return slot.ref
    }
}
