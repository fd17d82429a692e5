extension OldColumn {
    /// The tree of its elements. Those with two trees (`timestamp`, `mixed`): the first.
    func tree(_ s: NodeStore) throws(RealmError) -> OldTree {
        switch form {
        case .int, .bool, .dateTime:
            isNullable
                ? OldTree(s, root, leafCount: OldLeaf.nullableCount) : OldTree(s, root, leafCount: OldLeaf.integerCount)
        case .enumerated, .link, .numbers: OldTree(s, root, leafCount: OldLeaf.integerCount)
        case .string: OldTree(s, root, leafCount: OldLeaf.textCount(s))
        case .binary: OldTree(s, root, leafCount: OldLeaf.binaryCount(s))
        case .float: OldTree(s, root, leafCount: OldLeaf.fixedCount(4))
        case .double: OldTree(s, root, leafCount: OldLeaf.fixedCount(8))
        case .linkList, .backlink, .list, .values, .table: OldTree(s, root, leafCount: OldLeaf.refCount)
        case .timestamp: OldTree(s, try part(s, 0), leafCount: OldLeaf.nullableCount)
        case .mixed: OldTree(s, try part(s, 0), leafCount: OldLeaf.integerCount)
        // Nobody sees its values.
        case .hidden: OldTree(s, root)
        }
    }

    /// One of the trees of a column that has several.
    func part(_ s: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let ref = try s.refsNode(root).child(i)
        guard !ref.isNull else { throw .corrupt("column that lacks one of its parts", at: root.offset) }
        return ref
    }

    /// The same where it may be missing: it is needed for some values only.
    func optionalPart(_ s: NodeStore, _ i: Int) throws(RealmError) -> Ref {
        let n = try s.refsNode(root)
        return i < n.count ? try n.child(i) : .null
    }

    func count(_ s: NodeStore) throws(RealmError) -> Int { try tree(s).count() }

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
