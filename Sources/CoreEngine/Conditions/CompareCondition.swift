/// Compares two expressions by the rules of lists and quantifiers. Rules: query-language §6 (E), §7.
final class CompareCondition: Condition {
    let op: CompareOperator
    let folding: Folding
    let left: Expression, right: Expression
    private let leftBuffer = ValueBuffer(), rightBuffer = ValueBuffer()
    private let types: Bool
    private let patterns: [Pattern?]

    init(_ op: CompareOperator, folding: Folding, _ left: Expression, _ right: Expression) throws(RealmError) {
        self.op = op
        self.folding = folding
        self.left = left
        self.right = right
        types = left.type == .typeName || right.type == .typeName
        // Patterns of constants are compiled once.
        if let constant = right as? ConstantExpression, op.isString || !folding.isEmpty {
            patterns = try constant.values.map { (value) throws(RealmError) in
                switch value {
                case .string(let bytes): try Pattern(op, bytes, folding: folding)
                case .binary(let bytes): try Pattern(op, bytes, folding: folding.intersection(.cases))
                default: nil
                }
            }
        } else {
            patterns = []
        }
    }

    /// The same comparison of other expressions. The constants of `right` must be the same.
    private init(_ other: CompareCondition, _ left: Expression, _ right: Expression) {
        self.left = left
        self.right = right
        (op, folding, types, patterns) = (other.op, other.folding, other.types, other.patterns)
    }

    override func copied() -> Condition { CompareCondition(self, left.copied(), right.copied()) }

    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
        if right.isConstant, let table = try? group.table(at: group.liveIndexes.first ?? 0) {
            rightBuffer.reset()
            try right.evaluate(table, .null, rightBuffer)
        }
        try prepareTest(group)
    }

    // MARK: Whole leaves

    /// The test of a property of the queried class, if whole leaves of it can be tested.
    private(set) var test: (column: ColKey, test: ColumnTest)?

    /// The link to follow, the rest of the condition on the linked class, and that class. `reach` holds the linked
    /// objects that match.
    private var step: (link: ColKey, rest: CompareCondition, target: Unmanaged<Table>)?
    private var reach: LinkReach?
    private var isReachTried = false

    private func prepareTest(_ group: Group) throws(RealmError) {
        test = nil
        step = nil
        reach = nil
        isReachTried = false
        guard !types, let path = left as? PathExpression, !path.isList, case .value(let column) = path.tail,
            let expression = right as? ConstantExpression,
            !expression.isList,
            let constant = expression.values.first
        else { return }
        if let hop = path.hops.first {
            // Long chains of links are followed row by row.
            guard hop.kind == .toOne, path.hops.count <= 8, !path.hasManyHops, let target = try group.table(hop.target)
            else { return }
            let rest = CompareCondition(self, path.afterFirstHop, right)
            try rest.prepare(group)
            step = (hop.column, rest, .passUnretained(target))
            return
        }
        guard let facts = try group.table(path.end)?.facts(column), !facts.isCollection else { return }
        if case .typedLink(let table, _) = constant, table != facts.oppositeTable { return }
        if let columnTest = try ColumnTest(facts.kind, op, constant, folding: folding, ieee: false) {
            test = (column, columnTest)
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
                let isNullIn = try holds(.null, rightBuffer.values.first ?? .null, at: 0, scan.store)
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

    override func write(_ printer: QueryPrinter) { printer.compare(self) }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        leftBuffer.reset()
        try left.evaluate(table, key, leftBuffer)
        if !right.isConstant {
            rightBuffer.reset()
            try right.evaluate(table, key, rightBuffer)
        }
        var leftStart = 0
        for leftEnd in leftBuffer.ends {
            var rightStart = 0
            for rightEnd in rightBuffer.ends {
                if try compare(
                    leftBuffer.values[leftStart..<leftEnd], rightBuffer.values[rightStart..<rightEnd], table.store)
                {
                    return true
                }
                rightStart = rightEnd
            }
            leftStart = leftEnd
        }
        return false
    }

    private func holds(_ left: Mixed, _ right: Mixed, at j: Int, _ store: NodeStore) throws(RealmError) -> Bool {
        if types {
            guard case .int(let leftTypes) = left, case .int(let rightTypes) = right else { return op == .notEqual }
            return (leftTypes & rightTypes != 0) == (op != .notEqual)
        }
        if op.isString || !folding.isEmpty {
            if j < patterns.count, let pattern = patterns[j] {
                switch (left, right) {
                case (.string(let bytes), .string), (.binary(let bytes), .binary):
                    return try pattern.matches(bytes, store) == (op != .notEqual)
                case (.null, _): return op == .notEqual
                default: return op == .notEqual
                }
            }
            return try Comparison.string(op, folding: folding, left, right, store)
        }
        return Comparison.holds(op, left, right)
    }

    private func compare(_ leftGroup: ArraySlice<Mixed>, _ rightGroup: ArraySlice<Mixed>, _ store: NodeStore)
        throws(RealmError) -> Bool
    {
        if !left.isList && !right.isList {
            guard let leftValue = leftGroup.first, let rightValue = rightGroup.first else { return false }
            return try holds(leftValue, rightValue, at: rightGroup.startIndex, store)
        }
        let isOneValue =
            (left.isOptionalValue && leftGroup.count == 1) || (right.isOptionalValue && rightGroup.count == 1)
        if left.isList && right.isList && left.quantifier == nil && right.quantifier == nil && !isOneValue {
            guard leftGroup.count == rightGroup.count else { return op == .notEqual }
            for (i, j) in zip(leftGroup.indices, rightGroup.indices) {
                try store.test()
                if try !holds(leftGroup[i], rightGroup[j], at: j, store) { return false }
            }
            return true
        }
        if !left.isList {
            guard let value = leftGroup.first else { return false }
            return try meets(value, rightGroup, store)
        }
        let quantifier = left.quantifier ?? .any
        for value in leftGroup {
            // Allows interruption: both lists can be long.
            try store.test()
            if try meets(value, rightGroup, store) != (quantifier == .all) { return quantifier == .any }
        }
        return quantifier != .any
    }

    /// Whether the right quantifier holds for one element of the left side.
    private func meets(_ value: Mixed, _ group: ArraySlice<Mixed>, _ store: NodeStore) throws(RealmError) -> Bool {
        let inner = right.quantifier ?? .any
        for j in group.indices {
            try store.test()
            if try holds(value, group[j], at: j, store) != (inner == .all) { return inner == .any }
        }
        return inner != .any
    }
}
