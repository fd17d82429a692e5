/// Stable keys: numbers that name the collections nested in a tree of Mixed values for as long as they live, however
/// the elements shift. No two of a tree are the same, and none is 0. Format: logical §6.11.
extension BPlusTree {
    /// Index of the nested collection with this stable key, nil when there is none (any more). Trees of Mixed values.
    func index(ofKey key: Int64) throws(RealmError) -> Int? {
        var found: Int?
        try forEachLeaf { (leaf, first, _) throws(RealmError) in
            if let i = try MixedLeaf.index(store, leaf, ofKey: key) { found = first + i }
            return found == nil
        }
        return found
    }

    func key(_ i: Int) throws(RealmError) -> Int64 {
        let (leaf, index) = try Self.leaf(store, root, i)
        return try MixedLeaf.key(store, leaf, index)
    }

    mutating func setKey(_ i: Int, _ key: Int64) throws(RealmError) { root = try setKey(root, i, key, depth: 0) }

    private func setKey(_ ref: Ref, _ i: Int, _ key: Int64, depth: Int) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        let n = try store.node(ref)
        if !n.isInner { return try MixedLeaf.setKey(store, ref, i, key) }
        let (c, within) = try Self.childIndex(store, n, i)
        let new = try setKey(try n.child(c + 1), within, key, depth: depth + 1)
        let w = try store.writableRefs(n)
        store.setSlot(w, c + 1, new)
        return w.ref
    }

    /// A new key for a nested collection at `i`: random, not zero, and unlike all others of this tree. Small trees take
    /// small keys, so that the array of keys stays narrow. Format: logical §6.11.
    mutating func assignKey(_ i: Int) throws(RealmError) {
        let count = try count()
        let bits = count < 16 ? 8 : (count < 4096 ? 16 : 32)
        var key = Int64(bitPattern: Crypto.randomWord()) >> Int64(64 - bits)
        while true {
            if key != 0, try index(ofKey: key) == nil { break }
            key = key == (1 << (bits - 1)) - 1 ? -(1 << (bits - 1)) : key + 1
        }
        try setKey(i, key)
    }
}
