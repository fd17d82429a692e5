/// Lists, sets and dictionaries, read in place. A reader is a small struct over the root refs it resolved; it is good for the version it was
/// made at. Format: logical §8.

/// Elements of a list or set, by index. Unresolved links are hidden.
///
/// Good for one state of its Realm: whoever keeps it compares state counts. The leaf read last stays open, so that neighbours cost no
/// descent; while writing, the last leaf stays open for appending.
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
            for i in 0..<total { if case .link(let k) = try tree.get(i), !k.isUnresolved { kept.append(i) } }
            (count, visible) = (kept.count, kept)
        } else {
            (count, visible) = (total, nil)
        }
    }
    private var tree: BPlusTree { BPlusTree(store, kind: kind, root: root) }

    // MARK: Reading

    /// Element `i` when the list stands at its leaf and that is of plain integers: most reads of lists of integers. nil: use `get`.
    @inline(__always) package func integer(_ i: Int) -> Int64? {
        let at = i &- first
        guard UInt(bitPattern: at) < UInt(bitPattern: integerCount) else { return nil }
        return integers.get(at)
    }
    /// Element `i`; links come with their table. Out of range is an error.
    @inline(__always) package func get(_ i: Int) throws(RealmError) -> Mixed {
        if let v = integer(i) { return .int(v) }
        return try getOther(i)
    }
    @inline(never) private func getOther(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count else {
            throw RealmError(.indexOutOfBounds, "Requested index \(i) calling get() on a collection of \(count) elements")
        }
        let at = visible?[i] ?? i
        if UInt(bitPattern: at &- first) >= UInt(bitPattern: leafCount) {
            forgetLeaf()
            let (ref, index) = try BPlusTree.leaf(store, root, at)
            let n = try kind.count(store, ref)
            guard index < n else { throw .corrupt("tree leaf is too short", at: ref.offset) }
            (leaf, first) = (ref, at - index)
            if kind == .int && visible == nil {
                integers = try store.integers(ref)
                integerCount = integers.count
            }
            leafCount = n
        }
        switch try kind.get(store, leaf, at &- first) {
        case .link(let k): return .typedLink(target, k)
        case .typedLink(_, let k) where k.isUnresolved: return .null
        case let v: return v
        }
    }
    private func forgetLeaf() { (leafCount, integerCount) = (0, 0) }

    /// Stable key of the nested collection at `i`.
    package func nestedKey(_ i: Int) throws(RealmError) -> Int64 {
        guard !root.isNull, kind == .mixed else { return 0 }
        return try tree.key(visible?[i] ?? i)
    }
    /// First index of an equal value of the same type: among Mixed values numbers of other types are equal, too.
    package func find(_ v: Mixed) throws(RealmError) -> Int? {
        guard !root.isNull, v.isNull || kind == .objKey || kind.holds(v) else { return nil }
        var wanted = v
        if kind == .objKey {
            guard case .typedLink(let t, let k) = v, t == target else { return nil }
            wanted = .link(k)
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

    /// Appends when that changes only the last leaf and the totals above it, all in the slab already; otherwise nothing happens. The value
    /// fits the leaf and owns nothing.
    ///
    /// - Returns: whether it was done, and whether the root moved.
    @inline(__always) func append(_ v: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        if kind == .int, case .int(let i) = v, tailCount >= 0, tailCount < Format.treeCapacity, Widths.fits(i, tail.width),
            ((tailCount &+ 1) &* tail.width &+ 7) >> 3 <= store.capacity(tail)
        {
            tail.put(tailCount, i)
            tailCount &+= 1
            tail.count = tailCount
            store.storeHeader(tail)
            countAppended()
            return (true, false)
        }
        return try appendOther(v)
    }
    @inline(__always) private func countAppended() {
        count &+= 1
        for p in parents { store.setSlot(p, p.count &- 1, RefOrTagged(tagged: count)) }
    }
    @inline(never) private func appendOther(_ v: Mixed) throws(RealmError) -> (done: Bool, moved: Bool) {
        if tailCount < 0, try !openTail() { return (false, false) }
        guard tailCount < Format.treeCapacity else { return (false, false) }
        let new = try kind.insert(store, tail.ref, tailCount, v)
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
            let n = try store.node(ref)
            guard !store.isInFile(ref) else { return false }
            if !n.isInner {
                tail = n
                tailCount = try kind.count(store, ref)
                return true
            }
            // Totals of lower inner nodes are not those of the list: one level covers a million elements.
            guard parents.isEmpty, n.count >= 3 else { return false }
            parents = [n]
            ref = try n.child(n.count - 2)
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
    func holds(_ v: Mixed) -> Bool {
        switch (self, v) {
        case (.int, .int), (.nullableInt, .int), (.bool, .bool), (.float, .float), (.double, .double), (.string, .string), (.binary, .binary),
            (.timestamp, .timestamp), (.decimal, .decimal), (.objectId, .objectId), (.uuid, .uuid), (.objKey, .link), (.mixed, _):
            true
        default: false
        }
    }
}

/// A dictionary: two parallel trees, keys ascending by bytes. Format: logical §8.3. Formats 21 and 22: a cluster tree by hash (§11).
package struct ElementDictionary {
    private enum Form {
        case empty
        case trees(keys: BPlusTree, values: BPlusTree)
        /// Rows in key order, of the old form.
        case rows(ClusterTree, [ObjKey])
    }
    private let form: Form
    package let count: Int
    /// Type of the values; Mixed for dictionaries of Mixed and nested ones.
    private let valueType: ColumnType

    init(_ store: NodeStore, root: Ref, keyType: ColumnType, valueType: ColumnType = .mixed, format: UInt8) throws(RealmError) {
        self.valueType = valueType
        guard !root.isNull else {
            (form, count) = (.empty, 0)
            return
        }
        if format < 23 {
            let columns = [
                ClusterTree.Column(kind: .string, initial: .null, ownsTrees: false),
                ClusterTree.Column(kind: .mixed, initial: .null, ownsTrees: false),
            ]
            let rows = ClusterTree(store, root: root, columns: columns)
            var keyed: [(ObjKey, Bytes)] = []
            try rows.forEachKey { (k) throws(RealmError) in
                guard case .string(let name)? = try rows.get(k, 0) else { return true }
                keyed.append((k, name))
                return true
            }
            keyed.sort { Mixed.compareBytes($0.1, $1.1) < 0 }
            form = .rows(rows, keyed.map(\.0))
            count = keyed.count
            return
        }
        let top = try store.refsNode(root)
        guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
        let keys = BPlusTree(store, kind: keyType == .int ? .int : .string, root: try top.child(0))
        let values = BPlusTree(store, kind: .mixed, root: try top.child(1))
        count = try keys.count()
        guard try values.count() == count else { throw .corrupt("dictionary with keys and values that do not match", at: root.offset) }
        form = .trees(keys: keys, values: values)
    }

    private func outOfRange(_ i: Int) -> RealmError { RealmError(.indexOutOfBounds, "Requested index \(i) in a dictionary of \(count) entries") }
    package func key(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count else { throw outOfRange(i) }
        let k: Mixed
        switch form {
        case .trees(let keys, _): k = try keys.get(i)
        case .rows(let rows, let keys): k = try rows.get(keys[i], 0) ?? .null
        case .empty: throw outOfRange(i)
        }
        guard !k.isNull else { throw .corrupt("dictionary with a null key") }
        return k
    }
    package func value(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count else { throw outOfRange(i) }
        let v: Mixed
        switch form {
        case .trees(_, let values): v = try values.get(i)
        case .rows(let rows, let keys): v = try rows.get(keys[i], 1) ?? .null
        case .empty: throw outOfRange(i)
        }
        if case .typedLink(_, let k) = v, k.isUnresolved { return .null }
        guard valueType == .mixed || v.isNull || v.columnType == valueType else { throw .corrupt("dictionary with a value of another type") }
        return v
    }
    /// Stable key of the nested collection at `i`.
    func nestedKey(_ i: Int) throws(RealmError) -> Int64 {
        guard case .trees(_, let values) = form else { return 0 }
        return try values.key(i)
    }
    /// Index of a key. Binary search first; files from before format 24 may order non-ASCII keys otherwise, so a miss looks everywhere.
    package func find(_ key: Bytes) throws(RealmError) -> Int? {
        var low = 0, high = count
        while low < high {
            let mid = (low + high) / 2
            guard case .string(let k) = try self.key(mid) else { return nil }
            let order = Mixed.compareBytes(k, key)
            if order == 0 { return mid }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        guard key.contains(where: { $0 >= 0x80 }) else { return nil }
        for i in 0..<count { if case .string(let k) = try self.key(i), Mixed.equalBytes(k, key) { return i } }
        return nil
    }
    package func findValue(_ v: Mixed) throws(RealmError) -> Int? {
        for i in 0..<count where Mixed.same(try value(i), v) { return i }
        return nil
    }
}

extension Mixed {
    /// The property type that holds this value; links as `.link`.
    var columnType: ColumnType? {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectId: .objectId
        case .uuid: .uuid
        case .link, .typedLink: .link
        case .null, .list, .dictionary, .slot: nil
        }
    }
    /// Equality for finding: the same type, or both numbers; NaN is found by its bits.
    static func same(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.null, _), (_, .null): false
        case (.list, _), (_, .list), (.dictionary, _), (_, .dictionary): false
        default: compare(a, b) == 0
        }
    }
}

/// Where a collection stands: a property of an object, and for collections inside Mixed values the way down from there.
package struct CollectionPath: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Stable key of a nested collection in a list.
        case salt(Int64)
        /// Key in a dictionary.
        case name([UInt8])
    }
    package let table: TableKey
    private let owner: BornKey
    package let column: ColKey
    package var steps: [Step] = []
    package init(table: TableKey, object: ObjKey, column: ColKey) {
        self.init(table: table, owner: BornKey(object, nil), column: column)
    }
    package init(table: TableKey, owner: BornKey, column: ColKey) {
        self.table = table
        self.owner = owner
        self.column = column
    }
    @inline(__always) package var object: ObjKey { owner.key }
}

/// The collection at the end of a path.
package enum CollectionContent {
    case list(ElementList)
    case dictionary(ElementDictionary)
}

extension Group {
    /// Resolves a path; nil when something on the way is gone or is no longer a collection.
    func resolve(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        guard let table = try table(path.table), let column = table.facts(path.column) else { return nil }
        guard let value = try table.rows.get(path.object, column.key.index) else { return nil }
        var content: CollectionContent
        if case .slot(let slot) = value {
            let root = slot.subtree ?? .null
            if column.shape == .dictionary {
                content = .dictionary(try ElementDictionary(store, root: root, keyType: column.keyType, valueType: column.type, format: format))
            } else {
                guard let kind = column.elementKind else { return nil }
                content = .list(try ElementList(store, root: root, kind: kind, target: column.oppositeTable, isSet: column.shape == .set))
            }
        } else {
            guard let nested = try nestedContent(value) else { return nil }
            content = nested
        }
        for step in path.steps {
            let inner: Mixed
            switch (content, step) {
            case (.list(let list), .salt(let key)):
                guard let i = try list.index(ofNested: key) else { return nil }
                inner = try list.get(i)
            case (.dictionary(let dictionary), .name(let name)):
                guard let i = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) else { return nil }
                inner = try dictionary.value(i)
            default: return nil
            }
            guard let nested = try nestedContent(inner) else { return nil }
            content = nested
        }
        return content
    }
    private func nestedContent(_ v: Mixed) throws(RealmError) -> CollectionContent? {
        switch v {
        case .list(let r): .list(try ElementList(store, root: r, kind: .mixed, target: .null))
        case .dictionary(let r): .dictionary(try ElementDictionary(store, root: r, keyType: .string, format: 24))
        default: nil
        }
    }
}
