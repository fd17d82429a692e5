/// A dictionary: two parallel trees; the keys ascend by bytes. Format: logical §8.3. In formats 21 and 22, a cluster
/// tree ordered by hash (§11).
package struct ElementDictionary {
    private enum Form {
        case empty
        case trees(keys: BPlusTree, values: BPlusTree)
        /// Trees of more than one leaf.
        case readers(keys: LeafReader, values: LeafReader)
        /// The old form: the rows, and their object keys in the order of the dictionary keys.
        case rows(ClusterTree, [ObjKey])
    }

    private let form: Form
    package let count: Int

    /// Type of the values; Mixed for dictionaries of Mixed values and for nested dictionaries.
    private let valueType: ColumnType

    init(_ store: NodeStore, root: Ref, keyType: ColumnType, valueType: ColumnType = .mixed, format: UInt8)
        throws(RealmError)
    {
        self.valueType = valueType
        guard !root.isNull else {
            (form, count) = (.empty, 0)
            return
        }
        if format < 23 {
            let columns = [
                ClusterTree.Column(kind: .string, initial: .null, ownsTrees: false),
                ClusterTree.Column(kind: .mixed, initial: .null, ownsTrees: false),
            ]
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
        let top = try Slots(store, root)
        guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
        let keys = BPlusTree(store, kind: keyType == .int ? .int : .string, root: try top.child(0))
        let values = BPlusTree(store, kind: .mixed, root: try top.child(1))
        count = try keys.count()
        guard try values.count() == count else {
            throw .corrupt("dictionary with keys and values that do not match", at: root.offset)
        }
        let isSmall = count <= Format.treeCapacity
        form =
            isSmall ? .trees(keys: keys, values: values) : .readers(keys: LeafReader(keys), values: LeafReader(values))
    }

    private func outOfRange(_ index: Int) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(index) in a dictionary of \(count) entries")
    }

    package func key(_ index: Int) throws(RealmError) -> Mixed {
        guard index >= 0, index < count else { throw outOfRange(index) }
        let key: Mixed
        switch form {
        case .trees(let keys, _): key = try keys.get(index)
        case .readers(let keys, _): key = try keys.get(index)
        case .rows(let rows, let keys): key = try rows.get(keys[index], 0) ?? .null
        case .empty: throw outOfRange(index)
        }
        guard !key.isNull else { throw .corrupt("dictionary with a null key") }
        return key
    }

    package func value(_ index: Int) throws(RealmError) -> Mixed {
        guard index >= 0, index < count else { throw outOfRange(index) }
        let value: Mixed
        switch form {
        case .trees(_, let values): value = try values.get(index)
        case .readers(_, let values): value = try values.get(index)
        case .rows(let rows, let keys): value = try rows.get(keys[index], 1) ?? .null
        case .empty: throw outOfRange(index)
        }
        if case .typedLink(_, let key) = value, key.isUnresolved { return .null }
        guard valueType == .mixed || value.isNull || value.columnType == valueType else {
            throw .corrupt("dictionary with a value of another type")
        }
        return value
    }

    /// Stable key of the nested collection at `index`.
    func stableKey(_ index: Int) throws(RealmError) -> Int64 {
        switch form {
        case .trees(_, let values): try values.key(index)
        case .readers(_, let values): try values.tree.key(index)
        case .rows, .empty: 0
        }
    }

    /// Index of a key. Binary search first; files older than format 24 may order keys that are not ASCII differently,
    /// so after a miss all keys are compared.
    package func find(_ key: Bytes) throws(RealmError) -> Int? {
        var low = 0, high = count
        while low < high {
            let mid = (low + high) / 2
            guard case .string(let stored) = try self.key(mid) else { return nil }
            let order = Mixed.compareBytes(stored, key)
            if order == 0 { return mid }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        guard key.contains(where: { $0 >= 0x80 }) else { return nil }
        for i in 0..<count { if case .string(let stored) = try self.key(i), Mixed.equalBytes(stored, key) { return i } }
        return nil
    }

    package func findValue(_ wanted: Mixed) throws(RealmError) -> Int? {
        for i in 0..<count where Mixed.same(try value(i), wanted) { return i }
        return nil
    }
}
