/// Writes Mixed values as JSON from which the same values, of the same types, can be read back.
///
/// A value that JSON has no type for becomes an object whose names begin with `$`. One member: `$bytes` (base64),
/// `$decimal`, `$float32`, `$objectId`, `$uuid`, and `$float` for infinite and NaN doubles. Two members: `$seconds` and
/// `$nanoseconds` since 1970; `$class` with `$primaryKey`, or with `$ref`, the object key, if the class has no primary
/// key. A dictionary with a name that begins with `$` becomes `$dict`, a list of pairs. Rules: docs/columns.md.
struct MixedText {
    let group: Group
    private var out = JSONText()

    /// Whether doubles are marked whose digits another program may write in another form: with an exponent, and −0.
    private let marksDoubles: Bool

    init(_ group: Group, marksDoubles: Bool = false) {
        self.group = group
        self.marksDoubles = marksDoubles
    }

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
        case .double(let number) where number.isFinite:
            let text = "\(number)"
            let isMarked = marksDoubles && (text.utf8.contains(UInt8(ascii: "e")) || text == "-0.0")
            if isMarked { marked("$float", text) } else { out.raw(text) }
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
