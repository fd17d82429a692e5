/// The elements of an old column: a tree whose leaves have up to 1000 elements. Format: old-formats §5.
struct OldTree {
    let store: NodeStore
    let root: Ref

    /// Returns the number of elements of a leaf.
    let leafCount: (Node) throws(RealmError) -> Int

    /// More elements than any file can have. Counts read from the file and below this limit can be added without
    /// overflow.
    private static let limit = 1 << 40

    /// A tree of integers, or of refs and tagged integers.
    init(_ store: NodeStore, _ root: Ref) {
        self.init(store, root) { (n) throws(RealmError) in n.count }
    }

    init(_ store: NodeStore, _ root: Ref, leafCount: @escaping (Node) throws(RealmError) -> Int) {
        self.store = store
        self.root = root
        self.leafCount = leafCount
    }

    func count() throws(RealmError) -> Int {
        let node = try store.node(root)
        return node.isInner ? try Inner(store, node).total : try leafCount(node)
    }

    /// Passes the elements `rows` to `body`, in order: each leaf with the range of its elements.
    func visit(_ rows: Range<Int>, _ body: (Node, Range<Int>) throws(RealmError) -> Void) throws(RealmError) {
        guard !rows.isEmpty else { return }
        var seen = 0
        try visit(root, rows, depth: 0, &seen, body)
        guard seen == rows.count else { throw .corrupt("column with too few elements", at: root.offset) }
    }

    private func visit(
        _ ref: Ref, _ rows: Range<Int>, depth: Int, _ seen: inout Int,
        _ body: (Node, Range<Int>) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard depth < OldFormats.maxDepth else { throw .corrupt("column nested too deeply", at: ref.offset) }
        let node = try store.node(ref)
        guard node.isInner else {
            let here = rows.clamped(to: 0..<(try leafCount(node)))
            guard here.count == rows.count else { throw .corrupt("leaf is too short", at: ref.offset) }
            seen += here.count
            return try body(node, here)
        }
        let inner = try Inner(store, node)
        var i = try inner.find(rows.lowerBound)
        var at = rows.lowerBound
        while at < rows.upperBound, i < inner.count {
            let range = try inner.range(i)
            guard range.lowerBound <= at, at < range.upperBound else {
                throw .corrupt("offsets of a column out of order", at: ref.offset)
            }
            let end = min(range.upperBound, rows.upperBound)
            try visit(try inner.child(i), at - range.lowerBound..<end - range.lowerBound, depth: depth + 1, &seen, body)
            at = end
            i += 1
        }
    }

    /// Passes one element to `body`.
    func at<R>(_ row: Int, _ body: (Node, Int) throws(RealmError) -> R) throws(RealmError) -> R {
        var found: R?
        guard row >= 0, row < Self.limit else { throw .corrupt("element that no column has", at: root.offset) }
        try visit(row..<row + 1) { (n, here) throws(RealmError) in found = try body(n, here.lowerBound) }
        guard let found else { throw .corrupt("column with too few elements", at: root.offset) }
        return found
    }

    /// An inner node: elements per child or offsets, then children, then the total.
    private struct Inner {
        let node: Node
        let total: Int
        private let perChild: Int
        private let ends: Node?
        var count: Int { node.count - 2 }

        init(_ store: NodeStore, _ inner: Node) throws(RealmError) {
            node = inner
            guard inner.hasRefs, inner.count >= 2, inner.count <= Format.treeCapacity + 2 else {
                throw .corrupt("inner node of an impossible size", at: inner.ref.offset)
            }
            let first = try inner.slot(0), last = try inner.slot(inner.count - 1)
            guard let number = last.number, number < OldTree.limit else {
                throw .corrupt("inner node without its total", at: inner.ref.offset)
            }
            total = Int(number)
            if let each = first.number {
                guard each > 0, each < OldTree.limit else {
                    throw .corrupt("inner node of children without elements", at: inner.ref.offset)
                }
                perChild = Int(each)
                ends = nil
            } else {
                perChild = 0
                let offsets = try store.integers(first.ref)
                guard offsets.count >= inner.count - 3 else {
                    throw .corrupt("inner node with too few offsets", at: inner.ref.offset)
                }
                ends = offsets
            }
        }

        func child(_ i: Int) throws(RealmError) -> Ref { try node.child(i + 1) }

        private func end(_ i: Int) -> Int {
            if i == count - 1 { return total }
            return ends.map { Int(truncatingIfNeeded: $0.get(i)) } ?? min((i + 1) * perChild, total)
        }

        func range(_ i: Int) throws(RealmError) -> Range<Int> {
            let from = i == 0 ? 0 : end(i - 1), to = end(i)
            guard from >= 0, from <= to, to <= total else {
                throw .corrupt("offsets of a column out of order", at: node.ref.offset)
            }
            return from..<to
        }

        /// The child that contains an element.
        func find(_ element: Int) throws(RealmError) -> Int {
            guard ends != nil else { return min(element / perChild, max(0, count - 1)) }
            var low = 0, high = count - 1
            while low < high {
                let middle = (low + high) / 2
                if end(middle) > element { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }
}
