/// The only way to change a collection: from the row down to it, and back up with the new roots. Promises:
/// `CollectionEditor.swift`.
extension Table {
    /// Opens the collection at `path` for change, runs `body` and writes the root back.
    ///
    /// - Throws: 2010 if the path leads to no collection of this shape (any more).
    func edit<R>(
        _ path: CollectionPath, as shape: CollectionShape, _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        guard let column = facts(path.column), let value = try rows.get(path.object, path.column.index) else {
            throw Self.gone()
        }
        var cascade = Group.Cascade()
        let result: R
        if case .slot(let slot) = value {
            guard let outer = column.shape, outer == shape || !path.steps.isEmpty, let kind = column.elementKind else {
                throw Self.gone()
            }
            guard outer != .dictionary || column.keyType == .string else {
                throw RealmError(.notSupported, "Dictionaries with integer keys cannot be written")
            }
            let old = slot.subtree ?? .null
            let new: Ref
            if path.steps.isEmpty {
                let place = CollectionPlace(table: key, object: path.object, column: path.column)
                var editor = CollectionEditor(
                    table: self, object: path.object, column: column, shape: shape, kind: kind, root: old, place: place)
                result = try body(&editor)
                new = editor.root
                if !editor.cascade.pending.isEmpty { cascade = editor.cascade }
            } else {
                (new, result) = try edit(path, column, outer, kind, old, shape, &cascade, body)
            }
            if new != old, try !rows.set(path.object, path.column.index, .slot(RefOrTagged(new))) { throw Self.gone() }
        } else {
            guard let (outer, old) = Self.nested(value) else { throw Self.gone() }
            let (new, edited) = try edit(path, column, outer, .mixed, old, shape, &cascade, body)
            result = edited
            if new != old, try !rows.set(path.object, path.column.index, outer == .list ? .list(new) : .dictionary(new))
            {
                throw Self.gone()
            }
        }
        if !cascade.pending.isEmpty { try group.delete(&cascade) }
        return result
    }

    @inline(never) private static func gone() -> RealmError {
        RealmError(.invalidatedObject, "The collection has been deleted or replaced")
    }

    private static func nested(_ value: Mixed) -> (CollectionShape, Ref)? {
        switch value {
        case .list(let root): (.list, root)
        case .dictionary(let root): (.dictionary, root)
        default: nil
        }
    }

    /// A container on the path to the edited collection, with the position of the nested collection in it.
    private struct Container {
        var tree: BPlusTree
        let place: Int
        let inner: CollectionShape

        /// For a list, the root of its tree; for a dictionary, the ref of its top array, which `top` holds.
        let root: Ref
        let top: Slots?
    }

    /// Finds the container at the end of the path, runs `body` on it, and stores each new root in the container above.
    /// The path is kept on the heap, because the thread may have a small stack.
    private func edit<R>(
        _ path: CollectionPath, _ column: ColumnFacts, _ shape: CollectionShape, _ kind: LeafKind, _ root: Ref,
        _ wanted: CollectionShape, _ cascade: inout Group.Cascade,
        _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> (Ref, R) {
        var way: [Container] = [], salts: [Int64] = []
        var shape = shape, kind = kind, ref = root
        for step in path.steps {
            guard !ref.isNull, way.count < Tables.maxNesting, kind == .mixed else { throw Self.gone() }
            let next = try container(shape, step, ref)
            guard let (inner, old) = Self.nested(try next.tree.get(next.place)) else { throw Self.gone() }
            salts.append(try next.tree.key(next.place))
            way.append(Container(tree: next.tree, place: next.place, inner: inner, root: ref, top: next.top))
            (shape, kind, ref) = (inner, .mixed, old)
        }
        guard shape == wanted else { throw Self.gone() }
        let place = CollectionPlace(table: key, object: path.object, column: path.column, path: salts)
        var editor = CollectionEditor(
            table: self, object: path.object, column: column, shape: shape, kind: kind, root: ref, place: place)
        let result = try body(&editor)
        if !editor.cascade.pending.isEmpty { cascade.pending += editor.cascade.pending }
        var new = editor.root
        while var above = way.popLast() {
            guard new != ref else { return (root, result) }
            try above.tree.set(above.place, above.inner == .list ? .list(new) : .dictionary(new))
            ref = above.root
            new = above.tree.root
            guard var top = above.top else { continue }
            try top.makeWritable(store)
            top.set(1, new, store)
            new = top.ref
        }
        return (new, result)
    }

    private func container(
        _ shape: CollectionShape, _ step: CollectionPath.Step, _ root: Ref
    ) throws(RealmError) -> (tree: BPlusTree, place: Int, top: Slots?) {
        switch (shape, step) {
        case (.list, .stableKey(let key)):
            let tree = BPlusTree(store, kind: .mixed, root: root)
            guard let index = try tree.index(ofKey: key) else { throw Self.gone() }
            return (tree, index, nil)
        case (.dictionary, .name(let name)):
            let node = try Slots(store, root)
            guard node.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
            let tree = BPlusTree(store, kind: .mixed, root: try node.child(1))
            let entries = try ElementDictionary(store, root: root, keyType: .string, format: Format.currentVersion)
            guard let index = try name.withBytes({ (b) throws(RealmError) in try entries.find(b) }) else {
                throw Self.gone()
            }
            return (tree, index, node)
        default: throw Self.gone()
        }
    }
}
