// Rules declared in Swift: each kind with an example, in one file that C and Python would keep the same way.
import Foundation
import RealmSwift
import Testing

private final class Line: Object {
    @Persisted var text: String
}

private final class Customer: Object {
    @Persisted(primaryKey: true) var name: String
}

private final class Order: Object {
    @Persisted(primaryKey: true, automatic: true) var id: Int
    @Persisted var country: String
    @Persisted var number: Int?
    @Persisted(onDelete: .cascade) var lines: List<Line>
    @Persisted(onTargetDelete: .deny) var customer: Customer?
    @Persisted(unique: true) var code: String
    @Persisted var total: Double
    @Persisted var state: String
    @Persisted var changed: Date
    @Persisted var version: Int

    override class func rules() -> [Rule] {
        [
            .unique("country", "number"), .check("total >= 0", name: "paid"), .initial("state", "new"),
            .modified("changed"), .revision("version"),
        ]
    }

    convenience init(_ country: String, _ number: Int?, _ code: String) {
        self.init()
        self.country = country
        self.number = number
        self.code = code
    }
}

/// A Realm in a folder that goes with the test.
private final class Place {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func realm(_ types: [ObjectBase.Type] = [Order.self, Line.self, Customer.self]) throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                fileURL: folder.appendingPathComponent("rules.realm"), objectTypes: types))
    }
}

private func isBroken(_ error: any Error) -> Bool { (error as? Realm.Error)?.engineCode == 9006 }

@Suite struct RuleTests {
    @Test func automaticKeysAndValuesOfTheFile() throws {
        let place = try Place(), realm = try place.realm()
        try realm.write {
            let first = Order("de", 1, "a"), second = Order("de", 2, "b")
            realm.add(first)
            realm.add(second)
            #expect(first.id == 1 && second.id == 2 && first.state == "new")
            let third = realm.create(Order.self, value: ["country": "fr", "code": "c", "state": "old"])
            #expect(third.id == 3 && third.state == "old")
            realm.delete(third)
            #expect(realm.create(Order.self, value: ["code": "d"]).id == 4)
        }
        let first = try #require(realm.object(ofType: Order.self, forPrimaryKey: 1))
        #expect(first.version == 1)
        let before = first.changed
        try realm.write { first.total = 5 }
        #expect(first.version == 2 && first.changed > before)
    }

    @Test func deletion() throws {
        let place = try Place(), realm = try place.realm()
        let order = Order("de", 1, "a"), ann = Customer(value: ["name": "Ann"])
        try realm.write {
            order.lines.append(objectsIn: [Line(value: ["text": "x"]), Line(value: ["text": "y"])])
            order.customer = ann
            realm.add(order)
        }
        let error = #expect(throws: Realm.Error.self) { try realm.write { realm.delete(ann) } }
        #expect(error.map(isBroken) == true && error?.message.contains("property 'customer' of object 1") == true)
        #expect(!ann.isInvalidated)
        try realm.write { realm.delete(order) }
        #expect(realm.objects(Line.self).isEmpty)
        try realm.write {
            realm.add(Order("de", 1, "a"))
            realm.objects(Order.self)[0].customer = ann
            realm.deleteAll()
        }
        #expect(realm.objects(Customer.self).isEmpty)
    }

    @Test func uniqueValuesAndChecks() throws {
        let place = try Place(), realm = try place.realm()
        try realm.write { realm.add([Order("de", 1, "a"), Order("de", nil, "b"), Order("de", nil, "c")]) }
        for bad in [Order("de", 1, "d"), Order("fr", 1, "a")] {
            let error = #expect(throws: Realm.Error.self) { try realm.write { realm.add(bad) } }
            #expect(error.map(isBroken) == true)
        }
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.objects(Order.self)[0].total = -1 }
        }
        #expect(error?.message.hasPrefix("Check 'paid' (total >= 0): object 1 of class 'Order'") == true)
        #expect(try realm.object(ofType: Order.self, forUnique: ["country": "de", "number": 1])?.code == "a")
        #expect(try realm.object(ofType: Order.self, forUnique: ["code": "c"])?.id == 3)
        #expect(try realm.object(ofType: Order.self, forUnique: ["code": "x"]) == nil)
        #expect(throws: Realm.Error.self) { try realm.object(ofType: Order.self, forUnique: ["total": 1.0]) }
    }

    @Test func savepoints() throws {
        struct Stop: Error {}
        let place = try Place(), realm = try place.realm()
        try realm.write {
            let order = Order("de", 1, "a"), undone = Order("de", 2, "b")
            realm.add(order)
            #expect(throws: Stop.self) {
                try realm.savepoint {
                    order.total = 7
                    realm.add(undone)
                    throw Stop()
                }
            }
            #expect(order.total == 0 && undone.isInvalidated)
            try realm.savepoint { order.total = 8 }
            #expect(order.total == 8)
        }
        #expect(realm.objects(Order.self).count == 1)
    }

    @Test func renames() throws {
        let place = try Place()
        do {
            let realm = try place.realm()
            try realm.write { realm.add(Order("de", 1, "a")) }
            realm.invalidate()
        }
        let realm = try place.realm([Purchase.self, Line.self, Customer.self])
        let found = try #require(realm.objects(Purchase.self).first)
        #expect(found.nation == "de" && found.id == 1)
        #expect(try realm.object(ofType: Purchase.self, forUnique: ["nation": "de", "number": 1]) != nil)
    }
}

private final class Purchase: Object {
    @Persisted(primaryKey: true, automatic: true) var id: Int
    @Persisted var nation: String
    @Persisted var number: Int?
    @Persisted(onDelete: .cascade) var lines: List<Line>
    @Persisted(onTargetDelete: .deny) var customer: Customer?
    @Persisted(unique: true) var code: String
    @Persisted var total: Double
    @Persisted var state: String
    @Persisted var changed: Date
    @Persisted var version: Int

    override class func rules() -> [Rule] {
        [.renamed(from: "Order"), .renamed("nation", from: "country"), .unique("nation", "number")]
    }
}
