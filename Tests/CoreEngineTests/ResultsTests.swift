// Results as a Swift collection: queries with arguments, orders, aggregates; live while the data changes; what is asked
// of them when the Realm or an object is gone is a misuse.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Person",
        properties: [
            Property("id", .int, primary: true), Property("name", .string), Property("age", .int, nullable: true),
            Property("weight", .decimal),
            Property("born", .date, nullable: true), Property("best", .object, nullable: true, target: "Person"),
            Property("dogs", .object, collection: .list, target: "Dog"),
            Property("tags", .string, collection: .list),
        ]),
    ObjectSchema("Dog", properties: [Property("name", .string), Property("bio", .string, fullText: true)]),
])

private struct World {
    let folder: TemporaryFolder
    let realm: Realm
    var people: Results { get throws { try realm.objects("Person") } }

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
        let r = realm
        try realm.write {
            let rex = try r.create("Dog", ["name": "Rex", "bio": "quick fox"]),
                ida = try r.create("Dog", ["name": "Ida"])
            for (id, name, age) in [(1, "Ann", 30), (2, "Bob", 20), (3, "Cid", 40), (4, "ann", 30)]
                as [(Int64, String, Int64)]
            {
                let p = try r.create("Person", primaryKey: .int(id), ["name": .string(name), "age": .int(age)])
                try p.list("dogs").append(id % 2 == 1 ? rex.link : ida.link)
                if let bob = try r.object("Person", primaryKey: 2), id == 3 { try p.set("best", to: bob) }
            }
            try r.create("Person", primaryKey: 5)
        }
    }
}

private func ids(_ results: Results) -> [Int64] { results.map { $0["id"].int ?? -1 } }

@Test func resultsAreACollection() throws {
    let world = try World(), people = try world.people
    #expect(
        people.count == 5 && !people.isEmpty && people.first?["name"] == "Ann" && people.last?["id"] == 5
            && people[2]["name"] == "Cid")
    #expect(ids(people) == [1, 2, 3, 4, 5] && people.reversed().map { $0["id"].int } == [5, 4, 3, 2, 1])
    #expect(
        people[1...2].map { $0["id"] } == [2, 3] && people.firstIndex { $0["age"] == 40 } == 2
            && people.contains(people[3]))
    #expect(try people.load() == 5 && people.find(people[3]) == 3 && people.where("id > 3").find(people[0]) == nil)
}

@Test func queriesTakeArguments() throws {
    let world = try World(), people = try world.people
    let age: Int64 = 25
    #expect(
        try ids(people.where("age > $0", .int(age))) == [1, 3, 4] && ids(people.where("age > $0", 25)) == [1, 3, 4])
    #expect(
        try ids(people.where("name BEGINSWITH[c] $0 AND age == $1", "a", 30)) == [1, 4]
            && ids(people.where("age == $0", nil)) == [5])
    #expect(
        try ids(people.where("id IN $0", [1, 3, 9])) == [1, 3]
            && ids(people.where("id == $1 OR id == $0", arguments: [1, 2])) == [1, 2])
    #expect(
        try ids(people.where("best == $0", people[1].link)) == [3]
            && ids(people.where("ANY dogs.name == 'Rex'")) == [1, 3])
    #expect(try ids(people.where("weight == $0 AND born == $1", 0.0, nil)).count == 5)
    #expect(try ids(people.where("age >= 30").where("name > $0", "Ann")) == [3, 4])
    #expect(try ids(people.where("TRUEPREDICATE SORT(age DESC) LIMIT(2)")) == [3, 1])
    for (code, text, arguments) in [
        (.invalidQueryString, "age >", []), (.invalidQuery, "nope == 1", []), (.invalidQueryArg, "age == $0", []),
        (.invalidQueryArg, "age == $0", [true]),
    ] as [(RealmError.Code, String, [RealmValue])] {
        #expect { _ = try people.where(text, arguments: arguments) } throws: { ($0 as? RealmError)?.code == code }
    }
    #expect { _ = try people.where("age == $0", [[1]]) } throws: { ($0 as? RealmError)?.code == .typeMismatch }
}

@Test func resultsAreOrderedAndLimited() throws {
    let world = try World(), people = try world.people
    #expect(
        try ids(people.sorted(by: "age")) == [5, 2, 1, 4, 3]
            && ids(people.sorted(by: "age", ascending: false)) == [3, 1, 4, 2, 5])
    #expect(
        try ids(people.sorted(by: "id", ascending: false).sorted(by: "age")) == [5, 2, 4, 1, 3]
            && ids(people.sorted(by: "best.age", ascending: false)).first != 3)
    #expect(try ids(people.distinct(by: "age")) == [1, 2, 3, 5] && ids(people.distinct(by: "age", "name")).count == 5)
    #expect(
        try ids(people.sorted(by: "age").limit(2)) == [5, 2] && ids(people.limit(0)) == []
            && ids(people.limit(-3)) == []
            && ids(people.limit(.max)).count == 5)
    #expect { _ = try people.limit(2).where("age > 1") } throws: { ($0 as? RealmError)?.code == .illegalOperation }
    #expect { _ = try people.sorted(by: "nope") } throws: { ($0 as? RealmError)?.code == .invalidQuery }
    let dogs = try people[0].list("dogs").objects()
    #expect(try dogs.map { $0["name"] } == ["Rex"] && (dogs.where("name == 'Ida'")).isEmpty)
    #expect { _ = try people[0].list("tags").objects() } throws: { ($0 as? RealmError)?.code == .illegalOperation }
}

@Test func resultsAreSummedUp() throws {
    let world = try World(), people = try world.people, none = try people.where("id > 100")
    #expect(
        try people.min(of: "age") == 20 && people.max(of: "age") == 40 && people.sum(of: "age") == 120
            && people.average(of: "age") == 30.0)
    #expect(try people.where("age == 30").sum(of: "id") == 5 && people.min(of: "born").isNull)
    #expect(try none.min(of: "age").isNull && none.sum(of: "age") == 0 && none.average(of: "age").isNull)
    #expect { _ = try people.sum(of: "name") } throws: { ($0 as? RealmError)?.code == .illegalOperation }
    #expect { _ = try people.sum(of: "nope") } throws: { ($0 as? RealmError)?.code == .invalidProperty }
}

@Test func resultsFollowTheData() throws {
    let world = try World(), realm = world.realm, people = try world.people
    let thirty = try people.where("age == 30"), fixed = try thirty.snapshot(), all = try people.snapshot()
    try realm.write {
        #expect(ids(thirty) == [1, 4])
        try people[0].set("age", 31)
        try people[4].set("age", 30)
        #expect(ids(thirty) == [4, 5] && ids(fixed) == [1, 4])
        try people[3].delete()
        #expect(
            ids(thirty) == [5] && fixed.count == 2 && fixed[0].isValid && !fixed[1].isValid && all.count == 5
                && people.count == 4)
        #expect(try ids(fixed.where("id > 0")) == [5], "made from a snapshot is live")
    }
    // Deleting in a loop over what is deleted from.
    try realm.write { for p in try people.where("age > 0") { try p.delete() } }
    #expect(people.isEmpty && !fixed[0].isValid)
    try realm.write {
        try realm.create("Person", primaryKey: 9)
        try people.deleteAll()
        #expect(people.isEmpty)
    }
}

@Test func resultsAreNeverEmptyByMistake() throws {
    let world = try World(), people = try world.people, adults = try people.where("age > 18").sorted(by: "name"),
        fixed = try adults.snapshot()
    expectMisuses([3017, 3017, 3017]) { !people[5].isValid && !people[-1].isValid && !adults[99].isValid }
    #expect { _ = try people.object(at: 5) } throws: { ($0 as? RealmError)?.code == .indexOutOfBounds }
    #expect { _ = try adults.object(at: -1) } throws: { ($0 as? RealmError)?.code == .indexOutOfBounds }
    // A query that fails when it runs.
    let wordless = try world.realm.objects("Dog").where("bio TEXT ''")
    expectMisuses([3000, 3000]) { wordless.isEmpty && wordless.map { $0 }.isEmpty }
    #expect { try wordless.load() } throws: { ($0 as? RealmError)?.code == .invalidArgument }
    var loop = adults.makeIterator()
    #expect(loop.next()?.isValid == true)
    world.realm.close()
    #expect(loop.next()?.isValid == false)
    for r in [people, adults, fixed] {
        #expect(!r.isValid)
        expectMisuses([2009, 2009, 2009, 2009, 2009]) {
            r.count == 0 && !r[0].isValid && r.map { $0 }.isEmpty && Array(r).isEmpty && r[0..<1].isEmpty
        }
        #expect { try r.load() } throws: { ($0 as? RealmError)?.code == .staleAccessor }
        #expect { _ = try r.where("age > 1") } throws: { ($0 as? RealmError)?.code == .staleAccessor }
        #expect { _ = try r.min(of: "age") } throws: { ($0 as? RealmError)?.code == .staleAccessor }
        #expect { _ = try r.snapshot() } throws: { ($0 as? RealmError)?.code == .staleAccessor }
    }
}

/// The first rows of a sort by texts are found apart from the others: they are the same as those of the whole sort.
@Test func theFirstRowsOfASort() throws {
    let world = try World(), realm = world.realm
    try realm.write {
        for id in 10..<3000 {
            try realm.create(
                "Person", primaryKey: .int(Int64(id)),
                ["name": .string("n\(id * 7919 % 700)"), "age": .int(Int64(id % 9))])
        }
    }
    for (order, ascending) in [("name ASC", true), ("name DESC", false)] {
        for condition in ["TRUEPREDICATE", "age > 3", "age == 1 AND id < 200", "FALSEPREDICATE"] {
            let query = "\(condition) SORT(\(order))"
            let whole = ids(try world.people.where(query))
            let found = try world.people.where(condition)
            let rows: [(name: String, id: Int64)] = found.map { ($0["name"].string ?? "", $0["id"].int ?? -1) }
            let places = rows.indices.sorted { (a: Int, b: Int) -> Bool in
                if rows[a].name == rows[b].name { return a < b }
                return ascending ? rows[a].name < rows[b].name : rows[a].name > rows[b].name
            }
            let model: [Int64] = places.map { rows[$0].id }
            #expect(whole == model, "\(query)")
            // In another order of reading: the first rows, one behind them, the first rows again.
            let results = try world.people.where(query)
            for index in [0, 1, 1023, 5, 1024, 3, 1022, results.count - 1] where index >= 0 && index < whole.count {
                #expect(results[index]["id"].int == whole[index], "\(query) \(index)")
            }
            // The rows follow the data.
            let live = try world.people.where(query)
            _ = live.first
            try realm.write { try realm.create("Person", primaryKey: .int(5000), ["name": "m", "age": 5]) }
            #expect(live.first?["id"] == (try world.people.where(query)).map { $0 }.first?["id"], "\(query)")
            #expect(live.count == (try world.people.where(query)).map { $0 }.count)
            try realm.write { try realm.object("Person", primaryKey: 5000)?.delete() }
        }
    }
}
