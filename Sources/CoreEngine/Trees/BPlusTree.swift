/// A sequence of values in a B+tree of up to 1000 elements a leaf. A tree whose root is a leaf is just that leaf.
///
///     inner node:  [ per-child count (tagged) | ref to offsets ] child … child [ total (tagged) ]
///
/// Compact inner nodes hold the same number of elements in every child but the last; general ones list where each child
/// ends. Format: logical §7.
struct BPlusTree {
    let store: NodeStore
    let kind: LeafKind
    var root: Ref

    /// Leaf capacity; smaller in tests.
    var capacity = Format.treeCapacity

    /// New inner nodes state where each child begins. Needed where leaves end before the capacity that other engines
    /// know: these would fill the last leaf up, and count on equal leaves.
    var isAlwaysGeneral = false

    init(_ store: NodeStore, kind: LeafKind, root: Ref) {
        self.store = store
        self.kind = kind
        self.root = root
    }

    static func create(_ store: NodeStore, kind: LeafKind) throws(RealmError) -> BPlusTree {
        BPlusTree(store, kind: kind, root: try kind.create(store))
    }

    // MARK: Reading

    /// Number of elements.
    func count() throws(RealmError) -> Int { try Self.count(store, kind, root) }

    static func count(_ s: NodeStore, _ kind: LeafKind, _ ref: Ref) throws(RealmError) -> Int {
        let n = try s.node(ref)
        if !n.isInner { return try leafCount(s, kind, ref) }
        return try innerTotal(s, n)
    }

    /// Elements of a leaf. Those without bits take no room in the file, but what is made of them does: a leaf holds no
    /// more than a leaf may.
    static func leafCount(_ s: NodeStore, _ kind: LeafKind, _ ref: Ref) throws(RealmError) -> Int {
        let count = try kind.count(s, ref)
        guard count <= Format.treeCapacity else { throw .corrupt("impossible number of elements", at: ref.offset) }
        return count
    }

    static func innerTotal(_ s: NodeStore, _ n: Node) throws(RealmError) -> Int {
        guard n.count >= 3 else { throw .corrupt("inner tree node without children", at: n.ref.offset) }
        let total = try n.slot(n.count - 1)
        // Eight bytes of file hold at most 1000 elements (of width 0), whatever the node claims.
        guard total.isTagged, s.admits(total.integer, perByte: 125) else {
            throw .corrupt("impossible number of elements", at: n.ref.offset)
        }
        return Int(total.integer)
    }

    /// Child that holds element `i` and the index within it.
    @inline(__always) static func childIndex(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> (
        child: Int, within: Int
    ) {
        let children = n.count - 2
        guard children >= 1 else { throw .corrupt("inner tree node without children", at: n.ref.offset) }
        let first = try n.slot(0)
        if first.isTagged {
            let per = first.integer
            guard per > 0, per < 1 << 40 else {
                throw .corrupt("inner tree node with empty children", at: n.ref.offset)
            }
            let c = min(i / Int(per), children - 1)
            return (c, i - c * Int(per))
        }
        let offsets = try s.integers(first.ref)
        guard offsets.count >= children - 1 else {
            throw .corrupt("inner tree node with too few offsets", at: n.ref.offset)
        }
        var low = 0
        var length = children - 1
        while length > 0 {
            let half = length >> 1
            if offsets.getUnsigned(low + half) <= UInt64(i) {
                low += half + 1
                length -= half + 1
            } else {
                length = half
            }
        }
        let start = low == 0 ? 0 : offsets.getUnsigned(low - 1)
        guard start <= UInt64(i) else { throw .corrupt("tree offsets out of order", at: n.ref.offset) }
        return (low, i - Int(start))
    }

    /// The leaf that holds element `i`, and where in it.
    @inline(__always) static func leaf(_ s: NodeStore, _ root: Ref, _ i: Int) throws(RealmError) -> (
        ref: Ref, index: Int
    ) {
        var ref = root
        var index = i
        for _ in 0..<Trees.maxDepth {
            let n = try s.node(ref)
            if !n.isInner { return (ref, index) }
            let (c, within) = try childIndex(s, n, index)
            ref = try n.child(c + 1)
            index = within
        }
        throw .corrupt("tree too deep", at: root.offset)
    }

    /// Element `i`; out of range is a corrupt tree, so callers check against `count` first.
    @inline(__always) func get(_ i: Int) throws(RealmError) -> Mixed {
        let (leaf, index) = try Self.leaf(store, root, i)
        return try kind.get(store, leaf, index)
    }

    /// Calls `body` for each leaf in order until it returns false; `first` is the index of the leaf's first element.
    func forEachLeaf(_ body: (_ leaf: Ref, _ first: Int, _ count: Int) throws(RealmError) -> Bool) throws(RealmError) {
        var first = 0
        var goOn = true
        try Self.visit(store, kind, root, depth: 0, limit: try count(), &first, &goOn, body)
    }

    private static func visit(
        _ s: NodeStore, _ kind: LeafKind, _ ref: Ref, depth: Int, limit: Int, _ first: inout Int, _ goOn: inout Bool,
        _ body: (Ref, Int, Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        let n = try s.node(ref)
        if !n.isInner {
            let count = try leafCount(s, kind, ref)
            guard first + count <= limit, count > 0 || limit == 0 || depth == 0 else {
                throw .corrupt("element counts do not add up", at: ref.offset)
            }
            goOn = try body(ref, first, count)
            first += count
            return
        }
        guard n.count >= 3 else { throw .corrupt("inner tree node without children", at: ref.offset) }
        for c in 1..<n.count - 1 {
            try visit(s, kind, try n.child(c), depth: depth + 1, limit: limit, &first, &goOn, body)
            if !goOn { return }
        }
    }

    // MARK: Inserting

    mutating func append(_ v: Mixed) throws(RealmError) { try insert(try count(), v) }

    /// What an insertion did to a child: where its later elements went, if it split. `offset` and `size` count from the
    /// child's start.
    private struct Split {
        var sibling: Ref
        var offset: Int
        var size: Int
    }

    /// Inserts before element `i` (`i ≤ count`).
    mutating func insert(_ i: Int, _ v: Mixed) throws(RealmError) {
        let wasSound = store.isChecked() && isSound(near: i)
        try insertElement(i, v)
        assert(!wasSound || isSound(near: i), "an insertion broke the tree")
    }

    private mutating func insertElement(_ i: Int, _ v: Mixed) throws(RealmError) {
        let n = try store.node(root)
        if !n.isInner {
            let size = try kind.count(store, root)
            guard i <= size else { throw .corrupt("tree index out of range", at: root.offset) }
            if size < capacity {
                root = try kind.insert(store, root, i, v)
                return
            }
        }
        let append = n.isInner ? i == (try Self.innerTotal(store, n)) : i == (try kind.count(store, root))
        let wasCompact = n.isInner ? try n.slot(0).isTagged : true
        let context = n.context
        guard let split = try insert(&root, i, v, append: append, depth: 0) else { return }
        let first: RefOrTagged
        if append && wasCompact && !isAlwaysGeneral {
            first = RefOrTagged(tagged: split.offset)
        } else {
            first = RefOrTagged(try store.makeUnsigned([UInt64(split.offset)]).ref)
        }
        var top = try store.makeRefs(
            [first, RefOrTagged(root), RefOrTagged(split.sibling), RefOrTagged(tagged: split.size)], inner: true)
        // Trees of links keep their mark on the root.
        if context && kind == .objKey { store.setFlags(&top, context: true) }
        root = top.ref
    }

    private func insert(_ ref: inout Ref, _ i: Int, _ v: Mixed, append: Bool, depth: Int) throws(RealmError) -> Split? {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var n = try store.node(ref)
        guard n.isInner else { return try insertInLeaf(&ref, i, v) }
        n = try store.writableRefs(n)
        ref = n.ref
        if !append || isAlwaysGeneral { try makeGeneral(n) }
        let total = try Self.innerTotal(store, n)
        let children = n.count - 2
        let (c, within): (Int, Int)
        if append {
            c = children - 1
            within = i - (try start(of: c, in: n))
        } else {
            (c, within) = try Self.childIndex(store, n, i)
        }
        var child = try n.child(c + 1)
        let split = try insert(&child, within, v, append: append, depth: depth + 1)
        store.setSlot(n, c + 1, child)
        guard let split else {
            store.setSlot(n, n.count - 1, RefOrTagged(tagged: total + 1))
            try addToOffsets(n, from: c, by: 1)
            return nil
        }
        let childStart = try start(of: c, in: n)
        let isCompact = try n.slot(0).isTagged
        if children < capacity {
            store.setSlot(n, n.count - 1, RefOrTagged(tagged: total + 1))
            if !isCompact {
                // The old end of the child moves on by one; the split point goes in before it.
                try addToOffsets(n, from: c, by: 1)
                var offsets = try store.integers(try n.child(0))
                try store.insertUnsigned(&offsets, c, UInt64(childStart + split.offset))
                store.setSlot(n, 0, offsets.ref)
            }
            try store.insertSlot(&n, c + 2, RefOrTagged(split.sibling))
            ref = n.ref
            return nil
        }
        // This node is full.
        if c == children - 1 {
            let first = isCompact ? try n.slot(0) : RefOrTagged(try store.makeUnsigned().ref)
            let sibling = try store.makeRefs(
                [first, RefOrTagged(split.sibling), RefOrTagged(tagged: split.size - split.offset)], inner: true)
            store.setSlot(n, n.count - 1, RefOrTagged(tagged: childStart + split.offset))
            return Split(sibling: sibling.ref, offset: childStart + split.offset, size: total + 1)
        }
        // General: children after the split one move to the sibling.
        var offsets = try store.integers(try n.child(0))
        var moved: [RefOrTagged] = []
        for j in (c + 1)..<children { moved.append(try n.slot(j + 1)) }
        let base = try Self.offset(offsets, c, limit: total) + 1  // End of the split child, with the new element.
        var siblingOffsets: [UInt64] = []
        for j in (c + 1)..<(children - 1) { siblingOffsets.append(offsets.getUnsigned(j) &+ 1 &- UInt64(base)) }
        let siblingFirst = try store.makeUnsigned(siblingOffsets).ref
        let sibling = try store.makeRefs(
            [RefOrTagged(siblingFirst)] + moved + [RefOrTagged(tagged: total + 1 - base)], inner: true)
        try store.eraseUnsigned(&offsets, c, offsets.count - c)
        try store.insertUnsigned(&offsets, c, UInt64(childStart + split.offset))
        store.setSlot(n, 0, offsets.ref)
        try store.eraseSlots(&n, c + 2, children - c - 1)
        try store.insertSlot(&n, c + 2, RefOrTagged(split.sibling))
        store.setSlot(n, n.count - 1, RefOrTagged(tagged: base))
        ref = n.ref
        return Split(sibling: sibling.ref, offset: base, size: total + 1)
    }

    private func insertInLeaf(_ ref: inout Ref, _ i: Int, _ v: Mixed) throws(RealmError) -> Split? {
        let size = try kind.count(store, ref)
        guard i <= size else { throw .corrupt("tree index out of range", at: ref.offset) }
        if size < capacity {
            ref = try kind.insert(store, ref, i, v)
            return nil
        }
        var sibling = try kind.create(store)
        if i == size {
            sibling = try kind.insert(store, sibling, 0, v)
            return Split(sibling: sibling, offset: size, size: size + 1)
        }
        try kind.moveTail(store, from: &ref, start: i, to: &sibling)
        ref = try kind.insert(store, ref, i, v)
        return Split(sibling: sibling, offset: i + 1, size: size + 1)
    }

    /// Where child `c` starts.
    func start(of c: Int, in n: Node) throws(RealmError) -> Int {
        if c == 0 { return 0 }
        let first = try n.slot(0)
        if first.isTagged {
            guard first.integer < 1 << 32 else {
                throw .corrupt("inner tree node with empty children", at: n.ref.offset)
            }
            return c * Int(first.integer)
        }
        let offsets = try store.integers(first.ref)
        guard c - 1 < offsets.count else { throw .corrupt("inner tree node with too few offsets", at: n.ref.offset) }
        return try Self.offset(offsets, c - 1, limit: try Self.innerTotal(store, n))
    }

    /// An offset that a file claims, at most `limit`.
    private static func offset(_ offsets: Node, _ i: Int, limit: Int) throws(RealmError) -> Int {
        let v = offsets.getUnsigned(i)
        guard i < offsets.count, v <= UInt64(limit) else {
            throw .corrupt("tree offsets out of order", at: offsets.ref.offset)
        }
        return Int(v)
    }

    func makeGeneral(_ n: Node) throws(RealmError) {
        let first = try n.slot(0)
        guard first.isTagged else { return }
        let children = n.count - 2
        guard first.integer < 1 << 32 else { throw .corrupt("inner tree node with empty children", at: n.ref.offset) }
        let total = try Self.innerTotal(store, n)
        let offsets = try store.makeUnsigned(
            (1..<max(children, 1)).map { UInt64($0) * first.integer }, bound: UInt64(total))
        store.setSlot(n, 0, offsets.ref)
    }

    func addToOffsets(_ n: Node, from c: Int, by delta: Int) throws(RealmError) {
        let first = try n.slot(0)
        guard !first.isTagged else { return }
        var offsets = try store.integers(first.ref)
        for j in c..<max(c, min(offsets.count, n.count - 3)) {
            try store.setUnsigned(
                &offsets, j, UInt64(bitPattern: Int64(bitPattern: offsets.getUnsigned(j)) &+ Int64(delta)))
        }
        store.setSlot(n, 0, offsets.ref)
    }

    // MARK: Setting, moving

    mutating func set(_ i: Int, _ v: Mixed) throws(RealmError) {
        root = try set(root, i, v, depth: 0)
    }

    private func set(_ ref: Ref, _ i: Int, _ v: Mixed, depth: Int) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var n = try store.node(ref)
        if !n.isInner { return try kind.set(store, ref, i, v) }
        let (c, within) = try Self.childIndex(store, n, i)
        let old = try n.child(c + 1)
        let new = try set(old, within, v, depth: depth + 1)
        if new != old || store.isInFile(n.ref) {
            n = try store.writableRefs(n)
            store.setSlot(n, c + 1, new)
        }
        return n.ref
    }

    /// Moves element `from` so that it ends up at index `to`; a nested collection keeps its nodes and its stable key.
    mutating func move(_ from: Int, to: Int) throws(RealmError) {
        guard from != to else { return }
        let value = try get(from)
        let at = to > from ? to + 1 : to
        let source = to > from ? from : from + 1
        switch value {
        case .list, .dictionary:
            let (leaf, i) = try Self.leaf(store, root, from)
            let key = try MixedLeaf.key(store, leaf, i)
            try insert(at, .null)
            // The old element gives its collection up before the new one takes it: overwriting a ref of the same type
            // destroys nothing.
            if case .list = value { try set(source, .list(.null)) } else { try set(source, .dictionary(.null)) }
            try set(at, value)
            try setKey(at, key)
        default:
            try insert(at, try store.stable(value))
        }
        try erase(source)
    }
}
