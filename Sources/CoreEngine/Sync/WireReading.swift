/// Values of the hub, read by the type of a property. Format: sync.md §4.
struct WireReading {
    let realm: Realm

    /// The first object that a value links to and that this file does not have, since it was set to nil.
    let misses = Misses()

    final class Misses {
        var first: (table: TableKey, key: [UInt8])?
    }

    init(realm: Realm) { self.realm = realm }

    private var group: Group { realm.transaction.group }

    private func invalid(_ table: Table, _ facts: ColumnFacts) -> RealmError {
        let name = table.column(facts.key)?.name.text ?? ""
        return Sync.invalidReply("a value for '\(table.className ?? table.name).\(name)' that the property cannot hold")
    }

    // MARK: Single values

    /// Calls `body` with a single value; false if the text has another type than the property. A link to an object
    /// that does not exist is null.
    func scalar(_ json: JSONValue, _ facts: ColumnFacts, _ body: (Mixed) throws(RealmError) -> Void)
        throws(RealmError) -> Bool
    {
        if facts.type == .mixed { return try mixed(json, body) }
        if facts.type == .link {
            guard let target = try group.table(facts.oppositeTable) else { return false }
            guard let key = try find(json, in: target) else {
                try body(.null)
                return true
            }
            try body(.typedLink(target.key, key))
            return true
        }
        switch (json, facts.type) {
        case (.null, _): try body(.null)
        case (.int(let number), .int): try body(.int(number))
        // PostgreSQL keeps the digits of 1.0 in jsonb and numeric.
        case (.double(let number), .int):
            guard let whole = Int64(exactly: number), number.magnitude < 0x1p53 else { return false }
            try body(.int(whole))
        case (.bool(let flag), .bool): try body(.bool(flag))
        case (.int(let number), .double): try body(.number(Double(number)))
        case (.double(let number), .double): try body(.number(number))
        case (.int(let number), .float): try body(.number(Float(number)))
        case (.double(let number), .float): try body(.number(Float(number)))
        case (.string(let text), .double):
            guard let number = Self.special(text) else { return false }
            try body(.double(number))
        case (.string(let text), .float):
            guard let number = Self.special(text) else { return false }
            try body(.float(Float(number)))
        case (.string(let text), .string): try text.withBytes { (bytes) throws(RealmError) in try body(.string(bytes)) }
        case (.string(let text), .binary):
            guard let data = Self.bytes(text) else { return false }
            try data.withBytes { (bytes) throws(RealmError) in try body(.binary(bytes)) }
        case (.string(let text), .timestamp):
            guard let time = Timestamp(wire: text) else { return false }
            try body(.timestamp(time))
        case (.string(let text), .decimal):
            guard let number = Decimal128(text: text) else { return false }
            try body(.number(number))
        case (.string(let text), .objectId):
            guard let data = Self.bytes(text), data.count == 12 else { return false }
            try data.withBytes { (bytes) throws(RealmError) in try body(.objectId(ObjectId(bytes: bytes.start))) }
        case (.string(let text), .uuid):
            guard let data = Self.hex(text.filter { $0 != UInt8(ascii: "-") }), data.count == 16 else { return false }
            try data.withBytes { (bytes) throws(RealmError) in try body(.uuid(UUIDValue(bytes: bytes.start))) }
        default: return false
        }
        return true
    }

    private func mixed(_ json: JSONValue, _ body: (Mixed) throws(RealmError) -> Void) throws(RealmError) -> Bool {
        switch try mixed(json) {
        case .array, .object: return false
        case let value: try Realm.scalar(value, body)
        }
        return true
    }

    private func mixed(_ json: JSONValue) throws(RealmError) -> JSONValue {
        try JSONValue.mixed(json) { (name, key, isKey) throws(RealmError) in
            guard !isKey, let table = try group.table(named: Format.classPrefix + name), table.primaryKey != nil,
                let found = try? table.find(primaryKey: key)
            else { return .null }
            return .typedLink(table.key, found)
        }
    }

    /// The object with a primary key; nil if there is none, or the value cannot be one.
    func find(_ key: JSONValue, in table: Table) throws(RealmError) -> ObjKey? {
        guard let column = table.primaryKey, let facts = table.facts(column), !key.isNull else { return nil }
        var found: ObjKey?
        _ = try scalar(key, facts) { (value) throws(RealmError) in found = try table.find(primaryKey: value) }
        return found
    }

    /// Finds or creates the object with a primary key.
    func make(_ key: JSONValue, in table: Table) throws(RealmError) -> (key: ObjKey, isNew: Bool) {
        guard let column = table.primaryKey, let facts = table.facts(column), !key.isNull else {
            throw Sync.invalidReply("an object without a primary key")
        }
        var made: (key: ObjKey, isNew: Bool)?
        let fits = try scalar(key, facts) { (value) throws(RealmError) in
            try table.check(value, for: facts)
            made = try realm.changing { () throws(RealmError) in try table.createObject(primaryKey: value) }
        }
        guard fits, let made else { throw invalid(table, facts) }
        return made
    }

    /// A number as text: the hub writes NaN, infinities and −0 so.
    private static func special(_ text: [UInt8]) -> Double? {
        switch String(decoding: text, as: UTF8.self) {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        case let digits: Double(digits)
        }
    }

    /// The bytes of `\x0a1b`.
    private static func bytes(_ text: [UInt8]) -> [UInt8]? {
        text.starts(with: "\\x".utf8) ? hex(text.dropFirst(2)) : nil
    }

    private static func hex(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var all: [UInt8] = [], high: UInt8?
        for byte in text {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66: digit = byte - 0x57
            case 0x41...0x46: digit = byte - 0x37
            default: return nil
            }
            if let first = high { (high, all) = (nil, all + [first << 4 | digit]) } else { high = digit }
        }
        return high == nil ? all : nil
    }

    // MARK: Texts that are equal when the values are

    /// The text that this library would write for a value of the hub.
    ///
    /// - Parameter isShown: leaves out links to objects that this file does not have, and notes the first of them.
    func canonical(
        _ json: JSONValue, _ table: Table, _ facts: ColumnFacts, isShown: Bool = false
    ) throws(RealmError) -> [UInt8] {
        guard facts.isCollection else { return try element(json, table, facts, isShown) }
        var out = JSONText()
        switch (json, facts.shape) {
        case (.null, _): out.raw(facts.shape == .dictionary ? "{}" : "[]")
        case (.object(let members), .dictionary):
            out.open("{")
            for member in members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                out.name(member.name)
                out.raw(try element(member.value, table, facts, isShown))
            }
            out.close("}")
        case (.array(let elements), .list), (.array(let elements), .set):
            out.open("[")
            for one in elements {
                let text = try element(one, table, facts, isShown)
                // A collection has no place for a missing object.
                if isShown, facts.type == .link || facts.type == .mixed, !one.isNull, text.elementsEqual("null".utf8) {
                    continue
                }
                out.raw(text)
            }
            out.close("]")
        default: throw invalid(table, facts)
        }
        return out.bytes
    }

    /// The text of one element, or of a single value.
    func element(
        _ json: JSONValue, _ table: Table, _ facts: ColumnFacts, _ isShown: Bool = false
    ) throws(RealmError) -> [UInt8] {
        if facts.type == .mixed { return isShown ? try shown(json).json : json.json }
        if facts.type == .link {
            guard let target = try group.table(facts.oppositeTable) else { throw invalid(table, facts) }
            if target.isEmbedded { return try embedded(json, target, isShown) }
            guard !json.isNull, let column = target.primaryKey, let key = target.facts(column) else {
                return Array("null".utf8)
            }
            if isShown, try find(json, in: target) == nil {
                if misses.first == nil { misses.first = (target.key, json.json) }
                return Array("null".utf8)
            }
            return try element(json, target, key)
        }
        var text: [UInt8] = []
        let fits = try scalar(json, facts) { (value) throws(RealmError) in text = WireText.scalar(value, facts, group) }
        guard fits else { throw invalid(table, facts) }
        return text
    }

    /// A Mixed value as the file shows it: a link to a missing object is null, and in a list it has no place, as after
    /// the deletion of its object.
    private func shown(_ json: JSONValue) throws(RealmError) -> JSONValue {
        switch json {
        case .array(let elements):
            var kept: [JSONValue] = []
            for one in elements {
                let value = try shown(one)
                if one.isNull || !value.isNull { kept.append(value) }
            }
            return .array(kept)
        case .object(let members):
            // Names that begin so are those of types that JSON lacks.
            if members.first?.name.first == UInt8(ascii: "$") {
                if case .single(let value) = try mixed(json), value.isNull { return .null }
                return json
            }
            var kept: [(name: [UInt8], value: JSONValue)] = []
            for member in members { kept.append((member.name, try shown(member.value))) }
            return .object(kept)
        default: return json
        }
    }

    private func embedded(_ json: JSONValue, _ target: Table, _ isShown: Bool) throws(RealmError) -> [UInt8] {
        guard case .object(let members) = json else { return Array("null".utf8) }
        var out = JSONText()
        out.open("{")
        for case let facts? in target.facts where facts.type != .backlink {
            guard let name = target.column(facts.key)?.name.text.utf8,
                let member = members.first(where: { $0.name.elementsEqual(name) })
            else { continue }
            out.name(Array(name))
            out.raw(try canonical(member.value, target, facts, isShown: isShown))
        }
        out.close("}")
        return out.bytes
    }

    // MARK: Storing

    /// Gives a property a value of the hub, unless it has it.
    /// - Returns: whether the property changed.
    @discardableResult
    func store(_ json: JSONValue, _ table: Table, _ object: ObjKey, _ facts: ColumnFacts) throws(RealmError) -> Bool {
        if facts.isPrimaryKey { return false }
        var wanted = try canonical(json, table, facts)
        let present = try WireText.property(table, object, facts)
        if present == wanted { return false }
        if facts.type == .link || facts.type == .mixed {
            wanted = try canonical(json, table, facts, isShown: true)
            if present == wanted { return false }
        }
        if facts.isCollection {
            try storeElements(try JSONValue.parse(wanted), table, object, facts)
        } else if try isEmbedding(facts) {
            try storeEmbedded(json, table, object, facts)
        } else if facts.type == .mixed {
            try realm.put(try mixed(try JSONValue.parse(wanted)), table.key, object, facts.key)
        } else {
            let fits = try scalar(json, facts) { (value) throws(RealmError) in
                try realm.set(table.key, object, facts.key, value)
            }
            guard fits else { throw invalid(table, facts) }
        }
        return true
    }

    private func isEmbedding(_ facts: ColumnFacts) throws(RealmError) -> Bool {
        guard facts.type == .link else { return false }
        return try group.table(facts.oppositeTable)?.isEmbedded ?? false
    }

    private func storeEmbedded(_ json: JSONValue, _ table: Table, _ object: ObjKey, _ facts: ColumnFacts)
        throws(RealmError)
    {
        if json.isNull { return try realm.set(table.key, object, facts.key, .null) }
        var place = try realm.linkedObject(table.key, object, facts.key)
        if place == nil { place = try realm.setNewObject(table.key, object, facts.key) }
        if let place { try fill(place.0, place.1, json) }
    }

    /// Gives an embedded object the values of a JSON object.
    private func fill(_ key: TableKey, _ object: ObjKey, _ json: JSONValue) throws(RealmError) {
        guard let target = try group.table(key), let members = json.members else { return }
        for case let facts? in target.facts where facts.type != .backlink {
            guard let name = target.column(facts.key)?.name.text.utf8,
                let member = members.first(where: { $0.name.elementsEqual(name) })
            else { continue }
            try store(member.value, target, object, facts)
        }
    }

    private func storeElements(_ json: JSONValue, _ table: Table, _ object: ObjKey, _ facts: ColumnFacts)
        throws(RealmError)
    {
        let path = CollectionPath(table: table.key, object: object, column: facts.key)
        let presentText = try WireText.property(table, object, facts) ?? []
        let present = try JSONValue.parse(presentText)
        switch facts.shape {
        case .dictionary: try storeEntries(json.members ?? [], present.members ?? [], path, table, facts)
        case .set:
            let wanted = (json.elements ?? []).map { ($0, $0.json) }
            let had = (present.elements ?? []).map { ($0, $0.json) }
            let wantedTexts = Set(wanted.map(\.1)), hadTexts = Set(had.map(\.1))
            for (element, text) in had where !wantedTexts.contains(text) {
                _ = try scalar(element, facts) { (value) throws(RealmError) in _ = try realm.eraseFromSet(value, path) }
            }
            for (element, text) in wanted where !hadTexts.contains(text) {
                let fits = try scalar(element, facts) { (value) throws(RealmError) in
                    if facts.type == .link, value.isNull { return }
                    _ = try realm.insertIntoSet(value, path)
                }
                guard fits else { throw invalid(table, facts) }
            }
        default: try storeList(json.elements ?? [], present.elements ?? [], path, table, facts)
        }
    }

    /// Replaces the elements between the common beginning and the common end.
    private func storeList(
        _ wanted: [JSONValue], _ present: [JSONValue], _ path: CollectionPath, _ table: Table, _ facts: ColumnFacts
    ) throws(RealmError) {
        let new = wanted.map(\.json), old = present.map(\.json)
        var start = 0
        while start < min(new.count, old.count), new[start] == old[start] { start += 1 }
        var end = 0
        while end < min(new.count, old.count) - start, new[new.count - 1 - end] == old[old.count - 1 - end] { end += 1 }
        for _ in start..<(old.count - end) { try realm.erase(at: start, in: path) }
        var place = start
        for element in wanted[start..<(wanted.count - end)] {
            switch element {
            case .object where try isEmbedding(facts):
                let made = try realm.insertNewObject(at: place, in: path)
                try fill(made.0, made.1, element)
            case .array where facts.type == .mixed:
                try realm.fill(try realm.insertCollection(.list, at: place, in: path), try mixed(element))
            case .object where facts.type == .mixed:
                switch try mixed(element) {
                case let inner where inner.members != nil:
                    try realm.fill(try realm.insertCollection(.dictionary, at: place, in: path), inner)
                case let inner:
                    try Realm.scalar(inner) { (value) throws(RealmError) in
                        try realm.insert(value, at: place, in: path)
                    }
                }
            default:
                var isMissing = false
                let fits = try scalar(element, facts) { (value) throws(RealmError) in
                    // A list holds no links to objects that do not exist.
                    if facts.type == .link, value.isNull {
                        isMissing = true
                    } else {
                        try realm.insert(value, at: place, in: path)
                    }
                }
                guard fits else { throw invalid(table, facts) }
                if isMissing { continue }
            }
            place += 1
        }
    }

    private func storeEntries(
        _ wanted: [(name: [UInt8], value: JSONValue)], _ present: [(name: [UInt8], value: JSONValue)],
        _ path: CollectionPath, _ table: Table, _ facts: ColumnFacts
    ) throws(RealmError) {
        for entry in present where !wanted.contains(where: { $0.name == entry.name }) {
            try entry.name.withBytes { (name) throws(RealmError) in _ = try realm.eraseKey(name, in: path) }
        }
        for entry in wanted {
            if let old = present.first(where: { $0.name == entry.name }), old.value.json == entry.value.json {
                continue
            }
            try entry.name.withBytes { (name) throws(RealmError) in
                if entry.value.members != nil, try isEmbedding(facts) {
                    let made = try realm.setNewObject(forKey: name, in: path)
                    return try fill(made.0, made.1, entry.value)
                }
                if facts.type == .mixed {
                    let value = try mixed(entry.value)
                    if value.elements != nil || value.members != nil {
                        let shape: CollectionShape = value.elements != nil ? .list : .dictionary
                        // A collection that is there would keep its elements.
                        if present.contains(where: { $0.name == entry.name }) { _ = try realm.eraseKey(name, in: path) }
                        return try realm.fill(try realm.setCollection(shape, forKey: name, in: path), value)
                    }
                }
                let fits = try scalar(entry.value, facts) { (value) throws(RealmError) in
                    _ = try realm.setValue(value, forKey: name, in: path)
                }
                guard fits else { throw invalid(table, facts) }
            }
        }
    }
}

extension WireText {
    /// The text of a single value that is neither Mixed nor a link.
    static func scalar(_ value: Mixed, _ facts: ColumnFacts, _ group: Group) -> [UInt8] {
        var text = WireText(group)
        text.plain(value)
        return text.out.bytes
    }
}

extension Timestamp {
    /// Reads `2023-11-14 22:13:20.5+00`, with `T` in place of the space, and seconds since 1970 as `1700000000.123456`.
    /// nil for other texts, and for times that are no numbers.
    init?(wire: [UInt8]) {
        var rest = wire[...]
        func digits() -> (value: Int64, count: Int)? {
            var value: Int64 = 0, count = 0
            while let byte = rest.first, byte >= 0x30, byte <= 0x39, count < 18 {
                value = value * 10 + Int64(byte - 0x30)
                count += 1
                rest = rest.dropFirst()
            }
            return count > 0 ? (value, count) : nil
        }
        func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }
        func fraction() -> Int32? {
            guard take(UInt8(ascii: ".")) else { return 0 }
            guard let part = digits(), part.count <= 18 else { return nil }
            var value = part.value
            for _ in part.count..<max(9, part.count) { value *= 10 }
            for _ in 9..<max(9, part.count) { value /= 10 }
            return Int32(value)
        }
        let isNegative = take(UInt8(ascii: "-"))
        guard let first = digits() else { return nil }
        if isNegative || !rest.contains(UInt8(ascii: "-")) {
            guard let part = fraction(), rest.isEmpty else { return nil }
            self.init(seconds: isNegative ? -first.value : first.value, nanoseconds: isNegative ? -part : part)
            return
        }
        guard take(UInt8(ascii: "-")), let month = digits(), take(UInt8(ascii: "-")), let day = digits(),
            take(UInt8(ascii: "T")) || take(UInt8(ascii: " ")), let hour = digits(), take(UInt8(ascii: ":")),
            let minute = digits(), take(UInt8(ascii: ":")), let second = digits(), let part = fraction(),
            1...12 ~= month.value, 1...31 ~= day.value, hour.value < 25, minute.value < 60, second.value < 61,
            first.value < 1_000_000_000_000
        else { return nil }
        var offset: Int64 = 0
        if !rest.isEmpty, rest.first != UInt8(ascii: " ") {
            let isWest = take(UInt8(ascii: "-"))
            guard isWest || take(UInt8(ascii: "+")), let hours = digits() else { return nil }
            offset = hours.value * 3600
            if take(UInt8(ascii: ":")), let minutes = digits() { offset += minutes.value * 60 }
            if isWest { offset = -offset }
        }
        let isBeforeChrist = rest.elementsEqual(" BC".utf8)
        guard rest.isEmpty || isBeforeChrist else { return nil }
        let days =
            CivilDate.days(year: isBeforeChrist ? 1 - first.value : first.value, month: month.value) + day.value - 1
        // The midnight before the first time is no time: so that behind it is formed.
        let isBefore = days < 0
        let (midnight, isTooFar) = (isBefore ? days + 1 : days).multipliedReportingOverflow(by: 86400)
        let inDay = hour.value * 3600 + minute.value * 60 + second.value - offset - (isBefore ? 86400 : 0)
        let (sum, isOver) = midnight.addingReportingOverflow(inDay)
        guard !isTooFar, !isOver else { return nil }
        var seconds = sum
        var nanoseconds = part
        if seconds < 0, nanoseconds > 0 { (seconds, nanoseconds) = (seconds + 1, nanoseconds - 1_000_000_000) }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
