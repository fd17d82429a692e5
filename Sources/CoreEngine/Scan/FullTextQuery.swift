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
            tokens = try Array(rest).withBytes { (b) throws(RealmError) in try FullTextTokenizer.sequence(b) }
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
        guard let index = try table.index(of: column.index) else { return [] }
        var result: Set<ObjKey>?
        func keep(_ keys: [ObjKey]) throws(RealmError) {
            try table.test()
            // A set allocates space for twice as many elements.
            try CMemory.expect(keys.count, each: 32)
            result = result.map { $0.intersection(keys) } ?? Set(keys)
        }
        for word in included { try keep(try word.withBytes { (b) throws(RealmError) in try index.findWord(b) }) }
        for prefix in prefixes { try keep(try prefix.withBytes { (b) throws(RealmError) in try index.findPrefix(b) }) }
        var all: Set<ObjKey>
        if let result {
            all = result
        } else {
            let keys = try table.allKeys()
            try CMemory.expect(keys.count, each: 32)
            all = Set(keys)
        }
        for word in excluded { all.subtract(try word.withBytes { (b) throws(RealmError) in try index.findWord(b) }) }
        return all.sorted()
    }
}
