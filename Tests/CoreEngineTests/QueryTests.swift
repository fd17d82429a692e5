// The query language from text to rows: tokens, the tree, conditions in every way they can answer, and the text they
// are printed as.
import Testing

@testable import CoreEngine

// MARK: Texts

/// What tokens are made of, and what is none.
private let pieces = [
    "age", "name", "_x1", "a\\ b", "é", "==", "!=", "<=", ">", "AND", "or", "NOT", "!", "&&", "||", "(", ")", "{", "}",
    "[c]", "[0]", "[FIRST]",
    ",", ".", "@count", "@sum", "ANY", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "BETWEEN", "IN", "CONTAINS", "LIKE",
    "'text'", "\"a \\\" b\"",
    "12", "-3", "0x1F", "1.5e3", ".5f", "nan", "-inf", "null", "$0", "$K1", "%@",
    "uuid(00000000-0000-0000-0000-000000000001)",
    "oid(000000000000000000000001)", "2020-01-01@10:00:00", "T12:5", "B64\"AAEC\"", "O7", "L3:7", "SUBQUERY", "SORT",
    "DISTINCT", "LIMIT", "ASC",
    "binary('x')", "obj('A', 1)", "geoBox", " ", "\t", "#", "'open", "\u{0}", "😀",
]

@Test(arguments: 1...40) func tokensCoverTheTextInOrder(seed: Int) throws {
    var random = Seeded(UInt64(seed)), refused = 0
    for _ in 0..<50 {
        let text = (0..<1 + random.below(12)).map { _ in
            pieces[random.below(pieces.count)] + (random.below(3) == 0 ? "" : " ")
        }.joined()
        do {
            let (tokens, bytes) = try Lexer.tokens(of: text)
            var end = 0
            for t in tokens {
                #expect(t.start >= end && t.end >= t.start && (t.kind == .end) == (t.start == t.end), "\(text)")
                #expect(bytes[end..<t.start].allSatisfy { $0 == 0x20 || $0 == 0x09 }, "\(text)")
                end = t.end
            }
            #expect(tokens.last?.kind == .end && end == bytes.count, "\(text)")
            // The same tokens stand there with blanks between them.
            let spaced = tokens.map { String(decoding: bytes[$0.start..<$0.end], as: UTF8.self) }.joined(
                separator: "  ")
            #expect(try Lexer.tokens(of: spaced).tokens.map(\.kind) == tokens.map(\.kind), "\(text)")
        } catch {
            #expect(error.code == .invalidQueryString, "\(text)")
            refused += 1
        }
        // Whatever it says, the parser has an answer.
        do { _ = try QueryParser.parse(text) } catch { #expect(error.code == .invalidQueryString, "\(text)") }
    }
    #expect(refused < 50)
}

/// A random formula, and its value.
private func formula(_ random: inout Seeded, _ depth: Int) -> (text: String, value: Bool, level: Int) {
    // Levels as the language binds: 3 NOT and what stands alone, 2 AND, 1 OR.
    func operand(_ least: Int) -> (text: String, value: Bool) {
        let f = formula(&random, depth - 1)
        return (f.level < least || random.below(5) == 0 ? "(\(f.text))" : f.text, f.value)
    }
    switch depth == 0 ? 0 : random.below(4) {
    case 1:
        let a = operand(3)
        return ((random.below(2) == 0 ? "NOT " : "!") + a.text, !a.value, 3)
    case 2:
        let a = operand(2), b = operand(2)
        return (a.text + [" AND ", " && ", " and "][random.below(3)] + b.text, a.value && b.value, 2)
    case 3:
        let a = operand(1), b = operand(1)
        return (a.text + [" OR ", " || "][random.below(2)] + b.text, a.value || b.value, 1)
    default:
        let value = random.below(2) == 0
        return (value ? "TRUEPREDICATE" : "FALSEPREDICATE", value, 3)
    }
}

private func value(_ p: PredicateSyntax) -> Bool? {
    switch p {
    case .constant(let b): return b
    case .not(let p): return value(p).map { !$0 }
    case .and(let parts): return parts.reduce(true) { (all: Bool?, p) in all.flatMap { a in value(p).map { a && $0 } } }
    case .or(let parts): return parts.reduce(false) { (any: Bool?, p) in any.flatMap { a in value(p).map { a || $0 } } }
    default: return nil
    }
}

@Test(arguments: 1...20) func operatorsBindAsTheLanguageSays(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    for _ in 0..<60 {
        let f = formula(&random, 5)
        #expect(value(try QueryParser.parse(f.text).predicate) == f.value, "\(f.text)")
    }
}

// MARK: Conditions

private struct Row {
    var id: Int64
    var n: Int64?
    var d: Double
    var s: String?

    /// Indexed.
    var t: String
    var flag: Bool
    var nums: [Int64]
    var friend: Int?
}

private let words = [
    "", "a", "ab", "abc", "Abc", "xabc", "bcd",
    "a much longer text than the others, so that leaves of all forms are met", "é",
]

/// A class with rows in several clusters, with holes, and the same rows in memory.
private struct World {
    let folder: TemporaryFolder
    let realm: Realm
    let group: Group
    let table: Table
    var rows: [ObjKey: Row] = [:]

    init(_ random: inout Seeded) throws {
        folder = try TemporaryFolder()
        let schema = Schema([
            ObjectSchema(
                "Thing",
                properties: [
                    Property("id", .int, primary: true), Property("n", .int, nullable: true), Property("d", .double),
                    Property("s", .string, nullable: true), Property("t", .string, indexed: true),
                    Property("flag", .bool), Property("nums", .int, collection: .list),
                    Property("friend", .object, nullable: true, target: "Thing"),
                ])
        ])
        realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
        let r = realm
        var made: [(object: RealmObject, row: Row)] = []
        try realm.write {
            for i in 0..<700 {
                var row = Row(
                    id: Int64(i) &* 7 - 100, n: nil, d: Double(random.below(40)) / 4, s: nil, t: words[random.below(5)],
                    flag: random.below(2) == 0,
                    nums: [], friend: nil)
                if random.below(5) > 0 { row.n = Int64(random.below(20)) - 10 &+ (random.below(50) == 0 ? 1 << 40 : 0) }
                // The first clusters hold short texts only.
                if random.below(4) > 0 { row.s = words[random.below(i < 300 ? 6 : words.count)] }
                row.nums = (0..<random.below(4)).map { _ in Int64(random.below(6)) }
                let o = try r.create(
                    "Thing", primaryKey: .int(row.id),
                    [
                        "n": row.n.map { .int($0) } ?? .null, "d": .double(row.d),
                        "s": row.s.map { .string($0) } ?? .null, "t": .string(row.t),
                        "flag": .bool(row.flag),
                    ])
                for v in row.nums { try o.list("nums").append(.int(v)) }
                if random.below(3) > 0, !made.isEmpty {
                    row.friend = random.below(made.count)
                    try o.set("friend", to: made[row.friend ?? 0].object)
                }
                made.append((o, row))
            }
        }
        // Some go, and leave holes and links to nothing.
        let leaving = Set((0..<120).map { _ in random.below(700) })
        try realm.write { for i in leaving { try made[i].object.delete() } }
        for (i, m) in made.enumerated() where !leaving.contains(i) {
            var row = m.row
            if let f = row.friend, leaving.contains(f) { row.friend = nil }
            rows[m.object.key] = row
        }
        all = made.map(\.row)
        group = try realm.reading().group
        let t = try group.table(named: "class_Thing")
        table = try #require(t)
    }

    /// By number, the deleted ones too: what links name.
    private let all: [Row]

    func friend(_ r: Row) -> Row? { r.friend.map { all[$0] } }
}

/// A random query, and which rows it means.
private func query(_ random: inout Seeded, _ depth: Int, _ world: World) -> (text: String, holds: (Row) -> Bool) {
    if depth > 0, random.below(3) > 0 {
        let a = query(&random, depth - 1, world)
        if random.below(4) == 0 { return ("NOT (\(a.text))", { !a.holds($0) }) }
        let b = query(&random, depth - 1, world), isAnd = random.below(2) == 0
        return (
            "(\(a.text)) \(isAnd ? "AND" : "OR") (\(b.text))",
            isAnd ? { a.holds($0) && b.holds($0) } : { a.holds($0) || b.holds($0) }
        )
    }
    func order<V: Comparable>(_ path: String, _ constant: String, _ v: V, _ of: @escaping (Row) -> V?) -> (
        String, (Row) -> Bool
    ) {
        switch random.below(6) {
        case 0: ("\(path) == \(constant)", { of($0) == v })
        case 1: ("\(path) != \(constant)", { of($0) != v })
        case 2: ("\(path) < \(constant)", { of($0).map { $0 < v } ?? false })
        case 3: ("\(path) <= \(constant)", { of($0).map { $0 <= v } ?? false })
        case 4: ("\(path) > \(constant)", { of($0).map { $0 > v } ?? false })
        default: ("\(path) >= \(constant)", { of($0).map { $0 >= v } ?? false })
        }
    }
    let n = Int64(random.below(24)) - 12, word = words[random.below(words.count)]
    switch random.below(16) {
    case 0, 1: return order("n", "\(n)", n) { $0.n }
    case 2:
        let d = Double(random.below(40)) / 4
        return order("d", "\(d)", d) { $0.d }
    case 3: return order("id", "\(n * 7 - 100)", n * 7 - 100) { $0.id }
    case 4: return random.below(2) == 0 ? ("s == '\(word)'", { $0.s == word }) : ("s != '\(word)'", { $0.s != word })
    case 5: return ("s BEGINSWITH '\(word)'", { $0.s?.hasPrefix(word) ?? false })
    case 6: return ("s CONTAINS '\(word)'", { r in r.s.map { contains($0, word) } ?? false })
    case 7:
        let part = ["a", "AB", "bC", "x"][random.below(4)]
        return ("s CONTAINS[c] '\(part)'", { r in r.s.map { contains($0.lowercased(), part.lowercased()) } ?? false })
    case 8:
        return random.below(2) == 0
            ? ("t == '\(word)'", { $0.t == word }) : ("t IN {'\(word)', 'ab'}", { $0.t == word || $0.t == "ab" })
    case 9: return ("flag == \(n > 0)", { $0.flag == (n > 0) })
    case 10:
        if random.below(2) == 0 { return ("n == NULL", { (r: Row) in r.n == nil }) }
        return ("s == NULL", { (r: Row) in r.s == nil })
    case 11: return ("n IN {\(n), 3, \(n + 2)}", { $0.n == n || $0.n == 3 || $0.n == n + 2 })
    case 12: return ("n BETWEEN {\(n), \(n + 5)}", { r in r.n.map { $0 >= n && $0 <= n + 5 } ?? false })
    case 13:
        let c = n.magnitude % 6
        if random.below(2) == 0 { return ("ANY nums > \(c)", { $0.nums.contains { $0 > c } }) }
        return ("ALL nums == \(c)", { $0.nums.allSatisfy { $0 == c } })
    case 14: return ("nums.@count >= \(n.magnitude % 4)", { $0.nums.count >= n.magnitude % 4 })
    default:
        if random.below(3) == 0 { return ("friend == NULL", { (r: Row) in r.friend == nil }) }
        return ("friend.n > \(n)", { r in (world.friend(r)?.n).map { $0 > n } ?? false })
    }
}

private func contains(_ text: String, _ part: String) -> Bool {
    let text = Array(text.utf8), part = Array(part.utf8)
    return part.isEmpty
        || (0..<max(0, text.count - part.count + 1)).contains { text[$0..<$0 + part.count].elementsEqual(part) }
}

/// The condition, and those it is made of.
private func parts(_ c: Condition) -> [Condition] {
    switch c {
    case let c as AndCondition: [c] + c.parts.flatMap(parts)
    case let c as OrCondition: [c] + c.parts.flatMap(parts)
    case let c as NotCondition: [c] + parts(c.part)
    default: [c]
    }
}

@Test(arguments: 1...6) func conditionsAnswerAlikeInEveryWay(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let world = try World(&random), table = world.table
    let keys = world.rows.keys.sorted()
    var byIndex = 0, byTally = 0, foundSome = 0
    for _ in 0..<25 {
        let q = query(&random, 3, world)
        let bound = try BoundQuery.parse(q.text, world.group, table.key, QueryNames(), [])
        let expected = keys.filter { world.rows[$0].map(q.holds) ?? false }
        #expect(try bound.run(world.group) == expected, "\(q.text)")
        #expect(try bound.count(world.group) == expected.count, "\(q.text)")
        let backwards: [ObjKey] = try bound.run(world.group, source: keys.reversed())
        #expect(backwards.reversed() as [ObjKey] == expected, "\(q.text)")
        if !expected.isEmpty && expected.count < keys.count { foundSome += 1 }
        for c in parts(bound.condition) {
            let what = "\(QueryPrinter(world.group).captured { c.write($0) }) in \(q.text)"
            let matching = try keys.filter { try c.matches(table, $0) }
            var narrowed: [ObjKey] = []
            let scan = ClusterScan(table)
            try scan.run(c) { (mask) throws(RealmError) in
                for row in 0..<scan.count where mask[row] != 0 { narrowed.append(scan.key(row)) }
                return true
            }
            #expect(narrowed == matching, "\(what)")
            if let found = try c.lookup(table) {
                #expect(found == matching, "\(what)")
                byIndex += 1
            }
            if let n = try c.lookupCount(table) { #expect(n == matching.count, "\(what)") }
            let counting = ClusterScan(table), mask = counting.scratch()
            if let n = try c.tally(counting, limit: .max) {
                #expect(n == matching.count, "\(what)")
                for limit in [0, 1, matching.count / 2, matching.count] {
                    let some = try c.tally(ClusterScan(table), limit: limit) ?? -1
                    #expect(
                        some >= min(limit, matching.count) && some <= matching.count,
                        "\(what), at least \(limit) of \(matching.count): \(some)")
                }
                byTally += 1
            } else {
                let marked = try counting.sum(until: .max) { () throws(RealmError) in
                    mask.fill(counting.count)
                    try c.narrow(counting, mask)
                    return mask.count(counting.count)
                }
                #expect(marked == matching.count, "\(what)")
            }
            // A mask that has rows out keeps them out.
            let again = ClusterScan(table), half = again.scratch()
            var inHalf: [ObjKey] = []
            while try again.advance() {
                half.fill(again.count)
                for row in stride(from: 0, to: again.count, by: 2) { half[row] = 0 }
                try c.narrow(again, half)
                for row in 0..<again.count where half[row] != 0 {
                    #expect(row % 2 == 1, "\(what)")
                    inHalf.append(again.key(row))
                }
            }
            #expect(inHalf == matching.filter(Set(inHalf).contains), "\(what)")
        }
    }
    #expect(byIndex > 0 && byTally > 0 && foundSome > 5)
    world.realm.close()
}

@Test(arguments: 1...6) func printedQueriesFindTheSameRows(seed: Int) throws {
    var random = Seeded(UInt64(seed) &+ 100)
    let world = try World(&random)
    for _ in 0..<40 {
        let q = query(&random, 4, world)
        let bound = try BoundQuery.parse(q.text, world.group, world.table.key, QueryNames(), [])
        let printed = bound.text(world.group)
        let again = try BoundQuery.parse(printed, world.group, world.table.key, QueryNames(), [])
        #expect(try again.run(world.group) == bound.run(world.group), "\(q.text)\nis printed as\n\(printed)")
    }
    world.realm.close()
}

/// Keys of a class with a primary key follow each other; without one they stand in groups of 256, far apart.
@Test func linksAreFollowedInBulkWhateverTheKeys() throws {
    let folder = try TemporaryFolder()
    let own = [Property("n", .int), Property("next", .object, nullable: true, target: "Plain")]
    let keyed = [
        Property("id", .int, primary: true), Property("n", .int),
        Property("next", .object, nullable: true, target: "Keyed"),
    ]
    let schema = Schema([ObjectSchema("Plain", properties: own), ObjectSchema("Keyed", properties: keyed)])
    let realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
    defer { realm.close() }
    for c: Name in ["Plain", "Keyed"] {
        try realm.beginWrite()
        var last: RealmObject?
        for i in 0..<2000 {
            let o =
                try c == "Plain"
                ? realm.create(c, ["n": .int(Int64(i))])
                : realm.create(c, primaryKey: .int(Int64(i)), ["n": .int(Int64(i))])
            if let last { try o.set("next", to: last) }
            last = o
        }
        try realm.commitWrite()
        let table = try realm.table(realm.schema[c]!.key), group = table.group
        let condition = try BoundQuery.parse("n > 5", group, table.key, QueryNames(), []).condition
        try condition.prepare(group)
        #expect(try LinkReach(condition, on: table, rows: 2000, null: false) != nil, "\(c)")
        let query = try BoundQuery.parse("next.n > 5", group, table.key, QueryNames(), [])
        #expect(try query.count(group) == 1993, "\(c)")
        #expect(
            try BoundQuery.parse("next.n == null", group, table.key, QueryNames(), []).run(group) == [
                try table.rows.key(at: 0)
            ], "\(c)")
    }
}

// MARK: Long texts

/// Bytes of few letters, often periodic: what searches stumble over.
private func repetitive(_ random: inout Seeded, _ count: Int) -> [UInt8] {
    let letters = Array(["ab", "aAbB", "aàÀb", "xÃ"][random.below(4)].utf8)
    var unit: [UInt8] = []
    for _ in 0..<1 + random.below(12) { unit.append(letters[random.below(letters.count)]) }
    var all: [UInt8] = []
    while all.count < count { all += random.below(20) == 0 ? [letters[random.below(letters.count)]] : unit }
    return Array(all.prefix(count))
}

@Test(arguments: 1...30) func longPatternsAreFoundWhereTheyStand(seed: Int) throws {
    var random = Seeded(UInt64(seed)), found = 0
    for _ in 0..<60 {
        var text = repetitive(&random, 40 + random.below(400))
        var pattern = repetitive(&random, LongSearch.shortest + random.below(60))
        if random.below(2) == 0, pattern.count < text.count {
            // It stands there, with other cases.
            let at = random.below(text.count - pattern.count)
            pattern = CaseMap.mapped(Array(text[at..<at + pattern.count]), upper: random.below(2) == 0)
        }
        text = text.filter { $0 != 0x3F }
        for folds in [false, true] where !folds || withBytes(pattern, { isUTF8($0) }) {
            let one = try withBytes(pattern) { try Pattern(.beginsWith, $0, folding: folds ? .cases : []) }
            let places = text.indices.filter { at in
                withBytes(Array(text[at...])) { b in b.count >= pattern.count && one.matches(b, at: 0) }
            }
            var work = ByteWork()
            let search = LongSearch(pattern, folds: folds)
            let first = try withBytes(text) { try search.find(in: $0, from: 0, &work) }
            #expect(first == places.first, "seed \(seed), \(pattern) in \(text)")
            if let first {
                found += 1
                #expect(
                    try withBytes(text) { try search.find(in: $0, from: first + 1, &work) } == places.dropFirst().first,
                    "seed \(seed)")
            }
        }
    }
    #expect(found > 5)
}

/// `LIKE` as it is defined, tried in every way.
private func isLike(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == 0x2A {
        return text.indices.contains { isLike(text[$0...], pattern.dropFirst()) } || isLike([], pattern.dropFirst())
    }
    guard let c = text.first, first == 0x3F || first == c else { return false }
    return isLike(text.dropFirst(), pattern.dropFirst())
}

@Test(arguments: 1...20) func longPatternsAreLikeWhatTheySay(seed: Int) throws {
    var random = Seeded(UInt64(seed)), hits = 0
    for _ in 0..<40 {
        let text = repetitive(&random, 120 + random.below(100)).map { $0 < 0x80 ? $0 : 0x61 }
        var pattern: [UInt8] = []
        // Runs of the text in their order, some of them long, some with a wrong letter.
        var at = 0
        for _ in 0..<1 + random.below(3) where at < text.count {
            let end = min(text.count, at + 1 + random.below(60))
            pattern += Array(text[at..<end])
            if random.below(6) == 0 { pattern[pattern.count - 1] = 0x7A }
            if random.below(3) == 0 { pattern[pattern.count - 1] = 0x3F }
            at = end + random.below(20)
            if random.below(5) != 0 { pattern.append(0x2A) }
        }
        let isHit = isLike(text[...], pattern[...])
        hits += isHit ? 1 : 0
        var work = ByteWork()
        let one = try withBytes(pattern) { try Pattern(.like, $0, folding: []) }
        #expect(try withBytes(text) { try one.matches($0, &work) } == isHit, "seed \(seed): \(pattern) in \(text)")
    }
    #expect(hits > 2)
}

@Test func searchesOfHostileTextsAreLinear() throws {
    let text = [UInt8](repeating: 0x61, count: 50_000), run = [UInt8](repeating: 0x61, count: 5000)
    let patterns: [(CompareOperator, [UInt8])] = [
        (.contains, run + [0x62]), (.contains, [0x62] + run), (.contains, run + [0x62] + run),
        (.like, [0x2A] + run + [0x62, 0x2A]),
        (.like, [0x2A] + run + [0x62]), (.like, [0x2A] + run + [0x2A] + run + [0x62, 0x2A]),
        (.like, [0x2A, 0x62, 0x2A] + run),
    ]
    for (op, pattern) in patterns {
        for folding: Folding in [[], .cases] {
            let one = try withBytes(pattern) { try Pattern(op, $0, folding: folding) }
            var work = ByteWork()
            #expect(try !withBytes(text) { try one.matches($0, &work) })
            #expect(work.total < 4 * (text.count + pattern.count), "\(op), \(pattern.count) bytes")
        }
    }
}
