import Foundation
import RealmSwift
import Synchronization
import Testing

/// Migrations in the details that programs for Realm's package rely on.
struct MigrationParityTests {
    private func opened(_ folder: Folder, version: UInt64 = 0, _ block: MigrationBlock? = nil) throws -> Realm {
        var c = folder.configuration([Dog.self, Person.self, Address.self, Country.self])
        (c.schemaVersion, c.migrationBlock) = (version, block)
        return try Realm(configuration: c)
    }

    private func filled() throws -> Folder {
        let folder = try Folder(), realm = try opened(folder)
        try realm.write { for n in 1...3 { realm.add(Dog("d\(n)", n)) } }
        return folder
    }

    /// What came or went in the migration itself is not gone over.
    @Test func whatIsGoneOver() throws {
        let folder = try filled(), seen = Mutex<[String]>([])
        let realm = try opened(folder, version: 1) { migration, _ in
            migration.create("Dog", value: ["name": "new"])
            migration.enumerateObjects(ofType: "Dog") { old, new in
                guard let old, let new else {
                    Issue.record("an object that was not there, or is not")
                    return
                }
                seen.withLock { $0.append(old["name"] as? String ?? "") }
                if old["age"] as? Int == 2 { migration.delete(new) }
            }
            var rest = 0
            migration.enumerateObjects(ofType: "Dog") { _, _ in rest += 1 }
            #expect(rest == 2)
            migration.enumerateObjects(ofType: "NoSuchClass") { _, _ in _ = Issue.record("no such class") }
        }
        #expect(
            seen.withLock { $0 } == ["d1", "d2", "d3"]
                && Set(realm.objects(Dog.self).map { $0.name }) == ["d1", "d3", "new"])
    }

    @Test func dataOfAClassThatStays() throws {
        let folder = try filled()
        let realm = try opened(folder, version: 1) { migration, _ in
            #expect(migration.deleteData(forType: "Dog") && !migration.deleteData(forType: "NoSuchClass"))
            migration.create("Dog", value: ["name": Color.blue, "age": Level.high] as [String: Any])
            migration.create("Dog", value: ["name": Point(x: 1, y: 2)])
            migration.enumerateObjects(ofType: "Dog") { _, _ in _ = Issue.record("all are gone") }
        }
        #expect(realm.objects(Dog.self).map(\.name) == ["blue", "1,2"] && realm.objects(Dog.self)[0].age == 9)
    }

    /// When the callback runs, nothing but what it was given keeps the file open.
    @Test func openedInTheBackground() throws {
        let folder = try filled()
        for _ in 0..<20 {
            let configuration = folder.configuration([Dog.self, Person.self, Address.self, Country.self]),
                done = DispatchSemaphore(value: 0)
            let queue = DispatchQueue(label: "callback")
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                #expect((try? result.get().objects(Dog.self).count) == 3)
                done.signal()
            }
            done.wait()
            queue.sync {}
        }
        #expect(try deleting { try Realm.deleteFiles(for: folder.configuration([Dog.self])) })
    }

    /// A variable for any thread shows what the Realm of each shows.
    @Test func threadSafeVariables() throws {
        let folder = try filled(), realm = try opened(folder)
        let dog = try #require(realm.objects(Dog.self).first), kept = ThreadSafe(wrappedValue: dog)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if let dog = kept.wrappedValue { try? dog.realm?.write { dog.name = "renamed" } }
            done.signal()
        }
        done.wait()
        realm.refresh()
        #expect(kept.wrappedValue?.name == "renamed")
        try realm.write { realm.delete(dog) }
        #expect(kept.wrappedValue == nil)
    }
}
