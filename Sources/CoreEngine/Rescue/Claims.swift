/// Records what each node of the free space was last part of.
///
/// Free space is overwritten again and again: where an old ref leads, there may now be a newer node or a part of one.
/// The reader of remains therefore goes from new to old and claims each node for a role, a number that stands for
/// table, column and objects. A claim fails if another claim has bytes of the node, or if the bytes are in use in
/// another role.
struct Claims {
    private var roles: [Int: Int] = [:]
    private var sure: Set<Int> = []
    private var taken: Visited

    /// Free ranges of the file, merged and sorted.
    private let free: [FileChunk]
    private let store: NodeStore

    init(_ store: NodeStore, free: [FileChunk]) {
        self.store = store
        taken = Visited(store.fileSize)
        var merged: [FileChunk] = []
        for chunk in free {
            if let last = merged.last, last.end == chunk.offset {
                merged[merged.count - 1].size += chunk.size
            } else {
                merged.append(chunk)
            }
        }
        self.free = merged
    }

    func isFree(_ at: Int, _ size: Int) -> Bool {
        let i = free.place { $0.end <= at }
        return i < free.count && free[i].offset <= at && at + size <= free[i].end
    }

    /// Whether a node has this role and its table is certain.
    func isSure(_ ref: Ref, as role: Int) -> Bool { roles[ref.offset] == role && sure.contains(ref.offset) }

    /// Records that the table of a claimed or noted node is certain.
    mutating func makeSure(_ ref: Ref) { sure.insert(ref.offset) }

    /// Records the role of a node in use.
    mutating func note(_ ref: Ref, _ role: Int) { roles[ref.offset] = role }

    /// Claims a node for a role; false if the node or some of its bytes belong to something else, or are in use.
    mutating func claim(_ node: Node, _ role: Int) -> Bool {
        if let known = roles[node.ref.offset] { return known == role }
        guard isFree(node.ref.offset, node.size), taken.insert(node.ref.offset, node.size) else { return false }
        roles[node.ref.offset] = role
        return true
    }

    /// Claims a node and everything below it.
    mutating func claimTree(_ ref: Ref, _ role: Int, depth: Int = 0) -> Bool {
        guard depth < Format.maxNodeDepth, let node = try? store.node(ref) else { return false }
        if let known = roles[ref.offset] { return known == role }
        guard claim(node, role) else { return false }
        guard node.hasRefs else { return true }
        for i in 0..<node.count {
            guard let slot = try? node.slot(i) else { return false }
            if let child = slot.subtree, !claimTree(child, role, depth: depth + 1) { return false }
        }
        return true
    }

    /// Claims the parts of a top array that hold no values: lists of free space, names, tables and history.
    mutating func claimHead(_ ref: Ref) {
        guard let top = try? store.refsNode(ref) else { return }
        _ = claim(top, Self.noValue)
        for i in 0...1 {
            if let part = (try? top.child(i)).flatMap({ try? store.node($0) }) { _ = claim(part, Self.noValue) }
        }
        let lists = (3...5).compactMap { i in
            i < top.count ? (try? top.child(i)).flatMap { try? store.integers($0) } : nil
        }
        // Lists of different lengths were partly overwritten.
        if lists.allSatisfy({ $0.count == lists[0].count }) { for list in lists { _ = claim(list, Self.noValue) } }
        if top.count > 8, let history = try? top.child(8), !history.isNull { _ = claimTree(history, Self.noValue) }
    }

    /// Claims the parts of a table that hold no values: its spec, its indexes, and the nodes above the clusters.
    mutating func claimTable(_ ref: Ref, _ inner: [Ref]) {
        for node in inner { if let found = try? store.node(node) { _ = claim(found, Self.noValue) } }
        guard let top = try? store.refsNode(ref) else { return }
        _ = claim(top, Self.noValue)
        for i in [0, 4, 7, 8, 10] where i < top.count {
            if let part = (try? top.slot(i))?.subtree { _ = claimTree(part, Self.noValue) }
        }
    }

    private static let noValue = 0

    /// Records the role of a node in use and of everything below it.
    mutating func noteTree(_ ref: Ref, _ role: Int, depth: Int = 0) {
        guard depth < Format.maxNodeDepth, roles[ref.offset] == nil, let node = try? store.node(ref) else { return }
        note(ref, role)
        guard node.hasRefs else { return }
        for i in 0..<node.count {
            if let child = (try? node.slot(i))?.subtree { noteTree(child, role, depth: depth + 1) }
        }
    }
}

extension Visited {
    /// Marks all bytes of a node. If some were marked before, marks nothing and returns false.
    mutating func insert(_ at: Int, _ size: Int) -> Bool {
        for i in stride(from: at, to: at + size, by: 8) where contains(i) { return false }
        for i in stride(from: at, to: at + size, by: 8) { _ = insert(Ref(i)) }
        return true
    }
}
