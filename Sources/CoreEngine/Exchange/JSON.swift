/// A parsed JSON text, to be stored as a Mixed value: arrays become lists, objects become dictionaries. Grammar: RFC
/// 8259, strictly.
///
/// Numbers without point and exponent are integers when they fit 64 bits, doubles otherwise. A number too big for a
/// double is malformed. When several members have the same name, the last one counts.
indirect enum JSONValue {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string([UInt8])
    case array([JSONValue])
    case object([(name: [UInt8], value: JSONValue)])
    /// Values that JSON lacks: bytes, and Mixed values that refer to no bytes stored elsewhere. The parser of Mixed
    /// texts makes these cases.
    case binary([UInt8])
    case single(Mixed)

    /// - Throws: 4201 for malformed text, 3018 for nesting deeper than Mixed values allow.
    /// - Parameter refusingRepeats: whether two members of an object with the same name are malformed.
    static func parse(_ text: Bytes, refusingRepeats: Bool = false) throws(RealmError) -> JSONValue {
        var parser = JSONParser(text, refusingRepeats: refusingRepeats)
        return try parser.document()
    }
}

private struct JSONParser {
    private let text: Bytes
    private var at = 0

    private let refusesRepeats: Bool

    init(_ text: Bytes, refusingRepeats: Bool) {
        self.text = text
        refusesRepeats = refusingRepeats
        // Skips a byte order mark, which has no meaning in UTF-8.
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { at = 3 }
    }

    private func malformed(_ what: String) -> RealmError {
        RealmError(.malformedJSON, "Illegal json: \(what) at byte \(at)")
    }

    private var next: UInt8? { at < text.count ? text[at] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character.asciiValue else { return false }
        at += 1
        return true
    }

    mutating func document() throws(RealmError) -> JSONValue {
        let root = try value()
        skipBlanks()
        guard at == text.count else { throw malformed("text after the value") }
        return root
    }

    /// An array or object whose end was not read yet. It is changed in place, so that a long one is not copied for each
    /// element.
    private struct Open {
        let isArray: Bool
        var elements: [JSONValue] = []
        var members: [(name: [UInt8], value: JSONValue)] = []
        var places: [[UInt8]: Int] = [:]

        /// The name of the next member.
        var name: [UInt8] = []

        mutating func add(_ value: JSONValue) {
            if isArray {
                elements.append(value)
            } else if let index = places[name] {
                members[index].value = value
            } else {
                places[name] = members.count
                members.append((name, value))
            }
        }

        var whole: JSONValue { isArray ? .array(elements) : .object(members) }
    }

    /// Reads a value without recursion, because the thread may have a small stack.
    private mutating func value() throws(RealmError) -> JSONValue {
        var open: [Open] = []
        while true {
            var whole: JSONValue
            skipBlanks()
            guard let byte = next else { throw malformed("a value is missing") }
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                var new = Open(isArray: byte == UInt8(ascii: "["))
                try enter(open.count)
                if take(new.isArray ? "]" : "}") {
                    whole = new.whole
                } else {
                    if !new.isArray { new.name = try name() }
                    open.append(new)
                    continue
                }
            case UInt8(ascii: "\""): whole = .string(try string())
            case UInt8(ascii: "t"): whole = try word("true", .bool(true))
            case UInt8(ascii: "f"): whole = try word("false", .bool(false))
            case UInt8(ascii: "n"): whole = try word("null", .null)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): whole = try number()
            default: throw malformed("an unexpected character")
            }
            // If an array or object ends after the value, it is itself a complete value.
            while true {
                guard !open.isEmpty else { return whole }
                let last = open.count - 1, isArray = open[last].isArray
                open[last].add(whole)
                skipBlanks()
                if take(isArray ? "]" : "}") {
                    whole = open.removeLast().whole
                    continue
                }
                guard take(",") else { throw malformed(isArray ? "',' or ']' is missing" : "',' or '}' is missing") }
                if !isArray {
                    open[last].name = try name()
                    if refusesRepeats, open[last].places[open[last].name] != nil {
                        throw malformed("a name occurs twice")
                    }
                }
                break
            }
        }
    }

    /// Reads the name of a member and the colon after it.
    private mutating func name() throws(RealmError) -> [UInt8] {
        skipBlanks()
        guard next == UInt8(ascii: "\"") else { throw malformed("a member name is missing") }
        let name = try string()
        skipBlanks()
        guard take(":") else { throw malformed("':' is missing") }
        return name
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(RealmError) -> JSONValue {
        let length = word.utf8CodeUnitCount
        guard at + length <= text.count else { throw malformed("an unfinished word") }
        for i in 0..<length where text[at + i] != word.utf8Start[i] { throw malformed("an unknown word") }
        at += length
        return value
    }

    private mutating func enter(_ depth: Int) throws(RealmError) {
        guard depth < Table.maxNesting else {
            throw RealmError(
                .limitExceeded, "Max nesting level reached: collections nest at most \(Table.maxNesting) deep")
        }
        at += 1
        skipBlanks()
    }

    private mutating func number() throws(RealmError) -> JSONValue {
        let start = at
        var isInteger = true
        _ = take("-")
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }
        guard isDigit(next) else { throw malformed("a digit is missing") }
        if !take("0") { while isDigit(next) { at += 1 } }
        if take(".") {
            isInteger = false
            guard isDigit(next) else { throw malformed("a digit is missing") }
            while isDigit(next) { at += 1 }
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            guard isDigit(next) else { throw malformed("a digit is missing") }
            while isDigit(next) { at += 1 }
        }
        let digits = String(decoding: text[start..<at], as: UTF8.self)
        if isInteger, let integer = Int64(digits) { return .int(integer) }
        guard let double = Double(digits), double.isFinite else { throw malformed("a number that is too big") }
        return .double(double)
    }

    private mutating func string() throws(RealmError) -> [UInt8] {
        at += 1
        var out: [UInt8] = []
        while true {
            guard let byte = next else { throw malformed("an unfinished string") }
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard String(validating: out, as: UTF8.self) != nil else { throw malformed("text that is not UTF-8") }
                return out
            case UInt8(ascii: "\\"): try escape(&out)
            case 0..<0x20: throw malformed("a control character in a string")
            default: out.append(byte)
            }
        }
    }

    private mutating func escape(_ out: inout [UInt8]) throws(RealmError) {
        guard let byte = next else { throw malformed("an unfinished string") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"):
            var point = try hex4()
            if point & 0xFC00 == 0xD800 {
                guard take("\\"), take("u") else { throw malformed("half of a surrogate pair") }
                let low = try hex4()
                guard low & 0xFC00 == 0xDC00 else { throw malformed("half of a surrogate pair") }
                point = 0x1_0000 + (point & 0x3FF) << 10 + (low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(point) else { throw malformed("half of a surrogate pair") }
            out.append(contentsOf: Array(String(Character(scalar)).utf8))
        default: throw malformed("an unknown escape")
        }
    }

    private mutating func hex4() throws(RealmError) -> UInt32 {
        guard at + 4 <= text.count else { throw malformed("an unfinished escape") }
        var code: UInt32 = 0
        for _ in 0..<4 {
            let byte = text[at]
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: throw malformed("a digit of an escape is missing")
            }
            code = code << 4 | UInt32(digit)
            at += 1
        }
        return code
    }
}

extension Realm {
    /// Replaces a Mixed property by the value of a JSON text. Nothing changes when the text is malformed (4201), is
    /// nested too deeply or contains a string that is too long (3018), or has a member name that is no valid dictionary
    /// key (3011).
    package func setJSON(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, _ text: Bytes) throws(RealmError) {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        let facts = try facts(table, column)
        guard facts.type == .mixed, !facts.isCollection else {
            throw RealmError(
                .typeMismatch,
                "Type mismatch for property '\(table.className ?? table.name).\(table.column(column)?.name ?? "")': JSON needs a Mixed value"
            )
        }
        let value = try JSONValue.parse(text)
        try Self.check(value)
        _ = try writing()
        try put(value, tableKey, object, column)
    }

    /// Replaces a Mixed property by a value that was checked already.
    func put(_ value: JSONValue, _ tableKey: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) {
        let path = CollectionPath(table: tableKey, object: object, column: column)
        switch value {
        case .array:
            try setCollection(.list, tableKey, object, column)
            try clear(path, .list)
            try fill(path, value)
        case .object:
            try setCollection(.dictionary, tableKey, object, column)
            try clear(path, .dictionary)
            try fill(path, value)
        default: try Self.scalar(value) { (m) throws(RealmError) in try set(tableKey, object, column, m) }
        }
    }

    /// Throws unless every part of the value can be stored.
    static func check(_ value: JSONValue) throws(RealmError) {
        var pending = [value]
        while let next = pending.popLast() {
            switch next {
            case .array(let elements): pending += elements
            case .object(let members):
                for member in members {
                    try member.name.withBytes { (b) throws(RealmError) in try checkKey(b) }
                    pending.append(member.value)
                }
            case .string(let bytes), .binary(let bytes):
                guard bytes.count <= Format.maxStringSize else {
                    throw RealmError(.limitExceeded, "A string of \(bytes.count) bytes is too long")
                }
            default: break
            }
        }
    }

    /// Fills an empty collection, then each collection nested in it.
    func fill(_ path: CollectionPath, _ content: JSONValue) throws(RealmError) {
        var pending = [(path, content)]
        while let (path, content) = pending.popLast() {
            switch content {
            case .array(let elements):
                for (i, element) in elements.enumerated() {
                    switch element {
                    case .array: pending.append((try insertCollection(.list, at: i, in: path), element))
                    case .object: pending.append((try insertCollection(.dictionary, at: i, in: path), element))
                    default: try Self.scalar(element) { (m) throws(RealmError) in try insert(m, at: i, in: path) }
                    }
                }
            case .object(let members):
                for member in members {
                    try member.name.withBytes { (name) throws(RealmError) in
                        switch member.value {
                        case .array: pending.append((try setCollection(.list, forKey: name, in: path), member.value))
                        case .object:
                            pending.append((try setCollection(.dictionary, forKey: name, in: path), member.value))
                        default:
                            try Self.scalar(member.value) { (mixed) throws(RealmError) in
                                _ = try setValue(mixed, forKey: name, in: path)
                            }
                        }
                    }
                }
            default: break
            }
        }
    }

    static func scalar(_ value: JSONValue, _ body: (Mixed) throws(RealmError) -> Void) throws(RealmError) {
        switch value {
        case .null, .array, .object: try body(.null)
        case .bool(let flag): try body(.bool(flag))
        case .int(let integer): try body(.int(integer))
        case .double(let double): try body(.double(double))
        case .string(let bytes): try bytes.withBytes { (text) throws(RealmError) in try body(.string(text)) }
        case .binary(let bytes): try bytes.withBytes { (data) throws(RealmError) in try body(.binary(data)) }
        case .single(let mixed): try body(mixed)
        }
    }
}
