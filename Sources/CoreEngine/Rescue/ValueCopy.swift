/// Copies values of a damaged file into a new one, and counts the losses.
///
/// Every node of a collection is read as part of one value, and every embedded object gets one owner.
final class ValueCopy {
    let source: DamagedFile
    let target: Group

    /// The new table of each table of the file.
    private let tables: [TableKey: Table]
    private var visited: Visited

    private let owners: Owners

    /// The property that is being copied, its column in the damaged file, and what it lost so far.
    private var goal: Goal?
    private var column: Column?
    private var loss = SalvageReport.Property("")

    init(_ source: DamagedFile, _ target: Group, _ tables: [TableKey: Table], _ owners: Owners) {
        self.source = source
        self.target = target
        self.tables = tables
        self.owners = owners
        visited = Visited(source.size)
    }

    private var store: NodeStore { source.store }

    /// The destination of a value.
    struct Goal {
        let table: Table
        let object: ObjKey
        let facts: ColumnFacts

        /// The property of the damaged file that has the value.
        let origin: Origin
    }

    // MARK: Values

    /// Sets a property. A value that cannot be set leaves the default.
    /// - Parameters:
    ///   - found: nil if the value is lost.
    ///   - table: the target table of links.
    func copy(
        _ found: MergedRows.Found?, _ table: TableKey, to goal: Goal, _ report: inout SalvageReport.Property
    ) throws(RealmError) {
        loss = report
        defer { report = loss }
        self.goal = goal
        guard let found else {
            guard let embedded = owners.object(of: goal.origin), let value = try link(table, embedded, goal) else {
                loss.lost += 1
                return
            }
            _ = try goal.table.set(goal.object, goal.facts, value)
            return
        }
        if found.isOlder { loss.older += 1 }
        var column = found.column
        if column.type == .link { column.oppositeTable = table }
        self.column = column
        let path = CollectionPath(table: goal.table.key, object: goal.object, column: goal.facts.key)
        guard let shape = column.shape else {
            if found.value.isNull {
                if !goal.facts.isNullable { loss.lost += 1 }
                return
            }
            guard let value = try translated(found.value, column, goal) else { return }
            _ = try goal.table.set(goal.object, goal.facts, value)
            if let (shape, content) = nested(found.value, depth: 0) { try fill(goal.table, path, shape, content) }
            return
        }
        guard case .slot(let slot) = found.value, !slot.isTagged else {
            loss.lost += 1
            return
        }
        guard let root = slot.subtree else { return }
        guard shape == .dictionary || column.elementKind != nil else { return }
        let isReadable = shape != .dictionary || found.column.keyType == .string
        guard isReadable else {
            loss.lost += 1
            return
        }
        let content = Content(
            root: root, shape: shape, kind: column.elementKind ?? .mixed, format: found.format, depth: 0)
        try fill(goal.table, path, shape, content)
    }

    /// Translates a value that is not null for the new file. Collections become empty ones. nil for a link without an
    /// object, and for a value that no property can hold.
    private func translated(_ value: Mixed, _ column: Column, _ goal: Goal) throws(RealmError) -> Mixed? {
        switch value {
        case .link(let key): return try link(column.oppositeTable, key, goal)
        case .typedLink(let table, let key): return try link(table, key, goal)
        case .list: return column.type == .mixed ? .emptyList : nil
        case .dictionary: return column.type == .mixed ? .emptyDictionary : nil
        case .string(let text):
            if !isUTF8(text) { loss.texts += 1 }
            return checked(value, goal)
        case .timestamp(let time) where !time.isValid:
            loss.lost += 1
            return nil
        default: return checked(value, goal)
        }
    }

    private func checked(_ value: Mixed, _ goal: Goal) -> Mixed? {
        if value.isNull || Table.matches(value, goal.facts) { return value }
        loss.lost += 1
        return nil
    }

    /// The link in the new file, if its object exists there and may be linked to.
    private func link(_ table: TableKey, _ key: ObjKey, _ goal: Goal) throws(RealmError) -> Mixed? {
        if key.isNull || key.isUnresolved { return nil }
        if let owner = tables[table], try owner.isValid(key), try isFree(owner, table, key, goal) {
            return .typedLink(owner.key, key)
        }
        loss.links += 1
        return nil
    }

    /// Whether a property may link to an object: an embedded object has one owner, which is never a Mixed value.
    private func isFree(_ table: Table, _ key: TableKey, _ object: ObjKey, _ goal: Goal) throws(RealmError) -> Bool {
        guard table.kind != .asymmetric, goal.facts.type != .link || table.key == goal.facts.oppositeTable else {
            return false
        }
        guard table.isEmbedded else { return true }
        guard goal.facts.type == .link, owners.owner(of: key, object) == goal.origin else { return false }
        return try table.backlinkCount(object) == 0
    }

    // MARK: Collections

    /// A collection of the damaged file that was not read yet.
    struct Content {
        let root: Ref
        let shape: CollectionShape

        /// The kind of the leaves of a list or set.
        let kind: LeafKind

        /// Format of the root that has the value.
        let format: UInt8

        /// Number of collections around it.
        let depth: Int
    }

    /// The content of a collection inside a Mixed value; nil for other values.
    private func nested(_ value: Mixed, depth: Int) -> (CollectionShape, Content)? {
        guard column?.type == .mixed else { return nil }
        let (shape, root): (CollectionShape, Ref)
        switch value {
        case .list(let list): (shape, root) = (.list, list)
        case .dictionary(let dictionary): (shape, root) = (.dictionary, dictionary)
        default: return nil
        }
        return (shape, Content(root: root, shape: shape, kind: .mixed, format: Format.currentVersion, depth: depth))
    }
}

extension ValueCopy: ValueSource {
    func eachElement(_ content: Content, _ body: (Bytes, Mixed?) throws(RealmError) -> Void) throws(RealmError) {
        guard !content.root.isNull else { return }
        guard content.shape == .dictionary else {
            let tree = FoundTree(store, content.kind, content.root, &visited)
            loss.elements += tree.lost + (tree.isBroken ? 1 : 0)
            return try tree.eachElement { (_, value) throws(RealmError) in
                try body(Bytes(start: nil, count: 0), value)
            }
        }
        let found = FoundDictionary(
            store, root: content.root, keyType: .string, format: content.format, &visited)
        guard let found else {
            loss.lost += 1
            return
        }
        loss.elements += found.lost
        try found.eachEntry(body)
    }

    func copied(_ value: Mixed?, into shape: CollectionShape, _ content: Content) throws(RealmError)
        -> CopiedElement<Content>
    {
        guard let goal, let column, let value else {
            loss.elements += 1
            return .omitted
        }
        if value.isNull {
            if goal.facts.isNullable, shape == .dictionary || goal.facts.type != .link { return .value(.null) }
            loss.elements += 1
            return .omitted
        }
        if let (shape, inner) = nested(value, depth: content.depth + 1) {
            if inner.depth < Table.maxNesting { return .nested(shape, inner) }
            loss.elements += 1
            return .value(shape == .list ? .emptyList : .emptyDictionary)
        }
        if shape != .dictionary, case .decimal = value, goal.facts.type == .decimal { return .value(value) }
        if let new = try translated(value, column, goal) { return .value(new) }
        // A list or set of Mixed keeps null in the place of the element, a dictionary wherever it can.
        if shape == .dictionary ? goal.facts.isNullable : column.type == .mixed { return .value(.null) }
        if shape == .dictionary { loss.elements += 1 }
        return .omitted
    }

    /// Never called: embedded objects are copied as rows of their table, and links lead to them.
    func created(_: ObjKey, for _: ObjKey) {}
}
