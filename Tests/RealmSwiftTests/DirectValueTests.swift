import Foundation
import RealmSwift
import Testing

/// Values that are stored by code for their type, beside those that go through their wrappers.
private final class AllDirect: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var age = 7
    @Persisted var name = "none"
    @Persisted var score: Double
    @Persisted var isActive: Bool
    @Persisted var born: Date
    @Persisted var maybeInt: Int?
    @Persisted var maybeDouble: Double?
    @Persisted var maybeBool: Bool?
    @Persisted var maybeText: String?
    @Persisted var maybeDate: Date?
}

private final class HalfDirect: Object {
    @Persisted var title: String
    @Persisted var small: Int8
    @Persisted var next: HalfDirect?
    @Persisted var tags: List<String>
    @Persisted var items: List<AllDirect>
}

private func open(_ types: [ObjectBase.Type] = [AllDirect.self, HalfDirect.self]) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
}

private func text(_ one: AllDirect) -> String {
    "\(one.id) \(one.age) \(one.name) \(one.score) \(one.isActive) \(one.born.timeIntervalSince1970) "
        + "\(one.maybeInt as Any) \(one.maybeDouble as Any) \(one.maybeBool as Any) \(one.maybeText as Any) "
        + "\(one.maybeDate?.timeIntervalSince1970 as Any)"
}

private func random(_ id: Int, _ numbers: inout SystemRandomNumberGenerator) -> [String: Any] {
    var values: [String: Any] = ["id": id, "born": Date(timeIntervalSince1970: Double(id) * 1.5)]
    let texts = ["", "é", String(repeating: "x", count: 40), "a\0b", "日本"]
    func maybe(_ name: String, _ value: Any) { if Bool.random(using: &numbers) { values[name] = value } }
    maybe("age", Int.random(in: -3...3, using: &numbers))
    maybe("name", texts.randomElement(using: &numbers) ?? "")
    maybe("score", Double.random(in: -1...1, using: &numbers))
    maybe("isActive", true)
    maybe("maybeInt", Int.max)
    maybe("maybeDouble", -0.0)
    maybe("maybeBool", false)
    maybe("maybeText", texts.randomElement(using: &numbers) ?? "")
    maybe("maybeDate", Date(timeIntervalSince1970: -1.25))
    return values
}

@Suite struct DirectValueTests {
    @Test func allWaysOfAddingGiveTheSameObject() throws {
        var numbers = SystemRandomNumberGenerator()
        let realm = try open()
        try realm.write {
            for id in 0..<200 {
                let values = random(3 * id, &numbers)
                let unmanaged = AllDirect(value: values)
                let wanted = text(unmanaged)
                realm.add(unmanaged)
                #expect(text(unmanaged) == wanted)
                var other = values
                other["id"] = 3 * id + 1
                let created = realm.create(AllDirect.self, value: other)
                var all = other
                all["id"] = 3 * id + 2
                // All values are given, and have exactly the types of the properties.
                for (name, value) in ["age": created.age, "name": created.name, "score": created.score] as [String: Any]
                {
                    all[name] = value
                }
                let third = realm.create(AllDirect.self, value: all)
                #expect(text(created).drop { $0 != " " } == wanted.drop { $0 != " " })
                #expect(text(third).drop { $0 != " " } == wanted.drop { $0 != " " })
            }
        }
        #expect(realm.objects(AllDirect.self).count == 600)
    }

    @Test func valuesOfOtherTypesAreConverted() throws {
        let realm = try open()
        try realm.write {
            let values: [Any] = [1, 2.0, "a", 3, 1, Date(timeIntervalSince1970: 5), 4.0, 5, true, "b", Date()]
            let one = realm.create(AllDirect.self, value: values)
            #expect(one.age == 2 && one.score == 3 && one.isActive && one.maybeInt == 4 && one.maybeDouble == 5)
        }
    }

    @Test func existingObjectsAreUpdated() throws {
        let realm = try open()
        try realm.write {
            let first = AllDirect(value: ["id": 1, "name": "a", "age": 1])
            realm.add(first)
            let second = AllDirect(value: ["id": 1, "name": "b"])
            realm.add(second, update: .modified)
            #expect(first.name == "b" && first.age == 7 && second.name == "b")
            realm.create(AllDirect.self, value: ["id": 1, "age": 9], update: .modified)
            #expect(first.age == 9 && first.name == "b")
        }
        #expect(realm.objects(AllDirect.self).count == 1)
    }

    @Test func otherPropertiesFollow() throws {
        let realm = try open()
        let first = HalfDirect(), second = HalfDirect()
        (first.title, first.small, first.next) = ("one", 3, second)
        (second.title, second.next) = ("two", first)
        first.tags.append(objectsIn: ["x", "y"])
        first.items.append(AllDirect(value: ["id": 1, "name": "inner"]))
        try realm.write { realm.add(first) }
        #expect(
            first.realm != nil && second.realm != nil && first.isSameObject(as: second.next)
                && first.next?.title == "two")
        #expect(first.small == 3 && Array(first.tags) == ["x", "y"] && first.items[0].name == "inner")
        #expect(realm.objects(HalfDirect.self).count == 2)
    }

    @Test func aRolledBackObjectIsInvalidated() throws {
        let realm = try open()
        let one = AllDirect(value: ["id": 1])
        realm.beginWrite()
        realm.add(one)
        realm.cancelWrite()
        #expect(one.isInvalidated && realm.objects(AllDirect.self).isEmpty)
        try realm.write { realm.add(AllDirect(value: ["id": 1, "name": "again"])) }
        #expect(realm.objects(AllDirect.self).first?.name == "again")
    }
}
