/// Values: constants, paths, functions, arithmetic and subqueries. Grammar: query-language §3.
extension QueryParser {
    /// Parses one operand of a comparison or of arithmetic.
    mutating func value() throws(RealmError) -> ExpressionSyntax {
        var quantifier: Quantifier?
        switch kind {
        case .any: quantifier = .any
        case .all: quantifier = .all
        case .none: quantifier = Quantifier.none
        default: break
        }
        if quantifier != nil {
            at += 1
            if kind == .openBrace { return .list(try list(), quantifier) }
            if kind == .argument || kind == .nextArgument { return .constant(try constant(), quantifier) }
            return try property(quantifier)
        }
        switch kind {
        case .openBrace: return .list(try list(), nil)
        case .subquery: return try subquery()
        case .identifier where ahead(1) == .openParen && !namesColumns: return try part()
        case .binary where ahead(1) != .openParen: return try property(nil)
        case .null, .infinity, .nan, .natural, .number, .float, .timestamp, .uuid, .objectId, .link, .argument,
            .nextArgument, .base64, .string,
            .true,
            .false, .obj, .binary:
            return .constant(try constant(), nil)
        default: return try property(nil)
        }
    }

    /// Parses a path and the operation that may follow it: a size, a type or an aggregate.
    private mutating func property(_ quantifier: Quantifier?) throws(RealmError) -> ExpressionSyntax {
        let steps = try path()
        if kind == .openBracket, ahead(1) == .size, ahead(2) == .closeBracket {
            at += 3
            return .path(steps, quantifier, .size)
        }
        guard kind == .dot else { return .path(steps, quantifier, .value) }
        switch ahead(1) {
        case .count:
            at += 2
            return .path(steps, quantifier, .size)
        case .type:
            at += 2
            return .path(steps, quantifier, .type)
        case let other:
            guard let op = AggregateKind(other), quantifier == nil else { throw unexpected() }
            at += 2
            var name: Name?
            if take(.dot) {
                guard let step = try nameStep(), case .name(let text) = step else { throw unexpected() }
                name = text
            }
            return .aggregate(steps, op, property: name)
        }
    }

    /// Parses `SUBQUERY(path, $variable, condition).@count`.
    private mutating func subquery() throws(RealmError) -> ExpressionSyntax {
        at += 1
        subqueries += 1
        defer { subqueries -= 1 }
        guard subqueries <= QueryLimits.maxSubqueries else {
            throw RealmError.querySyntax(text, "subqueries nested too deeply", at: token.start)
        }
        try expect(.openParen, "'('")
        let steps = try path()
        try expect(.comma, "','")
        guard kind == .identifier else { throw unexpected() }
        let variable = Name(spelling(token))
        guard variable.hasPrefix("$"), variable.utf8.count > 1 else {
            throw RealmError.querySyntax(text, "the variable of a subquery starts with '$'", at: token.start)
        }
        at += 1
        try expect(.comma, "','")
        let condition = try predicate(until: .closeParen)
        try expect(.closeParen, "')'")
        try expect(.dot, "'.@count'")
        try expect(.count, "'@count'")
        return .subquery(steps, variable: variable, condition)
    }

    /// The name of a token, with its escaped blanks decoded.
    private func name(_ token: Token) -> Name {
        var out: [UInt8] = []
        var position = token.start
        while position < token.end {
            if bytes[position] == 0x5C, position + 1 < token.end {
                out.append(
                    bytes[position + 1] == 0x6E
                        ? 0x0A
                        : (bytes[position + 1] == 0x72
                            ? 0x0D : (bytes[position + 1] == 0x74 ? 0x09 : bytes[position + 1])))
                position += 2
            } else {
                out.append(bytes[position])
                position += 1
            }
        }
        return Name(String(decoding: out, as: UTF8.self))
    }

    /// Consumes a step that is a name, if the token is one. Many keywords are also valid names.
    private mutating func nameStep() throws(RealmError) -> PathStep? {
        let current = token
        if namesColumns, ahead(1) == .openParen, GroupFunction(named: spelling(current)) != nil {
            return .name(try call().name)
        }
        switch current.kind {
        case .identifier:
            names?.insert(at)
            at += 1
            return .name(name(current))
        case .links:
            at += 1
            return .links
        case .keys:
            at += 1
            return .keys
        case .values:
            at += 1
            return .values
        case let kind where kind.isName:
            names?.insert(at)
            at += 1
            return .name(Name(spelling(current)))
        default: return nil
        }
    }

    /// Parses a key path. Leaves a final `.` or `[SIZE]` that belongs to an operation.
    mutating func path() throws(RealmError) -> [PathStep] {
        var steps: [PathStep] = []
        if kind == .keyPathArgument || kind == .nextKeyPathArgument {
            steps.append(.pathArgument(try argumentNumber()))
        } else {
            guard let first = try nameStep() else { throw unexpected() }
            steps.append(first)
        }
        while true {
            if kind == .dot {
                at += 1
                guard let step = try nameStep() else {
                    at -= 1
                    return steps
                }
                steps.append(step)
            } else if kind == .openBracket, !(ahead(1) == .size && ahead(2) == .closeBracket) {
                at += 1
                switch kind {
                case .natural: steps.append(.index(Self.integer(spelling(token)).map { Int(clamping: $0) } ?? .max))
                case .first: steps.append(.first)
                case .last: steps.append(.last)
                case .times: steps.append(.all)
                case .string: steps.append(.key(Array(bytes[token.start + 1..<token.end - 1])))
                case .argument, .nextArgument:
                    steps.append(.argument(try argumentNumber()))
                    at -= 1
                default: throw unexpected()
                }
                at += 1
                try expect(.closeBracket, "']'")
            } else {
                return steps
            }
        }
    }

    private mutating func list() throws(RealmError) -> [ConstantSyntax] {
        try expect(.openBrace, "'{'")
        var all: [ConstantSyntax] = []
        if kind != .closeBrace && kind != .comma { all.append(try constant()) }
        while take(.comma) { all.append(try constant()) }
        try expect(.closeBrace, "'}'")
        return all
    }

    private mutating func argumentNumber() throws(RealmError) -> Int {
        let current = token
        at += 1
        switch current.kind {
        case .nextArgument, .nextKeyPathArgument:
            nextArgument += 1
            return nextArgument - 1
        case .keyPathArgument:
            return Int(String(decoding: bytes[current.start + 2..<current.end], as: UTF8.self)) ?? .max
        default: return Int(String(decoding: bytes[current.start + 1..<current.end], as: UTF8.self)) ?? .max
        }
    }

    private mutating func constant() throws(RealmError) -> ConstantSyntax {
        switch kind {
        case .argument, .nextArgument: return .argument(try argumentNumber())
        case .binary:
            at += 1
            return try binary()
        case .obj:
            at += 1
            return try object()
        default:
            let constant = try literal(token)
            at += 1
            return constant
        }
    }

    /// Parses a constant that is one token.
    private func literal(_ token: Token) throws(RealmError) -> ConstantSyntax {
        let written = spelling(token)
        switch token.kind {
        case .null: return .null
        case .true: return .true
        case .false: return .false
        case .nan: return .nan
        case .infinity: return .infinity(negative: written.hasPrefix("-"))
        case .natural, .number: return .number(written)
        case .float: return .float(written)
        case .timestamp: return .timestamp(written)
        case .uuid: return .uuid(String(written.dropFirst(5).dropLast()))
        case .objectId: return .objectId(String(written.dropFirst(4).dropLast()))
        case .link: return .link(written)
        case .string: return .string(quoted(token))
        case .base64:
            let inner = String(written.dropFirst(4).dropLast())
            guard Base64.decode(inner) != nil else {
                throw RealmError.querySyntax(text, "undecodable base64", at: token.start)
            }
            return .base64(inner)
        default: throw unexpected()
        }
    }

    /// The bytes between the quotes.
    func quoted(_ token: Token) -> [UInt8] { Array(bytes[token.start + 1..<token.end - 1]) }

    /// Parses `('text')` after the word `binary`.
    private mutating func binary() throws(RealmError) -> ConstantSyntax {
        try expect(.openParen, "'('")
        let content: [UInt8]
        if kind == .string {
            content = quoted(token)
        } else if kind == .base64, let decoded = Base64.decode(String(spelling(token).dropFirst(4).dropLast())) {
            content = decoded
        } else {
            throw unexpected()
        }
        at += 1
        try expect(.closeParen, "')'")
        return .binary(content)
    }

    /// Parses `('Class', key)` after the word `obj`.
    private mutating func object() throws(RealmError) -> ConstantSyntax {
        try expect(.openParen, "'('")
        guard kind == .string else { throw unexpected() }
        let className = quoted(token)
        at += 1
        try expect(.comma, "','")
        let key: ConstantSyntax
        switch kind {
        case .natural, .number, .string, .uuid, .objectId, .argument, .nextArgument: key = try constant()
        default: throw unexpected()
        }
        try expect(.closeParen, "')'")
        return .object(className: className, key: key)
    }
}

// MARK: Shapes

extension QueryParser {
    /// Parses a shape alone, as given in an argument.
    static func geo(_ text: String) throws(RealmError) -> GeoSyntax {
        var parser = try QueryParser(text)
        guard parser.kind != .argument, parser.kind != .nextArgument else { throw parser.unexpected() }
        let shape = try parser.geo()
        guard parser.kind == .end else { throw parser.unexpected() }
        return shape
    }

    /// Parses the right side of GEOWITHIN.
    mutating func geo() throws(RealmError) -> GeoSyntax {
        let word = kind
        if word == .argument || word == .nextArgument { return .argument(try argumentNumber()) }
        guard word == .geoBox || word == .geoCircle || word == .geoPolygon else { throw unexpected() }
        at += 1
        try expect(.openParen, "'('")
        let shape: GeoSyntax
        if word == .geoPolygon {
            var rings = [try ring()]
            while take(.comma) { rings.append(try ring()) }
            shape = .polygon(rings)
        } else {
            let first = try place()
            try expect(.comma, "','")
            shape = word == .geoBox ? .box(first, try place()) : .circle(first, try coordinate())
        }
        try expect(.closeParen, "')'")
        return shape
    }

    private mutating func ring() throws(RealmError) -> [GeoPlaceSyntax] {
        try expect(.openBrace, "'{'")
        var all = [try place()]
        while take(.comma) { all.append(try place()) }
        try expect(.closeBrace, "'}'")
        return all
    }

    private mutating func place() throws(RealmError) -> GeoPlaceSyntax {
        try expect(.openBracket, "'['")
        let longitude = try coordinate()
        try expect(.comma, "','")
        let latitude = try coordinate()
        let altitude = take(.comma) ? try coordinate() : nil
        try expect(.closeBracket, "']'")
        return GeoPlaceSyntax(longitude: longitude, latitude: latitude, altitude: altitude)
    }

    private mutating func coordinate() throws(RealmError) -> ConstantSyntax {
        switch kind {
        case .natural, .number, .float, .argument, .nextArgument: return try constant()
        default: throw unexpected()
        }
    }
}
