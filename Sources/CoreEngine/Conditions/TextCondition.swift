/// A full-text search for rows that contain all words and none of the excluded ones. The index is searched once per
/// run. Rules: query-language §12.
final class TextCondition: Condition {
    private let path: PathExpression
    private let column: ColKey
    private let words: Bytes
    private let arena: ConstantArena
    private var hits: [ObjKey] = []
    private let buffer = ValueBuffer()

    init(_ path: PathExpression, _ column: ColKey, _ words: Bytes, _ arena: ConstantArena) {
        self.path = path
        self.column = column
        self.words = words
        self.arena = arena
    }

    override func copied() -> Condition { TextCondition(path.ownPath(), column, words, arena) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { path.reads(&found, way) }

    override func text(_ printer: QueryPrinter) -> String {
        "\(path.text(printer)) TEXT \(printer.constant(.string(words), .string))"
    }
    override var cost: Int { 2 }

    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        guard let table = try group.table(path.end) else { return }
        hits = try FullTextQuery(words).search(table, column)
    }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        if path.hops.isEmpty { return isHit(key) }
        var found = false
        try path.walk(0, table, key) { (k) throws(RealmError) in if !found, isHit(k) { found = true } }
        return found
    }

    private func isHit(_ key: ObjKey) -> Bool {
        var low = 0, high = hits.count
        while low < high {
            let mid = (low + high) / 2
            if hits[mid] < key { low = mid + 1 } else { high = mid }
        }
        return low < hits.count && hits[low] == key
    }

    override func lookup(_ table: Table) throws(RealmError) -> [ObjKey]? { path.hops.isEmpty ? hits : nil }

    override func indexUse(_ table: Table) throws(RealmError) -> IndexUse? {
        path.hops.isEmpty ? IndexUse(access: .words, column: column, candidates: hits.count) : nil
    }
}
