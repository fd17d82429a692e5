/// The origin of the rows of results, before any condition.
package enum RowSource {
    case table(TableKey)
    case backlinks(of: TableKey, ObjKey, from: TableKey, ColKey)
    /// Objects in a list, set or dictionary, or its values.
    case collection(CollectionPath)
    case keys(CollectionPath)

    /// The class of the object that owns the rows; nil when there is no owner.
    var owner: TableKey? {
        switch self {
        case .table: nil
        case .backlinks(let table, _, _, _): table
        case .collection(let path), .keys(let path): path.table
        }
    }

    /// The objects, in their order; null where a dictionary has no object. nil: all objects of the class.
    func objects(_ group: Group) throws(RealmError) -> [ObjKey]? {
        switch self {
        case .table: return nil
        case .backlinks(let targetTable, let targetKey, let from, let column):
            guard let target = try group.table(targetTable), try target.isValid(targetKey) else { return [] }
            for case let backlink? in target.facts
            where backlink.type == .backlink && backlink.oppositeTable == from && backlink.oppositeColumn == column {
                return try target.backlinks(targetKey, backlink.key).allKeys()
            }
            return []
        case .collection(let path):
            var keys: [ObjKey] = []
            switch try group.collection(path) {
            case .list(let list)?:
                for i in 0..<list.count {
                    if case .typedLink(_, let targetKey) = try list.get(i) { try keys.add(targetKey) }
                }
            case .dictionary(let dictionary)?:
                for i in 0..<dictionary.count {
                    if case .typedLink(_, let targetKey) = try dictionary.value(i) {
                        try keys.add(targetKey)
                    } else {
                        try keys.add(.null)
                    }
                }
            case nil: break
            }
            return keys
        case .keys: return []
        }
    }

    /// The rows that match a query, in its order.
    func rows(_ group: Group, _ query: BoundQuery) throws(RealmError) -> [ObjKey] {
        let all = try objects(group)
        if query.isAll, query.orderings.isEmpty, let all { return all }
        var rows = try query.run(group, source: all?.filter { !$0.isNull })
        // A null matches no condition and comes last in every order.
        let isSorted = query.isAll && query.orderings.allSatisfy { if case .sort = $0 { true } else { false } }
        if isSorted, let all { rows.append(contentsOf: all.filter(\.isNull)) }
        return rows
    }
}

extension Group {
    /// The collection at a path; nil when the collection or its owner no longer exists.
    func collection(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        guard let ownerTable = try table(path.table), try ownerTable.isValid(path.object) else { return nil }
        return try resolve(path)
    }
}
