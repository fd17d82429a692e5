/// The columns of a table as its spec describes them. Format: logical §3.
///
/// Invariants
/// 1. `columns` holds public columns in spec order, then backlink columns; `byIndex` finds them by column index.
///    Adding a public column takes the same time for every number of columns, but for the backlink columns behind it.
/// 2. Changes are written by the next `write`; until then `isModified` is true.
struct TableSpec {
    /// The nodes that describe the columns.
    struct Place: Equatable {
        let spec: Ref
        let oppositeTables: Ref
        let oppositeColumns: Ref
    }

    /// Where the columns were read from.
    let place: Place
    private(set) var columns: [Column] = []

    /// Position in `columns` by column index; −1 for unused indexes.
    private(set) var byIndex: [Int] = []

    /// Number of public columns.
    private var publicCount = 0

    /// Position in `columns` by name, if there are more than `mostSearched` public columns. Fewer are searched.
    private var byName: [Name: Int] = [:]
    private static let mostSearched = 32

    /// The stored names of columns whose own names are longer.
    private var storedNames: Set<Name> = []

    /// Length of the arrays of opposite tables and columns when they were read.
    private(set) var length = 0
    private(set) var isModified = false
    private var enumeratedKeys: [Ref] = []
    private var enumeratedKeysRef: Ref = .null

    init(_ store: NodeStore, _ place: Place) throws(RealmError) {
        self.place = place
        let ref = place.spec
        let spec = try Slots(store, ref)
        guard spec.count >= 6 else { throw .corrupt("table spec of an impossible size", at: ref.offset) }
        let types = try Integers(store, try spec.child(0)), names = try Names(store, try spec.child(1))
        let attributes = try Integers(store, try spec.child(2)), keys = try Integers(store, try spec.child(5))
        guard types.count == attributes.count, types.count == keys.count, names.count <= types.count,
            types.count <= 0x1_0000
        else {
            throw .corrupt("table spec with columns that do not match", at: ref.offset)
        }
        enumeratedKeysRef = try spec.child(4)
        if !enumeratedKeysRef.isNull {
            let node = try Slots(store, enumeratedKeysRef)
            for i in 0..<min(node.count, names.count) { enumeratedKeys.append(try node.child(i)) }
        }
        let tables = place.oppositeTables.isNull ? nil : try Integers(store, place.oppositeTables)
        let cols = place.oppositeColumns.isNull ? nil : try Integers(store, place.oppositeColumns)
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
            var column = Column(
                key: key, type: type == .linkList ? .link : type,
                attributes: ColumnAttributes(rawValue: Int(truncatingIfNeeded: attributes.get(i) & 0x1FF)),
                name: i < names.count ? try names.get(i, store) : "", specType: specType)
            if column.isDictionary, specType >> 16 == 0 { column.keyType = .int }
            if let tables, column.index < tables.count {
                column.oppositeTable = TableKey(UInt32(truncatingIfNeeded: tables.get(column.index)) & 0x7FFF_FFFF)
            }
            if let cols, column.index < cols.count { column.oppositeColumn = ColKey(cols.get(column.index)) }
            if i < enumeratedKeys.count { column.enumeratedValues = enumeratedKeys[i] }
            columns.append(column)
        }
        length = max(tables?.count ?? 0, cols?.count ?? 0)
        byIndex = try Self.places(columns, at: ref)
        namesChanged()
    }

    private static func places(_ columns: [Column], at ref: Ref) throws(RealmError) -> [Int] {
        try CMemory.expect((columns.map(\.index).max() ?? -1) + 1, each: 8)
        var byIndex = [Int](repeating: -1, count: (columns.map(\.index).max() ?? -1) + 1)
        for (i, column) in columns.enumerated() {
            guard byIndex[column.index] < 0 else { throw .corrupt("two columns with one index", at: ref.offset) }
            byIndex[column.index] = i
        }
        return byIndex
    }

    // MARK: Finding

    /// The column with this key; nil if it does not exist (any more).
    @inline(__always) func column(_ key: ColKey) -> Column? { position(key).map { columns[$0] } }

    /// Position in `columns` of the column with this key.
    @inline(__always) private func position(_ key: ColKey) -> Int? {
        let index = key.index
        guard index < byIndex.count, byIndex[index] >= 0, columns[byIndex[index]].key == key else { return nil }
        return byIndex[index]
    }

    func column(named name: Name) -> Column? {
        guard publicCount > Self.mostSearched else { return columns[..<publicCount].first { $0.name == name } }
        return byName[name].map { columns[$0] }
    }

    /// The lowest unused column index.
    var freeIndex: Int { byIndex.firstIndex(of: -1) ?? byIndex.count }

    /// The columns as the leaves of a cluster store them; nil for unused indexes.
    var clusterColumns: [ClusterTree.Column?] { byIndex.map { $0 < 0 ? nil : columns[$0].clusterColumn } }

    // MARK: Changing

    /// Adds a column after the other columns of its kind: public or backlink columns.
    mutating func insert(_ column: Column) throws(RealmError) {
        let at = column.isBacklink ? columns.count : publicCount, index = column.index
        while byIndex.count <= index { byIndex.append(-1) }
        guard byIndex[index] < 0 else { throw .corrupt("two columns with one index", at: place.spec.offset) }
        if !enumeratedKeys.isEmpty && !column.isBacklink {
            enumeratedKeys.insert(.null, at: min(at, enumeratedKeys.count))
        }
        columns.insert(column, at: at)
        for i in at..<columns.count { byIndex[columns[i].index] = i }
        isModified = true
        guard !column.isBacklink else { return }
        publicCount += 1
        if byName.isEmpty {
            namesChanged()
        } else {
            byName[column.name] = at
            if let name = column.storedName { storedNames.insert(name) }
        }
    }

    /// Updates everything derived from the names and positions of the public columns.
    private mutating func namesChanged() {
        publicCount = columns.firstIndex(where: \.isBacklink) ?? columns.count
        storedNames = Set(columns.compactMap(\.storedName))
        byName.removeAll(keepingCapacity: true)
        guard publicCount > Self.mostSearched else { return }
        // Of two columns with one name, in a damaged file, the first one is found.
        for i in (0..<publicCount).reversed() { byName[columns[i].name] = i }
    }

    /// Removes a column and its leaf of distinct values.
    mutating func remove(_ key: ColKey, _ store: NodeStore) throws(RealmError) {
        guard let at = position(key) else { return }
        if at < enumeratedKeys.count { try store.destroy(enumeratedKeys.remove(at: at)) }
        columns.remove(at: at)
        byIndex = try Self.places(columns, at: place.spec)
        namesChanged()
        isModified = true
    }

    /// Changes the description of a column; false if no column has this key. Its column index stays the same.
    @discardableResult
    mutating func change(_ key: ColKey, _ body: (inout Column) -> Void) -> Bool {
        guard let at = position(key) else { return false }
        let name = columns[at].name, storedName = columns[at].storedName
        body(&columns[at])
        if columns[at].name != name || columns[at].storedName != storedName { namesChanged() }
        isModified = true
        return true
    }

    /// Gives columns their whole names; the stored names stay.
    mutating func lengthen(_ names: [ColKey: Name]) {
        for i in columns.indices {
            guard let name = names[columns[i].key], columns[i].storedName == nil,
                LongNames.isShortened(columns[i].name, of: name)
            else { continue }
            columns[i].storedName = columns[i].name
            columns[i].name = name
        }
        namesChanged()
    }

    /// A stored name for a column, which no other column has.
    ///
    /// - Returns: nil for a short name, which is stored as it is.
    /// - Throws: 3010 for a short name that stands for the long name of another column.
    func storedName(for name: Name) throws(RealmError) -> Name? {
        guard name.utf8.count > LongNames.storedLimit else {
            if storedNames.contains(name) { throw LongNames.refusal(name) }
            return nil
        }
        var attempt = 0
        while true {
            let short = LongNames.shortened(name, to: LongNames.storedLimit, attempt: attempt)
            if !storedNames.contains(short), column(named: short) == nil { return short }
            attempt += 1
        }
    }

    // MARK: Writing

    /// Writes the columns below `top`; the arrays that are indexed by column become `length` long.
    mutating func write(_ store: NodeStore, _ top: Slots, length: Int) throws(RealmError) {
        var spec = try Slots(store, try top.child(0))
        try spec.makeWritable(store)
        for slot in [0, 1, 2, 5] { try store.destroy(try spec.child(slot)) }
        spec.set(0, try Integers.create(store, columns.map(\.specType)), store)
        spec.set(2, try Integers.create(store, columns.map { Int64($0.attributes.rawValue) }), store)
        spec.set(5, try Integers.create(store, columns.map(\.key.raw)), store)
        var names = try Names(new: store)
        for column in columns where !column.isBacklink {
            try names.set(names.count, column.storedName ?? column.name, store)
        }
        spec.set(1, names.ref, store)
        if !enumeratedKeysRef.isNull {
            let node = try Slots(store, enumeratedKeysRef)
            node.free(store)
            enumeratedKeysRef =
                enumeratedKeys.allSatisfy(\.isNull)
                ? .null : try Slots.create(store, enumeratedKeys.map { RefOrTagged($0) })
            spec.set(4, enumeratedKeysRef, store)
        }
        top.set(0, spec.ref, store)
        // Opposite tables and columns, by column index.
        try store.destroy(try top.child(7))
        try store.destroy(try top.child(8))
        let ordered = (0..<length).map { i in i < byIndex.count && byIndex[i] >= 0 ? columns[byIndex[i]] : nil }
        top.set(7, try Integers.create(store, ordered.map { Int64(($0?.oppositeTable ?? .null).raw) }), store)
        top.set(8, try Integers.create(store, ordered.map { ($0?.oppositeColumn ?? .null).raw }), store)
        isModified = false
    }

    /// Creates an empty spec; returns its ref.
    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        let types = try Integers.create(store), attributes = try Integers.create(store),
            keys = try Integers.create(store)
        let names = try Names(new: store).ref
        return try Slots.create(store, [types, names, attributes, .null, .null, keys].map { RefOrTagged($0) })
    }
}
