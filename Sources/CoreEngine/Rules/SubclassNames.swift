/// The names that objects of a class with subclasses may have in its type property.
struct SubclassNames {
    private let table: Table
    private let column: ColumnFacts
    private let names: [[UInt8]]

    /// nil: the class has no type property.
    init?(_ table: Table, _ rules: TableRules) {
        guard let row = rules.atCommit.first(where: { $0.kind == .typeProperty }), let column = table.facts(row.column)
        else { return nil }
        self.table = table
        self.column = column
        names = rules.typeNames.map { Array($0.utf8) }
    }

    private func isKnown(_ key: ObjKey) throws(RealmError) -> Bool {
        guard case .string(let text)? = try table.get(key, column) else { return false }
        return names.contains { text.elementsEqual($0) }
    }

    /// The first of the objects that is of no known class. Objects that do not exist are skipped.
    func firstUnknown(_ keys: [ObjKey]) throws(RealmError) -> ObjKey? {
        for key in keys where try table.isValid(key) { if try !isKnown(key) { return key } }
        return nil
    }

    /// Passes each object of no known class to `report`, which returns whether to go on.
    func forEachUnknown(_ report: (ObjKey) throws(RealmError) -> Bool) throws(RealmError) {
        for key in try table.allKeys() {
            try table.test()
            if try !isKnown(key), try !report(key) { return }
        }
    }

    func expectAll() throws(RealmError) {
        try forEachUnknown { (key) throws(RealmError) in throw try broken(key) }
    }

    var title: String { table.column(column.key)?.name.text ?? "type" }

    func broken(_ key: ObjKey) throws(RealmError) -> RealmError {
        var text = "null"
        if case .string(let bytes)? = try table.get(key, column) {
            text = "'\(String(decoding: bytes, as: UTF8.self))'"
        }
        return RealmError(
            .ruleBroken,
            "Property '\(title)' of \(try table.description(of: key)) is \(text), which is no class that an object can be of"
        )
    }
}

extension Group {
    /// A class has another name now: objects that are of no subclass are named after it.
    func renameBase(to new: Name, from old: Name) throws(RealmError) {
        guard let table = try table(named: Format.classPrefix + new), let store = try RuleTable(self),
            let found = try store.rows().first(where: { $0.row.isTypeProperty(of: table) }),
            Name(found.row.label) == old, let column = table.facts(found.row.column)
        else { return }
        try store.setLabel(found.key, new.text)
        for (key, row) in try store.rows() where row.table == table.key && row.kind == .subclass {
            guard case .string(let parent) = row.value, parent.elementsEqual(old.text.utf8) else { continue }
            try store.setValue(key, new.text)
        }
        let text = Array(old.text.utf8)
        for key in try table.allKeys() {
            try table.test()
            guard case .string(let type)? = try table.get(key, column), type.elementsEqual(text) else { continue }
            try Array(new.text.utf8).withBytes { (bytes) throws(RealmError) in
                _ = try table.set(key, column, .string(bytes))
            }
        }
    }
}
