/// A property of an object, by the keys that they have in the damaged file.
struct Origin: Hashable {
    let table: TableKey
    let column: ColKey
    let object: ObjKey
}

/// Which property each embedded object belongs to.
///
/// A link and its backlink are two witnesses. Where both can be read and contradict each other the link counts only if
/// nothing else names an owner; where the link is lost and was the property's only value, the backlink stands for it.
final class Owners {
    private struct Owned: Hashable { let table: TableKey, object: ObjKey }
    private let store: NodeStore
    private let tables: [TableKey: SalvagedTable]
    private var owners: [Owned: Origin] = [:]
    private var byOrigin: [Origin: ObjKey] = [:]

    /// Links that backlinks contradict.
    private var doubted: [Owned: [Origin]] = [:]
    private var visited: Visited

    init(_ source: DamagedFile, _ tables: [TableKey: SalvagedTable]) throws(RealmError) {
        store = source.store
        self.tables = tables
        visited = Visited(source.size)
        for t in tables.values.sorted(by: { $0.found.key.raw < $1.found.key.raw }) { try takeLinks(of: t) }
        for t in tables.values where t.table.isEmbedded { try takeBacklinks(of: t) }
        for (owned, origins) in doubted where owners[owned] == nil && origins.count == 1 { owners[owned] = origins[0] }
        doubted = [:]
        visited = Visited(0)
    }

    func owner(of table: TableKey, _ object: ObjKey) -> Origin? { owners[Owned(table: table, object: object)] }

    /// The embedded object of a property whose link is lost.
    func object(of origin: Origin) -> ObjKey? { byOrigin[origin] }

    private func takeLinks(of t: SalvagedTable) throws(RealmError) {
        let links = t.columns.filter { c in
            c.from.type == .link && (tables[t.target(of: c.from)]?.table.isEmbedded ?? false)
        }
        guard !links.isEmpty else { return }
        try t.rows.eachObject { (place) throws(RealmError) in
            try store.test()
            for c in links {
                guard let found = t.rows.value(place, c.from.key) else { continue }
                let origin = Origin(table: t.found.key, column: c.from.key, object: place.key)
                eachLink(found.value, found.column) { self.claim(t.target(of: c.from), $0, c.from, origin) }
            }
        }
    }

    private func claim(_ table: TableKey, _ key: ObjKey, _ link: Column, _ origin: Origin) {
        let owned = Owned(table: table, object: key)
        let witness = origins(table, key, link.oppositeColumn)
        if let witness, !witness.contains(origin.object) {
            doubted[owned, default: []].append(origin)
            return
        }
        if owners[owned] == nil || witness != nil { owners[owned] = origin }
    }

    /// Objects without an owner so far: what their backlinks say of single links that are lost.
    private func takeBacklinks(of t: SalvagedTable) throws(RealmError) {
        let backs = t.found.columns.filter(\.isBacklink)
        try t.rows.eachObject { (place) throws(RealmError) in
            let owned = Owned(table: t.found.key, object: place.key)
            guard owners[owned] == nil else { return }
            for b in backs {
                guard let from = tables[b.oppositeTable], let c = from.found.column(b.oppositeColumn), !c.isCollection,
                    c.type == .link,
                    let origin = origins(t.found.key, place.key, b.key)?.first, let there = from.rows.place(of: origin),
                    from.rows.value(there, c.key) == nil
                else { continue }
                let of = Origin(table: b.oppositeTable, column: c.key, object: origin)
                guard byOrigin[of] == nil else { continue }
                owners[owned] = of
                byOrigin[of] = place.key
                return
            }
        }
    }

    /// Who links to an object, as its backlinks say; nil where they cannot be read.
    private func origins(_ table: TableKey, _ key: ObjKey, _ column: ColKey) -> [ObjKey]? {
        guard let t = tables[table], let place = t.rows.place(of: key), let found = t.rows.value(place, column),
            !found.isOlder,
            case .slot(let slot) = found.value
        else { return nil }
        if let one = slot.number { return [ObjKey(Int64(bitPattern: one))] }
        guard let root = slot.subtree else { return [] }
        var seen = Visited(0), keys: [ObjKey] = []
        let tree = FoundTree(store, .int, root, &seen)
        guard !tree.isBroken, tree.lost == 0 else { return nil }
        try? tree.eachElement { (_, v) throws(RealmError) in if case .int(let k)? = v { keys.append(ObjKey(k)) } }
        return keys
    }

    private func eachLink(_ v: Mixed, _ c: Column, _ body: (ObjKey) -> Void) {
        switch v {
        case .link(let k), .typedLink(_, let k): body(k)
        case .slot(let slot):
            guard let root = slot.subtree else { return }
            if c.isDictionary {
                guard visited.insert(root), let top = try? store.refsNode(root), let values = try? top.child(1) else {
                    return
                }
                eachElement(FoundTree(store, .mixed, values, &visited), body)
            } else if let kind = c.elementKind {
                eachElement(FoundTree(store, kind, root, &visited), body)
            }
        default: break
        }
    }

    private func eachElement(_ tree: FoundTree, _ body: (ObjKey) -> Void) {
        try? tree.eachElement { (_, v) throws(RealmError) in
            switch v {
            case .link(let k), .typedLink(_, let k): body(k)
            default: break
            }
        }
    }
}
