/// Finds the objects with a value: a tree over the four-byte chunks of the value's index data.
///
///     leaf (has-refs, context):  [ ref to chunk keys ] entry … entry
///       entry: tagged ObjKey (one object) · ref with context (sub-index for the next chunk) · ref without (B+tree of ObjKeys)
///     inner (inner, context):    [ ref to last chunk keys ] child … child
///
/// Values are not stored: the index reads them from the cluster tree when it must distinguish two values. Format:
/// logical §9.
struct SearchIndex {
    let store: NodeStore
    var root: Ref

    /// The rows with the values of the objects.
    let rows: ClusterTree
    let column: Int

    /// Sub-indexes exist at offsets 0, 4 … 200; values with longer common prefixes share a list that is sorted by
    /// value.
    static let maxOffset = 200
    static let emptyChunk = Int32(bitPattern: 0x5800_0000)
    var capacity = Format.treeCapacity

    /// Remembers the lists that an insertion found or created, if not nil.
    unowned(unsafe) var recent: RecentLists?

    init(_ store: NodeStore, root: Ref, rows: ClusterTree, column: Int) {
        self.store = store
        self.root = root
        self.rows = rows
        self.column = column
    }

    /// An empty index leaf.
    static func create(_ store: NodeStore) throws(RealmError) -> Ref { try makeLeaf(store).ref }

    static func makeLeaf(_ store: NodeStore, inner: Bool = false) throws(RealmError) -> Node {
        let keys = try store.allocate(NodeHeader(width: 32, count: 0), capacity: 40)
        return try store.makeRefs([RefOrTagged(keys.ref)], inner: inner, context: true)
    }

    // MARK: Looking up

    /// One node opened for reading.
    @inline(__always) func open(_ ref: Ref) throws(RealmError) -> (node: Node, keys: Node) {
        let node = try store.refsNode(ref)
        let keys = try store.integers(Ref(Int(try node.slot(0).raw)))
        guard node.context, keys.count < node.count else {
            throw .corrupt("index node with too few entries", at: ref.offset)
        }
        return (node, keys)
    }

    @inline(__always) static func search(_ keys: Node, _ chunk: Int32) -> Int {
        guard keys.width == 32 else { return keys.lowerBound(Int64(chunk)) }
        let p = keys.payload.assumingMemoryBound(to: Int32.self)
        var low = 0
        var length = keys.count
        // Chunks of hashed or scattered values are distributed evenly. A proportional first guess, then steps of
        // doubling width around it, touch fewer cache lines than binary search. The result does not depend on the
        // distribution.
        if length > 64 {
            let first = Int(p[0]), last = Int(p[length &- 1]), wanted = Int(chunk)
            if wanted <= first { return 0 }
            if wanted > last { return length }
            var guess = (wanted &- first) &* (length &- 1) / (last &- first)
            var step = 8
            if p[guess] < chunk {
                while guess &+ step < length && p[guess &+ step] < chunk {
                    guess = guess &+ step
                    step = step &* 2
                }
                low = guess &+ 1
                length = min(length, guess &+ step) &- low
            } else {
                while guess &- step >= 0 && p[guess &- step] >= chunk {
                    guess = guess &- step
                    step = step &* 2
                }
                low = max(0, guess &- step &+ 1)
                length = guess &- low
            }
        }
        while length > 0 {
            let half = length >> 1
            if p[low &+ half] < chunk {
                low = low &+ half &+ 1
                length = length &- half &- 1
            } else {
                length = half
            }
        }
        return low
    }

    /// The first object (in key order) with this value. The cursor of the rows moves to the object, because the caller
    /// as a rule reads it next.
    func find(_ value: Mixed) throws(RealmError) -> ObjKey? { try find(value, inserting: nil).found }

    /// Returns the object with this value, or inserts an entry for `key` and returns nil; in one descent where
    /// possible. For unique values.
    mutating func findOrInsert(_ value: Mixed, _ key: ObjKey) throws(RealmError) -> ObjKey? {
        let result = try find(value, inserting: key)
        if result.found == nil && !result.inserted { try insert(value, key) }
        return result.found
    }

    /// With `inserting`, a missing value is inserted at once if its index leaf is in the slab and has room: then no
    /// node above it changes.
    @inline(__always)
    private func find(_ value: Mixed, inserting: ObjKey?) throws(RealmError) -> (found: ObjKey?, inserted: Bool) {
        guard let data = IndexData(value) else { return (nil, false) }
        var ref = root
        var offset = 0
        var steps = 0
        while steps < 512 {
            steps += 1
            let (leaf, keys) = try open(ref)
            let chunk = data.chunk(offset)
            let position = Self.search(keys, chunk)
            if position == keys.count { return (nil, false) }
            let entry = try leaf.slot(position &+ 1)
            if leaf.isInner {
                ref = entry.ref
                continue
            }
            guard keys.get(position) == Int64(chunk) else {
                guard let inserting, store.isOwn(leaf.ref), keys.count < capacity,
                    (leaf.count &+ 1) &* 8 <= store.capacity(leaf)
                else {
                    return (nil, false)
                }
                var node = leaf, chunks = keys
                try store.insertInteger(&chunks, position, Int64(chunk))
                store.setSlot(node, 0, chunks.ref)
                try store.insertSlot(&node, position &+ 1, RefOrTagged(tagged: UInt64(bitPattern: inserting.raw)))
                return (nil, true)
            }
            if entry.isTagged {
                let key = ObjKey(Int64(entry.integer))
                if inserting == nil {
                    guard let other = try rows.get(key, column) else { return (nil, false) }
                    return (Mixed.equal(other, value) ? key : nil, false)
                }
                return (try matches(key, value) ? key : nil, false)
            }
            let child = try store.node(entry.ref)
            if child.context {
                ref = entry.ref
                offset &+= 4
                continue
            }
            let list = BPlusTree(store, kind: .int, root: entry.ref)
            let range = try equalRange(list, value, offset)
            return (range.isEmpty ? nil : try key(list, range.lowerBound), false)
        }
        throw .corrupt("index too deep", at: root.offset)
    }

    /// Where the index stores the objects with one value.
    enum Place {
        case nowhere
        case alone(ObjKey)
        case list(BPlusTree, Range<Int>)
    }

    private func place(of value: Mixed) throws(RealmError) -> Place {
        guard let data = IndexData(value) else { return .nowhere }
        var ref = root
        var offset = 0
        for _ in 0..<512 {
            let (node, keys) = try open(ref)
            let chunk = data.chunk(offset)
            let position = Self.search(keys, chunk)
            if position == keys.count { return .nowhere }
            let entry = try node.slot(position + 1)
            if node.isInner {
                ref = entry.ref
                continue
            }
            guard keys.get(position) == Int64(chunk) else { return .nowhere }
            if entry.isTagged {
                let key = ObjKey(Int64(entry.integer))
                return try matches(key, value) ? .alone(key) : .nowhere
            }
            let child = try store.node(entry.ref)
            if child.context {
                ref = entry.ref
                offset += 4
                continue
            }
            let list = BPlusTree(store, kind: .int, root: entry.ref)
            return .list(list, try equalRange(list, value, offset))
        }
        throw .corrupt("index too deep", at: root.offset)
    }

    /// All objects with this value, in key order.
    func findAll(_ value: Mixed, _ body: (ObjKey) throws(RealmError) -> Void) throws(RealmError) {
        switch try place(of: value) {
        case .nowhere: return
        case .alone(let key): try body(key)
        case .list(let list, let range):
            try list.forEachLeaf { (leaf, first, count) throws(RealmError) in
                let node = try store.integers(leaf)
                let from = max(range.lowerBound, first), to = min(range.upperBound, first + count)
                if from < to { for i in from..<to { try body(ObjKey(node.get(i &- first))) } }
                return first + count < range.upperBound
            }
        }
    }

    /// Number of objects with this value.
    func count(of value: Mixed) throws(RealmError) -> Int {
        switch try place(of: value) {
        case .nowhere: 0
        case .alone: 1
        case .list(_, let range): range.count
        }
    }

    func key(_ list: BPlusTree, _ index: Int) throws(RealmError) -> ObjKey {
        guard case .int(let raw) = try list.get(index) else {
            throw .corrupt("index list of a wrong type", at: root.offset)
        }
        return ObjKey(raw)
    }

    func value(_ key: ObjKey) throws(RealmError) -> Mixed? { try rows.peek(key, column) }

    func matches(_ key: ObjKey, _ wanted: Mixed) throws(RealmError) -> Bool {
        guard let other = try value(key) else { return false }
        return Mixed.equal(other, wanted)
    }

    @inline(__always) func isUniform(_ offset: Int) -> Bool {
        offset &+ 4 <= Self.maxOffset && column < rows.columns.count && rows.columns[column]?.kind != .mixed
    }

    /// Positions in a list whose objects have this value. Lists are sorted by value, then key. If the first and
    /// the last value are equal, the list holds a single value. Lists of upgraded files may have an older string order,
    /// so a list of several values is searched from the front.
    func equalRange(_ list: BPlusTree, _ value: Mixed, _ offset: Int) throws(RealmError) -> Range<Int> {
        let count = try list.count()
        guard count > 0 else { return 0..<0 }
        let first = try matches(try key(list, 0), value)
        // Above the deepest level, all entries of a list have the same index data, and only Mixed values of different
        // types can share index data.
        if isUniform(offset) { return first ? 0..<count : 0..<0 }
        let last = count == 1 ? first : try matches(try key(list, count - 1), value)
        if first && last { return 0..<count }
        var start = 0
        while start < count {
            if try matches(try key(list, start), value) { break }
            start += 1
        }
        var end = start
        while end < count {
            guard try matches(try key(list, end), value) else { break }
            end += 1
        }
        return start..<end
    }
}
