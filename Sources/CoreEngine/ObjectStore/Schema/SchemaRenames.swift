/// Classes and properties of a file that get another name, because a program declares that they had one before.
///
/// A rename changes names only: keys, and with them objects, values, links, indexes and rules, stay.
struct SchemaRenames {
    private var classes: [(old: Name, new: Name)] = []

    /// With the new names of classes.
    private var properties: [(className: Name, old: Name, new: Name)] = []

    /// The declared renames that apply to a file: it has the old name, and not the new one.
    init(_ declared: [Name: ClassRules]?, _ file: Schema) {
        guard let declared else { return }
        for (name, rules) in declared.sorted(by: { $0.key < $1.key }) {
            var present = file[name]
            if present == nil, let old = rules.renamedFrom, let before = file[old], declared[old] == nil {
                classes.append((old, name))
                present = before
            }
            guard let present else { continue }
            for (new, old) in rules.renamedProperties.sorted(by: { $0.key < $1.key }) {
                guard present.properties.contains(where: { $0.name == old }),
                    !present.properties.contains(where: { $0.name == new })
                else { continue }
                properties.append((name, old, new))
            }
        }
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
        for (old, new) in classes {
            guard let table = try group.table(named: Format.classPrefix + old) else { continue }
            try group.renameTable(table, to: Format.classPrefix + new)
        }
        for (className, old, new) in properties {
            guard let table = try group.table(named: Format.classPrefix + className),
                let column = table.column(named: old)
            else { continue }
            try table.renameColumn(column.key, to: new)
        }
    }
}
