/// Reads and writes the rules of classes in the table of rules.
extension Group {
    /// The rules of a class; empty when the file has none for it.
    package func rules(of table: Table) throws(RealmError) -> ClassRules {
        var rules = ClassRules()
        guard let store = try RuleTable(self) else { return rules }
        for (_, row) in try store.rows() where row.table == table.key { Self.add(row, to: &rules, table) }
        return rules
    }

    private static func add(_ row: RuleRow, to rules: inout ClassRules, _ table: Table) {
        let name = table.column(row.column)?.name
        switch (row.kind, name) {
        case (.onDelete, let name?): rules.onDelete[name] = DeleteRule(rawValue: row.number)
        case (.onTargetDelete, let name?): rules.onTargetDelete[name] = DeleteRule(rawValue: row.number)
        case (.automatic, let name?): rules.automatic.insert(name)
        case (.initial, let name?):
            switch row.number {
            case 0: rules.initial[name] = .constant(row.value)
            case 1: rules.initial[name] = .now
            case 2: rules.initial[name] = .newUUID
            case 3: rules.initial[name] = .newObjectId
            default: break
            }
        case (.created, let name?): rules.created.insert(name)
        case (.modified, let name?): rules.modified.insert(name)
        case (.revision, let name?): rules.revision.insert(name)
        case (.typeProperty, let name?):
            (rules.typeProperty, rules.isAbstract) = (name, row.isAbstract)
            rules.typeName = table.className == Name(row.label) ? "" : row.label
        case (.subclass, _):
            var subclass = ClassRules.Subclass(row.label)
            if case .string(let parent) = row.value { subclass.parent = String(decoding: parent, as: UTF8.self) }
            subclass.properties = row.columns.compactMap { table.column($0)?.name }
            subclass.isAbstract = row.isAbstract
            rules.subclasses.append(subclass)
        case (.computed, _): rules.computed[Name(row.label)] = row.text
        case (.check, _):
            var check = ClassRules.Check(row.text)
            check.name = row.label
            check.isAtCall = row.isAtCall
            rules.checks.append(check)
        case (.unique, _):
            let names = row.columns.map { table.column($0)?.name }
            guard !names.contains(nil) else { return }
            var unique = ClassRules.Unique(names.compactMap { $0 })
            unique.name = row.label
            unique.ignoresCase = row.ignoresCase
            unique.nullsAreEqual = row.nullsAreEqual
            rules.unique.append(unique)
        default: break
        }
    }

    /// Gives a class these rules, inside a write transaction. The data are checked against new rules first.
    ///
    /// - Parameter addingOnly: keeps rules that `wanted` does not contain.
    /// - Throws: 9006 for a rule that an object of the class breaks; 3000, 3001, 3009 for invalid rules. After an error
    ///   the rules may be changed in part: the transaction can only be rolled back.
    package func setRules(
        _ wanted: ClassRules, of table: Table, addingOnly: Bool = false
    ) throws(RealmError) {
        let rows = try RuleBuilder(self, table).rows(wanted)
        // The rows are read below: counters of this transaction must be in the file by then.
        if let store = try RuleTable(self), let own = rules?.all { for one in own { try one.writeCounters(store) } }
        let present = try RuleTable(self)?.rows().filter { $0.row.table == table.key && $0.row.kind.isDeclared } ?? []
        let gone = addingOnly ? [] : present.filter { old in !rows.contains { $0.isSame(as: old.row) } }
        let new = rows.filter { row in !present.contains { row.isSame(as: $0.row) } }
        guard !gone.isEmpty || !new.isEmpty else { return }
        let isComputedOtherwise = (gone.map(\.row) + new).contains { $0.kind == .computed }
        let store = try RuleTable.make(self)
        for (key, row) in gone {
            if row.kind == .unique { try UniqueIndex.drop(self, key) }
            try store.remove(key)
        }
        // Checks may name computed properties.
        for var row in new.filter({ $0.kind == .computed }) + new.filter({ $0.kind != .computed }) {
            // A rule of a property replaces the one of its kind, and a named rule the one of its name.
            if addingOnly {
                for (key, old) in present {
                    let makesOtherwise =
                        old.kind != row.kind && old.kind.makesValues && row.kind.makesValues && old.column == row.column
                    guard makesOtherwise || (old.kind == row.kind && old.isReplaced(by: row)) else { continue }
                    if row.kind == .unique { try UniqueIndex.drop(self, key) }
                    try store.remove(key)
                }
            }
            if row.kind == .automatic { row.number = try TableRules.firstNumber(table, row.column) }
            if row.kind == .unique { row.value = UniqueIndex.newHashKey() }
            if row.kind == .check { try declaredCheck(table, row).expectAll() }
            let key = try store.add(row)
            if row.kind == .unique { try UniqueIndex(self, table, row, key).build() }
        }
        if !(try store.rows().contains { $0.row.kind == .kept && $0.row.table == table.key }) {
            try store.add(RuleRow(kind: .kept, table: table.key, number: -1))
        }
        // Computed properties may name each other.
        for row in new where row.kind == .computed { try ComputedProperty.check(row, table) }
        if isComputedOtherwise { try recheckConditions() }
        if new.contains(where: { $0.kind == .typeProperty }) { try nameTypes(table) }
        try readRules()
        let isTyped = (gone.map(\.row) + new).contains { $0.kind == .typeProperty || $0.kind == .subclass }
        if isTyped, let own = self.rules?[table.key] { try SubclassNames(table, own)?.expectAll() }
    }

    /// Tests all checks of the file for all objects, because the computed properties in a check may have changed.
    private func recheckConditions() throws(RealmError) {
        for (_, row) in try ruleRows() where row.kind == .check {
            guard let owner = try table(row.table) else { continue }
            try RuleCheck.bound(self, owner, row)?.expectAll()
        }
    }

    /// Stores the computed properties that programs declare for several classes, before anything names them. `setRules`
    /// tests them.
    func addComputed(_ wanted: [(table: Table, rules: ClassRules)]) throws(RealmError) {
        for (table, rules) in wanted where !rules.computed.isEmpty {
            for (name, expression) in rules.computed where try computed(name, table) == nil {
                guard table.column(named: name) == nil else { continue }
                var row = RuleRow(kind: .computed, table: table.key)
                (row.label, row.text) = (name.text, expression)
                try RuleTable.make(self).add(row)
            }
        }
    }

    /// Throws unless each computed property of a class is valid.
    func checkComputed(_ table: Table) throws(RealmError) {
        for (_, row) in try ruleRows() where row.kind == .computed && row.table == table.key {
            try ComputedProperty.check(row, table)
        }
    }

    /// The check of a new row. Its error names the rule.
    private func declaredCheck(_ table: Table, _ row: RuleRow) throws(RealmError) -> RuleCheck {
        do throws(RealmError) { return try RuleCheck(self, table, row) } catch {
            let title = row.label.isEmpty ? row.text : row.label
            throw RealmError(
                error.code, "Check '\(title)' of class '\(table.className ?? table.name)': \(error.message)")
        }
    }

    /// Gives objects that were made before the class had subclasses the type of the class itself.
    private func nameTypes(_ table: Table) throws(RealmError) {
        guard let row = try RuleTable(self)?.rows().first(where: { $0.row.isTypeProperty(of: table) })?.row,
            !row.isAbstract, let column = table.facts(row.column)
        else { return }
        for key in try table.allKeys() {
            try table.test()
            let isNamed: Bool
            if case .string(let text)? = try table.get(key, column) { isNamed = !text.isEmpty } else { isNamed = false }
            if isNamed { continue }
            try Array(row.label.utf8).withBytes { (b) throws(RealmError) in _ = try table.set(key, column, .string(b)) }
        }
    }
}

extension Group {
    /// Checks the rules of a class for all objects, and rebuilds the indexes of its unique rules. Called after a
    /// migration, which may have changed the values.
    ///
    /// - Throws: 9006 when an object breaks a rule.
    func recheckRules(of table: Table) throws(RealmError) {
        guard let store = try RuleTable(self) else { return }
        for (key, row) in try store.rows() where row.table == table.key {
            switch row.kind {
            case .check: try RuleCheck.bound(self, table, row)?.expectAll()
            case .unique:
                let rule = try UniqueIndex(self, table, row, key)
                if rule.isWhole { try rule.build() }
            default: break
            }
        }
    }

    /// Whether the class has exactly these rules, or with `addingOnly` at least these.
    package func hasRules(_ wanted: ClassRules, of table: Table, addingOnly: Bool) throws(RealmError) -> Bool {
        let rows = try RuleBuilder(self, table).rows(wanted)
        let present = try RuleTable(self)?.rows().filter { $0.row.table == table.key && $0.row.kind.isDeclared } ?? []
        guard rows.allSatisfy({ row in present.contains { row.isSame(as: $0.row) } }) else { return false }
        return addingOnly || present.allSatisfy { old in rows.contains { $0.isSame(as: old.row) } }
    }
}

extension RuleRow {
    /// Whether a new rule of the same kind replaces this rule, if rules are only added.
    func isReplaced(by new: RuleRow) -> Bool {
        if kind == .typeProperty { return true }
        // A unique rule without a name replaces the unique rule without a name for the same properties.
        if kind == .unique, label.isEmpty, new.label.isEmpty { return Name(text) == Name(new.text) }
        return new.column != .null ? column == new.column : !new.label.isEmpty && label == new.label
    }

    func isTypeProperty(of owner: Table) -> Bool { kind == .typeProperty && table == owner.key }

    /// Whether both rows state the same rule. Counters do not count.
    func isSame(as other: RuleRow) -> Bool {
        kind == other.kind && table == other.table && column == other.column && Name(label) == Name(other.label)
            && Name(text) == Name(other.text) && (kind == .automatic || number == other.number)
            && (kind == .unique || value == other.value)
    }
}

/// Turns declared rules into rows, and checks them.
struct RuleBuilder {
    private let group: Group
    private let table: Table

    init(_ group: Group, _ table: Table) {
        self.group = group
        self.table = table
    }

    func rows(_ rules: ClassRules) throws(RealmError) -> [RuleRow] {
        var rows: [RuleRow] = []
        for (name, rule) in rules.onDelete.sorted(by: { $0.key < $1.key }) where rule != .nullify {
            rows.append(row(.onDelete, try link(name), rule.rawValue))
        }
        for (name, rule) in rules.onTargetDelete.sorted(by: { $0.key < $1.key }) where rule != .nullify {
            guard rule != .cascadeLast else {
                throw invalid("Property '\(name)': the rule for a deleted target is 'nullify', 'cascade' or 'deny'")
            }
            rows.append(row(.onTargetDelete, try link(name), rule.rawValue))
        }
        for name in rules.automatic.sorted() {
            let column = try single(name, [.int, .uuid, .objectId], "automatic")
            rows.append(row(.automatic, column, 0))
        }
        for (name, initial) in rules.initial.sorted(by: { $0.key < $1.key }) {
            rows.append(try self.initial(name, initial))
        }
        for name in rules.created.sorted() { rows.append(row(.created, try single(name, [.timestamp], "created"), 0)) }
        for name in rules.modified.sorted() {
            rows.append(row(.modified, try single(name, [.timestamp], "modified"), 0))
        }
        for name in rules.revision.sorted() { rows.append(row(.revision, try single(name, [.int], "revision"), 0)) }
        for unique in rules.unique { rows.append(try self.unique(unique)) }
        for check in rules.checks {
            guard !check.condition.isEmpty else { throw invalid("A check without a condition") }
            try checkLimit(check)
            var row = RuleRow(kind: .check, table: table.key)
            row.label = check.name
            row.text = check.condition
            row.number = check.isAtCall ? 1 : 0
            rows.append(row)
        }
        rows += try subclasses(rules)
        for (name, expression) in rules.computed.sorted(by: { $0.key < $1.key }) {
            guard table.column(named: name) == nil else {
                throw invalid("property '\(name)' exists, and is not computed")
            }
            guard !name.isEmpty, name.utf8.count <= LongNames.limit, !name.utf8.contains(0) else {
                throw invalid("the name of a computed property has 1 to \(LongNames.limit) bytes, none of them 0")
            }
            var row = RuleRow(kind: .computed, table: table.key)
            (row.label, row.text) = (name.text, expression)
            rows.append(row)
        }
        for (i, row) in rows.enumerated() {
            if row.kind.makesValues,
                rows[..<i].contains(where: { $0.kind.makesValues && $0.column == row.column })
            {
                let name = table.column(row.column)?.name ?? ""
                throw invalid("property '\(name)' has two rules that make its value")
            }
            let isTwice = rows[..<i].contains {
                $0.isSame(as: row) || (!row.label.isEmpty && $0.label == row.label && $0.kind == row.kind)
            }
            if isTwice { throw invalid("the same rule, or the same name of a rule, occurs twice") }
        }
        return rows
    }

    private func subclasses(_ rules: ClassRules) throws(RealmError) -> [RuleRow] {
        guard let property = rules.typeProperty else {
            guard rules.subclasses.isEmpty else { throw invalid("subclasses need a property that names them") }
            return []
        }
        let facts = try facts(property)
        guard facts.type == .string, !facts.isCollection, !facts.isPrimaryKey else {
            throw invalid("property '\(property)' names subclasses: it is a text, and no primary key")
        }
        var base = row(.typeProperty, facts, rules.isAbstract ? 1 : 0)
        base.label = rules.typeName.isEmpty ? (table.className ?? table.name).text : rules.typeName
        var rows = [base], names = [base.label]
        for subclass in rules.subclasses {
            guard !subclass.name.isEmpty, !names.contains(subclass.name) else {
                throw invalid("the subclass '\(subclass.name)' has an empty name, or one that occurs twice")
            }
            names.append(subclass.name)
            var row = RuleRow(kind: .subclass, table: table.key)
            row.label = subclass.name
            row.number = subclass.isAbstract ? 1 : 0
            row.value = .string(Array((subclass.parent.isEmpty ? base.label : subclass.parent).utf8))
            var keys: [String] = []
            for name in subclass.properties { keys.append(String(try self.facts(name).key.raw)) }
            row.text = keys.joined(separator: ",")
            rows.append(row)
        }
        try checkParents(rules.subclasses, base.label)
        return rows
    }

    /// Each subclass leads to the base, in at most as many steps as there are subclasses.
    private func checkParents(_ all: [ClassRules.Subclass], _ base: String) throws(RealmError) {
        for subclass in all {
            var parent = subclass.parent, steps = 0
            while !parent.isEmpty, parent != base {
                guard let next = all.first(where: { $0.name == parent }), steps < all.count else {
                    throw invalid("subclass '\(subclass.name)' extends '\(subclass.parent)', which leads to no class")
                }
                (parent, steps) = (next.parent, steps + 1)
            }
        }
    }

    /// Limits of numbers and texts are for single values, and limits of a count for collections.
    private func checkLimit(_ check: ClassRules.Check) throws(RealmError) {
        guard let name = check.property else { return }
        let isCollection = try facts(name).isCollection
        guard isCollection == check.countsElements else {
            throw invalid(
                isCollection
                    ? "property '\(name)' is a collection: only 'min_count' and 'max_count' limit it"
                    : "property '\(name)' is no collection: 'min_count' and 'max_count' do not limit it")
        }
    }

    private func row(_ kind: RuleKind, _ column: ColumnFacts, _ number: Int64) -> RuleRow {
        RuleRow(kind: kind, table: table.key, column: column.key, number: number)
    }

    private func invalid(_ what: String) -> RealmError {
        RealmError(.invalidArgument, "Rules of class '\(table.className ?? table.name)': \(what)")
    }

    private func facts(_ name: Name) throws(RealmError) -> ColumnFacts {
        guard let column = table.column(named: name), let facts = table.facts(column.key) else {
            throw RealmError(
                .invalidProperty, "Rules of class '\(table.className ?? table.name)': there is no property '\(name)'")
        }
        return facts
    }

    private func link(_ name: Name) throws(RealmError) -> ColumnFacts {
        let facts = try facts(name)
        guard facts.holdsLinks else { throw invalid("property '\(name)' is not a link, and has no deletion rule") }
        if facts.type == .link, try group.table(facts.oppositeTable)?.isEmbedded ?? false {
            throw invalid("property '\(name)' holds embedded objects, which are always deleted with their owner")
        }
        return facts
    }

    private func single(_ name: Name, _ types: [ColumnType], _ what: String) throws(RealmError) -> ColumnFacts {
        let facts = try facts(name)
        guard !facts.isCollection, types.contains(facts.type) else {
            throw invalid("property '\(name)' has a type that cannot be '\(what)'")
        }
        guard !facts.isPrimaryKey || what == "automatic" else {
            throw invalid("the primary key '\(name)' never changes: it cannot be '\(what)'")
        }
        return facts
    }

    private func initial(_ name: Name, _ initial: ClassRules.Initial) throws(RealmError) -> RuleRow {
        let facts = try facts(name)
        guard !facts.isPrimaryKey else { throw invalid("the primary key '\(name)' cannot have a default") }
        var row = row(.initial, facts, 0)
        switch initial {
        case .constant(var value):
            if case .single(.int(let integer)) = value {
                if facts.type == .double { value = .single(.double(Double(integer))) }
                if facts.type == .float { value = .single(.float(Float(integer))) }
            }
            try value.withMixed { (mixed) throws(RealmError) in
                switch mixed {
                case .typedLink, .link, .list, .dictionary:
                    throw invalid("the default of property '\(name)' is no plain value")
                default: try table.check(mixed, for: facts)
                }
            }
            row.value = value
        case .now: row = self.row(.initial, try single(name, [.timestamp, .mixed], "now"), 1)
        case .newUUID: row = self.row(.initial, try single(name, [.uuid, .mixed], "uuid"), 2)
        case .newObjectId: row = self.row(.initial, try single(name, [.objectId, .mixed], "objectid"), 3)
        }
        return row
    }

    private func unique(_ unique: ClassRules.Unique) throws(RealmError) -> RuleRow {
        guard !unique.properties.isEmpty, unique.properties.count <= 16,
            Set(unique.properties).count == unique.properties.count
        else {
            throw invalid("a unique rule has 1 to 16 different properties")
        }
        var keys: [String] = []
        for name in unique.properties {
            let facts = try facts(name)
            guard !facts.isCollection, UniqueIndex.types.contains(facts.type) else {
                throw invalid("property '\(name)' has a type that cannot be unique")
            }
            if facts.type == .link, try group.table(facts.oppositeTable)?.isEmbedded ?? false {
                throw invalid("property '\(name)' holds an embedded object, which cannot be unique")
            }
            keys.append(String(facts.key.raw))
        }
        var row = RuleRow(kind: .unique, table: table.key)
        row.label = unique.name
        row.text = keys.joined(separator: ",")
        row.number = RuleRow.number(ignoringCase: unique.ignoresCase, nullsAreEqual: unique.nullsAreEqual)
        return row
    }
}
