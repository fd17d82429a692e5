import Dispatch
import Foundation
import RealmSwift
import Synchronization
import Testing

/// Opening for another place than the calling thread, with a migration that touches data.
struct OpeningTests {
    /// A file with three dogs, and how to open it with a migration that gives each an age.
    private func old(_ folder: Folder) throws -> Realm.Configuration {
        let realm = try Realm(configuration: folder.configuration([Dog.self, Person.self, Address.self, Country.self]))
        try realm.write { for name in ["a", "b", "c"] { realm.add(Dog(name)) } }
        var new = folder.configuration([Dog.self, Person.self, Address.self, Country.self])
        new.schemaVersion = 7
        new.migrationBlock = { migration, version in
            migration.enumerateObjects(ofType: "Dog") { old, new in
                new?["name"] = "\(old?["name"] as? String ?? "?")\(version)"
            }
            migration.create("Dog", value: ["name": "made"])
        }
        return new
    }

    @Test func asyncOpenMigratesData() throws {
        let folder = try Folder(), configuration = try old(folder), queue = DispatchQueue(label: "callback")
        let done = DispatchSemaphore(value: 0), told = Mutex<[String]>([])
        Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
            let names = Result { try result.get().objects(Dog.self).sorted(byKeyPath: "name").map(\.name) as [String] }
            told.withLock { $0 = (try? names.get()) ?? ["\(result)"] }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 30) == .success)
        #expect(told.withLock { $0 } == ["a0", "b0", "c0", "made"])
        // Nothing has the file open behind the callback.
        queue.sync {}
        #expect(try schemaVersionAtURL(try #require(configuration.fileURL)) == 7)
    }

    @Test func aMigrationOutsideOfTheQueue() throws {
        let folder = try Folder(), configuration = try old(folder), queue = DispatchQueue(label: "home")
        let realm = try Realm(configuration: configuration, queue: queue)
        nonisolated(unsafe) let kept = realm
        let names = queue.sync { kept.objects(Dog.self).sorted(byKeyPath: "name").map(\.name) as [String] }
        #expect(names == ["a0", "b0", "c0", "made"])
    }

    /// What the migration throws comes out, and the file stays.
    @Test func aFailedMigrationOutsideOfTheQueue() throws {
        let folder = try Folder()
        var configuration = try old(folder)
        configuration.migrationBlock = { migration, _ in
            migration.renameProperty(onType: "Dog", from: "nothing", to: "name")
        }
        let queue = DispatchQueue(label: "home"), copy = configuration
        #expect(throws: Realm.Error.self) { try Realm(configuration: copy, queue: queue) }
        #expect(try schemaVersionAtURL(try #require(configuration.fileURL)) == 0)
    }

    /// A collection without @Persisted beside properties with it would be part of no file.
    @Test func collectionsWithoutAWrapperAreRefused() throws {
        let folder = try Folder()
        for type in [HalfPorted.self, HalfPortedChild.self, HalfPortedLinks.self] as [ObjectBase.Type] {
            var message = ""
            do {
                _ = try Realm(
                    configuration: folder.configuration([type, Dog.self, Person.self, Address.self, Country.self]))
            } catch {
                message = "\(error)"
            }
            #expect(message.contains(".books'") && message.contains("without @Persisted"), "\(type): \(message)")
        }
        let realm = try Realm(
            configuration: folder.configuration([Ported.self, Dog.self, Person.self, Address.self, Country.self]))
        #expect(realm.schema["Ported"]?.properties.map(\.name) == ["name"])
    }

    /// `try?` would make it a write that never was.
    @Test func writingOnAnotherThreadEnds() throws {
        let (realm, folder) = try makeRealm(Dog.self, Person.self, Address.self, Country.self)
        nonisolated(unsafe) let kept = realm
        #expect(misuse { try? kept.write { kept.add(Dog("lost")) } }?.contains("incorrect thread") == true)
        #expect(
            misuse { try? kept.writeCopy(toFile: folder.url.appendingPathComponent("copy.realm")) }?.contains(
                "incorrect thread") == true)
        #expect(misuse { try? kept.cancelAsyncWrite(3) }?.contains("incorrect thread") == true)
        #expect(misuse { try? kept.commitWrite() } != nil)
        #expect(realm.isEmpty)
    }
}

// None of them is part of Realms that list no classes: they could not be opened.
private class HalfPorted: Object {
    @Persisted var name: String
    let books = List<Dog>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class HalfPortedChild: Base {
    let books = MutableSet<Int>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class HalfPortedLinks: Object {
    @Persisted var name: String
    let books = RealmProperty<Int?>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Ported: Object {
    @Persisted var name: String
    let books = List<Dog>()

    override class func ignoredProperties() -> [String] { ["books"] }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
