import Foundation
import RealmSwift

// Models as programs write them: nothing here names anything but Realm's own API.

class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name = "nobody"
    @Persisted var age: Int
    @Persisted var best: Person?
    @Persisted var address: Address?
    @Persisted var dogs: List<Dog>
    @Persisted var nicknames: MutableSet<String>
    @Persisted var scores: Map<String, Int>
    @Persisted var friends: Map<String, Person?>
    @Persisted var former: List<Address>

    var shout: String { name.uppercased() + "\(age)" }

    /// Not stored.
    var isSelected = false
}

class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>

    convenience init(_ name: String, _ age: Int = 1) {
        self.init()
        self.name = name
        self.age = age
    }
}

class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var country: Country?
}

class Country: EmbeddedObject {
    @Persisted var name = "nowhere"
}

enum Color: String, PersistableEnum { case red, green, blue }

enum Level: Int, PersistableEnum { case low = 1, high = 9 }

struct Point: CustomPersistable, Hashable {
    typealias PersistedType = String
    var x = 0, y = 0

    init(x: Int, y: Int) { (self.x, self.y) = (x, y) }

    init(persistedValue: String) {
        let parts = persistedValue.split(separator: ",").compactMap { Int($0) }
        if parts.count == 2 { (x, y) = (parts[0], parts[1]) }
    }

    var persistableValue: String { "\(x),\(y)" }
}

struct Even: FailableCustomPersistable, Hashable {
    typealias PersistedType = Int
    let value: Int

    init?(persistedValue: Int) {
        guard persistedValue % 2 == 0 else { return nil }
        value = persistedValue
    }

    var persistableValue: Int { value }
}

/// Every type that a property may have.
class Everything: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int64: Int64
    @Persisted var bool: Bool
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var any: AnyRealmValue
    @Persisted var color: Color
    @Persisted var level: Level
    @Persisted var point: Point

    @Persisted var optInt: Int?
    @Persisted var optInt8: Int8?
    @Persisted var optBool: Bool?
    @Persisted var optFloat: Float?
    @Persisted var optDouble: Double?
    @Persisted var optString: String?
    @Persisted var optData: Data?
    @Persisted var optDate: Date?
    @Persisted var optDecimal: Decimal128?
    @Persisted var optObjectId: ObjectId?
    @Persisted var optUUID: UUID?
    @Persisted var optColor: Color?
    @Persisted var optLevel: Level?
    @Persisted var optPoint: Point?
    @Persisted var optEven: Even?

    @Persisted var ints: List<Int>
    @Persisted var optStrings: List<String?>
    @Persisted var dates: List<Date>
    @Persisted var colors: List<Color>
    @Persisted var points: MutableSet<Point>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var uuids: MutableSet<UUID>
    @Persisted var decimals: Map<String, Decimal128>
    @Persisted var optDoubles: Map<String, Double?>
    @Persisted var anyMap: Map<String, AnyRealmValue>
}

class Base: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var first: Int
}

class Derived: Base {
    @Persisted var second: String
}

/// Collections with default values, as many models have them.
class Crowd: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var numbers = List<Int>()
    @Persisted var names = MutableSet<String>()
    @Persisted var ages = Map<String, Int>()
}

/// The file has other names.
class Renamed: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    @Persisted var other: Renamed?

    override class func propertiesMapping() -> [String: String] { ["title": "name", "other": "link"] }
}

/// What not every stored value can be shown as.
class Evens: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var even: Even
    @Persisted var optEven: Even?
    @Persisted var evens: List<Even>
    @Persisted var byName: Map<String, Even>
}

/// Stored as an object of its own.
struct Street: CustomPersistable, Hashable {
    typealias PersistedType = Address
    var name = ""

    init(_ name: String) { self.name = name }

    init(persistedValue: Address) { name = persistedValue.street }
    var persistableValue: Address { Address(value: [name]) }
}

class Town: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var main: Street
    @Persisted var streets: List<Street>
    @Persisted var byName: Map<String, Street>
}
