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

/// The words of a search text.
struct FullTextQuery {
    private var included: [[UInt8]] = [], prefixes: [[UInt8]] = [], excluded: [[UInt8]] = []
    private var isEmpty = true

    /// Set by a prefix without any letter, which matches no row.
    private var isImpossible = false

    init(_ text: Bytes) throws(RealmError) {
        for word in text.split(whereSeparator: { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }) {
            isEmpty = false
            var rest = word
            let isExcluded = rest.first == UInt8(ascii: "-")
            if isExcluded { rest = rest.dropFirst() }
            var isPrefix = false
            if rest.last == UInt8(ascii: "*") {
                rest = rest.dropLast()
                isPrefix = !isExcluded
            }
            var tokens: [[UInt8]] = []
            tokens = try Array(rest).withBytes { (b) throws(RealmError) in try Table.words(of: b) }
            guard tokens.count <= 1 else {
                throw RealmError(
                    .invalidArgument, "A search word holds a separator: '\(String(decoding: word, as: UTF8.self))'")
            }
            // A word that consists of separators gives the empty token, which only texts of separators have.
            let token = tokens.first ?? []
            if isPrefix && token.isEmpty { isImpossible = true }
            if isExcluded {
                excluded.append(token)
            } else if isPrefix {
                prefixes.append(token)
            } else {
                included.append(token)
            }
        }
        if isEmpty { throw RealmError(.invalidArgument, "Missing search token") }
        for word in excluded where included.contains(word) || prefixes.contains(word) {
            throw RealmError(.invalidArgument, "You can't include and exclude the same token")
        }
    }

    /// The objects that match, in the order of their keys.
    func search(_ table: Table, _ column: ColKey) throws(RealmError) -> [ObjKey] {
        if isImpossible { return [] }
        guard table.indexes.has(column.index) else { return [] }
        var result: Set<ObjKey>?
        func keep(_ keys: [ObjKey]) throws(RealmError) {
            try table.test()
            // A set allocates space for twice as many elements.
            try CMemory.expect(keys.count, each: 32)
            result = result.map { $0.intersection(keys) } ?? Set(keys)
        }
        for word in included { try keep(try word.withBytes { (b) throws(RealmError) in try table.objects(withWord: b, in: column) }) }
        for prefix in prefixes { try keep(try prefix.withBytes { (b) throws(RealmError) in try table.objects(withPrefix: b, in: column) }) }
        var all: Set<ObjKey>
        if let result {
            all = result
        } else {
            let keys = try table.allKeys()
            try CMemory.expect(keys.count, each: 32)
            all = Set(keys)
        }
        for word in excluded { all.subtract(try word.withBytes { (b) throws(RealmError) in try table.objects(withWord: b, in: column) }) }
        return all.sorted()
    }
}
