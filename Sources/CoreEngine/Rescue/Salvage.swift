/// Creates a new file with everything that a damaged file still holds.
package final class Salvage {
    private let source: DamagedFile

    /// The tables according to each root, the most trusted first. Tables found by a scan have no root in the file.
    private var groups: [FoundGroup] = []
    private var origins: [SalvageReport.Root] = []

    /// The result of a scan of the whole file; nil if no scan was needed so far.
    private var scan: NodeScan?
    private var tables: [SalvagedTable] = []
    private var byKey: [TableKey: SalvagedTable] = [:]
    private var report = SalvageReport()

    /// Names of lost tables, by table index.
    private var lostNames: [Int: Name] = [:]

    /// Reads the file of `from` and writes the file of `to`, which must not exist. Uses the path, the key and the
    /// progress function of `from`, and the path, the key and the page cipher of `to`.
    package static func run(
        _ from: RealmConfiguration, to: RealmConfiguration, interruption: Interruption? = nil
    ) throws(RealmError) -> SalvageReport {
        try from.check()
        try to.check()
        let out = try FileSystem.canonical(try to.checkedPath()), encryption = try to.encryption()
        guard !FileSystem.exists(out) else { throw FileSystem.alreadyExists(out) }
        let interruption = interruption ?? from.makeInterruption()
        return try interruption.during(.copying) { () throws(RealmError) in
            let source = try DamagedFile(
                try FileSystem.canonical(try from.checkedPath()), try from.encryption(), interruption)
            let salvage = try Salvage(source)
            if let root = source.roots.first { salvage.report.check = try source.check(root, interruption) }
            try salvage.write(out, encryption, interruption)
            return salvage.report
        }
    }

    private init(_ source: DamagedFile) throws(RealmError) {
        self.source = source
        readRoots()
        let isSure = source.roots.first?.origin == .newest && source.isHeaderSure
        if !isSure || groups[0].reason != nil || groups[0].isDamaged { try scanFile() }
        guard
            groups.contains(where: { $0.reason == nil && $0.count > 0 })
                || groups.first?.reason == nil && !source.roots.isEmpty
        else {
            let reason =
                source.file.isEncrypted
                ? "what is needed cannot be decrypted" : source.badRoots.first?.reason ?? "no header"
            throw RealmError(
                .invalidDatabase, "Nothing can be salvaged: no version of the data was found (\(reason))",
                path: source.file.path)
        }
    }

    /// Looks for nodes that no root leads to.
    private func scanFile() throws(RealmError) {
        guard !OldFormats.isRead(source.format) else { return }
        let found = try NodeScan(source)
        // If a root leads to tables, other top arrays belong to older versions.
        if groups.allSatisfy({ $0.reason != nil }) {
            source.addScanned(found)
        } else if !source.isHeaderSure {
            source.addNewer(found)
        }
        scan = found
        readRoots()
        guard !found.tables.isEmpty else { return }
        let first = groups.firstIndex { $0.reason == nil } ?? groups.count
        let all = FoundGroup(source.store, found, format: source.format)
        if first < groups.count, source.roots[first].origin != .newest {
            // A root of origin `previous` has exactly one newer version, else the header would not name it: a table
            // that is one commit ahead belongs to that version. A scanned root may have many newer versions.
            let isLast = source.roots[first].origin == .previous
            if let newer = FoundGroup(all, behind: groups[first], found, isLast: isLast) { insert(newer, at: first) }
        }
        insert(all, at: groups.count)
    }

    private func readRoots() {
        groups = source.roots.map { FoundGroup(source.store, $0) }
        if let scan { for i in groups.indices { groups[i].takeNames(scan) } }
        origins = zip(source.roots, groups).map { (root, group) in
            SalvageReport.Root(
                origin: root.origin.rawValue, top: root.top.offset, version: root.version, reason: group.reason)
        }
    }

    private func insert(_ group: FoundGroup, at place: Int) {
        groups.insert(group, at: place)
        origins.insert(
            SalvageReport.Root(origin: DamagedFile.Root.Origin.scanned.rawValue, top: 0, version: 0, reason: nil),
            at: place)
    }

    // MARK: Writing

    /// Builds the objects in a write transaction that is never committed, and writes the state that this transaction
    /// sees to a new file.
    private func write(_ out: String, _ encryption: Encryption?, _ interruption: Interruption) throws(RealmError) {
        let scratch = ScratchFile(for: out, ".tmp_salvage_")
        defer { scratch.remove() }
        let database = try Database.open(path: scratch.path, access: .readWrite(create: true), durability: .memoryOnly)
        let transaction = try Transaction(database)
        defer { transaction.close() }
        // The first commit creates the history that a file needs.
        _ = try transaction.beginWrite()
        try transaction.commit()
        transaction.interruption = interruption
        _ = try transaction.beginWrite()
        defer { try? transaction.rollback() }
        transaction.group.log = nil
        try fill(transaction.group)
        try source.file.verifyWhole()
        try transaction.writeCopy(to: out, encryption)
        (report.pages, report.pageCount) = try source.damagedPages()
        finishReport()
    }

    private func fill(_ group: Group) throws(RealmError) {
        try makeTables(group)
        try makeLostTargets(group)
        try findStrays()
        for salvaged in tables { salvaged.addColumns(byKey) }
        let owners = try Owners(source, byKey)
        for salvaged in tables {
            try salvaged.makeObjects(group) { key in
                !salvaged.table.isEmbedded || owners.owner(of: salvaged.found.key, key) != nil
            }
        }
        let copy = ValueCopy(source, group, byKey.mapValues(\.table), owners)
        for salvaged in tables { try salvaged.copyValues(copy) }
        for salvaged in tables { try salvaged.addIndexes() }
        try dropUselessMetadata(group)
    }

    /// Removes the table of the schema version if its column or its object is missing: the table is then useless, and
    /// realm-core does not open a file with it.
    private func dropUselessMetadata(_ group: Group) throws(RealmError) {
        guard let table = try group.table(named: Tables.metadata),
            try group.readSchemaVersion() == SchemaLimits.notVersioned
        else { return }
        try group.removeTable(table)
    }

    // MARK: Tables

    /// Creates each table from the first root that knows its place. If a root says that the place is empty, later roots
    /// are ignored.
    private func makeTables(_ group: Group) throws(RealmError) {
        let end = groups.reduce(0) { max($0, $1.count) }
        for index in 0..<end {
            var reason: String?, name: Name?
            search: for (root, rootGroup) in groups.enumerated() {
                switch rootGroup.state(index) {
                case .unknown: continue
                case .none: break search
                case .lost(let lostName, let why):
                    reason = reason ?? why
                    name = name ?? lostName
                case .table(let found):
                    try add(found, from: root, name, group)
                    reason = nil
                    break search
                }
            }
            if let name { lostNames[index] = name }
            if let reason { report.lostClasses.append((name.map { $0.after(Format.classPrefix) ?? $0 }, reason)) }
        }
    }

    /// Creates lost classes that have links to them, without objects, so that the properties with these links can be
    /// kept.
    private func makeLostTargets(_ group: Group) throws(RealmError) {
        for salvaged in tables {
            for column in salvaged.found.publicColumns
            where column.type == .link && !column.oppositeTable.isNull && byKey[column.oppositeTable] == nil {
                try add(
                    FoundTable(lost: column.oppositeTable, name: lostNames[column.oppositeTable.index]),
                    from: groups.count, nil,
                    group)
            }
        }
    }

    private func add(_ found: FoundTable, from root: Int, _ name: Name?, _ group: Group) throws(RealmError) {
        var found = found
        if found.name == nil { found.name = name }
        for rootGroup in groups { if let other = rootGroup.table(found.key) { found.complete(from: other) } }
        if let name = found.name, let restored = className(of: found, name) {
            (found.name, found.hasNames) = (restored, false)
        }
        var free = found.name ?? Name("class_lost_\(found.key.index)")
        if free.utf8.count > 63 || group.tableIndex(named: free) != nil { free = Name("class_lost_\(found.key.index)") }
        let table = try group.addTable(free, kind: found.kind)
        let sources =
            root == groups.count
            ? []
            : groups.enumerated().map { (i, rootGroup) in
                i < root ? nil : rootGroup.table(found.key).map { FoundRows(source.store, $0) }
            }
        let salvaged = SalvagedTable(found, MergedRows(sources), table)
        tables.append(salvaged)
        byKey[found.key] = salvaged
    }

    /// The name of a class whose prefix is damaged: part of the prefix is left, or a class has links to it. Without the
    /// prefix, the class would be invisible.
    private func className(of found: FoundTable, _ name: Name) -> Name? {
        let prefix = Format.classPrefix, length = prefix.utf8.count
        guard !name.hasPrefix(prefix) else { return nil }
        if name.utf8.count > length, zip(name.utf8, prefix.utf8).count(where: { $0 == $1 }) >= length - 2 {
            return prefix + Name(String(decoding: name.utf8.dropFirst(length), as: UTF8.self))
        }
        let ends = found.columns.filter { $0.type == .link || $0.isBacklink }.map(\.oppositeTable)
        return ends.contains { key in groups.contains { $0.table(key)?.name?.hasPrefix(prefix) ?? false } }
            ? prefix + name : nil
    }

    // MARK: Unreachable clusters

    /// Finds clusters of tables that lost some of theirs. Clusters in free space belong to an older version, and a
    /// cluster that fits two tables is assigned to neither.
    private func findStrays() throws(RealmError) {
        let incomplete = tables.filter { !$0.rows.unknown.isEmpty && !$0.found.columns.isEmpty }
        guard !incomplete.isEmpty, !OldFormats.isRead(source.format), let free = source.freeSpace() else { return }
        if scan == nil { scan = try NodeScan(source) }
        var known: Set<Int> = []
        for salvaged in tables {
            for case let rows? in salvaged.rows.sources { for leaf in rows.leaves { known.insert(leaf.ref.offset) } }
        }
        let strays = (scan?.clusters ?? []).filter { ref in
            guard !known.contains(ref.offset) else { return false }
            let i = free.place { $0.end <= ref.offset }
            return i == free.count || free[i].offset > ref.offset
        }
        let candidates = incomplete.map { FoundRows(source.store, $0.found, among: strays) }
        var owners: [Int: Int] = [:]
        for candidate in candidates { for leaf in candidate.leaves { owners[leaf.ref.offset, default: 0] += 1 } }
        for (salvaged, candidate) in zip(incomplete, candidates) {
            let own = candidate.leaves.map(\.ref).filter { owners[$0.offset] == 1 }
            if !own.isEmpty { salvaged.rows.strays = FoundRows(source.store, salvaged.found, among: own) }
        }
    }

    // MARK: Report

    private func finishReport() {
        report.format = source.roots.first?.format ?? source.format
        report.version = source.roots.first?.version ?? 0
        for salvaged in tables {
            if salvaged.table.className != nil {
                report.classes.append(salvaged.report)
            } else if !salvaged.report.isWhole {
                report.otherTablesAreWhole = false
            }
        }
        report.roots = origins
        report.roots += source.badRoots.map {
            SalvageReport.Root(origin: $0.origin.rawValue, top: $0.top.offset, version: 0, reason: $0.reason)
        }
    }
}
