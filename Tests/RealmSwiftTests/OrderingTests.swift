import Foundation
import RealmSwift
import Testing

/// Collections of values in an order of their own.
struct OrderingTests {
    @Test func sortedValuesAgainstASlowSort() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        var random = SystemRandomNumberGenerator()
        let seed = Int.random(in: 0..<1 << 30, using: &random)
        var numbers = (0..<60).map { ($0 &* 7919 &+ seed) % 17 }
        let object = Everything()
        try realm.write {
            realm.add(object)
            object.ints.append(objectsIn: numbers)
        }
        let up = object.ints.sorted(), down = object.ints.sorted(ascending: false), once = object.ints.distinct()
        for step in 0..<20 {
            let firsts = numbers.enumerated().filter { numbers.firstIndex(of: $1) == $0 }.map(\.element)
            #expect(
                Array(up) == numbers.sorted() && Array(down) == numbers.sorted(by: >) && Array(once) == firsts,
                "seed \(seed)")
            #expect(
                Array(up.distinct()) == numbers.sorted().reduce(into: []) { if $0.last != $1 { $0.append($1) } },
                "seed \(seed)")
            #expect(
                up.max() == numbers.max() && up.sum() == numbers.reduce(0, +)
                    && up.index(of: numbers[0]) == numbers.sorted().firstIndex(of: numbers[0]))
            try realm.write {
                object.ints.append((step &* 31) % 23)
                object.ints.remove(at: step)
            }
            numbers.append((step &* 31) % 23)
            numbers.remove(at: step)
        }
        #expect(Array(up.freeze()) == numbers.sorted())
        _ = folder
    }

    @Test func nullsComeFirst() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let object = Everything()
        try realm.write {
            realm.add(object)
            object.optStrings.append(objectsIn: ["b", nil, "a", nil])
        }
        #expect(
            Array(object.optStrings.sorted()) == [nil, nil, "a", "b"]
                && Array(object.optStrings.distinct()) == ["b", nil, "a"])
        let said = misuse {
            let realm = try Realm(configuration: folder.configuration([Everything.self]))
            _ = realm.objects(Everything.self).first?.ints.sorted(byKeyPath: "name")
        }
        #expect(said?.contains("'self'") == true)
    }

    @Test func changesOfSortedValues() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let object = Everything()
        try realm.write {
            realm.add(object)
            object.ints.append(objectsIn: [5, 1, 3])
        }
        let sorted = object.ints.sorted()
        var told: [String] = []
        let token = sorted.observe { change in
            switch change {
            case .initial(let c): told.append("initial \(Array(c))")
            case .update(let c, let d, let i, let m): told.append("\(Array(c)) -\(d) +\(i) *\(m)")
            case .error(let error): told.append("\(error)")
            }
        }
        realm.refresh()
        try realm.write { object.ints.insert(4, at: 0) }
        realm.refresh()
        try realm.write {
            object.ints.remove(at: 1)
            object.ints.append(0)
        }
        realm.refresh()
        try realm.write { object.ints.swapAt(0, 1) }
        realm.refresh()
        #expect(told == ["initial [1, 3, 5]", "[1, 3, 4, 5] -[] +[2] *[]", "[0, 1, 3, 4] -[3] +[0] *[]"])
        token.invalidate()
        _ = folder
    }

    @Test func sections() throws {
        let (realm, folder) = try makeRealm(Everything.self)
        let object = Everything()
        try realm.write {
            realm.add(object)
            object.ints.append(objectsIn: [5, 2, 4, 1, 3])
        }
        let sections = object.ints.sectioned(by: { $0 % 2 }, ascending: true)
        #expect(
            sections.allKeys == [1, 0] && sections.map { Array($0) } == [[1, 3, 5], [2, 4]] && sections == sections)
        #expect(
            sections != object.ints.sectioned(by: { $0 % 2 }) && sections[IndexPath(indexes: [1, 1])] == 4
                && sections.freeze().isFrozen)
        _ = folder
    }

    @Test func aggregatesOfUnmanagedCollections() {
        let list = List<Double>()
        #expect(list.min() == nil && list.sum() == 0 && list.average() as Double? == nil)
        list.append(objectsIn: [2, 4, 6])
        #expect(list.min() == 2 && list.max() == 6 && list.sum() == 12 && list.average() == 4.0)
        let map = Map<String, Int?>()
        map["a"] = 1
        map["b"] = .some(nil)
        map["c"] = 4
        #expect(
            map.min() == 1 && map.max() == 4 && map.sum() == 5 && map.average() == 2.5
                && map.contains { $0 == "c" && $1 == 4 })
    }
}
