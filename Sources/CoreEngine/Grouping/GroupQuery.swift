/// A grouping bound to a class: reads the objects once, and holds the groups.
final class GroupQuery {
    private let group: Group
    private let table: Table
    private let arena: ConstantArena
    private var keys: [GroupKey] = []
    private var aggregates: [GroupAggregate] = []

    /// All inputs, each read once for a block.
    private var inputs: [GroupInput] = []

    /// The key that is a collection. An object counts in the group of each element.
    private var listKey: GroupKey?

    /// For each key but the first: numbers the pairs of a number of the keys before it and a number of this key.
    private var pairs: [DistinctValues<Int64>] = []

    /// With one key: the group of each number of the key, or `unknown`, and the number of each group.
    private var groupOfNumber = GroupMemory<UInt32>()
    private var numberOfGroup = GroupMemory<UInt32>()
    private static let unknown = UInt32.max

    /// For a block: the number of each value of a key, and the group of each row.
    private var numbers = GroupMemory<UInt32>()
    private var groups = GroupMemory<UInt32>()
    private(set) var count = 0

    /// Name and values of each column: the keys, then the aggregates.
    private(set) var columns: [(name: Name, values: GroupColumn)] = []

    init(_ group: Group, _ table: Table, _ syntax: GroupingSyntax, _ binder: inout Binder) throws(RealmError) {
        (self.group, self.table) = (group, table)
        arena = binder.arena
        var keyExpressions: [Expression] = []
        for key in syntax.keys {
            let expression = try binder.expression(key.value, table)
            guard expression.type != .typeName, expression.quantifier == nil else {
                throw .queryArgument("Cannot group by '\(key.name)'")
            }
            keyExpressions.append(expression)
        }
        let lists = keyExpressions.filter(\.hasManyValues)
        guard lists.count <= 1 else { throw .queryArgument("Cannot group by the elements of two collections") }
        let inValues = !lists.isEmpty
        for (written, expression) in zip(syntax.keys, keyExpressions) {
            let key = try GroupKey(expression, group, inValues: inValues)
            if expression.hasManyValues { listKey = key }
            keys.append(key)
            inputs.append(key.input)
            try append(written.name, KeyColumn(query: self, key: keys.count - 1))
        }
        for _ in keys.dropFirst() { pairs.append(try DistinctValues()) }
        for written in syntax.aggregates {
            let aggregate = try Self.aggregate(written, &binder, table, inValues: inValues)
            aggregates.append(aggregate)
            if let input = aggregate.input { inputs.append(input) }
            try append(written.name, aggregate)
        }
        guard !columns.isEmpty else { throw .queryArgument("A grouping needs a key or an aggregate") }
        if keys.isEmpty { try addGroups(1) }
    }

    private func append(_ name: Name, _ values: GroupColumn) throws(RealmError) {
        guard !columns.contains(where: { $0.name == name }) else {
            throw .queryArgument("Two columns of the groups have the name '\(name)': write AS and another name")
        }
        columns.append((name, values))
    }

    private static func aggregate(
        _ written: GroupingSyntax.Aggregate, _ binder: inout Binder, _ table: Table, inValues: Bool
    ) throws(RealmError) -> GroupAggregate {
        guard let syntax = written.value else { return GroupCount(nil) }
        let expression = try binder.expression(syntax, table), type = expression.valueType
        guard type != .typeName, expression.quantifier == nil else {
            throw .queryArgument("Cannot aggregate '\(written.name)'")
        }
        if written.function == .countDistinct {
            return try GroupDistinctCount(GroupKey(expression, table.group, inValues: inValues))
        }
        let input = try GroupInput(expression, table.group, inValues: inValues)
        switch written.function {
        case .count, .countDistinct: return GroupCount(input)
        case .first, .last:
            guard !expression.hasManyValues else {
                throw .queryArgument("'\(written.name)' needs a single value")
            }
            return GroupPick(input, written.function)
        case .min, .max:
            guard !type.isLink else { throw .queryArgument("'\(written.name)': links have no order") }
            return GroupPick(input, written.function)
        default: break
        }
        guard type.isNumeric || type == .mixed else {
            throw .queryArgument("'\(written.name)' needs numbers, not values of type '\(type.name)'")
        }
        switch written.function {
        case .sum, .average:
            let isAverage = written.function == .average
            // Arithmetic on integers may give decimals.
            if type == .int, expression.directColumn != nil || expression is PathExpression {
                return GroupIntegerSum(input, isAverage: isAverage)
            }
            switch type {
            case .float, .double: return GroupDoubleSum(input, isAverage: isAverage)
            case .int: return GroupWholeSum(input, isAverage: isAverage)
            default: return GroupDecimalSum(input, isAverage: isAverage)
            }
        case .deviation, .variance: return GroupSpread(input, isDeviation: written.function == .deviation)
        case .quantile: return GroupQuantile(input, written.fraction)
        default: return GroupQuantile(input, 0.5)
        }
    }

    // MARK: Reading objects

    /// Adds the objects with these keys; null keys are left out.
    func add(_ keys: [ObjKey]) throws(RealmError) {
        try RowRun.each(table, keys) { (run) throws(RealmError) in try add(run) }
    }

    /// Adds all objects that meet a condition.
    func add(_ condition: Condition, isAll: Bool) throws(RealmError) {
        let scan = ClusterScan(table), mask = scan.scratch()
        let rows = UnsafeMutablePointer<UInt16>.allocate(capacity: GroupInput.mostRows)
        let keys = UnsafeMutablePointer<ObjKey>.allocate(capacity: GroupInput.mostRows)
        defer {
            rows.deallocate()
            keys.deallocate()
        }
        while try scan.advance() {
            if !isAll {
                mask.fill(scan.count)
                try condition.narrow(scan, mask)
            }
            var found = 0
            for row in 0..<scan.count where isAll || mask[row] != 0 {
                rows[found] = UInt16(truncatingIfNeeded: row)
                keys[found] = scan.key(row)
                found &+= 1
            }
            guard found > 0 else { continue }
            try add(RowRun(scan, rows: UnsafeBufferPointer(start: rows, count: found), keys: keys))
        }
    }

    private func add(_ run: RowRun) throws(RealmError) {
        for input in inputs { try input.read(run) }
        var rowCount = run.count
        // An object counts in the group of each element.
        var repeated: [Int] = []
        if let listKey {
            var start = 0
            for (row, end) in listKey.input.ends.enumerated() {
                for _ in start..<end { repeated.append(row) }
                start = end
            }
            rowCount = repeated.count
            for input in inputs where !input.isList { try input.expand(repeated) }
        }
        try groups.grow(to: rowCount, filling: 0)
        try numbers.grow(to: rowCount, filling: 0)
        try findGroups(rowCount)
        for aggregate in aggregates {
            guard let input = aggregate.input, input.isList else {
                try aggregate.add(groups.start, rowCount)
                continue
            }
            try addElements(of: input, to: aggregate, rows: listKey == nil ? nil : repeated)
        }
    }

    /// Adds the elements of the rows' lists.
    private func addElements(of input: GroupInput, to aggregate: GroupAggregate, rows: [Int]?) throws(RealmError) {
        var groupOfElement = GroupMemory<UInt32>()
        if let rows {
            // Each row occurs once for each element of the key.
            let ends = input.ends
            var indices: [Int] = []
            for (i, row) in rows.enumerated() {
                for element in (row == 0 ? 0 : ends[row - 1])..<ends[row] {
                    indices.append(element)
                    try groupOfElement.append(groups[i])
                }
            }
            try input.expand(indices)
        } else {
            var start = 0
            for (row, end) in input.ends.enumerated() {
                for _ in start..<end { try groupOfElement.append(groups[row]) }
                start = end
            }
        }
        try aggregate.add(groupOfElement.start, groupOfElement.count)
    }

    /// Finds the group of each row, from the values that the keys' inputs have read.
    private func findGroups(_ rowCount: Int) throws(RealmError) {
        guard let first = keys.first else { return }
        let groups = groups.start
        try first.number(rowCount, groups)
        if pairs.isEmpty {
            for i in 0..<rowCount {
                let number = Int(groups[i])
                if number >= groupOfNumber.count { try groupOfNumber.grow(to: number + 1, filling: Self.unknown) }
                if groupOfNumber[number] == Self.unknown {
                    groupOfNumber[number] = UInt32(truncatingIfNeeded: count)
                    try numberOfGroup.append(UInt32(truncatingIfNeeded: number))
                    try addGroups(1)
                }
                groups[i] = groupOfNumber[number]
            }
            return
        }
        let numbers = numbers.start
        for (key, known) in zip(keys.dropFirst(), pairs) {
            try key.number(rowCount, numbers)
            for i in 0..<rowCount { groups[i] = try known.number(Int64(groups[i]) << 32 | Int64(numbers[i])) }
        }
        if let last = pairs.last, last.count > count { try addGroups(last.count - count) }
    }

    private func addGroups(_ more: Int) throws(RealmError) {
        count += more
        for aggregate in aggregates { try aggregate.grow(to: count) }
    }

    // MARK: Groups

    /// Called once, when all objects were added.
    func finish() throws(RealmError) { for aggregate in aggregates { try aggregate.finish() } }

    /// The values of a key, as a column of the groups.
    private struct KeyColumn: GroupColumn {
        unowned let query: GroupQuery
        let key: Int

        var type: ValueType { query.keys[key].type }

        func value(_ group: Int) -> Mixed { query.keys[key].value(number: query.number(of: key, group)) }
    }

    /// The number that the value of a key has in a group.
    private func number(of key: Int, _ group: Int) -> UInt32 {
        if pairs.isEmpty { return numberOfGroup[group] }
        // The last pairs have the numbers of the groups; each pair leads to one of the pairs before.
        var level = pairs.count, pair = UInt64(bitPattern: pairs[level - 1][group])
        while level > max(key, 1) {
            level -= 1
            pair = UInt64(bitPattern: pairs[level - 1][Int(pair >> 32)])
        }
        return UInt32(truncatingIfNeeded: key == 0 ? pair >> 32 : pair)
    }

    /// The groups that meet HAVING, in the order of the clauses after it.
    func ordered(_ syntax: GroupingSyntax, _ binder: inout Binder) throws(RealmError) -> [ObjKey] {
        binder.columns = columns
        var rows: [ObjKey] = []
        try rows.makeRoom(for: count)
        if let having = syntax.having {
            let condition = try binder.condition(having, table)
            try condition.prepare(group)
            for number in 0..<count {
                try table.test()
                if try condition.matches(table, ObjKey(Int64(number))) { rows.append(ObjKey(Int64(number))) }
            }
        } else {
            for number in 0..<count { rows.append(ObjKey(Int64(number))) }
        }
        var orderings: [Ordering] = []
        for written in syntax.orderings { Ordering.append(try binder.ordering(written, table), to: &orderings) }
        return orderings.isEmpty ? rows : try RowOrderer(table).apply(orderings, rows)
    }
}
