/// The values of a key or of an argument of an aggregate, for the rows of one block.
final class GroupInput {
    /// The form of the values; only the memory of this form is used.
    enum Form { case integers, doubles, texts, values }

    private enum Source {
        case integers(ColKey), nullableIntegers(ColKey), links(ColKey), doubles(ColKey), floats(ColKey), texts(ColKey)
        case expression(Expression)
    }

    /// Capacity of a block: the rows of a cluster.
    static let mostRows = Format.clusterCapacity
    let type: ValueType
    let form: Form
    private let source: Source

    /// Whether a row can have any number of values. Then `ends` has the end of each row in `values`.
    let isList: Bool
    let integers: UnsafeMutablePointer<Int64>
    let doubles: UnsafeMutablePointer<Double>
    let texts: UnsafeMutablePointer<GroupText>
    private(set) var values: [Mixed] = []
    private(set) var ends: [Int] = []

    /// A byte for each value, not 0 for NULL; for all forms but `values`.
    let nulls: UnsafeMutablePointer<UInt8>
    private(set) var hasNulls = false
    private let buffer = ValueBuffer()

    /// - Parameter inValues: the form is `values`, also where another would be faster.
    init(_ expression: Expression, _ group: Group, inValues: Bool) throws(RealmError) {
        type = expression.valueType
        isList = expression.hasManyValues
        let direct = inValues ? nil : try Self.direct(expression, group)
        source = direct ?? .expression(expression)
        switch source {
        case .integers, .nullableIntegers, .links: form = .integers
        case .doubles, .floats: form = .doubles
        case .texts: form = .texts
        case .expression: form = .values
        }
        if case .expression = source { try expression.prepare(group) }
        integers = .allocate(capacity: form == .integers ? Self.mostRows : 1)
        doubles = .allocate(capacity: form == .doubles ? Self.mostRows : 1)
        texts = .allocate(capacity: form == .texts ? Self.mostRows : 1)
        nulls = .allocate(capacity: Self.mostRows)
        nulls.initialize(repeating: 0, count: Self.mostRows)
    }

    deinit {
        integers.deallocate()
        doubles.deallocate()
        texts.deallocate()
        nulls.deallocate()
    }

    /// The column, if the expression is a property of the objects themselves that has a fast form.
    private static func direct(_ expression: Expression, _ group: Group) throws(RealmError) -> Source? {
        guard let key = expression.directColumn, let path = expression as? PathExpression,
            let table = try group.table(path.end), let facts = table.facts(key)
        else { return nil }
        switch facts.kind {
        case .int: return .integers(key)
        case .nullableInt: return .nullableIntegers(key)
        case .link: return .links(key)
        case .double: return .doubles(key)
        case .float: return .floats(key)
        case .string where !table.isEnumerated(key): return .texts(key)
        default: return nil
        }
    }

    /// Reads the values of the rows of a run.
    func read(_ run: RowRun) throws(RealmError) {
        hasNulls = false
        let rows = run.rows, count = run.count
        switch source {
        case .integers(let column): try run.integers(column).copy(0, rows, to: integers)
        case .nullableIntegers(let column):
            let leaf = try run.integers(column, more: 1), null = leaf[0]
            leaf.copy(1, rows, to: integers)
            for i in 0..<count { mark(i, integers[i] == null) }
        case .links(let column):
            try run.integers(column).copy(0, rows, to: integers)
            for i in 0..<count {
                integers[i] &-= 1
                mark(i, integers[i] < 0)
            }
        case .doubles(let column):
            let leaf = try run.floats(column, width: 8)
            for i in 0..<count {
                let bits = leaf.double(Int(rows[i]))
                doubles[i] = Double(bitPattern: bits)
                mark(i, bits == NumberLeaf.nullDouble)
            }
        case .floats(let column):
            let leaf = try run.floats(column, width: 4)
            for i in 0..<count {
                let bits = leaf.float(Int(rows[i]))
                doubles[i] = Double(Float(bitPattern: bits))
                mark(i, bits == NumberLeaf.nullFloat)
            }
        case .texts(let column):
            let store = run.table.store, leaf = try run.texts(column)
            for i in 0..<count {
                let text = try leaf.text(store, Int(rows[i]))
                texts[i] = GroupText(text ?? Bytes(start: nil, count: 0))
                mark(i, text == nil)
            }
        case .expression(let expression):
            values.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
            for i in 0..<count {
                buffer.reset()
                try expression.evaluate(run.table, run.keys[i], buffer)
                try run.table.test()
                if isList {
                    try values.makeRoom(for: buffer.values.count)
                    for value in buffer.values { values.append(present(value)) }
                } else {
                    values.append(present(buffer.values.first ?? .null))
                }
                if isList { ends.append(values.count) }
            }
        }
    }

    @inline(__always) private func mark(_ index: Int, _ isNull: Bool) {
        nulls[index] = isNull ? 1 : 0
        if isNull { hasNulls = true }
    }

    /// A value as the grouping uses it: links carry their class, and links that lead to no object are NULL.
    private func present(_ value: Mixed) -> Mixed {
        switch value {
        case .slot: return .null
        case .link(let key):
            guard case .link(let table) = type, key.raw >= 0 else { return .null }
            return .typedLink(table, key)
        case .typedLink(_, let key): return key.raw < 0 ? .null : value
        case .int, .float, .double, .decimal: return value.asNumber(of: type)
        default: return value
        }
    }

    /// Repeats the values, so that value i is that of row `rows[i]`. For the form `values` without lists.
    func expand(_ rows: [Int]) throws(RealmError) {
        let before = values
        values.removeAll(keepingCapacity: true)
        try values.makeRoom(for: rows.count)
        for row in rows { values.append(before[row]) }
    }
}
