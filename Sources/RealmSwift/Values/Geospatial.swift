/// Shapes on the globe, for `geoWithin`: `places.where { $0.location.geoWithin(GeoCircle(center: (55.6, 12.5), radius:
/// .kilometers(5)!)!) }`.
///
/// The engine decides what lies in them: `docs/query-language.md`, section 13. What it refuses (a ring that crosses
/// itself, a hole outside) is misuse.

/// A place. Nothing but an argument of queries: what is stored is an embedded object with `type` and `coordinates`.
public struct GeoPoint: Hashable, Sendable {
    public let latitude: Double
    public let longitude: Double

    /// Kept, and used by no query.
    public let altitude: Double

    /// nil for what is no place: latitudes beyond ±90, longitudes beyond ±180, altitudes below 0.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard abs(latitude) <= 90, abs(longitude) <= 180, altitude >= 0 else { return nil }
        (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
    }

    fileprivate init?(_ pair: (Double, Double)) { self.init(latitude: pair.0, longitude: pair.1) }
    fileprivate var text: String { "[\(longitude), \(latitude)]" }
}

/// What a place may lie in.
public protocol _Geospatial: Sendable {
    /// As the query language writes it.
    var _rlmText: String { get }
}

/// A rectangle between two corners.
public struct GeoBox: Hashable, _Geospatial {
    public let bottomLeft: GeoPoint
    public let topRight: GeoPoint

    public init(bottomLeft: GeoPoint, topRight: GeoPoint) { (self.bottomLeft, self.topRight) = (bottomLeft, topRight) }

    /// Corners as latitude and longitude; nil where one is no place.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let a = GeoPoint(bottomLeft), let b = GeoPoint(topRight) else { return nil }
        self.init(bottomLeft: a, topRight: b)
    }

    public var _rlmText: String { "geoBox(\(bottomLeft.text), \(topRight.text))" }
}

/// A polygon, which may have holes. A ring has at least three corners, and its last point is its first.
public struct GeoPolygon: Hashable, _Geospatial {
    public let outerRing: [GeoPoint]
    public let holes: [[GeoPoint]]

    /// nil where a ring is none.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
        guard ([outerRing] + holes).allSatisfy({ $0.count >= 4 && $0.first == $0.last }) else { return nil }
        (self.outerRing, self.holes) = (outerRing, holes)
    }

    public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) { self.init(outerRing: outerRing, holes: holes) }

    /// Points as latitude and longitude.
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

/// How far two places lie apart on the globe.
public struct Distance: Hashable, Sendable {
    private static let earthRadiusInMeters = 6_378_100.0
    private static let metersOfMile = 1609.344

    /// As an angle at the centre of the globe.
    public let radians: Double

    private init?(_ radians: Double) {
        guard radians >= 0 else { return nil }
        self.radians = radians
    }

    /// nil for less than nothing.
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

/// A circle around a place.
public struct GeoCircle: Hashable, _Geospatial {
    public let center: GeoPoint
    public let radiusInRadians: Double

    /// nil for a radius below 0.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        (self.center, self.radiusInRadians) = (center, radiusInRadians)
    }

    public init?(center: GeoPoint, radius: Distance) { self.init(center: center, radiusInRadians: radius.radians) }

    /// The centre as latitude and longitude.
    public init?(center: (Double, Double), radiusInRadians: Double) {
        guard let place = GeoPoint(center) else { return nil }
        self.init(center: place, radiusInRadians: radiusInRadians)
    }

    public init?(center: (Double, Double), radius: Distance) {
        self.init(center: center, radiusInRadians: radius.radians)
    }

    public var _rlmText: String { "geoCircle(\(center.text), \(radiusInRadians))" }
}

extension Query where T: OptionalProtocol, T.Wrapped: EmbeddedObject {
    /// Whether the place of an embedded object lies in a shape.
    public func geoWithin(_ value: some _Geospatial) -> Query<Bool> { compared("IN", value) }
}
