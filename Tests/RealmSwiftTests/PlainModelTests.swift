import Foundation
import RealmSwift
import Testing

// Models of the time before `@Persisted`: what of them needs no Objective-C.

class PlainDog: Object {
    let age = RealmProperty<Int?>()
    let any = RealmProperty<AnyRealmValue>()
    let names = List<String>()
    let owners = LinkingObjects(fromType: PlainOwner.self, property: "dogs")
    let cache = List<Int>()

    override class func ignoredProperties() -> [String] { ["cache"] }
}

class PlainOwner: Object {
    let dogs = List<PlainDog>()
    let tags = MutableSet<String>()
    let scores = Map<String, Int>()
}

struct PlainModelTests {
    @Test func fieldsAreProperties() throws {
        let (realm, folder) = try makeRealm(PlainDog.self, PlainOwner.self)
        #expect(realm.schema["PlainDog"]?.properties.map(\.name) == ["age", "any", "names"])
        let owner = PlainOwner(), dog = PlainDog()
        dog.age.value = 3
        dog.any.value = .string("x")
        dog.names.append("rex")
        owner.dogs.append(dog)
        owner.tags.insert("t")
        owner.scores["a"] = 1
        #expect(dog.age.value == 3 && dog.owners.isEmpty)
        try realm.write { realm.add(owner) }
        // The same instance, and one that was read anew.
        for found in [dog, try #require(realm.objects(PlainDog.self).first)] {
            #expect(
                found.age.value == 3 && found.any.value == "x" && found.names.first == "rex" && found.owners.count == 1)
            #expect(found.owners.first?.tags.contains("t") == true && found.owners.first?.scores["a"] == 1)
        }
        try realm.write {
            dog.age.value = nil
            dog.names.append("max")
        }
        #expect(realm.objects(PlainDog.self).filter("age == nil AND names.@count == 2").count == 1)
        try realm.write { realm.delete(dog) }
        #expect(dog.isInvalidated && owner.dogs.isEmpty)
        _ = folder
    }

    @Test func valuesOutliveTheirObject() throws {
        let (realm, folder) = try makeRealm(PlainDog.self, PlainOwner.self)
        try realm.write { realm.create(PlainDog.self, value: ["age": 4, "names": ["a"]]) }
        let age = try #require(realm.objects(PlainDog.self).first?.age),
            names = try #require(realm.objects(PlainDog.self).first?.names)
        #expect(age.value == 4 && names.count == 1 && "\(age)" == "Optional(4)" && age == age)
        _ = folder
    }

    @Test func keyPathsHaveNames() {
        #expect(_name(for: \PlainOwner.dogs) == "dogs" && _name(for: \PlainOwner.dogs[0].names) == "dogs.names")
        #expect(_name(for: \PlainDog.age.value) == "age")
    }
}
