/// Erasing elements. An inner node never stays without children, nor a root with a single one; a node that became small
/// takes in its neighbour where both fit into one.
extension BPlusTree {
    mutating func erase(_ i: Int) throws(RealmError) {
        let wasSound = store.isChecked() && isSound(near: i)
        try eraseElement(i)
        assert(!wasSound || isSound(near: i), "an erasure broke the tree")
    }

    private mutating func eraseElement(_ i: Int) throws(RealmError) {
        let n = try store.node(root)
        if !n.isInner {
            root = try kind.erase(store, root, i)
            return
        }
        let context = n.context
        _ = try erase(&root, i, depth: 0)
        // A root with one child gives way to it.
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

    /// Returns the size of the subtree (children or elements) afterwards; 0 means empty.
    private func erase(_ ref: inout Ref, _ i: Int, depth: Int) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var n = try store.node(ref)
        guard n.isInner else {
            ref = try kind.erase(store, ref, i)
            return try kind.count(store, ref)
        }
        n = try store.writableRefs(n)
        ref = n.ref
        try makeGeneral(n)
        let total = try Self.innerTotal(store, n)
        guard i < total else { throw .corrupt("tree index out of range", at: ref.offset) }
        let children = n.count - 2
        let (c, within) = try Self.childIndex(store, n, i)
        var child = try n.child(c + 1)
        let size = try erase(&child, within, depth: depth + 1)
        store.setSlot(n, c + 1, child)
        store.setSlot(n, n.count - 1, RefOrTagged(tagged: total - 1))
        try addToOffsets(n, from: c, by: -1)
        if size == 0 {
            if children == 1 { return 0 }
            try store.destroy(child)
            var offsets = try store.integers(try n.child(0))
            try store.eraseUnsigned(&offsets, min(c, children - 2))
            store.setSlot(n, 0, offsets.ref)
            try store.eraseSlots(&n, c + 1)
            ref = n.ref
            return children - 1
        }
        if size < capacity / 2 && c + 1 < children {
            let sibling = try n.child(c + 2)
            if size + (try nodeSize(sibling)) < capacity * 3 / 4 {
                try merge(&child, sibling, firstCount: try Self.count(store, kind, child))
                store.setSlot(n, c + 1, child)
                var offsets = try store.integers(try n.child(0))
                try store.eraseUnsigned(&offsets, c)
                store.setSlot(n, 0, offsets.ref)
                try store.eraseSlots(&n, c + 2)
                ref = n.ref
                return children - 1
            }
        }
        return children
    }

    private func nodeSize(_ ref: Ref) throws(RealmError) -> Int {
        let n = try store.node(ref)
        return n.isInner ? n.count - 2 : try kind.count(store, ref)
    }

    /// Moves everything of `sibling` to the end of `child` and frees what is left of it.
    private func merge(_ child: inout Ref, _ sibling: Ref, firstCount: Int) throws(RealmError) {
        var a = try store.node(child)
        var b = try store.node(sibling)
        guard a.isInner == b.isInner else { throw .corrupt("tree of uneven depth", at: child.offset) }
        if !a.isInner {
            var from = sibling
            try kind.moveTail(store, from: &from, start: 0, to: &child)
            try store.destroy(from)
            return
        }
        a = try store.writableRefs(a)
        b = try store.writableRefs(b)
        try makeGeneral(a)
        try makeGeneral(b)
        var offsets = try store.integers(try a.child(0))
        let other = try store.integers(try b.child(0))
        let secondCount = try Self.innerTotal(store, b)
        try store.insertUnsigned(&offsets, offsets.count, UInt64(firstCount))
        for j in 0..<other.count {
            try store.insertUnsigned(&offsets, offsets.count, other.getUnsigned(j) &+ UInt64(firstCount))
        }
        store.setSlot(a, 0, offsets.ref)
        for j in 1..<(b.count - 1) { try store.insertSlot(&a, a.count - 1, try b.slot(j)) }
        store.setSlot(a, a.count - 1, RefOrTagged(tagged: firstCount + secondCount))
        store.free(other)
        store.free(b)
        child = a.ref
    }

    /// Empties the tree.
    mutating func clear() throws(RealmError) {
        try store.destroy(root)
        root = try kind.create(store)
    }
}
