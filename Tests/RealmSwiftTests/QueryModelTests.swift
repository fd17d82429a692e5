import Foundation
import RealmSwift
import Testing

/// Type-safe queries against a plain filter in Swift as the model: every operator, alone and combined.
struct QueryModelTests {
    enum Size: String, PersistableEnum { case small, medium, large }

    class Item: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var int: Int
        @Persisted var optInt: Int?
        @Persisted var double: Double
        @Persisted var optDouble: Double?
        @Persisted(indexed: true) var string: String
        @Persisted var optString: String?
        @Persisted var bool: Bool
        @Persisted var date: Date
        @Persisted var decimal: Decimal128
        @Persisted var size: Size
        @Persisted var optSize: Size?
        @Persisted var any: AnyRealmValue
        @Persisted var link: Item?
        @Persisted var list: List<Int>
        @Persisted var optList: List<Int?>
        @Persisted var links: List<Item>
        @Persisted var set: MutableSet<String>
        @Persisted var map: Map<String, Int>
        @Persisted(originProperty: "link") var back: LinkingObjects<Item>
    }

    private typealias Condition = (name: String, query: (Query<Item>) -> Query<Bool>, model: (Item) -> Bool)
    private static let strings = ["", "a", "A", "ab", "b", "äb", "Äb", "abc", "x%y", "😀"]

    private func fill(_ realm: Realm, _ random: inout Seeded) throws {
        func pick<T>(_ all: [T]) -> T { all.randomElement(using: &random) ?? all[0] }
        func number() -> Int { Int.random(in: -2...3, using: &random) }
        try realm.write {
            for i in 0..<120 {
                let item = Item(
                    value: ["id": i, "int": number(), "double": Double(number()) / 2, "string": pick(Self.strings)]
                        as [String: Any])
                item.optInt = pick([nil, number()])
                item.optDouble = pick([nil, Double(number()) / 2])
                item.optString = pick([nil, pick(Self.strings)])
                item.bool = pick([true, false])
                item.date = Date(timeIntervalSince1970: Double(number()) * 1.5)
                item.decimal = Decimal128(Double(number()) / 4)
                item.size = pick(Size.allCases)
                item.optSize = pick([nil] + Size.allCases.map { Optional($0) })
                item.any = pick([
                    .none, .int(number()), .string(pick(Self.strings)), .double(Double(number()) / 2), .bool(true),
                ])
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    item.list.append(number())
                    item.optList.append(pick([nil, number()]))
                    item.set.insert(pick(Self.strings))
                    item.map[pick(["k", "l"])] = number()
                }
                realm.add(item)
                item.link = pick([
                    nil, realm.object(ofType: Item.self, forPrimaryKey: Int.random(in: 0...i, using: &random)),
                ])
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    realm.object(ofType: Item.self, forPrimaryKey: Int.random(in: 0...i, using: &random)).map {
                        item.links.append($0)
                    }
                }
            }
        }
    }

    private func numbers(_ n: Int) -> [Condition] {
        let d = Double(n) / 2, m = Decimal128(Double(n) / 4)
        return [
            ("int == \(n)", { $0.int == n }, { $0.int == n }), ("int != \(n)", { $0.int != n }, { $0.int != n }),
            ("int < \(n)", { $0.int < n }, { $0.int < n }), ("int >= \(n)", { $0.int >= n }, { $0.int >= n }),
            ("int in", { $0.int.in([n, 1]) }, { [n, 1].contains($0.int) }),
            ("int in []", { $0.int.in([]) }, { _ in false }),
            ("int in n...2", { $0.int.contains(min(n, 2)...2) }, { (min(n, 2)...2).contains($0.int) }),
            ("int in n..<2", { $0.int.contains(min(n, 2)..<2) }, { (min(n, 2)..<2).contains($0.int) }),
            ("optInt == n", { $0.optInt == n }, { $0.optInt == n }),
            ("optInt != n", { $0.optInt != n }, { $0.optInt != n }),
            ("optInt == nil", { $0.optInt == nil }, { $0.optInt == nil }),
            ("optInt != nil", { $0.optInt != nil }, { $0.optInt != nil }),
            ("optInt > n", { $0.optInt > n }, { $0.optInt.map { $0 > n } ?? false }),
            ("optInt <= n", { $0.optInt <= n }, { $0.optInt.map { $0 <= n } ?? false }),
            ("optInt in", { $0.optInt.in([nil, n]) }, { [nil, n].contains($0.optInt) }),
            ("double == d", { $0.double == d }, { $0.double == d }),
            ("double < d", { $0.double < d }, { $0.double < d }),
            ("optDouble != d", { $0.optDouble != d }, { $0.optDouble != d }),
            ("optDouble >= d", { $0.optDouble >= d }, { $0.optDouble.map { $0 >= d } ?? false }),
            ("decimal <= m", { $0.decimal <= m }, { $0.decimal <= m }),
            ("decimal == m", { $0.decimal == m }, { $0.decimal == m }),
            (
                "date < d", { $0.date < Date(timeIntervalSince1970: d * 3) },
                { $0.date < Date(timeIntervalSince1970: d * 3) }
            ),
            (
                "date == d", { $0.date == Date(timeIntervalSince1970: Double(n) * 1.5) },
                { $0.date == Date(timeIntervalSince1970: Double(n) * 1.5) }
            ),
            ("any == n", { $0.any == .int(n) }, { $0.any == .int(n) || $0.any == .double(Double(n)) }),
            (
                "any > n", { $0.any > .int(n) },
                { ($0.any.intValue.map { $0 > n } ?? false) || ($0.any.doubleValue.map { $0 > Double(n) } ?? false) }
            ),
            ("any == nil", { $0.any == .none }, { $0.any == .none }),
            ("list contains", { $0.list.contains(n) }, { $0.list.contains(n) }),
            ("list any", { $0.list.containsAny(in: [n, 3]) }, { !Set($0.list).isDisjoint(with: [n, 3]) }),
            ("list == n", { $0.list == n }, { $0.list.contains(n) }),
            ("list != n", { $0.list != n }, { $0.list.contains { $0 != n } }),
            ("list > n", { $0.list > n }, { $0.list.contains { $0 > n } }),
            ("list.count", { $0.list.count == max(n, 0) }, { $0.list.count == max(n, 0) }),
            ("list.sum", { $0.list.sum > n }, { $0.list.reduce(0, +) > n }),
            ("list.min", { $0.list.min == n }, { $0.list.min() == n }),
            ("list.max", { $0.list.max <= n }, { $0.list.max().map { $0 <= n } ?? false }),
            ("optList == nil", { $0.optList.contains(nil) }, { $0.optList.contains(nil) }),
            ("optList == n", { $0.optList.contains(n) }, { $0.optList.contains(n) }),
            ("map[k] == n", { $0.map["k"] == n }, { $0.map["k"] == n }),
            ("map[k] > n", { $0.map["k"] > n }, { $0.map["k"].map { $0 > n } ?? false }),
            ("map.values", { $0.map.values == n }, { $0.map.values.contains(n) }),
            ("map.count", { $0.map.count > max(n, 0) }, { $0.map.count > max(n, 0) }),
            ("link.int == n", { $0.link.int == n }, { $0.link?.int == n }),
            ("link.int < n", { $0.link.int < n }, { $0.link.map { $0.int < n } ?? false }),
            ("link.link.int", { $0.link.link.int == n }, { $0.link?.link?.int == n }),
            ("links.int", { $0.links.int == n }, { $0.links.contains { $0.int == n } }),
            ("links.int > n", { $0.links.int > n }, { $0.links.contains { $0.int > n } }),
            ("links.int.sum", { $0.links.int.sum > n }, { $0.links.reduce(0) { $0 + $1.int } > n }),
            (
                "links.int in", { $0.links.int.contains(min(n, 1)...1) },
                { $0.links.contains { (min(n, 1)...1).contains($0.int) } }
            ),
            ("back.count", { $0.back.count == max(n, 0) }, { $0.back.count == max(n, 0) }),
            ("back.int", { $0.back.int == n }, { $0.back.contains { $0.int == n } }),
            (
                "subquery", { ($0.links.int >= n && $0.links.bool == true).count > 0 },
                { $0.links.contains { $0.int >= n && $0.bool } }
            ),
        ]
    }

    private func texts(_ s: String) -> [Condition] {
        [
            ("string == \(s)", { $0.string == s }, { $0.string == s }),
            ("string != \(s)", { $0.string != s }, { $0.string != s }),
            ("optString == s", { $0.optString == s }, { $0.optString == s }),
            ("optString != s", { $0.optString != s }, { $0.optString != s }),
            ("optString == nil", { $0.optString == nil }, { $0.optString == nil }),
            ("string > s", { $0.string > s }, { Array(s.utf8).lexicographicallyPrecedes(Array($0.string.utf8)) }),
            (
                "contains", { $0.string.contains(s) },
                {
                    !s.isEmpty && $0.string.utf8.count >= s.utf8.count
                        && $0.string.range(of: s, options: .literal) != nil
                }
            ),
            (
                "starts", { $0.optString.starts(with: s) },
                { !s.isEmpty && ($0.optString?.utf8.starts(with: s.utf8) ?? false) }
            ),
            (
                "ends", { $0.string.ends(with: s) },
                { !s.isEmpty && $0.string.utf8.reversed().starts(with: s.utf8.reversed()) }
            ),
            (
                "starts[c]", { $0.string.starts(with: s, options: .caseInsensitive) },
                { !s.isEmpty && $0.string.lowercased().hasPrefix(s.lowercased()) }
            ),
            (
                "equals[c]", { $0.string.equals(s, options: .caseInsensitive) },
                { $0.string.lowercased() == s.lowercased() }
            ),
            ("in", { $0.string.in([s, "a"]) }, { [s, "a"].contains($0.string) }),
            ("set", { $0.set.contains(s) }, { $0.set.contains(s) }),
            ("any", { $0.any == .string(s) }, { $0.any == .string(s) }),
            ("link.string", { $0.link.string == s }, { $0.link?.string == s }),
            (
                "links.string", { $0.links.string.contains("b") },
                { $0.links.contains { $0.string.utf8.contains(UInt8(ascii: "b")) } }
            ),
        ]
    }

    private var others: [Condition] {
        [
            ("bool", { $0.bool }, { $0.bool }), ("!bool", { !$0.bool }, { !$0.bool }),
            ("bool != true", { $0.bool != true }, { !$0.bool }),
            ("size", { $0.size == .large }, { $0.size == .large }),
            ("size.in", { $0.size.in([.small, .large]) }, { $0.size != .medium }),
            ("optSize", { $0.optSize == .small }, { $0.optSize == .small }),
            ("optSize == nil", { $0.optSize == nil }, { $0.optSize == nil }),
            ("optSize != small", { $0.optSize != .small }, { $0.optSize != .small }),
            ("raw", { $0.size.rawValue.starts(with: "m") }, { $0.size == .medium }),
            ("link nil", { $0.link == nil }, { $0.link == nil }), ("link some", { $0.link != nil }, { $0.link != nil }),
            ("link.bool", { $0.link.bool }, { $0.link?.bool ?? false }),
            ("any bool", { $0.any == .bool(true) }, { $0.any == .bool(true) }),
            ("keys", { $0.map.keys == "k" }, { $0.map.keys.contains("k") }),
        ]
    }

    @Test func everyOperator() throws {
        let (realm, folder) = try makeRealm(Item.self)
        var random = Seeded(state: 5)
        try fill(realm, &random)
        let all = realm.objects(Item.self), items = Array(all)
        let conditions = (-2...3).flatMap(numbers) + Self.strings.flatMap(texts) + others
        func check(_ c: Condition) {
            let found = Array(all.where(c.query).map(\.id)), expected = items.filter(c.model).map(\.id)
            #expect(found == expected, "\(c.name): \(Set(found).symmetricDifference(expected).sorted())")
        }
        for c in conditions {
            check(c)
            // As in Realm's package, a property that is negated is one that is false: there has to be one.
            if c.name != "link.bool" { check(("!(\(c.name))", { !c.query($0) }, { !c.model($0) })) }
        }
        for _ in 0..<300 {
            guard let a = conditions.randomElement(using: &random), let b = conditions.randomElement(using: &random)
            else { continue }
            check(("\(a.name) && \(b.name)", { a.query($0) && b.query($0) }, { a.model($0) && b.model($0) }))
            check(("\(a.name) || !\(b.name)", { a.query($0) || !b.query($0) }, { a.model($0) || !b.model($0) }))
        }
        _ = folder
    }
}
