// Rows made in a row, whose columns stay open meanwhile, and lists of indexes that are remembered: against a model,
// with the invariants of trees and indexes checked on the way.
import Testing

@testable import CoreEngine

private var allKinds: [(LeafKind, Mixed)] {
    [
        (.int, .int(0)), (.bool, .bool(false)), (.bool, .null), (.double, .double(0)), (.double, .null),
        (.float, .float(0)), (.float, .null),
        (.link, .null), (.string, .string(Bytes(start: nil, count: 0))), (.string, .null), (.nullableInt, .null),
        (.timestamp, .null),
        (.slot, .slot(RefOrTagged(.null))), (.binary, .null), (.mixed, .null),
    ]
}

/// What a value looks like.
private func text(_ v: Mixed?) -> String {
    guard let v else { return "nothing" }
    if case .string(let b) = v { return "string \(String(decoding: b, as: UTF8.self))" }
    return "\(v)"
}

@Test(arguments: 1...6) func rowsAddedInARowAgainstAModel(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let kinds = allKinds
    let columns = kinds.map { ClusterTree.Column(kind: $0.0, initial: $0.1, ownsTrees: false) }
    let tree = ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
    // Texts of all forms of a leaf: mostly short ones, so that leaves stay in each for a while.
    let texts = (0..<40).map { i in [UInt8](repeating: UInt8(97 + i % 26), count: i < 25 ? i % 16 : (i < 39 ? i : 70)) }
    var model: [Int64: [String]] = [:]
    func value(_ column: Int) -> Mixed {
        switch kinds[column].0 {
        case .int, .nullableInt:
            return .int([0, 1, 7, 100, -1, 70_000, 1 << 40][random.below(random.below(20) == 0 ? 7 : 3)])
        case .bool: return .bool(random.below(2) == 0)
        case .double: return random.below(9) == 0 ? kinds[column].1 : .double(Double(random.below(100)))
        case .float: return .float(Float(random.below(100)))
        case .link: return random.below(3) == 0 ? .null : .link(ObjKey(Int64(random.below(1000))))
        case .string:
            if random.below(6) == 0 { return kinds[column].1 }
            let t = texts[random.below(random.below(300) == 0 ? 40 : (random.below(60) == 0 ? 39 : 25))]
            return .string(t.withUnsafeBytes { Bytes(start: $0.baseAddress, count: t.count) })
        case .timestamp: return .timestamp(Timestamp(seconds: Int64(random.below(1 << 33)), nanoseconds: 5))
        case .slot: return .slot(RefOrTagged(tagged: random.below(1000)))
        default: return .null
        }
    }
    var key: Int64 = 0
    for step in 0..<3000 {
        switch random.below(20) {
        case 0:
            // Elsewhere, so that the open columns are others for a while.
            let k = ObjKey(Int64(random.below(Int(key) + 1)))
            let column = random.below(columns.count), v = value(column)
            #expect(try tree.set(k, column, v) == (model[k.raw] != nil))
            model[k.raw]?[column] = text(v)
        case 1 where step % 7 == 0:
            let k = ObjKey(Int64(random.below(Int(key) + 1)))
            #expect(try tree.erase(k) == (model.removeValue(forKey: k.raw) != nil))
        case 2:
            let k = ObjKey(Int64(random.below(Int(key) + 1)))
            for column in 0..<columns.count {
                #expect(text(try tree.get(k, column)) == model[k.raw]?[column] ?? "nothing")
            }
        default:
            if random.below(400) == 0 { key += 1000 }
            let first = value(0)
            #expect(try tree.insert(ObjKey(key), initial: seed % 2 == 0 ? (0, first) : nil))
            var row = kinds.map { text($0.1) }
            if seed % 2 == 0 { row[0] = text(first) }
            for column in 0..<columns.count where random.below(3) > 0 {
                let v = value(column)
                #expect(try tree.set(ObjKey(key), column, v))
                row[column] = text(v)
            }
            model[key] = row
            key += 1
        }
        if step % 50 == 0 { try tree.checkInvariants() }
    }
    try tree.checkInvariants()
    #expect(try tree.allKeys().map(\.raw) == model.keys.sorted())
    var quick = 0
    for (k, row) in model {
        for column in 0..<columns.count {
            let v = try tree.get(ObjKey(k), column)
            #expect(text(v) == row[column], "\(k) \(column)")
            quick += verifyOpened(tree, ObjKey(k), column, kinds[column].0, v)
        }
    }
    #expect(quick > model.count * 4)
}

/// Behind a read the column's leaf is open: numbers and texts are there without a descent, and are the same.
/// - Returns: 1 where the value was.
private func verifyOpened(_ tree: ClusterTree, _ key: ObjKey, _ column: Int, _ kind: LeafKind, _ v: Mixed?) -> Int {
    let found: Mixed?
    switch kind {
    case .int: found = tree.openedInteger(key, column).map { .int($0) }
    case .double: found = tree.openedDouble(key, column).map { .double($0) }
    // Texts of more than 63 bytes have a form that is not kept open.
    case .string: found = tree.openedText(key, column).map { .string($0) }
    case .bool:
        #expect(text(tree.openedValue(key, column)) == text(v), "\(key) \(column)")
        return 1
    default: return 0
    }
    let mustBeThere = if case .string? = v { false } else { v.map { !$0.isNull } ?? false }
    #expect(found.map { text($0) == text(v) } ?? !mustBeThere, "\(key) \(column)")
    return found == nil ? 0 : 1
}

@Test(arguments: 1...4) func objectsOfFewValuesInIndexedColumnsAgainstAModel(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let folder = try TemporaryFolder()
    let schema = Schema([
        ObjectSchema(
            "Item",
            properties: [
                Property("id", .int, primary: true), Property("city", .string, nullable: true, indexed: true),
                Property("n", .int, indexed: true),
                Property("long", .string, indexed: true), Property("flag", .bool, indexed: true),
            ])
    ])
    let realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
    // Values that begin alike, and one that is also what another's rest looks like in the index.
    let cities = ["City", "City1", "City12", "City12X", "City123", "City1234567890", "City12345678901234", "", "X"]
    var model: [Int64: (city: String?, n: Int64)] = [:]
    for _ in 0..<3 {
        try realm.beginWrite()
        for _ in 0..<2200 {
            let id = Int64(random.below(1 << 30))
            switch random.below(40) {
            case 0:
                guard let old = model.keys.randomElement(using: &random),
                    let o = try realm.object("Item", primaryKey: .int(old))
                else { continue }
                try o.delete()
                model[old] = nil
            case 1:
                guard let old = model.keys.randomElement(using: &random),
                    let o = try realm.object("Item", primaryKey: .int(old))
                else { continue }
                let city = cities[random.below(cities.count)]
                try o.set("city", .string(city))
                model[old]?.city = city
            default:
                guard model[id] == nil else { continue }
                let o = try realm.create("Item", primaryKey: .int(id))
                var row: (city: String?, n: Int64) = (nil, 0)
                if random.below(6) > 0 {
                    row.city = cities[random.below(random.below(4) == 0 ? cities.count : 2)]
                    try o.set("city", .string(row.city ?? ""))
                }
                if random.below(3) > 0 {
                    row.n = Int64(random.below(3))
                    try o.set("n", .int(row.n))
                }
                try o.set("long", .string("a text that is longer than what is remembered \(random.below(3))"))
                try o.set("flag", .bool(random.below(2) == 0))
                model[id] = row
            }
        }
        for city in cities {
            let found = try realm.objects("Item").where("city == $0", .string(city)).count
            #expect(found == model.values.filter { $0.city == city }.count, "\(city)")
        }
        for n in 0..<3 {
            #expect(
                try realm.objects("Item").where("n == $0", .int(Int64(n))).count
                    == model.values.filter { $0.n == n }.count)
        }
        #expect(try realm.objects("Item").where("city == nil").count == model.values.filter { $0.city == nil }.count)
        try realm.commitWrite()
    }
    realm.close()
    try checkFile(folder.file())
}
