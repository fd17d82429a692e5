/// Operands of one operator, two by two.
private indirect enum OperandTree {
    case leaf(Condition)
    case two(OperandTree, OperandTree)
}

/// Conditions back to text that parses to the same query. Rules: query-language §15; where Realm's own text would not find the same rows
/// again, the text here does.
final class QueryPrinter {
    private let group: Group
    /// `$x.` inside a subquery.
    private(set) var prefix = ""
    private var depth = 0
    private var insideNot = 0

    init(_ group: Group) { self.group = group }

    static func name(_ s: String) -> String {
        s.contains(where: { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" })
            ? s.replacing(" ", with: "\\ ").replacing("\n", with: "\\n").replacing("\r", with: "\\r").replacing("\t", with: "\\t") : s
    }
    func inSubquery(_ body: (QueryPrinter) -> String) -> (variable: String, text: String) {
        let letters = Array("xyzabcdefghijklmnopqrstuvw")
        let variable = "$" + String(letters[depth % letters.count]) + (depth >= letters.count ? String(depth / letters.count) : "")
        let outer = prefix
        prefix = variable + "."
        depth += 1
        insideNot += 1
        defer {
            prefix = outer
            depth -= 1
            insideNot -= 1
        }
        return (variable, body(self))
    }

    // MARK: Logic

    /// Nested equal operators are flattened: an operand of the same kind goes and its two operands come at the end.
    private func flattened<C: Condition>(_ parts: [Condition], _ same: C.Type, _ inner: (C) -> [Condition]) -> [Condition] {
        // As written, a AND b AND c is (a AND b) AND c.
        func tree(_ parts: ArraySlice<Condition>) -> OperandTree {
            guard let last = parts.last else { return .leaf(ConstantCondition(true)) }
            let right: OperandTree = if let c = last as? C { tree(inner(c)[...]) } else { .leaf(last) }
            return parts.count == 1 ? right : .two(tree(parts.dropLast()), right)
        }
        guard case .two(let l, let r) = tree(parts[...]) else { return parts }
        var queue: [OperandTree] = [l, r]
        var i = 0
        while i < queue.count {
            if case .two(let a, let b) = queue[i] {
                queue.remove(at: i)
                queue.append(a)
                queue.append(b)
            } else {
                i += 1
            }
        }
        return queue.compactMap { if case .leaf(let c) = $0 { c } else { nil } }
    }
    func and(_ parts: [Condition]) -> String {
        let all = insideNot > 0 ? parts : flattened(parts, AndCondition.self) { $0.parts }
        return all.map { $0.text(self) }.joined(separator: " and ")
    }
    func or(_ parts: [Condition]) -> String {
        if insideNot > 0 {
            // Brackets as written: from the left.
            var text = parts.first?.text(self) ?? ""
            for p in parts.dropFirst() { text = "(\(text) or \(p.text(self)))" }
            return text
        }
        return "(" + flattened(parts, OrCondition.self) { $0.parts }.map { $0.text(self) }.joined(separator: " or ") + ")"
    }
    func not(_ part: Condition) -> String {
        insideNot += 1
        defer { insideNot -= 1 }
        return "!(\(part.text(self)))"
    }

    // MARK: Comparisons

    func compare(_ c: CompareCondition) -> String {
        var op = c.op
        if op == .in, !(c.left.isList && c.right.isList) { op = .equal }
        return "\(c.left.text(self)) \(op.rawValue)\(c.folds ? "[c]" : "") \(c.right.text(self))"
    }
    func direct(_ path: PathExpression, _ op: CompareOperator, _ folds: Bool, _ right: ConstantExpression) -> String {
        let p = path.text(self)
        if path.type == .int, case .int(let v)? = right.values.first {
            switch op {
            case .greaterEqual: return v == .min ? "TRUEPREDICATE" : "\(p) > \(v - 1)"
            case .lessEqual: return v == .max ? "TRUEPREDICATE" : "\(p) < \(v + 1)"
            default: break
            }
        }
        // A whole number must stay what it is: against an integer constant other rules hold.
        if path.type == .float || path.type == .double, let v = right.values.first {
            let text = constant(v, right.type)
            if text.allSatisfy({ $0.isNumber || $0 == "-" }) { return "\(p) \(op.rawValue) \(text).0" }
        }
        return "\(p) \(op.rawValue)\(folds ? "[c]" : "") \(path.type == .mixed && right.values.first?.isNull ?? false ? "null" : right.text(self))"
    }
    func membership(_ path: PathExpression, _ list: ConstantExpression, _ values: [Mixed]) -> String {
        let p = path.text(self)
        switch path.type {
        case .int, .string, .uuid, .objectId: return "\(p) IN {\(values.map { constant($0, path.type) }.joined(separator: ", "))}"
        default:
            let parts = values.map { "\(p) == \(constant($0, path.type))" }
            if parts.isEmpty { return "FALSEPREDICATE" }
            return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: " or ") + ")"
        }
    }

    // MARK: Constants

    func constant(_ v: Mixed, _ type: ValueType) -> String {
        if type == .typeName, case .int(let bits) = v { return "\"\(TypeNames(rawValue: UInt32(truncatingIfNeeded: bits)).text)\"" }
        switch v {
        case .null, .slot: return "NULL"
        case .int(let i): return String(i)
        case .bool(let b): return b ? "true" : "false"
        case .float(let f): return number(Double(f), f.isNaN, f.isInfinite, digits: 9)
        case .double(let d): return number(d, d.isNaN, d.isInfinite, digits: 17)
        case .decimal(let d): return d.queryText
        case .string(let b): return text(b)
        case .binary(let b): return "binary(\(text(b)))"
        case .timestamp(let t): return "T\(t.seconds):\(t.nanoseconds)"
        case .objectId(let o): return "oid(\(o))"
        case .uuid(let u): return "uuid(\(u))"
        case .link(let k): return "O\(k.raw)"
        case .typedLink(let t, let k):
            if k.isNull { return "NULL" }
            guard let table = try? group.table(t) else { return "O\(k.raw)" }
            guard let pk = table.primaryKey, let v = try? table.rows.peek(k, pk.index) else { return "L\(t.raw):\(k.raw)" }
            return "obj(\"\(table.name)\",\(constant(v, .mixed)))"
        case .list: return "[]"
        case .dictionary: return "{}"
        }
    }
    private func number(_ d: Double, _ isNaN: Bool, _ isInfinite: Bool, digits: Int) -> String {
        if isNaN { return "nan" }
        if isInfinite { return d < 0 ? "-inf" : "inf" }
        return Platform.general(d, digits: digits)
    }
    private func text(_ b: Bytes) -> String {
        var plain = true
        var i = 0
        while i < b.count {
            let c = b[i]
            if c < 0x80 {
                let isSafe = (c >= 0x20 && c < 0x7F) && c != 0x22 && c != 0x27 && c != 0x5C
                if !isSafe {
                    plain = false
                    break
                }
                i += 1
            } else {
                let n = c >= 0xF0 && c < 0xF8 ? 4 : (c >= 0xE0 ? 3 : (c >= 0xC2 ? 2 : 0))
                guard n > 0, i + n <= b.count, !(1..<n).contains(where: { b[i + $0] & 0xC0 != 0x80 }) else {
                    plain = false
                    break
                }
                i += n
            }
        }
        return plain ? "\"" + String(decoding: b, as: UTF8.self) + "\"" : "B64\"" + Crypto.base64(b) + "\""
    }
}

extension Decimal128 {
    /// Digits as stored, with a point or an exponent.
    var queryText: String {
        if isNaN { return "NaN" }
        if isInfinite { return isNegative ? "-Inf" : "Inf" }
        let (coefficient, exponent) = parts
        let digits = String(coefficient)
        let sign = isNegative ? "-" : ""
        if coefficient > UInt128(UInt64.max) { return (isNegative ? "-" : "+") + digits + "E" + (exponent < 0 ? "-" : "+") + String(exponent.magnitude) }
        if exponent == 0 { return sign + digits }
        let point = digits.utf8.count + exponent
        if exponent < 0 && point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
        let tail = digits.dropFirst()
        return sign + digits.prefix(1) + (tail.isEmpty ? "" : "." + tail) + "E" + String(point - 1)
    }
}
