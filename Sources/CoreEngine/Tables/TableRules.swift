/// The effect on the objects at the other end of a link when an object is deleted. The file stores these numbers.
package enum DeleteRule: Int64, Sendable {
    /// The link becomes null, or is removed from its collection.
    case nullify = 0
    /// The objects at the other end are deleted too.
    case cascade = 1
    /// A target is deleted when no other object refers to it.
    case cascadeLast = 2
    /// The object must not be deleted.
    case deny = 3
}

/// The rules of one class as far as single operations of the table need them.
///
/// Thread rule: that of its group.
final class TableRules {
    let key: TableKey

    /// Rules of link properties for the deletion of their object, and of the target of the link.
    fileprivate(set) var onDelete: [(column: ColKey, rule: DeleteRule)] = []
    fileprivate(set) var onTargetDelete: [(column: ColKey, rule: DeleteRule)] = []

    /// Properties whose values the engine makes.
    fileprivate(set) var automatic: [Automatic] = []

    /// The values of new objects.
    fileprivate(set) var initial: [(column: ColKey, value: InitialValue)] = []

    /// Whether a rule makes the value that a property has in new objects.
    func makesInitialValue(_ column: ColKey) -> Bool {
        automatic.contains { $0.column == column } || initial.contains { $0.column == column }
    }

    /// The other rules of the class, which are kept at the end of a transaction.
    fileprivate(set) var atCommit: [RuleRow] = []

    /// The names of the class and its subclasses that objects may have in the type property; empty: it has none.
    fileprivate(set) var typeNames: [String] = []

    /// The checks that are tested after each call.
    fileprivate(set) var atCall: [RuleRow] = []

    /// Whether the class has times or revisions.
    var isStamped: Bool {
        atCommit.contains { $0.kind == .created || $0.kind == .modified || $0.kind == .revision }
    }

    /// The content version of the class up to which its rules were kept, and the row that says so.
    fileprivate(set) var kept: (row: ObjKey, version: Int64)?

    struct Automatic {
        let column: ColKey
        let type: ColumnType
        let row: ObjKey

        /// The next integer; `used` when no integer is left. Without a meaning for other types.
        var next: Int64
        var isChanged = false

        /// Stands for "no integer is left".
        static let used = Int64.min

        mutating func move(beyond value: Int64) {
            next = value == .max ? Self.used : value + 1
            isChanged = true
        }
    }

    fileprivate init(_ key: TableKey) { self.key = key }

    /// The next value of the automatic property at `index`.
    func makeValue(_ index: Int) throws(RealmError) -> Mixed {
        switch automatic[index].type {
        case .uuid: return .uuid(AutomaticValues.uuid())
        case .objectId: return .objectId(AutomaticValues.objectId())
        default:
            let value = automatic[index].next
            guard value != Automatic.used else {
                throw RealmError(.limitExceeded, "An automatic property has reached the greatest integer")
            }
            automatic[index].move(beyond: value)
            return .int(value)
        }
    }

    /// The number that the automatic property made last belongs to an object already: the file has a wrong counter.
    func correct(_ index: Int, _ table: Table) throws(RealmError) {
        let next = try Self.firstNumber(table, automatic[index].column)
        guard next != 0 else { return }
        automatic[index].next = next
        automatic[index].isChanged = true
    }

    /// The first automatic integer: greater than all that the class has, and at least 1. 0 for other types.
    static func firstNumber(_ table: Table, _ column: ColKey) throws(RealmError) -> Int64 {
        guard let facts = table.facts(column), facts.type == .int else { return 0 }
        var next: Int64 = 1
        for key in try table.allKeys() {
            if case .int(let value)? = try table.get(key, facts), value >= next {
                guard value < .max else { return Automatic.used }
                next = value + 1
            }
        }
        return next
    }

    /// A program stores its own value: later automatic values are greater.
    func note(_ value: Int64, in column: ColKey) {
        for i in automatic.indices where automatic[i].column == column {
            if automatic[i].next != Automatic.used, automatic[i].next <= value { automatic[i].move(beyond: value) }
        }
    }

    /// Takes the counters back that a savepoint began with.
    func restore(_ counters: [Automatic]) { automatic = counters }

    /// Writes the changed counters into the table of rules.
    func writeCounters(_ table: RuleTable) throws(RealmError) {
        for i in automatic.indices where automatic[i].isChanged {
            try table.setNumber(automatic[i].row, automatic[i].next)
            automatic[i].isChanged = false
        }
    }

    func rule(onDelete column: ColKey) -> DeleteRule {
        onDelete.first { $0.column == column }?.rule ?? .nullify
    }

    func rule(onTargetDelete column: ColKey) -> DeleteRule {
        onTargetDelete.first { $0.column == column }?.rule ?? .nullify
    }
}

/// The value of a property of new objects.
enum InitialValue {
    case constant(StoredValue)
    case now
    case newUUID
    case newObjectId

    /// nil for a number that this version does not know.
    init?(_ row: RuleRow) {
        switch row.number {
        case 0: self = .constant(row.value)
        case 1: self = .now
        case 2: self = .newUUID
        case 3: self = .newObjectId
        default: return nil
        }
    }
}

/// The rules of all classes of a group, for its write transaction.
///
/// Invariants
/// 1. The rules are those of the rows of the table of rules, except for counters that changed in this transaction.
/// 2. A rule names a class and a property that exist. Rows of removed classes and properties have no effect.
final class GroupRules {
    private var classes: [TableRules?] = []

    /// Whether a deletion can concern other objects than its own.
    private(set) var hasDeletionRules = false

    /// Whether a check is tested after each call.
    private(set) var hasCallChecks = false

    /// nil: the file has no rules.
    init?(_ group: Group) throws(RealmError) {
        guard group.hasRules else { return nil }
        for (key, row) in try group.ruleRows() {
            guard row.kind != .format, let owner = try group.table(row.table) else { continue }
            let facts = owner.facts(row.column)
            if row.column != .null, facts == nil { continue }
            let rules = makeRules(row.table)
            switch row.kind {
            case .format, .name: break
            case .kept: rules.kept = (key, row.number)
            case .onDelete, .onTargetDelete:
                guard let rule = DeleteRule(rawValue: row.number) else { continue }
                if row.kind == .onDelete {
                    rules.onDelete.append((row.column, rule))
                } else {
                    rules.onTargetDelete.append((row.column, rule))
                }
                hasDeletionRules = true
            case .automatic:
                guard let facts else { continue }
                rules.automatic.append(
                    TableRules.Automatic(column: row.column, type: facts.type, row: key, next: row.number))
            case .initial: if let value = InitialValue(row) { rules.initial.append((row.column, value)) }
            case .check:
                rules.atCommit.append(row)
                if row.isAtCall {
                    rules.atCall.append(row)
                    hasCallChecks = true
                }
            case .typeProperty:
                rules.atCommit.append(row)
                guard !row.isAbstract else { continue }
                rules.typeNames.append(row.label)
                rules.initial.append((row.column, .constant(.string(Array(row.label.utf8)))))
            case .subclass: if !row.isAbstract { rules.typeNames.append(row.label) }
            case .unique, .created, .modified, .revision: rules.atCommit.append(row)
            case .computed: break
            }
        }
    }

    private func makeRules(_ key: TableKey) -> TableRules {
        while classes.count <= key.index { classes.append(nil) }
        if let known = classes[key.index] { return known }
        let new = TableRules(key)
        classes[key.index] = new
        return new
    }

    @inline(__always) subscript(_ key: TableKey) -> TableRules? {
        guard key.index < classes.count, let rules = classes[key.index], rules.key == key else { return nil }
        return rules
    }

    var all: some Sequence<TableRules> { classes.lazy.compactMap { $0 } }
}
