/// The quantifier of a path or list. The types in this file are the syntax tree of a query, before names and types of a
/// schema are known. `QueryParser` makes it of a text; `RealmSwift` makes it of a condition in Swift, without a text.
package enum Quantifier: String { case any = "ANY", all = "ALL", none = "NONE" }

/// The differences that a comparison of texts ignores: `[c]` ignores case. `[d]` and `[cd]`, for Realm's Swift API,
/// ignore accents. With `u`, a comparison follows the rules of Unicode: `[u]`, `[cu]`, `[du]`, `[cdu]`.
package struct Folding: OptionSet {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let cases = Folding(rawValue: 1), accents = Folding(rawValue: 2)
    package static let unicode = Folding(rawValue: 4)

    /// The letters of a mark such as `cd`; nil for others, and for a letter that occurs twice.
    init?(letters: String) {
        self = []
        for letter in letters {
            let part: Folding
            switch letter {
            case "c": part = .cases
            case "d": part = .accents
            case "u": part = .unicode
            default: return nil
            }
            guard insert(part).inserted else { return nil }
        }
    }

    /// Whether texts are compared byte for byte, or with `[c]` of Realm.
    var isSimple: Bool { isSubset(of: .cases) }

    /// The suffix written after an operator.
    package var mark: String {
        isEmpty
            ? ""
            : "[\(contains(.cases) ? "c" : "")\(contains(.accents) ? "d" : "")\(contains(.unicode) ? "u" : "")]"
    }
}

package enum ArithmeticOperator: String { case add = "+", subtract = "-", multiply = "*", divide = "/" }

/// A part of a point in time, in UTC. Written `year(born)`.
package enum DatePart: String, CaseIterable {
    case year, month, day, hour, minute, second
    /// 1 is Monday, 7 is Sunday.
    case weekday
    /// The first moment of the day.
    case date
}

/// A function over the values of a group. Written `avg(score)`.
enum GroupFunction: String, CaseIterable {
    case count
    /// Written `count(DISTINCT city)`.
    case countDistinct
    case sum
    case average = "avg"
    case min, max
    /// The value of the first and of the last object, in the order of the objects.
    case first, last
    case median, quantile
    /// Of a sample: divided by the number of values less one.
    case deviation = "stddev", variance

    /// The names, for messages.
    static var names: String { allCases.filter { $0 != .countDistinct }.map(\.rawValue).joined(separator: ", ") }
}

package enum AggregateKind: String {
    case min, max, sum, average

    /// The spelling in a query.
    package var word: String { self == .average ? "@avg" : "@" + rawValue }

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
package enum ConstantSyntax {
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
    /// A value of the program, with the meaning of an argument that has this value. Its bytes belong to the arena of the
    /// `QuerySyntax`.
    case given(QueryArgument)
    indirect case object(className: [UInt8], key: ConstantSyntax)
}

/// A step of a key path.
package enum PathStep {
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
package enum PathEnd { case value, size, type }

package indirect enum ExpressionSyntax {
    case constant(ConstantSyntax, Quantifier?)
    case list([ConstantSyntax], Quantifier?)
    case path([PathStep], Quantifier?, PathEnd)
    case aggregate([PathStep], AggregateKind, property: Name?)
    case subquery([PathStep], variable: Name, PredicateSyntax)
    case arithmetic(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax)
    case part(DatePart, ExpressionSyntax)
}

package indirect enum PredicateSyntax {
    case constant(Bool)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
    case compare(CompareOperator, Folding, ExpressionSyntax, ExpressionSyntax)
    case between(ExpressionSyntax, [ConstantSyntax], Quantifier?)
    case geoWithin(ExpressionSyntax, GeoSyntax)
}

/// The right side of GEOWITHIN.
package enum GeoSyntax {
    case box(GeoPlaceSyntax, GeoPlaceSyntax)
    case circle(GeoPlaceSyntax, ConstantSyntax)
    case polygon([[GeoPlaceSyntax]])
    case argument(Int)
}

/// A point `[longitude, latitude]`, with an optional altitude.
package struct GeoPlaceSyntax {
    let longitude, latitude: ConstantSyntax
    let altitude: ConstantSyntax?

    package init(longitude: ConstantSyntax, latitude: ConstantSyntax, altitude: ConstantSyntax? = nil) {
        (self.longitude, self.latitude, self.altitude) = (longitude, latitude, altitude)
    }
}

/// A key of SORT.
struct SortKeySyntax {
    let path: [PathStep]

    /// The language after COLLATE.
    var locale: String?
    let ascending: Bool
}

enum OrderingSyntax {
    case sort([SortKeySyntax])
    case distinct([[PathStep]])
    case limit(Int)
}

/// The clauses GROUP BY, AGGREGATE and HAVING, and the orderings after them, which order the groups.
struct GroupingSyntax {
    struct Key {
        let value: ExpressionSyntax
        let name: Name
    }

    struct Aggregate {
        let function: GroupFunction

        /// nil: the objects themselves are counted.
        let value: ExpressionSyntax?

        /// For a quantile: between 0 and 1.
        let fraction: Double
        let name: Name
    }

    var keys: [Key] = []
    var aggregates: [Aggregate] = []
    var having: PredicateSyntax?
    var orderings: [OrderingSyntax] = []
}

/// The new value of a property: `n = n + 1`.
struct AssignmentSyntax {
    let name: Name
    let value: ExpressionSyntax
}

/// A whole query: a predicate and its clauses.
package struct QuerySyntax {
    let predicate: PredicateSyntax
    let orderings: [OrderingSyntax]

    /// nil: the query finds objects.
    let grouping: GroupingSyntax?

    /// The greatest nesting depth of operators.
    let depth: Int

    /// Owns the bytes of the values in the tree; nil if the tree was made of a text.
    private let arena: ConstantArena?

    init(
        predicate: PredicateSyntax, orderings: [OrderingSyntax], grouping: GroupingSyntax? = nil, depth: Int
    ) {
        (self.predicate, self.orderings, self.depth, arena) = (predicate, orderings, depth, nil)
        self.grouping = grouping
    }

    /// A condition that was made without a text.
    ///
    /// - Parameter depth: the nesting depth of its operators, as `QueryParser` counts it: that of a value is 1.
    package init(_ predicate: PredicateSyntax, depth: Int, arena: ConstantArena) {
        (self.predicate, orderings, self.depth, self.arena) = (predicate, [], depth, arena)
        grouping = nil
    }
}
