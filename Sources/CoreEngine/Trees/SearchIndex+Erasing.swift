/// Removing entries. Lists, sub-indexes and nodes that become empty are removed too.
extension SearchIndex {
    /// Removes `key` from the objects with this value. A missing entry is ignored: other writers may leave stale
    /// indexes.
    mutating func erase(_ value: Mixed, _ key: ObjKey) throws(RealmError) {
        guard let data = IndexData(value) else { return }
        let wasSound = store.isChecked() && isSound(near: value)
        var ref = root
        _ = try erase(&ref, 0, depth: 0) {
            data.chunk($0)
        } remove: { (entry, _) throws(RealmError) in
            try self.remove(entry, key)
        }
        try lower(&ref)
        root = ref
        assert(!wasSound || isSound(near: value), "an erasure broke the index")
    }

    /// The entry without `key`; nil if it becomes empty.
    func remove(_ entry: RefOrTagged, _ key: ObjKey) throws(RealmError) -> RefOrTagged? {
        if entry.isTagged { return Int64(entry.integer) == key.raw ? nil : entry }
        var list = BPlusTree(store, kind: .int, root: entry.ref)
        let count = try list.count()
        // As a rule the list has one value, and its keys ascend. If the binary search fails, all keys are compared.
        var index = try position(list, 0..<count, key)
        let there = index < count ? try self.key(list, index) == key : false
        if !there {
            index = 0
            while index < count, try self.key(list, index) != key { index += 1 }
            if index == count { return entry }
        }
        if count == 1 {
            try store.destroy(list.root)
            return nil
        }
        try list.erase(index)
        return RefOrTagged(list.root)
    }

    /// Removes an entry below `ref`; true if the node became empty. Sub-indexes continue at `offset + 4`.
    func erase(
        _ ref: inout Ref, _ offset: Int, depth: Int, chunk: (Int) -> Int32,
        remove: (RefOrTagged, Int) throws(RealmError) -> RefOrTagged?
    ) throws(RealmError) -> Bool {
        guard depth < 512 else { throw .corrupt("index too deep", at: ref.offset) }
        var (node, keys) = try open(ref)
        let wanted = chunk(offset)
        let position = Self.search(keys, wanted)
        guard position < keys.count else { return false }
        let entry = try node.slot(position + 1)
        var replacement: RefOrTagged? = entry
        if node.isInner {
            var child = entry.ref
            let empty = try erase(&child, offset, depth: depth + 1, chunk: chunk, remove: remove)
            if empty {
                try store.destroy(child)
                replacement = nil
            } else {
                replacement = RefOrTagged(child)
                let last = try lastKey(child)
                if keys.get(position) != last {
                    try store.setInteger(&keys, position, last)
                    node = try store.writableRefs(node)
                    store.setSlot(node, 0, keys.ref)
                    ref = node.ref
                }
            }
        } else {
            guard keys.get(position) == Int64(wanted) else { return false }
            if !entry.isTagged, try store.node(entry.ref).context {
                var child = entry.ref
                if try erase(&child, offset + 4, depth: depth + 1, chunk: chunk, remove: remove) {
                    try store.destroy(child)
                    replacement = nil
                } else {
                    try lower(&child)
                    replacement = RefOrTagged(child)
                }
            } else {
                replacement = try remove(entry, offset)
            }
        }
        guard replacement != entry else { return false }
        node = try store.writableRefs(node)
        ref = node.ref
        if let replacement {
            store.setSlot(node, position + 1, replacement)
            return false
        }
        try store.eraseIntegers(&keys, position)
        if keys.count == 0 {
            store.setWidth(&keys, 32)
            store.storeHeader(keys)
        }
        store.setSlot(node, 0, keys.ref)
        try store.eraseSlots(&node, position + 1)
        return keys.count == 0
    }

    /// Replaces an inner root with one child by that child, and an inner root without children by an empty leaf.
    func lower(_ ref: inout Ref) throws(RealmError) {
        for _ in 0..<Trees.maxDepth {
            let (node, keys) = try open(ref)
            guard node.isInner, node.count <= 2 else { return }
            let child = node.count == 2 ? try node.child(1) : try Self.create(store)
            store.free(keys)
            store.free(node)
            ref = child
        }
    }

    /// Empties the index.
    mutating func clear() throws(RealmError) {
        try store.destroy(root)
        root = try Self.create(store)
    }
}
