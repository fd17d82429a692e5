import Foundation
import RealmSwift
import Synchronization
import Testing

/// Each kind of misuse has one answer, which names it. The list is that of docs/realmswift.md.
struct MisuseTests {
    private static let types: [ObjectBase.Type] = [Person.self, Dog.self, Address.self, Country.self]

    private func check(_ part: String, _ body: @escaping @Sendable (Realm, Person) throws -> Void) throws {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("m.realm")
        let message = misuse {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: file, objectTypes: Self.types))
            let ida = try realm.write {
                realm.create(Person.self, value: ["id": 1, "name": "Ida", "dogs": [["name": "Rex"]]])
            }
            try body(realm, ida)
        }
        #expect(message?.contains(part) == true, "\(message ?? "no misuse")")
        _ = folder
    }

    @Test func writingOutsideOfATransaction() throws {
        try check("outside of a write transaction") { _, ida in ida.age = 3 }
        try check("outside of a write transaction") { _, ida in ida.dogs.removeAll() }
        try check("outside of a write transaction") { realm, _ in realm.add(Person(value: [2])) }
        try check("outside of a write transaction") { realm, ida in realm.delete(ida) }
    }

    @Test func whatIsGone() throws {
        try check("invalidated") { realm, ida in
            try realm.write { realm.delete(ida) }
            _ = ida.name
        }
        try check("existing primary key value '1'") { realm, _ in try realm.write { realm.add(Person(value: [1])) } }
        try check("Index 1 is out of bounds (must be less than 1)") { _, ida in _ = ida.dogs[1] }
        try check("Index 7 is out of bounds (must be less than 1)") { realm, _ in _ = realm.objects(Person.self)[7] }
        try check("Index -1 is out of bounds") { realm, _ in _ = realm.objects(Person.self).filter("age == 0")[-1] }
        try check("Primary key can't be changed") { realm, ida in try realm.write { ida.id = 9 } }
    }

    /// Sections keep what was found out last, which is not shown on other threads either.
    @Test func sectionsOnAnotherThread() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        nonisolated(unsafe) let sections = realm.objects(Person.self).sectioned(by: \.name)
        #expect(sections.count == 0)
        #expect(misuse { _ = sections.count }?.contains("incorrect thread") == true)
        _ = folder
    }

    /// A truth value is no `Double`, and an object no other class's.
    @Test func valuesOfOtherKinds() throws {
        for (name, value) in [("double", true), ("float", false), ("optDouble", true), ("optDoubles", ["x": true])]
            as [(String, any Sendable)]
        {
            try check("Invalid value") { _, _ in _ = Everything(value: [name: value]) }
        }
        try check("Invalid value") { _, _ in _ = Person(value: ["best": Dog("Rex")]) }
        try check("Invalid value") { _, _ in _ = Person(value: ["dogs": [Person()]]) }
        try check("Invalid value") { realm, _ in
            try realm.write { _ = realm.create(Person.self, value: ["id": 3, "best": Dog("Rex")]) }
        }
        try check("Invalid value") { realm, _ in
            try realm.write { _ = realm.create(Person.self, value: ["id": 3, "address": Dog("Rex")]) }
        }
        try check("Invalid value") { realm, _ in
            try realm.write { _ = realm.create(Person.self, value: ["id": 3, "dogs": [Person()]]) }
        }
        try check("'Person.best' links to objects of another class") { realm, ida in
            try realm.write { _ = realm.create(Person.self, value: ["id": 3, "best": ida.dogs[0]]) }
        }
    }

    /// A slice keeps its bounds while the results behind it shrink: what is not there any more is no element.
    @Test func slicesThatShrink() throws {
        try check("Index 2 is out of bounds (must be less than 1)") { realm, ida in
            try realm.write { ida.dogs.append(objectsIn: [Dog("a"), Dog("b")]) }
            let slice = realm.objects(Dog.self)[1..<3]
            try realm.write { realm.delete(realm.objects(Dog.self).filter("name != 'Rex'")) }
            _ = slice[2]
        }
        try check("Index 1 is out of bounds") { realm, ida in
            let rest = ida.dogs[0...]
            try realm.write { ida.dogs.append(Dog("a")) }
            let two = ida.dogs[0..<2]
            try realm.write { ida.dogs.removeLast() }
            _ = (rest.first, two.last)
        }
        try check("Indexes for collection are out of bounds") { _, ida in _ = ida.dogs.objects(at: [0, 4]) }
        try check("negative value") { realm, ida in try realm.write { ida.dogs.remove(at: -1) } }
        try check("Index 2 is out of bounds") { realm, ida in try realm.write { ida.dogs.move(from: 0, to: 2) } }
    }

    @Test func otherRealms() throws {
        // A Realm for each: a thread that misused one keeps its write transaction for ever.
        let folder = try Folder(), second = ["a", "b", "c"].map { folder.configuration(Self.types, name: $0) }
        try check("managed by another Realm") { realm, _ in
            let other = try Realm(configuration: second[0])
            let foreign = try other.write { other.create(Dog.self, value: ["name": "other"]) }
            try realm.write { realm.objects(Person.self)[0].dogs.append(foreign) }
        }
        try check("managed by another Realm") { realm, ida in
            let other = try Realm(configuration: second[1])
            try other.write { other.add(ida, update: .all) }
        }
        try check("Can only delete an object from the Realm it belongs to") { realm, ida in
            let other = try Realm(configuration: second[2])
            try other.write { other.delete(ida) }
        }
    }

    @Test func frozenAndDeleted() throws {
        try check("outside of a write transaction") { realm, ida in ida.freeze().age = 3 }
        try check("frozen") { realm, _ in realm.freeze().beginWrite() }
        try check("Frozen Realms do not change") { _, ida in _ = ida.freeze().observe { (_: ObjectChange<Person>) in } }
        try check("deleted") { realm, ida in
            let dogs = ida.dogs
            try realm.write { realm.delete(ida) }
            try realm.write { dogs.append(Dog("x")) }
        }
        try check("Adding a deleted or invalidated object") { realm, ida in
            try realm.write {
                realm.delete(ida)
                realm.add(ida)
            }
        }
        try check("only resolve a thread safe reference once") { realm, ida in
            let reference = ThreadSafeReference(to: ida)
            _ = realm.resolve(reference)
            _ = realm.resolve(reference)
        }
        // What throws anyway throws.
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        #expect(throws: Realm.Error.self) { try realm.freeze().write {} }
        _ = folder
    }

    @Test func otherThreads() throws {
        struct Carried<T>: @unchecked Sendable { let value: T }
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write { realm.create(Person.self, value: ["id": 1, "dogs": [["name": "Rex"]]]) }
        let object = Carried(value: ida), list = Carried(value: ida.dogs),
            rows = Carried(value: realm.objects(Person.self))
        #expect(misuse { _ = object.value.name }?.contains("incorrect thread") == true)
        #expect(misuse { _ = object.value.age }?.contains("incorrect thread") == true)
        #expect(misuse { _ = list.value[0] }?.contains("incorrect thread") == true)
        #expect(misuse { _ = list.value.count }?.contains("incorrect thread") == true)
        #expect(misuse { _ = rows.value.count }?.contains("incorrect thread") == true)
        #expect(misuse { _ = rows.value[0] }?.contains("incorrect thread") == true)
        #expect(misuse { for _ in rows.value {} }?.contains("incorrect thread") == true)
        #expect(ida.dogs[0].name == "Rex")
        _ = folder
    }

    /// Every call from elsewhere is found out before anything is read, while the Realm is written, refreshed and read
    /// where it lives. Sanitizers run this one, too.
    @Test func manyThreadsMisuseOne() throws {
        struct Carried<T>: @unchecked Sendable { let value: T }
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write {
            realm.create(Person.self, value: ["id": 1, "dogs": [["name": "Rex"]], "scores": ["a": 1]])
        }
        let o = Carried(value: ida), dogs = Carried(value: ida.dogs), scores = Carried(value: ida.scores),
            home = Carried(value: realm)
        let rows = Carried(value: realm.objects(Person.self).filter("age >= 0")), done = Counter()
        let calls: [@Sendable () -> Void] = [
            { _ = o.value.name }, { o.value.age = 5 }, { _ = o.value["age"] }, { _ = o.value.dogs },
            { _ = dogs.value[0] },
            { dogs.value.removeAll() },
            { _ = scores.value["a"] }, { _ = rows.value.count }, { _ = rows.value.first }, { for _ in rows.value {} },
            { home.value.beginWrite() },
            { home.value.deleteAll() }, { _ = home.value.objects(Person.self).count }, { home.value.refresh() },
        ]
        for round in 0..<3 {
            for (i, call) in calls.enumerated() {
                Thread.detachNewThread {
                    let message = misuse(call)
                    done.add(message?.contains("incorrect thread") == true, "call \(i): \(message ?? "no misuse")")
                }
            }
            for i in 0..<40 {
                try realm.write {
                    ida.age = i
                    ida.dogs.append(Dog("\(round)-\(i)"))
                    ida.scores["\(i)"] = i
                }
                realm.refresh()
                #expect(ida.age == i && realm.objects(Person.self).count == 1)
            }
        }
        while done.all < 3 * calls.count { Thread.sleep(forTimeInterval: 0.01) }
        #expect(done.wrong.isEmpty, "\(done.wrong)")
        #expect(ida.dogs.count == 121 && ida.scores.count == 41 && ida.age == 39)
        _ = folder
    }

    @Test func wrongNamesAndTypes() throws {
        try check("Invalid property name 'nome'") { _, ida in _ = ida["nome"] }
        try check("Invalid value 'x'") { realm, ida in try realm.write { ida["age"] = "x" } }
        try check("is not managed by the Realm") { realm, _ in _ = realm.objects(Base.self) }
        try check("that is not stored") { realm, _ in _ = realm.objects(Person.self).sorted(by: \.isSelected) }
        try check("that is not stored") { realm, _ in _ = realm.objects(Person.self).where { $0.shout == "x" } }
        try check("Invalid keypath 'best.age.@avg': Property 'Person.age' is not a link or collection") { realm, _ in
            _ = realm.objects(Person.self).where { $0.id == 1 && !($0.best.age.avg > 3) }
        }
        try check("1 arguments for 0 placeholders") { realm, _ in _ = realm.objects(Person.self).filter("age > 3", 1) }
        try check("does not have a primary key") { realm, _ in _ = realm.object(ofType: Dog.self, forPrimaryKey: 1) }
        try check("already in a write transaction") { realm, _ in try realm.write { try realm.write {} } }
    }
}

/// Answers of many threads.
private final class Counter: Sendable {
    private let told = Mutex<(all: Int, wrong: [String])>((0, []))
    var all: Int { told.withLock { $0.all } }
    var wrong: [String] { told.withLock { $0.wrong } }

    func add(_ isRight: Bool, _ message: String) {
        told.withLock { t in
            t.all += 1
            if !isRight { t.wrong.append(message) }
        }
    }
}
