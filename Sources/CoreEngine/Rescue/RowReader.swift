/// Reads the objects of one cluster as remains, and decides which of their values can be trusted.
///
/// The leaf of a column is trusted if the leaf and the nodes that only it refers to can be claimed for these objects. A
/// collection, or a text with its own node, is trusted if its nodes can be claimed for its object.
///
/// How certain the table of the objects is depends on the way to their cluster:
/// - *proven*: the cluster is in the version before the newest.
/// - *witnessed*: the leaf of a column also belongs to a known cluster of the table with the same keys.
/// - *contradicted*: a leaf was overwritten, is not a leaf of its column, or holds a value that the column cannot hold.
///   The other leaves may then belong to something else, too.
///
/// In a contradicted cluster, a value without a witness is lost. A contradicted cluster without any witness belongs to
/// no known table.
final class RowReader {
    /// The values of an object, in column order.
    struct Values {
        struct Field {
            let column: ColKey
            let name: Name

            /// As JSON; nil if the value is lost.
            let json: [UInt8]?
        }

        let key: ObjKey
        var fields: [Field] = []
        var hash: Int { fields.reduce(into: Hasher()) { $0.combine($1.json) }.finalize() }
    }

    private let rows: FoundRows
    private let leaf: Int
    private let keys: Node?
    private let column: (Column) -> Ref?
    private let keysRole: Int

    /// Whether the leaf of a column, by its index, can be trusted; nil means no.
    private var believed: [Int: Bool] = [:]
    private let isProven: Bool

    /// Columns whose leaves belong to a known cluster.
    private var witnesses: Set<Int> = []
    var isWitnessed: Bool { !witnesses.isEmpty }
    private(set) var isContradicted = false

    init(_ rows: FoundRows, _ leaf: Int, isProven: Bool = false) {
        (self.rows, self.leaf, self.isProven) = (rows, leaf, isProven)
        (keys, column) = rows.nodes(leaf)
        var hasher = Hasher()
        for row in 0..<rows.leaves[leaf].count { hasher.combine(rows.key(leaf, row)) }
        keysRole = hasher.finalize()
    }

    private var store: NodeStore { rows.store }
    private var table: TableKey { rows.table.key }

    private enum Part: Int { case cluster, keys, column, value }

    private func role(_ part: Part, _ column: Int = 0, _ number: Int = 0) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        hasher.combine(part)
        hasher.combine(column)
        hasher.combine(number)
        return hasher.finalize()
    }

    /// Whether the elements of a column leaf are subtrees, one for each object that has a value.
    private func hasSubtrees(_ column: Column, _ node: Node) -> Bool {
        column.leafKind == .slot
            || node.hasRefs && node.context && (column.leafKind == .string || column.leafKind == .binary)
    }

    // MARK: Claims

    /// Records the nodes of an existing cluster.
    func note(_ claims: inout Claims) {
        claims.note(rows.leaves[leaf].ref, role(.cluster, 0, rows.leaves[leaf].ref.offset))
        if let keys { claims.note(keys.ref, role(.keys)) }
        for definition in rows.table.columns {
            guard let ref = column(definition), let node = try? store.node(ref) else { continue }
            claims.makeSure(ref)
            if hasSubtrees(definition, node) {
                claims.note(ref, role(.column, definition.index, keysRole))
            } else {
                claims.noteTree(ref, role(.column, definition.index, keysRole))
            }
        }
    }

    /// Claims a cluster, and as many leaves of its columns as possible; false if the cluster cannot be claimed.
    func claim(_ claims: inout Claims, _ name: @escaping (TableKey) -> Name?) -> Bool {
        guard let node = try? store.node(rows.leaves[leaf].ref), claims.claim(node, role(.cluster, 0, node.ref.offset))
        else {
            return false
        }
        if let keys, !claims.claim(keys, role(.keys)) { return false }
        for definition in rows.table.columns {
            guard let ref = column(definition), let node = try? store.node(ref) else {
                if rows.hasLeaf(definition, leaf) { isContradicted = true }
                continue
            }
            let mine = role(.column, definition.index, keysRole)
            if node.count > 0, claims.isSure(ref, as: mine) { witnesses.insert(definition.index) }
            let isOwn = hasSubtrees(definition, node) ? claims.claim(node, mine) : claims.claimTree(ref, mine)
            believed[definition.index] = isOwn && (isProven || !contradicts(definition, node, name))
            if believed[definition.index] == false { isContradicted = true }
        }
        // A witness confirms the table and its own leaf, but not other leaves in an overwritten place.
        if isContradicted, isWitnessed, !isProven {
            for index in believed.keys where !witnesses.contains(index) { believed[index] = false }
        }
        return true
    }

    /// Makes the leaves witnesses for older clusters that share them.
    func makeSure(_ claims: inout Claims) {
        for definition in rows.table.columns where believed[definition.index] ?? false {
            if let ref = column(definition) { claims.makeSure(ref) }
        }
    }

    /// Whether a leaf holds something that its column cannot hold. Subtrees are checked when they are read.
    private func contradicts(_ column: Column, _ node: Node, _ name: @escaping (TableKey) -> Name?) -> Bool {
        if column.isBacklink { return false }
        if hasSubtrees(column, node) {
            return column.shape != nil && (0..<node.count).contains { (try? node.slot($0))?.isTagged ?? true }
        }
        if column.leafKind == .string, !LeafForm.areTexts(store, node.ref) { return true }
        return (0..<rows.leaves[leaf].count).contains { row in
            rows.value(leaf, row, column).flatMap { Self.text($0, column, store, name, isStrict: true) } == nil
        }
    }

    // MARK: Values

    /// - Parameters:
    ///   - isPlaced: the stored keys are the object keys.
    ///   - live: the existing objects of the table.
    func values(
        _ row: Int, isPlaced: Bool, _ live: FoundRows?, _ claims: inout Claims, _ name: @escaping (TableKey) -> Name?
    ) -> Values {
        let key = rows.key(leaf, row).map { ObjKey(Int64(bitPattern: $0)) } ?? .null
        var values = Values(key: key)
        for definition in rows.table.publicColumns {
            var text: [UInt8]?
            if believed[definition.index] ?? false, let ref = column(definition), let node = try? store.node(ref),
                let value = rows.value(leaf, row, definition)
            {
                let mine =
                    !hasSubtrees(definition, node)
                    || mayRead(node, row, definition, key, isPlaced ? live : nil, &claims)
                if mine { text = Self.text(value, definition, store, name, isStrict: !isProven) }
            }
            values.fields.append(Values.Field(column: definition.key, name: definition.name, json: text))
        }
        return values
    }

    /// - Parameter isStrict: also returns nil for a value that the column cannot hold.
    static func text(
        _ value: Mixed, _ column: Column, _ store: NodeStore, _ name: @escaping (TableKey) -> Name?,
        isStrict: Bool = false
    ) -> [UInt8]? {
        var writer = ValueText(store, name: name), out = JSONText()
        writer.isStrict = isStrict
        writer.write(value, column, &out)
        return writer.isBroken ? nil : out.bytes
    }

    /// Whether the subtree of a value still belongs to its object: it is free space that can be claimed, or the
    /// existing object has the same subtree.
    private func mayRead(
        _ node: Node, _ row: Int, _ column: Column, _ key: ObjKey, _ live: FoundRows?, _ claims: inout Claims
    )
        -> Bool
    {
        guard let slot = try? node.slot(row), let child = slot.subtree else { return true }
        if let live, let at = live.find(UInt64(bitPattern: key.raw)), let there = live.table.column(column.key),
            let ref = live.nodes(at.leaf).column(there),
            let leaf = try? store.node(ref), (try? leaf.slot(at.row)) == slot
        {
            return true
        }
        if !isProven, column.leafKind == .string, (try? LeafForm.endsInZero(store, child)) != true { return false }
        return claims.claimTree(child, role(.value, column.index, Int(truncatingIfNeeded: key.raw)))
    }
}

/// A table that may have remains: its existing objects, and what was found.
final class RemainingTable {
    /// Names in the report.
    enum Kind: String {
        /// The last values of an object that no longer exists.
        case deleted
        /// Earlier values of an object, which may still exist.
        case former
        /// Values of an unknown object.
        case unplaced
    }

    let table: FoundTable
    var name: Name?

    /// nil for a removed table.
    let live: FoundRows?
    private var deleted: [ObjKey: RowReader.Values] = [:]
    private var states: [ObjKey: Set<Int>] = [:]
    private var loose: Set<Int> = []
    private var liveStates: Set<Int>?
    private var byPrimaryKey: [[UInt8]: ObjKey]?

    init(_ table: FoundTable, _ live: FoundRows?) {
        (self.table, self.live) = (table, live)
        name = table.name
    }

    /// The highest column index plus one.
    var width: Int { (table.columns.map(\.index).max() ?? -1) + 1 }

    /// The table never had more objects than fit in one cluster, so the cluster begins at key 0.
    var hasOneCluster: Bool { table.sequence > 0 && table.sequence <= Format.clusterCapacity }

    /// The kind and the object of found values; nil if they contain nothing new.
    func classify(_ values: RowReader.Values, isPlaced: Bool, _ name: @escaping (TableKey) -> Name?) -> (Kind, ObjKey?)?
    {
        guard values.fields.contains(where: { $0.json != nil }) else { return nil }
        if isPlaced { return classify(values, values.key, name).map { ($0, values.key) } }
        if let pk = table.primaryKey {
            guard let text = values.fields.first(where: { $0.column == pk })?.json else { return nil }
            if let key = primaryKeys(name)[text] { return classify(values, key, name).map { ($0, key) } }
            guard loose.insert(values.hash).inserted, !deleted.values.contains(where: { agree($0, values) }) else {
                return nil
            }
            return (.deleted, nil)
        }
        guard !liveHashes(name).contains(values.hash), loose.insert(values.hash).inserted else { return nil }
        guard !deleted.values.contains(where: { agree($0, values) }) else { return nil }
        return (.unplaced, nil)
    }

    /// Whether values that may belong to this table, or to another one with such columns, contain anything new.
    func isNew(_ values: RowReader.Values, _ name: @escaping (TableKey) -> Name?) -> Bool {
        guard values.fields.contains(where: { $0.json != nil }), !liveHashes(name).contains(values.hash) else {
            return false
        }
        return loose.insert(values.hash).inserted
    }

    private func classify(_ values: RowReader.Values, _ key: ObjKey, _ name: @escaping (TableKey) -> Name?) -> Kind? {
        if let present = present(key, name) {
            guard !agree(present, values), states[key, default: []].insert(values.hash).inserted else { return nil }
            return .former
        }
        guard let last = deleted[key] else {
            deleted[key] = values
            return .deleted
        }
        guard !agree(last, values), states[key, default: []].insert(values.hash).inserted else { return nil }
        return .former
    }

    /// Whether two sets of values are equal as far as both are known.
    private func agree(_ a: RowReader.Values, _ b: RowReader.Values) -> Bool {
        b.fields.allSatisfy { field in
            guard let text = field.json, let other = a.fields.first(where: { $0.column == field.column })?.json else {
                return true
            }
            return text == other
        }
    }

    // MARK: Existing objects

    private func present(_ key: ObjKey, _ name: @escaping (TableKey) -> Name?) -> RowReader.Values? {
        guard let live, let at = live.find(UInt64(bitPattern: key.raw)) else { return nil }
        return values(live, at.leaf, at.row, key, name)
    }

    private func values(
        _ live: FoundRows, _ leaf: Int, _ row: Int, _ key: ObjKey, _ name: @escaping (TableKey) -> Name?
    ) -> RowReader.Values {
        var values = RowReader.Values(key: key)
        for column in live.table.publicColumns {
            let text = live.value(leaf, row, column).flatMap { RowReader.text($0, column, live.store, name) }
            values.fields.append(RowReader.Values.Field(column: column.key, name: column.name, json: text))
        }
        return values
    }

    private func eachLive(_ name: @escaping (TableKey) -> Name?, _ body: (RowReader.Values) -> Void) {
        guard let live else { return }
        for (i, leaf) in live.leaves.enumerated() {
            for row in 0..<leaf.count {
                guard let key = live.key(i, row) else { continue }
                body(values(live, i, row, ObjKey(Int64(bitPattern: key)), name))
            }
        }
    }

    private func liveHashes(_ name: @escaping (TableKey) -> Name?) -> Set<Int> {
        if let liveStates { return liveStates }
        var all: Set<Int> = []
        eachLive(name) { all.insert($0.hash) }
        liveStates = all
        return all
    }

    private func primaryKeys(_ name: @escaping (TableKey) -> Name?) -> [[UInt8]: ObjKey] {
        if let byPrimaryKey { return byPrimaryKey }
        var all: [[UInt8]: ObjKey] = [:]
        eachLive(name) { values in
            if let text = values.fields.first(where: { $0.column == self.table.primaryKey })?.json {
                all[text] = values.key
            }
        }
        byPrimaryKey = all
        return all
    }
}
