/// The kinds of collections.
package enum CollectionShape: Sendable { case list, set, dictionary }

/// One collection opened for change: a list, set or dictionary, directly in a property or nested inside Mixed values.
/// The caller has checked the values; the editor checks the indexes of elements. Format: logical §8.
///
/// Invariants
/// 1. Every stored link has one backlink entry: an element is inserted and removed together with its backlink.
/// 2. The root ref of a collection is written back up to the row in the same call, through every container on the path.
/// 3. Objects that lose their only owner are deleted after the write-back, when no variable holds a root any more.
/// 4. Invalid calls are refused before anything is copied, created or indexed: a call that fails changes nothing.
struct CollectionEditor {
    unowned(unsafe) let table: Table
    let object: ObjKey
    let column: ColumnFacts
    let shape: CollectionShape

    /// Leaf kind of the elements, or of the values of a dictionary.
    let kind: LeafKind

    /// Tree of a list or set, top array of a dictionary; null if nothing was ever stored.
    var root: Ref
    let place: CollectionPlace

    /// Embedded objects that lost an owner.
    var cascade = Group.Cascade()

    private var store: NodeStore { table.store }

    /// Nesting level of this collection: 1 for a collection directly in its property.
    var level: Int { place.path.count + 1 }

    private func log(_ change: CollectionChange) { table.group.log?.collectionChanged(place, change) }

    // MARK: Links

    private func added(_ value: Mixed) throws(RealmError) {
        switch value {
        case .link(let key):
            try table.group.table(column.oppositeTable)?.addBacklink(key, column.oppositeColumn, origin: object)
        case .typedLink(_, let key) where column.type == .link:
            try table.group.table(column.oppositeTable)?.addBacklink(key, column.oppositeColumn, origin: object)
        case .typedLink(let targetTable, let key): try table.addMixedBacklink(object, column, targetTable, key)
        default: break
        }
    }

    private mutating func removed(_ value: Mixed) throws(RealmError) {
        switch value {
        case .link, .typedLink, .list, .dictionary:
            try table.removeLinks(in: value, from: object, column, cascading: &cascade)
        default: break
        }
    }

    // MARK: The index of a list of strings

    private var isIndexed: Bool {
        kind == .string && shape == .list && place.path.isEmpty && table.indexes.has(column.key.index)
    }

    private func word(_ value: Mixed) -> Bytes? { if case .string(let text) = value { text } else { nil } }

    /// Called before anything is changed.
    private func checkWord(_ value: Mixed) throws(RealmError) {
        if isIndexed, let text = word(value) { try SearchIndex.checkWord(text) }
    }

    private func enterWord(_ value: Mixed) throws(RealmError) {
        if isIndexed { try table.indexes.insertWord(word(value), object, column.key.index) }
    }

    /// Called after an element was removed: removes its word from the index, unless an equal element remains.
    private func leaveWord(_ value: Mixed, _ tree: BPlusTree) throws(RealmError) {
        guard isIndexed, try tree.firstIndex(of: value) == nil else { return }
        try table.indexes.eraseWord(word(value), object, column.key.index)
    }

    // MARK: Lists

    /// The elements; nil if nothing was ever stored.
    private var tree: BPlusTree? { root.isNull ? nil : BPlusTree(store, kind: kind, root: root) }

    /// Like `tree`, but creates the tree if necessary, for a new element.
    private func treeToFill() throws(RealmError) -> BPlusTree {
        if let tree { return tree }
        return try BPlusTree.create(store, kind: kind)
    }

    /// Whether elements may be unresolved links. The indexes that callers pass do not count unresolved links.
    private func hidesElements() throws(RealmError) -> Bool {
        guard kind == .objKey, !root.isNull else { return false }
        return try BPlusTree.isMarked(store, root)
    }

    private func visible(_ tree: BPlusTree) throws(RealmError) -> [Int] {
        var kept: [Int] = []
        for i in 0..<(try tree.count()) {
            if case .link(let key) = try tree.get(i), !key.isUnresolved { try kept.add(i) }
        }
        return kept
    }

    /// The stored index for the caller's `index`; `end` allows the index after the last element.
    private func position(_ index: Int, _ what: StaticString, end: Bool = false) throws(RealmError) -> Int {
        let total = try tree?.count() ?? 0
        if let tree, try hidesElements() {
            let kept = try visible(tree)
            if index >= 0 && index < kept.count { return kept[index] }
            if end && index == kept.count { return total }
            throw outOfRange(index, kept.count, what)
        }
        guard index >= 0, index < total || (end && index == total) else { throw outOfRange(index, total, what) }
        return index
    }

    @inline(never) private func outOfRange(_ index: Int, _ count: Int, _ what: StaticString) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(index) calling \(what)() on a collection of \(count) elements")
    }

    /// Links are stored as plain keys in lists and sets.
    @inline(__always) private func element(_ value: Mixed) -> Mixed {
        if kind == .objKey, case .typedLink(_, let key) = value { return .link(key) }
        return value
    }

    private static func isCollection(_ value: Mixed) -> Bool {
        switch value {
        case .list, .dictionary: true
        default: false
        }
    }

    mutating func insert(_ index: Int, _ value: Mixed) throws(RealmError) {
        let stored = try store.stable(element(value))
        let at = try position(index, "insert", end: true)
        try checkWord(stored)
        var tree = try treeToFill()
        try enterWord(stored)
        try added(stored)
        try tree.insert(at, stored)
        if Self.isCollection(stored) { try tree.assignKey(at) }
        root = tree.root
        log(.insert(at))
    }

    mutating func set(_ index: Int, _ value: Mixed) throws(RealmError) {
        let stored = try store.stable(element(value))
        let at = try position(index, "set")
        try checkWord(stored)
        guard var tree else { return }
        try replace(&tree, at, stored)
        root = tree.root
        log(.set(at))
    }

    /// Replaces element `at` by `value`. A collection that replaces a collection of its own type keeps the stored
    /// content.
    private mutating func replace(_ tree: inout BPlusTree, _ at: Int, _ value: Mixed) throws(RealmError) {
        let old = try tree.get(at)
        switch (old, value) {
        case (.list, .list), (.dictionary, .dictionary): return
        case (.link(let a), .link(let b)) where a == b: return
        case (.typedLink(let oldTable, let a), .typedLink(let newTable, let b)) where oldTable == newTable && a == b:
            return
        default: break
        }
        try enterWord(value)
        try removed(old)
        try added(value)
        let before = isIndexed ? word(old).map { Array($0) } : nil
        try tree.set(at, value)
        if Self.isCollection(value) { try tree.assignKey(at) }
        if isIndexed {
            if let before {
                try before.withBytes { (b) throws(RealmError) in try leaveWord(.string(b), tree) }
            } else {
                try leaveWord(.null, tree)
            }
        }
    }

    mutating func erase(_ index: Int) throws(RealmError) {
        let at = try position(index, "erase")
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
        let source = try position(from, "move"), target = try position(to, "move")
        guard source != target, var tree else { return }
        log(.move(source, target))
        try tree.move(source, to: target)
        root = tree.root
    }

    /// Empties the collection; embedded objects in it are deleted, other linked objects remain.
    mutating func clear() throws(RealmError) {
        guard var tree else { return }
        if shape == .dictionary {
            let count = try dictionary(root).keys.count()
            try table.removeLinks(in: .dictionary(root), from: object, column, cascading: &cascade)
            try store.destroy(root)
            root = .null
            if count > 0 { log(.clear(oldSize: count)) }
            return
        }
        let count = try tree.count()
        guard count > 0 else { return }
        log(.clear(oldSize: count))
        if column.type == .link || column.type == .mixed {
            try table.removeLinks(inTree: root, kind: kind, from: object, column, cascading: &cascade)
        }
        if isIndexed {
            for i in 0..<count { try table.indexes.eraseWord(word(try tree.get(i)), object, column.key.index) }
        }
        try tree.clear()
        root = tree.root
    }

    /// The objects that a list or set links to, each once.
    func targets() throws(RealmError) -> [ObjKey] {
        guard kind == .objKey, let tree else { return [] }
        var seen = Swift.Set<Int64>(), all: [ObjKey] = []
        for i in 0..<(try tree.count()) {
            try seen.makeRoom()
            if case .link(let key) = try tree.get(i), !key.isUnresolved, seen.insert(key.raw).inserted {
                try all.add(key)
            }
        }
        return all
    }

    // MARK: Sets

    /// Index of the first element that is not less than `value`, and whether it equals `value`.
    private func lowerBound(_ tree: BPlusTree, _ value: Mixed) throws(RealmError) -> (index: Int, equal: Bool) {
        var low = 0, high = try tree.count()
        while low < high {
            let mid = (low + high) / 2
            let order = ElementList.order(kind, try tree.get(mid), value)
            if order == 0 { return (mid, true) }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        return (low, false)
    }

    /// - Returns: the index of the value among the visible elements, and whether the value is new.
    mutating func insertUnique(_ value: Mixed) throws(RealmError) -> (index: Int, inserted: Bool) {
        let stored = try store.stable(element(value))
        var (at, equal) = (0, false)
        if let tree { (at, equal) = try lowerBound(tree, stored) }
        if !equal {
            var tree = try treeToFill()
            try added(stored)
            try tree.insert(at, stored)
            root = tree.root
            log(.insert(at))
        }
        guard let tree, try hidesElements() else { return (at, !equal) }
        return (try visible(tree).firstIndex(of: at) ?? at, !equal)
    }

    mutating func eraseValue(_ value: Mixed) throws(RealmError) -> Bool {
        guard var tree else { return false }
        let wanted = element(value)
        let (at, equal) = try lowerBound(tree, wanted)
        guard equal else { return false }
        try erase(&tree, at: at)
        root = tree.root
        return true
    }

    // MARK: Dictionaries

    private func dictionary(_ root: Ref) throws(RealmError) -> (keys: BPlusTree, values: BPlusTree) {
        let top = try Slots(store, root)
        guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
        return (
            BPlusTree(store, kind: .string, root: try top.child(0)),
            BPlusTree(store, kind: .mixed, root: try top.child(1))
        )
    }

    private mutating func storeTrees(_ keys: BPlusTree, _ values: BPlusTree) throws(RealmError) {
        var top = try Slots(store, root)
        try top.makeWritable(store)
        top.set(0, keys.root, store)
        top.set(1, values.root, store)
        root = top.ref
    }

    private static func find(_ keys: BPlusTree, _ name: Bytes) throws(RealmError) -> (index: Int, found: Bool) {
        let count = try keys.count()
        var low = 0, high = count
        while low < high {
            let mid = (low + high) / 2
            guard case .string(let stored) = try keys.get(mid) else {
                throw .corrupt("dictionary with a null key", at: keys.root.offset)
            }
            let order = Mixed.compareBytes(stored, name)
            if order == 0 { return (mid, true) }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        // Files older than format 24 may order keys that are not ASCII differently.
        if name.contains(where: { $0 >= 0x80 }) {
            for i in 0..<count {
                if case .string(let stored) = try keys.get(i), Mixed.equalBytes(stored, name) { return (i, true) }
            }
        }
        return (low, false)
    }

    /// - Returns: the index of the key, and whether the key is new.
    mutating func setValue(_ value: Mixed, for name: Bytes) throws(RealmError) -> (index: Int, inserted: Bool) {
        let stored = try store.stable(value), name = try store.stable(name, .key)
        if root.isNull {
            let keys = try BPlusTree.create(store, kind: .string), values = try BPlusTree.create(store, kind: .mixed)
            root = try Slots.create(store, [RefOrTagged(keys.root), RefOrTagged(values.root)])
        }
        var (keys, values) = try dictionary(root)
        let (at, found) = try Self.find(keys, name)
        if found {
            try replace(&values, at, stored)
            try storeTrees(keys, values)
            log(.set(at))
            return (at, false)
        }
        try added(stored)
        try keys.insert(at, .string(name))
        try values.insert(at, stored)
        if Self.isCollection(stored) { try values.assignKey(at) }
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

    /// Creates an object of the class that the collection links to.
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

extension Column {
    /// nil for single values.
    var shape: CollectionShape? { isDictionary ? .dictionary : (isSet ? .set : (isList ? .list : nil)) }
}
