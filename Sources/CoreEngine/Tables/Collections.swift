/// Where lists, sets and dictionaries are stored, and how they are found. Their readers (`ElementList`,
/// `ElementDictionary`) depend on resolved root refs, so a reader is valid only for the version that it was created
/// for. Format: logical §8.

/// The location of a collection: a property of an object and, for a collection inside Mixed values, the steps from
/// there.
package struct CollectionPath: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Stable key of a nested collection in a list.
        case stableKey(Int64)
        /// Key in a dictionary.
        case name([UInt8])
    }

    package let table: TableKey
    private let owner: TrackedKey
    package let column: ColKey
    package var steps: [Step] = []

    package init(table: TableKey, object: ObjKey, column: ColKey) {
        self.init(table: table, owner: TrackedKey(object, nil), column: column)
    }

    package init(table: TableKey, owner: TrackedKey, column: ColKey) {
        self.table = table
        self.owner = owner
        self.column = column
    }

    @inline(__always) package var object: ObjKey { owner.key }
}

/// The collection at the end of a path.
package enum CollectionContent {
    case list(ElementList)
    case dictionary(ElementDictionary)

    package var count: Int {
        switch self {
        case .list(let list): list.count
        case .dictionary(let dictionary): dictionary.count
        }
    }
}

extension Group {
    /// Resolves a path; nil if something on it no longer exists or is no longer a collection.
    func resolve(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        guard let table = try table(path.table), let column = table.facts(path.column) else { return nil }
        guard let value = try table.rows.get(path.object, column.key.index) else { return nil }
        var content: CollectionContent
        if case .slot(let slot) = value {
            guard let property = try collection(column, at: slot) else { return nil }
            content = property
        } else {
            guard let nested = try nestedContent(value) else { return nil }
            content = nested
        }
        for step in path.steps {
            let inner: Mixed
            switch (content, step) {
            case (.list(let list), .stableKey(let key)):
                guard let index = try list.index(ofNested: key) else { return nil }
                inner = try list.get(index)
            case (.dictionary(let dictionary), .name(let name)):
                guard let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) else {
                    return nil
                }
                inner = try dictionary.value(index)
            default: return nil
            }
            guard let nested = try nestedContent(inner) else { return nil }
            content = nested
        }
        return content
    }

    /// The collection of a property, from its slot in a column leaf; nil if the property is not a collection.
    func collection(_ column: ColumnFacts, at slot: RefOrTagged) throws(RealmError) -> CollectionContent? {
        let root = slot.subtree ?? .null
        if column.shape == .dictionary {
            return .dictionary(
                try ElementDictionary(
                    store, root: root, keyType: column.keyType, valueType: column.type, format: format))
        }
        guard let kind = column.elementKind else { return nil }
        return .list(
            try ElementList(store, root: root, kind: kind, target: column.oppositeTable, isSet: column.shape == .set))
    }

    private func nestedContent(_ value: Mixed) throws(RealmError) -> CollectionContent? {
        switch value {
        case .list(let root): .list(try ElementList(store, root: root, kind: .mixed, target: .null))
        case .dictionary(let root): .dictionary(try ElementDictionary(store, root: root, keyType: .string, format: 24))
        default: nil
        }
    }
}
