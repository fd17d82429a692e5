import Foundation
import RealmSwift

class Recipe: Object, Codable {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var minutes: Int?
    @Persisted var steps: List<String>
    @Persisted var grams: Map<String, Int>
}

/// Models that say `Codable` come from JSON and become JSON.
func json(_ folder: URL) throws {
    let text = #"[{"id": 1, "name": "Bread", "steps": ["mix", "wait", "bake"], "grams": {"flour": 500}}]"#
    let recipes = try JSONDecoder().decode([Recipe].self, from: Data(text.utf8))
    let realm = try open(folder, Recipe.self)
    try realm.write { realm.add(recipes, update: .modified) }
    let bread = realm.object(ofType: Recipe.self, forPrimaryKey: 1)
    expect(bread?.minutes == nil && bread?.steps.count == 3 && bread?.grams["flour"] == 500, "read from JSON")
    guard let copy = bread?.detach() else { return }  // here only
    expect(String(decoding: try JSONEncoder().encode(copy), as: UTF8.self).contains("\"flour\":500"), "written as JSON")
}
