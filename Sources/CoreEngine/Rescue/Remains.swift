/// Deleted objects and former values of objects that are still in the free space of a file. Only what the version
/// before the newest still has is proven. An entry concerns an existing object only if it says so.
///
/// The order is from new to old: the newest version, the one before, top arrays of older versions, tables without a top
/// array, and finally clusters that nothing leads to. Each node is claimed on the way (`Claims`), so that new
/// data are not mistaken for the old data that they replaced.
package final class Remains {
    /// An older state of a table.
    private struct State {
        let table: FoundTable

        /// The newest version with this state; nil if unknown.
        let version: UInt64?

        /// The state belongs to the version before the newest, whose nodes are intact.
        let isProven: Bool
    }

    private let source: DamagedFile
    private let scan: NodeScan
    private let live: FoundGroup
    private var claims: Claims
    private var known: [TableKey: Set<Int>] = [:]
    private var tables: [TableKey: RemainingTable] = [:]
    private var found = JSONText()

    /// Returns the remains in a file as JSON: an array of objects (docs/salvage.md). Uses the path, the key and the
    /// progress function of the configuration.
    package static func run(_ configuration: RealmConfiguration) throws(RealmError) -> String {
        try configuration.check()
        let interruption = configuration.makeInterruption()
        return try interruption.during(.checking) { () throws(RealmError) in
            let path = try FileSystem.canonical(try configuration.checkedPath())
            let source = try DamagedFile(path, try configuration.encryption(), interruption)
            guard !OldFormats.isRead(source.format) else {
                throw RealmError(.notSupported, "Remains are found in files of formats from 10 on", path: path)
            }
            return try Remains(source).text()
        }
    }

    private init(_ source: DamagedFile) throws(RealmError) {
        self.source = source
        guard let root = source.roots.first, root.origin == .newest, case let group = FoundGroup(source.store, root),
            group.reason == nil,
            !group.isDamaged
        else {
            throw RealmError(
                .invalidDatabase, "The newest version of the data cannot be read: salvage the file first",
                path: source.file.path)
        }
        live = group
        claims = Claims(source.store, free: source.unusedSpace())
        scan = try NodeScan(source)
    }

    private func text() throws(RealmError) -> String {
        let states = olderStates()
        try readLive(states)
        var heads = scan.heads[...]
        try found.array { (out) throws(RealmError) in
            for state in states {
                while let head = heads.first, head.version >= state.version ?? 0 {
                    claims.claimHead(heads.removeFirst().ref)
                }
                try read(state, &out)
            }
            for head in heads { claims.claimHead(head.ref) }
            try readStrays(&out)
        }
        return found.text
    }

    // MARK: States

    private func olderStates() -> [State] {
        var states: [State] = [], seen: Set<Int> = []
        for i in 0..<live.count { if case .table(let table) = live.state(i) { seen.insert(table.top.offset) } }
        func add(_ group: FoundGroup, _ version: UInt64?, isProven: Bool) {
            for i in 0..<group.count {
                guard case .table(let table) = group.state(i), seen.insert(table.top.offset).inserted else { continue }
                states.append(State(table: table, version: version, isProven: isProven))
            }
        }
        let newest = source.roots[0]
        for root in source.roots.dropFirst() where root.version + 1 == newest.version {
            add(FoundGroup(source.store, root), root.version, isProven: true)
        }
        for top in scan.tops where top.version < newest.version {
            guard let root = try? DamagedFile.root(source.store, .scanned, top.ref, source.format) else { continue }
            add(FoundGroup(source.store, root), top.version, isProven: false)
        }
        for top in scan.tables.sorted(by: { $0.contentVersion > $1.contentVersion })
        where seen.insert(top.ref.offset).inserted {
            guard
                let table = try? FoundTable(
                    source.store, top.ref, index: top.key.index, name: nil, format: source.format)
            else { continue }
            states.append(State(table: table, version: nil, isProven: false))
        }
        return states
    }

    /// Reads the existing objects and records their nodes.
    private func readLive(_ states: [State]) throws(RealmError) {
        for i in 0..<live.count {
            guard case .table(let table) = live.state(i) else { continue }
            tables[table.key] = RemainingTable(table, FoundRows(source.store, table))
        }
        // Removed tables get the last name that is known.
        for state in states where tables[state.table.key] == nil || tables[state.table.key]?.name == nil {
            if let table = tables[state.table.key] {
                table.name = state.table.name
            } else {
                tables[state.table.key] = RemainingTable(state.table, nil)
            }
        }
        for (key, table) in tables {
            guard let rows = table.live else { continue }
            known[key] = Set(rows.inner.map(\.offset) + rows.leaves.map(\.ref.offset))
            for i in rows.leaves.indices {
                try source.store.test(i, of: rows.leaves.count)
                let reader = RowReader(rows, i)
                reader.note(&claims)
            }
        }
    }

    private func name(_ key: TableKey) -> Name? { tables[key]?.name }

    // MARK: Reading

    private func read(_ state: State, _ out: inout JSONText) throws(RealmError) {
        let key = state.table.key
        let rows = FoundRows(source.store, state.table, except: known[key] ?? [])
        known[key, default: []].formUnion(rows.inner.map(\.offset) + rows.leaves.map(\.ref.offset))
        claims.claimTable(state.table.top, rows.inner)
        for i in rows.leaves.indices {
            try source.store.test(i, of: rows.leaves.count)
            read(rows, i, state.version, state.isProven, isPlaced: true, &out)
        }
    }

    /// - Parameter isOfTable: the table of the cluster is known from more than its shape.
    private func read(
        _ rows: FoundRows, _ leaf: Int, _ version: UInt64?, _ isProven: Bool, isPlaced: Bool, isOfTable: Bool = true,
        _ out: inout JSONText
    ) {
        guard let table = tables[rows.table.key] else { return }
        let reader = RowReader(rows, leaf, isProven: isProven)
        guard reader.claim(&claims, name) else { return }
        let isSure = isProven || reader.isWitnessed || isOfTable && !reader.isContradicted
        if isSure { reader.makeSure(&claims) }
        for row in 0..<rows.leaves[leaf].count {
            let values = reader.values(row, isPlaced: isPlaced && isSure, table.live, &claims, name)
            var found = Finding(
                kind: .unplaced, table: table.name.map { ($0.after(Format.classPrefix) ?? $0).text }, version: version,
                isProven: isProven,
                ref: rows.leaves[leaf].ref)
            // If one value was overwritten and nothing confirms the others, all of them may belong to something else.
            if isSure && (isProven || reader.isWitnessed || values.fields.allSatisfy({ $0.json != nil })) {
                guard let (kind, key) = table.classify(values, isPlaced: isPlaced, name) else { continue }
                (found.kind, found.key) = (kind, key)
            } else {
                guard table.isNew(values, name) else { continue }
                (found.resembles, found.table, found.version) = (found.table, nil, nil)
            }
            write(found, values, &out)
        }
    }

    /// What is reported about an object besides its values.
    private struct Finding {
        var kind: RemainingTable.Kind
        var table: String?

        /// The class whose columns were used to read the values, if it is not certain that they belong to it.
        var resembles: String?
        var key: ObjKey?
        var version: UInt64?
        let isProven: Bool
        let ref: Ref
    }

    private func write(_ found: Finding, _ values: RowReader.Values, _ out: inout JSONText) {
        out.object { object in
            object.field("kind") { $0.text(found.kind.rawValue) }
            object.field("class") { $0.text(found.table) }
            object.field("key") { $0.number(found.key?.raw) }
            object.field("version") { $0.number(found.version.map { Int64(bitPattern: $0) }) }
            object.field("proven") { $0.bool(found.isProven) }
            object.field("resembles") { $0.text(found.resembles) }
            object.field("offset") { $0.number(Int64(found.ref.offset)) }
            object.field("bytes") { $0.number(Int64((try? source.store.node(found.ref))?.size ?? 0)) }
            object.field("values") { field in
                field.object { members in
                    for value in values.fields {
                        if let text = value.json { members.field(value.name.text) { $0.raw(text) } }
                    }
                }
            }
            object.field("lost") { $0.array(values.fields.filter { $0.json == nil }) { $0.text($1.name.text) } }
        }
    }

    /// Reads clusters that nothing leads to and that fit exactly one table.
    private func readStrays(_ out: inout JSONText) throws(RealmError) {
        let reached = known.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
        let kinds = tables.values.sorted { $0.table.key.raw < $1.table.key.raw }
        for ref in scan.clusters where !reached.contains(ref.offset) {
            try source.store.test()
            guard let node = try? source.store.node(ref), claims.isFree(ref.offset, node.size) else { continue }
            let fitting = kinds.filter { node.count > $0.width && !$0.table.columns.isEmpty }.map {
                FoundRows(source.store, $0.table, among: [ref])
            }
            let fits = fitting.filter { !$0.leaves.isEmpty }
            // A cluster that fits two tables is assigned to neither.
            guard fits.count == 1, let table = tables[fits[0].table.key] else { continue }
            read(fits[0], 0, nil, false, isPlaced: table.hasOneCluster, isOfTable: live.hasNothingRemoved, &out)
        }
    }
}
