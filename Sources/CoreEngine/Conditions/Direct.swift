/// Compares a property of the queried class with a constant of its own type: rule D of query-language §6.
final class DirectCondition: Condition {
    let column: ColKey
    let op: CompareOperator
    let folds: Bool
    let constant: Mixed
    private let path: PathExpression
    private let right: ConstantExpression
    private let pattern: Pattern?
    private let type: ValueType
    private let foldsWritten: Bool

    override func copied() -> Condition { DirectCondition(copying: self) }

    private init(copying other: DirectCondition) {
        path = other.path.ownPath()
        (column, op, folds, constant, right) = (other.column, other.op, other.folds, other.constant, other.right)
        (pattern, type, foldsWritten) = (other.pattern, other.type, other.foldsWritten)
    }

    init(_ path: PathExpression, _ column: ColKey, _ op: CompareOperator, folding: Bool, _ right: ConstantExpression)
        throws(RealmError)
    {
        self.path = path
        self.column = column
        self.op = op == .in ? .equal : op
        self.right = right
        type = path.type
        constant = right.values.first ?? .null
        foldsWritten = folding
        switch constant {
        case .string(let bytes), .binary(let bytes):
            folds = folding
            let isPattern = op.isString || folding
            pattern =
                isPattern
                ? try Pattern(op == .in || op == .notEqual ? .equal : op, bytes, folding: folding ? .cases : []) : nil
        default:
            folds = false
            pattern = nil
        }
    }

    /// The test of whole leaves; nil if rows are tested one by one.
    private(set) var test: ColumnTest?

    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        test = nil
        if let facts = try group.table(path.end)?.facts(column), !facts.isCollection {
            test = try ColumnTest(facts.kind, op, constant, folding: folds ? .cases : [], ieee: true)
        }
    }

    override var leafTest: (column: ColKey, test: ColumnTest)? { test.map { (column, $0) } }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        if let test, try test.narrow(scan, column, mask) { return }
        try super.narrow(scan, mask)
    }

    override func tally(_ scan: ClusterScan, limit: Int) throws(RealmError) -> Int? {
        try test?.tally(scan, column, limit: limit)
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }

    override var cost: Int {
        switch type {
        case .int, .bool: 10
        case .float, .double, .timestamp, .link: 15
        case .string, .binary: op.isString ? 40 : 25
        default: 30
        }
    }

    override func text(_ printer: QueryPrinter) -> String {
        printer.direct(
            path, op, folds || (foldsWritten && constant.isNull && op.isString && (type == .string || type == .binary)),
            right)
    }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        var value = try table.peek(key, column) ?? .null
        if case .link(let target) = value {
            value = target.isUnresolved || target.isNull ? .null : .typedLink(.null, target)
        }
        if case .typedLink(_, let target) = value, target.isUnresolved { value = .null }
        return try holds(value, table.store)
    }

    private func holds(_ value: Mixed, _ store: NodeStore) throws(RealmError) -> Bool {
        if op.isString || folds { return try text(value, store) }
        switch (type, constant) {
        case (.float, .float(let wanted)):
            guard case .float(let stored) = value else { return op == .notEqual }
            return Self.ieee(op, stored, wanted)
        case (.double, .double(let wanted)):
            guard case .double(let stored) = value else { return op == .notEqual }
            return Self.ieee(op, stored, wanted)
        case (.string, _):
            // NULL sorts before every text, on both sides.
            let order =
                value.isNull ? (constant.isNull ? 0 : -1) : (constant.isNull ? 1 : Mixed.compare(value, constant))
            switch op {
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .less: return order < 0
            case .lessEqual: return order <= 0
            case .greater: return order > 0
            default: return order >= 0
            }
        default: return Comparison.holds(op, value, constant)
        }
    }

    static func ieee<F: BinaryFloatingPoint>(_ op: CompareOperator, _ value: F, _ constant: F) -> Bool {
        switch op {
        case .equal: value == constant
        case .notEqual: value != constant
        case .less: value < constant
        case .lessEqual: value <= constant
        case .greater: value > constant
        default: value >= constant
        }
    }

    private func text(_ value: Mixed, _ store: NodeStore) throws(RealmError) -> Bool {
        guard let pattern else {
            // The pattern is NULL.
            switch op {
            case .like, .equal: return value.isNull
            case .notEqual: return !value.isNull
            case .contains where foldsWritten && type == .binary: return !value.isNull
            default: return true
            }
        }
        switch (value, constant) {
        case (.string(let bytes), .string), (.binary(let bytes), .binary):
            return try pattern.matches(bytes, store) == (op != .notEqual)
        default: return op == .notEqual
        }
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? {
        if usesIndex(table), let found = try table.objects(with: constant, in: column) { return found }
        guard isEquality, let unique = try UniqueAccess(table, [self]) else { return nil }
        var kept: [ObjKey] = []
        for key in unique.keys where try matches(table, key) { kept.append(key) }
        return kept
    }

    override func lookupCount(_ table: Table) throws(RealmError) -> Int? {
        if usesIndex(table), let count = try table.count(of: constant, in: column) { return count }
        return try lookup(table)?.count
    }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        if usesIndex(table), let found = try table.objects(with: constant, in: column) {
            return IndexUse(access: .index, column: column, candidates: found.count)
        }
        return isEquality ? try UniqueAccess(table, [self]).map { IndexUse($0) } : nil
    }

    /// Whether the condition is met by exactly the objects with this value.
    var isEquality: Bool { op == .equal && !folds && !constant.isNaN }

    /// Whether an index would answer the condition.
    private func usesIndex(_ table: Table) -> Bool {
        isEquality && table.facts(column)?.isFullTextIndexed == false
    }
}

/// Tests whether a property is in a constant list, by exact type.
final class InCondition: Condition {
    let column: ColKey
    let values: [Mixed]
    private let path: PathExpression
    private let list: ConstantExpression
    private let type: ValueType
    let integers: Set<Int64>
    private let hasNull: Bool

    /// The integers, ascending, if they are few enough to compare a leaf with each of them.
    private let few: [Int64]?

    /// Texts or binary data, ascending. `list` keeps their bytes alive.
    private let texts: [Bytes]
    private var kind = LeafKind.slot

    init(_ path: PathExpression, _ column: ColKey, _ list: ConstantExpression) {
        self.path = path
        self.column = column
        self.list = list
        type = path.type
        var kept: [Mixed] = [], ints = Set<Int64>(), texts: [Bytes] = []
        for value in list.values where value.isNull || ValueType(value) == path.type {
            kept.append(value)
            switch value {
            case .int(let integer): ints.insert(integer)
            case .string(let bytes), .binary(let bytes): texts.append(bytes)
            default: break
            }
        }
        self.texts = texts.sorted { Mixed.compareBytes($0, $1) < 0 }
        values = kept
        integers = ints
        hasNull = kept.contains(where: \.isNull)
        few = ints.count <= 24 ? ints.sorted() : nil
    }

    private init(copying other: InCondition) {
        path = other.path.ownPath()
        (column, list, type, values, texts) = (other.column, other.list, other.type, other.values, other.texts)
        (integers, hasNull, few) = (other.integers, other.hasNull, other.few)
    }

    override func copied() -> Condition { InCondition(copying: self) }

    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        kind = try group.table(path.end)?.facts(column)?.kind ?? .slot
    }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        guard kind == .int, let few else { return try super.narrow(scan, mask) }
        let node = try scan.integers(column)
        let found = scan.scratch()
        defer { scan.release(1) }
        found.clear(scan.count)
        LeafLoops.among(node, 0, scan.count, few, found, scan.unpacked)
        mask.keep(found, scan.count, negated: false)
    }

    override func tally(_ scan: ClusterScan, limit: Int) throws(RealmError) -> Int? {
        guard kind == .int, let few else { return nil }
        return try scan.sum(until: limit) { () throws(RealmError) in
            LeafLoops.count(try scan.integers(column), scan.count, among: few, scan.unpacked)
        }
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override var cost: Int { 20 }

    override func text(_ printer: QueryPrinter) -> String { printer.membership(path, column, list, values) }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        holds(try table.peek(key, column) ?? .null)
    }

    func holds(_ value: Mixed) -> Bool {
        switch value {
        case .null: return hasNull
        case .int(let integer): return integers.contains(integer)
        case .string(let bytes) where type == .string, .binary(let bytes) where type == .binary:
            return holds(text: bytes)
        case .float(let number):
            for case .float(let candidate) in values where number == candidate { return true }
            return false
        case .double(let number):
            for case .double(let candidate) in values where number == candidate { return true }
            return false
        default:
            for candidate in values where Comparison.equal(value, candidate) { return true }
            return false
        }
    }

    private func holds(text: Bytes) -> Bool {
        var low = 0, high = texts.count
        while low < high {
            let middle = (low + high) / 2, order = Mixed.compareBytes(texts[middle], text)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? {
        guard table.facts(column)?.isFullTextIndexed == false, values.count <= 10_000 else { return nil }
        return try table.objects(withAnyOf: values, in: column)
    }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        try lookup(table).map { IndexUse(access: .index, column: column, candidates: $0.count) }
    }
}

/// `BETWEEN {lo, hi}`, bounds included.
final class BetweenCondition: Condition {
    let low: Condition, high: Condition
    private let print: (QueryPrinter) -> String

    init(_ low: Condition, _ high: Condition, print: @escaping (QueryPrinter) -> String) {
        self.low = low
        self.high = high
        self.print = print
    }

    override func copied() -> Condition { BetweenCondition(low.copied(), high.copied(), print: print) }

    /// Tests both bounds in one loop, if possible.
    private var test: (column: ColKey, test: ColumnTest)?
    override var leafTest: (column: ColKey, test: ColumnTest)? { test }

    override func prepare(_ group: Group) throws(RealmError) {
        try low.prepare(group)
        try high.prepare(group)
        test = nil
        if let lower = low.leafTest, let upper = high.leafTest, lower.column == upper.column,
            let both = lower.test.intersected(upper.test)
        {
            test = (lower.column, both)
        }
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        low.reads(&found, way)
        high.reads(&found, way)
    }

    override var cost: Int { low.cost + high.cost }

    override func text(_ printer: QueryPrinter) -> String { print(printer) }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        guard try low.matches(table, key) else { return false }
        return try high.matches(table, key)
    }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        if let test, try test.test.narrow(scan, test.column, mask) { return }
        try low.narrow(scan, mask)
        try high.narrow(scan, mask)
    }

    override func tally(_ scan: ClusterScan, limit: Int) throws(RealmError) -> Int? {
        guard let test else { return nil }
        return try test.test.tally(scan, test.column, limit: limit)
    }
}
