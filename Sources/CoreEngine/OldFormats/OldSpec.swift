/// A column as described by an old spec. Format: old-formats §4.
struct OldColumn {
    enum Form {
        case int, bool, string, enumerated, binary, dateTime, timestamp, float, double, mixed, link, linkList, backlink
        /// A sub-table of one column.
        case list
        /// An internal column of a synchronised file, which is never shown.
        case hidden
        /// A sub-table with no column or several columns. Its rows are shown as lists of Mixed values.
        case table
        /// A sub-table of one column that is shown as a list of Mixed values: a column of sub-tables, or a list inside
        /// a row.
        case values
        /// The numbers or row numbers of one list. No stored column has this form.
        case numbers
    }

    var name: Name = ""
    var form: Form
    var isNullable: Bool
    var isIndexed: Bool

    /// Root of the values; null for columns of sub-tables, where each row has its own root.
    var root = Ref.null

    /// Root of the search index, which is never searched; null if there is none.
    var index = Ref.null

    /// The values of an enumerated column.
    var values = Ref.null

    /// The table at the other end of a link or backlink column.
    var table = 0

    /// The column at the other end of a backlink column, by its index in the spec.
    var column = 0

    /// The columns of a sub-table.
    var elements: [OldColumn] = []

    static var numbers: OldColumn { OldColumn(form: .numbers, isNullable: false, isIndexed: false) }
}

extension Name {
    /// The name with `suffix`, shortened before the suffix to the limit of 63 bytes. Names grow when invalid UTF-8 is
    /// replaced.
    func bounded(suffix: Name = "") -> Name {
        var text = text
        while !text.isEmpty, text.utf8.count + suffix.utf8.count > 63 { text.unicodeScalars.removeLast() }
        return Name(text) + suffix
    }
}

/// Limit of the number of columns in a file. Each column needs its own root, so specs that share nodes cannot multiply
/// the columns.
struct ColumnBudget {
    private var left: Int

    init(_ store: NodeStore) { left = 1000 + store.fileSize / 8 }

    mutating func take(_ count: Int, at ref: Ref) throws(RealmError) {
        left -= count
        guard left >= 0 else { throw .corrupt("more columns than the file has room for", at: ref.offset) }
    }
}

/// Reads the columns of a table or sub-table.
enum OldSpec {
    private static let types: [Int64: OldColumn.Form] = [
        0: .int, 1: .bool, 2: .string, 3: .enumerated, 4: .binary, 5: .list, 6: .mixed, 7: .dateTime, 8: .timestamp,
        9: .float, 10: .double,
        12: .link,
        13: .linkList, 14: .backlink,
    ]
    private static let internalColumns: [Name] = ["!OID", "!ROW_INDEX"]

    /// - Parameter depth: nesting of sub-tables.
    static func read(_ store: NodeStore, _ ref: Ref, _ budget: inout ColumnBudget, depth: Int = 0) throws(RealmError)
        -> [OldColumn]
    {
        guard depth < OldFormats.maxDepth else { throw .corrupt("tables nested too deeply", at: ref.offset) }
        let node = try store.refsNode(ref)
        if node.count == 6 {
            throw RealmError(
                .unsupportedFileFormat,
                "was left behind by an upgrade of its format that was interrupted: restore the backup beside it, or open a copy from before"
            )
        }
        guard (3...5).contains(node.count) else { throw .corrupt("table spec of an impossible size", at: ref.offset) }
        let types = try store.integers(try node.child(0)), names = try store.node(try node.child(1)),
            attributes = try store.integers(try node.child(2))
        guard types.count == attributes.count, names.count <= types.count, types.count <= OldFormats.maxColumns else {
            throw .corrupt("table spec with columns that do not match", at: ref.offset)
        }
        try budget.take(types.count + 1, at: ref)
        var sparse = Sparse(try optional(store, node, 3)), keys = Sparse(try optional(store, node, 4))
        var columns: [OldColumn] = []
        for i in 0..<types.count {
            guard var form = self.types[types.get(i)] else {
                throw .corrupt("column of unknown type", at: types.ref.offset)
            }
            guard (i < names.count) == (form != .backlink) else {
                throw .corrupt("public columns after backlink columns", at: ref.offset)
            }
            let name = i < names.count ? try store.name(names, i).bounded() : ""
            if depth == 0, internalColumns.contains(name) { form = .hidden }
            let bits = attributes.get(i)
            var column = OldColumn(name: name, form: form, isNullable: bits & 16 != 0, isIndexed: bits & 1 != 0)
            switch self.types[types.get(i)] ?? .hidden {
            case .list:
                column.elements = try read(store, try sparse.ref(), &budget, depth: depth + 1)
                if column.form == .list, !isList(column.elements) {
                    column.form = column.elements.count == 1 ? .values : .table
                }
            case .link, .linkList: column.table = try sparse.number()
            case .backlink:
                column.table = try sparse.number()
                column.column = try sparse.number()
            case .enumerated: column.values = try keys.ref()
            default: break
            }
            columns.append(column)
        }
        rename(&columns)
        return columns
    }

    /// Whether a sub-table with these columns is a list of values.
    private static func isList(_ columns: [OldColumn]) -> Bool {
        guard columns.count == 1 else { return false }
        switch columns[0].form {
        case .list, .values, .table, .link, .linkList, .backlink, .hidden: return false
        default: return true
        }
    }

    private static func optional(_ store: NodeStore, _ node: Node, _ i: Int) throws(RealmError) -> Node? {
        guard i < node.count, case let ref = try node.child(i), !ref.isNull else { return nil }
        return try store.refsNode(ref)
    }

    /// Gives names to columns that lack one or share one. Format: old-formats §4.4.
    private static func rename(_ columns: inout [OldColumn]) {
        var known: Set<Name> = []
        for i in columns.indices where columns[i].form != .backlink {
            let given = columns[i].name.isEmpty ? Name("col_\(i)") : columns[i].name
            var name = given, tries = 0
            while !known.insert(name).inserted {
                name = given.bounded(suffix: Name(tries == 0 ? "_\(i)" : "_\(i)_\(tries)"))
                tries += 1
            }
            columns[i].name = name
        }
    }

    /// Sets the roots of the columns of a table. The root of an indexed column is followed by the root of its index.
    /// Format: old-formats §3.
    static func place(_ columns: inout [OldColumn], _ node: Node) throws(RealmError) {
        guard node.count == columns.count + columns.count(where: \.isIndexed) else {
            throw .corrupt("table whose columns do not match its spec", at: node.ref.offset)
        }
        var slot = 0
        for i in columns.indices {
            columns[i].root = try node.child(slot)
            columns[i].index = columns[i].isIndexed ? try node.child(slot + 1) : .null
            slot += columns[i].isIndexed ? 2 : 1
        }
    }

    /// An array with entries only for the columns that need them.
    private struct Sparse {
        let node: Node?
        var next = 0

        init(_ node: Node?) { self.node = node }

        private mutating func take() throws(RealmError) -> RefOrTagged {
            guard let node, next < node.count else {
                throw .corrupt("table spec that lacks what a column needs", at: self.node?.ref.offset ?? 0)
            }
            next += 1
            return try node.slot(next - 1)
        }

        mutating func ref() throws(RealmError) -> Ref {
            guard let ref = try take().subtree else {
                throw .corrupt("a number stands where a ref is expected", at: node?.ref.offset ?? 0)
            }
            return ref
        }

        mutating func number() throws(RealmError) -> Int {
            guard let number = try take().number, number < 1 << 31 else {
                throw .corrupt("a link column without its table", at: node?.ref.offset ?? 0)
            }
            return Int(number)
        }
    }
}

/// A table of an old file. Format: old-formats §3.
struct OldTable {
    let name: Name
    let index: Int
    let top: Ref

    /// In the order of the spec: public columns, then backlink columns.
    var columns: [OldColumn]

    /// Number of rows. The row numbers are 0 … count − 1.
    private(set) var count: Int

    /// - Parameter isDamaged: leaves the count at 0 until `takeCommonLength` sets it.
    init(
        _ store: NodeStore, _ name: Name, _ index: Int, _ ref: Ref, _ budget: inout ColumnBudget,
        isDamaged: Bool = false
    ) throws(RealmError) {
        self.name = name
        self.index = index
        self.top = ref
        let top = try store.refsNode(ref)
        guard top.count >= 2 else { throw .corrupt("table of an impossible size", at: ref.offset) }
        var columns = try OldSpec.read(store, try top.child(0), &budget)
        guard top.count == 2 else { throw .corrupt("table of an impossible size", at: ref.offset) }
        try OldSpec.place(&columns, try store.refsNode(try top.child(1)))
        self.columns = columns
        count = isDamaged ? 0 : try columns.first.map { (c) throws(RealmError) in try c.count(store) } ?? 0
    }

    /// For a damaged file: sets the number of rows to that of most columns, and hides links to impossible tables.
    mutating func takeCommonLength(_ store: NodeStore, tables: Int) {
        var votes: [Int: Int] = [:]
        for i in columns.indices {
            if let count = try? columns[i].count(store) { votes[count, default: 0] += 1 }
            if [.link, .linkList, .backlink].contains(columns[i].form), columns[i].table >= tables {
                columns[i].form = .hidden
            }
        }
        count = votes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0
    }
}
