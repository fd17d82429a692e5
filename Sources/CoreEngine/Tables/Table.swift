/// One table of a snapshot: its columns, rows, indexes and counters. Format: logical §2, §3.
///
/// Invariants
/// 1. `columns` holds public columns in spec order, then backlink columns; `byIndex` finds them by column index.
/// 2. `rows.columns` mirrors `byIndex`.
/// 3. Changed state lives in this object until `flush` writes it to the table's top array. Whether there is some follows from the state itself,
///    compared with what the top array says: no change can be forgotten, and what changes nothing writes nothing.
///
/// Thread rule: that of its group.
final class Table {
    enum Kind: UInt64 { case topLevel = 0, embedded = 1, asymmetric = 2 }

    /// The group owns its tables and outlives them.
    unowned(unsafe) let group: Group
    let logSlot: MutationLogSlot
    let store: NodeStore
    let tableIndex: Int
    let name: Name
    let key: TableKey
    private(set) var topRef: Ref
    /// Where the columns were read from.
    private var spec = SpecRefs()
    /// What the top array says.
    private var written = State()
    private(set) var columns: [Column] = []
    /// Position in `columns` by column index, −1 for holes.
    private(set) var byIndex: [Int] = []
    /// Facts by column index.
    private(set) var facts: [ColumnFacts?] = []
    /// Column keys by column index, −1 for holes.
    private var keysByIndex: UnsafeMutablePointer<Int64> = .allocate(capacity: 1)
    private var keysCount = 0
    let rows: ClusterTree
    /// Search index roots by column index; null where there is none.
    var indexRoots: [Ref] = []
    /// Column indexes that have a search index, ascending.
    private(set) var indexed: [Int] = []
    /// Length of the three arrays by column index (search indexes, opposite tables and columns): the most column indexes that the table
    /// ever had, be it only inside one transaction.
    private var widestIndex = 0
    private(set) var columnKeyCounter: UInt64 = 0
    private var contentVersion: UInt64 = 0
    /// Next object sequence number.
    var sequence: UInt64 = 0
    private(set) var primaryKey: ColKey?
    private(set) var kind: Kind = .topLevel
    private var collisionMap: Ref = .null
    private(set) var tombstones: Ref = .null
    private var enumeratedKeys: [Ref] = []
    private var enumeratedKeysRef: Ref = .null
    private var specModified = false
    /// The object created last, while the defaults of some of its indexed columns are not in their indexes yet: a value set right after
    /// creation is then entered once instead of entered, removed and entered. Settled before anything else looks at an index.
    var pendingObject = ObjKey.null
    var pendingColumns: [Int] = []
    /// Sequence numbers of the objects made in this write, ascending.
    var madeSequences: [ClosedRange<UInt64>] = []

    // MARK: Reading

    deinit { keysByIndex.deallocate() }

    init(group: Group, index: Int, name: Name, ref: Ref) throws(RealmError) {
        self.group = group
        logSlot = group.logSlot
        store = group.store
        tableIndex = index
        self.name = name
        className = name.after(Tables.classPrefix)
        topRef = ref
        let top = try Top(store, ref)
        key = try top.key(at: index)
        rows = ClusterTree(store, root: .null, columns: [])
        spec = try SpecRefs(top)
        widestIndex = try readSpec(spec)
        try read(top)
    }
    /// Moves to where the table stands in another snapshot, if its columns are the same there. After an error the table is good for nothing.
    func move(to ref: Ref) throws(RealmError) -> Bool {
        let top = try Top(store, ref)
        guard !specModified, try SpecRefs(top) == spec, try top.key(at: tableIndex) == key else { return false }
        topRef = ref
        (pendingObject, pendingColumns, madeSequences) = (.null, [], [])
        try read(top)
        return true
    }

    /// The top array, checked.
    private struct Top {
        let node: Node
        init(_ store: NodeStore, _ ref: Ref) throws(RealmError) {
            node = try store.refsNode(ref)
            guard node.count >= 5, node.count <= 16 else { throw .corrupt("table of an impossible size", at: ref.offset) }
        }
        func number(_ i: Int) throws(RealmError) -> UInt64? {
            guard i < node.count else { return nil }
            let v = try node.slot(i)
            guard v.subtree == nil else { throw .corrupt("a ref stands where a number is expected", at: node.ref.offset) }
            return v.number
        }
        func child(_ i: Int) throws(RealmError) -> Ref { i < node.count ? try node.child(i) : .null }
        func key(at index: Int) throws(RealmError) -> TableKey {
            let raw = try number(3) ?? 0
            guard raw <= 0x7FFF_FFFF, Int(raw & 0xFFFF) == index else { throw .corrupt("table with the key of another", at: node.ref.offset) }
            return TableKey(UInt32(raw))
        }
    }
    /// Where the columns are described.
    private struct SpecRefs: Equatable {
        var spec = Ref.null
        var oppositeTables = Ref.null
        var oppositeColumns = Ref.null
        init() {}
        init(_ top: Top) throws(RealmError) {
            spec = try top.child(0)
            oppositeTables = try top.child(7)
            oppositeColumns = try top.child(8)
        }
    }
    /// Reads what the top array says of the columns that are known already.
    private func read(_ top: Top) throws(RealmError) {
        rows.setRoot(try top.child(2))
        columnKeyCounter = try top.number(5) ?? 0
        contentVersion = try top.number(6) ?? 0
        sequence = try top.number(9) ?? 0
        collisionMap = try top.child(10)
        let before = primaryKey
        primaryKey = nil
        if let raw = try top.number(11) {
            guard let c = column(ColKey(Int64(bitPattern: raw))), !c.isCollection else { throw .corrupt("primary key without its column", at: topRef.offset) }
            primaryKey = c.key
        }
        guard let kind = Kind(rawValue: (try top.number(12) ?? 0) & 3) else { throw .corrupt("table of unknown type", at: topRef.offset) }
        self.kind = kind
        tombstones = try top.child(13)
        let indexes = try top.child(4)
        indexRoots = [Ref](repeating: .null, count: byIndex.count)
        if !indexes.isNull {
            let n = try store.refsNode(indexes)
            widestIndex = max(widestIndex, n.count)
            for i in 0..<min(n.count, byIndex.count) where byIndex[i] >= 0 { indexRoots[i] = try n.child(i) }
        }
        if facts.count != byIndex.count || primaryKey != before || !isIndexed(indexed) { refreshDerived() }
        written = state
    }
    /// Whether exactly these columns have an index.
    private func isIndexed(_ columns: [Int]) -> Bool {
        var known = columns.makeIterator()
        for i in indexRoots.indices where !indexRoots[i].isNull && known.next() != i { return false }
        return known.next() == nil
    }

    /// What the top array says besides the spec.
    private struct State: Equatable {
        var rows = Ref.null
        var indexRoots: [Ref] = []
        var columnKeyCounter: UInt64 = 0
        var sequence: UInt64 = 0
        var collisionMap = Ref.null
        var primaryKey: ColKey?
        var kind = Kind.topLevel
        var tombstones = Ref.null
    }
    private var state: State {
        State(
            rows: rows.root, indexRoots: indexRoots, columnKeyCounter: columnKeyCounter, sequence: sequence, collisionMap: collisionMap,
            primaryKey: primaryKey, kind: kind, tombstones: tombstones)
    }
    /// Whether the top array is to be written: it is new, or no longer says what is.
    var isModified: Bool { !store.isInFile(topRef) || specModified || state != written }

    /// Reads the columns. Returns the length of the arrays of opposite tables and columns.
    private func readSpec(_ refs: SpecRefs) throws(RealmError) -> Int {
        let s = store, ref = refs.spec
        let spec = try s.refsNode(ref)
        guard spec.count >= 6 else { throw .corrupt("table spec of an impossible size", at: ref.offset) }
        let types = try s.integers(try spec.child(0)), names = try s.node(try spec.child(1))
        let attributes = try s.integers(try spec.child(2)), keys = try s.integers(try spec.child(5))
        guard types.count == attributes.count, types.count == keys.count, names.count <= types.count, types.count <= 0x1_0000 else {
            throw .corrupt("table spec with columns that do not match", at: ref.offset)
        }
        enumeratedKeysRef = try spec.child(4)
        if !enumeratedKeysRef.isNull {
            let n = try s.refsNode(enumeratedKeysRef)
            for i in 0..<min(n.count, names.count) { enumeratedKeys.append(try n.child(i)) }
        }
        let tables = refs.oppositeTables.isNull ? nil : try s.integers(refs.oppositeTables)
        let cols = refs.oppositeColumns.isNull ? nil : try s.integers(refs.oppositeColumns)
        columns.reserveCapacity(types.count)
        for i in 0..<types.count {
            let key = ColKey(keys.get(i))
            guard key.raw >= 0, let type = ColumnType(rawValue: key.typeNumber), type.rawValue < 18 else {
                throw .corrupt("column of unknown type", at: keys.ref.offset)
            }
            guard (i < names.count) == (type != .backlink) else { throw .corrupt("public columns after backlink columns", at: ref.offset) }
            let specType = types.get(i)
            var c = Column(
                key: key, type: type == .linkList ? .link : type, attributes: ColumnAttributes(rawValue: Int(truncatingIfNeeded: attributes.get(i) & 0x1FF)),
                name: i < names.count ? try s.name(names, i) : "", specType: specType)
            if c.isDictionary, specType >> 16 == 0 { c.keyType = .int }
            if let tables, c.index < tables.count { c.oppositeTable = TableKey(UInt32(truncatingIfNeeded: tables.get(c.index)) & 0x7FFF_FFFF) }
            if let cols, c.index < cols.count { c.oppositeColumn = ColKey(cols.get(c.index)) }
            if i < enumeratedKeys.count { c.enumeratedValues = enumeratedKeys[i] }
            columns.append(c)
        }
        try mapColumns()
        return max(tables?.count ?? 0, cols?.count ?? 0)
    }
    /// Rebuilds what follows from `columns`.
    private func mapColumns() throws(RealmError) {
        byIndex = [Int](repeating: -1, count: (columns.map(\.index).max() ?? -1) + 1)
        var clusterColumns = [ClusterTree.Column?](repeating: nil, count: byIndex.count)
        for (i, c) in columns.enumerated() {
            guard byIndex[c.index] < 0 else { throw .corrupt("two columns with one index", at: topRef.offset) }
            byIndex[c.index] = i
            clusterColumns[c.index] = c.clusterColumn
        }
        rows.setColumns(clusterColumns)
    }
    private func refreshDerived() {
        indexed = indexRoots.indices.filter { !indexRoots[$0].isNull }
        if keysCount < byIndex.count {
            keysByIndex.deallocate()
            keysByIndex = .allocate(capacity: byIndex.count)
        }
        keysCount = byIndex.count
        for (i, c) in byIndex.enumerated() { keysByIndex[i] = c < 0 ? -1 : columns[c].key.raw }
        facts = byIndex.map { i in
            guard i >= 0, let kind = columns[i].leafKind else { return nil }
            let c = columns[i]
            return ColumnFacts(
                key: c.key, type: c.type, kind: kind, isNullable: c.isNullable, isCollection: c.isCollection,
                isFullTextIndexed: c.isFullTextIndexed && !indexRoots[c.index].isNull, isPrimaryKey: c.key == primaryKey,
                oppositeTable: c.oppositeTable, oppositeColumn: c.oppositeColumn, shape: c.shape, elementKind: c.isCollection ? c.elementKind : nil,
                keyType: c.keyType)
        }
    }
    /// Whether the table has this column.
    @inline(__always) func isColumn(_ key: ColKey) -> Bool {
        let i = key.index
        return i < keysCount && keysByIndex[i] == key.raw
    }
    /// Facts of a public or backlink column, nil when the table has no such column (any more).
    @inline(__always) func facts(_ key: ColKey) -> ColumnFacts? {
        let i = key.index
        guard i < facts.count, let f = facts[i], f.key == key else { return nil }
        return f
    }

    // MARK: Columns

    /// The column with this key, nil when the table has none (any more).
    @inline(__always) func column(_ key: ColKey) -> Column? {
        let i = key.index
        guard i < byIndex.count, byIndex[i] >= 0 else { return nil }
        let c = columns[byIndex[i]]
        if c.key == key { return c }
        // Keys of old link lists changed their type number with format 24.
        return nil
    }
    func column(named name: Name) -> Column? { columns.first { !$0.isBacklink && $0.name == name } }
    var publicColumns: some Sequence<Column> { columns.lazy.filter { !$0.isBacklink } }
    var backlinkColumns: some Sequence<Column> { columns.lazy.filter(\.isBacklink) }
    var isEmbedded: Bool { kind == .embedded }
    /// The class of the object store's schema, for tables named `class_…`.
    let className: Name?

    func count() throws(RealmError) -> Int { try rows.count() }
    func index(of column: Int) throws(RealmError) -> SearchIndex? {
        if !pendingObject.isNull { try settlePending() }
        guard column < indexRoots.count, !indexRoots[column].isNull else { return nil }
        return SearchIndex(store, root: indexRoots[column], rows: rows, column: column)
    }

    // MARK: Changing the shape

    func setPrimaryKey(_ key: ColKey?) throws(RealmError) {
        primaryKey = key
        if let key, let c = column(key), try index(of: c.index) == nil { try addIndex(c.index, fullText: false) }
        refreshDerived()
    }
    func setKind(_ kind: Kind) {
        self.kind = kind
    }

    /// Lowest unused column index and the tag for a new column. Format: logical §4.1.
    private func newColKey(_ type: ColumnType, _ attributes: ColumnAttributes) -> ColKey {
        let index = byIndex.firstIndex(of: -1) ?? byIndex.count
        return ColKey(index: index, type: type, attributes: attributes, tag: UInt32(truncatingIfNeeded: columnKeyCounter ^ UInt64(key.raw)))
    }

    /// Adds a public column; a link column gets its backlink column in `target`.
    @discardableResult
    func addColumn(_ name: Name, _ type: ColumnType, _ attributes: ColumnAttributes, target: Table? = nil) throws(RealmError) -> ColKey {
        guard name.utf8.count <= 63 else { throw RealmError(.invalidName, "The name '\(name)' is longer than 63 bytes") }
        guard column(named: name) == nil, !name.isEmpty else {
            throw RealmError(.invalidName, "Class '\(className ?? self.name)' has a property named '\(name)' already")
        }
        guard columns.count < 0xFFFF else { throw RealmError(.limitExceeded, "A class cannot have more than 65535 columns") }
        var form = attributes.subtracting([.indexed, .fullTextIndexed])
        if type == .mixed { form.insert(.nullable) }
        if type == .link {
            if form.isDisjoint(with: .collection) || form.contains(.dictionary) { form.insert(.nullable) } else { form.remove(.nullable) }
        }
        let key = newColKey(type, form)
        let isDictionary = form.contains(.dictionary)
        var c = Column(key: key, type: type, attributes: form, name: name, specType: Int64(type.rawValue) | (isDictionary ? 2 << 16 : 0))
        if type == .link {
            guard let target else { throw RealmError(.invalidTableRef, "Property '\(name)' links to a class that does not exist") }
            c.oppositeTable = target.key
        }
        try insert(c)
        group.log?.columnAdded(self.key, key)
        if let target {
            let backlink = try target.addBacklinkColumn(origin: self, originColumn: key)
            columns[byIndex[key.index]].oppositeColumn = backlink
            refreshDerived()
        }
        return key
    }
    /// Adds the backlink column for links from `originColumn` of `origin`.
    func addBacklinkColumn(origin: Table, originColumn: ColKey) throws(RealmError) -> ColKey {
        let key = newColKey(.backlink, [])
        try insert(
            Column(key: key, type: .backlink, attributes: [], name: "", oppositeTable: origin.key, oppositeColumn: originColumn,
                   specType: Int64(ColumnType.backlink.rawValue)))
        return key
    }
    /// The backlink column for (`origin`, `column`), made on first use. Format: logical §8.5.
    func backlinkColumn(origin: Table, column: ColKey) throws(RealmError) -> ColKey {
        for c in columns where c.isBacklink && c.oppositeTable == origin.key && c.oppositeColumn == column { return c.key }
        let key = try addBacklinkColumn(origin: origin, originColumn: column)
        group.log?.typedLinkChanged(origin.key, column, target: self.key)
        return key
    }
    private func insert(_ c: Column) throws(RealmError) {
        try settlePending()
        let at = c.isBacklink ? columns.count : columns.firstIndex(where: \.isBacklink) ?? columns.count
        if !enumeratedKeys.isEmpty && !c.isBacklink { enumeratedKeys.insert(.null, at: min(at, enumeratedKeys.count)) }
        guard let clusterColumn = c.clusterColumn else { throw RealmError(.illegalOperation, "A column of this type cannot be made") }
        try eachTree { (rows) throws(RealmError) in try rows.addColumn(c.index, clusterColumn) }
        columns.insert(c, at: at)
        try shapeChanged()
    }
    /// Takes a column out: its leaves, its index and its place in the spec. Links and backlinks in it are the caller's to undo first.
    private func remove(_ key: ColKey) throws(RealmError) {
        guard key.index < byIndex.count, byIndex[key.index] >= 0, columns[byIndex[key.index]].key == key else { return }
        try settlePending()
        let at = byIndex[key.index]
        if key.index < indexRoots.count {
            try store.destroy(indexRoots[key.index])
            indexRoots[key.index] = .null
        }
        try eachTree { (rows) throws(RealmError) in try rows.removeColumn(key.index) }
        if at < enumeratedKeys.count { try store.destroy(enumeratedKeys.remove(at: at)) }
        columns.remove(at: at)
        columnKeyCounter &+= 1
        if primaryKey == key { primaryKey = nil }
        try shapeChanged()
    }
    /// The rows, and the tombstones, which have the same columns.
    private func eachTree(_ body: (ClusterTree) throws(RealmError) -> Void) throws(RealmError) {
        try body(rows)
        guard !tombstones.isNull else { return }
        let others = ClusterTree(store, root: tombstones, columns: rows.columns)
        try body(others)
        tombstones = others.root
    }
    private func shapeChanged() throws(RealmError) {
        try mapColumns()
        widestIndex = max(widestIndex, byIndex.count)
        while indexRoots.count < byIndex.count { indexRoots.append(.null) }
        refreshDerived()
        specModified = true
    }

    /// Removes a public column with everything that belongs to it at both ends; embedded objects that it owns go too.
    func removeColumn(_ key: ColKey) throws(RealmError) {
        guard let c = column(key), !c.isBacklink else { throw RealmError(.invalidProperty, "Class '\(className ?? name)' has no property with key \(key.raw)") }
        if c.type == .link || c.type == .mixed {
            // Targets forget the links, and embedded ones lose their owner, before the column goes.
            if let target = try group.table(c.oppositeTable), target.isEmbedded { try clearColumn(c) }
            for i in group.liveIndexes {
                let other = try group.table(at: i)
                guard let b = other.columns.first(where: { $0.isBacklink && $0.oppositeTable == self.key && $0.oppositeColumn == key }) else { continue }
                try other.remove(b.key)
            }
        }
        try remove(key)
        group.log?.columnErased(self.key, key)
    }
    /// Sets every row's value of a link column to null or empty.
    private func clearColumn(_ c: Column) throws(RealmError) {
        guard let facts = facts(c.key) else { return }
        for key in try allKeys() {
            if let shape = c.shape {
                guard case .slot(let s)? = try rows.get(key, c.index), s.subtree != nil else { continue }
                try edit(CollectionPath(table: self.key, object: key, column: c.key), as: shape) { (e) throws(RealmError) in try e.clear() }
            } else {
                _ = try set(key, facts, .null)
            }
        }
    }
    func renameColumn(_ key: ColKey, to new: Name) throws(RealmError) {
        guard new.utf8.count <= 63 else { throw RealmError(.invalidName, "The name '\(new)' is longer than 63 bytes") }
        guard column(named: new) == nil, !new.isEmpty else { throw RealmError(.invalidName, "Class '\(className ?? name)' has a property named '\(new)' already") }
        guard key.index < byIndex.count, byIndex[key.index] >= 0 else { return }
        columns[byIndex[key.index]].name = new
        specModified = true
        group.log?.columnRenamed(self.key, key)
    }
    /// Makes a column nullable (or the reverse) by a new column in its place, with the values copied; null becomes the default.
    /// The new column has a new key and stands last. Format: logical §10.6.
    @discardableResult
    func setNullable(_ key: ColKey, _ nullable: Bool) throws(RealmError) -> ColKey {
        guard let old = column(key), old.isNullable != nullable, old.type != .link, old.type != .mixed else { return key }
        let wasPrimary = primaryKey == key
        let hadIndex = try index(of: old.index) != nil && !wasPrimary
        var form = old.attributes.subtracting([.indexed, .fullTextIndexed, .nullable])
        if nullable { form.insert(.nullable) }
        let new = try addColumn(Name("__temporary_\(old.index)"), old.type, form)
        guard let added = column(new) else { return key }
        for k in try allKeys() { try copyValue(k, from: old, to: added) }
        let name = old.name
        if wasPrimary { primaryKey = nil }
        try removeColumn(key)
        try renameColumn(new, to: name)
        setIndexAttribute(new, old.attributes.intersection([.indexed, .fullTextIndexed]))
        if hadIndex { try addIndex(new.index, fullText: old.attributes.contains(.fullTextIndexed)) }
        if wasPrimary { try setPrimaryKey(new) }
        return new
    }
    private func copyValue(_ key: ObjKey, from old: Column, to new: Column) throws(RealmError) {
        guard let value = try rows.get(key, old.index) else { return }
        guard let shape = new.shape else {
            _ = try rows.set(key, new.index, value.isNull ? new.initial : try store.stable(value))
            return
        }
        guard case .slot(let s) = value, let root = s.subtree, let kind = old.elementKind, let newKind = new.elementKind else { return }
        if shape == .dictionary {
            // Values are Mixed in both forms: the trees move over as they are, but for nulls.
            let entries = try ElementDictionary(store, root: root, keyType: old.keyType, format: Format.currentVersion)
            try edit(CollectionPath(table: self.key, object: key, column: new.key), as: shape) { (e) throws(RealmError) in
                for i in 0..<entries.count {
                    guard case .string(let name) = try entries.key(i) else { continue }
                    let v = try entries.value(i)
                    _ = try e.setValue(v.isNull && !new.isNullable ? new.initialElement : v, for: name)
                }
            }
            return
        }
        let from = BPlusTree(store, kind: kind, root: root)
        var to = try BPlusTree.create(store, kind: newKind)
        for i in 0..<(try from.count()) {
            let v = try from.get(i)
            try to.append(v.isNull && !new.isNullable ? new.initialElement : try store.stable(v))
        }
        _ = try rows.set(key, new.index, .slot(RefOrTagged(to.root)))
    }
    /// Removes all public columns, with their other ends.
    func removeAllColumns() throws(RealmError) {
        for c in publicColumns.map(\.key) { try removeColumn(c) }
    }
    /// Removes all columns and then the table's own nodes. The group forgets the table.
    func destroyAll() throws(RealmError) {
        try removeAllColumns()
        for c in backlinkColumns.map(\.key) { try remove(c) }
        try store.destroy(try flush())
    }
    /// Another key for the same column: its place does not change.
    func replaceKey(_ old: ColKey, by new: ColKey) throws(RealmError) {
        guard old.index == new.index, old.index < byIndex.count, byIndex[old.index] >= 0, columns[byIndex[old.index]].key == old else { return }
        columns[byIndex[old.index]].key = new
        try shapeChanged()
    }
    func replaceOpposite(of table: TableKey, _ old: ColKey, by new: ColKey) throws(RealmError) {
        var changed = false
        for i in columns.indices where columns[i].oppositeTable == table && columns[i].oppositeColumn == old {
            columns[i].oppositeColumn = new
            changed = true
        }
        if changed { try shapeChanged() }
    }
    /// Whether another table has links here.
    var isLinkTarget: Bool { backlinkColumns.contains { $0.oppositeTable != key } }
    /// A plain primary key change: the index of the old one stays only when the user asked for it. Format: logical §10.7.
    ///
    /// - Throws: 2007 when no property of this type can be one.
    func changePrimaryKey(to key: ColKey?) throws(RealmError) {
        guard key != primaryKey else { return }
        if let key {
            guard let c = column(key), !c.isCollection, [.int, .string, .objectId, .uuid].contains(c.type) else {
                throw RealmError(.illegalOperation, "Property '\(className ?? name).\(column(key)?.name ?? "")' is of a type that cannot be a primary key")
            }
        }
        if let old = primaryKey, let c = column(old), !c.attributes.contains(.indexed), try index(of: c.index) != nil { try removeIndex(c.index) }
        try setPrimaryKey(key)
    }
    /// Throws 2020 when two objects have one primary key value.
    func checkPrimaryKeysAreUnique() throws(RealmError) {
        guard let pk = primaryKey, let index = try index(of: pk.index) else { return }
        var seen = 0
        for key in try allKeys() {
            guard let v = try rows.peek(key, pk.index) else { continue }
            var first: ObjKey?
            seen = 0
            try index.findAll(v) { (k) throws(RealmError) in
                if first == nil { first = k }
                seen += 1
            }
            guard seen <= 1 else {
                throw RealmError(.migrationFailed, "Primary key property '\(className ?? name).\(column(pk)?.name ?? "")' has duplicate values after migration.")
            }
        }
    }

    /// Builds a search index over the present rows.
    func addIndex(_ column: Int, fullText: Bool) throws(RealmError) {
        guard try index(of: column) == nil else { return }
        var index = SearchIndex(store, root: try SearchIndex.create(store), rows: rows, column: column)
        var failure: RealmError?
        let all = try allKeys()
        for key in all {
            guard let v = try rows.get(key, column) else { continue }
            if case .slot(let list) = v {
                // A list of strings: one entry for each distinct one.
                guard let root = list.subtree else { continue }
                let tree = BPlusTree(store, kind: .string, root: root)
                for i in 0..<(try tree.count()) {
                    if case .string(let b) = try tree.get(i) { try index.insertWord(b, key) } else { try index.insertWord(nil, key) }
                }
            } else if fullText {
                guard case .string(let text) = v else { continue }
                for token in FullTextTokenizer.tokens(text) { try token.withBytes { (b) throws(RealmError) in try index.insertWord(b, key) } }
            } else {
                do throws(RealmError) { try index.insert(v, key) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        indexRoots[column] = index.root
        refreshDerived()
    }
    func removeIndex(_ column: Int) throws(RealmError) {
        try settlePending()
        try store.destroy(indexRoots[column])
        indexRoots[column] = .null
        refreshDerived()
    }
    /// Records in the spec that the user asked for an index.
    func setIndexAttribute(_ key: ColKey, _ attributes: ColumnAttributes) {
        guard key.index < byIndex.count, byIndex[key.index] >= 0 else { return }
        let i = byIndex[key.index]
        columns[i].attributes = columns[i].attributes.subtracting([.indexed, .fullTextIndexed]).union(attributes)
        refreshDerived()
        specModified = true
    }
    func allKeys() throws(RealmError) -> [ObjKey] {
        var keys: [ObjKey] = []
        try rows.forEachKey { (k) throws(RealmError) in
            keys.append(k)
            return true
        }
        return keys
    }

    // MARK: Writing back

    /// A new table's top array; returns its ref. Format: logical §2.
    static func create(_ s: NodeStore, key: TableKey, kind: Kind) throws(RealmError) -> Ref {
        let types = try s.makeIntegers().ref, attributes = try s.makeIntegers().ref, keys = try s.makeIntegers().ref
        let names = try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64).ref
        let spec = try s.makeRefs([types, names, attributes, .null, .null, keys].map { RefOrTagged($0) }).ref
        let rows = try ClusterTree.create(s, columns: [])
        let indexes = try s.makeRefs([]).ref, tables = try s.makeIntegers().ref, cols = try s.makeIntegers().ref
        let zero = RefOrTagged(.null)
        return try s.makeRefs([
            RefOrTagged(spec), zero, RefOrTagged(rows), RefOrTagged(tagged: UInt64(key.raw)), RefOrTagged(indexes), RefOrTagged(tagged: 0), RefOrTagged(tagged: 0),
            RefOrTagged(tables), RefOrTagged(cols), zero, zero, zero, RefOrTagged(tagged: kind.rawValue), zero,
        ]).ref
    }

    /// Writes changed state to the top array and returns its ref.
    func flush() throws(RealmError) -> Ref {
        guard isModified else { return topRef }
        try settlePending()
        let s = store
        var top = try s.writableRefs(try s.refsNode(topRef), extra: 2)
        while top.count < 14 { try s.insertSlot(&top, top.count, RefOrTagged(.null)) }
        if specModified { try writeSpec(&top) }
        s.setSlot(top, 2, rows.root)
        s.setSlot(top, 5, RefOrTagged(tagged: columnKeyCounter))
        s.setSlot(top, 13, tombstones)
        contentVersion &+= 1
        s.setSlot(top, 6, RefOrTagged(tagged: contentVersion))
        s.setSlot(top, 9, sequence == 0 ? RefOrTagged(.null) : RefOrTagged(tagged: sequence))
        s.setSlot(top, 11, primaryKey.map { RefOrTagged(tagged: Int($0.raw)) } ?? RefOrTagged(.null))
        let flags = try top.slot(12).number ?? 0
        if flags & 3 != kind.rawValue { s.setSlot(top, 12, RefOrTagged(tagged: flags & ~3 | kind.rawValue)) }
        s.setSlot(top, 10, collisionMap)
        // Index roots, by column index.
        var indexes = try s.writableRefs(try s.refsNode(try top.child(4)))
        while indexes.count < widestIndex { try s.insertSlot(&indexes, indexes.count, RefOrTagged(.null)) }
        for i in 0..<indexes.count { s.setSlot(indexes, i, i < indexRoots.count ? indexRoots[i] : .null) }
        s.setSlot(top, 4, indexes.ref)
        topRef = top.ref
        written = state
        return topRef
    }
    private func writeSpec(_ top: inout Node) throws(RealmError) {
        let s = store
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
            enumeratedKeysRef = enumeratedKeys.allSatisfy(\.isNull) ? .null : try s.makeRefs(enumeratedKeys.map { RefOrTagged($0) }).ref
            s.setSlot(spec, 4, enumeratedKeysRef)
        }
        s.setSlot(top, 0, spec.ref)
        // Opposite tables and columns, by column index.
        try s.destroy(try top.child(7))
        try s.destroy(try top.child(8))
        let ordered = (0..<widestIndex).map { i in i < byIndex.count && byIndex[i] >= 0 ? columns[byIndex[i]] : nil }
        s.setSlot(top, 7, try s.makeIntegers(ordered.map { Int64(($0?.oppositeTable ?? .null).raw) }).ref)
        s.setSlot(top, 8, try s.makeIntegers(ordered.map { ($0?.oppositeColumn ?? .null).raw }).ref)
        specModified = false
    }
    var hasCollisionEntries: Bool { !collisionMap.isNull }

    /// An object of a pk table left or all rows went: forget derived keys of old formats.
    func dropCollisionEntry(_ key: ObjKey) throws(RealmError) {
        guard !collisionMap.isNull else { return }
        let n = try store.writableRefs(try store.refsNode(collisionMap))
        var arrays = [try store.integers(try n.child(0)), try store.integers(try n.child(1)), try store.integers(try n.child(2))]
        guard let i = (0..<arrays[2].count).first(where: { arrays[2].get($0) == key.raw }) else {
            collisionMap = n.ref
            return
        }
        for j in 0..<3 {
            try store.eraseIntegers(&arrays[j], i)
            store.setSlot(n, j, arrays[j].ref)
        }
        collisionMap = n.ref
        if arrays[2].count == 0 {
            try store.destroy(collisionMap)
            collisionMap = .null
        }
    }
}
