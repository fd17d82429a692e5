/// Deletes many objects of a table at once. The links from and to the objects are removed object by object, in the
/// given order; then every index and every leaf is compacted once. Links between two objects that are both deleted are
/// not touched: no reader will see them.
extension Group {
    /// Number of objects that are removed from the indexes together; limits the memory for their values.
    private static let portion = 1 << 17

    /// Deletes the objects with these keys; missing and repeated keys are skipped.
    func delete(_ table: Table, _ keys: [ObjKey]) throws(RealmError) {
        try deleteTogether([(table, keys)])
    }

    /// Deletes objects of several tables. Links among all of them need not be removed.
    func deleteTogether(_ objects: [(table: Table, keys: [ObjKey])]) throws(RealmError) {
        var cascade = Cascade()
        try delete(objects, &cascade)
        // Embedded objects that lost their owner, then embedded objects that these owned, and so on.
        while !cascade.pending.isEmpty {
            var orphans: [(table: Table, keys: [ObjKey])] = []
            var places: [Int: Int] = [:]
            for (table, key) in cascade.pending {
                if let index = places[table.tableIndex] {
                    orphans[index].keys.append(key)
                } else {
                    places[table.tableIndex] = orphans.count
                    orphans.append((table, [key]))
                }
            }
            cascade.pending.removeAll(keepingCapacity: true)
            for orphan in orphans { try delete([orphan], &cascade) }
        }
    }

    private func delete(_ objects: [(table: Table, keys: [ObjKey])], _ cascade: inout Cascade) throws(RealmError) {
        defer { cascade.leaving.removeAll() }
        var leaving: [(table: Table, keys: [ObjKey])] = []
        for (table, keys) in objects {
            let set = try KeySet(for: keys)
            cascade.leaving.add(table.key, set)
            var present: [ObjKey] = []
            try present.makeRoom(for: keys.count)
            for key in keys where try table.isValid(key) { if set.insert(key) { present.append(key) } }
            if !present.isEmpty { leaving.append((table, present)) }
        }
        for (table, keys) in leaving { try remove(table, keys, &cascade) }
    }

    private func remove(_ table: Table, _ keys: [ObjKey], _ cascade: inout Cascade) throws(RealmError) {
        var start = 0
        while start < keys.count {
            let end = min(start + Self.portion, keys.count)
            try table.unlink(keys[start..<end], &cascade)
            var ascending = true
            for i in start + 1..<max(end, start + 1) where keys[i] < keys[i - 1] { ascending = false }
            if ascending {
                try table.removeRows(keys[start..<end])
            } else {
                try table.removeRows(keys[start..<end].sorted()[...])
            }
            start = end
        }
    }
}

extension Table {
    /// Removes the links from and to objects that are about to be deleted, and logs the deletions.
    fileprivate func unlink(_ keys: ArraySlice<ObjKey>, _ cascade: inout Group.Cascade) throws(RealmError) {
        var incoming: [ColumnFacts] = [], outgoing: [ColumnFacts] = []
        for case let column? in facts {
            if column.type == .backlink {
                incoming.append(column)
            } else if column.holdsLinks {
                outgoing.append(column)
            }
        }
        for key in keys {
            for column in incoming { try removeIncoming(key, column, cascade) }
            for column in outgoing {
                if let value = try rows.get(key, column.key.index) {
                    try removeLinks(in: value, from: key, column, cascading: &cascade)
                }
            }
            group.log?.objectRemoved(self.key, key)
        }
    }

    /// Removes rows and their index entries. `keys` ascend.
    fileprivate func removeRows(_ keys: ArraySlice<ObjKey>) throws(RealmError) {
        for column in indexes.columns { if let definition = facts[column] { try indexes.remove(keys, definition) } }
        if !state.collisionMap.isNull { for key in keys { try state.dropCollisionEntry(key, store) } }
        try rows.erase(keys)
    }
}
