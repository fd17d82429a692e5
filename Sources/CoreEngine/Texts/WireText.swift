/// Values as JSON in the form in which they travel between a device and a hub. The type of the column decides how a
/// text is read. Format: sync.md §4.
struct WireText {
    private let group: Group
    private(set) var out = JSONText()

    init(_ group: Group) { self.group = group }

    /// The text of a property, or nil if the object does not exist.
    static func property(_ table: Table, _ object: ObjKey, _ facts: ColumnFacts) throws(RealmError) -> [UInt8]? {
        guard try table.isValid(object) else { return nil }
        var text = WireText(table.group)
        try text.property(table, object, facts, depth: 0)
        return text.out.bytes
    }

    /// The text of the primary key of an object, or nil if the object does not exist.
    static func primaryKey(_ table: Table, _ object: ObjKey) throws(RealmError) -> [UInt8]? {
        guard let column = table.primaryKey, let facts = table.facts(column), object.raw >= 0 else { return nil }
        return try property(table, object, facts)
    }

    private mutating func property(_ table: Table, _ object: ObjKey, _ facts: ColumnFacts, depth: Int)
        throws(RealmError)
    {
        guard depth < Table.maxNesting else { throw .corrupt("objects nested too deeply") }
        guard facts.isCollection else {
            return try value(try table.get(object, facts) ?? .null, facts, depth: depth)
        }
        let path = CollectionPath(table: table.key, object: object, column: facts.key)
        guard let content = try group.resolve(path) else { return out.raw(facts.shape == .dictionary ? "{}" : "[]") }
        switch content {
        case .list(let list):
            out.open("[")
            for i in 0..<list.count { try value(try list.get(i), facts, depth: depth + 1) }
            out.close("]")
        case .dictionary(let entries):
            out.open("{")
            for i in 0..<entries.count {
                guard case .string(let name) = try entries.key(i) else { continue }
                out.name(Array(name))
                try value(try entries.value(i), facts, depth: depth + 1)
            }
            out.close("}")
        }
    }

    private mutating func value(_ value: Mixed, _ facts: ColumnFacts, depth: Int) throws(RealmError) {
        if facts.type == .mixed {
            var inner = MixedText(group, marksDoubles: true)
            return try inner.write(value) { (bytes) throws(RealmError) in out.raw(Array(bytes)) }
        }
        switch value {
        case .link(let key): try link(facts.oppositeTable, key, depth: depth)
        case .typedLink(let table, let key): try link(table, key, depth: depth)
        default: plain(value)
        }
    }

    /// Writes a value that is no link.
    mutating func plain(_ value: Mixed) {
        switch value {
        case .null, .slot, .list, .dictionary, .link, .typedLink: out.null()
        case .int(let number): out.number(number)
        case .bool(let flag): out.bool(flag)
        case .float(let number): if number.isFinite { out.raw("\(number)") } else { out.text(Self.special(number)) }
        case .double(let number): if number.isFinite { out.raw("\(number)") } else { out.text(Self.special(number)) }
        case .string(let text): out.quoted(text)
        case .binary(let bytes): out.text("\\x" + Self.hex(bytes))
        case .timestamp(let time): out.text(time.wireText)
        case .decimal(let number): out.text(number.wireText)
        case .objectId(let id): out.text("\\x" + id.description)
        case .uuid(let id): out.text(id.description)
        }
    }

    /// The primary key of the target, or the whole content of an embedded object.
    private mutating func link(_ table: TableKey, _ key: ObjKey, depth: Int) throws(RealmError) {
        guard key.raw >= 0, let target = try group.table(table), try target.isValid(key) else { return out.null() }
        guard target.isEmbedded else {
            guard let column = target.primaryKey, let facts = target.facts(column) else { return out.null() }
            return try property(target, key, facts, depth: depth + 1)
        }
        out.open("{")
        for case let facts? in target.facts where facts.type != .backlink {
            guard let column = target.column(facts.key) else { continue }
            out.name(Array(column.name.text.utf8))
            try property(target, key, facts, depth: depth + 1)
        }
        out.close("}")
    }

    private static func special(_ number: some BinaryFloatingPoint) -> String {
        number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
    }

    static func hex(_ bytes: Bytes) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Timestamp {
    /// `2023-11-14 22:13:20.500000000+00`; years before 1 with `BC` behind.
    var wireText: String {
        var wholeSeconds = seconds, fraction = Int64(nanoseconds)
        if fraction < 0 {
            fraction += 1_000_000_000
            wholeSeconds = wholeSeconds == .min ? wholeSeconds : wholeSeconds - 1
        }
        let (days, rest) = wholeSeconds.dividedDown(by: 86400)
        let date = CivilDate(days: days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let year = date.year > 0 ? date.year : 1 - date.year
        var text = "\(padded(year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2)) "
        text += "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        if fraction != 0 { text += "." + padded(fraction, 9) }
        return text + "+00" + (date.year > 0 ? "" : " BC")
    }
}

extension Decimal128 {
    /// A text that PostgreSQL reads as a number. It has no negative zero.
    var wireText: String {
        if isNaN { return "NaN" }
        if isInfinite { return isNegative ? "-Infinity" : "Infinity" }
        return description
    }
}
