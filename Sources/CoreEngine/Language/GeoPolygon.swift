/// A ring on the globe. It divides the globe into two parts; the smaller part is its inside, in whichever direction the
/// ring runs.
struct GeoRing {
    /// The places without the last one, which repeats the first.
    let places: [GeoPlace]
    private let corners: [GeoVector]
    private let isInsideLeft: Bool

    /// - Throws: a description of the error.
    init(_ closed: [GeoPlace], number: Int) throws(GeoShape.Invalid) {
        guard closed.first == closed.last, closed.count >= 4 else {
            throw GeoShape.Invalid(what: "Ring \(number) is not closed, or has less than three corners")
        }
        places = Array(closed.dropLast())
        corners = places.map(\.vector)
        var area = 0.0
        for i in 1..<corners.count - 1 { area += GeoVector.area(corners[0], corners[i], corners[i + 1]) }
        area = area.remainder(dividingBy: 4 * .pi)
        isInsideLeft = (area < 0 ? area + 4 * .pi : area) <= 2 * .pi
        try verify(number)
    }

    var count: Int { places.count }

    private func next(_ i: Int) -> Int { i + 1 == count ? 0 : i + 1 }

    func edge(_ i: Int) -> (from: GeoVector, to: GeoVector) { (corners[i], corners[next(i)]) }

    /// Both ends of an edge, regardless of its direction.
    func edgePlaces(_ i: Int) -> Set<GeoPlace> { [places[i], places[next(i)]] }

    private func verify(_ number: Int) throws(GeoShape.Invalid) {
        func invalid(_ what: String) -> GeoShape.Invalid {
            GeoShape.Invalid(what: "Ring \(number) is not valid: '\(what)'")
        }
        for i in 0..<count where places[i] == places[next(i)] {
            throw invalid("Edge \(i) is degenerate (duplicate vertex)")
        }
        var seen: [GeoVector.Rounded: Int] = [:]
        for i in 0..<count {
            if let earlier = seen.updateValue(i, forKey: corners[i].rounded) {
                throw invalid("Corners \(earlier) and \(i) are the same place")
            }
            if corners[i].isOpposite(corners[next(i)]) {
                throw invalid("Edge \(i) leads to the opposite place of the globe")
            }
        }
        guard corners.contains(where: { GeoVector.side(corners[0], corners[1], $0) != 0 }) else {
            throw invalid("All corners lie on one line")
        }
        for i in 0..<count {
            for j in i + 1..<count where j != next(i) && next(j) != i {
                let (a, b) = edge(i), (c, d) = edge(j)
                guard GeoVector.cross(a, b, c, d) == true else { continue }
                func shown(_ i: Int) -> String { "\(places[i].shownFixed)-\(places[next(i)].shownFixed)" }
                throw invalid("Edges \(i) and \(j) cross. Edge locations in degrees: \(shown(i)) and \(shown(j))")
            }
        }
    }

    /// Whether a point lies inside; nil if it lies on an edge.
    ///
    /// A line from a point of any edge to the tested point starts on a known side of the ring, and changes the side at
    /// each other edge that it crosses. If the line goes through a corner, another line is tried.
    func contains(_ point: GeoVector) -> Bool? {
        if (0..<count).contains(where: { isOn(edge($0), point) }) { return nil }
        for share in [0.5, 0.37, 0.71, 0.19] {
            for edgeIndex in 0..<count {
                let (from, to) = edge(edgeIndex), side = GeoVector.side(from, to, point)
                guard side != 0, let start = from.between(to, share),
                    let crossings = crossings(from: start, to: point, without: edgeIndex)
                else { continue }
                return ((side > 0) != (crossings % 2 == 1)) == isInsideLeft
            }
        }
        // Rounding hides the answer: the ring is too small, or the point too near to it.
        return false
    }

    private func isOn(_ edge: (from: GeoVector, to: GeoVector), _ point: GeoVector) -> Bool {
        guard GeoVector.side(edge.from, edge.to, point) == 0, let middle = edge.from.between(edge.to, 0.5) else {
            return false
        }
        return middle.dot(point) >= middle.dot(edge.from) - 4e-16
    }

    private func crossings(from start: GeoVector, to point: GeoVector, without skipped: Int) -> Int? {
        var crossed = 0
        for index in 0..<count where index != skipped {
            let (from, to) = edge(index)
            // An edge that ends opposite to the point cannot cross the line: their great circles meet only in these two
            // places.
            if from.isOpposite(point) || to.isOpposite(point) { continue }
            guard let crosses = GeoVector.cross(start, point, from, to) else { return nil }
            if crosses { crossed += 1 }
        }
        return crossed
    }

    func crosses(_ other: GeoRing) -> Bool {
        for i in 0..<count {
            let (a, b) = edge(i)
            for j in 0..<other.count {
                let (c, d) = other.edge(j)
                if GeoVector.cross(a, b, c, d) == true { return true }
            }
        }
        return false
    }

    /// Whether another ring lies inside, without touching this one.
    func contains(_ other: GeoRing) -> Bool { other.corners.allSatisfy { contains($0) == true } && !crosses(other) }
}

/// A polygon: a ring with holes.
struct GeoPolygon {
    /// Maximum number of corners of all rings together. Checking for crossing edges compares all pairs of edges.
    static let maxCorners = 4096
    private let outer: GeoRing
    private let holes: [GeoRing]

    init(_ rings: [[GeoPlace]]) throws(GeoShape.Invalid) {
        guard rings.reduce(0, { $0 + $1.count }) <= Self.maxCorners else {
            throw GeoShape.Invalid(what: "A polygon has at most \(Self.maxCorners) corners")
        }
        var all: [GeoRing] = []
        for (i, places) in rings.enumerated() { all.append(try GeoRing(places, number: i)) }
        guard let first = all.first else { throw GeoShape.Invalid(what: "A polygon has at least one ring") }
        (outer, holes) = (first, Array(all.dropFirst()))
        try Self.verifyEdges(all)
        try verifyHoles()
    }

    private static func verifyEdges(_ rings: [GeoRing]) throws(GeoShape.Invalid) {
        var seen: [Set<GeoPlace>: (ring: Int, edge: Int)] = [:]
        for (ringIndex, ring) in rings.enumerated() {
            for edgeIndex in 0..<ring.count {
                if let other = seen.updateValue((ringIndex, edgeIndex), forKey: ring.edgePlaces(edgeIndex)) {
                    throw GeoShape.Invalid(
                        what:
                            "Polygon isn't valid: 'Duplicate edge: ring \(ringIndex), edge \(edgeIndex) and ring \(other.ring), edge \(other.edge)'"
                    )
                }
            }
        }
    }

    private func verifyHoles() throws(GeoShape.Invalid) {
        for (i, hole) in holes.enumerated() where !outer.contains(hole) {
            throw GeoShape.Invalid(
                what:
                    "Secondary ring \(i + 1) not contained by first exterior ring - secondary rings must be holes in the first ring"
            )
        }
        for (i, hole) in holes.enumerated() {
            for (j, other) in holes.enumerated() where i != j {
                if hole.contains(other) {
                    throw GeoShape.Invalid(what: "Polygon interior rings cannot be nested: \(j + 1)")
                }
                if i < j, hole.crosses(other) {
                    throw GeoShape.Invalid(what: "Polygon isn't valid: 'Rings \(i + 1) and \(j + 1) cross'")
                }
            }
        }
    }

    /// Whether a point lies in the polygon. All edges belong to it, also those of holes.
    func contains(_ point: GeoVector) -> Bool {
        (outer.contains(point) ?? true) && !holes.contains { $0.contains(point) == true }
    }
}
