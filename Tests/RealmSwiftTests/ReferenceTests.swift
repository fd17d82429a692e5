import Foundation
import RealmSwift
import Synchronization
import Testing

/// References to other threads keep the version at which they were made.
struct ReferenceTests {
    private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try body() } catch { Issue.record("\(error)") }
            done.signal()
        }
        done.wait()
    }

    private func filled() throws -> (Realm, Folder, Person) {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let person = try realm.write {
            realm.create(
                Person.self,
                value: [
                    "id": 1, "name": "Ida", "dogs": [["name": "Rex"]], "nicknames": ["i"], "scores": ["a": 1],
                    "address": ["street": "s"],
                ])
        }
        return (realm, folder, person)
    }

    /// The Realm that made the references goes on, so that nobody but they keep the version.
    @Test func whatWasDeletedIsFoundAtTheVersionOfTheReference() throws {
        let (realm, folder, person) = try filled()
        let object = ThreadSafeReference(to: person), list = ThreadSafeReference(to: person.dogs),
            set = ThreadSafeReference(to: person.nicknames)
        let map = ThreadSafeReference(to: person.scores), owners = ThreadSafeReference(to: person.dogs[0].owners)
        let results = ThreadSafeReference(to: realm.objects(Person.self).filter("id == 1")),
            late = ThreadSafeReference(to: person)
        let any = ThreadSafeReference(to: AnyRealmCollection(person.dogs)),
            inner = ThreadSafeReference(to: try #require(person.address))
        let lateList = ThreadSafeReference(to: person.dogs)
        try realm.write { realm.deleteAll() }
        realm.refresh()
        let configuration = realm.configuration
        onAnotherThread {
            let realm = try Realm(configuration: configuration)
            let person = realm.resolve(object)
            #expect(person?.name == "Ida" && object.isInvalidated)
            #expect(
                realm.resolve(list)?.first?.name == "Rex" && realm.resolve(set)?.first == "i"
                    && realm.resolve(map)?["a"] == 1)
            #expect(
                realm.resolve(owners)?.count == 1 && realm.resolve(results)?.first?.name == "Ida"
                    && realm.resolve(any)?.count == 1)
            #expect(realm.resolve(inner)?.street == "s")
            // Behind the deletion there is nothing that could be shown.
            realm.refresh()
            #expect(person?.isInvalidated == true)
            #expect(realm.resolve(late) == nil && realm.resolve(lateList) == nil)
        }
        _ = folder
    }

    @Test func aRealmThatIsAheadStays() throws {
        let (realm, folder, person) = try filled()
        let reference = ThreadSafeReference(to: person), gone = ThreadSafeReference(to: person.dogs[0])
        let configuration = realm.configuration
        onAnotherThread {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.objects(Person.self).first?.age = 5
                realm.delete(realm.objects(Dog.self))
            }
            #expect(realm.resolve(reference)?.age == 5 && realm.resolve(gone) == nil)
        }
        _ = folder
    }

    @Test func aRealmThatIsBehindMoves() throws {
        let (realm, folder, person) = try filled()
        let configuration = realm.configuration
        let isOpen = DispatchSemaphore(value: 0), isWritten = DispatchSemaphore(value: 0),
            done = DispatchSemaphore(value: 0)
        let carried = Mutex<ThreadSafeReference<Person>?>(nil)
        Thread.detachNewThread {
            do {
                let realm = try Realm(configuration: configuration)
                #expect(realm.objects(Person.self).first?.age == 0)
                isOpen.signal()
                isWritten.wait()
                #expect(carried.withLock { $0 }.flatMap { realm.resolve($0) }?.age == 7)
            } catch { Issue.record("\(error)") }
            done.signal()
        }
        isOpen.wait()
        try realm.write { person.age = 7 }
        let reference = ThreadSafeReference(to: person)
        carried.withLock { $0 = reference }
        isWritten.signal()
        done.wait()
        _ = folder
    }

    /// Of an object that no commit has made yet: it is found once there was one, and nobody's in another file.
    @Test func referencesMadeInAWriteTransaction() throws {
        let (realm, folder, _) = try filled()
        let configuration = realm.configuration,
            other = folder.configuration([Dog.self, Person.self, Address.self, Country.self], name: "other")
        realm.beginWrite()
        let dog = realm.create(Dog.self, value: ["name": "new"])
        let early = ThreadSafeReference(to: dog), later = ThreadSafeReference(to: dog),
            elsewhere = ThreadSafeReference(to: dog)
        let undone = ThreadSafeReference(to: realm.create(Dog.self, value: ["name": "undone"]))
        onAnotherThread {
            let found = try Realm(configuration: configuration).resolve(early)
            #expect(found == nil)
        }
        try realm.commitWrite()
        onAnotherThread {
            let name = try Realm(configuration: configuration).resolve(later)?.name,
                nobody = try Realm(configuration: other).resolve(elsewhere)
            #expect(name == "new" && nobody == nil)
        }
        _ = undone
    }

    /// Nobody keeps the version of a reference that was resolved or let go of.
    @Test func referencesLetGo() throws {
        let folder = try Folder()
        var configuration = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        configuration.maximumNumberOfActiveVersions = 5
        let realm = try Realm(configuration: configuration)
        let dog = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
        for i in 0..<20 {
            let reference = ThreadSafeReference(to: dog)
            try realm.write { dog.age = i }
            if i % 2 == 0 { #expect(realm.resolve(reference)?.age == i) }
        }
        var kept: [ThreadSafeReference<Dog>] = []
        #expect(throws: Realm.Error.self) {
            for i in 0..<20 {
                kept.append(ThreadSafeReference(to: dog))
                try realm.write { dog.age = i }
            }
        }
    }

    @Test func unmanagedValuesAreNoThreadSafeVariables() throws {
        #expect(misuse { _ = ThreadSafe(wrappedValue: Dog("free")) }?.contains("Only managed objects") == true)
        #expect(misuse { _ = ThreadSafeReference(to: Dog("free")) }?.contains("unmanaged object") == true)
    }
}
