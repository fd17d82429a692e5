/// The invariants of an index, and the walk over all entries that checks them. Format: logical §9.
///
/// 1. Chunks ascend strictly in a node, one for each entry; an inner node stores the last chunk of each child.
/// 2. An inner node has children.
/// 3. No node is reached twice, and no object occurs twice under one value.
extension SearchIndex {
    func checkInvariants() throws(RealmError) {
        var all: Set<ObjKey> = [], path: [Int32] = []
        try forEachEntry(orElse: { (error) throws(RealmError) in throw error }) { (key, chunks, _) throws(RealmError) in
            if chunks != path { all.removeAll(keepingCapacity: true) }
            path = chunks
            guard all.insert(key).inserted else { throw .corrupt("an object twice under one value of an index") }
        }
    }

    /// Checks only the nodes on the path to a value.
    func checkInvariants(near value: Mixed) throws(RealmError) {
        guard let data = IndexData(value) else { return }
        var ref = root, offset = 0
        for _ in 0..<512 {
            let (node, keys) = try checkedNode(ref)
            let position = Self.search(keys, data.chunk(offset))
            guard position < keys.count else { return }
            let child = try node.slot(position + 1)
            if node.isInner {
                guard try lastKey(child.ref) == keys.get(position) else {
                    throw .corrupt("index node with the keys of other children", at: ref.offset)
                }
            } else {
                guard keys.get(position) == Int64(data.chunk(offset)), !child.isTagged,
                    try store.node(child.ref).context
                else { return }
                offset += 4
            }
            ref = child.ref
        }
        throw .corrupt("index too deep", at: root.offset)
    }

    /// Whether the invariants hold on the path to `value`; for assertions in debug builds.
    func isSound(near value: Mixed) -> Bool {
        Invariants.hold { () throws(RealmError) in try checkInvariants(near: value) }
    }

    /// Opens a node and checks that it has as many entries as keys, and that its keys ascend.
    private func checkedNode(_ ref: Ref) throws(RealmError) -> (node: Node, keys: Node) {
        let (node, keys) = try open(ref)
        guard keys.count == node.count - 1 else {
            throw .corrupt("index node with keys and entries that do not match", at: ref.offset)
        }
        guard keys.count > 0 || !node.isInner else {
            throw .corrupt("inner index node without children", at: ref.offset)
        }
        for i in 1..<max(1, keys.count) where keys.get(i - 1) >= keys.get(i) {
            throw .corrupt("index keys out of order", at: ref.offset)
        }
        return (node, keys)
    }
}

extension SearchIndex {
    /// Calls `body` for each object key in the index, with the chunks on its path; for keys in a list also with the
    /// first key of the list. Damage is reported to `orElse`, and the damaged part is skipped.
    func forEachEntry(
        orElse damaged: (RealmError) throws(RealmError) -> Void,
        _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) {
        var walked: Set<Int> = []
        var path: [Int32] = []
        _ = try visit(root, depth: 0, &path, &walked, damaged, body)
    }

    /// Visits a node and the nodes below it. Returns the last chunk; nil if the node is empty or damaged.
    private func visit(
        _ ref: Ref, depth: Int, _ path: inout [Int32], _ walked: inout Set<Int>,
        _ damaged: (RealmError) throws(RealmError) -> Void,
        _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) -> Int64? {
        let (node, keys): (Node, Node)
        do throws(RealmError) {
            guard walked.insert(ref.offset).inserted, depth < 512 else {
                throw .corrupt("index too deep or with nodes that are shared", at: ref.offset)
            }
            (node, keys) = try checkedNode(ref)
        } catch {
            try damaged(error)
            return nil
        }
        for i in 1..<max(1, node.count) {
            let key = keys.get(i - 1)
            do throws(RealmError) {
                let entry = try node.slot(i)
                if node.isInner {
                    if let last = try visit(try node.child(i), depth: depth + 1, &path, &walked, damaged, body),
                        last != key
                    {
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
        _ ref: Ref, _ path: [Int32], _ walked: inout Set<Int>,
        _ body: (ObjKey, [Int32], ObjKey?) throws(RealmError) -> Void
    ) throws(RealmError) {
        var head: ObjKey?
        try BPlusTree(store, kind: .int, root: ref).forEachLeaf { (leaf, _, count) throws(RealmError) in
            guard walked.insert(leaf.offset).inserted else {
                throw .corrupt("index lists that share their nodes", at: leaf.offset)
            }
            for i in 0..<count {
                guard case .int(let raw) = try LeafKind.int.get(store, leaf, i) else { continue }
                if head == nil { head = ObjKey(raw) }
                try body(ObjKey(raw), path, head)
            }
            return true
        }
    }

    /// Number of object keys in the index.
    func entryCount() throws(RealmError) -> Int {
        var total = 0
        try forEachEntry(orElse: { (error) throws(RealmError) in throw error }) { (_, _, _) throws(RealmError) in
            total += 1
        }
        return total
    }
}
