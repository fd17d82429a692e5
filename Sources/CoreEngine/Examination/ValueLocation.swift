/// The place of a value in the file: the nodes on the path to it, and its bytes or bits.
///
/// Offsets count bytes of the decrypted file. For an encrypted file, each part also has its page and the place of its
/// ciphertext; a part never crosses the end of a page.
package struct ValueLocation {
    /// The role of a node. Numbers: `crealm_node_role_e`.
    package enum Role: UInt32, Sendable {
        case top = 1
        /// Refs of all tables.
        case tables = 2
        case table = 3
        /// A node of the tree of objects; the last one has a slot for each column. In formats 2 to 9, the array of
        /// columns.
        case cluster = 4
        /// The values of a property for some objects, or an inner node above them.
        case column = 5
        /// A collection, or a node inside it.
        case collection = 6
        /// A part of a leaf: offsets, bytes, seconds.
        case part = 7
    }

    package struct Step {
        package let role: Role
        package let offset: Int
        package let size: Int

        /// The element that leads to the next node, or that belongs to the value; −1 for the whole node.
        package let element: Int
    }

    /// The bytes or bits of a value. Numbers: `crealm_part_kind_e`.
    package enum PartKind: UInt32, Sendable {
        /// The value itself.
        case value = 1
        /// A number that leads to the value: where its bytes end, or which of several stored values it is.
        case reference = 2
        /// Whether the value is null, or the number that means null.
        case null = 3
        /// The key of a dictionary entry.
        case key = 4
    }

    package struct Part {
        package let kind: PartKind

        /// Offset of the node that contains the part.
        package let node: Int
        package let offset: Int

        /// Index of the first bit in the first byte, from the lowest.
        package let firstBit: Int
        package let bits: Int

        /// The page, and the offset of its ciphertext in the file; −1 and 0 for a plain file.
        package var page = -1
        package var fileOffset = 0
    }

    package fileprivate(set) var steps: [Step] = []
    package fileprivate(set) var parts: [Part] = []

    /// 0 for a plain file.
    package fileprivate(set) var pageSize = 0
}

/// Walks from the top array to a value and records the path.
struct ValueFinder {
    let transaction: Transaction
    let store: NodeStore
    fileprivate(set) var found = ValueLocation()

    init(_ transaction: Transaction) {
        self.transaction = transaction
        store = transaction.store
        found.pageSize = transaction.database.file.pages?.pageSize ?? 0
    }

    mutating func find(_ owner: Table, _ column: Column, _ object: ObjKey, _ index: Int?) throws(RealmError) {
        guard index == nil || column.isCollection else {
            throw RealmError(.typeMismatch, "Property '\(column.name)' is no collection: it has no elements")
        }
        let top = try step(.top, transaction.topRef, 1)
        let tables = try step(.tables, try top.child(1), owner.key.index)
        if let old = transaction.old?.schema {
            return try find(in: old, tables, owner.key.index, column, object, index)
        }
        let table = try step(.table, try tables.child(owner.key.index), 2)
        let (leaf, row) = try cluster(try table.child(2), UInt64(bitPattern: object.raw), column.index)
        guard column.isCollection else {
            if !column.enumeratedValues.isNull, case let node = try store.node(leaf), !node.hasRefs, node.widthType == 0
            {
                try number(.reference, .column, leaf, row)
                return try element(.string, .part, column.enumeratedValues, Int(truncatingIfNeeded: node.get(row)))
            }
            guard let kind = column.leafKind else { throw notFound() }
            return try element(kind, .column, leaf, row)
        }
        let refs = try step(.column, leaf, row)
        try collection(try refs.slot(row).subtree, column, index, in: refs, row)
    }

    /// Finds the leaf of a column and the row of an object in it.
    private mutating func cluster(_ root: Ref, _ key: UInt64, _ column: Int) throws(RealmError) -> (leaf: Ref, row: Int)
    {
        var ref = root, key = key
        for _ in 0..<Trees.maxDepth {
            let node = try store.refsNode(ref)
            guard node.isInner else {
                let leaf = try ClusterLeaf(store, node)
                guard let row = leaf.row(key) else { throw notFound() }
                _ = try step(.cluster, ref, column + 1)
                return (try leaf.column(column), row)
            }
            let inner = try ClusterInner(store, node)
            let i = try inner.find(key)
            _ = try step(.cluster, ref, i + 3)
            key &-= inner.offset(i)
            ref = try inner.child(i)
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    private mutating func collection(_ root: Ref?, _ column: Column, _ index: Int?, in refs: Node, _ row: Int)
        throws(RealmError)
    {
        guard let index else {
            note(.reference, refs, bit: row * refs.width, bits: refs.width)
            if let root { try whole(.collection, root) }
            return
        }
        guard let root, index >= 0 else { throw outOfRange(index) }
        guard column.isDictionary else {
            guard let kind = column.elementKind else { throw notFound() }
            return try tree(kind, root, index)
        }
        guard transaction.group.format >= 23 else {
            throw RealmError(
                .notSupported,
                "Dictionaries of formats before 23 lie in trees of objects: their entries have no place of their own")
        }
        let parts = try step(.collection, root, 0)
        try tree(column.keyType == .int ? .int : .string, try parts.child(0), index, as: .key)
        try tree(.mixed, try parts.child(1), index)
    }

    /// Finds element `index` of a B+tree.
    mutating func tree(
        _ kind: LeafKind, _ root: Ref, _ index: Int, as part: ValueLocation.PartKind = .value,
        in role: ValueLocation.Role = .collection
    ) throws(RealmError) {
        guard index < (try BPlusTree.count(store, kind, root)) else { throw outOfRange(index) }
        var ref = root, index = index
        for _ in 0..<Trees.maxDepth {
            let node = try store.node(ref)
            guard node.isInner else { return try element(kind, role, ref, index, as: part) }
            let (child, within) = try BPlusTree.childIndex(store, node, index)
            _ = try step(role, ref, child + 1)
            (ref, index) = (try node.child(child + 1), within)
        }
        throw .corrupt("tree too deep", at: root.offset)
    }

    // MARK: Noting

    func notFound() -> RealmError {
        RealmError(.invalidatedObject, "Accessing object which has been invalidated or deleted")
    }

    func outOfRange(_ index: Int) -> RealmError {
        RealmError(.indexOutOfBounds, "The collection has no element \(index)")
    }

    /// Records a node on the path.
    @discardableResult
    mutating func step(_ role: ValueLocation.Role, _ ref: Ref, _ element: Int) throws(RealmError) -> Node {
        let node = try store.node(ref)
        found.steps.append(ValueLocation.Step(role: role, offset: ref.offset, size: node.size, element: element))
        return node
    }

    /// Records a whole node as the value.
    mutating func whole(_ role: ValueLocation.Role, _ ref: Ref) throws(RealmError) {
        let node = try step(role, ref, -1)
        note(.value, node, bit: -64, bits: node.size * 8)
    }

    /// Records bits of a node, counted from the beginning of its payload. In an encrypted file, there is one part per
    /// page.
    mutating func note(_ kind: ValueLocation.PartKind, _ node: Node, bit: Int, bits: Int) {
        var at = (node.ref.offset + 8) * 8 + bit
        let end = at + bits
        guard let pages = transaction.database.file.pages, end > at else {
            found.parts.append(
                ValueLocation.Part(kind: kind, node: node.ref.offset, offset: at >> 3, firstBit: at & 7, bits: bits))
            return
        }
        while at < end {
            let page = at / 8 / pages.pageSize, last = min(end, (page + 1) * pages.pageSize * 8)
            let inFile = pages.form.position(ofPage: page) + at / 8 % pages.pageSize
            found.parts.append(
                ValueLocation.Part(
                    kind: kind, node: node.ref.offset, offset: at >> 3, firstBit: at & 7, bits: last - at, page: page,
                    fileOffset: inFile))
            at = last
        }
    }
}
