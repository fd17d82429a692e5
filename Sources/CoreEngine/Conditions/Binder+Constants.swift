/// Binds constants and arguments. They take their type from the other side of the comparison.
extension Binder {
    /// Whether a constant has a type of its own, which literals do not have.
    static func isArgument(_ constant: ConstantSyntax) -> Bool {
        switch constant {
        case .argument, .given: true
        default: false
        }
    }

    /// Whether a constant stands for a list.
    func isList(_ constant: ConstantSyntax) throws(RealmError) -> Bool {
        switch constant {
        case .given(.list): return true
        case .argument(let index): if case .list = try argument(index) { return true }
        default: break
        }
        return false
    }

    /// The value of a constant for which `isArgument` holds. The query owns its bytes.
    func argument(_ constant: ConstantSyntax) throws(RealmError) -> QueryArgument {
        switch constant {
        case .argument(let index): return kept(try argument(index))
        case .given(let given): return kept(given)
        default: throw .query("A literal is no argument")
        }
    }

    private func kept(_ argument: QueryArgument) -> QueryArgument {
        switch argument {
        case .value(let value): .value(arena.keep(value))
        case .list(let values): .list(values.map { arena.keep($0) })
        }
    }

    /// A constant, a list of constants, or arithmetic on constants, converted for the other side (`hint`).
    func constant(_ syntax: ExpressionSyntax, hint: Expression, _ op: CompareOperator?) throws(RealmError) -> Expression
    {
        switch syntax {
        case .constant(let written, let quantifier) where Self.isArgument(written):
            let given: Mixed
            switch try argument(written) {
            case .value(let value): given = value
            case .list(let values): return try list(values.map { .value($0) }, quantifier, hint, op)
            }
            if let quantifier { throw .query("The argument after '\(quantifier.rawValue)' must be a list") }
            var (operand, type) = try convert(given, hint: hint.type)
            // The argument does not say which class it links to: take the class from the property.
            if case (.link(let target), .typedLink(_, let key)) = (hint.type, operand) {
                (operand, type) = (.typedLink(target, key), .link(target))
            }
            try check(operand, type, hint, op, isArgument: true)
            return ConstantExpression(operand, type, arena)
        case .constant(let written, _):
            let (operand, type) = try value(written, hint: hint.type)
            try check(operand, type, hint, op, isArgument: false)
            return ConstantExpression(operand, type, arena)
        case .list(let elements, let quantifier): return try list(elements.map { .syntax($0) }, quantifier, hint, op)
        case .arithmetic(let op, let leftSyntax, let rightSyntax):
            guard let left = try constant(leftSyntax, hint: hint, nil) as? ConstantExpression,
                let right = try constant(rightSyntax, hint: hint, nil) as? ConstantExpression
            else {
                throw .query("Constants cannot be combined")
            }
            guard left.type.isNumeric || left.type == .mixed, right.type.isNumeric || right.type == .mixed,
                !left.isList, !right.isList
            else {
                throw .queryArgument(
                    "Cannot perform '\(op.rawValue)' operation on '\(left.type.name)' and '\(right.type.name)'")
            }
            let result = ArithmeticExpression.apply(op, left.values[0], right.values[0])
            if isStrict { try ArithmeticExpression.expectExact(op, left.values[0], right.values[0], result) }
            return ConstantExpression(result, ValueType(result), arena)
        default: throw .query("A constant is needed")
        }
    }

    private enum Element {
        case syntax(ConstantSyntax)
        case value(Mixed)
    }

    private func list(_ elements: [Element], _ quantifier: Quantifier?, _ hint: Expression, _ op: CompareOperator?)
        throws(RealmError) -> Expression
    {
        var values: [Mixed] = []
        var type: ValueType?
        let isExact =
            hint.directColumn != nil && hint.type != .mixed && !hint.type.isLink && (op == .equal || op == .in)
            && (quantifier == nil || quantifier == .any)
        for element in elements {
            var isArgument = false
            let operand: Mixed, operandType: ValueType
            switch element {
            case .syntax(let written):
                isArgument = Self.isArgument(written)
                if try isList(written) { throw .queryArgument("A list argument cannot stand inside a list") }
                if hint.type == .typeName {
                    switch written {
                    case .string, .base64: break
                    case .argument, .given:
                        guard case .value(.string) = try argument(written) else {
                            throw .query("Only type names can be compared with '@type'")
                        }
                    default: throw .query("Only type names can be compared with '@type'")
                    }
                }
                (operand, operandType) = try value(written, hint: hint.type)
            case .value(let value):
                if hint.type == .typeName { throw Self.noTypeName }
                (operand, operandType) = try convert(value, hint: hint.type)
            }
            // A literal of another type is no error: it is never equal. Only links, and arguments inside a list, are
            // checked.
            if !isExact, isArgument || hint.type.isLink {
                try check(operand, operandType, hint, op, isArgument: isArgument, isOnly: elements.count == 1)
            }
            values.append(operand)
            if operandType != .null { type = type == nil || type == operandType ? operandType : .mixed }
        }
        // The other side is not a link, so links in the list never match and their class does not matter.
        if let elementType = type, elementType.isLink, !hint.type.isLink { type = .mixed }
        let common: ValueType = hint.type == .typeName ? .typeName : (type ?? .null)
        return ConstantExpression(list: values, isExact ? hint.type : common, quantifier, arena)
    }

    /// - Parameter isOnly: the value is the only element of its list, or not in a list.
    func check(
        _ operand: Mixed, _ type: ValueType, _ hint: Expression, _ op: CompareOperator?, isArgument: Bool,
        isOnly: Bool = true
    ) throws(RealmError) {
        if case .link(let target) = hint.type {
            if case .typedLink(let table, _) = operand, table != target, !table.isNull {
                throw .queryArgument(
                    "Relationship '\(hint.text(QueryPrinter(group)))' must be compared with objects of its own class")
            }
            if let op, !op.isString, !type.isLink, !operand.isNull {
                let what = "Unsupported comparison between type 'link' and type '\(type.name)'"
                throw isArgument ? .queryArgument(what) : .query(what)
            }
            if operand.isNull, isOnly, hint.isList, !Self.isElement(hint) {
                throw .query("Cannot compare linklist ('\(hint.text(QueryPrinter(group)))') with NULL")
            }
            return
        }
        guard let op, !op.isString, op != .text else { return }
        if ValueType.comparable(type, hint.type) { return }
        throw isArgument
            ? .queryArgument("Cannot compare argument of type '\(type.name)' to type '\(hint.type.name)'")
            : .query("Unsupported comparison between type '\(hint.type.name)' and type '\(type.name)'")
    }

    static let noInfinity = RealmError.query("Infinity not supported for int")
    static let noTypeName = RealmError.queryArgument("A type name is needed to compare with '@type'")

    func value(_ constant: ConstantSyntax, hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        switch constant {
        case .null:
            if hint == .typeName { throw Self.noTypeName }
            return (.null, .null)
        case .true: return (.bool(true), .bool)
        case .false: return (.bool(false), .bool)
        case .nan:
            switch hint {
            case .float: return (.float(.nan), .float)
            case .decimal: return (.decimal(.nan), .decimal)
            case .int, .double, .mixed: return (.double(.nan), .double)
            default: throw .query("NaN not supported for \(hint.name)")
            }
        case .infinity(let negative):
            switch hint {
            case .float: return (.float(negative ? -.infinity : .infinity), .float)
            case .decimal: return (.decimal(.infinity(negative: negative)), .decimal)
            case .double, .mixed: return (.double(negative ? -.infinity : .infinity), .double)
            default: throw .query("Infinity not supported for \(hint.name)")
            }
        case .number(let digits):
            let integer = QueryParser.integer(digits) ?? 0
            if isStrict, integer == .max || integer == .min, let exact = Decimal128(text: digits.utf8),
                Decimal128.compare(exact, Decimal128(integer)) != 0
            {
                throw RealmError(.range, "\(digits) is not an integer of 64 bits")
            }
            if hint == .typeName { throw Self.noTypeName }
            return hint == .decimal ? (.decimal(Decimal128(integer)), .decimal) : (.int(integer), .int)
        case .float(let digits):
            if hint == .typeName { throw Self.noTypeName }
            return try Self.fraction(digits, hint)
        case .string(let bytes):
            return try convert(.string(arena.keep(bytes)), hint: hint)
        case .base64(let encoded):
            return try convert(.string(arena.keep(Base64.decode(encoded) ?? [])), hint: hint)
        case .binary(let bytes): return (.binary(arena.keep(bytes)), .binary)
        case .timestamp(let text): return (.timestamp(try Self.timestamp(text)), .timestamp)
        case .uuid(let digits):
            let raw = Self.hex(digits)
            return (.uuid(raw.withUnsafeBytes { UUIDValue(bytes: $0.start) }), .uuid)
        case .objectId(let digits):
            let raw = Self.hex(digits)
            return (.objectId(raw.withUnsafeBytes { ObjectId(bytes: $0.start) }), .objectId)
        case .link(let text):
            return Self.link(text, hint)
        case .argument, .given:
            guard case .value(let value) = try argument(constant) else {
                throw .query("A list argument cannot be compared here")
            }
            return try convert(value, hint: hint)
        case .object(let className, let key):
            let name = Name(String(decoding: className, as: UTF8.self))
            guard
                let table = try group.table(
                    named: name.hasPrefix(Format.classPrefix) ? name : Format.classPrefix + name)
            else {
                throw .query("Unknown object type '\(name)'")
            }
            guard let pk = table.primaryKey, let facts = table.facts(pk) else {
                throw .query("Class '\(name)' has no primary key")
            }
            let (keyValue, _) = try value(key, hint: ValueType(facts))
            let found = try table.find(primaryKey: keyValue)
            return (.typedLink(table.key, found ?? .null), .link(table.key))
        }
    }

    /// A number with a point or an exponent; with the suffix `f`, a float.
    private static func fraction(_ digits: String, _ hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        if digits.hasSuffix("f") {
            let float = Float(complete(String(digits.dropLast()))) ?? 0
            if hint == .int, float.isInfinite { return try beyondDouble(String(digits.dropLast())) }
            if float.isInfinite, !hint.isNumeric, hint != .mixed {
                throw .query("Infinity not supported for \(hint.name)")
            }
            if hint == .int, let integer = Int64(exactly: float) { return (.int(integer), .int) }
            return (.float(float), .float)
        }
        let text = complete(digits)
        let double = Double(text) ?? 0
        switch hint {
        case .int:
            if double.isInfinite { return try beyondDouble(digits) }
            if let integer = Int64(exactly: double) { return (.int(integer), .int) }
        case .float: return (.float(Float(text) ?? Float(double)), .float)
        case .decimal: if let decimal = Decimal128(text: digits.utf8) { return (.decimal(decimal), .decimal) }
        case .double, .mixed: break
        default: if double.isInfinite { throw .query("Infinity not supported for \(hint.name)") }
        }
        return (.double(double), .double)
    }

    /// `O5` is an object of the class that the other side links to; `L2:5` is an object of the class with key 2.
    private static func link(_ text: String, _ hint: ValueType) -> (Mixed, ValueType) {
        if text.hasPrefix("O") {
            let number = QueryParser.integer(String(text.dropFirst())) ?? -1
            // No object has the largest key. `QueryPrinter` writes it for a missing object.
            let key = number == .max ? ObjKey.null : ObjKey(number)
            if case .link(let target) = hint { return (.typedLink(target, key), .link(target)) }
            return (.typedLink(.null, key), .link(.null))
        }
        let parts = text.dropFirst().split(separator: ":")
        let target = TableKey(UInt32(parts.first ?? "") ?? TableKey.null.raw)
        return (.typedLink(target, ObjKey(Int64(parts.last ?? "") ?? -1)), .link(target))
    }

    /// A number too large for its floating-point type, compared with integers: it becomes a decimal.
    private static func beyondDouble(_ digits: String) throws(RealmError) -> (Mixed, ValueType) {
        guard let decimal = Decimal128(text: digits.utf8), !decimal.isInfinite else { throw noInfinity }
        return (.decimal(decimal), .decimal)
    }

    /// The number with digits on both sides of the point and without a plus sign, as Swift parses it.
    static func complete(_ digits: String) -> String {
        var text = digits
        if let exponent = text.firstIndex(where: { $0 == "e" || $0 == "E" }), exponent > text.startIndex,
            text[text.index(before: exponent)] == "."
        {
            text.insert("0", at: exponent)
        }
        if text.hasSuffix(".") { text += "0" }
        if let first = text.first, first == "+" { text.removeFirst() }
        if text.hasPrefix(".") { text = "0" + text }
        if text.hasPrefix("-.") { text = "-0" + text.dropFirst() }
        return text
    }

    /// Converts a value that has a type (an argument or a string) for the other side. Rules: query-language §5. Values
    /// without a rule stay unchanged.
    func convert(_ value: Mixed, hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        if hint == .typeName {
            guard case .string(let bytes) = value else {
                throw .queryArgument("A type name is needed to compare with '@type'")
            }
            guard let names = TypeNames(name: String(decoding: bytes, as: UTF8.self)) else {
                throw .queryArgument(
                    "Unable to parse the type attribute string '\(String(decoding: bytes, as: UTF8.self))', supported names are: \(TypeNames.allNames)"
                )
            }
            return (names.value, .typeName)
        }
        if !hint.isNumeric, hint != .mixed {
            let isFinite =
                switch value {
                case .float(let float): float.isFinite
                case .double(let double): double.isFinite
                case .decimal(let decimal): !decimal.isNaN && !decimal.isInfinite
                default: true
                }
            if !isFinite { throw .queryArgument("Infinity and NaN not supported for \(hint.name)") }
        }
        switch (hint, value) {
        case (_, .list), (_, .dictionary): throw .queryArgument("A list or dictionary value cannot be compared")
        case (_, .timestamp(let timestamp))
        where timestamp.nanoseconds.magnitude >= 1_000_000_000 || (timestamp.seconds > 0 && timestamp.nanoseconds < 0)
            || (timestamp.seconds < 0 && timestamp.nanoseconds > 0):
            throw .queryArgument("The seconds and nanoseconds of a timestamp do not go together")
        case (.decimal, .int(let integer)): return (.decimal(Decimal128(integer)), .decimal)
        case (.decimal, .double(let double)): return (.decimal(Decimal128(rounding: double, digits: 15)), .decimal)
        case (.int, .double(let double)) where double.isInfinite: throw Self.noInfinity
        case (.int, .float(let float)) where float.isInfinite || float.isNaN:
            throw .query("Infinity and NaN not supported for int")
        case (.int, .double(let double)): if let integer = Int64(exactly: double) { return (.int(integer), .int) }
        case (.int, .float(let float)): if let integer = Int64(exactly: float) { return (.int(integer), .int) }
        case (.float, .double(let double)): return (.float(Float(double)), .float)
        case (.decimal, .string(let bytes)):
            if let decimal = Decimal128(text: bytes), !decimal.isNaN { return (.decimal(decimal), .decimal) }
        case (.int, .string(let bytes)):
            if let number = Self.leading(bytes, integer: true), let integer = Int64(number) {
                return (.int(integer), .int)
            }
        case (.float, .string(let bytes)):
            if let number = Self.leading(bytes, integer: false), let float = Float(number) {
                return (.float(float), .float)
            }
        case (.double, .string(let bytes)):
            if let number = Self.leading(bytes, integer: false), let double = Double(number) {
                return (.double(double), .double)
            }
        default: break
        }
        return (value, ValueType(value))
    }

    /// The number at the start of a text, in a form that Swift parses; nil if there is none.
    static func leading(_ bytes: Bytes, integer: Bool) -> String? {
        var index = 0
        while index < bytes.count, bytes[index] == 0x20 || (bytes[index] >= 0x09 && bytes[index] <= 0x0D) { index += 1 }
        var out = ""
        if index < bytes.count, bytes[index] == 0x2D || bytes[index] == 0x2B {
            if bytes[index] == 0x2D { out = "-" }
            index += 1
        }
        var digits = 0
        func take() {
            while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 {
                out.append(Character(UnicodeScalar(bytes[index])))
                digits += 1
                index += 1
            }
        }
        take()
        if integer { return digits > 0 ? out : nil }
        if index < bytes.count, bytes[index] == 0x2E {
            index += 1
            if digits == 0 { out += "0" }
            out += "."
            let before = digits
            take()
            if digits == before { out += "0" }
        }
        guard digits > 0 else { return nil }
        if index + 1 < bytes.count, bytes[index] | 0x20 == 0x65 {
            var next = index + 1
            var exponent = "e"
            if bytes[next] == 0x2D || bytes[next] == 0x2B {
                exponent.append(Character(UnicodeScalar(bytes[next])))
                next += 1
            }
            if next < bytes.count, bytes[next] >= 0x30, bytes[next] <= 0x39 {
                out += exponent
                index = next
                take()
            }
        }
        return out
    }

    static func hex(_ text: String) -> [UInt8] {
        var out: [UInt8] = [], half: UInt8?
        for byte in text.utf8 where byte != 0x2D {
            let digit = byte <= 0x39 ? byte - 0x30 : byte | 0x20 - 0x57
            if let high = half {
                out.append(high << 4 | digit)
                half = nil
            } else {
                half = digit
            }
        }
        while out.count < 16 { out.append(0) }
        return out
    }

    static func timestamp(_ text: String) throws(RealmError) -> Timestamp {
        if text.hasPrefix("T") {
            let parts = text.dropFirst().split(separator: ":", maxSplits: 1)
            let seconds = QueryParser.integer(String(parts[0])) ?? 0, nanos = QueryParser.integer(String(parts[1])) ?? 0
            guard abs(nanos.clamped) < 1_000_000_000, seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0) else {
                throw RealmError(.invalidQueryString, "Invalid predicate: '\(text)': Invalid timestamp format")
            }
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
        }
        let numbers = text.split(whereSeparator: { !$0.isNumber }).map { Int64($0) ?? 0 }
        guard numbers.count >= 6 else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(text)': Invalid timestamp format")
        }
        guard numbers[0] >= 1900 else { throw .query("Conversion of dates before 1900 is not supported.") }
        // Computes days since 1970 in the proleptic Gregorian calendar. Fields may be larger than usual (day 40, hour
        // 30). The bounds together keep the result below 2⁶³ seconds.
        let months = numbers[1] - 1
        guard numbers[0] < 1 << 36, months.magnitude < 1 << 40, numbers[2] < 1 << 40, numbers[3] < 1 << 40,
            numbers[4] < 1 << 40, numbers[5] < 1 << 40
        else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(text)': Invalid timestamp format")
        }
        let (years, month) = months.dividedDown(by: 12)
        let days = CivilDate.days(year: numbers[0] + years, month: month + 1) + numbers[2] - 1
        let seconds = days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        var nanos = numbers.count > 6 ? numbers[6] : 0
        guard nanos < 1_000_000_000 else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(text)': Invalid timestamp format")
        }
        if seconds < 0 { nanos = -nanos }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
    }
}

extension Int64 {
    /// The value itself, but `.max` instead of `.min`, whose magnitude does not fit.
    fileprivate var clamped: Int64 { self == .min ? .max : self }
}
