// The Swift API off the Realm's thread: everything that can throw refuses with 2006, all else is a misuse with 2006;
// `close` from another thread ends the owner's work with an error, and takes nothing away from a call that is running.
import Glibc
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .int, primary: true), Property("n", .int),
            Property("link", .object, nullable: true, target: "Thing"),
            Property("list", .int, collection: .list), Property("set", .int, collection: .set),
            Property("map", .int, collection: .dictionary),
            Property("links", .object, collection: .list, target: "Thing"), Property("any", .mixed, nullable: true),
        ])
])

private struct World {
    let folder: TemporaryFolder
    let realm: Realm
    let thing: RealmObject

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
        let r = realm
        thing = try realm.write {
            let t = try r.create(
                "Thing", primaryKey: 1,
                ["n": 7, "list": [1], "map": .dictionary([RealmValue.Entry(key: "a", value: 1)])])
            try t.set("set").insert(1)
            try t.list("links").append(t.link)
            return t
        }
    }
}

/// The number that a call fails with; 0 when it succeeds.
private func number(_ body: () throws -> Void) -> Int32 {
    do { try body() } catch { return (error as? RealmError)?.code.rawValue ?? -1 }
    return 0
}

@Test func everythingRefusesOnAnotherThread() throws {
    let world = try World(), r = world.realm, t = world.thing
    let list = try t.list("list"), set = try t.set("set"), map = try t.dictionary("map"), links = try t.list("links")
    let results = try r.objects("Thing")
    var numbers: [(String, Int32)] = []
    var mistakes: [(String, [Int32])] = []
    var anywhere: [Bool] = []
    elsewhere {
        func refused(_ what: String, _ body: () throws -> Void) { numbers.append((what, number(body))) }
        refused("beginRead") { try r.beginRead() }
        refused("beginWrite") { try r.beginWrite() }
        refused("commitWrite") { try r.commitWrite() }
        refused("cancelWrite") { try r.cancelWrite() }
        refused("write") { try r.write {} }
        refused("refresh") { try r.refresh() }
        refused("compact") { try r.compact() }
        refused("writeCopy") { try r.writeCopy(to: world.folder.file("copy")) }
        refused("convert") { try r.convert(to: RealmConfiguration(path: world.folder.file("other"))) }
        refused("changeKey") { try r.changeKey(to: nil) }
        refused("updateSchema") { try r.updateSchema(schema) }
        refused("removeClass") { try r.removeClass("None") }
        refused("renameProperty") { try r.renameProperty("Thing", from: "n", to: "m") }
        refused("objects") { _ = try r.objects("Thing") }
        refused("object") { _ = try r.object("Thing", primaryKey: 1) }
        refused("create") { try r.create("Thing", primaryKey: 2) }
        refused("get") { _ = try t.get("n") }
        refused("get list") { _ = try t.get("list") }
        refused("set") { try t.set("n", 8) }
        refused("set link") { try t.set("link", to: t) }
        refused("set list") { try t.set("list", [1, 2]) }
        refused("follow") { _ = try t.object("link") }
        refused("delete") { try t.delete() }
        refused("its list") { _ = try t.list("list") }
        refused("its set") { _ = try t.set("set") }
        refused("its map") { _ = try t.dictionary("map") }
        refused("make list") { _ = try t.setList("any") }
        refused("make map") { _ = try t.setDictionary("any") }
        refused("json") { _ = try t.json() }
        refused("setJSON") { try t.setJSON("any", "1") }
        refused("parent") { _ = try t.parent() }
        refused("toDictionary") { _ = try t.toDictionary() }
        refused("list get") { _ = try list.get(0) }
        refused("list values") { _ = try list.values() }
        refused("list find") { _ = try list.find(1) }
        refused("list append") { try list.append(2) }
        refused("list insert") { try list.insert(2, at: 0) }
        refused("list set") { try list.set(2, at: 0) }
        refused("list remove") { try list.remove(at: 0) }
        refused("list move") { try list.move(from: 0, to: 0) }
        refused("list removeAll") { try list.removeAll() }
        refused("list object") { _ = try links.object(0) }
        refused("set get") { _ = try set.get(0) }
        refused("set find") { _ = try set.find(1) }
        refused("set insert") { try set.insert(2) }
        refused("set remove") { try set.remove(1) }
        refused("map entry") { _ = try map.entry(0) }
        refused("map get") { _ = try map.get("a") }
        refused("map set") { try map.set(2, for: "b") }
        refused("map remove") { try map.removeValue(for: "a") }
        refused("results load") { try results.load() }
        refused("results object") { _ = try results.object(at: 0) }
        refused("results find") { _ = try results.find(t) }
        refused("results where") { _ = try results.where("n == 7") }
        refused("results sorted") { _ = try results.sorted(by: "n") }
        refused("results distinct") { _ = try results.distinct(by: "n") }
        refused("results limit") { _ = try results.limit(1) }
        refused("results snapshot") { _ = try results.snapshot() }
        refused("results sum") { _ = try results.sum(of: "n") }
        refused("results deleteAll") { try results.deleteAll() }
        func mistaken(_ what: String, _ body: () -> Bool) {
            var isRight = false
            mistakes.append((what, misuses { isRight = body() }.map(\.error.code.rawValue)))
            anywhere.append(isRight)
        }
        mistaken("list count") { list.count == 0 }
        mistaken("list subscript") { list[0] == .null }
        mistaken("list slice") { list[0..<1].isEmpty }
        mistaken("list loop") { list.allSatisfy { _ in false } }
        mistaken("list array") { Array(list).isEmpty }
        mistaken("list isValid") { !list.isValid }
        mistaken("set count") { set.count == 0 }
        mistaken("set isEmpty") { set.isEmpty }
        mistaken("set isValid") { !set.isValid }
        mistaken("map count") { map.count == 0 }
        mistaken("map keys") { map.keys.isEmpty }
        mistaken("map subscript") { map["a"] == nil }
        mistaken("map isValid") { !map.isValid }
        mistaken("results count") { results.count == 0 }
        mistaken("results loop") {
            for _ in results { return false }
            return true
        }
        mistaken("results map") { results.map { $0 }.isEmpty }
        mistaken("results subscript") { results[0].key.isNull }
        mistaken("results isValid") { !results.isValid }
        mistaken("object subscript") { t["n"] == .null }
        mistaken("object isValid") { !t.isValid }
        mistaken("version") { r.version == nil }
        // What any thread may ask.
        anywhere += [
            !r.isClosed, !r.isWriting, r.schema["Thing"] != nil, r.schemaVersion == 1, r.versionCount > 0,
            t.className == "Thing",
        ]
    }
    for (what, numbers) in mistakes { #expect(numbers == [2006], "\(what) gives \(numbers)") }
    #expect(mistakes.count == 21)
    for (what, number) in numbers { #expect(number == 2006, "\(what) gives \(number)") }
    #expect(numbers.count == 60)
    #expect(anywhere.allSatisfy { $0 }, "\(anywhere)")
    #expect(t["n"] == 7 && list.count == 1 && results.count == 1)
}

@Test func anotherThreadCloses() throws {
    for round in 0..<60 {
        let world = try World(), r = world.realm, t = world.thing
        let list = try t.list("list"), results = try r.objects("Thing")
        if round % 4 == 3 { try r.beginWrite() }
        let wait = start {
            for _ in 0..<(round * 37 % 500) { sched_yield() }
            r.close()
        }
        var last: Int32 = 0
        while last == 0 {
            last = number {
                _ = try t.get("n")
                _ = try list.values()
                try results.load()
                if round % 2 == 1 { try r.isWriting ? t.set("n", 8) : r.write { try t.set("n", 7) } }
            }
        }
        #expect([2014, 2010, 2009].contains(last), "\(last)")
        wait()
        #expect(r.isClosed && !r.isWriting && !list.isValid && !results.isValid && !t.isValid)
        expectMisuses([2010, 2009]) { list.isEmpty && results.isEmpty }
        #expect(
            number { try r.beginRead() } == 2014 && number { _ = try t.get("n") } == 2010
                && number { try results.load() } == 2009)
        // Nothing is held any more: another Realm writes at once.
        let next = try Realm(RealmConfiguration(path: world.folder.file(), schema: schema, schemaVersion: 1))
        try next.write { try next.create("Thing", primaryKey: 2) }
        next.close()
    }
}
