/// Deleting many objects of a table at once: what each of them owes others is undone object by object, in the order
/// given; then every index and every leaf is closed up once. Links between objects that all go are left alone: nobody
/// will see them.
extension Group {
    /// Objects whose values wait together to be taken out of the indexes: bounds the memory for it.
    private static let portion = 1 << 17

    /// Deletes the objects with these keys; those that do not exist, or occur twice, are passed over.
    func delete(_ table: Table, _ keys: [ObjKey]) throws(RealmError) {
        var cascade = Cascade()
        try delete(table, keys, &cascade)
        // Embedded objects that lost their owner, then those that these owned, and so on.
        while !cascade.pending.isEmpty {
            var orphans: [(table: Table, keys: [ObjKey])] = []
            var places: [Int: Int] = [:]
            for (t, k) in cascade.pending {
                if let i = places[t.tableIndex] {
                    orphans[i].keys.append(k)
                } else {
                    places[t.tableIndex] = orphans.count
                    orphans.append((t, [k]))
                }
            }
            cascade.pending.removeAll(keepingCapacity: true)
            for o in orphans { try delete(o.table, o.keys, &cascade) }
        }
        noteChange()
    }

    private func delete(_ table: Table, _ keys: [ObjKey], _ cascade: inout Cascade) throws(RealmError) {
        let set = try KeySet(for: keys)
        defer { set.deallocate() }
        var leaving: [ObjKey] = []
        try leaving.makeRoom(for: keys.count)
        for k in keys where try table.isValid(k) { if set.insert(k) { leaving.append(k) } }
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
    /// Undoes the links from and to objects that are about to go, and says that they go.
    fileprivate func unlink(_ keys: ArraySlice<ObjKey>, _ cascade: inout Group.Cascade) throws(RealmError) {
        var incoming: [ColumnFacts] = [], outgoing: [ColumnFacts] = []
        for case let c? in facts {
            if c.type == .backlink { incoming.append(c) } else if c.holdsLinks { outgoing.append(c) }
        }
        for key in keys {
            for c in incoming { try removeIncoming(key, c, cascade) }
            for c in outgoing {
                if let value = try rows.get(key, c.key.index) {
                    try removeLinks(in: value, from: key, c, cascading: &cascade)
                }
            }
            group.log?.objectRemoved(self.key, key)
        }
    }

    /// Takes rows out, with their index entries. `keys` ascend.
    fileprivate func removeRows(_ keys: ArraySlice<ObjKey>) throws(RealmError) {
        for column in indexes.columns { if let c = facts[column] { try indexes.remove(keys, c) } }
        if !state.collisionMap.isNull { for k in keys { try state.dropCollisionEntry(k, store) } }
        try rows.erase(keys)
    }
}
