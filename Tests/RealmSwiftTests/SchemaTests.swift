import Foundation
import RealmSwift
import Synchronization
import Testing

// Versions of one class: the name in the file is given.
private class PersonV1: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: String
    @Persisted var last: String
    @Persisted var years: String

    override class func className() -> String { "Member" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PersonV2: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var family: String

    override class func className() -> String { "Member" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct FileTests {
    @Test func migration() throws {
        let folder = try Folder(), file = folder.url.appendingPathComponent("m.realm")
        do {
            let realm = try Realm(configuration: .init(fileURL: file, schemaVersion: 1, objectTypes: [PersonV1.self]))
            try realm.write {
                realm.create(PersonV1.self, value: [1, "Ida", "Low", "7"])
                realm.create(PersonV1.self, value: [2, "Al", "High", "x"])
            }
        }
        #expect(try schemaVersionAtURL(file) == 1)
        #expect(throws: Realm.Error.self) {
            try Realm(configuration: .init(fileURL: file, schemaVersion: 1, objectTypes: [PersonV2.self]))
        }
        do {
            _ = try Realm(configuration: .init(fileURL: file, schemaVersion: 1, objectTypes: [PersonV2.self]))
        } catch Realm.Error.schemaMismatch {
        } catch { Issue.record("\(error)") }
        let seen = Mutex<[String]>([])
        var configuration = Realm.Configuration(fileURL: file, schemaVersion: 2, objectTypes: [PersonV2.self])
        configuration.migrationBlock = { migration, old in
            seen.withLock {
                $0.append(
                    "from \(old) \(migration.oldSchema["Member"]?.properties.count ?? 0) \(migration.newSchema["Member"]?.properties.count ?? 0)"
                )
            }
            migration.renameProperty(onType: "Member", from: "last", to: "family")
            migration.enumerateObjects(ofType: "Member") { old, new in
                guard let old, let new else { return }
                new["name"] = "\(old["first"] ?? "") \(old["last"] ?? "")"
                new.age = Int(old["years"] as? String ?? "") ?? -1
                if new["id"] as? Int == 2 { migration.delete(new) }
            }
            migration.create("Member", value: ["id": 9, "name": "made"])
        }
        let realm = try Realm(configuration: configuration)
        #expect(seen.withLock { $0 } == ["from 1 4 4"])
        let all = realm.objects(PersonV2.self).sorted(byKeyPath: "id")
        #expect(all.map(\.name) == ["Ida Low", "made"] && all[0].age == 7 && all[0].family == "Low")
    }

    @Test func aMigrationThatFailsChangesNothing() throws {
        let folder = try Folder(), file = folder.url.appendingPathComponent("m.realm")
        do {
            let realm = try Realm(configuration: .init(fileURL: file, objectTypes: [PersonV1.self]))
            try realm.write { realm.create(PersonV1.self, value: [1, "Ida", "Low", "7"]) }
        }
        var configuration = Realm.Configuration(fileURL: file, schemaVersion: 2, objectTypes: [PersonV2.self])
        configuration.migrationBlock = { migration, _ in
            migration.renameProperty(onType: "Member", from: "nothing", to: "family")
        }
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(try schemaVersionAtURL(file) == 0)
        configuration.migrationBlock = nil
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: configuration).isEmpty)
    }

    @Test func kindsOfFiles() throws {
        let folder = try Folder(), key = Data((0..<64).map { UInt8($0) })
        let file = folder.url.appendingPathComponent("a.realm"), copy = folder.url.appendingPathComponent("b.realm")
        let plain = Realm.Configuration(fileURL: file, objectTypes: [Base.self])
        #expect(!Realm.fileExists(for: plain))
        do {
            let realm = try Realm(configuration: plain)
            try realm.write { realm.create(Base.self, value: ["k", 1] as [Any]) }
            try realm.writeCopy(toFile: copy, encryptionKey: key)
            #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: plain) }
            #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: copy) }
        }
        do {
            let sealed = try Realm(configuration: .init(fileURL: copy, encryptionKey: key, objectTypes: [Base.self]))
            #expect(sealed.objects(Base.self).first?.first == 1)
        }
        do {
            _ = try Realm(configuration: .init(fileURL: copy, encryptionKey: Data(count: 64), objectTypes: [Base.self]))
            Issue.record("opened with another key")
        } catch Realm.Error.invalidDatabase {
        } catch { Issue.record("\(error)") }
        #expect(throws: Realm.Error.self) { try Realm(configuration: .init(fileURL: copy, objectTypes: [Base.self])) }
        // Of the file of another.
        let seeded = Realm.Configuration(
            fileURL: folder.url.appendingPathComponent("c.realm"), objectTypes: [Base.self], seedFilePath: file)
        #expect(try Realm(configuration: seeded).objects(Base.self).count == 1)
        let readOnly = try Realm(configuration: .init(fileURL: file, readOnly: true, objectTypes: [Base.self]))
        #expect(readOnly.objects(Base.self).count == 1)
        #expect(throws: Realm.Error.self) { try readOnly.write {} }
        do {
            _ = try Realm(
                configuration: .init(
                    fileURL: folder.url.appendingPathComponent("none.realm"), readOnly: true, objectTypes: [Base.self]))
            Issue.record("opened what is not there")
        } catch Realm.Error.fileNotFound {
        } catch { Issue.record("\(error)") }
        let offered = Mutex(0)
        let compacting = Realm.Configuration(
            fileURL: folder.url.appendingPathComponent("c.realm"),
            shouldCompactOnLaunch: { total, used in
                offered.withLock { $0 += 1 }
                return used < total
            }, objectTypes: [Base.self])
        #expect(try Realm(configuration: compacting).objects(Base.self).count == 1)
        #expect(offered.withLock { $0 } <= 1)
    }

    @Test func inMemory() throws {
        let configuration = Realm.Configuration(
            inMemoryIdentifier: "memory-\(UUID().uuidString)", objectTypes: [Base.self])
        do {
            let realm = try Realm(configuration: configuration), same = try Realm(configuration: configuration)
            try realm.write { realm.create(Base.self, value: ["k", 1] as [Any]) }
            #expect(same == realm && same.objects(Base.self).count == 1 && configuration.fileURL == nil)
        }
        #expect(try Realm(configuration: configuration).isEmpty)
    }

    @Test func openingInTheBackground() throws {
        let folder = try Folder(), configuration = folder.configuration([Base.self]), done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "opened"), count = Mutex(-1)
        Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
            count.withLock { $0 = (try? result.get())?.objects(Base.self).count ?? -2 }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 20) == .success && count.withLock { $0 } == 0)
    }

    @Test func schemas() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let person = try #require(realm.schema["Person"])
        #expect(
            person.primaryKeyProperty?.name == "id" && person["name"]?.isIndexed == true
                && person["best"]?.objectClassName == "Person")
        #expect(
            person["dogs"]?.isArray == true && person["nicknames"]?.isSet == true && person["scores"]?.isMap == true
                && person["best"]?.isOptional == true)
        #expect(
            person["dogs"]?.type == .object && person["nicknames"]?.type == .string && person.objectClass == Person.self
                && !person.isEmbedded)
        #expect(
            realm.schema["Address"]?.isEmbedded == true && realm.schema["Nobody"] == nil
                && realm.schema.objectSchema.count == 4)
        _ = folder
    }

    @Test func withoutModels() throws {
        let folder = try Folder(),
            configuration = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        let realm = try Realm(configuration: configuration)
        let ida = try realm.write { () -> DynamicObject in
            let ida = realm.dynamicCreate(
                "Person", value: ["id": 1, "name": "Ida", "dogs": [["name": "Rex"]], "scores": ["a": 1]])
            ida.age = 5
            ida["best"] = ida
            return ida
        }
        #expect(
            ida.name as? String == "Ida" && ida["age"] as? Int == 5
                && (ida.best as? DynamicObject)?.isSameObject(as: ida) == true)
        #expect(ida.dynamicList("dogs").count == 1 && ida.dynamicList("dogs")[0].name as? String == "Rex")
        #expect(
            (ida["dogs"] as? List<DynamicObject>)?.first?["name"] as? String == "Rex"
                && (ida["scores"] as? Map<String, Int>)?["a"] == 1)
        #expect(realm.dynamicObjects("Person").filter("dogs.name == 'Rex'").count == 1)
        #expect(
            realm.dynamicObject(ofType: "Person", forPrimaryKey: 1)?["name"] as? String == "Ida"
                && realm.dynamicObject(ofType: "Person", forPrimaryKey: 2) == nil)
        #expect(
            realm.dynamicObjects("Dog").first?["owners"].flatMap { $0 as? LinkingObjects<DynamicObject> }?.first?["id"]
                as? Int == 1)
    }
}

// MARK: Copies and JSON

class Track: Object, Codable {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    @Persisted var rating: Double?
    @Persisted var color: Color2?
    @Persisted var tags: List<String>
    @Persisted var counts: Map<String, Int>
    @Persisted var key: ObjectId
    @Persisted var price: Decimal128
}

enum Color2: String, PersistableEnum, Codable { case red, green }

struct CopyTests {
    @Test func json() throws {
        let text =
            #"{"id":1,"title":"x","color":"green","tags":["a","b"],"counts":{"k":3},"key":"00112233445566778899aabb","price":"1.5"}"#
        let track = try JSONDecoder().decode(Track.self, from: Data(text.utf8))
        #expect(
            track.id == 1 && track.rating == nil && track.color == .green && Array(track.tags) == ["a", "b"]
                && track.counts["k"] == 3)
        #expect(track.key.stringValue == "00112233445566778899aabb" && track.price == 1.5)
        let (realm, folder) = try makeRealm(Track.self)
        try realm.write { realm.add(track) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(track) }
        let again = try JSONDecoder().decode(Track.self, from: try JSONEncoder().encode(track.detach()))
        #expect(
            again.title == "x" && again.counts["k"] == 3 && again.key == track.key && again.color == .green
                && Array(again.tags) == ["a", "b"])
        #expect(String(decoding: try JSONEncoder().encode(track.tags), as: UTF8.self) == #"["a","b"]"#)
        _ = folder
    }

    @Test func detaching() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write { () -> Person in
            let ida = realm.create(
                Person.self,
                value: [
                    "id": 1, "name": "Ida", "dogs": [["name": "Rex"]], "address": ["street": "Long"],
                    "nicknames": ["i"],
                ])
            ida.best = ida
            ida.friends["me"] = ida
            return ida
        }
        let whole = ida.detach(), flat = ida.detach(depth: 0)
        #expect(
            whole.realm == nil && whole.best === whole && whole.friends["me"]?.map { $0 === whole } == true
                && whole.dogs[0].name == "Rex")
        #expect(whole.address?.street == "Long" && Array(whole.nicknames) == ["i"] && whole.dogs[0].realm == nil)
        // A link to what is copied anyway goes no further away.
        #expect(flat.best === flat && flat.dogs.isEmpty && flat.address?.street == "Long" && flat.name == "Ida")
        try realm.write { realm.delete(ida) }
        #expect(whole.name == "Ida")
        _ = folder
    }

    @Test func streams() async throws {
        let folder = try Folder(), configuration = folder.configuration([Base.self]),
            queue = DispatchQueue(label: "streams")
        let stream = try queue.sync {
            try Realm(configuration: configuration, queue: queue).objects(Base.self).changes()
        }
        var seen: [CollectionChange] = []
        for await change in stream {
            seen.append(change)
            if seen.count == 3 { break }
            let n = seen.count
            try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                try realm.write { realm.create(Base.self, value: ["\(n)", n] as [Any]) }
            }
        }
        #expect(seen.map(\.insertions) == [[], [0], [1]] && seen[0].isEmpty)
    }

    /// What is not given begins as the model says also where objects are made without it; a primary key, too.
    @Test func objectsMadeWithoutAModelBeginAsItSays() throws {
        let (realm, folder) = try makeRealm(Numbered.self, Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            let a = realm.dynamicCreate("Numbered"), b = realm.dynamicCreate("Numbered", value: ["text": "given"])
            #expect(
                a["text"] as? String == "as the model says" && b["text"] as? String == "given"
                    && a["count"] as? Int == 7)
            #expect((a["id"] as? ObjectId) != nil && a["id"] as? ObjectId != b["id"] as? ObjectId)
            #expect(a.dynamicList("tags").isEmpty && a["person"] == nil)
            #expect(realm.dynamicCreate("Person")["id"] as? Int == 0 && realm.objects(Person.self)[0].name == "nobody")
        }
        _ = folder
    }

    /// Dictionaries and arrays stand for objects also where there is no model, as in migrations.
    @Test func dictionariesForObjectsWithoutAModel() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            let person = realm.dynamicCreate("Person", value: ["id": 1, "dogs": [["name": "old"]]])
            person["address"] = ["street": "Oslo"]
            person["best"] = ["id": 2, "name": "Ida"]
            person["dogs"] = [["name": "Rex"], ["name": "Max"]]
            #expect((person["address"] as? DynamicObject)?["street"] as? String == "Oslo")
            person["address"] = ["street": "Rome"]
            person["best"] = ["id": 2, "age": 7] as [String: Any]
            person["dogs"] = person.dynamicList("dogs").reversed().map { $0 } as [DynamicObject]
        }
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        #expect(
            person.address?.street == "Rome" && person.best?.id == 2 && person.best?.age == 7
                && realm.objects(Person.self).count == 2)
        #expect(person.dogs.map(\.name) == ["Max", "Rex"] && person.best?.name == "Ida")
        try realm.write {
            realm.dynamicObjects("Person")[0]["best"] = nil
            realm.dynamicObjects("Person")[0]["address"] = nil
        }
        #expect(person.best == nil && person.address == nil)
        _ = folder
    }
}

class Numbered: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var text = "as the model says"
    @Persisted var count = 7
    @Persisted var tags: List<String>
    @Persisted var person: Person?
}
