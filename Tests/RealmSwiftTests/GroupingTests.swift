import Foundation
import RealmSwift
import Testing

/// Groups of results, beside Swift's own grouping of the same objects.
struct GroupingTests {
    enum Kind: String, PersistableEnum { case bus, tram, boat }

    class Ride: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var city: String
        @Persisted var kind: Kind?
        @Persisted var minutes: Int
        @Persisted var price: Double?
        @Persisted var day: Date
        @Persisted var cost: Decimal128
    }

    private func filled(_ count: Int) throws -> (Realm, Folder) {
        let (realm, folder) = try makeRealm(Ride.self)
        var random = Seeded(state: 5)
        try realm.write {
            for id in 0..<count {
                let ride = Ride()
                ride.id = id
                ride.city = ["Oslo", "Bergen", "Tromsø", ""].randomElement(using: &random) ?? ""
                ride.kind = [.bus, .tram, .boat, nil].randomElement(using: &random) ?? nil
                ride.minutes = Int.random(in: -50...200, using: &random)
                ride.price =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? nil : Double(Int.random(in: 0..<999, using: &random)) / 4
                ride.day = Date(timeIntervalSince1970: Double(Int.random(in: 0..<1_000_000_000, using: &random)))
                ride.cost = Decimal128(number: NSNumber(value: Int.random(in: 0..<1000, using: &random)))
                realm.add(ride)
            }
        }
        return (realm, folder)
    }

    @Test func eachAggregateEqualsThatOfSwift() throws {
        let (realm, folder) = try filled(500)
        let rides = realm.objects(Ride.self).where { $0.minutes > 0 }
        let byCity = Dictionary(grouping: rides, by: \.city)
        let cities = rides.grouped(by: \.city)
        #expect(cities.count() == byCity.mapValues(\.count))
        #expect(cities.sum(of: \.minutes) == byCity.mapValues { $0.reduce(0) { $0 + $1.minutes } })
        #expect(cities.min(of: \.day) == byCity.compactMapValues { $0.map(\.day).min() })
        #expect(cities.max(of: \.minutes) == byCity.compactMapValues { $0.map(\.minutes).max() })
        #expect(
            cities.sum(of: \.cost)
                == byCity.mapValues { $0.reduce(Decimal128(number: NSNumber(value: 0))) { $0 + $1.cost } })
        for (city, average) in cities.average(of: \.price) {
            let prices = try #require(byCity[city]).compactMap(\.price)
            #expect(abs(average - prices.reduce(0, +) / Double(prices.count)) < 1e-9)
        }
        let byKind = Dictionary(grouping: rides, by: \.kind)
        #expect(rides.grouped(by: \.kind).count() == byKind.mapValues(\.count))
        #expect(realm.objects(Ride.self).where { $0.id < 0 }.grouped(by: \.city).count().isEmpty)
        _ = folder
    }

    @Test func groupsByExpressions() throws {
        let (realm, folder) = try filled(300)
        let rides = realm.objects(Ride.self)
        let found = try rides.groups(
            "GROUP BY year(day) AS year, kind AGGREGATE count() AS n, median(minutes) HAVING n > %@ SORT(n DESC)", 1)
        let calendar = Calendar(identifier: .gregorian)
        let wanted = Dictionary(grouping: rides) { ride in
            [
                "\(calendar.dateComponents(in: TimeZone(secondsFromGMT: 0)!, from: ride.day).year ?? 0)",
                ride.kind?.rawValue ?? "",
            ]
        }.filter { $0.value.count > 1 }
        #expect(found.count == wanted.count && found.count > 20)
        for group in found {
            let key = ["\(group["year"].intValue ?? 0)", group["kind"].stringValue ?? ""]
            #expect(group["n"].intValue == wanted[key]?.count)
        }
        #expect(found.map { $0["n"].intValue ?? 0 } == found.map { $0["n"].intValue ?? 0 }.sorted(by: >))
        #expect(throws: Realm.Error.self) { try rides.groups("GROUP BY nothing AGGREGATE count()") }
        #expect(throws: Realm.Error.self) { try rides.groups("minutes > 3") }
        _ = folder
    }
}
