/// The names in the text of a condition, each with its class or property, so that a rename can replace them. The
/// condition is valid.
struct ConditionNames {
    private let text: String
    private let bytes: [UInt8]

    /// The tokens that are names. A name may be spelled like a word of the language.
    private let names: Set<Int>
    private var places: [(token: Token, table: TableKey, column: ColKey?)] = []

    /// - Parameter table: the class of the condition.
    init(_ text: String, _ group: Group, _ table: Table) throws(RealmError) {
        self.text = text
        let (tokens, bytes) = try Lexer.tokens(of: text)
        self.bytes = bytes
        names = try QueryParser.nameTokens(of: text)
        var variables: [Name: Table] = [:], i = 0, lastEnd: Table?
        while i < tokens.count {
            // The variable of a subquery stands for the objects of the path before it.
            if tokens[i].kind == .identifier, i > 0, tokens[i - 1].kind == .comma, name(tokens[i]).hasPrefix("$") {
                variables[name(tokens[i])] = lastEnd
                i += 1
            } else if names.contains(i) || tokens[i].kind == .links {
                (i, lastEnd) = try path(tokens, i, group, table, variables)
            } else {
                i += 1
            }
        }
    }

    private func name(_ token: Token) -> Name {
        Name(String(decoding: bytes[token.start..<token.end], as: UTF8.self))
    }

    /// Follows the path that begins at `first`.
    ///
    /// - Returns: the index of the token behind it, and the class at its end.
    private mutating func path(
        _ tokens: [Token], _ first: Int, _ group: Group, _ start: Table, _ variables: [Name: Table]
    ) throws(RealmError) -> (next: Int, end: Table?) {
        var here: Table? = start, i = first
        while i < tokens.count {
            switch tokens[i].kind {
            case _ where names.contains(i):
                let name = name(tokens[i])
                if i == first, let known = variables[name] {
                    here = known
                } else if let table = here, let column = table.column(named: unescaped(name)) {
                    places.append((tokens[i], table.key, column.key))
                    here = column.type == .link ? try group.table(column.oppositeTable) : nil
                } else {
                    here = nil
                }
                i += 1
            case .links where i + 4 < tokens.count && tokens[i + 1].kind == .dot && tokens[i + 3].kind == .dot:
                let className = unescaped(name(tokens[i + 2])), property = unescaped(name(tokens[i + 4]))
                let origin = try group.table(named: Format.classPrefix + className)
                if let origin, let column = origin.column(named: property) {
                    places.append((tokens[i + 2], origin.key, nil))
                    places.append((tokens[i + 4], origin.key, column.key))
                }
                here = origin
                i += 5
            default: i += 1
            }
            // Indexes in brackets belong to the path.
            while i < tokens.count, tokens[i].kind == .openBracket {
                while i < tokens.count, tokens[i].kind != .closeBracket { i += 1 }
                i += 1
            }
            guard i < tokens.count, tokens[i].kind == .dot else { break }
            i += 1
        }
        return (i, here)
    }

    /// A name without the backslashes before its blanks.
    private func unescaped(_ name: Name) -> Name {
        guard name.utf8.contains(UInt8(ascii: "\\")) else { return name }
        var bytes: [UInt8] = [], isEscaped = false
        for byte in name.utf8 {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            switch (isEscaped, byte) {
            case (true, UInt8(ascii: "n")): bytes.append(10)
            case (true, UInt8(ascii: "r")): bytes.append(13)
            case (true, UInt8(ascii: "t")): bytes.append(9)
            default: bytes.append(byte)
            }
            isEscaped = false
        }
        return Name(String(decoding: bytes, as: UTF8.self))
    }

    /// The properties of a class that have another name now than in the condition.
    func renamedProperties(of owner: TableKey, _ group: Group) throws(RealmError) -> [(old: Name, new: Name)] {
        guard let table = try group.table(owner) else { return [] }
        var renamed: [(old: Name, new: Name)] = []
        for place in places where place.table == owner {
            guard let column = place.column, let new = table.column(column)?.name else { continue }
            let old = unescaped(name(place.token))
            if old != new { renamed.append((old, new)) }
        }
        return renamed
    }

    func contains(_ column: ColKey, of owner: TableKey) -> Bool {
        places.contains { $0.table == owner && $0.column == column }
    }

    /// Whether both conditions name the same classes and properties.
    func areSame(as other: ConditionNames) -> Bool {
        places.count == other.places.count
            && zip(places, other.places).allSatisfy { $0.table == $1.table && $0.column == $1.column }
    }

    /// The text with the names that the classes and properties have now.
    func text(_ group: Group) throws(RealmError) -> String {
        var out: [UInt8] = [], end = 0
        for place in places {
            guard let table = try group.table(place.table) else { continue }
            var new = table.className
            if let column = place.column { new = table.column(column)?.name }
            guard let new, new != unescaped(name(place.token)) else { continue }
            out += bytes[end..<place.token.start]
            out += Array(QueryPrinter.name(new).utf8)
            end = place.token.end
        }
        return end == 0 ? text : String(decoding: out + bytes[end...], as: UTF8.self)
    }
}
