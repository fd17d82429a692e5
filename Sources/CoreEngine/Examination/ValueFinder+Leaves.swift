/// Finds the bytes and bits of one element in a leaf of each form. Format: logical §6; for formats 2 to 9 old-formats
/// §6.
extension ValueFinder {
    /// Element `i` of an array of integers.
    mutating func number(
        _ kind: ValueLocation.PartKind, _ role: ValueLocation.Role, _ ref: Ref, _ i: Int, count: Int = 1
    ) throws(RealmError) {
        let node = try step(role, ref, i)
        guard i >= 0, i + count <= node.count, node.widthType == 0 else {
            throw .corrupt("leaf is too short", at: ref.offset)
        }
        note(kind, node, bit: i * node.width, bits: count * node.width)
    }

    mutating func element(
        _ kind: LeafKind, _ role: ValueLocation.Role, _ ref: Ref, _ i: Int, as part: ValueLocation.PartKind = .value
    ) throws(RealmError) {
        switch kind {
        case .int, .bool, .link, .objKey, .slot: try number(part, role, ref, i)
        case .typedLink: try number(part, role, ref, i * 2, count: 2)
        case .nullableInt: try nullable(role, ref, i, as: part)
        case .float, .double, .decimal: try wide(role, ref, i, as: part)
        case .objectId: try fixed(role, ref, i, width: 12, as: part)
        case .uuid: try fixed(role, ref, i, width: 16, as: part)
        case .string, .binary: try bytes(role, ref, i, as: part)
        case .timestamp:
            let node = try step(role, ref, i)
            try nullable(.part, try node.child(0), i, as: part)
            try number(part, .part, try node.child(1), i)
        case .mixed: try mixed(role, ref, i, as: part)
        }
    }

    /// Element 0 of the leaf is the number that means null.
    mutating func nullable(_ role: ValueLocation.Role, _ ref: Ref, _ i: Int, as part: ValueLocation.PartKind)
        throws(RealmError)
    {
        try number(part, role, ref, i + 1)
        let node = try store.integers(ref)
        note(.null, node, bit: 0, bits: node.width)
    }

    private mutating func wide(_ role: ValueLocation.Role, _ ref: Ref, _ i: Int, as part: ValueLocation.PartKind)
        throws(RealmError)
    {
        let node = try step(role, ref, i)
        guard i >= 0, i < node.count else { throw .corrupt("leaf is too short", at: ref.offset) }
        note(part, node, bit: i * node.width * 8, bits: node.width * 8)
    }

    /// Each block has a byte of flags and eight elements.
    private mutating func fixed(
        _ role: ValueLocation.Role, _ ref: Ref, _ i: Int, width: Int, as part: ValueLocation.PartKind
    ) throws(RealmError) {
        let node = try step(role, ref, i), block = (i >> 3) * (8 * width + 1), at = block + 1 + (i & 7) * width
        guard i >= 0, at + width <= node.count else { throw .corrupt("leaf is too short", at: ref.offset) }
        note(part, node, bit: at * 8, bits: width * 8)
        note(.null, node, bit: block * 8 + (i & 7), bits: 1)
    }

    private mutating func bytes(_ role: ValueLocation.Role, _ ref: Ref, _ i: Int, as part: ValueLocation.PartKind)
        throws(RealmError)
    {
        let node = try step(role, ref, i)
        guard node.hasRefs else { return try short(node, i, as: part) }
        if node.context {
            note(.reference, node, bit: i * node.width, bits: node.width)
            if let blob = try node.slot(i).subtree { try blobs(blob, as: part) }
            return
        }
        let ends = try step(.part, try node.child(0), i)
        guard i >= 0, i < ends.count, ends.widthType == 0 else { throw .corrupt("leaf is too short", at: ref.offset) }
        note(.reference, ends, bit: i * ends.width, bits: ends.width)
        let start = i == 0 ? 0 : ends.get(i - 1), end = ends.get(i),
            blob = try step(.part, try node.child(1), Int(truncatingIfNeeded: start))
        guard start >= 0, start <= end, end <= Int64(blob.count) else {
            throw .corrupt("offsets out of order", at: ends.ref.offset)
        }
        if end > start { note(part, blob, bit: Int(start) * 8, bits: Int(end - start) * 8) }
        if node.count > 2 { try number(.null, .part, try node.child(2), i) }
    }

    private mutating func short(_ node: Node, _ i: Int, as part: ValueLocation.PartKind) throws(RealmError) {
        guard node.widthType == 1, i >= 0, i < node.count else {
            throw .corrupt("leaf is too short", at: node.ref.offset)
        }
        guard node.width > 0 else { return note(part, node, bit: 0, bits: 0) }
        let text = (try StringLeaf.getSmall(node, i))?.count ?? 0
        note(part, node, bit: i * node.width * 8, bits: text * 8)
        // The last byte is the number of padding bytes before it, or the mark of null.
        note(.null, node, bit: (i * node.width + node.width - 1) * 8, bits: 8)
    }

    /// A blob, or the pieces of one.
    private mutating func blobs(_ ref: Ref, as part: ValueLocation.PartKind) throws(RealmError) {
        let node = try step(.part, ref, -1)
        guard node.hasRefs else { return note(part, node, bit: 0, bits: node.count * 8) }
        for i in 0..<node.count {
            guard let child = try node.slot(i).subtree, case let piece = try step(.part, child, -1), !piece.hasRefs
            else {
                continue
            }
            note(part, piece, bit: 0, bits: piece.count * 8)
        }
    }

    /// A word contains the type and the index; the payload is in one of the arrays beside the words.
    private mutating func mixed(_ role: ValueLocation.Role, _ ref: Ref, _ i: Int, as part: ValueLocation.PartKind)
        throws(RealmError)
    {
        let leaf = try step(role, ref, i), words = try store.integers(try leaf.child(0))
        guard i >= 0, i < words.count else { throw .corrupt("leaf is too short", at: ref.offset) }
        let word = words.get(i), slot = Int(word >> 5 & 7), index = Int(word >> 8)
        try number(slot == 0 ? part : .reference, .part, words.ref, i)
        guard slot > 0, slot < leaf.count, index >= 0 else { return }
        let payload = try leaf.child(slot)
        switch slot {
        case 1: try number(part, .part, payload, index)
        case 2: try number(part, .part, payload, index * 2, count: 2)
        case 3: try bytes(.part, payload, index, as: part)
        case 4:
            try number(.reference, .part, payload, index)
            if let root = try store.refsNode(payload).slot(index).subtree { try whole(.collection, root) }
        default: break
        }
    }

    // MARK: Formats 2 to 9

    /// In these formats each column is a tree, and an object is a row in it.
    mutating func find(
        in schema: OldSchema, _ tables: Node, _ table: Int, _ definition: Column, _ object: ObjKey, _ index: Int?
    ) throws(RealmError) {
        guard table < schema.tables.count, let old = schema.tables[table], definition.index < old.columns.count else {
            throw notFound()
        }
        let column = old.columns[definition.index], row = Int(object.raw)
        let top = try step(.table, old.top, 1)
        let columns = try step(.cluster, try top.child(1), slot(of: definition.index, in: old))
        switch column.form {
        case .timestamp:
            try tree(
                .nullableInt, try store.refsNode(try columns.child(slot(of: definition.index, in: old))).child(0), row,
                in: .column)
            try tree(.int, try store.refsNode(column.root).child(1), row, in: .column)
        case .linkList, .list:
            let (leaf, place) = try BPlusTree.leaf(store, column.root, row)
            let refs = try step(.column, leaf, place)
            let list = try refs.slot(place).subtree
            guard let index else {
                note(.reference, refs, bit: place * refs.width, bits: refs.width)
                if let list { try whole(.collection, list) }
                return
            }
            guard let list, index >= 0 else { throw outOfRange(index) }
            if column.form == .linkList { return try tree(.int, list, index) }
            guard let element = column.elements.first, let kind = Self.kind(element) else { throw unsupported() }
            try tree(kind, try step(.collection, list, 0).child(0), index)
        case .enumerated:
            try tree(.int, column.root, row, in: .column)
            let (leaf, place) = try BPlusTree.leaf(store, column.root, row)
            try tree(.string, column.values, Int(truncatingIfNeeded: try store.integers(leaf).get(place)), in: .part)
        default:
            guard let kind = Self.kind(column) else { throw unsupported() }
            try tree(kind, column.root, row, in: .column)
        }
    }

    private func unsupported() -> RealmError {
        RealmError(
            .notSupported, "Values of this kind are made of several in this format: they have no place of their own")
    }

    /// The columns array has one slot per column and one per index.
    private func slot(of column: Int, in table: OldTable) -> Int {
        column + table.columns[..<column].count(where: \.isIndexed)
    }

    private static func kind(_ column: OldColumn) -> LeafKind? {
        switch column.form {
        case .int, .bool, .dateTime: column.isNullable ? .nullableInt : .int
        case .link: .int
        case .string: .string
        case .binary: .binary
        case .float: .float
        case .double: .double
        default: nil
        }
    }
}
