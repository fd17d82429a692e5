/// The condition of a subset as a text that needs no arguments: a file stores such a text. Programs give conditions with
/// arguments, or without a text at all.
///
/// Values become constants of the query language, and names of a model those of the file. `SubsetCondition` has tested
/// what is returned.
struct SubsetText {
    private let table: Table

    /// The names that a model gives to properties.
    private let aliases: [Name: QueryNames.Alias]
    private let arguments: [QueryArgument]

    /// - Throws: as `SubsetCondition.json`.
    static func of(
        _ query: QuerySyntax, _ table: Table, _ aliases: [Name: QueryNames.Alias] = [:],
        _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> String {
        try SubsetCondition.test(query)
        let text = try SubsetText(table: table, aliases: aliases, arguments: arguments).text(query.predicate)
        _ = try SubsetCondition.json(text, table)
        return text
    }

    private func text(_ predicate: PredicateSyntax) throws(RealmError) -> String {
        switch predicate {
        case .constant(let holds): return holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): return try chain(parts, "AND", "TRUEPREDICATE")
        case .or(let parts): return try chain(parts, "OR", "FALSEPREDICATE")
        case .not(let part): return "NOT (\(try text(part)))"
        case .compare(let sign, let folding, let left, let right):
            guard folding.isEmpty else { throw SubsetCondition.foldingRefused }
            return "\(try operand(left)) \(sign.rawValue) \(try operand(right))"
        case .between(let value, let bounds, nil):
            return "\(try operand(value)) BETWEEN \(try list(bounds))"
        case .between, .geoWithin: throw SubsetCondition.refused("made of comparisons")
        }
    }

    private func chain(_ parts: [PredicateSyntax], _ word: String, _ empty: String) throws(RealmError) -> String {
        guard parts.count != 1 else { return try text(parts[0]) }
        var texts: [String] = []
        for part in parts { texts.append("(\(try text(part)))") }
        return texts.isEmpty ? empty : texts.joined(separator: " \(word) ")
    }

    private func operand(_ expression: ExpressionSyntax) throws(RealmError) -> String {
        switch expression {
        case .path(let steps, nil, .value) where steps.count == 1:
            switch steps[0] {
            case .name(let name): return spelled(name)
            case .pathArgument(let index):
                if case .value(.string(let bytes)) = try argument(index) {
                    return spelled(Name(String(decoding: bytes, as: UTF8.self)))
                }
            default: break
            }
        case .constant(let value, nil): return try constant(value)
        case .list(let values, nil): return try list(values)
        default: break
        }
        throw SubsetCondition.refused("made of comparisons of single properties of the class itself")
    }

    private func spelled(_ name: Name) -> String {
        if case .property(let stored) = aliases[name] { return Lexer.spelled(stored) }
        return Lexer.spelled(name)
    }

    // MARK: Constants

    private func argument(_ index: Int) throws(RealmError) -> QueryArgument {
        guard arguments.indices.contains(index) else {
            throw .queryArgument("The condition has no argument \(index)")
        }
        return arguments[index]
    }

    private func list(_ values: [ConstantSyntax]) throws(RealmError) -> String {
        var texts: [String] = []
        for value in values { texts.append(try constant(value)) }
        return "{\(texts.joined(separator: ", "))}"
    }

    private func constant(_ value: ConstantSyntax) throws(RealmError) -> String {
        switch value {
        case .null: return "NULL"
        case .true: return "true"
        case .false: return "false"
        case .number(let digits), .float(let digits): return digits
        case .timestamp(let text): return text
        case .string(let bytes):
            return try bytes.withBytes { (bytes) throws(RealmError) in ConstantText.of(.string(bytes)) }
        case .base64(let text): return "B64\"\(text)\""
        case .uuid(let digits): return "uuid(\(digits))"
        case .objectId(let digits): return "oid(\(digits))"
        case .given(let given): return try self.given(given)
        case .argument(let index): return try given(try argument(index))
        case .nan, .infinity, .binary, .link, .object: throw Self.unknown
        }
    }

    private func given(_ argument: QueryArgument) throws(RealmError) -> String {
        switch argument {
        case .value(let value): return try text(value)
        case .list(let values):
            var texts: [String] = []
            for value in values { texts.append(try text(value)) }
            return "{\(texts.joined(separator: ", "))}"
        }
    }

    private func text(_ value: Mixed) throws(RealmError) -> String {
        switch value {
        case .float(let number) where !number.isFinite: throw Self.unknown
        case .double(let number) where !number.isFinite: throw Self.unknown
        case .decimal(let number) where number.isNaN || number.isInfinite: throw Self.unknown
        case .null, .int, .bool, .float, .double, .decimal, .string, .timestamp, .objectId, .uuid:
            return ConstantText.of(value)
        case .slot, .binary, .link, .typedLink, .list, .dictionary: throw Self.unknown
        }
    }

    private static var unknown: RealmError {
        SubsetCondition.refused("with numbers that are finite, texts, truth values, dates and ids as constants")
    }
}

extension Realm {
    /// The condition of a subset of a class as a text for `enableSync` and `setSyncSubset`.
    ///
    /// - Throws: 3020 for an unknown class; 2007 for a condition that SQL cannot express.
    package func subsetText(_ query: QuerySyntax, of name: Name) throws(RealmError) -> String {
        try subsetText(query, of: name, [])
    }

    /// The condition of a subset of a class, with its arguments `$0`, `$1` and so on, as a text that needs none.
    ///
    /// - Throws: 3020 for an unknown class; 2007 for a condition that SQL cannot express; 3008 and 3015 for one that is
    ///   no query.
    package func subsetText(_ text: String, _ values: [RealmValue], of name: Name) throws(RealmError) -> String {
        let arena = ConstantArena()
        var arguments: [QueryArgument] = []
        for value in values { arguments.append(try arena.argument(value)) }
        defer { withExtendedLifetime(arena) {} }
        return try subsetText(try QueryParser.parse(text), of: name, arguments)
    }

    private func subsetText(
        _ query: QuerySyntax, of name: Name, _ arguments: [QueryArgument]
    ) throws(RealmError) -> String {
        guard let table = try reading().group.table(named: Format.classPrefix + name) else {
            throw RealmError(.noSuchTable, "No class '\(name)'")
        }
        return try SubsetText.of(query, table, queryNames.aliases[table.key] ?? [:], arguments)
    }
}
