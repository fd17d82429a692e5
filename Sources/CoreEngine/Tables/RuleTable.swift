/// What a row of the table of rules states. Format: rules.md §2.
enum RuleKind: Int64 {
    // Where a line has several cases, its comment has a phrase for each of them, in the same order.

    /// The version of the rules' format; the version of a class up to which its rules were kept.
    case format = 0, kept = 1
    /// For a link property: the effect when its object is deleted; the effect when its target is deleted.
    case onDelete = 2, onTargetDelete = 3
    /// For a property: the engine makes its values; the value that it has in new objects.
    case automatic = 4, initial = 5
    /// For a class: properties whose values together are unique; a condition that every object meets.
    case unique = 6, check = 7
    /// For a property of objects: the time of the creation; the time of the last change; the number of changes.
    case created = 8, modified = 9, revision = 10
    /// For a class or a property: its whole name, when it is too long for the place where names are stored.
    case name = 11
    /// For a text property: it names the subclass of each object; for a class: one of its subclasses.
    case typeProperty = 12, subclass = 13
    /// For a class: a property that is computed from others.
    case computed = 14

    /// Whether the rule makes the value of a property: a property has at most one such rule.
    var makesValues: Bool {
        switch self {
        case .automatic, .initial, .created, .modified, .revision: true
        default: false
        }
    }

    /// Whether the row is a rule that a program declares.
    var isDeclared: Bool { self != .format && self != .kept && self != .name }
}

/// One row of the table of rules.
struct RuleRow {
    var kind: RuleKind
    var table: TableKey

    /// Null for a rule of the whole class.
    var column = ColKey.null

    /// The name that a program gave to the rule, or an empty text.
    var label = ""

    /// The condition of a check, the expression of a computed property, or the properties of a unique rule or a
    /// subclass.
    var text = ""

    /// A number whose meaning depends on the kind.
    var number: Int64 = 0

    /// The value of a default.
    var value = StoredValue.single(.null)

    /// Of a check: each call is tested, not only the commit.
    var isAtCall: Bool { kind == .check && number & 1 != 0 }

    /// Of a type property or a subclass: no object is of exactly this class.
    var isAbstract: Bool { number & 1 != 0 }

    /// The columns whose keys are in `text`.
    var columns: [ColKey] { text.split(separator: ",").compactMap { Int64($0).map { ColKey($0) } } }
}

/// The whole names of classes and properties whose stored names are shortened.
struct LongNames: Equatable {
    var tables: [TableKey: Name] = [:]
    var columns: [TableKey: [ColKey: Name]] = [:]

    /// The longest name of a class or property, in bytes of UTF-8.
    static let limit = 255

    /// The longest names of tables and columns that the file stores.
    static let storedLimit = 63

    /// A name of at most `limit` bytes in place of a longer one: its beginning, and a digest of the whole.
    static func shortened(_ name: Name, to limit: Int, attempt: Int) -> Name {
        let digest = Crypto.digest(name.text + (attempt == 0 ? "" : "#\(attempt)"), count: 16)
        let mark =
            "~"
            + digest.prefix(5).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }.joined()
        var start = name.text.unicodeScalars
        while String(start).utf8.count + mark.utf8.count > limit { start.removeLast() }
        return Name(String(start) + mark)
    }

    /// Whether a stored name stands for a longer one. Otherwise another library has renamed the table or column.
    static func isShortened(_ stored: Name, of whole: Name) -> Bool {
        (0..<8).contains { shortened(whole, to: storedLimit, attempt: $0) == stored }
    }

    static func refusal(_ name: Name) -> RealmError {
        RealmError(.invalidName, "The name '\(name)' is the stored form of a longer name, and in use")
    }

    /// Throws unless a class or property may have this name.
    static func check(_ name: Name) throws(RealmError) {
        guard name.utf8.count <= limit else {
            throw RealmError(.invalidName, "The name '\(name)' is longer than \(limit) bytes")
        }
    }
}

/// A value that owns its bytes; no link and no collection.
package enum StoredValue: @unchecked Sendable {
    case single(Mixed)
    case string([UInt8])
    case binary([UInt8])

    package init(_ value: Mixed) {
        switch value {
        case .string(let bytes): self = .string(Array(bytes))
        case .binary(let bytes): self = .binary(Array(bytes))
        default: self = .single(value)
        }
    }

    /// Calls `body` with the value. Its bytes are valid during the call.
    package func withMixed<R>(_ body: (Mixed) throws(RealmError) -> R) throws(RealmError) -> R {
        switch self {
        case .single(let value): try body(value)
        case .string(let bytes): try bytes.withBytes { (b) throws(RealmError) in try body(.string(b)) }
        case .binary(let bytes): try bytes.withBytes { (b) throws(RealmError) in try body(.binary(b)) }
        }
    }
}

/// The table that holds the rules of a file. Its name does not begin with `class_`, so it is no class, and other
/// libraries leave it as it is. Format: rules.md §2.
struct RuleTable {
    static let name: Name = "crealm_rules"

    /// The newest version of the rules' format that this engine keeps.
    static let newestFormat: Int64 = 1

    let table: Table
    private let kind, owner, column, number, label, text, value: ColumnFacts

    /// nil: the file has no rules.
    init?(_ group: Group) throws(RealmError) {
        guard let table = try group.table(named: Self.name) else { return nil }
        try self.init(table)
    }

    private init(_ table: Table) throws(RealmError) {
        func facts(_ name: Name, _ type: ColumnType) throws(RealmError) -> ColumnFacts {
            guard let column = table.column(named: name), let facts = table.facts(column.key), facts.type == type,
                !facts.isCollection, facts.isNullable == (type == .mixed)
            else {
                throw .corrupt("table of rules without one of its columns")
            }
            return facts
        }
        self.table = table
        kind = try facts("kind", .int)
        owner = try facts("table", .int)
        column = try facts("column", .int)
        number = try facts("number", .int)
        label = try facts("label", .string)
        text = try facts("text", .string)
        value = try facts("value", .mixed)
    }

    /// Opens the table of rules, and creates it if the file has none.
    static func make(_ group: Group) throws(RealmError) -> RuleTable {
        if let known = try RuleTable(group) { return known }
        let table = try group.addTable(name)
        for name: Name in ["kind", "table", "column", "number"] { try table.addColumn(name, .int, []) }
        for name: Name in ["label", "text"] { try table.addColumn(name, .string, []) }
        try table.addColumn("value", .mixed, .nullable)
        let made = try RuleTable(table)
        try made.add(RuleRow(kind: .format, table: .null, number: newestFormat))
        return made
    }

    /// The rows with a known kind, in the order in which they were added.
    ///
    /// - Throws: 2001 when the rules have a newer format.
    func rows() throws(RealmError) -> [(key: ObjKey, row: RuleRow)] {
        var all: [(key: ObjKey, row: RuleRow)] = []
        for key in try table.allKeys() {
            guard case .int(let kind)? = try table.get(key, kind), let kind = RuleKind(rawValue: kind) else { continue }
            let owner = TableKey(UInt32(truncatingIfNeeded: try integer(key, owner)))
            var row = RuleRow(kind: kind, table: owner)
            row.column = ColKey(try integer(key, column))
            row.number = try integer(key, number)
            row.label = try string(key, label)
            row.text = try string(key, text)
            row.value = StoredValue(try table.get(key, value) ?? .null)
            if kind == .format, row.number > Self.newestFormat {
                throw RealmError(
                    .notSupported,
                    "The rules of this file have format \(row.number); this version keeps rules up to format "
                        + "\(Self.newestFormat), and does not write the file")
            }
            all.append((key, row))
        }
        return all
    }

    private func integer(_ key: ObjKey, _ facts: ColumnFacts) throws(RealmError) -> Int64 {
        guard case .int(let value)? = try table.get(key, facts) else { return -1 }
        return value
    }

    private func string(_ key: ObjKey, _ facts: ColumnFacts) throws(RealmError) -> String {
        guard case .string(let bytes)? = try table.get(key, facts) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @discardableResult
    func add(_ row: RuleRow) throws(RealmError) -> ObjKey {
        let key = try table.createObject().key
        _ = try table.set(key, kind, .int(row.kind.rawValue))
        _ = try table.set(key, owner, .int(Int64(row.table.raw)))
        _ = try table.set(key, column, .int(row.column.raw))
        _ = try table.set(key, number, .int(row.number))
        try Array(row.label.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, label, .string(b)) }
        try Array(row.text.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, text, .string(b)) }
        try row.value.withMixed { (v) throws(RealmError) in _ = try table.set(key, value, v) }
        return key
    }

    // MARK: Long names

    /// The whole names of classes and properties whose stored names are shortened. Does not depend on the version of
    /// the format.
    func longNames() throws(RealmError) -> LongNames {
        var names = LongNames()
        for key in try table.allKeys() where try integer(key, kind) == RuleKind.name.rawValue {
            let owner = TableKey(UInt32(truncatingIfNeeded: try integer(key, owner)))
            let name = Name(try string(key, text)), column = ColKey(try integer(key, column))
            guard !name.isEmpty else { continue }
            if column == .null { names.tables[owner] = name } else { names.columns[owner, default: [:]][column] = name }
        }
        return names
    }

    // MARK: After changes of the schema

    /// The name of the table that is the index of a unique rule.
    static func indexName(_ key: ObjKey) -> Name { Name("crealm_unique_\(key.raw)") }

    /// Removes the rules of a class or a property that was removed, also unique rules to which the property belongs.
    func removeRules(of owner: TableKey, _ column: ColKey? = nil) throws(RealmError) {
        for key in try table.allKeys() {
            guard try integer(key, self.owner) == Int64(owner.raw) else { continue }
            let isUnique = try integer(key, kind) == RuleKind.unique.rawValue
            if let column {
                let isOwn = try integer(key, self.column) == column.raw
                let parts = isUnique ? try string(key, text).split(separator: ",") : []
                let isPart = parts.contains { $0 == "\(column.raw)" }
                guard isOwn || isPart else { continue }
            }
            if isUnique, let index = try table.group.table(named: Self.indexName(key)) {
                try table.group.removeTable(index)
            }
            try remove(key)
        }
    }

    /// Replaces the column key of a property in all of its rules.
    func replaceColumn(_ old: ColKey, by new: ColKey, in owner: TableKey) throws(RealmError) {
        for (key, row) in try rows() where row.table == owner {
            if row.column == old { _ = try table.set(key, column, .int(new.raw)) }
            guard row.kind == .unique || row.kind == .subclass else { continue }
            let keys = row.text.split(separator: ",").map { $0 == String(old.raw) ? String(new.raw) : String($0) }
            try setText(key, keys.joined(separator: ","))
        }
    }

    func setText(_ key: ObjKey, _ new: String) throws(RealmError) {
        try Array(new.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, text, .string(b)) }
    }

    func setLabel(_ key: ObjKey, _ new: String) throws(RealmError) {
        try Array(new.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, label, .string(b)) }
    }

    func setValue(_ key: ObjKey, _ new: String) throws(RealmError) {
        try Array(new.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, value, .string(b)) }
    }

    func setNumber(_ key: ObjKey, _ value: Int64) throws(RealmError) { _ = try table.set(key, number, .int(value)) }

    func remove(_ key: ObjKey) throws(RealmError) { try table.group.delete(table, key) }
}
