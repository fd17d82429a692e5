/// What a row must meet. `matches` tests one row; `narrow` (in `Scan.swift`) a whole cluster.
///
/// What is bound never changes; what a run needs besides (buffers, tests, tables) is set by `prepare` and belongs to that run.
class Condition {
    /// The same for a run of its own, beside others on other threads. Reads nothing that a run changes.
    func copied() -> Condition { self }
    func prepare(_ group: Group) throws(RealmError) {}
    func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool { true }
    /// A kind of condition overrides `text`, or `write` when it holds others.
    func text(_ p: QueryPrinter) -> String { p.captured { write($0) } }
    func write(_ p: QueryPrinter) { p.out += text(p) }
    /// Names what decides. `way` leads from the row to the object that is tested.
    func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { found.addAnything() }
    /// Rough cost of testing one row: cheap conditions come first.
    var cost: Int { 100 }
    static func cheapestFirst(_ parts: [Condition]) -> [Condition] {
        let costs = parts.map(\.cost)
        return parts.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.map { parts[$0] }
    }
    /// Clears the marks of rows that do not match. The default tests each marked row.
    func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        for row in 0..<scan.count where mask[row] != 0 {
            if try !matches(scan.table, scan.key(row)) { mask[row] = 0 }
        }
    }
    /// The test of one property that says as much, when there is one; after `prepare`.
    var leafTest: (column: ColKey, test: ColumnTest)? { nil }
    /// Number of matching rows of the present cluster, when they can be counted without marking them.
    func tally(_ scan: ClusterScan) throws(RealmError) -> Int? { nil }
    /// Number of rows that match, when an index answers without a scan; nil: scan.
    func lookupCount(_ table: Table) throws(RealmError) -> Int? { try lookup(table)?.count }
    /// Keys of the rows that match, ascending, when an index answers without a scan; nil: scan.
    func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { nil }
}

final class ConstantCondition: Condition {
    let value: Bool
    init(_ value: Bool) { self.value = value }
    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool { value }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {}
    override func text(_ p: QueryPrinter) -> String { value ? "TRUEPREDICATE" : "FALSEPREDICATE" }
    override var cost: Int { 0 }
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) { if !value { mask.clear(scan.count) } }
    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { value ? nil : [] }
}

final class AndCondition: Condition {
    /// As written.
    let parts: [Condition]
    /// The cheapest first.
    private let ordered: [Condition]
    /// Asked for by the conditions around, at each of their levels.
    private let total: Int
    init(_ parts: [Condition]) {
        self.parts = parts
        ordered = Self.cheapestFirst(parts)
        total = parts.map(\.cost).max() ?? 0
    }
    override func copied() -> Condition { AndCondition(parts.map { $0.copied() }) }
    override func prepare(_ group: Group) throws(RealmError) { for p in parts { try p.prepare(group) } }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { for p in parts { p.reads(&found, way) } }
    override var cost: Int { total }
    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        for p in ordered { if try !p.matches(table, key) { return false } }
        return true
    }
    override func write(_ p: QueryPrinter) { p.and(parts) }
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        for p in ordered {
            try p.narrow(scan, mask)
            if mask.isEmpty(scan.count) { return }
        }
    }
    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? {
        for (i, p) in ordered.enumerated() {
            guard let keys = try p.lookup(table) else { continue }
            var kept: [ObjKey] = []
            next: for k in keys {
                for (j, q) in ordered.enumerated() where j != i { if try !q.matches(table, k) { continue next } }
                kept.append(k)
            }
            return kept
        }
        return nil
    }
}

final class OrCondition: Condition {
    let parts: [Condition]
    private let ordered: [Condition]
    /// Asked for by the conditions around, at each of their levels.
    private let total: Int
    init(_ parts: [Condition]) {
        self.parts = parts
        ordered = Self.cheapestFirst(parts)
        total = parts.map(\.cost).reduce(0, +)
    }
    override func copied() -> Condition { OrCondition(parts.map { $0.copied() }) }
    /// What a cluster is narrowed by, one after the other: the opposite of a leaf test where there is one, else a part.
    private enum Step {
        case opposite(ColKey, ColumnTest, of: Unmanaged<Condition>)
        case part(Unmanaged<Condition>)
    }
    private var steps: [Step] = []
    override func prepare(_ group: Group) throws(RealmError) {
        for p in parts { try p.prepare(group) }
        steps = []
        for p in ordered {
            guard let t = p.leafTest, let opposite = t.test.negation else {
                steps.append(.part(.passUnretained(p)))
                continue
            }
            // Equality with several constants: one pass over the leaf.
            if case .opposite(let column, let last, let first)? = steps.last, column == t.column, let both = last.intersected(opposite) {
                steps[steps.count - 1] = .opposite(column, both, of: first)
            } else {
                steps.append(.opposite(t.column, opposite, of: .passUnretained(p)))
            }
        }
    }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { for p in parts { p.reads(&found, way) } }
    override var cost: Int { total }
    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        for p in ordered { if try p.matches(table, key) { return true } }
        return false
    }
    override func write(_ p: QueryPrinter) { p.or(parts) }
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        // What no part has accepted yet is offered to the next.
        let open = scan.scratch(), count = scan.count
        defer { scan.release(1) }
        open.copy(mask, count)
        for step in steps {
            let part: Unmanaged<Condition>
            switch step {
            case .opposite(let column, let test, let p):
                // The rows that a test accepts go out in one loop; a leaf that it does not know is the part's.
                if try test.narrow(scan, column, open) { continue }
                part = p
            case .part(let p): part = p
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
        for p in parts {
            guard let keys = try p.lookup(table) else { return nil }
            all += keys
        }
        all.sort()
        var unique: [ObjKey] = []
        for k in all where unique.last != k { unique.append(k) }
        return unique
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
    override func write(_ p: QueryPrinter) { p.not(part) }
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        let tried = scan.scratch()
        defer { scan.release(1) }
        tried.copy(mask, scan.count)
        try part.narrow(scan, tried)
        mask.subtract(tried, scan.count)
    }
}

// MARK: Comparing values

enum Comparison {
    /// Rule E of query-language §6.
    static func holds(_ op: CompareOperator, _ a: Mixed, _ b: Mixed) -> Bool {
        switch op {
        case .equal, .in: return equal(a, b)
        case .notEqual: return !equal(a, b)
        default: break
        }
        if a.isNull || b.isNull { return a.isNull && b.isNull && (op == .lessEqual || op == .greaterEqual) }
        guard ordered(a, b) else { return false }
        let order = Mixed.compare(a, b)
        switch op {
        case .less: return order < 0
        case .lessEqual: return order <= 0
        case .greater: return order > 0
        default: return order >= 0
        }
    }
    static func equal(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        // Two whole lists, or two whole dictionaries, count as equal, as in sorting.
        case (.list, .list), (.dictionary, .dictionary): return true
        case (.list, _), (_, .list), (.dictionary, _), (_, .dictionary): return false
        case (.typedLink(let t, let x), .typedLink(let u, let y)): return x == y && (t == u || t.isNull || u.isNull)
        default: return ordered(a, b) && Mixed.compare(a, b) == 0
        }
    }
    /// Whether the types of two values compare with each other.
    private static func ordered(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.int, .int), (.string, .string): true
        case (.list, .list), (.dictionary, .dictionary): true
        case (.list, _), (.dictionary, _), (_, .list), (_, .dictionary): false
        case (.typedLink, .typedLink): true
        default: ValueType.comparable(ValueType(a), ValueType(b))
        }
    }
    /// String operators on values that are not both text (or both binary): never, but for NULL patterns. Rules: query-language §11.
    static func string(_ op: CompareOperator, folding: Bool, _ a: Mixed, _ b: Mixed) -> Bool {
        if b.isNull {
            switch op {
            case .contains: return !a.isNull
            case .like: return a.isNull
            case .equal, .in: return a.isNull
            case .notEqual: return !a.isNull
            default: return false
            }
        }
        if a.isNull { return op == .notEqual }
        switch (a, b) {
        case (.string(let x), .string(let y)), (.binary(let x), .binary(let y)):
            let hit = Pattern(op == .in ? .equal : op, y, folding: folding).matches(x)
            return op == .notEqual ? !hit : hit
        default: return op == .notEqual
        }
    }
}

/// Two expressions, compared by the rules of lists and quantifiers. Rules: query-language §6 (E), §7.
final class CompareCondition: Condition {
    let op: CompareOperator
    let folds: Bool
    let left: Expression, right: Expression
    private let a = ValueBuffer(), b = ValueBuffer()
    private let types: Bool
    private let patterns: [Pattern?]

    init(_ op: CompareOperator, folding: Bool, _ left: Expression, _ right: Expression) {
        self.op = op
        folds = folding
        self.left = left
        self.right = right
        types = left.type == .typeName || right.type == .typeName
        // Constant patterns are prepared once.
        if let c = right as? ConstantExpression, op.isString || folding {
            patterns = c.values.map { v in
                switch v {
                case .string(let s), .binary(let s): Pattern(op == .in || op == .notEqual ? .equal : op, s, folding: folding)
                default: nil
                }
            }
        } else {
            patterns = []
        }
    }
    override func copied() -> Condition { CompareCondition(op, folding: folds, left.copied(), right.copied()) }
    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
        if right.isConstant, let t = try? group.table(at: group.liveIndexes.first ?? 0) {
            b.reset()
            try right.evaluate(t, .null, b)
        }
        try prepareTest(group)
    }

    // MARK: Whole leaves

    /// The property of the queried class, when leaves of it can be tested as they are.
    private(set) var test: (column: ColKey, test: ColumnTest)?
    /// The link to follow, the rest of the condition on the other side, and the objects there that meet it.
    private var step: (link: ColKey, rest: CompareCondition, target: Unmanaged<Table>)?
    private var reach: LinkReach?
    private var isReachTried = false

    private func prepareTest(_ group: Group) throws(RealmError) {
        test = nil
        step = nil
        reach = nil
        isReachTried = false
        guard !types, let path = left as? PathExpression, !path.isList, case .value(let column) = path.tail, let c = right as? ConstantExpression,
            !c.isList,
            let constant = c.values.first
        else { return }
        if let hop = path.hops.first {
            // Long chains are walked row by row.
            guard hop.kind == .toOne, path.hops.count <= 8, !path.hasManyHops, let target = try group.table(hop.target) else { return }
            let rest = CompareCondition(op, folding: folds, path.afterFirstHop, right)
            try rest.prepare(group)
            step = (hop.column, rest, .passUnretained(target))
            return
        }
        guard let facts = try group.table(path.end)?.facts(column), !facts.isCollection else { return }
        if case .typedLink(let t, _) = constant, t != facts.oppositeTable { return }
        if let t = ColumnTest(facts.kind, op, constant, folding: folds, ieee: false) { test = (column, t) }
    }
    override var leafTest: (column: ColKey, test: ColumnTest)? { test }
    override var cost: Int { test != nil ? 15 : (step != nil ? 50 : 100) }
    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        if let test {
            if try test.test.narrow(scan, test.column, mask) { return }
        } else if let step {
            if !isReachTried {
                isReachTried = true
                let isNullIn = holds(.null, b.values.first ?? .null, at: 0)
                reach = try LinkReach(step.rest, on: step.target.takeUnretainedValue(), rows: try scan.table.count(), null: isNullIn)
            }
            if let reach { return try reach.narrow(scan, step.link, mask) }
        }
        try super.narrow(scan, mask)
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        left.reads(&found, way)
        right.reads(&found, way)
    }
    override func write(_ p: QueryPrinter) { p.compare(self) }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        a.reset()
        try left.evaluate(table, key, a)
        if !right.isConstant {
            b.reset()
            try right.evaluate(table, key, b)
        }
        var i = 0
        for endA in a.ends {
            var j = 0
            for endB in b.ends {
                if compare(a.values[i..<endA], b.values[j..<endB]) { return true }
                j = endB
            }
            i = endA
        }
        return false
    }
    private func holds(_ x: Mixed, _ y: Mixed, at j: Int) -> Bool {
        if types {
            guard case .int(let m) = x, case .int(let n) = y else { return op == .notEqual }
            return (m & n != 0) == (op != .notEqual)
        }
        if op.isString || folds {
            if j < patterns.count, let p = patterns[j] {
                switch (x, y) {
                case (.string(let s), .string), (.binary(let s), .binary): return p.matches(s) == (op != .notEqual)
                case (.null, _): return op == .notEqual
                default: return op == .notEqual
                }
            }
            return Comparison.string(op, folding: folds, x, y)
        }
        return Comparison.holds(op, x, y)
    }
    private func compare(_ x: ArraySlice<Mixed>, _ y: ArraySlice<Mixed>) -> Bool {
        if !left.isList && !right.isList {
            guard let l = x.first, let r = y.first else { return false }
            return holds(l, r, at: y.startIndex)
        }
        let isOneValue = (left.isOptionalValue && x.count == 1) || (right.isOptionalValue && y.count == 1)
        if left.isList && right.isList && left.quantifier == nil && right.quantifier == nil && !isOneValue {
            guard x.count == y.count else { return op == .notEqual }
            for (i, j) in zip(x.indices, y.indices) where !holds(x[i], y[j], at: j) { return false }
            return true
        }
        let inner = right.quantifier ?? .any
        func meets(_ l: Mixed) -> Bool {
            switch inner {
            case .any:
                for j in y.indices where holds(l, y[j], at: j) { return true }
                return false
            case .all:
                for j in y.indices where !holds(l, y[j], at: j) { return false }
                return true
            case .none:
                for j in y.indices where holds(l, y[j], at: j) { return false }
                return true
            }
        }
        if !left.isList {
            guard let l = x.first else { return false }
            return meets(l)
        }
        switch left.quantifier ?? .any {
        case .any: return x.contains(where: meets)
        case .all: return x.allSatisfy(meets)
        case .none: return !x.contains(where: meets)
        }
    }
}

/// Full-text search: all words, none of the excluded ones; the index answers, once per run. Rules: query-language §12.
final class TextCondition: Condition {
    private let path: PathExpression
    private let column: ColKey
    private let words: Bytes
    private let arena: ConstantArena
    private var hits: [ObjKey] = []
    private let buffer = ValueBuffer()
    init(_ path: PathExpression, _ column: ColKey, _ words: Bytes, _ arena: ConstantArena) {
        self.path = path
        self.column = column
        self.words = words
        self.arena = arena
    }
    override func copied() -> Condition { TextCondition(path.ownPath(), column, words, arena) }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override func text(_ p: QueryPrinter) -> String { "\(path.text(p)) TEXT \(p.constant(.string(words), .string))" }
    override var cost: Int { 2 }
    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        guard let t = try group.table(path.end) else { return }
        hits = try FullTextQuery(words).search(t, column)
    }
    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        if path.hops.isEmpty { return isHit(key) }
        var found = false
        try path.walk(0, table, key) { (k) throws(RealmError) in if !found, isHit(k) { found = true } }
        return found
    }
    private func isHit(_ key: ObjKey) -> Bool {
        var low = 0, high = hits.count
        while low < high {
            let mid = (low + high) / 2
            if hits[mid] < key { low = mid + 1 } else { high = mid }
        }
        return low < hits.count && hits[low] == key
    }
    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { path.hops.isEmpty ? hits : nil }
}

/// The words of a search text.
struct FullTextQuery {
    private var included: [[UInt8]] = [], prefixes: [[UInt8]] = [], excluded: [[UInt8]] = []
    private var isEmpty = true
    /// A prefix without any letter is found nowhere.
    private var isImpossible = false

    init(_ text: Bytes) throws(RealmError) {
        for word in text.split(whereSeparator: { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }) {
            isEmpty = false
            var rest = word
            let isExcluded = rest.first == UInt8(ascii: "-")
            if isExcluded { rest = rest.dropFirst() }
            var isPrefix = false
            if rest.last == UInt8(ascii: "*") {
                rest = rest.dropLast()
                isPrefix = !isExcluded
            }
            var tokens: [[UInt8]] = []
            tokens = try Array(rest).withBytes { (b) throws(RealmError) in FullTextTokenizer.sequence(b) }
            guard tokens.count <= 1 else {
                throw RealmError(.invalidArgument, "A search word holds a separator: '\(String(decoding: word, as: UTF8.self))'")
            }
            // A word of nothing but separators is the empty one, which stands in texts of nothing else.
            let token = tokens.first ?? []
            if isPrefix && token.isEmpty { isImpossible = true }
            if isExcluded { excluded.append(token) } else if isPrefix { prefixes.append(token) } else { included.append(token) }
        }
        if isEmpty { throw RealmError(.invalidArgument, "Missing search token") }
        for w in excluded where included.contains(w) || prefixes.contains(w) {
            throw RealmError(.invalidArgument, "You can't include and exclude the same token")
        }
    }

    func search(_ t: Table, _ column: ColKey) throws(RealmError) -> [ObjKey] {
        if isImpossible { return [] }
        guard let index = try t.index(of: column.index) else { return [] }
        var result: Set<ObjKey>?
        func keep(_ keys: [ObjKey]) { result = result.map { $0.intersection(keys) } ?? Set(keys) }
        for w in included { keep(try w.withBytes { (b) throws(RealmError) in try index.findWord(b) }) }
        for p in prefixes { keep(try p.withBytes { (b) throws(RealmError) in try index.findPrefix(b) }) }
        var all: Set<ObjKey>
        if let result { all = result } else { all = Set(try t.allKeys()) }
        for w in excluded { all.subtract(try w.withBytes { (b) throws(RealmError) in try index.findWord(b) }) }
        return all.sorted()
    }
}
