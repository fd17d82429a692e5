/// All tables of one snapshot, or of the write transaction on top of it. Format: logical §1.
///
/// Thread rule: one thread at a time, that of its transaction.
final class Group {
    let store: NodeStore

    /// The file format of the snapshot.
    let format: UInt8

    /// Whether search indexes can be used. In formats 2 to 9, which have no clusters, the indexes hold row numbers in
    /// other orders; these indexes are ignored.
    var hasUsableIndexes: Bool { format >= 10 }

    /// Is notified of every mutation; set during a write transaction.
    var log: MutationLog? {
        get { logSlot.log }
        set { logSlot.log = newValue }
    }

    let logSlot = MutationLogSlot()

    /// The rules of the file, during a write transaction; nil: the file has no rules.
    private(set) var rules: GroupRules?
    private(set) var namesRef: Ref = .null
    private(set) var tablesRef: Ref = .null
    private var names: [Name] = []

    /// The stored names of the tables whose stored name is a shortened one, by table index.
    private var storedNames: [Int: Name] = [:]

    /// The whole names of classes and properties with shortened names, and the ref of the table that has them.
    private(set) var longNames = LongNames()
    private var longNamesRef = Ref.null
    private var slots: [RefOrTagged] = []
    private var tables: [Table?] = []

    /// The elements of `tables` without reference counts, for reading single values; nil where `tables` is nil.
    private var fast: UnsafeMutablePointer<Unmanaged<Table>?> = .allocate(capacity: 1)
    private var fastCount = 0

    /// Indexes of the tables in use, in the order of their names.
    private var byName: [Int] = [] { didSet { rulesIndex = tableIndex(named: RuleTable.name) } }

    /// The index of the table of rules; nil: the file has no rules.
    private var rulesIndex: Int?

    /// Whether the file has a table of rules.
    var hasRules: Bool { rulesIndex != nil }

    /// The rows of the table of rules, while it is as in the snapshot; nil: not read yet.
    private var knownRuleRows: [(key: ObjKey, row: RuleRow)]?

    /// The rows of the table of rules.
    func ruleRows() throws(RealmError) -> [(key: ObjKey, row: RuleRow)] {
        guard let index = rulesIndex else { return [] }
        guard try !table(at: index).isModified else { return try RuleTable(self)?.rows() ?? [] }
        if let knownRuleRows { return knownRuleRows }
        let rows = try RuleTable(self)?.rows() ?? []
        knownRuleRows = rows
        return rows
    }

    /// Whether the arrays of names and tables must be written.
    var isModified = false
    private var namesModified = false

    /// Part of the keys of objects without primary key; 0 for local files. Format: logical §4.3.
    var syncFileId: UInt64 = 0

    /// - Parameter names, tables: the first two refs of the group's top array; both null for an empty file.
    init(_ store: NodeStore, format: UInt8, names: Ref, tables: Ref) throws(RealmError) {
        self.store = store
        self.format = format
        try load(names: names, tables: tables)
    }

    deinit { fast.deallocate() }

    // MARK: Savepoints

    /// The state of the group at the beginning of a savepoint.
    struct Mark {
        fileprivate let namesRef: Ref
        fileprivate let tablesRef: Ref
        fileprivate let names: [Name]
        fileprivate let storedNames: [Int: Name]
        fileprivate let longNames: LongNames
        fileprivate let longNamesRef: Ref
        fileprivate let slots: [RefOrTagged]
        fileprivate let byName: [Int]
        fileprivate let isModified: Bool
        fileprivate let namesModified: Bool
        fileprivate let rules: GroupRules?
        fileprivate let counters: [(rules: TableRules, automatic: [TableRules.Automatic])]

        /// The objects that the transaction had created before, by table index.
        fileprivate let made: [Int: [ClosedRange<UInt64>]]

        func isMade(_ object: ObjKey, in table: Table) -> Bool {
            table.isIn(made[table.tableIndex] ?? [], object)
        }
    }

    /// The objects that this transaction created before its last savepoint, for tables that are opened again.
    private var madeBefore: [Int: [ClosedRange<UInt64>]] = [:]

    /// Writes all changes into nodes.
    func mark() throws(RealmError) -> Mark {
        try flush(onlyUnwritten: true)
        var made = madeBefore
        for case let table? in tables where !table.madeSequences.isEmpty {
            made[table.tableIndex] = table.madeSequences
        }
        return Mark(
            namesRef: namesRef, tablesRef: tablesRef, names: names, storedNames: storedNames, longNames: longNames,
            longNamesRef: longNamesRef, slots: slots, byName: byName, isModified: isModified,
            namesModified: namesModified, rules: rules,
            counters: rules?.all.filter { !$0.automatic.isEmpty }.map { ($0, $0.automatic) } ?? [], made: made)
    }

    /// A savepoint began or ended: nodes that could be changed in place may have become immutable.
    func closeNodes() { for case let table? in tables { table.closeNodes() } }

    /// Goes back to the mark. Tables that did not change since stay open.
    func open(_ mark: Mark) throws(RealmError) {
        knownRuleRows = nil
        for i in tables.indices {
            guard let table = tables[i] else { continue }
            let isSame = i < mark.slots.count && mark.slots[i] == slots[i] && !table.isUnwritten
            if isSame, names[i] == mark.names[i] { continue }
            tables[i] = nil
        }
        while tables.count > mark.slots.count { tables.removeLast() }
        (namesRef, tablesRef, names, slots, byName) = (
            mark.namesRef, mark.tablesRef, mark.names, mark.slots, mark.byName
        )
        (storedNames, longNames, longNamesRef) = (mark.storedNames, mark.longNames, mark.longNamesRef)
        (isModified, namesModified, madeBefore) = (mark.isModified, mark.namesModified, mark.made)
        for (own, automatic) in mark.counters { own.restore(automatic) }
        use(mark.rules)
        updateFast()
        for case let table? in tables {
            table.madeSequences = mark.made[table.tableIndex] ?? []
            table.closeNodes()
        }
    }

    // MARK: Rules

    /// Reads the rules of the snapshot, for a write transaction.
    ///
    /// - Throws: 2001 when their format is newer than this version knows.
    func readRules() throws(RealmError) {
        if rulesIndex == nil, rules == nil { return }
        use(try GroupRules(self))
    }

    /// The table of rules changed: reads the rules again. Counters of this transaction are kept.
    func rulesChanged() throws(RealmError) {
        guard let rules else { return }
        if let store = try RuleTable(self) { for own in rules.all { try own.writeCounters(store) } }
        try readRules()
    }

    /// The write transaction has ended.
    func forgetRules() {
        madeBefore = [:]
        if rules != nil { use(nil) }
    }

    private func use(_ rules: GroupRules?) {
        self.rules = rules
        for case let table? in tables { table.rules = rules?[table.key] }
    }

    /// Updates `fast` from `tables`.
    private func updateFast() {
        if fastCount < tables.count {
            fast.deallocate()
            fast = .allocate(capacity: tables.count + 8)
        }
        fastCount = tables.count
        for i in tables.indices { fast[i] = tables[i].map { Unmanaged.passUnretained($0) } }
    }

    /// Like `table(_:)`, without a reference of its own: valid until the group moves to another snapshot.
    @inline(__always) func unmanagedTable(_ key: TableKey) throws(RealmError) -> Unmanaged<Table>? {
        let index = key.index
        if index < fastCount, let table = fast[index] {
            return table._withUnsafeGuaranteedRef { $0.key == key } ? table : nil
        }
        return try table(key).map { Unmanaged.passUnretained($0) }
    }

    /// Like `unmanagedTable`, but nil if the table was not read before.
    @inline(__always) func openTable(_ key: TableKey) -> Unmanaged<Table>? {
        guard key.index < fastCount, let table = fast[key.index], table._withUnsafeGuaranteedRef({ $0.key == key })
        else {
            return nil
        }
        return table
    }

    /// Moves to another snapshot. Tables with an unchanged ref are kept, and so are the columns of tables with an
    /// unchanged spec: their nodes cannot have been reused, because the old snapshot was pinned until now.
    func load(names newNames: Ref, tables newTables: Ref) throws(RealmError) {
        isModified = false
        namesModified = false
        knownRuleRows = nil
        guard !newTables.isNull else {
            (names, slots, tables, byName) = ([], [], [], [])
            (namesRef, tablesRef) = (.null, .null)
            forgetLongNames()
            updateFast()
            return
        }
        let refs = try Slots(store, newTables)
        guard refs.count <= 0x1_0000 else { throw .corrupt("too many tables", at: newTables.offset) }
        var newSlots: [RefOrTagged] = []
        newSlots.reserveCapacity(refs.count)
        for i in 0..<refs.count { newSlots.append(try refs.slot(i)) }
        let sameNames =
            newNames == namesRef && newSlots.count == names.count
            && zip(newSlots, slots).allSatisfy { $0.isTagged == $1.isTagged }
        var kept = [Table?](repeating: nil, count: newSlots.count)
        for i in newSlots.indices where i < slots.count && sameNames {
            guard let table = tables[i] else { continue }
            if newSlots[i] == slots[i] {
                kept[i] = table
            } else if !newSlots[i].isTagged, try table.move(to: newSlots[i].ref) {
                kept[i] = table
            }
        }
        if !sameNames {
            let node = try Names(store, newNames)
            guard node.count == newSlots.count else {
                throw .corrupt("table names and tables do not match", at: newNames.offset)
            }
            names = []
            for i in 0..<node.count { names.append(try node.get(i, store)) }
            byName = []
        }
        slots = newSlots
        tables = kept
        if !sameNames {
            storedNames = [:]
            sortNames()
        }
        updateFast()
        (namesRef, tablesRef) = (newNames, newTables)
        try readLongNames(sameNames: sameNames)
    }

    /// Gives tables their whole names. Reads the table of rules only when it changed.
    private func readLongNames(sameNames: Bool) throws(RealmError) {
        let ref = rulesIndex.map { slots[$0].ref } ?? .null
        guard ref != longNamesRef || !sameNames else { return }
        let before = longNames
        if ref != longNamesRef {
            // A file with a damaged table of rules can still be read.
            longNames =
                try RealmError.unlessDamaged { () throws(RealmError) in try RuleTable(self)?.longNames() }
                ?? LongNames()
            longNamesRef = ref
        }
        if longNames != before {
            // Open tables may have columns with other names now.
            for i in tables.indices { tables[i] = nil }
            updateFast()
        }
        guard longNames != before || !sameNames, !longNames.tables.isEmpty else { return }
        for i in liveIndexes {
            guard let name = longNames.tables[try table(at: i).key], storedNames[i] == nil else { continue }
            guard LongNames.isShortened(names[i], of: name) else { continue }
            storedNames[i] = names[i]
            names[i] = name
            tables[i] = nil
        }
        updateFast()
        sortNames()
    }

    private func sortNames() {
        // If a damaged file has a name twice, the lower index comes first.
        byName = slots.indices.filter { !slots[$0].isTagged }.sorted {
            names[$0] == names[$1] ? $0 < $1 : names[$0] < names[$1]
        }
    }

    /// Stores the whole name of a class, or of a property, whose stored name is shortened; nil removes it.
    func noteLongName(_ name: Name?, _ table: TableKey, _ column: ColKey = .null) throws(RealmError) {
        let store = try RuleTable.make(self)
        for (key, row) in try store.rows() where row.kind == .name && row.table == table && row.column == column {
            try store.remove(key)
        }
        if let name {
            try store.add(RuleRow(kind: .name, table: table, column: column, text: name.text))
            if column == .null {
                longNames.tables[table] = name
            } else {
                longNames.columns[table, default: [:]][column] = name
            }
        } else if column == .null {
            longNames.tables[table] = nil
        } else {
            longNames.columns[table]?[column] = nil
        }
    }

    /// A stored name for a table with a long name, which no other table has; nil for a short name.
    ///
    /// - Throws: 3010 for a short name that stands for the long name of another table.
    private func storedName(for name: Name) throws(RealmError) -> Name? {
        guard name.utf8.count > LongNames.storedLimit else {
            if storedNames.values.contains(name) { throw LongNames.refusal(name) }
            return nil
        }
        var attempt = 0
        while true {
            let short = LongNames.shortened(name, to: LongNames.storedLimit, attempt: attempt)
            if !names.indices.contains(where: { (storedNames[$0] ?? names[$0]) == short }) { return short }
            attempt += 1
        }
    }

    /// Discards all table objects: the nodes that they describe moved or were rolled back.
    func forgetTables() {
        knownRuleRows = nil
        (names, slots, tables, byName) = ([], [], [], [])
        forgetLongNames()
        updateFast()
        (namesRef, tablesRef) = (.null, .null)
    }

    private func forgetLongNames() { (storedNames, longNames, longNamesRef) = ([:], LongNames(), .null) }

    /// Limits the nested collections that a walk may enter. Distinct collections need eight bytes each. In a file that
    /// shares subtrees, the walk reaches the limit instead of running for a time exponential in the depth.
    private var walk: WalkLimit?

    func startWalk() { walk = WalkLimit(store, each: 8) }

    /// - Parameter ref: root of a collection that the walk enters once; null for any collection.
    func enterNested(at ref: Ref) throws(RealmError) { try walk?.enter(ref, store) }

    /// Table indexes in use.
    var liveIndexes: [Int] { slots.indices.filter { !slots[$0].isTagged } }

    func name(at index: Int) -> Name { names[index] }

    func tableIndex(named name: Name) -> Int? {
        let at = place(of: name)
        return at < byName.count && names[byName[at]] == name ? byName[at] : nil
    }

    /// Position in `byName` of the table with this name, or where it would be inserted.
    private func place(of name: Name) -> Int { byName.place { names[$0] < name } }

    /// The table at a live index.
    @inline(__always) func table(at index: Int) throws(RealmError) -> Table {
        if index < tables.count, let table = tables[index] { return table }
        return try openTable(index)
    }

    @inline(never) private func openTable(_ index: Int) throws(RealmError) -> Table {
        guard index >= 0, index < slots.count, !slots[index].isTagged else {
            throw RealmError(.noSuchTable, "No such table")
        }
        let table = try Table(group: self, index: index, name: names[index], ref: slots[index].ref)
        table.rules = rules?[table.key]
        if let made = madeBefore[index] { table.madeSequences = made }
        tables[index] = table
        updateFast()
        return table
    }

    /// The table with this key; nil if it does not exist (any more).
    @inline(__always) func table(_ key: TableKey) throws(RealmError) -> Table? {
        let index = key.index
        guard index < slots.count, !slots[index].isTagged else { return nil }
        let known = try table(at: index)
        return known.key == key ? known : nil
    }

    func table(named name: Name) throws(RealmError) -> Table? {
        guard let index = tableIndex(named: name) else { return nil }
        return try table(at: index)
    }

    /// Identifies the set of columns of a table: the ref of its spec, its key, its primary key and its type.
    func specState(_ index: Int) throws(RealmError) -> [UInt64] {
        if let table = tables[index], table.isModified {
            return [UInt64(table.key.raw)] + table.columns.map { UInt64(bitPattern: $0.key.raw) }
        }
        let top = try Slots(store, slots[index].ref)
        guard top.count > 3 else { throw .corrupt("table of an impossible size", at: top.ref.offset) }
        func word(_ index: Int) throws(RealmError) -> UInt64 {
            index < top.count ? UInt64(bitPattern: try top.slot(index).raw) : 0
        }
        return [try word(0), try word(3), try word(11), try word(12)]
    }

    // MARK: Changing

    /// Adds a table in the lowest vacant slot, with the tag that the slot holds, or at the end. Format: logical §1.
    func addTable(_ name: Name, kind: Table.Kind = .topLevel) throws(RealmError) -> Table {
        try Self.checkLength(name)
        guard tableIndex(named: name) == nil else {
            throw RealmError(.invalidName, "A table named '\(name)' exists already")
        }
        let short = try storedName(for: name)
        try ensureArrays()
        let index = slots.firstIndex(where: \.isTagged) ?? slots.count
        guard index < 0xFFFF else { throw RealmError(.limitExceeded, "A file cannot have more than 65535 tables") }
        let tag = index < slots.count ? UInt32(truncatingIfNeeded: slots[index].number ?? 0) & 0x7FFF : 0
        let key = TableKey(tag << 16 | UInt32(index))
        let ref = try Table.create(store, key: key, kind: kind)
        let place = place(of: name)
        if index == slots.count {
            slots.append(RefOrTagged(ref))
            names.append(name)
            tables.append(nil)
        } else {
            slots[index] = RefOrTagged(ref)
            names[index] = name
            tables[index] = nil
        }
        byName.insert(index, at: place)
        isModified = true
        namesModified = true
        storedNames[index] = short
        let table = try Table(group: self, index: index, name: name, ref: ref)
        tables[index] = table
        updateFast()
        log?.tableAdded(key)
        if short != nil { try noteLongName(name, key) }
        return table
    }

    /// Removes a table and its columns; error 2003 if another table has links to it. The slot then holds the tag for
    /// the next table in it.
    func removeTable(_ table: Table) throws(RealmError) {
        guard !table.isLinkTarget else {
            throw RealmError(
                .crossTableLinkTarget,
                "Cannot remove '\(table.name)' because it is the target of link columns of other tables")
        }
        let index = table.tableIndex, key = table.key
        if table.name != RuleTable.name { try RuleTable(self)?.removeRules(of: key) }
        storedNames[index] = nil
        try table.destroyAll()
        slots[index] = RefOrTagged(tagged: UInt64((key.raw >> 16 &+ 1) & 0x7FFF))
        tables[index] = nil
        byName.removeAll { $0 == index }
        names[index] = ""
        updateFast()
        isModified = true
        namesModified = true
        log?.tableErased(key)
    }

    /// Gives a table another name. Its key, and so each link to it, stays.
    func renameTable(_ table: Table, to new: Name) throws(RealmError) {
        try Self.checkLength(new)
        guard tableIndex(named: new) == nil else {
            throw RealmError(.invalidName, "A table named '\(new)' exists already")
        }
        let index = table.tableIndex, key = table.key
        let short = try storedName(for: new), wasLong = storedNames[index] != nil
        // A table knows its name: it is written back, and opened again under the new one.
        if table.isModified { slots[index] = RefOrTagged(try table.flush()) }
        let made = table.madeSequences
        tables[index] = nil
        names[index] = new
        storedNames[index] = short
        byName.removeAll { $0 == index }
        byName.insert(index, at: place(of: new))
        updateFast()
        isModified = true
        namesModified = true
        try self.table(at: index).madeSequences = made
        log?.tableRenamed(key)
        if short != nil || wasLong { try noteLongName(short == nil ? nil : new, key) }
    }

    private static func checkLength(_ name: Name) throws(RealmError) {
        try LongNames.check(name.after(Format.classPrefix) ?? name)
    }

    /// Removes every table, also link targets. Tables that are added later get new keys.
    func removeAllTables() throws(RealmError) {
        // First the rules: they would be removed class by class.
        for i in liveIndexes where names[i].hasPrefix("crealm_unique_") { try removeTable(try table(at: i)) }
        if let rules = try table(named: RuleTable.name) { try removeTable(rules) }
        for i in liveIndexes { try table(at: i).removeAllColumns() }
        for i in liveIndexes { try removeTable(try table(at: i)) }
    }

    private func ensureArrays() throws(RealmError) {
        guard tablesRef.isNull else { return }
        namesRef = try Names(new: store).ref
        tablesRef = try Slots.create(store)
    }

    /// Writes all changed tables back; afterwards `namesRef` and `tablesRef` describe the group.
    ///
    /// - Parameter onlyUnwritten: leaves out tables whose top array has all changes already.
    func flush(onlyUnwritten: Bool = false) throws(RealmError) {
        func isDue(_ table: Table?) -> Bool {
            guard let table else { return false }
            return onlyUnwritten ? table.isUnwritten : table.isModified
        }
        guard isModified || tables.contains(where: isDue) else { return }
        try ensureArrays()
        var refs = try Slots(store, tablesRef)
        try refs.makeWritable(store)
        for i in slots.indices {
            if let table = tables[i], isDue(table) { slots[i] = RefOrTagged(try table.flush()) }
            if i < refs.count { refs.set(i, slots[i], store) } else { try refs.append(slots[i], store) }
        }
        tablesRef = refs.ref
        if namesModified {
            var node = try Names(store, namesRef)
            for i in names.indices {
                let name = storedNames[i] ?? names[i]
                if i < node.count, try node.get(i, store) == name, !slots[i].isTagged { continue }
                try node.set(i, slots[i].isTagged ? nil : name, store)
            }
            namesRef = node.ref
        }
        // The arrays now have all changes: the next savepoint does not write them again.
        if onlyUnwritten { (isModified, namesModified) = (false, false) }
    }
}
