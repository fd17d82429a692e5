/// From objects over links, forwards and backwards, in one snapshot.
struct LinkWalk {
    let group: Group

    /// Objects from which a step leads to one of `keys`; nil: more than `most`.
    func back(over step: KeyPath.Step, _ keys: Set<ObjKey>, most: Int = .max) throws(RealmError) -> Set<ObjKey>? {
        guard let f = try group.table(step.table)?.facts(step.column) else { return [] }
        if step.isBacklink { return try targets(of: keys, f.oppositeTable, f.oppositeColumn, most: most) }
        guard let target = step.target, let b = try group.table(target)?.facts(f.oppositeColumn) else { return [] }
        return try origins(of: keys, target, b, most: most)
    }

    /// Objects whose link behind backlink column `b` leads to one of `keys`; nil: more than `most`.
    func origins(of keys: Set<ObjKey>, _ table: TableKey, _ b: ColumnFacts, most: Int = .max) throws(RealmError) -> Set<
        ObjKey
    >? {
        guard let t = try group.table(table), let origin = try group.table(b.oppositeTable),
            let link = origin.facts(b.oppositeColumn)
        else {
            return []
        }
        var found: Set<ObjKey> = []
        for k in keys where try t.isValid(k) {
            let backlinks = try t.backlinks(k, b.key)
            guard backlinks.count <= most - found.count else { return nil }
            for o in try backlinks.allKeys() where !found.contains(o) {
                if link.type == .mixed,
                    try targets(of: [o], b.oppositeTable, b.oppositeColumn, in: table)?.contains(k) != true
                {
                    continue
                }
                try found.makeRoom()
                found.insert(o)
            }
        }
        return found
    }

    /// Objects that the property of one of `keys` links to; nil: more than `most`. What is in a collection that is
    /// itself a Mixed value does not count (live-objects §6.9).
    /// - Parameter wanted: the class they must be of; nil: the column has only one.
    func targets(
        of keys: Set<ObjKey>, _ table: TableKey, _ column: ColKey, in wanted: TableKey? = nil, most: Int = .max
    ) throws(RealmError) -> Set<ObjKey>? {
        guard let t = try group.table(table), let f = t.facts(column) else { return [] }
        var found: Set<ObjKey> = []
        func note(_ v: Mixed) throws(RealmError) {
            try found.makeRoom()
            switch v {
            case .link(let k) where !k.isNull && !k.isUnresolved: found.insert(k)
            case .typedLink(let to, let k) where wanted == nil || to == wanted: found.insert(k)
            default: break
            }
        }
        for k in keys where try t.isValid(k) {
            guard f.isCollection else {
                if let v = try t.rows.get(k, column.index) { try note(v) }
                continue
            }
            switch try group.resolve(CollectionPath(table: table, object: k, column: column)) {
            case .list(let l)?: for i in 0..<l.count { try note(try l.get(i)) }
            case .dictionary(let d)?: for i in 0..<d.count { try note(try d.value(i)) }
            case nil: break
            }
            if found.count > most { return nil }
        }
        return found
    }
}
