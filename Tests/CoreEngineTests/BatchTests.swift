// Batches of objects against the same objects made by single calls in a second file: every value, all keys and the
// index entries agree, and both independent checkers accept both files. And arrays that break the rules of the
// interface.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Item",
        properties: [
            Property("id", .int, primary: true), Property("n", .int, indexed: true),
            Property("m", .int, nullable: true), Property("flag", .bool),
            Property("d", .double, nullable: true), Property("f", .float),
            Property("name_", .string, nullable: true, indexed: true, publicName: "name"),
            Property("text", .string, fullText: true), Property("data", .data, nullable: true),
            Property("when", .date, nullable: true),
            Property("oid", .objectId), Property("uuid", .uuid, nullable: true, indexed: true),
            Property("price", .decimal),
            Property("any", .mixed, nullable: true, indexed: true),
            Property("next", .object, nullable: true, target: "Item"),
            Property("place", .object, nullable: true, target: "Place"), Property("numbers", .int, collection: .list),
            Property("tags", .string, nullable: true, collection: .list, indexed: true),
            Property("words", .string, collection: .set),
            Property("friends", .object, collection: .list, target: "Item"),
            Property("map", .int, nullable: true, collection: .dictionary),
            Property("part", .object, nullable: true, target: "Part"),
            Property("parts", .object, collection: .list, target: "Part"),
        ]),
    ObjectSchema("Place", properties: [Property("code", .string, primary: true), Property("x", .int)]),
    ObjectSchema(
        "Part", kind: .embedded,
        properties: [
            Property("x", .int), Property("label", .string, nullable: true),
            Property("at", .object, nullable: true, target: "Place"),
        ]),
    ObjectSchema(
        "Plain",
        properties: [
            Property("a", .int), Property("b", .string, indexed: true),
            Property("to", .object, nullable: true, target: "Item"),
        ]),
])

private func open(_ path: String) throws -> Realm {
    try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
}

/// A column of random values: how single calls take them, and how an array has them.
private struct RandomColumn {
    let property: Name
    let layout: Layout
    var cells: [Cell] = []
    var isLink = false
}

private struct Values {
    var random: Seeded
    let ids: [Int64]

    mutating func layout(_ p: Property) -> Layout {
        switch p.name.text {
        case "part": return .structure(parts)
        case "parts": return .list(.structure(parts))
        case "map": return .map(.integer("i"))
        case "numbers": return random.below(2) == 0 ? .list(.integer("l")) : .listWide(.integer("s"))
        case "tags", "words": return .list(random.below(2) == 0 ? .text : .textNumbered)
        case "friends": return .list(.integer("L"))
        case "next", "to": return .integer("l")
        case "place": return .textWide
        default: break
        }
        switch p.type {
        case .int: return .integer(["c", "s", "i", "l"][random.below(4)])
        case .bool: return .bool
        case .double: return .double
        case .float: return .float
        case .string, .mixed: return [.text, .textWide, .textView, .textNumbered][random.below(4)]
        case .data: return random.below(2) == 0 ? .binary : .binaryWide
        case .date: return .timestamp(["s", "m", "u", "n"][random.below(4)])
        case .objectId: return .fixed(12)
        default: return .fixed(16)
        }
    }

    private let parts: [(name: String, layout: Layout)] = [("x", .integer("i")), ("label", .text), ("at", .text)]

    init(seed: UInt64, ids: [Int64]) {
        random = Seeded(seed)
        self.ids = ids
    }

    mutating func text() -> String {
        random.below(9) == 0 ? String(repeating: "größer ", count: random.below(14)) : "City\(random.below(30))"
    }

    private mutating func part() -> Cell {
        .structure([
            .value(.int(Int64(random.below(100)))), random.below(2) == 0 ? .null : .value(.string(text())),
            random.below(3) == 0 ? .value(.string("p\(random.below(5))")) : .null,
        ])
    }

    mutating func cell(_ p: Property) -> Cell {
        if p.collection != .none {
            let n = random.below(4)
            switch p.name.text {
            case "parts": return .list((0..<n).map { _ in part() })
            case "map":
                return .map(
                    (0..<n).map { ("k\($0)", random.below(3) == 0 ? .null : .value(.int(Int64(random.below(50))))) })
            case "numbers":
                return random.below(5) == 0
                    ? .null : .list((0..<n * 40).map { _ in .value(.int(Int64(random.below(100)))) })
            case "friends": return .list((0..<n).map { _ in .value(.int(ids[random.below(ids.count)])) })
            case "tags":
                return .list(
                    (0..<n).map { _ in random.below(5) == 0 ? .null : .value(.string("tag\(random.below(6))")) })
            default: return .list((0..<n).map { _ in .value(.string("tag\(random.below(6))")) })
            }
        }
        if p.isNullable, random.below(4) == 0 { return .null }
        switch p.type {
        case .object:
            if p.name == "part" { return part() }
            if p.name == "place" { return .value(.string("p\(random.below(5))")) }
            return .value(.int(ids[random.below(ids.count)]))
        case .int: return .value(.int(Int64(random.below(100)) - 20))
        case .bool: return .value(.bool(random.below(2) == 0))
        case .double: return .value(.double(Double(random.below(1000)) / 7))
        case .float: return .value(.float(Float(random.below(1000)) / 7))
        case .string, .mixed: return .value(.string(text()))
        case .data: return .value(.data((0..<random.below(90)).map { UInt8($0) }))
        case .date: return .value(.date(Timestamp(seconds: Int64(random.below(1 << 32)) - (1 << 31), nanoseconds: 0)))
        case .objectId: return .value(.objectId(ObjectId(high: random.next(), low: 7)))
        case .uuid: return .value(.uuid(UUIDValue(high: UInt64(random.below(4)), low: 1)))
        default: return .value(.decimal(Decimal128(Int64(random.below(1000)))))
        }
    }
}

/// Does by single calls what a batch does.
private func write(_ cell: Cell, _ p: Property, _ o: RealmObject, isNew: Bool, isModified: Bool) throws {
    let realm = o.realm
    func key(_ v: RealmValue) throws -> RealmValue {
        let found = try realm.object(p.linkTarget, primaryKey: v)
        return .link(found!.table, found!.key)
    }
    func fill(_ cells: [Cell], _ part: RealmObject) throws {
        for (n, name) in (["x", "label", "at"] as [Name]).enumerated() {
            guard case .value(let v) = cells[n] else {
                try part.set(name, .null)
                continue
            }
            if name == "at" {
                try part.set(name, to: try realm.object("Place", primaryKey: v))
            } else {
                try part.set(name, v)
            }
        }
    }
    switch (cell, p.collection) {
    case (.null, .none): if !isNew { try o.set(p.name, .null) }
    case (.structure(let cells), .none):
        if isModified, !isNew, let old = try o.object(p.name) {
            try fill(cells, old)
        } else {
            try fill(cells, try o.setEmbedded(p.name))
        }
    case (.value(let v), .none): try o.set(p.name, p.type == .object ? try key(v) : v)
    case (_, .list):
        let list = try o.list(p.name)
        if !isNew { try list.removeAll() }
        guard case .list(let cells) = cell else { return }
        for c in cells {
            switch c {
            case .structure(let s): try fill(s, try list.insertEmbedded(at: list.count))
            case .value(let v): try list.append(p.type == .object ? try key(v) : v)
            default: try list.append(.null)
            }
        }
    case (_, .set):
        let set = try o.set(p.name)
        if !isNew { try set.removeAll() }
        if case .list(let cells) = cell { for case .value(let v) in cells { _ = try set.insert(v) } }
    case (_, .dictionary):
        let map = try o.dictionary(p.name)
        if !isNew { try map.removeAll() }
        if case .map(let m) = cell {
            for (k, c) in m {
                if case .value(let v) = c { try map.set(v, for: Name(k)) } else { try map.set(.null, for: Name(k)) }
            }
        }
    default: break
    }
}

private func expectSame(_ a: Realm, _ b: Realm, _ context: String) throws {
    for c in schema.classes {
        let left = try a.objects(c.name), right = try b.objects(c.name)
        guard left.map(\.key) == right.map(\.key) else {
            Issue.record("\(context): other objects of \(c.name)")
            return
        }
        for (x, y) in zip(left, right) {
            for p in c.properties {
                let v = try x.get(p.name), w = try y.get(p.name)
                guard v == w else {
                    Issue.record("\(context): \(c.name) \(x.key.raw).\(p.name) is \(v), one by one \(w)")
                    return
                }
            }
        }
        let t = try a.table(a.schema[c.name]!.key), u = try b.table(b.schema[c.name]!.key)
        for i in t.indexes.columns {
            let n = try t.index(of: i)?.entryCount(), m = try u.index(of: i)?.entryCount()
            #expect(n == m, "\(context): entries of index \(i) of \(c.name)")
        }
    }
}

private func create(
    _ realm: Realm, _ c: Name, _ rows: ArrowMaker.Pair, _ mode: Batch.Mode = .error, _ fault: inout BatchFault,
    keys: UnsafeMutablePointer<Int64>? = nil
) throws(RealmError) -> Int {
    var place = BatchFault()
    defer { fault = place }
    return try realm.inside { () throws(RealmError) in
        try realm.createBatch(realm.schema[c]!.key, rows.schema, rows.array, mode, keys: keys, &place)
    }
}

@Test(arguments: 1...6) func batchesAgainstSingleCalls(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let folder = try TemporaryFolder()
    let paths = [folder.file("batch.realm"), folder.file("single.realm")]
    let realms = try paths.map(open), together = realms[0], single = realms[1]
    for r in realms { try r.write { for i in 0..<5 { _ = try r.create("Place", primaryKey: .string("p\(i)")) } } }
    var made: [Int64] = []
    for round in 0..<7 {
        let mode: Batch.Mode = [.error, .error, .modified, .all][random.below(round == 0 ? 1 : 4)]
        let count = [0, 1, 70, 300][round == 0 ? 2 : random.below(4)]
        var ids: [Int64] = []
        for i in 0..<count {
            let isOld = mode != .error && !made.isEmpty && random.below(2) == 0
            ids.append(
                isOld
                    ? made[random.below(made.count)]
                    : (seed % 2 == 0 ? Int64(round * 1000 + i) : Int64(random.below(1 << 40))))
        }
        if mode == .error {
            ids = Array(Set(ids)).sorted {
                seed % 3 == 0 ? $0 < $1 : $0 & 0xFF < $1 & 0xFF || ($0 & 0xFF == $1 & 0xFF && $0 < $1)
            }
        }
        made = Array(Set(made + ids)).sorted()
        var values = Values(seed: random.next(), ids: made.isEmpty ? [0] : made)
        let c = schema["Item"]!
        var columns: [RandomColumn] = []
        for p in c.properties where !p.isPrimary && random.below(3) > 0 && !(made.isEmpty && p.linkTarget == "Item") {
            columns.append(
                RandomColumn(property: p.name, layout: values.layout(p), cells: ids.map { _ in values.cell(p) }))
        }
        let maker = ArrowMaker(seed: random.next())
        var fields = columns.map { ($0.property == "name_" ? "name" : $0.property.text, $0.layout, $0.cells, false) }
        fields.insert(
            ("id", Layout.integer("l"), ids.map { .value(.int($0)) }, false), at: random.below(fields.count + 1))
        for r in realms { try r.beginWrite() }
        var fault = BatchFault()
        var keys = [Int64](repeating: -1, count: max(1, ids.count))
        let created = try create(together, "Item", maker.rows(fields, count: ids.count), mode, &fault, keys: &keys)

        // One by one: all objects first, since some link to later ones.
        var objects: [RealmObject] = [], fresh: [Bool] = []
        for id in ids {
            let known = try single.object("Item", primaryKey: .int(id))
            fresh.append(known == nil)
            objects.append(try known ?? single.create("Item", primaryKey: .int(id)))
        }
        #expect(created == fresh.filter { $0 }.count)
        #expect(objects.map(\.key.raw) == Array(keys.prefix(ids.count)))
        for (i, o) in objects.enumerated() {
            for column in columns {
                try write(
                    column.cells[i], c.property(named: column.property)!, o, isNew: fresh[i],
                    isModified: mode == .modified)
            }
        }
        try expectSame(together, single, "seed \(seed), round \(round), in the transaction")
        if random.below(4) == 0 {
            for r in realms { try r.cancelWrite() }
            made = try single.objects("Item").map { if case .int(let i) = try $0.get("id") { i } else { 0 } }
        } else {
            for r in realms { try r.commitWrite() }
        }
        try expectSame(together, single, "seed \(seed), round \(round)")
    }
    for r in realms { r.close() }
    for p in paths { try checkFile(p) }
}

@Test func objectsWithoutPrimaryKeysAndLinksByObjectKey() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    try realm.beginWrite()
    let item = try realm.create("Item", primaryKey: 5)
    let maker = ArrowMaker(seed: 3), count = 3000
    let rows = maker.rows(
        [
            ("to", .integer("l"), (0..<count).map { $0 % 3 == 0 ? .null : .value(.int(item.key.raw)) }, true),
            ("b", .textView, (0..<count).map { .value(.string("a text of row \($0 % 7)")) }, false),
            ("a", .integer("C"), (0..<count).map { .value(.int(Int64($0 % 200))) }, false),
        ], count: count)
    var fault = BatchFault()
    #expect(try create(realm, "Plain", rows, .all, &fault) == count)
    try realm.commitWrite()
    for (i, o) in try realm.objects("Plain").enumerated() {
        #expect(try o.get("a") == .int(Int64(i % 200)) && o.get("b") == .string("a text of row \(i % 7)"))
        #expect(try o.object("to")?.key == (i % 3 == 0 ? nil : item.key))
    }
    #expect(try realm.objects("Plain").where("b == 'a text of row 3'").count == count / 7 + (count % 7 > 3 ? 1 : 0))
    realm.close()
    try checkFile(folder.file())
}

@Test func refusedBatchesNameRowAndProperty() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    try realm.write { _ = try realm.create("Item", primaryKey: 5) }
    let maker = ArrowMaker(seed: 1)
    func column(_ name: String, _ layout: Layout, _ cells: [Cell]) -> (
        name: String, layout: Layout, cells: [Cell], isLink: Bool
    ) {
        (name, layout, cells, false)
    }
    let ids = column("id", .integer("l"), [.value(1), .value(2), .value(3)])
    func text(_ a: String, _ b: String, _ c: String) -> [Cell] { [a, b, c].map { .value(.string($0)) } }
    typealias Refusal = (
        columns: [(name: String, layout: Layout, cells: [Cell], isLink: Bool)], code: RealmError.Code, row: Int,
        property: Name?
    )
    let refusals: [Refusal] = [
        ([ids, column("nobody", .integer("l"), ids.cells)], .invalidProperty, -1, nil),
        ([ids, ids], .invalidProperty, -1, "id"),
        ([column("n", .integer("l"), ids.cells)], .missingPrimaryKey, -1, nil),
        ([column("id", .integer("l"), [.value(4), .value(5), .value(6)])], .objectAlreadyExists, 1, "id"),
        ([column("id", .integer("l"), [.value(4), .value(7), .value(4)])], .objectAlreadyExists, 2, "id"),
        ([column("id", .integer("l"), [.value(4), .null, .value(6)])], .notNullable, 1, "id"),
        ([ids, column("n", .integer("l"), [.value(4), .value(5), .null])], .notNullable, 2, "n"),
        ([ids, column("n", .text, text("a", "b", "c"))], .typeMismatch, 0, "n"),
        ([ids, column("n", .integer("L"), [.value(4), .value(-1), .value(6)])], .limitExceeded, 1, "n"),
        ([ids, column("d", .integer("l"), [.value(4), .value(.int(1 << 53 + 1)), .value(6)])], .typeMismatch, 1, "d"),
        (
            [ids, column("f", .double, [.value(.double(0.5)), .value(.double(0.1)), .value(.double(2))])],
            .typeMismatch, 1, "f"
        ),
        ([ids, column("next", .integer("l"), [.value(5), .value(3), .value(77)])], .noSuchObject, 2, "next"),
        ([ids, column("place", .text, text("p", "q", "r"))], .noSuchObject, 0, "place"),
        (
            [ids, column("map", .map(.integer("l")), [.null, .map([("a.b", .value(1))]), .null])],
            .invalidDictionaryKey, 1, "map"
        ),
        ([ids, column("numbers", .integer("l"), ids.cells)], .typeMismatch, -1, "numbers"),
        (
            [ids, column("numbers", .list(.integer("l")), [.list([]), .list([.value(1), .null]), .null])], .notNullable,
            1, "numbers"
        ),
        ([ids, column("parts", .list(.integer("l")), [.list([]), .null, .null])], .typeMismatch, -1, "parts"),
        (
            [
                ids,
                column(
                    "part", .structure([("x", .integer("l")), ("y", .integer("l"))]),
                    [.null, .null, .structure([.value(1), .value(2)])]),
            ],
            .invalidProperty, -1, nil
        ),
        (
            [
                ids,
                column(
                    "tags", .list(.text), [.null, .null, .list([.value(.string(String(repeating: "x", count: 200)))])]),
            ], .limitExceeded, 2,
            "tags"
        ),
    ]
    try realm.beginWrite()
    for (i, refusal) in refusals.enumerated() {
        var fault = BatchFault()
        do {
            _ = try create(realm, "Item", maker.rows(refusal.columns, count: 3), .error, &fault)
            Issue.record("batch \(i) was taken")
        } catch {
            #expect(error.code == refusal.code, "batch \(i): \(error)")
            #expect(fault.row == refusal.row, "batch \(i): \(error)")
            let key = refusal.property.flatMap { realm.schema["Item"]!.property(named: $0)?.key } ?? .null
            #expect(refusal.property == nil || fault.property == key, "batch \(i): \(error)")
            if refusal.row >= 0 {
                #expect(
                    error.message.hasPrefix("Row \(refusal.row), property 'Item.\(refusal.property ?? "")'"), "\(error)"
                )
            }
        }
        #expect(try realm.objects("Item").count == 1)
    }
    try realm.cancelWrite()
    realm.close()
}

@Test func malformedArraysAreRefused() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    try realm.beginWrite()
    /// Breaks the array of one column of three rows, or its schema.
    func refused(
        _ layout: Layout, _ property: String, _ cells: [Cell], _ code: RealmError.Code = .invalidArgument,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ breakIt: (UnsafeMutablePointer<ArrowSchema>, UnsafeMutablePointer<ArrowArray>) -> Void
    ) throws {
        let maker = ArrowMaker(seed: 2)
        let rows = maker.rows(
            [("id", .integer("l"), [.value(1), .value(2), .value(3)], false), (property, layout, cells, false)],
            count: 3)
        breakIt(rows.schema.pointee.children![1]!, rows.array.pointee.children![1]!)
        var fault = BatchFault()
        #expect(sourceLocation: sourceLocation) {
            _ = try create(realm, "Item", rows, .error, &fault)
        } throws: {
            ($0 as? RealmError)?.code == code
        }
        #expect(try realm.objects("Item").count == 0, sourceLocation: sourceLocation)
    }
    let numbers: [Cell] = [.value(1), .value(2), .value(3)]
    let texts: [Cell] = (0..<3).map { .value(.string("a text that is longer than a view \($0)")) }
    try refused(.integer("l"), "n", numbers) { $1.pointee.length = -1 }
    try refused(.integer("l"), "n", numbers) { $1.pointee.length = 2 }
    try refused(.integer("l"), "n", numbers) { $1.pointee.length = .max }
    try refused(.integer("l"), "n", numbers) { $1.pointee.offset = -1 }
    try refused(.integer("l"), "n", numbers) { $1.pointee.offset = .max }
    try refused(.integer("l"), "n", numbers) { $1.pointee.bufferCount = 1 }
    try refused(.integer("l"), "n", numbers) { $1.pointee.bufferCount = -1 }
    try refused(.integer("l"), "n", numbers) { $1.pointee.buffers = nil }
    try refused(.integer("l"), "n", numbers) { $1.pointee.buffers![1] = nil }
    try refused(.integer("l"), "n", numbers, .notSupported) { s, _ in s.pointee.format = nil }
    try refused(.fixed(12), "oid", [.null, .null, .null], .notSupported) { s, _ in
        s.pointee.format = UnsafePointer(strdup("w:99999999999999999999"))
    }
    for bad in ["w:-1", "ts", "d:1", "d:5,2,256", "+w:3", "", "lx", "tss"] {
        try refused(.integer("l"), "n", numbers, .notSupported) { s, _ in s.pointee.format = UnsafePointer(strdup(bad))
        }
    }
    try refused(.text, "text", texts) { $1.pointee.buffers![2] = nil }
    try refused(.text, "text", texts) { _, a in
        let at = Int(a.pointee.offset) + 1
        UnsafeMutableRawPointer(mutating: a.pointee.buffers![1]!).storeBytes(
            of: -5, toByteOffset: at * 4, as: Int32.self)
    }
    try refused(.textWide, "text", texts) { _, a in
        let at = Int(a.pointee.offset) + 2
        UnsafeMutableRawPointer(mutating: a.pointee.buffers![1]!).storeBytes(
            of: 1, toByteOffset: at * 8, as: Int64.self)
    }
    try refused(.text, "text", texts) { _, a in
        let end = a.pointee.buffers![1]!.load(fromByteOffset: Int(a.pointee.offset) * 4, as: Int32.self)
        UnsafeMutableRawPointer(mutating: a.pointee.buffers![2]!).storeBytes(
            of: 0xFF, toByteOffset: Int(end), as: UInt8.self)
    }
    for (word, value) in [(8, Int32(7)), (8, -1), (12, -1), (12, 1 << 30), (0, -1), (0, .max)] {
        try refused(.textView, "text", texts) { _, a in
            UnsafeMutableRawPointer(mutating: a.pointee.buffers![1]!).storeBytes(
                of: value, toByteOffset: Int(a.pointee.offset) * 16 + word, as: Int32.self)
        }
    }
    try refused(.textView, "text", texts) { $1.pointee.bufferCount = 1 << 40 }
    try refused(.textNumbered, "text", texts) { $1.pointee.dictionary = nil }
    try refused(.textNumbered, "text", texts) { $1.pointee.dictionary!.pointee.length = 1 }
    try refused(.textNumbered, "text", texts) { $1.pointee.dictionary!.pointee.length = -1 }
    let lists: [Cell] = numbers.map { .list([$0]) }
    try refused(.list(.integer("l")), "numbers", lists) { s, a in
        (s.pointee.childCount, a.pointee.childCount) = (1 << 40, 1 << 40)
    }
    try refused(.list(.integer("l")), "numbers", lists) { $1.pointee.childCount = 0 }
    try refused(.list(.integer("l")), "numbers", lists) { $1.pointee.children = nil }
    try refused(.list(.integer("l")), "numbers", lists) { s, _ in s.pointee.children![0] = nil }
    try refused(.list(.integer("l")), "numbers", lists) { $1.pointee.children![0]!.pointee.length = 1 }
    try refused(.integer("l"), "n", numbers) { s, _ in
        s.pointee.metadata = UnsafeRawPointer(strdup("\u{1}\u{1}\u{1}\u{7F}....")!).assumingMemoryBound(to: CChar.self)
    }
    // An array around itself has no end.
    try refused(.structure([("x", .integer("l"))]), "part", [.null, .null, .null], .limitExceeded) { s, a in
        (s.pointee.children![0], a.pointee.children![0], a.pointee.offset) = (s, a, 0)
    }
    try realm.cancelWrite()
    realm.close()
}
