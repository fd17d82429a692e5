/// A column of a table as its spec describes it. Public columns have names; backlink columns have no name.
struct Column {
    var key: ColKey
    var type: ColumnType

    /// Attributes of the spec: those of the key and the index bits that the user requested.
    var attributes: ColumnAttributes
    var name: Name

    /// The name that the spec stores, if it is a shortened one.
    var storedName: Name?

    /// Table at the other end of a link or backlink column, null otherwise.
    var oppositeTable: TableKey = .null

    /// Column at the other end: a link column's backlink column and the reverse.
    var oppositeColumn: ColKey = .null

    /// Distinct values of an enumerated string column.
    var enumeratedValues: Ref = .null

    /// Type of dictionary keys: String, or Int in files of other tools.
    var keyType: ColumnType = .string

    /// The entry of the spec's types array as stored in the file (dictionaries store the key type from bit 16 up; old
    /// link lists store 13).
    var specType: Int64

    @inline(__always) var index: Int { key.index }
    var isNullable: Bool { key.attributes.contains(.nullable) }

    /// Link lists of files older than format 24 are identified by their type number. Format: logical §11.
    var isList: Bool { key.attributes.contains(.list) || key.typeNumber == ColumnType.linkList.rawValue }
    var isSet: Bool { key.attributes.contains(.set) }
    var isDictionary: Bool { key.attributes.contains(.dictionary) }
    var isCollection: Bool { isList || !key.attributes.isDisjoint(with: .collection) }
    var isBacklink: Bool { type == .backlink }
    var isFullTextIndexed: Bool { attributes.contains(.fullTextIndexed) }

    /// The value for new rows, and for existing rows when the column is added. Format: logical §6.
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

    /// The leaf kind of this column in a cluster.
    var leafKind: LeafKind? {
        if isCollection { return .slot }
        return LeafKind(type, nullable: isNullable, inTree: false)
    }

    /// The leaf kind of the elements of this list or set; dictionary values are always Mixed.
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

/// The facts about a column that reading and writing a value need. A trivial type, so that a look-up counts no
/// references.
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

    /// Leaf kind of the elements of a collection.
    let elementKind: LeafKind?

    /// Type of dictionary keys.
    let keyType: ColumnType

    /// Whether values of the column may be links or contain links.
    var holdsLinks: Bool { type == .link || type == .mixed || type == .typedLink }
}

extension ColumnFacts {
    /// nil for a column without a known leaf kind.
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

/// The keys of a table's columns, by column index. A check for each value counts no references.
struct ColumnKeys: ~Copyable {
    /// −1 where there is no column.
    private var keys: UnsafeMutablePointer<Int64>
    private var count = 0
    private var capacity = 1

    init() { keys = .allocate(capacity: 1) }

    deinit { keys.deallocate() }

    mutating func set(_ columns: [Column]) {
        let needed = (columns.map(\.index).max() ?? -1) + 1
        if capacity < needed {
            keys.deallocate()
            (keys, capacity) = (.allocate(capacity: needed), needed)
        }
        count = needed
        for i in 0..<count { keys[i] = -1 }
        for column in columns { keys[column.index] = column.key.raw }
    }

    mutating func add(_ key: ColKey) {
        let needed = key.index + 1
        if capacity < needed {
            let more = UnsafeMutablePointer<Int64>.allocate(capacity: 2 * needed)
            more.update(from: keys, count: count)
            keys.deallocate()
            (keys, capacity) = (more, 2 * needed)
        }
        while count < needed {
            keys[count] = -1
            count += 1
        }
        keys[key.index] = key.raw
    }

    @inline(__always) func contains(_ key: ColKey) -> Bool {
        let index = key.index
        return index < count && keys[index] == key.raw
    }
}
