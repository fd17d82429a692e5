/// Lists, sets and dictionaries, read in place. A reader is a small struct over the root refs it resolved; it is good for the version it was
/// made at. Format: logical §8.

/// Elements of a list or set, by index. Unresolved links are hidden.
package struct ElementList {
    private let tree: BPlusTree?
    package let count: Int
    /// Table that plain links lead to.
    private let target: TableKey
    /// Positions of visible elements, when some are hidden.
    private let visible: [Int]?
    /// Elements ascend strictly: a value is found by halving.
    private let isSet: Bool
    /// The leaf read last.
    private let cursor: LeafCursor

    /// - Parameter root: null for a collection that was never written.
    init(_ store: NodeStore, root: Ref, kind: LeafKind, target: TableKey, isSet: Bool = false) throws(RealmError) {
        self.target = target
        self.isSet = isSet
        cursor = LeafCursor(store)
        guard !root.isNull else {
            (tree, count, visible) = (nil, 0, nil)
            return
        }
        let tree = BPlusTree(store, kind: kind, root: root)
        let total = try tree.count()
        self.tree = tree
        if kind == .objKey, try store.node(root).context {
            var kept: [Int] = []
            for i in 0..<total { if case .link(let k) = try tree.get(i), !k.isUnresolved { kept.append(i) } }
            (count, visible) = (kept.count, kept)
        } else {
            (count, visible) = (total, nil)
        }
    }

    /// Element `i`; links come with their table. Out of range is an error.
    @inline(__always) package func get(_ i: Int) throws(RealmError) -> Mixed {
        if let v = cursor.integer(i) { return .int(v) }
        return try getOther(i)
    }
    @inline(never) private func getOther(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count, let tree else {
            throw RealmError(.indexOutOfBounds, "Requested index \(i) calling get() on a collection of \(count) elements")
        }
        switch try cursor.get(tree, visible?[i] ?? i) {
        case .link(let k): return .typedLink(target, k)
        case .typedLink(_, let k) where k.isUnresolved: return .null
        case let v: return v
        }
    }
    /// Stable key of the nested collection at `i`.
    package func nestedKey(_ i: Int) throws(RealmError) -> Int64 {
        guard let tree, tree.kind == .mixed else { return 0 }
        return try tree.key(visible?[i] ?? i)
    }
    /// First index of an equal value of the same type.
    package func find(_ v: Mixed) throws(RealmError) -> Int? {
        guard let tree else { return nil }
        var wanted = v
        if tree.kind == .objKey {
            guard case .typedLink(let t, let k) = v, t == target else { return nil }
            wanted = .link(k)
        }
        if isSet, visible == nil, tree.kind == .mixed || v.isNull || tree.kind.holds(wanted) {
            var low = 0, high = count
            while low < high {
                let mid = (low + high) / 2
                let order = Self.order(tree.kind, try tree.get(mid), wanted)
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
        guard let tree, tree.kind == .mixed else { return nil }
        return try tree.index(ofKey: key)
    }
}

/// The leaf of a tree that was read last: neighbours in it cost no descent. Good for one version, like the reader that owns it.
final class LeafCursor {
    private let store: NodeStore
    private var first = 0
    private var count = 0
    /// The leaf when it is a plain integer array, with its number of elements; else 0.
    private var integers = ClusterTree.noNode
    private var integerCount = 0
    private var leaf = Ref.null

    init(_ store: NodeStore) { self.store = store }

    /// Element `i` when the cursor stands at its leaf of plain integers.
    @inline(__always) func integer(_ i: Int) -> Int64? {
        let at = i &- first
        guard UInt(bitPattern: at) < UInt(bitPattern: integerCount) else { return nil }
        return integers.get(at)
    }
    func get(_ tree: BPlusTree, _ i: Int) throws(RealmError) -> Mixed {
        if UInt(bitPattern: i &- first) >= UInt(bitPattern: count) {
            (count, integerCount) = (0, 0)
            let (ref, index) = try BPlusTree.leaf(store, tree.root, i)
            let n = try tree.kind.count(store, ref)
            guard index < n else { throw .corrupt("tree leaf is too short", at: ref.offset) }
            (leaf, first) = (ref, i - index)
            if tree.kind == .int {
                integers = try store.integers(ref)
                integerCount = integers.count
            }
            count = n
        }
        return try tree.kind.get(store, leaf, i &- first)
    }
}

extension LeafKind {
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
            let columns = [ClusterTree.Column(kind: .string, initial: .null, ownsTrees: false), ClusterTree.Column(kind: .mixed, initial: .null, ownsTrees: false)]
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
package struct CollectionPath: Hashable {
    package enum Step: Hashable {
        /// Stable key of a nested collection in a list.
        case salt(Int64)
        /// Key in a dictionary.
        case name([UInt8])
    }
    package let table: TableKey
    package let object: ObjKey
    package let column: ColKey
    package var steps: [Step] = []
    package init(table: TableKey, object: ObjKey, column: ColKey) {
        self.table = table
        self.object = object
        self.column = column
    }
}

/// The collection at the end of a path.
package enum CollectionContent {
    case list(ElementList)
    case dictionary(ElementDictionary)
}

extension Group {
    /// Resolves a path; nil when something on the way is gone or is no longer a collection.
    func resolve(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        guard let table = try table(path.table), let column = table.column(path.column) else { return nil }
        guard let value = try table.rows.get(path.object, column.index) else { return nil }
        var content: CollectionContent
        if case .slot(let slot) = value {
            let root = slot.isTagged ? Ref.null : slot.ref
            if column.isDictionary {
                content = .dictionary(try ElementDictionary(store, root: root, keyType: column.keyType, valueType: column.type, format: format))
            } else {
                guard let kind = column.elementKind else { return nil }
                content = .list(try ElementList(store, root: root, kind: kind, target: column.oppositeTable, isSet: column.isSet))
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
