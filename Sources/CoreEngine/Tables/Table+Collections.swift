/// The one way to change a collection: from the row down to it, and back up with the new roots. Promises: `CollectionEditor.swift`.
extension Table {
    /// Opens the collection at `path` for change, runs `body` and writes the root back.
    ///
    /// - Throws: 2010 when the path leads to no collection of this shape (any more).
    func edit<R>(
        _ path: CollectionPath, as shape: CollectionShape, _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        guard let c = facts(path.column), let value = try rows.get(path.object, path.column.index) else { throw Self.gone() }
        var cascade = Group.Cascade()
        let result: R
        if case .slot(let slot) = value {
            guard let outer = c.shape, outer == shape || !path.steps.isEmpty, let kind = c.elementKind else { throw Self.gone() }
            guard outer != .dictionary || c.keyType == .string else {
                throw RealmError(.notSupported, "Dictionaries with integer keys cannot be written")
            }
            let old = slot.subtree ?? .null
            let new: Ref
            if path.steps.isEmpty {
                let place = CollectionPlace(table: key, object: path.object, column: path.column)
                var editor = CollectionEditor(table: self, object: path.object, column: c, shape: shape, kind: kind, root: old, place: place)
                result = try body(&editor)
                new = editor.root
                if !editor.cascade.pending.isEmpty { cascade = editor.cascade }
            } else {
                (new, result) = try edit(path, c, outer, kind, old, step: 0, salts: [], shape, &cascade, body)
            }
            if new != old, try !rows.set(path.object, path.column.index, .slot(RefOrTagged(new))) { throw Self.gone() }
        } else {
            guard let (outer, old) = Self.nested(value) else { throw Self.gone() }
            let (new, r) = try edit(path, c, outer, .mixed, old, step: 0, salts: [], shape, &cascade, body)
            result = r
            if new != old, try !rows.set(path.object, path.column.index, outer == .list ? .list(new) : .dictionary(new)) { throw Self.gone() }
        }
        group.noteChange()
        if !cascade.pending.isEmpty { try group.delete(&cascade) }
        return result
    }
    @inline(never) private static func gone() -> RealmError { RealmError(.invalidatedObject, "The collection has been deleted or replaced") }
    private static func nested(_ v: Mixed) -> (CollectionShape, Ref)? {
        switch v {
        case .list(let r): (.list, r)
        case .dictionary(let r): (.dictionary, r)
        default: nil
        }
    }

    /// One container on the way: at the end of the path `body` runs, before it the nested collection is found and its new root stored.
    private func edit<R>(
        _ path: CollectionPath, _ c: ColumnFacts, _ shape: CollectionShape, _ kind: LeafKind, _ root: Ref, step: Int, salts: [Int64],
        _ wanted: CollectionShape, _ cascade: inout Group.Cascade, _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> (Ref, R) {
        if step == path.steps.count {
            guard shape == wanted else { throw Self.gone() }
            let place = CollectionPlace(table: key, object: path.object, column: path.column, path: salts)
            var editor = CollectionEditor(table: self, object: path.object, column: c, shape: shape, kind: kind, root: root, place: place)
            let result = try body(&editor)
            if !editor.cascade.pending.isEmpty { cascade.pending += editor.cascade.pending }
            return (editor.root, result)
        }
        guard !root.isNull, step < Trees.maxNesting, kind == .mixed else { throw Self.gone() }
        var tree: BPlusTree
        var top: Node?
        let found: Int?
        switch (shape, path.steps[step]) {
        case (.list, .salt(let key)):
            tree = BPlusTree(store, kind: .mixed, root: root)
            found = try tree.index(ofKey: key)
        case (.dictionary, .name(let name)):
            let n = try store.refsNode(root)
            guard n.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
            top = n
            tree = BPlusTree(store, kind: .mixed, root: try n.child(1))
            let entries = try ElementDictionary(store, root: root, keyType: .string, format: Format.currentVersion)
            found = try name.withBytes { (b) throws(RealmError) in try entries.find(b) }
        default: throw Self.gone()
        }
        guard let i = found, let (inner, old) = Self.nested(try tree.get(i)) else { throw Self.gone() }
        let (new, result) = try edit(path, c, inner, .mixed, old, step: step + 1, salts: salts + [try tree.key(i)], wanted, &cascade, body)
        guard new != old else { return (root, result) }
        try tree.set(i, inner == .list ? .list(new) : .dictionary(new))
        guard let top else { return (tree.root, result) }
        let w = try store.writableRefs(top)
        store.setSlot(w, 1, tree.root)
        return (w.ref, result)
    }
}
