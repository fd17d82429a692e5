/// The quantifier of a path or list. The types in this file are the syntax tree of a query text, before names and types
/// of a schema are known.
enum Quantifier: String { case any = "ANY", all = "ALL", none = "NONE" }

enum CompareOperator: String {
    case equal = "==", notEqual = "!=", less = "<", greater = ">", lessEqual = "<=", greaterEqual = ">="
    case `in` = "IN", beginsWith = "BEGINSWITH", endsWith = "ENDSWITH", contains = "CONTAINS", like = "LIKE", text =
        "TEXT"

    var isString: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like: true
        default: false
        }
    }

    var isOrder: Bool {
        switch self {
        case .less, .greater, .lessEqual, .greaterEqual: true
        default: false
        }
    }
}

/// The differences that a comparison of texts ignores: `[c]` ignores case; `[d]` and `[cd]`, for Realm's Swift API,
/// ignore accents.
struct Folding: OptionSet {
    let rawValue: UInt8
    static let cases = Folding(rawValue: 1), accents = Folding(rawValue: 2)

    /// The suffix written after an operator.
    var mark: String { isEmpty ? "" : "[\(contains(.cases) ? "c" : "")\(contains(.accents) ? "d" : "")]" }
}

enum ArithmeticOperator: String { case add = "+", subtract = "-", multiply = "*", divide = "/" }

package enum AggregateKind: String {
    case min, max, sum, average

    /// The spelling in a query.
    var word: String { self == .average ? "@avg" : "@" + rawValue }

    init?(_ kind: Token.Kind) {
        switch kind {
        case .min: self = .min
        case .max: self = .max
        case .sum: self = .sum
        case .avg: self = .average
        default: return nil
        }
    }
}

/// A constant as written. Its type depends on what it is compared with.
enum ConstantSyntax {
    case null, `true`, `false`, nan
    case infinity(negative: Bool)
    /// Digits with their sign or base prefix.
    case number(String)
    /// Digits with their suffix.
    case float(String)
    /// The bytes between the quotes.
    case string([UInt8])
    case base64(String)
    case binary([UInt8])
    case timestamp(String)
    case uuid(String)
    case objectId(String)
    /// `O7` or `L3:7`.
    case link(String)
    case argument(Int)
    indirect case object(className: [UInt8], key: ConstantSyntax)
}

/// A step of a key path.
enum PathStep {
    case name(Name)
    case links
    case keys
    case values
    case index(Int)
    case first, last, all
    case key([UInt8])
    case argument(Int)
    /// An argument gives the whole path.
    case pathArgument(Int)
}

/// What a path yields: its values, their number (`@count`, `@size`) or their types (`@type`).
enum PathEnd { case value, size, type }

indirect enum ExpressionSyntax {
    case constant(ConstantSyntax, Quantifier?)
    case list([ConstantSyntax], Quantifier?)
    case path([PathStep], Quantifier?, PathEnd)
    case aggregate([PathStep], AggregateKind, property: Name?)
    case subquery([PathStep], variable: Name, PredicateSyntax)
    case arithmetic(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax)
}

indirect enum PredicateSyntax {
    case constant(Bool)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
    case compare(CompareOperator, Folding, ExpressionSyntax, ExpressionSyntax)
    case between(ExpressionSyntax, [ConstantSyntax], Quantifier?)
    case geoWithin(ExpressionSyntax, GeoSyntax)
}

/// The right side of GEOWITHIN.
enum GeoSyntax {
    case box(GeoPlaceSyntax, GeoPlaceSyntax)
    case circle(GeoPlaceSyntax, ConstantSyntax)
    case polygon([[GeoPlaceSyntax]])
    case argument(Int)
}

/// A point `[longitude, latitude]`, with an optional altitude.
struct GeoPlaceSyntax {
    let longitude, latitude: ConstantSyntax
    let altitude: ConstantSyntax?
}

enum OrderingSyntax {
    case sort([(path: [PathStep], ascending: Bool)])
    case distinct([[PathStep]])
    case limit(Int)
}

/// A whole query: a predicate and its clauses.
struct QuerySyntax {
    var predicate: PredicateSyntax
    var orderings: [OrderingSyntax]

    /// The greatest nesting depth of operators.
    var depth = 0
}
