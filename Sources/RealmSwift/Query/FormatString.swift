internal import CoreEngine
import Foundation

/// A condition as `NSPredicate` formats write it, `"age > %@ AND name BEGINSWITH[c] 'a'"`, turned into the engine's query language in one pass
/// over its
/// tokens. The two share their grammar; what differs is how arguments stand in the text, and the spelling of words.
///
/// Refused: `MATCHES`, `CAST`, `FUNCTION`, and comparisons that ignore accents (`[d]`). Key paths are checked by the engine.
public struct FormatString {
    private let text: String
    private let arguments: [EngineValue]

    init(_ format: String, _ arguments: [Any]) {
        var translation = Translation(format, arguments)
        translation.run()
        text = translation.text
        self.arguments = translation.values
    }
    /// The rows that meet the condition.
    func filtered(_ rows: _Rows) throws(EngineError) -> ResultSet { try rows.found.filtered(text, values: arguments, reachingFurther: true) }
}

/// One pass over a format.
private struct Translation {
    private let source: [UInt8]
    private var at = 0
    private let arguments: [Any]
    private var next = 0
    private(set) var text = ""
    private(set) var values: [EngineValue] = []
    /// The last word, for what it asks of the argument behind it.
    private var lastWord = ""

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
            case UInt8(ascii: "#"): at += 1
            case UInt8(ascii: "["): bracket()
            case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"): comparison()
            case let c where isWord(c): word()
            case UInt8(ascii: "{"):
                lastWord = ""
                copy(1)
            default: copy(1)
            }
        }
        guard next == arguments.count else { fail("\(arguments.count) arguments for \(next) placeholders") }
    }
    private func isWord(_ c: UInt8) -> Bool {
        (c >= 0x30 && c <= 0x39) || (c | 0x20 >= 0x61 && c | 0x20 <= 0x7A) || c == UInt8(ascii: "_") || c == UInt8(ascii: "$") || c >= 0x80
    }
    private mutating func copy(_ n: Int) {
        text += String(decoding: source[at..<Swift.min(at + n, source.count)], as: UTF8.self)
        at += n
    }
    private mutating func take() -> Any {
        guard next < arguments.count else { fail("there are only \(arguments.count) arguments") }
        defer { next += 1 }
        return arguments[next]
    }
    private mutating func add(_ value: EngineValue) {
        text += "$\(values.count)"
        values.append(value)
    }

    // MARK: Arguments

    /// `%@`, `%K`, `%d` and its like, `%%`.
    private mutating func placeholder() {
        at += 1
        guard at < source.count else { fail("a % at the end") }
        let letters = source[at...].prefix { "lhqz".utf8.contains($0) }
        let kind = source[Swift.min(at + letters.count, source.count - 1)]
        at += letters.count + 1
        switch kind {
        case UInt8(ascii: "%"): text += "%"
        case UInt8(ascii: "K"):
            guard let name = unwrapped(take()) as? String else { fail("%K stands for the name of a property") }
            if name == "#any", text.hasSuffix("[") {
                text += "*"
                return
            }
            text += name
            lastWord = name
        case UInt8(ascii: "@"), UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "f"),
            UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "s"):
            argument(take())
        default: fail("unknown placeholder %\(UnicodeScalar(kind))")
        }
    }
    private mutating func argument(_ any: Any) {
        if let shape = any as? any _Geospatial {
            // The engine has a word of its own where Realm's formats say IN.
            if text.hasSuffix("IN ") { text = text.dropLast(3) + "GEOWITHIN " }
            text += shape._rlmText
            return
        }
        if let custom = unwrapped(any) as? any _CustomPersistable, let object = custom.persistableValue as? EmbeddedObject {
            return memberwise(object)
        }
        if let object = unwrapped(any) as? EmbeddedObject, !object.isManaged {
            // No object of the Realm is this one.
            let (_, isEqual, _) = takeComparison()
            text += isEqual ? "FALSEPREDICATE" : "TRUEPREDICATE"
            return
        }
        if text.hasSuffix("["), let index = unwrapped(any) as? Int {
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
    /// Takes `path == ` or `path != ` back from the end of the text, with the `ANY` before it.
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
    /// An embedded object that no Realm manages, as types of the program are stored: its properties are compared one by one.
    private mutating func memberwise(_ object: EmbeddedObject) {
        let (path, isEqual, isAny) = takeComparison()
        if isAny { text += "SUBQUERY(\(path), $member, " }
        text += isEqual ? "(" : "NOT ("
        for (i, p) in object.info.properties.enumerated() where !p.shape.isComputed {
            guard p.shape.collection == .none, p.shape.type != .object else {
                let what = p.shape.collection == .none ? "object links are" : "equality on collections is"
                misuse("Unsupported property '\(object.info.name).\(p.name)' for memberwise equality query: \(what) not implemented.")
            }
            text += (i == 0 ? "" : " AND ") + (isAny ? "$member" : path) + "." + p.name + " == "
            argument(p.access.any(object, p) as Any)
        }
        text += isAny ? ")).@count > 0" : ")"
    }
    /// A quoted text: an argument too, as the engine's own literals know no way to write every text.
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

    /// `@count`, `@allKeys`.
    private mutating func operatorWord() {
        let end = source[(at + 1)...].firstIndex { !isWord($0) } ?? source.count
        let word = String(decoding: source[at..<end], as: UTF8.self)
        at = end
        text += word == "@allKeys" ? "@keys" : (word == "@allValues" ? "@values" : word)
    }
    /// `[c]` behind an operator, or an index.
    private mutating func bracket() {
        guard let end = source[at...].firstIndex(of: UInt8(ascii: "]")) else { return copy(1) }
        let inside = source[(at + 1)..<end].filter { $0 != 32 }
        guard !inside.isEmpty, inside.allSatisfy({ "cdnlCDNL".utf8.contains($0) }),
            !lastWord.isEmpty || text.last.map({ "=<>!".contains($0) }) ?? false
        else { return copy(1) }
        if inside.contains(where: { $0 | 0x20 == UInt8(ascii: "d") }) { fail("comparisons that ignore accents are not supported") }
        if inside.contains(where: { $0 | 0x20 == UInt8(ascii: "c") }) { text += "[c]" }
        at = end + 1
    }
    private mutating func comparison() {
        let signs = source[at...].prefix { "=<>!".utf8.contains($0) }
        let sign = String(decoding: signs, as: UTF8.self)
        at += signs.count
        lastWord = ""
        text += sign == "<>" ? "!=" : (sign == "=<" ? "<=" : (sign == "=>" ? ">=" : (sign == "=" ? "==" : sign)))
    }
    private static let operators: Set<Name> = [
        "AND", "OR", "NOT", "IN", "ANY", "SOME", "ALL", "NONE", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "BETWEEN", "SUBQUERY", "TRUEPREDICATE",
        "FALSEPREDICATE", "TEXT", "GEOWITHIN",
    ]
    /// Operators between two operands.
    private static let infix: Set<Name> = ["IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "BETWEEN", "TEXT", "GEOWITHIN"]
    /// Words of the engine's language that a property may be named like.
    private static let reserved: Set<Name> = [
        "ANY", "ALL", "NONE", "SOME", "NOT", "AND", "OR", "TRUE", "FALSE", "NULL", "NIL", "INF", "INFINITY", "NAN", "OBJ", "SUBQUERY",
        "TRUEPREDICATE",
        "FALSEPREDICATE", "GEOBOX", "GEOCIRCLE", "GEOPOLYGON",
    ]
    /// Whether a sign or word follows that stands behind an operand only.
    private func isOperand(before end: Int) -> Bool {
        let rest = source[end...].drop { $0 == 32 }
        guard let next = rest.first else { return false }
        if "=<>!".utf8.contains(next) || (next == UInt8(ascii: ".") && rest.startIndex == end) { return true }
        return Self.infix.contains(Name(String(decoding: rest.prefix { isWord($0) }, as: UTF8.self).uppercased()))
    }
    private mutating func word() {
        let end = source[at...].firstIndex { !isWord($0) && $0 != UInt8(ascii: ".") } ?? source.count
        let word = String(decoding: source[at..<end], as: UTF8.self), upper = word.uppercased()
        let isPart = text.last == "." || text.last == "#", isOperand = isOperand(before: end)
        at = end
        lastWord = word
        if isOperand && upper != "NOT" && !isPart {
            guard Self.reserved.contains(Name(String(upper.prefix { $0 != "." }))) else {
                text += word
                return
            }
            text += "$K\(values.count)"
            return values.append(.string(word))
        }
        if isPart {
            text += word
            return
        }
        switch upper {
        case "NIL", "NULL": text += "NULL"
        case "YES", "TRUE": text += "true"
        case "NO", "FALSE": text += "false"
        case "MATCHES", "CAST", "FUNCTION": fail("\(upper) is not supported")
        case _ where Self.operators.contains(Name(upper)):
            lastWord = upper
            text += upper
        default: text += word
        }
    }
}

/// A value of the program as an argument of a query; nil for what cannot be compared.
func engineValue(of any: Any) -> EngineValue? {
    switch unwrapped(any) {
    case nil: return .null
    case let v as ObjectBase:
        guard let stored = v.link() else { misuse("Only objects that a Realm manages can be compared with") }
        return stored.value
    case let v as any _RealmStorable: return v._rlmValue()?.value
    case let v as NSNumber: return Double(v.int64Value) == v.doubleValue ? .int(v.int64Value) : .double(v.doubleValue)
    case let v as any BinaryInteger: return Int64(exactly: v).map { .int($0) }
    case let v as any RangeBounds: return v.bounds.map { .list($0) }
    case let v as any _Persistable where v is any Sequence: return (v as? any Sequence).flatMap { list($0) }
    case let v as any Sequence: return list(v)
    default: return nil
    }
}
private func list(_ elements: some Sequence) -> EngineValue? {
    var all: [EngineValue] = []
    for e in elements {
        guard let value = engineValue(of: e) else { return nil }
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
