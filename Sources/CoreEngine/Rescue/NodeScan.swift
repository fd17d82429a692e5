/// Nodes found by their shape, anywhere in the file: top arrays, top arrays of tables, and clusters.
///
/// A node of the file begins with the bytes `AAAA`, at a multiple of eight. Something that looks like a node may be
/// part of other data, such as a binary that contains another file. The nodes that it refers to are therefore checked
/// too.
struct NodeScan {
    struct Top {
        let ref: Ref
        let version: UInt64
    }

    struct TableTop {
        let ref: Ref
        let key: TableKey
        let contentVersion: UInt64

        /// - Returns: nil if the node is not the top array of a table.
        init?(_ store: NodeStore, _ node: Node) {
            guard node.count >= 9, node.count <= 16, !node.isInner, let spec = try? node.child(0),
                let raw = (try? node.slot(3))?.number, raw <= 0x7FFF_FFFF,
                let parts = try? store.refsNode(spec), parts.count == 6, !parts.isInner, let keys = try? parts.child(5),
                (try? store.integers(keys)) != nil
            else { return nil }
            (ref, key, contentVersion) = (node.ref, TableKey(UInt32(raw)), (try? node.slot(6))?.number ?? 0)
        }
    }

    private(set) var tops: [Top] = []

    /// Nodes with the form of a top array, whatever is in the nodes below.
    private(set) var heads: [Top] = []
    private(set) var tables: [TableTop] = []
    private(set) var arrays: [TableArray] = []

    /// The longest arrays that look like the names of tables.
    private var names: [Node] = []

    /// Nodes that may be clusters with objects.
    private(set) var clusters: [Ref] = []
    private let store: NodeStore

    init(_ source: DamagedFile) throws(RealmError) {
        store = source.store
        try source.eachHeader { (ref, header) throws(RealmError) in
            if header.hasRefs {
                look(ref, header)
            } else if header.widthTypeBits == 1, header.width >= 8 {
                lookForNames(ref)
            }
        }
        tops.sort { $0.version > $1.version }
        heads.sort { $0.version > $1.version }
    }

    private mutating func look(_ ref: Ref, _ header: NodeHeader) {
        guard !header.isInner, header.count >= 1, let node = try? store.refsNode(ref) else { return }
        if let array = TableArray(store, node) { arrays.append(array) }
        if let leaf = try? ClusterLeaf(store, node), leaf.count > 0, (try? node.child(1)) != nil {
            clusters.append(ref)
        }
        guard header.count >= 3, header.count <= 16, let first = try? node.child(0), !first.isNull,
            let third = try? node.slot(2), !third.isNull
        else {
            return
        }
        if third.isTagged { lookForTop(node) } else if let table = TableTop(store, node) { tables.append(table) }
    }

    private mutating func lookForTop(_ node: Node) {
        guard [3, 5, 7, 9, 10, 11, 12].contains(node.count), let names = try? node.child(0),
            let tables = try? node.child(1)
        else { return }
        let version = node.count > 6 ? (try? node.slot(6))?.number ?? 0 : 1
        heads.append(Top(ref: node.ref, version: version))
        guard let texts = try? store.node(names), texts.widthType == 1, !texts.hasRefs,
            let refs = try? store.refsNode(tables),
            refs.count == texts.count, (3..<min(6, node.count)).allSatisfy({ (try? node.child($0)) != nil })
        else { return }
        tops.append(Top(ref: node.ref, version: version))
    }

    private mutating func lookForNames(_ ref: Ref) {
        guard let node = try? store.node(ref), node.count > 0, node.count <= 0x1_0000 else { return }
        for i in 0..<node.count {
            guard let name = try? store.name(node, i),
                name.isEmpty || name.hasPrefix(Format.classPrefix) || [Tables.metadata, "pk"].contains(name)
            else {
                return
            }
        }
        let longest = names.first?.count ?? 0
        if node.count > longest { names = [node] } else if node.count == longest { names.append(node) }
    }

    /// The name of the table in a place; nil if different names were found.
    func name(_ index: Int) -> Name? {
        var found: Name?
        for array in names {
            guard index < array.count, let name = try? store.name(array, index), !name.isEmpty else { continue }
            if let found, found != name { return nil }
            found = name
        }
        return found
    }
}

extension DamagedFile {
    /// Calls `body` for each place where a node may begin.
    func eachHeader(_ body: (Ref, NodeHeader) throws(RealmError) -> Void) throws(RealmError) {
        let step = file.pages?.pageSize ?? 1 << 20
        var at = Format.headerSize
        while at + 8 <= size {
            let end = min(size, (at / step + 1) * step)
            try store.test(at, of: size)
            if file.pages == nil, case let data = file.file.nextData(from: at), data >= end {
                // A hole in a sparse file contains no nodes.
                at = min(data, size)
                continue
            }
            // A page that cannot be read contains no nodes. A node that continues into it fails when it is read.
            if (try? store.makeReadable(at, end - at)) != nil {
                while at + 8 <= end {
                    let word = (store.base + at).load(as: UInt64.self).littleEndian
                    if UInt32(truncatingIfNeeded: word) == NodeHeader.checksum {
                        try body(Ref(at), NodeHeader(word: word))
                    }
                    at += 8
                }
            }
            at = end
        }
    }
}

extension FoundGroup {
    /// The tables found by a scan, each in its newest readable state.
    init(_ store: NodeStore, _ scan: NodeScan, format: UInt8) {
        self.init()
        let end = (scan.tables.map(\.key.index).max() ?? -1) + 1
        for index in 0..<end {
            let found = scan.tables.filter { $0.key.index == index }.sorted { TableAge($0) > TableAge($1) }
            let table = found.lazy.compactMap {
                try? FoundTable(store, $0.ref, index: index, name: scan.name(index), format: format)
            }.first
            append(table.map { .table($0) } ?? .none)
        }
    }

    /// The tables of an older version, replaced by newer states that a scan found.
    /// - Parameter isLast: the newest version directly follows `older`. Then a newer state is used only if it is one
    ///   commit ahead and the only such state.
    /// - Returns: nil if there are no newer states.
    init?(_ newest: FoundGroup, behind older: FoundGroup, _ scan: NodeScan, isLast: Bool) {
        self.init()
        var isNewer = false
        for index in 0..<max(newest.count, older.count) {
            let state =
                newest.isAhead(of: older, index, scan, isLast: isLast) ? newest.state(index) : older.state(index)
            guard case .table(var table) = state, let before = older.table(table.key), before.top != table.top else {
                append(state)
                continue
            }
            table.name = before.name
            append(.table(table))
            isNewer = true
        }
        guard isNewer || count > older.count else { return nil }
    }

    private func isAhead(of older: FoundGroup, _ index: Int, _ scan: NodeScan, isLast: Bool) -> Bool {
        guard index < older.count else { return true }
        guard case .table(let before) = older.state(index), case .table(let after) = state(index) else { return false }
        guard isLast else { return TableAge(after) > TableAge(before) }
        guard after.key == before.key, after.contentVersion == before.contentVersion &+ 1 else { return false }
        return scan.tables.count { $0.key == after.key && $0.contentVersion == after.contentVersion } == 1
    }
}
