/// A key of a grouping: numbers the distinct values of an expression. Number 0 is NULL.
final class GroupKey {
    private enum Distinct {
        case integers(DistinctValues<Int64>)
        case doubles(DistinctValues<Int64>)
        case texts(DistinctValues<GroupText>)
        case values(DistinctValues<Mixed>)
    }

    /// A path that begins with a link: the values behind it are read once for each object that the link leads to.
    private struct Way {
        let rest: Expression
        let target: TableKey
        let buffer = ValueBuffer()
    }

    let input: GroupInput
    let type: ValueType
    private let distinct: Distinct
    private let way: Way?
    private let group: Group

    /// For a `Way`: the distinct values at the end of the path; then the number of the value of each linked object, in
    /// the order of the numbers of these objects.
    private let behind: DistinctValues<Mixed>
    private var numbersBehind = GroupMemory<UInt32>()

    init(_ expression: Expression, _ group: Group, inValues: Bool) throws(RealmError) {
        self.group = group
        type = expression.valueType
        behind = try DistinctValues()
        if !inValues, let path = expression as? PathExpression, let hop = path.hops.first, hop.kind == .toOne,
            !path.isList, !path.hasManyHops
        {
            let link = PathExpression(
                hops: [], tail: .value(hop.column), end: hop.origin, type: .link(hop.target), isList: false,
                quantifier: nil, source: "")
            let rest = path.afterFirstHop
            try rest.prepare(group)
            way = Way(rest: rest, target: hop.target)
            input = try GroupInput(link, group, inValues: false)
        } else {
            way = nil
            input = try GroupInput(expression, group, inValues: inValues)
        }
        switch input.form {
        case .integers: distinct = .integers(try DistinctValues())
        case .doubles: distinct = .doubles(try DistinctValues())
        case .texts: distinct = .texts(try DistinctValues())
        case .values: distinct = .values(try DistinctValues())
        }
    }

    /// Numbers the values that the input has read.
    func number(_ count: Int, _ out: UnsafeMutablePointer<UInt32>) throws(RealmError) {
        switch distinct {
        case .integers(let known):
            for i in 0..<count {
                out[i] = input.nulls[i] != 0 ? 0 : try known.number(input.integers[i]) &+ 1
            }
            if way != nil { try follow(known, count, out) }
        case .doubles(let known):
            for i in 0..<count {
                out[i] = input.nulls[i] != 0 ? 0 : try known.number(Self.bits(input.doubles[i])) &+ 1
            }
        case .texts(let known):
            for i in 0..<count { out[i] = input.nulls[i] != 0 ? 0 : try known.number(input.texts[i]) &+ 1 }
        case .values(let known):
            for (i, value) in input.values.enumerated() { out[i] = value.isNull ? 0 : try known.number(value) &+ 1 }
        }
    }

    /// Equal doubles have equal bits; so have all kinds of not-a-number.
    @inline(__always) private static func bits(_ number: Double) -> Int64 {
        if number == 0 { return 0 }
        return Int64(bitPattern: number.isNaN ? Double.nan.bitPattern : number.bitPattern)
    }

    /// Replaces the numbers of objects by those of the values behind the link.
    private func follow(
        _ objects: DistinctValues<Int64>, _ count: Int, _ numbers: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        guard let way, let table = try group.table(way.target) else { return }
        while numbersBehind.count < objects.count {
            try table.test()
            let key = ObjKey(objects[numbersBehind.count])
            way.buffer.reset()
            try way.rest.evaluate(table, key, way.buffer)
            let value = way.buffer.values.first ?? .null
            try numbersBehind.append(try number(behind: value))
        }
        for i in 0..<count where numbers[i] != 0 { numbers[i] = numbersBehind[Int(numbers[i]) - 1] }
    }

    private func number(behind value: Mixed) throws(RealmError) -> UInt32 {
        switch value {
        case .null, .slot: return 0
        case .link(let key):
            guard key.raw >= 0, case .link(let table) = type else { return 0 }
            return try behind.number(.typedLink(table, key)) + 1
        case .typedLink(_, let key) where key.raw < 0: return 0
        default: return try behind.number(value) + 1
        }
    }

    /// The value that has a number.
    func value(number: UInt32) -> Mixed {
        guard number > 0 else { return .null }
        let index = Int(number - 1)
        if way != nil { return behind[index] }
        switch distinct {
        case .integers(let known):
            if case .link(let table) = type { return .typedLink(table, ObjKey(known[index])) }
            return .int(known[index])
        case .doubles(let known):
            let number = Double(bitPattern: UInt64(bitPattern: known[index]))
            return type == .float ? .float(Float(number)) : .double(number)
        case .texts(let known): return .string(known[index].bytes)
        case .values(let known): return known[index]
        }
    }
}
