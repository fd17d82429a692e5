/// Erasing many rows in one walk over the clusters. Format: logical §5.4.
extension ClusterTree {
    /// Removes the rows of existing objects, with the collections and backlink lists that the rows own. `keys` ascend
    /// strictly.
    func erase(_ keys: ArraySlice<ObjKey>) throws(RealmError) {
        guard !keys.isEmpty else { return }
        invalidateCursors()
        var top = try store.writableRefs(try store.refsNode(root))
        let kept = UnsafeMutablePointer<UInt16>.allocate(capacity: Format.clusterCapacity)
        defer { kept.deallocate() }
        var failure: RealmError?
        keys.withUnsafeBufferPointer { keys in
            do throws(RealmError) { _ = try erase(&top, keys, base: 0, kept, depth: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        if top.isInner && top.count == 3 {
            try store.destroy(top.ref)
            setRoot(try Self.create(store, columns: columns))
            return
        }
        try setTop(top)
    }

    /// Returns the node's size afterwards: objects of a leaf, children of an inner node.
    private func erase(
        _ node: inout Node, _ keys: UnsafeBufferPointer<ObjKey>, base: UInt64, _ kept: UnsafeMutablePointer<UInt16>,
        depth: Int
    ) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: node.ref.offset) }
        guard node.isInner else { return try eraseRows(node, keys, base: base, kept) }
        var inner = try ClusterInner(store, node)
        let total = try inner.objects()
        guard total >= UInt64(keys.count) else { throw .corrupt("object counts do not add up", at: node.ref.offset) }
        inner.setObjects(store, total - UInt64(keys.count))
        let children = inner.count
        var at = 0
        var anyEmpty = false
        for i in 0..<children where at < keys.count {
            var end = at
            if i + 1 < children {
                let next = base &+ inner.offset(i + 1)
                while end < keys.count && UInt64(bitPattern: keys[end].raw) < next { end += 1 }
            } else {
                end = keys.count
            }
            if end == at { continue }
            let old = try inner.child(i)
            if inner.depth == 1, try nodeSize(old) == end - at {
                // All rows of the cluster are erased.
                try store.destroy(old)
                inner.setChild(store, i, .null)
                anyEmpty = true
            } else {
                var child = try store.writableRefs(try store.refsNode(old))
                if child.ref != old { inner.setChild(store, i, child.ref) }
                let size = try erase(
                    &child, UnsafeBufferPointer(rebasing: keys[at..<end]), base: base &+ inner.offset(i), kept,
                    depth: depth + 1)
                if size == 0 { try store.destroy(child.ref) }
                inner.setChild(store, i, size == 0 ? .null : child.ref)
                anyEmpty = anyEmpty || size == 0
            }
            at = end
        }
        guard at == keys.count else { throw .corrupt("object not where it was found", at: node.ref.offset) }
        if anyEmpty { try dropEmptyChildren(&inner) }
        try mergeSmallChildren(&inner)
        node = inner.node
        return inner.count
    }

    private func dropEmptyChildren(_ inner: inout ClusterInner) throws(RealmError) {
        let children = inner.count
        guard children <= Format.clusterCapacity else {
            throw .corrupt("inner cluster with too many children", at: inner.ref.offset)
        }
        var offsets = try inner.generalOffsets(store)
        let kept = UnsafeMutablePointer<UInt16>.allocate(capacity: Format.clusterCapacity)
        defer { kept.deallocate() }
        var count = 0
        for i in 0..<children where try !inner.child(i).isNull {
            kept[count] = UInt16(i)
            count += 1
        }
        let rows = KeptRows(rows: kept, count: count, total: children)
        try store.keepUnsigned(&offsets, rows)
        try inner.keepChildren(store, rows)
        inner.setOffsets(store, offsets)
        if count > 0 { try rebaseFirstChild(&inner) }
    }

    /// Merges neighbours that became small, by the same rule as single erasures.
    private func mergeSmallChildren(_ inner: inout ClusterInner) throws(RealmError) {
        guard inner.count > 1 else { return }
        var i = 0
        var size = try nodeSize(try inner.child(0))
        while i + 1 < inner.count {
            let ref = try inner.child(i)
            let nextSize = try nodeSize(try inner.child(i + 1))
            guard size < Format.clusterCapacity / 2, size + nextSize < Format.clusterCapacity * 3 / 4,
                store.isOwn(ref)
            else {
                size = nextSize
                i += 1
                continue
            }
            var child = try store.writableRefs(try store.refsNode(ref))
            try mergeChildren(&inner, i, &child)
            size += nextSize
        }
    }

    private func eraseRows(
        _ node: Node, _ keys: UnsafeBufferPointer<ObjKey>, base: UInt64, _ kept: UnsafeMutablePointer<UInt16>
    ) throws(RealmError) -> Int {
        var cluster = try ClusterLeaf(store, node)
        let total = cluster.count
        guard total >= keys.count else {
            throw .corrupt("cluster with an impossible number of objects", at: node.ref.offset)
        }
        try cluster.checkHolds(columns: columns.count)
        var count = 0, k = 0
        for row in 0..<total {
            if k < keys.count && cluster.key(row) &+ base == UInt64(bitPattern: keys[k].raw) {
                k += 1
            } else {
                kept[count] = UInt16(row)
                count += 1
            }
        }
        guard k == keys.count else { throw .corrupt("object not where it was found", at: node.ref.offset) }
        let rows = KeptRows(rows: kept, count: count, total: total)
        for index in 0..<columns.count {
            guard let column = columns[index] else { continue }
            let leaf = try cluster.column(index)
            if column.ownsTrees { try destroyOwned(try store.refsNode(leaf), except: rows) }
            let new = try column.kind.keep(store, leaf, rows)
            if new != leaf { cluster.setColumn(store, index, new) }
        }
        try cluster.keep(store, rows)
        return count
    }

    private func destroyOwned(_ leaf: Node, except kept: KeptRows) throws(RealmError) {
        var next = 0
        for i in 0..<kept.total {
            if next < kept.count && kept[next] == i {
                next += 1
                continue
            }
            let owned = try leaf.slot(i)
            if !owned.isTagged { try store.destroy(owned.ref) }
        }
    }
}
