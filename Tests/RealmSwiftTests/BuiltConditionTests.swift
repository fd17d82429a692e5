import Foundation
import RealmSwift
import Testing

/// Conditions in Swift reach the engine as a tree. The same conditions as texts, through the parser of formats and that
/// of the query language, must select the same rows.
struct BuiltConditionTests {
    enum Size: String, PersistableEnum { case small, large }

    class Part: EmbeddedObject {
        @Persisted var name: String
        @Persisted var size: Int?
    }

    struct Label: CustomPersistable, Hashable {
        typealias PersistedType = Part
        var name = "", size: Int?

        init(_ name: String, _ size: Int?) { (self.name, self.size) = (name, size) }

        init(persistedValue: Part) { (name, size) = (persistedValue.name, persistedValue.size) }

        var persistableValue: Part {
            let part = Part()
            (part.name, part.size) = (name, size)
            return part
        }
    }

    /// A property of every type, single, optional and in collections. Some have the names of words of the language.
    class Thing: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var int: Int
        @Persisted var optInt: Int?
        @Persisted var bool: Bool
        @Persisted var float: Float
        @Persisted var double: Double
        @Persisted var optDouble: Double?
        @Persisted(indexed: true) var string: String
        @Persisted var optString: String?
        @Persisted var data: Data
        @Persisted var optData: Data?
        @Persisted var date: Date
        @Persisted var optDate: Date?
        @Persisted var decimal: Decimal128
        @Persisted var optDecimal: Decimal128?
        @Persisted var objectId: ObjectId
        @Persisted var optObjectId: ObjectId?
        @Persisted var uuid: UUID
        @Persisted var optUUID: UUID?
        @Persisted var size: Size
        @Persisted var optSize: Size?
        @Persisted var value: AnyRealmValue
        @Persisted var link: Thing?
        @Persisted var part: Part?
        @Persisted var label: Label
        @Persisted var any: Int
        @Persisted var limit: String
        @Persisted var ints: List<Int>
        @Persisted var optInts: List<Int?>
        @Persisted var strings: MutableSet<String>
        @Persisted var dates: List<Date>
        @Persisted var decimals: MutableSet<Decimal128>
        @Persisted var values: List<AnyRealmValue>
        @Persisted var numbers: Map<String, Int>
        @Persisted var texts: Map<String, String?>
        @Persisted var valuesByName: Map<String, AnyRealmValue>
        @Persisted var links: List<Thing>
        @Persisted var group: MutableSet<Thing>
        @Persisted var linksByName: Map<String, Thing?>
        @Persisted var parts: List<Part>
        @Persisted var labels: List<Label>
        @Persisted(originProperty: "links") var owners: LinkingObjects<Thing>
    }

    private typealias Condition = (Query<Thing>) -> Query<Bool>

    /// Random values out of a few, so that conditions are often true.
    private struct Source {
        var random: Seeded

        mutating func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }

        mutating func maybe<T>(_ value: T) -> T? { Int.random(in: 0..<4, using: &random) == 0 ? nil : value }

        mutating func int() -> Int { Int.random(in: -2...3, using: &random) }

        mutating func half() -> Double { Double(int()) / 2 }

        mutating func text() -> String {
            pick(["", "a", "A", "ab", "äb", "Äb", "a'b", "%@", "$0", "O5", "null", "x\\\"", "😀"])
        }

        mutating func bytes() -> Data { Data(text().utf8) }

        mutating func date() -> Date { Date(timeIntervalSince1970: half()) }

        mutating func decimal() -> Decimal128 { pick([0, 0.5, -1.25, 3, 1e30]) }

        mutating func objectId() -> ObjectId {
            (try? ObjectId(string: pick(["000000000000000000000001", "00000000000000000000000a"]))) ?? ObjectId()
        }

        mutating func uuid() -> UUID {
            UUID(
                uuidString: pick([
                    "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-00000000000A",
                ])) ?? UUID()
        }

        mutating func size() -> Size { pick([.small, .large]) }

        mutating func label() -> Label { Label(pick(["a", "b"]), pick([nil, 1, 2])) }

        /// A value of any type; with lists and maps up to this depth.
        mutating func value(_ depth: Int = 2) -> AnyRealmValue {
            switch Int.random(in: 0..<(depth > 0 ? 14 : 11), using: &random) {
            case 0: return .none
            case 1, 2: return .int(int())
            case 3: return .bool(int() > 0)
            case 4: return .double(half())
            case 5: return .string(text())
            case 6: return .data(bytes())
            case 7: return .date(date())
            case 8: return .decimal128(decimal())
            case 9: return .objectId(objectId())
            case 10: return .uuid(uuid())
            case 11, 12: return .fromArray((0..<pick([0, 1, 2])).map { _ in value(depth - 1) })
            default:
                return .fromDictionary(
                    Dictionary(
                        (0..<pick([0, 1, 2])).map { _ in (pick(["k", "l"]), value(depth - 1)) },
                        uniquingKeysWith: { $1 }))
            }
        }
    }

    private func fill(_ realm: Realm, _ source: inout Source) throws {
        try realm.write {
            var all: [Thing] = []
            for id in 0..<60 {
                let thing = Thing()
                (thing.id, thing.int, thing.optInt, thing.bool) = (
                    id, source.int(), source.maybe(source.int()), source.int() > 0
                )
                (thing.float, thing.double) = (Float(source.half()), source.half())
                (thing.optDouble, thing.string) = (source.maybe(source.half()), source.text())
                (thing.optString, thing.data) = (source.maybe(source.text()), source.bytes())
                (thing.optData, thing.date) = (source.maybe(source.bytes()), source.date())
                (thing.optDate, thing.decimal) = (source.maybe(source.date()), source.decimal())
                (thing.optDecimal, thing.objectId) = (source.maybe(source.decimal()), source.objectId())
                (thing.optObjectId, thing.uuid) = (source.maybe(source.objectId()), source.uuid())
                (thing.optUUID, thing.size) = (source.maybe(source.uuid()), source.size())
                (thing.optSize, thing.label) = (source.maybe(source.size()), source.label())
                (thing.any, thing.limit) = (source.int(), source.text())
                realm.add(thing)
                all.append(thing)
                (thing.value, thing.link) = (source.value(), source.maybe(source.pick(all)))
                thing.part = source.maybe(source.label().persistableValue)
                for _ in 0..<source.pick([0, 1, 2]) {
                    thing.ints.append(source.int())
                    thing.optInts.append(source.maybe(source.int()))
                    thing.strings.insert(source.text())
                    thing.dates.append(source.date())
                    thing.decimals.insert(source.decimal())
                    thing.values.append(source.value(1))
                    thing.numbers[source.pick(["k", "l"])] = source.int()
                    thing.texts[source.pick(["k", "l"])] = .some(source.maybe(source.text()))
                    thing.valuesByName[source.pick(["k", "l"])] = source.value(1)
                    thing.links.append(source.pick(all))
                    thing.group.insert(source.pick(all))
                    thing.linksByName[source.pick(["k", "l"])] = .some(source.maybe(source.pick(all)))
                    thing.parts.append(source.label().persistableValue)
                    thing.labels.append(source.label())
                }
            }
        }
    }

    /// Conditions on single values.
    private func singles(_ source: inout Source, _ things: Results<Thing>) -> [Condition] {
        let int = source.int(), half = source.half(), text = source.text(), bytes = source.bytes()
        let date = source.date(), decimal = source.decimal(), id = source.objectId(), uuid = source.uuid()
        let size = source.size(), value = source.value(), label = source.label(), thing = source.pick(Array(things))
        let optInt = source.maybe(int), optText = source.maybe(text), other = source.int()
        let options = source.pick(
            [[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] as [StringOptions])
        return [
            { $0.int == int }, { $0.int != int }, { $0.int < int }, { $0.int >= int }, { $0.int.in([int, other]) },
            { $0.int.contains(min(int, other)...max(int, other)) },
            { $0.int.contains(min(int, other)..<max(int, other)) },
            { $0.int > $0.any }, { $0.int == $0.any }, { $0.any == int }, { $0.limit == text },
            { $0.limit.contains(text) }, { $0.optInt == optInt }, { $0.optInt != optInt }, { $0.optInt <= int },
            { $0.optInt.in([optInt, other]) }, { $0.bool }, { !$0.bool }, { $0.bool != true },
            { $0.bool == $0.link.bool },
            { $0.float == Float(half) }, { $0.float > Float(half) }, { $0.double <= half }, { $0.optDouble != half },
            { $0.optDouble.contains(min(half, 1)...1) },
            { $0.string == text }, { $0.string > text }, { $0.string.contains(text, options: options) },
            { $0.string.starts(with: text, options: options) }, { $0.optString.ends(with: optText, options: options) },
            { $0.string.equals(text, options: options) }, { $0.optString.notEquals(optText, options: options) },
            { $0.string.like(text + "*") }, { $0.string.like("?b", caseInsensitive: true) },
            { $0.string.in([text, "a"]) },
            { $0.string.contains($0.optString) }, { $0.optString == optText },
            { $0.string.starts(with: $0.link.string) },
            { $0.data == bytes }, { $0.data.contains(bytes) }, { $0.optData == bytes }, { $0.optData == nil },
            { $0.date == date }, { $0.date < date }, { $0.optDate >= date },
            { $0.date.contains(date...date.addingTimeInterval(1)) },
            { $0.decimal == decimal }, { $0.decimal > decimal }, { $0.optDecimal == decimal }, { $0.optDecimal == nil },
            { $0.objectId == id }, { $0.optObjectId != id }, { $0.uuid == uuid }, { $0.optUUID == uuid },
            { $0.optUUID == nil }, { $0.uuid.in([uuid]) }, { $0.objectId.in([id, id]) },
            { $0.size == size }, { $0.optSize == size }, { $0.optSize == nil }, { $0.size.rawValue.starts(with: "s") },
            { $0.value == value }, { $0.value != value }, { $0.value > .int(int) }, { $0.value["k"] == value },
            { $0.value[0] == .int(int) }, { $0.value.any == .int(int) }, { $0.value["k"].any == .int(int) },
            { $0.value[0]["k"] != value }, { $0.value.any["l"] == value },
            { $0.link == thing }, { $0.link != thing }, { $0.link == nil }, { $0.link.int == int },
            { $0.link.link.string == text }, { $0.link.bool }, { !$0.link.bool },
            { $0.part.name == "a" }, { $0.part == nil }, { $0.part.size == 1 }, { $0.label == label },
            { $0.label != label },
            { $0.label.persistableValue.name == label.name },
        ]
    }

    /// Conditions on collections.
    private func collections(_ source: inout Source, _ things: Results<Thing>) -> [Condition] {
        let int = source.int(), text = source.text(), date = source.date(), decimal = source.decimal()
        let value = source.value(1), label = source.label(), thing = source.pick(Array(things)),
            count = source.pick([0, 1, 2])
        let optInt = source.maybe(int), plain = source.value(0)
        return [
            { $0.ints.contains(int) }, { $0.ints.containsAny(in: [int, 1]) }, { $0.ints == int }, { $0.ints != int },
            { $0.ints > int }, { $0.ints.count == count }, { $0.ints.sum > int }, { $0.ints.min == int },
            { $0.ints.max <= int }, { $0.ints.avg < int }, { $0.ints.contains(min(int, 1)...1) },
            { $0.ints.contains(min(int, 1)..<1) }, { $0.optInts.contains(optInt) }, { $0.optInts == optInt },
            { $0.strings.contains(text) }, { $0.strings == text }, { $0.strings.count > count },
            { $0.dates.max == date }, { $0.dates >= date }, { $0.decimals.contains(decimal) },
            { $0.decimals.sum < decimal },
            { $0.values.contains(plain) }, { $0.values == plain },
            { $0.numbers["k"] == int }, { $0.numbers["k"] > int }, { $0.numbers.keys == "k" },
            { $0.numbers.values == int },
            { $0.numbers.values > int }, { $0.numbers.count == count }, { $0.numbers.sum > int },
            { $0.numbers.contains(int) },
            { $0.texts["l"] == text }, { $0.texts.keys.starts(with: "l") },
            { $0.valuesByName["k"] == value }, { $0.valuesByName["k"][0] == plain },
            { $0.links.contains(thing) }, { $0.links.int == int }, { $0.links.int > int },
            { $0.links.string.contains(text) },
            { $0.links.count == count }, { $0.links.int.sum > int }, { $0.links.double.avg < 0.5 },
            { $0.links.date.max >= date },
            { $0.links.int.contains(min(int, 1)...1) }, { $0.links.link.int == int }, { $0.links.links.int == int },
            { $0.link.links.bool }, { !$0.links.bool }, { $0.group.int == int }, { $0.group.contains(thing) },
            { $0.linksByName["k"] == thing }, { $0.linksByName.values.int == int }, { $0.linksByName.keys == "l" },
            { $0.owners.count == count }, { $0.owners.int > int }, { $0.owners.optString == nil },
            { $0.parts.name == "b" }, { $0.labels == label }, { $0.labels != label },
            { ($0.links.int > int && $0.links.bool == true).count > 0 }, { ($0.links.any == int).count == count },
            { ($0.links.string == text || !$0.links.bool).count < 2 }, { ($0.group.int <= int).count >= count },
            { ($0.linksByName.values.int != int && $0.linksByName.values.bool == true).count == 1 },
            { ($0.links.int > int && ($0.links.double > 0).count > 0).count > 0 },
            { ($0.links.links.int == int).count > 0 }, { ($0.owners.int == int && $0.owners.label == label).count > 0 },
            { ($0.links.value == value && $0.links.optInt == optInt).count == 0 },
            { ($0.links.int.contains(min(int, 2)...2)).count.contains(1...2) },
        ]
    }

    @Test func treeAndTextSelectTheSameRows() throws {
        let seed = UInt64.random(in: 1...1_000_000)
        let (realm, folder) = try makeRealm(Thing.self, Part.self)
        var source = Source(random: Seeded(state: seed))
        try fill(realm, &source)
        let things = realm.objects(Thing.self)
        var telling = 0
        func check(_ condition: Condition, _ place: String) {
            let (format, arguments) = condition(Query<Thing>._constructForTesting())._constructPredicate()
            let built = things.where(condition).map(\.id)
            let parsed = things.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)
            #expect(Array(built) == Array(parsed), "\(place) of seed \(seed): \(format) \(arguments)")
            if !built.isEmpty, built.count < things.count { telling += 1 }
        }
        for round in 0..<6 {
            let conditions = singles(&source, things) + collections(&source, things)
            for (place, condition) in conditions.enumerated() {
                check(condition, "\(round).\(place)")
                check({ !condition($0) }, "not \(round).\(place)")
            }
            for place in 0..<80 {
                let first = source.pick(conditions), second = source.pick(conditions), third = source.pick(conditions)
                check({ first($0) && second($0) && third($0) }, "and \(round).\(place)")
                check({ first($0) || !(second($0) || third($0)) }, "or \(round).\(place)")
                check({ !(first($0) && (second($0) || !third($0))) }, "not \(round).\(place)")
            }
        }
        // A condition that all rows or no row meet shows little.
        #expect(telling > 1000, "\(telling)")
        _ = folder
    }

    /// A value is never read as a part of the language, and a long chain is no deep query.
    @Test func valuesAndChains() throws {
        let (realm, folder) = try makeRealm(Thing.self, Part.self)
        try realm.write {
            for id in 0..<3 {
                realm.create(
                    Thing.self, value: ["id": id, "string": ["$0", "%@", "a' OR TRUEPREDICATE"][id]] as [String: Any])
            }
        }
        let things = realm.objects(Thing.self)
        for text in ["$0", "%@", "a' OR TRUEPREDICATE"] { #expect(things.where { $0.string == text }.count == 1) }
        #expect(things.where { query in (1..<3000).reduce(query.id == 0) { $0 || query.id == 3 * $1 } }.count == 1)
        #expect(things.where { query in (1..<3000).reduce(query.id == 0) { $0 && query.id != $1 } }.count == 1)
        _ = folder
    }

    @Test func misuse() throws {
        func message(_ condition: @escaping @Sendable (Query<Thing>) -> Query<Bool>) -> String? {
            RealmSwiftTests.misuse {
                let (realm, folder) = try makeRealm(Thing.self, Part.self)
                _ = realm.objects(Thing.self).where(condition).count
                _ = folder
            }
        }
        #expect(message { ($0.int > 3) == true } == "A condition cannot be compared with a value")
        #expect(message { $0.values == .fromArray([1]) }?.contains("cannot be compared with lists and maps") == true)
        #expect(message { $0.value > .fromArray([1]) }?.contains("can only be compared by == and !=") == true)
        #expect(message { $0.value[-1] == 3 }?.contains("Invalid index") == true)
        #expect(message { $0.int.sum == 3 }?.contains("Invalid keypath 'int.@sum'") == true)
        #expect(message { $0.links.link.int.max == 3 }?.contains("@max cannot be computed") == true)
        let deep = message { query in (0..<1100).reduce(query.bool) { whole, _ in !(whole && query.bool) } }
        #expect(deep?.contains("levels") == true)
    }
}
