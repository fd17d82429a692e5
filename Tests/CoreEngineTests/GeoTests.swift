// Conditions on places against models: circles by the haversine formula, polygons on the plane on which lines of the
// globe are straight.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Shop",
        properties: [
            Property("id", .int, primary: true), Property("at", .object, nullable: true, target: "Place"),
            Property("many", .object, collection: .list, target: "Place"),
            Property("top", .object, nullable: true, target: "Shop"),
            Property("odd", .object, nullable: true, target: "Odd"),
        ]),
    ObjectSchema(
        "Place", kind: .embedded,
        properties: [Property("type", .string), Property("coordinates", .double, collection: .list)]),
    ObjectSchema(
        "Odd", kind: .embedded,
        properties: [Property("type", .string), Property("coordinates", .float, collection: .list)]),
])

private struct Shops {
    let folder: TemporaryFolder, realm: Realm

    /// - Parameter places: longitude and latitude of each shop.
    init(_ places: [GeoPlace]) throws {
        folder = try TemporaryFolder()
        let realm = try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
        self.realm = realm
        try realm.write {
            for (i, p) in places.enumerated() {
                let coordinates = RealmValue.list([.double(p.longitude), .double(p.latitude)])
                try realm.create("Shop", ["id": .int(Int64(i)), "at": ["type": "Point", "coordinates": coordinates]])
            }
        }
    }

    func found(_ query: String, _ arguments: RealmValue...) throws -> [Int] {
        try realm.objects("Shop").where(query, arguments: arguments).map { try $0.get("id", as: Int.self) }.sorted()
    }

    /// The text finds the same as an argument, as its own description, and opposite to NOT.
    func verify(_ shape: String, _ expected: [Int], unsure: Set<Int> = [], _ what: String) throws {
        let found = try found("at GEOWITHIN \(shape)")
        #expect(found.filter { !unsure.contains($0) } == expected.filter { !unsure.contains($0) }, "\(what): \(shape)")
        #expect(try self.found("at GEOWITHIN $0", .string(shape)) == found, "\(shape)")
        let total = try realm.objects("Shop").load()
        #expect(try self.found("NOT at GEOWITHIN \(shape)") == (0..<total).filter { !found.contains($0) }, "\(shape)")
        let key = try #require(realm.schema["Shop"]).key, group = try realm.reading().group,
            table = try #require(try group.table(key))
        let bound = try BoundQuery.parse("at GEOWITHIN \(shape)", group, table.key, QueryNames(), [])
        let text = QueryPrinter(group).captured { bound.condition.write($0) }
        #expect(try self.found(text) == found, "\(text)")
    }
}

extension Seeded {
    fileprivate mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    fileprivate mutating func place() -> GeoPlace {
        GeoPlace(longitude: fraction() * 360 - 180, latitude: fraction() * 180 - 90)
    }
}

private func text(_ p: GeoPlace) -> String { "[\(p.longitude), \(p.latitude)]" }

/// A plane that touches the globe at a place: lines of the globe are straight on it.
private struct Plane {
    let centre, east, north: GeoVector

    init(_ place: GeoPlace) {
        let l = place.longitude * .pi / 180, p = place.latitude * .pi / 180
        centre = place.vector
        east = GeoVector(x: -sin(l), y: cos(l), z: 0)
        north = GeoVector(x: -sin(p) * cos(l), y: -sin(p) * sin(l), z: cos(p))
    }

    /// nil on the other side of the globe.
    func point(_ v: GeoVector) -> (x: Double, y: Double)? {
        let d = v.dot(centre)
        return d > 1e-6 ? (v.dot(east) / d, v.dot(north) / d) : nil
    }

    func place(_ x: Double, _ y: Double) -> GeoPlace {
        let v = GeoVector(
            x: centre.x + x * east.x + y * north.x, y: centre.y + x * east.y + y * north.y,
            z: centre.z + x * east.z + y * north.z)
        return GeoPlace(
            longitude: atan2(v.y, v.x) * 180 / .pi,
            latitude: atan2(v.z, (v.x * v.x + v.y * v.y).squareRoot()) * 180 / .pi)
    }

    /// Even or odd, and how far the nearest edge is.
    static func isInside(_ ring: [(x: Double, y: Double)], _ p: (x: Double, y: Double)) -> (Bool, Double) {
        var inside = false, nearest = Double.infinity
        for i in 0..<ring.count {
            let a = ring[i], b = ring[(i + 1) % ring.count]
            if (a.y > p.y) != (b.y > p.y), p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x { inside.toggle() }
            let dx = b.x - a.x, dy = b.y - a.y,
                t = max(0, min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy)))
            nearest = min(nearest, hypot(a.x + t * dx - p.x, a.y + t * dy - p.y))
        }
        return (inside, nearest)
    }
}

@Test(arguments: 1...8) func polygonsAgainstThePlane(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    // From a few hundred metres to a third of the globe.
    let centre = random.place(), plane = Plane(centre), size = [0.0001, 0.01, 0.5, 3][seed % 4]
    let shops = try Shops(
        (0..<150).map { i in
            i % 5 == 0
                ? random.place()
                : plane.place((random.fraction() * 3 - 1.5) * size, (random.fraction() * 3 - 1.5) * size)
        })
    for round in 0..<6 {
        let corners = 3 + random.below(9)
        var ring = (0..<corners).map { i in
            let angle = (Double(i) + random.fraction() * 0.8) / Double(corners) * 2 * .pi,
                r = size * (0.3 + 0.7 * random.fraction())
            return (x: r * cos(angle), y: r * sin(angle))
        }
        if random.below(2) == 0 { ring.reverse() }
        // Around the centre a star goes only as far as it sees itself; a hole is the same one, smaller.
        let isStar = Plane.isInside(ring, (0, 0)).0
        var rings = [ring]
        if isStar, round % 2 == 1 { rings.append(ring.map { (x: $0.x * 0.5, y: $0.y * 0.5) }) }
        func written(_ r: [(x: Double, y: Double)]) -> String {
            let places = r.map { plane.place($0.x, $0.y) }
            return "{" + (places + [places[0]]).map(text).joined(separator: ", ") + "}"
        }
        var unsure: Set<Int> = []
        var expected: [Int] = []
        for i in 0..<150 {
            let at = try places(shops, i)
            guard let p = plane.point(at.vector) else { continue }
            let sides = rings.map { Plane.isInside($0, p) }
            if sides.contains(where: { $0.1 < size * 1e-7 }) { unsure.insert(i) }
            if sides[0].0, sides.count < 2 || !sides[1].0 { expected.append(i) }
        }
        try shops.verify(
            "geoPolygon(\(rings.map(written).joined(separator: ", ")))", expected, unsure: unsure, "\(seed) \(round)")
    }
}

private func places(_ shops: Shops, _ i: Int) throws -> GeoPlace {
    let shop = try #require(try shops.realm.object("Shop", primaryKey: .int(Int64(i))))
    let c = try #require(try shop.object("at")).get("coordinates", as: [Double].self)
    return GeoPlace(longitude: c[0], latitude: c[1])
}

@Test(arguments: 1...4) func circlesAndBoxesAgainstFormulas(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let all = (0..<120).map { _ in random.place() }, shops = try Shops(all)
    for _ in 0..<8 {
        let c = random.place(), radius = random.fraction() * [0.1, 1, 3.2][random.below(3)]
        func haversine(_ p: GeoPlace) -> Double {
            let a = p.latitude * .pi / 180, b = c.latitude * .pi / 180
            let s = sin((b - a) / 2), t = sin((c.longitude - p.longitude) * .pi / 360)
            return 2 * asin(min(1, (s * s + cos(a) * cos(b) * t * t).squareRoot()))
        }
        try shops.verify(
            "geoCircle(\(text(c)), \(radius))", all.indices.filter { haversine(all[$0]) <= radius }, "circle")
        let a = random.place(), b = random.place()
        let low = GeoPlace(longitude: a.longitude, latitude: min(a.latitude, b.latitude)),
            high = GeoPlace(longitude: b.longitude, latitude: max(a.latitude, b.latitude))
        // East of the left side by no more than the box is wide.
        func turn(_ d: Double) -> Double { d < 0 ? d + 360 : d }
        let inBox = all.indices.filter { i in
            all[i].latitude >= low.latitude && all[i].latitude <= high.latitude
                && turn(all[i].longitude - low.longitude) <= turn(high.longitude - low.longitude)
        }
        try shops.verify("geoBox(\(text(low)), \(text(high)))", inBox, "box")
    }
}

@Test func placesThatAreNone() throws {
    let shops = try Shops([GeoPlace(longitude: 1, latitude: 1)]), realm = shops.realm
    try realm.write {
        func place(_ type: String, _ c: Double...) -> RealmValue {
            ["type": .string(type), "coordinates": .list(c.map { .double($0) })]
        }
        let odd = [
            place("Polygon", 1, 1), place("poINT", 1, 1), place("Point", 1), place("Point"), place("Point", 1, 91),
            place("Point", 181, 1),
            place("Point", .nan, 1), .null,
        ]
        for (i, p) in odd.enumerated() { try realm.create("Shop", ["id": .int(Int64(i + 1)), "at": p]) }
        try realm.create(
            "Shop",
            ["id": 100, "at": place("Point", 1, 1, 250), "many": .list([place("Point", 1, 1), place("Point", 50, 1)])])
        try realm.create("Shop", ["id": 101, "many": .list([place("Point", 1, 1)])])
    }
    let shape = "geoCircle([1, 1], 0.01)"
    #expect(try shops.found("at GEOWITHIN \(shape)") == [0, 2, 100], "letters of any case")
    #expect(try shops.found("at geowithin GEOCIRCLE([1, 1, 300], 4)") == [0, 2, 100], "heights count for nothing")
    #expect(
        try shops.found("many GEOWITHIN \(shape)") == [100, 101]
            && shops.found("ANY many GEOWITHIN \(shape)") == [100, 101])
    #expect(try shops.found("ALL many GEOWITHIN \(shape) AND many.@count > 0") == [101])
    #expect(try shops.found("NONE many GEOWITHIN \(shape) AND id > 99") == [])
    #expect(try shops.found("at GEOWITHIN geoCircle([$0, $1], $2)", .int(1), .double(1), .double(0.01)) == [0, 2, 100])
}

@Test(arguments: [
    ("top GEOWITHIN geoCircle([1, 1], 1)", RealmError.Code.invalidQuery, "'Shop' is at the top level"),
    (
        "odd GEOWITHIN geoCircle([0, 0], 10)", .invalidQuery,
        "Query 'odd GEOWITHIN GeoCircle([0, 0, 0], 10)' links to data in the wrong format"
    ),
    ("id GEOWITHIN geoCircle([1, 1], 1)", .invalidQuery, "needs a link"),
    ("at GEOWITHIN geoCircle([1, 1], -1)", .invalidQuery, "radius"),
    ("at GEOWITHIN geoCircle([181, 1], 1)", .invalidQuery, "out of bounds, lng: 181.0 lat: 1.0"),
    ("at GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1]})", .invalidQuery, "not closed"),
    ("at GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 0], [1, 1], [0, 0]})", .invalidQuery, "degenerate"),
    ("at GEOWITHIN geoPolygon({[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]})", .invalidQuery, "Edges 0 and 2 cross"),
    (
        "at GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]}, {[2, 2], [3, 2], [3, 3], [2, 3], [2, 2]})",
        .invalidQuery,
        "Secondary ring 1 not contained"
    ),
    ("at GEOWITHIN geoCircle([1], 1)", .invalidQueryString, "Invalid predicate"),
    ("at GEOWITHIN geoCircle([1, 1])", .invalidQueryString, "Invalid predicate"),
    ("at GEOWITHIN geoPolygon()", .invalidQueryString, "Invalid predicate"),
    ("at GEOWITHIN 'x'", .invalidQueryString, "Invalid predicate"),
    ("at GEOWITHIN", .invalidQueryString, "Invalid predicate"),
    ("1 GEOWITHIN geoCircle([1, 1], 1)", .invalidQuery, "needs a link"),
    ("at GEOWITHIN geoBox([1, 1], [1, 1]) extra", .invalidQueryString, "Invalid predicate"),
]) func shapesThatAreRefused(query: String, code: RealmError.Code, words: String) throws {
    let shops = try Shops([])
    do {
        _ = try shops.found(query)
        Issue.record("\(query) was accepted")
    } catch let error as RealmError {
        #expect(error.code == code && error.message.contains(words), "\(error)")
    }
}

@Test func polygonsOfTooManyCorners() throws {
    let shops = try Shops([])
    let ring = (0...5000).map { "[\(Double($0 % 5000) / 100), \($0 % 5000 < 2500 ? 1 : 2)]" }.joined(separator: ", ")
    #expect(throws: RealmError.self) { try shops.found("at GEOWITHIN geoPolygon({\(ring)})") }
}

/// Rings that enclose nothing, or do not say what, are refused; a place opposite to a corner is decided like any other.
@Test func ringsThatEncloseNothing() throws {
    func ring(_ corners: [(Double, Double)]) -> [GeoPlace] { corners.map { GeoPlace(longitude: $0.0, latitude: $0.1) } }
    let none: [[(Double, Double)]] = [
        [(0, 0), (10, 0), (20, 0), (0, 0)], [(12.5, 55.60), (12.5, 55.65), (12.5, 55.70), (12.5, 55.60)],
        [(0, 0), (90, 0), (180, 0), (-90, 0), (0, 0)], [(0, 0), (180, 0), (90, 45), (0, 0)],
        [(0, 90), (0, -90), (40, 0), (0, 90)],
        [(10, 20), (10, 20.000000000000004), (10.000000000000002, 20), (10, 20)],
        [(0, 0), (10, 10), (0, 0), (5, 5), (0, 0)],
    ]
    for corners in none {
        #expect(throws: RealmError.self, "\(corners)") { _ = try GeoShape(.polygon([ring(corners)])) }
    }
    let triangle = try GeoShape(.polygon([ring([(12, 55), (13, 55), (12, 56), (12, 55)])]))
    for (x, y, isIn) in [
        (12.3, 55.3, true), (12.0, 55.0, true), (12.5, 55.0, false), (12, 55.5, true), (-168, -55, false),
        (-167, -55, false),
        (-168, -56, false), (0, 90, false), (0, -90, false), (12, -55, false), (192 - 360, 55, false),
    ] {
        // The middle of the southern edge lies north of its parallel.
        #expect(triangle.contains(GeoPlace(longitude: x, latitude: y)) == isIn, "\(x) \(y)")
    }
    let box = try GeoShape(.box(GeoPlace(longitude: 170, latitude: 0), GeoPlace(longitude: 180, latitude: 10)))
    #expect(box.contains(GeoPlace(longitude: -180, latitude: 5)) && box.contains(GeoPlace(longitude: 180, latitude: 5)))
    #expect(!box.contains(GeoPlace(longitude: -179, latitude: 5)))
    #expect(throws: RealmError.self) {
        _ = try GeoShape(.box(GeoPlace(longitude: 0, latitude: 10), GeoPlace(longitude: 10, latitude: 0)))
    }
    let all = try GeoShape(.circle(GeoPlace(longitude: 0, latitude: 0), radius: .infinity))
    #expect(all.contains(GeoPlace(longitude: 180, latitude: 0)) && !all.text.contains("inf"))
}
