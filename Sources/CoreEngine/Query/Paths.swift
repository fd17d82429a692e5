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

    /// The objects' values come in the order of the objects' keys: sums of floating point depend on it.
    var isByKey = false
    private let source: String
    private var tables: [Unmanaged<Table>] = []
    private var group: Unmanaged<Group>?

    init(
        hops: [Hop], tail: PathTail, end: TableKey, type: ValueType, isList: Bool, quantifier: Quantifier?,
        source: String
    ) {
        self.hops = hops
        self.tail = tail
        self.end = end
        self.source = source
        super.init(type, isList: isList, quantifier)
    }

    override func copied() -> Expression { ownPath() }

    /// As `copied`.
    func ownPath() -> PathExpression {
        let copy = PathExpression(
            hops: hops, tail: tail, end: end, type: type, isList: isList, quantifier: quantifier, source: source)
        copy.showsNullLinks = showsNullLinks
        copy.isByKey = isByKey
        return copy
    }

    /// The same on the class that the first hop leads to.
    var afterFirstHop: PathExpression {
        PathExpression(
            hops: Array(hops.dropFirst()), tail: tail, end: end, type: type, isList: isList, quantifier: quantifier,
            source: source)
    }

    override var isOptionalValue: Bool {
        if case .collection(_, .dictionary, let steps) = tail, steps.count == 1, case .key = steps[0] {
            return !hasManyHops
        }
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
        (quantifier.map { $0.rawValue + " " } ?? "") + p.prefix + source
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        let hops = way + hops.map { KeyPath.Step($0) }
        /// - Parameter steps: into a Mixed value: a name among them may be that of a property of the object that the
        ///   value links to.
        func add(_ c: ColKey, _ steps: some Sequence<PathIndex>) {
            found.add(hops + [KeyPath.Step(table: end, column: c, target: nil, isBacklink: false)])
            if steps.contains(where: { if case .key = $0 { true } else { false } }) { found.addAnything() }
        }
        switch tail {
        case .value(let c), .lengths(let c): add(c, [])
        case .collection(let c, _, let steps), .keys(let c, let steps): add(c, steps.dropFirst())
        case .mixed(let c, let steps, _): add(c, steps)
        case .allBacklinks: found.addAnything()
        case .object: found.add(hops)
        }
    }

    override func prepare(_ group: Group) throws(RealmError) {
        tables = []
        for key in hops.map(\.origin) + [end] {
            guard let t = try group.table(key) else {
                throw RealmError(.noSuchTable, "The query's class does not exist any more")
            }
            tables.append(.passUnretained(t))
        }
        self.group = .passUnretained(group)
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        try evaluateReached(table, key, out)
        if hasManyHops, out.ends.isEmpty || !isCollection { out.closeGroup() }
    }

    /// The same, but without any group where no object is reached, and without closing the one group of single values
    /// behind to-many hops.
    func evaluateReached(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        if hops.isEmpty { return try emit(table, key, out) }
        if !hasManyHops {
            var t = table, k = key
            for (i, h) in hops.enumerated() {
                guard let next = try single(h, t, k) else { return try missing(out) }
                k = next
                t = tables[i + 1].takeUnretainedValue()
            }
            return try emit(t, k, out)
        }
        let end = tables[hops.count].takeUnretainedValue()
        guard isByKey else { return try walk(0, table, key) { (k) throws(RealmError) in try emit(end, k, out) } }
        var reached: [ObjKey] = []
        try walk(0, table, key) { (k) throws(RealmError) in try reached.add(k) }
        for k in reached.sorted() { try emit(end, k, out) }
    }

    /// The chain of links breaks: NULL for a value, nothing for a collection.
    private func missing(_ out: ValueBuffer) throws(RealmError) {
        if !isList, !isCollection { try out.values.add(.null) }
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
        var reached = 0
        try walk(i, table, key, &reached, body)
    }

    private func walk(
        _ first: Int, _ start: Table, _ from: ObjKey, _ reached: inout Int, _ body: (ObjKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        var i = first, table = start, key = from
        while i < hops.count, hops[i].leadsToOne {
            guard let k = try single(hops[i], table, key) else { return }
            i += 1
            table = tables[i].takeUnretainedValue()
            key = k
        }
        if i == hops.count { return try body(key) }
        // From one row so many objects may be reached that the call is to end on the way.
        try table.store.test()
        let next = tables[i + 1].takeUnretainedValue()
        let keys = try targets(hops[i], table, key)
        reached += keys.count
        guard reached <= QueryRoom.maxReached else { throw Self.tooFar() }
        for k in keys { try walk(i + 1, next, k, &reached, body) }
    }

    private static func tooFar() -> RealmError {
        RealmError(.limitExceeded, "A key path reaches more than \(QueryRoom.maxReached) objects from one row")
    }

    /// The one object behind a to-one link or an element.
    private func single(_ h: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> ObjKey? {
        guard let facts = table.facts(h.column) else { return nil }
        if h.kind == .toOne {
            guard case .link(let k)? = try table.rows.peek(key, h.column.index), !k.isUnresolved, !k.isNull else {
                return nil
            }
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
            guard let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }),
                case .typedLink(_, let k) = try d.value(i)
            else {
                return nil
            }
            return k
        default: return nil
        }
    }

    private func targets(_ h: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> [ObjKey] {
        if h.kind == .backlink { return try table.backlinks(key, h.column).allKeys() }
        guard let facts = table.facts(h.column), let content = try collection(table, key, facts) else { return [] }
        var all: [ObjKey] = []
        switch content {
        case .list(let l):
            guard l.count <= QueryRoom.maxReached else { throw Self.tooFar() }
            for i in 0..<l.count {
                if i & 1023 == 1023 { try table.store.test() }
                if case .typedLink(_, let k) = try l.get(i) { try all.add(k) }
            }
        case .dictionary(let d):
            for i in 0..<d.count { if case .typedLink(_, let k) = try d.value(i) { try all.add(k) } }
        }
        return all
    }

    private func collection(_ table: Table, _ key: ObjKey, _ facts: ColumnFacts) throws(RealmError)
        -> CollectionContent?
    {
        guard case .slot(let s)? = try table.rows.peek(key, facts.key.index), let shape = facts.shape,
            let kind = facts.elementKind
        else {
            return nil
        }
        let root = s.isTagged ? Ref.null : s.ref
        let store = table.store
        if shape == .dictionary {
            return .dictionary(
                try ElementDictionary(
                    store, root: root, keyType: facts.keyType, valueType: facts.type, format: table.group.format))
        }
        return .list(try ElementList(store, root: root, kind: kind, target: facts.oppositeTable, isSet: shape == .set))
    }

    // MARK: Values at the end

    private func emit(_ t: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        switch tail {
        case .value(let c):
            var v = try t.rows.peek(key, c.index) ?? .null
            switch v {
            case .link(let k):
                v = k.isUnresolved || k.isNull ? .null : .typedLink(t.facts(c)?.oppositeTable ?? .null, k)
            case .typedLink(_, let k) where k.isUnresolved: v = .null
            default: break
            }
            // A null link behind to-many hops is no element.
            if v.isNull, type.isLink, hasManyHops { return }
            try out.values.add(v)
            if !hasManyHops { out.closeGroup() }
        case .collection(let c, _, let steps):
            let before = out.ends.count
            if let facts = t.facts(c), let content = try collection(t, key, facts) {
                try element(content, steps[...], out, level: 0)
            }
            // Behind to-many hops, several steps make groups only of what the steps before the last lead to.
            if !hasManyHops || (isCollection && steps.count <= 1) { out.finish(since: before) }
        case .keys(let c, let steps):
            let before = out.ends.count
            guard let facts = t.facts(c), let content = try collection(t, key, facts) else { return out.closeGroup() }
            if !steps.isEmpty {
                try element(content, steps[...], keys: true, out, level: 0)
                if !hasManyHops { out.finish(since: before) }
                return
            }
            if case .dictionary(let d) = content {
                try forEach(d.count, out) { (i) throws(RealmError) in try out.values.add(try d.key(i)) }
            }
            out.closeGroup()
        case .lengths(let c):
            defer { if !hasManyHops { out.closeGroup() } }
            guard let facts = t.facts(c), case .list(let l)? = try collection(t, key, facts) else { return }
            try forEach(l.count, out) { (i) throws(RealmError) in
                switch try l.get(i) {
                case .string(let b): try out.values.add(.int(Int64(b.count)))
                case .binary(let b): try out.values.add(.int(Int64(b.count)))
                case .null where facts.type != .mixed: try out.values.add(.int(0))
                default: break
                }
            }
        case .mixed(let c, let steps, let keys):
            var v = try t.rows.peek(key, c.index) ?? .null
            if case .typedLink(_, let k) = v, k.isUnresolved { v = .null }
            if steps.isEmpty && !keys {
                try out.values.add(v)
                if !hasManyHops { out.closeGroup() }
            } else {
                let before = out.ends.count
                try nested(v, steps[...], keys: keys, out, level: 0)
                if !hasManyHops { out.finish(since: before) }
            }
        case .allBacklinks:
            try out.values.add(.int(Int64(try t.backlinkCount(key))))
            if !hasManyHops { out.closeGroup() }
        case .object: try out.values.add(.typedLink(end, key))
        }
    }

    /// Elements of a typed collection that the steps lead to.
    private func element(
        _ content: CollectionContent, _ steps: ArraySlice<PathIndex>, keys: Bool = false, _ out: ValueBuffer, level: Int
    ) throws(RealmError) {
        let first = steps.first ?? .all, rest = steps.dropFirst()
        switch (content, first) {
        case (.list(let l), .all):
            try forEach(l.count, out) { (i) throws(RealmError) in
                try each(try l.get(i), rest, keys: keys, out, level: level + 1)
            }
        case (.dictionary(let d), .all):
            try forEach(d.count, out) { (i) throws(RealmError) in
                let v = try d.value(i)
                // A null in a dictionary of links is a link to nothing, not the same as a null link, or no element at
                // all.
                if v.isNull, type.isLink {
                    if showsNullLinks { try out.values.add(.typedLink(.null, .null)) }
                } else {
                    try each(v, rest, keys: keys, out, level: level + 1)
                }
            }
        case (.list(let l), .at(let i)):
            if i < l.count {
                if rest.isEmpty && !keys {
                    try out.values.add(try l.get(i))
                } else {
                    try nested(try l.get(i), rest, keys: keys, out, level: level + 1)
                }
            } else if rest.isEmpty, !keys, level == 0, l.count > 0 {
                try out.values.add(.null)
            }
        case (.list(let l), .last):
            if l.count > 0 {
                let v = try l.get(l.count - 1)
                if rest.isEmpty && !keys {
                    try out.values.add(v)
                } else {
                    try nested(v, rest, keys: keys, out, level: level + 1)
                }
            }
        case (.dictionary(let d), .key(let name)):
            if let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }) {
                if rest.isEmpty && !keys {
                    try out.values.add(try d.value(i))
                } else {
                    try nested(try d.value(i), rest, keys: keys, out, level: level + 1)
                }
            } else if rest.isEmpty, !keys, d.count > 0 {
                try out.values.add(.null)
            }
        default: break
        }
    }

    /// Runs `body` for the places of a collection whose elements are to come into `out`.
    @inline(__always)
    private func forEach(_ count: Int, _ out: ValueBuffer, _ body: (Int) throws(RealmError) -> Void) throws(RealmError)
    {
        guard count <= QueryRoom.maxValues &- (out.values.count &+ out.ends.count) else {
            throw RealmError(.limitExceeded, "A key path has more than \(QueryRoom.maxValues) values for one row")
        }
        for i in 0..<count {
            if i & 1023 == 1023, let group { try group.takeUnretainedValue().store.test() }
            try body(i)
        }
    }

    /// One element behind `[*]`.
    private func each(_ v: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int)
        throws(RealmError)
    {
        if steps.isEmpty && !keys { try out.values.add(v) } else { try nested(v, steps, keys: keys, out, level: level) }
    }

    /// Steps into a Mixed value. A step that does not fit the value gives nothing; the last one still makes a group of
    /// it.
    private func nested(_ v: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int)
        throws(RealmError)
    {
        guard level < Trees.maxNesting, let group else { return }
        let store = group.takeUnretainedValue().store
        let before = out.ends.count, isLast = steps.count + (keys ? 1 : 0) == 1
        defer { if isLast { out.finish(since: before) } }
        guard let step = steps.first else {
            guard keys else { return try out.values.add(v) }
            if case .dictionary(let r) = v {
                let d = try ElementDictionary(store, root: r, keyType: .string, format: Format.currentVersion)
                try forEach(d.count, out) { (i) throws(RealmError) in try out.values.add(try d.key(i)) }
            }
            return
        }
        let rest = steps.dropFirst()
        switch v {
        case .list(let r):
            let l = try ElementList(store, root: r, kind: .mixed, target: .null)
            switch step {
            case .all:
                try forEach(l.count, out) { (i) throws(RealmError) in
                    try each(try l.get(i), rest, keys: keys, out, level: level + 1)
                }
            case .at(let i): if i < l.count { try nested(try l.get(i), rest, keys: keys, out, level: level + 1) }
            case .last: if l.count > 0 { try nested(try l.get(l.count - 1), rest, keys: keys, out, level: level + 1) }
            case .key: break
            }
        case .dictionary(let r):
            let d = try ElementDictionary(store, root: r, keyType: .string, format: Format.currentVersion)
            switch step {
            case .all:
                try forEach(d.count, out) { (i) throws(RealmError) in
                    try each(try d.value(i), rest, keys: keys, out, level: level + 1)
                }
            case .key(let name):
                if let i = try name.withBytes({ (b) throws(RealmError) in try d.find(b) }) {
                    try nested(try d.value(i), rest, keys: keys, out, level: level + 1)
                } else if rest.isEmpty, !keys, d.count > 0 {
                    try out.values.add(.null)
                }
            default: break
            }
        case .typedLink(let t, let k):
            // A name reads that property of the linked object.
            guard case .key(let name) = step, let table = try group.takeUnretainedValue().table(t),
                try table.isValid(k),
                let c = table.column(named: Name(String(decoding: name, as: UTF8.self))), let facts = table.facts(c.key)
            else { return }
            if facts.shape != nil {
                if let content = try collection(table, k, facts) {
                    try element(content, rest, keys: keys, out, level: level + 1)
                }
                if rest.count == 1 && !keys { out.finish(since: before) }
                return
            }
            var value = try table.rows.peek(k, c.index) ?? .null
            if case .link(let key) = value { value = key.isUnresolved ? .null : .typedLink(facts.oppositeTable, key) }
            try nested(value, rest, keys: keys, out, level: level + 1)
        default: break
        }
    }
}
