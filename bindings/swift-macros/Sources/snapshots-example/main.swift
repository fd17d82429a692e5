// Models and snapshots by macros: swift run snapshots-example
import RealmMacros

@Model class Dog: Object {
    var name: String
    var age = 0
}

@Model class Person: Object {
    @PrimaryKey var id: Int
    @Indexed var name: String
    var dogs: List<Dog>
    @NotStored var isSelected = false
}

@Snapshot(of: Dog.self) struct DogRow {
    let name: String
    let age: Int
}

@Snapshot(of: Person.self) struct PersonRow {
    let name: String
    let dogs: [DogRow]
}

let realm = try await Realm(configuration: Realm.Configuration(inMemoryIdentifier: "example"), actor: MainActor.shared)
try realm.write {
    realm.create(Person.self, value: ["id": 1, "name": "Ana", "dogs": [["name": "Rex", "age": 3]]])
    realm.create(Person.self, value: ["id": 2, "name": "Bo"])
}

let rows = realm.objects(Person.self).sorted(byKeyPath: "name").snapshots(of: PersonRow.self)

// Another thread may have them: they are values.
let text = await Task.detached {
    rows.map { "\($0.name): \($0.dogs.map { "\($0.name), \($0.age)" }.joined(separator: "; "))" }
}.value
print(text.joined(separator: "\n"))
