// What cannot throw never answers with a plausible wrong value: the program stops with a text that says why, or the
// handler says otherwise. Collections that shrink while they are used as Swift collections.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .int, primary: true), Property("list", .int, collection: .list),
            Property("set", .int, collection: .set),
            Property("map", .int, collection: .dictionary),
            Property("things", .object, collection: .list, target: "Thing"),
        ])
])

private struct World {
    let folder: TemporaryFolder
    let realm: Realm
    let things: Results

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
        things = try realm.objects("Thing")
        let realm = realm
        try realm.write {
            for id in 0..<10 {
                let t = try realm.create("Thing", primaryKey: .int(Int64(id)))
                for i in 0..<5 {
                    try t.list("list").append(.int(Int64(i)))
                    try t.set("set").insert(.int(Int64(i)))
                    try t.dictionary("map").set(.int(Int64(i)), for: Name("\(i)"))
                }
            }
        }
    }
}

@Test func aMistakeStopsTheProgramWithAText() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let world = try World(), object = world.things[0]
        _ = object["nmae"]
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
        text.contains("RealmObject.subscript has no answer: error 3009: Class 'Thing' has no property 'nmae'"),
        "\(text)")
}

@Test func mistypedNamesAndDeletedObjects() throws {
    let world = try World(), realm = world.realm, thing = world.things[3]
    let list = try thing.list("list"), set = try thing.set("set"), map = try thing.dictionary("map")
    let told = misuses { _ = thing["nmae"] }
    #expect(
        told.map(\.call) == ["RealmObject.subscript"]
            && misuses { _ = world.things[99] }.first?.call == "Results.subscript"
            && told.first?.error.code == .invalidProperty)
    #expect(map["9"] == nil && map["1"] == 1, "an absent key is no mistake")
    try realm.write { try thing.delete() }
    #expect(!thing.isValid && !list.isValid && !set.isValid && !map.isValid)
    expectMisuses([2010, 2010, 2010, 2010]) {
        thing["id"] == .null && list.count == 0 && set.count == 0 && map.count == 0
    }
    expectMisuses([2010, 2010, 2010, 2010]) {
        list[0] == .null && set[0] == .null && map[0].key == "" && map["1"] == nil
    }
    expectMisuses([2010]) { list.allSatisfy { _ in false } }
    #expect { _ = try list.load() } throws: { ($0 as? RealmError)?.code == .invalidatedObject }
    #expect { _ = try thing.get("id") } throws: { ($0 as? RealmError)?.code == .invalidatedObject }
}

@Test func indicesOutOfRange() throws {
    let world = try World(), thing = world.things[0], list = try thing.list("list"), map = try thing.dictionary("map")
    expectMisuses([3017, 3017, 3017, 3017]) {
        list[5] == .null && list[-1] == .null && map[5].value == .null && !world.things[10].isValid
    }
    expectMisuses([3017, 3017]) { list[3..<6].isEmpty && world.things[9..<11].isEmpty }
    #expect { _ = try list.elements(in: 3..<6) } throws: { ($0 as? RealmError)?.code == .indexOutOfBounds }
    let slice = list[1..<3]
    expectMisuses([3017, 3017, 3017]) { slice[0] == .null && slice[3] == .null && slice[0..<2].isEmpty }
}

@Test func objectsOfAnotherFile() throws {
    let world = try World(), other = try World(), stranger = other.things[3]
    func code(_ body: () throws -> Void) -> RealmError.Code? {
        do { try body() } catch { return (error as? RealmError)?.code }
        return nil
    }
    try world.realm.write {
        let thing = world.things[0], list = try thing.list("things")
        // By keys alone it would be another object, which exists.
        #expect(code { try list.append(stranger) } == .illegalOperation && list.isEmpty)
        #expect(code { _ = try world.things.find(stranger) } == .illegalOperation)
        #expect(code { try thing.set("things", to: stranger) } == .illegalOperation)
        #expect(code { _ = try stranger.resolved(in: world.realm) } == .illegalOperation)
        try list.append(world.things[3])
        #expect(try list.object(0) == world.things[3] && world.things.find(world.things[3]) == 3)
    }
}

@Test func writesThatAreNestedOrMissing() throws {
    let world = try World(), realm = world.realm
    func code(_ body: () throws -> Void) -> RealmError.Code? {
        do { try body() } catch { return (error as? RealmError)?.code }
        return nil
    }
    #expect(
        code { try world.things[0].delete() } == .wrongTransactionState
            && code { try realm.commitWrite() } == .wrongTransactionState)
    try realm.write {
        #expect(
            code { try realm.beginWrite() } == .wrongTransactionState
                && code { try realm.write {} } == .wrongTransactionState)
        #expect(realm.isWriting)
    }
    #expect(world.things.count == 10)
}

@Test func slicesKeepTheirSize() throws {
    let world = try World(), realm = world.realm, things = world.things
    let all = things[0..<10], part = things.dropFirst(4), last = things.suffix(3),
        filtered = try things.where("id > 2")[1..<4]
    #expect(
        part.startIndex == 4 && part.count == 6 && part[4]["id"] == 4 && last.map { $0["id"] } == [7, 8, 9]
            && last.firstIndex(of: last[8]) == 8)
    #expect(
        filtered.map { $0["id"] } == [4, 5, 6] && filtered.startIndex == 1 && part[5..<7].map { $0["id"] } == [5, 6])
    let list = try things[0].list("list"), elements = list.prefix(4), sets = try things[0].set("set")[1..<3],
        maps = try things[0].dictionary("map")[..<2]
    try realm.write {
        try things.where("id > 0").deleteAll()
        try list.removeAll()
        try things[0].set("set").removeAll()
        try things[0].dictionary("map").removeAll()
    }
    #expect(
        all.count == 10 && part.count == 6 && last.count == 3 && all.filter(\.isValid).count == 1
            && !part.contains { $0.isValid })
    #expect(
        Array(elements) == [0, 1, 2, 3] && Array(elements.reversed()) == [3, 2, 1, 0] && elements.dropFirst().first == 1
    )
    #expect(Array(sets) == [1, 2] && maps.map(\.key) == ["0", "1"])
    expectMisuses([3017]) { !all[10].isValid }
}

/// What the standard library stops the program for, where a collection has fewer elements than at the beginning.
@Test func collectionsShrinkWhileTheyAreIterated() throws {
    let world = try World(), realm = world.realm, things = world.things
    try realm.beginWrite()
    defer { try? realm.cancelWrite() }
    let list = try things[0].list("list"), map = try things[0].dictionary("map")
    var seen: [RealmValue] = []
    for value in list {
        seen.append(value)
        if list.count > 2 { try list.remove(at: 0) }
    }
    #expect(seen == [0, 1, 2, 3, 4] && list.count == 2)
    #expect(
        try list.map { (v) throws -> RealmValue in
            try list.removeAll()
            return v
        } == [3, 4])
    #expect(
        try map.map { (e) throws -> Name in
            try map.removeAll()
            return e.key
        } == ["0", "1", "2", "3", "4"] && map.isEmpty)
    #expect(
        try things.map { (t) throws -> Bool in
            try t.delete()
            return t.isValid
        }.count == 10 && things.isEmpty)
    try realm.cancelWrite()
    try realm.beginWrite()
    for thing in things.reversed() { try thing.delete() }
    #expect(things.isEmpty)
}
