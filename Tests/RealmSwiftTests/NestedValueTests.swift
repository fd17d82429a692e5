import Foundation
import RealmSwift
import Testing

/// Lists and maps in values of any type, stored over themselves, over what they are a part of, and over their
/// neighbours.
struct NestedValueTests {
    class Nest: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var any: AnyRealmValue
        @Persisted var list: List<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
    }

    private func value() -> AnyRealmValue {
        .fromDictionary([
            "a": .fromArray([1, .none, .fromDictionary(["deep": .fromArray(["x"])])]), "b": .none, "c": .fromArray([]),
        ])
    }

    /// A value as plain text.
    private func text(_ v: AnyRealmValue) -> String {
        switch v {
        case .list(let l): "[" + Array(l).map(text).joined(separator: ",") + "]"
        case .dictionary(let d):
            "{"
                + d.asKeyValueSequence().sorted { $0.key < $1.key }.map { $0.key + ":" + text($0.value) }.joined(
                    separator: ",") + "}"
        case .int(let i): "\(i)"
        case .string(let s): s
        case .none: "-"
        default: "?"
        }
    }

    private let whole = "{a:[1,-,{deep:[x]}],b:-,c:[]}"

    @Test func storedOverThemselves() throws {
        let (realm, folder) = try makeRealm(Nest.self)
        try realm.write {
            let n = realm.create(Nest.self, value: ["id": 1])
            n.any = value()
            n.any = n.any
            #expect(text(n.any) == whole)
            n.any = .fromArray([.fromArray([n.any]), .fromDictionary(["k": .fromArray([n.any])])])
            #expect(text(n.any) == "[[\(whole)],{k:[\(whole)]}]")
            n.any = value()
            n.list.append(objectsIn: [value(), .fromArray([2]), .none])
            n.list[0] = n.list[0]
            (n.map["m"], n.map["n"]) = (value(), .fromArray([3]))
            n.map["m"] = n.map["m"]
            n.list = n.list
            n.map = n.map
            #expect(text(n.list[0]) == whole && text(n.list[1]) == "[2]" && text(n.map["m"] ?? .none) == whole)
            for policy in [Realm.UpdatePolicy.all, .modified] {
                realm.create(Nest.self, value: n, update: policy)
                #expect(
                    text(n.any) == whole && n.list.map(text) == [whole, "[2]", "-"]
                        && text(n.map["m"] ?? .none) == whole && n.map.count == 2)
            }
        }
        _ = folder
    }

    @Test func storedOverWhatTheyArePartOf() throws {
        let (realm, folder) = try makeRealm(Nest.self)
        try realm.write {
            let n = realm.create(Nest.self, value: ["id": 1])
            n.any = value()
            n.any = n.any.dictionaryValue?["a"] ?? .none
            #expect(text(n.any) == "[1,-,{deep:[x]}]")
            n.any = .fromArray([n.any, n.any])
            #expect(text(n.any) == "[[1,-,{deep:[x]}],[1,-,{deep:[x]}]]")
            n.list.append(objectsIn: [.fromArray([1, value()]), 5])
            n.list = n.list[0].listValue ?? List()
            #expect(n.list.map(text) == ["1", whole])
            n.list.replaceSubrange(0..<2, with: Array(n.list).reversed())
            #expect(n.list.map(text) == [whole, "1"])
            n.list.append(n.list[0])
            n.list.swapAt(0, 1)
            n.list.move(from: 2, to: 0)
            #expect(n.list.map(text) == [whole, "1", whole])
            n.map["m"] = .dictionary(n.map)
            n.map["m"] = .dictionary(n.map)
            #expect(text(n.map["m"] ?? .none) == "{m:{}}")
            realm.create(
                Nest.self,
                value: ["id": 1, "list": Array(n.list).reversed() as [AnyRealmValue], "any": ["p": n.any]]
                    as [String: Any],
                update: .modified)
            #expect(
                n.list.map(text) == [whole, "1", whole] && text(n.any) == "{p:[[1,-,{deep:[x]}],[1,-,{deep:[x]}]]}")
        }
        _ = folder
    }

    @Test func detached() throws {
        let (realm, folder) = try makeRealm(Nest.self)
        let n = try realm.write { () -> Nest in
            let n = realm.create(Nest.self, value: ["id": 1])
            n.any = value()
            n.list.append(objectsIn: [.none, value(), .object(n)])
            (n.map["none"], n.map["m"]) = (AnyRealmValue.none, value())
            return n
        }
        for copy in [n.detach(), n.detach(depth: 0)] {
            #expect(
                text(copy.any) == whole && copy.list.prefix(2).map(text) == ["-", whole] && copy.map.count == 2
                    && text(copy.map["m"] ?? .none) == whole)
            #expect(copy.list.count == 3 && copy.list[2].object(Nest.self) === copy)
        }
        _ = folder
    }
}
