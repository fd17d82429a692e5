/// Writes Mixed values as JSON from which the same values, of the same types, can be read back.
///
/// A value that JSON has no type for becomes an object whose names begin with `$`. One member: `$bytes` (base64),
/// `$decimal`, `$float32`, `$objectId`, `$uuid`, and `$float` for infinite and NaN doubles. Two members: `$seconds` and
/// `$nanoseconds` since 1970; `$class` with `$primaryKey`, or with `$ref`, the object key, if the class has no primary
/// key. A dictionary with a name that begins with `$` becomes `$dict`, a list of pairs. Rules: docs/columns.md.
struct MixedText {
    let group: Group
    private var out = JSONText()

    init(_ group: Group) { self.group = group }

    /// Calls `body` with the JSON text of a value.
    mutating func write(_ element: Mixed, _ body: (Bytes) throws(RealmError) -> Void) throws(RealmError) {
        out.clear()
        group.startWalk()
        try value(element, depth: 0)
        try out.bytes.withBytes(body)
    }

    private mutating func marked(_ mark: String, _ text: String) { out.object { $0.field(mark) { $0.text(text) } } }

    private mutating func value(_ element: Mixed, depth: Int) throws(RealmError) {
        switch element {
        case .null, .slot: out.null()
        case .int(let i): out.number(i)
        case .bool(let flag): out.bool(flag)
        case .float(let number) where number.isFinite:
            out.object { $0.field("$float32") { $0.raw("\(Double(number))") } }
        case .float(let number): marked("$float32", Self.special(number))
        case .double(let number) where number.isFinite: out.raw("\(number)")
        case .double(let number): marked("$float", Self.special(number))
        case .string(let text): out.quoted(text)
        case .binary(let bytes): marked("$bytes", Base64.encode(bytes))
        case .timestamp(let time):
            out.object { object in
                object.field("$seconds") { $0.number(time.seconds) }
                object.field("$nanoseconds") { $0.number(time.nanoseconds) }
            }
        case .decimal(let decimal): marked("$decimal", Self.text(decimal))
        case .objectId(let id): marked("$objectId", id.description)
        case .uuid(let id): marked("$uuid", id.description)
        // A Mixed value never holds a link without a class.
        case .link: out.null()
        case .typedLink(let table, let key): try link(table, key)
        case .list(let root):
            let list = try ElementList(group.store, root: root, kind: .mixed, target: .null)
            try enter(depth)
            out.open("[")
            for i in 0..<list.count { try value(try list.get(i), depth: depth + 1) }
            out.close("]")
        case .dictionary(let root):
            let entries = try ElementDictionary(
                group.store, root: root, keyType: .string, format: Format.currentVersion)
            try enter(depth)
            try dictionary(entries, depth: depth)
        }
    }

    private func enter(_ depth: Int) throws(RealmError) {
        guard depth < Table.maxNesting else { throw .corrupt("collections nested too deeply") }
        if depth > 0 { try group.enterNested(at: .null) }
    }

    private mutating func dictionary(_ entries: ElementDictionary, depth: Int) throws(RealmError) {
        var isMarked = false
        for i in 0..<entries.count { if try Self.name(entries, i).first == UInt8(ascii: "$") { isMarked = true } }
        out.open(isMarked ? "{\"$dict\":[" : "{")
        for i in 0..<entries.count {
            let name = try Self.name(entries, i)
            if isMarked {
                out.open("[")
                out.quoted(name)
            } else {
                out.name(name)
            }
            try value(try entries.value(i), depth: depth + 1)
            if isMarked { out.close("]") }
        }
        out.close(isMarked ? "]}" : "}")
    }

    private static func name(_ entries: ElementDictionary, _ i: Int) throws(RealmError) -> [UInt8] {
        guard case .string(let name) = try entries.key(i) else { return [] }
        return Array(name)
    }

    private mutating func link(_ table: TableKey, _ key: ObjKey) throws(RealmError) {
        guard !key.isNull, !key.isUnresolved, let owner = try group.table(table) else { return out.null() }
        out.open("{")
        out.field("$class") { $0.text((owner.className ?? owner.name).text) }
        if let pk = owner.primaryKey, let facts = owner.facts(pk), let id = try owner.get(key, facts) {
            out.name("$primaryKey".utf8)
            try value(id, depth: 0)
        } else {
            out.field("$ref") { $0.number(key.raw) }
        }
        out.close("}")
    }

    /// The text of an infinity or a NaN. The default NaN is written with its sign only, another NaN with its bits.
    private static func special<F: BinaryFloatingPoint>(_ number: F) -> String {
        let sign = number.sign == .minus ? "-" : ""
        if !number.isNaN { return sign + "Infinity" }
        return number.significandBitPattern == F.nan.significandBitPattern
            ? sign + "NaN" : sign + "NaN:" + String(number.significandBitPattern, radix: 16)
    }

    /// The digits, or the bits if the digits do not reproduce the value exactly.
    private static func text(_ decimal: Decimal128) -> String {
        let text = decimal.description
        if let same = Decimal128(text: text.utf8), same == decimal { return text }
        return "bits:" + UUIDValue(high: decimal.high, low: decimal.low).description
    }
}

// MARK: Reading

extension JSONValue {
    /// Reads a text of `MixedText`, or any other JSON. An object without `$` marks is a dictionary.
    ///
    /// - Parameter link: finds an object by the primary key of its class, or by its object key.
    static func mixed(
        _ json: JSONValue, _ link: (Name, Mixed, _ isKey: Bool) throws(RealmError) -> Mixed
    ) throws(RealmError) -> JSONValue {
        switch json {
        case .array(let elements):
            var all: [JSONValue] = []
            for element in elements { all.append(try mixed(element, link)) }
            return .array(all)
        case .object(let members):
            if let first = members.first, first.name.first == UInt8(ascii: "$"), let value = try marked(members, link) {
                return value
            }
            var all: [(name: [UInt8], value: JSONValue)] = []
            for member in members { all.append((member.name, try mixed(member.value, link))) }
            return .object(all)
        default: return json
        }
    }

    private static func marked(
        _ members: [(name: [UInt8], value: JSONValue)], _ link: (Name, Mixed, Bool) throws(RealmError) -> Mixed
    ) throws(RealmError) -> JSONValue? {
        func member(_ name: StaticString) -> JSONValue? {
            members.first {
                $0.name.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            }?.value
        }
        if members.count == 2 {
            if case .int(let seconds)? = member("$seconds"), case .int(let rest)? = member("$nanoseconds"),
                let nanoseconds = Int32(exactly: rest)
            {
                return .single(.timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
            }
            if case .string(let name)? = member("$class") {
                let name = Name(String(decoding: name, as: UTF8.self))
                if case .int(let key)? = member("$ref") { return .single(try link(name, .int(key), true)) }
                guard let id = member("$primaryKey") else { return nil }
                return .single(
                    try primaryKey(try mixed(id, link)) { (v) throws(RealmError) in try link(name, v, false) })
            }
            return nil
        }
        guard members.count == 1 else { return nil }
        if case .array(let pairs)? = member("$dict") {
            var all: [(name: [UInt8], value: JSONValue)] = []
            for pair in pairs {
                guard case .array(let both) = pair, both.count == 2, case .string(let name) = both[0] else {
                    return nil
                }
                all.append((name, try mixed(both[1], link)))
            }
            return .object(all)
        }
        switch member("$float32") {
        case .double(let number)?: return .single(.float(Float(number)))
        case .int(let i)?: return .single(.float(Float(i)))
        case .string(let text)?: return special(text, Float.self).map { .single(.float($0)) }
        default: break
        }
        if case .string(let text)? = member("$float") { return special(text, Double.self).map { .single(.double($0)) } }
        if case .string(let text)? = member("$decimal") { return decimal(text).map { .single(.decimal($0)) } }
        if case .string(let text)? = member("$bytes") {
            return Base64.decode(String(decoding: text, as: UTF8.self)).map { .binary($0) }
        }
        if case .string(let text)? = member("$objectId"), let words = words(text, digits: 24),
            let low = UInt32(exactly: words.low >> 32)
        {
            return .single(.objectId(ObjectId(high: words.high, low: low)))
        }
        if case .string(let text)? = member("$uuid"), let words = words(text, digits: 32) {
            return .single(.uuid(UUIDValue(high: words.high, low: words.low)))
        }
        return nil
    }

    private static func primaryKey(_ value: JSONValue, _ body: (Mixed) throws(RealmError) -> Mixed) throws(RealmError)
        -> Mixed
    {
        switch value {
        case .string(let text): try text.withBytes { (b) throws(RealmError) in try body(.string(b)) }
        case .int(let i): try body(.int(i))
        case .single(let value): try body(value)
        default: try body(.null)
        }
    }

    /// Reads what `MixedText` writes for an infinity or a NaN.
    private static func special<F: BinaryFloatingPoint>(_ text: [UInt8], _: F.Type) -> F? {
        var rest = text[...]
        let sign: FloatingPointSign = rest.first == UInt8(ascii: "-") ? .minus : .plus
        if sign == .minus { rest = rest.dropFirst() }
        if rest.elementsEqual("Infinity".utf8) { return sign == .minus ? -.infinity : .infinity }
        guard rest.prefix(3).elementsEqual("NaN".utf8) else { return nil }
        rest = rest.dropFirst(3)
        var bits = F.nan.significandBitPattern
        if rest.first == UInt8(ascii: ":") {
            guard let read = number(rest.dropFirst()), read != 0, let fits = F.RawSignificand(exactly: read),
                fits >> F.significandBitCount == 0
            else { return nil }
            (bits, rest) = (fits, [])
        }
        return rest.isEmpty
            ? F(sign: sign, exponentBitPattern: F.infinity.exponentBitPattern, significandBitPattern: bits) : nil
    }

    private static func decimal(_ text: [UInt8]) -> Decimal128? {
        guard text.starts(with: "bits:".utf8) else { return Decimal128(text: text) }
        return words(text.dropFirst(5), digits: 32).map { Decimal128(low: $0.low, high: $0.high) }
    }

    /// A hexadecimal number of at most 64 bits.
    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Hexadecimal digits, possibly with hyphens, as two words filled from the most significant end.
    private static func words(_ text: some Collection<UInt8>, digits: Int) -> (high: UInt64, low: UInt64)? {
        let all = text.filter { $0 != UInt8(ascii: "-") }
        guard all.count == digits, let high = number(all.prefix(16)), let low = number(all.dropFirst(16)) else {
            return nil
        }
        return (high, low << UInt64((32 - digits) * 4))
    }
}
