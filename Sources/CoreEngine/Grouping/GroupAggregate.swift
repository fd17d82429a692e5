/// The running result of a function for each group. Subclasses add the values of one block at a time.
class GroupAggregate: GroupColumn {
    /// nil: the function counts the objects themselves.
    let input: GroupInput?
    let type: ValueType

    init(_ input: GroupInput?, _ type: ValueType) {
        self.input = input
        self.type = type
    }

    /// Makes room for groups.
    func grow(to count: Int) throws(RealmError) {}

    /// Adds values: value i of the input belongs to group `groups[i]`.
    func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {}

    /// Called once, when all values were added.
    func finish() throws(RealmError) {}

    func value(_ group: Int) throws(RealmError) -> Mixed { .null }

    /// Calls `body` with the index and the value of each number of the input that is not NULL and not not-a-number.
    @inline(__always) final func forEachDouble(
        _ count: Int, _ body: (Int, Double) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard let input else { return }
        switch input.form {
        case .integers: for i in 0..<count where input.nulls[i] == 0 { try body(i, Double(input.integers[i])) }
        case .doubles:
            for i in 0..<count where input.nulls[i] == 0 && !input.doubles[i].isNaN { try body(i, input.doubles[i]) }
        case .texts: return
        case .values:
            for (i, value) in input.values.enumerated() {
                if let number = value.double, !number.isNaN { try body(i, number) }
            }
        }
    }

    /// The value at an index of the input.
    final func value(at index: Int) -> Mixed {
        guard let input else { return .null }
        if input.form != .values, input.nulls[index] != 0 { return .null }
        switch input.form {
        case .integers:
            if case .link(let table) = input.type { return .typedLink(table, ObjKey(input.integers[index])) }
            return .int(input.integers[index])
        case .doubles:
            return input.type == .float ? .float(Float(input.doubles[index])) : .double(input.doubles[index])
        case .texts: return .string(input.texts[index].bytes)
        case .values: return input.values[index]
        }
    }
}

/// `count()` and `count(city)`: the objects, or the values that are not NULL.
final class GroupCount: GroupAggregate {
    private var counts = GroupMemory<Int64>()

    init(_ input: GroupInput?) { super.init(input, .int) }

    override func grow(to count: Int) throws(RealmError) { try counts.grow(to: count, filling: 0) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        let counts = counts.start
        guard let input else {
            for i in 0..<count { counts[Int(groups[i])] &+= 1 }
            return
        }
        if input.form == .values {
            for (i, value) in input.values.enumerated() where !value.isNull { counts[Int(groups[i])] &+= 1 }
        } else {
            for i in 0..<count { counts[Int(groups[i])] &+= input.nulls[i] == 0 ? 1 : 0 }
        }
    }

    override func value(_ group: Int) -> Mixed { .int(counts[group]) }
}

/// `count(DISTINCT city)`: the distinct values that are not NULL.
final class GroupDistinctCount: GroupAggregate {
    private let key: GroupKey
    private let pairs: DistinctValues<Int64>
    private var counts = GroupMemory<Int64>()
    private var numbers = GroupMemory<UInt32>()

    init(_ key: GroupKey) throws(RealmError) {
        self.key = key
        pairs = try DistinctValues()
        super.init(key.input, .int)
    }

    override func grow(to count: Int) throws(RealmError) { try counts.grow(to: count, filling: 0) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        try numbers.grow(to: count, filling: 0)
        try key.number(count, numbers.start)
        for i in 0..<count where numbers[i] != 0 {
            let before = pairs.count
            _ = try pairs.number(Int64(groups[i]) << 32 | Int64(numbers[i]))
            if pairs.count > before { counts[Int(groups[i])] &+= 1 }
        }
    }

    override func value(_ group: Int) -> Mixed { .int(counts[group]) }
}

/// `sum(n)` and `avg(n)` of integers: exact.
final class GroupIntegerSum: GroupAggregate {
    /// A sum is `high` · 2⁶⁴ + `low`, with a sign in both.
    private struct Sum {
        var low: Int64 = 0
        var high: Int64 = 0
        var count: Int64 = 0
    }

    private var sums = GroupMemory<Sum>()
    private let isAverage: Bool

    init(_ input: GroupInput, isAverage: Bool) {
        self.isAverage = isAverage
        super.init(input, isAverage ? .double : .int)
    }

    override func grow(to count: Int) throws(RealmError) { try sums.grow(to: count, filling: Sum()) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        guard let input else { return }
        let sums = sums.start
        if input.form == .values {
            for (i, value) in input.values.enumerated() {
                if case .int(let integer) = value { Self.add(integer, to: &sums[Int(groups[i])]) }
            }
        } else {
            for i in 0..<count where input.nulls[i] == 0 { Self.add(input.integers[i], to: &sums[Int(groups[i])]) }
        }
    }

    @inline(__always) private static func add(_ integer: Int64, to sum: inout Sum) {
        let (low, overflows) = sum.low.addingReportingOverflow(integer)
        sum.low = low
        sum.count &+= 1
        if overflows { sum.high &+= integer < 0 ? -1 : 1 }
    }

    /// The number of values that were added to a group.
    func count(_ group: Int) -> Int64 { sums[group].count }

    override func value(_ group: Int) -> Mixed {
        let sum = sums[group], whole = Int128(sum.high) << 64 + Int128(sum.low)
        guard isAverage else { return .whole(whole) }
        guard sum.count > 0 else { return .null }
        return .double(sum.high == 0 ? Double(sum.low) / Double(sum.count) : Double(whole) / Double(sum.count))
    }
}

/// `sum(price * count)` of integers: exact in decimals, where a value or the sum does not fit into 64 bits.
final class GroupWholeSum: GroupAggregate {
    private let integers: GroupIntegerSum
    private let decimals: GroupDecimalSum
    private let isAverage: Bool

    init(_ input: GroupInput, isAverage: Bool) {
        integers = GroupIntegerSum(input, isAverage: false)
        decimals = GroupDecimalSum(input, isAverage: false, onlyDecimals: true)
        self.isAverage = isAverage
        super.init(input, isAverage ? .double : .int)
    }

    override func grow(to count: Int) throws(RealmError) {
        try integers.grow(to: count)
        try decimals.grow(to: count)
    }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        try integers.add(groups, count)
        try decimals.add(groups, count)
    }

    override func value(_ group: Int) -> Mixed {
        let count = integers.count(group) + decimals.count(group)
        var sum = integers.value(group)
        if decimals.count(group) > 0, case .decimal(let more) = decimals.value(group), let whole = sum.asDecimal {
            sum = .decimal(whole + more)
        }
        guard isAverage else { return sum }
        return count == 0 ? .null : .double((sum.double ?? 0) / Double(count))
    }
}

/// A sum that is rounded, and the number of its values.
private struct RoundedSum<Number> {
    var total: Number
    var count: Int64 = 0
}

/// `sum(price)` and `avg(price)` of floats and doubles, added in the order of the objects.
final class GroupDoubleSum: GroupAggregate {
    private var sums = GroupMemory<RoundedSum<Double>>()
    private let isAverage: Bool

    init(_ input: GroupInput, isAverage: Bool) {
        self.isAverage = isAverage
        super.init(input, .double)
    }

    override func grow(to count: Int) throws(RealmError) { try sums.grow(to: count, filling: RoundedSum(total: 0)) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        let sums = sums.start
        try forEachDouble(count) { (i, number) throws(RealmError) in
            sums[Int(groups[i])].total += number
            sums[Int(groups[i])].count &+= 1
        }
    }

    override func value(_ group: Int) -> Mixed {
        guard isAverage else { return .double(sums[group].total) }
        return sums[group].count == 0 ? .null : .double(sums[group].total / Double(sums[group].count))
    }
}

/// `sum(balance)` and `avg(balance)` of decimals and of numbers in Mixed, by the rules of `@sum` and `@avg`.
final class GroupDecimalSum: GroupAggregate {
    private var sums = GroupMemory<RoundedSum<Decimal128>>()
    private let isAverage: Bool

    /// Whether only values that are decimals are added.
    private let onlyDecimals: Bool

    init(_ input: GroupInput, isAverage: Bool, onlyDecimals: Bool = false) {
        (self.isAverage, self.onlyDecimals) = (isAverage, onlyDecimals)
        super.init(input, .decimal)
    }

    override func grow(to count: Int) throws(RealmError) {
        try sums.grow(to: count, filling: RoundedSum(total: .zero))
    }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        for i in 0..<count {
            let value = value(at: i)
            if onlyDecimals, case .int = value { continue }
            guard let decimal = value.asDecimal, !decimal.isNaN else { continue }
            let group = Int(groups[i])
            sums[group] = RoundedSum(total: sums[group].total + decimal, count: sums[group].count + 1)
        }
    }

    /// The number of values that were added to a group.
    func count(_ group: Int) -> Int64 { sums[group].count }

    override func value(_ group: Int) -> Mixed {
        guard isAverage else { return .decimal(sums[group].total) }
        return sums[group].count == 0 ? .null : .decimal(sums[group].total / Decimal128(sums[group].count))
    }
}

/// `min(born)` and `max(born)` of any type, and `first(born)` and `last(born)`.
final class GroupPick: GroupAggregate {
    private let function: GroupFunction
    private var best = GroupMemory<Mixed>()

    /// Whether a value was picked, which may be NULL.
    private var isPicked = GroupMemory<Bool>()

    init(_ input: GroupInput, _ function: GroupFunction) {
        self.function = function
        super.init(input, input.type)
    }

    override func grow(to count: Int) throws(RealmError) {
        try best.grow(to: count, filling: .null)
        try isPicked.grow(to: count, filling: false)
    }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        switch function {
        case .first:
            for i in 0..<count where !isPicked[Int(groups[i])] { pick(Int(groups[i]), value(at: i)) }
        case .last: for i in 0..<count { pick(Int(groups[i]), value(at: i)) }
        default:
            if let input, input.form == .integers, !input.type.isLink {
                addIntegers(groups, count, input)
            } else {
                let isMin = function == .min
                for i in 0..<count {
                    let group = Int(groups[i]), value = value(at: i)
                    if value.isNull || value.isNaN { continue }
                    let order = isPicked[group] ? Mixed.compareExactly(value, best[group]) : 0
                    if !isPicked[group] || (isMin ? order < 0 : order > 0) { pick(group, value) }
                }
            }
        }
    }

    private func addIntegers(_ groups: UnsafePointer<UInt32>, _ count: Int, _ input: GroupInput) {
        let isMin = function == .min
        for i in 0..<count where input.nulls[i] == 0 {
            let group = Int(groups[i]), value = input.integers[i]
            if case .int(let current) = best[group], isMin ? current <= value : current >= value { continue }
            pick(group, .int(value))
        }
    }

    @inline(__always) private func pick(_ group: Int, _ value: Mixed) {
        best[group] = value
        isPicked[group] = true
    }

    override func value(_ group: Int) -> Mixed { best[group] }
}

/// `stddev(x)` and `variance(x)` of a sample, by Welford's method; NULL for fewer than two numbers.
final class GroupSpread: GroupAggregate {
    private struct Moments {
        var count = 0.0
        var mean = 0.0
        /// The sum of the squared distances from the mean.
        var squares = 0.0

        /// The factor of all numbers. It keeps the squares of large numbers within the range of a double.
        var scale = 1.0

        @inline(__always) mutating func add(_ number: Double) {
            var number = number
            if abs(number) > 0x1p400 || scale != 1 { number = scaled(number) }
            count += 1
            let distance = number - mean
            mean += distance / count
            squares += distance * (number - mean)
        }

        @inline(never) private mutating func scaled(_ number: Double) -> Double {
            if scale == 1 {
                scale = 0x1p-600
                mean *= scale
                squares *= scale * scale
            }
            return number * scale
        }
    }

    private var moments = GroupMemory<Moments>()
    private let isDeviation: Bool

    init(_ input: GroupInput, isDeviation: Bool) {
        self.isDeviation = isDeviation
        super.init(input, .double)
    }

    override func grow(to count: Int) throws(RealmError) { try moments.grow(to: count, filling: Moments()) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        let moments = moments.start
        try forEachDouble(count) { (i, number) throws(RealmError) in moments[Int(groups[i])].add(number) }
    }

    override func value(_ group: Int) -> Mixed {
        guard moments[group].count > 1 else { return .null }
        let scale = moments[group].scale, variance = moments[group].squares / (moments[group].count - 1)
        return .double(isDeviation ? variance.squareRoot() / scale : variance / scale / scale)
    }
}

/// `median(x)` and `quantile(x, 0.9)`: keeps all numbers, and interpolates between two neighbours.
final class GroupQuantile: GroupAggregate {
    private let fraction: Double
    private var numbers = GroupMemory<Double>()
    private var groups = GroupMemory<UInt32>()
    private var groupCount = 0

    /// Where the numbers of each group begin, once they are sorted by group.
    private var starts = GroupMemory<Int>()

    init(_ input: GroupInput, _ fraction: Double) {
        self.fraction = fraction
        super.init(input, .double)
    }

    override func grow(to count: Int) throws(RealmError) { groupCount = max(groupCount, count) }

    override func add(_ groups: UnsafePointer<UInt32>, _ count: Int) throws(RealmError) {
        try forEachDouble(count) { (i, number) throws(RealmError) in
            try numbers.append(number)
            try self.groups.append(groups[i])
        }
    }

    override func finish() throws(RealmError) {
        var sorted = GroupMemory<Double>(), next = GroupMemory<Int>()
        try starts.grow(to: groupCount + 1, filling: 0)
        try sorted.grow(to: numbers.count, filling: 0)
        for i in 0..<groups.count { starts[Int(groups[i]) + 1] &+= 1 }
        for group in 0..<groupCount { starts[group + 1] &+= starts[group] }
        for group in 0..<groupCount { try next.append(starts[group]) }
        for i in 0..<groups.count {
            let group = Int(groups[i])
            sorted[next[group]] = numbers[i]
            next[group] &+= 1
        }
        for group in 0..<groupCount {
            var part = UnsafeMutableBufferPointer(
                start: sorted.start + starts[group], count: starts[group + 1] - starts[group])
            part.sort()
        }
        swap(&numbers, &sorted)
    }

    override func value(_ group: Int) -> Mixed {
        let first = starts[group], count = starts[group + 1] - first
        guard count > 0 else { return .null }
        let place = fraction * Double(count - 1), lower = Int(place), rest = place - Double(lower)
        let low = numbers[first + lower]
        guard rest > 0, lower + 1 < count else { return .double(low) }
        let high = numbers[first + lower + 1], distance = high - low
        if distance.isFinite { return .double(low + distance * rest) }
        // The distance is too large for a double. The result beside an infinite number is that number.
        if low.isInfinite { return .double(low) }
        return .double(high.isInfinite ? high : low * (1 - rest) + high * rest)
    }
}
