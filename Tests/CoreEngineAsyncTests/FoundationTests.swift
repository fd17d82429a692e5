// Values and errors of Foundation, both ways.
import CoreEngineFoundation
import Foundation
import Testing

private let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .uuid, primary: true), Property("at", .date, nullable: true), Property("data", .data),
            Property("dates", .date, collection: .list),
        ])
])

@Test func datesDataAndIdentifiersGoBothWays() throws {
    let place = try Place(), realm = try Realm(RealmConfiguration(path: place.path, schema: schema, schemaVersion: 1))
    defer { realm.close() }
    let id = UUID(), now = Date(timeIntervalSince1970: 1_700_000_000.25), before = Date(timeIntervalSince1970: -1.5)
    let thing = try realm.write {
        let thing = try realm.create("Thing", ["id": RealmValue(id), "data": RealmValue(Data([1, 2, 3]))])
        try thing.set("at", now)
        try thing.set("dates", [now, before])
        return thing
    }
    #expect(
        try thing.get("id", as: UUID.self) == id && thing.get("data", as: Data.self) == Data([1, 2, 3])
            && thing.get("at", as: Date?.self) == now)
    #expect(
        try thing.get("dates", as: [Date].self) == [now, before]
            && realm.object("Thing", primaryKey: RealmValue(id)) == thing)
    #expect(
        thing["dates"] == [
            .date(Timestamp(seconds: 1_700_000_000, nanoseconds: 250_000_000)),
            .date(Timestamp(seconds: -1, nanoseconds: -500_000_000)),
        ])
    #expect(try realm.objects("Thing").where("at == $0 AND id == $1", RealmValue(now), RealmValue(id)).count == 1)
    #expect(UUIDValue(id).description == id.uuidString.lowercased())
    try realm.write { try thing.set("at", Date?.none) }
    #expect(try thing.get("at", as: Date?.self) == nil)
    #expect(throws: RealmError.self) { try thing.get("at", as: Date.self) }
}

@Test func datesAtTheirLimits() {
    for interval in [
        0, 0.5, -0.5, 1e-9, -1e-9, 123_456.789, -62_135_596_800, 253_402_300_799.999, 0.999_999_999_9, -0.999_999_999_9,
    ] {
        let t = Timestamp(Date(timeIntervalSince1970: interval))
        #expect(
            t.isValid && abs(Date(t).timeIntervalSince1970 - interval) < 1e-6 * max(1, abs(interval) / 1e9),
            "\(interval) \(t)")
    }
    #expect(Timestamp(.distantFuture).isValid && Date(Timestamp(.distantPast)) == .distantPast)
    for interval in [Double.infinity, -.infinity, .nan, 1e300, -1e300] {
        #expect(Timestamp(Date(timeIntervalSince1970: interval)).isValid, "\(interval)")
    }
}

@Test func errorsAreLocalized() throws {
    do {
        _ = try Realm(RealmConfiguration(path: "/no/such/folder/x.realm"))
        Issue.record("it opens")
    } catch {
        let general: any Error = error
        #expect(general.localizedDescription == error.message && !error.message.isEmpty)
        #expect(error.failureReason?.contains("\(error.code.rawValue)") == true)
    }
}
