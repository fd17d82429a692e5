/// Creates leaves of format 24 from the elements of old columns. Format: logical §6 for the new leaves.
///
/// Thread rule: that of its store, which must be open for creating nodes.
struct RowTranslation {
    let store: NodeStore

    /// Returns the key of the target table of a link, by its index; nil if there is none.
    let tableKey: (Int) -> TableKey?

    /// Returns a ref for a list, which is created when it is first read. Arguments: the column, the columns array or
    /// tree, and the count.
    let list: (OldColumn, Ref, Int) throws(RealmError) -> Ref

    /// Creates the leaf for some rows of a column.
    func leaf(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        switch column.form {
        case .int where !column.isNullable, .link, .numbers: try integers(try column.tree(store), rows)
        case .int: try nullableIntegers(try nullableValues(try column.tree(store), rows))
        case .bool: try bools(column, rows)
        case .float: try numbers(column, rows, null: FloatLeaf.nullFloat, number: Float.nan.bitPattern)
        case .double: try numbers(column, rows, null: FloatLeaf.nullDouble, number: Double.nan.bitPattern)
        case .string, .enumerated: try strings(column, rows)
        case .binary: try binaries(column, rows)
        case .dateTime, .timestamp: try timestamps(column, rows)
        case .linkList, .backlink:
            try refs(try column.tree(store), rows) { (slot) throws(RealmError) in
                try slot.subtree.map { (r) throws(RealmError) in try numbers(r) } ?? slot
            }
        case .list, .values, .table: try lists(column, rows)
        case .mixed: try mixed(rows) { (row) throws(RealmError) in try OldMixed.value(store, column, row, list) }
        case .hidden: .null
        }
    }

    // MARK: Integers

    /// Copies integers unchanged, in one common width.
    private func integers(_ tree: OldTree, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var pieces: [(Node, Range<Int>)] = []
        try tree.visit(rows) { (n, here) throws(RealmError) in pieces.append((n, here)) }
        let width = pieces.map(\.0.width).max() ?? 0
        let bytes = (rows.count * width + 7) >> 3
        let new = try store.allocate(NodeHeader(width: width, count: rows.count), capacity: max(bytes, 24))
        if width < 8 { CMemory.zero(new.payload, bytes) }
        var at = 0
        for (node, here) in pieces {
            if node.width == width && width >= 8 {
                let unit = width >> 3
                CMemory.copy(new.payload + at * unit, node.payload + here.lowerBound * unit, here.count * unit)
            } else {
                for (place, i) in here.enumerated() { new.put(at + place, node.get(i)) }
            }
            at += here.count
        }
        return new.ref
    }

    private func nullableValues(_ tree: OldTree, _ rows: Range<Int>) throws(RealmError) -> [Int64?] {
        var values: [Int64?] = []
        values.reserveCapacity(rows.count)
        try tree.visit(rows) { (n, here) throws(RealmError) in for i in here { values.append(OldLeaf.nullable(n, i)) } }
        return values
    }

    /// The elements of a nullable or non-nullable column of integers.
    private func values(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> [Int64?] {
        if column.isNullable { return try nullableValues(try column.tree(store), rows) }
        var values: [Int64?] = []
        values.reserveCapacity(rows.count)
        try column.tree(store).visit(rows) { (n, here) throws(RealmError) in for i in here { values.append(n.get(i)) } }
        return values
    }

    /// Creates a leaf whose element 0 is the value that means null.
    private func nullableIntegers(_ values: [Int64?]) throws(RealmError) -> Ref {
        let present = values.compactMap { $0 }
        var width = present.withUnsafeBufferPointer { pointer in
            pointer.baseAddress.map { Widths.minimal(for: $0, count: pointer.count) } ?? 0
        }
        // The largest value of the width means null, if no element has it.
        while width < 64, present.contains(Widths.upperBound(width)) { width = max(1, width * 2) }
        var null = Widths.upperBound(width)
        if width == 64 {
            let taken = Set(present)
            while taken.contains(null) { null -= 1 }
        }
        return try store.makeIntegers([null] + values.map { $0 ?? null }).ref
    }

    private func bools(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        try store.makeIntegers(try values(column, rows).map { v in v.map { $0 == 0 ? 0 : 1 } ?? 3 }).ref
    }

    private func timestamps(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var nanoseconds = [Int64](repeating: 0, count: rows.count)
        var seconds: [Int64?]
        if column.form == .timestamp {
            seconds = try nullableValues(try column.tree(store), rows)
            var at = 0
            try OldTree(store, try column.part(store, 1), leafCount: OldLeaf.integerCount).visit(rows) {
                (node, here) throws(RealmError) in
                for i in here {
                    nanoseconds[at] = node.get(i)
                    at += 1
                }
            }
        } else {
            seconds = try values(column, rows)
        }
        for i in seconds.indices where seconds[i] == nil {
            nanoseconds[i] = 0
            if !column.isNullable { seconds[i] = 0 }
        }
        return try store.makeRefs([
            RefOrTagged(try nullableIntegers(seconds)), RefOrTagged(try store.makeIntegers(nanoseconds).ref),
        ]).ref
    }

    // MARK: Numbers of fixed size

    /// - Parameters:
    ///   - null: the bits that mean null in a nullable column. In another column they are an ordinary NaN.
    ///   - number: replaces these bits in a non-nullable column.
    private func numbers<Bits: FixedWidthInteger & UnsignedInteger>(
        _ column: OldColumn, _ rows: Range<Int>, null: Bits, number: Bits
    ) throws(RealmError) -> Ref {
        let size = MemoryLayout<Bits>.size
        let new = try store.allocate(
            NodeHeader(widthType: .multiply, width: size, count: rows.count), capacity: max(24, rows.count * size))
        var at = 0
        try column.tree(store).visit(rows) { (node, here) throws(RealmError) in
            for i in here {
                let bits = node.payload.loadUnaligned(fromByteOffset: i * size, as: Bits.self)
                new.payload.storeBytes(
                    of: bits == null && !column.isNullable ? number : bits, toByteOffset: at, as: Bits.self)
                at += size
            }
        }
        return new.ref
    }

    // MARK: Strings and binaries

    private func strings(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var texts: [Bytes?] = []
        texts.reserveCapacity(rows.count)
        let s = store
        if column.form == .enumerated {
            let values = OldTree(s, column.values, leafCount: OldLeaf.textCount(s))
            try column.tree(s).visit(rows) { (leaf, here) throws(RealmError) in
                for i in here {
                    guard let number = Int(exactly: leaf.get(i)), number >= 0 else {
                        throw .corrupt("value without a number", at: leaf.ref.offset)
                    }
                    texts.append(
                        try values.at(number) { (node, i) throws(RealmError) in
                            try OldLeaf.string(s, node, i, nullable: column.isNullable)
                        })
                }
            }
        } else {
            try column.tree(s).visit(rows) { (node, here) throws(RealmError) in
                for i in here { texts.append(try OldLeaf.string(s, node, i, nullable: column.isNullable)) }
            }
        }
        return try StringLeaf.make(s, texts)
    }

    private func binaries(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var values: [Bytes?] = []
        values.reserveCapacity(rows.count)
        try column.tree(store).visit(rows) { (node, here) throws(RealmError) in
            for i in here {
                values.append(try OldLeaf.binary(store, node, i) ?? (column.isNullable ? nil : OldLeaf.empty))
            }
        }
        return try BinaryLeaf.make(store, values)
    }

    // MARK: Collections

    /// Creates an array of refs and tagged integers, each translated by `translate`.
    private func refs(_ tree: OldTree, _ rows: Range<Int>, _ translate: (RefOrTagged) throws(RealmError) -> RefOrTagged)
        throws(RealmError) -> Ref
    {
        let new = try store.allocate(
            NodeHeader(hasRefs: true, width: 64, count: rows.count), capacity: max(24, rows.count * 8))
        var at = 0
        try tree.visit(rows) { (node, here) throws(RealmError) in
            for i in here {
                store.setSlot(new, at, try translate(try node.slot(i)))
                at += 1
            }
        }
        return new.ref
    }

    /// The numbers of a list. A single leaf is used in place. A larger tree is created anew, because the offsets of its
    /// inner nodes have other widths.
    private func numbers(_ root: Ref) throws(RealmError) -> RefOrTagged {
        guard try store.node(root).isInner else { return RefOrTagged(root) }
        return RefOrTagged(try list(.numbers, root, try OldTree(store, root).count()))
    }

    /// Creates lists from sub-tables.
    private func lists(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        try refs(try column.tree(store), rows) { (slot) throws(RealmError) in
            guard let columns = slot.subtree else { return RefOrTagged(.null) }
            return RefOrTagged(try subTable(column, columns))
        }
    }

    /// The list for a sub-table; null if it has no rows.
    ///
    /// - Parameter columns: the columns array of the sub-table.
    private func subTable(_ column: OldColumn, _ columns: Ref) throws(RealmError) -> Ref {
        var elements = column.elements
        try OldSpec.place(&elements, try store.refsNode(columns))
        guard let first = elements.first, case let count = try first.count(store), count > 0 else { return .null }
        if column.form == .list, first.form == .int, !first.isNullable { return try numbers(first.root).ref }
        return try list(column, columns, count)
    }

    /// Turns a list of values of one type into a list of Mixed values.
    private func asMixed(_ column: OldColumn) -> OldColumn {
        var column = column
        if column.form == .list { column.form = .values }
        return column
    }

    /// Creates a leaf with the elements `rows` of a list.
    ///
    /// - Parameter columns: the columns array of the sub-table; for links and numbers, their tree.
    func elements(_ definition: OldColumn, _ columns: Ref, _ rows: Range<Int>) throws(RealmError) -> Ref {
        if definition.form == .linkList {
            var keys: [Int64] = []
            try OldTree(store, columns).visit(rows) { (node, here) throws(RealmError) in
                for i in here { keys.append(node.get(i)) }
            }
            let table = tableKey(definition.table), first = rows.lowerBound
            return try mixed(rows) { (row) throws(RealmError) in
                table.map { .typedLink($0, ObjKey(keys[row - first])) } ?? .null
            }
        }
        var elements = definition.elements
        if definition.form == .numbers {
            return try integers(OldTree(store, columns, leafCount: OldLeaf.integerCount), rows)
        }
        try OldSpec.place(&elements, try store.refsNode(columns))
        if definition.form == .list, let first = elements.first { return try leaf(first, rows) }
        if definition.form == .values, let first = elements.first { return try mixed(rows, try value(first, rows)) }
        // A row of several columns becomes a list of its values.
        let shown = elements.filter { $0.form != .backlink && $0.form != .hidden }
        let values = try shown.map { (column) throws(RealmError) in try value(column, rows) }
        return try mixed(rows) { (row) throws(RealmError) in
            .list(try mixed(values.indices) { (i) throws(RealmError) in try values[i](row) })
        }
    }

    /// Creates a leaf of Mixed values. Nested collections get their row number plus 1 as stable key.
    private func mixed(_ rows: Range<Int>, _ value: (Int) throws(RealmError) -> Mixed) throws(RealmError) -> Ref {
        var ref = try MixedLeaf.create(store)
        for (i, row) in rows.enumerated() {
            let element = try value(row)
            var key: Int64 = 0
            if case .list = element { key = Int64(row + 1) }
            ref = try MixedLeaf.insert(store, ref, i, element, key: key)
        }
        return ref
    }

    /// Returns a function from a row in `rows` to its value as Mixed.
    private func value(_ column: OldColumn, _ rows: Range<Int>) throws(RealmError) -> (Int) throws(RealmError) -> Mixed
    {
        let store = store
        switch column.form {
        case .hidden, .backlink: return { (_) throws(RealmError) in .null }
        case .mixed: return { (row) throws(RealmError) in try OldMixed.value(store, column, row, list) }
        case .link: return { (row) throws(RealmError) in try link(column, row) }
        case .linkList, .list, .values, .table:
            return { (row) throws(RealmError) in .list(try collection(column, row)) }
        default:
            guard let kind = LeafKind(column.type, nullable: column.isNullable, inTree: false) else {
                return { (_) throws(RealmError) in .null }
            }
            let leaf = try leaf(column, rows)
            return { (row) throws(RealmError) in try kind.get(store, leaf, row - rows.lowerBound) }
        }
    }

    private func link(_ column: OldColumn, _ row: Int) throws(RealmError) -> Mixed {
        let target = try column.tree(store).at(row) { (n, i) throws(RealmError) in n.get(i) }
        guard target > 0, let table = tableKey(column.table) else { return .null }
        return .typedLink(table, ObjKey(target - 1))
    }

    private func collection(_ column: OldColumn, _ row: Int) throws(RealmError) -> Ref {
        let slot = try column.tree(store).at(row) { (n, i) throws(RealmError) in try n.slot(i) }
        guard let ref = slot.subtree else { return .null }
        return column.form == .linkList
            ? try list(column, ref, try OldTree(store, ref).count()) : try subTable(asMixed(column), ref)
    }
}
