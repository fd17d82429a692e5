/// A property and the expression of its new values, bound to a class.
final class Assignment {
    let facts: ColumnFacts
    private let table: Table
    private let name: Name
    private let expression: Expression

    /// The fast form, where the expression has one and the property takes its numbers as they are.
    private let numbers: NumberBlock?

    /// The same value for all objects, as it is stored.
    private let constant: Mixed?

    /// The new values of a block.
    private var values: [Mixed] = []

    /// Holds the texts of `values`.
    private var arena = ConstantArena()
    private let buffer = ValueBuffer()

    /// Whether `numbers` has the values of the block.
    private var isRead = false

    init(_ written: AssignmentSyntax, _ table: Table, _ binder: inout Binder) throws(RealmError) {
        self.table = table
        name = binder.alias(written.name, table)
        guard let column = table.column(named: name), let facts = table.facts(column.key), facts.type != .backlink
        else {
            throw RealmError(
                .invalidProperty, "Class '\(table.className ?? table.name)' has no stored property '\(written.name)'")
        }
        guard !facts.isPrimaryKey else {
            throw RealmError(
                .modifyPrimaryKey, "'\(table.className ?? table.name).\(name)' is the primary key: it cannot be changed"
            )
        }
        // A property that takes no value is an error also when there is no object.
        if facts.isCollection { try table.check(.null, for: facts) }
        self.facts = facts
        let place = "'\(table.className ?? table.name).\(name)'"
        if Binder.isConstant(written.value) {
            try Self.checkArgument(written.value, facts, binder, place)
            // A float takes its value from a double: a number beyond its range is an error.
            let hint =
                facts.type == .float
                ? ConstantExpression(.null, .double, binder.arena)
                : try binder.expression(Self.path(name), table)
            do throws(RealmError) {
                expression = try binder.constant(written.value, hint: hint, nil)
            } catch  where error.code == .range {
                throw RealmError(.range, "\(place): \(error.message)")
            }
        } else {
            expression = try binder.expression(written.value, table)
        }
        guard !expression.hasManyValues, expression.quantifier == nil, expression.type != .typeName else {
            throw .queryArgument("\(place): the new value is not a single value")
        }
        if expression.isConstant, let constant = expression as? ConstantExpression {
            self.constant = try Self.stored(constant.values[0], constant.type, facts, place)
            if let stored = self.constant { try table.check(stored, for: facts) }
        } else {
            constant = nil
        }
        let block = constant == nil ? NumberBlock(expression, table) : nil
        // Integers become doubles, but no other numbers change.
        if let block, facts.type == .double || (facts.type == .int && block.isWhole) {
            numbers = block
        } else {
            numbers = nil
        }
        let type = ValueType(facts)
        if case .link(let target) = type, try table.group.table(target)?.isEmbedded ?? false, expression.type != .null {
            throw RealmError(.illegalOperation, "\(place) holds a part of each object: it can only be set to NULL")
        }
        guard
            expression.type == type || expression.type == .null || expression.type == .mixed || type == .mixed
                || (expression.type.isNumeric && type.isNumeric)
        else {
            throw RealmError(
                .typeMismatch, "\(place) is of type '\(type.name)' and does not take '\(expression.type.name)'")
        }
    }

    private static func path(_ name: Name) -> ExpressionSyntax { .path([.name(name)], nil, .value) }

    /// Throws unless an argument or a text has the type of the property.
    private static func checkArgument(
        _ written: ExpressionSyntax, _ facts: ColumnFacts, _ binder: Binder, _ place: String
    ) throws(RealmError) {
        guard case .constant(let constant, _) = written else { return }
        var isText = false
        switch constant {
        case .string, .base64: isText = true
        case .argument, .given:
            guard case .value(let value) = try binder.argument(constant) else { return }
            if case .string = value { isText = true }
            if facts.type == .link, case .typedLink(let target, _) = value, target != facts.oppositeTable {
                throw RealmError(.typeMismatch, "\(place) does not take an object of this class")
            }
        default: break
        }
        if isText, ValueType(facts).isNumeric || facts.type == .bool {
            throw RealmError(.typeMismatch, "\(place) does not take a text")
        }
    }

    /// Whether the new value of an object depends on nothing but the object's own properties.
    var readsOnlyItsObject: Bool {
        if expression.isConstant { return true }
        var found = RowReads()
        expression.reads(&found, [])
        return found.isComplete && found.paths.allSatisfy { $0.steps.count == 1 && !$0.steps[0].isBacklink }
    }

    func prepare(_ group: Group) throws(RealmError) { try expression.prepare(group) }

    /// Computes the new values of the rows of a run.
    ///
    /// - Parameter adding: the values are added after those of the runs before.
    func read(_ run: RowRun, adding: Bool) throws(RealmError) {
        isRead = false
        if constant != nil { return }
        if !adding, let numbers, try numbers.read(run), !numbers.hasNulls || facts.isNullable {
            if facts.type == .double { numbers.widen(run.count) }
            isRead = true
            return
        }
        if !adding {
            values.removeAll(keepingCapacity: true)
            arena = ConstantArena()
        }
        try values.makeRoom(for: run.count)
        for i in 0..<run.count {
            try run.table.test()
            let key = run.keys[i]
            do throws(RealmError) {
                buffer.reset()
                try expression.evaluate(table, key, buffer)
                let value = try Self.stored(buffer.values.first ?? .null, expression.type, facts, "the new value")
                try table.check(value, for: facts)
                if case .string(let bytes) = value { try CMemory.expect(bytes.count, each: 1) }
                if case .binary(let bytes) = value { try CMemory.expect(bytes.count, each: 1) }
                values.append(arena.keep(value))
            } catch {
                throw RealmError(error.code, "\(try table.description(of: key)), '\(name)': \(error.message)")
            }
        }
    }

    /// Stores the new values of objects.
    ///
    /// - Parameter first: the number of the first object, among those of all calls of `read`.
    func write(_ keys: UnsafePointer<ObjKey>, _ count: Int, from first: Int) throws(RealmError) {
        if let constant {
            for i in 0..<count { _ = try table.set(keys[i], facts, constant) }
        } else if isRead, let numbers {
            if facts.type == .int {
                for i in 0..<count {
                    _ = try table.set(keys[i], facts, numbers.nulls[i] != 0 ? .null : .int(numbers.integers[i]))
                }
            } else {
                for i in 0..<count {
                    _ = try table.set(keys[i], facts, numbers.nulls[i] != 0 ? .null : .double(numbers.doubles[i]))
                }
            }
        } else {
            for i in 0..<count { _ = try table.set(keys[i], facts, values[first + i]) }
        }
    }

    /// A value as the property stores it. Numbers become those of its type.
    ///
    /// - Throws: 1001 for a number that the property cannot hold.
    private static func stored(
        _ value: Mixed, _ type: ValueType, _ facts: ColumnFacts, _ place: String
    ) throws(RealmError) -> Mixed {
        switch (facts.type, value) {
        case (_, .null): return .null
        case (_, .slot), (_, .list), (_, .dictionary):
            throw RealmError(.illegalOperation, "\(place) is a collection, which cannot be copied")
        case (_, .link(let key)):
            guard case .link(let target) = type, key.raw >= 0 else { return .null }
            return .typedLink(target, key)
        case (_, .typedLink(_, let key)): return key.raw < 0 ? .null : value
        case (.int, .float(let float)): return .int(try integer(Int64(exactly: float), value, place))
        case (.int, .double(let double)): return .int(try integer(Int64(exactly: double), value, place))
        case (.int, .decimal(let decimal)):
            let whole = decimal.truncatedInt64
            let isSame = whole.map { Decimal128.compare(Decimal128($0), decimal) == 0 } ?? false
            return .int(try integer(isSame ? whole : nil, value, place))
        case (.float, .int(let integer)): return .float(Float(integer))
        case (.float, .double), (.float, .decimal):
            var float = Float(value.double ?? .nan)
            if case .decimal(let decimal) = value { float = Float(decimal.description) ?? float }
            guard float.isFinite || !(value.double ?? .nan).isFinite else {
                throw RealmError(.range, "\(place) would be \(text(value)), which is too large for a float")
            }
            return .float(float)
        case (.double, .int), (.double, .float), (.double, .decimal):
            let double = value.double ?? .nan
            if case .decimal(let decimal) = value, double.isInfinite, !decimal.isInfinite {
                throw RealmError(.range, "\(place) would be \(text(value)), which is too large for a double")
            }
            return .double(double)
        case (.decimal, .int(let integer)): return .decimal(Decimal128(integer))
        // The decimal with the fewest digits that stands for the number.
        case (.decimal, .float(let float)) where float.isFinite: return .decimal(decimal("\(float)", value))
        case (.decimal, .double(let double)) where double.isFinite: return .decimal(decimal("\(double)", value))
        case (.decimal, .float), (.decimal, .double): return value.asNumber(of: .decimal)
        default: return value
        }
    }

    private static func integer(_ exact: Int64?, _ value: Mixed, _ place: String) throws(RealmError) -> Int64 {
        guard let exact else {
            throw RealmError(.range, "\(place) would be \(text(value)), which is not an integer of 64 bits")
        }
        return exact
    }

    private static func decimal(_ digits: String, _ value: Mixed) -> Decimal128 {
        Decimal128(text: digits.utf8) ?? value.asDecimal ?? .nan
    }

    private static func text(_ value: Mixed) -> String {
        switch value {
        case .float(let float): "\(float)"
        case .double(let double): "\(double)"
        case .decimal(let decimal): decimal.description
        case .int(let integer): "\(integer)"
        default: "another value"
        }
    }
}
