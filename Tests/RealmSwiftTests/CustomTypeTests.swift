import Foundation
import RealmSwift
import Testing

/// Types of the program as properties, where what is stored and what can be shown differ.
struct CustomTypeTests {
    private func check(_ part: String, _ body: @escaping @Sendable (Realm) throws -> Void) throws {
        let folder = try Folder(),
            configuration = folder.configuration([Evens.self, Town.self, Address.self, Country.self])
        let message = misuse {
            let realm = try Realm(configuration: configuration)
            realm.beginWrite()
            try body(realm)
        }
        #expect(message?.contains(part) == true, "\(message ?? "no misuse")")
        _ = folder
    }

    /// A managed property takes what can be stored, and tells whoever reads it; an unmanaged one holds values of the
    /// type, and refuses.
    @Test func whatTheTypeCannotShow() throws {
        let (realm, folder) = try makeRealm(Evens.self)
        try realm.write {
            let o = realm.create(
                Evens.self, value: ["even": 2, "optEven": 3, "evens": [2, 3], "byName": ["a": 4]] as [String: Any])
            #expect(
                o.even.value == 2 && o.optEven == nil && o.evens.count == 2 && o.evens[0].value == 2
                    && o.byName["a"]?.value == 4)
            o["even"] = 4
            #expect(o.even.value == 4 && (o["even"] as? Int) == 4)
        }
        try check("Failed to convert persisted value '1' to type 'Even' in a non-optional context.") { realm in
            let o = realm.create(Evens.self, value: ["even": 1])
            _ = o.even
        }
        try check("Failed to convert persisted value '1' to type 'Even' in a non-optional context.") { realm in
            let o = realm.create(Evens.self)
            o["even"] = 1
            _ = o["even"]
        }
        try check("Could not convert value '1' to type 'Even'.") { realm in
            _ = realm.create(Evens.self, value: ["evens": [1]]).evens[0]
        }
        try check("Could not convert value '1' to type 'Even'.") { realm in
            _ = realm.create(Evens.self, value: ["byName": ["a": 1]]).byName["a"]
        }
        try check("Could not convert value '1' to type 'Even'.") { _ in _ = Evens(value: ["even": 1]) }
        try check("Could not convert value '1' to type 'Even'.") { _ in Evens()["even"] = 1 }
        try check("Invalid value 'x'") { _ in Evens()["even"] = "x" }
        _ = folder
    }

    /// What no case of an enum stands for: by name, in descriptions and for observers it is what is stored.
    @Test func rawValuesWithoutCases() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let o = try realm.write {
            realm.create(Everything.self, value: ["color": "mauve", "optColor": "mauve", "level": 5])
        }
        #expect(
            o["color"] as? String == "mauve" && o["optColor"] as? String == "mauve" && o["level"] as? Int == 5
                && o.optColor == nil)
        #expect(o.description.contains("color = mauve;") && o.description.contains("optColor = mauve;"))
        var told: [String] = []
        let token = o.observe { (change: ObjectChange<Everything>) in
            if case .change(_, let p) = change {
                told += p.map { "\($0.name) \($0.oldValue ?? "nil") \($0.newValue ?? "nil")" }
            }
        }
        realm.refresh()
        try realm.write {
            o.color = .green
            o.optColor = nil
        }
        realm.refresh()
        #expect(told.sorted() == ["color nil green", "optColor nil nil"] && o["optColor"] == nil)
        withExtendedLifetime(token) {}
        _ = folder
    }

    /// Null stands for no object in a property and in a map; a list has no place for it.
    @Test func nullForAnObject() throws {
        let (realm, folder) = try makeRealm(Town.self, Address.self, Country.self)
        try realm.write {
            let town = realm.create(Town.self, value: ["main": NSNull(), "byName": ["a": NSNull()]] as [String: Any])
            #expect(town.main.name == "" && town.byName["a"]?.name == "")
        }
        try check("Invalid value") { realm in realm.create(Town.self, value: ["streets": [NSNull()]]) }
        try check("Invalid value") { _ in _ = Town(value: ["streets": [NSNull()]]) }
        _ = folder
    }
}
