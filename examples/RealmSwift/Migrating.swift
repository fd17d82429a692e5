import Foundation
import RealmSwift

class PetOfOld: Object {
    @Persisted var name: String
    @Persisted var ageInMonths: Int

    override class func className() -> String { "Pet" }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Pet: Object {
    @Persisted var fullName: String
    @Persisted var age: Double

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The models changed: what was stored is brought along.
func migration(_ folder: URL) throws {
    let file = folder.appendingPathComponent("pets.realm")
    func old() throws {
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: file, schemaVersion: 1, objectTypes: [PetOfOld.self]))
        try realm.write { realm.create(PetOfOld.self, value: ["Rex", 30] as [Any]) }
    }
    try old()
    let configuration = Realm.Configuration(
        fileURL: file, schemaVersion: 2,
        migrationBlock: { migration, oldVersion in
            guard oldVersion < 2 else { return }
            migration.renameProperty(onType: "Pet", from: "name", to: "fullName")
            migration.enumerateObjects(ofType: "Pet") { old, new in
                new?["age"] = Double(old?["ageInMonths"] as? Int ?? 0) / 12
            }
        }, objectTypes: [Pet.self])
    let pet = try Realm(configuration: configuration).objects(Pet.self).first
    expect(pet?.fullName == "Rex" && pet?.age == 2.5, "renamed and computed")
    expect(try schemaVersionAtURL(file) == 2, "the file has the new version")
}
