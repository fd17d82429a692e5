/// Checks the stored form: bytes that readers skip, and parts of a table that must agree.
///
/// An ordinary read finds a text by its offsets and ignores its padding and its end. The check includes them.
extension Verifier {
    // MARK: Tables

    /// Checks what the group stores about its tables, and each table about its columns. Format: logical §2, §3.
    func checkTables() throws(RealmError) {
        guard transaction.old == nil else { return try checkOldTables() }
        let top = transaction.topRef
        guard !top.isNull else { return }
        _ = try reading(Fault.Place()) { () throws(RealmError) in
            let fields = try transaction.database.file.topFields(store, top, physicalSize: transaction.logicalSize)
            try checkNames(fields.names, Fault.Place())
        }
        for walk in walks { _ = try reading(place(walk.table)) { () throws(RealmError) in try checkTable(walk.table) } }
    }

    private func checkTable(_ table: Table) throws(RealmError) {
        let here = place(table), top = try store.refsNode(table.topRef)
        guard (9...14).contains(top.count) else {
            return report(.node, "a table of \(top.count) slots", here, offset: top.ref.offset)
        }
        for i in [3, 5, 6] where top.get(i) & 1 == 0 {
            report(.node, "no number in slot \(i) of a table", here, offset: top.ref.offset)
        }
        if top.get(1) != 0 { report(.node, "a table with columns in the old place", here, offset: top.ref.offset) }
        let spec = try store.refsNode(try top.child(0))
        if spec.count != 6 || spec.get(3) != 0 {
            report(.column, "a spec of another form", here, offset: spec.ref.offset)
        }
        try checkNames(try spec.child(1), here)
        try checkColumnArrays(table, top)
        for column in table.columns { try checkColumn(column, table) }
        try checkCollisions(top, here)
    }

    /// Checks an array of names, which are short texts.
    private func checkNames(_ ref: Ref, _ here: Fault.Place) throws(RealmError) {
        let node = try store.node(ref)
        if node.hasRefs || node.widthType != 1 { report(.node, "names of another form", here, offset: ref.offset) }
        try checkTexts(node, here)
    }

    /// Checks the names of columns, including those of sub-tables. Format: old-formats §4.2.
    private func checkOldNames(_ spec: Ref, _ here: Fault.Place, depth: Int) throws(RealmError) {
        let node = try store.refsNode(spec)
        try checkNames(try node.child(1), here)
        guard depth < OldFormats.maxDepth, node.count > 3, let parts = try node.slot(3).subtree,
            case let specs = try store.refsNode(parts)
        else { return }
        for i in 0..<specs.count {
            if let child = try specs.slot(i).subtree { try checkOldNames(child, here, depth: depth + 1) }
        }
    }

    /// Checks a column, whose type and attributes are stored both in the spec and in the column key.
    private func checkColumn(_ column: Column, _ table: Table) throws(RealmError) {
        let here = place(table, column), type = Int64(column.key.typeNumber),
            isOldList = column.specType == 13 && type == 12
        if column.specType & 0xFFFF != type && !isOldList {
            report(.column, "type \(column.specType & 0xFFFF) in the spec, \(type) in the key", here)
        }
        if (column.attributes.rawValue ^ column.key.attributes.rawValue) & 0xFC != 0 {
            report(
                .column,
                "attributes \(column.attributes.rawValue) in the spec, \(column.key.attributes.rawValue) in the key",
                here)
        }
        let isLink = column.type == .link || column.isBacklink
        if isLink, column.oppositeTable.isNull { report(.column, "links that lead to no class", here) }
        // Files upgraded from format 9 have zeros here.
        let isBlank = column.oppositeTable.isNull || column.oppositeTable.raw == 0 && column.oppositeColumn.raw == 0
        if !isLink, !isBlank { report(.column, "the class of links where there are none", here) }
        if column.key == table.primaryKey, group.format >= 22, try table.index(of: column.index) == nil {
            report(.index, "a primary key without its index", here)
        }
        if !column.enumeratedValues.isNull { try checkTexts(try store.node(column.enumeratedValues), here) }
    }

    /// Checks the arrays of indexes, opposite tables and opposite columns: they have an entry for each column, which is
    /// empty for a removed column.
    private func checkColumnArrays(_ table: Table, _ top: Node) throws(RealmError) {
        let here = place(table)
        let indexes = try store.refsNode(try top.child(4)), tables = try store.integers(try top.child(7)),
            columns = try store.integers(try top.child(8))
        if indexes.count != tables.count || tables.count != columns.count {
            report(
                .column, "\(indexes.count) indexes, \(tables.count) and \(columns.count) other ends of columns", here,
                offset: top.ref.offset)
        }
        // Readers ignore the upper bits of these keys.
        for i in 0..<tables.count where tables.get(i) < 0 || tables.get(i) > Int64(TableKey.null.raw) {
            report(.column, "an impossible class at the other end of column \(i)", here, offset: tables.ref.offset)
        }
        let used = Swift.Set(table.columns.map(\.index))
        for i in 0..<min(indexes.count, tables.count, columns.count) where !used.contains(i) {
            if indexes.get(i) != 0 || tables.get(i) != Int64(TableKey.null.raw) || columns.get(i) != ColKey.null.raw {
                report(.column, "something in the place of a column that is gone: \(i)", here, offset: top.ref.offset)
            }
        }
    }

    private func checkCollisions(_ top: Node, _ here: Fault.Place) throws(RealmError) {
        guard top.count > 10, case let map = try top.child(10), !map.isNull else { return }
        let node = try store.refsNode(map)
        let low = try store.integers(try node.child(0)), high = try store.integers(try node.child(1)),
            keys = try store.integers(try node.child(2))
        guard low.count == high.count, low.count == keys.count else {
            return report(.column, "a map of colliding keys of unequal lengths", here, offset: map.offset)
        }
        for i in 1..<max(1, low.count) {
            let before = (high.getUnsigned(i - 1), low.getUnsigned(i - 1))
            if before > (high.getUnsigned(i), low.getUnsigned(i)) {
                report(.tree, "a map of colliding keys out of order", here, offset: map.offset)
            }
        }
    }

    // MARK: Leaves

    /// Checks the form of a leaf during a walk. Other functions read its elements.
    func checkForm(_ ref: Ref, _ kind: LeafKind, _ here: Fault.Place) throws(RealmError) {
        switch kind {
        case .string: _ = try reading(here) { () throws(RealmError) in try checkTexts(try store.node(ref), here) }
        case .binary: _ = try reading(here) { () throws(RealmError) in try checkPieces(try store.node(ref), here) }
        case .bool:
            let node = try reading(here) { () throws(RealmError) in try store.integers(ref) }
            if let node, (0..<node.count).contains(where: { ![0, 1, 3].contains(node.get($0)) }) {
                report(.value, "a value that is neither true nor false nor null", here, offset: ref.offset)
            }
        case .timestamp:
            let parts = try reading(here) { () throws(RealmError) -> (count: Int, seconds: Ref, nanoseconds: Node) in
                let node = try store.refsNode(ref)
                return (node.count, try node.child(0), try store.integers(try node.child(1)))
            }
            guard let parts else { return }
            try checkForm(parts.seconds, .nullableInt, here)
            let seconds = try reading(here) { () throws(RealmError) in
                try LeafKind.nullableInt.count(store, parts.seconds)
            }
            if parts.count != 2 || seconds.map({ $0 != parts.nanoseconds.count }) ?? false {
                report(.node, "seconds and nanoseconds of unequal length", here, offset: ref.offset)
            }
        case .float: try checkWidth(ref, [4], here)
        case .double: try checkWidth(ref, [8], here)
        case .decimal: try checkWidth(ref, [0, 4, 8, 16], here)
        case .objectId: try checkBlocks(ref, 12, here)
        case .uuid: try checkBlocks(ref, 16, here)
        case .nullableInt:
            let node = try reading(here) { () throws(RealmError) in try store.integers(ref) }
            if node?.count == 0 {
                report(.node, "a leaf without the number that stands for null", here, offset: ref.offset)
            }
        case .mixed:
            let texts = try reading(here) { () throws(RealmError) -> Ref in
                let node = try store.refsNode(ref)
                return node.count > 3 ? try node.child(3) : .null
            }
            if let texts, !texts.isNull { try checkForm(texts, .string, here) }
        default: break
        }
    }

    private func checkWidth(_ ref: Ref, _ widths: [Int], _ here: Fault.Place) throws(RealmError) {
        guard let node = try reading(here, { () throws(RealmError) in try store.node(ref) }),
            node.hasRefs || node.widthType != 1 || !widths.contains(node.width)
        else { return }
        report(.node, "a leaf of numbers of \(node.width) bytes", here, offset: ref.offset)
    }

    /// Checks a leaf of fixed-size values: each block has a byte of flags and eight elements; the last block may have
    /// fewer.
    private func checkBlocks(_ ref: Ref, _ width: Int, _ here: Fault.Place) throws(RealmError) {
        guard let node = try reading(here, { () throws(RealmError) in try store.node(ref) }), node.count > 0 else {
            return
        }
        let block = 8 * width + 1, count = (node.count - (node.count + block - 1) / block) / width
        if node.hasRefs || node.widthType != 1 || node.width != 1 || count * width + (count + 7) / 8 != node.count {
            report(.node, "a leaf of \(node.count) bytes for values of \(width)", here, offset: ref.offset)
        }
    }

    func checkTexts(_ node: Node, _ here: Fault.Place) throws(RealmError) {
        report(try LeafForm.texts(store, node), here)
    }

    private func checkPieces(_ node: Node, _ here: Fault.Place) throws(RealmError) {
        report(try LeafForm.pieces(store, node, endInZero: false), here)
    }

    private func report(_ found: [LeafForm.Fault], _ here: Fault.Place) {
        for fault in found { report(fault.isValue ? .value : .node, fault.what, here, offset: fault.ref.offset) }
    }

    // MARK: Indexes

    /// Checks that the chunks of an index are 32 bits wide, as searches require. Format: logical §9.
    func checkIndexForm(_ root: Ref, _ here: Fault.Place) throws(RealmError) {
        var pending = [root], seen: Swift.Set<Int> = []
        while let ref = pending.popLast() {
            guard seen.insert(ref.offset).inserted,
                let node = try reading(here, { () throws(RealmError) in try store.node(ref) }), node.hasRefs,
                node.context
            else { continue }
            let keys = try reading(here) { () throws(RealmError) in try store.integers(try node.child(0)) }
            if let keys, keys.width != 32 {
                report(.index, "chunks of \(keys.width) bits", here, offset: keys.ref.offset)
            }
            for i in 1..<max(1, node.count) {
                if let child = try reading(here, { () throws(RealmError) in try node.slot(i) })?.subtree {
                    pending.append(child)
                }
            }
        }
    }

    // MARK: Formats 2 to 9

    /// Checks the nodes of the file itself, not the nodes created from them. Format: old-formats §3 to §6.
    private func checkOldTables() throws(RealmError) {
        guard let schema = transaction.old?.schema else { return }
        let fields = try transaction.database.file.topFields(
            store, transaction.topRef, physicalSize: transaction.logicalSize)
        _ = try reading(Fault.Place()) { () throws(RealmError) in try checkNames(fields.names, Fault.Place()) }
        for case let table? in schema.tables + schema.setAside {
            let here = Fault.Place(table: table.name.after(Format.classPrefix) ?? table.name)
            _ = try reading(here) { () throws(RealmError) in
                try checkOldNames(try store.refsNode(table.top).child(0), here, depth: 0)
            }
            for column in table.columns {
                let spot = Fault.Place(table: here.table, property: column.form == .backlink ? nil : column.name)
                _ = try reading(spot) { () throws(RealmError) in try checkOldColumn(column, column.root, spot) }
            }
        }
    }

    private func checkOldColumn(_ definition: OldColumn, _ root: Ref, _ here: Fault.Place) throws(RealmError) {
        guard !root.isNull else { return }
        var column = definition
        column.root = root
        let tree = try column.tree(store)
        if case let node = try store.node(root), !node.isInner {
            if definition.form == .float { try checkWidth(root, [4], here) }
            if definition.form == .double { try checkWidth(root, [8], here) }
        }
        if definition.form == .timestamp {
            let nanoseconds = OldTree(store, try column.part(store, 1), leafCount: OldLeaf.integerCount)
            if try nanoseconds.count() != tree.count() {
                report(.node, "seconds and nanoseconds of unequal length", here, offset: root.offset)
            }
        }
        try tree.visit(0..<(try tree.count())) { (node, rows) throws(RealmError) in
            try advance(0)
            if rows.count > Format.treeCapacity {
                report(.tree, "a leaf of \(rows.count) elements", here, offset: node.ref.offset)
            }
            switch definition.form {
            case .string: try checkTexts(node, here)
            case .binary: try checkPieces(node, here)
            case .float where node.width != 4, .double where node.width != 8:
                report(.node, "numbers of \(node.width) bytes", here, offset: node.ref.offset)
            case .linkList, .table, .values, .list:
                for i in rows where node.hasRefs {
                    if try node.slot(i).isTagged {
                        report(.node, "a number where a list is expected", here, offset: node.ref.offset)
                    }
                    guard definition.form == .list, let element = definition.elements.first else { continue }
                    if let list = try node.slot(i).subtree {
                        try checkOldColumn(element, try store.refsNode(list).child(0), here)
                    }
                }
            default: break
            }
        }
        if definition.form == .enumerated, !definition.values.isNull {
            var values = definition
            values.form = .string
            try checkOldColumn(values, definition.values, here)
        }
    }
}
