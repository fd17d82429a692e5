/// One object as one line of JSON: its properties in column order; links as keys, embedded objects in full.
///
/// Scalars that JSON lacks: dates as `"2023-11-14 22:13:20.5"` (UTC), binaries as base64, decimals, ids and UUIDs as
/// text; `nan`, `inf` bare. A link inside a Mixed value is `{ "$link": {"table": "Dog", "key": 0}}`.
extension Realm {
    package func json(_ table: TableKey, _ object: ObjKey) throws(RealmError) -> String {
        let t = try objectTable(table)
        guard try t.isValid(object) else { throw invalidated() }
        var writer = ObjectWriter(group: try reading().group)
        writer.group.startWalk()
        try writer.object(t, object)
        // The text is copied once more for a program in C.
        try CMemory.expect(writer.out.count, each: 2)
        return String(decoding: writer.out, as: UTF8.self)
    }
}

/// Writes JSON, of values that stand in one snapshot.
struct ObjectWriter {
    let group: Group
    var out: [UInt8] = []

    /// Chains of embedded objects may be longer: that is no damage.
    private static var tooDeep: RealmError {
        RealmError(
            .limitExceeded, "Objects and collections are nested more than \(Trees.maxNesting) deep: too deep for JSON")
    }

    /// Calls `body` with the text of a Mixed value of a property.
    mutating func write(_ v: Mixed, _ c: Column, _ body: (Bytes) throws(RealmError) -> Void) throws(RealmError) {
        out.removeAll(keepingCapacity: true)
        ownBytes = 0
        open.removeAll(keepingCapacity: true)
        group.startWalk()
        try value(v, c)
        try out.withBytes(body)
    }

    /// Bytes of the object's own texts: in a sound file each stands in bytes of its own.
    private var ownBytes = 0
    private var mostOwnBytes: Int?

    init(group: Group) { self.group = group }

    mutating func put(_ text: String) throws(RealmError) {
        try makeRoom(text.utf8.count)
        out.append(contentsOf: text.utf8)
    }

    private mutating func makeRoom(_ more: Int) throws(RealmError) {
        guard more <= Self.mostBytes - out.count else {
            throw RealmError(.limitExceeded, "The text of an object has more than 2 GB")
        }
        try out.makeRoom(for: more)
    }

    private static let mostBytes = Int(Int32.max)

    /// Counts a text or binary before any memory is taken for it: a file in which many values share their bytes would
    /// fill all there is.
    private mutating func countOwn(_ b: Bytes) throws(RealmError) {
        ownBytes += b.count
        guard ownBytes > NodeStore.unmeasured else { return }
        let most = mostOwnBytes ?? group.store.measuredExtent
        mostOwnBytes = most
        guard ownBytes <= most else { throw .corrupt("texts that share their bytes") }
    }

    mutating func quoted(_ b: some Collection<UInt8>) throws(RealmError) {
        var escaped = 0
        for c in b where c == 0x22 || c == 0x5C || c < 0x20 { escaped += 1 }
        try makeRoom(b.count + escaped + 2)
        // A text has at most 16 MB.
        try group.store.test()
        out.append(0x22)
        for c in b {
            switch c {
            case 0x22: out.append(contentsOf: "\\\"".utf8)
            case 0x5C: out.append(contentsOf: "\\\\".utf8)
            case 0x08: out.append(contentsOf: "\\b".utf8)
            case 0x0C: out.append(contentsOf: "\\f".utf8)
            case 0x0A: out.append(contentsOf: "\\n".utf8)
            case 0x0D: out.append(contentsOf: "\\r".utf8)
            case 0x09: out.append(contentsOf: "\\t".utf8)
            default: out.append(c)
            }
        }
        out.append(0x22)
    }

    // MARK: What is inside of what

    /// An object or collection whose end was not written yet. The way is kept on the heap: the thread may have a small
    /// stack.
    private struct Open {
        enum Content {
            case object(Table, ObjKey, [Column], isFirst: Bool)
            case list(ElementList, Column)
            case dictionary(ElementDictionary, Column)
            /// What stands behind a link.
            case end(StaticString)
        }

        var content: Content

        /// The property or element that comes next.
        var next = 0
        let depth: Int
    }

    private var open: [Open] = []

    /// An object in full.
    mutating func object(_ t: Table, _ key: ObjKey) throws(RealmError) {
        try begin(t, key, depth: 0)
        try finish()
    }

    /// - Parameter c: the property that the value belongs to.
    mutating func value(_ v: Mixed, _ c: Column) throws(RealmError) {
        try value(v, c, depth: 0)
        try finish()
    }

    /// Writes all that was begun.
    private mutating func finish() throws(RealmError) {
        while let last = open.last {
            let i = last.next, depth = last.depth
            open[open.count - 1].next = i + 1
            switch last.content {
            case .end(let text):
                open.removeLast()
                try put(text.description)
            case .object(let t, let key, let columns, let isFirst):
                guard i < columns.count else {
                    try close("}")
                    continue
                }
                if i > 0 || !isFirst { try put(",") }
                try property(columns[i], t, key, depth)
            case .list(let l, let c):
                guard i < l.count else {
                    try close("]")
                    continue
                }
                if i > 0 { try put(",") }
                try value(try l.get(i), c, depth: depth)
            case .dictionary(let d, let c):
                guard i < d.count else {
                    try close("}")
                    continue
                }
                if i > 0 { try put(",") }
                if case .string(let name) = try d.key(i) { try quoted(name) } else { try put("\"\"") }
                try put(":")
                try value(try d.value(i), c, depth: depth)
            }
        }
    }

    private mutating func close(_ text: String) throws(RealmError) {
        open.removeLast()
        try put(text)
    }

    private mutating func begin(_ t: Table, _ key: ObjKey, depth: Int) throws(RealmError) {
        guard depth < Trees.maxNesting else { throw Self.tooDeep }
        try put("{")
        let hasKey = !t.isEmbedded && t.primaryKey == nil
        if hasKey { try put("\"_key\":\(key.raw)") }
        open.append(Open(content: .object(t, key, Array(t.publicColumns), isFirst: !hasKey), depth: depth))
    }

    private mutating func property(_ c: Column, _ t: Table, _ key: ObjKey, _ depth: Int) throws(RealmError) {
        try quoted(c.name.utf8)
        try put(":")
        guard let facts = t.facts(c.key), let v = try t.get(key, facts) else { return try put("null") }
        guard case .slot = v else { return try value(v, c, depth: depth) }
        var path = CollectionPath(table: t.key, object: key, column: c.key)
        path.steps = []
        if let content = try group.resolve(path) { try begin(content, c, depth: depth) } else { try put("null") }
    }

    private mutating func begin(_ content: CollectionContent, _ c: Column, depth: Int) throws(RealmError) {
        guard depth < Trees.maxNesting else { throw Self.tooDeep }
        try group.store.test()
        switch content {
        case .list(let l):
            try put("[")
            open.append(Open(content: .list(l, c), depth: depth))
        case .dictionary(let d):
            try put("{")
            open.append(Open(content: .dictionary(d, c), depth: depth))
        }
    }

    /// Writes a plain value, and begins a collection or an embedded object.
    ///
    /// - Parameter countsBytes: false for the key of a linked object, which may stand in any number of links.
    private mutating func value(_ v: Mixed, _ c: Column, depth: Int, countsBytes: Bool = true) throws(RealmError) {
        switch v {
        case .string(let b):
            if countsBytes { try countOwn(b) }
            try quoted(b)
        case .binary(let b):
            if countsBytes { try countOwn(b) }
            // As characters, as a text, and here.
            try CMemory.expect(b.count, each: 5)
            try quoted(Crypto.base64(b).utf8)
        case .link(let k): try link(c.oppositeTable, k, depth: depth)
        case .typedLink(_, let k) where c.type == .link: try link(c.oppositeTable, k, depth: depth)
        case .typedLink(let t, let k):
            try put("{ \"$link\": {\"table\": ")
            try quoted((try group.table(t)?.className ?? "").utf8)
            try put(", \"key\": ")
            open.append(Open(content: .end("}}"), depth: depth))
            try link(t, k, depth: depth)
        case .list(let r):
            try group.enterNested(at: r)
            try begin(.list(ElementList(group.store, root: r, kind: .mixed, target: .null)), c, depth: depth + 1)
        case .dictionary(let r):
            try group.enterNested(at: r)
            try begin(
                .dictionary(ElementDictionary(group.store, root: r, keyType: .string, format: Format.currentVersion)),
                c, depth: depth + 1)
        default: try scalar(v)
        }
    }

    private mutating func scalar(_ v: Mixed) throws(RealmError) {
        switch v {
        case .int(let i): try put(String(i))
        case .bool(let b): try put(b ? "true" : "false")
        case .float(let f): try put(number(Double(f), digits: 7))
        case .double(let d): try put(number(d, digits: 16))
        case .timestamp(let t): try quoted(t.text.utf8)
        case .decimal(let d): try quoted(d.jsonText.utf8)
        case .objectId(let o): try quoted(o.description.utf8)
        case .uuid(let u): try quoted(u.description.utf8)
        default: try put("null")
        }
    }

    /// An embedded object in full; of others the primary key, or the object key.
    private mutating func link(_ table: TableKey, _ k: ObjKey, depth: Int) throws(RealmError) {
        guard !k.isNull, !k.isUnresolved, let t = try group.table(table) else { return try put("null") }
        if t.isEmbedded { return try begin(t, k, depth: depth + 1) }
        guard let pk = t.primaryKey, let c = t.column(pk), let facts = t.facts(pk) else {
            return try put(String(k.raw))
        }
        try value(try t.get(k, facts) ?? .null, c, depth: depth, countsBytes: false)
    }

    private func number(_ d: Double, digits: Int) -> String {
        if d.isNaN { return "nan" }
        if d.isInfinite { return d < 0 ? "-inf" : "inf" }
        return Platform.scientific(d, digits: digits)
    }
}

extension Timestamp {
    /// `2023-11-14 22:13:20.500000000` in UTC; the fraction only when there is one.
    public var text: String {
        var s = seconds, ns = Int64(nanoseconds)
        if ns < 0 {
            ns += 1_000_000_000
            s = s == .min ? s : s - 1
        }
        var days = s / 86400, rest = s % 86400
        if rest < 0 {
            rest += 86400
            days -= 1
        }
        // Civil date from days since 1970-03-01-based eras of 400 years (proleptic Gregorian calendar).
        let z = days + 719468
        let era = (z >= 0 ? z : z - 146096) / 146097
        let doe = z - era * 146097
        let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100)
        let mp = (5 * doy + 2) / 153
        let day = doy - (153 * mp + 2) / 5 + 1
        let month = mp < 10 ? mp + 3 : mp - 9
        let year = yoe + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ v: Int64, _ width: Int) -> String {
            let text = String(v.magnitude)
            return (v < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        var text =
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2)) \(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        if ns != 0 { text += "." + padded(ns, 9) }
        return text
    }
}

extension Decimal128 {
    /// Plain digits where the point stands inside them, scientific otherwise.
    fileprivate var jsonText: String {
        if isNaN { return isNegative ? "-NaN" : "NaN" }
        if isInfinite { return isNegative ? "-Inf" : "Inf" }
        let (coefficient, exponent) = parts
        let sign = isNegative ? "-" : ""
        if coefficient == 0 && exponent == 0 { return sign + "0" }
        let digits = String(coefficient)
        // Long coefficients stand whole, with signs throughout.
        if coefficient > UInt128(UInt64.max) {
            return (isNegative ? "-" : "+") + digits + "E" + (exponent < 0 ? "-" : "+") + String(exponent.magnitude)
        }
        if exponent == 0 { return sign + digits }
        let point = digits.utf8.count + exponent
        if exponent < 0 && point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
        let tail = digits.dropFirst()
        return sign + digits.prefix(1) + (tail.isEmpty ? "" : "." + tail) + "E" + String(point - 1)
    }
}
