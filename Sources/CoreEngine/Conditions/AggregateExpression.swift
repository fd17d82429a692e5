/// `@min`, `@max`, `@sum` and `@avg` of the values that a key path reaches. Rules: query-language §8.
final class AggregateExpression: Expression {
    private let path: PathExpression
    private let kind: AggregateKind
    private let element: ValueType
    private let mark: String
    private let buffer = ValueBuffer()

    /// Whether the aggregate is over a property of linked objects; then all values form one group.
    private let flattens: Bool

    init(_ path: PathExpression, _ kind: AggregateKind, element: ValueType, flattens: Bool, text: String) {
        self.path = path
        self.kind = kind
        self.element = element
        self.flattens = flattens
        mark = text
        let type: ValueType
        switch kind {
        case .min, .max: type = element
        case .sum: type = element == .float ? .double : (flattens && element == .mixed ? .decimal : element)
        // Constants on the other side are converted to this type. For a collection it is the type of the elements,
        // although the average of integers is a double. For a property of linked objects it is the type of the average.
        case .average:
            type =
                element == .float || (flattens && element == .int)
                ? .double : (flattens && element == .mixed ? .decimal : element)
        }
        super.init(type, isList: !flattens && path.hasManyHops)
    }

    override var valueType: ValueType {
        switch (kind, element) {
        case (.average, .int), (.average, .float), (.average, .double), (.sum, .float): .double
        case (.average, _), (.sum, .mixed): .decimal
        default: element
        }
    }

    override func copied() -> Expression {
        AggregateExpression(path.ownPath(), kind, element: element, flattens: flattens, text: mark)
    }

    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }

    override func text(_ printer: QueryPrinter) -> String { printer.prefix + mark }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        try path.evaluateReached(table, key, buffer)
        if flattens {
            out.values.append(Aggregate.over(kind, element, buffer.values[...]))
        } else {
            var start = 0
            for end in buffer.ends {
                out.values.append(Aggregate.over(kind, element, buffer.values[start..<end]))
                start = end
            }
        }
        out.closeGroup()
    }
}
