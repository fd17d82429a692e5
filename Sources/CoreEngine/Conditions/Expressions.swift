/// The values of one row, in groups. Most expressions have one group. A path that ends in a collection of each of
/// several objects has one group for each object.
final class ValueBuffer {
    var values: [Mixed] = []

    /// End of each group in `values`.
    var ends: [Int] = []

    func reset() {
        values.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    func closeGroup() { ends.append(values.count) }

    /// Closes a group for the values that were added since there were `before` groups, unless it is closed already.
    func finish(since before: Int) { if ends.count == before || ends.last != values.count { closeGroup() } }
}

/// An expression with values for each row. It is bound to tables by their keys; `prepare` finds the tables for one run.
class Expression {
    let type: ValueType

    /// The type of the values themselves. `type` is the one that constants on the other side of a comparison take.
    var valueType: ValueType { type }

    /// Whether there can be any number of values.
    let isList: Bool
    let quantifier: Quantifier?

    init(_ type: ValueType, isList: Bool, _ quantifier: Quantifier? = nil) {
        self.type = type
        self.isList = isList
        self.quantifier = quantifier
    }

    /// A copy for a separate run, like `Condition.copied`.
    func copied() -> Expression { self }
    var isConstant: Bool { false }

    /// Whether this is a list of at most one value that is compared like a single value: a dictionary's value for a
    /// key.
    var isOptionalValue: Bool { false }

    /// Whether an object can have any number of values.
    var hasManyValues: Bool { isList && !isOptionalValue }

    /// The column, if the expression is a property of the queried class and nothing else.
    var directColumn: ColKey? { nil }

    func prepare(_ group: Group) throws(RealmError) {}

    func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {}

    /// Subclasses override `text`, or `write` if they contain other expressions.
    func text(_ printer: QueryPrinter) -> String { printer.captured { write($0) } }

    func write(_ printer: QueryPrinter) { printer.out += text(printer) }

    /// Adds the properties that the values come from, like `Condition.reads`.
    func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { if !isConstant { found.addAnything() } }
}

final class ConstantExpression: Expression {
    let values: [Mixed]

    /// Holds the bytes of `values`. The query keeps the arena alive.
    let arena: ConstantArena

    init(_ value: Mixed, _ type: ValueType, _ arena: ConstantArena) {
        values = [value]
        self.arena = arena
        isImplied = false
        super.init(type, isList: false)
    }

    /// The quantifier is not part of the query text.
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

    override func text(_ printer: QueryPrinter) -> String {
        if !isList { return printer.constant(values[0], type) }
        return (isImplied ? "" : quantifier.map { $0.rawValue + " " } ?? "") + "{"
            + values.map { printer.constant($0, type) }.joined(separator: ", ") + "}"
    }
}

// MARK: Sizes, types

/// `path.@count`: length of a text in bytes, or number of elements or links.
final class SizeExpression: Expression {
    let path: PathExpression
    private let mark: String
    private let buffer = ValueBuffer()

    /// What is counted.
    enum Kind { case bytes, elements(ColKey), mixed, allBacklinks }
    private let kind: Kind

    init(_ path: PathExpression, _ kind: Kind, mark: String) {
        self.path = path
        self.kind = kind
        self.mark = mark
        super.init(.int, isList: path.hasManyHops, nil)
    }

    override func copied() -> Expression { SizeExpression(path.ownPath(), kind, mark: mark) }

    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }

    override func text(_ printer: QueryPrinter) -> String { path.text(printer) + mark }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        switch kind {
        case .allBacklinks:
            try path.evaluate(table, key, out)
            return
        case .bytes, .mixed:
            try path.evaluate(table, key, buffer)
            for value in buffer.values { out.values.append(try size(value, table)) }
            out.closeGroup()
        case .elements:
            // One number for each collection that is reached; 0 if a to-one link is null.
            try path.evaluateReached(table, key, buffer)
            var start = 0
            for end in buffer.ends {
                out.values.append(.int(Int64(end - start)))
                start = end
            }
            out.closeGroup()
        }
    }

    private func size(_ value: Mixed, _ table: Table) throws(RealmError) -> Mixed {
        switch value {
        case .string(let bytes): return .int(Int64(bytes.count))
        case .binary(let bytes): return .int(Int64(bytes.count))
        case .list(let root):
            return .int(Int64(try ElementList(table.store, root: root, kind: .mixed, target: .null).count))
        case .dictionary(let root):
            return .int(
                Int64(
                    try ElementDictionary(table.store, root: root, keyType: .string, format: Format.currentVersion)
                        .count))
        default: return .null
        }
    }
}

/// Number of links at the end of a path: follows all hops but the last, then counts the links of the last property.
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

    override func text(_ printer: QueryPrinter) -> String { printer.prefix + mark }

    private func count(_ table: Table, _ key: ObjKey, nulls: Bool) throws(RealmError) -> Int {
        guard let facts = table.facts(last.column) else { return 0 }
        if last.kind == .backlink { return try table.backlinks(key, last.column).count }
        guard let value = try table.peek(key, last.column) else { return 0 }
        switch value {
        case .link(let key): return key.isUnresolved || key.isNull ? 0 : 1
        case .slot(let slot):
            guard let root = slot.subtree, let kind = facts.elementKind else { return 0 }
            if facts.shape == .dictionary {
                let dictionary = try ElementDictionary(
                    table.store, root: root, keyType: facts.keyType, format: table.group.format)
                if nulls { return dictionary.count }
                var linkCount = 0
                for i in 0..<dictionary.count { if case .typedLink = try dictionary.value(i) { linkCount += 1 } }
                return linkCount
            }
            return try ElementList(table.store, root: root, kind: kind, target: facts.oppositeTable).count
        default: return 0
        }
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        if path.hops.isEmpty {
            out.values.append(.int(Int64(try count(table, key, nulls: false))))
        } else {
            guard let end = try table.group.table(path.end) else { return out.closeGroup() }
            try path.walk(0, table, key) { (object) throws(RealmError) in
                out.values.append(.int(Int64(try count(end, object, nulls: true))))
            }
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

    override func text(_ printer: QueryPrinter) -> String { path.text(printer) + ".@type" }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        try path.evaluate(table, key, buffer)
        for value in buffer.values { out.values.append(TypeNames(value).value) }
        out.ends.append(contentsOf: buffer.ends)
    }
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

    override func copied() -> Expression {
        SubqueryExpression(path.ownPath(), target: target, condition.copied(), source: source)
    }

    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        try condition.prepare(group)
        table = try group.table(target).map { .passUnretained($0) }
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        path.reads(&found, way)
        condition.reads(&found, way + path.hops.map { KeyPath.Step($0) })
    }

    override func write(_ printer: QueryPrinter) {
        printer.out += "SUBQUERY(\(printer.prefix)\(source), "
        printer.inSubquery { variable in
            printer.out += "\(variable), "
            condition.write(printer)
        }
        printer.out += ").@count"
    }

    override func evaluate(_ from: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        guard let targetTable = table?.takeUnretainedValue() else { return }
        var count: Int64 = 0
        try path.walk(0, from, key) { (k) throws(RealmError) in if try condition.matches(targetTable, k) { count += 1 }
        }
        out.values.append(.int(count))
        out.closeGroup()
    }
}
