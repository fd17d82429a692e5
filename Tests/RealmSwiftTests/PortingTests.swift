import Dispatch
import Foundation
import RealmSwift
import Synchronization
import Testing

/// What programs and tests written for Realm's package use, one by one.
struct PortingTests {
    private func filled() throws -> (Realm, Folder, Person) {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let person = try realm.write {
            realm.create(
                Person.self,
                value: [
                    "id": 1, "name": "Ida", "best": ["id": 2, "name": "Eve"],
                    "dogs": [["name": "Rex", "age": 3], ["name": "Ace", "age": 3]],
                ])
        }
        return (realm, folder, person)
    }

    private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try body() } catch { Issue.record("\(error)") }
            done.signal()
        }
        done.wait()
    }

    /// Results are equal to themselves, not to others with the same elements.
    @Test func equalCollections() throws {
        let (realm, folder, person) = try filled()
        let all = realm.objects(Dog.self), again = realm.objects(Dog.self), owners = person.dogs[0].owners
        #expect(all == all && all != again && owners == owners && owners != person.dogs[0].owners)
        #expect(
            AnyRealmCollection(all) == AnyRealmCollection(all) && AnyRealmCollection(all) != AnyRealmCollection(again))
        #expect(AnyRealmCollection(person.dogs) == AnyRealmCollection(person.dogs) && person.dogs == person.dogs)
        let copy = AnyRealmCollection(owners)
        #expect(copy == copy && LinkingObjects<Person>(fromType: Person.self, property: "dogs") != owners)
        _ = folder
    }

    @Test func slicesAreAssigned() throws {
        nonisolated(unsafe) let numbers = List<Int>()
        numbers.append(objectsIn: [0, 1, 2, 3, 4])
        nonisolated(unsafe) let others = List<Int>()
        others.append(objectsIn: [10, 11, 12])
        numbers[1..<4] = others[0..<2]
        #expect(Array(numbers) == [0, 10, 11, 4])
        numbers[0..<0] = others[2...]
        numbers[4..<5] = others[0..<0]
        #expect(Array(numbers) == [12, 0, 10, 11])
        numbers[0..<2].swapAt(0, 1)
        #expect(Array(numbers) == [0, 12, 10, 11])
        let (realm, folder, person) = try filled()
        try realm.write {
            person.dogs[0..<1] = person.dogs[0..<2]
            #expect(person.dogs.map(\.name) == ["Rex", "Ace", "Ace"])
            person.dogs[0...].sort { $0.name < $1.name }
            #expect(person.dogs.map(\.name) == ["Ace", "Ace", "Rex"])
        }
        #expect(misuse { _ = others[2..<4] }?.contains("out of bounds") == true)
        _ = folder
    }

    /// Aggregates as the types of Foundation, which programs for Apple platforms ask for.
    @Test func aggregatesOfFoundation() throws {
        let (realm, folder, person) = try filled()
        #expect(person.dogs.max(ofProperty: "age") as NSNumber? == 3)
        #expect(person.dogs.sum(ofProperty: "age") as NSNumber == 6)
        #expect(person.dogs.average(ofProperty: "age") as NSNumber? == 3)
        #expect(realm.objects(Dog.self).where { $0.age > 9 }.min(ofProperty: "age") as NSNumber? == nil)
        let dates = List<Date>()
        dates.append(Date(timeIntervalSince1970: 5))
        #expect(dates.max() == Date(timeIntervalSince1970: 5))
        _ = folder
    }

    /// Collections describe themselves with their address.
    @Test func descriptions() throws {
        let (realm, folder, person) = try filled()
        let dogs = person.dogs, rows = realm.objects(Dog.self)
        let address = "<0x[0-9a-f]+> [(]\n"
        #expect(dogs.description.range(of: "^List<Dog> " + address + "\t.0. Dog", options: .regularExpression) != nil)
        #expect(rows.description.range(of: "^Results<Dog> " + address, options: .regularExpression) != nil)
        #expect(rows.description == rows.description && dogs.description == person.dogs.description)
        let empty = List<Dog>()
        #expect(empty.description.range(of: "^List<Dog> " + address + "\n[)]$", options: .regularExpression) != nil)
        #expect(AnyRealmCollection(empty).description.hasPrefix("AnyRealmCollection<Dog> <0x0> ("))
        #expect(Map<String, Dog?>().description.hasPrefix("Map<string, Dog> <0x"))
        #expect(Map<String, Int>().description.hasPrefix("Map<string, Int> <0x"))
        _ = folder
    }

    /// Values of any type by name are the values inside.
    @Test func valuesOfAnyType() {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: [.int(1), .string("x"), .none])
        let values = list.value(forKey: "self")
        #expect(values[0] as? Int == 1 && values[1] as? String == "x" && values[2] == nil)
        let map = Map<String, AnyRealmValue>()
        map["a"] = .double(1.5)
        map["b"] = AnyRealmValue.none
        #expect(map.value(forKey: "a") as? Double == 1.5 && map.value(forKey: "b") == nil)
    }

    /// Errors of files, as in Realm's package.
    @Test func errorsOfFiles() throws {
        func thrown(_ configuration: Realm.Configuration) -> Realm.Error? {
            do { _ = try Realm(configuration: configuration) } catch { return error as? Realm.Error }
            return nil
        }
        let folder = try Folder(), types = [Person.self, Dog.self, Address.self, Country.self]
        let file = folder.url.appendingPathComponent("small.realm")
        try Data("a".utf8).write(to: file)
        let below = thrown(Realm.Configuration(fileURL: file.appendingPathComponent("x.realm"), objectTypes: types))
        #expect(below?.code == .fileOperationFailed)
        let small = thrown(Realm.Configuration(fileURL: file, objectTypes: types))
        #expect(small?.localizedDescription.hasSuffix("too small (1 bytes) to be a valid Realm.") == true)
        let missing = folder.url.appendingPathComponent("missing.realm")
        let unopened = thrown(Realm.Configuration(fileURL: missing, readOnly: true, objectTypes: types))
        #expect(unopened?.code == .fileNotFound)
        do {
            _ = try schemaVersionAtURL(missing)
            Issue.record("nothing was thrown")
        } catch let error as Realm.Error {
            #expect(error.code == .invalidDatabase && error.localizedDescription.hasSuffix("has not been initialized."))
        }
    }

    /// A link of an object without a model gets an object of a model: the file gets a copy.
    @Test func aModelBehindADynamicObject() throws {
        let (realm, folder, person) = try filled()
        try realm.write {
            let dynamic = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: person.id))
            dynamic["best"] = Person(value: ["id": 8, "name": "Max"])
            #expect((dynamic["best"] as? DynamicObject)?["name"] as? String == "Max")
            dynamic["address"] = Address(value: ["street": "Elm"])
            #expect(person.best?.id == 8 && person.address?.street == "Elm")
        }
        #expect(realm.objects(Person.self).where { $0.name == "Max" }.count == 1)
        _ = folder
    }

    /// A token without an observation, as a placeholder.
    @Test func emptyToken() {
        let token = NotificationToken()
        token.invalidate()
    }

    @Test func keyPathsWithUnions() throws {
        let (realm, folder, person) = try filled()
        let dogs = person.dogs
        #expect(dogs.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["Rex", "Ace"])
        #expect(dogs.value(forKeyPath: "@distinctUnionOfObjects.age") as? [Int] == [3])
        #expect(
            (realm.objects(Person.self).value(forKeyPath: "@unionOfArrays.dogs") as? [Dog])?.map(\.name) == [
                "Rex", "Ace",
            ])
        #expect((realm.objects(Person.self).value(forKeyPath: "@distinctUnionOfArrays.dogs") as? [Any])?.count == 2)
        #expect(realm.objects(Person.self).value(forKeyPath: "@unionOfObjects.best.name") as? [String] == ["Eve"])
        nonisolated(unsafe) let free = List<Dog>()
        free.append(objectsIn: [Dog("a", 4), Dog("b", 5)])
        #expect(free.value(forKeyPath: "@sum.age") as? Int == 9 && free.value(forKeyPath: "@max.age") as? Int == 5)
        #expect(
            free.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["a", "b"]
                && free.value(forKeyPath: "@count") as? Int == 2)
        try realm.write { realm.objects(Person.self).filter("best != nil").setValue("New", forKeyPath: "best.name") }
        #expect(person.best?.name == "New")
        #expect(misuse { _ = free.value(forKeyPath: "@everyOther.name") }?.contains("Unsupported key path") == true)
        _ = folder
    }

    /// Conditions are the engine's, which has rows: what no Realm manages is copied for the call.
    @Test func indexesInUnmanagedCollections() throws {
        let dogs = List<Dog>()
        dogs.append(objectsIn: [Dog("a", 1), Dog("b", 2), Dog("c", 2)])
        #expect(
            dogs.index(matching: "age == %@", 2) == 1 && dogs.index(matching: { $0.name == "c" }) == 2
                && dogs.index(matching: "age > 2") == nil)
        #expect(
            dogs.index(matching: NSPredicate(format: "name BEGINSWITH 'A'")) == nil
                && List<Dog>().index(matching: "age == 1") == nil)
        let people = List<Person>()
        people.append(Person(value: ["id": 1, "name": "first", "best": ["id": 1, "name": "other"]]))
        people.append(Person(value: ["id": 1, "name": "second", "dogs": [["name": "Rex"]]]))
        #expect(
            people.index(matching: { $0.name == "second" }) == 1
                && people.index(matching: "ANY dogs.name == 'Rex'") == 1)
        let set = MutableSet<Dog>()
        set.insert(Dog("x", 9))
        #expect(set.index(matching: "age == 9") == 0 && dogs.allSatisfy { $0.realm == nil })
        // With values of its own, and without.
        let (realm, folder, person) = try filled()
        let mixed = List<Dog>()
        mixed.append(objectsIn: [Dog("free", 1), person.dogs[1]])
        #expect(mixed.index(matching: "name == 'Ace'") == 1 && realm.objects(Dog.self).count == 2)
        nonisolated(unsafe) let numbers = List<Int>()
        numbers.append(1)
        #expect(misuse { _ = numbers.index(matching: "self == 1") }?.contains("can be searched") == true)
        _ = folder
    }

    /// An old value is that of the version before others wrote; what the Realm writes itself has none.
    @Test func oldValues() throws {
        let (realm, folder, person) = try filled()
        let configuration = realm.configuration, told = Mutex<[String]>([])
        let token = person.observe { (change: ObjectChange<Person>) in
            guard case .change(_, let properties) = change else { return }
            told.withLock { $0 += properties.map { "\($0.name) \($0.oldValue ?? "nil")→\($0.newValue ?? "nil")" } }
        }
        realm.refresh()
        try realm.write { person.age = 1 }
        realm.refresh()
        onAnotherThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.object(ofType: Person.self, forPrimaryKey: 1)?.age = 2 }
        }
        realm.refresh()
        // Its own, not told yet, is what was there before.
        try realm.write { person.age = 3 }
        onAnotherThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.object(ofType: Person.self, forPrimaryKey: 1)?.age = 4 }
        }
        realm.refresh()
        #expect(told.withLock { $0 } == ["age nil→1", "age 1→2", "age 3→4"])
        token.invalidate()
        _ = folder
    }

    @Test func linkingObjectsInChanges() throws {
        let (realm, folder, person) = try filled()
        let dog = person.dogs[0], told = Mutex<[String]>([])
        let token = dog.observe(keyPaths: ["owners", "name"]) { (change: ObjectChange<Dog>) in
            guard case .change(_, let properties) = change else { return }
            told.withLock {
                $0 += properties.map { "\($0.name) \(($0.newValue as? LinkingObjects<Person>)?.count ?? -1)" }
            }
        }
        realm.refresh()
        try realm.write { person.best?.dogs.append(dog) }
        realm.refresh()
        #expect(told.withLock { $0 } == ["owners 2"])
        token.invalidate()
        _ = folder
    }

    /// Where a Realm does not move by itself it is told that it could.
    @Test func refreshRequired() async throws {
        let folder = try Folder(),
            configuration = folder.configuration([Dog.self, Person.self, Address.self, Country.self])
        let queue = DispatchQueue(label: "home"), told = Mutex<[Realm.Notification]>([]),
            heard = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var kept: (Realm, NotificationToken)?
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.autorefresh = false
            #expect(realm.isEmpty)
            kept = (
                realm,
                realm.observe { notification, _ in
                    told.withLock { $0.append(notification) }
                    heard.signal()
                }
            )
        }
        onAnotherThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog("Rex")) }
        }
        #expect(heard.wait(timeout: .now() + 30) == .success)
        queue.sync {
            #expect(told.withLock { $0.first } == .refreshRequired && kept?.0.isEmpty == true)
            kept?.0.refresh()
            #expect(told.withLock { $0.last } == .didChange && kept?.0.isEmpty == false)
            kept?.1.invalidate()
            kept = nil
        }
    }

    @Test func distinctByObjects() throws {
        let (realm, folder, _) = try filled()
        nonisolated(unsafe) let all = realm.objects(Person.self)
        for path in ["best", "dogs", "best.dogs", "nicknames", "dogs.name"] {
            let configuration = realm.configuration
            let message = misuse {
                _ = try Realm(configuration: configuration).objects(Person.self).distinct(by: [path])
            }
            #expect(message?.contains("distinct by '\(path)'") == true, "\(path)")
        }
        // Who has no best has none of its names.
        #expect(all.distinct(by: ["best.name", "age"]).count == 1 && all.distinct(by: ["id", "age"]).count == 2)
        _ = folder
    }

    /// Decimals, whether a Realm manages them or not.
    @Test func sumsOfValuesOfAnyType() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let object = Everything()
        #expect(object.anys.sum() == .int(0) && object.anyMap.sum() == .int(0))
        object.anys.append(objectsIn: [.int(1), .int(2)])
        object.anyMap["a"] = .int(4)
        #expect(object.anys.sum() == .decimal128(3) && object.anyMap.sum() == .decimal128(4))
        try realm.write { realm.add(object) }
        #expect(object.anys.sum() == .decimal128(3) && object.anyMap.sum() == .decimal128(4))
        try realm.write { object.anyMap.removeAll() }
        #expect(object.anyMap.sum() == .int(0))
        _ = folder
    }

    @Test func classesWithoutARealm() {
        #expect(Person.sharedSchema()?.properties.first?.name == "id" && Address.sharedSchema()?.isEmbedded == true)
        #expect(
            Object.sharedSchema() == nil && EmbeddedObject.sharedSchema() == nil && ObjectBase.sharedSchema() == nil)
        #expect(autoreleasepool { 3 } == 3)
        #expect(throws: CancellationError.self) { try autoreleasepool { throw CancellationError() } }
    }

    @Test func loggers() throws {
        let earlier = Logger.shared, told = Mutex<[(LogLevel, String)]>([])
        defer { Logger.shared = earlier }
        let logger = Logger(level: .off) { level, message in told.withLock { $0.append((level, message)) } }
        Logger.shared = logger
        #expect(Logger.shared === logger && logger.level == .off)
        do { _ = try makeRealm(Dog.self, Person.self, Address.self, Country.self) }
        #expect(told.withLock { $0.isEmpty })
        logger.level = .debug
        do { _ = try makeRealm(Dog.self, Person.self, Address.self, Country.self) }
        #expect(
            told.withLock { all in
                all.contains { $0.0 == .detail } && all.allSatisfy { $0.0.rawValue <= LogLevel.debug.rawValue }
            })
        logger.level = .error
        told.withLock { $0 = [] }
        logger.log(level: .warn, message: "not")
        logger.log(level: .error, message: "this")
        #expect(told.withLock { all in all.contains { $0.1 == "this" } && !all.contains { $0.1 == "not" } })
        Logger.shared = Logger(level: .info) { _, _ in }
    }
}
