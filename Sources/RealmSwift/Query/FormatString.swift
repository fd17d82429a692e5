internal import CoreEngine
import Foundation

/// A condition in the format of `NSPredicate`, such as `"age > %@ AND name BEGINSWITH[c] 'a'"`. It is translated to the
/// engine's query language in one pass over its tokens. Both languages have the same grammar. They differ in the
/// notation of arguments and in the spelling of words.
///
/// Not supported: `MATCHES`, `CAST` and `FUNCTION`. The engine checks the key paths.
public struct FormatString {
    private let text: String
    private let arguments: [EngineValue]

    init(_ format: String, _ arguments: [Any]) {
        var translation = Translation(format, arguments)
        translation.run()
        text = translation.text
        self.arguments = translation.values
    }

    /// Sets properties of all rows by the assignments.
    ///
    /// - Returns: the number of objects.
    func update(_ rows: _Rows) throws(EngineError) -> Int { try rows.found.update(text, values: arguments) }

    /// Returns the groups of the rows.
    func groups(_ rows: _Rows) throws(EngineError) -> (names: [Name], rows: [[EngineValue]]) {
        try rows.found.groups(text, values: arguments)
    }

    /// Returns the rows that match the condition.
    func filtered(_ rows: _Rows) throws(EngineError) -> ResultSet {
        try rows.found.filtered(text, values: arguments, reachingFurther: true)
    }

    /// Returns the condition of a subset, as the file stores it.
    func stored(_ realm: EngineRealm, _ className: Name) throws(EngineError) -> String {
        try realm.subsetText(text, arguments, of: className)
    }
}

/// The translation of a format in one pass.
private struct Translation {
    private let source: [UInt8]
    private var at = 0
    private let arguments: [Any]
    private var next = 0
    private(set) var text = ""
    private(set) var values: [EngineValue] = []

    /// The last word, which decides how the next argument is written.
    private var lastWord = ""

    /// Whether an operand is expected, as opposed to an operator. The meaning of a word depends on it, because a
    /// property may have the same name as any keyword.
    private var wantsOperand = true

    init(_ format: String, _ arguments: [Any]) {
        source = Array(format.utf8)
        self.arguments = arguments
    }

    private func fail(_ message: String) -> Never {
        misuse("Unable to parse the format string \"\(String(decoding: source, as: UTF8.self))\": \(message)")
    }

    mutating func run() {
        while at < source.count {
            switch source[at] {
            case UInt8(ascii: "%"): placeholder()
            case UInt8(ascii: "'"), UInt8(ascii: "\""): literal(source[at])
            case UInt8(ascii: "@"): operatorWord()
            case UInt8(ascii: "#"): quotedWord()
            case UInt8(ascii: "["): bracket()
            case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"): comparison()
            case let character where isWord(character): word()
            case let character:
                if character == UInt8(ascii: "{") { lastWord = "" }
                if "({,&|+-*/".utf8.contains(character) { wantsOperand = true }
                if ")}]".utf8.contains(character) { wantsOperand = false }
                copy(1)
            }
        }
        guard next == arguments.count else { fail("\(arguments.count) arguments for \(next) placeholders") }
    }

    private func isWord(_ byte: UInt8) -> Bool {
        (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private mutating func copy(_ count: Int) {
        text += String(decoding: source[at..<Swift.min(at + count, source.count)], as: UTF8.self)
        at += count
    }

    private mutating func take() -> Any {
        guard next < arguments.count else { fail("there are only \(arguments.count) arguments") }
        defer { next += 1 }
        return arguments[next]
    }

    private mutating func add(_ value: EngineValue) {
        wantsOperand = false
        text += "$\(values.count)"
        values.append(value)
    }

    // MARK: Arguments

    /// Translates `%@`, `%K`, `%d` and similar placeholders, and `%%`.
    private mutating func placeholder() {
        at += 1
        guard at < source.count else { fail("a % at the end") }
        let letters = source[at...].prefix { "lhqz".utf8.contains($0) }
        let kind = source[Swift.min(at + letters.count, source.count - 1)]
        at += letters.count + 1
        switch kind {
        case UInt8(ascii: "%"): text += "%"
        case UInt8(ascii: "K"):
            guard let name = unwrapped(take()).map(swiftValue) as? String else {
                fail("%K stands for the name of a property")
            }
            if name == "#any", text.hasSuffix("[") {
                text += "*"
                return
            }
            property(name)
        case UInt8(ascii: "@"), UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "i"), UInt8(ascii: "u"),
            UInt8(ascii: "U"), UInt8(ascii: "f"),
            UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "s"):
            argument(take())
        default: fail("unknown placeholder %\(UnicodeScalar(kind))")
        }
    }

    private mutating func argument(_ any: Any) {
        wantsOperand = false
        if let shape = any as? any _Geospatial {
            // The engine uses its own word where Realm's formats use IN.
            if text.hasSuffix("IN ") { text = text.dropLast(3) + "GEOWITHIN " }
            text += shape._rlmText
            return
        }
        if let custom = unwrapped(any) as? any _CustomPersistable,
            let object = custom.persistableValue as? EmbeddedObject
        {
            return memberwise(object)
        }
        if let object = unwrapped(any) as? EmbeddedObject, !object.isManaged {
            // An unmanaged object is never equal to an object of the Realm.
            let (_, isEqual, _) = takeComparison()
            text += isEqual ? "FALSEPREDICATE" : "TRUEPREDICATE"
            return
        }
        if let whole = unwrapped(any) as? AnyRealmValue, whole.listValue != nil || whole.dictionaryValue != nil {
            return elementwise(whole)
        }
        if text.hasSuffix("["), let index = unwrapped(any).map(swiftValue) as? Int {
            text += "\(index)"
            return
        }
        let value = engineValue(of: any)
        guard let value else { fail("a value of type \(type(of: any)) cannot be compared with what is stored") }
        guard lastWord == "BETWEEN" else { return add(value) }
        guard case .list(let bounds) = value, bounds.count == 2 else { fail("BETWEEN needs two values") }
        text += "{"
        add(bounds[0])
        text += ", "
        add(bounds[1])
        text += "}"
    }

    /// Removes `path == ` or `path != ` from the end of the text, with a preceding `ANY`.
    private mutating func takeComparison() -> (path: String, isEqual: Bool, isAny: Bool) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 3, words[words.count - 1].isEmpty, ["==", "!="].contains(words[words.count - 2]) else {
            fail("an unmanaged object can only be compared by == and !=")
        }
        let path = String(words[words.count - 3].drop { $0 == "(" }), isEqual = words[words.count - 2] == "=="
        text.removeLast(path.count + 4)
        let isAny = text.hasSuffix("ANY ")
        if isAny { text.removeLast(4) }
        return (path, isEqual, isAny)
    }

    /// Compares an unmanaged embedded object property by property. Custom types of the program are stored as such
    /// objects.
    private mutating func memberwise(_ object: EmbeddedObject) {
        let (path, isEqual, isAny) = takeComparison()
        if isAny { text += "SUBQUERY(\(path), $member, " }
        text += isEqual ? "(" : "NOT ("
        for (i, property) in object.info.properties.enumerated() where !property.shape.isComputed {
            guard property.shape.collection == .none, property.shape.type != .object else {
                misuse(object.info.noMemberwiseEquality(of: property))
            }
            text += (i == 0 ? "" : " AND ") + (isAny ? "$member" : path) + "." + property.name + " == "
            argument(property.access.any(object, property) as Any)
        }
        text += isAny ? ")).@count > 0" : ")"
    }

    /// Compares a list or map in a value of any type: the number of its elements, and each element.
    private mutating func elementwise(_ value: AnyRealmValue) {
        let (path, isEqual, isAny) = takeComparison()
        guard !isAny else { fail("elements of a collection cannot be compared with lists and maps") }
        if !isEqual { text += "NOT " }
        compare(path, with: value)
    }

    private mutating func compare(_ path: String, with value: AnyRealmValue) {
        switch value {
        case .list(let elements):
            text += "(\(path).@type == 'list' AND \(path).@count == \(elements.count)"
            for (i, element) in elements.enumerated() {
                text += " AND "
                compare("\(path)[\(i)]", with: element)
            }
            text += ")"
        case .dictionary(let map):
            text += "(\(path).@type == 'dictionary' AND \(path).@count == \(map.count)"
            for (key, element) in map.asKeyValueSequence() {
                // A missing key would be equal to a key with the value null, so the existence of the key is tested
                // first.
                let name = "$\(values.count)"
                values.append(.string(key))
                text += " AND \(path).@keys == \(name) AND "
                compare("\(path)[\(name)]", with: element)
            }
            text += ")"
        default:
            text += path + " == "
            argument(value)
        }
    }

    /// Translates a quoted string to an argument, because the engine's literals cannot express every string.
    private mutating func literal(_ quote: UInt8) {
        var bytes: [UInt8] = []
        at += 1
        while at < source.count, source[at] != quote {
            if source[at] == UInt8(ascii: "\\"), at + 1 < source.count {
                at += 1
                switch source[at] {
                case UInt8(ascii: "n"): bytes.append(10)
                case UInt8(ascii: "t"): bytes.append(9)
                case UInt8(ascii: "r"): bytes.append(13)
                default: bytes.append(source[at])
                }
            } else {
                bytes.append(source[at])
            }
            at += 1
        }
        guard at < source.count else { fail("a quote is not closed") }
        at += 1
        add(.string(String(decoding: bytes, as: UTF8.self)))
    }

    // MARK: Words and signs

    /// Translates `@count`, `@allKeys` and similar operators.
    private mutating func operatorWord() {
        let end = source[(at + 1)...].firstIndex { !isWord($0) } ?? source.count
        let word = String(decoding: source[at..<end], as: UTF8.self)
        at = end
        wantsOperand = false
        text += word == "@allKeys" ? "@keys" : (word == "@allValues" ? "@values" : word)
    }

    /// Translates `[c]` after an operator, or an index.
    private mutating func bracket() {
        guard let end = source[at...].firstIndex(of: UInt8(ascii: "]")) else { return copy(1) }
        let inside = source[(at + 1)..<end].filter { $0 != 32 }
        guard !inside.isEmpty, inside.allSatisfy({ "cdnlCDNL".utf8.contains($0) }),
            !lastWord.isEmpty || text.last.map({ "=<>!".contains($0) }) ?? false
        else { return copy(1) }
        let marks = [("c", UInt8(ascii: "c")), ("d", UInt8(ascii: "d"))].filter { mark in
            inside.contains { $0 | 0x20 == mark.1 }
        }
        if !marks.isEmpty { text += "[\(marks.map(\.0).joined())]" }
        at = end + 1
    }

    private mutating func comparison() {
        let signs = source[at...].prefix { "=<>!".utf8.contains($0) }
        let sign = String(decoding: signs, as: UTF8.self)
        at += signs.count
        lastWord = ""
        wantsOperand = true
        text += sign == "<>" ? "!=" : (sign == "=<" ? "<=" : (sign == "=>" ? ">=" : sign))
    }

    /// Operators between two operands: those of the engine's language, and MATCHES, which is refused.
    private static let infix = upper(QueryLanguage.infixes).union(["MATCHES"])

    /// Words before an operand.
    private static let prefix = upper(QueryLanguage.prefixes)

    /// Keywords of the engine's language that may also be property names.
    private static let reserved = upper(QueryLanguage.keywords).union(infix)

    private static func upper(_ words: [String]) -> Set<Name> { Set(words.map { Name($0.uppercased()) }) }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (byte >= 9 && byte <= 13) }

    /// Returns the sign or the uppercased word after a position, and the position after the word.
    private func ahead(_ place: Int) -> (sign: UInt8?, word: Name, end: Int) {
        let rest = source[place...].drop(while: isBlank), word = rest.prefix(while: isWord)
        return (rest.first, Name(String(decoding: word, as: UTF8.self).uppercased()), word.endIndex)
    }

    /// Returns whether an operand could start after a position.
    private func isOperand(at place: Int) -> Bool {
        let (sign, word, end) = ahead(place)
        guard let sign, isWord(sign) || "\"'%({@#-".utf8.contains(sign) else { return false }
        return !isConnective(word, end)
    }

    /// Returns whether the word is AND or OR as a connective, and not a property name.
    private func isConnective(_ word: Name, _ end: Int) -> Bool {
        guard word == "AND" || word == "OR" else { return false }
        if end < source.count, ".[".utf8.contains(source[end]) { return false }
        return !(ahead(end).sign.map { "=<>".utf8.contains($0) } ?? false)
    }

    /// Returns whether the word before a position is an operand. It is one if a sign or word follows that occurs only
    /// after operands.
    private func isName(before place: Int) -> Bool {
        let (sign, word, end) = ahead(place)
        guard let sign else { return true }
        if "=<>!)},&|".utf8.contains(sign) || isConnective(word, end) { return true }
        if place < source.count, ".[".utf8.contains(source[place]) { return true }
        // In `ANY contains == 1` the word is a name; in `any CONTAINS 'x'` it is an operator.
        guard Self.infix.contains(word) else { return false }
        let next = ahead(end).sign
        return next == UInt8(ascii: "[") || (isOperand(at: end) && !Self.infix.contains(ahead(end).word))
    }

    private mutating func takeWord() -> String {
        let end = source[at...].firstIndex { !isWord($0) && $0 != UInt8(ascii: ".") } ?? source.count
        defer { at = end }
        return String(decoding: source[at..<end], as: UTF8.self)
    }

    /// Translates `#any`: the name of a property, even if it is a keyword.
    private mutating func quotedWord() {
        at += 1
        property(takeWord())
    }

    /// Writes a key path. It becomes an argument if the engine would read a part of it as a keyword.
    private mutating func property(_ path: String) {
        lastWord = path
        wantsOperand = false
        let parts = path.uppercased().split(separator: ".")
        guard text.last != ".", parts.contains(where: { Self.reserved.contains(Name(String($0))) }) else {
            text += path
            return
        }
        // The part after the last dot follows as the next token.
        let name = path.hasSuffix(".") ? String(path.dropLast()) : path
        text += "$K\(values.count)" + path.dropFirst(name.count)
        values.append(.string(name))
    }

    private mutating func word() {
        let word = takeWord(), upper = word.uppercased(), name = Name(upper)
        if text.last == "." { return property(word) }
        guard wantsOperand else { return operatorBetween(upper) }
        switch upper {
        case _ where Self.prefix.contains(name) && (upper == "NOT" ? isOperand(at: at) : !isName(before: at)):
            text += upper
            lastWord = upper
        case _ where ahead(at).sign == UInt8(ascii: "("):
            if upper == "CAST" || upper == "FUNCTION" { fail("\(upper) is not supported") }
            text += word
        case "NIL", "NULL": constant("NULL")
        case "TRUE", "FALSE", "TRUEPREDICATE", "FALSEPREDICATE": constant(upper)
        case "YES" where !isLeftSide: constant("true")
        case "NO" where !isLeftSide: constant("false")
        case "INF", "INFINITY", "NAN": if isLeftSide { property(word) } else { constant(word) }
        default: property(word)
        }
    }

    /// Whether an operator follows the word that was read last.
    private var isLeftSide: Bool {
        let (sign, word, _) = ahead(at)
        return Self.infix.contains(word) || sign.map { "=<>!".utf8.contains($0) } ?? false
    }

    private mutating func constant(_ meaning: String) {
        text += meaning
        wantsOperand = false
    }

    private mutating func operatorBetween(_ word: String) {
        if word == "MATCHES" { fail("MATCHES is not supported") }
        text += word
        lastWord = word
        wantsOperand = true
    }
}

extension ClassInfo {
    /// The message about a property that is compared with an unmanaged object, and is a link or a collection.
    func noMemberwiseEquality(of property: PropertyInfo) -> String {
        let what = property.shape.collection == .none ? "object links are" : "equality on collections is"
        return
            "Unsupported property '\(name).\(property.name)' for memberwise equality query: \(what) not implemented."
    }
}

/// Converts a value of the program to an argument of a query. Returns nil for values that cannot be compared.
func engineValue(of any: Any) -> EngineValue? {
    switch unwrapped(any).map(swiftValue) {
    case nil: return .null
    case let value as ObjectBase:
        // An unmanaged object is never equal to an object of a Realm.
        return value.link()?.value ?? .link(.null, ObjKey(.max - 1))
    case let value as any _RealmStorable: return value._rlmValue()?.value
    case let value as any BinaryInteger: return Int64(exactly: value).map { .int($0) }
    case let value as any RangeBounds: return value.bounds.map { .list($0) }
    case let value as any _Persistable where value is any Sequence: return (value as? any Sequence).flatMap { list($0) }
    case let value as any Sequence: return list(value)
    default: return nil
    }
}

private func list(_ elements: some Sequence) -> EngineValue? {
    var all: [EngineValue] = []
    for element in elements {
        guard let value = engineValue(of: element) else { return nil }
        all.append(value)
    }
    return .list(all)
}

/// Ranges, as two bounds.
private protocol RangeBounds { var bounds: [EngineValue]? { get } }

extension ClosedRange: RangeBounds {
    fileprivate var bounds: [EngineValue]? {
        guard let low = engineValue(of: lowerBound), let high = engineValue(of: upperBound) else { return nil }
        return [low, high]
    }
}
