/// Where the rows of results come from before any condition.
package enum RowSource {
    case table(TableKey)
    case backlinks(of: TableKey, ObjKey, from: TableKey, ColKey)
    /// Objects in a list, set or dictionary; or plain values, when it holds any.
    case collection(CollectionPath)
    case keys(CollectionPath)

    /// The class whose object the rows hang on, when they do.
    var owner: TableKey? {
        switch self {
        case .table: nil
        case .backlinks(let t, _, _, _): t
        case .collection(let path), .keys(let path): path.table
        }
    }

    /// The objects, in their order; null where a dictionary has none. nil: all of the class.
    func objects(_ group: Group) throws(RealmError) -> [ObjKey]? {
        switch self {
        case .table: return nil
        case .backlinks(let t, let k, let from, let column):
            guard let target = try group.table(t), try target.isValid(k) else { return [] }
            for case let b? in target.facts
            where b.type == .backlink && b.oppositeTable == from && b.oppositeColumn == column {
                return try target.backlinks(k, b.key).allKeys()
            }
            return []
        case .collection(let path):
            var keys: [ObjKey] = []
            switch try group.collection(path) {
            case .list(let l)?: for i in 0..<l.count { if case .typedLink(_, let k) = try l.get(i) { try keys.add(k) } }
            case .dictionary(let d)?:
                for i in 0..<d.count {
                    if case .typedLink(_, let k) = try d.value(i) { try keys.add(k) } else { try keys.add(.null) }
                }
            case nil: break
            }
            return keys
        case .keys: return []
        }
    }

    /// The rows that meet a query, in its order.
    func rows(_ group: Group, _ query: BoundQuery) throws(RealmError) -> [ObjKey] {
        let all = try objects(group)
        if query.isAll, query.orderings.isEmpty, let all { return all }
        var rows = try query.run(group, source: all?.filter { !$0.isNull })
        // A null meets no condition and comes last in every order.
        let isSorted = query.isAll && query.orderings.allSatisfy { if case .sort = $0 { true } else { false } }
        if isSorted, let all { rows.append(contentsOf: all.filter(\.isNull)) }
        return rows
    }
}

extension Group {
    /// The collection at a path; nil when it is no more, or its owner.
    func collection(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        guard let t = try table(path.table), try t.isValid(path.object) else { return nil }
        return try resolve(path)
    }
}
