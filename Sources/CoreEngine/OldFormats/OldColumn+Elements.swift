extension OldColumn {
    /// The tree of its elements. Those with two trees (`timestamp`, `mixed`): the first.
    func tree(_ store: NodeStore) throws(RealmError) -> OldTree {
        switch form {
        case .int, .bool, .dateTime:
            isNullable
                ? OldTree(store, root, leafCount: OldLeaf.nullableCount)
                : OldTree(store, root, leafCount: OldLeaf.integerCount)
        case .enumerated, .link, .numbers: OldTree(store, root, leafCount: OldLeaf.integerCount)
        case .string: OldTree(store, root, leafCount: OldLeaf.textCount(store))
        case .binary: OldTree(store, root, leafCount: OldLeaf.binaryCount(store))
        case .float: OldTree(store, root, leafCount: OldLeaf.fixedCount(4))
        case .double: OldTree(store, root, leafCount: OldLeaf.fixedCount(8))
        case .linkList, .backlink, .list, .values, .table: OldTree(store, root, leafCount: OldLeaf.refCount)
        case .timestamp: OldTree(store, try part(store, 0), leafCount: OldLeaf.nullableCount)
        case .mixed: OldTree(store, try part(store, 0), leafCount: OldLeaf.integerCount)
        // Nobody sees its values.
        case .hidden: OldTree(store, root)
        }
    }

    /// One of the trees of a column that has several.
    func part(_ store: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let ref = try store.refsNode(root).child(i)
        guard !ref.isNull else { throw .corrupt("column that lacks one of its parts", at: root.offset) }
        return ref
    }

    /// The same where it may be missing: it is needed for some values only.
    func optionalPart(_ store: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let node = try store.refsNode(root)
        return i < node.count ? try node.child(i) : .null
    }

    func count(_ store: NodeStore) throws(RealmError) -> Int { try tree(store).count() }

    /// What it takes to make an element of its lists, where a single value counts as one: a row becomes a list, with
    /// nodes of its own.
    var cost: Int { form == .table ? 8 * (elements.count + 1) : 1 }

    /// What its values are called today. Format: old-formats §12.1.
    var type: ColumnType {
        switch form {
        case .int, .hidden, .numbers: .int
        case .bool: .bool
        case .string, .enumerated: .string
        case .binary: .binary
        case .dateTime, .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .mixed, .values, .table: .mixed
        case .link, .linkList: .link
        case .backlink: .backlink
        case .list: elements[0].type
        }
    }

    /// Attributes of its key today.
    var attributes: ColumnAttributes {
        switch form {
        case .link, .mixed: .nullable
        case .linkList: .list
        case .list: isNullable || elements[0].attributes.contains(.nullable) ? [.list, .nullable] : .list
        case .values, .table: [.list, .nullable]
        case .backlink, .hidden, .numbers: []
        default: isNullable ? .nullable : []
        }
    }
}
