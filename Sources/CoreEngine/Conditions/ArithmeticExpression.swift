/// Arithmetic on two numbers, or on a number and each element of a list. Rules: query-language §9.
final class ArithmeticExpression: Expression {
    let op: ArithmeticOperator
    let left: Expression, right: Expression

    /// Whether the division of an integer by zero is an error. Otherwise the quotient is the greatest or the smallest
    /// integer.
    private let isStrict: Bool
    private let leftBuffer = ValueBuffer(), rightBuffer = ValueBuffer()

    /// Whether both operands are integers in every row. Then the quotient is an integer too, even if a sum or product
    /// before it did not fit into 64 bits.
    private let isWhole: Bool

    init(_ op: ArithmeticOperator, _ left: Expression, _ right: Expression, isStrict: Bool) {
        self.op = op
        self.isStrict = isStrict
        self.left = left
        self.right = right
        isWhole = Self.isWhole(left) && Self.isWhole(right)
        super.init(left.type, isList: left.isList || right.isList, left.isList ? left.quantifier : right.quantifier)
    }

    private static func isWhole(_ expression: Expression) -> Bool {
        (expression as? ArithmeticExpression)?.isWhole ?? (expression.type == .int)
    }

    /// The wider type of int < float < double < decimal.
    override var valueType: ValueType {
        let types: [ValueType] = [.int, .float, .double, .decimal]
        guard let first = types.firstIndex(of: left.valueType), let second = types.firstIndex(of: right.valueType)
        else { return .mixed }
        return types[max(first, second)]
    }

    override func copied() -> Expression {
        ArithmeticExpression(op, left.copied(), right.copied(), isStrict: isStrict)
    }

    override func prepare(_ group: Group) throws(RealmError) {
        try left.prepare(group)
        try right.prepare(group)
    }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) {
        left.reads(&found, way)
        right.reads(&found, way)
    }

    override func write(_ printer: QueryPrinter) {
        // The printed text of a + b + c is (a + b) + c.
        printer.out += "("
        left.write(printer)
        printer.out += printer.single(left, with: right) + " \(op.rawValue) "
        right.write(printer)
        printer.out += printer.single(right, with: left) + ")"
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        leftBuffer.reset()
        rightBuffer.reset()
        try left.evaluate(table, key, leftBuffer)
        try right.evaluate(table, key, rightBuffer)
        for leftValue in leftBuffer.values {
            for rightValue in rightBuffer.values {
                let result = isWhole ? Self.whole(op, leftValue, rightValue) : Self.apply(op, leftValue, rightValue)
                if isStrict { try Self.expectExact(op, leftValue, rightValue, result) }
                out.values.append(result)
            }
        }
        if left.isList, leftBuffer.ends.count > 1 {
            out.ends.append(contentsOf: leftBuffer.ends)
        } else {
            out.closeGroup()
        }
    }

    /// Throws 1001 for integers whose result does not fit into 64 bits, and when an integer or a decimal is divided by
    /// zero.
    static func expectExact(
        _ op: ArithmeticOperator, _ left: Mixed, _ right: Mixed, _ result: Mixed
    ) throws(RealmError) {
        switch (left, right) {
        case (.int, .int(let integer)):
            if op == .divide, integer == 0 { throw RealmError(.range, "division by zero") }
            guard case .int = result else {
                throw RealmError(.range, "the result of '\(op.rawValue)' does not fit into 64 bits")
            }
        case (.decimal, _), (_, .decimal):
            if op == .divide, let divisor = right.asDecimal, Decimal128.compare(divisor, .zero) == 0 {
                throw RealmError(.range, "division by zero")
            }
        default: return
        }
    }

    /// Arithmetic on integers. Operands and results that do not fit into 64 bits are decimals.
    private static func whole(_ op: ArithmeticOperator, _ left: Mixed, _ right: Mixed) -> Mixed {
        if case .int = left, case .int = right { return apply(op, left, right) }
        guard let leftDecimal = left.asDecimal, let rightDecimal = right.asDecimal else { return .null }
        if op == .divide, Decimal128.compare(rightDecimal, .zero) == 0 {
            return .int(leftDecimal.isNegative ? .min : .max)
        }
        guard case .decimal(let exact) = apply(op, .decimal(leftDecimal), .decimal(rightDecimal)) else { return .null }
        let result = op == .divide ? exact.truncated : exact
        if let integer = result.truncatedInt64, Decimal128.compare(Decimal128(integer), result) == 0 {
            return .int(integer)
        }
        return .decimal(result)
    }

    /// The result has the wider type of int < float < double < decimal. It is NULL if an operand is not a number.
    /// Integer results that do not fit into 64 bits become decimals.
    static func apply(_ op: ArithmeticOperator, _ left: Mixed, _ right: Mixed) -> Mixed {
        switch (left, right) {
        case (.int(let leftInteger), .int(let rightInteger)):
            if op == .divide, rightInteger == 0 { return .int(leftInteger < 0 ? .min : .max) }
            let (result, overflows) =
                switch op {
                case .add: leftInteger.addingReportingOverflow(rightInteger)
                case .subtract: leftInteger.subtractingReportingOverflow(rightInteger)
                case .multiply: leftInteger.multipliedReportingOverflow(by: rightInteger)
                case .divide: leftInteger.dividedReportingOverflow(by: rightInteger)
                }
            return overflows
                ? apply(op, .decimal(Decimal128(leftInteger)), .decimal(Decimal128(rightInteger))) : .int(result)
        case (.decimal, _), (_, .decimal):
            guard let leftDecimal = left.asDecimal, let rightDecimal = right.asDecimal else { return .null }
            switch op {
            case .add: return .decimal(leftDecimal + rightDecimal)
            case .subtract: return .decimal(leftDecimal - rightDecimal)
            case .multiply: return .decimal(leftDecimal * rightDecimal)
            case .divide: return .decimal(leftDecimal / rightDecimal)
            }
        case (.float(let leftFloat), .float(let rightFloat)): return .float(Self.apply(op, leftFloat, rightFloat))
        case (.float(let leftFloat), .int(let rightInteger)):
            return .float(Self.apply(op, leftFloat, Float(rightInteger)))
        case (.int(let leftInteger), .float(let rightFloat)):
            return .float(Self.apply(op, Float(leftInteger), rightFloat))
        default:
            guard let leftDecimal = left.doubleOperand, let rightDecimal = right.doubleOperand else { return .null }
            return .double(Self.apply(op, leftDecimal, rightDecimal))
        }
    }

    private static func apply<F: BinaryFloatingPoint>(_ op: ArithmeticOperator, _ left: F, _ right: F) -> F {
        switch op {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        }
    }
}

extension Mixed {
    /// A number as a double; nil for other values.
    var double: Double? {
        if case .decimal(let decimal) = self { return decimal.double }
        return doubleOperand
    }

    /// A number as the nearest one of a type: float, double or decimal. Other values stay as they are.
    func asNumber(of type: ValueType) -> Mixed {
        switch (type, self) {
        case (.double, .int), (.double, .float), (.double, .decimal): .double(double ?? .nan)
        case (.float, .int), (.float, .double), (.float, .decimal): .float(Float(double ?? .nan))
        case (.decimal, .int), (.decimal, .float), (.decimal, .double): .decimal(asDecimal ?? .nan)
        default: self
        }
    }

    fileprivate var doubleOperand: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .float(let float): Double(float)
        case .double(let double): double
        default: nil
        }
    }
}
