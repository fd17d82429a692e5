import Testing

@testable import CoreEngine

/// Names and texts count by their bytes. Swift takes the two forms of "é" for one text; a file does not.
private let composed = "\u{E9}", decomposed = "e\u{301}"
private let both = [Name(composed), Name(decomposed)]

@Test func namesCountByTheirBytes() {
    #expect(composed == decomposed && both[0] != both[1])
    #expect(Set(both).count == 2)
    #expect(both.sorted() == [Name(decomposed), Name(composed)])
    // An accent after the prefix makes one character with its last letter.
    #expect(Name("class_\u{301}x").after("class_") == "\u{301}x")
    #expect(Name("Class_x").after("class_") == nil)
    #expect(RealmValue.string(composed) != .string(decomposed))
    #expect(RealmValue.dictionary([.init(key: both[0], value: 1)]) != .dictionary([.init(key: both[1], value: 1)]))
}

@Test func namesThatLookTheSameAreDifferentClassesPropertiesAndKeys() throws {
    let folder = try TemporaryFolder()
    func classes(_ extra: [Property] = []) -> Schema {
        Schema(
            (both + ["\u{301}x"]).map { name in
                ObjectSchema(
                    name,
                    properties: [
                        Property(both[0], .string, primary: true), Property(both[1], .int, publicName: "\u{212B}"),
                        Property("\u{C5}", .int, publicName: "A\u{30A}"),
                        Property("links", .object, nullable: true, target: name),
                        Property("words", .string, collection: .dictionary),
                    ] + extra)
            })
    }
    try classes().validate()
    var configuration = RealmConfiguration(path: folder.file("names.realm"), schema: classes(), schemaVersion: 1)
    do {
        let realm = try Realm(configuration)
        defer { realm.close() }
        #expect(Set(realm.schema.classes.map(\.key)).count == 3)
        try realm.write {
            for c in realm.schema.classes {
                let o = try realm.create(c.name, primaryKey: .string(composed), [both[1]: 1, "\u{C5}": 2])
                try realm.create(c.name, primaryKey: .string(decomposed))
                try o.set("words", .dictionary(both.map { .init(key: $0, value: .string($0.text)) }))
            }
        }
    }
    configuration.schema = classes([Property("more", .int)])
    configuration.schemaVersion = 2
    let realm = try Realm(configuration)
    defer { realm.close() }
    for c in realm.schema.classes {
        #expect(try realm.objects(c.name).count == 2)
        let o = try #require(try realm.object(c.name, primaryKey: .string(composed)))
        #expect(o[both[1]] == 1 && o["\u{C5}"] == 2)
        #expect(try o.dictionary("words").keys == both.sorted())
        #expect(try o.dictionary("words").get(both[1]) == .string(decomposed))
        #expect(try realm.objects(c.name).where("\(decomposed) == 1").count == 1)
        #expect(try realm.objects(c.name).where("\u{212B} == 1 AND A\u{30A} == 2").count == 1)
        #expect(
            try realm.objects(c.name).where("\(composed) IN $0", .list([.string(composed), .string(decomposed)])).count
                == 2)
    }
}
