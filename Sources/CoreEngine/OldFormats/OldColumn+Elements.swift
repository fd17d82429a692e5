extension OldColumn {
    /// The tree of the elements. For columns with several trees (`timestamp`, `mixed`), the first one.
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
        // The values are never shown.
        case .hidden: OldTree(store, root)
        }
    }

    /// One of the trees of a column that has several.
    func part(_ store: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let ref = try store.refsNode(root).child(i)
        guard !ref.isNull else { throw .corrupt("column that lacks one of its parts", at: root.offset) }
        return ref
    }

    /// Like `part`, for a tree that may be missing because only some values need it.
    func optionalPart(_ store: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let node = try store.refsNode(root)
        return i < node.count ? try node.child(i) : .null
    }

    func count(_ store: NodeStore) throws(RealmError) -> Int { try tree(store).count() }

    /// Cost of creating an element of its lists, in units of single values. A row becomes a list with its own nodes.
    var cost: Int { form == .table ? 8 * (elements.count + 1) : 1 }

    /// The type of the values in format 24. Format: old-formats §12.1.
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

    /// The attributes of the column key in format 24.
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
