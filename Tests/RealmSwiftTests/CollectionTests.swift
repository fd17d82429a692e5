import Foundation
import RealmSwift
import Testing

struct CollectionTests {
    /// What is asked of the elements of a set is a set: each value once, null as well.
    @Test func valuesOfASet() throws {
        class Pack: Object { @Persisted var dogs: MutableSet<Person> }
        let (realm, folder) = try makeRealm(Pack.self, Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            let people = [1, 2, 3, 4].map { realm.create(Person.self, value: ["id": $0, "age": $0 % 2]) }
            people[0].best = people[1]
            let pack = realm.create(Pack.self, value: ["dogs": people])
            #expect(
                Set(pack.dogs.value(forKey: "age").compactMap { $0 as? Int }) == [0, 1]
                    && pack.dogs.value(forKey: "age").count == 2)
            #expect(pack.dogs.value(forKey: "best").count == 2 && pack.dogs.value(forKey: "id").count == 4)
            #expect((pack.dogs.value(forKeyPath: "best.age") as? [Any?])?.count == 2)
            #expect(realm.objects(Person.self).value(forKey: "age").count == 4)
        }
        _ = folder
    }

    private static let types: [ObjectBase.Type] = [Person.self, Dog.self, Address.self, Country.self]

    private func open() throws -> (Realm, Folder) {
        let folder = try Folder()
        return (try Realm(configuration: folder.configuration(Self.types)), folder)
    }

    /// A managed list, an unmanaged one and an array under the same random changes.
    /// A property keeps its collection: an assignment takes the elements, so that two objects never share one.
    @Test func assignedCollectionsAreCopied() throws {
        let a = Crowd(), b = Crowd(), list = a.numbers, other = List<Int>()
        other.append(objectsIn: [1, 2])
        a.numbers = other
        b.numbers = a.numbers
        b["names"] = ["x"]
        b.ages["k"] = 3
        a.ages = b.ages
        other.append(3)
        b.numbers.append(4)
        b.ages["k"] = 4
        #expect(
            a.numbers === list && Array(list) == [1, 2] && Array(b.numbers) == [1, 2, 4] && a.ages["k"] == 3
                && Array(b.names) == ["x"])
        a.numbers = a.numbers
        #expect(Array(a.numbers) == [1, 2])
    }

    @Test func listsBehaveAsArrays() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let object = try realm.write { realm.create(Everything.self, value: ["id": ObjectId.generate()]) }
        let managed = object.ints, plain = List<Int>()
        var array: [Int] = [], generator = SystemRandomNumberGenerator()
        realm.beginWrite()
        for step in 0..<400 {
            let n = array.count, i = Int.random(in: 0...n, using: &generator)
            func change(_ list: List<Int>) {
                switch step % 8 {
                case 0, 1: list.append(step)
                case 2: list.insert(step, at: i)
                case 3 where n > 0: list.remove(at: i % n)
                case 4 where n > 0: list[i % n] = -step
                case 5 where n > 1: list.swapAt(i % n, n - 1 - i % n)
                case 6 where n > 0: list.move(from: i % n, to: n - 1)
                case 7 where n > 2: list.replaceSubrange(1..<2, with: [step, step])
                default: break
                }
            }
            change(managed)
            change(plain)
            switch step % 8 {
            case 0, 1: array.append(step)
            case 2: array.insert(step, at: i)
            case 3 where n > 0: array.remove(at: i % n)
            case 4 where n > 0: array[i % n] = -step
            case 5 where n > 1: array.swapAt(i % n, n - 1 - i % n)
            case 6 where n > 0: array.insert(array.remove(at: i % n), at: n - 1)
            case 7 where n > 2: array.replaceSubrange(1..<2, with: [step, step])
            default: break
            }
            #expect(Array(managed) == array && Array(plain) == array, "step \(step)")
        }
        try realm.commitWrite()
        #expect(managed.max() == array.max() && managed.min() == array.min() && managed.sum() == array.reduce(0, +))
        #expect(
            managed.index(of: array[3]) == array.firstIndex(of: array[3]) && managed.first == array.first
                && managed.last == array.last)
        try realm.write {
            managed.move(fromOffsets: IndexSet([0, 2]), toOffset: 4)
            plain.move(fromOffsets: IndexSet([0, 2]), toOffset: 4)
            #expect(
                Array(managed) == [array[1], array[3], array[0], array[2]] + array.dropFirst(4)
                    && Array(plain) == Array(managed))
            managed.remove(atOffsets: IndexSet([1, 3]))
            managed.removeFirst(2)
            #expect(Array(managed) == Array(array.dropFirst(4)))
            managed.removeLast(array.count - 5)
            #expect(Array(managed) == [array[4]])
            object.ints = plain
            #expect(object.ints === managed && Array(managed) == Array(plain))
            managed.removeAll()
        }
        #expect(managed.isEmpty)
        _ = folder
    }

    @Test func setsHoldEachValueOnce() throws {
        let (realm, folder) = try open()
        let ida = try realm.write { realm.create(Person.self, value: ["id": 1, "nicknames": ["b", "a", "b"]]) }
        #expect(Array(ida.nicknames) == ["a", "b"] && ida.nicknames.contains("a") && !ida.nicknames.contains("c"))
        let other = MutableSet<String>()
        other.insert(objectsIn: ["b", "c", "b"])
        #expect(other.count == 2 && ida.nicknames.intersects(other) && !ida.nicknames.isSubset(of: other))
        try realm.write {
            ida.nicknames.formUnion(other)
            #expect(Array(ida.nicknames) == ["a", "b", "c"])
            ida.nicknames.subtract(other)
            #expect(Array(ida.nicknames) == ["a"])
            ida.nicknames.insert("x")
            ida.nicknames.formIntersection(other)
            #expect(ida.nicknames.isEmpty)
            ida.nicknames = other
            ida.nicknames.remove("b")
        }
        #expect(Array(ida.nicknames) == ["c"])
        _ = folder
    }

    @Test func mapsHoldKeysInTheOrderOfTheirBytes() throws {
        let (realm, folder) = try open()
        let ida = try realm.write { realm.create(Person.self, value: ["id": 1, "scores": ["b": 2, "a": 1]]) }
        let scores = ida.scores
        #expect(
            scores.keys == ["a", "b"] && scores.values == [1, 2] && scores["a"] == 1 && scores["c"] == nil
                && scores.sum() == 3 && scores.max() == 2)
        try realm.write {
            scores["c"] = 3
            scores["a"] = nil
            scores.merge([(key: "b", value: 5), (key: "d", value: 7)]) { $0 * $1 }
            ida.friends["self"] = ida
            ida.friends["none"] = .some(nil)
        }
        #expect(scores.map { "\($0.key)\($0.value)" } == ["b10", "c3", "d7"])
        #expect(
            ida.friends.count == 2 && ida.friends["none"] == .some(nil) && ida.friends["self"]??.id == 1
                && ida.friends["other"] == nil)
        try realm.write { scores.removeAll() }
        #expect(scores.isEmpty)
        _ = folder
    }

    @Test func loopsGoOverWhatThereWas() throws {
        let (realm, folder) = try open()
        try realm.write {
            for i in 0..<50 { realm.create(Person.self, value: ["id": i, "age": i % 5]) }
            for p in realm.objects(Person.self) where p.age == 1 { realm.delete(p) }
            for p in realm.objects(Person.self).filter("age == 2") { p.age = 3 }
        }
        let all = realm.objects(Person.self)
        #expect(all.count == 40 && all.filter("age == 3").count == 20 && all.filter("age == 2").isEmpty)
        #expect(all.map(\.id).prefix(3) == [0, 2, 3] && all.filter { $0.id > 47 }.count == 2)
        let some = Array(all[3..<6]).map(\.id)
        #expect(some == [4, 5, 7])
        try realm.write {
            realm.delete(all.filter("age == 3"))
            #expect(all.count == 20)
            realm.deleteAll()
        }
        #expect(all.isEmpty && all.first == nil && all.last == nil && realm.isEmpty)
        _ = folder
    }

    @Test func sortingAndAggregates() throws {
        let (realm, folder) = try open()
        try realm.write {
            for (i, name) in ["c", "a", "b", "a"].enumerated() {
                realm.create(
                    Person.self, value: ["id": i, "name": name, "age": i * 10, "dogs": [["name": "d\(i)", "age": i]]])
            }
            let best = realm.object(ofType: Person.self, forPrimaryKey: 0)
            realm.object(ofType: Person.self, forPrimaryKey: 1)?.best = best
        }
        let all = realm.objects(Person.self)
        #expect(all.sorted(byKeyPath: "name").map(\.id) == [1, 3, 2, 0])
        #expect(
            all.sorted(by: [SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: \Person.age, ascending: false)])
                .map(\.id) == [3, 1, 2, 0])
        #expect(all.sorted(by: \.age, ascending: false).first?.id == 3 && all.sorted(by: ["name"]).last?.id == 0)
        #expect(all.distinct(by: [\Person.name]).count == 3 && all.distinct(by: ["name", "age"]).count == 4)
        // Where a link on the way is nil, the object comes last.
        #expect(
            all.sorted(byKeyPath: "best.name").first?.id == 1
                && all.sorted(byKeyPath: "best.name", ascending: false).last?.id == 1)
        #expect(all.max(of: \.age) == 30 && all.min(ofProperty: "age") == 0 && all.sum(of: \.age) == 60)
        #expect(
            (all.average(ofProperty: "age") as Double?) == 15
                && (all.filter("id > 99").max(ofProperty: "age") as Int?) == nil)
        #expect(
            all.value(forKey: "name") as? [String] == ["c", "a", "b", "a"]
                && all.value(forKeyPath: "@max.age") as? Int == 30)
        #expect(
            all.index(of: all[2]) == 2 && all.index(matching: "name == 'b'") == 2
                && all.objects(at: [1, 2]).map(\.id) == [1, 2])
        let rex = try #require(realm.objects(Dog.self).first)
        #expect(
            rex.owners.map(\.id) == [0] && rex.owners.filter("age == 0").count == 1
                && rex.owners.first?.dogs.first?.isSameObject(as: rex) == true)
        _ = folder
    }

    /// Instances that the model or the program put into a property are not the collection of the row.
    @Test func collectionsOfTheRow() throws {
        let (realm, folder) = try makeRealm(Crowd.self)
        let a = Crowd(), b = Crowd()
        (a.id, b.id) = (1, 2)
        a.numbers.append(objectsIn: [1, 2])
        b.numbers = a.numbers
        try realm.write { realm.add([a, b]) }
        try realm.write {
            a.numbers.append(3)
            a.names.insert("x")
            a.ages["k"] = 1
        }
        #expect(Array(a.numbers) == [1, 2, 3] && Array(b.numbers) == [1, 2])
        let found = try #require(realm.object(ofType: Crowd.self, forPrimaryKey: 1))
        #expect(
            Array(found.numbers) == [1, 2, 3] && Array(found.names) == ["x"] && found.ages["k"] == 1
                && found.numbers === found.numbers)
        try realm.write { b.numbers = found.numbers }
        #expect(Array(b.numbers) == [1, 2, 3] && b.numbers !== found.numbers)
        _ = folder
    }

    @Test func descriptions() throws {
        let (realm, folder) = try open()
        let ida = try realm.write {
            realm.create(
                Person.self, value: ["id": 1, "name": "Ida", "dogs": [["name": "Rex"]], "address": ["street": "Long"]])
        }
        #expect(
            ida.description.hasPrefix(
                "Person {\n\tid = 1;\n\tname = Ida;\n\tage = 0;\n\tbest = (null);\n\taddress = Address {\n\t\tstreet = Long;"
            ))
        #expect(ida.dogs.description.hasPrefix("List<Dog> <0x"))
        #expect(ida.dogs.description.contains("> (\n\t[0] Dog {\n\t\tname = Rex;"))
        try realm.write { realm.delete(ida) }
        #expect(ida.description == "[invalid object]")
        _ = folder
    }
}
