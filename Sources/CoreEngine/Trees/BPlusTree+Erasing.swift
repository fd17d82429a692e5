/// Erasing elements. An inner node always has children, and an inner root has at least two. A node that became small is
/// merged with the next node if both together are small enough.
extension BPlusTree {
    mutating func erase(_ index: Int) throws(RealmError) {
        let wasSound = store.isChecked() && isSound(near: index)
        try eraseElement(index)
        assert(!wasSound || isSound(near: index), "an erasure broke the tree")
    }

    private mutating func eraseElement(_ index: Int) throws(RealmError) {
        let node = try store.node(root)
        if !node.isInner {
            root = try kind.erase(store, root, index)
            return
        }
        let context = node.context
        _ = try erase(&root, index, depth: 0)
        // A root with one child is replaced by that child.
        while true {
            let top = try store.node(root)
            guard top.isInner, top.count == 3 else { break }
            let child = try top.child(1)
            let first = try top.slot(0)
            if !first.isTagged { try store.free(first.ref) }
            store.free(top)
            root = child
        }
        if context && kind == .objKey {
            var top = try store.node(root)
            if !top.context {
                top = top.isInner ? try store.writableRefs(top) : try store.writable(top)
                store.setFlags(&top, context: true)
                root = top.ref
            }
        }
    }

    /// Returns the size of the node afterwards (children or elements); 0 means empty.
    private func erase(_ ref: inout Ref, _ index: Int, depth: Int) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var node = try store.node(ref)
        guard node.isInner else {
            ref = try kind.erase(store, ref, index)
            return try kind.count(store, ref)
        }
        node = try store.writableRefs(node)
        ref = node.ref
        try makeGeneral(node)
        let total = try Self.innerTotal(store, node)
        guard index < total else { throw .corrupt("tree index out of range", at: ref.offset) }
        let children = node.count - 2
        let (childIndex, within) = try Self.childIndex(store, node, index)
        var child = try node.child(childIndex + 1)
        let size = try erase(&child, within, depth: depth + 1)
        store.setSlot(node, childIndex + 1, child)
        store.setSlot(node, node.count - 1, RefOrTagged(tagged: total - 1))
        try addToOffsets(node, from: childIndex, by: -1)
        if size == 0 {
            if children == 1 { return 0 }
            try store.destroy(child)
            var offsets = try store.integers(try node.child(0))
            try store.eraseUnsigned(&offsets, min(childIndex, children - 2))
            store.setSlot(node, 0, offsets.ref)
            try store.eraseSlots(&node, childIndex + 1)
            ref = node.ref
            return children - 1
        }
        if size < capacity / 2 && childIndex + 1 < children {
            let sibling = try node.child(childIndex + 2)
            if size + (try nodeSize(sibling)) < capacity * 3 / 4 {
                try merge(&child, sibling, firstCount: try Self.count(store, kind, child))
                store.setSlot(node, childIndex + 1, child)
                var offsets = try store.integers(try node.child(0))
                try store.eraseUnsigned(&offsets, childIndex)
                store.setSlot(node, 0, offsets.ref)
                try store.eraseSlots(&node, childIndex + 2)
                ref = node.ref
                return children - 1
            }
        }
        return children
    }

    private func nodeSize(_ ref: Ref) throws(RealmError) -> Int {
        let node = try store.node(ref)
        return node.isInner ? node.count - 2 : try kind.count(store, ref)
    }

    /// Moves all children or elements of `sibling` to the end of `child` and frees `sibling`.
    private func merge(_ child: inout Ref, _ sibling: Ref, firstCount: Int) throws(RealmError) {
        var first = try store.node(child)
        var second = try store.node(sibling)
        guard first.isInner == second.isInner else { throw .corrupt("tree of uneven depth", at: child.offset) }
        if !first.isInner {
            var from = sibling
            try kind.moveTail(store, from: &from, start: 0, to: &child)
            try store.destroy(from)
            return
        }
        first = try store.writableRefs(first)
        second = try store.writableRefs(second)
        try makeGeneral(first)
        try makeGeneral(second)
        var offsets = try store.integers(try first.child(0))
        let other = try store.integers(try second.child(0))
        let secondCount = try Self.innerTotal(store, second)
        try store.insertUnsigned(&offsets, offsets.count, UInt64(firstCount))
        for j in 0..<other.count {
            try store.insertUnsigned(&offsets, offsets.count, other.getUnsigned(j) &+ UInt64(firstCount))
        }
        store.setSlot(first, 0, offsets.ref)
        for j in 1..<(second.count - 1) { try store.insertSlot(&first, first.count - 1, try second.slot(j)) }
        store.setSlot(first, first.count - 1, RefOrTagged(tagged: firstCount + secondCount))
        store.free(other)
        store.free(second)
        child = first.ref
    }

    /// Empties the tree.
    mutating func clear() throws(RealmError) {
        try store.destroy(root)
        root = try kind.create(store)
    }
}
