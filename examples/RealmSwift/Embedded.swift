import Foundation
import RealmSwift

class House: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var door: Door?
    @Persisted var windows: List<Window>
}

class Door: EmbeddedObject {
    @Persisted var color = "green"
}

class Window: EmbeddedObject {
    @Persisted var panes: Int
}

/// Embedded objects belong to one object, and go with it.
func embedded(_ folder: URL) throws {
    let realm = try open(folder, House.self, Door.self, Window.self)
    let house = House(value: ["number": 1, "door": ["color": "red"], "windows": [["panes": 2], ["panes": 4]]])
    try realm.write { realm.add(house) }
    expect(house.door?.color == "red" && house.windows.map(\.panes) == [2, 4], "stored with their owner")
    let old = house.door
    try realm.write {
        house.door = Door()
        house.windows.removeFirst()
    }
    expect(
        house.door?.color == "green" && old?.isInvalidated == true && house.windows[0].panes == 4,
        "what is replaced is deleted")
    expect(realm.objects(House.self).where { $0.windows.panes > 3 }.count == 1, "queries look into them")
}
