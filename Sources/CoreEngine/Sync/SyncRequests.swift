/// The texts of requests. Protocol: docs/sync.md.
struct SyncRequests {
    /// The greatest number of rows of one page.
    static let pageSize: Int64 = 5000

    private let realm: Realm
    private let tables: MarkTables

    init(_ realm: Realm, _ tables: MarkTables) {
        self.realm = realm
        self.tables = tables
    }

    /// What the hub must know about this file, and which batch it should have received last.
    func hello() throws(RealmError) -> [UInt8] {
        var out = JSONText()
        out.open("{")
        out.field("protocol") { $0.number(Sync.version) }
        let device = try tables.text(.device), batch = try tables.integer(.batch)
        out.field("device") { $0.text(device) }
        out.field("batch") { $0.number(batch) }
        out.name("classes".utf8)
        out.open("{")
        for one in try tables.all() {
            guard let name = one.table.className else { continue }
            out.name(Array(name.text.utf8))
            out.open("{")
            for column in one.table.spec.columns where !column.isBacklink {
                out.name(Array(column.name.text.utf8))
                out.text(try kind(column, one.table))
            }
            out.close("}")
        }
        out.close("}")
        out.close("}")
        return out.bytes
    }

    /// The kind of a property, as the hub declares it.
    private func kind(_ column: Column, _ table: Table) throws(RealmError) -> String {
        var text: String
        switch column.type {
        case .int: text = "int"
        case .bool: text = "bool"
        case .string: text = "string"
        case .binary: text = "data"
        case .timestamp: text = "date"
        case .float: text = "float"
        case .double: text = "double"
        case .decimal: text = "decimal"
        case .objectId: text = "objectId"
        case .uuid: text = "uuid"
        case .link:
            let target = try table.group.table(column.oppositeTable)
            text = target?.isEmbedded ?? false ? "embedded" : "link"
        default: text = "mixed"
        }
        if column.isList { text += "[]" }
        if column.isSet { text += "<>" }
        if column.isDictionary { text += "{}" }
        return text
    }

    func pull(_ session: SyncSession) throws(RealmError) -> [UInt8] {
        var out = JSONText()
        out.open("{")
        let device = try tables.text(.device)
        out.field("device") { $0.text(device) }
        out.field("schema") { $0.text(session.schema) }
        out.field("cursor") { $0.text(session.pull.cursor) }
        out.field("limit") { $0.number(Self.pageSize) }
        if let after = session.pull.after { out.field("after") { after.write(to: &$0) } }
        // The hub may have classes that this file does not have, or does not synchronise.
        let names = try tables.all().compactMap(\.table.className).filter { session.columns[$0] != nil }.sorted()
        out.field("classes") { $0.array(names) { $0.text($1.text) } }
        out.field("compare") { $0.array(session.pull.compared) { $0.text($1.text) } }
        try writeSubsets(&out)
        // Of a class without objects, nothing can leave.
        var empty: [Name] = []
        for one in try tables.all() {
            if let name = one.table.className, try one.table.count() == 0 { empty.append(name) }
        }
        if !session.pull.isSecond, !empty.isEmpty { out.field("empty") { $0.array(empty) { $0.text($1.text) } } }
        out.close("}")
        return out.bytes
    }

    /// Writes the member `where`, for files that have subsets.
    func writeSubsets(_ out: inout JSONText) throws(RealmError) {
        let all = try tables.all().filter { !$0.subset.isEmpty }
        if all.isEmpty { return }
        out.name("where".utf8)
        out.open("{")
        for one in all {
            guard let name = one.table.className else { continue }
            out.name(Array(name.text.utf8))
            out.raw(try SubsetCondition.json(one.subset, one.table))
        }
        out.close("}")
    }

    // MARK: Batches

    /// Whether there are unsent changes that the hub can take.
    func hasPending(_ columns: [Name: Set<Name>]) throws(RealmError) -> Bool {
        for one in try tables.all() {
            guard let name = one.table.className, let known = columns[name] else { continue }
            for key in try one.pending.keys() {
                // Changes of properties that the hub lacks wait.
                guard let change = try one.pending.get(key) else { continue }
                if change.state != .changed || change.properties.isEmpty { return true }
                for property in change.properties {
                    guard let column = one.table.column(property.column), !known.contains(column.name) else {
                        return true
                    }
                }
            }
        }
        return false
    }

    /// Turns all unsent changes into a batch, and stores it. Changes of properties that the hub does not have stay.
    ///
    /// - Parameter columns: the properties of the hub.
    /// - Returns: the request; nil if there is nothing that the hub can take.
    ///   untold: receives what the program should know.
    func freeze(_ columns: [Name: Set<Name>], _ untold: inout [SyncEvent]) throws(RealmError) -> [UInt8]? {
        var rows = JSONText()
        rows.open("[")
        var links = try MissingLinks(tables.group)
        var count = 0
        for one in try tables.all() {
            guard let name = one.table.className, let known = columns[name] else { continue }
            let deletions = try deletions(one)
            for key in try one.pending.keys() {
                try one.table.test()
                guard let change = try one.pending.get(key) else { continue }
                var row = JSONText()
                guard try write(change, of: key, one, known, deletions, &row, &links, &untold) else { continue }
                if Self.hasZero(row.bytes) {
                    guard let short = try refuse(row.bytes, one, &untold) else { continue }
                    row = short
                }
                rows.raw(row.bytes)
                count += 1
            }
        }
        rows.close("]")
        guard count > 0 else { return nil }
        let number = try tables.integer(.batch) + 1, before = try tables.text(.chain)
        let device = try tables.text(.device)
        let chain = Self.chain(before, rows.bytes)
        var out = JSONText()
        out.open("{")
        out.field("device") { $0.text(device) }
        out.field("number") { $0.number(number) }
        out.field("before") { $0.text(before) }
        out.field("chain") { $0.text(chain) }
        out.field("rows") { $0.raw(rows.bytes) }
        out.close("}")
        try tables.setInflight(number, out.bytes)
        return out.bytes
    }

    /// The times of unsent deletions, by primary key: an object of that key may have been made again.
    private func deletions(_ one: MarkTables.SyncedClass) throws(RealmError) -> [[UInt8]: Int64] {
        var all: [[UInt8]: Int64] = [:]
        for key in try one.pending.keys() {
            if let change = try one.pending.get(key), change.state == .deleted { all[change.key] = change.clock }
        }
        return all
    }

    /// The digest of all batches up to this one.
    private static func chain(_ before: String, _ rows: [UInt8]) -> String {
        (Array(before.utf8) + rows).withUnsafeBytes { all in
            Crypto.digest(all, count: 16).withUnsafeBytes { WireText.hex($0) }
        }
    }

    /// Writes the unsent changes of one object, and removes them.
    /// - Returns: whether there was anything to send.
    private func write(
        _ change: PendingObject, of key: ObjKey, _ one: MarkTables.SyncedClass, _ known: Set<Name>,
        _ deletions: [[UInt8]: Int64], _ out: inout JSONText, _ links: inout MissingLinks, _ untold: inout [SyncEvent]
    ) throws(RealmError) -> Bool {
        let table = one.table
        let isThere = try table.isValid(key)
        guard change.state == .deleted || isThere else {
            try one.pending.remove(key)
            return false
        }
        var id = change.key
        if change.state != .deleted { id = try WireText.primaryKey(table, key) ?? [] }
        guard !id.isEmpty, id != Array("null".utf8) else {
            let reason = "An object without a primary key cannot be synchronised"
            let name = (table.className ?? table.name).text
            try tables.addRefused(name, key: "null", reason: reason, change: "")
            untold.append(SyncEvent(kind: .refused, className: name, key: "null", detail: reason))
            try one.pending.remove(key)
            return false
        }
        // It was made again: the row of the new object tells of the deletion.
        if change.state == .deleted, try WireReading(realm: realm).find(try JSONValue.parse(id), in: table) != nil {
            try one.pending.remove(key)
            return false
        }
        var kept = change
        kept.properties = []
        var sent: [(facts: ColumnFacts, name: Name, property: PendingProperty)] = []
        if change.state == .created {
            for case let facts? in table.facts where facts.type != .backlink && !facts.isPrimaryKey {
                guard let name = table.column(facts.key)?.name, known.contains(name) else { continue }
                let isMerged = WireText.isMerged(facts, table.group)
                let clock = change.property(facts.key)?.clock ?? change.clock
                sent.append(
                    (facts, name, PendingProperty(column: facts.key, kind: isMerged ? .collection : .set, clock: clock))
                )
            }
        } else {
            for property in change.properties {
                guard let facts = table.facts(property.column), let name = table.column(facts.key)?.name else {
                    continue
                }
                if known.contains(name) {
                    sent.append((facts, name, property))
                } else {
                    kept.properties.append(property)
                }
            }
        }
        if change.state == .changed, !kept.properties.isEmpty {
            try one.pending.put(key, kept)
        } else {
            try one.pending.remove(key)
        }
        if change.state == .changed, sent.isEmpty { return false }
        // The program has given these properties other values than those that the hub had.
        if !links.entries.isEmpty {
            for (facts, _, _) in sent {
                try links.drop(MissingLinks.Place(table: table.key, key: id, column: facts.key))
            }
        }
        out.open("{")
        out.field("c") { $0.text((table.className ?? table.name).text) }
        out.field("k") { $0.raw(id) }
        out.field("t") { $0.text(change.state == .created ? "new" : change.state == .deleted ? "del" : "set") }
        out.field("clk") { $0.number(change.lastClock) }
        if change.state == .created {
            out.field("b") { $0.number(change.clock) }
            if let deleted = deletions[id] { out.field("d") { $0.number(deleted) } }
        }
        out.field("o") { $0.number(key.raw) }
        for (kind, title) in [(PendingProperty.Kind.set, "v"), (.add, "a"), (.collection, "m")] {
            let own = sent.filter { $0.property.kind == kind }
            if own.isEmpty { continue }
            out.name(Array(title.utf8))
            out.open("{")
            for (facts, name, property) in own {
                out.name(Array(name.text.utf8))
                out.open("[")
                out.number(property.clock)
                switch kind {
                case .add: out.number(property.delta)
                case .set: out.raw(try WireText.property(table, key, facts) ?? Array("null".utf8))
                case .collection:
                    out.raw(property.before.isEmpty ? Self.empty(facts) : property.before)
                    out.raw(try WireText.property(table, key, facts) ?? Array("null".utf8))
                }
                out.close("]")
            }
            out.close("}")
        }
        out.close("}")
        return true
    }

    // MARK: Texts that PostgreSQL cannot store

    /// Whether a JSON text has a character U+0000 in one of its texts.
    private static func hasZero(_ json: [UInt8]) -> Bool {
        let backslash = UInt8(ascii: "\\")
        guard json.contains(backslash) else { return false }
        var i = 0
        while i + 5 < json.count {
            if json[i] == backslash {
                if json[(i + 1)...(i + 5)].elementsEqual("u0000".utf8) { return true }
                i += 1
            }
            i += 1
        }
        return false
    }

    /// Keeps a change that no hub can take in the list of refused changes.
    /// - Returns: a row without values, which the hub answers with the object as it has it; nil if the primary key
    ///   itself cannot be sent: the object stays in this file only.
    private func refuse(_ row: [UInt8], _ one: MarkTables.SyncedClass, _ untold: inout [SyncEvent])
        throws(RealmError) -> JSONText?
    {
        let json = try JSONValue.parse(row)
        let reason = "PostgreSQL stores no texts with a zero byte"
        let key = json.member("k")?.json ?? [], name = (one.table.className ?? one.table.name).text
        try tables.addRefused(
            name, key: String(decoding: key, as: UTF8.self), reason: reason,
            change: String(decoding: row, as: UTF8.self))
        if Self.hasZero(key) {
            let text = String(decoding: key, as: UTF8.self)
            untold.append(SyncEvent(kind: .refused, className: name, key: text, detail: reason))
            return nil
        }
        var out = JSONText()
        out.open("{")
        out.field("c") { $0.text(name) }
        out.field("k") { $0.raw(key) }
        out.field("t") { $0.text("bad") }
        out.field("clk") { $0.number(json.member("clk")?.integer ?? 0) }
        out.field("reason") { $0.text(reason) }
        out.close("}")
        return out
    }

    /// What a collection of a new object had before.
    static func empty(_ facts: ColumnFacts) -> [UInt8] {
        Array((facts.shape == .dictionary ? "{}" : facts.isCollection ? "[]" : "null").utf8)
    }

    /// Whether the batch on its way has properties that the hub does not have.
    static func exceeds(_ columns: [Name: Set<Name>], _ tables: MarkTables) throws(RealmError) -> Bool {
        guard let kept = try tables.inflight() else { return false }
        for row in try JSONValue.parse(kept.body).member("rows")?.elements ?? [] {
            guard let name = row.member("c")?.text, let known = columns[Name(name)] else { return true }
            for members in [row.member("v"), row.member("a"), row.member("m")] {
                for member in members?.members ?? [] {
                    if !known.contains(Name(String(decoding: member.name, as: UTF8.self))) { return true }
                }
            }
        }
        return false
    }

    /// Turns the batch on its way into unsent changes again: the hub will not have it.
    static func thaw(_ realm: Realm, _ tables: MarkTables) throws(RealmError) {
        guard let kept = try tables.inflight() else { return }
        let reading = WireReading(realm: realm)
        let body = try JSONValue.parse(kept.body)
        let all = try tables.all()
        for row in body.member("rows")?.elements ?? [] {
            guard let name = row.member("c")?.text, let key = row.member("k"), let clock = row.member("clk")?.integer,
                let one = all.first(where: { $0.table.className == Name(name) })
            else { continue }
            if row.member("t")?.isText("del".utf8) == true {
                guard try reading.find(key, in: one.table) == nil else { continue }
                var object = try free(one)
                if let raw = row.member("o")?.integer, raw >= 0 { object = ObjKey(raw) }
                try one.pending.put(object, PendingObject(state: .deleted, clock: clock, key: key.json))
                continue
            }
            if let deleted = row.member("d")?.integer {
                try one.pending.put(
                    try free(one), PendingObject(state: .deleted, clock: deleted, key: key.json))
            }
            guard let object = try reading.find(key, in: one.table) else { continue }
            try thaw(row, object, one, clock)
        }
        try tables.removeInflight()
    }

    private static func thaw(
        _ row: JSONValue, _ object: ObjKey, _ one: MarkTables.SyncedClass, _ clock: Int64
    ) throws(RealmError) {
        var change = try one.pending.get(object) ?? PendingObject(state: .changed, clock: clock)
        if row.member("t")?.isText("new".utf8) == true {
            change.state = .created
            if let made = row.member("b")?.integer { change.clock = made }
        }
        func each(_ title: StaticString, _ body: (ColKey, [JSONValue], Int64) -> Void) {
            for member in row.member(title)?.members ?? [] {
                guard let column = one.table.column(named: Name(String(decoding: member.name, as: UTF8.self))),
                    let parts = member.value.elements, let clock = parts.first?.integer, parts.count >= 2
                else { continue }
                body(column.key, parts, clock)
            }
        }
        each("v") { column, _, clock in
            guard let i = change.properties.firstIndex(where: { $0.column == column }) else {
                return change.properties.append(PendingProperty(column: column, kind: .set, clock: clock))
            }
            // A value that was set, and then changed by an addition.
            if change.properties[i].kind == .add { (change.properties[i].kind, change.properties[i].delta) = (.set, 0) }
        }
        each("a") { column, parts, clock in
            guard let delta = parts[1].integer else { return }
            if let i = change.properties.firstIndex(where: { $0.column == column }) {
                if change.properties[i].kind == .add { change.properties[i].delta &+= delta }
            } else {
                change.properties.append(PendingProperty(column: column, kind: .add, clock: clock, delta: delta))
            }
        }
        each("m") { column, parts, clock in
            if let i = change.properties.firstIndex(where: { $0.column == column }) {
                change.properties[i].before = parts[1].json
            } else {
                change.properties.append(
                    PendingProperty(column: column, kind: .collection, clock: clock, before: parts[1].json))
            }
        }
        try one.pending.put(object, change)
    }

    /// A key for a row of unsent changes whose object does not exist in this file: above those of objects.
    static func free(_ one: MarkTables.SyncedClass) throws(RealmError) -> ObjKey {
        let first: Int64 = 1 << 62
        let last = try one.pending.keys().last?.raw ?? 0
        return ObjKey(max(first, last + 1))
    }
}
