/// One object as one line of JSON: its properties in column order, links as keys, embedded objects in full.
///
/// Scalars that JSON lacks: dates as `"2023-11-14 22:13:20.5"` (UTC), binaries as base64, decimals, ids and UUIDs as
/// text; `nan` and `inf` without quotes. A link inside a Mixed value is `{ "$link": {"table": "Dog", "key": 0}}`.
extension Realm {
    package func json(_ tableKey: TableKey, _ object: ObjKey) throws(RealmError) -> String {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        var writer = ObjectWriter(group: try reading().group)
        writer.group.startWalk()
        try writer.object(table, object)
        // A program in C gets a second copy of the text.
        try CMemory.expect(writer.out.bytes.count, each: 2)
        return writer.out.text
    }
}

/// Writes values of one snapshot as JSON.
struct ObjectWriter {
    let group: Group
    private(set) var out = JSONText(.realm)

    /// Chains of embedded objects may be longer than that: the file is not damaged.
    private static var tooDeep: RealmError {
        RealmError(
            .limitExceeded, "Objects and collections are nested more than \(Tables.maxNesting) deep: too deep for JSON")
    }

    /// Calls `body` with the text of a Mixed value of a property.
    mutating func write(_ mixed: Mixed, _ column: Column, _ body: (Bytes) throws(RealmError) -> Void) throws(RealmError)
    {
        out.clear()
        ownBytes = 0
        open.removeAll(keepingCapacity: true)
        group.startWalk()
        try value(mixed, column)
        try out.bytes.withBytes(body)
    }

    /// The bytes of the object's own texts and binaries so far. In a valid file no two of them share bytes.
    private var ownBytes = 0
    private var mostOwnBytes: Int?

    init(group: Group) { self.group = group }

    /// Adds a value that is JSON already.
    private mutating func put(_ text: String) throws(RealmError) {
        try makeRoom(text.utf8.count + 1)
        out.raw(text)
    }

    private mutating func makeRoom(_ more: Int) throws(RealmError) {
        guard more <= Self.mostBytes - out.bytes.count else {
            throw RealmError(.limitExceeded, "The text of an object has more than 2 GB")
        }
        try out.makeRoom(for: more)
    }

    private static let mostBytes = Int(Int32.max)

    /// Counts a text or binary before memory is allocated for it. In a damaged file many values may share their bytes,
    /// and their text would fill all memory.
    private mutating func countOwn(_ bytes: Bytes) throws(RealmError) {
        ownBytes += bytes.count
        guard ownBytes > Group.unmeasured else { return }
        let most = mostOwnBytes ?? group.measuredExtent
        mostOwnBytes = most
        guard ownBytes <= most else { throw .corrupt("texts that share their bytes") }
    }

    private mutating func quoted(_ bytes: some Collection<UInt8>) throws(RealmError) {
        try makeRoom(out.mostBytes(of: bytes))
        // Checked once per text: a text has at most 16 MB.
        try group.test()
        out.quoted(bytes)
    }

    // MARK: Nesting

    /// An object or collection whose end was not written yet. These are kept on the heap, because the thread may have a
    /// small stack.
    private struct Open {
        enum Content {
            case object(Table, ObjKey, [Column])
            case list(ElementList, Column)
            case dictionary(ElementDictionary, Column)
            /// The text after a link.
            case end(StaticString)
        }

        var content: Content

        /// The index of the next property or element.
        var next = 0
        let depth: Int
    }

    private var open: [Open] = []

    /// Writes an object in full.
    mutating func object(_ table: Table, _ key: ObjKey) throws(RealmError) {
        try begin(table, key, depth: 0)
        try finish()
    }

    /// Writes a value.
    ///
    /// - Parameter column: the property of the value.
    mutating func value(_ mixed: Mixed, _ column: Column) throws(RealmError) {
        try value(mixed, column, depth: 0)
        try finish()
    }

    /// Writes the rest of everything that was begun.
    private mutating func finish() throws(RealmError) {
        while let last = open.last {
            let index = last.next, depth = last.depth
            open[open.count - 1].next = index + 1
            switch last.content {
            case .end(let text):
                try close(text)
            case .object(let table, let key, let columns):
                guard index < columns.count else {
                    try close("}")
                    continue
                }
                try property(columns[index], table, key, depth)
            case .list(let list, let column):
                guard index < list.count else {
                    try close("]")
                    continue
                }
                try value(try list.get(index), column, depth: depth)
            case .dictionary(let dictionary, let column):
                guard index < dictionary.count else {
                    try close("}")
                    continue
                }
                if case .string(let name) = try dictionary.key(index) { try quoted(name) } else { try put("\"\"") }
                out.join(":")
                try value(try dictionary.value(index), column, depth: depth)
            }
        }
    }

    private mutating func begin(_ text: StaticString) throws(RealmError) {
        try makeRoom(text.utf8CodeUnitCount + 1)
        out.open(text)
    }

    private mutating func close(_ text: StaticString) throws(RealmError) {
        open.removeLast()
        try makeRoom(text.utf8CodeUnitCount)
        out.close(text)
    }

    private mutating func begin(_ table: Table, _ key: ObjKey, depth: Int) throws(RealmError) {
        guard depth < Tables.maxNesting else { throw Self.tooDeep }
        try begin("{")
        if !table.isEmbedded, table.primaryKey == nil {
            try quoted("_key".utf8)
            out.join(":")
            try put(String(key.raw))
        }
        open.append(Open(content: .object(table, key, Array(table.publicColumns)), depth: depth))
    }

    private mutating func property(_ column: Column, _ table: Table, _ key: ObjKey, _ depth: Int) throws(RealmError) {
        try quoted(column.name.utf8)
        out.join(":")
        guard let facts = table.facts(column.key), let mixed = try table.get(key, facts) else { return try put("null") }
        guard case .slot = mixed else { return try value(mixed, column, depth: depth) }
        var path = CollectionPath(table: table.key, object: key, column: column.key)
        path.steps = []
        if let content = try group.resolve(path) { try begin(content, column, depth: depth) } else { try put("null") }
    }

    private mutating func begin(_ content: CollectionContent, _ column: Column, depth: Int) throws(RealmError) {
        guard depth < Tables.maxNesting else { throw Self.tooDeep }
        try group.test()
        switch content {
        case .list(let list):
            try begin("[")
            open.append(Open(content: .list(list, column), depth: depth))
        case .dictionary(let dictionary):
            try begin("{")
            open.append(Open(content: .dictionary(dictionary, column), depth: depth))
        }
    }

    /// Writes a plain value, or begins a collection or an embedded object.
    ///
    /// - Parameter countsBytes: false for the primary key of a linked object, which any number of links may repeat.
    private mutating func value(_ mixed: Mixed, _ column: Column, depth: Int, countsBytes: Bool = true)
        throws(RealmError)
    {
        switch mixed {
        case .string(let bytes):
            if countsBytes { try countOwn(bytes) }
            try quoted(bytes)
        case .binary(let bytes):
            if countsBytes { try countOwn(bytes) }
            // Copies exist as characters, as a text, and in `out`.
            try CMemory.expect(bytes.count, each: 5)
            try quoted(Base64.encode(bytes).utf8)
        case .link(let key): try link(column.oppositeTable, key, depth: depth)
        case .typedLink(_, let key) where column.type == .link: try link(column.oppositeTable, key, depth: depth)
        case .typedLink(let target, let key):
            try begin("{ \"$link\": {\"table\": ")
            try quoted((try group.table(target)?.className ?? "").utf8)
            try makeRoom(10)
            out.join(", \"key\": ")
            open.append(Open(content: .end("}}"), depth: depth))
            try link(target, key, depth: depth)
        case .list(let root):
            try group.enterNested(at: root)
            try begin(
                .list(ElementList(group.store, root: root, kind: .mixed, target: .null)), column, depth: depth + 1)
        case .dictionary(let root):
            try group.enterNested(at: root)
            try begin(
                .dictionary(
                    ElementDictionary(group.store, root: root, keyType: .string, format: Format.currentVersion)),
                column, depth: depth + 1)
        default: try scalar(mixed)
        }
    }

    private mutating func scalar(_ mixed: Mixed) throws(RealmError) {
        switch mixed {
        case .int(let value): try put(String(value))
        case .bool(let value): try put(value ? "true" : "false")
        case .float(let value): try put(number(Double(value), digits: 7))
        case .double(let value): try put(number(value, digits: 16))
        case .timestamp(let value): try quoted(value.text.utf8)
        case .decimal(let value): try quoted(value.jsonText.utf8)
        case .objectId(let value): try quoted(value.description.utf8)
        case .uuid(let value): try quoted(value.description.utf8)
        default: try put("null")
        }
    }

    /// Writes an embedded object in full; for other objects the primary key, or the object key without one.
    private mutating func link(_ tableKey: TableKey, _ key: ObjKey, depth: Int) throws(RealmError) {
        guard !key.isNull, !key.isUnresolved, let table = try group.table(tableKey) else { return try put("null") }
        if table.isEmbedded { return try begin(table, key, depth: depth + 1) }
        guard let keyColumn = table.primaryKey, let column = table.column(keyColumn), let facts = table.facts(keyColumn)
        else {
            return try put(String(key.raw))
        }
        try value(try table.get(key, facts) ?? .null, column, depth: depth, countsBytes: false)
    }

    private func number(_ value: Double, digits: Int) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        return CNumbers.scientific(value, digits: digits)
    }
}

extension Timestamp {
    /// `2023-11-14 22:13:20.500000000` in UTC; without a fraction when it is 0.
    public var text: String {
        var wholeSeconds = seconds, ns = Int64(nanoseconds)
        if ns < 0 {
            ns += 1_000_000_000
            wholeSeconds = wholeSeconds == .min ? wholeSeconds : wholeSeconds - 1
        }
        var days = wholeSeconds / 86400, rest = wholeSeconds % 86400
        if rest < 0 {
            rest += 86400
            days -= 1
        }
        // Civil date from days, in eras of 400 years that begin on March 1 (proleptic Gregorian calendar).
        let shifted = days + 719468
        let era = (shifted >= 0 ? shifted : shifted - 146096) / 146097
        let dayOfEra = shifted - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        var text =
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2)) \(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        if ns != 0 { text += "." + padded(ns, 9) }
        return text
    }
}

extension Decimal128 {
    /// Plain digits when the decimal point is inside the digits, scientific notation otherwise.
    fileprivate var jsonText: String {
        if isNaN { return isNegative ? "-NaN" : "NaN" }
        if isInfinite { return isNegative ? "-Inf" : "Inf" }
        let (coefficient, exponent) = parts
        let sign = isNegative ? "-" : ""
        if coefficient == 0 && exponent == 0 { return sign + "0" }
        let digits = String(coefficient)
        // Long coefficients are written as integers with an exponent, each with a sign.
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
