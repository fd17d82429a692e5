/// The tables that hold the state of synchronisation, in one write transaction or snapshot. Format: sync.md §2.
struct MarkTables {
    static let newestFormat: Int64 = 1

    let group: Group
    private let settings: Table
    private let classes: Table

    /// nil: the file is not synchronised.
    init?(_ group: Group) throws(RealmError) {
        guard let settings = try group.table(named: MarkNames.settings) else { return nil }
        guard let classes = try group.table(named: MarkNames.classes) else {
            throw .corrupt("state of synchronisation without its table of classes")
        }
        self.group = group
        self.settings = settings
        self.classes = classes
        let format = try integer(.format)
        guard format <= Self.newestFormat else {
            throw RealmError(
                .notSupported,
                "The state of synchronisation of this file has format \(format); this version knows formats up to "
                    + "\(Self.newestFormat), and does not write the file")
        }
    }

    // MARK: Settings

    enum Number: String, CaseIterable {
        /// The version of this format; the number of the last batch that the hub has; the largest clock; milliseconds
        /// that are added to the system's clock; whether all classes must be compared with the hub.
        case format, batch, clock, offset, compare
    }

    enum Text: String, CaseIterable {
        /// The UUID of this copy of the file; the identity of the hub; the snapshot of the hub that the file shows; the
        /// digest of all batches so far.
        case device, hub, cursor, chain
    }

    private static let row = ObjKey(0)

    static func facts(_ table: Table, _ name: String, _ type: ColumnType) throws(RealmError) -> ColumnFacts {
        guard let column = table.column(named: Name(name)), let facts = table.facts(column.key), facts.type == type,
            !facts.isCollection, !facts.isNullable
        else {
            throw .corrupt("state of synchronisation without one of its columns")
        }
        return facts
    }

    func integer(_ name: Number) throws(RealmError) -> Int64 {
        guard case .int(let value)? = try settings.get(Self.row, try Self.facts(settings, name.rawValue, .int)) else {
            throw .corrupt("state of synchronisation without its row")
        }
        return value
    }

    func set(_ name: Number, _ value: Int64) throws(RealmError) {
        if try integer(name) == value { return }
        try settings.setPlaced(Self.row, try Self.facts(settings, name.rawValue, .int), .int(value))
    }

    func text(_ name: Text) throws(RealmError) -> String {
        guard case .string(let value)? = try settings.get(Self.row, try Self.facts(settings, name.rawValue, .string))
        else {
            throw .corrupt("state of synchronisation without its row")
        }
        return String(decoding: value, as: UTF8.self)
    }

    func set(_ name: Text, _ value: String) throws(RealmError) {
        let facts = try Self.facts(settings, name.rawValue, .string)
        try Array(value.utf8).withBytes { (bytes) throws(RealmError) in
            try settings.setPlaced(Self.row, facts, .string(bytes))
        }
    }

    /// Creates the tables, for a file that is not synchronised.
    static func make(_ group: Group) throws(RealmError) -> MarkTables {
        let settings = try group.addTable(MarkNames.settings)
        for name in Number.allCases { try settings.addColumn(Name(name.rawValue), .int, []) }
        for name in Text.allCases { try settings.addColumn(Name(name.rawValue), .string, []) }
        try settings.place(newestFormat, at: row, try facts(settings, Number.format.rawValue, .int))
        let classes = try group.addTable(MarkNames.classes)
        for name in ["kept", "compare"] { try classes.addColumn(Name(name), .int, []) }
        for name: Name in ["subset", "columns"] { try classes.addColumn(name, .string, []) }
        let inflight = try group.addTable(MarkNames.inflight)
        try inflight.addColumn("number", .int, [])
        try inflight.addColumn("body", .binary, [])
        let refused = try group.addTable(MarkNames.refused)
        try refused.addColumn("time", .int, [])
        for name: Name in ["class", "key", "reason", "change"] { try refused.addColumn(name, .string, []) }
        guard let made = try MarkTables(group) else { throw .corrupt("state of synchronisation that was just made") }
        return made
    }

    /// Removes all tables.
    func remove() throws(RealmError) {
        for key in try classes.allKeys() {
            let name = MarkNames.pending(TableKey(UInt32(truncatingIfNeeded: key.raw)))
            if let pending = try group.table(named: name) { try group.removeTable(pending) }
        }
        for name in [
            MarkNames.classes, MarkNames.inflight, MarkNames.refused, MarkNames.links, MarkNames.settings,
        ] {
            if let table = try group.table(named: name) { try group.removeTable(table) }
        }
    }

    // MARK: Classes

    /// Whether all objects of a class must be compared with the hub.
    enum Comparison: Int64 {
        case none = 0
        case needed = 1
        /// ... because a copy of the file has sent changes under the same name. Sums that this file has not sent may be
        /// among those that the copy has sent.
        case forked = 2
    }

    /// The bit of `compare` for `SyncedClass.isWidened`.
    private static let widened: Int64 = 4

    struct SyncedClass {
        let table: Table
        let pending: PendingTable

        /// The content version up to which changes are marked.
        let kept: Int64

        let comparison: Comparison

        /// Whether the file may lack objects of the hub because it had another subset: they were not deleted.
        let isWidened: Bool

        /// The condition of the objects that this file has, in the query language; empty: all objects.
        let subset: String

        /// The properties at the last exchange: a JSON object with `true` for those that the hub had; empty: unknown.
        let columns: [UInt8]
        var row: ObjKey { ObjKey(Int64(table.key.raw)) }
    }

    /// The synchronised classes that the file still has, by the order of their tables.
    func all() throws(RealmError) -> [SyncedClass] {
        var all: [SyncedClass] = []
        // Earlier versions made no such column.
        let subset = classes.column(named: "subset") == nil ? nil : try Self.facts(classes, "subset", .string)
        let columns = classes.column(named: "columns") == nil ? nil : try Self.facts(classes, "columns", .string)
        let kept = try Self.facts(classes, "kept", .int), compare = try Self.facts(classes, "compare", .int)
        for key in try classes.allKeys() {
            guard let table = try group.table(TableKey(UInt32(truncatingIfNeeded: key.raw))),
                let pending = try PendingTable(group, table), case .int(let version)? = try classes.get(key, kept),
                case .int(let raw)? = try classes.get(key, compare)
            else { continue }
            let comparison = Comparison(rawValue: raw & ~Self.widened) ?? .needed
            var condition = ""
            if let subset, case .string(let text)? = try classes.get(key, subset) {
                condition = String(decoding: text, as: UTF8.self)
            }
            var known: [UInt8] = []
            if let columns, case .string(let text)? = try classes.get(key, columns) { known = Array(text) }
            all.append(
                SyncedClass(
                    table: table, pending: pending, kept: version, comparison: comparison,
                    isWidened: raw & Self.widened != 0, subset: condition, columns: known))
        }
        return all
    }

    /// Begins to mark the changes of a class.
    func add(_ table: Table) throws(RealmError) {
        let row = ObjKey(Int64(table.key.raw))
        try classes.place(table.nextContentVersion, at: row, try Self.facts(classes, "kept", .int))
        try PendingTable.make(group, table)
    }

    func setKept(_ one: SyncedClass, _ version: Int64) throws(RealmError) {
        try classes.setPlaced(one.row, try Self.facts(classes, "kept", .int), .int(version))
    }

    func storeSubset(_ one: SyncedClass, _ condition: String) throws(RealmError) {
        try store("subset", one, Array(condition.utf8))
    }

    func storeColumns(_ one: SyncedClass, _ columns: [UInt8]) throws(RealmError) { try store("columns", one, columns) }

    private func store(_ name: Name, _ one: SyncedClass, _ text: [UInt8]) throws(RealmError) {
        if classes.column(named: name) == nil { try classes.addColumn(name, .string, []) }
        let facts = try Self.facts(classes, name.text, .string)
        try text.withBytes { (bytes) throws(RealmError) in try classes.setPlaced(one.row, facts, .string(bytes)) }
    }

    func setComparison(_ one: SyncedClass, _ wanted: Comparison) throws(RealmError) {
        // What a fork demands includes the rest.
        if one.comparison == wanted || (one.comparison == .forked && wanted == .needed) { return }
        let kept = one.isWidened && wanted != .none ? Self.widened : 0
        try classes.setPlaced(one.row, try Self.facts(classes, "compare", .int), .int(wanted.rawValue | kept))
    }

    /// Demands a comparison that also brings the objects of another subset.
    func setWidened(_ one: SyncedClass) throws(RealmError) {
        let comparison = one.comparison == .none ? Comparison.needed : one.comparison
        let number = comparison.rawValue | Self.widened
        try classes.setPlaced(one.row, try Self.facts(classes, "compare", .int), .int(number))
    }

    // MARK: The batch on its way

    /// The bytes of one row: a value of a file has at most 16 MB.
    private static let piece = 1 << 23

    /// The batch that was stored to be sent, and is not acknowledged; nil when there is none.
    func inflight() throws(RealmError) -> (number: Int64, body: [UInt8])? {
        guard let table = try group.table(named: MarkNames.inflight) else { return nil }
        guard try table.isValid(Self.row) else { return nil }
        let numbers = try Self.facts(table, "number", .int), bodies = try Self.facts(table, "body", .binary)
        var first: Int64?, body: [UInt8] = []
        for (i, key) in try table.allKeys().enumerated() {
            guard key.raw == Int64(i), case .int(let number)? = try table.get(key, numbers),
                first == nil || first == number, case .binary(let part)? = try table.get(key, bodies)
            else {
                throw .corrupt("a batch without its bytes")
            }
            first = number
            body += part
        }
        return first.map { ($0, body) }
    }

    func setInflight(_ number: Int64, _ body: [UInt8]) throws(RealmError) {
        guard let table = try group.table(named: MarkNames.inflight) else { return }
        try removeInflight()
        let numbers = try Self.facts(table, "number", .int), bodies = try Self.facts(table, "body", .binary)
        for (i, start) in stride(from: 0, to: max(1, body.count), by: Self.piece).enumerated() {
            let row = ObjKey(Int64(i))
            try table.place(number, at: row, numbers)
            try Array(body[start..<min(start + Self.piece, body.count)]).withBytes { (bytes) throws(RealmError) in
                try table.setPlaced(row, bodies, .binary(bytes))
            }
        }
    }

    func removeInflight() throws(RealmError) {
        guard let table = try group.table(named: MarkNames.inflight) else { return }
        for key in try table.allKeys() { try table.removePlaced(key) }
    }

    // MARK: Refused changes

    struct Refused {
        let key: ObjKey
        let time: Int64
        let className: String
        let primaryKey: String
        let reason: String
        let change: String
    }

    func addRefused(_ className: String, key: String, reason: String, change: String) throws(RealmError) {
        guard let table = try group.table(named: MarkNames.refused) else { return }
        let row = ObjKey((try table.allKeys().last?.raw ?? -1) + 1)
        try table.place(HybridClock.now(), at: row, try Self.facts(table, "time", .int))
        // A file has no longer texts.
        let kept = change.utf8.count > Format.maxStringSize ? "" : change
        for (name, value) in [("class", className), ("key", key), ("reason", reason), ("change", kept)] {
            let facts = try Self.facts(table, name, .string)
            try Array(value.utf8).withBytes { (bytes) throws(RealmError) in
                try table.setPlaced(row, facts, .string(bytes))
            }
        }
    }

    func refused() throws(RealmError) -> [Refused] {
        guard let table = try group.table(named: MarkNames.refused) else { return [] }
        var all: [Refused] = []
        for key in try table.allKeys() {
            func text(_ name: String) throws(RealmError) -> String {
                guard case .string(let bytes)? = try table.get(key, try Self.facts(table, name, .string)) else {
                    return ""
                }
                return String(decoding: bytes, as: UTF8.self)
            }
            guard case .int(let time)? = try table.get(key, try Self.facts(table, "time", .int)) else { continue }
            all.append(
                Refused(
                    key: key, time: time, className: try text("class"), primaryKey: try text("key"),
                    reason: try text("reason"), change: try text("change")))
        }
        return all
    }

    func removeRefused() throws(RealmError) {
        guard let table = try group.table(named: MarkNames.refused) else { return }
        for key in try table.allKeys() { try table.removePlaced(key) }
    }
}

/// The unsent changes of one class: a table whose rows have the keys of the objects.
struct PendingTable {
    let table: Table
    private let state, clock, key, properties: ColumnFacts

    init?(_ group: Group, _ owner: Table) throws(RealmError) {
        guard let table = try group.table(named: MarkNames.pending(owner.key)) else { return nil }
        self.table = table
        state = try MarkTables.facts(table, "state", .int)
        clock = try MarkTables.facts(table, "clock", .int)
        key = try MarkTables.facts(table, "key", .binary)
        properties = try MarkTables.facts(table, "properties", .binary)
    }

    static func make(_ group: Group, _ owner: Table) throws(RealmError) {
        let table = try group.addTable(MarkNames.pending(owner.key))
        for name: Name in ["state", "clock"] { try table.addColumn(name, .int, []) }
        for name: Name in ["key", "properties"] { try table.addColumn(name, .binary, []) }
    }

    func keys() throws(RealmError) -> [ObjKey] { try table.allKeys() }

    func count() throws(RealmError) -> Int { try table.count() }

    func get(_ object: ObjKey) throws(RealmError) -> PendingObject? {
        guard try table.isValid(object) else { return nil }
        guard case .int(let raw)? = try table.get(object, state), let known = PendingObject.State(rawValue: raw),
            case .int(let time)? = try table.get(object, clock), case .binary(let id)? = try table.get(object, key)
        else {
            throw .corrupt("unsent changes that no version writes")
        }
        var found = PendingObject(state: known, clock: time, key: Array(id))
        if case .binary(let bytes)? = try table.get(object, properties) {
            found.properties = try PendingObject.properties(bytes)
        }
        return found
    }

    func put(_ object: ObjKey, _ change: PendingObject) throws(RealmError) {
        var change = change
        change.shorten()
        let isNew = try !table.isValid(object)
        try table.place(change.state.rawValue, at: object, state)
        try table.setPlaced(object, clock, .int(change.clock))
        if !isNew || !change.key.isEmpty {
            try change.key.withBytes { (bytes) throws(RealmError) in try table.setPlaced(object, key, .binary(bytes)) }
        }
        if !isNew || !change.properties.isEmpty {
            try change.bytes.withBytes { (bytes) throws(RealmError) in
                try table.setPlaced(object, properties, .binary(bytes))
            }
        }
    }

    func remove(_ object: ObjKey) throws(RealmError) {
        if try table.isValid(object) { try table.removePlaced(object) }
    }
}
