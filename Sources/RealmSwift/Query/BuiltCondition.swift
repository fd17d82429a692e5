internal import CoreEngine
import Foundation

/// A condition on rows: the format of a predicate, or a condition in Swift.
protocol RowCondition {
    /// Returns the rows that match.
    func filtered(_ rows: _Rows) throws(EngineError) -> ResultSet
}

extension FormatString: RowCondition {}

/// A condition in Swift as the engine's syntax tree.
///
/// Promise
/// 1. It selects the rows that the text of the same query (`QueryNode.format`) selects, without writing or reading a
///    text.
/// 2. A value of the program is an argument of the engine: never read as a name, a number or an operator.
/// 3. A query without a meaning is misuse, as its text would be.
struct BuiltCondition: RowCondition {
    private let syntax: QuerySyntax

    init(_ node: QueryNode) {
        var builder = Builder()
        let condition = builder.condition(node)
        syntax = QuerySyntax(condition.syntax, depth: condition.depth, arena: builder.arena)
    }

    func filtered(_ rows: _Rows) throws(EngineError) -> ResultSet { try rows.found.filtered(syntax) }

    /// Returns the condition of a subset, as the file stores it.
    func stored(_ realm: EngineRealm, _ className: Name) throws(EngineError) -> String {
        try realm.subsetText(syntax, of: className)
    }
}

/// A part of the engine's tree, and the depth of its operators.
private struct Part<Syntax> {
    let syntax: Syntax
    let depth: Int

    init(_ syntax: Syntax, depth: Int) { (self.syntax, self.depth) = (syntax, depth) }
}

/// Translates one query. The methods mirror those of the printer in `QueryNode.swift`.
private struct Builder {
    let arena = ConstantArena()

    /// Inside a subquery: the collection, and the variable for its elements.
    private var variable: (path: [String], name: Name)?
    private var subqueries = 0

    /// The number of conditions around the current one.
    private var level = 0

    /// After so many levels the stack is compared with the depth again.
    private static let levelsOfCheck = 24

    mutating func condition(_ node: QueryNode) -> Part<PredicateSyntax> {
        level += 1
        defer { level -= 1 }
        if level % Self.levelsOfCheck == 0 {
            let next = level + Self.levelsOfCheck
            must { () throws(EngineError) in try QueryLimits.expect(depth: next) }
        }
        switch node {
        case .and: return chain(node.conjuncts, PredicateSyntax.and)
        case .or: return chain(node.alternatives, PredicateSyntax.or)
        case .not(let child):
            // A property alone cannot be negated, so it is compared with false.
            if child.isProperty { return property(child, is: .false) }
            let part = condition(child)
            return Part(.not(part.syntax), depth: part.depth + 1)
        case .comparison(let op, let folding, let left, let right): return comparison(op, folding, left, right)
        case .between(let value, let low, let high):
            let left = operand(value, quantifier(value))
            return Part(.between(left.syntax, [given(low), given(high)], nil), depth: left.depth + 1)
        case .path, .element: return property(node, is: .true)
        case .constant, .aggregate, .subquery: misuse("A value is no condition")
        }
    }

    private mutating func chain(_ nodes: [QueryNode], _ operation: ([PredicateSyntax]) -> PredicateSyntax)
        -> Part<PredicateSyntax>
    {
        var parts: [PredicateSyntax] = [], depth = 0
        for node in nodes {
            let part = condition(node)
            parts.append(part.syntax)
            depth = max(depth, part.depth)
        }
        return Part(operation(parts), depth: depth + 1)
    }

    /// A property that is a condition by itself.
    private mutating func property(_ node: QueryNode, is constant: ConstantSyntax) -> Part<PredicateSyntax> {
        Part(.compare(.equal, [], operand(node, quantifier(node)).syntax, .constant(constant, nil)), depth: 2)
    }

    private mutating func comparison(
        _ op: CompareOperator, _ folding: Folding, _ left: QueryNode, _ right: QueryNode
    ) -> Part<PredicateSyntax> {
        // It is undefined which elements of the two collections would be compared.
        if case .path(_, .some) = left, case .path(_, .some) = right {
            misuse("Comparing two collection columns is not permitted.")
        }
        // A constant on the left is searched for in the whole collection, so the comparison has no quantifier.
        let first = operand(left, quantifier(left))
        if case .constant(let value) = right { return compare(first, op, folding, value as Any) }
        let second = operand(right, nil)
        return Part(
            .compare(op, folding, first.syntax, second.syntax), depth: max(first.depth, second.depth) + 1)
    }

    private func quantifier(_ node: QueryNode) -> Quantifier? {
        switch node {
        case .path(let names, let many?):
            if let variable, names.prefix(many.upperBound).elementsEqual(variable.path) { return nil }
            return .any
        case .element(let of, let step) where step is QueryAll: return quantifier(of)
        default: return nil
        }
    }

    // MARK: Operands

    private mutating func operand(_ node: QueryNode, _ quantifier: Quantifier?) -> Part<ExpressionSyntax> {
        switch node {
        case .path, .element: return Part(.path(steps(node), quantifier, .value), depth: 1)
        case .aggregate(let kind, let of): return Part(aggregate(kind, of), depth: 1)
        case .constant(let value):
            if plain(value as Any) == nil, isComparedByParts(value as Any) {
                misuse("An unmanaged object can only be compared by == and !=")
            }
            return Part(.constant(given(value as Any), nil), depth: 1)
        case .subquery(let inner): return subquery(inner)
        case .comparison, .between, .and, .or, .not: misuse("A condition cannot be compared with a value")
        }
    }

    /// The steps of a property or an element.
    private func steps(_ node: QueryNode) -> [PathStep] {
        switch node {
        case .path(let names, _): return steps(names[...])
        case .element(let of, let step): return steps(of) + [inside(step)]
        default: misuse("A key path cannot begin with a computed value")
        }
    }

    private func steps(_ names: ArraySlice<String>) -> [PathStep] {
        guard let variable, names.starts(with: variable.path) else { return names.map(step) }
        // The variable already represents a value of the map.
        return [.name(variable.name)] + names.dropFirst(variable.path.count).drop { $0 == "@allValues" }.map(step)
    }

    private func step(_ name: String) -> PathStep {
        switch name {
        case "@allKeys": .keys
        case "@allValues": .values
        default: .name(Name(name))
        }
    }

    /// A step into a collection: a key, an index, or every element.
    private func inside(_ step: Any?) -> PathStep {
        switch step {
        case is QueryAll: .all
        case let index as Int: .index(index)
        case let key as String: .key(Array(key.utf8))
        default: misuse("A collection has indexes or keys, and no \(type(of: step))")
        }
    }

    private func aggregate(_ kind: QueryNode.Aggregate, _ of: QueryNode) -> ExpressionSyntax {
        var path = steps(of), property: Name?
        if case .path(let names, let many?) = of, many.upperBound < names.count {
            let behind = names[many.upperBound...]
            guard behind.count == 1, let name = behind.first, !name.hasPrefix("@") else {
                misuse("\(kind.word) cannot be computed of \(behind.joined(separator: ".")) behind a collection")
            }
            (path, property) = (steps(names[..<many.upperBound]), Name(name))
        }
        switch kind {
        case .count where property == nil: return .path(path, nil, .size)
        case .count: misuse("@count cannot be computed of a property behind a collection")
        case .of(let kind): return .aggregate(path, kind, property: property)
        }
    }

    private mutating func subquery(_ inner: QueryNode) -> Part<ExpressionSyntax> {
        guard let collection = inner.collection else {
            misuse("Subqueries must contain a keypath starting with a collection.")
        }
        subqueries += 1
        let outer = variable, name = Name("$col\(subqueries)")
        // If the inner subquery names the collection of the outer one again, it means that collection of the elements,
        // which have the same class.
        let path = collection == outer?.path ? collection.map(step) : steps(collection[...])
        variable = (collection, name)
        let part = condition(inner)
        variable = outer
        return Part(.subquery(path, variable: name, part.syntax), depth: part.depth + 1)
    }

    // MARK: Values

    private func given(_ value: Any) -> ConstantSyntax {
        guard let value = plain(value) ?? engineValue(of: value) else {
            misuse("A value of type \(type(of: value)) cannot be compared with what is stored")
        }
        return .given(must { () throws(EngineError) in try arena.argument(value) })
    }

    /// A value of one of the types that most conditions have. It is found without a search for conformances, which takes
    /// longer than everything else about a value.
    private func plain(_ value: Any) -> EngineValue? {
        switch value {
        case let number as Int: .int(Int64(number))
        case let text as String: .string(text)
        case let number as Double: .double(number)
        case let truth as Bool: .bool(truth)
        default: nil
        }
    }

    /// Whether a value has no counterpart in the engine and is compared by its properties or elements.
    private func isComparedByParts(_ value: Any) -> Bool {
        switch unwrapped(value) {
        case let object as EmbeddedObject: !object.isManaged
        case let whole as AnyRealmValue: whole.listValue != nil || whole.dictionaryValue != nil
        case let custom as any _CustomPersistable: custom.persistableValue is EmbeddedObject
        default: false
        }
    }

    /// Compares with a value of the program.
    private func compare(
        _ left: Part<ExpressionSyntax>, _ op: CompareOperator, _ folding: Folding, _ value: Any
    ) -> Part<PredicateSyntax> {
        let isPlain = plain(value) != nil
        if !isPlain, let shape = value as? any _Geospatial {
            return Part(.geoWithin(left.syntax, shape.syntax), depth: left.depth)
        }
        guard !isPlain, isComparedByParts(value) else {
            return Part(.compare(op, folding, left.syntax, .constant(given(value), nil)), depth: left.depth + 1)
        }
        guard op == .equal || op == .notEqual, folding.isEmpty,
            case .path(let path, let quantifier, .value) = left.syntax
        else { misuse("An unmanaged object can only be compared by == and !=") }
        let isEqual = op == .equal
        switch unwrapped(value) {
        case let whole as AnyRealmValue:
            guard quantifier == nil else { misuse("Elements of a collection cannot be compared with lists and maps") }
            return elementwise(path, whole).negated(!isEqual)
        case let custom as any _CustomPersistable:
            guard let object = custom.persistableValue as? EmbeddedObject else { break }
            guard quantifier != nil else { return memberwise(path, object).negated(!isEqual) }
            let member = Name("$member"), part = memberwise([.name(member)], object).negated(!isEqual)
            return Part(
                .compare(
                    .greater, [], .subquery(path, variable: member, part.syntax), .constant(.number("0"), nil)),
                depth: part.depth + 2)
        default: break
        }
        // An unmanaged object is never equal to an object of the Realm.
        return Part(.constant(!isEqual), depth: 1)
    }

    /// Compares with an unmanaged embedded object property by property. Custom types of the program are stored as such
    /// objects.
    private func memberwise(_ path: [PathStep], _ object: EmbeddedObject) -> Part<PredicateSyntax> {
        var parts: [PredicateSyntax] = [], depth = 1
        for property in object.info.properties where !property.shape.isComputed {
            guard property.shape.collection == .none, property.shape.type != .object else {
                misuse(object.info.noMemberwiseEquality(of: property))
            }
            let part = compare(
                Part(.path(path + [.name(Name(property.name))], nil, .value), depth: 1), .equal, [],
                property.access.any(object, property) as Any)
            parts.append(part.syntax)
            depth = max(depth, part.depth)
        }
        return Part(parts.isEmpty ? .constant(true) : .and(parts), depth: depth + 1)
    }

    /// Compares with a list or map in a value of any type: the number of its elements, and each element.
    private func elementwise(_ path: [PathStep], _ value: AnyRealmValue) -> Part<PredicateSyntax> {
        switch value {
        case .list(let elements):
            var parts = [isKind(path, "list"), hasCount(path, elements.count)], depth = 2
            for (index, element) in elements.enumerated() {
                let part = elementwise(path + [.index(index)], element)
                parts.append(part.syntax)
                depth = max(depth, part.depth)
            }
            return Part(.and(parts), depth: depth + 1)
        case .dictionary(let map):
            var parts = [isKind(path, "dictionary"), hasCount(path, map.count)], depth = 2
            for (key, element) in map.asKeyValueSequence() {
                // A missing key would be equal to a key with the value null, so the existence of the key is tested
                // first.
                parts.append(.compare(.equal, [], .path(path + [.keys], nil, .value), .constant(given(key), nil)))
                let part = elementwise(path + [.key(Array(key.utf8))], element)
                parts.append(part.syntax)
                depth = max(depth, part.depth)
            }
            return Part(.and(parts), depth: depth + 1)
        default: return compare(Part(.path(path, nil, .value), depth: 1), .equal, [], value)
        }
    }

    private func isKind(_ path: [PathStep], _ kind: String) -> PredicateSyntax {
        .compare(.equal, [], .path(path, nil, .type), .constant(.string(Array(kind.utf8)), nil))
    }

    private func hasCount(_ path: [PathStep], _ count: Int) -> PredicateSyntax {
        .compare(.equal, [], .path(path, nil, .size), .constant(given(count), nil))
    }
}

extension Part<PredicateSyntax> {
    fileprivate func negated(_ isNegated: Bool) -> Part {
        isNegated ? Part(.not(syntax), depth: depth + 1) : self
    }
}

extension QueryNode {
    /// The operands of `a && b && c`, however many there are.
    fileprivate var conjuncts: [QueryNode] {
        var operands: [QueryNode] = [], first = self
        while case .and(let left, let right) = first {
            operands.append(right)
            first = left
        }
        return [first] + operands.reversed()
    }

    /// The operands of `a || b || c`, however many there are.
    fileprivate var alternatives: [QueryNode] {
        var operands: [QueryNode] = [], first = self
        while case .or(let left, let right) = first {
            operands.append(right)
            first = left
        }
        return [first] + operands.reversed()
    }
}
