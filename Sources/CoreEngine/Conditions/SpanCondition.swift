/// `BETWEEN` on a property reached through a list, with the meaning of Realm's Swift API: one element must lie within
/// both bounds. In the query language, different elements may meet the two bounds.
final class SpanCondition: Condition {
    private let path: PathExpression
    private let low: ConstantExpression, high: ConstantExpression
    private let found = ValueBuffer()

    init(_ path: PathExpression, _ low: ConstantExpression, _ high: ConstantExpression) {
        self.path = path
        self.low = low
        self.high = high
    }

    override func copied() -> Condition { SpanCondition(path.ownPath(), low, high) }

    override func prepare(_ group: Group) throws(RealmError) { try path.prepare(group) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }
    override var cost: Int { 100 }

    override func text(_ printer: QueryPrinter) -> String {
        "\(path.text(printer)) between {\(low.text(printer)), \(high.text(printer))}"
    }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        guard let least = low.values.first, let most = high.values.first else { return false }
        found.reset()
        try path.evaluate(table, key, found)
        return found.values.contains {
            Comparison.holds(.greaterEqual, $0, least) && Comparison.holds(.lessEqual, $0, most)
        }
    }
}
