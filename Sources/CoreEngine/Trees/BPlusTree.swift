/// A sequence of values in a B+tree with up to 1000 elements per leaf. If all elements fit in one leaf, that leaf is
/// the root.
///
///     inner node:  [ per-child count (tagged) | ref to offsets ] child … child [ total (tagged) ]
///
/// In a compact inner node every child but the last holds the same number of elements; a general inner node stores
/// where each child ends. Format: logical §7.
struct BPlusTree {
    let store: NodeStore
    let kind: LeafKind
    var root: Ref

    /// Maximum number of elements of a leaf and of children of an inner node; smaller in tests.
    var capacity = Format.treeCapacity

    /// New inner nodes are always general. Needed if leaves are split at fewer elements than other engines assume:
    /// those engines would fill up the last leaf of a compact node and rely on leaves of equal size.
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

    static func count(_ store: NodeStore, _ kind: LeafKind, _ ref: Ref) throws(RealmError) -> Int {
        let node = try store.node(ref)
        if !node.isInner { return try leafCount(store, kind, ref) }
        return try innerTotal(store, node)
    }

    /// Number of elements of a leaf. Elements of width 0 take no space in the file, but they take memory when they are
    /// read. So a count above the leaf capacity is refused as damage.
    static func leafCount(_ store: NodeStore, _ kind: LeafKind, _ ref: Ref) throws(RealmError) -> Int {
        let count = try kind.count(store, ref)
        guard count <= Format.treeCapacity else { throw .corrupt("impossible number of elements", at: ref.offset) }
        return count
    }

    static func innerTotal(_ store: NodeStore, _ node: Node) throws(RealmError) -> Int {
        guard node.count >= 3 else { throw .corrupt("inner tree node without children", at: node.ref.offset) }
        let total = try node.slot(node.count - 1)
        // Eight bytes of a file store at most 1000 elements (of width 0), so a larger count is damage.
        guard total.isTagged, store.admits(total.integer, perByte: 125) else {
            throw .corrupt("impossible number of elements", at: node.ref.offset)
        }
        return Int(total.integer)
    }

    /// The child that holds the element at `index`, and the index within that child.
    @inline(__always) static func childIndex(_ store: NodeStore, _ node: Node, _ index: Int) throws(RealmError) -> (
        child: Int, within: Int
    ) {
        let children = node.count - 2
        guard children >= 1 else { throw .corrupt("inner tree node without children", at: node.ref.offset) }
        let first = try node.slot(0)
        if first.isTagged {
            let per = first.integer
            guard per > 0, per < 1 << 40 else {
                throw .corrupt("inner tree node with empty children", at: node.ref.offset)
            }
            let child = min(index / Int(per), children - 1)
            return (child, index - child * Int(per))
        }
        let offsets = try store.integers(first.ref)
        guard offsets.count >= children - 1 else {
            throw .corrupt("inner tree node with too few offsets", at: node.ref.offset)
        }
        var low = 0
        var length = children - 1
        while length > 0 {
            let half = length >> 1
            if offsets.getUnsigned(low + half) <= UInt64(index) {
                low += half + 1
                length -= half + 1
            } else {
                length = half
            }
        }
        let start = low == 0 ? 0 : offsets.getUnsigned(low - 1)
        guard start <= UInt64(index) else { throw .corrupt("tree offsets out of order", at: node.ref.offset) }
        return (low, index - Int(start))
    }

    /// The leaf that holds an element, and the index within that leaf.
    @inline(__always) static func leaf(_ store: NodeStore, _ root: Ref, _ position: Int) throws(RealmError) -> (
        ref: Ref, index: Int
    ) {
        var ref = root
        var index = position
        for _ in 0..<Trees.maxDepth {
            let node = try store.node(ref)
            if !node.isInner { return (ref, index) }
            let (child, within) = try childIndex(store, node, index)
            ref = try node.child(child + 1)
            index = within
        }
        throw .corrupt("tree too deep", at: root.offset)
    }

    /// An element. An index out of range is reported as a corrupt tree, so callers check it against `count` first.
    @inline(__always) func get(_ position: Int) throws(RealmError) -> Mixed {
        let (leaf, index) = try Self.leaf(store, root, position)
        return try kind.get(store, leaf, index)
    }

    /// The leaf that holds the element at `position`, the index behind its last element, and whether it has only Mixed
    /// nulls. These take no bytes, so a small file may claim very many of them.
    func leafBounds(_ position: Int) throws(RealmError) -> (ref: Ref, end: Int, hasOnlyNulls: Bool) {
        let (leaf, index) = try Self.leaf(store, root, position)
        let count = try Self.leafCount(store, kind, leaf)
        guard index < count else { throw .corrupt("element counts do not add up", at: leaf.offset) }
        let hasOnlyNulls = kind == .mixed ? try store.node(store.refsNode(leaf).child(0)).width == 0 : false
        return (leaf, position - index + count, hasOnlyNulls)
    }

    /// Calls `body` for each leaf in order until it returns false; `first` is the index of the leaf's first element.
    func forEachLeaf(_ body: (_ leaf: Ref, _ first: Int, _ count: Int) throws(RealmError) -> Bool) throws(RealmError) {
        var first = 0
        var goOn = true
        var walk = WalkLimit(store, each: 8)
        try Self.visit(store, kind, root, depth: 0, limit: try count(), &walk, &first, &goOn, body)
    }

    private static func visit(
        _ store: NodeStore, _ kind: LeafKind, _ ref: Ref, depth: Int, limit: Int, _ walk: inout WalkLimit,
        _ first: inout Int, _ goOn: inout Bool, _ body: (Ref, Int, Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        try walk.enter(ref, store)
        let node = try store.node(ref)
        if !node.isInner {
            let count = try leafCount(store, kind, ref)
            guard first + count <= limit, count > 0 || limit == 0 || depth == 0 else {
                throw .corrupt("element counts do not add up", at: ref.offset)
            }
            goOn = try body(ref, first, count)
            first += count
            return
        }
        guard node.count >= 3 else { throw .corrupt("inner tree node without children", at: ref.offset) }
        for position in 1..<node.count - 1 {
            try visit(store, kind, try node.child(position), depth: depth + 1, limit: limit, &walk, &first, &goOn, body)
            if !goOn { return }
        }
    }

    // MARK: Inserting

    mutating func append(_ value: Mixed) throws(RealmError) { try insert(try count(), value) }

    /// Describes a split: the later elements of a child moved to `sibling`, which begins `offset` elements after the
    /// start of the child. `size`: the number of elements of both.
    private struct Split {
        var sibling: Ref
        var offset: Int
        var size: Int
    }

    /// Inserts before the element at `index` (`index ≤ count`).
    mutating func insert(_ index: Int, _ value: Mixed) throws(RealmError) {
        let wasSound = store.isChecked() && isSound(near: index)
        try insertElement(index, value)
        assert(!wasSound || isSound(near: index), "an insertion broke the tree")
    }

    private mutating func insertElement(_ index: Int, _ value: Mixed) throws(RealmError) {
        let node = try store.node(root)
        if !node.isInner {
            let size = try kind.count(store, root)
            guard index <= size else { throw .corrupt("tree index out of range", at: root.offset) }
            if size < capacity {
                root = try kind.insert(store, root, index, value)
                return
            }
        }
        let append = node.isInner ? index == (try Self.innerTotal(store, node)) : index == (try kind.count(store, root))
        let wasCompact = node.isInner ? try node.slot(0).isTagged : true
        let context = node.context
        guard let split = try insert(&root, index, value, append: append, depth: 0) else { return }
        let first: RefOrTagged
        if append && wasCompact && !isAlwaysGeneral {
            first = RefOrTagged(tagged: split.offset)
        } else {
            first = RefOrTagged(try store.makeUnsigned([UInt64(split.offset)]).ref)
        }
        var top = try store.makeRefs(
            [first, RefOrTagged(root), RefOrTagged(split.sibling), RefOrTagged(tagged: split.size)], inner: true)
        // The root of a tree of links keeps its context flag.
        if context && kind == .objKey { store.setFlags(&top, context: true) }
        root = top.ref
    }

    private func insert(_ ref: inout Ref, _ index: Int, _ value: Mixed, append: Bool, depth: Int) throws(RealmError)
        -> Split?
    {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var node = try store.node(ref)
        guard node.isInner else { return try insertInLeaf(&ref, index, value) }
        node = try store.writableRefs(node)
        ref = node.ref
        if !append || isAlwaysGeneral { try makeGeneral(node) }
        let total = try Self.innerTotal(store, node)
        let children = node.count - 2
        let (childIndex, within): (Int, Int)
        if append {
            childIndex = children - 1
            within = index - (try start(of: childIndex, in: node))
        } else {
            (childIndex, within) = try Self.childIndex(store, node, index)
        }
        var child = try node.child(childIndex + 1)
        let split = try insert(&child, within, value, append: append, depth: depth + 1)
        store.setSlot(node, childIndex + 1, child)
        guard let split else {
            store.setSlot(node, node.count - 1, RefOrTagged(tagged: total + 1))
            try addToOffsets(node, from: childIndex, by: 1)
            return nil
        }
        let childStart = try start(of: childIndex, in: node)
        let isCompact = try node.slot(0).isTagged
        if children < capacity {
            store.setSlot(node, node.count - 1, RefOrTagged(tagged: total + 1))
            if !isCompact {
                // The old end of the child increases by one; the split point is inserted before it.
                try addToOffsets(node, from: childIndex, by: 1)
                var offsets = try store.integers(try node.child(0))
                try store.insertUnsigned(&offsets, childIndex, UInt64(childStart + split.offset))
                store.setSlot(node, 0, offsets.ref)
            }
            try store.insertSlot(&node, childIndex + 2, RefOrTagged(split.sibling))
            ref = node.ref
            return nil
        }
        // This node is full.
        if childIndex == children - 1 {
            let first = isCompact ? try node.slot(0) : RefOrTagged(try store.makeUnsigned().ref)
            let sibling = try store.makeRefs(
                [first, RefOrTagged(split.sibling), RefOrTagged(tagged: split.size - split.offset)], inner: true)
            store.setSlot(node, node.count - 1, RefOrTagged(tagged: childStart + split.offset))
            return Split(sibling: sibling.ref, offset: childStart + split.offset, size: total + 1)
        }
        // General form: the children after the split child move to the sibling.
        var offsets = try store.integers(try node.child(0))
        var moved: [RefOrTagged] = []
        for j in (childIndex + 1)..<children { moved.append(try node.slot(j + 1)) }
        // The end of the split child, including the new element.
        let base = try Self.offset(offsets, childIndex, limit: total) + 1
        var siblingOffsets: [UInt64] = []
        for j in (childIndex + 1)..<(children - 1) {
            siblingOffsets.append(offsets.getUnsigned(j) &+ 1 &- UInt64(base))
        }
        let siblingFirst = try store.makeUnsigned(siblingOffsets).ref
        let sibling = try store.makeRefs(
            [RefOrTagged(siblingFirst)] + moved + [RefOrTagged(tagged: total + 1 - base)], inner: true)
        try store.eraseUnsigned(&offsets, childIndex, offsets.count - childIndex)
        try store.insertUnsigned(&offsets, childIndex, UInt64(childStart + split.offset))
        store.setSlot(node, 0, offsets.ref)
        try store.eraseSlots(&node, childIndex + 2, children - childIndex - 1)
        try store.insertSlot(&node, childIndex + 2, RefOrTagged(split.sibling))
        store.setSlot(node, node.count - 1, RefOrTagged(tagged: base))
        ref = node.ref
        return Split(sibling: sibling.ref, offset: base, size: total + 1)
    }

    private func insertInLeaf(_ ref: inout Ref, _ index: Int, _ value: Mixed) throws(RealmError) -> Split? {
        let size = try kind.count(store, ref)
        guard index <= size else { throw .corrupt("tree index out of range", at: ref.offset) }
        if size < capacity {
            ref = try kind.insert(store, ref, index, value)
            return nil
        }
        var sibling = try kind.create(store)
        if index == size {
            sibling = try kind.insert(store, sibling, 0, value)
            return Split(sibling: sibling, offset: size, size: size + 1)
        }
        try kind.moveTail(store, from: &ref, start: index, to: &sibling)
        ref = try kind.insert(store, ref, index, value)
        return Split(sibling: sibling, offset: index + 1, size: size + 1)
    }

    /// Index of the first element of a child.
    func start(of child: Int, in node: Node) throws(RealmError) -> Int {
        if child == 0 { return 0 }
        let first = try node.slot(0)
        if first.isTagged {
            guard first.integer < 1 << 32 else {
                throw .corrupt("inner tree node with empty children", at: node.ref.offset)
            }
            return child * Int(first.integer)
        }
        let offsets = try store.integers(first.ref)
        guard child - 1 < offsets.count else {
            throw .corrupt("inner tree node with too few offsets", at: node.ref.offset)
        }
        return try Self.offset(offsets, child - 1, limit: try Self.innerTotal(store, node))
    }

    /// An offset read from the file; a value above `limit` is damage.
    private static func offset(_ offsets: Node, _ index: Int, limit: Int) throws(RealmError) -> Int {
        let value = offsets.getUnsigned(index)
        guard index < offsets.count, value <= UInt64(limit) else {
            throw .corrupt("tree offsets out of order", at: offsets.ref.offset)
        }
        return Int(value)
    }

    func makeGeneral(_ node: Node) throws(RealmError) {
        let first = try node.slot(0)
        guard first.isTagged else { return }
        let children = node.count - 2
        guard first.integer < 1 << 32 else {
            throw .corrupt("inner tree node with empty children", at: node.ref.offset)
        }
        let total = try Self.innerTotal(store, node)
        let offsets = try store.makeUnsigned(
            (1..<max(children, 1)).map { UInt64($0) * first.integer }, bound: UInt64(total))
        store.setSlot(node, 0, offsets.ref)
    }

    func addToOffsets(_ node: Node, from child: Int, by delta: Int) throws(RealmError) {
        let first = try node.slot(0)
        guard !first.isTagged else { return }
        var offsets = try store.integers(first.ref)
        for j in child..<max(child, min(offsets.count, node.count - 3)) {
            try store.setUnsigned(
                &offsets, j, UInt64(bitPattern: Int64(bitPattern: offsets.getUnsigned(j)) &+ Int64(delta)))
        }
        store.setSlot(node, 0, offsets.ref)
    }

    // MARK: Setting, moving

    mutating func set(_ index: Int, _ value: Mixed) throws(RealmError) {
        root = try set(root, index, value, depth: 0)
    }

    private func set(_ ref: Ref, _ index: Int, _ value: Mixed, depth: Int) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("tree too deep", at: ref.offset) }
        var node = try store.node(ref)
        if !node.isInner { return try kind.set(store, ref, index, value) }
        let (child, within) = try Self.childIndex(store, node, index)
        let old = try node.child(child + 1)
        let new = try set(old, within, value, depth: depth + 1)
        if new != old || !store.isOwn(node.ref) {
            node = try store.writableRefs(node)
            store.setSlot(node, child + 1, new)
        }
        return node.ref
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
            // The old element drops its ref before the new element takes it. Overwriting a collection with a collection
            // of the same type destroys no nodes.
            if case .list = value { try set(source, .list(.null)) } else { try set(source, .dictionary(.null)) }
            try set(at, value)
            try setKey(at, key)
        default:
            try insert(at, try store.stable(value))
        }
        try erase(source)
    }
}
