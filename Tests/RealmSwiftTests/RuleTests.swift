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

private final class Knot: Object {
    @Persisted var n: Int
    @Persisted(onDelete: .nullify, onTargetDelete: .nullify) var free: Knot?
    @Persisted(onDelete: .cascadeLast) var shared: List<Knot>
    @Persisted(onDelete: .deny) var held: Knot?
    @Persisted(onTargetDelete: .cascade) var owner: Knot?

    convenience init(_ n: Int) {
        self.init()
        self.n = n
    }
}

private final class Token: Object {
    @Persisted(primaryKey: true, automatic: true) var id: UUID
    @Persisted(automatic: true) var tag: ObjectId
    @Persisted var secret: UUID
    @Persisted var at: Date
    @Persisted var born: Date
    @Persisted var count: Int
    @Persisted var ratio: Double
    @Persisted var flag: Bool

    override class func rules() -> [Rule] {
        [
            .initialUUID("secret"), .initialNow("at"), .created("born"), .initial("count", 7), .initial("ratio", 0.5),
            .initial("flag", true),
        ]
    }
}

private final class Word: Object {
    @Persisted var text: String?
    @Persisted var note: String?

    override class func rules() -> [Rule] {
        [.unique("text", name: "text", ignoringCase: true), .unique("note", name: "note", nullsEqual: true)]
    }
}

private final class Seat: Object {
    @Persisted var row: Int
    @Persisted var column: String
    @Persisted var guest: String

    override class func rules() -> [Rule] { [.primaryKey("row", "column")] }
}

private final class Limited: Object {
    @Persisted var age: Int
    @Persisted var name: String
    @Persisted var tags: List<String>
    @Persisted var parent: Limited?

    override class func rules() -> [Rule] {
        [
            .minimum("age", 0), .maximum("age", 150), .minimumLength("name", 1), .maximumLength("name", 5),
            .minimumCount("tags", 1), .maximumCount("tags", 2), .required("parent"),
        ]
    }
}

private final class Span: Object {
    @Persisted var low: Int
    @Persisted var high: Int
    @Persisted var version: Int

    override class func rules() -> [Rule] {
        [.check("low <= high", at: .call), .computed("length", "high - low"), .revision("version")]
    }
}

private final class Long: Object {
    static let longName = String(repeating: "K", count: 255), longProperty = String(repeating: "p", count: 255)

    @Persisted(unique: true) var number: Int

    override class func className() -> String { longName }

    override class func propertiesMapping() -> [String: String] { ["number": longProperty] }

    override class func rules() -> [Rule] { [.check("\(longProperty) >= 0", name: "positive")] }
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

    @Test func updatesByExpressions() throws {
        let place = try Place(), realm = try place.realm()
        try realm.write { for code in ["a", "b", "c"] { realm.add(Order("de", nil, code)) } }
        let orders = realm.objects(Order.self)
        try realm.write {
            let all = try orders.update("total = id * 2 + %@, country = %@", 0.5, "fr")
            let some = try orders.filter("total > 3").update("number = id, total = 0 - total + 10")
            #expect((all, some) == (3, 2))
        }
        #expect(orders.map(\.total) == [2.5, 5.5, 3.5] && orders.map(\.number) == [nil, 2, 3])
        #expect(orders.filter("country = 'fr'").count == 3)
        for bad in ["id = 3", "nothing = 3", "number = 5 / 0", "country = NULL", "total ="] {
            try realm.write { _ = #expect(throws: Realm.Error.self) { try orders.update(bad) } }
        }
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { _ = try orders.update("total = total - 3") }
        }
        #expect(error.map(isBroken) == true)
        #expect(throws: Realm.Error.self) { try orders.update("total = 1") }
        #expect(orders.map(\.total) == [2.5, 5.5, 3.5])
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

    @Test func eachRuleOfDeletion() throws {
        let place = try Place(), realm = try place.realm([Knot.self])

        /// Four new objects, of which `link` links some, and no others.
        func knots(_ link: ([Knot]) -> Void) throws -> [Knot] {
            let made = (0..<4).map { Knot($0) }
            try realm.write {
                realm.deleteAll()
                realm.add(made)
                link(made)
            }
            return made
        }
        func left() -> [Int] { realm.objects(Knot.self).map(\.n).sorted() }

        var all = try knots { $0[0].free = $0[1] }
        try realm.write { realm.delete(all[0]) }
        #expect(left() == [1, 2, 3])
        all = try knots { $0[0].free = $0[1] }
        try realm.write { realm.delete(all[1]) }
        #expect(left() == [0, 2, 3] && all[0].free == nil)

        all = try knots {
            $0[0].shared.append(objectsIn: [$0[1], $0[2]])
            $0[3].shared.append($0[2])
        }
        try realm.write { realm.delete(all[0]) }
        #expect(left() == [2, 3])

        all = try knots { $0[0].held = $0[1] }
        let error = #expect(throws: Realm.Error.self) { try realm.write { realm.delete(all[0]) } }
        #expect(error.map(isBroken) == true && left() == [0, 1, 2, 3])
        try realm.write {
            all[0].held = nil
            realm.delete(all[0])
        }
        #expect(left() == [1, 2, 3])

        all = try knots {
            $0[0].owner = $0[1]
            $0[1].owner = $0[2]
        }
        try realm.write { realm.delete(all[2]) }
        #expect(left() == [3])
    }

    @Test func automaticUUIDsAndObjectIds() throws {
        let place = try Place(), realm = try place.realm([Token.self])
        try realm.write {
            let first = realm.create(Token.self, value: [String: Any]()), second = Token()
            realm.add(second)
            #expect(first.id != second.id && first.id.uuid.6 >> 4 == 7 && second.id.uuid.6 >> 4 == 7)
            #expect(first.tag != second.tag)
        }
        #expect(realm.objects(Token.self).count == 2)
    }

    @Test func defaultsAndTheTimeOfCreation() throws {
        let place = try Place(), realm = try place.realm([Token.self]), start = Date(timeIntervalSinceNow: -60)
        try realm.write {
            realm.create(Token.self, value: [String: Any]())
            realm.create(Token.self, value: ["count": 8, "flag": false])
        }
        let all = Array(realm.objects(Token.self))
        let first = try #require(all.first { $0.count == 7 }), second = try #require(all.first { $0.count == 8 })
        #expect(first.ratio == 0.5 && first.flag && second.ratio == 0.5 && !second.flag)
        #expect(first.secret != second.secret && first.secret.uuid.6 >> 4 == 7)
        for token in all { #expect(token.at > start && token.born >= token.at && token.born.timeIntervalSinceNow < 60) }
        let born = first.born
        try realm.write { first.count = 70 }
        #expect(first.born == born)
    }

    @Test func optionsOfUniqueValues() throws {
        let place = try Place(), realm = try place.realm([Word.self])
        try realm.write {
            realm.create(Word.self, value: ["text": "Straße", "note": "a"])
            realm.create(Word.self, value: ["note": "A"])
            realm.create(Word.self, value: [String: Any]())
        }
        for bad in [["text": "STRASSE", "note": "b"], ["text": "other"]] {
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { _ = realm.create(Word.self, value: bad) }
            }
            #expect(error.map(isBroken) == true && realm.objects(Word.self).count == 3)
        }
        #expect(try realm.object(ofType: Word.self, forUnique: ["text": "strasse"])?.note == "a")
        #expect(try realm.object(ofType: Word.self, forUnique: ["note": nil])?.text == nil)
    }

    @Test func keyOfSeveralProperties() throws {
        let place = try Place(), realm = try place.realm([Seat.self])
        try realm.write {
            realm.create(Seat.self, value: ["row": 1, "column": "a", "guest": "Ann"])
            realm.create(Seat.self, value: ["row": 1, "column": "b", "guest": "Bob"])
        }
        let found = try #require(try realm.object(ofType: Seat.self, forUnique: ["row": 1, "column": "b"]))
        #expect(found.guest == "Bob")
        let error = #expect(throws: Realm.Error.self) { try realm.write { found.column = "a" } }
        #expect(error.map(isBroken) == true && error?.message.contains("primary key") == true && found.column == "b")
        #expect(try realm.object(ofType: Seat.self, forUnique: ["row": 2, "column": "a"]) == nil)
    }

    @Test func limitsAreChecks() throws {
        let place = try Place(), realm = try place.realm([Limited.self])
        let one = Limited(value: ["age": 0, "name": "x", "tags": ["a"]])
        try realm.write {
            realm.add(one)
            one.parent = one
        }
        let breaks: [(String, (Limited) -> Void)] = [
            ("age.min", { $0.age = -1 }), ("age.max", { $0.age = 151 }), ("name.min_length", { $0.name = "" }),
            ("name.max_length", { $0.name = "ääx1" }), ("tags.min_count", { $0.tags.removeAll() }),
            ("tags.max_count", { $0.tags.append(objectsIn: ["b", "c"]) }), ("parent.required", { $0.parent = nil }),
        ]
        for (name, change) in breaks {
            let error = #expect(throws: Realm.Error.self) { try realm.write { change(one) } }
            #expect(error.map(isBroken) == true && error?.message.contains("'\(name)'") == true)
        }
        #expect(one.age == 0 && one.name == "x" && Array(one.tags) == ["a"])
        #expect(one.parent?.isSameObject(as: one) == true)
        try realm.write {
            one.age = 150
            one.name = "ääx"
            one.tags.append("b")
        }
        #expect(one.age == 150)
    }

    @Test func aChangeOnlyIfNobodyElseMadeOne() throws {
        let place = try Place(), realm = try place.realm()
        let order = Order("de", 1, "a")
        try realm.write { realm.add(order) }

        /// Whether the order still had this version, and was changed.
        func setTotal(_ total: Double, ifVersion version: Int) throws -> Bool {
            try realm.write { try realm.set(order, "total", to: total, ifRevision: version) }
        }
        let seen = order.version
        #expect(try setTotal(5, ifVersion: seen))
        #expect(try !setTotal(6, ifVersion: seen))
        #expect(order.total == 5 && order.version == seen + 1)
    }

    @Test func checksAtTheCallAndComputedProperties() throws {
        let place = try Place(), realm = try place.realm([Span.self])
        let span = Span(), other = Span()
        try realm.write {
            (span.low, span.high, other.low, other.high) = (1, 5, 10, 30)
            realm.add([span, other])
        }
        #expect(try span.computed("length") == .int(4))
        #expect(realm.objects(Span.self).filter("length > 10").map(\.low) == [10])
        #expect(realm.objects(Span.self).sorted(byKeyPath: "length", ascending: false).map(\.low) == [10, 1])
        try realm.write {
            let error = #expect(throws: Realm.Error.self) { _ = try realm.set(span, "low", to: 6, ifRevision: 1) }
            #expect(error.map(isBroken) == true)
            #expect(span.low == 1)
        }
        let error = #expect(throws: Realm.Error.self) { try span.computed("nothing") }
        #expect(error != nil)
    }

    @Test func namesOf255Bytes() throws {
        let place = try Place(), realm = try place.realm([Long.self])
        try realm.write { realm.create(Long.self, value: ["number": 5]) }
        #expect(realm.schema.objectSchema.map(\.className) == [Long.longName])
        #expect(realm.objects(Long.self).filter("number == 5").count == 1)
        #expect(try realm.object(ofType: Long.self, forUnique: ["number": 5]) != nil)
        for bad in [5, -1] {
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { _ = realm.create(Long.self, value: ["number": bad]) }
            }
            #expect(error.map(isBroken) == true)
        }
        #expect(realm.objects(Long.self).count == 1)
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
