internal import CoreEngine

/// Shapes on the globe, for `geoWithin`: `places.where { $0.location.geoWithin(GeoCircle(center: (55.6, 12.5), radius:
/// .kilometers(5)!)!) }`.
///
/// The engine decides which points are inside a shape: see `docs/query-language.md`, section 13. A shape that the
/// engine refuses (a ring that crosses itself, a hole outside of the ring) is misuse.

/// A point on the globe. It is used only as an argument of queries. Points are stored as embedded objects with the
/// properties `type` and `coordinates`.
public struct GeoPoint: Hashable, Sendable {
    public let latitude: Double
    public let longitude: Double

    /// The altitude. It is stored in the value, but queries do not use it.
    public let altitude: Double

    /// Creates a point. Returns nil if the latitude is beyond ±90, the longitude is beyond ±180, or the altitude is
    /// below 0.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard abs(latitude) <= 90, abs(longitude) <= 180, altitude >= 0 else { return nil }
        (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
    }

    fileprivate init?(_ pair: (Double, Double)) { self.init(latitude: pair.0, longitude: pair.1) }
    fileprivate var text: String { "[\(longitude), \(latitude)]" }
}

/// A shape on the globe.
public protocol _Geospatial: Sendable {
    /// The shape in the query language.
    var _rlmText: String { get }
}

/// A rectangle between two corners.
public struct GeoBox: Hashable, _Geospatial {
    public let bottomLeft: GeoPoint
    public let topRight: GeoPoint

    public init(bottomLeft: GeoPoint, topRight: GeoPoint) { (self.bottomLeft, self.topRight) = (bottomLeft, topRight) }

    /// Creates a rectangle from corners with latitude and longitude. Returns nil if one of them is not a valid point.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let a = GeoPoint(bottomLeft), let b = GeoPoint(topRight) else { return nil }
        self.init(bottomLeft: a, topRight: b)
    }

    public var _rlmText: String { "geoBox(\(bottomLeft.text), \(topRight.text))" }
}

/// A polygon, optionally with holes. A ring has at least three corners, and its last point is equal to its first.
public struct GeoPolygon: Hashable, _Geospatial {
    public let outerRing: [GeoPoint]
    public let holes: [[GeoPoint]]

    /// Creates a polygon. Returns nil if a ring is invalid.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
        guard ([outerRing] + holes).allSatisfy({ $0.count >= 4 && $0.first == $0.last }) else { return nil }
        (self.outerRing, self.holes) = (outerRing, holes)
    }

    public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) { self.init(outerRing: outerRing, holes: holes) }

    /// Creates a polygon from points with latitude and longitude. Returns nil if a point or a ring is invalid.
    public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
        let rings = ([outerRing] + holes).map { $0.compactMap { GeoPoint($0) } }
        guard zip(rings, [outerRing] + holes).allSatisfy({ $0.count == $1.count }) else { return nil }
        self.init(outerRing: rings[0], holes: Array(rings.dropFirst()))
    }

    public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
        self.init(outerRing: outerRing, holes: holes)
    }

    public var _rlmText: String {
        "geoPolygon("
            + ([outerRing] + holes).map { "{" + $0.map(\.text).joined(separator: ", ") + "}" }.joined(separator: ", ")
            + ")"
    }
}

/// A distance between two points on the globe.
public struct Distance: Hashable, Sendable {
    private static let earthRadiusInMeters = 6_378_100.0
    private static let metersOfMile = 1609.344

    /// The distance as an angle at the centre of the globe, in radians.
    public let radians: Double

    private init?(_ radians: Double) {
        guard radians >= 0 else { return nil }
        self.radians = radians
    }

    /// Returns a distance; nil for a negative value.
    public static func radians(_ radians: Double) -> Distance? { Distance(radians) }

    public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees * .pi / 180) }

    public static func kilometers(_ kilometers: Double) -> Distance? {
        Distance(kilometers * 1000 / earthRadiusInMeters)
    }

    public static func miles(_ miles: Double) -> Distance? { Distance(miles * metersOfMile / earthRadiusInMeters) }

    public func asDegrees() -> Double { radians * 180 / .pi }

    public func asKilometers() -> Double { radians * Self.earthRadiusInMeters / 1000 }

    public func asMiles() -> Double { radians * Self.earthRadiusInMeters / Self.metersOfMile }
}

/// A circle around a point.
public struct GeoCircle: Hashable, _Geospatial {
    public let center: GeoPoint
    public let radiusInRadians: Double

    /// Creates a circle. Returns nil for a negative radius.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        (self.center, self.radiusInRadians) = (center, radiusInRadians)
    }

    public init?(center: GeoPoint, radius: Distance) { self.init(center: center, radiusInRadians: radius.radians) }

    /// Creates a circle around a centre with latitude and longitude. Returns nil if the centre or the radius is
    /// invalid.
    public init?(center: (Double, Double), radiusInRadians: Double) {
        guard let place = GeoPoint(center) else { return nil }
        self.init(center: place, radiusInRadians: radiusInRadians)
    }

    public init?(center: (Double, Double), radius: Distance) {
        self.init(center: center, radiusInRadians: radius.radians)
    }

    public var _rlmText: String { "geoCircle(\(center.text), \(radiusInRadians))" }
}

extension GeoPoint {
    fileprivate var syntax: GeoPlaceSyntax {
        GeoPlaceSyntax(longitude: .given(.value(.double(longitude))), latitude: .given(.value(.double(latitude))))
    }
}

extension _Geospatial {
    /// The shape as the engine's syntax tree.
    var syntax: GeoSyntax {
        switch self {
        case let box as GeoBox: .box(box.bottomLeft.syntax, box.topRight.syntax)
        case let circle as GeoCircle: .circle(circle.center.syntax, .given(.value(.double(circle.radiusInRadians))))
        case let polygon as GeoPolygon: .polygon(([polygon.outerRing] + polygon.holes).map { $0.map(\.syntax) })
        default: misuse("A shape is a GeoBox, a GeoCircle or a GeoPolygon, and no \(type(of: self))")
        }
    }
}

extension Query where T: OptionalProtocol, T.Wrapped: EmbeddedObject {
    /// Returns a condition that is true if the point of an embedded object is inside a shape.
    public func geoWithin(_ value: some _Geospatial) -> Query<Bool> { compared(.in, value) }
}
