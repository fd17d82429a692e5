/// How two values compare. NULL and values of types that do not compare are equal to nothing but themselves, and stand
/// in no order.
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

    /// String operators on values that are not both text (or both binary): never, but for NULL patterns. Rules:
    /// query-language §11.
    static func string(_ op: CompareOperator, folding: Folding, _ a: Mixed, _ b: Mixed, _ store: NodeStore)
        throws(RealmError) -> Bool
    {
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
        case (.string(let x), .string(let y)):
            return try Pattern(op, y, folding: folding).matches(x, store) == (op != .notEqual)
        case (.binary(let x), .binary(let y)):
            return try Pattern(op, y, folding: folding.subtracting(.accents)).matches(x, store) == (op != .notEqual)
        default: return op == .notEqual
        }
    }
}

/// Two expressions, compared by the rules of lists and quantifiers. Rules: query-language §6 (E), §7.
final class CompareCondition: Condition {
    let op: CompareOperator
    let folding: Folding
    let left: Expression, right: Expression
    private let a = ValueBuffer(), b = ValueBuffer()
    private let types: Bool
    private let patterns: [Pattern?]

    init(_ op: CompareOperator, folding: Folding, _ left: Expression, _ right: Expression) throws(RealmError) {
        self.op = op
        self.folding = folding
        self.left = left
        self.right = right
        types = left.type == .typeName || right.type == .typeName
        // Constant patterns are prepared once.
        if let c = right as? ConstantExpression, op.isString || !folding.isEmpty {
            patterns = try c.values.map { (v) throws(RealmError) in
                switch v {
                case .string(let s): try Pattern(op, s, folding: folding)
                case .binary(let s): try Pattern(op, s, folding: folding.subtracting(.accents))
                default: nil
                }
            }
        } else {
            patterns = []
        }
    }

    /// The same comparison of other expressions; `right` has the same constants.
    private init(_ other: CompareCondition, _ left: Expression, _ right: Expression) {
        self.left = left
        self.right = right
        (op, folding, types, patterns) = (other.op, other.folding, other.types, other.patterns)
    }

    override func copied() -> Condition { CompareCondition(self, left.copied(), right.copied()) }

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
        guard !types, let path = left as? PathExpression, !path.isList, case .value(let column) = path.tail,
            let c = right as? ConstantExpression,
            !c.isList,
            let constant = c.values.first
        else { return }
        if let hop = path.hops.first {
            // Long chains are walked row by row.
            guard hop.kind == .toOne, path.hops.count <= 8, !path.hasManyHops, let target = try group.table(hop.target)
            else { return }
            let rest = CompareCondition(self, path.afterFirstHop, right)
            try rest.prepare(group)
            step = (hop.column, rest, .passUnretained(target))
            return
        }
        guard let facts = try group.table(path.end)?.facts(column), !facts.isCollection else { return }
        if case .typedLink(let t, _) = constant, t != facts.oppositeTable { return }
        guard !folding.contains(.accents) else { return }
        if let t = try ColumnTest(facts.kind, op, constant, folding: folding.contains(.cases), ieee: false) {
            test = (column, t)
        }
    }

    override var leafTest: (column: ColKey, test: ColumnTest)? { test }
    override var cost: Int { test != nil ? 15 : (step != nil ? 50 : 100) }

    override func narrow(_ scan: ClusterScan, _ mask: RowMask) throws(RealmError) {
        if let test {
            if try test.test.narrow(scan, test.column, mask) { return }
        } else if let step {
            if !isReachTried {
                isReachTried = true
                let isNullIn = try holds(.null, b.values.first ?? .null, at: 0, scan.store)
                reach = try LinkReach(
                    step.rest, on: step.target.takeUnretainedValue(), rows: try scan.table.count(), null: isNullIn)
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
                if try compare(a.values[i..<endA], b.values[j..<endB], table.store) { return true }
                j = endB
            }
            i = endA
        }
        return false
    }

    private func holds(_ x: Mixed, _ y: Mixed, at j: Int, _ store: NodeStore) throws(RealmError) -> Bool {
        if types {
            guard case .int(let m) = x, case .int(let n) = y else { return op == .notEqual }
            return (m & n != 0) == (op != .notEqual)
        }
        if op.isString || !folding.isEmpty {
            if j < patterns.count, let p = patterns[j] {
                switch (x, y) {
                case (.string(let s), .string), (.binary(let s), .binary):
                    return try p.matches(s, store) == (op != .notEqual)
                case (.null, _): return op == .notEqual
                default: return op == .notEqual
                }
            }
            return try Comparison.string(op, folding: folding, x, y, store)
        }
        return Comparison.holds(op, x, y)
    }

    private func compare(_ x: ArraySlice<Mixed>, _ y: ArraySlice<Mixed>, _ store: NodeStore) throws(RealmError) -> Bool
    {
        if !left.isList && !right.isList {
            guard let l = x.first, let r = y.first else { return false }
            return try holds(l, r, at: y.startIndex, store)
        }
        let isOneValue = (left.isOptionalValue && x.count == 1) || (right.isOptionalValue && y.count == 1)
        if left.isList && right.isList && left.quantifier == nil && right.quantifier == nil && !isOneValue {
            guard x.count == y.count else { return op == .notEqual }
            for (i, j) in zip(x.indices, y.indices) {
                try store.test()
                if try !holds(x[i], y[j], at: j, store) { return false }
            }
            return true
        }
        if !left.isList {
            guard let l = x.first else { return false }
            return try meets(l, y, store)
        }
        let quantifier = left.quantifier ?? .any
        for l in x {
            // Both lists may be long.
            try store.test()
            if try meets(l, y, store) != (quantifier == .all) { return quantifier == .any }
        }
        return quantifier != .any
    }

    /// Whether the right quantifier holds for an element of the left side.
    private func meets(_ l: Mixed, _ y: ArraySlice<Mixed>, _ store: NodeStore) throws(RealmError) -> Bool {
        let inner = right.quantifier ?? .any
        for j in y.indices {
            try store.test()
            if try holds(l, y[j], at: j, store) != (inner == .all) { return inner == .any }
        }
        return inner != .any
    }
}
