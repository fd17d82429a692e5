import Foundation
import RealmSwift
import Testing

struct QueryTests {
    private func open() throws -> (Results<Person>, Folder) {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            let rex = realm.create(Dog.self, value: ["name": "Rex", "age": 3]),
                bo = realm.create(Dog.self, value: ["name": "Bo", "age": 9])
            let ida = realm.create(
                Person.self, value: ["id": 1, "name": "Ida", "age": 7, "dogs": [rex, bo], "scores": ["chess": 5]])
            realm.create(
                Person.self,
                value: [
                    "id": 2, "name": "Al's", "age": 30, "best": ida, "dogs": [bo], "nicknames": ["x", "y"],
                    "address": ["street": "Long"],
                ])
            realm.create(
                Person.self, value: ["id": 3, "name": "ida", "age": 40, "best": ida, "scores": ["chess": 9, "go": 1]])
        }
        return (realm.objects(Person.self), folder)
    }

    private func ids(_ results: Results<Person>) -> [Int] { results.map(\.id) }

    @Test func typeSafe() throws {
        let (all, folder) = try open()
        let ida = all[0]
        #expect(ids(all.where { $0.age > 3 && $0.dogs.name.contains("e") }) == [1])
        #expect(
            ids(all.where { $0.age >= 30 || $0.name == "Ida" }) == [1, 2, 3]
                && ids(all.where { !($0.age >= 30) }) == [1])
        #expect(ids(all.where { $0.name.starts(with: "id", options: .caseInsensitive) }) == [1, 3])
        #expect(ids(all.where { $0.name.ends(with: "'s") }) == [2] && ids(all.where { $0.name.like("?da") }) == [1, 3])
        #expect(
            ids(all.where { $0.name.equals("IDA", options: .caseInsensitive) }) == [1, 3]
                && ids(all.where { $0.name != "Ida" }) == [2, 3])
        #expect(
            ids(all.where { $0.best == nil }) == [1] && ids(all.where { $0.best == ida }) == [2, 3]
                && ids(all.where { $0.best != nil }) == [2, 3])
        #expect(ids(all.where { $0.best.age == 7 }) == [2, 3] && ids(all.where { $0.best.dogs.age > 8 }) == [2, 3])
        #expect(ids(all.where { $0.age.in([7, 40]) }) == [1, 3] && ids(all.where { $0.age.contains(7..<30) }) == [1])
        #expect(ids(all.where { $0.age.contains(7...30) }) == [1, 2])
        #expect(
            ids(all.where { $0.dogs.count > 1 }) == [1] && ids(all.where { $0.dogs.age.sum > 10 }) == [1]
                && ids(all.where { $0.dogs.age.max == 9 }) == [1, 2])
        #expect(
            ids(all.where { $0.nicknames.contains("y") }) == [2]
                && ids(all.where { $0.nicknames.containsAny(in: ["q", "x"]) }) == [2])
        #expect(
            ids(all.where { $0.scores["chess"] > 5 }) == [3] && ids(all.where { $0.scores.keys == "go" }) == [3]
                && ids(all.where { $0.scores.values == 5 }) == [1])
        #expect(ids(all.where { $0.address.street == "Long" }) == [2])
        // Both conditions on one dog; each on any.
        #expect(ids(all.where { ($0.dogs.age > 8 && $0.dogs.name == "Rex").count > 0 }) == [])
        #expect(ids(all.where { $0.dogs.age > 8 && $0.dogs.name == "Rex" }) == [1])
        #expect(ids(all.where { $0.dogs.contains(ida.dogs[0]) }) == [1])
        #expect(all.index(matching: { $0.age == 30 }) == 1)
        #expect(
            ids(ida.dogs[1].owners.where { $0.age > 10 }.sorted(byKeyPath: "id")) == [2]
                && ida.dogs.where { $0.age > 3 }.first?.name == "Bo")
        _ = folder
    }

    /// Which element of the one would be compared with which of the other?
    @Test func twoCollections() throws {
        for query: @Sendable (Query<Person>) -> Query<Bool> in [
            { $0.dogs == $0.dogs }, { $0.dogs != $0.dogs }, { $0.dogs.age > $0.dogs.age },
            { !($0.dogs.name == $0.dogs.name) },
        ] {
            let message = misuse { _ = query(Query<Person>._constructForTesting())._constructPredicate() }
            #expect(message == "Comparing two collection columns is not permitted.")
        }
        let (all, folder) = try open()
        #expect(ids(all.where { $0.dogs.age == $0.age }) == [] && ids(all.where { $0.dogs.age.max < $0.age }) == [2])
        _ = folder
    }

    /// Sets and maps can be asked as lists can, and dates have a least and a greatest one.
    @Test func subqueriesOfSetsAndMaps() throws {
        class Kennel: Object {
            @Persisted var dogs: MutableSet<Dog>
            @Persisted var byName: Map<String, Dog?>
            @Persisted var dates: List<Date>
            @Persisted var days: MutableSet<Date?>
        }
        let (realm, folder) = try makeRealm(Kennel.self, Person.self, Dog.self, Address.self, Country.self)
        func date(_ s: Int) -> Date { Date(timeIntervalSince1970: Double(s)) }
        try realm.write {
            let rex = realm.create(Dog.self, value: ["name": "Rex", "age": 3]),
                bo = realm.create(Dog.self, value: ["name": "Bo", "age": 9])
            for dogs in [[rex, bo], [bo], []] {
                let k = realm.create(Kennel.self)
                k.dogs.insert(objectsIn: dogs)
                for d in dogs { (k.byName[d.name], k.byName["none"]) = (.some(d), .some(nil)) }
                for d in dogs { k.dates.append(date(d.age)) }
                k.days.insert(objectsIn: dogs.map { date($0.age) } + [nil])
            }
        }
        func count(_ query: (Query<Kennel>) -> Query<Bool>) -> Int { realm.objects(Kennel.self).where(query).count }
        #expect(
            count { ($0.dogs.age > 2 && $0.dogs.name == "Rex").count == 1 } == 1
                && count { ($0.dogs.age > 2).count == 0 } == 1)
        #expect(count { ($0.dogs.age > 8 && $0.dogs.name == "Rex").count > 0 } == 0)
        #expect(count { ($0.byName.values.age > 8 && $0.byName.values.name == "Bo").count == 1 } == 2)
        #expect(realm.objects(Kennel.self).filter("SUBQUERY(dogs, $d, $d.age > 8).@count > 0").count == 2)
        #expect(
            count { $0.dates.contains(date(3)...date(9)) } == 2 && count { $0.dates.contains(date(3)..<date(9)) } == 0)
        #expect(
            count { $0.days.contains(date(4)...date(9)) } == 1 && count { $0.dates.max == date(9) } == 2
                && count { $0.dates.min == date(3) } == 1)
        _ = folder
    }

    /// An embedded object behind a collection is compared property by property, of one element at a time.
    @Test func embeddedObjectsBehindCollections() throws {
        class Land: Object { @Persisted var towns: List<Town> }
        let (realm, folder) = try makeRealm(Land.self, Town.self, Address.self, Country.self)
        try realm.write {
            let towns = ["a", "b"].enumerated().map {
                realm.create(Town.self, value: ["id": $0, "main": Street($1)] as [String: Any])
            }
            for n in 0...2 { realm.create(Land.self).towns.append(objectsIn: towns.prefix(n)) }
        }
        func count(_ query: (Query<Land>) -> Query<Bool>) -> Int { realm.objects(Land.self).where(query).count }
        #expect(realm.objects(Town.self).where { $0.main.persistableValue.street == "a" }.count == 1)
        #expect(count { $0.towns.main.persistableValue.street == "b" } == 1)
        let lands = realm.objects(Land.self)
        #expect(lands.filter("SUBQUERY(towns.main, $m, $m.street == 'a').@count > 0").count == 2)
        #expect(lands.filter("SUBQUERY(towns.main, $m, $m.street == 'b').@count == 0").count == 2)
        _ = folder
    }

    @Test func texts() {
        func text(_ query: (Query<Person>) -> Query<Bool>) -> String {
            query(Query<Person>._constructForTesting())._constructPredicate().0
        }
        #expect(
            text { $0.age > 3 && !($0.best.age < 2) && $0.dogs.count > 1 }
                == "(((age > %@) && (NOT best.age < %@)) && (dogs.@count > %@))")
        #expect(
            text { $0.dogs.age > 3 } == "(ANY dogs.age > %@)" && text { $0.scores["a"] == 1 } == "(scores[%@] == %@)")
        #expect(
            text { ($0.dogs.age > 3 && $0.dogs.name == "x").count > 0 }
                == "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count > %@)")
        #expect(
            text { $0.dogs.age.avg > 3 } == "(dogs.@avg.age > %@)"
                && text { $0.nicknames.contains("a") } == "(%@ IN nicknames)")
        #expect(
            text { ($0.dogs.age > 3 && ($0.dogs.age > 4).count > 0).count > 0 }
                == "(SUBQUERY(dogs, $col1, (($col1.age > %@) && (SUBQUERY(dogs, $col2, ($col2.age > %@)).@count > %@))).@count > %@)"
        )
        #expect(text { $0.age.contains(1...2) } == "(age BETWEEN {%@, %@})")
    }

    @Test func formats() throws {
        let (all, folder) = try open()
        let ida = all[0]
        #expect(
            ids(all.filter("age > %@ AND name BEGINSWITH 'I'", 3)) == [1] && ids(all.filter("age > %d", 10)) == [2, 3])
        #expect(
            ids(all.filter("%K == %@", "name", "Al's")) == [2] && ids(all.filter("name == 'Al\\'s'")) == [2]
                && ids(all.filter("name == \"Al's\"")) == [2])
        #expect(
            ids(all.filter("name ==[c] 'IDA'")) == [1, 3] && ids(all.filter("name contains[c] %@", "ID")) == [1, 3])
        #expect(
            ids(all.filter("age IN %@", [7, 30])) == [1, 2] && ids(all.filter("age IN {7, 40}")) == [1, 3]
                && ids(all.filter("NOT age IN %@", [7])) == [2, 3])
        #expect(
            ids(all.filter("age BETWEEN %@", [7, 30])) == [1, 2] && ids(all.filter("age between {30, 40}")) == [2, 3])
        #expect(ids(all.filter("age BETWEEN %@", 7...30)) == [1, 2])
        #expect(
            ids(all.filter("best == nil")) == [1] && ids(all.filter("best != NULL")) == [2, 3]
                && ids(all.filter("best == %@", ida)) == [2, 3])
        #expect(
            ids(all.filter("best.name = %@ && age <> 30", "Ida")) == [3]
                && ids(all.filter("age => 30 and age =< 30")) == [2])
        #expect(
            ids(all.filter("ANY dogs.age > 5")) == [1, 2]
                && ids(all.filter("SUBQUERY(dogs, $d, $d.age > 5 AND $d.name == 'Bo').@count == 1")) == [1, 2])
        #expect(
            ids(all.filter("dogs.@count == 2")) == [1] && ids(all.filter("dogs.@avg.age > 5")) == [1, 2]
                && ids(all.filter("scores.@allKeys == 'go'")) == [3])
        #expect(
            ids(all.filter("scores['chess'] == %@", 9)) == [3] && ids(all.filter("TRUEPREDICATE")) == [1, 2, 3]
                && ids(all.filter("FALSEPREDICATE")) == [])
        #expect(ids(all.filter(NSPredicate(format: "age > %@", 8))) == [2, 3])
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "age > 8"), NSPredicate(format: "name == %@", "ida"),
        ])
        #expect(
            ids(all.filter(both)) == [3]
                && ids(all.filter(NSCompoundPredicate(notPredicateWithSubpredicate: both))) == [1, 2])
        #expect(all.index(matching: NSPredicate(format: "age == 40")) == 2)
        _ = folder
    }

    @Test func everyTypeAsAnArgument() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let date = Date(timeIntervalSince1970: 5.5), id = ObjectId.generate(), uuid = UUID()
        try realm.write {
            realm.create(
                Everything.self,
                value: [
                    "id": id, "int8": 3, "bool": true, "float": 1.5, "double": 2.5, "string": "ä",
                    "data": Data([1, 2]), "date": date,
                    "decimal": "1.5",
                    "objectId": id, "uuid": uuid, "any": 4, "color": "blue", "level": 9, "point": "1,2",
                    "optColor": Color.green, "ints": [1, 2],
                    "anyMap": ["k": ["deep", 1] as [Any]],
                ])
            realm.create(Everything.self, value: ["id": ObjectId.generate()])
        }
        let all = realm.objects(Everything.self)
        func one(_ query: (Query<Everything>) -> Query<Bool>) -> Bool { all.where(query).map(\.id) == [id] }
        #expect(
            one { $0.int8 == 3 } && one { $0.bool } && one { $0.bool == true } && one { $0.float == 1.5 }
                && one { $0.double > 2 }
                && one { $0.string == "ä" })
        #expect(
            one { $0.data == Data([1, 2]) } && one { $0.date == date } && one { $0.decimal == 1.5 }
                && one { $0.objectId == id }
                && one { $0.uuid == uuid })
        #expect(
            one { $0.any == .int(4) } && one { $0.color == .blue } && one { $0.level == .high }
                && one { $0.point == Point(x: 1, y: 2) })
        #expect(
            one { $0.optColor == .green } && one { $0.ints.contains(2) } && one { $0.ints.sum == 3 }
                && one { $0.color.rawValue.starts(with: "bl") })
        #expect(
            one { $0.anyMap["k"][0] == .string("deep") } && all.where { !$0.bool }.count == 1
                && all.where { $0.optColor == nil }.count == 1)
        #expect(
            all.filter(
                "date == %@ AND uuid == %@ AND objectId == %@ AND decimal == %@ AND data == %@", date, uuid, id,
                Decimal128(1.5), Data([1, 2])
            ).count == 1)
        #expect(
            all.filter(
                "color == %@ AND level == %@ AND any == %@ AND optInt == %@", Color.blue, Level.high, 4,
                Int?.none as Any
            ).count == 1)
        _ = folder
    }

    @Test func misusedQueries() throws {
        func check(_ part: String, _ query: @escaping @Sendable (Results<Person>) -> Void) throws {
            let folder = try Folder(), file = folder.url.appendingPathComponent("q.realm")
            let message = misuse {
                query(
                    try Realm(
                        configuration: .init(
                            fileURL: file, objectTypes: [Person.self, Dog.self, Address.self, Country.self])
                    ).objects(
                        Person.self))
            }
            #expect(message?.contains(part) == true, "\(message ?? "none")")
        }
        try check("has no property 'nome'") { _ = $0.filter("nome == 1") }
        try check("MATCHES is not supported") { _ = $0.filter("name MATCHES 'x'") }
        try check("there are only 0 arguments") { _ = $0.filter("name == %@") }
        try check("1 arguments for 0 placeholders") { _ = $0.filter("name == 'a'", 3) }
        try check("not stored") { _ = $0.where { $0.shout == "x" } }
        try check("not stored") { _ = $0.sorted(by: \.shout) }
        try check("Only predicates that were made with a format") {
            _ = $0.filter(NSPredicate(block: { _, _ in true }))
        }
        try check("No property 'nome'") { _ = $0.sorted(byKeyPath: "nome").count }
    }
}

/// A type of the program that is stored as an embedded object.
struct Box: CustomPersistable, Hashable {
    typealias PersistedType = StoredBox
    var width = 0, label = ""

    init(_ width: Int, _ label: String) { (self.width, self.label) = (width, label) }

    init(persistedValue: StoredBox) { (width, label) = (persistedValue.width, persistedValue.label) }
    var persistableValue: StoredBox { StoredBox(value: [width, label] as [Any]) }
}

class StoredBox: EmbeddedObject {
    @Persisted var width: Int
    @Persisted var label: String
}

class Shelf: Object {
    @Persisted var box: Box
    @Persisted var boxes: List<Box>
}

struct CustomQueryTests {
    @Test func memberwise() throws {
        let (realm, folder) = try makeRealm(Shelf.self, StoredBox.self)
        let first = Shelf(), second = Shelf()
        (first.box, second.box) = (Box(1, "a"), Box(2, "a"))
        first.boxes.append(objectsIn: [Box(3, "x"), Box(4, "y")])
        try realm.write { realm.add([first, second]) }
        let all = realm.objects(Shelf.self)
        #expect(all.where { $0.box == Box(1, "a") }.count == 1 && all.where { $0.box != Box(1, "a") }.count == 1)
        #expect(all.where { $0.box == Box(1, "b") }.isEmpty && all.where { $0.box != Box(1, "b") }.count == 2)
        #expect(all.where { $0.boxes == Box(4, "y") }.count == 1 && all.where { $0.boxes == Box(3, "y") }.isEmpty)
        #expect(
            all.where { $0.boxes != Box(4, "y") }.count == 1
                && all.where { $0.box.persistableValue.width > 1 }.count == 1)
        _ = folder
    }
}

class Spot: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>

    convenience init(_ latitude: Double, _ longitude: Double) {
        self.init()
        coordinates.append(objectsIn: [longitude, latitude])
    }
}

class Station: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var spot: Spot?
}

struct GeoQueryTests {
    @Test func stationsInShapes() throws {
        let (realm, folder) = try makeRealm(Station.self, Spot.self)
        try realm.write {
            for (name, spot) in [
                ("Oslo", Spot(59.91, 10.75)), ("Rome", Spot(41.9, 12.5)), ("Suva", Spot(-18.14, 178.44)), ("None", nil),
            ] {
                let station = Station()
                (station.name, station.spot) = (name, spot)
                realm.add(station)
            }
        }
        func found(_ shape: some _Geospatial) -> [String] {
            let all = realm.objects(Station.self)
            let names = Array(all.where { $0.spot.geoWithin(shape) }.map(\.name)).sorted()
            #expect(Array(all.filter("spot IN %@", shape).map(\.name)).sorted() == names)
            #expect(all.where { !$0.spot.geoWithin(shape) }.count == 4 - names.count)
            return names
        }
        #expect(found(try #require(GeoCircle(center: (50, 11), radius: .kilometers(1200)!))) == ["Oslo", "Rome"])
        #expect(found(try #require(GeoCircle(center: (59.91, 10.75), radiusInRadians: 1e-5))) == ["Oslo"])
        #expect(found(try #require(GeoBox(bottomLeft: (-30, 170), topRight: (0, -170)))) == ["Suva"])
        #expect(
            found(try #require(GeoPolygon(outerRing: [(35, 5), (35, 20), (45, 20), (45, 5), (35, 5)]))) == ["Rome"])
        // The shortest way from one corner to the next goes far to the north of the parallel on which both are: at 10°
        // east, 59.4° and more.
        #expect(
            found(try #require(GeoPolygon(outerRing: [(55, -60), (30, -60), (30, 80), (55, 80), (55, -60)]))) == [
                "Oslo"
            ])
        let crossed = misuse {
            let (realm, folder) = try makeRealm(Station.self, Spot.self)
            let shape = try #require(GeoPolygon(outerRing: [(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)]))
            _ = realm.objects(Station.self).where { $0.spot.geoWithin(shape) }
            _ = folder
        }
        #expect(crossed?.contains("Edges 0 and 2 cross") ?? false)
        _ = folder
    }
}
