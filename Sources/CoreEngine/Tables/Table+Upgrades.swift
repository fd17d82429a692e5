/// Conversions of data that files of formats 10 to 23 store in another way. Format: logical §11.
extension Table {
    /// Converts the keys of link lists, which named a separate type in older formats. Format: logical §11.4.
    func upgradeLinkListKeys() throws(RealmError) {
        for column in columns where column.key.typeNumber == ColumnType.linkList.rawValue {
            let new = ColKey(
                column.key.raw & ~(0x3F << 16) | Int64(ColumnType.link.rawValue) << 16 | Int64(
                    ColumnAttributes.list.rawValue) << 22)
            try replaceKey(column.key, by: new)
            for i in group.liveIndexes { try group.table(at: i).replaceOpposite(of: key, column.key, by: new) }
        }
    }

    /// Converts dictionaries to their present form, and sets and dictionary keys to their present order.
    func upgradeCollections(from format: UInt8) throws(RealmError) {
        for column in columns {
            guard let shape = column.shape, shape != .list, let kind = column.elementKind else { continue }
            if shape == .set, kind != .string, kind != .binary, kind != .mixed { continue }
            for key in try allKeys() {
                guard case .slot(let slot)? = try rows.get(key, column.index), let root = slot.subtree else { continue }
                let new = shape == .set ? try sortedSet(root, kind) : try sortedDictionary(root, column, format)
                guard let new else { continue }
                try store.destroy(root)
                _ = try rows.set(key, column.index, .slot(RefOrTagged(new)))
            }
        }
    }

    /// A new, sorted tree; nil when the old one is already sorted.
    private func sortedSet(_ root: Ref, _ kind: LeafKind) throws(RealmError) -> Ref? {
        let old = BPlusTree(store, kind: kind, root: root)
        var all: [Mixed] = []
        var isSorted = true
        for i in 0..<(try old.count()) {
            let value = try old.get(i)
            if let last = all.last, ElementList.order(kind, last, value) >= 0 { isSorted = false }
            all.append(value)
        }
        if isSorted { return nil }
        all.sort { ElementList.order(kind, $0, $1) < 0 }
        var new = try BPlusTree.create(store, kind: kind)
        for (i, value) in all.enumerated() where i == 0 || ElementList.order(kind, all[i - 1], value) != 0 {
            try new.append(value)
        }
        return new.root
    }

    private func sortedDictionary(_ root: Ref, _ column: Column, _ format: UInt8) throws(RealmError) -> Ref? {
        let old = try ElementDictionary(
            store, root: root, keyType: column.keyType, valueType: column.type, format: format)
        var all: [(key: Mixed, value: Mixed)] = []
        var isSorted = true
        for i in 0..<old.count {
            let key = try old.key(i)
            if let last = all.last, Mixed.compare(last.key, key) >= 0 { isSorted = false }
            all.append((key, try old.value(i)))
        }
        if isSorted && format >= 23 { return nil }
        all.sort { Mixed.compare($0.key, $1.key) < 0 }
        var keys = try BPlusTree.create(store, kind: column.keyType == .int ? .int : .string),
            values = try BPlusTree.create(store, kind: .mixed)
        for entry in all {
            try keys.append(entry.key)
            try values.append(entry.value)
        }
        return try Slots.create(store, [RefOrTagged(keys.root), RefOrTagged(values.root)])
    }
}
