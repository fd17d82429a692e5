/// The numbers of an expression for the rows of a run, computed column by column: properties of type int or double,
/// constants, and arithmetic on them. The numbers are those that the expression gives for each row.
final class NumberBlock {
    /// Whether the numbers are integers; otherwise they are doubles.
    let isWhole: Bool
    let integers: UnsafeMutablePointer<Int64>

    /// Also the memory for integers that become doubles.
    let doubles: UnsafeMutablePointer<Double>

    /// A byte for each number, not 0 for NULL.
    let nulls: UnsafeMutablePointer<UInt8>
    private(set) var hasNulls = false
    private let source: Source

    private enum Source {
        case integers(ColKey), nullableIntegers(ColKey), doubles(ColKey)
        case constant
        case arithmetic(ArithmeticOperator, NumberBlock, NumberBlock)
    }

    /// nil: the values of the expression are read one by one.
    init?(_ expression: Expression, _ table: Table) {
        guard let found = Self.source(expression, table) else { return nil }
        (source, isWhole) = found
        integers = .allocate(capacity: isWhole ? Format.clusterCapacity : 1)
        doubles = .allocate(capacity: Format.clusterCapacity)
        nulls = .allocate(capacity: Format.clusterCapacity)
        nulls.initialize(repeating: 0, count: Format.clusterCapacity)
        guard case .constant = source, let constant = expression as? ConstantExpression else { return }
        switch constant.values[0] {
        case .int(let integer): integers.initialize(repeating: integer, count: Format.clusterCapacity)
        case .double(let double): doubles.initialize(repeating: double, count: Format.clusterCapacity)
        default: break
        }
    }

    deinit {
        integers.deallocate()
        doubles.deallocate()
        nulls.deallocate()
    }

    private static func source(_ expression: Expression, _ table: Table) -> (Source, isWhole: Bool)? {
        if let constant = expression as? ConstantExpression {
            guard constant.values.count == 1, !constant.isList else { return nil }
            switch constant.values[0] {
            case .int: return (.constant, true)
            case .double: return (.constant, false)
            default: return nil
            }
        }
        if let arithmetic = expression as? ArithmeticExpression {
            guard let left = NumberBlock(arithmetic.left, table), let right = NumberBlock(arithmetic.right, table)
            else { return nil }
            return (.arithmetic(arithmetic.op, left, right), left.isWhole && right.isWhole)
        }
        guard let key = expression.directColumn, let facts = table.facts(key) else { return nil }
        switch facts.kind {
        case .int: return (.integers(key), true)
        case .nullableInt: return (.nullableIntegers(key), true)
        case .double: return (.doubles(key), false)
        default: return nil
        }
    }

    /// Reads the numbers of the rows of a run.
    ///
    /// - Returns: false when a result does not fit into 64 bits, or for a division by zero: the values of these rows are
    ///   read one by one.
    func read(_ run: RowRun) throws(RealmError) -> Bool {
        let rows = run.rows, count = run.count
        switch source {
        case .integers(let column):
            try run.integers(column).copy(0, rows, to: integers)
        case .nullableIntegers(let column):
            let leaf = try run.integers(column, more: 1), null = leaf[0]
            leaf.copy(1, rows, to: integers)
            hasNulls = false
            for i in 0..<count { mark(i, integers[i] == null) }
        case .doubles(let column):
            let leaf = try run.floats(column, width: 8)
            hasNulls = false
            for i in 0..<count {
                let bits = leaf.double(Int(rows[i]))
                doubles[i] = Double(bitPattern: bits)
                mark(i, bits == NumberLeaf.nullDouble)
            }
        case .constant: break
        case .arithmetic(let op, let left, let right):
            guard try left.read(run), try right.read(run) else { return false }
            hasNulls = left.hasNulls || right.hasNulls
            for i in 0..<count { nulls[i] = left.nulls[i] | right.nulls[i] }
            if isWhole { return whole(op, left, right, count) }
            left.widen(count)
            right.widen(count)
            fractions(op, left, right, count)
        }
        return true
    }

    @inline(__always) private func mark(_ index: Int, _ isNull: Bool) {
        nulls[index] = isNull ? 1 : 0
        if isNull { hasNulls = true }
    }

    /// Makes doubles of the integers, if the numbers are integers.
    func widen(_ count: Int) {
        guard isWhole else { return }
        for i in 0..<count { doubles[i] = Double(integers[i]) }
    }

    /// Arithmetic on integers. A result for a NULL is not used.
    private func whole(_ op: ArithmeticOperator, _ left: NumberBlock, _ right: NumberBlock, _ count: Int) -> Bool {
        let (left, right) = (left.integers, right.integers)
        var isBeyond = false
        switch op {
        case .add:
            for i in 0..<count {
                let (result, overflows) = left[i].addingReportingOverflow(right[i])
                integers[i] = result
                if overflows { isBeyond = true }
            }
        case .subtract:
            for i in 0..<count {
                let (result, overflows) = left[i].subtractingReportingOverflow(right[i])
                integers[i] = result
                if overflows { isBeyond = true }
            }
        case .multiply:
            for i in 0..<count {
                let (result, overflows) = left[i].multipliedReportingOverflow(by: right[i])
                integers[i] = result
                if overflows { isBeyond = true }
            }
        case .divide:
            for i in 0..<count {
                let (result, overflows) = left[i].dividedReportingOverflow(by: right[i])
                integers[i] = result
                if overflows { isBeyond = true }
            }
        }
        return !isBeyond
    }

    private func fractions(_ op: ArithmeticOperator, _ left: NumberBlock, _ right: NumberBlock, _ count: Int) {
        let (left, right) = (left.doubles, right.doubles)
        switch op {
        case .add: for i in 0..<count { doubles[i] = left[i] + right[i] }
        case .subtract: for i in 0..<count { doubles[i] = left[i] - right[i] }
        case .multiply: for i in 0..<count { doubles[i] = left[i] * right[i] }
        case .divide: for i in 0..<count { doubles[i] = left[i] / right[i] }
        }
    }
}
