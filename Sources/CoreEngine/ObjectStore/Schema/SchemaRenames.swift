/// Classes and properties of a file that get another name, because a program declares that they had one before.
///
/// A rename changes names only: keys, and with them objects, values, links, indexes and rules, stay.
struct SchemaRenames {
    private var classes: [(old: Name, new: Name)] = []

    /// With the new names of classes.
    private var properties: [(className: Name, old: Name, new: Name)] = []

    /// The declared renames that apply to a file: it has the old name, and not the new one. In a chain of
    /// renames (a to b, b to c) the last one comes first, because it frees the name that the other one needs.
    init(_ declared: [Name: ClassRules]?, _ file: Schema) {
        guard let declared else { return }
        let wanted = declared.sorted(by: { $0.key < $1.key })
        let all = wanted.compactMap { name, rules in rules.renamedFrom.map { (old: $0, new: name) } }
        classes = Self.ordered(all, Set(file.classes.map(\.name)))
        for (name, rules) in wanted {
            let old = classes.first { $0.new == name }?.old ?? name
            guard let present = file[old] else { continue }
            let all = rules.renamedProperties.sorted(by: { $0.key < $1.key }).map { (old: $0.value, new: $0.key) }
            for (old, new) in Self.ordered(all, Set(present.properties.map(\.name))) {
                properties.append((name, old, new))
            }
        }
    }

    private static func ordered(_ renames: [(old: Name, new: Name)], _ names: Set<Name>) -> [(old: Name, new: Name)] {
        var names = names, left = renames, found: [(old: Name, new: Name)] = []
        while let next = left.firstIndex(where: { names.contains($0.old) && !names.contains($0.new) }) {
            names.remove(left[next].old)
            names.insert(left[next].new)
            found.append(left.remove(at: next))
        }
        return found
    }

    var isEmpty: Bool { classes.isEmpty && properties.isEmpty }

    /// The schema of the file after the renames.
    func applied(to file: Schema) -> Schema {
        guard !isEmpty else { return file }
        var all = file.classes
        for (old, new) in classes {
            for i in all.indices {
                if all[i].name == old { all[i].name = new }
                for j in all[i].properties.indices where all[i].properties[j].linkTarget == old {
                    all[i].properties[j].linkTarget = new
                }
            }
        }
        for (className, old, new) in properties {
            guard let i = all.firstIndex(where: { $0.name == className }) else { continue }
            if all[i].primaryKey == old { all[i].primaryKey = new }
            for j in all[i].properties.indices where all[i].properties[j].name == old {
                all[i].properties[j].name = new
            }
        }
        return Schema(all)
    }

    /// Renames the tables and columns, inside a write transaction.
    func apply(_ group: Group) throws(RealmError) {
        guard !isEmpty else { return }
        try group.keepingConditions { () throws(RealmError) in try rename(group) }
    }

    private func rename(_ group: Group) throws(RealmError) {
        for (old, new) in classes {
            guard let table = try group.table(named: Format.classPrefix + old) else { continue }
            try group.renameTable(table, to: Format.classPrefix + new)
            try group.renameBase(to: new, from: old)
        }
        for (className, old, new) in properties {
            guard let table = try group.table(named: Format.classPrefix + className),
                let column = table.column(named: old)
            else { continue }
            try table.renameColumn(column.key, to: new)
        }
    }
}
