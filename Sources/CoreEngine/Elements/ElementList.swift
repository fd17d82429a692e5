/// Elements of a list or set, by index. Unresolved links are hidden.
///
/// Valid for one state of its Realm: an owner that keeps it compares state counts. The last leaf read stays open, so
/// that reading its other elements needs no descent; while writing, the last leaf of the list stays open for appends.
package final class ElementList {
    private let store: NodeStore
    let kind: LeafKind

    /// Null if the collection was never written.
    private(set) var root: Ref
    package private(set) var count: Int

    /// The table that plain links refer to.
    private let target: TableKey

    /// Stored indexes of the visible elements, if elements may be hidden.
    private let visible: [Int]?

    /// Whether elements ascend strictly: then binary search finds a value.
    private let isSet: Bool

    // The last leaf read.
    private var first = 0
    private var leafCount = 0
    private var leaf = Ref.null

    /// Of a reader that goes from leaf to leaf.
    private var walk: WalkLimit

    /// That leaf, if it is a plain integer array, with its number of elements; otherwise the number is 0.
    private var integers: Integers
    private var integerCount = 0

    /// The last leaf, while it can be appended to in place.
    private var tail = TreeTail()

    /// - Parameter root: null for a collection that was never written.
    init(_ store: NodeStore, root: Ref, kind: LeafKind, target: TableKey, isSet: Bool = false) throws(RealmError) {
        self.store = store
        self.root = root
        self.kind = kind
        self.target = target
        self.isSet = isSet
        integers = Integers(none: store)
        walk = WalkLimit(store, each: 8)
        guard !root.isNull else {
            (count, visible) = (0, nil)
            return
        }
        let tree = BPlusTree(store, kind: kind, root: root)
        let total = try tree.count()
        if kind == .objKey, try BPlusTree.isMarked(store, root) {
            var kept: [Int] = []
            try tree.forEachLeaf { (leaf, first, count) throws(RealmError) in
                for i in 0..<count {
                    if case .link(let key) = try kind.get(store, leaf, i), !key.isUnresolved { kept.append(first + i) }
                }
                return true
            }
            (count, visible) = (kept.count, kept)
        } else {
            (count, visible) = (total, nil)
        }
    }

    private var tree: BPlusTree { BPlusTree(store, kind: kind, root: root) }

    // MARK: Reading

    /// Fast path for lists of integers: the element at `index`, if its leaf was read last and holds plain integers. nil
    /// means "use `get`".
    @inline(__always) package func integer(_ index: Int) -> Int64? {
        let at = index &- first
        guard UInt(bitPattern: at) < UInt(bitPattern: integerCount) else { return nil }
        return integers.get(at)
    }

    /// The element at `index`; links are returned with their table. An index out of range is an error.
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
        try open(at)
        switch try kind.get(store, leaf, at &- first) {
        case .link(let key): return .typedLink(target, key)
        case .typedLink(_, let key) where key.isUnresolved: return .null
        case let value: return value
        }
    }

    /// Opens the leaf of a stored index, unless it is open.
    private func open(_ at: Int) throws(RealmError) {
        guard UInt(bitPattern: at &- first) >= UInt(bitPattern: leafCount) else { return }
        let isNext = leafCount > 0 && at == first &+ leafCount
        forgetLeaf()
        let (ref, index) = try BPlusTree.leaf(store, root, at)
        if isNext { try walk.enter(ref, store) } else { walk = WalkLimit(store, each: 8) }
        let count = try kind.count(store, ref)
        guard index < count else { throw .corrupt("tree leaf is too short", at: ref.offset) }
        (leaf, first) = (ref, at - index)
        if kind == .int && visible == nil {
            integers = try Integers(store, ref)
            integerCount = integers.count
        }
        leafCount = count
    }

    /// The number of bytes of the text or binary at `index`; 0 for null.
    package func length(_ index: Int) throws(RealmError) -> Int {
        guard kind == .binary, index >= 0, index < count else {
            switch try get(index) {
            case .string(let bytes), .binary(let bytes): return bytes.count
            default: return 0
            }
        }
        try open(index)
        return try BinaryLeaf.length(store, leaf, index &- first)
    }

    private func forgetLeaf() { (leafCount, integerCount) = (0, 0) }

    /// Stable key of the nested collection at `index`.
    package func stableKey(_ index: Int) throws(RealmError) -> Int64 {
        guard !root.isNull, kind == .mixed else { return 0 }
        return try tree.key(visible?[index] ?? index)
    }

    /// First index of an equal value of the same type. Among Mixed values, numbers of different types can be equal too.
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

    /// The order of the elements of sets. For decimals, null counts as a particular NaN. Format: logical §8.2.
    static func order(_ kind: LeafKind, _ a: Mixed, _ b: Mixed) -> Int {
        if kind == .decimal {
            func number(_ value: Mixed) -> Decimal128 {
                if case .decimal(let decimal) = value { decimal } else { .null }
            }
            return Decimal128.compare(number(a), number(b))
        }
        return Mixed.compare(a, b)
    }

    /// Index of the nested collection with a stable key.
    func index(ofNested key: Int64) throws(RealmError) -> Int? {
        guard !root.isNull, kind == .mixed else { return nil }
        return try tree.index(ofKey: key)
    }

    // MARK: Appending in place

    /// Appends a value if that changes only the last leaf and the totals above it, all in the slab; otherwise changes
    /// nothing. The value has the type of the leaf and owns no nodes.
    ///
    /// - Returns: whether the value was appended, and whether the root moved.
    @inline(__always) func append(_ value: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        if kind == .int, case .int(let integer) = value, tail.append(integer, store) {
            countAppended()
            return (true, false)
        }
        return try appendOther(value)
    }

    @inline(__always) private func countAppended() {
        count &+= 1
        tail.setTotal(count, store)
    }

    @inline(never) private func appendOther(_ value: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        guard !root.isNull, visible == nil else { return (false, false) }
        let (done, moved) = try tail.append(value, kind, store, root: &root)
        guard done else { return (false, false) }
        forgetLeaf()
        countAppended()
        return (true, moved)
    }
}

extension LeafKind {
    /// Whether elements are neither links nor collections: storing one changes no other structure.
    var isPlain: Bool {
        switch self {
        case .link, .objKey, .typedLink, .mixed, .slot: false
        default: true
        }
    }

    /// Whether `value` is of the type that this leaf holds.
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

extension BPlusTree {
    /// Index of the first element that equals `value`, by Mixed equality.
    func firstIndex(of value: Mixed) throws(RealmError) -> Int? {
        switch (kind, value) {
        case (.int, .int(let integer)): return try firstIndex(ofInteger: integer)
        case (.objKey, .link(let key)): return try firstIndex(ofInteger: key.raw)
        default: break
        }
        var found: Int?
        try forEachLeaf { (leaf, first, count) throws(RealmError) in
            for i in 0..<count where Mixed.same(try kind.get(store, leaf, i), value) {
                found = first + i
                return false
            }
            return true
        }
        return found
    }
}
