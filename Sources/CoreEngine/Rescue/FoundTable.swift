/// A table according to one root, as far as it can be read.
struct FoundTable {
    let key: TableKey

    /// nil if the array of names is damaged.
    var name: Name?
    let top: Ref
    let format: UInt8

    /// Public and backlink columns. Lost names are replaced by generated ones.
    var columns: [Column]
    var hasNames: Bool
    let rows: Ref
    let primaryKey: ColKey?
    let kind: Table.Kind
    let sequence: UInt64

    /// Incremented by each commit that changes the table.
    let contentVersion: UInt64

    /// Whether every column that the table ever had still exists.
    let hasEveryColumn: Bool

    /// Indexes of the columns that have a search index.
    let indexed: Set<Int>

    /// - Throws: if the keys of the columns, or the whole table, cannot be read.
    init(_ store: NodeStore, _ ref: Ref, index: Int, name: Name?, format: UInt8) throws(RealmError) {
        let top = try TableTop(store, ref)
        self.top = ref
        self.name = name
        self.format = format
        key = (try? top.key(at: index)) ?? TableKey(UInt32(truncatingIfNeeded: index))
        (columns, hasNames) = try Self.columns(store, top)
        rows = (try? top.rows) ?? .null
        kind = (try? top.number(12)).flatMap { Table.Kind(rawValue: $0 & 3) } ?? .topLevel
        sequence = (try? top.number(9)) ?? 0
        contentVersion = (try? top.number(6)) ?? 0
        hasEveryColumn = (try? top.number(5)) == UInt64(columns.count)
        let stated = (try? top.number(11)).map { ColKey(Int64(bitPattern: $0)) }
        primaryKey = columns.first { $0.key == stated && !$0.isCollection }?.key
        indexed = Self.indexed(store, top, columns)
    }

    /// A lost table, known only from links to it.
    init(lost key: TableKey, name: Name?) {
        (self.key, self.name) = (key, name)
        (top, rows, format) = (.null, .null, Format.currentVersion)
        (columns, hasNames, primaryKey, kind, sequence, contentVersion, indexed) = ([], true, nil, .topLevel, 0, 0, [])
        hasEveryColumn = false
    }

    private static func indexed(_ store: NodeStore, _ top: TableTop, _ columns: [Column]) -> Set<Int> {
        var found = Set(columns.filter { !$0.attributes.isDisjoint(with: [.indexed, .fullTextIndexed]) }.map(\.index))
        guard let ref = try? top.indexes, let roots = try? store.refsNode(ref) else { return found }
        for column in columns where column.index < roots.count {
            if let root = try? roots.child(column.index), !root.isNull { found.insert(column.index) }
        }
        return found
    }

    /// Reads the columns of a spec. The column keys contain their types and must be readable; everything else may be
    /// lost.
    private static func columns(_ store: NodeStore, _ top: TableTop) throws(RealmError) -> ([Column], hasNames: Bool) {
        let place = try top.spec
        if let whole = try? TableSpec(store, place) { return (whole.columns, true) }
        let spec = try store.refsNode(place.spec)
        guard spec.count >= 6 else { throw .corrupt("table spec of an impossible size", at: place.spec.offset) }
        let keys = try store.integers(try spec.child(5))
        guard keys.count <= 0x1_0000 else { throw .corrupt("too many columns", at: keys.ref.offset) }
        let parts = [spec.integers(store, 0, keys.count), spec.integers(store, 2, keys.count)]
        let names = (try? spec.child(1)).flatMap { try? store.node($0) }
        let tables = place.oppositeTables.isNull ? nil : try? store.integers(place.oppositeTables)
        let opposites = place.oppositeColumns.isNull ? nil : try? store.integers(place.oppositeColumns)
        var columns: [Column] = [], used: Set<Int> = [], hasNames = true
        for i in 0..<keys.count {
            let key = ColKey(keys.get(i))
            guard key.raw >= 0, let type = ColumnType(rawValue: key.typeNumber), type.rawValue < 18,
                used.insert(key.index).inserted
            else {
                throw .corrupt("column of unknown type", at: keys.ref.offset)
            }
            var name: Name = ""
            if type != .backlink {
                if let names, let text = try? store.name(names, i), !text.isEmpty {
                    name = text
                } else {
                    (name, hasNames) = (Name("lost_\(i)"), false)
                }
            }
            var column = Column(
                key: key, type: type == .linkList ? .link : type,
                attributes: ColumnAttributes(
                    rawValue: Int(truncatingIfNeeded: parts[1]?.get(i) ?? Int64(key.attributes.rawValue)) & 0x1FF),
                name: name,
                specType: parts[0]?.get(i) ?? Int64(type.rawValue)
                    | (key.attributes.contains(.dictionary) ? 2 << 16 : 0))
            if column.isDictionary, column.specType >> 16 == 0 { column.keyType = .int }
            if let tables, column.index < tables.count {
                column.oppositeTable = TableKey(UInt32(truncatingIfNeeded: tables.get(column.index)) & 0x7FFF_FFFF)
            }
            if let opposites, column.index < opposites.count {
                column.oppositeColumn = ColKey(opposites.get(column.index))
            }
            columns.append(column)
        }
        return (columns, hasNames)
    }

    var publicColumns: [Column] { columns.filter { !$0.isBacklink } }

    func column(_ key: ColKey) -> Column? { columns.first { $0.key == key } }

    /// Fills in lost names and link targets from another description of the same columns.
    mutating func complete(from other: FoundTable) {
        if name == nil { name = other.name }
        let needsNames = !hasNames && other.hasNames
        for i in columns.indices {
            guard let theirs = other.column(columns[i].key) else { continue }
            if needsNames { columns[i].name = theirs.name }
            if columns[i].type == .link, columns[i].oppositeTable.isNull {
                (columns[i].oppositeTable, columns[i].oppositeColumn) = (theirs.oppositeTable, theirs.oppositeColumn)
            }
        }
        if needsNames { hasNames = columns.allSatisfy { other.column($0.key) != nil || $0.isBacklink } }
    }
}

extension Node {
    /// An array of `count` integers in a slot of refs; nil if it is damaged.
    fileprivate func integers(_ store: NodeStore, _ slot: Int, _ count: Int) -> Node? {
        guard let ref = try? child(slot), let node = try? store.integers(ref), node.count == count else { return nil }
        return node
    }
}

/// All tables according to one root.
struct FoundGroup {
    /// Whether no table and no column was ever removed. After a table is removed, the key of the next table in its
    /// place contains a larger number.
    var hasNothingRemoved: Bool {
        reason == nil
            && states.allSatisfy {
                if case .table(let table) = $0 { table.key.raw >> 16 == 0 && table.hasEveryColumn } else { false }
            }
    }

    /// What is known about the place of a table.
    enum State {
        /// Nothing is known.
        case unknown
        /// The place is empty.
        case none
        case lost(Name?, reason: String)
        case table(FoundTable)
    }

    private var states: [State] = []

    /// Why no tables could be read.
    private(set) var reason: String?
    var count: Int { states.count }

    init() {}

    mutating func append(_ state: State) { states.append(state) }

    init(_ store: NodeStore, _ root: DamagedFile.Root) {
        let names = root.names.isNull ? nil : try? store.node(root.names)
        do throws(RealmError) {
            let refs = try store.refsNode(root.tables)
            guard refs.count <= 0x1_0000, !refs.isInner else {
                throw .corrupt("too many tables", at: root.tables.offset)
            }
            for i in 0..<refs.count { states.append(Self.read(store, refs, names, i, root.format)) }
        } catch { reason = error.message }
    }

    private static func read(_ store: NodeStore, _ refs: Node, _ names: Node?, _ i: Int, _ format: UInt8) -> State {
        var name = names.flatMap { try? store.name($0, i) }
        if name?.isEmpty ?? false { name = nil }
        do throws(RealmError) {
            let slot = try refs.slot(i)
            guard !slot.isTagged else { return .none }
            guard let ref = slot.subtree else { throw .corrupt("table without a place", at: refs.ref.offset) }
            return .table(try FoundTable(store, ref, index: i, name: name, format: format))
        } catch { return .lost(name, reason: error.message) }
    }

    /// Takes lost names from a scan. This is safe only for the first table in a place: later tables may have other
    /// names.
    mutating func takeNames(_ scan: NodeScan) {
        for i in states.indices {
            switch states[i] {
            case .table(var table) where table.name == nil && table.key.raw >> 16 == 0:
                table.name = scan.name(i)
                states[i] = .table(table)
            case .lost(nil, let reason): states[i] = .lost(scan.name(i), reason: reason)
            default: break
            }
        }
    }

    /// Whether a table is lost.
    var isDamaged: Bool { states.contains { if case .lost = $0 { true } else { false } } }

    func state(_ index: Int) -> State {
        if reason != nil { return .unknown }
        return index < states.count ? states[index] : .none
    }

    func table(_ key: TableKey) -> FoundTable? {
        guard case .table(let found) = state(key.index), found.key == key else { return nil }
        return found
    }
}
