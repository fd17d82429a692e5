/// A column of a table as its spec describes it. Public columns have names; backlink columns have none.
struct Column {
    var key: ColKey
    var type: ColumnType

    /// Attributes of the spec: those of the key plus the index bits the user asked for.
    var attributes: ColumnAttributes
    var name: Name

    /// Table at the other end of a link or backlink column, null otherwise.
    var oppositeTable: TableKey = .null

    /// Column at the other end: a link column's backlink column and the reverse.
    var oppositeColumn: ColKey = .null

    /// Distinct values of an enumerated string column.
    var enumeratedValues: Ref = .null

    /// Type of dictionary keys: String, or Int in files of other tools.
    var keyType: ColumnType = .string

    /// The entry of the spec's types array as it stands in the file (dictionaries carry the key type above bit 16; old
    /// link lists say 13).
    var specType: Int64

    @inline(__always) var index: Int { key.index }
    var isNullable: Bool { key.attributes.contains(.nullable) }

    /// Link lists of files before format 24 say so by their type number. Format: logical §11.
    var isList: Bool { key.attributes.contains(.list) || key.typeNumber == ColumnType.linkList.rawValue }
    var isSet: Bool { key.attributes.contains(.set) }
    var isDictionary: Bool { key.attributes.contains(.dictionary) }
    var isCollection: Bool { isList || !key.attributes.isDisjoint(with: .collection) }
    var isBacklink: Bool { type == .backlink }
    var isFullTextIndexed: Bool { attributes.contains(.fullTextIndexed) }

    /// Value of new rows and of old rows when the column is added. Format: logical §6.
    var initial: Mixed { isCollection || isBacklink ? .slot(RefOrTagged(.null)) : initialElement }

    /// The default of the column's type.
    var initialElement: Mixed {
        if isNullable { return .null }
        switch type {
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .string: return .string(Bytes(start: nil, count: 0))
        case .binary: return .binary(Bytes(start: nil, count: 0))
        case .timestamp: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        case .float: return .float(0)
        case .double: return .double(0)
        case .decimal: return .decimal(.zero)
        case .objectId: return .objectId(ObjectId(high: 0, low: 0))
        case .uuid: return .uuid(UUIDValue(high: 0, low: 0))
        default: return .null
        }
    }

    /// The leaf of this column in a cluster.
    var leafKind: LeafKind? {
        if isCollection { return .slot }
        return LeafKind(type, nullable: isNullable, inTree: false)
    }

    /// The leaf of the elements of this list or set; dictionary values are always Mixed.
    var elementKind: LeafKind? {
        isDictionary ? .mixed : LeafKind(type, nullable: isNullable, inTree: true)
    }

    var clusterColumn: ClusterTree.Column? {
        leafKind.map {
            ClusterTree.Column(
                kind: $0, initial: initial, ownsTrees: isCollection || isBacklink, enumeratedValues: enumeratedValues)
        }
    }
}

/// What reading and writing a value needs to know of its column: trivial, so that looking it up counts no references.
struct ColumnFacts {
    let key: ColKey
    let type: ColumnType
    let kind: LeafKind
    let isNullable: Bool
    let isCollection: Bool
    let isFullTextIndexed: Bool
    let isPrimaryKey: Bool
    let oppositeTable: TableKey
    let oppositeColumn: ColKey

    /// nil for single values.
    let shape: CollectionShape?

    /// Leaf of the elements of a collection.
    let elementKind: LeafKind?

    /// Type of dictionary keys.
    let keyType: ColumnType

    /// Values of the column may be links, or hold some.
    var holdsLinks: Bool { type == .link || type == .mixed || type == .typedLink }
}

extension ColumnFacts {
    /// nil for a column whose values are stored in no leaf that is known.
    init?(_ column: Column, isIndexed: Bool, primaryKey: ColKey?) {
        guard let kind = column.leafKind else { return nil }
        self.init(
            key: column.key, type: column.type, kind: kind, isNullable: column.isNullable,
            isCollection: column.isCollection,
            isFullTextIndexed: column.isFullTextIndexed && isIndexed, isPrimaryKey: column.key == primaryKey,
            oppositeTable: column.oppositeTable,
            oppositeColumn: column.oppositeColumn, shape: column.shape,
            elementKind: column.isCollection ? column.elementKind : nil,
            keyType: column.keyType)
    }
}

/// The keys of a table's columns by column index, to be asked for each value without counting references.
struct ColumnKeys: ~Copyable {
    /// −1 where there is no column.
    private var keys: UnsafeMutablePointer<Int64>
    private var count = 0

    init() { keys = .allocate(capacity: 1) }

    deinit { keys.deallocate() }

    mutating func set(_ columns: [Column]) {
        let needed = (columns.map(\.index).max() ?? -1) + 1
        if count < needed {
            keys.deallocate()
            keys = .allocate(capacity: needed)
        }
        count = needed
        for i in 0..<count { keys[i] = -1 }
        for column in columns { keys[column.index] = column.key.raw }
    }

    @inline(__always) func contains(_ key: ColKey) -> Bool {
        let index = key.index
        return index < count && keys[index] == key.raw
    }
}
