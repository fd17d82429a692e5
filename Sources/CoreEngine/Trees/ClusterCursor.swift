/// The leaf of a cluster tree that was found last. Reading other rows of this leaf needs no descent.
struct ClusterCursor {
    var isValid = false

    /// All nodes from the root to the leaf are in the slab.
    var isWritable = false
    var leaf = ClusterLeaf()

    /// Sum of the offsets on the path: real key = relative key + offset.
    var offset: UInt64 = 0

    /// The keys that belong in this leaf: `low … high`.
    var low: UInt64 = 0
    var high: UInt64 = 0

    /// Index of the leaf's first object in the table; −1 when unknown.
    var firstIndex = -1

    /// The parent of the leaf, if any, and the index of the leaf in it: used to step to the next leaf.
    var parent = ClusterTree.noNode
    var childIndex = 0

    /// Inner nodes from the leaf up to the root, if `pathCount` ≥ 0: an append increments their object counts.
    private var path:
        (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) = (
            nil, nil, nil, nil
        )
    private var pathCount = -1

    // MARK: Looking

    @inline(__always) var count: Int { leaf.count }

    @inline(__always) func holds(_ key: UInt64) -> Bool { isValid && key >= low && key <= high }

    @inline(__always) func holds(index: Int) -> Bool {
        isValid && firstIndex >= 0 && index >= firstIndex && index < firstIndex &+ leaf.count
    }

    @inline(__always) func row(_ key: UInt64) -> Int? { leaf.row(key &- offset) }

    @inline(__always) func key(_ row: Int) -> ObjKey { ObjKey(Int64(bitPattern: leaf.key(row) &+ offset)) }

    // MARK: Moving

    /// Resets the cursor to the root, where all keys belong.
    private mutating func start() {
        isValid = false
        low = 0
        high = .max
        offset = 0
        firstIndex = -1
        parent = ClusterTree.noNode
        pathCount = -1
    }

    /// Moves down to a child.
    @inline(__always) private mutating func enter(_ inner: ClusterInner, _ index: Int) {
        if index &+ 1 < inner.count { high = offset &+ inner.offset(index &+ 1) &- 1 }
        offset &+= inner.offset(index)
        low = offset
        childIndex = index
    }

    /// Moves to the leaf where `key` belongs. With `writable`, the nodes on the way are copied to the slab, and `root`
    /// becomes the new root.
    @inline(never) mutating func descend(_ store: NodeStore, _ root: inout Ref, to key: UInt64, writable: Bool)
        throws(RealmError)
    {
        start()
        var node = try store.refsNode(root)
        if writable {
            node = try store.writableRefs(node)
            root = node.ref
        }
        var inSlab = true, above = ClusterTree.noNode
        for _ in 0..<Trees.maxDepth {
            inSlab = inSlab && store.isOwn(node.ref)
            if !node.isInner {
                leaf = try ClusterLeaf(store, node)
                parent = above
                isWritable = inSlab
                isValid = true
                return
            }
            let inner = try ClusterInner(store, node)
            let childIndex = try inner.find(key &- offset)
            enter(inner, childIndex)
            above = node
            node = try store.refsNode(try inner.child(childIndex))
            if writable {
                let slabNode = try store.writableRefs(node)
                if slabNode.ref != node.ref { inner.setChild(store, childIndex, slabNode.ref) }
                node = slabNode
            }
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    /// Moves to the leaf that holds the object at `index` of the table. `size` returns the number of objects below a
    /// node.
    @inline(never) mutating func descend(
        _ store: NodeStore, _ root: Ref, toIndex index: Int, size: (Ref) throws(RealmError) -> Int
    ) throws(RealmError) {
        if try step(store, to: index) { return }
        start()
        var remaining = index
        var ref = root
        var inSlab = true, above = ClusterTree.noNode
        for _ in 0..<Trees.maxDepth {
            let node = try store.refsNode(ref)
            inSlab = inSlab && store.isOwn(node.ref)
            if !node.isInner {
                leaf = try ClusterLeaf(store, node)
                guard remaining < leaf.count else { throw .corrupt("object counts do not add up", at: ref.offset) }
                firstIndex = index - remaining
                parent = above
                isWritable = inSlab
                isValid = true
                return
            }
            let inner = try ClusterInner(store, node)
            let (childIndex, before) = try inner.find(index: remaining, size)
            remaining -= before
            enter(inner, childIndex)
            above = node
            ref = try inner.child(childIndex)
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    /// Moves to the next leaf under the same parent, if it begins at `index`; otherwise returns false.
    private mutating func step(_ store: NodeStore, to index: Int) throws(RealmError) -> Bool {
        guard isValid, firstIndex >= 0, index == firstIndex + leaf.count, parent.isInner else { return false }
        let inner = try ClusterInner(store, parent)
        guard childIndex + 1 < inner.count else { return false }
        let wasWritable = isWritable, first = index, base = offset &- inner.offset(childIndex)
        isValid = false
        pathCount = -1
        childIndex += 1
        let node = try store.refsNode(try inner.child(childIndex))
        guard !node.isInner else { throw .corrupt("cluster tree of uneven depth", at: node.ref.offset) }
        leaf = try ClusterLeaf(store, node)
        offset = base &+ inner.offset(childIndex)
        low = offset
        if childIndex + 1 < inner.count {
            high = base &+ inner.offset(childIndex + 1) &- 1
        } else {
            // The upper bound of the last child is that of its parent, which is not known here. So only the keys in the
            // leaf are known to belong to it.
            high = leaf.count > 0 ? leaf.key(leaf.count - 1) &+ offset : low
        }
        firstIndex = first
        isWritable = wasWritable && store.isOwn(node.ref)
        isValid = leaf.count > 0
        return isValid
    }

    // MARK: Following an insertion

    /// Moves to a leaf into which a row was inserted. Calls of `rise` then add the inner nodes above it.
    mutating func stand(at leaf: ClusterLeaf, offset: UInt64, low: UInt64, high: UInt64) {
        self = ClusterCursor()
        isValid = true
        isWritable = true
        self.leaf = leaf
        self.offset = offset
        self.low = low
        self.high = high
        pathCount = 0
    }

    /// Adds the next inner node above to the path. A node that splits or moves invalidates the cursor.
    mutating func rise(to node: Node) {
        switch pathCount {
        case 0: path.0 = node.address
        case 1: path.1 = node.address
        case 2: path.2 = node.address
        case 3: path.3 = node.address
        default: break
        }
        pathCount = pathCount >= 0 && pathCount < 4 ? pathCount + 1 : -1
    }

    /// Appends a key that is larger than all keys of the table; false if that needs a descent. The caller extends the
    /// column leaves.
    @inline(__always) mutating func append(_ store: NodeStore, _ key: UInt64) throws(RealmError) -> Bool {
        guard isValid, isWritable, pathCount >= 0, high == .max, key >= low, leaf.count > 0,
            leaf.count < Format.clusterCapacity
        else { return false }
        return try leaf.append(store, key &- offset)
    }

    /// Counts an appended object in slot 2 of each inner node (a tagged number: one object adds 2).
    @inline(__always) mutating func countAppended() {
        firstIndex = -1
        withUnsafeBytes(of: path) { p in
            for i in 0..<pathCount {
                guard let node = p.load(fromByteOffset: i &* 8, as: UnsafeMutableRawPointer?.self) else { continue }
                node.storeBytes(
                    of: node.load(fromByteOffset: 24, as: Int64.self) &+ 2, toByteOffset: 24, as: Int64.self)
            }
        }
    }
}
