/// Two numbers and an operator; between a list and a number, for each element. Rules: query-language §9.
final class ArithmeticExpression: Expression {
    private let op: ArithmeticOperator
    private let left: Expression, right: Expression
    private let a = ValueBuffer(), b = ValueBuffer()

    /// Both numbers are whole whatever the row: so is then the quotient, also where a sum or product before it did not
    /// fit into 64 bits.
    private let isWhole: Bool

    init(_ op: ArithmeticOperator, _ left: Expression, _ right: Expression) {
        self.op = op
        self.left = left
        self.right = right
        isWhole = Self.isWhole(left) && Self.isWhole(right)
        super.init(left.type, isList: left.isList || right.isList, left.isList ? left.quantifier : right.quantifier)
    }

    private static func isWhole(_ e: Expression) -> Bool { (e as? ArithmeticExpression)?.isWhole ?? (e.type == .int) }

    override func copied() -> Expression { ArithmeticExpression(op, left.copied(), right.copied()) }

    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        left.reads(&found, way)
        right.reads(&found, way)
    }

    override func write(_ p: QueryPrinter) {
        // As written, a + b + c is (a + b) + c.
        p.out += "("
        left.write(p)
        p.out += p.single(left, with: right) + " \(op.rawValue) "
        right.write(p)
        p.out += p.single(right, with: left) + ")"
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        a.reset()
        b.reset()
        try left.evaluate(table, key, a)
        try right.evaluate(table, key, b)
        for x in a.values {
            for y in b.values { out.values.append(isWhole ? Self.whole(op, x, y) : Self.apply(op, x, y)) }
        }
        if left.isList, a.ends.count > 1 { out.ends.append(contentsOf: a.ends) } else { out.closeGroup() }
    }

    /// Of whole numbers. Those that do not fit into 64 bits are decimals, here and on the way.
    private static func whole(_ op: ArithmeticOperator, _ x: Mixed, _ y: Mixed) -> Mixed {
        if case .int = x, case .int = y { return apply(op, x, y) }
        guard let d = x.asDecimal, let e = y.asDecimal else { return .null }
        if op == .divide, Decimal128.compare(e, .zero) == 0 { return .int(d.isNegative ? .min : .max) }
        guard case .decimal(let exact) = apply(op, .decimal(d), .decimal(e)) else { return .null }
        let result = op == .divide ? exact.truncated : exact
        if let i = result.truncatedInt64, Decimal128.compare(Decimal128(i), result) == 0 { return .int(i) }
        return .decimal(result)
    }

    /// The wider type of int < float < double < decimal; NULL when either is none of them. Integers that do not fit
    /// into 64 bits become decimals.
    static func apply(_ op: ArithmeticOperator, _ x: Mixed, _ y: Mixed) -> Mixed {
        switch (x, y) {
        case (.int(let i), .int(let j)):
            if op == .divide, j == 0 { return .int(i < 0 ? .min : .max) }
            let (result, overflows) =
                switch op {
                case .add: i.addingReportingOverflow(j)
                case .subtract: i.subtractingReportingOverflow(j)
                case .multiply: i.multipliedReportingOverflow(by: j)
                case .divide: i.dividedReportingOverflow(by: j)
                }
            return overflows ? apply(op, .decimal(Decimal128(i)), .decimal(Decimal128(j))) : .int(result)
        case (.decimal, _), (_, .decimal):
            guard let d = x.asDecimal, let e = y.asDecimal else { return .null }
            switch op {
            case .add: return .decimal(d + e)
            case .subtract: return .decimal(d - e)
            case .multiply: return .decimal(d * e)
            case .divide: return .decimal(d / e)
            }
        case (.float(let f), .float(let g)): return .float(Self.apply(op, f, g))
        case (.float(let f), .int(let i)): return .float(Self.apply(op, f, Float(i)))
        case (.int(let i), .float(let f)): return .float(Self.apply(op, Float(i), f))
        default:
            guard let d = x.doubleOperand, let e = y.doubleOperand else { return .null }
            return .double(Self.apply(op, d, e))
        }
    }

    private static func apply<F: BinaryFloatingPoint>(_ op: ArithmeticOperator, _ x: F, _ y: F) -> F {
        switch op {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        }
    }
}

extension Mixed {
    fileprivate var doubleOperand: Double? {
        switch self {
        case .int(let i): Double(i)
        case .float(let f): Double(f)
        case .double(let d): d
        default: nil
        }
    }
}
