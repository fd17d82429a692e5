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
    var isConstant: Bool { false }
    /// A list that is compared like a single value where it has one: the value of a dictionary's key.
    var isOptionalValue: Bool { false }
    /// The property of the queried class when this is nothing but that.
    var directColumn: ColKey? { nil }
    func prepare(_ group: Group) throws(RealmError) {}
    func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {}
    func text(_ p: QueryPrinter) -> String { "" }
    /// Tables whose change may change the values.
    func tables(_ found: inout Set<TableKey>) {}
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

// MARK: Paths

enum PathIndex: Equatable {
    case at(Int), last, all
    case key([UInt8])
}
/// One way from an object to others.
struct Hop {
    enum Kind { case toOne, list, set, dictionary, backlink }
    let kind: Kind
    /// Class the hop starts at, its column there, and where it leads.
    let origin: TableKey
    let column: ColKey
    let target: TableKey
    /// An element of a list, a key of a dictionary.
    var index: PathIndex?
    let text: String
    /// Leads to any number of objects, as far as comparing goes; an element of a list does, too.
    var isMultiple: Bool { kind != .toOne }
    var leadsToOne: Bool { kind == .toOne || (index != nil && index != .all) }
}
enum PathTail {
    /// A single value.
    case value(ColKey)
    /// A collection of the object: all elements, or those that the steps lead to.
    case collection(ColKey, CollectionShape, [PathIndex])
    case keys(ColKey, [PathIndex])
    /// Byte lengths of the elements.
    case lengths(ColKey)
    /// Steps into a Mixed value; `keys` at the end of them.
    case mixed(ColKey, [PathIndex], keys: Bool)
    /// All links to the object.
    case allBacklinks
    /// The object itself, as a link: paths that end in backlinks.
    case object
}

final class PathExpression: Expression {
    let hops: [Hop]
    let tail: PathTail
    /// Class whose property the tail is.
    let end: TableKey
    /// Nulls in a dictionary of links are elements: where any of them may differ from a constant.
    var showsNullLinks = false
    private let source: String
    private var tables: [Unmanaged<Table>] = []
    private var group: Unmanaged<Group>?

    init(hops: [Hop], tail: PathTail, end: TableKey, type: ValueType, isList: Bool, quantifier: Quantifier?, source: String) {
        self.hops = hops
        self.tail = tail
        self.end = end
        self.source = source
        super.init(type, isList: isList, quantifier)
    }
    /// The same on the class that the first hop leads to.
    var afterFirstHop: PathExpression {
        PathExpression(hops: Array(hops.dropFirst()), tail: tail, end: end, type: type, isList: isList, quantifier: quantifier, source: source)
    }
    override var isOptionalValue: Bool {
        if case .collection(_, .dictionary, let steps) = tail, steps.count == 1, case .key = steps[0] { return !hasManyHops }
        return false
    }
    var hasManyHops: Bool { hops.contains(where: \.isMultiple) }
    override var directColumn: ColKey? {
        guard hops.isEmpty else { return nil }
        switch tail {
        case .value(let c): return c
        case .mixed(let c, let steps, false) where steps.isEmpty: return c
        default: return nil
        }
    }
    override func text(_ p: QueryPrinter) -> String {
        // ANY is what a list of links means anyway.
        let mark = quantifier == .any && type.isLink ? "" : quantifier.map { $0.rawValue + " " } ?? ""
        return mark + p.prefix + source
    }
    override func tables(_ found: inout Set<TableKey>) {
        for h in hops {
            found.insert(h.origin)
            found.insert(h.target)
        }
        found.insert(end)
    }
    override func prepare(_ group: Group) throws(RealmError) {
        tables = []
        for key in hops.map(\.origin) + [end] {
            guard let t = try group.table(key) else { throw RealmError(.noSuchTable, "The query's class does not exist any more") }
            tables.append(.passUnretained(t))
        }
        self.group = .passUnretained(group)
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        try evaluateReached(table, key, out)
        if hasManyHops, out.ends.isEmpty || !isCollection { out.closeGroup() }
    }
    /// The same, but without any group where no object is reached, and without closing the one group of single values behind to-many hops.
    func evaluateReached(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        if hops.isEmpty { return try emit(table, key, out) }
        if !hasManyHops {
            var t = table, k = key
            for (i, h) in hops.enumerated() {
                guard let next = try single(h, t, k) else { return missing(out) }
                k = next
                t = tables[i + 1].takeUnretainedValue()
            }
            return try emit(t, k, out)
        }
        try walk(0, table, key) { (k) throws(RealmError) in try emit(tables[hops.count].takeUnretainedValue(), k, out) }
    }
    /// The chain of links breaks: NULL for a value, nothing for a collection.
    private func missing(_ out: ValueBuffer) {
        if !isList, !isCollection { out.values.append(.null) }
        out.closeGroup()
    }
    private var isCollection: Bool {
        switch tail {
        case .value, .object, .allBacklinks, .lengths: false
        case .mixed(_, let steps, let keys): !steps.isEmpty || keys
        case .collection(let c, _, let steps): !(steps.isEmpty && c.typeNumber == ColumnType.link.rawValue)
        default: true
        }
    }
    /// Calls `body` for every object that the hops from `i` on reach.
    func walk(_ i: Int, _ table: Table, _ key: ObjKey, _ body: (ObjKey) throws(RealmError) -> Void) throws(RealmError) {
        if i == hops.count { return try body(key) }
        let h = hops[i], next = tables[i + 1].takeUnretainedValue()
        if h.leadsToOne {
            if let k = try single(h, table, key) { try walk(i + 1, next, k, body) }
            return
        }
        for k in try targets(h, table, key) { try walk(i + 1, next, k, body) }
    }
    /// The one object behind a to-one link or an element.
    private func single(_ h: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> ObjKey? {
        guard let facts = table.facts(h.column) else { return nil }
        if h.kind == .toOne {
            guard case .link(let k)? = try table.rows.peek(key, h.column.index), !k.isUnresolved, !k.isNull else { return nil }
            return k
        }
        guard let content = try collection(table, key, facts) else { return nil }
        switch (content, h.index) {
        case (.list(let l), .at(let i)?):
            guard i < l.count, case .typedLink(_, let k) = try l.get(i) else { return nil }
            return k
        case (.list(let l), .last?):
            guard l.count > 0, case .typedLink(_, let k) = try l.get(l.count - 1) else { return nil }
            return k
        case (.dictionary(let d), .key(let name)?):
            guard let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }), case .typedLink(_, let k) = try d.value(i) else { return nil }
            return k
        default: return nil
        }
    }
    private func targets(_ h: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> [ObjKey] {
        if h.kind == .backlink { return try table.backlinks(key, h.column).allKeys() }
        guard let facts = table.facts(h.column), let content = try collection(table, key, facts) else { return [] }
        var all: [ObjKey] = []
        switch content {
        case .list(let l): for i in 0..<l.count { if case .typedLink(_, let k) = try l.get(i) { all.append(k) } }
        case .dictionary(let d): for i in 0..<d.count { if case .typedLink(_, let k) = try d.value(i) { all.append(k) } }
        }
        return all
    }
    private func collection(_ table: Table, _ key: ObjKey, _ facts: ColumnFacts) throws(RealmError) -> CollectionContent? {
        guard case .slot(let s)? = try table.rows.peek(key, facts.key.index), let shape = facts.shape, let kind = facts.elementKind else { return nil }
        let root = s.isTagged ? Ref.null : s.ref
        let store = table.store
        if shape == .dictionary {
            return .dictionary(try ElementDictionary(store, root: root, keyType: facts.keyType, valueType: facts.type, format: table.group.format))
        }
        return .list(try ElementList(store, root: root, kind: kind, target: facts.oppositeTable, isSet: shape == .set))
    }

    // MARK: Values at the end

    private func emit(_ t: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        switch tail {
        case .value(let c):
            var v = try t.rows.peek(key, c.index) ?? .null
            switch v {
            case .link(let k): v = k.isUnresolved || k.isNull ? .null : .typedLink(t.facts(c)?.oppositeTable ?? .null, k)
            case .typedLink(_, let k) where k.isUnresolved: v = .null
            default: break
            }
            // A null link behind to-many hops is no element.
            if v.isNull, type.isLink, hasManyHops { return }
            out.values.append(v)
            if !hasManyHops { out.closeGroup() }
        case .collection(let c, _, let steps):
            let before = out.ends.count
            if let facts = t.facts(c), let content = try collection(t, key, facts) { try element(content, steps[...], out, level: 0) }
            if isCollection || !hasManyHops { out.finish(since: before) }
        case .keys(let c, let steps):
            guard let facts = t.facts(c), let content = try collection(t, key, facts) else { return out.closeGroup() }
            if case .dictionary(let d) = content {
                if steps.isEmpty { for i in 0..<d.count { out.values.append(try d.key(i)) } }
            }
            out.closeGroup()
        case .lengths(let c):
            defer { if !hasManyHops { out.closeGroup() } }
            guard let facts = t.facts(c), case .list(let l)? = try collection(t, key, facts) else { return }
            for i in 0..<l.count {
                switch try l.get(i) {
                case .string(let b): out.values.append(.int(Int64(b.count)))
                case .binary(let b): out.values.append(.int(Int64(b.count)))
                case .null where facts.type != .mixed: out.values.append(.int(0))
                default: break
                }
            }
        case .mixed(let c, let steps, let keys):
            var v = try t.rows.peek(key, c.index) ?? .null
            if case .typedLink(_, let k) = v, k.isUnresolved { v = .null }
            if steps.isEmpty && !keys {
                out.values.append(v)
                if !hasManyHops { out.closeGroup() }
            } else {
                let before = out.ends.count
                try nested(v, steps[...], keys: keys, out, level: 0)
                out.finish(since: before)
            }
        case .allBacklinks:
            out.values.append(.int(Int64(try t.backlinkCount(key))))
            if !hasManyHops { out.closeGroup() }
        case .object: out.values.append(.typedLink(end, key))
        }
    }
    /// Elements of a typed collection that the steps lead to.
    private func element(_ content: CollectionContent, _ steps: ArraySlice<PathIndex>, _ out: ValueBuffer, level: Int) throws(RealmError) {
        let first = steps.first ?? .all, rest = steps.dropFirst()
        switch (content, first) {
        case (.list(let l), .all):
            for i in 0..<l.count { try each(try l.get(i), rest, keys: false, out, level: level + 1) }
        case (.dictionary(let d), .all):
            for i in 0..<d.count {
                let v = try d.value(i)
                // A null in a dictionary of links is a link to nothing, not the same as a null link, or no element at all.
                if v.isNull, type.isLink {
                    if showsNullLinks { out.values.append(.typedLink(.null, .null)) }
                } else {
                    try each(v, rest, keys: false, out, level: level + 1)
                }
            }
        case (.list(let l), .at(let i)):
            if i < l.count {
                if rest.isEmpty { out.values.append(try l.get(i)) } else { try nested(try l.get(i), rest, keys: false, out, level: level + 1) }
            } else if rest.isEmpty, level == 0, l.count > 0 {
                out.values.append(.null)
            }
        case (.list(let l), .last):
            if l.count > 0 {
                let v = try l.get(l.count - 1)
                if rest.isEmpty { out.values.append(v) } else { try nested(v, rest, keys: false, out, level: level + 1) }
            }
        case (.dictionary(let d), .key(let name)):
            if let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }) {
                if rest.isEmpty { out.values.append(try d.value(i)) } else { try nested(try d.value(i), rest, keys: false, out, level: level + 1) }
            } else if rest.isEmpty, d.count > 0 {
                out.values.append(.null)
            }
        default: break
        }
    }
    /// One element behind `[*]`. The last step makes a group of each, also where it does not fit; those before only where they lead on.
    private func each(_ v: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int) throws(RealmError) {
        if steps.isEmpty && !keys { return out.values.append(v) }
        let before = out.ends.count, n = out.values.count
        try nested(v, steps, keys: keys, out, level: level)
        if steps.count + (keys ? 1 : 0) == 1 {
            out.finish(since: before)
        } else if out.values.count > n, out.ends.last != out.values.count {
            out.closeGroup()
        }
    }
    /// Steps into a Mixed value. A step that does not fit the value gives nothing.
    private func nested(_ v: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int) throws(RealmError) {
        guard level < Trees.maxNesting, let group else { return }
        let store = group.takeUnretainedValue().store
        guard let step = steps.first else {
            guard keys else { return out.values.append(v) }
            if case .dictionary(let r) = v {
                let d = try ElementDictionary(store, root: r, keyType: .string, format: Format.currentVersion)
                for i in 0..<d.count { out.values.append(try d.key(i)) }
            }
            return
        }
        let rest = steps.dropFirst()
        switch v {
        case .list(let r):
            let l = try ElementList(store, root: r, kind: .mixed, target: .null)
            switch step {
            case .all:
                for i in 0..<l.count { try each(try l.get(i), rest, keys: keys, out, level: level + 1) }
                if rest.isEmpty { out.closeGroup() }
            case .at(let i): if i < l.count { try nested(try l.get(i), rest, keys: keys, out, level: level + 1) }
            case .last: if l.count > 0 { try nested(try l.get(l.count - 1), rest, keys: keys, out, level: level + 1) }
            case .key: break
            }
        case .dictionary(let r):
            let d = try ElementDictionary(store, root: r, keyType: .string, format: Format.currentVersion)
            switch step {
            case .all:
                for i in 0..<d.count { try each(try d.value(i), rest, keys: keys, out, level: level + 1) }
                if rest.isEmpty { out.closeGroup() }
            case .key(let name):
                if let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }) {
                    try nested(try d.value(i), rest, keys: keys, out, level: level + 1)
                } else if rest.isEmpty, !keys, d.count > 0 {
                    out.values.append(.null)
                }
            default: break
            }
        case .typedLink(let t, let k):
            // A name reads that property of the linked object.
            guard case .key(let name) = step, let table = try group.takeUnretainedValue().table(t), try table.isValid(k),
                let c = table.column(named: String(decoding: name, as: UTF8.self)), let facts = table.facts(c.key)
            else { return }
            if let shape = facts.shape {
                _ = shape
                if let content = try collection(table, k, facts) { try element(content, rest, out, level: level + 1) }
                return
            }
            var value = try table.rows.peek(k, c.index) ?? .null
            if case .link(let key) = value { value = key.isUnresolved ? .null : .typedLink(facts.oppositeTable, key) }
            try nested(value, rest, keys: keys, out, level: level + 1)
        default: break
        }
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
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func tables(_ found: inout Set<TableKey>) { path.tables(&found) }
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
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func tables(_ found: inout Set<TableKey>) {
        path.tables(&found)
        found.insert(last.target)
    }
    override func text(_ p: QueryPrinter) -> String { p.prefix + mark }
    private func count(_ t: Table, _ k: ObjKey, nulls: Bool) throws(RealmError) -> Int {
        guard let facts = t.facts(last.column) else { return 0 }
        if last.kind == .backlink { return try t.backlinks(k, last.column).count }
        guard let v = try t.rows.peek(k, last.column.index) else { return 0 }
        switch v {
        case .link(let key): return key.isUnresolved || key.isNull ? 0 : 1
        case .slot(let s):
            guard !s.isTagged, s.raw != 0, let kind = facts.elementKind else { return 0 }
            if facts.shape == .dictionary {
                let d = try ElementDictionary(t.store, root: s.ref, keyType: facts.keyType, format: t.group.format)
                if nulls { return d.count }
                var n = 0
                for i in 0..<d.count { if case .typedLink = try d.value(i) { n += 1 } }
                return n
            }
            return try ElementList(t.store, root: s.ref, kind: kind, target: facts.oppositeTable).count
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
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func tables(_ found: inout Set<TableKey>) { path.tables(&found) }
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
    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }
    override func tables(_ found: inout Set<TableKey>) { path.tables(&found) }
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
    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        try condition.prepare(group)
        table = try group.table(target).map { .passUnretained($0) }
    }
    override func tables(_ found: inout Set<TableKey>) {
        path.tables(&found)
        found.insert(target)
        condition.tables(&found)
    }
    override func text(_ p: QueryPrinter) -> String {
        let outer = p.prefix
        let inner = p.inSubquery { q in condition.text(q) }
        return "SUBQUERY(\(outer)\(source), \(inner.variable), \(inner.text)).@count"
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
    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
    }
    override func tables(_ found: inout Set<TableKey>) {
        left.tables(&found)
        right.tables(&found)
    }
    override func text(_ p: QueryPrinter) -> String { "(\(left.text(p)) \(op.rawValue) \(right.text(p)))" }
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
            guard let d = x.decimalOperand, let e = y.decimalOperand else { return .null }
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
    fileprivate var decimalOperand: Decimal128? {
        switch self {
        case .decimal(let d): d
        case .int(let i): Decimal128(i)
        case .float(let f): Decimal128(rounding: Double(f), digits: 7)
        case .double(let d): Decimal128(rounding: d, digits: 15)
        default: nil
        }
    }
    fileprivate var doubleOperand: Double? {
        switch self {
        case .int(let i): Double(i)
        case .float(let f): Double(f)
        case .double(let d): d
        default: nil
        }
    }
}
