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
        let dogs = ida.dogs, scores = ida.scores, all = realm.objects(Person.self), rex = ida.dogs[0],
            owners = ida.dogs[0].owners
        let frozen = ida.freeze()
        #expect(all.count == 1 && !ida.isInvalidated && !dogs.isInvalidated && !all.isInvalidated)
        let same = realm
        realm.invalidate()
        #expect(
            ida.isInvalidated && rex.isInvalidated && dogs.isInvalidated && scores.isInvalidated && all.isInvalidated
                && owners.isInvalidated)
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
        try check("invalidated") { realm, ida in
            _ = try realm.write { realm.create(Person.self, value: ["id": 2, "best": ida]) }
        }
    }

    /// In memory there is nothing but what is open.
    @Test func inMemory() throws {
        let realm = try Realm(
            configuration: .init(
                inMemoryIdentifier: UUID().uuidString, objectTypes: [Dog.self, Person.self, Address.self, Country.self])
        )
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

    /// What a program has of the Realm leads to the newest at once, however often it was invalidated; and nothing keeps
    /// the file open.
    @Test func nothingIsKept() throws {
        let folder = try Folder(),
            configuration = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        do {
            let realm = try open(folder)
            let ida: Person = try realm.write { realm.create(Person.self, value: ["id": 1]) }
            let token = realm.observe { _, _ in _ = realm.isEmpty }
            for _ in 0..<200 { realm.invalidate() }
            #expect(ida.realm == realm && realm.objects(Person.self).count == 1)
            token.invalidate()
        }
        #expect(try deleting { try Realm.deleteFiles(for: configuration) })
    }

    private actor Store {
        var hasBegun = false

        /// What a write that waits while its Realm is invalidated throws; nil when it was done.
        func invalidatedWhileWaiting(_ configuration: Realm.Configuration) async throws -> String? {
            let realm = try await Realm(configuration: configuration, actor: self)
            let waiting = Task {
                hasBegun = true
                do { try await realm.asyncWrite { realm.add(Dog("Rex")) } } catch { return "\(error)" as String? }
                return nil
            }
            while !hasBegun { await Task.yield() }
            realm.invalidate()
            return await waiting.value
        }
    }

    @Test func aWriteThatWaitsFails() async throws {
        let folder = try Folder(),
            configuration = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        let isWriting = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0)
        let writer = Thread {
            let realm = try? Realm(configuration: configuration)
            realm?.beginWrite()
            isWriting.signal()
            mayEnd.wait()
            realm?.cancelWrite()
        }
        writer.start()
        await withCheckedContinuation { c in
            DispatchQueue.global().async {
                isWriting.wait()
                c.resume()
            }
        }
        let error = try await Store().invalidatedWhileWaiting(configuration)
        #expect(error?.contains("closed") == true, "\(error ?? "nothing was thrown")")
        mayEnd.signal()
    }

    @Test func safeVariablesOfReadOnlyRealms() throws {
        let folder = try Folder()
        do {
            let realm = try open(folder)
            try realm.write { realm.add(Dog("Rex")) }
        }
        var configuration = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        @ThreadSafe var dog: Dog? = realm.objects(Dog.self).first
        #expect(dog?.name == "Rex")
        let reference = ThreadSafeReference(to: try #require(realm.objects(Dog.self).first))
        #expect(realm.resolve(reference)?.name == "Rex")
    }
}
