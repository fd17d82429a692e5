/// Makes leaves of format 24 of the elements of old columns. Format: logical §6 for what is made.
///
/// Thread rule: that of its store, which is open for making nodes.
struct RowTranslation {
    let store: NodeStore

    /// The table that a row number of a link leads into; nil when there is none.
    let tableKey: (Int) -> TableKey?

    /// A ref for the list that begins here, to be made when somebody asks for it.
    let list: (OldColumn, Ref, Int) throws(RealmError) -> Ref

    /// The leaf of rows of a column.
    func leaf(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        switch c.form {
        case .int where !c.isNullable, .link, .numbers: try integers(try c.tree(store), rows)
        case .int: try nullableIntegers(try nullableValues(try c.tree(store), rows))
        case .bool: try bools(c, rows)
        case .float: try numbers(c, rows, null: FloatLeaf.nullFloat, number: Float.nan.bitPattern)
        case .double: try numbers(c, rows, null: FloatLeaf.nullDouble, number: Double.nan.bitPattern)
        case .string, .enumerated: try strings(c, rows)
        case .binary: try binaries(c, rows)
        case .dateTime, .timestamp: try timestamps(c, rows)
        case .linkList, .backlink:
            try refs(try c.tree(store), rows) { (slot) throws(RealmError) in
                try slot.subtree.map { (r) throws(RealmError) in try numbers(r) } ?? slot
            }
        case .list, .values, .table: try lists(c, rows)
        case .mixed: try mixed(rows) { (row) throws(RealmError) in try OldMixed.value(store, c, row, list) }
        case .hidden: .null
        }
    }

    // MARK: Integers

    /// As they are, in one width.
    private func integers(_ tree: OldTree, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var pieces: [(Node, Range<Int>)] = []
        try tree.visit(rows) { (n, here) throws(RealmError) in pieces.append((n, here)) }
        let width = pieces.map(\.0.width).max() ?? 0
        let bytes = (rows.count * width + 7) >> 3
        let new = try store.allocate(NodeHeader(width: width, count: rows.count), capacity: max(bytes, 24))
        if width < 8 { Platform.zero(new.payload, bytes) }
        var at = 0
        for (n, here) in pieces {
            if n.width == width && width >= 8 {
                let unit = width >> 3
                Platform.copy(new.payload + at * unit, n.payload + here.lowerBound * unit, here.count * unit)
            } else {
                for (k, i) in here.enumerated() { new.put(at + k, n.get(i)) }
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

    /// The elements of a column of integers that may be null or not.
    private func values(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> [Int64?] {
        if c.isNullable { return try nullableValues(try c.tree(store), rows) }
        var values: [Int64?] = []
        values.reserveCapacity(rows.count)
        try c.tree(store).visit(rows) { (n, here) throws(RealmError) in for i in here { values.append(n.get(i)) } }
        return values
    }

    /// A leaf whose element 0 is the value that means null.
    private func nullableIntegers(_ values: [Int64?]) throws(RealmError) -> Ref {
        let present = values.compactMap { $0 }
        var width = present.withUnsafeBufferPointer { p in
            p.baseAddress.map { Widths.minimal(for: $0, count: p.count) } ?? 0
        }
        // The greatest value of a width means null, where nobody has it.
        while width < 64, present.contains(Widths.upperBound(width)) { width = max(1, width * 2) }
        var null = Widths.upperBound(width)
        if width == 64 {
            let taken = Set(present)
            while taken.contains(null) { null -= 1 }
        }
        return try store.makeIntegers([null] + values.map { $0 ?? null }).ref
    }

    private func bools(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        try store.makeIntegers(try values(c, rows).map { v in v.map { $0 == 0 ? 0 : 1 } ?? 3 }).ref
    }

    private func timestamps(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var nanoseconds = [Int64](repeating: 0, count: rows.count)
        var seconds: [Int64?]
        if c.form == .timestamp {
            seconds = try nullableValues(try c.tree(store), rows)
            var at = 0
            try OldTree(store, try c.part(store, 1), leafCount: OldLeaf.integerCount).visit(rows) {
                (n, here) throws(RealmError) in
                for i in here {
                    nanoseconds[at] = n.get(i)
                    at += 1
                }
            }
        } else {
            seconds = try values(c, rows)
        }
        for i in seconds.indices where seconds[i] == nil {
            nanoseconds[i] = 0
            if !c.isNullable { seconds[i] = 0 }
        }
        return try store.makeRefs([
            RefOrTagged(try nullableIntegers(seconds)), RefOrTagged(try store.makeIntegers(nanoseconds).ref),
        ]).ref
    }

    // MARK: Numbers of fixed size

    /// - Parameter null: means null in a column that may be null; in another one it is some number, for which `number`
    ///   stands.
    private func numbers<Bits: FixedWidthInteger & UnsignedInteger>(
        _ c: OldColumn, _ rows: Range<Int>, null: Bits, number: Bits
    ) throws(RealmError) -> Ref {
        let size = MemoryLayout<Bits>.size
        let new = try store.allocate(
            NodeHeader(widthType: .multiply, width: size, count: rows.count), capacity: max(24, rows.count * size))
        var at = 0
        try c.tree(store).visit(rows) { (n, here) throws(RealmError) in
            for i in here {
                let bits = n.payload.loadUnaligned(fromByteOffset: i * size, as: Bits.self)
                new.payload.storeBytes(
                    of: bits == null && !c.isNullable ? number : bits, toByteOffset: at, as: Bits.self)
                at += size
            }
        }
        return new.ref
    }

    // MARK: Strings and binaries

    private func strings(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var texts: [Bytes?] = []
        texts.reserveCapacity(rows.count)
        let s = store
        if c.form == .enumerated {
            let values = OldTree(s, c.values, leafCount: OldLeaf.textCount(s))
            try c.tree(s).visit(rows) { (n, here) throws(RealmError) in
                for i in here {
                    guard let number = Int(exactly: n.get(i)), number >= 0 else {
                        throw .corrupt("value without a number", at: n.ref.offset)
                    }
                    texts.append(
                        try values.at(number) { (n, i) throws(RealmError) in
                            try OldLeaf.string(s, n, i, nullable: c.isNullable)
                        })
                }
            }
        } else {
            try c.tree(s).visit(rows) { (n, here) throws(RealmError) in
                for i in here { texts.append(try OldLeaf.string(s, n, i, nullable: c.isNullable)) }
            }
        }
        return try StringLeaf.make(s, texts)
    }

    private func binaries(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        var values: [Bytes?] = []
        values.reserveCapacity(rows.count)
        try c.tree(store).visit(rows) { (n, here) throws(RealmError) in
            for i in here { values.append(try OldLeaf.binary(store, n, i) ?? (c.isNullable ? nil : OldLeaf.empty)) }
        }
        return try BinaryLeaf.make(store, values)
    }

    // MARK: Collections

    /// Refs and tagged integers, each as `translate` gives it.
    private func refs(_ tree: OldTree, _ rows: Range<Int>, _ translate: (RefOrTagged) throws(RealmError) -> RefOrTagged)
        throws(RealmError) -> Ref
    {
        let new = try store.allocate(
            NodeHeader(hasRefs: true, width: 64, count: rows.count), capacity: max(24, rows.count * 8))
        var at = 0
        try tree.visit(rows) { (n, here) throws(RealmError) in
            for i in here {
                store.setSlot(new, at, try translate(try n.slot(i)))
                at += 1
            }
        }
        return new.ref
    }

    /// The numbers of a list where they are, in one leaf; offsets of inner nodes had other widths, so that a larger
    /// tree is made anew.
    private func numbers(_ root: Ref) throws(RealmError) -> RefOrTagged {
        guard try store.node(root).isInner else { return RefOrTagged(root) }
        return RefOrTagged(try list(.numbers, root, try OldTree(store, root).count()))
    }

    /// Sub-tables as lists.
    private func lists(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> Ref {
        try refs(try c.tree(store), rows) { (slot) throws(RealmError) in
            guard let columns = slot.subtree else { return RefOrTagged(.null) }
            return RefOrTagged(try subTable(c, columns))
        }
    }

    /// The list that a sub-table is; null for one without rows. - Parameter columns: its columns array.
    private func subTable(_ c: OldColumn, _ columns: Ref) throws(RealmError) -> Ref {
        var elements = c.elements
        try OldSpec.place(&elements, try store.refsNode(columns))
        guard let first = elements.first, case let count = try first.count(store), count > 0 else { return .null }
        if c.form == .list, first.form == .int, !first.isNullable { return try numbers(first.root).ref }
        return try list(c, columns, count)
    }

    /// A list of values of one type as one of Mixed values.
    private func asMixed(_ c: OldColumn) -> OldColumn {
        var c = c
        if c.form == .list { c.form = .values }
        return c
    }

    /// The elements `rows` of a list, as a leaf. - Parameter columns: the columns array of the sub-table; of links and
    /// numbers, their tree.
    func elements(_ c: OldColumn, _ columns: Ref, _ rows: Range<Int>) throws(RealmError) -> Ref {
        if c.form == .linkList {
            var keys: [Int64] = []
            try OldTree(store, columns).visit(rows) { (n, here) throws(RealmError) in
                for i in here { keys.append(n.get(i)) }
            }
            let table = tableKey(c.table), first = rows.lowerBound
            return try mixed(rows) { (row) throws(RealmError) in
                table.map { .typedLink($0, ObjKey(keys[row - first])) } ?? .null
            }
        }
        var elements = c.elements
        if c.form == .numbers { return try integers(OldTree(store, columns, leafCount: OldLeaf.integerCount), rows) }
        try OldSpec.place(&elements, try store.refsNode(columns))
        if c.form == .list, let first = elements.first { return try leaf(first, rows) }
        if c.form == .values, let first = elements.first { return try mixed(rows, try value(first, rows)) }
        // A row of several columns is a list of its values.
        let shown = elements.filter { $0.form != .backlink && $0.form != .hidden }
        let values = try shown.map { (column) throws(RealmError) in try value(column, rows) }
        return try mixed(rows) { (row) throws(RealmError) in
            .list(try mixed(values.indices) { (i) throws(RealmError) in try values[i](row) })
        }
    }

    /// A leaf of Mixed values, each as `value` gives it. Nested collections get the numbers of their places as stable
    /// keys.
    private func mixed(_ rows: Range<Int>, _ value: (Int) throws(RealmError) -> Mixed) throws(RealmError) -> Ref {
        var ref = try MixedLeaf.create(store)
        for (i, row) in rows.enumerated() {
            let v = try value(row)
            var key: Int64 = 0
            if case .list = v { key = Int64(row + 1) }
            ref = try MixedLeaf.insert(store, ref, i, v, key: key)
        }
        return ref
    }

    /// The values of any column as Mixed values: what gives that of one of `rows`.
    private func value(_ c: OldColumn, _ rows: Range<Int>) throws(RealmError) -> (Int) throws(RealmError) -> Mixed {
        let store = store
        switch c.form {
        case .hidden, .backlink: return { (_) throws(RealmError) in .null }
        case .mixed: return { (row) throws(RealmError) in try OldMixed.value(store, c, row, list) }
        case .link: return { (row) throws(RealmError) in try link(c, row) }
        case .linkList, .list, .values, .table: return { (row) throws(RealmError) in .list(try collection(c, row)) }
        default:
            guard let kind = LeafKind(c.type, nullable: c.isNullable, inTree: false) else {
                return { (_) throws(RealmError) in .null }
            }
            let leaf = try leaf(c, rows)
            return { (row) throws(RealmError) in try kind.get(store, leaf, row - rows.lowerBound) }
        }
    }

    private func link(_ c: OldColumn, _ row: Int) throws(RealmError) -> Mixed {
        let target = try c.tree(store).at(row) { (n, i) throws(RealmError) in n.get(i) }
        guard target > 0, let table = tableKey(c.table) else { return .null }
        return .typedLink(table, ObjKey(target - 1))
    }

    private func collection(_ c: OldColumn, _ row: Int) throws(RealmError) -> Ref {
        let slot = try c.tree(store).at(row) { (n, i) throws(RealmError) in try n.slot(i) }
        guard let ref = slot.subtree else { return .null }
        return c.form == .linkList ? try list(c, ref, try OldTree(store, ref).count()) : try subTable(asMixed(c), ref)
    }
}
