internal import CoreEngine
import Foundation

/// A type-safe query as the program wrote it. `BuiltCondition` makes the engine's syntax tree of it; its text is for people.
indirect enum QueryNode {
    /// A key path. `collections` are the numbers of names up to and including the first and the last name that leads to
    /// several values.
    case path([String], collections: ClosedRange<Int>?)
    /// A subscript of a path: a key, an index, or `*` for all elements.
    case element(QueryNode, Any?)
    /// An aggregate such as `@count` or `@sum`, of a collection or a property of its elements.
    case aggregate(Aggregate, QueryNode)
    case constant(Any?)
    case comparison(CompareOperator, Folding, QueryNode, QueryNode)
    case between(QueryNode, Any, Any)
    case and(QueryNode, QueryNode)
    case or(QueryNode, QueryNode)
    case not(QueryNode)
    /// The number of elements of one collection that satisfy all conditions together.
    case subquery(QueryNode)

    /// What is computed of a collection.
    enum Aggregate {
        case count
        case of(AggregateKind)

        /// The spelling in a query.
        var word: String {
            switch self {
            case .count: "@count"
            case .of(let kind): kind.word
            }
        }
    }

    /// The query as a format with its arguments.
    var format: (String, [Any]) {
        var printer = Printer()
        printer.condition(self)
        return (printer.text, printer.arguments)
    }

    /// Checks aggregates. The sum, average, minimum or maximum of a single value is misuse.
    func verifyAggregates(_ root: ClassInfo?) {
        switch self {
        case .aggregate(.of(let kind), .path(let names, nil)):
            let owner = names.dropLast().reduce(root) { info, name in
                info?.property(name)?.shape.target.map { ClassInfo.of($0) }
            }
            misuse(
                "Invalid keypath '\(names.joined(separator: ".")).\(kind.word)': Property '\(owner?.name ?? "").\(names.last ?? "")' is not a link or "
                    + "collection and can only appear at the end of a keypath.")
        case .comparison(_, _, let a, let b), .and(let a, let b), .or(let a, let b):
            a.verifyAggregates(root)
            b.verifyAggregates(root)
        case .not(let of), .subquery(let of), .between(let of, _, _): of.verifyAggregates(root)
        case .path, .element, .aggregate, .constant: break
        }
    }

    /// Whether the node is a property or an element, and no condition.
    var isProperty: Bool {
        switch self {
        case .path, .element: true
        default: false
        }
    }

    /// The collection of the first comparison that has one; nil if no comparison has one.
    var collection: [String]? {
        switch self {
        case .path(let names, let many?): Array(names.prefix(many.lowerBound))
        case .path(_, nil), .constant, .subquery: nil
        case .element(let of, _), .aggregate(_, let of), .not(let of), .between(let of, _, _): of.collection
        case .comparison(_, _, let a, let b), .and(let a, let b), .or(let a, let b): a.collection ?? b.collection
        }
    }
}

/// Writes a query in the format of `NSPredicate`.
private struct Printer {
    var text = ""
    var arguments: [Any] = []

    /// Inside a subquery: the collection, and the variable for its elements.
    private var variable: (path: [String], name: String)?
    private var subqueries = 0

    mutating func condition(_ node: QueryNode) {
        switch node {
        case .and(let a, let b): pair(a, "&&", b)
        case .or(let a, let b): pair(a, "||", b)
        case .not(let child):
            // A property alone cannot be negated, so it is compared with false.
            if child.isProperty { return property(child, is: "false") }
            if case .comparison(let op, let folding, let a, let b) = child {
                return comparison(op.rawValue + folding.mark, a, b, isNegated: true)
            }
            text += "NOT "
            condition(child)
        case .comparison(let op, let folding, let a, let b): comparison(op.rawValue + folding.mark, a, b)
        case .between(let value, let low, let high):
            text += "("
            quantifier(value)
            operand(value)
            text += " BETWEEN {%@, %@})"
            arguments += [low, high]
        case .path, .element: property(node, is: "true")
        case .constant, .aggregate, .subquery: operand(node)
        }
    }

    /// Writes a property that is a condition by itself.
    private mutating func property(_ node: QueryNode, is value: String) {
        quantifier(node)
        operand(node)
        text += " == \(value)"
    }

    private mutating func pair(_ a: QueryNode, _ sign: String, _ b: QueryNode) {
        text += "("
        condition(a)
        text += " \(sign) "
        condition(b)
        text += ")"
    }

    private mutating func comparison(_ sign: String, _ a: QueryNode, _ b: QueryNode, isNegated: Bool = false) {
        // It is undefined which elements of the two collections would be compared.
        if case .path(_, .some) = a, case .path(_, .some) = b {
            misuse("Comparing two collection columns is not permitted.")
        }
        text += isNegated ? "(NOT " : "("
        // A constant on the left is searched for in the whole collection, so the comparison has no quantifier.
        if case .constant = a {} else { quantifier(a) }
        operand(a)
        text += " \(sign) "
        operand(b)
        text += ")"
    }

    private mutating func quantifier(_ node: QueryNode) {
        switch node {
        case .path(let names, let many?)
        where variable.map({ !names.prefix(many.upperBound).elementsEqual($0.path) }) ?? true: text += "ANY "
        case .element(let of, let step) where step is QueryAll: quantifier(of)
        default: break
        }
    }

    private mutating func operand(_ node: QueryNode) {
        switch node {
        case .path(let names, _): text += path(names)
        case .element(let of, let step):
            operand(of)
            switch step {
            case is QueryAll:
                text += "[%K]"
                arguments.append("#any")
            default:
                text += "[%@]"
                arguments.append(step ?? NSNull())
            }
        case .aggregate(let kind, let of):
            guard case .path(let names, let many?) = of, case let last = many.upperBound, last < names.count else {
                operand(of)
                text += ".\(kind.word)"
                return
            }
            text += path(Array(names.prefix(last))) + ".\(kind.word)." + names.dropFirst(last).joined(separator: ".")
        case .constant(let value):
            text += "%@"
            arguments.append(value ?? NSNull())
        case .subquery(let inner): subquery(inner)
        case .comparison, .between, .and, .or, .not: condition(node)
        }
    }

    private func path(_ names: [String]) -> String {
        guard let variable, names.starts(with: variable.path) else { return names.joined(separator: ".") }
        // The variable already represents a value of the map.
        let rest = names.dropFirst(variable.path.count).drop { $0 == "@allValues" }
        return ([variable.name] + rest).joined(separator: ".")
    }

    private mutating func subquery(_ inner: QueryNode) {
        guard let collection = inner.collection else {
            misuse("Subqueries must contain a keypath starting with a collection.")
        }
        subqueries += 1
        let outer = variable, name = "$col\(subqueries)"
        // If the inner subquery names the collection of the outer one again, it means that collection of the elements,
        // which have the same class.
        text +=
            "SUBQUERY(\(collection == outer?.path ? collection.joined(separator: ".") : path(collection)), \(name), "
        variable = (collection, name)
        condition(inner)
        variable = outer
        text += ").@count"
    }
}

/// Represents every element of a collection inside a value of any type.
struct QueryAll {}
