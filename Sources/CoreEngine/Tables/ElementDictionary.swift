/// A dictionary: two parallel trees, keys ascending by bytes. Format: logical §8.3. Formats 21 and 22: a cluster tree
/// by hash (§11).
package struct ElementDictionary {
    private enum Form {
        case empty
        case trees(keys: BPlusTree, values: BPlusTree)
        /// Rows in key order, of the old form.
        case rows(ClusterTree, [ObjKey])
    }

    private let form: Form
    package let count: Int

    /// Type of the values; Mixed for dictionaries of Mixed and nested ones.
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
        let top = try store.refsNode(root)
        guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
        let keys = BPlusTree(store, kind: keyType == .int ? .int : .string, root: try top.child(0))
        let values = BPlusTree(store, kind: .mixed, root: try top.child(1))
        count = try keys.count()
        guard try values.count() == count else {
            throw .corrupt("dictionary with keys and values that do not match", at: root.offset)
        }
        form = .trees(keys: keys, values: values)
    }

    private func outOfRange(_ i: Int) -> RealmError {
        RealmError(.indexOutOfBounds, "Requested index \(i) in a dictionary of \(count) entries")
    }

    package func key(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count else { throw outOfRange(i) }
        let k: Mixed
        switch form {
        case .trees(let keys, _): k = try keys.get(i)
        case .rows(let rows, let keys): k = try rows.get(keys[i], 0) ?? .null
        case .empty: throw outOfRange(i)
        }
        guard !k.isNull else { throw .corrupt("dictionary with a null key") }
        return k
    }

    package func value(_ i: Int) throws(RealmError) -> Mixed {
        guard i >= 0, i < count else { throw outOfRange(i) }
        let v: Mixed
        switch form {
        case .trees(_, let values): v = try values.get(i)
        case .rows(let rows, let keys): v = try rows.get(keys[i], 1) ?? .null
        case .empty: throw outOfRange(i)
        }
        if case .typedLink(_, let k) = v, k.isUnresolved { return .null }
        guard valueType == .mixed || v.isNull || v.columnType == valueType else {
            throw .corrupt("dictionary with a value of another type")
        }
        return v
    }

    /// Stable key of the nested collection at `i`.
    func nestedKey(_ i: Int) throws(RealmError) -> Int64 {
        guard case .trees(_, let values) = form else { return 0 }
        return try values.key(i)
    }

    /// Index of a key. Binary search first; files from before format 24 may order non-ASCII keys otherwise, so a miss
    /// looks everywhere.
    package func find(_ key: Bytes) throws(RealmError) -> Int? {
        var low = 0, high = count
        while low < high {
            let mid = (low + high) / 2
            guard case .string(let k) = try self.key(mid) else { return nil }
            let order = Mixed.compareBytes(k, key)
            if order == 0 { return mid }
            if order < 0 { low = mid + 1 } else { high = mid }
        }
        guard key.contains(where: { $0 >= 0x80 }) else { return nil }
        for i in 0..<count { if case .string(let k) = try self.key(i), Mixed.equalBytes(k, key) { return i } }
        return nil
    }

    package func findValue(_ v: Mixed) throws(RealmError) -> Int? {
        for i in 0..<count where Mixed.same(try value(i), v) { return i }
        return nil
    }
}
