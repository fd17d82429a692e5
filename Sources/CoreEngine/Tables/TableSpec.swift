/// The columns of a table as its spec describes them. Format: logical §3.
///
/// Invariants
/// 1. `columns` holds public columns in spec order, then backlink columns; `byIndex` finds them by column index.
/// 2. What changes here is written by the next `write`: `isModified` says so.
struct TableSpec {
    /// Where the columns are described.
    struct Place: Equatable {
        let spec: Ref
        let oppositeTables: Ref
        let oppositeColumns: Ref
    }

    /// Where the columns were read from.
    let place: Place
    private(set) var columns: [Column] = []

    /// Position in `columns` by column index, −1 for holes.
    private(set) var byIndex: [Int] = []

    /// Length of the arrays of opposite tables and columns as they were read.
    private(set) var length = 0
    private(set) var isModified = false
    private var enumeratedKeys: [Ref] = []
    private var enumeratedKeysRef: Ref = .null

    init(_ s: NodeStore, _ place: Place) throws(RealmError) {
        self.place = place
        let ref = place.spec
        let spec = try s.refsNode(ref)
        guard spec.count >= 6 else { throw .corrupt("table spec of an impossible size", at: ref.offset) }
        let types = try s.integers(try spec.child(0)), names = try s.node(try spec.child(1))
        let attributes = try s.integers(try spec.child(2)), keys = try s.integers(try spec.child(5))
        guard types.count == attributes.count, types.count == keys.count, names.count <= types.count,
            types.count <= 0x1_0000
        else {
            throw .corrupt("table spec with columns that do not match", at: ref.offset)
        }
        enumeratedKeysRef = try spec.child(4)
        if !enumeratedKeysRef.isNull {
            let n = try s.refsNode(enumeratedKeysRef)
            for i in 0..<min(n.count, names.count) { enumeratedKeys.append(try n.child(i)) }
        }
        let tables = place.oppositeTables.isNull ? nil : try s.integers(place.oppositeTables)
        let cols = place.oppositeColumns.isNull ? nil : try s.integers(place.oppositeColumns)
        try columns.makeRoom(for: types.count)
        for i in 0..<types.count {
            let key = ColKey(keys.get(i))
            guard key.raw >= 0, let type = ColumnType(rawValue: key.typeNumber), type.rawValue < 18 else {
                throw .corrupt("column of unknown type", at: keys.ref.offset)
            }
            guard (i < names.count) == (type != .backlink) else {
                throw .corrupt("public columns after backlink columns", at: ref.offset)
            }
            let specType = types.get(i)
            var c = Column(
                key: key, type: type == .linkList ? .link : type,
                attributes: ColumnAttributes(rawValue: Int(truncatingIfNeeded: attributes.get(i) & 0x1FF)),
                name: i < names.count ? try s.name(names, i) : "", specType: specType)
            if c.isDictionary, specType >> 16 == 0 { c.keyType = .int }
            if let tables, c.index < tables.count {
                c.oppositeTable = TableKey(UInt32(truncatingIfNeeded: tables.get(c.index)) & 0x7FFF_FFFF)
            }
            if let cols, c.index < cols.count { c.oppositeColumn = ColKey(cols.get(c.index)) }
            if i < enumeratedKeys.count { c.enumeratedValues = enumeratedKeys[i] }
            columns.append(c)
        }
        length = max(tables?.count ?? 0, cols?.count ?? 0)
        byIndex = try Self.places(columns, at: ref)
    }

    private static func places(_ columns: [Column], at ref: Ref) throws(RealmError) -> [Int] {
        try CMemory.expect((columns.map(\.index).max() ?? -1) + 1, each: 8)
        var byIndex = [Int](repeating: -1, count: (columns.map(\.index).max() ?? -1) + 1)
        for (i, c) in columns.enumerated() {
            guard byIndex[c.index] < 0 else { throw .corrupt("two columns with one index", at: ref.offset) }
            byIndex[c.index] = i
        }
        return byIndex
    }

    // MARK: Finding

    /// The column with this key, nil when there is none (any more).
    @inline(__always) func column(_ key: ColKey) -> Column? { position(key).map { columns[$0] } }

    /// Its position in `columns`.
    @inline(__always) private func position(_ key: ColKey) -> Int? {
        let i = key.index
        guard i < byIndex.count, byIndex[i] >= 0, columns[byIndex[i]].key == key else { return nil }
        return byIndex[i]
    }

    func column(named name: Name) -> Column? { columns.first { !$0.isBacklink && $0.name == name } }

    /// The lowest column index that no column has.
    var freeIndex: Int { byIndex.firstIndex(of: -1) ?? byIndex.count }

    /// What stands in the leaves of a cluster.
    var clusterColumns: [ClusterTree.Column?] { byIndex.map { $0 < 0 ? nil : columns[$0].clusterColumn } }

    // MARK: Changing

    /// Adds a column behind those of its sort: public ones, or backlink columns.
    mutating func insert(_ c: Column) throws(RealmError) {
        let at = c.isBacklink ? columns.count : columns.firstIndex(where: \.isBacklink) ?? columns.count
        if !enumeratedKeys.isEmpty && !c.isBacklink { enumeratedKeys.insert(.null, at: min(at, enumeratedKeys.count)) }
        columns.insert(c, at: at)
        byIndex = try Self.places(columns, at: place.spec)
        isModified = true
    }

    /// Takes a column out, with its distinct values.
    mutating func remove(_ key: ColKey, _ store: NodeStore) throws(RealmError) {
        guard let at = position(key) else { return }
        if at < enumeratedKeys.count { try store.destroy(enumeratedKeys.remove(at: at)) }
        columns.remove(at: at)
        byIndex = try Self.places(columns, at: place.spec)
        isModified = true
    }

    /// Changes what is said of a column; false when there is none with this key. Its index stays.
    @discardableResult
    mutating func change(_ key: ColKey, _ body: (inout Column) -> Void) -> Bool {
        guard let at = position(key) else { return false }
        body(&columns[at])
        isModified = true
        return true
    }

    // MARK: Writing

    /// Writes the columns below `top`; the arrays by column index become `length` long.
    mutating func write(_ s: NodeStore, _ top: inout Node, length: Int) throws(RealmError) {
        let spec = try s.writableRefs(try s.refsNode(try top.child(0)))
        for slot in [0, 1, 2, 5] { try s.destroy(try spec.child(slot)) }
        s.setSlot(spec, 0, try s.makeIntegers(columns.map(\.specType)).ref)
        s.setSlot(spec, 2, try s.makeIntegers(columns.map { Int64($0.attributes.rawValue) }).ref)
        s.setSlot(spec, 5, try s.makeIntegers(columns.map(\.key.raw)).ref)
        var names = try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64)
        for c in columns where !c.isBacklink { try s.setName(&names, names.count, c.name) }
        s.setSlot(spec, 1, names.ref)
        if !enumeratedKeysRef.isNull {
            let n = try s.refsNode(enumeratedKeysRef)
            s.free(n)
            enumeratedKeysRef =
                enumeratedKeys.allSatisfy(\.isNull) ? .null : try s.makeRefs(enumeratedKeys.map { RefOrTagged($0) }).ref
            s.setSlot(spec, 4, enumeratedKeysRef)
        }
        s.setSlot(top, 0, spec.ref)
        // Opposite tables and columns, by column index.
        try s.destroy(try top.child(7))
        try s.destroy(try top.child(8))
        let ordered = (0..<length).map { i in i < byIndex.count && byIndex[i] >= 0 ? columns[byIndex[i]] : nil }
        s.setSlot(top, 7, try s.makeIntegers(ordered.map { Int64(($0?.oppositeTable ?? .null).raw) }).ref)
        s.setSlot(top, 8, try s.makeIntegers(ordered.map { ($0?.oppositeColumn ?? .null).raw }).ref)
        isModified = false
    }

    /// An empty spec; returns its ref.
    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        let types = try s.makeIntegers().ref, attributes = try s.makeIntegers().ref, keys = try s.makeIntegers().ref
        let names = try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64).ref
        return try s.makeRefs([types, names, attributes, .null, .null, keys].map { RefOrTagged($0) }).ref
    }
}
