extension ClusterTree {
    /// Throws unless the invariants hold. Format: logical §5.
    ///
    /// 1. All column leaves of a cluster have as many elements as the cluster has keys.
    /// 2. Keys ascend strictly and are below the keys of the next cluster; the offset of a first child is 0.
    /// 3. An inner node stores the number of objects below it, and all its children are one level lower.
    /// 4. A valid cursor describes a leaf of this tree, and the opened columns describe the column leaves of that leaf.
    ///
    /// - Parameter place: an object: checks only the nodes that an operation on it may have changed. nil: checks all
    ///   nodes.
    func checkInvariants(near place: ObjKey? = nil) throws(RealmError) {
        var metCursor = false
        _ = try check(
            root, offset: 0, last: .max, levels: nil, near: place.map { UInt64(bitPattern: $0.raw) }, &metCursor)
        guard metCursor || place != nil || !cursor.isValid else {
            throw .corrupt("cursor at a leaf that is not in the tree", at: cursor.leaf.ref.offset)
        }
    }

    /// Whether the invariants hold near `place`; for assertions in debug builds.
    func isSound(near place: ObjKey) -> Bool {
        Invariants.hold { () throws(RealmError) in try checkInvariants(near: place) }
    }

    /// Checks a subtree whose keys are `offset … last`.
    /// - Parameter levels: number of inner levels from here to the leaves; nil for the root, which stores it.
    private func check(
        _ ref: Ref, offset: UInt64, last: UInt64, levels: Int?, near place: UInt64?, _ metCursor: inout Bool
    ) throws(RealmError) {
        let node = try store.refsNode(ref)
        guard node.isInner == (levels ?? (node.isInner ? 1 : 0) > 0) else {
            throw .corrupt("cluster tree of uneven depth", at: ref.offset)
        }
        guard node.isInner else { return try checkLeaf(node, offset: offset, last: last, &metCursor) }
        let inner = try ClusterInner(store, node), children = inner.count
        let stated = inner.depth
        guard levels == nil || levels == stated else { throw .corrupt("cluster tree of uneven depth", at: ref.offset) }
        guard children <= Format.clusterCapacity else {
            throw .corrupt("inner cluster with too many children", at: ref.offset)
        }
        var sum = 0, starts: [UInt64] = [], sums: [Int] = []
        for i in 0..<children {
            let start = inner.offset(i)
            guard i == 0 ? start == 0 : start > starts[i - 1] else {
                throw .corrupt("cluster offsets out of order", at: ref.offset)
            }
            starts.append(start)
            sums.append(sum)
            sum += try subtreeCount(try inner.child(i))
        }
        guard try node.slot(2) == RefOrTagged(tagged: sum) else {
            throw .corrupt("object counts do not add up", at: ref.offset)
        }
        let final = children - 1,
            found = try inner.objects(before: final) { (ref) throws(RealmError) in try subtreeCount(ref) }
        guard found == sums[final] else { throw .corrupt("object counts do not fit the offsets", at: ref.offset) }
        // An operation at `place` changes only its child and the next child, which may have been merged into it.
        let near = place.map { place in max(0, starts.place { $0 <= place &- offset } - 1) }
        for i in 0..<children where near == nil || i == near || i == near.map({ $0 + 1 }) {
            let end = i + 1 < children ? offset &+ starts[i + 1] &- 1 : last
            try check(
                try inner.child(i), offset: offset &+ starts[i], last: end, levels: stated - 1, near: place, &metCursor)
        }
    }

    private func checkLeaf(_ node: Node, offset: UInt64, last: UInt64, _ metCursor: inout Bool) throws(RealmError) {
        let cluster = try ClusterLeaf(store, node), count = cluster.count
        for i in 1..<max(1, count) where cluster.key(i - 1) >= cluster.key(i) {
            throw .corrupt("object keys out of order", at: node.ref.offset)
        }
        let largest = count > 0 ? cluster.key(count - 1) : 0
        guard largest <= last &- offset else { throw .corrupt("objects outside of their cluster", at: node.ref.offset) }
        try cluster.checkHolds(columns: columns.count)
        for (i, column) in columns.enumerated() {
            guard let column else { continue }
            let leaf = try store.node(try cluster.column(i))
            let isEnumerated = !column.enumeratedValues.isNull && !leaf.hasRefs && leaf.widthType == 0
            let values = isEnumerated ? leaf.count : try column.kind.count(store, leaf.ref)
            guard values == count else {
                throw .corrupt("column with more or fewer values than objects", at: leaf.ref.offset)
            }
        }
        guard cursor.isValid, cursor.leaf.ref == node.ref else { return }
        metCursor = true
        let isRight = cursor.count == count && cursor.offset == offset && cursor.low >= offset && cursor.high <= last
        guard isRight, cursor.leaf.keys?.ref == cluster.keys?.ref else {
            throw .corrupt("cursor that describes its leaf wrongly", at: node.ref.offset)
        }
        for i in columns.indices {
            guard try isOpenedRight(i) else {
                throw .corrupt("opened column that describes its leaf wrongly", at: node.ref.offset)
            }
        }
    }
}
