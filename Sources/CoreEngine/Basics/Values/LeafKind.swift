/// The kind of leaf that a column or tree uses: one interface to all leaf forms, chosen once per column. Format:
/// logical §6.0.
enum LeafKind: UInt8 {
    case int, nullableInt, bool, float, double, string, binary, timestamp, decimal, objectId, uuid
    /// ObjKey + 1, 0 = null: link columns in clusters.
    case link
    /// Plain ObjKey: links in lists and sets.
    case objKey
    /// Pairs of (TableKey + 1, ObjKey + 1).
    case typedLink
    case mixed
    /// Raw refs and tagged integers: backlinks, collection columns.
    case slot

    /// The leaf for single values of a type; in trees, links are stored as plain keys. nil for collection types.
    init?(_ type: ColumnType, nullable: Bool, inTree: Bool) {
        switch type {
        case .int: self = nullable ? .nullableInt : .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .decimal: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .link, .linkList: self = inTree ? .objKey : .link
        case .typedLink: self = .typedLink
        case .mixed: self = .mixed
        case .backlink: self = .slot
        case .list, .set, .dictionary: return nil
        }
    }
}
