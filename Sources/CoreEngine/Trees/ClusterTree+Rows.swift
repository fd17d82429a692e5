/// Inserting and erasing rows: splits, merges, rebasing of keys. Format: logical §5.1–§5.4.
extension ClusterTree {
    /// Adds an object. `initial` replaces the default value of one column (the primary key). Afterwards the cursor is
    /// at the leaf of the new row, or is invalid if a node split. Returns false if the key exists.
    func insert(_ key: ObjKey, initial: (column: Int, value: Mixed)? = nil) throws(RealmError) -> Bool {
        let wasSound = store.isChecked() && isSound(near: key)
        let isNew = try insertRow(key, initial: initial)
        assert(!wasSound || isSound(near: key), "an insertion broke the rows")
        return isNew
    }

    @inline(__always) private func insertRow(_ key: ObjKey, initial: (column: Int, value: Mixed)?) throws(RealmError)
        -> Bool
    {
        let raw = UInt64(bitPattern: key.raw)
        if try append(raw, initial: initial) { return true }
        invalidateCursors()
        var top = try store.writableRefs(try store.refsNode(root))
        setRootKeepingCursor(top.ref)
        var inserted = true
        let split = try insert(&top, raw, base: 0, low: 0, high: .max, depth: 0, initial: initial, &inserted)
        setRootKeepingCursor(top.ref)
        guard let split else { return inserted }
        cursor.isValid = false
        let depth = top.isInner ? try ClusterInner(store, top).depth : 0
        let total = try count() &+ (try subtreeCount(split.ref))
        let compact = depth < 7 && split.key == 1 << UInt64(8 * (depth + 1))
        let first = compact ? Ref.null : try store.makeUnsigned([0, split.key]).ref
        let newRoot = try store.makeRefs(
            [
                RefOrTagged(first), RefOrTagged(tagged: depth + 1), RefOrTagged(tagged: total), RefOrTagged(top.ref),
                RefOrTagged(split.ref),
            ],
            inner: true)
        setRoot(newRoot.ref)
        return true
    }

    /// Fast path: appends a new largest key to the last leaf without a descent, if the cursor is still there from the
    /// previous insertion.
    @inline(__always) private func append(_ key: UInt64, initial: (column: Int, value: Mixed)?) throws(RealmError)
        -> Bool
    {
        guard try cursor.append(store, key) else { return false }
        try appendToColumns(cursor.count &- 1, initial)
        cursor.countAppended()
        return true
    }

    private struct Split {
        var ref: Ref

        /// Where the new node starts, relative to the node that split.
        var key: UInt64
    }

    private func insert(
        _ node: inout Node, _ key: UInt64, base: UInt64, low: UInt64, high: UInt64, depth: Int,
        initial: (column: Int, value: Mixed)?,
        _ inserted: inout Bool
    ) throws(RealmError) -> Split? {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: node.ref.offset) }
        guard node.isInner else {
            return try insertInLeaf(node, key, base: base, low: low, high: high, initial: initial, &inserted)
        }
        var inner = try ClusterInner(store, node)
        let childIndex = try inner.find(key), offset = inner.offset(childIndex), children = inner.count
        let total = try inner.objects()
        var childHigh = high
        if childIndex + 1 < children { childHigh = base &+ inner.offset(childIndex + 1) &- 1 }
        let old = try inner.child(childIndex)
        var child = try store.writableRefs(try store.refsNode(old))
        let split = try insert(
            &child, key &- offset, base: base &+ offset, low: base &+ offset, high: childHigh, depth: depth + 1,
            initial: initial, &inserted)
        if child.ref != old { inner.setChild(store, childIndex, child.ref) }
        guard inserted else { return nil }
        if cursor.isValid {
            if !child.isInner {
                cursor.parent = inner.node
                cursor.childIndex = childIndex
            }
            cursor.rise(to: node)
        }
        guard let split else {
            inner.setObjects(store, total + 1)
            return nil
        }
        let splitKey = split.key &+ offset
        if children < Format.clusterCapacity {
            inner.setObjects(store, total + 1)
            if !inner.isCompact(with: splitKey, at: children) {
                var offsets = try inner.generalOffsets(store)
                try store.insertUnsigned(&offsets, childIndex + 1, splitKey)
                inner.setOffsets(store, offsets)
            }
            try inner.insertChild(store, childIndex + 1, split.ref)
            node = inner.node
            return nil
        }
        // The node is full: create a sibling.
        if childIndex == children - 1 {
            let size = try subtreeCount(split.ref)
            let sibling = try store.makeRefs(
                [
                    RefOrTagged(.null), RefOrTagged(tagged: inner.depth), RefOrTagged(tagged: size),
                    RefOrTagged(split.ref),
                ], inner: true)
            inner.setObjects(store, total &+ 1 &- UInt64(size))
            return Split(ref: sibling.ref, key: splitKey)
        }
        var offsets = try inner.generalOffsets(store)
        let cut = offsets.getUnsigned(childIndex + 1)
        var movedOffsets: [UInt64] = []
        var moved: [RefOrTagged] = []
        var movedSize = 0
        for j in (childIndex + 1)..<children {
            movedOffsets.append(offsets.getUnsigned(j) &- cut)
            moved.append(RefOrTagged(try inner.child(j)))
            movedSize &+= try subtreeCount(try inner.child(j))
        }
        let siblingOffsets = try store.makeUnsigned(movedOffsets).ref
        let sibling = try store.makeRefs(
            [RefOrTagged(siblingOffsets), RefOrTagged(tagged: inner.depth), RefOrTagged(tagged: movedSize)] + moved,
            inner: true)
        try store.eraseUnsigned(&offsets, childIndex + 1, offsets.count - childIndex - 1)
        try store.insertUnsigned(&offsets, childIndex + 1, splitKey)
        inner.setOffsets(store, offsets)
        try inner.eraseChildren(store, childIndex + 1, children - childIndex - 1)
        try inner.insertChild(store, childIndex + 1, split.ref)
        inner.setObjects(store, total &+ 1 &- UInt64(movedSize))
        node = inner.node
        return Split(ref: sibling.ref, key: cut)
    }

    private func insertInLeaf(
        _ node: Node, _ key: UInt64, base: UInt64, low: UInt64, high: UInt64, initial: (column: Int, value: Mixed)?,
        _ inserted: inout Bool
    ) throws(RealmError) -> Split? {
        var leaf = try ClusterLeaf(store, node)
        let position = leaf.position(key)
        inserted = leaf.row(key) == nil
        guard inserted else { return nil }
        if leaf.count < Format.clusterCapacity {
            try leaf.insert(store, key, at: position)
            try insertRow(leaf, position, initial)
            forgetOpened()
            cursor.stand(at: leaf, offset: base, low: low, high: high)
            return nil
        }
        // The leaf is full: split it.
        cursor.isValid = false
        var new = try ClusterLeaf(store, try store.refsNode(try Self.create(store, columns: columns)))
        if position == leaf.count {
            try new.insert(store, 0, at: 0)
            try insertRow(new, 0, initial)
            return Split(ref: new.ref, key: key)
        }
        let keys = try leaf.generalKeys(store)
        let cut = keys.getUnsigned(position)
        let moved = (position..<leaf.count).map { keys.getUnsigned($0) &- cut }
        store.setSlot(new.node, 0, try store.makeUnsigned(moved).ref)
        try moveRows(from: leaf, position, to: new)
        try leaf.cut(store, at: position, inserting: key)
        try insertRow(leaf, position, initial)
        return Split(ref: new.ref, key: cut)
    }

    /// Inserts one element into every column leaf of `cluster`.
    private func insertRow(_ cluster: ClusterLeaf, _ position: Int, _ initial: (column: Int, value: Mixed)?)
        throws(RealmError)
    {
        try cluster.checkHolds(columns: columns.count)
        for index in 0..<columns.count {
            guard let column = columns[index] else { continue }
            let leaf = try cluster.column(index)
            var value = column.initial
            if let initial, initial.column == index { value = initial.value }
            let new = try column.kind.insert(store, leaf, position, value)
            if new != leaf { cluster.setColumn(store, index, new) }
        }
    }

    /// Moves the elements from `start` on, in every column leaf.
    private func moveRows(from: ClusterLeaf, _ start: Int, to: ClusterLeaf) throws(RealmError) {
        try from.checkHolds(columns: columns.count)
        try to.checkHolds(columns: columns.count)
        for index in 0..<columns.count {
            guard let column = columns[index] else { continue }
            var source = try from.column(index)
            var target = try to.column(index)
            try column.kind.moveTail(store, from: &source, start: start, to: &target)
            from.setColumn(store, index, source)
            to.setColumn(store, index, target)
        }
    }

    // MARK: Erasing

    /// Removes the row of an object, with the collections and backlink lists that it owns; false if the object does not
    /// exist.
    func erase(_ key: ObjKey) throws(RealmError) -> Bool {
        guard try locate(key) != nil else { return false }
        let wasSound = store.isChecked() && isSound(near: key)
        try eraseRow(key)
        assert(!wasSound || isSound(near: key), "an erasure broke the rows")
        return true
    }

    private func eraseRow(_ key: ObjKey) throws(RealmError) {
        invalidateCursors()
        var top = try store.writableRefs(try store.refsNode(root))
        _ = try erase(&top, UInt64(bitPattern: key.raw), depth: 0)
        try setTop(top)
    }

    /// Makes a slab node the root. A root with a single child is replaced by that child, whose offset is 0.
    func setTop(_ node: Node) throws(RealmError) {
        var top = node
        while top.isInner && top.count == 4 {
            let child = try ClusterInner(store, top).child(0)
            let offsets = try top.child(0)
            if !offsets.isNull { try store.free(offsets) }
            store.free(top)
            top = try store.writableRefs(try store.refsNode(child))
        }
        setRoot(top.ref)
    }

    /// Returns the node's size afterwards: objects of a leaf, children of an inner node.
    private func erase(_ node: inout Node, _ key: UInt64, depth: Int) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: node.ref.offset) }
        guard node.isInner else { return try eraseInLeaf(node, key) }
        var inner = try ClusterInner(store, node)
        let childIndex = try inner.find(key), offset = inner.offset(childIndex), children = inner.count
        let total = try inner.objects()
        guard total > 0 else { throw .corrupt("object counts do not add up", at: node.ref.offset) }
        inner.setObjects(store, total - 1)
        let old = try inner.child(childIndex)
        var child = try store.writableRefs(try store.refsNode(old))
        if child.ref != old { inner.setChild(store, childIndex, child.ref) }
        let size = try erase(&child, key &- offset, depth: depth + 1)
        inner.setChild(store, childIndex, child.ref)
        if size == 0 {
            try store.destroy(child.ref)
            var offsets = try inner.generalOffsets(store)
            try inner.eraseChildren(store, childIndex)
            try store.eraseUnsigned(&offsets, childIndex)
            inner.setOffsets(store, offsets)
            if childIndex == 0 && children > 1 { try rebaseFirstChild(&inner) }
            node = inner.node
            return children - 1
        }
        if size < Format.clusterCapacity / 2 && childIndex + 1 < children {
            let next = try inner.child(childIndex + 1)
            if size + (try nodeSize(next)) < Format.clusterCapacity * 3 / 4 {
                try mergeChildren(&inner, childIndex, &child)
                node = inner.node
                return children - 1
            }
        }
        return children
    }

    /// Makes the first child start at 0 again, after the children before it were removed.
    func rebaseFirstChild(_ inner: inout ClusterInner) throws(RealmError) {
        let distance = inner.offset(0)
        guard distance != 0 else { return }
        let slabNode = try store.writableRefs(try store.refsNode(try inner.child(0)))
        inner.setChild(store, 0, slabNode.ref)
        try rebase(slabNode, by: distance)
        var offsets = try inner.generalOffsets(store)
        try store.setUnsigned(&offsets, 0, 0)
        inner.setOffsets(store, offsets)
    }

    /// Merges the child at `index + 1` into `child`, which is the child at `index`.
    func mergeChildren(_ inner: inout ClusterInner, _ index: Int, _ child: inout Node) throws(RealmError) {
        try merge(
            &child, try store.writableRefs(try store.refsNode(try inner.child(index + 1))),
            distance: inner.offset(index + 1) &- inner.offset(index))
        inner.setChild(store, index, child.ref)
        var offsets = try inner.generalOffsets(store)
        try store.eraseUnsigned(&offsets, index + 1)
        inner.setOffsets(store, offsets)
        try inner.eraseChildren(store, index + 1)
    }

    /// The size of a node: objects of a leaf, children of an inner node.
    func nodeSize(_ ref: Ref) throws(RealmError) -> Int {
        let node = try store.refsNode(ref)
        return node.isInner ? try ClusterInner(store, node).count : try ClusterLeaf(store, node).count
    }

    private func eraseInLeaf(_ node: Node, _ key: UInt64) throws(RealmError) -> Int {
        var cluster = try ClusterLeaf(store, node)
        guard let row = cluster.row(key) else { throw .corrupt("object not where it was found", at: node.ref.offset) }
        try cluster.checkHolds(columns: columns.count)
        for index in 0..<columns.count {
            guard let column = columns[index] else { continue }
            let leaf = try cluster.column(index)
            if column.ownsTrees, case .slot(let owned) = try column.kind.get(store, leaf, row), !owned.isTagged {
                try store.destroy(owned.ref)
            }
            let new = try column.kind.erase(store, leaf, row)
            if new != leaf { cluster.setColumn(store, index, new) }
        }
        try cluster.erase(store, row: row)
        return cluster.count
    }

    /// Adds `distance` to every key below `node`; the offset of `node` itself decreases by the same amount.
    private func rebase(_ node: Node, by distance: UInt64, depth: Int = 0) throws(RealmError) {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: node.ref.offset) }
        guard node.isInner else {
            var leaf = try ClusterLeaf(store, node)
            return try leaf.rebase(store, by: distance)
        }
        var inner = try ClusterInner(store, node)
        var offsets = try inner.generalOffsets(store)
        for i in 1..<inner.count { try store.setUnsigned(&offsets, i, offsets.getUnsigned(i) &+ distance) }
        inner.setOffsets(store, offsets)
        let slabNode = try store.writableRefs(try store.refsNode(try inner.child(0)))
        inner.setChild(store, 0, slabNode.ref)
        try rebase(slabNode, by: distance, depth: depth + 1)
    }

    /// Moves all rows or children of `second`, which starts `distance` after `first`, into `first`.
    private func merge(_ first: inout Node, _ second: Node, distance: UInt64) throws(RealmError) {
        guard first.isInner == second.isInner else {
            throw .corrupt("cluster tree of uneven depth", at: first.ref.offset)
        }
        if !first.isInner {
            var leaf = try ClusterLeaf(store, first)
            let other = try ClusterLeaf(store, second)
            try leaf.append(store, other, distance: distance)
            try moveRows(from: other, 0, to: leaf)
            try store.destroy(second.ref)
            return
        }
        var inner = try ClusterInner(store, first), other = try ClusterInner(store, second)
        var offsets = try inner.generalOffsets(store)
        let more = try other.generalOffsets(store)
        for i in 0..<other.count { try store.insertUnsigned(&offsets, offsets.count, more.getUnsigned(i) &+ distance) }
        inner.setOffsets(store, offsets)
        inner.setObjects(store, try inner.objects() + (try other.objects()))
        for i in 0..<other.count { try inner.insertChild(store, inner.count, try other.child(i)) }
        first = inner.node
        store.free(more)
        store.free(second)
    }

    // MARK: Columns

    /// Gives every cluster a leaf for a new column, filled with its initial value.
    func addColumn(_ index: Int, _ column: Column) throws(RealmError) {
        var limit = WalkLimit(store, each: leastLeafSize)
        setRoot(
            try eachLeaf(root, depth: 0, &limit) { (leafNode, count) throws(RealmError) in
                var node = leafNode
                while node.count < index + 2 { try store.insertSlot(&node, node.count, RefOrTagged(.null)) }
                var leaf = try column.kind.create(store)
                for i in 0..<count { leaf = try column.kind.insert(store, leaf, i, column.initial) }
                store.setSlot(node, index + 1, leaf)
                return node.ref
            })
        setColumn(index, column)
    }

    /// Frees the leaves of a column; the slot becomes 0, or is removed if it is the last slot.
    func removeColumn(_ index: Int) throws(RealmError) {
        var limit = WalkLimit(store, each: leastLeafSize)
        setRoot(
            try eachLeaf(root, depth: 0, &limit) { (leafNode, _) throws(RealmError) in
                var node = leafNode
                try store.destroy(try node.child(index + 1))
                if index + 2 == node.count {
                    try store.eraseSlots(&node, index + 1)
                } else {
                    store.setSlot(node, index + 1, .null)
                }
                return node.ref
            })
        var all = columns
        all[index] = nil
        if index == all.count - 1 { all.removeLast() }
        setColumns(all)
    }

    private func eachLeaf(
        _ ref: Ref, depth: Int, _ limit: inout WalkLimit, _ body: (Node, Int) throws(RealmError) -> Ref
    ) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
        try limit.enter(ref, store)
        let node = try store.writableRefs(try store.refsNode(ref))
        if !node.isInner { return try body(node, try ClusterLeaf(store, node).count) }
        let inner = try ClusterInner(store, node)
        for i in 0..<inner.count {
            inner.setChild(store, i, try eachLeaf(try inner.child(i), depth: depth + 1, &limit, body))
        }
        return node.ref
    }
}
