/// The nodes of a cluster tree, checked once when they are opened. Only this file reads their slots. Format: logical
/// §5.
///
///     leaf:   [ tagged count (keys 0 … n−1) | ref to keys ] column 0 … column k
///     inner:  [ 0 (compact) | ref to offsets ] [ tagged depth ] [ tagged object count ] child … child
struct ClusterLeaf {
    let node: Node

    /// Whether the keys, relative to the leaf's offset, are 0 … count − 1; otherwise `general` holds them.
    private(set) var isCompact = true
    private var general = ClusterTree.noNode
    private(set) var count = 0

    /// A placeholder without a node.
    init() { node = ClusterTree.noNode }

    /// The store is borrowed: otherwise the initializer would count a reference to it for each leaf.
    @inline(__always) init(_ store: borrowing NodeStore, _ leaf: Node) throws(RealmError) {
        node = leaf
        let first = try leaf.slot(0)
        if first.isTagged {
            count = try Self.readCount(first, of: leaf)
        } else {
            isCompact = false
            general = try Self.readKeys(store, first, of: leaf)
            count = general.count
        }
    }

    /// The number of rows of a leaf in compact form.
    @inline(__always) static func readCount(_ first: RefOrTagged, of node: Node) throws(RealmError) -> Int {
        guard first.integer <= UInt64(Format.clusterCapacity) else {
            throw .corrupt("cluster with too many objects", at: node.ref.offset)
        }
        return Int(truncatingIfNeeded: first.integer)
    }

    /// The keys of a leaf in general form.
    @inline(__always) static func readKeys(_ store: borrowing NodeStore, _ first: RefOrTagged, of node: Node)
        throws(RealmError) -> Node
    {
        let keys = try store.integers(first.ref)
        // A narrower array would truncate unsigned keys that are added later.
        guard keys.width >= 8 || keys.count == 0 else {
            throw .corrupt("cluster keys of a wrong width", at: node.ref.offset)
        }
        guard keys.count <= Format.clusterCapacity else {
            throw .corrupt("cluster with too many objects", at: node.ref.offset)
        }
        return keys
    }

    var ref: Ref { node.ref }

    /// The array of the keys; nil in the compact form.
    var keys: Node? { isCompact ? nil : general }

    @inline(__always) func key(_ row: Int) -> UInt64 { isCompact ? UInt64(row) : general.getUnsigned(row) }

    /// The row with this key, or the row before which the key would be inserted.
    @inline(__always) func position(_ key: UInt64) -> Int {
        isCompact ? Int(min(key, UInt64(count))) : general.lowerBoundUnsigned(key)
    }

    /// The row with this key; nil if it does not exist.
    @inline(__always) func row(_ key: UInt64) -> Int? {
        if isCompact { return key < UInt64(count) ? Int(truncatingIfNeeded: key) : nil }
        return generalRow(key)
    }

    private func generalRow(_ key: UInt64) -> Int? {
        let index = general.lowerBoundUnsigned(key)
        return index < count && general.getUnsigned(index) == key ? index : nil
    }

    @inline(__always) static func column(_ node: Node, _ index: Int) throws(RealmError) -> Ref {
        let slot = try node.slot(index &+ 1)
        guard slot.subtree != nil else { throw .corrupt("cluster without the leaf of a column", at: node.ref.offset) }
        return slot.ref
    }

    @inline(__always) func column(_ index: Int) throws(RealmError) -> Ref { try Self.column(node, index) }

    @inline(__always) func setColumn(_ store: NodeStore, _ index: Int, _ ref: Ref) {
        store.setSlot(node, index &+ 1, ref)
    }

    @inline(__always) func checkHolds(columns: Int) throws(RealmError) {
        guard node.count > columns else { throw .corrupt("cluster without the leaf of a column", at: ref.offset) }
    }

    // MARK: Changing the keys of a leaf in the slab

    @inline(__always) private mutating func setCompact(_ store: NodeStore, _ newCount: Int) {
        store.setSlot(node, 0, RefOrTagged(tagged: newCount))
        count = newCount
    }

    @inline(__always) private mutating func setKeys(_ store: NodeStore, _ keys: Node) {
        store.setSlot(node, 0, keys.ref)
        isCompact = false
        general = keys
        count = keys.count
    }

    /// Appends a key that is larger than all others. Returns false and changes nothing if it is not the largest, or if
    /// the leaf would have to leave the compact form.
    @inline(__always) mutating func append(_ store: NodeStore, _ key: UInt64) throws(RealmError) -> Bool {
        if !isCompact {
            var keys = general
            guard count > 0, key > keys.getUnsigned(count &- 1) else { return false }
            try store.insertUnsigned(&keys, count, key)
            setKeys(store, keys)
        } else {
            guard key == UInt64(count) else { return false }
            setCompact(store, count &+ 1)
        }
        return true
    }

    mutating func insert(_ store: NodeStore, _ key: UInt64, at position: Int) throws(RealmError) {
        if isCompact && key == UInt64(count) { return setCompact(store, count + 1) }
        var keys = try generalKeys(store)
        try store.insertUnsigned(&keys, position, key)
        setKeys(store, keys)
    }

    mutating func erase(_ store: NodeStore, row: Int) throws(RealmError) {
        if isCompact && row == count - 1 { return setCompact(store, row) }
        var keys = try generalKeys(store)
        try store.eraseUnsigned(&keys, row)
        setKeys(store, keys)
    }

    mutating func keep(_ store: NodeStore, _ rows: KeptRows) throws(RealmError) {
        if isCompact && (rows.count == 0 || rows[rows.count - 1] == rows.count - 1) {
            return setCompact(store, rows.count)
        }
        var keys = try generalKeys(store)
        try store.keepUnsigned(&keys, rows)
        setKeys(store, keys)
    }

    /// Removes the keys from row `position` on, then stores `key` there.
    mutating func cut(_ store: NodeStore, at position: Int, inserting key: UInt64) throws(RealmError) {
        var keys = try generalKeys(store)
        try store.eraseUnsigned(&keys, position, keys.count - position)
        try store.insertUnsigned(&keys, position, key)
        setKeys(store, keys)
    }

    /// Appends the keys of a leaf that starts `distance` after this leaf.
    mutating func append(_ store: NodeStore, _ other: ClusterLeaf, distance: UInt64) throws(RealmError) {
        var keys = try generalKeys(store)
        var other = other
        let more = try other.generalKeys(store)
        for i in 0..<more.count { try store.insertUnsigned(&keys, keys.count, more.getUnsigned(i) &+ distance) }
        setKeys(store, keys)
    }

    /// Adds `distance` to every key.
    mutating func rebase(_ store: NodeStore, by distance: UInt64) throws(RealmError) {
        var keys = try generalKeys(store)
        for i in 0..<keys.count { try store.setUnsigned(&keys, i, keys.getUnsigned(i) &+ distance) }
        setKeys(store, keys)
    }

    /// The keys in general form.
    mutating func generalKeys(_ store: NodeStore) throws(RealmError) -> Node {
        if !isCompact { return general }
        let keys = try store.makeUnsigned((0..<UInt64(count)).map { $0 })
        setKeys(store, keys)
        return keys
    }
}

struct ClusterInner {
    private(set) var node: Node

    /// Start offsets of the children, relative to this node; nil in the compact form, where the depth determines the
    /// distance between children.
    private(set) var offsets: Node?

    /// Levels below this node.
    let depth: Int

    @inline(__always) init(_ store: borrowing NodeStore, _ inner: Node) throws(RealmError) {
        let levels = try inner.slot(1), first = try inner.child(0)
        guard levels.isTagged, levels.integer >= 1, levels.integer < 8 else {
            throw .corrupt("inner cluster of impossible depth", at: inner.ref.offset)
        }
        guard inner.count > 3 else { throw .corrupt("inner cluster without children", at: inner.ref.offset) }
        node = inner
        depth = Int(levels.integer)
        if !first.isNull {
            let starts = try store.integers(first)
            guard starts.count >= inner.count &- 3 else {
                throw .corrupt("inner cluster with too few offsets", at: inner.ref.offset)
            }
            offsets = starts
        }
    }

    var ref: Ref { node.ref }

    /// The slot of the first child.
    @inline(__always) static var firstChild: Int { 3 }

    /// Number of children.
    @inline(__always) var count: Int { node.count &- Self.firstChild }

    @inline(__always) func child(_ index: Int) throws(RealmError) -> Ref { try node.child(index &+ 3) }

    @inline(__always) func offset(_ index: Int) -> UInt64 {
        offsets?.getUnsigned(index) ?? UInt64(index) << UInt64(8 &* depth)
    }

    /// The child for `key`: the last child that starts at or before it.
    @inline(__always) func find(_ key: UInt64) throws(RealmError) -> Int {
        guard let offsets else { return Int(min(key >> UInt64(8 &* depth), UInt64(count &- 1))) }
        var low = 0
        var length = count
        while length > 0 {
            let half = length >> 1
            if offsets.getUnsigned(low &+ half) <= key {
                low = low &+ half &+ 1
                length = length &- half &- 1
            } else {
                length = half
            }
        }
        guard low > 0 else { throw .corrupt("cluster offsets do not start at 0", at: ref.offset) }
        return low &- 1
    }

    /// Number of objects below, as stored in the node.
    func objects() throws(RealmError) -> UInt64 { try node.slot(2).integer }

    /// Whether the keys below have no gaps, except perhaps in the last child. Keys ascend: if there are as many objects
    /// as the last offset and the size of the last child add up to, the offset of each child is also the number of
    /// objects before it. This saves counting the objects of each child, up to 256 memory reads.
    /// - Parameter size: returns the number of objects below a node.
    func isDense(_ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> Bool {
        let last = offset(count &- 1), all = try objects()
        guard last <= UInt64(Int64.max), all >= last else { return false }
        return all == last &+ UInt64(try size(try child(count &- 1)))
    }

    /// Number of objects in the children before the child at `index`.
    func objects(before index: Int, _ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> Int {
        if index > 0, try isDense(size) { return Int(min(offset(index), offset(count &- 1))) }
        var sum = 0
        for j in 0..<index { sum += try size(try child(j)) }
        return sum
    }

    /// The child that holds the object at `index` below this node, and the number of objects before that child.
    func find(index: Int, _ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> (child: Int, before: Int) {
        if index > 0, try isDense(size) {
            let position = try find(UInt64(index))
            return (position, Int(min(offset(position), UInt64(index))))
        }
        var before = 0
        for i in 0..<count {
            let below = try size(try child(i))
            if index - before < below { return (i, before) }
            before += below
        }
        throw .corrupt("object counts do not add up", at: ref.offset)
    }

    // MARK: Changing a node in the slab

    func setChild(_ store: NodeStore, _ index: Int, _ ref: Ref) { store.setSlot(node, index + 3, ref) }

    func setObjects(_ store: NodeStore, _ count: UInt64) { store.setSlot(node, 2, RefOrTagged(tagged: count)) }

    mutating func insertChild(_ store: NodeStore, _ index: Int, _ ref: Ref) throws(RealmError) {
        try store.insertSlot(&node, index + 3, RefOrTagged(ref))
    }

    mutating func eraseChildren(_ store: NodeStore, _ index: Int, _ n: Int = 1) throws(RealmError) {
        try store.eraseSlots(&node, index + 3, n)
    }

    mutating func keepChildren(_ store: NodeStore, _ rows: KeptRows) throws(RealmError) {
        try store.keepSlots(&node, rows, first: 3)
    }

    /// Whether a child that starts at `offset` fits the compact form at `index`.
    func isCompact(with offset: UInt64, at index: Int) -> Bool {
        offsets == nil && offset == UInt64(index) << UInt64(8 * depth)
    }

    /// The offsets in general form. A caller that changes them passes them to `setOffsets`.
    mutating func generalOffsets(_ store: NodeStore) throws(RealmError) -> Node {
        if let offsets { return offsets }
        let offsets = try store.makeUnsigned((0..<UInt64(count)).map { $0 << UInt64(8 * depth) })
        setOffsets(store, offsets)
        return offsets
    }

    mutating func setOffsets(_ store: NodeStore, _ newOffsets: Node) {
        store.setSlot(node, 0, newOffsets.ref)
        offsets = newOffsets
    }
}
