import Synchronization

/// Stable keys: numbers that identify the collections nested in a tree of Mixed values. A key stays the same while
/// other elements are inserted, erased or moved. Keys are unique in a tree and never 0. Format: logical §6.11.
extension BPlusTree {
    /// Index of the nested collection with this stable key; nil if it does not exist (any more). Only for trees of
    /// Mixed values.
    func index(ofKey key: Int64) throws(RealmError) -> Int? {
        var found: Int?
        try forEachLeaf { (leaf, first, _) throws(RealmError) in
            if let index = try MixedLeaf.index(store, leaf, ofKey: key) { found = first + index }
            return found == nil
        }
        return found
    }

    func key(_ position: Int) throws(RealmError) -> Int64 {
        let (leaf, index) = try Self.leaf(store, root, position)
        return try MixedLeaf.key(store, leaf, index)
    }

    mutating func setKey(_ index: Int, _ key: Int64) throws(RealmError) {
        root = try setKey(root, index, key, depth: 0)
    }

    private func setKey(_ ref: Ref, _ index: Int, _ key: Int64, depth: Int) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        let node = try store.node(ref)
        if !node.isInner { return try MixedLeaf.setKey(store, ref, index, key) }
        let (child, within) = try Self.childIndex(store, node, index)
        let new = try setKey(try node.child(child + 1), within, key, depth: depth + 1)
        let slabNode = try store.writableRefs(node)
        store.setSlot(slabNode, child + 1, new)
        return slabNode.ref
    }

    /// Gives the nested collection at `position` a new key: not 0, and unique in this tree. Small trees use small
    /// keys, so that the array of keys stays narrow. Format: logical §6.11.
    mutating func assignKey(_ position: Int) throws(RealmError) {
        let count = try count()
        let bits = count < 16 ? 8 : (count < 4096 ? 16 : 32)
        var key = Int64(bitPattern: StableKeys.next() << UInt64(64 - bits)) >> Int64(64 - bits)
        while true {
            if key != 0, try index(ofKey: key) == nil { break }
            key = key == (1 << (bits - 1)) - 1 ? -(1 << (bits - 1)) : key + 1
        }
        try setKey(position, key)
    }
}

/// Where new stable keys come from: consecutive numbers from a random start. So a handle of a collection that was
/// removed does not soon find another collection under its key, as it would with small random numbers.
enum StableKeys {
    private static let start = UInt64.random(in: 0 ... .max)
    private static let taken = Atomic<UInt64>(0)

    static func next() -> UInt64 { start &+ taken.add(1, ordering: .relaxed).newValue }
}

extension BPlusTree {
    /// First position of an integer in a tree of integers or plain object keys.
    func firstIndex(ofInteger value: Int64) throws(RealmError) -> Int? {
        var found: Int?
        try forEachLeaf { (leaf, first, count) throws(RealmError) in
            let node = try store.integers(leaf)
            guard let i = node.firstIndex(of: value) else { return true }
            found = first + i
            return false
        }
        return found
    }

    /// Calls `body` with each element of a tree of integers, also of a node of any length (`splitOversized`).
    func forEachInteger(_ body: (Int64) throws(RealmError) -> Void) throws(RealmError) {
        let node = try store.node(root)
        if !node.isInner {
            let all = try store.integers(root)
            for i in 0..<all.count { try body(all.get(i)) }
            return
        }
        try forEachLeaf { (leaf, _, _) throws(RealmError) in
            let some = try store.integers(leaf)
            for i in 0..<some.count { try body(some.get(i)) }
            return true
        }
    }

    /// Before format 24, a backlink list was a single node of any length. A node beyond the capacity of a tree leaf is
    /// converted to a tree.
    ///
    /// - Returns: the root of the tree; `ref` when nothing had to be done.
    static func splitOversized(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Ref {
        let node = try store.node(ref)
        guard !node.isInner, node.count > Format.treeCapacity else { return ref }
        let old = try store.integers(ref)
        var tree = try BPlusTree.create(store, kind: .int)
        for i in 0..<old.count { try tree.append(.int(old.get(i))) }
        try store.destroy(ref)
        return tree.root
    }

    /// Whether a list of links is marked as one that may hold links to objects that do not exist yet.
    static func isMarked(_ store: NodeStore, _ root: Ref) throws(RealmError) -> Bool { try store.node(root).context }
}
