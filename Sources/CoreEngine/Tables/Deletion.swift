/// Deleting objects with everything they own. Format: logical §8.6; live-objects §9.
extension Group {
    /// Objects queued for deletion: embedded objects that lost their owner.
    struct Cascade {
        var pending: [(Table, ObjKey)] = []

        /// Objects that are deleted together: links between them need not be removed.
        var leaving = Leaving()

        @inline(__always) func isLeaving(_ table: TableKey, _ key: ObjKey) -> Bool { leaving.contains(table, key) }
    }

    /// Objects that are deleted together, by table. It owns the sets.
    struct Leaving {
        private var first: (table: TableKey, keys: KeySet)?
        private var others: [(table: TableKey, keys: KeySet)] = []

        @inline(__always) func contains(_ table: TableKey, _ key: ObjKey) -> Bool {
            guard let first else { return false }
            if first.table == table { return first.keys.contains(key) }
            return others.isEmpty ? false : othersContain(table, key)
        }

        @inline(never) private func othersContain(_ table: TableKey, _ key: ObjKey) -> Bool {
            for other in others where other.table == table { return other.keys.contains(key) }
            return false
        }

        mutating func add(_ table: TableKey, _ keys: KeySet) {
            if first == nil { first = (table, keys) } else { others.append((table, keys)) }
        }

        mutating func removeAll() {
            first?.keys.deallocate()
            for other in others { other.keys.deallocate() }
            (first, others) = (nil, [])
        }
    }

    /// Deletes an object. Incoming links become null or are removed from their collections, outgoing links lose their
    /// backlinks, and embedded objects that lose their only owner are deleted too. Uses a queue instead of recursion,
    /// so that long chains need no stack.
    func delete(_ table: Table, _ key: ObjKey) throws(RealmError) {
        var cascade = Cascade(pending: [(table, key)])
        try delete(&cascade)
    }

    /// Deletes the queued objects and everything that they own.
    func delete(_ cascade: inout Cascade) throws(RealmError) {
        while let (table, key) = cascade.pending.popLast() {
            guard try table.isValid(key) else { continue }
            try table.removeIncoming(key, cascade)
            try table.removeOutgoing(key, &cascade)
            try table.removeRow(key)
        }
    }
}

extension Table {
    /// Removes every link to `key`.
    fileprivate func removeIncoming(_ key: ObjKey, _ cascade: borrowing Group.Cascade) throws(RealmError) {
        for case let backlink? in facts where backlink.type == .backlink { try removeIncoming(key, backlink, cascade) }
    }

    /// Removes the links to `key` that one backlink column records.
    func removeIncoming(_ key: ObjKey, _ backlink: ColumnFacts, _ cascade: borrowing Group.Cascade) throws(RealmError) {
        let list = try backlinks(key, backlink.key)
        guard list.count > 0 else { return }
        if let only = list.single, cascade.isLeaving(backlink.oppositeTable, only) { return }
        // Other libraries remove a Mixed property without the backlinks of its links.
        guard let origin = try group.table(backlink.oppositeTable), let column = origin.facts(backlink.oppositeColumn)
        else { return }
        for from in try list.allKeys() where !cascade.isLeaving(backlink.oppositeTable, from) {
            try origin.forget(self.key, key, in: from, column)
        }
    }

    /// Removes one link to the object `gone` of the table `target` from a column of `from`. The backlink entry is
    /// deleted together with the target.
    private func forget(_ target: TableKey, _ gone: ObjKey, in from: ObjKey, _ facts: ColumnFacts) throws(RealmError) {
        guard let value = try rows.get(from, facts.key.index), let column = column(facts.key) else { return }
        let place = CollectionPlace(table: key, object: from, column: facts.key)
        if !facts.isCollection {
            switch value {
            case .link(let object) where object == gone:
                _ = try rows.set(from, facts.key.index, .null)
                group.log?.valueSet(key, from, facts.key)
            case .typedLink(let table, let object) where table == target && object == gone:
                if indexes.has(facts.key.index) {
                    try indexes.settle()
                    try indexes.update(facts, from, from: value, to: .null)
                }
                _ = try rows.set(from, facts.key.index, .null)
                group.log?.valueSet(key, from, facts.key)
            case .list(let root):
                let new = try forgetNested(target, gone, list: root, at: place)
                if new.changed { _ = try rows.set(from, facts.key.index, .list(new.root)) }
            case .dictionary(let root):
                let new = try forgetNested(target, gone, dictionary: root, at: place)
                if new.changed { _ = try rows.set(from, facts.key.index, .dictionary(new.root)) }
            default: break
            }
            return
        }
        guard case .slot(let slot) = value, let old = slot.subtree else { return }
        var root = old
        if column.isDictionary {
            let new = try forgetNested(target, gone, dictionary: root, at: place)
            root = new.root
        } else if facts.type == .link {
            var tree = BPlusTree(store, kind: .objKey, root: root)
            guard let index = try tree.firstIndex(ofInteger: gone.raw) else { return }
            try tree.erase(index)
            root = tree.root
            group.log?.collectionChanged(place, .erase(index))
        } else {
            let new = try forgetNested(target, gone, list: root, at: place)
            root = new.root
        }
        if root != old { _ = try rows.set(from, facts.key.index, .slot(RefOrTagged(root))) }
    }

    /// Removes the first link to the target from a list (or set) of Mixed values, including nested collections, depth
    /// first.
    private func forgetNested(
        _ target: TableKey, _ gone: ObjKey, list root: Ref, at place: CollectionPlace, depth: Int = 0
    ) throws(RealmError) -> (root: Ref, changed: Bool) {
        guard !root.isNull else { return (root, false) }
        guard depth < Tables.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        var tree = BPlusTree(store, kind: .mixed, root: root)
        for i in 0..<(try tree.count()) {
            switch try tree.get(i) {
            case .typedLink(let table, let key) where table == target && key == gone:
                try tree.erase(i)
                group.log?.collectionChanged(place, .erase(i))
                return (tree.root, true)
            case .list(let root):
                let new = try forgetNested(
                    target, gone, list: root, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed {
                    try tree.set(i, .list(new.root))
                    return (tree.root, true)
                }
            case .dictionary(let root):
                let new = try forgetNested(
                    target, gone, dictionary: root, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed {
                    try tree.set(i, .dictionary(new.root))
                    return (tree.root, true)
                }
            default: break
            }
        }
        return (root, false)
    }

    /// Sets the first link to the target in a dictionary to null.
    private func forgetNested(
        _ target: TableKey, _ gone: ObjKey, dictionary root: Ref, at place: CollectionPlace, depth: Int = 0
    ) throws(RealmError) -> (root: Ref, changed: Bool) {
        guard !root.isNull else { return (root, false) }
        guard depth < Tables.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        var top = try Slots(store, root)
        var tree = BPlusTree(store, kind: .mixed, root: try top.child(1))
        var changed = false
        for i in 0..<(try tree.count()) {
            switch try tree.get(i) {
            case .typedLink(let table, let key) where table == target && key == gone:
                try tree.set(i, .null)
                group.log?.collectionChanged(place, .set(i))
                changed = true
            case .list(let root):
                let new = try forgetNested(
                    target, gone, list: root, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed { try tree.set(i, .list(new.root)) }
                changed = new.changed
            case .dictionary(let root):
                let new = try forgetNested(
                    target, gone, dictionary: root, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed { try tree.set(i, .dictionary(new.root)) }
                changed = new.changed
            default: break
            }
            if changed { break }
        }
        guard changed else { return (root, false) }
        try top.makeWritable(store)
        top.set(1, tree.root, store)
        return (top.ref, true)
    }

    /// Removes the backlinks of all objects that `key` links to.
    fileprivate func removeOutgoing(_ key: ObjKey, _ cascade: inout Group.Cascade) throws(RealmError) {
        for case let column? in facts {
            guard column.holdsLinks, let value = try rows.get(key, column.key.index) else { continue }
            try removeLinks(in: value, from: key, column, cascading: &cascade)
        }
    }

    /// Removes the backlinks of every link inside `value`, which is stored in a column of `key`. Embedded targets that
    /// lose their owner are queued in `cascading`; if it is nil, they are deleted at once.
    func removeLinks(
        in value: Mixed, from key: ObjKey, _ facts: ColumnFacts, cascading: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        switch value {
        case .link(let target): try removeLink(facts.oppositeTable, target, from: key, facts, cascading)
        case .typedLink(let table, let target): try removeLink(table, target, from: key, facts, cascading)
        case .list(let child): try removeLinks(tree: child, kind: .mixed, from: key, facts, cascading, depth: 0)
        case .dictionary(let child): try removeLinks(dictionary: child, from: key, facts, cascading, depth: 0)
        case .slot(let slot):
            guard let root = slot.subtree, let column = column(facts.key) else { return }
            if column.isDictionary {
                try removeLinks(dictionary: root, from: key, facts, cascading, depth: 0)
            } else if let kind = column.elementKind {
                try removeLinks(tree: root, kind: kind, from: key, facts, cascading, depth: 0)
            }
        default: break
        }
    }

    /// Removes the backlinks of every element of a list or set.
    func removeLinks(
        inTree root: Ref, kind: LeafKind, from key: ObjKey, _ column: ColumnFacts,
        cascading: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        try removeLinks(tree: root, kind: kind, from: key, column, cascading, depth: 0)
    }

    private func removeLinks(
        tree root: Ref, kind: LeafKind, from key: ObjKey, _ column: ColumnFacts,
        _ cascade: UnsafeMutablePointer<Group.Cascade>?, depth: Int
    ) throws(RealmError) {
        guard !root.isNull else { return }
        guard depth < Tables.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        let tree = BPlusTree(store, kind: kind, root: root), count = try tree.count()
        // A damaged tree may claim more leaves than the file has room for.
        var i = 0, leafEnd = 0, leaves = WalkLimit(store, each: 8)
        while i < count {
            if i == leafEnd {
                let leaf = try tree.leafBounds(i)
                try leaves.enter(leaf.ref, store)
                leafEnd = leaf.end
                if leaf.hasOnlyNulls {
                    i = leafEnd
                    continue
                }
            }
            switch try tree.get(i) {
            case .link(let target): try removeLink(column.oppositeTable, target, from: key, column, cascade)
            case .typedLink(let table, let target): try removeLink(table, target, from: key, column, cascade)
            case .list(let root):
                try removeLinks(tree: root, kind: .mixed, from: key, column, cascade, depth: depth + 1)
            case .dictionary(let root): try removeLinks(dictionary: root, from: key, column, cascade, depth: depth + 1)
            default: break
            }
            i += 1
        }
    }

    private func removeLinks(
        dictionary root: Ref, from key: ObjKey, _ column: ColumnFacts, _ cascade: UnsafeMutablePointer<Group.Cascade>?,
        depth: Int
    ) throws(RealmError) {
        guard !root.isNull else { return }
        try removeLinks(tree: try Slots(store, root).child(1), kind: .mixed, from: key, column, cascade, depth: depth)
    }

    private func removeLink(
        _ table: TableKey, _ object: ObjKey, from key: ObjKey, _ facts: ColumnFacts,
        _ cascade: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        guard !object.isNull, !object.isUnresolved else { return }
        if let cascade, cascade.pointee.isLeaving(table, object) { return }
        guard let target = try group.table(table) else { return }
        let column: ColKey
        if facts.type == .link && !facts.oppositeColumn.raw.isMax {
            column = facts.oppositeColumn
        } else {
            guard
                let found = target.columns.first(where: {
                    $0.isBacklink && $0.oppositeTable == self.key && $0.oppositeColumn == facts.key
                })
            else {
                return
            }
            column = found.key
        }
        try target.removeBacklink(object, column, origin: key)
        guard target.isEmbedded, try target.isValid(object), try target.backlinkCount(object) == 0 else { return }
        if let cascade {
            cascade.pointee.pending.append((target, object))
        } else {
            try group.delete(target, object)
        }
    }

    /// Removes the row itself and its index entries.
    fileprivate func removeRow(_ key: ObjKey) throws(RealmError) {
        for column in indexes.columns { if let definition = facts[column] { try indexes.remove(key, definition) } }
        try state.dropCollisionEntry(key, store)
        guard try rows.erase(key) else { return }
        group.log?.objectRemoved(self.key, key)
    }
}

extension Table {
    /// A text for error messages that identifies an object by its primary key, or by its object key.
    func description(of key: ObjKey) throws(RealmError) -> String {
        let name = className ?? self.name
        guard let pk = primaryKey, let facts = facts(pk), let value = try get(key, facts) else {
            return "object \(key.raw) of class '\(name)'"
        }
        switch value {
        case .int(let integer): return "object \(integer) of class '\(name)'"
        case .string(let bytes):
            return "object '\(String(decoding: bytes.prefix(80), as: UTF8.self))' of class '\(name)'"
        case .uuid(let id): return "object \(id) of class '\(name)'"
        case .objectId(let id): return "object \(id) of class '\(name)'"
        default: return "object \(key.raw) of class '\(name)'"
        }
    }

    /// Calls `body` for each link in a property of an object, also in collections and in collections inside Mixed
    /// values.
    func forEachTarget(
        _ key: ObjKey, _ facts: ColumnFacts, _ body: (TableKey, ObjKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard let value = try rows.get(key, facts.key.index) else { return }
        var pending: [(value: Mixed, depth: Int)] = []
        group.startWalk()
        if case .slot(let slot) = value {
            guard let root = slot.subtree, let column = column(facts.key) else { return }
            if column.isDictionary {
                pending.append((.dictionary(root), 0))
            } else if let kind = column.elementKind {
                try forEachElement(root, kind, facts, 0, &pending, body)
            }
        } else {
            try visit(value, facts, 0, &pending, body)
        }
        while let (value, depth) = pending.popLast() {
            guard depth < Tables.maxNesting else { throw .corrupt("collections nested too deeply") }
            switch value {
            case .list(let root):
                guard !root.isNull else { continue }
                if depth > 0 { try group.enterNested(at: root) }
                try forEachElement(root, .mixed, facts, depth, &pending, body)
            case .dictionary(let root):
                guard !root.isNull else { continue }
                if depth > 0 { try group.enterNested(at: root) }
                try forEachElement(try Slots(store, root).child(1), .mixed, facts, depth, &pending, body)
            default: continue
            }
        }
    }

    private func forEachElement(
        _ root: Ref, _ kind: LeafKind, _ facts: ColumnFacts, _ depth: Int,
        _ pending: inout [(value: Mixed, depth: Int)],
        _ body: (TableKey, ObjKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard !root.isNull else { return }
        let tree = BPlusTree(store, kind: kind, root: root)
        for i in 0..<(try tree.count()) { try visit(try tree.get(i), facts, depth + 1, &pending, body) }
    }

    private func visit(
        _ value: Mixed, _ facts: ColumnFacts, _ depth: Int, _ pending: inout [(value: Mixed, depth: Int)],
        _ body: (TableKey, ObjKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        switch value {
        case .link(let key) where !key.isNull && !key.isUnresolved: try body(facts.oppositeTable, key)
        case .typedLink(let table, let key) where !key.isNull && !key.isUnresolved: try body(table, key)
        case .list, .dictionary: pending.append((value, depth))
        default: break
        }
    }
}

extension Tables {
    /// The greatest depth to which walks follow collections inside Mixed values.
    static let maxNesting = 101

    static var embeddedTooDeeply: RealmError {
        RealmError(.limitExceeded, "Embedded objects are nested more than \(maxNesting) deep")
    }
}

extension Int64 {
    fileprivate var isMax: Bool { self == .max }
}
