// Base classes: models that share a class of the file. Each object that is read is an instance of its own class.
import Foundation
import RealmSwift
import Synchronization
import Testing

// The default schema of other tests leaves them out.

private class Animal: Object {
    @Persisted(primaryKey: true, automatic: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int?
    @Persisted var friend: Animal?
    @Persisted var type: String
    @Persisted(originProperty: "pets") var owners: LinkingObjects<Keeper>
    @Persisted(originProperty: "friend") var dogsThatLikeIt: LinkingObjects<Hound>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func rules() -> [Rule] { [.subclasses(by: "type"), .minimumLength("name", 1)] }

    convenience init(named name: String, age: Int? = nil) {
        self.init()
        self.name = name
        self.age = age
    }
}

private class Hound: Animal {
    @Persisted var breed = "none"
    @Persisted var toys: List<String>
    @Persisted var collar: Collar?
    @Persisted var mother: Hound?

    override class func rules() -> [Rule] {
        [.maximumLength("breed", 20), .check("age == NULL OR age >= 0", name: "old enough")]
    }
}

private final class Puppy: Hound {
    @Persisted var weeks: Int
    @Persisted(unique: true) var chip: String?

    override class func rules() -> [Rule] { super.rules() + [.minimum("weeks", 1)] }
}

private enum Bulk: String, PersistableEnum { case small, large }

private final class Cat: Animal {
    @Persisted var lives = 9
    @Persisted var size = Bulk.small
    @Persisted var born: Date

    override class func className() -> String { "Felis" }

    override class func rules() -> [Rule] { [.maximum("lives", 9)] }
}

private class Bird: Animal {
    @Persisted var song: String
    @Persisted var nests: Int
    @Persisted var span: Double

    override class func rules() -> [Rule] { [.abstract] }
}

private final class Crow: Bird {
    @Persisted var isClever = true
}

private final class Collar: EmbeddedObject {
    @Persisted var colour: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Keeper: Object {
    @Persisted var name: String
    @Persisted var pets: List<Animal>
    @Persisted var dogs: List<Hound>
    @Persisted var best: Hound?
    @Persisted var cats: MutableSet<Cat>
    @Persisted var byName: Map<String, Hound?>
    @Persisted var anyPet: Animal?
    @Persisted var anything: AnyRealmValue

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let all: [ObjectBase.Type] = [Animal.self, Keeper.self]

/// A Realm with one object of each class: plain (1), rex (2), pip (3), tom (4), joe (5).
private func makeZoo() throws -> (Realm, Folder) {
    let folder = try Folder(), realm = try Realm(configuration: folder.configuration(all))
    try realm.write {
        realm.add(Animal(named: "plain", age: 1))
        let rex = Hound(named: "rex", age: 2), pip = Puppy(named: "pip", age: 3)
        rex.breed = "lab"
        pip.weeks = 8
        realm.add([rex, pip])
        realm.add(Cat(named: "tom", age: 4))
        realm.add(Crow(named: "joe", age: 5))
    }
    return (realm, folder)
}

/// What misuse says in a write transaction of a zoo of its own: the transaction never ends.
private func misuseInZoo(_ body: @escaping @Sendable (Realm) throws -> Void) throws -> String? {
    let (realm, folder) = try makeZoo(), configuration = realm.configuration
    try realm.write { realm.add(Keeper(value: ["name": "Ann"])) }
    defer { withExtendedLifetime(folder) {} }
    return misuse {
        let realm = try Realm(configuration: configuration)
        try realm.write { try body(realm) }
    }
}

private func names<Elements: Sequence>(_ animals: Elements) -> [String] where Elements.Element: Animal {
    animals.map(\.name)
}

private func types<Elements: Sequence>(_ objects: Elements) -> [String] {
    objects.map { "\(type(of: $0 as Any))".components(separatedBy: "<").last ?? "" }
}

private func isBroken(_ error: any Error) -> Bool { (error as? Realm.Error)?.engineCode == 9006 }

@Suite struct BaseClassTests {
    // MARK: Reading

    @Test func baseClasses() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        let animals = realm.objects(Animal.self)
        #expect(names(animals) == ["plain", "rex", "pip", "tom", "joe"])
        #expect(types(animals) == ["Animal", "Hound", "Puppy", "Cat", "Crow"])
        #expect((0..<5).map { "\(type(of: animals[$0]))" } == ["Animal", "Hound", "Puppy", "Cat", "Crow"])
        #expect(animals.map(\.type) == ["Animal", "Hound", "Puppy", "Felis", "Crow"])
        let rex = try #require(animals[1] as? Hound)
        #expect(rex.breed == "lab" && !(rex is Puppy) && (animals[3] as? Cat)?.lives == 9)
        #expect((animals.last as? Crow)?.isClever == true && (animals.first as? Hound) == nil)
        #expect(
            names(realm.objects(Hound.self)) == ["rex", "pip"]
                && types(realm.objects(Hound.self)) == ["Hound", "Puppy"])
        #expect(names(realm.objects(Puppy.self)) == ["pip"] && names(realm.objects(Cat.self)) == ["tom"])
        #expect(names(realm.objects(Bird.self)) == ["joe"] && realm.objects(Bird.self)[0] is Crow)
        #expect(realm.object(ofType: Animal.self, forPrimaryKey: 3) is Puppy)
        #expect(realm.object(ofType: Hound.self, forPrimaryKey: 3)?.name == "pip")
        #expect(realm.object(ofType: Hound.self, forPrimaryKey: 4) == nil)
        #expect(realm.object(ofType: Cat.self, forPrimaryKey: 4)?.size == .small)
    }

    @Test func conditions() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        let animals = realm.objects(Animal.self), dogs = realm.objects(Hound.self)
        #expect(names(animals.where { $0.type == "Hound" || $0.type == "Crow" }) == ["rex", "joe"])
        #expect(names(animals.filter("type IN %@ AND age > 2", ["Felis", "Puppy"])) == ["pip", "tom"])
        #expect(names(animals.filter("breed == 'lab'")) == ["rex"] && names(animals.filter("lives == 9")) == ["tom"])
        #expect(names(dogs.where { $0.age > 2 }) == ["pip"] && names(dogs.where { $0.breed == "lab" }) == ["rex"])
        #expect(names(dogs.sorted(by: \.age, ascending: false)) == ["pip", "rex"])
        #expect(dogs.sum(of: \.age) == 5 && dogs.max(of: \.age) == 3 && dogs.count == 2)
        #expect(realm.objects(Puppy.self).average(of: \.weeks) == 8)
        #expect(dogs.index(matching: "name == 'pip'") == 1 && dogs.index(of: dogs[1]) == 1)
        #expect(dogs.index(matching: "name == 'tom'") == nil)
        let tom = try #require(realm.objects(Cat.self).first)
        #expect(animals.index(of: tom) == 3)
    }

    @Test func loopsMakeInstancesOfTheRightClasses() throws {
        let (realm, folder) = try makeRealm(Animal.self, Keeper.self)
        defer { withExtendedLifetime(folder) {} }
        var random = Seeded(state: 5), made: [String] = []
        try realm.write {
            for i in 0..<600 {
                switch random.next() % 4 {
                case 0: realm.add(Animal(named: "n\(i)"))
                case 1: realm.add(Hound(named: "n\(i)"))
                case 2: realm.create(Puppy.self, value: ["name": "n\(i)", "weeks": 1])
                default: realm.add(Cat(named: "n\(i)"))
                }
                made.append("\(type(of: realm.objects(Animal.self)[i]))")
            }
            #expect(types(realm.objects(Animal.self)) == made)
        }
        #expect(Set<Substring>(made.map { $0[...] }) == ["Animal", "Hound", "Puppy", "Cat"])
        var i = 0, kept: [(String, Animal)] = []
        for animal in realm.objects(Animal.self) {
            #expect("\(type(of: animal))" == made[i] && animal.name == "n\(i)")
            if i % 50 == 0 { kept.append(("n\(i)", animal)) }
            i += 1
        }
        #expect(i == 600 && kept.allSatisfy { $0.0 == $0.1.name })
        let dogs = made.filter { $0 == "Hound" || $0 == "Puppy" }
        #expect(types(realm.objects(Hound.self)) == dogs && realm.objects(Hound.self).count == dogs.count)
        try realm.write { for dog in realm.objects(Hound.self) where dog is Puppy { realm.delete(dog) } }
        #expect(types(realm.objects(Hound.self)) == dogs.filter { $0 == "Hound" })
        try realm.write { realm.delete(realm.objects(Hound.self)) }
        #expect(types(realm.objects(Animal.self)) == made.filter { $0 == "Animal" || $0 == "Cat" })
    }

    @Test func linksAndCollections() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        let animals = realm.objects(Animal.self)
        let (plain, tom, joe) = (animals[0], animals[3], animals[4])
        let rex = try #require(animals[1] as? Hound), pip = try #require(animals[2] as? Puppy)
        let ann = Keeper(value: ["name": "Ann"])
        try realm.write {
            ann.pets.append(objectsIn: [plain, tom, pip, Hound(named: "new")])
            ann.dogs.append(rex)
            ann.best = pip
            realm.add(ann)
            ann.dogs.append(pip)
            if let cat = tom as? Cat { ann.cats.insert(cat) }
            ann.byName["p"] = pip
            ann.anyPet = joe
            ann.anything = .fromArray([.object(tom), .object(rex)])
            rex.mother = pip
            rex.friend = tom
            tom.friend = rex
            rex.collar = Collar(value: ["colour": "red"])
            rex.toys.append("ball")
        }
        #expect(types(ann.pets) == ["Animal", "Cat", "Puppy", "Hound"] && types(ann.dogs) == ["Hound", "Puppy"])
        #expect(ann.best is Puppy && ann.anyPet is Crow && ann.cats.first?.lives == 9 && ann.pets[2] is Puppy)
        #expect((ann.byName["p"] ?? nil) is Puppy && rex.mother is Puppy && rex.friend is Cat && tom.friend is Hound)
        #expect(ann.anything.listValue?.map { "\(type(of: $0.object(Animal.self) as Any))" }.count == 2)
        #expect(
            ann.anything.listValue?[0].object(Cat.self) != nil && ann.anything.listValue?[0].object(Hound.self) == nil)
        #expect(rex.collar?.colour == "red" && Array(rex.toys) == ["ball"])
        #expect(
            pip.owners.count == 1 && pip.owners[0].isSameObject(as: ann) && names(tom.dogsThatLikeIt) == ["rex"]
                && rex.dogsThatLikeIt.isEmpty)
        #expect(names(ann.pets.filter("lives > 3")) == ["tom"] && ann.dogs.sum(of: \.age) == 5)
        #expect(realm.objects(Keeper.self).where { $0.pets.age > 3 && $0.best.breed == "none" }.count == 1)
        #expect(realm.objects(Keeper.self).filter("ANY pets.breed == 'none' AND best.weeks == 8").count == 1)
        try realm.write { realm.delete(pip) }
        #expect(ann.best == nil && names(ann.pets) == ["plain", "tom", "new"] && rex.mother == nil)
    }

    @Test func aLinkToASubclassRefusesOthersByName() throws {
        for (name, key) in [("best", 4), ("dogs", 4), ("byName", 1)] {
            let text = try misuseInZoo { realm in
                let ann = try #require(realm.objects(Keeper.self).first)
                let other = try #require(realm.object(ofType: Animal.self, forPrimaryKey: key))
                ann.setValue(name == "best" ? other : name == "dogs" ? [other] : ["x": other], forKey: name)
            }
            #expect(text?.contains("Invalid value") == true, "\(name): \(text ?? "no misuse")")
        }
        let text = try misuseInZoo { $0.create(Keeper.self, value: ["dogs": [Cat(named: "tim")]]) }
        #expect(text?.contains("Invalid value") == true, "\(text ?? "no misuse")")
    }

    @Test func anObjectThatAnotherProgramPutBehindALink() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        try realm.write {
            let ann = realm.dynamicCreate("Keeper", value: ["name": "Ann"])
            ann["best"] = realm.dynamicObjects("Animal")[3]
            ann.dynamicList("dogs").append(realm.dynamicObjects("Animal")[3])
        }
        let ann = try #require(realm.objects(Keeper.self).first)
        // The object is shown as one of the declared class.
        #expect(ann.best?.type == "Felis" && ann.best?.breed == "" && ann.dogs[0].name == "tom" && ann.dogs.count == 1)
        #expect(ann.best?.toys.isEmpty == true && ann.best?.collar == nil && ann.best?.mother == nil)
    }

    @Test func valuesThatTheFileDoesNotHave() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        try realm.write {
            for (id, type) in [(10, "Felis"), (11, "Puppy"), (12, "Crow")] {
                let made = realm.dynamicCreate(
                    "Animal", value: ["id": id, "name": "raw", "type": type, "weeks": 1, "lives": 3])
                for name in ["size", "born", "isClever", "song", "nests", "span"] { made[name] = nil }
            }
        }
        let found = realm.objects(Animal.self).filter("name == 'raw'")
        let cat = try #require(found[0] as? Cat), puppy = try #require(found[1] as? Puppy)
        let crow = try #require(found[2] as? Crow)
        #expect(cat.lives == 3 && cat.size == .small && cat.born == Date(timeIntervalSince1970: 0))
        #expect(puppy.breed == "none" && puppy.weeks == 1 && puppy.chip == nil && !crow.isClever && crow.song == "")
        #expect(crow.nests == 0 && crow.span == 0 && crow["nests"] as? Int == 0)
        #expect(crow.description.contains("song = ;"))
    }

    // MARK: Writing

    @Test func valuesNameTheirClass() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        try realm.write {
            #expect(realm.create(Animal.self, value: ["name": "a", "type": "Puppy", "weeks": 1]) is Puppy)
            #expect(realm.create(Hound.self, value: ["name": "b", "type": "Puppy", "weeks": 2]) is Puppy)
            #expect(type(of: realm.create(Animal.self, value: ["name": "c"])) == Animal.self)
            let puppy = Puppy(value: ["name": "p", "weeks": 3])
            #expect((realm.create(Animal.self, value: puppy) as? Puppy)?.weeks == 3 && puppy.realm == nil)
            let ann = realm.create(
                Keeper.self,
                value: [
                    "name": "Ann", "pets": [["name": "d", "type": "Felis"], ["name": "e"], Crow(named: "f")],
                    "best": ["name": "g", "type": "Puppy", "weeks": 2], "dogs": [["name": "h"]],
                ])
            #expect(types(ann.pets) == ["Cat", "Animal", "Crow"] && ann.best is Puppy && types(ann.dogs) == ["Hound"])
            #expect((ann.pets[0] as? Cat)?.lives == 9 && ann.dogs[0].breed == "none")
        }
        for (type, values, message) in [
            (Animal.self, ["type": "Pupy"], "'Pupy' is no type of 'Animal'"),
            (Hound.self, ["type": "Felis"], "'Felis' is no type of 'Hound'"), (Bird.self, [:], "'Bird' is abstract"),
            (Animal.self, ["type": "Bird"], "'Bird' is abstract"),
        ] as [(Animal.Type, [String: String], String)] {
            let text = try misuseInZoo { $0.create(type, value: values.merging(["name": "x"]) { $1 }) }
            #expect(text?.contains(message) == true, "\(text ?? "no misuse")")
        }
        #expect(try misuseInZoo { $0.add(Bird(named: "x")) }?.contains("'Bird' is abstract") == true)
    }

    @Test func updatesByPrimaryKey() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        try realm.write {
            let dog = Hound(named: "pup", age: 3)
            dog.id = 3
            realm.add(dog, update: .modified)
        }
        let pip = try #require(realm.object(ofType: Puppy.self, forPrimaryKey: 3))
        #expect(pip.name == "pup" && pip.weeks == 8 && pip.type == "Puppy")
        try realm.write {
            #expect(realm.create(Animal.self, value: ["id": 3, "weeks": 9], update: .modified) is Puppy)
            realm.create(Hound.self, value: ["id": 3, "breed": "pug"], update: .all)
            #expect(realm.create(Animal.self, value: ["id": 50, "name": "n", "type": "Hound"], update: .all) is Hound)
        }
        #expect(pip.weeks == 9 && pip.breed == "pug" && pip.name == "pup")
        for update in [Realm.UpdatePolicy.modified, .all] {
            for isAdded in [true, false] {
                let text = try misuseInZoo { realm in
                    let dog = Hound(named: "no")
                    dog.id = 4
                    if isAdded {
                        realm.add(dog, update: update)
                    } else {
                        realm.create(Hound.self, value: ["id": 4, "name": "no"], update: update)
                    }
                }
                #expect(text?.contains("is of type 'Felis', which is no 'Hound'") == true, "\(text ?? "no misuse")")
            }
        }
        #expect(realm.object(ofType: Cat.self, forPrimaryKey: 4)?.name == "tom")
    }

    @Test func theTypeNeverChanges() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        let changes: [@Sendable (Realm) -> Void] = [
            { realm in realm.objects(Hound.self)[0].type = "Felis" },
            { realm in realm.objects(Animal.self)[1].type = "" },
            { realm in realm.objects(Hound.self)[0]["type"] = "Puppy" },
            { realm in realm.objects(Hound.self).setValue("Puppy", forKey: "type") },
            { realm in
                let dog = Hound(named: "x")
                dog.type = "Puppy"
                realm.add(dog)
            },
        ]
        for (number, change) in changes.enumerated() {
            let text = try misuseInZoo(change)
            #expect(text?.contains("An object of class 'Hound' stays one") == true, "\(number): \(text ?? "no misuse")")
        }
        try realm.write {
            realm.objects(Hound.self)[0].type = "Hound"
            realm.objects(Hound.self)[0]["type"] = "Hound"
            let dog = Hound(named: "y")
            #expect(dog.type == "")
            dog.type = "Hound"
            realm.add(dog)
            #expect(dog.type == "Hound")
        }
        #expect(realm.objects(Animal.self).map(\.type) == ["Animal", "Hound", "Puppy", "Felis", "Crow", "Hound"])
    }

    @Test func undoneWrites() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        struct Undo: Error {}
        let dog = Hound(named: "new")
        #expect(throws: Undo.self) {
            try realm.write {
                realm.add(dog)
                #expect(dog.type == "Hound" && realm.objects(Hound.self).count == 3)
                throw Undo()
            }
        }
        #expect(dog.isInvalidated && names(realm.objects(Hound.self)) == ["rex", "pip"])
    }

    // MARK: Elsewhere

    @Test func frozenObjectsAndReferences() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        let animals = realm.objects(Animal.self), rex = animals[1]
        let frozen = animals.freeze(), frozenDogs = realm.freeze().objects(Hound.self)
        try realm.write { realm.delete(realm.objects(Cat.self)) }
        #expect(types(frozen) == ["Animal", "Hound", "Puppy", "Cat", "Crow"] && names(frozenDogs) == ["rex", "pip"])
        #expect(rex.freeze() is Hound && (rex.freeze().thaw() as? Hound)?.breed == "lab")
        let configuration = realm.configuration
        let one = ThreadSafeReference(to: rex), many = ThreadSafeReference(to: realm.objects(Hound.self))
        let found = Mutex<[String]>([])
        let thread = Thread {
            guard let realm = try? Realm(configuration: configuration) else { return }
            let dog = realm.resolve(one), dogs = realm.resolve(many)
            found.withLock { $0 = types([dog].compactMap { $0 }) + types(dogs.map { Array($0) } ?? []) }
        }
        thread.start()
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.005) }
        #expect(found.withLock { $0 } == ["Hound", "Hound", "Puppy"])
        let copy = try #require(rex.detach() as? Hound)
        #expect(copy.breed == "lab" && copy.type == "Hound" && copy.realm == nil)
        try realm.write { realm.add(copy, update: .modified) }
    }

    @Test func notifications() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        var seen: [[[Int]]] = [], changes: [String] = []
        let token = realm.objects(Hound.self).observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen.append([deletions, insertions, modifications])
            }
        }
        let rex = try #require(realm.objects(Hound.self).first)
        let other = rex.observe { (change: ObjectChange<Hound>) in
            if case .change(_, let properties) = change { changes += properties.map(\.name) }
        }
        realm.refresh()
        try realm.write { realm.add(Cat(named: "no")) }
        realm.refresh()
        try realm.write { realm.create(Puppy.self, value: ["name": "yes", "weeks": 1]) }
        realm.refresh()
        try realm.write { rex.breed = "pug" }
        realm.refresh()
        try realm.write { realm.delete(realm.objects(Puppy.self)) }
        realm.refresh()
        #expect(seen == [[[], [2], []], [[], [], [0]], [[1, 2], [], []]] && changes == ["breed"])
        token.invalidate()
        other.invalidate()
    }

    @Test func schemas() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        #expect(realm.schema.objectSchema.map(\.className).sorted() == ["Animal", "Collar", "Keeper"])
        let animal = try #require(realm.schema["Animal"])
        #expect(animal["breed"]?.isOptional == true && animal["name"]?.isOptional == false && animal["lives"] != nil)
        #expect(animal["toys"]?.isArray == true && animal["friend"]?.objectClassName == "Animal")
        #expect(animal.objectClass == Animal.self && realm.schema["Keeper"]?["best"]?.objectClassName == "Animal")
        let rex = try #require(realm.objects(Hound.self).first), own = rex.objectSchema
        #expect(
            own["breed"] != nil && own["lives"] == nil && own.className == "Animal" && own.objectClass == Hound.self)
        #expect(
            own.properties.allSatisfy { property in
                _ = rex[property.name]
                return true
            })
        #expect(Hound.sharedSchema()?["breed"]?.isOptional == false && Puppy.className() == "Puppy")
        #expect(rex.description.hasPrefix("Hound {") && rex.description.contains("breed = lab"))
        for listed in [[Hound.self], [Crow.self], [Keeper.self, Puppy.self]] as [[ObjectBase.Type]] {
            let other = try Folder(), configuration = other.configuration(listed + [Keeper.self])
            let realm = try Realm(configuration: configuration)
            #expect(realm.schema["Animal"]?["isClever"] != nil && realm.schema["Animal"]?["weeks"] != nil)
            #expect(realm.objects(Cat.self).isEmpty && realm.schema["Collar"] != nil)
        }
    }

    @Test func readOnlyAndInMemory() throws {
        let (_, folder) = try makeZoo()
        var configuration = folder.configuration(all)
        configuration.readOnly = true
        try FileManager.default.copyItem(
            at: folder.url.appendingPathComponent("test.realm"), to: folder.url.appendingPathComponent("copy.realm"))
        configuration.fileURL = folder.url.appendingPathComponent("copy.realm")
        let realm = try Realm(configuration: configuration)
        #expect(types(realm.objects(Animal.self)) == ["Animal", "Hound", "Puppy", "Cat", "Crow"])
        #expect(names(realm.objects(Hound.self)) == ["rex", "pip"])
        let memory = try Realm(
            configuration: .init(inMemoryIdentifier: "families-\(UUID().uuidString)", objectTypes: all))
        try memory.write { memory.add(Crow(named: "c")) }
        #expect(memory.objects(Animal.self).first is Crow)
    }

    @Test func unmanagedCollectionsAreSearched() throws {
        let list = Keeper().pets
        list.append(objectsIn: [Cat(named: "c"), Hound(named: "d"), Puppy(value: ["name": "p", "weeks": 4])])
        #expect(list.index(matching: "weeks == 4") == 2 && list.index(matching: "type == 'Hound'") == 1)
        #expect(types(list) == ["Cat", "Hound", "Puppy"])
    }

    // MARK: Other programs

    @Test func programsThatKnowDifferentClasses() throws {
        let folder = try Folder()
        do {
            let (realm, zoo) = try makeZoo()
            try realm.write { realm.objects(Animal.self)[1].friend = realm.objects(Animal.self)[2] }
            try realm.writeCopy(toFile: folder.url.appendingPathComponent("test.realm"))
            withExtendedLifetime(zoo) {}
        }
        // Another program: its classes have the same names, and it lacks Puppy, Felis, Bird and Crow.
        do {
            let other = try Realm(configuration: folder.configuration([OtherKeeper.self, OtherFish.self]))
            let animals = other.objects(OtherAnimal.self), hounds = other.objects(OtherHound.self)
            #expect(types(animals) == ["OtherAnimal", "OtherHound", "OtherHound", "OtherAnimal", "OtherAnimal"])
            #expect(animals.map(\.type) == ["Animal", "Hound", "Puppy", "Felis", "Crow"])
            #expect(hounds.map(\.name) == ["rex", "pip"] && other.objects(OtherFish.self).isEmpty)
            #expect(animals[1].friend is OtherHound)
            #expect(other.object(ofType: OtherHound.self, forPrimaryKey: 3)?.type == "Puppy")
            #expect(other.object(ofType: OtherHound.self, forPrimaryKey: 4) == nil)
            try other.write {
                hounds[1].breed = "changed"
                other.add(OtherFish(value: ["name": "wanda", "fins": 2]))
            }
            // The check of a class that this program does not know.
            let error = #expect(throws: Realm.Error.self) {
                try other.write { hounds[1].breed = String(repeating: "x", count: 30) }
            }
            #expect(error.map(isBroken) == true && error?.message.contains("Puppy: breed.max_length") == true)
        }
        do {
            let realm = try Realm(configuration: folder.configuration(all)), animals = realm.objects(Animal.self)
            #expect(realm.objects(Puppy.self)[0].breed == "changed" && realm.objects(Puppy.self)[0].weeks == 8)
            #expect(type(of: animals[5]) == Animal.self && animals[5].type == "Fish")
            #expect(realm.objects(Hound.self).count == 2)
            try realm.write { animals[5].name = "w" }
        }
        let other = try Realm(configuration: folder.configuration([OtherKeeper.self, OtherFish.self]))
        let last = other.objects(OtherAnimal.self).last as? OtherFish
        #expect(last?.fins == 2 && last?.name == "w")
    }

    @Test func newSubclassesNeedNoMigration() throws {
        let folder = try Folder()
        do {
            let realm = try Realm(configuration: folder.configuration([OtherKeeper.self, OtherFish.self]))
            try realm.write {
                realm.add([OtherHound(value: ["name": "rex"]), OtherFish(value: ["name": "wanda", "fins": 2])])
            }
        }
        var configuration = folder.configuration(all)
        configuration.deleteRealmIfMigrationNeeded = true  // Nor do they empty the file.
        do {
            let realm = try Realm(configuration: configuration)
            #expect(types(realm.objects(Animal.self)) == ["Hound", "Animal"])
            try realm.write { realm.create(Puppy.self, value: ["name": "p", "weeks": 1]) }
        }
        let realm = try Realm(configuration: folder.configuration([OtherKeeper.self, OtherFish.self]))
        #expect(types(realm.objects(OtherAnimal.self)) == ["OtherHound", "OtherFish", "OtherHound"])
        #expect((realm.objects(OtherAnimal.self)[1] as? OtherFish)?.fins == 2)
    }

    @Test func aMigrationSaysWhatBecomesOfUnknownTypes() throws {
        let (first, folder) = try makeZoo()
        var configuration = folder.configuration([OtherKeeper.self, OtherFish.self])
        configuration.fileURL = folder.url.appendingPathComponent("moved.realm")
        try first.writeCopy(configuration: .init(fileURL: configuration.fileURL))
        configuration.schemaVersion = 1
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(error.map(isBroken) == true)
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Animal") { _, new in
                if new?["type"] as? String == "Puppy" { new?["type"] = "Hound" }
                if ["Felis", "Crow"].contains(new?["type"] as? String) { new?["type"] = "Animal" }
            }
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(OtherAnimal.self).map(\.type) == ["Animal", "Hound", "Hound", "Animal", "Animal"])
        #expect(realm.schema["Animal"]?["lives"] == nil)
    }

    /// The recipe of docs/rules.md: objects of separate classes move to the base.
    @Test func fromSeparateClassesToABaseClass() throws {
        let folder = try Folder()
        do {
            let realm = try Realm(configuration: folder.configuration([OldBeast.self, OldHorse.self, OldRider.self]))
            try realm.write {
                realm.add(OldBeast(value: ["name": "Mule"]))
                realm.add(OldRider(value: ["name": "Ann", "horse": ["name": "Star", "height": 150]]))
            }
            #expect(realm.objects(OldBeast.self).count == 1 && realm.schema["Horse"] != nil)
        }
        var configuration = folder.configuration([Beast.self, Rider.self])
        configuration.schemaVersion = 1
        configuration.migrationBlock = { migration, _ in
            var moved: [String: MigrationObject] = [:]
            migration.enumerateObjects(ofType: "Horse") { old, _ in
                guard let old, let name = old["name"] as? String else { return }
                moved[name] = migration.create(
                    "Beast", value: ["type": "Horse", "name": name, "height": old["height"] as Any])
            }
            migration.enumerateObjects(ofType: "Rider") { old, new in
                new?["horse"] = ((old?["horse"] as? MigrationObject)?["name"] as? String).flatMap { moved[$0] }
            }
            migration.deleteData(forType: "Horse")
        }
        let realm = try Realm(configuration: configuration)
        #expect(types(realm.objects(Beast.self)) == ["Beast", "Horse"] && realm.objects(Horse.self)[0].height == 150)
        #expect(realm.objects(Rider.self)[0].horse?.name == "Star" && realm.schema["Horse"] == nil)
        #expect(realm.objects(Beast.self).filter("type == 'Beast'").count == 1)
    }

    // MARK: Rules and faults

    @Test func rulesOfSubclasses() throws {
        let (realm, folder) = try makeZoo()
        defer { withExtendedLifetime(folder) {} }
        for (change, rule) in [
            ({ realm.objects(Puppy.self)[0].weeks = 0 }, "Puppy: weeks.min"),
            ({ realm.objects(Cat.self)[0].lives = 10 }, "Felis: lives.max"),
            ({ realm.objects(Puppy.self)[0].breed = String(repeating: "x", count: 21) }, "Puppy: breed.max_length"),
            ({ realm.objects(Hound.self)[0].age = -1 }, "Hound: old enough"),
            ({ _ = realm.create(Crow.self, value: ["name": ""]) }, "name.min_length"),
            (
                {
                    realm.objects(Puppy.self)[0].chip = "1"
                    realm.create(Puppy.self, value: ["name": "q", "weeks": 1, "chip": "1"])
                }, "chip"
            ), ({ _ = realm.dynamicCreate("Animal", value: ["id": 70, "name": "x", "type": "Cat"]) }, "'Cat'"),
        ] as [(() -> Void, String)] {
            let error = #expect(throws: Realm.Error.self) { try realm.write { change() } }
            #expect(
                error.map(isBroken) == true && error?.message.contains(rule) == true, "\(rule): \(error?.message ?? "")"
            )
        }
        try realm.write {
            realm.objects(Cat.self)[0].age = -1
            #expect(realm.dynamicCreate("Animal", value: ["id": 71, "name": "x"])["type"] as? String == "Animal")
            let hound = realm.dynamicCreate("Animal", value: ["id": 72, "name": "x", "type": "Hound"])
            #expect(hound["breed"] as? String == "none")
        }
        #expect(try realm.object(ofType: Puppy.self, forUnique: ["chip": "2"]) == nil)
    }

    @Test func faultyDeclarations() throws {
        let folder = try Folder()
        for (type, message) in [
            (TwoTypes.self, "FaultA: FaultRoot has a type property for all its subclasses"),
            (KeyBelow.self, "FaultB.id: primary keys are declared in FaultRoot2"),
            (Made.self, "FaultC.at: a time concerns objects of all classes"),
            (NoText.self, "FaultD.kind: the type property is a String"),
            (OtherTypeOfProperty.self, "are one property of the file, and have different types"),
            (NotInAFamily.self, "NotInAFamily: the rule `.abstract` is for classes that share"),
        ] as [(ObjectBase.Type, String)] {
            let error = #expect(throws: Realm.Error.self) {
                try Realm(configuration: folder.configuration([type], name: "\(type)"))
            }
            #expect(error?.message.contains(message) == true, "\(type): \(error?.message ?? "no error")")
        }
    }

    @Test func withoutTheRuleSubclassesAreClassesOfTheirOwn() throws {
        let (realm, folder) = try makeRealm(Plain.self, PlainBelow.self)
        defer { withExtendedLifetime(folder) {} }
        try realm.write { realm.add(PlainBelow(value: ["name": "x", "more": 1])) }
        #expect(realm.objects(Plain.self).isEmpty && realm.objects(PlainBelow.self).count == 1)
        #expect(realm.schema["PlainBelow"]?["more"]?.isOptional == false)
    }

    // MARK: Python

    /// The same file in both directions. Needs the Python package and the library; `make test` sets CREALM_LIBRARY.
    @Test(.enabled(if: pythonIsThere)) func filesOfPython() throws {
        let (realm, folder) = try makeZoo()
        let file = folder.url.appendingPathComponent("test.realm").path
        try python(
            Self.program + """

                with crealm.open(path, schema=[Animal]) as db:
                    assert [type(one).__name__ for one in db[Animal]] == ["Animal", "Hound", "Puppy", "Cat", "Crow"]
                    assert [one.name for one in db[Hound]] == ["rex", "pip"] and db[Puppy].one().weeks == 8
                    assert db[Hound].first().breed == "lab" and db[Cat].one().lives == 9 and db[Crow].one().isClever
                    with db.write():
                        db.add(Puppy(name="py", weeks=3, friend=db[Cat].one()))
                        db.add(Fish(name="wanda", fins=2))
                    try:
                        with db.write():
                            db[Puppy].first().weeks = 0
                        raise SystemExit("no error")
                    except crealm.RuleBroken:
                        pass
                """, file)
        realm.refresh()
        let animals = realm.objects(Animal.self)
        #expect(types(animals) == ["Animal", "Hound", "Puppy", "Cat", "Crow", "Puppy", "Animal"])
        #expect((animals[5] as? Puppy)?.weeks == 3 && animals[5].friend is Cat && animals[6].type == "Fish")
        #expect(realm.objects(Hound.self).map(\.name) == ["rex", "pip", "py"])
        try realm.write { realm.create(Puppy.self, value: ["name": "last", "weeks": 5]) }
        // A file that Python made, opened by Swift for the first time, and by Python again: nobody removes anything.
        let second = folder.url.appendingPathComponent("python.realm").path
        try python(
            Self.program + """

                with crealm.open(path, schema=[Animal]) as db:
                    with db.write():
                        db.add_many(Animal, [Animal(name="a"), Hound(name="h"), Puppy(name="p", weeks=1), Fish(name="f")])
                """, second)
        do {
            let realm = try Realm(configuration: folder.configuration(all, name: "python"))
            #expect(types(realm.objects(Animal.self)) == ["Animal", "Hound", "Puppy", "Animal"])
            try realm.write { realm.add(Cat(named: "swift")) }
        }
        try python(
            Self.program + """

                with crealm.open(path, schema=[Animal]) as db:
                    assert [type(one).__name__ for one in db[Animal]] == ["Animal", "Hound", "Puppy", "Fish", "Cat"]
                    assert db[Fish].one().fins == 0 and db[Cat].one().lives == 9
                    checks = {check["name"] for check in db.rules(Animal)["checks"]}
                    assert {"Fish: fins.min", "Puppy: weeks.min", "Felis: lives.max"} <= checks, checks
                """, second)
    }

    private static let program = """
        import sys
        from datetime import datetime
        from typing import List, Optional
        import crealm

        class Collar(crealm.Embedded):
            colour: str

        class Animal(crealm.Model):
            id: int = crealm.field(primary_key=True, auto=True)
            name: str = crealm.field(min_length=1)
            age: Optional[int] = None
            friend: Optional["Animal"] = None
            type: str

            class Meta:
                type_property = "type"

        class Hound(Animal):
            breed: str = crealm.field(default="none", max_length=20)
            toys: List[str]
            collar: Optional[Collar] = None
            mother: Optional["Hound"] = None

            class Meta:
                checks = {"old enough": "age == NULL OR age >= 0"}

        class Puppy(Hound):
            weeks: int = crealm.field(min=1)
            chip: Optional[str] = crealm.field(unique=True, default=None)

        class Cat(Animal):
            lives: int = crealm.field(default=9, max=9)
            size: str = "small"
            born: Optional[datetime] = None

            class Meta:
                type_name = "Felis"

        class Bird(Animal):
            song: str = ""
            nests: int = 0
            span: float = 0.0

            class Meta:
                abstract = True

        class Crow(Bird):
            isClever: bool = True

        class Fish(Animal):
            fins: int = crealm.field(min=0)

        path = sys.argv[1]
        """
}

// The classes of another program.

private class OtherAnimal: Object {
    @Persisted(primaryKey: true, automatic: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int?
    @Persisted var friend: OtherAnimal?
    @Persisted var type: String

    override class func className() -> String { "Animal" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func rules() -> [Rule] { [.subclasses(by: "type"), .minimumLength("name", 1)] }
}

private final class OtherHound: OtherAnimal {
    @Persisted var breed: String
    @Persisted var toys: List<String>
    @Persisted var collar: Collar?
    @Persisted var mother: OtherHound?

    override class func className() -> String { "Hound" }
}

private final class OtherFish: OtherAnimal {
    @Persisted var fins: Int

    override class func className() -> String { "Fish" }
}

private final class OtherKeeper: Object {
    @Persisted var name: String
    @Persisted var best: OtherHound?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

// The classes of the recipe.

private final class OldBeast: Object {
    @Persisted var name: String

    override class func className() -> String { "Beast" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class OldHorse: Object {
    @Persisted var name: String
    @Persisted var height: Int

    override class func className() -> String { "Horse" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class OldRider: Object {
    @Persisted var name: String
    @Persisted var horse: OldHorse?

    override class func className() -> String { "Rider" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Beast: Object {
    @Persisted var name: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func rules() -> [Rule] { [.subclasses(by: "type")] }
}

private final class Horse: Beast {
    @Persisted var height: Int
}

private final class Rider: Object {
    @Persisted var name: String
    @Persisted var horse: Horse?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

// Declarations that are refused.

private class FaultRoot: Object {
    @Persisted var kind: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func className() -> String { "FaultRoot" }

    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

private final class TwoTypes: FaultRoot {
    override class func className() -> String { "FaultA" }

    override class func rules() -> [Rule] { [.subclasses(by: "other")] }
}

private class FaultRoot2: FaultRoot2Base {
    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

private class FaultRoot2Base: Object {
    @Persisted var kind: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class KeyBelow: FaultRoot2 {
    @Persisted(primaryKey: true) var id: Int

    override class func className() -> String { "FaultB" }
}

private class FaultRoot3: FaultRoot2Base {
    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

private final class Made: FaultRoot3 {
    @Persisted var at: Date

    override class func className() -> String { "FaultC" }

    override class func rules() -> [Rule] { [.created("at")] }
}

private final class NoText: Object {
    @Persisted var kind: Int

    override class func className() -> String { "FaultD" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

private class FaultRoot4: FaultRoot2Base {
    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

private final class OtherTypeOfProperty: FaultRoot4 {
    @Persisted var size: Int
}

private final class OtherTypeOfProperty2: FaultRoot4 {
    @Persisted var size: String
}

private final class NotInAFamily: Object {
    @Persisted var name: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    override class func rules() -> [Rule] { [.abstract] }
}

private class Plain: Object {
    @Persisted var name: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class PlainBelow: Plain {
    @Persisted var more: Int
}

// Python.

private let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("bindings/python").path

private var pythonIsThere: Bool {
    let library = ProcessInfo.processInfo.environment["CREALM_LIBRARY"] ?? ""
    return !library.isEmpty && FileManager.default.fileExists(atPath: library)
}

/// Runs a Python program with one argument, and records an issue if it fails.
private func python(_ text: String, _ argument: String) throws {
    let process = Process(), output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", text, argument]
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": package]) { $1 }
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(said)")
}
