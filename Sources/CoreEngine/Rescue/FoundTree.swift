/// The elements of a list or set, or the keys or values of a dictionary, as far as their leaves can be read.
struct FoundTree {
    struct Leaf {
        let ref: Ref

        /// Index of the first element.
        let first: Int
        let count: Int
    }

    let store: NodeStore
    let kind: LeafKind
    private(set) var leaves: [Leaf] = []

    /// Number of elements known to be lost with their leaves.
    private(set) var lost = 0

    /// An unknown number of further elements is lost, so the indexes behind them are unknown too.
    private(set) var isBroken = false

    /// - Parameter visited: nodes of collections read so far; a node belongs to one collection only.
    init(_ store: NodeStore, _ kind: LeafKind, _ root: Ref, _ visited: inout Visited) {
        self.store = store
        self.kind = kind
        walk(root, first: 0, count: nil, depth: 0, &visited)
    }

    private mutating func lose(_ count: Int?) {
        if let count { lost += count } else { isBroken = true }
    }

    /// End of the elements found so far.
    private var end: Int { (leaves.last.map { $0.first + $0.count }) ?? 0 }

    /// - Parameter count: number of elements below, if the node above states it.
    private mutating func walk(_ ref: Ref, first: Int, count: Int?, depth: Int, _ visited: inout Visited) {
        guard depth < Trees.maxDepth, visited.insert(ref), let node = try? store.node(ref) else { return lose(count) }
        guard node.isInner else {
            guard let found = try? kind.count(store, ref), found <= Format.treeCapacity, count ?? found == found,
                found > 0 || isWritten(ref)
            else {
                return lose(count)
            }
            leaves.append(Leaf(ref: ref, first: first, count: found))
            return
        }
        guard node.count >= 3, let total = try? BPlusTree.innerTotal(store, node), count ?? total == total else {
            return lose(count)
        }
        let starts = starts(node, total)
        for index in 0..<node.count - 2 {
            let start = starts?[index] ?? end - first, stop = starts?[index + 1]
            guard let child = try? node.child(index + 1), !child.isNull else {
                lose(stop.map { $0 - start })
                continue
            }
            walk(child, first: first + start, count: stop.map { $0 - start }, depth: depth + 1, &visited)
        }
    }

    /// Whether a node without elements was really written: zeros would also look like an empty node.
    private func isWritten(_ ref: Ref) -> Bool {
        guard ref.offset < store.fileSize else { return true }
        return (store.base + ref.offset).load(as: UInt32.self).littleEndian == NodeHeader.checksum
    }

    /// The start of each child of an inner node, and the end of the last one; nil if they are implausible.
    private func starts(_ node: Node, _ total: Int) -> [Int]? {
        let children = node.count - 2
        guard let slot = try? node.slot(0) else { return nil }
        var starts = [0]
        if let per = slot.number {
            guard per > 0, per < 1 << 40 else { return nil }
            for index in 1..<max(1, children) { starts.append(index * Int(per)) }
        } else {
            guard let offsets = try? store.integers(slot.ref), offsets.count >= children - 1 else { return nil }
            for index in 0..<max(0, children - 1) {
                let start = offsets.getUnsigned(index)
                guard start <= UInt64(total) else { return nil }
                starts.append(Int(start))
            }
        }
        starts.append(total)
        for index in 0..<children where starts[index] > starts[index + 1] { return nil }
        return starts
    }

    /// Calls `body` with each element of the readable leaves; nil for an element that cannot be read.
    func eachElement(_ body: (_ index: Int, _ value: Mixed?) throws(RealmError) -> Void) throws(RealmError) {
        for leaf in leaves { for i in 0..<leaf.count { try body(leaf.first + i, try? kind.get(store, leaf.ref, i)) } }
    }

    /// The element at an index; nil if it is lost.
    func value(at index: Int) -> Mixed? {
        var low = 0, high = leaves.count
        while low < high {
            let mid = (low + high) / 2
            if leaves[mid].first + leaves[mid].count <= index { low = mid + 1 } else { high = mid }
        }
        guard low < leaves.count, leaves[low].first <= index else { return nil }
        return try? kind.get(store, leaves[low].ref, index - leaves[low].first)
    }

    /// Number of elements including lost ones, as far as known.
    var total: Int { leaves.reduce(lost) { $0 + $1.count } }
}
