/// The tables of an old file as tables of format 24: which tables exist, the names of their columns, and the keys.
/// Format: old-formats §11, §12.
struct OldSchema {
    /// By table index; nil for tables set aside.
    private(set) var tables: [OldTable?] = []

    /// Tables of the file that do not exist in format 24: the table of primary keys, and the table of the schema
    /// version if it contains no version. (Realm expects every table `metadata` to have a row.)
    private(set) var setAside: [OldTable] = []
    private var names: [Name] = []

    /// Index of the primary key column, by table index.
    private var primaryKeys: [Int: Int] = [:]

    /// - Parameter isDamaged: unreadable tables and names are skipped, and columns may have different lengths.
    init(_ store: NodeStore, names namesRef: Ref, tables tablesRef: Ref, isDamaged: Bool = false) throws(RealmError) {
        if isDamaged {
            try readDamaged(store, namesRef, tablesRef)
            return
        }
        let refs = try store.refsNode(tablesRef), texts = try store.node(namesRef)
        guard refs.count == texts.count, refs.count <= 0x1_0000 else {
            throw .corrupt("table names and tables do not match", at: namesRef.offset)
        }
        var rows = 0, budget = ColumnBudget(store)
        for i in 0..<refs.count {
            let name = try store.name(texts, i).bounded(),
                table = try OldTable(store, name, i, try refs.child(i), &budget)
            names.append(name)
            tables.append(table)
            rows += table.count
            guard table.count >= 0, rows <= OldFormats.mostRows(store.fileSize) else {
                throw .corrupt("impossible number of objects", at: tablesRef.offset)
            }
        }
        for case let table? in tables { try check(table, store) }
        if let table = take("pk") { try readPrimaryKeys(table, store) }
        takeEmptyMetadata()
    }

    private mutating func readDamaged(_ store: NodeStore, _ namesRef: Ref, _ tablesRef: Ref) throws(RealmError) {
        let refs = try store.refsNode(tablesRef), texts = try? store.node(namesRef)
        guard refs.count <= 0x1_0000 else { throw .corrupt("too many tables", at: tablesRef.offset) }
        var rows = 0, budget = ColumnBudget(store)
        for i in 0..<refs.count {
            let name = texts.flatMap { try? store.name($0, i).bounded() } ?? Name("class_lost_\(i)")
            var table = (try? refs.child(i)).flatMap { try? OldTable(store, name, i, $0, &budget, isDamaged: true) }
            table?.takeCommonLength(store, tables: refs.count)
            if let found = table, found.count < 0 || rows + found.count > OldFormats.mostRows(store.fileSize) {
                table = nil
            }
            rows += table?.count ?? 0
            names.append(name)
            tables.append(table)
        }
        if let table = take("pk") { try? readPrimaryKeys(table, store) }
        takeEmptyMetadata()
    }

    /// Sets a table aside.
    private mutating func take(_ name: Name) -> OldTable? {
        guard let i = tableIndex(name), let table = tables[i] else { return nil }
        tables[i] = nil
        setAside.append(table)
        return table
    }

    private mutating func takeEmptyMetadata() {
        guard let i = tableIndex("metadata"), let table = tables[i] else { return }
        let tells = table.count > 0 && table.columns.contains { $0.name == "version" && $0.form == .int }
        if !tells { _ = take("metadata") }
    }

    /// Checks that all columns have the same number of rows and lead to existing tables.
    private func check(_ table: OldTable, _ store: NodeStore) throws(RealmError) {
        for column in table.columns {
            guard try column.count(store) == table.count else {
                throw .corrupt("columns of different lengths", at: column.root.offset)
            }
            if [.link, .linkList, .backlink].contains(column.form), column.table >= tables.count {
                throw .corrupt("link to a table that is not there", at: column.root.offset)
            }
        }
    }

    // MARK: Primary keys

    private func tableIndex(_ name: Name) -> Int? { names.firstIndex(of: name) }

    /// Reads rows of class and property. The oldest writers stored table names and column numbers.
    private mutating func readPrimaryKeys(_ table: OldTable, _ store: NodeStore) throws(RealmError) {
        guard let classes = table.columns.first(where: { $0.name == "pk_table" && $0.form == .string }),
            let properties = table.columns.first(where: { $0.name == "pk_property" })
        else { return }
        for row in 0..<table.count {
            guard var name = try text(classes, row, store) else { continue }
            if tableIndex(Format.classPrefix + name) == nil, let short = name.after(Format.classPrefix) { name = short }
            guard let i = tableIndex(Format.classPrefix + name), primaryKeys[i] == nil, let target = tables[i] else {
                continue
            }
            var found: Int?
            if properties.form == .int {
                let number = try properties.tree(store).at(row) { (n, i) throws(RealmError) in n.get(i) }
                found = target.columns.indices.first { $0 == number && target.columns[$0].form != .backlink }
            } else if let property = try text(properties, row, store), !property.isEmpty {
                found = target.columns.firstIndex { $0.name == property && $0.form != .backlink }
            }
            // Only columns of these types can be primary keys.
            if let found, [.int, .string, .enumerated].contains(target.columns[found].form) { primaryKeys[i] = found }
        }
    }

    private func text(_ column: OldColumn, _ row: Int, _ store: NodeStore) throws(RealmError) -> Name? {
        guard column.form == .string else { return nil }
        return try column.tree(store).at(row) { (node, i) throws(RealmError) in
            try OldLeaf.string(store, node, i, nullable: column.isNullable).map {
                Name(String(decoding: $0, as: UTF8.self))
            }
        }
    }

    // MARK: Keys

    func key(ofTable i: Int) -> TableKey? { i < tables.count && tables[i] != nil ? TableKey(UInt32(i)) : nil }

    /// The key of a column. Type and attributes are those of format 24; the tag is the table index, or 0 for a plain
    /// integer.
    private func key(_ table: Int, _ column: Int) -> ColKey? {
        guard table < tables.count, let owner = tables[table], column < owner.columns.count,
            owner.columns[column].form != .hidden
        else { return nil }
        let definition = owner.columns[column]
        let isPlain = definition.type == .int && definition.attributes.isEmpty
        return ColKey(
            index: column, type: definition.type, attributes: definition.attributes, tag: isPlain ? 0 : UInt32(table))
    }

    // MARK: Nodes

    /// Creates the arrays of names and tables.
    /// - Parameter rows: returns the cluster tree of a table.
    func make(_ store: NodeStore, rows: (OldTable) throws(RealmError) -> Ref) throws(RealmError) -> (
        names: Ref, tables: Ref
    ) {
        var texts = try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64)
        var refs: [RefOrTagged] = []
        for i in tables.indices {
            try store.setName(&texts, i, tables[i] == nil ? nil : names[i])
            refs.append(
                try tables[i].map { (t) throws(RealmError) in RefOrTagged(try make(store, t, try rows(t))) }
                    ?? RefOrTagged(tagged: 0))
        }
        return (texts.ref, try store.makeRefs(refs).ref)
    }

    private func make(_ store: NodeStore, _ table: OldTable, _ rows: Ref) throws(RealmError) -> Ref {
        let i = table.index, count = table.columns.count
        let none = RefOrTagged(.null)
        let opposites = try table.columns.indices.map { (c) throws(RealmError) in try opposite(table, c) }
        let pk = primaryKeys[i].flatMap { key(i, $0) }.map { RefOrTagged(tagged: UInt64($0.raw)) } ?? none
        return try store.makeRefs([
            RefOrTagged(try spec(store, table)), none, RefOrTagged(rows), RefOrTagged(tagged: UInt64(i)),
            RefOrTagged(try store.makeRefs([RefOrTagged](repeating: none, count: count)).ref), RefOrTagged(tagged: 0),
            RefOrTagged(tagged: 0),
            RefOrTagged(try store.makeIntegers(opposites.map { Int64($0.table.raw) }).ref),
            RefOrTagged(try store.makeIntegers(opposites.map(\.column.raw)).ref),
            RefOrTagged(tagged: UInt64(table.count)),
            none, pk,
            RefOrTagged(tagged: 0), none,
        ]).ref
    }

    private func opposite(_ table: OldTable, _ index: Int) throws(RealmError) -> (table: TableKey, column: ColKey) {
        let column = table.columns[index]
        switch column.form {
        case .link, .linkList:
            let back = tables[column.table]?.columns.firstIndex {
                $0.form == .backlink && $0.table == table.index && $0.column == index
            }
            return (key(ofTable: column.table) ?? .null, back.flatMap { key(column.table, $0) } ?? .null)
        case .backlink: return (key(ofTable: column.table) ?? .null, key(column.table, column.column) ?? .null)
        default: return (.null, .null)
        }
    }

    private func spec(_ store: NodeStore, _ table: OldTable) throws(RealmError) -> Ref {
        var texts = try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64)
        var types: [Int64] = [], attributes: [Int64] = [], keys: [Int64] = []
        for (i, column) in table.columns.enumerated() {
            guard let key = key(table.index, i) else { continue }
            if column.form != .backlink { try store.setName(&texts, texts.count, column.name) }
            types.append(Int64(column.type.rawValue))
            let isIndexed = column.isIndexed && primaryKeys[table.index] != i
            attributes.append(Int64(column.attributes.rawValue | (isIndexed ? ColumnAttributes.indexed.rawValue : 0)))
            keys.append(key.raw)
        }
        return try store.makeRefs([
            RefOrTagged(try store.makeIntegers(types).ref), RefOrTagged(texts.ref),
            RefOrTagged(try store.makeIntegers(attributes).ref), RefOrTagged(.null),
            RefOrTagged(.null), RefOrTagged(try store.makeIntegers(keys).ref),
        ]).ref
    }
}
