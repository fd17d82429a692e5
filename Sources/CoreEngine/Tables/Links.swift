/// Backlinks: for every stored link one entry in the target's backlink column. Format: logical §6.10, §8.5.
extension Table {
    /// The origins of the links to `key` that the backlink column `column` records.
    func backlinks(_ key: ObjKey, _ column: ColKey) throws(RealmError) -> Backlinks {
        guard case .slot(let slot)? = try rows.get(key, column.index) else {
            return Backlinks(single: nil, tree: nil, count: 0)
        }
        if let single = slot.number { return Backlinks(single: ObjKey(Int64(single)), tree: nil, count: 1) }
        guard let root = slot.subtree else { return Backlinks(single: nil, tree: nil, count: 0) }
        let tree = BPlusTree(store, kind: .int, root: root)
        return Backlinks(single: nil, tree: tree, count: try tree.count())
    }

    /// The origins of one backlink column of one object, in stored order.
    struct Backlinks {
        let single: ObjKey?
        let tree: BPlusTree?
        let count: Int

        func key(at index: Int) throws(RealmError) -> ObjKey {
            if let single { return single }
            guard let tree, case .int(let raw) = try tree.get(index) else { throw .corrupt("backlink out of range") }
            return ObjKey(raw)
        }

        func allKeys() throws(RealmError) -> [ObjKey] {
            if let single { return [single] }
            guard let tree else { return [] }
            var keys: [ObjKey] = []
            try tree.forEachInteger { (raw) throws(RealmError) in try keys.add(ObjKey(raw)) }
            return keys
        }
    }

    func addBacklink(_ key: ObjKey, _ column: ColKey, origin: ObjKey) throws(RealmError) {
        guard facts(column)?.type == .backlink else { throw .corrupt("link column without backlink column") }
        guard !key.isUnresolved, let row = try rows.locateForWriting(key),
            case .slot(let slot) = try rows.get(row: row, column.index)
        else { return }
        let new: RefOrTagged
        if let root = slot.subtree {
            var tree = BPlusTree(store, kind: .int, root: try BPlusTree.splitOversized(store, root))
            try tree.append(.int(origin.raw))
            new = RefOrTagged(tree.root)
        } else if let single = slot.number {
            new = RefOrTagged(try store.makeIntegers([Int64(single), origin.raw]).ref)
        } else {
            new = RefOrTagged(tagged: UInt64(bitPattern: origin.raw))
        }
        if new != slot { try rows.set(row: row, column.index, .slot(new)) }
    }

    func removeBacklink(_ key: ObjKey, _ column: ColKey, origin: ObjKey) throws(RealmError) {
        guard facts(column)?.type == .backlink else { throw .corrupt("link column without backlink column") }
        guard !key.isUnresolved, case .slot(let slot)? = try rows.get(key, column.index) else { return }
        guard let root = slot.subtree else {
            if let single = slot.number, Int64(single) == origin.raw {
                _ = try rows.set(key, column.index, .slot(RefOrTagged(.null)))
            }
            return
        }
        guard let index = try BPlusTree(store, kind: .int, root: root).firstIndex(ofInteger: origin.raw),
            let row = try rows.locateForWriting(key)
        else {
            return
        }
        var tree = BPlusTree(store, kind: .int, root: try BPlusTree.splitOversized(store, root))
        let count = try tree.count()
        // The last entry replaces the removed entry.
        if index != count - 1 { try tree.set(index, try tree.get(count - 1)) }
        try tree.erase(count - 1)
        if count - 1 == 1, case .int(let last) = try tree.get(0) {
            try store.destroy(tree.root)
            try rows.set(row: row, column.index, .slot(RefOrTagged(tagged: UInt64(bitPattern: last))))
        } else if count == 1 {
            try store.destroy(tree.root)
            try rows.set(row: row, column.index, .slot(RefOrTagged(.null)))
        } else {
            try rows.set(row: row, column.index, .slot(RefOrTagged(tree.root)))
        }
    }

    /// Total number of incoming links.
    func backlinkCount(_ key: ObjKey) throws(RealmError) -> Int {
        var total = 0
        for case let backlink? in facts where backlink.type == .backlink {
            // Other libraries remove a Mixed property without the backlinks of its links.
            guard try group.table(backlink.oppositeTable)?.facts(backlink.oppositeColumn) != nil else { continue }
            total += try backlinks(key, backlink.key).count
        }
        return total
    }

    /// Deletes an embedded object that lost its owner.
    func deleteIfOrphan(_ key: ObjKey) throws(RealmError) {
        if try isValid(key), try backlinkCount(key) == 0 { try group.delete(self, key) }
    }

    func addMixedBacklink(_ key: ObjKey, _ facts: ColumnFacts, _ table: TableKey, _ object: ObjKey) throws(RealmError) {
        guard let target = try group.table(table) else {
            throw RealmError(.noSuchTable, "The link names a class that does not exist")
        }
        let column = try target.backlinkColumn(origin: self, column: facts.key)
        try target.addBacklink(object, column, origin: key)
    }
}
