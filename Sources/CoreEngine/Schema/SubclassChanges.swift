/// Subclasses are like classes: a file may have some that a program does not know, and a program some that the file
/// does not have yet. Neither is a change that needs a migration, although the properties of subclasses are columns of
/// one class.
struct SubclassChanges {
    /// By class: the properties of subclasses that only the file has.
    let known: [Name: Set<Name>]

    /// By class: the properties of subclasses that only the program has.
    let new: [Name: Set<Name>]

    /// A requested schema with the properties of subclasses that only the file has: these stay.
    func completed(_ wanted: Schema, _ file: Schema) -> Schema {
        var completed = wanted
        for i in completed.classes.indices {
            guard let names = known[completed.classes[i].name], let old = file[completed.classes[i].name] else {
                continue
            }
            for property in old.properties where names.contains(property.name) {
                guard completed.classes[i].property(named: property.name) == nil else { continue }
                completed.classes[i].properties.append(property)
            }
        }
        return completed
    }

    /// The changes, with properties of subclasses that the file does not have yet as such.
    func marked(_ changes: [SchemaChange]) -> [SchemaChange] {
        changes.map { change in
            guard case .addProperty(let objectClass, let property) = change,
                new[objectClass.name]?.contains(property.name) ?? false
            else { return change }
            return .addPropertyOfSubclass(objectClass, property)
        }
    }
}
