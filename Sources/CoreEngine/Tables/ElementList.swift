/// Elements of a list or set, by index. Unresolved links are hidden.
///
/// Good for one state of its Realm: whoever keeps it compares state counts. The leaf read last stays open, so that
/// neighbours cost no descent; while writing, the last leaf stays open for appending.
package final class ElementList {
    private let store: NodeStore
    let kind: LeafKind

    /// Null: never written.
    private(set) var root: Ref
    package private(set) var count: Int

    /// Table that plain links lead to.
    private let target: TableKey

    /// Positions of visible elements, when some are hidden.
    private let visible: [Int]?

    /// Elements ascend strictly: a value is found by halving.
    private let isSet: Bool

    // The leaf read last.
    private var first = 0
    private var leafCount = 0
    private var leaf = Ref.null

    /// The leaf when it is a plain integer array, with its number of elements; else 0.
    private var integers = ClusterTree.noNode
    private var integerCount = 0

    // The last leaf, while it can be appended to in place.
    private var tail = ClusterTree.noNode
    private var tailCount = -1

    /// Inner nodes above it, from the root down, all in the slab.
    private var parents: [Node] = []

    /// - Parameter root: null for a collection that was never written.
    init(_ store: NodeStore, root: Ref, kind: LeafKind, target: TableKey, isSet: Bool = false) throws(RealmError) {
        self.store = store
        self.root = root
        self.kind = kind
        self.target = target
        self.isSet = isSet
        guard !root.isNull else {
            (count, visible) = (0, nil)
            return
        }
        let tree = BPlusTree(store, kind: kind, root: root)
        let total = try tree.count()
        if kind == .objKey, try store.node(root).context {
            var kept: [Int] = []
            for i in 0..<total { if case .link(let key) = try tree.get(i), !key.isUnresolved { kept.append(i) } }
            (count, visible) = (kept.count, kept)
        } else {
            (count, visible) = (total, nil)
        }
    }

    private var tree: BPlusTree { BPlusTree(store, kind: kind, root: root) }

    // MARK: Reading

    /// Element `i` when the list stands at its leaf and that is of plain integers: most reads of lists of integers.
    /// nil: use `get`.
    @inline(__always) package func integer(_ index: Int) -> Int64? {
        let at = index &- first
        guard UInt(bitPattern: at) < UInt(bitPattern: integerCount) else { return nil }
        return integers.get(at)
    }

    /// Element `i`; links come with their table. Out of range is an error.
    @inline(__always) package func get(_ index: Int) throws(RealmError) -> Mixed {
        if let value = integer(index) { return .int(value) }
        return try getOther(index)
    }

    @inline(never) private func getOther(_ position: Int) throws(RealmError) -> Mixed {
        guard position >= 0, position < count else {
            throw RealmError(
                .indexOutOfBounds, "Requested index \(position) calling get() on a collection of \(count) elements")
        }
        let at = visible?[position] ?? position
        if UInt(bitPattern: at &- first) >= UInt(bitPattern: leafCount) {
            forgetLeaf()
            let (ref, index) = try BPlusTree.leaf(store, root, at)
            let count = try kind.count(store, ref)
            guard index < count else { throw .corrupt("tree leaf is too short", at: ref.offset) }
            (leaf, first) = (ref, at - index)
            if kind == .int && visible == nil {
                integers = try store.integers(ref)
                integerCount = integers.count
            }
            leafCount = count
        }
        switch try kind.get(store, leaf, at &- first) {
        case .link(let key): return .typedLink(target, key)
        case .typedLink(_, let key) where key.isUnresolved: return .null
        case let value: return value
        }
    }

    private func forgetLeaf() { (leafCount, integerCount) = (0, 0) }

    /// Stable key of the nested collection at `i`.
    package func nestedKey(_ index: Int) throws(RealmError) -> Int64 {
        guard !root.isNull, kind == .mixed else { return 0 }
        return try tree.key(visible?[index] ?? index)
    }

    /// First index of an equal value of the same type: among Mixed values numbers of other types are equal, too.
    package func find(_ value: Mixed) throws(RealmError) -> Int? {
        guard !root.isNull, value.isNull || kind == .objKey || kind.holds(value) else { return nil }
        var wanted = value
        if kind == .objKey {
            guard case .typedLink(let table, let key) = value, table == target else { return nil }
            wanted = .link(key)
        }
        let tree = tree
        if isSet, visible == nil {
            var low = 0, high = count
            while low < high {
                let mid = (low + high) / 2
                let order = Self.order(kind, try tree.get(mid), wanted)
                if order == 0 { return mid }
                if order < 0 { low = mid + 1 } else { high = mid }
            }
            return nil
        }
        guard let at = try tree.firstIndex(of: wanted) else { return nil }
        return visible == nil ? at : visible?.firstIndex(of: at)
    }

    /// Position of the nested collection with a stable key.
    func index(ofNested key: Int64) throws(RealmError) -> Int? {
        guard !root.isNull, kind == .mixed else { return nil }
        return try tree.index(ofKey: key)
    }

    // MARK: Appending in place

    /// Appends when that changes only the last leaf and the totals above it, all in the slab already; otherwise nothing
    /// happens. The value fits the leaf and owns nothing.
    ///
    /// - Returns: whether it was done, and whether the root moved.
    @inline(__always) func append(_ value: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        if kind == .int, case .int(let integer) = value, tailCount >= 0, tailCount < Format.treeCapacity,
            Widths.fits(integer, tail.width),
            ((tailCount &+ 1) &* tail.width &+ 7) >> 3 <= store.capacity(tail)
        {
            tail.put(tailCount, integer)
            tailCount &+= 1
            tail.count = tailCount
            store.storeHeader(tail)
            countAppended()
            return (true, false)
        }
        return try appendOther(value)
    }

    @inline(__always) private func countAppended() {
        count &+= 1
        for parent in parents { store.setSlot(parent, parent.count &- 1, RefOrTagged(tagged: count)) }
    }

    @inline(never) private func appendOther(_ value: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        if tailCount < 0, try !openTail() { return (false, false) }
        guard tailCount < Format.treeCapacity else { return (false, false) }
        let new = try kind.insert(store, tail.ref, tailCount, value)
        // The leaf may have moved or changed its width.
        forgetLeaf()
        let moved = new != tail.ref && parents.isEmpty
        if new != tail.ref {
            if let last = parents.last { store.setSlot(last, last.count - 2, new) } else { root = new }
        }
        tail = try store.node(new)
        tailCount += 1
        countAppended()
        return (true, moved)
    }

    /// Finds the last leaf; false unless it and all above it are in the slab and all counts are of this list alone.
    private func openTail() throws(RealmError) -> Bool {
        guard !root.isNull, visible == nil else { return false }
        parents = []
        var ref = root
        for _ in 0..<Trees.maxDepth {
            let node = try store.node(ref)
            guard !store.isInFile(ref) else { return false }
            if !node.isInner {
                tail = node
                tailCount = try kind.count(store, ref)
                return true
            }
            // Totals of lower inner nodes are not those of the list: one level covers a million elements.
            guard parents.isEmpty, node.count >= 3 else { return false }
            parents = [node]
            ref = try node.child(node.count - 2)
        }
        return false
    }
}

extension LeafKind {
    /// Elements are neither links nor collections: storing one changes nothing elsewhere.
    var isPlain: Bool {
        switch self {
        case .link, .objKey, .typedLink, .mixed, .slot: false
        default: true
        }
    }

    /// Whether `v` is of the type that this leaf holds.
    func holds(_ value: Mixed) -> Bool {
        switch (self, value) {
        case (.int, .int), (.nullableInt, .int), (.bool, .bool), (.float, .float), (.double, .double),
            (.string, .string), (.binary, .binary),
            (.timestamp, .timestamp), (.decimal, .decimal), (.objectId, .objectId), (.uuid, .uuid), (.objKey, .link),
            (.mixed, _):
            true
        default: false
        }
    }
}
