/// Tests whether places lie in a shape. A place is an embedded object with a string property `type`, which is "Point",
/// and a list of doubles `coordinates`: longitude, latitude, and further numbers, which are ignored. Nulls and objects
/// that are not places never match. Rules: query-language §13.
final class GeoCondition: Condition {
    private let path: PathExpression
    private let shape: GeoShape
    private let places: TableKey
    private let type: ColKey
    private let coordinates: ColKey
    private let buffer = ValueBuffer()
    private var table: Unmanaged<Table>?

    init(_ path: PathExpression, _ shape: GeoShape, in table: Table) throws(RealmError) {
        (self.path, self.shape, places) = (path, shape, table.key)
        guard let type = table.column(named: "type").flatMap({ table.facts($0.key) }), type.type == .string,
            !type.isCollection,
            let coordinates = table.column(named: "coordinates").flatMap({ table.facts($0.key) }),
            coordinates.type == .double,
            coordinates.shape == .list
        else {
            let query = QueryPrinter(table.group).captured { $0.out += Self.text(path, shape, $0) }
            throw .query("Query '\(query)' links to data in the wrong format for a geoWithin query")
        }
        (self.type, self.coordinates) = (type.key, coordinates.key)
    }

    private init(copying other: GeoCondition) {
        (path, shape, places, type, coordinates) = (
            other.path.ownPath(), other.shape, other.places, other.type, other.coordinates
        )
    }

    override func copied() -> Condition { GeoCondition(copying: self) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { found.addAnything() }

    override func text(_ printer: QueryPrinter) -> String { Self.text(path, shape, printer) }

    private static func text(_ path: PathExpression, _ shape: GeoShape, _ printer: QueryPrinter) -> String {
        "\(path.text(printer)) GEOWITHIN \(shape.text)"
    }

    override func prepare(_ group: Group) throws(RealmError) {
        try path.prepare(group)
        table = try group.table(places).map { .passUnretained($0) }
    }

    override func matches(_ table: Table, _ key: ObjKey) throws(RealmError) -> Bool {
        buffer.reset()
        try path.evaluate(table, key, buffer)
        let isAll = path.quantifier == .all
        for case .typedLink(_, let place) in buffer.values where try isInside(place) != isAll {
            return path.quantifier == nil || path.quantifier == .any
        }
        return path.quantifier == .all || path.quantifier == Quantifier.none
    }

    private func isInside(_ key: ObjKey) throws(RealmError) -> Bool {
        guard let placeTable = table?.takeUnretainedValue() else { return false }
        // Allows interruption: one row can lead to many places.
        try placeTable.test()
        guard case .string(let kind)? = try placeTable.peek(key, type), Self.isPoint(kind),
            case .slot(let slot)? = try placeTable.peek(key, coordinates),
            let facts = placeTable.facts(coordinates),
            let leaf = facts.elementKind
        else { return false }
        let list = try ElementList(
            placeTable.store, root: slot.isTagged ? .null : slot.ref, kind: leaf, target: .null, isSet: false)
        guard list.count >= 2, case .double(let longitude) = try list.get(0),
            case .double(let latitude) = try list.get(1)
        else { return false }
        return shape.contains(GeoPlace(longitude: longitude, latitude: latitude))
    }

    /// Whether the text is "Point", in letters of any case.
    private static func isPoint(_ kind: Bytes) -> Bool {
        kind.count == 5 && zip(kind, "point".utf8).allSatisfy { $0 | 0x20 == $1 }
    }
}

extension Binder {
    mutating func geoWithin(_ syntax: ExpressionSyntax, _ shape: GeoSyntax, _ table: Table) throws(RealmError)
        -> Condition
    {
        guard !Self.isConstant(syntax), let path = try expression(syntax, table) as? PathExpression,
            case .link(let target) = path.type,
            let places = try group.table(target)
        else { throw .query("GEOWITHIN needs a link to an embedded object") }
        guard places.isEmbedded else {
            throw .query(
                "A GEOWITHIN query can only operate on a link to an embedded class but '\(places.className ?? places.name)' is at the top level"
            )
        }
        return try GeoCondition(path, GeoShape(try form(shape)), in: places)
    }

    private func form(_ shape: GeoSyntax) throws(RealmError) -> GeoShape.Form {
        switch shape {
        case .argument(let index):
            guard case .value(.string(let text)) = try argument(index) else {
                throw .query("The argument of GEOWITHIN is no geospatial value")
            }
            return try form(try QueryParser.geo(String(decoding: text, as: UTF8.self)))
        case .box(let low, let high): return .box(try place(low), try place(high))
        case .circle(let center, let radius): return .circle(try place(center), radius: try number(radius))
        case .polygon(let rings):
            var all: [[GeoPlace]] = []
            for ring in rings {
                var places: [GeoPlace] = []
                for corner in ring { places.append(try place(corner)) }
                all.append(places)
            }
            return .polygon(all)
        }
    }

    private func place(_ syntax: GeoPlaceSyntax) throws(RealmError) -> GeoPlace {
        GeoPlace(
            longitude: try number(syntax.longitude), latitude: try number(syntax.latitude),
            altitude: try syntax.altitude.map { (c) throws(RealmError) in try number(c) } ?? 0)
    }

    private func number(_ constant: ConstantSyntax) throws(RealmError) -> Double {
        switch try value(constant, hint: .double).0 {
        case .double(let double): return double
        case .int(let integer): return Double(integer)
        case .float(let float): return Double(float)
        default: throw .queryArgument("A coordinate of GEOWITHIN is no number")
        }
    }
}
