// What the macros make is what a program would write itself. Scripts/check_macros.py compiles and runs this; it ends
// with "passed".
import Foundation
import RealmMacros

enum Kind: String, PersistableEnum { case big, small }

@Model class MacroPlace: EmbeddedObject {
    var street: String?
}

@Model class MacroDog: Object {
    @PrimaryKey var id: ObjectId
    @Indexed var name: String
    var age = 7
    var kind = Kind.small
    var place: MacroPlace?
    var owner: MacroPerson?
    var toys: List<String>
    var colors: MutableSet<String>
    var scores: Map<String, Int>
    @NotStored var isSelected = false
    @NotStored let made = Date()
    var title: String { name + "!" }
    static let all = "all"
    lazy var cache = [Int]()
    @Persisted var written: Double
}

@Model class MacroPerson: Object {
    @PrimaryKey var id: Int
    @Origin("owner") var dogs: LinkingObjects<MacroDog>
    var friends: List<MacroPerson>
}

@Snapshot(of: MacroPlace.self) struct PlaceRow: Equatable { let street: String? }

@Snapshot(of: MacroDog.self) struct DogRow: Equatable {
    let name, title: String
    var age: Int
    let kind: Kind
    let place: PlaceRow?
    let toys: [String], colors: Set<String>, scores: [String: Int]
    var note = "none"
}

@Snapshot(of: MacroPerson.self) struct PersonRow {
    let id: Int
    let dogs: [DogRow]
    let friends: [PersonRow]
}

struct Failure: Error { let line: Int }

func check(_ isTrue: Bool, line: Int = #line) throws { if !isTrue { throw Failure(line: line) } }

func checkSchema(_ realm: Realm) throws {
    let dog = try schema(realm, "MacroDog"), person = try schema(realm, "MacroPerson")
    try check(
        dog.properties.map(\.name) == [
            "id", "name", "age", "kind", "place", "owner", "toys", "colors", "scores", "written",
        ])
    try check(dog.primaryKeyProperty?.name == "id" && dog["name"]?.isIndexed == true && dog["age"]?.isIndexed == false)
    try check(person.properties.map(\.name).contains("friends") && person.primaryKeyProperty?.name == "id")
    try check(try schema(realm, "MacroPlace").isEmbedded)
}

func schema(_ realm: Realm, _ name: String) throws -> ObjectSchema {
    guard let found = realm.schema[name] else { throw Failure(line: #line) }
    return found
}

func fill(_ realm: Realm) throws {
    try realm.write {
        let ana = realm.create(MacroPerson.self, value: ["id": 1]),
            bo = realm.create(MacroPerson.self, value: ["id": 2])
        bo.friends.append(ana)
        let rex = MacroDog()
        rex.name = "Rex"
        rex.place = MacroPlace(value: ["street": "Elm"])
        rex.owner = ana
        rex.toys.append(objectsIn: ["ball", "bone"])
        rex.colors.insert("brown")
        rex.scores["jump"] = 3
        realm.add(rex)
    }
}

let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "macros"))
try checkSchema(realm)
try fill(realm)
let people = realm.objects(MacroPerson.self).sorted(byKeyPath: "id").snapshots(of: PersonRow.self)
try check(people.map(\.id) == [1, 2] && people[1].friends.map(\.id) == [1] && people[1].dogs.isEmpty)
let rex = DogRow(from: realm.objects(MacroDog.self)[0])
try check(people[0].dogs == [rex])
try check(
    rex.name == "Rex" && rex.title == "Rex!" && rex.age == 7 && rex.kind == .small
        && rex.place == PlaceRow(street: "Elm") && rex.note == "none")
try check(rex.toys == ["ball", "bone"] && rex.colors == ["brown"] && rex.scores == ["jump": 3])
try check(realm.objects(MacroDog.self).where { $0.age == 7 && $0.place.street == "Elm" }.count == 1)
// Copies do not change with their object, and every thread may have them.
try realm.write { realm.deleteAll() }
let names = Box()
let thread = Thread { names.found = people.flatMap(\.dogs).map(\.name) }
thread.start()
while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
try check(names.found == ["Rex"])
print("passed")

final class Box: @unchecked Sendable { var found: [String] = [] }
