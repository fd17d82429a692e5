/// The rows of a table: a tree of clusters of up to 256 objects, each a leaf node that holds one column leaf per column.
///
///     leaf:   [ tagged count (keys 0 … n−1) | ref to keys ] column 0 … column k
///     inner:  [ 0 (compact) | ref to offsets ] [ tagged depth ] [ tagged object count ] child … child
///
/// Keys are relative to the offset of their node; the offsets on the path add up to the ObjKey. Format: logical §5.
///
/// Invariants
/// 1. All column leaves of a cluster have as many elements as the cluster has keys.
/// 2. Keys ascend strictly; the offset of a first child is 0.
/// 3. `cursor` describes a leaf of the present tree or is invalid: every structural change invalidates or replaces it.
final class ClusterTree {
    /// What stands in one column slot of every leaf.
    struct Column {
        var kind: LeafKind
        /// Value of new rows.
        var initial: Mixed
        /// Elements are refs of collections or backlink lists, owned by the row.
        var ownsTrees: Bool
        /// Leaf of distinct values when the column is an enumerated string column.
        var enumeratedValues: Ref = .null
    }

    let store: NodeStore
    private(set) var root: Ref
    /// By column index; nil for holes.
    private(set) var columns: [Column?]
    var cursor = Cursor()
    /// A second cursor for look-ups on the side (index checks), so that they do not push the first one away.
    private var probe = Cursor()

    /// The leaf found last. Reading neighbours in it costs no descent.
    struct Cursor {
        var isValid = false
        /// All nodes from the root to the leaf are in the slab.
        var isWritable = false
        var leaf = Node(address: .init(bitPattern: 8)!, ref: .null, count: 0, width: 0, flags: 0)
        /// Keys of a general leaf.
        var keys: Node?
        var count = 0
        /// Sum of the offsets on the path: real key = relative key + offset.
        var offset: UInt64 = 0
        /// Keys that belong in this leaf: low … high.
        var low: UInt64 = 0
        var high: UInt64 = 0
        /// Index of the leaf's first object in the table; −1 when unknown.
        var firstIndex = -1
        /// The leaf's parent and its place there, for walking on.
        var parent: Node?
        var childIndex = 0
        /// Inner nodes from the leaf up to the root, when `pathCount` ≥ 0: an append bumps their object counts.
        var path: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) = (nil, nil, nil, nil)
        var pathCount = -1
    }

    /// Column leaves of the cursor's leaf that were opened already, by column index; good while `generation` is the cursor's.
    private var opened: UnsafeMutablePointer<OpenedColumn>
    private var openedCount = 0
    private var generation: UInt64 = 1
    /// Never reused, whatever `generation` goes back to.
    private var newestGeneration: UInt64 = 1

    /// The column's leaves hold numbers of values that stand elsewhere.
    func isEnumerated(_ column: ColKey) -> Bool {
        guard column.index < columns.count, let c = columns[column.index] else { return false }
        return !c.enumeratedValues.isNull
    }

    init(_ store: NodeStore, root: Ref, columns: [Column?]) {
        self.store = store
        self.root = root
        self.columns = columns
        opened = .allocate(capacity: 1)
        prepareOpened()
    }
    deinit { opened.deallocate() }

    /// The checked nodes of one column leaf, so that neighbouring rows are read without opening them again.
    struct OpenedColumn {
        enum Form: UInt8 { case none, int, double, link, smallString, mediumString }
        var generation: UInt64 = 0
        var form = Form.none
        /// The leaf; for medium strings the end offsets.
        var node = ClusterTree.noNode
        var blob = ClusterTree.noNode
        var nulls = ClusterTree.noNode
    }
    static var noNode: Node { Node(address: .init(bitPattern: 8)!, ref: .null, count: 0, width: 0, flags: 0) }
    private func prepareOpened() {
        if openedCount < columns.count {
            opened.deallocate()
            opened = .allocate(capacity: columns.count + 4)
        }
        openedCount = columns.count
        for i in 0..<openedCount { (opened + i).initialize(to: OpenedColumn()) }
    }
    /// Forgets opened column leaves: the cursor moved, or rows were inserted or erased.
    @inline(__always) func forgetOpened() {
        newestGeneration &+= 1
        generation = newestGeneration
    }

    /// An empty tree with the columns' empty leaves.
    static func create(_ store: NodeStore, columns: [Column?]) throws(RealmError) -> Ref {
        var slots = [RefOrTagged(tagged: 0)]
        for c in columns { slots.append(RefOrTagged(try c.map { c throws(RealmError) in try c.kind.create(store) } ?? .null)) }
        return try store.makeRefs(slots).ref
    }

    func setColumns(_ columns: [Column?]) {
        self.columns = columns
        prepareOpened()
        invalidateCursors()
    }
    func setRoot(_ root: Ref) {
        self.root = root
        invalidateCursors()
    }
    func setRootKeepingCursor(_ root: Ref) { self.root = root }
    func invalidateCursors() {
        forgetOpened()
        cursor.isValid = false
        probe.isValid = false
    }

    // MARK: Counting

    /// Number of objects.
    func count() throws(RealmError) -> Int { try subtreeCount(root) }
    private func subtreeCount(_ ref: Ref) throws(RealmError) -> Int {
        let n = try store.refsNode(ref)
        if !n.isInner { return try leafCount(n) }
        let c = try n.slot(2)
        // 256 rows need at least the eight bytes of their cluster.
        guard c.isTagged, c.integer <= UInt64(store.extent) * 32 else { throw .corrupt("impossible number of objects", at: ref.offset) }
        return Int(c.integer)
    }
    @inline(__always) private func leafCount(_ n: Node) throws(RealmError) -> Int {
        let first = try n.slot(0)
        if first.isTagged {
            guard first.integer <= UInt64(Format.clusterCapacity) else { throw .corrupt("cluster with too many objects", at: n.ref.offset) }
            return Int(first.integer)
        }
        return try store.integers(first.ref).count
    }

    // MARK: Finding

    private func openLeaf(_ n: Node) throws(RealmError) {
        forgetOpened()
        let first = try n.slot(0)
        cursor.leaf = n
        if first.isTagged {
            guard first.integer <= UInt64(Format.clusterCapacity) else { throw .corrupt("cluster with too many objects", at: n.ref.offset) }
            cursor.keys = nil
            cursor.count = Int(first.integer)
        } else {
            let keys = try store.integers(first.ref)
            guard keys.width >= 8 || keys.count == 0 else { throw .corrupt("cluster keys of a wrong width", at: first.ref.offset) }
            cursor.keys = keys
            cursor.count = keys.count
        }
    }

    private func depth(of n: Node) throws(RealmError) -> Int {
        let d = try n.slot(1)
        guard d.isTagged, d.integer >= 1, d.integer < 8 else { throw .corrupt("inner cluster of impossible depth", at: n.ref.offset) }
        return Int(d.integer)
    }
    /// Offset of child `i` relative to its node.
    private func childOffset(_ n: Node, _ i: Int, depth: Int) throws(RealmError) -> UInt64 {
        let first = try n.slot(0)
        if first.isNull { return UInt64(i) << UInt64(8 * depth) }
        let offsets = try store.integers(first.ref)
        guard i < offsets.count else { throw .corrupt("inner cluster with too few offsets", at: n.ref.offset) }
        return offsets.getUnsigned(i)
    }
    private func findChild(_ n: Node, _ key: UInt64, depth: Int) throws(RealmError) -> (index: Int, offset: UInt64) {
        let children = n.count - 3
        guard children >= 1 else { throw .corrupt("inner cluster without children", at: n.ref.offset) }
        let first = try n.slot(0)
        if first.isNull {
            let i = Int(min(key >> UInt64(8 * depth), UInt64(children - 1)))
            return (i, UInt64(i) << UInt64(8 * depth))
        }
        let offsets = try store.integers(first.ref)
        guard offsets.count >= children else { throw .corrupt("inner cluster with too few offsets", at: n.ref.offset) }
        var low = 0
        var length = children
        while length > 0 {  // Last offset ≤ key.
            let half = length >> 1
            if offsets.getUnsigned(low + half) <= key {
                low += half + 1
                length -= half + 1
            } else {
                length = half
            }
        }
        guard low > 0 else { throw .corrupt("cluster offsets do not start at 0", at: n.ref.offset) }
        return (low - 1, offsets.getUnsigned(low - 1))
    }

    /// Points the cursor at the leaf where `key` belongs.
    @inline(never) private func descend(to key: UInt64, writable: Bool) throws(RealmError) {
        cursor.isValid = false
        cursor.low = 0
        cursor.high = .max
        cursor.offset = 0
        cursor.firstIndex = -1
        cursor.parent = nil
        cursor.pathCount = -1
        var n = try store.refsNode(root)
        if writable {
            probe.isValid = false
            n = try store.writableRefs(n)
            root = n.ref
        }
        var inSlab = true
        for _ in 0..<Trees.maxDepth {
            inSlab = inSlab && !store.isInFile(n.ref)
            if !n.isInner {
                try openLeaf(n)
                cursor.isWritable = inSlab
                cursor.isValid = true
                return
            }
            let depth = try depth(of: n)
            let (i, offset) = try findChild(n, key &- cursor.offset, depth: depth)
            if i + 1 < n.count - 3 { cursor.high = cursor.offset &+ (try childOffset(n, i + 1, depth: depth)) &- 1 }
            cursor.offset &+= offset
            cursor.low = cursor.offset
            cursor.parent = n
            cursor.childIndex = i
            var child = try store.refsNode(try n.child(i + 3))
            if writable {
                let w = try store.writableRefs(child)
                if w.ref != child.ref { store.setSlot(n, i + 3, w.ref) }
                child = w
            }
            n = child
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    /// Row of `key` in the cursor's leaf, which is found first; nil when there is no such object.
    @inline(__always) func locate(_ key: ObjKey) throws(RealmError) -> Int? {
        let k = UInt64(bitPattern: key.raw)
        if !cursor.isValid || k < cursor.low || k > cursor.high { try descend(to: k, writable: false) }
        return row(k)
    }
    @inline(__always) private func row(_ k: UInt64) -> Int? {
        let relative = k &- cursor.offset
        guard let keys = cursor.keys else { return relative < UInt64(cursor.count) ? Int(relative) : nil }
        let i = keys.lowerBoundUnsigned(relative)
        return i < keys.count && keys.getUnsigned(i) == relative ? i : nil
    }
    /// As `locate`, with the path in the slab. A key that is not there copies nothing.
    @inline(__always) func locateForWriting(_ key: ObjKey) throws(RealmError) -> Int? {
        guard let row = try locate(key) else { return nil }
        if !cursor.isWritable { try descend(to: UInt64(bitPattern: key.raw), writable: true) }
        return row
    }
    func contains(_ key: ObjKey) throws(RealmError) -> Bool { try locate(key) != nil }

    /// Number of objects whose keys are below `key`.
    func rank(of key: ObjKey) throws(RealmError) -> Int {
        var relative = UInt64(bitPattern: key.raw), before = 0
        var n = try store.refsNode(root)
        for _ in 0..<Trees.maxDepth {
            if !n.isInner {
                let first = try n.slot(0)
                guard !first.isTagged else { return before + Int(min(relative, UInt64(try leafCount(n)))) }
                return before + (try store.integers(first.ref)).lowerBoundUnsigned(relative)
            }
            let (i, offset) = try findChild(n, relative, depth: try depth(of: n))
            for j in 0..<i { before += try subtreeCount(try n.child(j + 3)) }
            relative &-= offset
            n = try store.refsNode(try n.child(i + 3))
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }
    /// Key of the object at `index` of the table (`0 ≤ index < count`).
    @inline(__always) func key(at index: Int) throws(RealmError) -> ObjKey {
        if !(cursor.isValid && cursor.firstIndex >= 0 && index >= cursor.firstIndex && index < cursor.firstIndex &+ cursor.count) {
            try descend(toIndex: index)
        }
        return keyInCursor(index &- cursor.firstIndex)
    }
    /// Key of the object at `index` when the cursor stands there; nil otherwise.
    @inline(__always) func keyNear(_ index: Int) -> ObjKey? {
        guard cursor.isValid, cursor.firstIndex >= 0, index >= cursor.firstIndex, index < cursor.firstIndex &+ cursor.count else { return nil }
        return keyInCursor(index &- cursor.firstIndex)
    }
    @inline(__always) private func keyInCursor(_ row: Int) -> ObjKey {
        let relative = cursor.keys?.getUnsigned(row) ?? UInt64(row)
        return ObjKey(Int64(bitPattern: relative &+ cursor.offset))
    }
    @inline(never) private func descend(toIndex index: Int) throws(RealmError) {
        // The next leaf under the same parent is one step away.
        if cursor.isValid, cursor.firstIndex >= 0, index == cursor.firstIndex + cursor.count, let parent = cursor.parent,
            cursor.childIndex + 1 < parent.count - 3
        {
            let wasWritable = cursor.isWritable
            let first = cursor.firstIndex + cursor.count
            let depth = try depth(of: parent)
            let base = cursor.offset &- (try childOffset(parent, cursor.childIndex, depth: depth))
            cursor.isValid = false
            cursor.pathCount = -1
            cursor.childIndex += 1
            let leaf = try store.refsNode(try parent.child(cursor.childIndex + 3))
            guard !leaf.isInner else { throw .corrupt("cluster tree of uneven depth", at: leaf.ref.offset) }
            cursor.offset = base &+ (try childOffset(parent, cursor.childIndex, depth: depth))
            cursor.low = cursor.offset
            cursor.high = cursor.childIndex + 1 < parent.count - 3 ? base &+ (try childOffset(parent, cursor.childIndex + 1, depth: depth)) &- 1 : cursor.low
            try openLeaf(leaf)
            // The last child's upper bound is its parent's; without it, only the keys it holds are known to belong here.
            if cursor.childIndex + 1 >= parent.count - 3, cursor.count > 0 {
                cursor.high = UInt64(bitPattern: keyInCursor(cursor.count - 1).raw)
            }
            cursor.firstIndex = first
            cursor.isWritable = wasWritable && !store.isInFile(leaf.ref)
            cursor.isValid = cursor.count > 0 && index < first + cursor.count
            if cursor.isValid { return }
        }
        var remaining = index
        var ref = root
        cursor.pathCount = -1
        cursor.isValid = false
        cursor.low = 0
        cursor.high = .max
        cursor.offset = 0
        cursor.parent = nil
        var writable = true
        for _ in 0..<Trees.maxDepth {
            let n = try store.refsNode(ref)
            writable = writable && !store.isInFile(n.ref)
            if !n.isInner {
                try openLeaf(n)
                guard remaining < cursor.count else { throw .corrupt("object counts do not add up", at: ref.offset) }
                cursor.firstIndex = index - remaining
                cursor.isWritable = writable
                cursor.isValid = true
                return
            }
            let depth = try depth(of: n)
            let children = n.count - 3
            var i = 0
            while true {
                guard i < children else { throw .corrupt("object counts do not add up", at: ref.offset) }
                let size = try subtreeCount(try n.child(i + 3))
                if remaining < size { break }
                remaining -= size
                i += 1
            }
            if i + 1 < children { cursor.high = cursor.offset &+ (try childOffset(n, i + 1, depth: depth)) &- 1 }
            cursor.offset &+= try childOffset(n, i, depth: depth)
            cursor.low = cursor.offset
            cursor.parent = n
            cursor.childIndex = i
            ref = try n.child(i + 3)
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    /// Calls `body` for each key in order until it returns false. The tree must not change meanwhile.
    func forEachKey(_ body: (ObjKey) throws(RealmError) -> Bool) throws(RealmError) {
        let total = try count()
        var i = 0
        while i < total {
            if try !body(try key(at: i)) { return }
            i += 1
        }
    }

    func allKeys() throws(RealmError) -> [ObjKey] {
        var keys: [ObjKey] = []
        try forEachKey { (k) throws(RealmError) in
            keys.append(k)
            return true
        }
        return keys
    }

    // MARK: Values

    /// Column leaf of the cursor's leaf.
    @inline(__always) func columnLeaf(_ column: Int) throws(RealmError) -> Ref {
        let slot = try cursor.leaf.slot(column &+ 1)
        guard slot.subtree != nil else { throw .corrupt("cluster without the leaf of a column", at: cursor.leaf.ref.offset) }
        return slot.ref
    }
    /// Value of column `column` in the object `key`; nil when there is no such object.
    @inline(__always) func get(_ key: ObjKey, _ column: Int) throws(RealmError) -> Mixed? {
        guard let row = try locate(key) else { return nil }
        return try get(row: row, column)
    }
    /// Value in the cursor's leaf.
    @inline(__always) func get(row: Int, _ column: Int) throws(RealmError) -> Mixed {
        if column < openedCount, opened[column].generation == generation {
            let o = opened + column
            switch o.pointee.form {
            case .int where row < o.pointee.node.count: return .int(o.pointee.node.get(row))
            case .double where row < o.pointee.node.count:
                let bits = FloatLeaf.double(o.pointee.node, row)
                return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
            case .mediumString where row < o.pointee.node.count && row < o.pointee.nulls.count:
                if o.pointee.nulls.get(row) != 0 { return .null }
                let start = row == 0 ? 0 : o.pointee.node.get(row &- 1)
                let end = o.pointee.node.get(row)
                if start >= 0, end > start, end <= Int64(o.pointee.blob.count) {
                    return .string(Bytes(start: o.pointee.blob.payload + Int(start), count: Int(end &- start) &- 1))
                }
            case .smallString where row < o.pointee.node.count:
                guard let b = try StringLeaf.getSmall(o.pointee.node, row) else { return .null }
                return .string(b)
            case .link where row < o.pointee.node.count:
                let v = o.pointee.node.get(row)
                return v == 0 ? .null : .link(ObjKey(v &- 1))
            default: break
            }
        }
        return try getOpening(row, column)
    }
    /// As `get(row:)`, and opens the column leaf for the rows that follow.
    @inline(never) private func getOpening(_ row: Int, _ column: Int) throws(RealmError) -> Mixed {
        if column < columns.count, column < openedCount, let c = columns[column], c.enumeratedValues.isNull {
            let leaf = try columnLeaf(column)
            let o = opened + column
            o.pointee.form = .none
            o.pointee.generation = 0
            switch c.kind {
            case .int: openInto(o, .int, try store.integers(leaf))
            case .link: openInto(o, .link, try store.integers(leaf))
            case .double: openInto(o, .double, try FloatLeaf.node(store, leaf, width: 8))
            case .string:
                let n = try store.node(leaf)
                if n.hasRefs && !n.context && n.widthType == 0 {
                    let p = try MediumLeaf.parts(store, n)
                    o.pointee.blob = p.blob
                    o.pointee.nulls = p.nulls
                    openInto(o, .mediumString, p.ends)
                } else if !n.hasRefs && n.widthType == 1 {
                    openInto(o, .smallString, n)
                }
            default: break
            }
        }
        return try getClosed(row, column)
    }
    @inline(never) private func openInto(_ o: UnsafeMutablePointer<OpenedColumn>, _ form: OpenedColumn.Form, _ n: Node) {
        o.pointee.node = n
        o.pointee.form = form
        o.pointee.generation = generation
    }
    private func getClosed(_ row: Int, _ column: Int) throws(RealmError) -> Mixed {
        guard column < columns.count, let c = columns[column] else { throw .corrupt("no such column", at: cursor.leaf.ref.offset) }
        let leaf = try columnLeaf(column)
        if c.kind == .string && !c.enumeratedValues.isNull { return try getEnumerated(leaf, row, c.enumeratedValues) }
        return try c.kind.get(store, leaf, row)
    }
    private func getEnumerated(_ leaf: Ref, _ row: Int, _ values: Ref) throws(RealmError) -> Mixed {
        let n = try store.node(leaf)
        guard !n.hasRefs && n.widthType == 0 else { return try LeafKind.string.get(store, leaf, row) }
        guard row < n.count else { throw .corrupt("leaf is too short", at: leaf.offset) }
        let index = n.get(row)
        guard index >= 0, index < 1 << 24 else { throw .corrupt("index of an enumerated string out of range", at: leaf.offset) }
        guard let b = try StringLeaf.get(store, values, Int(index)) else { return .null }
        return .string(b)
    }
    /// The value, when the cursor stands at the object's leaf and the column leaf is open: most reads. nil: use `get`.
    @inline(__always) func openedValue(_ key: ObjKey, _ column: Int) -> Mixed? {
        let k = UInt64(bitPattern: key.raw)
        guard cursor.isValid, k >= cursor.low, k <= cursor.high, column < openedCount, opened[column].generation == generation else { return nil }
        var row = Int(truncatingIfNeeded: k &- cursor.offset)
        if let keys = cursor.keys {
            row = keys.lowerBoundUnsigned(UInt64(bitPattern: Int64(row)))
            guard row < keys.count, keys.getUnsigned(row) == k &- cursor.offset else { return nil }
        } else {
            guard k &- cursor.offset < UInt64(cursor.count) else { return nil }
        }
        let o = opened + column
        guard row < o.pointee.node.count else { return nil }
        switch o.pointee.form {
        case .int: return .int(o.pointee.node.get(row))
        case .double:
            let bits = FloatLeaf.double(o.pointee.node, row)
            return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
        case .mediumString:
            guard row < o.pointee.nulls.count else { return nil }
            if o.pointee.nulls.get(row) != 0 { return .null }
            let start = row == 0 ? 0 : o.pointee.node.get(row &- 1)
            let end = o.pointee.node.get(row)
            guard start >= 0, end > start, end <= Int64(o.pointee.blob.count) else { return nil }
            return .string(Bytes(start: o.pointee.blob.payload + Int(start), count: Int(end &- start) &- 1))
        default: return nil
        }
    }
    /// As `get`, without moving the cursor.
    func peek(_ key: ObjKey, _ column: Int) throws(RealmError) -> Mixed? {
        if cursor.isValid {
            let k = UInt64(bitPattern: key.raw)
            if k >= cursor.low && k <= cursor.high { return try get(key, column) }
        }
        // The column leaves opened for the cursor stay as they are: this path does not use them.
        let kept = generation
        swap(&cursor, &probe)
        defer {
            swap(&cursor, &probe)
            generation = kept
        }
        guard let row = try locate(key) else { return nil }
        return try getClosed(row, column)
    }
    /// Stores a value; false when there is no such object.
    @inline(__always) func set(_ key: ObjKey, _ column: Int, _ v: Mixed) throws(RealmError) -> Bool {
        guard let row = try locateForWriting(key) else { return false }
        try set(row: row, column, v)
        return true
    }
    /// Stores a value in the cursor's leaf, which is writable.
    @inline(__always) func set(row: Int, _ column: Int, _ v: Mixed) throws(RealmError) {
        if column < openedCount, opened[column].generation == generation {
            let o = opened + column
            if o.pointee.node.ref.offset >= store.slabStart, row < o.pointee.node.count {
                // In the slab, and the element is wide enough: nothing moves.
                switch (o.pointee.form, v) {
                case (.int, .int(let i)) where Widths.fits(i, o.pointee.node.width): return o.pointee.node.put(row, i)
                case (.double, .double(let d)) where d.bitPattern != FloatLeaf.nullDouble:
                    return o.pointee.node.payload.storeBytes(of: d.bitPattern, toByteOffset: row &* 8, as: UInt64.self)
                default: break
                }
            }
            o.pointee.generation = 0
        }
        guard column < columns.count, let c = columns[column] else { throw .corrupt("no such column", at: cursor.leaf.ref.offset) }
        let leaf = try columnLeaf(column)
        let new = try c.kind.set(store, leaf, row, v)
        if new != leaf { store.setSlot(cursor.leaf, column &+ 1, new) }
    }
    /// Gives the collection that a Mixed value was just made its stable key.
    func assignKey(_ key: ObjKey, _ column: Int) throws(RealmError) {
        guard let row = try locateForWriting(key) else { return }
        forgetOpened()
        let leaf = try columnLeaf(column)
        var stable = Int64(Int16(truncatingIfNeeded: Crypto.randomWord()))
        while true {
            if stable != 0, try MixedLeaf.index(store, leaf, ofKey: stable) == nil { break }
            stable = Int64(Int16(truncatingIfNeeded: stable + 1))
        }
        let new = try MixedLeaf.setKey(store, leaf, row, stable)
        if new != leaf { store.setSlot(cursor.leaf, column &+ 1, new) }
    }
}
