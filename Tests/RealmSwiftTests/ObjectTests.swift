import Foundation
import RealmSwift
import Testing

struct ObjectTests {
    private func values() -> Everything {
        let e = Everything()
        (e.int, e.int8, e.int16, e.int32, e.int64) = (-5, .min, .max, .min, .max)
        (e.bool, e.float, e.double, e.string) = (true, 1.5, -.infinity, "ä\u{0}🐶")
        (e.data, e.date) = (Data([0, 1, 255]), Date(timeIntervalSince1970: 1_700_000_000.125))
        (e.decimal, e.objectId, e.uuid) = ("1.50", ObjectId("00112233445566778899aabb"), UUID())
        (e.any, e.color, e.level, e.point) = (.string("x"), .blue, .high, Point(x: 3, y: -4))
        (e.optInt, e.optInt8, e.optBool, e.optFloat, e.optDouble, e.optString) = (0, 1, false, 0, 0, "")
        (e.optData, e.optDate, e.optDecimal) = (Data(), Date(timeIntervalSince1970: -1.5), -3)
        (e.optObjectId, e.optUUID, e.optColor, e.optLevel) = (.generate(), UUID(), .red, .low)
        (e.optPoint, e.optEven) = (Point(x: 1, y: 2), Even(persistedValue: 4))
        e.ints.append(objectsIn: [3, 1, 2])
        e.optStrings.append(objectsIn: ["a", nil])
        e.dates.append(e.date)
        e.colors.append(objectsIn: [.green, .green])
        e.points.insert(objectsIn: [Point(x: 1, y: 1), Point(x: 1, y: 1), Point(x: 0, y: 1)])
        e.anys.append(objectsIn: [.none, .int(1), .fromArray([.bool(true), .fromDictionary(["k": .double(2)])])])
        e.uuids.insert(e.uuid)
        e.decimals["a"] = 2
        (e.optDoubles["x"], e.optDoubles["none"]) = (1.25, .some(nil))
        e.anyMap["list"] = .fromArray([.string("in")])
        return e
    }

    private func check(_ a: Everything, _ b: Everything) {
        #expect(a.int == b.int && a.int8 == b.int8 && a.int16 == b.int16 && a.int32 == b.int32 && a.int64 == b.int64)
        #expect(a.bool == b.bool && a.float == b.float && a.double == b.double && a.string == b.string)
        #expect(
            a.data == b.data && a.date == b.date && a.decimal == b.decimal && a.objectId == b.objectId
                && a.uuid == b.uuid)
        #expect(a.any == b.any && a.color == b.color && a.level == b.level && a.point == b.point)
        #expect(a.optInt == b.optInt && a.optInt8 == b.optInt8 && a.optBool == b.optBool && a.optFloat == b.optFloat)
        #expect(
            a.optDouble == b.optDouble && a.optString == b.optString && a.optData == b.optData && a.optDate == b.optDate
        )
        #expect(
            a.optDecimal == b.optDecimal && a.optObjectId == b.optObjectId && a.optUUID == b.optUUID
                && a.optColor == b.optColor)
        #expect(a.optLevel == b.optLevel && a.optPoint == b.optPoint && a.optEven?.value == b.optEven?.value)
        #expect(
            Array(a.ints) == Array(b.ints) && Array(a.optStrings) == Array(b.optStrings)
                && Array(a.dates) == Array(b.dates))
        #expect(Array(a.colors) == Array(b.colors) && Set(a.points) == Set(b.points) && Set(a.uuids) == Set(b.uuids))
        #expect(
            Dictionary(uniqueKeysWithValues: a.decimals.asKeyValueSequence())
                == Dictionary(uniqueKeysWithValues: b.decimals.asKeyValueSequence()))
        #expect(
            a.optDoubles["x"] == b.optDoubles["x"] && a.optDoubles["none"] == b.optDoubles["none"]
                && a.optDoubles.count == b.optDoubles.count)
        #expect(a.anys.count == b.anys.count && a.anys[1] == b.anys[1])
        #expect(a.anys[2].listValue?[0] == b.anys[2].listValue?[0])
        #expect(a.anys[2].listValue?[1].dictionaryValue?["k"] == b.anys[2].listValue?[1].dictionaryValue?["k"])
        #expect(a.anyMap["list"]?.listValue?[0] == b.anyMap["list"]?.listValue?[0])
    }

    /// Rows that refer to one another in circles, through links, lists, maps and values of any type, are copied once
    /// each.
    @Test func circlesAreCopiedToAnotherRealm() throws {
        let (realm, folder) = try makeRealm(Ring.self), (other, otherFolder) = try makeRealm(Ring.self)
        try realm.write {
            let a = realm.create(Ring.self, value: ["name": "a"]), b = realm.create(Ring.self, value: ["name": "b"])
            (a.next, b.next) = (b, a)
            a.all.append(objectsIn: [a, b, b])
            a.any = .object(a)
            b.byName["a"] = a
            b.values.append(.object(b))
        }
        try other.write {
            let a = other.create(Ring.self, value: realm.objects(Ring.self)[0])
            #expect(other.objects(Ring.self).count == 2 && a.next?.next?.isSameObject(as: a) ?? false)
            #expect(a.all.map(\.name) == ["a", "b", "b"] && a.any.object(Ring.self)?.isSameObject(as: a) ?? false)
            #expect(a.next?.byName["a"]??.isSameObject(as: a) ?? false)
            #expect(a.next?.values.first?.object(Ring.self)?.name == "b")
        }
        _ = (folder, otherFolder)
    }

    @Test func everyTypeIsStored() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let managed = values(), plain = values()
        plain.id = managed.id
        (plain.objectId, plain.uuid, plain.optObjectId, plain.optUUID) = (
            managed.objectId, managed.uuid, managed.optObjectId, managed.optUUID
        )
        plain.uuids.removeAll()
        plain.uuids.insert(plain.uuid)
        try realm.write { realm.add(managed) }
        #expect(managed.realm == realm && plain.realm == nil)
        check(managed, plain)
        let found = try #require(realm.object(ofType: Everything.self, forPrimaryKey: managed.id))
        check(found, plain)
        #expect(found == managed && found.hashValue == managed.hashValue && found !== managed && plain != managed)
        // Once more through setters, of an object that is managed from the start.
        try realm.write {
            let copy = realm.create(Everything.self, value: plain, update: .all)
            check(copy, plain)
        }
        _ = folder
    }

    @Test func propertiesThatWereNeverSet() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let e = try realm.write { realm.create(Everything.self, value: ["id": ObjectId.generate()]) }
        #expect(
            e.int == 0 && !e.bool && e.double == 0 && e.string == "" && e.data == Data()
                && abs(e.date.timeIntervalSinceNow) < 3600)
        #expect(e.decimal == 0 && e.any == .none && ObjectId().stringValue == String(repeating: "0", count: 24))
        // Identifiers are new in every object, so that a primary key may be left to them.
        let other = Everything()
        #expect(
            other.objectId != e.objectId && other.id != Everything().id && other.id == other.id && other.uuid != e.uuid
                && other.uuid == other.uuid)
        #expect(e.color == .red && e.level == .low && e.point == Point(x: 0, y: 0))
        #expect(
            e.optInt == nil && e.optString == nil && e.optColor == nil && e.optPoint == nil && e.optEven == nil
                && e.optDate == nil)
        #expect(e.ints.isEmpty && e.points.isEmpty && e.anyMap.isEmpty)
        _ = folder
    }

    @Test func anObjectIsOneInstanceBeforeAndAfter() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = Person(value: ["id": 1, "name": "Ida"]), rex = Dog("Rex", 3)
        let dogs = ida.dogs
        dogs.append(rex)
        ida.best = ida
        ida.address = Address(value: ["street": "Long", "country": ["name": "Utopia"]])
        ida.isSelected = true
        #expect(ida.realm == nil && !ida.isInvalidated)
        try realm.write { realm.add(ida) }
        #expect(rex.realm == realm && dogs.realm == realm && ida.dogs === dogs && dogs[0].name == "Rex")
        #expect(ida.best?.name == "Ida" && ida.address?.country?.name == "Utopia" && ida.isSelected)
        #expect(rex.owners.count == 1 && rex.owners[0] == ida)
        try realm.write {
            dogs.append(Dog("Bo"))
            ida.age += 1
            ida.address?.street = "Short"
            ida.former.append(Address(value: ["Old"]))
            ida.friends["me"] = ida
        }
        #expect(
            dogs.count == 2 && ida.age == 1 && ida.address?.street == "Short" && ida.former[0].street == "Old"
                && ida.friends["me"] == ida)
        try realm.write { realm.delete(ida) }
        #expect(
            ida.isInvalidated && ida.realm == realm && dogs.isInvalidated && rex.owners.isEmpty
                && realm.objects(Dog.self).count == 2)
        _ = folder
    }

    @Test func updatePolicies() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            realm.create(Person.self, value: ["id": 1, "name": "Ida", "age": 7, "dogs": [["name": "Rex"]]])
            realm.create(Person.self, value: ["id": 1, "age": 8], update: .modified)
        }
        let ida = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        #expect(ida.name == "Ida" && ida.age == 8 && ida.dogs.count == 1)
        try realm.write {
            realm.create(Person.self, value: ["id": 2, "best": ["id": 1, "age": 9]], update: .modified)
            realm.add(Person(value: ["id": 3, "name": "Al"]), update: .all)
            realm.add(Person(value: ["id": 3, "age": 1]), update: .all)
        }
        #expect(ida.age == 9 && ida.name == "Ida" && realm.objects(Person.self).count == 3)
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 3)?.name == "nobody")
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 2)?.best == ida)
        _ = folder
    }

    /// `.modified` changes the embedded objects that are there: whoever holds or observes one goes on seeing it.
    @Test func modifiedEmbeddedObjectsStay() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let old = Person(value: [
            "id": 1, "address": ["street": "Long", "country": ["name": "A"]],
            "former": [["street": "one"], ["street": "two"], ["street": "three"]],
        ])
        try realm.write { realm.add(old) }
        let address = try #require(old.address), country = try #require(address.country), former = Array(old.former)
        let new = Person(value: [
            "id": 1, "address": ["street": "Short", "country": ["name": "B"]],
            "former": [["street": "1"], ["street": "2"]],
        ])
        try realm.write { realm.add(new, update: .modified) }
        #expect(address.street == "Short" && country.name == "B" && new.address?.isSameObject(as: address) == true)
        #expect(
            former[0].street == "1" && former[1].street == "2" && former[2].isInvalidated
                && old.former.map(\.street) == ["1", "2"])
        // What a dictionary does not name stays, in embedded objects, too.
        try realm.write {
            realm.create(
                Person.self,
                value: ["id": 1, "address": ["street": "Back"], "former": [[:], ["street": "b"], ["street": "c"]]],
                update: .modified)
        }
        #expect(
            address.street == "Back" && country.name == "B" && old.former.map(\.street) == ["1", "b", "c"]
                && former[1].street == "b")
        // `.all` makes new ones.
        try realm.write { realm.add(Person(value: ["id": 1, "address": ["street": "New"]]), update: .all) }
        #expect(address.isInvalidated && country.isInvalidated && old.address?.street == "New" && old.former.isEmpty)
        _ = folder
    }

    /// Collections take the elements and entries that an update names, whatever they held.
    @Test func modifiedCollections() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let lists: [[String]] = [[], ["a"], ["a", "b", "c"], ["c", "b"], ["d", "b", "x", "y"], []]
        for names in lists + lists.reversed() {
            try realm.write {
                realm.create(
                    Person.self,
                    value: [
                        "id": 1, "dogs": names.map { ["name": $0] }, "nicknames": names,
                        "scores": Dictionary(uniqueKeysWithValues: names.map { ($0, $0.utf8.count) }),
                        "former": names.map { ["street": $0] },
                    ] as [String: Any], update: .modified)
            }
            let ida = try #require(realm.objects(Person.self).first)
            #expect(
                ida.dogs.map(\.name) == names && ida.nicknames.map { $0 } == names.sorted()
                    && ida.scores.keys == names.sorted())
            #expect(ida.former.map(\.street) == names)
        }
        _ = folder
    }

    @Test func aWriteThatThrowsLeavesNothing() throws {
        struct Refused: Error {}
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = Person(value: [1, "Ida"])
        #expect(throws: Refused.self) {
            try realm.write {
                realm.add(ida)
                throw Refused()
            }
        }
        #expect(ida.isInvalidated && realm.isEmpty && !realm.isInWriteTransaction)
        // Another object gets the row of the one that never was.
        try realm.write { realm.create(Person.self, value: [2, "Al"]) }
        #expect(ida.isInvalidated)
        _ = folder
    }

    @Test func inheritedProperties() throws {
        let (realm, folder) = try makeRealm(Base.self, Derived.self)
        try realm.write {
            realm.add(Derived(value: ["key": "a", "first": 1, "second": "two"]))
            realm.add(Base(value: ["b", 2] as [Any]))
        }
        let d = try #require(realm.objects(Derived.self).first)
        #expect(d.key == "a" && d.first == 1 && d.second == "two" && realm.objects(Base.self).count == 1)
        #expect(
            d.objectSchema.properties.map(\.name) == ["key", "first", "second"]
                && d.objectSchema.primaryKeyProperty?.name == "key")
        _ = folder
    }

    @Test func namesInTheFile() throws {
        let (realm, folder) = try makeRealm(Renamed.self)
        try realm.write {
            let a = realm.create(Renamed.self, value: ["id": 1, "title": "x"])
            realm.create(Renamed.self, value: ["id": 2, "title": "y", "other": a])
        }
        #expect(realm.schema["Renamed"]?["title"]?.columnName == "name")
        let link = "\tobjectClassName = Renamed;\n\tlinkOriginPropertyName = (null);\n\tcolumnName = link;\n"
        #expect(Renamed().objectSchema["other"]?.description.contains(link) == true)
        #expect(realm.objects(Renamed.self).filter("other.title == 'x'").first?.id == 2)
        #expect(realm.objects(Renamed.self).sorted(by: \.title, ascending: false).first?.id == 2)
        _ = folder
    }

    @Test func classesAreFound() throws {
        class Local: Object { @Persisted var n: Int }
        class Hidden: Object {
            @Persisted var n: Int

            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
        let folder = try Folder()
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: folder.url.appendingPathComponent("all.realm")))
        let names = Set(realm.schema.objectSchema.map(\.className))
        #expect(
            names.isSuperset(of: [
                "Person", "Dog", "Address", "Country", "Everything", "Base", "Derived", "Renamed", "Local",
            ]))
        #expect(!names.contains("Hidden") && !names.contains("Object") && !names.contains("DynamicObject"))
    }

    @Test func byName() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = Person(value: ["id": 1, "name": "Ida"])
        #expect(ida["name"] as? String == "Ida" && ida["best"] == nil)
        ida["age"] = 4
        try realm.write { realm.add(ida) }
        #expect(ida.value(forKey: "age") as? Int == 4)
        try realm.write {
            ida["best"] = ida
            ida.setValue("Eve", forKey: "name")
            ida["best"] = nil
            ida["best"] = ida
        }
        #expect(ida.value(forKeyPath: "best.best.name") as? String == "Eve")
        _ = folder
    }

    @Test func frozenValuesOfEnumsThatTheProgramDoesNotKnow() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("e.realm")
        let id = ObjectId.generate()
        do {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Everything.self]))
            try realm.write {
                let e = realm.dynamicCreate("Everything", value: ["id": id])
                e["optColor"] = "violet"
                e["optEven"] = 3
            }
            let e = try #require(realm.object(ofType: Everything.self, forPrimaryKey: id))
            #expect(e.optColor == nil && e.optEven == nil)
        }
        let message = misuse {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Everything.self]))
            try realm.write { realm.dynamicObject(ofType: "Everything", forPrimaryKey: id)?["color"] = "violet" }
            _ = realm.objects(Everything.self)[0].color
        }
        #expect(message?.contains("Everything.color") == true)
    }
}

class Ring: Object {
    @Persisted var name: String
    @Persisted var next: Ring?
    @Persisted var all: List<Ring>
    @Persisted var any: AnyRealmValue
    @Persisted var byName: Map<String, Ring?>
    @Persisted var values: List<AnyRealmValue>
}
