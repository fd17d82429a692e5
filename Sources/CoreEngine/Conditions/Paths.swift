/// A step into a collection or a Mixed value.
enum PathIndex: Equatable {
    case at(Int), last, all
    case key([UInt8])
}

/// One step of a path from an object to others.
struct Hop {
    enum Kind { case toOne, list, set, dictionary, backlink }
    let kind: Kind

    /// The class where the hop starts, its column in that class, and the class that the hop leads to.
    let origin: TableKey
    let column: ColKey
    let target: TableKey

    /// The index of an element in a list, or a key of a dictionary; nil for all elements.
    var index: PathIndex?
    let text: String

    /// Whether the hop counts as to-many in comparisons. A hop to one element of a list does, too.
    var isMultiple: Bool { kind != .toOne }
    var leadsToOne: Bool { kind == .toOne || (index != nil && index != .all) }
}

/// The part of a path after its hops.
enum PathTail {
    /// A single value.
    case value(ColKey)
    /// A collection of the object: all elements, or those that the steps select.
    case collection(ColKey, CollectionShape, [PathIndex])
    case keys(ColKey, [PathIndex])
    /// The lengths of the elements in bytes.
    case lengths(ColKey)
    /// Steps into a Mixed value; `keys` when `@keys` follows them.
    case mixed(ColKey, [PathIndex], keys: Bool)
    /// The number of all links to the object.
    case allBacklinks
    /// The object itself, as a link, for paths that end in backlinks.
    case object
}

/// A key path bound to tables: hops from the queried class, then the tail.
final class PathExpression: Expression {
    let hops: [Hop]
    let tail: PathTail

    /// The class whose property is the tail.
    let end: TableKey

    /// Whether nulls in a dictionary of links count as elements. Set for `!=` with a constant, which any element may
    /// satisfy.
    var showsNullLinks = false

    /// Whether objects are visited in the order of their keys. The result of a floating-point sum depends on the order.
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

    /// Like `copied`, with the concrete type.
    func ownPath() -> PathExpression {
        let copy = PathExpression(
            hops: hops, tail: tail, end: end, type: type, isList: isList, quantifier: quantifier, source: source)
        copy.showsNullLinks = showsNullLinks
        copy.isByKey = isByKey
        return copy
    }

    /// The same path without its first hop, starting at the class that the hop leads to.
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
        case .value(let column): return column
        case .mixed(let column, let steps, false) where steps.isEmpty: return column
        default: return nil
        }
    }

    override func text(_ printer: QueryPrinter) -> String {
        (quantifier.map { $0.rawValue + " " } ?? "") + printer.prefix + source
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        let hops = way + hops.map { KeyPath.Step($0) }
        /// - Parameter steps: steps into a Mixed value. When the value is a link, a key among them may name a property
        ///   of the linked object.
        func add(_ column: ColKey, _ steps: some Sequence<PathIndex>) {
            found.add(hops + [KeyPath.Step(table: end, column: column, target: nil, isBacklink: false)])
            if steps.contains(where: { if case .key = $0 { true } else { false } }) { found.addAnything() }
        }
        switch tail {
        case .value(let column), .lengths(let column): add(column, [])
        case .collection(let column, _, let steps), .keys(let column, let steps): add(column, steps.dropFirst())
        case .mixed(let column, let steps, _): add(column, steps)
        case .allBacklinks: found.addAnything()
        case .object: found.add(hops)
        }
    }

    override func prepare(_ group: Group) throws(RealmError) {
        tables = []
        for key in hops.map(\.origin) + [end] {
            guard let table = try group.table(key) else {
                throw RealmError(.noSuchTable, "The query's class does not exist any more")
            }
            tables.append(.passUnretained(table))
        }
        self.group = .passUnretained(group)
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        try evaluateReached(table, key, out)
        if hasManyHops, out.ends.isEmpty || !isCollection { out.closeGroup() }
    }

    /// Like `evaluate`, with two differences: it makes no group when no object is reached, and it does not close the
    /// one group of single values after to-many hops.
    func evaluateReached(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        if hops.isEmpty { return try emit(table, key, out) }
        if !hasManyHops {
            var currentTable = table, currentKey = key
            for (i, hop) in hops.enumerated() {
                guard let next = try single(hop, currentTable, currentKey) else { return try missing(out) }
                currentKey = next
                currentTable = tables[i + 1].takeUnretainedValue()
            }
            return try emit(currentTable, currentKey, out)
        }
        let end = tables[hops.count].takeUnretainedValue()
        guard isByKey else { return try walk(0, table, key) { (k) throws(RealmError) in try emit(end, k, out) } }
        var reached: [ObjKey] = []
        try walk(0, table, key) { (k) throws(RealmError) in try reached.add(k) }
        for found in reached.sorted() { try emit(end, found, out) }
    }

    /// Called when a link of the chain is null: gives NULL for a value and nothing for a collection.
    private func missing(_ out: ValueBuffer) throws(RealmError) {
        if !isList, !isCollection { try out.values.add(.null) }
        out.closeGroup()
    }

    private var isCollection: Bool {
        switch tail {
        case .value, .object, .allBacklinks, .lengths: false
        case .mixed(_, let steps, let keys): !steps.isEmpty || keys
        case .collection(let column, _, let steps): !(steps.isEmpty && column.typeNumber == ColumnType.link.rawValue)
        default: true
        }
    }

    /// Calls `body` for every object that the hops from index `i` on reach.
    func walk(_ first: Int, _ table: Table, _ key: ObjKey, _ body: (ObjKey) throws(RealmError) -> Void)
        throws(RealmError)
    {
        var reached = 0
        try walk(first, table, key, &reached, body)
    }

    private func walk(
        _ first: Int, _ start: Table, _ from: ObjKey, _ reached: inout Int, _ body: (ObjKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        var position = first, table = start, key = from
        while position < hops.count, hops[position].leadsToOne {
            guard let target = try single(hops[position], table, key) else { return }
            position += 1
            table = tables[position].takeUnretainedValue()
            key = target
        }
        if position == hops.count { return try body(key) }
        // One row may reach so many objects that the call must be able to end here.
        try table.test()
        let next = tables[position + 1].takeUnretainedValue()
        let keys = try targets(hops[position], table, key)
        reached += keys.count
        guard reached <= QueryLimits.maxReached else { throw Self.tooFar() }
        for target in keys { try walk(position + 1, next, target, &reached, body) }
    }

    private static func tooFar() -> RealmError {
        RealmError(.limitExceeded, "A key path reaches more than \(QueryLimits.maxReached) objects from one row")
    }

    /// The one object behind a to-one link or an indexed element; nil when the object does not exist.
    private func single(_ hop: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> ObjKey? {
        guard let facts = table.facts(hop.column) else { return nil }
        if hop.kind == .toOne {
            guard case .link(let target)? = try table.peek(key, hop.column), !target.isUnresolved,
                !target.isNull
            else {
                return nil
            }
            return target
        }
        guard let content = try collection(table, key, facts) else { return nil }
        switch (content, hop.index) {
        case (.list(let list), .at(let index)?):
            guard index < list.count, case .typedLink(_, let target) = try list.get(index) else { return nil }
            return target
        case (.list(let list), .last?):
            guard list.count > 0, case .typedLink(_, let target) = try list.get(list.count - 1) else { return nil }
            return target
        case (.dictionary(let dictionary), .key(let name)?):
            guard let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }),
                case .typedLink(_, let target) = try dictionary.value(index)
            else {
                return nil
            }
            return target
        default: return nil
        }
    }

    /// The objects that one to-many hop reaches, with duplicates.
    private func targets(_ hop: Hop, _ table: Table, _ key: ObjKey) throws(RealmError) -> [ObjKey] {
        if hop.kind == .backlink { return try table.backlinks(key, hop.column).allKeys() }
        guard let facts = table.facts(hop.column), let content = try collection(table, key, facts) else { return [] }
        var all: [ObjKey] = []
        switch content {
        case .list(let list):
            guard list.count <= QueryLimits.maxReached else { throw Self.tooFar() }
            for i in 0..<list.count {
                if i & 1023 == 1023 { try table.test() }
                if case .typedLink(_, let target) = try list.get(i) { try all.add(target) }
            }
        case .dictionary(let dictionary):
            for i in 0..<dictionary.count {
                if case .typedLink(_, let target) = try dictionary.value(i) { try all.add(target) }
            }
        }
        return all
    }

    /// The content of a collection property; nil when the object does not exist.
    private func collection(_ table: Table, _ key: ObjKey, _ facts: ColumnFacts) throws(RealmError)
        -> CollectionContent?
    {
        guard case .slot(let slot)? = try table.peek(key, facts.key), let shape = facts.shape,
            let kind = facts.elementKind
        else {
            return nil
        }
        let root = slot.isTagged ? Ref.null : slot.ref
        let store = table.store
        if shape == .dictionary {
            return .dictionary(
                try ElementDictionary(
                    store, root: root, keyType: facts.keyType, valueType: facts.type, format: table.group.format))
        }
        return .list(try ElementList(store, root: root, kind: kind, target: facts.oppositeTable, isSet: shape == .set))
    }

    // MARK: Values at the end

    /// Adds the values of the tail for one object.
    private func emit(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        switch tail {
        case .value(let column):
            var value = try table.peek(key, column) ?? .null
            switch value {
            case .link(let target):
                value =
                    target.isUnresolved || target.isNull
                    ? .null : .typedLink(table.facts(column)?.oppositeTable ?? .null, target)
            case .typedLink(_, let target) where target.isUnresolved: value = .null
            default: break
            }
            // A null link after to-many hops is not an element.
            if value.isNull, type.isLink, hasManyHops { return }
            try out.values.add(value)
            if !hasManyHops { out.closeGroup() }
        case .collection(let column, _, let steps):
            let before = out.ends.count
            if let facts = table.facts(column), let content = try collection(table, key, facts) {
                try element(content, steps[...], out, level: 0)
            }
            // After to-many hops, a path with two or more steps makes its groups in `nested`, one for each value that
            // the steps before the last one reach.
            if !hasManyHops || (isCollection && steps.count <= 1) { out.finish(since: before) }
        case .keys(let column, let steps):
            let before = out.ends.count
            guard let facts = table.facts(column), let content = try collection(table, key, facts) else {
                return out.closeGroup()
            }
            if !steps.isEmpty {
                try element(content, steps[...], keys: true, out, level: 0)
                if !hasManyHops { out.finish(since: before) }
                return
            }
            if case .dictionary(let dictionary) = content {
                try forEach(dictionary.count, out) { (i) throws(RealmError) in
                    try out.values.add(try dictionary.key(i))
                }
            }
            out.closeGroup()
        case .lengths(let column):
            defer { if !hasManyHops { out.closeGroup() } }
            guard let facts = table.facts(column), case .list(let list)? = try collection(table, key, facts) else {
                return
            }
            try forEach(list.count, out) { (i) throws(RealmError) in
                switch try list.get(i) {
                case .string(let bytes): try out.values.add(.int(Int64(bytes.count)))
                case .binary(let bytes): try out.values.add(.int(Int64(bytes.count)))
                case .null where facts.type != .mixed: try out.values.add(.int(0))
                default: break
                }
            }
        case .mixed(let column, let steps, let keys):
            var value = try table.peek(key, column) ?? .null
            if case .typedLink(_, let target) = value, target.isUnresolved { value = .null }
            if steps.isEmpty && !keys {
                try out.values.add(value)
                if !hasManyHops { out.closeGroup() }
            } else {
                let before = out.ends.count
                try nested(value, steps[...], keys: keys, out, level: 0)
                if !hasManyHops { out.finish(since: before) }
            }
        case .allBacklinks:
            try out.values.add(.int(Int64(try table.backlinkCount(key))))
            if !hasManyHops { out.closeGroup() }
        case .object: try out.values.add(.typedLink(end, key))
        }
    }

    /// Adds the elements of a typed collection that the steps select.
    private func element(
        _ content: CollectionContent, _ steps: ArraySlice<PathIndex>, keys: Bool = false, _ out: ValueBuffer, level: Int
    ) throws(RealmError) {
        let first = steps.first ?? .all, rest = steps.dropFirst()
        switch (content, first) {
        case (.list(let list), .all):
            try forEach(list.count, out) { (i) throws(RealmError) in
                try each(try list.get(i), rest, keys: keys, out, level: level + 1)
            }
        case (.dictionary(let dictionary), .all):
            try forEach(dictionary.count, out) { (i) throws(RealmError) in
                let value = try dictionary.value(i)
                // A null in a dictionary of links counts either as a link to no object, which differs from a null link,
                // or not at all.
                if value.isNull, type.isLink {
                    if showsNullLinks { try out.values.add(.typedLink(.null, .null)) }
                } else {
                    try each(value, rest, keys: keys, out, level: level + 1)
                }
            }
        case (.list(let list), .at(let index)):
            if index < list.count {
                if rest.isEmpty && !keys {
                    try out.values.add(try list.get(index))
                } else {
                    try nested(try list.get(index), rest, keys: keys, out, level: level + 1)
                }
            } else if rest.isEmpty, !keys, level == 0, list.count > 0 {
                try out.values.add(.null)
            }
        case (.list(let list), .last):
            if list.count > 0 {
                let value = try list.get(list.count - 1)
                if rest.isEmpty && !keys {
                    try out.values.add(value)
                } else {
                    try nested(value, rest, keys: keys, out, level: level + 1)
                }
            }
        case (.dictionary(let dictionary), .key(let name)):
            if let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) {
                if rest.isEmpty && !keys {
                    try out.values.add(try dictionary.value(index))
                } else {
                    try nested(try dictionary.value(index), rest, keys: keys, out, level: level + 1)
                }
            } else if rest.isEmpty, !keys, dictionary.count > 0 {
                try out.values.add(.null)
            }
        default: break
        }
    }

    /// Calls `body` with each index of a collection whose elements are added to `out`. Throws when `out` would become
    /// too large.
    @inline(__always)
    private func forEach(_ count: Int, _ out: ValueBuffer, _ body: (Int) throws(RealmError) -> Void) throws(RealmError)
    {
        guard count <= QueryLimits.maxValues &- (out.values.count &+ out.ends.count) else {
            throw RealmError(.limitExceeded, "A key path has more than \(QueryLimits.maxValues) values for one row")
        }
        for i in 0..<count {
            if i & 1023 == 1023, let group { try group.takeUnretainedValue().test() }
            try body(i)
        }
    }

    /// Adds one element selected by `[*]`.
    private func each(_ value: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int)
        throws(RealmError)
    {
        if steps.isEmpty && !keys {
            try out.values.add(value)
        } else {
            try nested(value, steps, keys: keys, out, level: level)
        }
    }

    /// Applies steps to a Mixed value. A step that does not fit the value adds nothing; the last step still closes a
    /// group.
    private func nested(_ value: Mixed, _ steps: ArraySlice<PathIndex>, keys: Bool, _ out: ValueBuffer, level: Int)
        throws(RealmError)
    {
        guard level < Tables.maxNesting, let group else { return }
        if level >= QueryLimits.flatSteps, level & 7 == 0 { try QueryLimits.expectStack(steps: level + steps.count) }
        let store = group.takeUnretainedValue().store
        let before = out.ends.count, isLast = steps.count + (keys ? 1 : 0) == 1
        defer { if isLast { out.finish(since: before) } }
        guard let step = steps.first else {
            guard keys else { return try out.values.add(value) }
            if case .dictionary(let root) = value {
                let dictionary = try ElementDictionary(
                    store, root: root, keyType: .string, format: Format.currentVersion)
                try forEach(dictionary.count, out) { (i) throws(RealmError) in
                    try out.values.add(try dictionary.key(i))
                }
            }
            return
        }
        let rest = steps.dropFirst()
        switch value {
        case .list(let root):
            let list = try ElementList(store, root: root, kind: .mixed, target: .null)
            switch step {
            case .all:
                try forEach(list.count, out) { (i) throws(RealmError) in
                    try each(try list.get(i), rest, keys: keys, out, level: level + 1)
                }
            case .at(let index):
                if index < list.count { try nested(try list.get(index), rest, keys: keys, out, level: level + 1) }
            case .last:
                if list.count > 0 { try nested(try list.get(list.count - 1), rest, keys: keys, out, level: level + 1) }
            case .key: break
            }
        case .dictionary(let root):
            let dictionary = try ElementDictionary(store, root: root, keyType: .string, format: Format.currentVersion)
            switch step {
            case .all:
                try forEach(dictionary.count, out) { (i) throws(RealmError) in
                    try each(try dictionary.value(i), rest, keys: keys, out, level: level + 1)
                }
            case .key(let name):
                if let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) {
                    try nested(try dictionary.value(index), rest, keys: keys, out, level: level + 1)
                } else if rest.isEmpty, !keys, dictionary.count > 0 {
                    try out.values.add(.null)
                }
            default: break
            }
        case .typedLink(let tableKey, let target):
            // A key step reads the property of that name in the linked object.
            guard case .key(let name) = step, let table = try group.takeUnretainedValue().table(tableKey),
                try table.isValid(target),
                let column = table.column(named: Name(String(decoding: name, as: UTF8.self))),
                let facts = table.facts(column.key)
            else { return }
            if facts.shape != nil {
                if let content = try collection(table, target, facts) {
                    try element(content, rest, keys: keys, out, level: level + 1)
                }
                if rest.count == 1 && !keys { out.finish(since: before) }
                return
            }
            var linked = try table.peek(target, column.key) ?? .null
            if case .link(let key) = linked { linked = key.isUnresolved ? .null : .typedLink(facts.oppositeTable, key) }
            try nested(linked, rest, keys: keys, out, level: level + 1)
        default: break
        }
    }
}
