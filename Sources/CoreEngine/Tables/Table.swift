/// One table of a snapshot: its columns, rows, indexes and counters. Format: logical §2, §3.
///
/// Invariants
/// 1. `rows.columns` and `facts` mirror the columns of the spec.
/// 2. Changed state is kept in this object until `flush` writes it to the table's top array. No flag tells whether it
///    must be written: the state is compared with the content of the top array. So no change can be forgotten, and a
///    call that changes nothing writes nothing.
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

    /// The class name in the schema, for tables named `class_…`.
    let className: Name?
    let key: TableKey
    private(set) var topRef: Ref
    var spec: TableSpec

    /// Facts by column index.
    private(set) var facts: [ColumnFacts?] = []
    private var columnKeys = ColumnKeys()
    let rows: ClusterTree
    var indexes: TableIndexes
    var state = TableState()

    /// The state that the top array holds.
    private var written = (state: TableState(), rows: Ref.null, indexes: TableIndexes.Roots())

    /// Length of the three arrays that are indexed by column (search indexes, opposite tables, opposite columns): the
    /// largest number of column indexes that the table ever had, even if only inside one transaction.
    private var widestIndex = 0
    private var contentVersion: UInt64 = 0

    /// The rules of the class, during a write transaction; nil: the class has no rules.
    var rules: TableRules?

    /// Sequence numbers of the objects created in this write transaction, ascending.
    var madeSequences: [ClosedRange<UInt64>] = []

    // MARK: Reading

    init(group: Group, index: Int, name: Name, ref: Ref) throws(RealmError) {
        self.group = group
        logSlot = group.logSlot
        store = group.store
        tableIndex = index
        self.name = name
        className = name.after(Format.classPrefix)
        topRef = ref
        let top = try TableTop(store, ref)
        key = try top.key(at: index)
        spec = try TableSpec(store, try top.spec)
        if let names = group.longNames.columns[key] { spec.lengthen(names) }
        rows = ClusterTree(store, root: .null, columns: spec.clusterColumns)
        indexes = TableIndexes(rows: rows)
        widestIndex = spec.length
        try read(top)
    }

    /// Moves to another snapshot; false if the columns of the table are different there. After an error the table must
    /// not be used.
    func move(to ref: Ref) throws(RealmError) -> Bool {
        let top = try TableTop(store, ref)
        guard !spec.isModified, try top.spec == spec.place, try top.key(at: tableIndex) == key else { return false }
        topRef = ref
        madeSequences = []
        try read(top)
        return true
    }

    /// Reads the content of the top array, for columns that are known already.
    private func read(_ top: TableTop) throws(RealmError) {
        let before = primaryKey
        state = try TableState(top)
        contentVersion = try top.number(6) ?? 0
        if let key = primaryKey {
            guard let definition = column(key), !definition.isCollection else {
                throw .corrupt("primary key without its column", at: topRef.offset)
            }
        }
        rows.setRoot(try top.rows)
        let roots = try indexes.read(try top.indexes, byIndex: spec.byIndex)
        widestIndex = max(widestIndex, roots.length)
        if facts.count != spec.byIndex.count || primaryKey != before || !roots.isSame { refreshFacts() }
        written = (state, rows.root, indexes.roots)
    }

    // MARK: Columns

    var columns: [Column] { spec.columns }
    var publicColumns: some Sequence<Column> { columns.lazy.filter { !$0.isBacklink } }
    var backlinkColumns: some Sequence<Column> { columns.lazy.filter(\.isBacklink) }

    /// The column with this key; nil if it does not exist (any more).
    @inline(__always) func column(_ key: ColKey) -> Column? { spec.column(key) }

    func column(named name: Name) -> Column? { spec.column(named: name) }

    /// Whether the table has this column.
    @inline(__always) func isColumn(_ key: ColKey) -> Bool { columnKeys.contains(key) }

    /// Facts of a public or backlink column; nil if the column does not exist (any more).
    @inline(__always) func facts(_ key: ColKey) -> ColumnFacts? {
        let index = key.index
        guard index < facts.count, let found = facts[index], found.key == key else { return nil }
        return found
    }

    /// Updates everything derived from the columns, the primary key and the existence of indexes.
    func refreshFacts() {
        columnKeys.set(columns)
        facts = spec.byIndex.map { i in
            i < 0 ? nil : ColumnFacts(columns[i], isIndexed: indexes.has(columns[i].index), primaryKey: primaryKey)
        }
        indexes.columnsChanged(facts)
    }

    /// Updates all derived data after a change of the columns.
    func columnsChanged() {
        rows.setColumns(spec.clusterColumns)
        widestIndex = max(widestIndex, spec.byIndex.count)
        indexes.widen(to: spec.byIndex.count)
        refreshFacts()
    }

    /// Updates all derived data but the columns of the rows, after a column without an index was added.
    func columnAdded(_ column: Column) {
        let index = column.index
        widestIndex = max(widestIndex, spec.byIndex.count)
        indexes.widen(to: spec.byIndex.count)
        while facts.count <= index { facts.append(nil) }
        updateFacts(column)
        columnKeys.add(column.key)
    }

    /// Updates the facts of a column that changed, but for its index.
    func updateFacts(_ column: Column) {
        facts[column.index] = ColumnFacts(column, isIndexed: indexes.has(column.index), primaryKey: primaryKey)
    }

    // MARK: The rest

    var primaryKey: ColKey? { state.primaryKey }
    var kind: Kind { state.kind }
    var isEmbedded: Bool { kind == .embedded }

    /// Tombstones: objects that are linked to but do not exist, in a second tree with the same columns.
    var tombstones: Ref { state.tombstones }

    func count() throws(RealmError) -> Int { try rows.count() }

    func allKeys() throws(RealmError) -> [ObjKey] { try rows.allKeys() }

    /// The index of a column, for look-ups; nil if the column has no index.
    func index(of column: Int) throws(RealmError) -> SearchIndex? { try indexes.index(of: column) }

    /// The content version that the snapshot stores, and the one that the next commit will store.
    var storedContentVersion: Int64 { Int64(bitPattern: contentVersion) }
    var nextContentVersion: Int64 { Int64(bitPattern: contentVersion &+ (isModified ? 1 : 0)) }

    // MARK: Writing back

    /// Creates the top array of a new table; returns its ref. Format: logical §2.
    static func create(_ store: NodeStore, key: TableKey, kind: Kind) throws(RealmError) -> Ref {
        let spec = try TableSpec.create(store)
        let rows = try ClusterTree.create(store, columns: [])
        let indexes = try Slots.create(store), tables = try Integers.create(store),
            cols = try Integers.create(store)
        let zero = RefOrTagged(.null)
        return try Slots.create(
            store,
            [
                RefOrTagged(spec), zero, RefOrTagged(rows), RefOrTagged(tagged: UInt64(key.raw)), RefOrTagged(indexes),
                RefOrTagged(tagged: 0),
                RefOrTagged(tagged: 0),
                RefOrTagged(tables), RefOrTagged(cols), zero, zero, zero, RefOrTagged(tagged: kind.rawValue), zero,
            ])
    }

    /// Whether the top array must be written: it is new, or it differs from the current state.
    var isModified: Bool { !store.isInFile(topRef) || isUnwritten }

    /// Whether the top array differs from the current state.
    var isUnwritten: Bool {
        spec.isModified || rows.root != written.rows || state != written.state || indexes.roots != written.indexes
            || indexes.isUnsettled
    }

    /// A savepoint began or ended: nodes that could be changed in place may have become immutable.
    func closeNodes() {
        rows.closeNodes()
        indexes.closeNodes()
    }

    /// Writes changed state to the top array and returns its ref.
    func flush() throws(RealmError) -> Ref {
        guard isModified else { return topRef }
        try indexes.settle()
        let nodes = store
        var top = try Slots(nodes, topRef)
        try top.makeWritable(nodes, extra: 2)
        while top.count < 14 { try top.append(RefOrTagged(.null), nodes) }
        if spec.isModified { try spec.write(nodes, top, length: widestIndex) }
        top.set(2, rows.root, nodes)
        try state.write(nodes, top)
        contentVersion &+= 1
        top.set(6, RefOrTagged(tagged: contentVersion), nodes)
        top.set(4, try indexes.write(try top.child(4), length: widestIndex), nodes)
        topRef = top.ref
        written = (state, rows.root, indexes.roots)
        return topRef
    }
}
