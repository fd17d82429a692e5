/// A condition on rows. `matches` tests one row; `narrow` tests a whole cluster.
///
/// The bound parts never change. Everything else that a run needs (buffers, tests, tables) is set by `prepare` and
/// belongs to that run.
class Condition: RowTest {
    /// A copy for a separate run, which can take place on another thread at the same time. `copied` reads nothing that
    /// a run changes.
    func copied() -> Condition { self }

    func prepare(_ group: Group) throws(RealmError) {}

    func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool { true }

    /// Subclasses override `text`, or `write` if they contain other conditions.
    func text(_ printer: QueryPrinter) -> String { printer.captured { write($0) } }

    func write(_ printer: QueryPrinter) { printer.out += text(printer) }

    /// Adds the properties that decide the result. `way` leads from the row to the tested object.
    func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { found.addAnything() }

    /// Rough cost of testing one row. Cheap conditions are tested first.
    var cost: Int { 100 }

    static func cheapestFirst(_ parts: [Condition]) -> [Condition] {
        let costs = parts.map(\.cost)
        return parts.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.map { parts[$0] }
    }

    /// Clears the marks of rows that do not match. The default tests each marked row.
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        for row in 0..<scan.count where mask[row] != 0 {
            try scan.store.test()
            if try !matches(scan.table, scan.key(row)) { mask[row] = 0 }
        }
    }

    /// The equivalent test of one property, if there is one. Valid after `prepare`.
    var leafTest: (column: ColKey, test: ColumnTest)? { nil }

    /// Number of matching rows of a scan that has not begun, or at least `limit` if there are more. Returns nil, and
    /// reads nothing, if the rows cannot be counted without a mask.
    func tally(_ scan: ClusterScan, limit: Int) throws(RealmError) -> Int? { nil }

    /// Number of matching rows, if an index answers without a scan; nil means scan.
    func lookupCount(_ table: Table) throws(RealmError) -> Int? { try lookup(table)?.count }

    /// Keys of the matching rows, ascending, if an index answers without a scan; nil means scan.
    func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { nil }

    /// How `lookup` finds its rows; nil if `lookup` returns nil. Exception: a true `ConstantCondition`.
    func indexUse(_ table: Table) throws(RealmError) -> IndexUse? { nil }
}

final class ConstantCondition: Condition {
    let value: Bool

    init(_ value: Bool) { self.value = value }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool { value }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {}

    override func text(_ printer: QueryPrinter) -> String { value ? "TRUEPREDICATE" : "FALSEPREDICATE" }
    override var cost: Int { 0 }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        if !value { mask.clear(scan.count) }
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { value ? nil : [] }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        IndexUse(access: .nothing, column: .null, candidates: 0)
    }
}

final class AndCondition: Condition {
    /// In the order of the query text.
    let parts: [Condition]

    /// Cheapest part first.
    private let ordered: [Condition]

    /// The largest cost of the parts. Stored, because conditions at each level above ask for it.
    private let total: Int

    init(_ parts: [Condition]) {
        self.parts = parts
        ordered = Self.cheapestFirst(parts)
        total = parts.map(\.cost).max() ?? 0
    }

    override func copied() -> Condition { AndCondition(parts.map { $0.copied() }) }

    override func prepare(_ group: Group) throws(RealmError) { for part in parts { try part.prepare(group) } }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        for part in parts { part.reads(&found, way) }
    }
    override var cost: Int { total }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        for part in ordered { if try !part.matches(table, key) { return false } }
        return true
    }

    override func write(_ printer: QueryPrinter) { printer.and(parts) }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        for part in ordered {
            try part.narrow(scan, mask)
            if mask.isEmpty(scan.count) { return }
        }
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? {
        let unique = try UniqueAccess(table, parts)
        if let unique, unique.isWhole { return try matching(unique.keys, table) }
        for (i, part) in ordered.enumerated() {
            guard try isWorthwhile(part, table), let keys = try part.lookup(table) else { continue }
            return try matching(keys, table, without: i)
        }
        return try unique.map { (found) throws(RealmError) in try matching(found.keys, table) }
    }

    /// Whether testing the objects that an index finds for a part is faster than a scan of all: the class is small, or
    /// few objects are found.
    private func isWorthwhile(_ part: Condition, _ table: Table) throws(RealmError) -> Bool {
        guard ordered.count > 1, let direct = part as? DirectCondition, let count = try direct.lookupCount(table) else {
            return true
        }
        return try count <= UniqueAccess.most(table)
    }

    /// - Parameter known: the part that all of them meet.
    private func matching(_ keys: [ObjKey], _ table: Table, without known: Int? = nil) throws(RealmError) -> [ObjKey] {
        var kept: [ObjKey] = []
        next: for key in keys {
            try table.test()
            for (i, part) in ordered.enumerated() where i != known {
                if try !part.matches(table, key) { continue next }
            }
            kept.append(key)
        }
        return kept
    }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        let unique = try UniqueAccess(table, parts)
        if let unique, unique.isWhole { return IndexUse(unique) }
        for part in ordered where !((part as? ConstantCondition)?.value ?? false) {
            guard try isWorthwhile(part, table), var use = try part.indexUse(table) else { continue }
            use.isTested = use.isTested || ordered.count > 1
            return use
        }
        return unique.map { IndexUse($0) }
    }
}

final class OrCondition: Condition {
    let parts: [Condition]
    private let ordered: [Condition]

    /// The sum of the costs of the parts. Stored, because conditions at each level above ask for it.
    private let total: Int

    init(_ parts: [Condition]) {
        self.parts = parts
        ordered = Self.cheapestFirst(parts)
        total = parts.map(\.cost).reduce(0, +)
    }

    override func copied() -> Condition { OrCondition(parts.map { $0.copied() }) }

    /// A step of `narrow`: the negation of a leaf test if there is one, otherwise a part.
    private enum Step {
        case opposite(ColKey, ColumnTest, of: Unmanaged<Condition>)
        case part(Unmanaged<Condition>)
    }

    private var steps: [Step] = []

    override func prepare(_ group: Group) throws(RealmError) {
        for part in parts { try part.prepare(group) }
        steps = []
        for part in ordered {
            guard let found = part.leafTest, let opposite = found.test.negation else {
                steps.append(.part(.passUnretained(part)))
                continue
            }
            // Equality with several constants needs one pass over the leaf.
            if case .opposite(let column, let last, let first)? = steps.last, column == found.column,
                let both = last.intersected(opposite)
            {
                steps[steps.count - 1] = .opposite(column, both, of: first)
            } else {
                steps.append(.opposite(found.column, opposite, of: .passUnretained(part)))
            }
        }
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        for part in parts { part.reads(&found, way) }
    }
    override var cost: Int { total }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        for part in ordered { if try part.matches(table, key) { return true } }
        return false
    }

    override func write(_ printer: QueryPrinter) { printer.or(parts) }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        // `open` holds the rows that no part has accepted yet. Only they are tested by the next part.
        let open = scan.scratch(), count = scan.count
        defer { scan.release(1) }
        open.copy(mask, count)
        for step in steps {
            let part: Unmanaged<Condition>
            switch step {
            case .opposite(let column, let test, let condition):
                // One loop removes the rows that the test accepts. If the test does not support the leaf, the part
                // itself decides.
                if try test.narrow(scan, column, open) { continue }
                part = condition
            case .part(let condition): part = condition
            }
            let tried = scan.scratch()
            defer { scan.release(1) }
            tried.copy(open, count)
            try part.borrow { (p) throws(RealmError) in try p.narrow(scan, tried) }
            open.subtract(tried, count)
            if open.isEmpty(count) { return }
        }
        mask.subtract(open, count)
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? {
        var all: [ObjKey] = []
        for part in parts {
            guard let keys = try part.lookup(table) else { return nil }
            all += keys
        }
        all.sort()
        var unique: [ObjKey] = []
        for key in all where unique.last != key { unique.append(key) }
        return unique
    }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        var all: IndexUse?
        for part in parts {
            guard try part.lookup(table) != nil, let use = try part.indexUse(table) else { return nil }
            guard let first = all, first.access != .nothing else {
                all = use
                continue
            }
            all = IndexUse(
                access: first.access, column: first.column, candidates: first.candidates + use.candidates,
                isTested: first.isTested || use.isTested)
        }
        return all
    }
}

final class NotCondition: Condition {
    let part: Condition

    init(_ part: Condition) { self.part = part }

    override func copied() -> Condition { NotCondition(part.copied()) }

    override func prepare(_ group: Group) throws(RealmError) { try part.prepare(group) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { part.reads(&found, way) }
    override var cost: Int { part.cost }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool { try !part.matches(table, key) }

    override func write(_ printer: QueryPrinter) { printer.not(part) }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        let tried = scan.scratch()
        defer { scan.release(1) }
        tried.copy(mask, scan.count)
        try part.narrow(scan, tried)
        mask.subtract(tried, scan.count)
    }
}
