/// A single-valued property against a constant, tested a leaf at a time over the leaf's own bytes.
///
/// Invariants
/// 1. `narrow` clears exactly the rows for which the condition that made the test says no in `matches`.
/// 2. Every leaf is checked against the number of rows before its loop runs.
enum ColumnTest {
    /// Integers, booleans (0, 1; NULL is 3) and links (key + 1; NULL is 0) as they are stored.
    case integers(Int64, Int64, negated: Bool)
    /// Integers with NULL, which lies outside every range.
    case nullableIntegers(Int64, Int64, negated: Bool)
    case nullInteger(negated: Bool)
    /// Integers other than both.
    case neither(Int64, Int64)
    case doubles(Double, Double, negated: Bool)
    /// Up to a bound, and NaN, but not NULL; `empty`: NaN only.
    case doublesOrNaN(Double, empty: Bool)
    case floats(Float, Float, negated: Bool)
    case text(TextTest)

    /// nil: rows are tested one by one. `ieee`: NaN compares by IEEE 754.
    init?(_ kind: LeafKind, _ op: CompareOperator, _ constant: Mixed, folding: Bool, ieee: Bool) throws(RealmError) {
        let negated = op == .notEqual
        if op.isString || folding || kind == .string {
            guard kind == .string, case .string(let b) = constant, b.count > 0,
                let t = try TextTest(op, b, folding: folding)
            else { return nil }
            self = .text(t)
            return
        }
        switch (kind, constant) {
        case (.int, .int(let c)):
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .integers(a, b, negated: negated)
        case (.nullableInt, .int(let c)):
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .nullableIntegers(a, b, negated: negated)
        case (.nullableInt, .null) where op == .equal || negated: self = .nullInteger(negated: negated)
        case (.bool, .bool(let c)) where op == .equal || negated:
            self = c ? .integers(1, 2, negated: negated) : .integers(0, 0, negated: negated)
        case (.bool, .null) where op == .equal || negated: self = .integers(3, 3, negated: negated)
        case (.link, .null) where op == .equal || negated: self = .integers(.min, 0, negated: negated)
        case (.link, .typedLink(_, let k)) where (op == .equal || negated) && k.raw >= 0 && k.raw < .max:
            self = .integers(k.raw + 1, k.raw + 1, negated: negated)
        case (.int, .double(let c)), (.nullableInt, .double(let c)):
            guard let (a, b) = Self.range(op, integer: c) else { return nil }
            self = kind == .int ? .integers(a, b, negated: negated) : .nullableIntegers(a, b, negated: negated)
        case (.double, .int(let i)) where !ieee && i.magnitude <= 1 << 53: self.init(double: op, Double(i))
        case (.double, .double(let c)) where !ieee && !c.isNaN: self.init(double: op, c)
        case (.double, .double(let c)) where ieee:
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .doubles(a, b, negated: negated)
        case (.float, .float(let c)) where ieee:
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .floats(a, b, negated: negated)
        default: return nil
        }
    }

    /// NaN is less than every number.
    private init?(double op: CompareOperator, _ c: Double) {
        guard let (a, b) = Self.range(op, c) else { return nil }
        self =
            op == .less || op == .lessEqual
            ? .doublesOrNaN(a > b ? -.infinity : b, empty: a > b) : .doubles(a, b, negated: op == .notEqual)
    }

    /// Integers that compare so with a number that need not be one.
    private static func range(_ op: CompareOperator, integer c: Double) -> (Int64, Int64)? {
        guard c.magnitude < 0x1p53 else { return nil }
        let down = Int64(c.rounded(.down)), up = Int64(c.rounded(.up))
        switch op {
        case .equal, .notEqual, .in: return down == up ? (up, up) : (1, 0)
        case .less: return (.min, up - 1)
        case .lessEqual: return (.min, down)
        case .greater: return (down + 1, .max)
        case .greaterEqual: return (up, .max)
        default: return nil
        }
    }

    private static func range(_ op: CompareOperator, _ c: Int64) -> (Int64, Int64)? {
        switch op {
        case .equal, .notEqual, .in: (c, c)
        case .less: c == .min ? (1, 0) : (.min, c - 1)
        case .lessEqual: (.min, c)
        case .greater: c == .max ? (1, 0) : (c + 1, .max)
        case .greaterEqual: (c, .max)
        default: nil
        }
    }

    private static func range<F: BinaryFloatingPoint>(_ op: CompareOperator, _ c: F) -> (F, F)? {
        if c.isNaN { return (1, 0) }
        switch op {
        case .equal, .notEqual, .in: return (c, c)
        case .less: return c == -.infinity ? (1, 0) : (-.infinity, c.nextDown)
        case .lessEqual: return (-.infinity, c)
        case .greater: return c == .infinity ? (1, 0) : (c.nextUp, .infinity)
        case .greaterEqual: return (c, .infinity)
        default: return nil
        }
    }

    /// The rows that this one clears.
    var negation: ColumnTest? {
        switch self {
        case .integers(let a, let b, let n): .integers(a, b, negated: !n)
        case .nullableIntegers(let a, let b, let n): .nullableIntegers(a, b, negated: !n)
        case .nullInteger(let n): .nullInteger(negated: !n)
        case .doubles(let a, let b, let n): .doubles(a, b, negated: !n)
        case .floats(let a, let b, let n): .floats(a, b, negated: !n)
        case .text(let t): t.negation.map { .text($0) }
        case .doublesOrNaN, .neither: nil
        }
    }

    /// One test for both, where they are about the same leaf and one loop can do it.
    func intersected(_ other: ColumnTest) -> ColumnTest? {
        switch (self, other) {
        case (.integers(let a, let b, false), .integers(let c, let d, false)):
            .integers(max(a, c), min(b, d), negated: false)
        case (.integers(let a, let b, true), .integers(let c, let d, true)) where a == b && c == d: .neither(a, c)
        case (.nullableIntegers(let a, let b, false), .nullableIntegers(let c, let d, false)):
            .nullableIntegers(max(a, c), min(b, d), negated: false)
        case (.doubles(let a, let b, false), .doubles(let c, let d, false)):
            .doubles(max(a, c), min(b, d), negated: false)
        case (.doubles(let a, let b, false), .doublesOrNaN(let d, false)),
            (.doublesOrNaN(let d, false), .doubles(let a, let b, false)):
            .doubles(a, min(b, d), negated: false)
        case (.floats(let a, let b, false), .floats(let c, let d, false)): .floats(max(a, c), min(b, d), negated: false)
        default: nil
        }
    }

    /// - Returns: whether the leaf is of a form that the test knows; if not, nothing was changed.
    func narrow(_ scan: ClusterScan, _ column: ColKey, _ mask: RowMask) throws(RealmError) -> Bool {
        let count = scan.count
        switch self {
        case .integers(let low, let high, let negated):
            LeafLoops.within(try scan.integers(column), 0, count, low, high, negated: negated, mask, scan.unpacked)
        case .nullableIntegers(let low, let high, let negated):
            let n = try scan.integers(column, more: 1)
            let null = n.get(0)
            if null < low || null > high {
                LeafLoops.within(n, 1, count, low, high, negated: negated, mask, scan.unpacked)
            } else {
                let hits = scan.scratch()
                defer { scan.release(1) }
                hits.fill(count)
                LeafLoops.within(n, 1, count, low, high, negated: false, hits, scan.unpacked)
                LeafLoops.within(n, 1, count, null, null, negated: true, hits, scan.unpacked)
                mask.keep(hits, count, negated: negated)
            }
        case .nullInteger(let negated):
            let n = try scan.integers(column, more: 1)
            LeafLoops.within(n, 1, count, n.get(0), n.get(0), negated: negated, mask, scan.unpacked)
        case .doubles(let low, let high, let negated):
            LeafLoops.doubles(try scan.numbers(column, width: 8), count, low, high, negated: negated, mask)
        case .doublesOrNaN(let high, let empty):
            LeafLoops.doublesOrNaN(try scan.numbers(column, width: 8), count, high, empty: empty, mask)
        case .floats(let low, let high, let negated):
            LeafLoops.floats(try scan.numbers(column, width: 4), count, low, high, negated: negated, mask)
        case .neither(let a, let b):
            LeafLoops.neither(try scan.integers(column), count, a, b, mask, scan.unpacked)
        case .text(let test): return try test.narrow(scan, column, try scan.columnLeaf(column), mask)
        }
        return true
    }

    /// Number of rows that the test accepts, at least `limit` if there are more; nil, and nothing was read, where rows
    /// must be marked for that.
    func tally(_ scan: ClusterScan, _ column: ColKey, limit: Int) throws(RealmError) -> Int? {
        switch self {
        case .integers(let low, let high, let negated):
            return try scan.sum(until: limit) { () throws(RealmError) in
                let hits = LeafLoops.count(try scan.integers(column), 0, scan.count, low, high, scan.unpacked)
                return negated ? scan.count - hits : hits
            }
        case .doubles(let low, let high, let negated):
            return try scan.sum(until: limit) { () throws(RealmError) in
                let n = try scan.numbers(column, width: 8)
                let hits = LeafLoops.count(n.payload.assumingMemoryBound(to: Double.self), scan.count, low, high)
                return negated ? scan.count - hits : hits
            }
        default: return nil
        }
    }
}
