/// Deletes many objects of a table at once. The links from and to the objects are removed object by object, in the
/// given order; then every index and every leaf is compacted once. Links between two objects that are both deleted are
/// not touched: no reader will see them.
extension Group {
    /// Number of objects that are removed from the indexes together; limits the memory for their values.
    private static let portion = 1 << 17

    /// Deletes the objects with these keys; missing and repeated keys are skipped.
    func delete(_ table: Table, _ keys: [ObjKey]) throws(RealmError) {
        var cascade = Cascade()
        try delete(table, keys, &cascade)
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
            for orphan in orphans { try delete(orphan.table, orphan.keys, &cascade) }
        }
    }

    private func delete(_ table: Table, _ keys: [ObjKey], _ cascade: inout Cascade) throws(RealmError) {
        let set = try KeySet(for: keys)
        defer { set.deallocate() }
        var leaving: [ObjKey] = []
        try leaving.makeRoom(for: keys.count)
        for key in keys where try table.isValid(key) { if set.insert(key) { leaving.append(key) } }
        guard !leaving.isEmpty else { return }
        cascade.leaving = (table.key, set)
        defer { cascade.leaving = nil }
        var start = 0
        while start < leaving.count {
            let end = min(start + Self.portion, leaving.count)
            try table.unlink(leaving[start..<end], &cascade)
            var ascending = true
            for i in start + 1..<max(end, start + 1) where leaving[i] < leaving[i - 1] { ascending = false }
            if ascending {
                try table.removeRows(leaving[start..<end])
            } else {
                try table.removeRows(leaving[start..<end].sorted()[...])
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
