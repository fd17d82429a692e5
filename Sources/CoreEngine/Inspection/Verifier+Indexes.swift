/// Search indexes beside the values they are made of.
extension Verifier {
    func checkIndex(_ walk: TableWalk, _ column: Int) throws(RealmError) {
        let t = walk.table
        guard let f = t.facts[column], let c = t.column(f.key), !f.isCollection, !f.isFullTextIndexed else { return }
        let here = place(t, c)
        guard let index = try reading(here, { () throws(RealmError) in try t.index(of: column) }), let index else { return }
        let data = { (key: ObjKey) throws(RealmError) -> IndexData? in
            if self.unread.contains(ValuePlace(table: t.key, column: f.key, object: key)) { return nil }
            let value = try self.reading(self.place(t, c, key)) { () throws(RealmError) in try t.rows.get(key, column) }
            guard case .some(.some(let v)) = value else { return nil }
            return IndexData(v)
        }
        var seen: Swift.Set<ObjKey> = []
        var isWhole = true
        let damaged = { (error: RealmError) throws(RealmError) -> Void in
            isWhole = false
            _ = try self.reading(here) { () throws(RealmError) in throw error }
        }
        // Every entry stands under the chunks of its object's value; every object has one entry.
        try index.forEachEntry(orElse: damaged) { (key, path, head) throws(RealmError) in
            let spot = self.place(t, c, key)
            guard walk.contains(key) else {
                if !walk.isIncomplete { self.report(.index, "the index names an object that does not exist", spot) }
                return
            }
            if !seen.insert(key).inserted { self.report(.index, "the object stands more than once in the index", spot) }
            guard let own = try data(key) else { return }
            if path.enumerated().contains(where: { own.chunk($0.offset * 4) != $0.element }) {
                self.report(.index, "the object stands in the index under another value", spot)
            } else if let head, head != key, path.count * 4 <= SearchIndex.maxOffset, let other = try data(head), !own.equals(other) {
                // Above the deepest level a list holds one value.
                self.report(.index, "the object stands in the index among those of another value", spot)
            }
        }
        guard isWhole else { return }
        for key in walk.keys where !seen.contains(key) { report(.index, "the object is missing in the index", place(t, c, key)) }
    }
}

extension SearchIndex {
    /// Calls `body` for each object key in the index with the chunks it stands under; for keys in a list also with the list's first key.
    /// What is damaged goes to `orElse`, and is left out.
    func forEachEntry(
        orElse damaged: (RealmError) throws(RealmError) -> Void, _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) {
        var walked: Swift.Set<Int> = []
        var path: [Int32] = []
        _ = try visit(root, depth: 0, &path, &walked, damaged, body)
    }
    /// The last chunk in and below a node; nil when it has none or is damaged.
    private func visit(
        _ ref: Ref, depth: Int, _ path: inout [Int32], _ walked: inout Swift.Set<Int>, _ damaged: (RealmError) throws(RealmError) -> Void,
        _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) -> Int64? {
        let (n, keys): (Node, Node)
        do throws(RealmError) {
            guard walked.insert(ref.offset).inserted, depth < 512 else {
                throw .corrupt("index too deep or with nodes that are shared", at: ref.offset)
            }
            n = try store.refsNode(ref)
            keys = try store.integers(try n.child(0))
            guard n.context, keys.count == n.count - 1 else { throw .corrupt("index node with keys and entries that do not match", at: ref.offset) }
            for i in 1..<max(1, keys.count) where keys.get(i - 1) >= keys.get(i) { throw .corrupt("index keys out of order", at: ref.offset) }
        } catch {
            try damaged(error)
            return nil
        }
        for i in 1..<max(1, n.count) {
            let key = keys.get(i - 1)
            do throws(RealmError) {
                let entry = try n.slot(i)
                if n.isInner {
                    if let last = try visit(try n.child(i), depth: depth + 1, &path, &walked, damaged, body), last != key {
                        throw .corrupt("index node with the keys of other children", at: ref.offset)
                    }
                    continue
                }
                path.append(Int32(truncatingIfNeeded: key))
                defer { path.removeLast() }
                if entry.isTagged {
                    try body(ObjKey(Int64(entry.integer)), path, nil)
                } else if try store.node(entry.ref).context {
                    _ = try visit(entry.ref, depth: depth + 1, &path, &walked, damaged, body)
                } else {
                    try visitList(entry.ref, path, &walked, body)
                }
            } catch { try damaged(error) }
        }
        return keys.count > 0 ? keys.get(keys.count - 1) : nil
    }
    private func visitList(
        _ ref: Ref, _ path: [Int32], _ walked: inout Swift.Set<Int>, _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) {
        var head: ObjKey?
        try BPlusTree(store, kind: .int, root: ref).forEachLeaf { (leaf, _, count) throws(RealmError) in
            guard walked.insert(leaf.offset).inserted else { throw .corrupt("index lists that share their nodes", at: leaf.offset) }
            for i in 0..<count {
                guard case .int(let k) = try LeafKind.int.get(store, leaf, i) else { continue }
                if head == nil { head = ObjKey(k) }
                try body(ObjKey(k), path, head)
            }
            return true
        }
    }
    /// Number of object keys in the index.
    func entryCount() throws(RealmError) -> Int {
        var n = 0
        try forEachEntry(orElse: { (error) throws(RealmError) in throw error }) { (_, _, _) throws(RealmError) in n += 1 }
        return n
    }
}
