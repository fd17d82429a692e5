/// Values to copy into a group, with the rules of the copy: what is read, and what each value becomes in the target.
///
/// All copies of values go through `fill`: merging files and splitting objects in a migration (`ObjectCopier`), and
/// salvage (`ValueCopy`). A source knows how its values are stored; `fill` knows how collections are written.
protocol ValueSource: AnyObject {
    /// A collection of the source that was not read yet.
    associatedtype Content

    /// Calls `body` with each element in order. `name` is empty for elements of lists and sets. `value` is nil when the
    /// element cannot be read. The bytes are valid during the call.
    func eachElement(_ content: Content, _ body: (_ name: Bytes, _ value: Mixed?) throws(RealmError) -> Void)
        throws(RealmError)

    /// Returns what an element of a collection of this shape becomes in the target.
    func copied(_ value: Mixed?, into shape: CollectionShape, _ content: Content) throws(RealmError)
        -> CopiedElement<Content>

    /// Called for each embedded object that was created for an `owned` element, when its collection is complete.
    func created(_ new: ObjKey, for old: ObjKey)
}

/// What an element becomes in the target.
enum CopiedElement<Content> {
    case omitted
    case value(Mixed)
    /// A collection inside a Mixed value: an empty one of this shape, filled from `Content` later.
    case nested(CollectionShape, Content)
    /// A new embedded object in place of this one.
    case owned(ObjKey)
}

extension ValueSource {
    /// Writes all elements of a collection of the source, and of the collections nested in it, into the collection at
    /// `path`.
    ///
    /// Invariants
    /// 1. At most one collection of the target is open at a time, so no editor holds the root of a collection that
    ///    changes elsewhere.
    /// 2. Nested collections are kept in an array until they are filled, so deeply nested data need no stack.
    /// 3. Elements keep their order, and an omitted element leaves no gap.
    ///
    /// - Parameter clearing: removes the elements that the collection has.
    func fill(
        _ table: Table, _ path: CollectionPath, _ shape: CollectionShape, _ content: Content, clearing: Bool = false
    ) throws(RealmError) {
        var pending = [PendingCollection(path: path, shape: shape, content: content)]
        var isFirst = true
        while let next = pending.popLast() {
            var found = FoundElements<Content>()
            let clears = clearing && isFirst
            try table.edit(next.path, as: next.shape) { (editor) throws(RealmError) in
                if clears { try editor.clear() }
                try fill(&editor, next, &found)
            }
            isFirst = false
            for (new, old) in found.owned { created(new, for: old) }
            pending += found.nested.reversed()
        }
    }

    private func fill(
        _ editor: inout CollectionEditor, _ next: PendingCollection<Content>, _ found: inout FoundElements<Content>
    ) throws(RealmError) {
        var index = 0
        try eachElement(next.content) { (name, value) throws(RealmError) in
            let new: Mixed
            var inner: (shape: CollectionShape, content: Content)?
            switch try copied(value, into: next.shape, next.content) {
            case .omitted: return
            case .value(let value): new = value
            case .nested(let shape, let content):
                new = shape == .list ? .emptyList : .emptyDictionary
                inner = (shape, content)
            case .owned(let old):
                let child = try editor.createTarget()
                new = .typedLink(editor.column.oppositeTable, child)
                found.owned.append((child, old))
            }
            switch next.shape {
            case .list: try editor.insert(index, new)
            case .set: _ = try editor.insertUnique(new)
            case .dictionary: _ = try editor.setValue(new, for: name)
            }
            if let inner {
                let step: CollectionPath.Step =
                    next.shape == .dictionary ? .name(Array(name)) : .stableKey(try editor.stableKey(index))
                found.nested.append(
                    PendingCollection(path: next.path.appending(step), shape: inner.shape, content: inner.content))
            }
            index += 1
        }
    }
}

/// An empty collection of the target that waits for its elements.
private struct PendingCollection<Content> {
    let path: CollectionPath
    let shape: CollectionShape
    let content: Content
}

/// The work that is left when the elements of one collection are written: nested collections to fill, and embedded
/// objects to report to `created`.
private struct FoundElements<Content> {
    var nested: [PendingCollection<Content>] = []
    var owned: [(new: ObjKey, old: ObjKey)] = []
}
