/// Erasing many rows in one walk over the clusters. Format: logical §5.4.
extension ClusterTree {
    /// Removes the rows of objects, which all exist, with the collections and backlink lists they own. `keys` ascend strictly.
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
        // A root with one child gives way to it; its offset is 0.
        while top.isInner && top.count == 4 {
            let child = try top.child(3)
            let first = try top.slot(0)
            if !first.isNull { try store.free(first.ref) }
            store.free(top)
            top = try store.writableRefs(try store.refsNode(child))
        }
        setRoot(top.ref)
    }

    /// Returns the node's size afterwards: objects of a leaf, children of an inner node.
    private func erase(
        _ n: inout Node, _ keys: UnsafeBufferPointer<ObjKey>, base: UInt64, _ kept: UnsafeMutablePointer<UInt16>, depth: Int
    ) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: n.ref.offset) }
        guard n.isInner else { return try eraseRows(n, keys, base: base, kept) }
        let levels = try levels(of: n)
        let total = try n.slot(2).integer
        guard total >= UInt64(keys.count) else { throw .corrupt("object counts do not add up", at: n.ref.offset) }
        store.setSlot(n, 2, RefOrTagged(tagged: total - UInt64(keys.count)))
        let children = n.count - 3
        var at = 0
        var anyEmpty = false
        for i in 0..<max(children, 0) where at < keys.count {
            var end = at
            if i + 1 < children {
                let next = base &+ (try offsetOfChild(n, i + 1, levels: levels))
                while end < keys.count && UInt64(bitPattern: keys[end].raw) < next { end += 1 }
            } else {
                end = keys.count
            }
            if end == at { continue }
            let old = try n.child(i + 3)
            if levels == 1, try nodeSize(old) == end - at {
                // All of a cluster.
                try store.destroy(old)
                store.setSlot(n, i + 3, .null)
                anyEmpty = true
            } else {
                var c = try store.writableRefs(try store.refsNode(old))
                if c.ref != old { store.setSlot(n, i + 3, c.ref) }
                let offset = try offsetOfChild(n, i, levels: levels)
                let size = try erase(&c, UnsafeBufferPointer(rebasing: keys[at..<end]), base: base &+ offset, kept, depth: depth + 1)
                if size == 0 { try store.destroy(c.ref) }
                store.setSlot(n, i + 3, size == 0 ? .null : c.ref)
                anyEmpty = anyEmpty || size == 0
            }
            at = end
        }
        guard at == keys.count else { throw .corrupt("object not where it was found", at: n.ref.offset) }
        if anyEmpty { try dropEmptyChildren(&n, levels: levels) }
        try mergeSmallChildren(&n, levels: levels)
        return n.count - 3
    }

    private func dropEmptyChildren(_ n: inout Node, levels: Int) throws(RealmError) {
        var offsets = try generalOffsets(n, levels: levels)
        let children = n.count - 3
        guard children <= Format.clusterCapacity, offsets.count >= children else {
            throw .corrupt("inner cluster with too few offsets", at: n.ref.offset)
        }
        let kept = UnsafeMutablePointer<UInt16>.allocate(capacity: Format.clusterCapacity)
        defer { kept.deallocate() }
        var count = 0
        for i in 0..<children where try !n.child(i + 3).isNull {
            kept[count] = UInt16(i)
            count += 1
        }
        let rows = KeptRows(rows: kept, count: count, total: children)
        try store.keepUnsigned(&offsets, rows)
        try store.keepSlots(&n, rows, first: 3)
        if count > 0, case let f = offsets.getUnsigned(0), f != 0 {
            let w = try store.writableRefs(try store.refsNode(try n.child(3)))
            store.setSlot(n, 3, w.ref)
            try rebase(w, by: f)
            try store.setUnsigned(&offsets, 0, 0)
        }
        store.setSlot(n, 0, offsets.ref)
    }

    /// Joins neighbours that became small, as erasing one by one does.
    private func mergeSmallChildren(_ n: inout Node, levels: Int) throws(RealmError) {
        guard n.count > 4 else { return }
        var i = 0
        var size = try nodeSize(try n.child(3))
        while i + 1 < n.count - 3 {
            let ref = try n.child(i + 3), next = try n.child(i + 4)
            let nextSize = try nodeSize(next)
            guard size < Format.clusterCapacity / 2, size + nextSize < Format.clusterCapacity * 3 / 4, !store.isInFile(ref) else {
                size = nextSize
                i += 1
                continue
            }
            let distance = try offsetOfChild(n, i + 1, levels: levels) &- (try offsetOfChild(n, i, levels: levels))
            var c = try store.writableRefs(try store.refsNode(ref))
            try merge(&c, try store.writableRefs(try store.refsNode(next)), distance: distance)
            store.setSlot(n, i + 3, c.ref)
            var offsets = try generalOffsets(n, levels: levels)
            try store.eraseUnsigned(&offsets, i + 1)
            store.setSlot(n, 0, offsets.ref)
            try store.eraseSlots(&n, i + 4)
            size += nextSize
        }
    }

    private func eraseRows(
        _ n: Node, _ keys: UnsafeBufferPointer<ObjKey>, base: UInt64, _ kept: UnsafeMutablePointer<UInt16>
    ) throws(RealmError) -> Int {
        let first = try n.slot(0)
        let present = first.isTagged ? nil : try store.integers(first.ref)
        let total = present?.count ?? Int(truncatingIfNeeded: first.integer)
        guard total >= keys.count, total <= Format.clusterCapacity, n.count > columns.count else {
            throw .corrupt("cluster with an impossible number of objects or columns", at: n.ref.offset)
        }
        var count = 0, k = 0
        for row in 0..<total {
            if k < keys.count && (present?.getUnsigned(row) ?? UInt64(row)) &+ base == UInt64(bitPattern: keys[k].raw) {
                k += 1
            } else {
                kept[count] = UInt16(row)
                count += 1
            }
        }
        guard k == keys.count else { throw .corrupt("object not where it was found", at: n.ref.offset) }
        let rows = KeptRows(rows: kept, count: count, total: total)
        for c in 0..<columns.count {
            guard let column = columns[c] else { continue }
            let leaf = try n.child(c + 1)
            if column.ownsTrees { try destroyOwned(try store.refsNode(leaf), except: rows) }
            let new = try column.kind.keep(store, leaf, rows)
            if new != leaf { store.setSlot(n, c + 1, new) }
        }
        if present == nil && (count == 0 || rows[count - 1] == count - 1) {
            store.setSlot(n, 0, RefOrTagged(tagged: count))
        } else {
            var general = try generalKeys(n)
            try store.keepUnsigned(&general, rows)
            store.setSlot(n, 0, general.ref)
        }
        return count
    }
    private func destroyOwned(_ leaf: Node, except kept: KeptRows) throws(RealmError) {
        var k = 0
        for i in 0..<kept.total {
            if k < kept.count && kept[k] == i {
                k += 1
                continue
            }
            let owned = try leaf.slot(i)
            if !owned.isTagged { try store.destroy(owned.ref) }
        }
    }
}
