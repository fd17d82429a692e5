import Foundation
import RealmSwift
import Testing

// Code as programs of the last years have it: that it compiles, without a warning, is what is shown first.

class Task1: Object, ObjectKeyIdentifiable, Codable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String = ""
    @Persisted var status = "open"
    @Persisted var due: Date? = nil
    @Persisted var notes = RealmSwift.List<String>()

    convenience init(name: String) {
        self.init()
        self.name = name
    }

    enum CodingKeys: String, CodingKey { case _id = "id", name, status, due, notes }
}

class Owner1: Object, Identifiable {
    @Persisted(primaryKey: true) var id: String
    @Persisted(indexed: true) var city: String?
    @Persisted var tasks: List<Task1>
    @Persisted var home: Place1?
    @Persisted var price: Decimal128

    override static func indexedProperties() -> [String] { ["city"] }
}

class Place1: EmbeddedObject, ObjectKeyIdentifiable {
    @Persisted var street: String
}

class Legacy1: Object {
    @Persisted var key = ""
    @Persisted var value = 0

    override static func primaryKey() -> String? { "key" }

    override static func ignoredProperties() -> [String] { ["cache"] }
    var cache: [Int] = []

    required init() {
        super.init()
        cache = [1]
    }
}

// What programs write around it.
final class Repository<T: Object> {
    let realm: Realm
    private var token: NotificationToken?

    init(_ realm: Realm) { self.realm = realm }
    var all: Results<T> { realm.objects(T.self) }

    func save(_ object: T) throws { try realm.safeWrite { realm.add(object, update: .modified) } }

    func find<Key>(_ key: Key) -> T? { realm.object(ofType: T.self, forPrimaryKey: key) }

    func delete(_ object: T) throws { try realm.safeWrite { realm.delete(object) } }

    func watch(_ onChange: @escaping ([Int]) -> Void) {
        token = all.observe { (changes: RealmCollectionChange<Results<T>>) in
            switch changes {
            case .initial: onChange([])
            case .update(_, deletions: _, let insertions, modifications: _): onChange(insertions)
            case .error(let error): Issue.record("\(error)")
            }
        }
    }

    deinit { token?.invalidate() }
}

extension Realm {
    func safeWrite(_ block: () throws -> Void) throws {
        if isInWriteTransaction { try block() } else { try write(block) }
    }
}

extension Results {
    func toArray() -> [Element] { Array(self) }
}

extension List where Element == Task1 {
    var names: [String] { map { $0.name } }
}

extension RealmCollection where Element: Object {
    var firstTwo: [Element] { Array(prefix(2)) }
}

struct CompilesTests {
    private func open() throws -> (Realm, Folder) { try makeRealm(Task1.self, Owner1.self, Place1.self, Legacy1.self) }

    @Test func repositories() throws {
        let (realm, folder) = try open()
        let repository = Repository<Task1>(realm)
        var told: [[Int]] = []
        repository.watch { told.append($0) }
        realm.refresh()
        let task = Task1(name: "a")
        try repository.save(task)
        try repository.save(Task1(name: "b"))
        realm.refresh()
        #expect(told == [[], [0, 1]] || told == [[], [0], [1]])
        #expect(
            repository.find(task._id)?.name == "a" && repository.all.toArray().count == 2
                && repository.all.firstTwo.count == 2)
        try repository.delete(task)
        #expect(repository.all.count == 1 && task.isInvalidated)
        _ = folder
    }

    @Test func standardAlgorithms() throws {
        let (realm, folder) = try open()
        let owner = Owner1(value: ["id": "o", "city": "Rome", "home": ["street": "Via"]])
        try realm.write {
            realm.add(owner)
            for name in ["c", "a", "b"] { owner.tasks.append(Task1(name: name)) }
            realm.add([Legacy1(value: ["key": "k", "value": 1])], update: .all)
        }
        let tasks = realm.objects(Task1.self)
        #expect(
            owner.tasks.names == ["c", "a", "b"]
                && owner.tasks.sorted { $0.name < $1.name }.map(\.name) == ["a", "b", "c"])
        #expect(
            tasks.first(where: { $0.name == "b" })?.name == "b" && tasks.contains { $0.name == "c" } && !tasks.isEmpty)
        #expect(
            owner.tasks.firstIndex(of: owner.tasks[1]) == 1 && owner.tasks.index(of: owner.tasks[2]) == 2
                && owner.tasks.contains(owner.tasks[0]))
        #expect(
            tasks.filter { $0.status == "open" }.count == 3 && tasks.compactMap { $0.due }.isEmpty
                && tasks.reduce(0) { $0 + $1.name.count } == 3)
        for (i, task) in owner.tasks.enumerated() { #expect(task.name == owner.tasks[i].name) }
        #expect(owner.tasks.allSatisfy { $0.realm == realm })
        #expect(
            Array(owner.tasks.reversed()).count == 3 && owner.tasks.prefix(1).count == 1 && Set(tasks).count == 3
                && owner.tasks.last?.name == "b")
        #expect(
            Dictionary(grouping: tasks, by: \.status).count == 1 && zip(tasks, 0...).count(where: { _ in true }) == 3
                && tasks.indices == 0..<3)
        let legacy = try #require(realm.object(ofType: Legacy1.self, forPrimaryKey: "k"))
        #expect(
            legacy.cache == [1] && legacy.value == 1 && owner.objectSchema["city"]?.isIndexed == true
                && Task1.className() == "Task1")
        #expect(
            owner.id == "o" && (owner.tasks[0].id as UInt64) == owner.tasks[0].id
                && owner.tasks[0].id != owner.tasks[1].id)
        try realm.write {
            owner.tasks.append(objectsIn: tasks.filter("name == 'a'"))
            owner.tasks.removeLast()
            owner.setValue("Oslo", forKey: "city")
            owner.tasks.setValue("done", forKey: "status")
            legacy.setValuesForKeys(["value": 3])
            realm.delete(owner.tasks)
        }
        #expect(owner.city == "Oslo" && legacy.value == 3 && owner.tasks.isEmpty && tasks.isEmpty)
        _ = folder
    }

    @Test func configurations() throws {
        let folder = try Folder()
        var config = Realm.Configuration.defaultConfiguration
        #expect(config.fileURL?.lastPathComponent == "default.realm" && config.inMemoryIdentifier == nil)
        config.fileURL = folder.url.appendingPathComponent("c.realm")
        config.schemaVersion = 3
        config.objectTypes = [Task1.self]
        config.migrationBlock = { migration, oldSchemaVersion in
            if oldSchemaVersion < 3 {
                migration.enumerateObjects(ofType: Task1.className()) { _, new in new?["status"] = "x" }
            }
        }
        let realm = try Realm(configuration: config)
        #expect(
            realm.configuration.schemaVersion == 3 && realm.configuration.fileURL == config.fileURL && realm.autorefresh
                && !realm.isFrozen)
        realm.autorefresh = false
        #expect(
            !realm.autorefresh && realm.description.isEmpty == false && config == config
                && config.description.contains("c.realm"))
        realm.beginWrite()
        realm.create(Task1.self, value: ["name": "n"])
        #expect(realm.isInWriteTransaction)
        try realm.commitWrite()
        realm.beginWrite()
        realm.deleteAll()
        realm.cancelWrite()
        #expect(realm.objects(Task1.self).count == 1)
        realm.invalidate()
        #expect(realm.objects(Task1.self).first?.name == "n")
        let any: AnyRealmCollection<Task1> = AnyRealmCollection(realm.objects(Task1.self))
        #expect(
            any.count == 1 && any[0].name == "n" && any.first?.name == "n" && any.sorted(byKeyPath: "name").count == 1
                && any.map(\.name) == ["n"])
        do {
            _ = try Realm(
                configuration: .init(
                    fileURL: folder.url.appendingPathComponent("no/file.realm"), objectTypes: [Task1.self]))
        } catch let
            error as Realm.Error
        {
            #expect(
                Realm.Error.errorDomain == "io.realm" && error.errorCode > 0 && error.code != .schemaMismatch
                    && !error.localizedDescription.isEmpty)
        }
    }

    @Test func values() throws {
        #expect(
            try ObjectId(string: "00112233445566778899aabb").stringValue == "00112233445566778899aabb"
                && ObjectId.generate() != ObjectId.generate())
        #expect(throws: Realm.Error.self) { try ObjectId(string: "x") }
        #expect(
            abs(ObjectId.generate().timestamp.timeIntervalSinceNow) < 100
                && ObjectId("00112233445566778899aabb").stringValue.count == 24)
        let d = try Decimal128(string: "1.10"), e: Decimal128 = 2.5
        #expect(
            d + e == 3.6 && d * 2 == 2.2 && -d < e && e / 2 == 1.25 && d.description == "1.1"
                && ("1234567890e123" as Decimal128).stringValue == "1.23456789E132" && Set([d, 1.1]).count == 1
                && Decimal128(3).doubleValue == 3)
        #expect(throws: Realm.Error.self) { try Decimal128(string: "x") }
        let four = Decimal128(value: NSNumber(value: 4))
        #expect(Decimal128.maximumValue > 0 && four == 4)
        let value: AnyRealmValue = "text"
        #expect(
            value.stringValue == "text" && value.intValue == nil && AnyRealmValue.int(3) == 3
                && AnyRealmValue.none.stringValue == nil)
        #expect(
            SortDescriptor(keyPath: "a", ascending: false).reversed() == "a"
                && SortDescriptor(keyPath: \Task1.name).keyPath == "name")
    }
}
