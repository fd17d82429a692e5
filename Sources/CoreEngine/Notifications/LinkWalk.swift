/// Follows links between objects, forwards and backwards, in one snapshot.
struct LinkWalk {
    let group: Group

    /// Objects from which a step leads to one of `keys`; nil: more than `most`.
    func back(over step: KeyPath.Step, _ keys: Set<ObjKey>, most: Int = .max) throws(RealmError) -> Set<ObjKey>? {
        guard let facts = try group.table(step.table)?.facts(step.column) else { return [] }
        if step.isBacklink { return try targets(of: keys, facts.oppositeTable, facts.oppositeColumn, most: most) }
        guard let target = step.target, let backlink = try group.table(target)?.facts(facts.oppositeColumn) else {
            return []
        }
        return try origins(of: keys, target, backlink, most: most)
    }

    /// Objects that link to one of `keys` through the property of column `backlink`; nil: more than `most`.
    func origins(
        of keys: Set<ObjKey>, _ table: TableKey, _ backlink: ColumnFacts, most: Int = .max
    ) throws(RealmError) -> Set<ObjKey>? {
        guard let targetTable = try group.table(table), let origin = try group.table(backlink.oppositeTable),
            let link = origin.facts(backlink.oppositeColumn)
        else {
            return []
        }
        var found: Set<ObjKey> = []
        for key in keys where try targetTable.isValid(key) {
            let backlinks = try targetTable.backlinks(key, backlink.key)
            guard backlinks.count <= most - found.count else { return nil }
            for object in try backlinks.allKeys() where !found.contains(object) {
                if link.type == .mixed,
                    try targets(of: [object], backlink.oppositeTable, backlink.oppositeColumn, in: table)?.contains(key)
                        != true
                {
                    continue
                }
                try found.makeRoom()
                found.insert(object)
            }
        }
        return found
    }

    /// Objects that the property of one of `keys` links to; nil: more than `most`. Elements of a collection inside a
    /// Mixed value do not count (live-objects §6.9).
    /// - Parameter wanted: the class of the objects; nil: any, because the column has only one.
    func targets(
        of keys: Set<ObjKey>, _ table: TableKey, _ column: ColKey, in wanted: TableKey? = nil, most: Int = .max
    ) throws(RealmError) -> Set<ObjKey>? {
        guard let owners = try group.table(table), let facts = owners.facts(column) else { return [] }
        var found: Set<ObjKey> = []
        func note(_ value: Mixed) throws(RealmError) {
            try found.makeRoom()
            switch value {
            case .link(let target) where !target.isNull && !target.isUnresolved: found.insert(target)
            case .typedLink(let to, let target) where wanted == nil || to == wanted: found.insert(target)
            default: break
            }
        }
        for key in keys where try owners.isValid(key) {
            guard facts.isCollection else {
                if let value = try owners.stored(key, column) { try note(value) }
                continue
            }
            switch try group.resolve(CollectionPath(table: table, object: key, column: column)) {
            case .list(let list)?: for i in 0..<list.count { try note(try list.get(i)) }
            case .dictionary(let dictionary)?: for i in 0..<dictionary.count { try note(try dictionary.value(i)) }
            case nil: break
            }
            if found.count > most { return nil }
        }
        return found
    }
}
