/// # Inspection
///
/// Reads any room to check it; used by tests and by `crealm_verify`. Nothing in the engine depends on it.
///
/// Checked, under these numbers:
/// 1. Every byte from 24 to the logical end is reachable or free, exactly once (normal form; storage §3.2).
/// 2. Each cluster's columns have as many elements as it has keys; keys ascend.
/// 3. Every link has exactly one backlink and the reverse.
/// 4. Every row is found through each of its search indexes, and indexes hold nothing else.
struct Verifier {
    let transaction: Transaction
    private var store: NodeStore { transaction.store }
    init(_ transaction: Transaction) { self.transaction = transaction }

    func run() throws(RealmError) {
        if transaction.stage == .reading { try checkTiling() }
        let group = transaction.group
        var links: [LinkEnd: Int] = [:]
        for i in group.liveIndexes {
            let t = try group.table(at: i)
            try checkColumns(t)
            try checkRows(t)
            try collectLinks(t, &links)
        }
        for i in group.liveIndexes { try checkBacklinks(try group.table(at: i), &links) }
        if let left = links.first(where: { $0.value != 0 }) {
            throw RealmError(.invalidDatabase, "link without backlink: from object \(left.key.origin) of table \(left.key.originTable) to object \(left.key.target) of table \(left.key.table)")
        }
    }

    // MARK: 1

    private func checkTiling() throws(RealmError) {
        let top = transaction.topRef
        guard !top.isNull else { return }
        let fields = try transaction.database.file.topFields(store, top, physicalSize: transaction.logicalSize)
        if fields.slotCount < 5 { return }  // A copy in streaming form without lists.
        guard !fields.freeLists.positions.isNull else { throw .corrupt("top array without free-space lists", at: top.offset) }
        var spans: [(Int, Int)] = []
        var pending = [top]
        var total = 0
        while let r = pending.popLast() {
            let n = try store.node(r)
            spans.append((r.offset, r.offset + n.size))
            // A node that is reached twice, or again and again, makes the sum exceed the file.
            total += n.size
            guard total <= fields.logicalSize else { throw .corrupt("two owners of one byte", at: r.offset) }
            guard n.hasRefs else { continue }
            for i in 0..<n.count {
                let s = RefOrTagged(raw: n.get(i))
                if let child = s.subtree { pending.append(child) }
            }
        }
        let free = try FreeSpace(store, fields.freeLists, logicalSize: fields.logicalSize, base: nil, pinned: [], pageSize: nil)
        for c in free.usable { spans.append((c.offset, c.end)) }
        spans.sort { $0.0 < $1.0 }
        var at = Format.headerSize
        for (start, end) in spans {
            guard start >= at else { throw .corrupt("two owners of one byte", at: start) }
            guard start == at else { throw .corrupt("bytes that are neither reachable nor free", at: at) }
            at = end
        }
        guard at == fields.logicalSize else { throw .corrupt("the end of the file is neither reachable nor free", at: at) }
    }

    // MARK: 3, the columns

    /// Link and backlink columns name each other.
    private func checkColumns(_ t: Table) throws(RealmError) {
        for c in t.columns where c.type == .link || c.isBacklink {
            guard let other = try transaction.group.table(c.oppositeTable), let opposite = other.column(c.oppositeColumn) else {
                throw RealmError(.invalidDatabase, "column '\(c.name)' of '\(t.name)' has no column at its other end")
            }
            let matches = c.isBacklink ? opposite.type == .link || opposite.type == .mixed : opposite.isBacklink
            // A Mixed column feeds many backlink columns and names none of them.
            guard matches, opposite.type == .mixed || (opposite.oppositeTable == t.key && opposite.oppositeColumn == c.key) else {
                throw RealmError(.invalidDatabase, "column '\(c.name)' of '\(t.name)' and the column at its other end do not name each other")
            }
        }
    }

    // MARK: 2 and 4

    /// The column leaves of the cursor's cluster have as many elements as it has keys.
    private func checkLeaf(_ t: Table) throws(RealmError) {
        for c in t.columns {
            guard let kind = c.leafKind else { continue }
            let leaf = try t.rows.columnLeaf(c.index)
            let node = try store.node(leaf)
            let enumerated = !c.enumeratedValues.isNull && !node.hasRefs && node.widthType == 0
            let n = enumerated ? node.count : try kind.count(store, leaf)
            guard n == t.rows.cursor.count else {
                throw RealmError(.invalidDatabase, "column '\(c.name)' of '\(t.name)' has \(n) values for \(t.rows.cursor.count) objects")
            }
            // Every value can be read.
            if !enumerated { for i in 0..<n { _ = try kind.get(store, leaf, i) } }
        }
    }
    private func checkRows(_ t: Table) throws(RealmError) {
        // An empty tree is one cluster without keys.
        if try t.rows.locate(ObjKey(0)) == nil { try checkLeaf(t) }
        var last: ObjKey?
        var count = 0
        var checked = Ref.null
        try t.rows.forEachKey { (key) throws(RealmError) in
            if let last, !(last < key) { throw .corrupt("object keys out of order") }
            last = key
            count += 1
            guard try t.rows.locate(key) != nil else { throw RealmError(.invalidDatabase, "object \(key.raw) of '\(t.name)' is not found by its key") }
            if t.rows.cursor.leaf.ref != checked {
                checked = t.rows.cursor.leaf.ref
                try checkLeaf(t)
            }
            return true
        }
        guard try t.count() == count else { throw RealmError(.invalidDatabase, "'\(t.name)' counts \(try t.count()) objects but has \(count)") }
        for column in t.indexed {
            guard let f = t.facts[column], !f.isCollection, !f.isFullTextIndexed, let index = try t.index(of: column) else { continue }
            // Every entry stands under the chunks of its object's value; every object has one entry.
            var entries = 0
            var seen = Swift.Set<Int64>()
            try index.forEachEntry { (key, path, head) throws(RealmError) in
                entries += 1
                guard let v = try t.rows.get(key, column), let data = IndexData(v) else {
                    throw RealmError(.invalidDatabase, "the index of column \(column) of '\(t.name)' names object \(key.raw), which does not exist")
                }
                for (i, chunk) in path.enumerated() where data.chunk(i * 4) != chunk {
                    throw RealmError(.invalidDatabase, "object \(key.raw) of '\(t.name)' stands in the wrong place of the index of column \(column)")
                }
                // Above the deepest level a list holds one value.
                if let head, head != key, path.count * 4 <= SearchIndex.maxOffset, let w = try t.rows.get(head, column), let other = IndexData(w), !data.equals(other) {
                    throw RealmError(.invalidDatabase, "a list in the index of column \(column) of '\(t.name)' holds different values")
                }
                seen.insert(key.raw)
            }
            guard entries == count, seen.count == count else {
                throw RealmError(.invalidDatabase, "the index of column \(column) of '\(t.name)' has \(entries) entries for \(seen.count) of \(count) objects")
            }
        }
    }

    // MARK: 3

    private struct LinkEnd: Hashable {
        let table: UInt32, target: Int64, originTable: UInt32, originColumn: Int64, origin: Int64
    }
    private func collectLinks(_ t: Table, _ links: inout [LinkEnd: Int]) throws(RealmError) {
        for c in t.columns where c.type == .link || c.type == .mixed {
            for key in try t.allKeys() {
                guard let v = try t.rows.get(key, c.index) else { continue }
                try eachLink(v, c, t, depth: 0) { (table, target) in
                    guard target.raw >= 0 else { return }
                    links[LinkEnd(table: table.raw, target: target.raw, originTable: t.key.raw, originColumn: c.key.raw, origin: key.raw), default: 0] += 1
                }
            }
        }
    }
    private func eachLink(_ v: Mixed, _ c: Column, _ t: Table, depth: Int, _ body: (TableKey, ObjKey) -> Void) throws(RealmError) {
        guard depth < Trees.maxNesting else { throw .corrupt("collections nested too deeply") }
        if depth == 0 { t.group.startWalk() } else { try t.group.enterNested(at: .null) }
        switch v {
        case .link(let k): body(c.oppositeTable, k)
        case .typedLink(let table, let k): body(table, k)
        case .list(let r):
            let l = try ElementList(store, root: r, kind: .mixed, target: .null)
            for i in 0..<l.count { try eachLink(try l.get(i), c, t, depth: depth + 1, body) }
        case .dictionary(let r):
            let d = try ElementDictionary(store, root: r, keyType: .string, format: 24)
            for i in 0..<d.count { try eachLink(try d.value(i), c, t, depth: depth + 1, body) }
        case .slot(let s):
            guard let root = s.subtree else { return }
            if c.isDictionary {
                let d = try ElementDictionary(store, root: root, keyType: c.keyType, format: t.group.format)
                for i in 0..<d.count { try eachLink(try d.value(i), c, t, depth: depth + 1, body) }
            } else if let kind = c.elementKind {
                let l = try ElementList(store, root: root, kind: kind, target: c.oppositeTable)
                for i in 0..<l.count { try eachLink(try l.get(i), c, t, depth: depth + 1, body) }
            }
        default: break
        }
    }
    private func checkBacklinks(_ t: Table, _ links: inout [LinkEnd: Int]) throws(RealmError) {
        for c in t.columns where c.isBacklink {
            for key in try t.allKeys() {
                for origin in try t.backlinks(key, c.key).allKeys() {
                    let end = LinkEnd(table: t.key.raw, target: key.raw, originTable: c.oppositeTable.raw, originColumn: c.oppositeColumn.raw, origin: origin.raw)
                    guard let n = links[end], n > 0 else {
                        throw RealmError(.invalidDatabase, "backlink without link: object \(key.raw) of '\(t.name)' names object \(origin.raw) of table \(c.oppositeTable.raw)")
                    }
                    links[end] = n - 1
                }
            }
        }
    }
}

extension SearchIndex {
    /// Calls `body` for each object key in the index with the chunks it stands under.
    /// For keys in a list also the list's first key.
    func forEachEntry(_ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void) throws(RealmError) {
        var left = store.extent * 4  // Entries and nodes that a file of this size can hold; a shared or cyclic node runs out of it.
        var path: [Int32] = []
        try visit(root, depth: 0, &path, &left, body)
    }
    private func visit(
        _ ref: Ref, depth: Int, _ path: inout [Int32], _ left: inout Int, _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) {
        left -= 1
        guard depth < 512, left > 0 else { throw .corrupt("index too deep or with nodes that are shared", at: ref.offset) }
        let n = try store.refsNode(ref)
        let keys = try store.integers(try n.child(0))
        guard n.context, keys.count == n.count - 1 else { throw .corrupt("index node with keys and entries that do not match", at: ref.offset) }
        for i in 1..<max(1, keys.count) where keys.get(i - 1) >= keys.get(i) { throw .corrupt("index keys out of order", at: ref.offset) }
        for i in 1..<max(1, n.count) {
            let entry = try n.slot(i)
            if n.isInner {
                try visit(entry.ref, depth: depth + 1, &path, &left, body)
                continue
            }
            path.append(Int32(truncatingIfNeeded: keys.get(i - 1)))
            defer { path.removeLast() }
            if entry.isTagged {
                try body(ObjKey(Int64(entry.integer)), path, nil)
            } else if try store.node(entry.ref).context {
                try visit(entry.ref, depth: depth + 1, &path, &left, body)
            } else {
                let list = BPlusTree(store, kind: .int, root: entry.ref)
                let count = try list.count()
                left -= count
                guard left > 0 else { throw .corrupt("index lists longer than the file", at: entry.ref.offset) }
                var head: ObjKey?
                for j in 0..<count {
                    guard case .int(let k) = try list.get(j) else { continue }
                    if head == nil { head = ObjKey(k) }
                    try body(ObjKey(k), path, head)
                }
            }
        }
    }
    /// Number of object keys in the index.
    func entryCount() throws(RealmError) -> Int {
        var n = 0
        try forEachEntry { (_, _, _) throws(RealmError) in n += 1 }
        return n
    }
}
