/// Changes of properties: `n = n + 1, city = $0`. Grammar: query-language §23.
extension QueryParser {
    /// Parses a list of assignments.
    ///
    /// - Returns: the assignments, and the greatest nesting depth of their operators.
    static func assignments(_ text: String) throws(RealmError) -> (all: [AssignmentSyntax], depth: Int) {
        var parser = try QueryParser(text)
        var all: [AssignmentSyntax] = []
        repeat {
            let start = parser.token.start, steps = try parser.path()
            guard steps.count == 1, case .name(let name) = steps[0] else {
                throw RealmError.querySyntax(text, "the name of a property is expected before '='", at: start)
            }
            guard parser.kind == .equal, parser.spelling(ahead: 0) == "=" else {
                throw RealmError.querySyntax(text, "syntax error: '=' expected", at: parser.token.start)
            }
            parser.at += 1
            all.append(AssignmentSyntax(name: name, value: try parser.expression()))
        } while parser.take(.comma)
        guard parser.kind == .end else { throw parser.unexpected() }
        return (all, parser.greatestDepth)
    }
}
