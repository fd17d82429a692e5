/// A property of an object, by the keys in the damaged file.
struct Origin: Hashable {
    let table: TableKey
    let column: ColKey
    let object: ObjKey
}

/// Determines the property that owns each embedded object.
///
/// A link and its backlink are two independent records. If both are readable and contradict each other, the link is
/// used only if nothing else names an owner. If a single link is lost, the backlink replaces it.
final class Owners {
    private struct Owned: Hashable { let table: TableKey, object: ObjKey }
    private let store: NodeStore
    private let tables: [TableKey: SalvagedTable]
    private var owners: [Owned: Origin] = [:]
    private var byOrigin: [Origin: ObjKey] = [:]

    /// Links that are contradicted by backlinks.
    private var doubted: [Owned: [Origin]] = [:]
    private var visited: Visited

    init(_ source: DamagedFile, _ tables: [TableKey: SalvagedTable]) throws(RealmError) {
        store = source.store
        self.tables = tables
        visited = Visited(source.size)
        for salvaged in tables.values.sorted(by: { $0.found.key.raw < $1.found.key.raw }) {
            try takeLinks(of: salvaged)
        }
        for salvaged in tables.values where salvaged.table.isEmbedded { try takeBacklinks(of: salvaged) }
        for (owned, origins) in doubted where owners[owned] == nil && origins.count == 1 { owners[owned] = origins[0] }
        doubted = [:]
        visited = Visited(0)
    }

    func owner(of table: TableKey, _ object: ObjKey) -> Origin? { owners[Owned(table: table, object: object)] }

    /// The embedded object of a property whose link is lost.
    func object(of origin: Origin) -> ObjKey? { byOrigin[origin] }

    private func takeLinks(of salvaged: SalvagedTable) throws(RealmError) {
        let links = salvaged.columns.filter { column in
            column.from.type == .link && (tables[salvaged.target(of: column.from)]?.table.isEmbedded ?? false)
        }
        guard !links.isEmpty else { return }
        try salvaged.rows.eachObject { (place) throws(RealmError) in
            try store.test()
            for column in links {
                guard let found = salvaged.rows.value(place, column.from.key) else { continue }
                let origin = Origin(table: salvaged.found.key, column: column.from.key, object: place.key)
                eachLink(found.value, found.column) {
                    self.claim(salvaged.target(of: column.from), $0, column.from, origin)
                }
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

    /// For objects without an owner so far: uses the backlinks of single links that are lost.
    private func takeBacklinks(of salvaged: SalvagedTable) throws(RealmError) {
        let backs = salvaged.found.columns.filter(\.isBacklink)
        try salvaged.rows.eachObject { (place) throws(RealmError) in
            let owned = Owned(table: salvaged.found.key, object: place.key)
            guard owners[owned] == nil else { return }
            for backlinks in backs {
                guard let from = tables[backlinks.oppositeTable],
                    let column = from.found.column(backlinks.oppositeColumn), !column.isCollection,
                    column.type == .link,
                    let origin = origins(salvaged.found.key, place.key, backlinks.key)?.first,
                    let there = from.rows.place(of: origin),
                    from.rows.value(there, column.key) == nil
                else { continue }
                let of = Origin(table: backlinks.oppositeTable, column: column.key, object: origin)
                guard byOrigin[of] == nil else { continue }
                owners[owned] = of
                byOrigin[of] = place.key
                return
            }
        }
    }

    /// The objects that link to an object, according to its backlinks; nil if these cannot be read.
    private func origins(_ table: TableKey, _ key: ObjKey, _ column: ColKey) -> [ObjKey]? {
        guard let salvaged = tables[table], let place = salvaged.rows.place(of: key),
            let found = salvaged.rows.value(place, column),
            !found.isOlder,
            case .slot(let slot) = found.value
        else { return nil }
        if let one = slot.number { return [ObjKey(Int64(bitPattern: one))] }
        guard let root = slot.subtree else { return [] }
        var seen = Visited(0), keys: [ObjKey] = []
        let tree = FoundTree(store, .int, root, &seen)
        guard !tree.isBroken, tree.lost == 0 else { return nil }
        try? tree.eachElement { (_, value) throws(RealmError) in
            if case .int(let number)? = value { keys.append(ObjKey(number)) }
        }
        return keys
    }

    private func eachLink(_ value: Mixed, _ column: Column, _ body: (ObjKey) -> Void) {
        switch value {
        case .link(let key), .typedLink(_, let key): body(key)
        case .slot(let slot):
            guard let root = slot.subtree else { return }
            if column.isDictionary {
                guard visited.insert(root), let top = try? store.refsNode(root), let values = try? top.child(1) else {
                    return
                }
                eachElement(FoundTree(store, .mixed, values, &visited), body)
            } else if let kind = column.elementKind {
                eachElement(FoundTree(store, kind, root, &visited), body)
            }
        default: break
        }
    }

    private func eachElement(_ tree: FoundTree, _ body: (ObjKey) -> Void) {
        try? tree.eachElement { (_, value) throws(RealmError) in
            switch value {
            case .link(let key), .typedLink(_, let key): body(key)
            default: break
            }
        }
    }
}
