/// Reads values of the Mixed columns of 2014: a kind, and a value that may be stored elsewhere. Format: old-formats §9.
enum OldMixed {
    /// The value of a row.
    /// - Parameter list: returns a ref for the list that begins at a columns array.
    static func value(
        _ store: NodeStore, _ column: OldColumn, _ row: Int, _ list: (OldColumn, Ref, Int) throws(RealmError) -> Ref
    ) throws(RealmError) -> Mixed {
        let kind = try column.tree(store).at(row) { (n, i) throws(RealmError) in n.get(i) }
        let slot = try OldTree(store, try column.part(store, 1), leafCount: OldLeaf.refCount).at(row) {
            (node, i) throws(RealmError) in
            try node.slot(i)
        }
        if kind == 5 { return try table(store, slot, list) }
        guard slot.isTagged || slot.isNull else {
            throw .corrupt("a ref stands where a value is expected", at: column.root.offset)
        }
        // The slot holds 63 bits; kinds 11 and 12 have the highest bit set.
        let bits = slot.number ?? 0, high = bits | 1 << 63
        switch kind {
        case 0: return .int(Int64(bitPattern: bits))
        case 12: return .int(Int64(bitPattern: high))
        case 1: return .bool(bits != 0)
        case 2:
            guard let bytes = try bytes(store, column, bits) else { return .null }
            return .string(Bytes(start: bytes.baseAddress, count: max(0, bytes.count - 1)))
        case 4: return try bytes(store, column, bits).map { .binary($0) } ?? .null
        // For times before 1970, sign-extended from 63 bits.
        case 7: return .timestamp(Timestamp(seconds: Int64(bitPattern: bits << 1) >> 1, nanoseconds: 0))
        case 8: return try time(store, column, bits)
        case 9: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 10: return .double(Double(bitPattern: bits))
        case 11: return .double(Double(bitPattern: high))
        default: throw .corrupt("Mixed value of an unknown kind", at: column.root.offset)
        }
    }

    private static func bytes(_ store: NodeStore, _ column: OldColumn, _ number: UInt64) throws(RealmError) -> Bytes? {
        let root = try column.optionalPart(store, 2)
        guard !root.isNull, let i = Int(exactly: number) else {
            throw .corrupt("Mixed value without its payload", at: column.root.offset)
        }
        return try OldTree(store, root, leafCount: OldLeaf.binaryCount(store)).at(i) { (node, i) throws(RealmError) in
            try OldLeaf.binary(store, node, i)
        }
    }

    private static func time(_ store: NodeStore, _ column: OldColumn, _ number: UInt64) throws(RealmError) -> Mixed {
        let root = try column.optionalPart(store, 3)
        guard !root.isNull, let i = Int(exactly: number) else {
            throw .corrupt("Mixed value without its payload", at: column.root.offset)
        }
        let times = OldColumn(form: .timestamp, isNullable: true, isIndexed: false, root: root)
        guard let seconds = try times.tree(store).at(i, { (n, i) throws(RealmError) in OldLeaf.nullable(n, i) }) else {
            return .null
        }
        let nanoseconds = try OldTree(store, try times.part(store, 1), leafCount: OldLeaf.integerCount).at(i) {
            (node, i) throws(RealmError) in node.get(i)
        }
        return .timestamp(Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanoseconds)))
    }

    /// A whole table as a list; its rows are lists of their values.
    private static func table(
        _ store: NodeStore, _ slot: RefOrTagged, _ list: (OldColumn, Ref, Int) throws(RealmError) -> Ref
    ) throws(RealmError) -> Mixed {
        guard let ref = slot.subtree else { return .list(.null) }
        var budget = ColumnBudget(store)
        let table = try OldTable(store, "", 0, ref, &budget)
        guard table.count > 0 else { return .list(.null) }
        let column = OldColumn(form: .table, isNullable: true, isIndexed: false, elements: table.columns)
        return .list(try list(column, try store.refsNode(ref).child(1), table.count))
    }
}
