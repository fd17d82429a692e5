/// Tests a single-valued property against a constant, one leaf at a time, on the bytes of the leaf.
///
/// Invariants
/// 1. `narrow` clears exactly the rows that `matches` rejects in the condition that made the test.
/// 2. Every leaf is checked against the number of rows before its loop runs.
enum ColumnTest {
    /// Integers, booleans (0, 1; NULL is 3) and links (key + 1; NULL is 0) in their stored form.
    case integers(Int64, Int64, negated: Bool)
    /// Integers that can be NULL. NULL lies outside every range.
    case nullableIntegers(Int64, Int64, negated: Bool)
    case nullInteger(negated: Bool)
    /// Integers that differ from both values.
    case neither(Int64, Int64)
    case doubles(Double, Double, negated: Bool)
    /// Doubles up to a bound, and NaN, but not NULL. `empty`: only NaN.
    case doublesOrNaN(Double, empty: Bool)
    case floats(Float, Float, negated: Bool)
    case text(TextTest)

    /// nil if rows must be tested one by one. `ieee`: NaN compares by IEEE 754.
    init?(_ kind: LeafKind, _ op: CompareOperator, _ constant: Mixed, folding: Folding, ieee: Bool) throws(RealmError) {
        let negated = op == .notEqual
        if op.isString || !folding.isEmpty || kind == .string {
            guard kind == .string, case .string(let bytes) = constant, bytes.count > 0,
                let test = try TextTest(op, bytes, folding: folding)
            else { return nil }
            self = .text(test)
            return
        }
        switch (kind, constant) {
        case (.int, .int(let number)):
            guard let (low, high) = Self.range(op, number) else { return nil }
            self = .integers(low, high, negated: negated)
        case (.nullableInt, .int(let number)):
            guard let (low, high) = Self.range(op, number) else { return nil }
            self = .nullableIntegers(low, high, negated: negated)
        case (.nullableInt, .null) where op == .equal || negated: self = .nullInteger(negated: negated)
        case (.bool, .bool(let value)) where op == .equal || negated:
            self = value ? .integers(1, 2, negated: negated) : .integers(0, 0, negated: negated)
        case (.bool, .null) where op == .equal || negated: self = .integers(3, 3, negated: negated)
        case (.link, .null) where op == .equal || negated: self = .integers(.min, 0, negated: negated)
        case (.link, .typedLink(_, let key)) where (op == .equal || negated) && key.raw >= 0 && key.raw < .max:
            self = .integers(key.raw + 1, key.raw + 1, negated: negated)
        case (.int, .double(let number)), (.nullableInt, .double(let number)):
            guard let (low, high) = Self.range(op, integer: number) else { return nil }
            self =
                kind == .int ? .integers(low, high, negated: negated) : .nullableIntegers(low, high, negated: negated)
        case (.double, .int(let integer)) where !ieee && integer.magnitude <= 1 << 53:
            self.init(double: op, Double(integer))
        case (.double, .double(let number)) where !ieee && !number.isNaN: self.init(double: op, number)
        case (.double, .double(let number)) where ieee:
            guard let (low, high) = Self.range(op, number) else { return nil }
            self = .doubles(low, high, negated: negated)
        case (.float, .float(let number)) where ieee:
            guard let (low, high) = Self.range(op, number) else { return nil }
            self = .floats(low, high, negated: negated)
        default: return nil
        }
    }

    /// NaN is less than every number.
    private init?(double op: CompareOperator, _ number: Double) {
        guard let (low, high) = Self.range(op, number) else { return nil }
        self =
            op == .less || op == .lessEqual
            ? .doublesOrNaN(low > high ? -.infinity : high, empty: low > high)
            : .doubles(low, high, negated: op == .notEqual)
    }

    /// The range of integers for which a comparison with a double holds.
    private static func range(_ op: CompareOperator, integer number: Double) -> (Int64, Int64)? {
        guard number.magnitude < 0x1p53 else { return nil }
        let down = Int64(number.rounded(.down)), up = Int64(number.rounded(.up))
        switch op {
        case .equal, .notEqual, .in: return down == up ? (up, up) : (1, 0)
        case .less: return (.min, up - 1)
        case .lessEqual: return (.min, down)
        case .greater: return (down + 1, .max)
        case .greaterEqual: return (up, .max)
        default: return nil
        }
    }

    private static func range(_ op: CompareOperator, _ number: Int64) -> (Int64, Int64)? {
        switch op {
        case .equal, .notEqual, .in: (number, number)
        case .less: number == .min ? (1, 0) : (.min, number - 1)
        case .lessEqual: (.min, number)
        case .greater: number == .max ? (1, 0) : (number + 1, .max)
        case .greaterEqual: (number, .max)
        default: nil
        }
    }

    private static func range<F: BinaryFloatingPoint>(_ op: CompareOperator, _ number: F) -> (F, F)? {
        if number.isNaN { return (1, 0) }
        switch op {
        case .equal, .notEqual, .in: return (number, number)
        case .less: return number == -.infinity ? (1, 0) : (-.infinity, number.nextDown)
        case .lessEqual: return (-.infinity, number)
        case .greater: return number == .infinity ? (1, 0) : (number.nextUp, .infinity)
        case .greaterEqual: return (number, .infinity)
        default: return nil
        }
    }

    /// A test that accepts exactly the rows that this test clears, if there is one.
    var negation: ColumnTest? {
        switch self {
        case .integers(let low, let high, let negated): .integers(low, high, negated: !negated)
        case .nullableIntegers(let low, let high, let negated): .nullableIntegers(low, high, negated: !negated)
        case .nullInteger(let negated): .nullInteger(negated: !negated)
        case .doubles(let low, let high, let negated): .doubles(low, high, negated: !negated)
        case .floats(let low, let high, let negated): .floats(low, high, negated: !negated)
        case .text(let test): test.negation.map { .text($0) }
        case .doublesOrNaN, .neither: nil
        }
    }

    /// One test for both conditions on the same leaf, if a single loop can do it.
    func intersected(_ other: ColumnTest) -> ColumnTest? {
        switch (self, other) {
        case (.integers(let low, let high, false), .integers(let otherLow, let otherHigh, false)):
            .integers(max(low, otherLow), min(high, otherHigh), negated: false)
        case (.integers(let low, let high, true), .integers(let otherLow, let otherHigh, true))
        where low == high && otherLow == otherHigh: .neither(low, otherLow)
        case (.nullableIntegers(let low, let high, false), .nullableIntegers(let otherLow, let otherHigh, false)):
            .nullableIntegers(max(low, otherLow), min(high, otherHigh), negated: false)
        case (.doubles(let low, let high, false), .doubles(let otherLow, let otherHigh, false)):
            .doubles(max(low, otherLow), min(high, otherHigh), negated: false)
        case (.doubles(let low, let high, false), .doublesOrNaN(let otherHigh, false)),
            (.doublesOrNaN(let otherHigh, false), .doubles(let low, let high, false)):
            .doubles(low, min(high, otherHigh), negated: false)
        case (.floats(let low, let high, false), .floats(let otherLow, let otherHigh, false)):
            .floats(max(low, otherLow), min(high, otherHigh), negated: false)
        default: nil
        }
    }

    /// - Returns: false if the test does not support the form of the leaf; then the mask is unchanged.
    func narrow(_ scan: ClusterScan, _ column: ColKey, _ mask: RowMask) throws(RealmError) -> Bool {
        let count = scan.count
        switch self {
        case .integers(let low, let high, let negated):
            LeafLoops.within(try scan.integers(column), 0, count, low, high, negated: negated, mask, scan.unpacked)
        case .nullableIntegers(let low, let high, let negated):
            let node = try scan.integers(column, more: 1)
            let null = node.get(0)
            if null < low || null > high {
                LeafLoops.within(node, 1, count, low, high, negated: negated, mask, scan.unpacked)
            } else {
                let hits = scan.scratch()
                defer { scan.release(1) }
                hits.fill(count)
                LeafLoops.within(node, 1, count, low, high, negated: false, hits, scan.unpacked)
                LeafLoops.within(node, 1, count, null, null, negated: true, hits, scan.unpacked)
                mask.keep(hits, count, negated: negated)
            }
        case .nullInteger(let negated):
            let node = try scan.integers(column, more: 1)
            LeafLoops.within(node, 1, count, node.get(0), node.get(0), negated: negated, mask, scan.unpacked)
        case .doubles(let low, let high, let negated):
            LeafLoops.doubles(try scan.numbers(column, width: 8), count, low, high, negated: negated, mask)
        case .doublesOrNaN(let high, let empty):
            LeafLoops.doublesOrNaN(try scan.numbers(column, width: 8), count, high, empty: empty, mask)
        case .floats(let low, let high, let negated):
            LeafLoops.floats(try scan.numbers(column, width: 4), count, low, high, negated: negated, mask)
        case .neither(let first, let second):
            LeafLoops.neither(try scan.integers(column), count, first, second, mask, scan.unpacked)
        case .text(let test): return try test.narrow(scan, column, try scan.columnLeaf(column), mask)
        }
        return true
    }

    /// Number of rows that the test accepts, or at least `limit` if there are more. Returns nil, and reads nothing, if
    /// the rows cannot be counted without a mask.
    func tally(_ scan: ClusterScan, _ column: ColKey, limit: Int) throws(RealmError) -> Int? {
        switch self {
        case .integers(let low, let high, let negated):
            return try scan.sum(until: limit) { () throws(RealmError) in
                let hits = LeafLoops.count(try scan.integers(column), 0, scan.count, low, high, scan.unpacked)
                return negated ? scan.count - hits : hits
            }
        case .doubles(let low, let high, let negated):
            return try scan.sum(until: limit) { () throws(RealmError) in
                let node = try scan.numbers(column, width: 8)
                let hits = LeafLoops.count(node.payload.assumingMemoryBound(to: Double.self), scan.count, low, high)
                return negated ? scan.count - hits : hits
            }
        default: return nil
        }
    }
}
