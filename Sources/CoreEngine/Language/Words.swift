/// The words and signs of the query language. The lexer, the parser, the binder and the printer use this one table.
/// `RealmSwift` uses `QueryLanguage`. `make words` (`Scripts/words.py`) writes the lists of the Python package and of
/// the Browser; `make tidy` fails if a list differs from this table.
///
/// To add an operator on texts, add a case of `CompareOperator` with its rule. If the operator searches in a new way,
/// also add a case of `PatternSearch` and its loop (Scan, `StringOperators.swift`).
package enum CompareOperator: String, CaseIterable {
    case equal = "==", notEqual = "!=", less = "<", greater = ">", lessEqual = "<=", greaterEqual = ">="
    case `in` = "IN", text = "TEXT"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"

    /// The rule of an operator that compares a text or bytes with a pattern; nil for other operators.
    var stringRule: StringRule? {
        switch self {
        case .contains: StringRule(.anywhere)
        case .beginsWith: StringRule(.start)
        case .endsWith: StringRule(.end)
        case .like: StringRule(.wildcards, folds: [.cases, .unicode])
        case .equal, .notEqual, .less, .greater, .lessEqual, .greaterEqual, .in, .text: nil
        }
    }

    var isString: Bool { stringRule != nil }

    /// The differences between texts that the operator can be told to ignore.
    var folds: Folding {
        switch self {
        case .equal, .notEqual, .in: [.cases, .accents, .unicode]
        default: stringRule?.folds ?? []
        }
    }

    var isOrder: Bool {
        switch self {
        case .less, .greater, .lessEqual, .greaterEqual: true
        default: false
        }
    }
}

/// How an operator compares a text with a pattern.
struct StringRule {
    let search: PatternSearch
    let folds: Folding

    /// Other spellings of the operator, in upper case.
    let aliases: [String]

    init(_ search: PatternSearch, folds: Folding = [.cases, .accents, .unicode], aliases: [String] = []) {
        (self.search, self.folds, self.aliases) = (search, folds, aliases)
    }
}

/// A word or sign of the table.
struct QueryWord {
    /// The place of a word in a query.
    enum Role: String, CaseIterable {
        case connective, negation, quantifier
        /// Operators between two operands: signs, those that need a list, texts, full text, shapes.
        case sign, listOperator, stringOperator, fullText, shapeOperator
        /// Clauses after the condition, and the words in these clauses.
        case ordering, limit, direction
        /// Conditions and operands.
        case predicate, subquery, function, shape, constant
        /// Places in a list.
        case place
        /// Words after a path and a dot: sizes, aggregates, and other steps.
        case size, aggregate, step
    }

    /// The spelling, in lower case.
    let text: String
    let kind: Token.Kind
    let role: Role

    /// Whether the word must be in all lower or all upper case.
    let hasOneCase: Bool

    init(_ text: String, _ kind: Token.Kind, _ role: Role, hasOneCase: Bool = false) {
        (self.text, self.kind, self.role, self.hasOneCase) = (text, kind, role, hasOneCase)
    }

    /// All words and signs. If several have the same meaning, the first one is the usual spelling.
    static let all: [QueryWord] = fixed + ofTexts

    /// Each entry is on a line of its own, because `Scripts/words.py` reads these lines.
    private static let fixed: [QueryWord] = [
        QueryWord("and", .and, .connective),
        QueryWord("&&", .and, .connective),
        QueryWord("or", .or, .connective),
        QueryWord("||", .or, .connective),
        QueryWord("not", .not, .negation, hasOneCase: true),
        QueryWord("!", .not, .negation),
        QueryWord("any", .any, .quantifier, hasOneCase: true),
        QueryWord("some", .any, .quantifier, hasOneCase: true),
        QueryWord("all", .all, .quantifier, hasOneCase: true),
        QueryWord("none", .none, .quantifier, hasOneCase: true),
        QueryWord("==", .equal, .sign),
        QueryWord("=", .equal, .sign),
        QueryWord("!=", .notEqual, .sign),
        QueryWord("<>", .notEqual, .sign),
        QueryWord("<", .less, .sign),
        QueryWord("<=", .lessEqual, .sign),
        QueryWord("=<", .lessEqual, .sign),
        QueryWord(">", .greater, .sign),
        QueryWord(">=", .greaterEqual, .sign),
        QueryWord("=>", .greaterEqual, .sign),
        QueryWord("in", .in, .listOperator, hasOneCase: true),
        QueryWord("between", .between, .listOperator),
        QueryWord("text", .text, .fullText),
        QueryWord("geowithin", .geoWithin, .shapeOperator),
        QueryWord("sort", .sort, .ordering),
        QueryWord("distinct", .distinct, .ordering),
        QueryWord("limit", .limit, .limit),
        QueryWord("asc", .ascending, .direction),
        QueryWord("ascending", .ascending, .direction),
        QueryWord("desc", .descending, .direction),
        QueryWord("descending", .descending, .direction),
        QueryWord("truepredicate", .truePredicate, .predicate),
        QueryWord("falsepredicate", .falsePredicate, .predicate),
        QueryWord("subquery", .subquery, .subquery),
        QueryWord("obj", .obj, .function),
        QueryWord("binary", .binary, .function),
        QueryWord("bin", .binary, .function),
        QueryWord("geobox", .geoBox, .shape),
        QueryWord("geocircle", .geoCircle, .shape),
        QueryWord("geopolygon", .geoPolygon, .shape),
        QueryWord("null", .null, .constant),
        QueryWord("nil", .null, .constant),
        QueryWord("inf", .infinity, .constant),
        QueryWord("infinity", .infinity, .constant),
        QueryWord("nan", .nan, .constant),
        QueryWord("true", .true, .constant, hasOneCase: true),
        QueryWord("false", .false, .constant, hasOneCase: true),
        QueryWord("first", .first, .place, hasOneCase: true),
        QueryWord("last", .last, .place, hasOneCase: true),
        QueryWord("size", .size, .place, hasOneCase: true),
        QueryWord("@count", .count, .size),
        QueryWord("@size", .count, .size),
        QueryWord("@sum", .sum, .aggregate),
        QueryWord("@min", .min, .aggregate),
        QueryWord("@max", .max, .aggregate),
        QueryWord("@avg", .avg, .aggregate),
        QueryWord("@links", .links, .step),
        QueryWord("@type", .type, .step),
        QueryWord("@keys", .keys, .step),
        QueryWord("@values", .values, .step),
    ]

    /// The operators on texts, with their aliases.
    private static let ofTexts = CompareOperator.allCases.flatMap { (op) -> [QueryWord] in
        guard let rule = op.stringRule else { return [] }
        return ([op.rawValue] + rule.aliases).map { QueryWord($0.lowercased(), .textOperator(op), .stringOperator) }
    }

    /// Whether the entry is a keyword: it consists of letters, so a property may have the same name.
    var isKeyword: Bool { text.utf8.first.map { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") } ?? false }

    /// Whether the entry begins with `@`.
    var isAtWord: Bool { text.utf8.first == UInt8(ascii: "@") }
}

/// The words of the language, for other modules.
package enum QueryLanguage {
    /// All keywords, in lower case: a property with such a name is quoted in a query.
    package static let keywords = QueryWord.all.filter(\.isKeyword).map(\.text)

    /// Keywords between two operands, in lower case.
    package static let infixes = words([.listOperator, .stringOperator, .fullText, .shapeOperator])

    /// Keywords before an operand, in lower case.
    package static let prefixes = words([.negation, .quantifier])

    private static func words(_ roles: Set<QueryWord.Role>) -> [String] {
        QueryWord.all.filter { $0.isKeyword && roles.contains($0.role) }.map(\.text)
    }
}
