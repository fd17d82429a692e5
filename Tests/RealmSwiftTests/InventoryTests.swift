import Foundation
import RealmSwift
import Testing

// Every public declaration that Realm's package has for local use and that `docs/realmswift.md` offers, used at least
// once, with its own labels: what is not used by the other tests is used here.

class InventoryProjection: Projection<Person> {
    @Projected(\Person.name) var title
    @Projected(\Person.address?.street) var street
    @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
}

/// A generic function over Realm's constraints.
private func span<C: RealmCollection>(_ c: C) -> (C.Element?, C.Element?)
where C.Element.PersistedType: MinMaxType { (c.min(), c.max()) }

private func total<C: RealmCollection>(_ c: C) -> C.Element where C.Element.PersistedType: AddableType { c.sum() }

private func ordered<C: RealmCollection>(_ c: C) -> [C.Element] where C.Element.PersistedType: SortableType {
    Array(c.sorted(ascending: true))
}

private func entries<M: RealmKeyedCollection>(_ m: M) -> Int { Swift.min(m.count, m.keys.count, m.values.count) }

struct InventoryTests {
    private func people() throws -> (Realm, Folder) {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self, Everything.self)
        try realm.write {
            for i in 0..<4 {
                let p = realm.create(
                    Person.self,
                    value: [
                        "id": i, "name": "p\(i)", "age": i * 10, "address": ["street": "s\(i)"], "nicknames": ["n\(i)"],
                    ])
                p.dogs.append(Dog("d\(i)", i))
                p.scores["a"] = i
                p.friends["self"] = p
            }
        }
        return (realm, folder)
    }

    @Test func realmsAndFiles() throws {
        let (realm, folder) = try people()
        let config = realm.configuration, copy = folder.url.appendingPathComponent("copy.realm"),
            key = Data(repeating: 7, count: 64)
        let again = try Realm(configuration: config, queue: nil)
        #expect(!realm.isEmpty && realm.schema.objectSchema.count == 5 && realm == again)
        try realm.writeCopy(toFile: copy, encryptionKey: key)
        var second = config
        (second.fileURL, second.encryptionKey, second.readOnly) = (copy, key, true)
        #expect(try Realm(configuration: second).objects(Person.self).count == 4)
        #expect(Realm.fileExists(for: second))
        var third = config
        third.fileURL = folder.url.appendingPathComponent("third.realm")
        try realm.writeCopy(configuration: third)
        try Realm.performMigration(for: third)
        #expect(try schemaVersionAtURL(copy, encryptionKey: key) == 0)
        #expect(try deleting { try Realm.deleteFiles(for: third) })
        #expect(!Realm.fileExists(for: third))
        realm.beginWrite()
        realm.cancelWrite()
        #expect(!realm.isInWriteTransaction && !realm.refresh() && !realm.isPerformingAsynchronousWriteOperations)
        let frozen = realm.freeze(), results = realm.objects(Person.self), ice = realm.freeze(results)
        #expect(frozen.isFrozen && !frozen.thaw().isFrozen && ice.isFrozen && realm.thaw(ice)?.count == 4)
        #expect(realm.resolve(ThreadSafeReference(to: results))?.count == 4)
        try realm.write {
            realm.add([Person(value: ["id": 9]), Person(value: ["id": 1, "name": "new"])], update: .all)
            realm.delete(realm.objects(Person.self).filter("id == 9"))
            realm.delete([Dog]())
            realm.delete(results[0].dogs)
            realm.delete(results[1].friends)
        }
        #expect(results.count == 4 && realm.objects(Dog.self).count == 3 && results[1].friends.isEmpty)
    }

    @Test func openingElsewhere() async throws {
        let folder = try Folder(), config = folder.configuration([Person.self, Dog.self, Address.self, Country.self])
        let count: Int = try await withCheckedThrowingContinuation { done in
            let task: Realm.AsyncOpenTask = Realm.asyncOpen(
                configuration: config, callbackQueue: DispatchQueue(label: "open")
            ) { result in
                done.resume(with: result.map { $0.objects(Dog.self).count })
            }
            _ = task
        }
        #expect(count == 0)
        try await MainActor.run { _ = try Realm(configuration: config) }
        let realm = try await InventoryStore().count(config)
        #expect(realm == 1)
    }

    private actor InventoryStore {
        func count(_ config: Realm.Configuration) async throws -> Int {
            let a = try await Realm(configuration: config, actor: self, downloadBeforeOpen: .never),
                b = try await Realm.open(configuration: config)
            try await a.asyncWrite { a.add(Dog("x")) }
            _ = await b.asyncRefresh()
            return b.objects(Dog.self).count
        }
    }

    @Test func objects() throws {
        let (realm, folder) = try people()
        let p = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1)),
            detached = Person(value: [7, "array", 3])
        #expect(
            p.objectSchema.className == "Person" && p.realm == realm && !p.isInvalidated && !p.isFrozen
                && p.description.hasPrefix("Person {"))
        #expect(detached.name == "array" && p["name"] as? String == "p1" && p.value(forKey: "age") as? Int == 10)
        #expect(p.value(forKeyPath: "address.street") as? String == "s1" && p.isSameObject(as: p.freeze().thaw()))
        #expect(
            p.dynamicList("dogs").count == 1 && p.dynamicMap("friends").count == 1 && Person.primaryKey() == nil
                && Person.className() == "Person")
        try realm.write {
            p.setValuesForKeys(["age": 11])
            p.setValue("t1", forKeyPath: "address.street")
            p["name"] = "q"
        }
        #expect(p.age == 11 && p.address?.street == "t1" && p.name == "q")
        var heard: [String] = []
        let tokens = [
            p.observe { (change: ObjectChange<Person>) in
                if case .change(_, let all) = change { heard += all.map(\.name) }
            },
            p.observe(keyPaths: ["age"]) {
                if case .change(_, let all) = $0 { heard += all.map { "text:" + $0.name } }
            },
            p.observe(keyPaths: [\.age]) { (change: ObjectChange<Person>) in
                if case .change(_, let all) = change {
                    heard += all.map { "path:\($0.name) \($0.oldValue ?? "")→\($0.newValue ?? "")" }
                }
            },
        ]
        realm.refresh()
        try realm.write { p.age = 12 }
        realm.refresh()
        #expect(heard.sorted() == ["age", "path:age →12", "text:age"])
        for token in tokens { token.invalidate() }
        _ = folder
    }

    @Test func projections() throws {
        let (realm, folder) = try people()
        let all = realm.objects(InventoryProjection.self), first = try #require(all.first)
        #expect(
            first.title == "p0" && first.street == "s0" && Array(first.dogNames) == ["d0"] && first.rootObject.id == 0
                && first.realm == realm)
        #expect(
            InventoryProjection(projecting: first.rootObject) == first && !first.isInvalidated
                && first.freeze().isFrozen)
        #expect(first.description.contains("title(\\.name) = p0") && _name(for: \InventoryProjection.title) == "name")
        try realm.write {
            first.title = "r"
            first.dogNames[0] = "e"
        }
        #expect(
            first.rootObject.name == "r" && first.rootObject.dogs[0].name == "e" && first.dogNames.index(of: "e") == 0)
        var heard: [String] = []
        let token = first.observe(keyPaths: [\InventoryProjection.title]) {
            (change: ObjectChange<InventoryProjection>) in
            if case .change(_, let all) = change {
                heard += all.map { "\($0.name) \($0.oldValue ?? "")→\($0.newValue ?? "")" }
            }
        }
        realm.refresh()
        try realm.write { first.rootObject.name = "s" }
        realm.refresh()
        #expect(heard == ["title →s"])
        let sections = all.sectioned(by: \.title, ascending: false)
        #expect(sections.allKeys == ["s", "p3", "p2", "p1"])
        token.invalidate()
        _ = folder
    }

    @Test func collections() throws {
        let (realm, folder) = try people()
        let all = realm.objects(Person.self), list = all[1].dogs
        #expect(
            all.objects(at: [1, 3]).map(\.id) == [1, 3] && all.index(matching: "id == %@", 2) == 2
                && all.index(matching: { $0.id == 3 }) == 3)
        #expect(
            all.index(matching: NSPredicate(format: "id == 1")) == 1
                && all.sorted(by: \.age, ascending: false).first?.id == 3)
        #expect(
            all.sorted(by: ["age", SortDescriptor(keyPath: "id", ascending: false)]).count == 4
                && all.distinct(by: ["age"]).count == 4)
        #expect(
            all.distinct(by: [\Person.age]).count == 4 && all.min(of: \.age) == 0 && all.max(of: \.age) == 30
                && all.sum(of: \.age) == 60)
        let average: Int? = all.average(of: \.age), least: Int? = all.min(ofProperty: "age"),
            most: Int? = all.max(ofProperty: "age")
        let sum: Int = all.sum(ofProperty: "age"), mean: Double? = all.average(ofProperty: "age")
        #expect(average == 15 && least == 0 && most == 30 && sum == 60 && mean == 15)
        #expect(all.value(forKey: "id") as? [Int] == [0, 1, 2, 3] && all.value(forKeyPath: "@max.age") as? Int == 30)
        #expect(
            list.projectTo.name.first == "d1" && AnyRealmCollection(list)[0].name == "d1" && list[0].owners.count == 1)
        try realm.write {
            list.insert(contentsOf: [Dog("a"), Dog("b"), Dog("c")], at: 0)
            list.move(from: 0, to: 2)
            list.swapAt(0, 1)
            list.replace(index: 3, object: Dog("z"))
            list.remove(atOffsets: [0])
            list.move(fromOffsets: [0], toOffset: 2)
            list.replaceSubrange(0..<1, with: [Dog("y")])
        }
        #expect(list.map(\.name) == ["y", "b", "z"] || list.count == 3)
        let scores = all[2].scores
        try realm.write {
            scores.updateValue(5, forKey: "b")
            scores.merge([(key: "b", value: 6), (key: "c", value: 7)]) { $0 + $1 }
            scores.setValue(1, forKey: "d")
            scores.removeObject(for: "a")
        }
        #expect(
            scores.asKeyValueSequence().map(\.key) == ["b", "c", "d"] && scores["b"] == 11 && scores.min() == 1
                && scores.sum() == 19)
        #expect(
            entries(scores) == 3 && scores.value(forKey: "c") as? Int == 7 && scores.object(forKey: "z") == nil
                && scores.map(\.value).count == 3)
        #expect(all[2].friends.sorted(byKeyPath: "age").count == 1 && all[2].friends.max(of: \.age) == 20)
        let o = Everything()
        o.ints.append(objectsIn: [3, 1])
        try realm.write { realm.add(o) }
        #expect(span(o.ints) == (1, 3) && total(o.ints) == 4 && ordered(o.ints) == [1, 3])
        let a = all[0].nicknames, b = all[1].nicknames
        try realm.write {
            a.formUnion(b)
            a.subtract(b)
        }
        #expect(a.contains("n0") && !a.intersects(b) && a.isSubset(of: a) && a.count == 1)
        _ = folder
    }

    @Test func queries() throws {
        let (realm, folder) = try people()
        let all = realm.objects(Person.self), every = realm.objects(Everything.self)
        try realm.write {
            realm.create(
                Everything.self,
                value: ["int": 5, "color": "blue", "level": 9, "optInt": 2, "ints": [1, 2], "string": "Abc"])
        }
        #expect(
            all.where { $0.dogs.name == "d1" && $0.scores["a"] == 1 }.count == 1
                && all.where { $0.scores.values > 1 }.count == 2)
        #expect(
            all.where { ($0.dogs.age > 0 && $0.dogs.name != "d2").count > 0 }.count == 2
                && all.where { $0.friends.keys == "self" }.count == 4)
        #expect(every.where { $0.color == .blue && $0.color.rawValue == "blue" && $0.level > .low }.count == 1)
        #expect(
            every.where {
                $0.ints.contains(2) && $0.ints.containsAny(in: [7, 1]) && $0.ints.contains(0...2) && $0.ints.max == 2
            }.count == 1)
        #expect(
            every.where {
                $0.string.starts(with: "a", options: .caseInsensitive) && $0.string.like("A?c") && $0.string > "Aaa"
            }.count == 1)
        #expect(
            every.where {
                $0.int.in([5, 6]) && $0.int.contains(4..<6) && $0.optInt != nil && !$0.bool
                    && $0.point.persistableValue != "x"
            }.count == 1
        )
        #expect(
            every.filter(
                NSCompoundPredicate(andPredicateWithSubpredicates: [
                    NSPredicate(format: "int > %@", 1), NSPredicate(format: "bool == NO"),
                ])
            )
            .count == 1)
        let (format, arguments) = Query<Everything>._constructForTesting().int.in([1])._constructPredicate()
        #expect(format == "(int IN %@)" && arguments.count == 1)
        _ = folder
    }

    @Test func places() throws {
        #expect(GeoPoint(latitude: 91, longitude: 0) == nil && GeoBox(bottomLeft: (0, 0), topRight: (1, 1)) != nil)
        #expect(
            GeoPolygon(outerRing: [(0, 0), (0, 1), (1, 1)]) == nil
                && GeoPolygon(outerRing: [(0, 0), (0, 1), (1, 1), (0, 0)]) != nil)
        let radius = try #require(Distance.kilometers(5)),
            circle = try #require(GeoCircle(center: (0, 0), radius: radius))
        #expect(
            abs(circle.radiusInRadians * 6378.1 - 5) < 0.001 && Distance.degrees(-1) == nil
                && Distance.miles(1)?.asKilometers() ?? 0 > 1.6)
    }

    @Test func schemas() throws {
        let (realm, folder) = try people()
        let schema = try #require(realm.schema["Person"]), id = try #require(schema.primaryKeyProperty),
            dogs = try #require(schema["dogs"])
        #expect(
            id.name == "id" && id.type == .int && id.isIndexed && !id.isOptional && id.columnName == "id"
                && schema.objectClass == Person.self)
        #expect(
            dogs.isArray && !dogs.isSet && !dogs.isMap && dogs.objectClassName == "Dog" && !schema.isEmbedded
                && !schema.isAsymmetric)
        #expect(
            PropertyType.UUID.rawValue == 12 && realm.schema["Address"]?.isEmbedded == true
                && schema.properties.count == 10)
        let dynamic = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 2))
        #expect(dynamic.age as? Int == 20 && realm.dynamicObjects("Dog").count == 4)
        try realm.write { realm.dynamicCreate("Dog", value: ["name": "dyn"], update: .error) }
        #expect(realm.objects(Dog.self).last?.name == "dyn")
        _ = folder
    }
}
