// Deleting many objects at once against deleting the same ones one by one in a second file with the same history: every
// value, the order of backlinks and of lists included, and the indexes must agree; both independent checkers accept
// both files.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Node",
        properties: [
            Property("id", .int, primary: true), Property("name", .string, nullable: true, indexed: true),
            Property("text", .string, fullText: true),
            Property("when", .date, nullable: true), Property("next", .object, nullable: true, target: "Node"),
            Property("friends", .object, collection: .list, target: "Node"),
            Property("circle", .object, collection: .set, target: "Node"),
            Property("any", .mixed, nullable: true, indexed: true),
            Property("tags", .string, nullable: true, collection: .list, indexed: true),
            Property("part", .object, nullable: true, target: "Part"),
            Property("parts", .object, collection: .list, target: "Part"),
            Property("numbers", .int, collection: .list), Property("price", .decimal),
            Property("code", .uuid, nullable: true),
            Property("from", .linkingObjects, collection: .list, target: "Node", origin: "next"),
            Property("fans", .linkingObjects, collection: .list, target: "Node", origin: "friends"),
        ]),
    ObjectSchema(
        "Part", kind: .embedded,
        properties: [
            Property("x", .int), Property("of", .object, nullable: true, target: "Node"),
            Property("child", .object, nullable: true, target: "Piece"),
        ]),
    ObjectSchema("Piece", kind: .embedded, properties: [Property("of", .object, nullable: true, target: "Node")]),
    ObjectSchema(
        "Other",
        properties: [
            Property("node", .object, nullable: true, target: "Node"),
            Property("any", .mixed, nullable: true, indexed: true),
            Property("n", .int, indexed: true),
            Property("by", .object, nullable: true, collection: .dictionary, target: "Node"),
        ]),
])

private func open(_ path: String) throws -> Realm {
    try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
}

private func fill(_ realm: Realm, seed: UInt64, count: Int) throws {
    var random = Seeded(seed)
    try realm.beginWrite()
    var nodes: [RealmObject] = []
    for i in 0..<count {
        nodes.append(try realm.create("Node", primaryKey: .int(Int64(i &* 2_654_435_761 & 0xFFFF_FFFF))))
    }
    func any() -> RealmObject { nodes[random.below(count)] }
    func link(_ o: RealmObject) -> RealmValue { .link(o.table, o.key) }
    func part(_ p: RealmObject) throws {
        try p.set("x", .int(Int64(random.below(100))))
        if random.below(3) == 0 { try p.set("of", to: any()) }
        if random.below(3) == 0 { try p.setEmbedded("child").set("of", to: any()) }
    }
    for (i, o) in nodes.enumerated() {
        if random.below(9) > 0 { try o.set("name", .string("City\(random.below(40))")) }
        try o.set("text", .string(["red fox", "blue whale", "red whale", ""][random.below(4)]))
        if random.below(2) == 0 {
            try o.set("when", .date(Timestamp(seconds: Int64(random.below(1 << 33)), nanoseconds: 7)))
        }
        if i > 0, random.below(5) > 0 { try o.set("next", to: random.below(2) == 0 ? nodes[i - 1] : any()) }
        for _ in 0..<random.below(4) {
            let friends = try o.list("friends")
            try friends.insert(link(any()), at: random.below(friends.count + 1))
        }
        for _ in 0..<random.below(3) { _ = try o.set("circle").insert(link(any())) }
        switch random.below(6) {
        case 0: try o.set("any", .int(Int64(random.below(9))))
        case 1: try o.set("any", .string("word \(random.below(9))"))
        case 2, 3: try o.set("any", to: any())
        case 4: try o.set("any", .list([link(any()), .int(1), .list([link(any())])]))
        default: break
        }
        for _ in 0..<random.below(3) {
            try o.list("tags").insert(random.below(4) == 0 ? .null : .string("tag\(random.below(5))"), at: 0)
        }
        if random.below(3) == 0 { try part(try o.setEmbedded("part")) }
        for _ in 0..<random.below(3) { try part(try o.list("parts").insertEmbedded(at: 0)) }
        for j in 0..<random.below(3) { try o.list("numbers").insert(.int(Int64(j)), at: 0) }
        if random.below(50) == 0 { try o.set("name", .string(String(repeating: "long", count: 5 + random.below(20)))) }
    }
    for i in 0..<count / 2 {
        let o = try realm.create("Other", ["n": .int(Int64(i % 7))])
        if random.below(3) > 0 { try o.set("node", to: any()) }
        if random.below(2) == 0 { try o.set("any", to: any()) }
        if random.below(4) == 0 { try o.dictionary("by").set(link(any()), for: "k") }
    }
    try realm.commitWrite()
}

private func expectSame(_ a: Realm, _ b: Realm, _ context: String) throws {
    for c: Name in ["Node", "Other", "Part", "Piece"] {
        let left = try a.objects(c), right = try b.objects(c)
        guard left.map(\.key) == right.map(\.key) else {
            Issue.record("\(context): other objects of \(c) are left")
            return
        }
        for (x, y) in zip(left, right) {
            for p in schema[c]!.properties {
                let v = try x.get(p.name), w = try y.get(p.name)
                guard v == w else {
                    Issue.record("\(context): \(c) \(x.key.raw).\(p.name) is \(v), one by one \(w)")
                    return
                }
            }
        }
        let t = try a.table(a.schema[c]!.key), u = try b.table(b.schema[c]!.key)
        for i in t.indexes.columns {
            let n = try t.index(of: i)?.entryCount(), m = try u.index(of: i)?.entryCount()
            #expect(n == m, "\(context): entries of index \(i) of \(c)")
        }
    }
}

@Test(arguments: 1...6) func deletingTogetherIsDeletingOneByOne(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let folder = try TemporaryFolder()
    let paths = [folder.file("together.realm"), folder.file("single.realm")]
    let realms = try paths.map(open)
    for r in realms { try fill(r, seed: UInt64(seed), count: 900) }
    let steps = [2, 10, 3, 2, 1]
    for (step, oneIn) in steps.enumerated() {
        let c: Name = step == 1 ? "Other" : (step == 2 ? "Part" : "Node")
        let key = realms[0].schema[c]!.key
        var keys = try realms[0].objects(c).map(\.key).filter { _ in random.below(oneIn) == 0 }
        if seed % 2 == 0 { keys.shuffle(using: &random) }
        for r in realms { try r.beginWrite() }
        try realms[0].delete(key, keys)
        for k in keys where realms[1].isValid(key, k) { try realms[1].delete(key, k) }
        try expectSame(realms[0], realms[1], "seed \(seed), step \(step), in the transaction")
        if step == 3 { for r in realms { try r.cancelWrite() } } else { for r in realms { try r.commitWrite() } }
        try expectSame(realms[0], realms[1], "seed \(seed), step \(step)")
        if step != steps.count - 2 { for p in paths { try checkFile(p) } }
    }
    for r in realms { r.close() }
}

/// So many that the indexes have inner nodes, and the table has, too.
@Test func aClassThatLostAllItsObjectsTogetherTakesNewOnes() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("emptied.realm")
    let types: [PropertyType] = [.int, .string, .date, .uuid, .objectId, .mixed]
    let indexed = types.map { Property(Name("\($0)"), $0, nullable: $0 == .mixed, indexed: true) }
    let more = [Property("text", .string, fullText: true), Property("tags", .string, collection: .list, indexed: true)]
    let schema = Schema([ObjectSchema("Entry", properties: [Property("id", .int, primary: true)] + indexed + more)])
    let realm = try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
    defer { realm.close() }
    let count = 1200
    func fill() throws {
        for i in 0..<count {
            // The first four bytes of each differ.
            let n = UInt64(i) << 32 | UInt64(i), word = String(i + 50_000, radix: 36)
            let o = try realm.create("Entry", primaryKey: .int(Int64(i)))
            try o.set("int", .int(Int64(i)))
            try o.set("string", .string(word))
            try o.set("date", .date(Timestamp(seconds: Int64(i), nanoseconds: 0)))
            try o.set("uuid", .uuid(UUIDValue(high: n, low: n)))
            try o.set("objectId", .objectId(ObjectId(high: n, low: 0)))
            try o.set("mixed", .int(Int64(i)))
            try o.set("text", .string("a \(word)"))
            try o.list("tags").insert(.string(word), at: 0)
        }
    }
    func expectEntries(_ expected: Int) throws {
        let table = try realm.table(realm.schema["Entry"]!.key)
        #expect(table.indexes.columns.count == 9)
        for i in table.indexes.columns {
            let entries = try #require(try table.index(of: i)).entryCount()
            // In that of the words each object stands under two, "a" and its own.
            #expect(entries == expected || entries == expected * 2, "index \(i)")
        }
    }
    for _ in 0..<2 {
        try realm.beginWrite()
        try fill()
        try realm.commitWrite()
        try expectEntries(count)
        try realm.beginWrite()
        try realm.delete(realm.schema["Entry"]!.key, try realm.objects("Entry").map(\.key))
        try realm.commitWrite()
        try expectEntries(0)
        try checkFile(path)
    }
    // In one transaction.
    try realm.beginWrite()
    for _ in 0..<2 {
        try fill()
        try realm.delete(realm.schema["Entry"]!.key, try realm.objects("Entry").map(\.key))
    }
    try fill()
    try realm.commitWrite()
    try expectEntries(count)
    try checkFile(path)
}
