/// Compares two values. NULL, and values whose types do not compare, equal only themselves and have no order.
enum Comparison {
    /// Rule E of query-language §6.
    static func holds(_ op: CompareOperator, _ a: Mixed, _ b: Mixed) -> Bool {
        switch op {
        case .equal, .in: return equal(a, b)
        case .notEqual: return !equal(a, b)
        default: break
        }
        if a.isNull || b.isNull { return a.isNull && b.isNull && (op == .lessEqual || op == .greaterEqual) }
        guard ordered(a, b) else { return false }
        let order = Mixed.compare(a, b)
        switch op {
        case .less: return order < 0
        case .lessEqual: return order <= 0
        case .greater: return order > 0
        default: return order >= 0
        }
    }

    static func equal(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        // As in sorting, two whole lists are equal, and so are two whole dictionaries.
        case (.list, .list), (.dictionary, .dictionary): return true
        case (.list, _), (_, .list), (.dictionary, _), (_, .dictionary): return false
        case (.typedLink(let leftTable, let leftKey), .typedLink(let rightTable, let rightKey)):
            return leftKey == rightKey && (leftTable == rightTable || leftTable.isNull || rightTable.isNull)
        default: return ordered(a, b) && Mixed.compare(a, b) == 0
        }
    }

    /// Whether values of these types can be compared.
    private static func ordered(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.int, .int), (.string, .string): true
        case (.list, .list), (.dictionary, .dictionary): true
        case (.list, _), (.dictionary, _), (_, .list), (_, .dictionary): false
        case (.typedLink, .typedLink): true
        default: ValueType.comparable(ValueType(a), ValueType(b))
        }
    }

    /// String operators. Values that are not both text (or both binary) never match, except with NULL patterns. Rules:
    /// query-language §11.
    static func string(_ op: CompareOperator, folding: Folding, _ a: Mixed, _ b: Mixed, _ store: NodeStore)
        throws(RealmError) -> Bool
    {
        if b.isNull {
            switch op {
            case .contains: return !a.isNull
            case .like: return a.isNull
            case .equal, .in: return a.isNull
            case .notEqual: return !a.isNull
            default: return false
            }
        }
        if a.isNull { return op == .notEqual }
        switch (a, b) {
        case (.string(let text), .string(let pattern)):
            return try Pattern(op, pattern, folding: folding).matches(text, store) == (op != .notEqual)
        case (.binary(let bytes), .binary(let pattern)):
            return try Pattern(op, pattern, folding: folding.intersection(.cases)).matches(bytes, store)
                == (op != .notEqual)
        default: return op == .notEqual
        }
    }
}
