/// Constants and arguments: their type comes from what they are compared with.
extension Binder {
    /// A constant, a list of them, or arithmetic on constants, as the other side wants it.
    func constant(_ e: ExpressionSyntax, hint: Expression, _ op: CompareOperator?) throws(RealmError) -> Expression {
        switch e {
        case .constant(.argument(let n), let quantifier):
            if case .list(let values) = try argument(n) {
                return try list(values.map { .value($0) }, quantifier, hint, op)
            }
            if let quantifier { throw .query("The argument after '\(quantifier.rawValue)' must be a list") }
            var (v, type) = try value(.argument(n), hint: hint.type)
            // The property says which class the link leads to.
            if case (.link(let t), .typedLink(_, let k)) = (hint.type, v) { (v, type) = (.typedLink(t, k), .link(t)) }
            try check(v, type, hint, op, isArgument: true)
            return ConstantExpression(v, type, arena)
        case .constant(let c, _):
            let (v, type) = try value(c, hint: hint.type)
            try check(v, type, hint, op, isArgument: false)
            return ConstantExpression(v, type, arena)
        case .list(let elements, let quantifier): return try list(elements.map { .syntax($0) }, quantifier, hint, op)
        case .arithmetic(let op, let a, let b):
            guard let x = try constant(a, hint: hint, nil) as? ConstantExpression,
                let y = try constant(b, hint: hint, nil) as? ConstantExpression
            else {
                throw .query("Constants cannot be combined")
            }
            guard x.type.isNumeric || x.type == .mixed, y.type.isNumeric || y.type == .mixed, !x.isList, !y.isList
            else {
                throw .queryArgument(
                    "Cannot perform '\(op.rawValue)' operation on '\(x.type.name)' and '\(y.type.name)'")
            }
            let v = ArithmeticExpression.apply(op, x.values[0], y.values[0])
            return ConstantExpression(v, ValueType(v), arena)
        default: throw .query("A constant is needed")
        }
    }

    enum Element {
        case syntax(ConstantSyntax)
        case value(Mixed)
    }

    func list(_ elements: [Element], _ quantifier: Quantifier?, _ hint: Expression, _ op: CompareOperator?)
        throws(RealmError) -> Expression
    {
        var values: [Mixed] = []
        var type: ValueType?
        let isExact =
            hint.directColumn != nil && hint.type != .mixed && !hint.type.isLink && (op == .equal || op == .in)
            && (quantifier == nil || quantifier == .any)
        for e in elements {
            var isArgument = false
            let v: Mixed, t: ValueType
            switch e {
            case .syntax(let c):
                if case .argument(let n) = c {
                    isArgument = true
                    if case .list = try argument(n) {
                        throw .queryArgument("A list argument cannot stand inside a list")
                    }
                }
                if hint.type == .typeName {
                    switch c {
                    case .string, .base64: break
                    case .argument(let n):
                        guard case .value(.string) = try argument(n) else {
                            throw .query("Only type names can be compared with '@type'")
                        }
                    default: throw .query("Only type names can be compared with '@type'")
                    }
                }
                (v, t) = try value(c, hint: hint.type)
            case .value(let m):
                if hint.type == .typeName { throw Self.noTypeName }
                (v, t) = try convert(arena.keep(m), hint: hint.type, isLiteral: false, source: nil)
            }
            // Written elements of another type are just never equal; only links, and arguments among the elements, are
            // looked at.
            if !isExact, isArgument || hint.type.isLink {
                try check(v, t, hint, op, isArgument: isArgument, isOnly: elements.count == 1)
            }
            values.append(v)
            if t != .null { type = type == nil || type == t ? t : .mixed }
        }
        // Objects among the elements are never equal to other values: what they are to their own class does not matter
        // then.
        if let t = type, t.isLink, !hint.type.isLink { type = .mixed }
        let common: ValueType = hint.type == .typeName ? .typeName : (type ?? .null)
        return ConstantExpression(list: values, isExact ? hint.type : common, quantifier, arena)
    }

    /// - Parameter isOnly: no other element stands beside it.
    func check(
        _ v: Mixed, _ type: ValueType, _ hint: Expression, _ op: CompareOperator?, isArgument: Bool, isOnly: Bool = true
    ) throws(RealmError) {
        if case .link(let target) = hint.type {
            if case .typedLink(let t, _) = v, t != target, !t.isNull {
                throw .queryArgument(
                    "Relationship '\(hint.text(QueryPrinter(group)))' must be compared with objects of its own class")
            }
            if let op, !op.isString, !type.isLink, !v.isNull {
                let what = "Unsupported comparison between type 'link' and type '\(type.name)'"
                throw isArgument ? .queryArgument(what) : .query(what)
            }
            if v.isNull, isOnly, hint.isList, !Self.isElement(hint) {
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

    func value(_ c: ConstantSyntax, hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        switch c {
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
        case .number(let s):
            let v = QueryParser.integer(s) ?? 0
            if hint == .typeName { throw Self.noTypeName }
            return hint == .decimal ? (.decimal(Decimal128(v)), .decimal) : (.int(v), .int)
        case .float(let s):
            if hint == .typeName { throw Self.noTypeName }
            return try Self.fraction(s, hint)
        case .string(let b): return try convert(.string(arena.keep(b)), hint: hint, isLiteral: true, source: nil)
        case .base64(let s):
            return try convert(
                .string(arena.keep(QueryParser.base64(s) ?? [])), hint: hint, isLiteral: true, source: nil)
        case .binary(let b): return (.binary(arena.keep(b)), .binary)
        case .timestamp(let s): return (.timestamp(try Self.timestamp(s)), .timestamp)
        case .uuid(let s):
            let raw = Self.hex(s)
            return (.uuid(raw.withUnsafeBytes { UUIDValue(bytes: $0.baseAddress!) }), .uuid)
        case .objectId(let s):
            let raw = Self.hex(s)
            return (.objectId(raw.withUnsafeBytes { ObjectId(bytes: $0.baseAddress!) }), .objectId)
        case .link(let s):
            return Self.link(s, hint)
        case .argument(let n):
            guard case .value(let v) = try argument(n) else { throw .query("A list argument cannot be compared here") }
            return try convert(arena.keep(v), hint: hint, isLiteral: false, source: n)
        case .object(let className, let key):
            let name = Name(String(decoding: className, as: UTF8.self))
            guard
                let table = try group.table(
                    named: name.hasPrefix(Tables.classPrefix) ? name : Tables.classPrefix + name)
            else {
                throw .query("Unknown object type '\(name)'")
            }
            guard let pk = table.primaryKey, let facts = table.facts(pk) else {
                throw .query("Class '\(name)' has no primary key")
            }
            let (v, _) = try value(key, hint: ValueType(facts))
            let found = try table.find(primaryKey: v)
            return (.typedLink(table.key, found ?? .null), .link(table.key))
        }
    }

    /// A number with a point or an exponent; with an `f` behind it a float.
    private static func fraction(_ s: String, _ hint: ValueType) throws(RealmError) -> (Mixed, ValueType) {
        if s.hasSuffix("f") {
            let f = Float(complete(String(s.dropLast()))) ?? 0
            if hint == .int, f.isInfinite { return try beyondDouble(String(s.dropLast())) }
            if f.isInfinite, !hint.isNumeric, hint != .mixed { throw .query("Infinity not supported for \(hint.name)") }
            if hint == .int, let i = Int64(exactly: f) { return (.int(i), .int) }
            return (.float(f), .float)
        }
        let text = complete(s)
        let d = Double(text) ?? 0
        switch hint {
        case .int:
            if d.isInfinite { return try beyondDouble(s) }
            if let i = Int64(exactly: d) { return (.int(i), .int) }
        case .float: return (.float(Float(text) ?? Float(d)), .float)
        case .decimal: if let x = Decimal128(text: s.utf8) { return (.decimal(x), .decimal) }
        case .double, .mixed: break
        default: if d.isInfinite { throw .query("Infinity not supported for \(hint.name)") }
        }
        return (.double(d), .double)
    }

    /// `O5`, an object of the class that the other side links to; `L2:5`, one of the class with key 2.
    private static func link(_ s: String, _ hint: ValueType) -> (Mixed, ValueType) {
        if s.hasPrefix("O") {
            let number = QueryParser.integer(String(s.dropFirst())) ?? -1
            // No object has the largest key: that is how an object that is not there is written.
            let key = number == .max ? ObjKey.null : ObjKey(number)
            if case .link(let t) = hint { return (.typedLink(t, key), .link(t)) }
            return (.typedLink(.null, key), .link(.null))
        }
        let parts = s.dropFirst().split(separator: ":")
        let t = TableKey(UInt32(parts.first ?? "") ?? TableKey.null.raw)
        return (.typedLink(t, ObjKey(Int64(parts.last ?? "") ?? -1)), .link(t))
    }

    /// A number that only a decimal holds, against integers.
    private static func beyondDouble(_ s: String) throws(RealmError) -> (Mixed, ValueType) {
        guard let x = Decimal128(text: s.utf8), !x.isInfinite else { throw noInfinity }
        return (.decimal(x), .decimal)
    }

    /// Digits on both sides of the point, as Swift reads them.
    static func complete(_ s: String) -> String {
        var t = s
        if let e = t.firstIndex(where: { $0 == "e" || $0 == "E" }), e > t.startIndex, t[t.index(before: e)] == "." {
            t.insert("0", at: e)
        }
        if t.hasSuffix(".") { t += "0" }
        if let c = t.first, c == "+" { t.removeFirst() }
        if t.hasPrefix(".") { t = "0" + t }
        if t.hasPrefix("-.") { t = "-0" + t.dropFirst() }
        return t
    }

    /// A value that carries its type, brought to what the other side is where that loses nothing.
    func convert(_ v: Mixed, hint: ValueType, isLiteral: Bool, source: Int?) throws(RealmError) -> (Mixed, ValueType) {
        if hint == .typeName {
            guard case .string(let b) = v else { throw .queryArgument("A type name is needed to compare with '@type'") }
            guard let names = TypeNames(name: String(decoding: b, as: UTF8.self)) else {
                throw .queryArgument(
                    "Unable to parse the type attribute string '\(String(decoding: b, as: UTF8.self))', supported names are: \(TypeNames.allNames)"
                )
            }
            return (names.value, .typeName)
        }
        if !hint.isNumeric, hint != .mixed {
            let isFinite =
                switch v {
                case .float(let f): f.isFinite
                case .double(let d): d.isFinite
                case .decimal(let d): !d.isNaN && !d.isInfinite
                default: true
                }
            if !isFinite { throw .queryArgument("Infinity and NaN not supported for \(hint.name)") }
        }
        switch (hint, v) {
        case (_, .list), (_, .dictionary): throw .queryArgument("A list or dictionary value cannot be compared")
        case (_, .timestamp(let t))
        where t.nanoseconds.magnitude >= 1_000_000_000 || (t.seconds > 0 && t.nanoseconds < 0)
            || (t.seconds < 0 && t.nanoseconds > 0):
            throw .queryArgument("The seconds and nanoseconds of a timestamp do not go together")
        case (.decimal, .int(let i)): return (.decimal(Decimal128(i)), .decimal)
        case (.decimal, .double(let d)): return (.decimal(Decimal128(rounding: d, digits: 15)), .decimal)
        case (.int, .double(let d)) where d.isInfinite: throw Self.noInfinity
        case (.int, .float(let f)) where f.isInfinite || f.isNaN: throw .query("Infinity and NaN not supported for int")
        case (.int, .double(let d)): if let i = Int64(exactly: d) { return (.int(i), .int) }
        case (.int, .float(let f)): if let i = Int64(exactly: f) { return (.int(i), .int) }
        case (.float, .double(let d)): return (.float(Float(d)), .float)
        case (.decimal, .string(let b)):
            if let d = Decimal128(text: b), !d.isNaN { return (.decimal(d), .decimal) }
        case (.int, .string(let b)):
            if let n = Self.leading(b, integer: true), let i = Int64(n) { return (.int(i), .int) }
        case (.float, .string(let b)):
            if let n = Self.leading(b, integer: false), let f = Float(n) { return (.float(f), .float) }
        case (.double, .string(let b)):
            if let n = Self.leading(b, integer: false), let d = Double(n) { return (.double(d), .double) }
        default: break
        }
        return (v, ValueType(v))
    }

    /// The number that a text starts with.
    static func leading(_ b: Bytes, integer: Bool) -> String? {
        var i = 0
        while i < b.count, b[i] == 0x20 || (b[i] >= 0x09 && b[i] <= 0x0D) { i += 1 }
        var out = ""
        if i < b.count, b[i] == 0x2D || b[i] == 0x2B {
            if b[i] == 0x2D { out = "-" }
            i += 1
        }
        var digits = 0
        func take() {
            while i < b.count, b[i] >= 0x30, b[i] <= 0x39 {
                out.append(Character(UnicodeScalar(b[i])))
                digits += 1
                i += 1
            }
        }
        take()
        if integer { return digits > 0 ? out : nil }
        if i < b.count, b[i] == 0x2E {
            i += 1
            if digits == 0 { out += "0" }
            out += "."
            let before = digits
            take()
            if digits == before { out += "0" }
        }
        guard digits > 0 else { return nil }
        if i + 1 < b.count, b[i] | 0x20 == 0x65 {
            var j = i + 1
            var e = "e"
            if b[j] == 0x2D || b[j] == 0x2B {
                e.append(Character(UnicodeScalar(b[j])))
                j += 1
            }
            if j < b.count, b[j] >= 0x30, b[j] <= 0x39 {
                out += e
                i = j
                take()
            }
        }
        return out
    }

    static func hex(_ s: String) -> [UInt8] {
        var out: [UInt8] = [], half: UInt8?
        for c in s.utf8 where c != 0x2D {
            let d = c <= 0x39 ? c - 0x30 : c | 0x20 - 0x57
            if let h = half {
                out.append(h << 4 | d)
                half = nil
            } else {
                half = d
            }
        }
        while out.count < 16 { out.append(0) }
        return out
    }

    static func timestamp(_ s: String) throws(RealmError) -> Timestamp {
        if s.hasPrefix("T") {
            let parts = s.dropFirst().split(separator: ":", maxSplits: 1)
            let seconds = QueryParser.integer(String(parts[0])) ?? 0, nanos = QueryParser.integer(String(parts[1])) ?? 0
            guard abs(nanos.clamped) < 1_000_000_000, seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0) else {
                throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
            }
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
        }
        let numbers = s.split(whereSeparator: { !$0.isNumber }).map { Int64($0) ?? 0 }
        guard numbers.count >= 6 else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
        }
        guard numbers[0] >= 1900 else { throw .query("Conversion of dates before 1900 is not supported.") }
        // Days since 1970 in the proleptic Gregorian calendar; fields may overflow. All bounds together stay below 2⁶³
        // seconds.
        let months = numbers[1] - 1
        guard numbers[0] < 1 << 36, months.magnitude < 1 << 40, numbers[2] < 1 << 40, numbers[3] < 1 << 40,
            numbers[4] < 1 << 40, numbers[5] < 1 << 40
        else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
        }
        let year = numbers[0] + (months >= 0 ? months / 12 : (months - 11) / 12)
        let month = (months % 12 + 12) % 12 + 1
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yoe = y - era * 400
        let doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        let days = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy + numbers[2] - 1 - 719468
        let seconds = days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        var nanos = numbers.count > 6 ? numbers[6] : 0
        guard nanos < 1_000_000_000 else {
            throw RealmError(.invalidQueryString, "Invalid predicate: '\(s)': Invalid timestamp format")
        }
        if seconds < 0 { nanos = -nanos }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanos))
    }
}

extension Int64 {
    /// Without the one value whose magnitude does not fit.
    fileprivate var clamped: Int64 { self == .min ? .max : self }
}
