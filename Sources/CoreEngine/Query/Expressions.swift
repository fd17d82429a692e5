/// Values of one row, in groups: most expressions have one group; a path that ends in a collection behind several objects has one for each.
final class ValueBuffer {
    var values: [Mixed] = []
    /// Where each group ends.
    var ends: [Int] = []
    func reset() {
        values.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }
    func closeGroup() { ends.append(values.count) }
    /// Closes a group for what came since there were `before` groups, unless that was done.
    func finish(since before: Int) { if ends.count == before || ends.last != values.count { closeGroup() } }
}

/// Something that has values for a row. Bound to tables by keys; `prepare` looks them up for one run.
class Expression {
    let type: ValueType
    /// Has any number of values.
    let isList: Bool
    let quantifier: Quantifier?
    init(_ type: ValueType, isList: Bool, _ quantifier: Quantifier? = nil) {
        self.type = type
        self.isList = isList
        self.quantifier = quantifier
    }
    /// The same for a run of its own, as `Condition.copied`.
    func copied() -> Expression { self }
    var isConstant: Bool { false }
    /// A list that is compared like a single value where it has one: the value of a dictionary's key.
    var isOptionalValue: Bool { false }
    /// The property of the queried class when this is nothing but that.
    var directColumn: ColKey? { nil }
    func prepare(_ group: Group) throws(RealmError) {}
    func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {}
    /// A kind of expression overrides `text`, or `write` when it holds others.
    func text(_ p: QueryPrinter) -> String { p.captured { write($0) } }
    func write(_ p: QueryPrinter) { p.out += text(p) }
    /// Names what the values come from, as `Condition.reads`.
    func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { if !isConstant { found.addAnything() } }
}

final class ConstantExpression: Expression {
    let values: [Mixed]
    /// Kept by the query; the bytes of `values` point into it.
    let arena: ConstantArena
    init(_ value: Mixed, _ type: ValueType, _ arena: ConstantArena) {
        values = [value]
        self.arena = arena
        isImplied = false
        super.init(type, isList: false)
    }
    /// The quantifier was not written.
    private let isImplied: Bool
    init(list: [Mixed], _ type: ValueType, _ quantifier: Quantifier?, _ arena: ConstantArena, isImplied: Bool = false) {
        values = list
        self.arena = arena
        self.isImplied = isImplied
        super.init(type, isList: true, quantifier)
    }
    override var isConstant: Bool { true }
    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        out.values.append(contentsOf: values)
        out.closeGroup()
    }
    override func text(_ p: QueryPrinter) -> String {
        if !isList { return p.constant(values[0], type) }
        return (isImplied ? "" : quantifier.map { $0.rawValue + " " } ?? "") + "{" + values.map { p.constant($0, type) }.joined(separator: ", ") + "}"
    }
}

// MARK: Sizes, types

/// `path.@count`: lengths of texts, numbers of elements or links.
final class SizeExpression: Expression {
    let path: PathExpression
    private let mark: String
    private let buffer = ValueBuffer()
    /// The path without its last link property, whose targets are counted.
    enum Kind { case bytes, elements(ColKey), links, reached, mixed, allBacklinks }
    private let kind: Kind
    init(_ path: PathExpression, _ kind: Kind, mark: String) {
        self.path = path
        self.kind = kind
        self.mark = mark
        super.init(.int, isList: path.hasManyHops && !{ if case .links = kind { true } else { false } }(), nil)
    }
    override func copied() -> Expression { SizeExpression(path.ownPath(), kind, mark: mark) }
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override func text(_ p: QueryPrinter) -> String { path.text(p) + mark }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        switch kind {
        case .allBacklinks:
            try path.evaluate(table, key, out)
            return
        case .bytes, .mixed:
            try path.evaluate(table, key, buffer)
            for v in buffer.values { out.values.append(try size(v, table)) }
            out.closeGroup()
        case .elements:
            // One number for each collection that is reached; through a null to-one link: 0.
            try path.evaluateReached(table, key, buffer)
            var start = 0
            for end in buffer.ends {
                out.values.append(.int(Int64(end - start)))
                start = end
            }
            out.closeGroup()
        case .links, .reached:
            try path.evaluate(table, key, buffer)
            var n: Int64 = 0
            for case .typedLink in buffer.values { n += 1 }
            out.values.append(.int(n))
            out.closeGroup()
        }
    }
    private func size(_ v: Mixed, _ table: Table) throws(RealmError) -> Mixed {
        switch v {
        case .string(let b): return .int(Int64(b.count))
        case .binary(let b): return .int(Int64(b.count))
        case .list(let r): return .int(Int64(try ElementList(table.store, root: r, kind: .mixed, target: .null).count))
        case .dictionary(let r):
            return .int(Int64(try ElementDictionary(table.store, root: r, keyType: .string, format: Format.currentVersion).count))
        default: return .null
        }
    }
}

/// Number of links behind a path of links: the hops before the last are walked, then the last property's links counted.
final class LinkCountExpression: Expression {
    /// Leads to the objects whose links are counted.
    private let path: PathExpression
    private let last: Hop
    private let mark: String
    init(_ path: PathExpression, last: Hop, text: String) {
        self.path = path
        self.last = last
        mark = text
        super.init(.int, isList: !path.hops.isEmpty, nil)
    }
    override func copied() -> Expression { LinkCountExpression(path.ownPath(), last: last, text: mark) }
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        path.reads(&found, way)
        found.add(way + (path.hops + [last]).map { KeyPath.Step($0) })
    }
    override func text(_ p: QueryPrinter) -> String { p.prefix + mark }
    private func count(_ t: Table, _ k: ObjKey, nulls: Bool) throws(RealmError) -> Int {
        guard let facts = t.facts(last.column) else { return 0 }
        if last.kind == .backlink { return try t.backlinks(k, last.column).count }
        guard let v = try t.rows.peek(k, last.column.index) else { return 0 }
        switch v {
        case .link(let key): return key.isUnresolved || key.isNull ? 0 : 1
        case .slot(let s):
            guard let root = s.subtree, let kind = facts.elementKind else { return 0 }
            if facts.shape == .dictionary {
                let d = try ElementDictionary(t.store, root: root, keyType: facts.keyType, format: t.group.format)
                if nulls { return d.count }
                var n = 0
                for i in 0..<d.count { if case .typedLink = try d.value(i) { n += 1 } }
                return n
            }
            return try ElementList(t.store, root: root, kind: kind, target: facts.oppositeTable).count
        default: return 0
        }
    }
    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        if path.hops.isEmpty {
            out.values.append(.int(Int64(try count(table, key, nulls: false))))
        } else {
            guard let end = try table.group.table(path.end) else { return out.closeGroup() }
            try path.walk(0, table, key) { (k) throws(RealmError) in out.values.append(.int(Int64(try count(end, k, nulls: true)))) }
        }
        out.closeGroup()
    }
}

final class TypeExpression: Expression {
    private let path: PathExpression
    private let buffer = ValueBuffer()
    init(_ path: PathExpression) {
        self.path = path
        super.init(.typeName, isList: path.isList, path.quantifier)
    }
    override func copied() -> Expression { TypeExpression(path.ownPath()) }
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override var isOptionalValue: Bool { path.isOptionalValue }
    override func text(_ p: QueryPrinter) -> String { path.text(p) + ".@type" }
    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        try path.evaluate(table, key, buffer)
        for v in buffer.values { out.values.append(TypeNames(v).value) }
        out.ends.append(contentsOf: buffer.ends)
    }
}

// MARK: Aggregates and subqueries

final class AggregateExpression: Expression {
    private let path: PathExpression
    private let kind: AggregateKind
    private let element: ValueType
    private let mark: String
    private let buffer = ValueBuffer()
    /// - Parameter flattens: over properties of linked objects: all values are one group.
    private let flattens: Bool
    init(_ path: PathExpression, _ kind: AggregateKind, element: ValueType, flattens: Bool, text: String) {
        self.path = path
        self.kind = kind
        self.element = element
        self.flattens = flattens
        mark = text
        let type: ValueType
        switch kind {
        case .min, .max: type = element
        case .sum: type = element == .float ? .double : (flattens && element == .mixed ? .decimal : element)
        // Constants are read as elements of a collection are; of properties the average is a double, too.
        case .average: type = element == .float || (flattens && element == .int) ? .double : (flattens && element == .mixed ? .decimal : element)
        }
        super.init(type, isList: !flattens && path.hasManyHops)
    }
    override func copied() -> Expression { AggregateExpression(path.ownPath(), kind, element: element, flattens: flattens, text: mark) }
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override func text(_ p: QueryPrinter) -> String { p.prefix + mark }
    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        try path.evaluateReached(table, key, buffer)
        if flattens {
            out.values.append(Aggregate.over(kind, element, buffer.values[...]))
        } else {
            var start = 0
            for end in buffer.ends {
                out.values.append(Aggregate.over(kind, element, buffer.values[start..<end]))
                start = end
            }
        }
        out.closeGroup()
    }
}

/// Sum, average, least and greatest of values; nulls, NaN and what is no number (for sums) are skipped.
enum Aggregate {
    static func over(_ kind: AggregateKind, _ type: ValueType, _ values: ArraySlice<Mixed>) -> Mixed {
        switch kind {
        case .min, .max:
            var best: Mixed?
            for v in values where !v.isNull && (type == .mixed ? !v.isDecimalNaN : !v.isNaN) {
                guard let b = best else {
                    best = v
                    continue
                }
                let order = Mixed.compare(v, b)
                if kind == .min ? order < 0 : order > 0 { best = v }
            }
            return best ?? .null
        case .sum, .average:
            var ints: Int64 = 0, doubles = 0.0, decimals = Decimal128.zero
            var n: Int64 = 0
            for v in values where type == .mixed ? !v.isDecimalNaN : !v.isNaN {
                switch (type, v) {
                case (.int, .int(let i)):
                    ints = ints &+ i
                    doubles += Double(i)
                case (.float, .float(let f)): doubles += Double(f)
                case (.double, .double(let d)): doubles += d
                case (.decimal, .decimal(let d)): decimals = decimals + d
                case (.mixed, .int(let i)): decimals = decimals + Decimal128(i)
                case (.mixed, .float(let f)): decimals = decimals + Decimal128(rounding: Double(f), digits: 7)
                case (.mixed, .double(let d)): decimals = decimals + Decimal128(rounding: d, digits: 15)
                case (.mixed, .decimal(let d)): decimals = decimals + d
                default: continue
                }
                n += 1
            }
            if kind == .sum {
                switch type {
                case .int: return .int(ints)
                case .float, .double: return .double(doubles)
                default: return .decimal(decimals)
                }
            }
            guard n > 0 else { return .null }
            switch type {
            case .int, .float, .double: return .double(doubles / Double(n))
            default: return .decimal(decimals / Decimal128(n))
            }
        }
    }
}

extension Mixed {
    var isNaN: Bool {
        switch self {
        case .float(let f): f.isNaN
        case .double(let d): d.isNaN
        case .decimal(let d): d.isNaN
        default: false
        }
    }
    fileprivate var isDecimalNaN: Bool { if case .decimal(let d) = self { d.isNaN } else { false } }
}

final class SubqueryExpression: Expression {
    private let path: PathExpression
    private let condition: Condition
    private let target: TableKey
    private let source: String
    private var table: Unmanaged<Table>?
    init(_ path: PathExpression, target: TableKey, _ condition: Condition, source: String) {
        self.path = path
        self.target = target
        self.condition = condition
        self.source = source
        super.init(.int, isList: false)
    }
    override func copied() -> Expression { SubqueryExpression(path.ownPath(), target: target, condition.copied(), source: source) }
    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        try condition.prepare(group)
        table = try group.table(target).map { .passUnretained($0) }
    }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        path.reads(&found, way)
        condition.reads(&found, way + path.hops.map { KeyPath.Step($0) })
    }
    override func write(_ p: QueryPrinter) {
        p.out += "SUBQUERY(\(p.prefix)\(source), "
        p.inSubquery { variable in
            p.out += "\(variable), "
            condition.write(p)
        }
        p.out += ").@count"
    }
    override func evaluate(_ from: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        guard let t = table?.takeUnretainedValue() else { return }
        var n: Int64 = 0
        try path.walk(0, from, key) { (k) throws(RealmError) in if try condition.matches(t, k) { n += 1 } }
        out.values.append(.int(n))
        out.closeGroup()
    }
}

// MARK: Arithmetic

final class ArithmeticExpression: Expression {
    private let op: ArithmeticOperator
    private let left: Expression, right: Expression
    private let a = ValueBuffer(), b = ValueBuffer()
    init(_ op: ArithmeticOperator, _ left: Expression, _ right: Expression) {
        self.op = op
        self.left = left
        self.right = right
        super.init(left.type, isList: left.isList || right.isList, left.isList ? left.quantifier : right.quantifier)
    }
    override func copied() -> Expression { ArithmeticExpression(op, left.copied(), right.copied()) }
    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
    }
    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        left.reads(&found, way)
        right.reads(&found, way)
    }
    override func write(_ p: QueryPrinter) {
        // As written, a + b + c is (a + b) + c.
        p.out += "("
        left.write(p)
        p.out += p.single(left, with: right) + " \(op.rawValue) "
        right.write(p)
        p.out += p.single(right, with: left) + ")"
    }
    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        a.reset()
        b.reset()
        try left.evaluate(table, key, a)
        try right.evaluate(table, key, b)
        for x in a.values { for y in b.values { out.values.append(Self.apply(op, x, y)) } }
        if left.isList, a.ends.count > 1 { out.ends.append(contentsOf: a.ends) } else { out.closeGroup() }
    }
    /// The wider type of int < float < double < decimal; NULL when either is none of them.
    static func apply(_ op: ArithmeticOperator, _ x: Mixed, _ y: Mixed) -> Mixed {
        switch (x, y) {
        case (.int(let i), .int(let j)):
            switch op {
            case .add: return .int(i &+ j)
            case .subtract: return .int(i &- j)
            case .multiply: return .int(i &* j)
            case .divide:
                if j == 0 { return .int(i < 0 ? .min : .max) }
                return .int(i == .min && j == -1 ? .min : i / j)
            }
        case (.decimal, _), (_, .decimal):
            guard let d = x.asDecimal, let e = y.asDecimal else { return .null }
            switch op {
            case .add: return .decimal(d + e)
            case .subtract: return .decimal(d - e)
            case .multiply: return .decimal(d * e)
            case .divide: return .decimal(d / e)
            }
        case (.float(let f), .float(let g)): return .float(Self.apply(op, f, g))
        case (.float(let f), .int(let i)): return .float(Self.apply(op, f, Float(i)))
        case (.int(let i), .float(let f)): return .float(Self.apply(op, Float(i), f))
        default:
            guard let d = x.doubleOperand, let e = y.doubleOperand else { return .null }
            return .double(Self.apply(op, d, e))
        }
    }
    private static func apply<F: BinaryFloatingPoint>(_ op: ArithmeticOperator, _ x: F, _ y: F) -> F {
        switch op {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        }
    }
}
extension Mixed {
    fileprivate var doubleOperand: Double? {
        switch self {
        case .int(let i): Double(i)
        case .float(let f): Double(f)
        case .double(let d): d
        default: nil
        }
    }
}
