/// A place on the globe in degrees, the form used by queries and objects.
struct GeoPlace: Hashable {
    let longitude: Double
    let latitude: Double
    var altitude = 0.0

    /// Whether the degrees are in range.
    var isValid: Bool { abs(longitude) <= 180 && abs(latitude) <= 90 }

    /// The same place as a point of the unit sphere.
    var vector: GeoVector {
        let phi = latitude * .pi / 180, lambda = longitude * .pi / 180
        return GeoVector(
            x: CNumbers.cosine(phi) * CNumbers.cosine(lambda), y: CNumbers.cosine(phi) * CNumbers.sine(lambda),
            z: CNumbers.sine(phi))
    }
}

/// A point of the unit sphere. The line between two points is the shorter part of their great circle.
struct GeoVector {
    let x, y, z: Double

    static func - (a: Self, b: Self) -> Self { Self(x: a.x - b.x, y: a.y - b.y, z: a.z - b.z) }

    func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: Self) -> Self {
        Self(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }
    var length: Double { dot(self).squareRoot() }

    /// The angle to another point in radians, precise also for the smallest and the largest angles.
    func distance(to other: Self) -> Double { CNumbers.angle(y: cross(other).length, x: dot(other)) }

    /// The point at a fraction (0 … 1) of the line to another point; nil for opposite points, which have no unique
    /// line.
    func between(_ other: Self, _ share: Double) -> Self? {
        let rest = 1 - share,
            sum = Self(x: x * rest + other.x * share, y: y * rest + other.y * share, z: z * rest + other.z * share),
            norm = sum.length
        return norm > 1e-9 ? Self(x: sum.x / norm, y: sum.y / norm, z: sum.z / norm) : nil
    }

    func isOpposite(_ other: Self) -> Bool {
        abs(x + other.x) < 1e-12 && abs(y + other.y) < 1e-12 && abs(z + other.z) < 1e-12
    }

    /// Coordinates in steps of 1e-12 (a few micrometres on the globe), so that points this close are equal.
    struct Rounded: Hashable { let x, y, z: Double }

    var rounded: Rounded {
        Rounded(x: (x * 1e12).rounded() + 0, y: (y * 1e12).rounded() + 0, z: (z * 1e12).rounded() + 0)
    }

    /// Six times the volume of the tetrahedron of the centre and three points. Computed from differences, which keeps
    /// points that are close together distinct.
    static func volume(_ a: Self, _ b: Self, _ c: Self) -> Double { a.dot((b - a).cross(c - a)) }

    /// The side of the line from `a` to `b` on which `c` lies: 1 left, −1 right, 0 if rounding hides it.
    static func side(_ a: Self, _ b: Self, _ c: Self) -> Int {
        let toB = b - a, toC = c - a, volume = a.dot(toB.cross(toC))
        guard abs(volume) > 4e-16 * max(toB.length, toC.length) else { return 0 }
        return volume > 0 ? 1 : -1
    }

    /// Whether the lines from `a` to `b` and from `c` to `d` cross; nil if one of them goes through an end of the
    /// other, within rounding.
    static func cross(_ a: Self, _ b: Self, _ c: Self, _ d: Self) -> Bool? {
        let abc = side(a, b, c), abd = side(a, b, d)
        if abc != 0, abc == abd { return false }
        let cda = side(c, d, a), cdb = side(c, d, b)
        if cda != 0, cda == cdb { return false }
        // With equal sides, one line crosses the great circle of the other on the far side of the globe.
        if abc != 0, cda != 0, abc == cda { return false }
        return abc == 0 || abd == 0 || cda == 0 || cdb == 0 ? nil : true
    }

    /// The signed area of a triangle: positive if its corners run counterclockwise.
    static func area(_ a: Self, _ b: Self, _ c: Self) -> Double {
        2 * CNumbers.angle(y: volume(a, b, c), x: 1 + a.dot(b) + b.dot(c) + c.dot(a))
    }
}
