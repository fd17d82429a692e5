/// Changing lists, sets and dictionaries, at the top of a property or nested inside Mixed values. Format: logical §8.
///
/// Invariants
/// 1. Every stored link has one backlink entry: an element goes in with its backlink and leaves with it.
/// 2. A collection's root ref is written back up to the row in the same call, through every container that it is nested
///    in.
/// 3. Objects that lose their only owner are deleted after the write-back, when no root is held in a variable any more.
/// 4. What is refused is refused before anything is copied, made or entered: a call that fails leaves no trace.
package enum CollectionShape: Sendable { case list, set, dictionary }

/// One collection opened for change. Values were checked by the caller; indexes are checked here.
struct CollectionEditor {
    unowned(unsafe) let table: Table
    let object: ObjKey
    let column: ColumnFacts
    let shape: CollectionShape

    /// Leaf of the elements; of the values for dictionaries.
    let kind: LeafKind

    /// Tree of a list or set, top array of a dictionary; null while nothing was stored.
    var root: Ref
    let place: CollectionPlace

    /// Objects that lost an owner.
    var cascade = Group.Cascade()

    private var store: NodeStore { table.store }

    /// Nesting level of this collection: 1 stands directly in its property.
    var level: Int { place.path.count + 1 }

    private func log(_ change: CollectionChange) { table.group.log?.collectionChanged(place, change) }

    // MARK: Links

    private func added(_ v: Mixed) throws(RealmError) {
        switch v {
        case .link(let k):
            try table.group.table(column.oppositeTable)?.addBacklink(k, column.oppositeColumn, origin: object)
        case .typedLink(_, let k) where column.type == .link:
            try table.group.table(column.oppositeTable)?.addBacklink(k, column.oppositeColumn, origin: object)
        case .typedLink(let t, let k): try table.addMixedBacklink(object, column, t, k)
        default: break
        }
    }

    private mutating func removed(_ v: Mixed) throws(RealmError) {
        switch v {
        case .link, .typedLink, .list, .dictionary:
            try table.removeLinks(in: v, from: object, column, cascading: &cascade)
        default: break
        }
    }

    // MARK: The index of a list of strings

    private var isIndexed: Bool {
        kind == .string && shape == .list && place.path.isEmpty && table.indexes.has(column.key.index)
    }

    private func word(_ v: Mixed) -> Bytes? { if case .string(let b) = v { b } else { nil } }

    /// Before anything is changed.
    private func checkWord(_ v: Mixed) throws(RealmError) {
        if isIndexed, let w = word(v) { try SearchIndex.checkWord(w) }
    }

    private func enterWord(_ v: Mixed) throws(RealmError) {
        if isIndexed { try table.indexes.insertWord(word(v), object, column.key.index) }
    }

    /// The element left the list: its word goes when no equal element stays.
    private func leaveWord(_ v: Mixed, _ tree: BPlusTree) throws(RealmError) {
        guard isIndexed, try tree.firstIndex(of: v) == nil else { return }
        try table.indexes.eraseWord(word(v), object, column.key.index)
    }

    // MARK: Lists

    /// The elements; nil while nothing was stored.
    private var tree: BPlusTree? { root.isNull ? nil : BPlusTree(store, kind: kind, root: root) }

    /// The same, for a new element.
    private func treeToFill() throws(RealmError) -> BPlusTree {
        if let tree { return tree }
        return try BPlusTree.create(store, kind: kind)
    }

    /// Whether unresolved links may be among the elements: then indexes of the caller leave them out.
    private func hidesElements() throws(RealmError) -> Bool {
        guard kind == .objKey, !root.isNull else { return false }
        return try store.node(root).context
    }

    private func visible(_ tree: BPlusTree) throws(RealmError) -> [Int] {
        var kept: [Int] = []
        for i in 0..<(try tree.count()) { if case .link(let k) = try tree.get(i), !k.isUnresolved { try kept.add(i) } }
        return kept
    }

    /// Stored index of the caller's index `i`; `end` allows the index behind the last element.
    private func position(_ i: Int, _ what: StaticString, end: Bool = false) throws(RealmError) -> Int {
        let total = try tree?.count() ?? 0
        if let tree, try hidesElements() {
            let kept = try visible(tree)
            if i >= 0 && i < kept.count { return kept[i] }
            if end && i == kept.count { return total }
            throw outOfRange(i, kept.count, what)
        }
        guard i >= 0, i < total || (end && i == total) else { throw outOfRange(i, total, what) }
        return i
    }

    @inline(never) private func outOfRange(_ i: Int, _ count: Int, _ what: StaticString) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(i) calling \(what)() on a collection of \(count) elements")
    }

    /// Links are stored as plain keys in lists and sets.
    @inline(__always) private func element(_ v: Mixed) -> Mixed {
        if kind == .objKey, case .typedLink(_, let k) = v { return .link(k) }
        return v
    }

    private static func isCollection(_ v: Mixed) -> Bool {
        switch v {
        case .list, .dictionary: true
        default: false
        }
    }

    mutating func insert(_ i: Int, _ value: Mixed) throws(RealmError) {
        let v = try store.stable(element(value))
        let at = try position(i, "insert", end: true)
        try checkWord(v)
        var tree = try treeToFill()
        try enterWord(v)
        try added(v)
        try tree.insert(at, v)
        if Self.isCollection(v) { try tree.assignKey(at) }
        root = tree.root
        log(.insert(at))
    }

    mutating func set(_ i: Int, _ value: Mixed) throws(RealmError) {
        let v = try store.stable(element(value))
        let at = try position(i, "set")
        try checkWord(v)
        guard var tree else { return }
        try replace(&tree, at, v)
        root = tree.root
        log(.set(at))
    }

    /// Stores `v` over element `at`. A collection over one of its own type keeps what is there.
    private mutating func replace(_ tree: inout BPlusTree, _ at: Int, _ v: Mixed) throws(RealmError) {
        let old = try tree.get(at)
        switch (old, v) {
        case (.list, .list), (.dictionary, .dictionary): return
        case (.link(let a), .link(let b)) where a == b: return
        case (.typedLink(let t, let a), .typedLink(let u, let b)) where t == u && a == b: return
        default: break
        }
        try enterWord(v)
        try removed(old)
        try added(v)
        let before = isIndexed ? word(old).map { Array($0) } : nil
        try tree.set(at, v)
        if Self.isCollection(v) { try tree.assignKey(at) }
        if isIndexed {
            if let before {
                try before.withBytes { (b) throws(RealmError) in try leaveWord(.string(b), tree) }
            } else {
                try leaveWord(.null, tree)
            }
        }
    }

    mutating func erase(_ i: Int) throws(RealmError) {
        let at = try position(i, "erase")
        guard var tree else { return }
        try erase(&tree, at: at)
        root = tree.root
    }

    private mutating func erase(_ tree: inout BPlusTree, at: Int) throws(RealmError) {
        let old = try tree.get(at)
        try removed(old)
        if isIndexed {
            let before = word(old).map { Array($0) }
            try tree.erase(at)
            if let before {
                try before.withBytes { (b) throws(RealmError) in try leaveWord(.string(b), tree) }
            } else {
                try leaveWord(.null, tree)
            }
        } else {
            try tree.erase(at)
        }
        log(.erase(at))
    }

    mutating func move(_ from: Int, to: Int) throws(RealmError) {
        let a = try position(from, "move"), b = try position(to, "move")
        guard a != b, var tree else { return }
        log(.move(a, b))
        try tree.move(a, to: b)
        root = tree.root
    }

    /// Empties the collection; embedded objects in it go, other linked objects stay.
    mutating func clear() throws(RealmError) {
        guard var tree else { return }
        if shape == .dictionary {
            let n = try dictionary(root).keys.count()
            try table.removeLinks(in: .dictionary(root), from: object, column, cascading: &cascade)
            try store.destroy(root)
            root = .null
            if n > 0 { log(.clear(oldSize: n)) }
            return
        }
        let n = try tree.count()
        guard n > 0 else { return }
        log(.clear(oldSize: n))
        if column.type == .link || column.type == .mixed {
            try table.removeLinks(inTree: root, kind: kind, from: object, column, cascading: &cascade)
        }
        if isIndexed { for i in 0..<n { try table.indexes.eraseWord(word(try tree.get(i)), object, column.key.index) } }
        try tree.clear()
        root = tree.root
    }

    /// Objects that a list or set of links leads to, each once.
    func targets() throws(RealmError) -> [ObjKey] {
        guard kind == .objKey, let tree else { return [] }
        var seen = Swift.Set<Int64>(), all: [ObjKey] = []
        for i in 0..<(try tree.count()) {
            try seen.makeRoom()
            if case .link(let k) = try tree.get(i), !k.isUnresolved, seen.insert(k.raw).inserted { try all.add(k) }
        }
        return all
    }

    // MARK: Sets

    /// Index of the first element that is not less than `v`, and whether it equals `v`.
    private func lowerBound(_ tree: BPlusTree, _ v: Mixed) throws(RealmError) -> (index: Int, equal: Bool) {
        var low = 0, high = try tree.count()
        while low < high {
            let mid = (low + high) / 2
            let order = ElementList.order(kind, try tree.get(mid), v)
            if order == 0 { return (mid, true) }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        return (low, false)
    }

    /// - Returns: where the value stands among the visible elements, and whether it is new.
    mutating func insertUnique(_ value: Mixed) throws(RealmError) -> (index: Int, inserted: Bool) {
        let v = try store.stable(element(value))
        var (at, equal) = (0, false)
        if let tree { (at, equal) = try lowerBound(tree, v) }
        if !equal {
            var tree = try treeToFill()
            try added(v)
            try tree.insert(at, v)
            root = tree.root
            log(.insert(at))
        }
        guard let tree, try hidesElements() else { return (at, !equal) }
        return (try visible(tree).firstIndex(of: at) ?? at, !equal)
    }

    mutating func eraseValue(_ value: Mixed) throws(RealmError) -> Bool {
        guard var tree else { return false }
        let v = element(value)
        let (at, equal) = try lowerBound(tree, v)
        guard equal else { return false }
        try erase(&tree, at: at)
        root = tree.root
        return true
    }

    // MARK: Dictionaries

    private func dictionary(_ root: Ref) throws(RealmError) -> (keys: BPlusTree, values: BPlusTree) {
        let top = try store.refsNode(root)
        guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
        return (
            BPlusTree(store, kind: .string, root: try top.child(0)),
            BPlusTree(store, kind: .mixed, root: try top.child(1))
        )
    }

    private mutating func storeTrees(_ keys: BPlusTree, _ values: BPlusTree) throws(RealmError) {
        let top = try store.writableRefs(try store.refsNode(root))
        store.setSlot(top, 0, keys.root)
        store.setSlot(top, 1, values.root)
        root = top.ref
    }

    private static func find(_ keys: BPlusTree, _ name: Bytes) throws(RealmError) -> (index: Int, found: Bool) {
        let count = try keys.count()
        var low = 0, high = count
        while low < high {
            let mid = (low + high) / 2
            guard case .string(let k) = try keys.get(mid) else {
                throw .corrupt("dictionary with a null key", at: keys.root.offset)
            }
            let order = Mixed.compareBytes(k, name)
            if order == 0 { return (mid, true) }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        // Files from before format 24 may hold keys beyond ASCII in another order.
        if name.contains(where: { $0 >= 0x80 }) {
            for i in 0..<count {
                if case .string(let k) = try keys.get(i), Mixed.equalBytes(k, name) { return (i, true) }
            }
        }
        return (low, false)
    }

    /// - Returns: where the key stands, and whether it is new.
    mutating func setValue(_ value: Mixed, for name: Bytes) throws(RealmError) -> (index: Int, inserted: Bool) {
        let v = try store.stable(value), name = try store.stable(name, .key)
        if root.isNull {
            let keys = try BPlusTree.create(store, kind: .string), values = try BPlusTree.create(store, kind: .mixed)
            root = try store.makeRefs([RefOrTagged(keys.root), RefOrTagged(values.root)]).ref
        }
        var (keys, values) = try dictionary(root)
        let (at, found) = try Self.find(keys, name)
        if found {
            try replace(&values, at, v)
            try storeTrees(keys, values)
            log(.set(at))
            return (at, false)
        }
        try added(v)
        try keys.insert(at, .string(name))
        try values.insert(at, v)
        if Self.isCollection(v) { try values.assignKey(at) }
        try storeTrees(keys, values)
        log(.insert(at))
        return (at, true)
    }

    mutating func eraseKey(_ name: Bytes) throws(RealmError) -> Bool {
        guard !root.isNull else { return false }
        var (keys, values) = try dictionary(root)
        let (at, found) = try Self.find(keys, name)
        guard found else { return false }
        try removed(try values.get(at))
        try keys.erase(at)
        try values.erase(at)
        try storeTrees(keys, values)
        log(.erase(at))
        return true
    }

    // MARK: Embedded objects

    /// A new object of the class that the collection's links lead to.
    func createTarget() throws(RealmError) -> ObjKey {
        guard let target = try table.group.table(column.oppositeTable) else {
            throw .corrupt("link column without its target")
        }
        guard target.primaryKey == nil else {
            throw RealmError(
                .illegalOperation,
                "Class '\(target.className ?? target.name)' has a primary key: a value for it is needed")
        }
        return try target.createObject().key
    }
}

extension ElementList {
    /// Order of the elements of sets. Null is a particular NaN among decimals. Format: logical §8.2.
    static func order(_ kind: LeafKind, _ a: Mixed, _ b: Mixed) -> Int {
        if kind == .decimal {
            func number(_ v: Mixed) -> Decimal128 { if case .decimal(let d) = v { d } else { .null } }
            return Decimal128.compare(number(a), number(b))
        }
        return Mixed.compare(a, b)
    }
}

extension BPlusTree {
    /// First element equal to `v`, by Mixed equality.
    func firstIndex(of v: Mixed) throws(RealmError) -> Int? {
        switch (kind, v) {
        case (.int, .int(let i)): return try firstIndex(ofInteger: i)
        case (.objKey, .link(let k)): return try firstIndex(ofInteger: k.raw)
        default: break
        }
        var found: Int?
        try forEachLeaf { (leaf, first, count) throws(RealmError) in
            for i in 0..<count where Mixed.same(try kind.get(store, leaf, i), v) {
                found = first + i
                return false
            }
            return true
        }
        return found
    }
}

extension Column {
    /// nil for single values.
    var shape: CollectionShape? { isDictionary ? .dictionary : (isSet ? .set : (isList ? .list : nil)) }
}
