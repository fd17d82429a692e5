/// The top array of a table, checked. Format: logical §2.
struct TableTop {
    let node: Slots

    init(_ store: NodeStore, _ ref: Ref) throws(RealmError) {
        node = try Slots(store, ref)
        guard node.count >= 5, node.count <= 16 else { throw .corrupt("table of an impossible size", at: ref.offset) }
    }

    func number(_ index: Int) throws(RealmError) -> UInt64? {
        guard index < node.count else { return nil }
        let value = try node.slot(index)
        guard value.subtree == nil else {
            throw .corrupt("a ref stands where a number is expected", at: node.ref.offset)
        }
        return value.number
    }

    func child(_ index: Int) throws(RealmError) -> Ref { index < node.count ? try node.child(index) : .null }

    func key(at index: Int) throws(RealmError) -> TableKey {
        let raw = try number(3) ?? 0
        guard raw <= 0x7FFF_FFFF, Int(raw & 0xFFFF) == index else {
            throw .corrupt("table with the key of another", at: node.ref.offset)
        }
        return TableKey(UInt32(raw))
    }

    var rows: Ref { get throws(RealmError) { try child(2) } }
    var indexes: Ref { get throws(RealmError) { try child(4) } }

    var spec: TableSpec.Place {
        get throws(RealmError) {
            TableSpec.Place(spec: try child(0), oppositeTables: try child(7), oppositeColumns: try child(8))
        }
    }
}

/// The content of a table's top array besides its columns, rows and indexes.
struct TableState: Equatable {
    var columnKeyCounter: UInt64 = 0

    /// Next object sequence number.
    var sequence: UInt64 = 0
    var collisionMap = Ref.null
    var primaryKey: ColKey?
    var kind = Table.Kind.topLevel
    var tombstones = Ref.null

    init() {}

    /// The caller checks that the primary key is one of the columns.
    init(_ top: TableTop) throws(RealmError) {
        columnKeyCounter = try top.number(5) ?? 0
        sequence = try top.number(9) ?? 0
        collisionMap = try top.child(10)
        primaryKey = try top.number(11).map { ColKey(Int64(bitPattern: $0)) }
        guard let kind = Table.Kind(rawValue: (try top.number(12) ?? 0) & 3) else {
            throw .corrupt("table of unknown type", at: top.node.ref.offset)
        }
        self.kind = kind
        tombstones = try top.child(13)
    }

    /// `top` has at least 14 slots.
    func write(_ store: NodeStore, _ top: Slots) throws(RealmError) {
        top.set(5, RefOrTagged(tagged: columnKeyCounter), store)
        top.set(9, sequence == 0 ? RefOrTagged(.null) : RefOrTagged(tagged: sequence), store)
        top.set(10, collisionMap, store)
        top.set(11, primaryKey.map { RefOrTagged(tagged: Int($0.raw)) } ?? RefOrTagged(.null), store)
        let flags = try top.slot(12).number ?? 0
        if flags & 3 != kind.rawValue { top.set(12, RefOrTagged(tagged: flags & ~3 | kind.rawValue), store) }
        top.set(13, tombstones, store)
    }

    /// Removes the entry of a deleted object from the collision map, which holds the derived keys of old formats.
    mutating func dropCollisionEntry(_ key: ObjKey, _ store: NodeStore) throws(RealmError) {
        guard !collisionMap.isNull else { return }
        var node = try Slots(store, collisionMap)
        try node.makeWritable(store)
        var arrays = [
            try Integers(store, try node.child(0)), try Integers(store, try node.child(1)),
            try Integers(store, try node.child(2)),
        ]
        guard let index = (0..<arrays[2].count).first(where: { arrays[2].get($0) == key.raw }) else {
            collisionMap = node.ref
            return
        }
        for j in 0..<3 {
            try arrays[j].erase(index, store)
            node.set(j, arrays[j].ref, store)
        }
        collisionMap = node.ref
        if arrays[2].count == 0 {
            try store.destroy(collisionMap)
            collisionMap = .null
        }
    }
}
