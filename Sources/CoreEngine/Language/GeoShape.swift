/// A shape that can contain places: the right side of GEOWITHIN. Rules: query-language §13.
struct GeoShape {
    /// The shape as written in the query.
    enum Form {
        case box(GeoPlace, GeoPlace)
        case circle(GeoPlace, radius: Double)
        case polygon([[GeoPlace]])
    }

    /// Describes why a shape is invalid.
    struct Invalid: Error { let what: String }

    let form: Form
    private let centre: GeoVector?
    private let polygon: GeoPolygon?

    init(_ form: Form) throws(RealmError) {
        self.form = form
        do throws(Invalid) {
            for place in Self.places(form) where !place.isValid {
                throw Invalid(
                    what: "Longitude/latitude is out of bounds, lng: \(place.longitude) lat: \(place.latitude)")
            }
            if case .box(let low, let high) = form, low.latitude > high.latitude {
                throw Invalid(what: "Invalid rectangle")
            }
            centre = if case .circle(let place, _) = form { place.vector } else { nil }
            polygon = if case .polygon(let rings) = form { try GeoPolygon(rings) } else { nil }
            if case .circle(_, let radius) = form, !(radius >= 0) {
                throw Invalid(what: "The radius of a circle must be a non-negative number")
            }
        } catch {
            throw .query(
                "Invalid region in GEOWITHIN query for parameter '\(Self.text(form) { $0.shownShort })': '\(error.what)'"
            )
        }
    }

    private static func places(_ form: Form) -> [GeoPlace] {
        switch form {
        case .box(let low, let high): [low, high]
        case .circle(let place, _): [place]
        case .polygon(let rings): rings.flatMap { $0 }
        }
    }

    func contains(_ place: GeoPlace) -> Bool {
        guard place.isValid else { return false }
        switch form {
        case .box(let low, let high):
            guard place.latitude >= low.latitude, place.latitude <= high.latitude else { return false }
            // A box whose left side is east of its right side crosses the date line.
            func isBetween(_ longitude: Double) -> Bool {
                let isEast = longitude >= low.longitude, isWest = longitude <= high.longitude
                return low.longitude <= high.longitude ? isEast && isWest : isEast || isWest
            }
            // 180 degrees east and 180 degrees west are the same meridian.
            return isBetween(place.longitude) || abs(place.longitude) == 180 && isBetween(-place.longitude)
        case .circle(_, let radius): return centre.map { place.vector.distance(to: $0) <= radius } ?? false
        case .polygon: return polygon?.contains(place.vector) ?? false
        }
    }

    // MARK: Text

    /// Text that parses to the same shape.
    var text: String { Self.text(form) { $0.shown } }

    private static func text(_ form: Form, _ number: (Double) -> String) -> String {
        func point(_ place: GeoPlace) -> String {
            "[\(number(place.longitude)), \(number(place.latitude)), \(number(place.altitude))]"
        }
        switch form {
        case .box(let low, let high): return "GeoBox(\(point(low)), \(point(high)))"
        case .circle(let place, let radius):
            return "GeoCircle(\(point(place)), \(number(radius.isFinite ? radius : 4)))"
        case .polygon(let rings):
            return "GeoPolygon("
                + rings.map { "{" + $0.map(point).joined(separator: ", ") + "}" }.joined(separator: ", ") + ")"
        }
    }
}

extension Double {
    /// With as many digits as needed; whole numbers have no point.
    fileprivate var shown: String { description.hasSuffix(".0") ? String(description.dropLast(2)) : description }

    /// With six digits, for error messages.
    fileprivate var shownShort: String {
        let size = abs(self)
        guard size >= 1e-4, size < 1e6 else { return shown }
        var scale = 1.0
        while size * scale < 1e5 { scale *= 10 }
        return ((self * scale).rounded() / scale).shown
    }
}

extension GeoPlace {
    /// Latitude and longitude with seven digits after the point.
    var shownFixed: String {
        func fixed(_ degrees: Double) -> String {
            // Cannot overflow: valid degrees are at most 180.
            let scaled = Int64((abs(degrees) * 1e7).rounded()), rest = String(scaled % 10_000_000)
            return (degrees < 0 ? "-" : "") + "\(scaled / 10_000_000)." + String(repeating: "0", count: 7 - rest.count)
                + rest
        }
        return "[\(fixed(latitude)), \(fixed(longitude))]"
    }
}
