// What rules and savepoints need that no program can cause at will: equal hashes in a unique index, and the memory of
// many savepoints. The behaviour is tested in Python, C and Swift.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema("Pair", properties: [Property("a", .int), Property("b", .string, nullable: true)])
])

private func open(_ folder: TemporaryFolder) throws -> Realm {
    try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
}

@Suite struct EngineRuleTests {
    @Test(arguments: 0..<4) func equalHashesAreToldApart(seed: Int) throws {
        var random = Seeded(UInt64(seed))
        let folder = try TemporaryFolder(), realm = try open(folder)
        try realm.beginWrite()
        var rules = ClassRules()
        rules.unique = [ClassRules.Unique(["a", "b"])]
        let key = try #require(realm.schema["Pair"]).key
        try realm.inside { () throws(RealmError) in try realm.setRules(rules, of: key) }
        let group = realm.transaction.group
        let table = try #require(try group.table(key)), store = try #require(try RuleTable(group))
        let row = try #require(try store.rows().first { $0.row.kind == .unique })
        let rule = try UniqueIndex(group, table, row.row, row.key, hashBits: seed % 4)
        let a = try #require(table.facts(table.column(named: "a")?.key ?? .null))
        let b = try #require(table.facts(table.column(named: "b")?.key ?? .null))
        var objects: [ObjKey] = []

        func set(_ object: ObjKey) throws {
            _ = try table.set(object, a, .int(Int64(random.below(40))))
            let text = Array("\(random.below(40))".utf8)
            try text.withBytes { (bytes) throws(RealmError) in
                _ = try table.set(object, b, random.below(8) == 0 ? .null : .string(bytes))
            }
        }
        for _ in 0..<120 {
            let what = random.below(10)
            if what < 4 || objects.isEmpty {
                let object = try table.createObject().key
                try set(object)
                objects.append(object)
                if let entry = try rule.entry(of: object, in: table) { try rule.enter(entry) }
            } else {
                let index = random.below(objects.count), object = objects[index]
                let old = try rule.entry(of: object, in: table)
                if what < 8 {
                    try set(object)
                } else {
                    try group.delete(table, object)
                    objects.remove(at: index)
                }
                // Sometimes an entry stays, as after a write of another library.
                if let old, random.below(12) != 0 { try rule.leave(old) }
                if what < 8, let entry = try rule.entry(of: object, in: table) { try rule.enter(entry) }
            }
            for object in objects {
                guard let values = try rule.values(table, object) else { continue }
                let found = try rule.other(than: .null, with: values)
                #expect(try found.map { try rule.values(table, $0) } == values)
                let others = try objects.filter { try $0 != object && rule.values(table, $0) == values }
                #expect(try (rule.other(than: object, with: values) == nil) == others.isEmpty)
            }
            // Each object with a value is among the candidates for it, and for the first part of it.
            for object in objects where try rule.values(table, object) != nil {
                let first = try table.get(object, a) ?? .null, second = try table.get(object, b) ?? .null
                #expect(try #require(try rule.candidates([first, second], most: .max)).contains(object))
                #expect(try #require(try rule.candidates([first], most: .max)).contains(object))
            }
            #expect(try rule.candidates([.int(Int64(random.below(40)))], most: 0)?.isEmpty != false)
            let absent = try rule.values([.int(99), .null])
            #expect(absent == nil)
            let unknown = try #require(try rule.values([.int(99), .string(Bytes(start: nil, count: 0))]))
            #expect(try rule.other(than: .null, with: unknown) == nil)
        }
        try realm.cancelWrite()
        realm.close()
        try checkFile(folder.file())
    }

    // Savepoints use the memory that was free before them, also nested ones; a rollback gives it back.
    @Test func savepointsLeaveNoMemory() throws {
        let folder = try TemporaryFolder(), realm = try open(folder)
        try realm.beginWrite()
        var objects: [RealmObject] = []
        for i in 0..<5000 {
            let object = try realm.create("Pair")
            try object.set("a", .int(Int64(i)))
            objects.append(object)
        }
        let store = realm.transaction.store
        var values = (0..<5000).map { Int64($0) }
        func set(_ i: Int) throws {
            try objects[i].set("a", .int(Int64(i) * 3))
            values[i] = Int64(i) * 3
        }
        func work(_ count: Int, undoing: Bool, depth: Int = 1) throws {
            for i in 0..<count {
                let number = try realm.beginSavepoint(), before = values
                try set(i &* 7919 % 5000)
                if depth > 1 { try work(3, undoing: i % 3 == 0, depth: depth - 1) }
                try set(i &* 6101 % 5000)
                if undoing {
                    try realm.rollbackSavepoint(number)
                    values = before
                } else {
                    try realm.releaseSavepoint(number)
                }
            }
        }
        try work(200, undoing: false)
        let before = store.slabEnd
        try work(2000, undoing: false)
        #expect(store.slabEnd - before < 64 * 1024)
        let released = store.slabEnd
        try work(2000, undoing: true)
        #expect(store.slabEnd - released < 64 * 1024)
        try work(50, undoing: false, depth: 3)
        try work(50, undoing: true, depth: 3)
        let nested = store.slabEnd
        for round in 0..<10 { try work(20, undoing: round % 2 == 0, depth: 4) }
        #expect(store.slabEnd - nested < 256 * 1024)
        for (i, object) in objects.enumerated() { #expect(object["a"] == .int(values[i])) }
        try realm.commitWrite()
        realm.close()
        try checkFile(folder.file())
    }
}
