import Foundation
import RealmSwift
import Synchronization
import Testing

/// What no file can hold, and what comes as one of Foundation's classes.
struct ValueLimitTests {
    private static let long = String(repeating: "x", count: 17 << 20)

    /// A property cannot throw: the transaction does, and stores nothing.
    @Test func textsThatAreTooLongFailTheTransaction() throws {
        let (realm, folder) = try makeRealm(Everything.self, Crowd.self)
        let object = try realm.write { realm.create(Everything.self, value: ["string": "before", "int": 1]) }
        let long = Self.long, data = Data(count: 17 << 20)
        let writes: [(String, () -> Void)] = [
            ("string", { object.string = long }), ("optString", { object.optString = long }),
            ("data", { object.data = data }),
            ("any", { object.any = .string(long) }), ("list", { object.optStrings.append(long) }),
            ("nested", { object.any = .fromArray([.string("a"), .string(long)]) }),
            ("map", { object.anyMap["k"] = .string(long) }),
            ("by name", { object["string"] = long }),
            ("created", { realm.create(Everything.self, value: ["string": long]) }),
            ("added", { realm.add(Everything(value: ["data": data])) }),
        ]
        for (name, write) in writes {
            var error: Realm.Error?
            do {
                try realm.write {
                    object.int = 2
                    write()
                    object.int = 3
                }
            } catch let e as Realm.Error { error = e }
            #expect(error?.message.contains("too big") == true, "\(name)")
            #expect(
                object.int == 1 && object.string == "before" && object.optStrings.isEmpty
                    && !realm.isInWriteTransaction, "\(name)")
            #expect(realm.objects(Everything.self).count == 1, "\(name)")
        }
        // The next one is a transaction as any other, and what was cancelled failed of nothing.
        realm.beginWrite()
        object.string = long
        realm.cancelWrite()
        try realm.write { object.string = "after" }
        #expect(object.string == "after")
        _ = folder
    }

    @Test func aPrimaryKeyThatIsTooLong() throws {
        let (realm, folder) = try makeRealm(Base.self)
        #expect(throws: Realm.Error.self) { try realm.write { realm.create(Base.self, value: ["key": Self.long]) } }
        #expect(realm.isEmpty && realm.object(ofType: Base.self, forPrimaryKey: Self.long) == nil)
        _ = folder
    }

    @Test func asynchronousWritesThatFail() async throws {
        let folder = try Folder(),
            configuration = folder.configuration([Dog.self, Person.self, Address.self, Country.self])
        let queue = DispatchQueue(label: "q"), told = Mutex<String?>(nil), done = DispatchSemaphore(value: 0)
        queue.async {
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                realm.writeAsync({ realm.add(Dog(Self.long)) }) { error in
                    told.withLock { $0 = error.map { "\($0)" } }
                    #expect(realm.isEmpty)
                    done.signal()
                }
            } catch { Issue.record("\(error)") }
        }
        await withCheckedContinuation { c in
            DispatchQueue.global().async {
                #expect(done.wait(timeout: .now() + 30) == .success)
                c.resume()
            }
        }
        #expect(told.withLock { $0 }?.contains("too big") == true)
    }

    @Test func longTextsAsArguments() throws {
        let (realm, folder) = try makeRealm(Dog.self, Person.self, Address.self, Country.self)
        try realm.write { realm.add(Dog("Rex")) }
        #expect(realm.objects(Dog.self).filter("name == %@ OR name CONTAINS %@", Self.long, Self.long).count == 0)
        #expect(realm.objects(Dog.self).where { $0.name != Self.long && $0.name.in(["Rex", Self.long]) }.count == 1)
        _ = folder
    }

    @Test func classesOfFoundationAsArguments() throws {
        let (realm, folder) = try makeRealm(Everything.self, Base.self)
        let date = Date(timeIntervalSinceReferenceDate: 1000), id = UUID(), bytes = Data([1, 2])
        let object = try realm.write {
            realm.create(
                Everything.self,
                value: [
                    "string": NSString(string: "a"), "date": date as NSDate, "int": NSNumber(value: 7),
                    "bool": NSNumber(value: true),
                    "double": NSNumber(value: 1.5), "decimal": NSDecimalNumber(string: "1.25"),
                    "uuid": NSUUID(uuidString: id.uuidString) as Any,
                    "data": bytes as NSData, "optInt": NSNull(), "ints": NSArray(array: [1, 2]),
                    "decimals": NSDictionary(dictionary: ["k": 3]),
                    "any": NSNumber(value: 1),
                    "anys": [NSString(string: "x"), NSNumber(value: true), NSNumber(value: 2.5), date as NSDate],
                ])
        }
        #expect(
            object.string == "a" && object.date == date && object.int == 7 && object.bool && object.double == 1.5
                && object.decimal == 1.25)
        #expect(
            object.uuid == id && object.data == bytes && Array(object.ints) == [1, 2] && object.decimals["k"] == 3
                && object.any == .int(1))
        #expect(Array(object.anys) == [.string("x"), .bool(true), .double(2.5), .date(date)])
        let all = realm.objects(Everything.self)
        for (format, argument) in [
            ("string == %@", NSString(string: "a")), ("date == %@", date as NSDate), ("int == %@", NSNumber(value: 7)),
            ("bool == %@", NSNumber(value: true)), ("double == %@", NSNumber(value: 1.5)),
            ("decimal == %@", NSDecimalNumber(string: "1.25")),
            ("data == %@", bytes as NSData), ("uuid == %@", NSUUID(uuidString: id.uuidString) as Any),
            ("optInt == %@", NSNull()),
            ("int IN %@", NSArray(array: [NSNumber(value: 7), NSNumber(value: 8)])),
            ("string IN %@", NSSet(array: [NSString(string: "a")])),
            ("any == %@", NSNumber(value: 1)), ("date BETWEEN %@", [date as NSDate, date as NSDate]),
        ] as [(String, Any)] {
            #expect(all.filter(format, argument).count == 1, "\(format)")
        }
        #expect(all.filter("%K == %@", NSString(string: "int"), 7).count == 1)
        try realm.write { _ = realm.create(Base.self, value: ["key": NSString(string: "k")]) }
        #expect(realm.object(ofType: Base.self, forPrimaryKey: NSString(string: "k")) != nil)
        try realm.write { object.setValue(NSDate(timeIntervalSinceReferenceDate: 5), forKey: "date") }
        #expect(object.date.timeIntervalSinceReferenceDate == 5)
        #expect(Decimal128(value: NSNumber(value: 2)) == 2)
        _ = folder
    }
}
