/// Deleting objects with everything they own. Format: logical §8.6; live-objects §9.
extension Group {
    /// Objects that wait for deletion: embedded objects whose owner went.
    struct Cascade {
        var pending: [(Table, ObjKey)] = []

        /// Objects of one table that go together: links between them are nobody's to undo.
        var leaving: (table: TableKey, keys: KeySet)?

        @inline(__always) func isLeaving(_ t: TableKey, _ k: ObjKey) -> Bool {
            guard let leaving, leaving.table == t else { return false }
            return leaving.keys.contains(k)
        }
    }

    /// Deletes an object: incoming links become null or leave their collections, outgoing links lose their backlinks,
    /// embedded objects that lose their only owner go too. Works off a list, so that long chains need no stack.
    func delete(_ table: Table, _ key: ObjKey) throws(RealmError) {
        var cascade = Cascade(pending: [(table, key)])
        try delete(&cascade)
    }

    /// Deletes what is queued and what it owns.
    func delete(_ cascade: inout Cascade) throws(RealmError) {
        while let (t, k) = cascade.pending.popLast() {
            guard try t.isValid(k) else { continue }
            try t.removeIncoming(k, cascade)
            try t.removeOutgoing(k, &cascade)
            try t.removeRow(k)
        }
        noteChange()
    }
}

extension Table {
    /// Makes every reference to `key` forget it.
    fileprivate func removeIncoming(_ key: ObjKey, _ cascade: borrowing Group.Cascade) throws(RealmError) {
        for case let b? in facts where b.type == .backlink { try removeIncoming(key, b, cascade) }
    }

    /// The same for the links of one backlink column.
    func removeIncoming(_ key: ObjKey, _ b: ColumnFacts, _ cascade: borrowing Group.Cascade) throws(RealmError) {
        let list = try backlinks(key, b.key)
        guard list.count > 0 else { return }
        if let only = list.single, cascade.isLeaving(b.oppositeTable, only) { return }
        // Other libraries leave the backlinks of a Mixed property behind when they remove it.
        guard let origin = try group.table(b.oppositeTable), let c = origin.facts(b.oppositeColumn) else { return }
        for from in try list.allKeys() where !cascade.isLeaving(b.oppositeTable, from) {
            try origin.forget(self.key, key, in: from, c)
        }
    }

    /// Removes one link to (`target`, `gone`) from column `c` of `from`. The target's backlink entry goes with the
    /// target.
    private func forget(_ target: TableKey, _ gone: ObjKey, in from: ObjKey, _ c: ColumnFacts) throws(RealmError) {
        guard let value = try rows.get(from, c.key.index), let column = column(c.key) else { return }
        let place = CollectionPlace(table: key, object: from, column: c.key)
        if !c.isCollection {
            switch value {
            case .link(let k) where k == gone:
                _ = try rows.set(from, c.key.index, .null)
                group.log?.valueSet(key, from, c.key)
            case .typedLink(let t, let k) where t == target && k == gone:
                if indexes.has(c.key.index) {
                    try indexes.settle()
                    try indexes.update(c, from, from: value, to: .null)
                }
                _ = try rows.set(from, c.key.index, .null)
                group.log?.valueSet(key, from, c.key)
            case .list(let root):
                let new = try forgetNested(target, gone, list: root, at: place)
                if new.changed { _ = try rows.set(from, c.key.index, .list(new.root)) }
            case .dictionary(let root):
                let new = try forgetNested(target, gone, dictionary: root, at: place)
                if new.changed { _ = try rows.set(from, c.key.index, .dictionary(new.root)) }
            default: break
            }
            return
        }
        guard case .slot(let s) = value, let old = s.subtree else { return }
        var root = old
        if column.isDictionary {
            let new = try forgetNested(target, gone, dictionary: root, at: place)
            root = new.root
        } else if c.type == .link {
            var tree = BPlusTree(store, kind: .objKey, root: root)
            guard let i = try tree.firstIndex(ofInteger: gone.raw) else { return }
            try tree.erase(i)
            root = tree.root
            group.log?.collectionChanged(place, .erase(i))
        } else {
            let new = try forgetNested(target, gone, list: root, at: place)
            root = new.root
        }
        if root != old { _ = try rows.set(from, c.key.index, .slot(RefOrTagged(root))) }
    }

    /// Removes the first link to the target from a list (or set) of Mixed values, nested collections included, depth
    /// first.
    private func forgetNested(
        _ target: TableKey, _ gone: ObjKey, list root: Ref, at place: CollectionPlace, depth: Int = 0
    ) throws(RealmError) -> (root: Ref, changed: Bool) {
        guard !root.isNull else { return (root, false) }
        guard depth < Trees.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        var tree = BPlusTree(store, kind: .mixed, root: root)
        for i in 0..<(try tree.count()) {
            switch try tree.get(i) {
            case .typedLink(let t, let k) where t == target && k == gone:
                try tree.erase(i)
                group.log?.collectionChanged(place, .erase(i))
                return (tree.root, true)
            case .list(let r):
                let new = try forgetNested(target, gone, list: r, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed {
                    try tree.set(i, .list(new.root))
                    return (tree.root, true)
                }
            case .dictionary(let r):
                let new = try forgetNested(
                    target, gone, dictionary: r, at: place.inside(try tree.key(i)), depth: depth + 1)
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
        guard depth < Trees.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        let top = try store.refsNode(root)
        var tree = BPlusTree(store, kind: .mixed, root: try top.child(1))
        var changed = false
        for i in 0..<(try tree.count()) {
            switch try tree.get(i) {
            case .typedLink(let t, let k) where t == target && k == gone:
                try tree.set(i, .null)
                group.log?.collectionChanged(place, .set(i))
                changed = true
            case .list(let r):
                let new = try forgetNested(target, gone, list: r, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed { try tree.set(i, .list(new.root)) }
                changed = new.changed
            case .dictionary(let r):
                let new = try forgetNested(
                    target, gone, dictionary: r, at: place.inside(try tree.key(i)), depth: depth + 1)
                if new.changed { try tree.set(i, .dictionary(new.root)) }
                changed = new.changed
            default: break
            }
            if changed { break }
        }
        guard changed else { return (root, false) }
        let w = try store.writableRefs(top)
        store.setSlot(w, 1, tree.root)
        return (w.ref, true)
    }

    /// Removes the backlinks of everything `key` links to.
    fileprivate func removeOutgoing(_ key: ObjKey, _ cascade: inout Group.Cascade) throws(RealmError) {
        for case let c? in facts {
            guard c.holdsLinks, let value = try rows.get(key, c.key.index) else { continue }
            try removeLinks(in: value, from: key, c, cascading: &cascade)
        }
    }

    /// Removes the backlinks of every link inside `value`, which stands in column `c` of `key`. With `cascading`,
    /// embedded targets that lose their owner are queued there; without, they are deleted at once.
    func removeLinks(
        in value: Mixed, from key: ObjKey, _ c: ColumnFacts, cascading: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        switch value {
        case .link(let k): try removeLink(c.oppositeTable, k, from: key, c, cascading)
        case .typedLink(let t, let k): try removeLink(t, k, from: key, c, cascading)
        case .list(let r): try removeLinks(tree: r, kind: .mixed, from: key, c, cascading, depth: 0)
        case .dictionary(let r): try removeLinks(dictionary: r, from: key, c, cascading, depth: 0)
        case .slot(let s):
            guard let root = s.subtree, let column = column(c.key) else { return }
            if column.isDictionary {
                try removeLinks(dictionary: root, from: key, c, cascading, depth: 0)
            } else if let kind = column.elementKind {
                try removeLinks(tree: root, kind: kind, from: key, c, cascading, depth: 0)
            }
        default: break
        }
    }

    /// The same for every element of a list or set.
    func removeLinks(
        inTree root: Ref, kind: LeafKind, from key: ObjKey, _ c: ColumnFacts,
        cascading: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        try removeLinks(tree: root, kind: kind, from: key, c, cascading, depth: 0)
    }

    private func removeLinks(
        tree root: Ref, kind: LeafKind, from key: ObjKey, _ c: ColumnFacts,
        _ cascade: UnsafeMutablePointer<Group.Cascade>?, depth: Int
    ) throws(RealmError) {
        guard !root.isNull else { return }
        guard depth < Trees.maxNesting else { throw .corrupt("collections nested too deeply", at: root.offset) }
        if depth == 0 { group.startWalk() } else { try group.enterNested(at: root) }
        let tree = BPlusTree(store, kind: kind, root: root)
        for i in 0..<(try tree.count()) {
            switch try tree.get(i) {
            case .link(let k): try removeLink(c.oppositeTable, k, from: key, c, cascade)
            case .typedLink(let t, let k): try removeLink(t, k, from: key, c, cascade)
            case .list(let r): try removeLinks(tree: r, kind: .mixed, from: key, c, cascade, depth: depth + 1)
            case .dictionary(let r): try removeLinks(dictionary: r, from: key, c, cascade, depth: depth + 1)
            default: break
            }
        }
    }

    private func removeLinks(
        dictionary root: Ref, from key: ObjKey, _ c: ColumnFacts, _ cascade: UnsafeMutablePointer<Group.Cascade>?,
        depth: Int
    ) throws(RealmError) {
        guard !root.isNull else { return }
        try removeLinks(tree: try store.refsNode(root).child(1), kind: .mixed, from: key, c, cascade, depth: depth)
    }

    private func removeLink(
        _ t: TableKey, _ k: ObjKey, from key: ObjKey, _ c: ColumnFacts, _ cascade: UnsafeMutablePointer<Group.Cascade>?
    ) throws(RealmError) {
        guard !k.isNull, !k.isUnresolved else { return }
        if let cascade, cascade.pointee.isLeaving(t, k) { return }
        guard let target = try group.table(t) else { return }
        let column: ColKey
        if c.type == .link && !c.oppositeColumn.raw.isMax {
            column = c.oppositeColumn
        } else {
            guard
                let found = target.columns.first(where: {
                    $0.isBacklink && $0.oppositeTable == self.key && $0.oppositeColumn == c.key
                })
            else {
                return
            }
            column = found.key
        }
        try target.removeBacklink(k, column, origin: key)
        guard target.isEmbedded, try target.isValid(k), try target.backlinkCount(k) == 0 else { return }
        if let cascade { cascade.pointee.pending.append((target, k)) } else { try group.delete(target, k) }
    }

    /// Takes the row itself out, with its index entries.
    fileprivate func removeRow(_ key: ObjKey) throws(RealmError) {
        for column in indexes.columns { if let c = facts[column] { try indexes.remove(key, c) } }
        try state.dropCollisionEntry(key, store)
        guard try rows.erase(key) else { return }
        group.log?.objectRemoved(self.key, key)
    }
}

extension Trees {
    /// Collections inside Mixed values may nest this deep.
    static let maxNesting = 101

    static var embeddedTooDeeply: RealmError {
        RealmError(.limitExceeded, "Embedded objects are nested more than \(maxNesting) deep")
    }
}

extension Int64 {
    fileprivate var isMax: Bool { self == .max }
}
