/// The nodes of a cluster tree, checked once when they are looked at: what stands in their slots is read here alone.
/// Format: logical §5.
///
///     leaf:   [ tagged count (keys 0 … n−1) | ref to keys ] column 0 … column k
///     inner:  [ 0 (compact) | ref to offsets ] [ tagged depth ] [ tagged object count ] child … child
struct ClusterLeaf {
    let node: Node

    /// Whether the keys, relative to the leaf's offset, are 0 … count − 1; otherwise they stand in `general`.
    private(set) var isCompact = true
    private var general = ClusterTree.noNode
    private(set) var count = 0

    /// A place for a leaf to come.
    init() { node = ClusterTree.noNode }

    /// The store is borrowed: an initializer counts a reference to it otherwise, for each leaf.
    @inline(__always) init(_ s: borrowing NodeStore, _ n: Node) throws(RealmError) {
        node = n
        let first = try n.slot(0)
        if first.isTagged {
            count = try Self.readCount(first, of: n)
        } else {
            isCompact = false
            general = try Self.readKeys(s, first, of: n)
            count = general.count
        }
    }

    /// The number of rows of a leaf in compact form.
    @inline(__always) static func readCount(_ first: RefOrTagged, of n: Node) throws(RealmError) -> Int {
        guard first.integer <= UInt64(Format.clusterCapacity) else {
            throw .corrupt("cluster with too many objects", at: n.ref.offset)
        }
        return Int(truncatingIfNeeded: first.integer)
    }

    /// The keys of a leaf in general form.
    @inline(__always) static func readKeys(_ s: borrowing NodeStore, _ first: RefOrTagged, of n: Node)
        throws(RealmError) -> Node
    {
        let k = try s.integers(first.ref)
        // A narrow array would lose the unsigned keys that it may be about to receive.
        guard k.width >= 8 || k.count == 0 else { throw .corrupt("cluster keys of a wrong width", at: n.ref.offset) }
        guard k.count <= Format.clusterCapacity else {
            throw .corrupt("cluster with too many objects", at: n.ref.offset)
        }
        return k
    }

    var ref: Ref { node.ref }

    /// The array of the keys; nil in the compact form.
    var keys: Node? { isCompact ? nil : general }

    @inline(__always) func key(_ row: Int) -> UInt64 { isCompact ? UInt64(row) : general.getUnsigned(row) }

    /// The row with this key, or the one that it would be before.
    @inline(__always) func position(_ key: UInt64) -> Int {
        isCompact ? Int(min(key, UInt64(count))) : general.lowerBoundUnsigned(key)
    }

    /// The row with this key; nil when there is none.
    @inline(__always) func row(_ key: UInt64) -> Int? {
        if isCompact { return key < UInt64(count) ? Int(truncatingIfNeeded: key) : nil }
        return generalRow(key)
    }

    private func generalRow(_ key: UInt64) -> Int? {
        let i = general.lowerBoundUnsigned(key)
        return i < count && general.getUnsigned(i) == key ? i : nil
    }

    @inline(__always) static func column(_ node: Node, _ c: Int) throws(RealmError) -> Ref {
        let slot = try node.slot(c &+ 1)
        guard slot.subtree != nil else { throw .corrupt("cluster without the leaf of a column", at: node.ref.offset) }
        return slot.ref
    }

    @inline(__always) func column(_ c: Int) throws(RealmError) -> Ref { try Self.column(node, c) }

    @inline(__always) func setColumn(_ s: NodeStore, _ c: Int, _ ref: Ref) { s.setSlot(node, c &+ 1, ref) }

    @inline(__always) func checkHolds(columns: Int) throws(RealmError) {
        guard node.count > columns else { throw .corrupt("cluster without the leaf of a column", at: ref.offset) }
    }

    // MARK: Changing the keys of a leaf in the slab

    @inline(__always) private mutating func setCompact(_ s: NodeStore, _ n: Int) {
        s.setSlot(node, 0, RefOrTagged(tagged: n))
        count = n
    }

    @inline(__always) private mutating func setKeys(_ s: NodeStore, _ k: Node) {
        s.setSlot(node, 0, k.ref)
        isCompact = false
        general = k
        count = k.count
    }

    /// Adds a key that is larger than all others; false, and nothing happens, when it is not, or when it would end the
    /// compact form.
    @inline(__always) mutating func append(_ s: NodeStore, _ key: UInt64) throws(RealmError) -> Bool {
        if !isCompact {
            var k = general
            guard count > 0, key > k.getUnsigned(count &- 1) else { return false }
            try s.insertUnsigned(&k, count, key)
            setKeys(s, k)
        } else {
            guard key == UInt64(count) else { return false }
            setCompact(s, count &+ 1)
        }
        return true
    }

    mutating func insert(_ s: NodeStore, _ key: UInt64, at position: Int) throws(RealmError) {
        if isCompact && key == UInt64(count) { return setCompact(s, count + 1) }
        var k = try generalKeys(s)
        try s.insertUnsigned(&k, position, key)
        setKeys(s, k)
    }

    mutating func erase(_ s: NodeStore, row: Int) throws(RealmError) {
        if isCompact && row == count - 1 { return setCompact(s, row) }
        var k = try generalKeys(s)
        try s.eraseUnsigned(&k, row)
        setKeys(s, k)
    }

    mutating func keep(_ s: NodeStore, _ rows: KeptRows) throws(RealmError) {
        if isCompact && (rows.count == 0 || rows[rows.count - 1] == rows.count - 1) { return setCompact(s, rows.count) }
        var k = try generalKeys(s)
        try s.keepUnsigned(&k, rows)
        setKeys(s, k)
    }

    /// Takes the keys of the rows from `position` on out, and puts `key` there.
    mutating func cut(_ s: NodeStore, at position: Int, inserting key: UInt64) throws(RealmError) {
        var k = try generalKeys(s)
        try s.eraseUnsigned(&k, position, k.count - position)
        try s.insertUnsigned(&k, position, key)
        setKeys(s, k)
    }

    /// Adds the keys of a leaf that starts `distance` after this one.
    mutating func append(_ s: NodeStore, _ other: ClusterLeaf, distance: UInt64) throws(RealmError) {
        var k = try generalKeys(s)
        var other = other
        let more = try other.generalKeys(s)
        for i in 0..<more.count { try s.insertUnsigned(&k, k.count, more.getUnsigned(i) &+ distance) }
        setKeys(s, k)
    }

    /// Adds `f` to every key.
    mutating func rebase(_ s: NodeStore, by f: UInt64) throws(RealmError) {
        var k = try generalKeys(s)
        for i in 0..<k.count { try s.setUnsigned(&k, i, k.getUnsigned(i) &+ f) }
        setKeys(s, k)
    }

    /// The keys in general form.
    mutating func generalKeys(_ s: NodeStore) throws(RealmError) -> Node {
        if !isCompact { return general }
        let k = try s.makeUnsigned((0..<UInt64(count)).map { $0 })
        setKeys(s, k)
        return k
    }
}

struct ClusterInner {
    private(set) var node: Node

    /// Where the children start, relative to this node; nil in the compact form, where they are as far apart as their
    /// depth says.
    private(set) var offsets: Node?

    /// Levels below this node.
    let depth: Int

    @inline(__always) init(_ s: borrowing NodeStore, _ n: Node) throws(RealmError) {
        let d = try n.slot(1), first = try n.child(0)
        guard d.isTagged, d.integer >= 1, d.integer < 8 else {
            throw .corrupt("inner cluster of impossible depth", at: n.ref.offset)
        }
        guard n.count > 3 else { throw .corrupt("inner cluster without children", at: n.ref.offset) }
        node = n
        depth = Int(d.integer)
        if !first.isNull {
            let o = try s.integers(first)
            guard o.count >= n.count &- 3 else {
                throw .corrupt("inner cluster with too few offsets", at: n.ref.offset)
            }
            offsets = o
        }
    }

    var ref: Ref { node.ref }

    /// The slot of the first child.
    @inline(__always) static var firstChild: Int { 3 }

    /// Number of children.
    @inline(__always) var count: Int { node.count &- Self.firstChild }

    @inline(__always) func child(_ i: Int) throws(RealmError) -> Ref { try node.child(i &+ 3) }

    @inline(__always) func offset(_ i: Int) -> UInt64 { offsets?.getUnsigned(i) ?? UInt64(i) << UInt64(8 &* depth) }

    /// The child where `key` belongs: the last that starts at or before it.
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

    /// Objects below, as the node says.
    func objects() throws(RealmError) -> UInt64 { try node.slot(2).integer }

    /// Whether no key is missing among those below, but perhaps at the end: keys ascend, so where as many objects are
    /// below as keys are up to the end, each child starts with as many objects before it as its offset says. To count
    /// them one by one is a look at each child: up to 256 places of memory.
    /// - Parameter size: the number of objects below a node.
    func isDense(_ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> Bool {
        let last = offset(count &- 1), all = try objects()
        guard last <= UInt64(Int64.max), all >= last else { return false }
        return all == last &+ UInt64(try size(try child(count &- 1)))
    }

    /// Number of objects below the children before child `i`.
    func objects(before i: Int, _ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> Int {
        if i > 0, try isDense(size) { return Int(min(offset(i), offset(count &- 1))) }
        var sum = 0
        for j in 0..<i { sum += try size(try child(j)) }
        return sum
    }

    /// The child with the object at `index` of those below, and the number of objects before that child.
    func find(index: Int, _ size: (Ref) throws(RealmError) -> Int) throws(RealmError) -> (child: Int, before: Int) {
        if index > 0, try isDense(size) {
            let i = try find(UInt64(index))
            return (i, Int(min(offset(i), UInt64(index))))
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

    func setChild(_ s: NodeStore, _ i: Int, _ ref: Ref) { s.setSlot(node, i + 3, ref) }

    func setObjects(_ s: NodeStore, _ n: UInt64) { s.setSlot(node, 2, RefOrTagged(tagged: n)) }

    mutating func insertChild(_ s: NodeStore, _ i: Int, _ ref: Ref) throws(RealmError) {
        try s.insertSlot(&node, i + 3, RefOrTagged(ref))
    }

    mutating func eraseChildren(_ s: NodeStore, _ i: Int, _ n: Int = 1) throws(RealmError) {
        try s.eraseSlots(&node, i + 3, n)
    }

    mutating func keepChildren(_ s: NodeStore, _ rows: KeptRows) throws(RealmError) {
        try s.keepSlots(&node, rows, first: 3)
    }

    /// Whether child `i` would start where the compact form puts it.
    func isCompact(with offset: UInt64, at i: Int) -> Bool {
        offsets == nil && offset == UInt64(i) << UInt64(8 * depth)
    }

    /// The offsets in general form. Who changes them gives them back to `setOffsets`.
    mutating func generalOffsets(_ s: NodeStore) throws(RealmError) -> Node {
        if let offsets { return offsets }
        let o = try s.makeUnsigned((0..<UInt64(count)).map { $0 << UInt64(8 * depth) })
        setOffsets(s, o)
        return o
    }

    mutating func setOffsets(_ s: NodeStore, _ o: Node) {
        s.setSlot(node, 0, o.ref)
        offsets = o
    }
}
