import Foundation
import RealmSwift
import Testing

/// `realm.invalidate()`: all that was read is invalid, and the Realm goes on.
struct InvalidationTests {
    private func open(_ folder: Folder) throws -> Realm {
        try Realm(configuration: folder.configuration([Person.self, Dog.self, Address.self, Country.self]))
    }
    @Test func everythingIsInvalidAndTheRealmGoesOn() throws {
        let folder = try Folder(), realm = try open(folder)
        let ida: Person = try realm.write {
            realm.create(Person.self, value: ["id": 1, "name": "Ida", "dogs": [["name": "Rex"]], "scores": ["a": 1]])
        }
        let dogs = ida.dogs, scores = ida.scores, all = realm.objects(Person.self), rex = ida.dogs[0], owners = ida.dogs[0].owners
        let frozen = ida.freeze()
        #expect(all.count == 1 && !ida.isInvalidated && !dogs.isInvalidated && !all.isInvalidated)
        let same = realm
        realm.invalidate()
        #expect(ida.isInvalidated && rex.isInvalidated && dogs.isInvalidated && scores.isInvalidated && all.isInvalidated && owners.isInvalidated)
        #expect(all.isEmpty && dogs.isEmpty && scores.isEmpty && frozen.name == "Ida" && !frozen.isInvalidated)
        #expect(ida.description == "[invalid object]" && ida.realm == realm)
        // The Realm, each copy of it, and what is opened again are one and the same.
        let again = try open(folder)
        #expect(realm == same && realm == again && realm.objects(Person.self).first?.name == "Ida")
        try same.write { again.objects(Person.self).first?.name = "Ada" }
        #expect(realm.objects(Person.self).where { $0.name == "Ada" }.count == 1)
        for _ in 0..<50 { realm.invalidate() }
        let ada = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        #expect(ada.name == "Ada" && frozen.thaw()?.name == "Ada")
    }
    @Test func whatWasBeingWrittenIsUndone() throws {
        let folder = try Folder(), realm = try open(folder)
        realm.beginWrite()
        let ida = realm.create(Person.self, value: ["id": 1])
        realm.invalidate()
        #expect(ida.isInvalidated && !realm.isInWriteTransaction && realm.objects(Person.self).isEmpty)
        try realm.write { realm.create(Person.self, value: ["id": 2]) }
        #expect(realm.objects(Person.self).map(\.id) == [2])
    }
    @Test func use() throws {
        func check(_ part: String, _ body: @escaping @Sendable (Realm, Person) throws -> Void) throws {
            let message = misuse {
                let folder = try Folder(), realm = try open(folder)
                let ida: Person = try realm.write { realm.create(Person.self, value: ["id": 1]) }
                _ = ida.dogs.count
                realm.invalidate()
                try body(realm, ida)
            }
            #expect(message?.contains(part) == true, "\(message ?? "no misuse")")
        }
        try check("invalidated") { _, ida in _ = ida.name }
        try check("invalidated") { _, ida in ida.age = 3 }
        try check("invalidated") { realm, ida in try realm.write { ida.age = 3 } }
        try check("invalidated") { realm, ida in try realm.write { ida.dogs.append(Dog("x")) } }
        try check("invalidated") { realm, ida in try realm.write { realm.add(ida) } }
        try check("invalidated") { realm, ida in _ = try realm.write { realm.create(Person.self, value: ["id": 2, "best": ida]) } }
    }
    /// In memory there is nothing but what is open.
    @Test func inMemory() throws {
        let realm = try Realm(
            configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Dog.self, Person.self, Address.self, Country.self]))
        try realm.write { realm.add(Dog("Rex")) }
        realm.invalidate()
        #expect(realm.objects(Dog.self).first?.name == "Rex")
    }
    @Test func observersOfTheRealmStay() throws {
        let folder = try Folder(), realm = try open(folder)
        var told = 0
        let token = realm.observe { _, r in
            #expect(r == realm)
            told += 1
        }
        var changes = 0
        let results = realm.objects(Dog.self).observe { _ in changes += 1 }
        realm.refresh()
        try realm.write { realm.add(Dog("Ari")) }
        let before = changes, once = told
        #expect(once > 0)
        realm.invalidate()
        realm.invalidate()
        try realm.write { realm.add(Dog("Rex")) }
        let after = told
        #expect(after >= 2 * once && changes == before)
        token.invalidate()
        try realm.write { realm.add(Dog("Bo")) }
        #expect(told == after)
        results.invalidate()
    }
}
