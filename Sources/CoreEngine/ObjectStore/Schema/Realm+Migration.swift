/// Changes of the schema that a migration function may make, on the Realm being migrated. Rules: live-objects §3.
extension Realm {
    /// Renames a property of the file and keeps its values. For migration functions, on the Realm being migrated.
    ///
    /// - Throws: 3020 for an unknown class, 2007 when the schema still has the old name or the types do not fit, 3009
    ///   for an unknown property.
    public func renameProperty(_ className: Name, from old: Name, to new: Name) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        let group = try writing().group
        guard let table = try group.table(named: Format.classPrefix + className) else {
            throw RealmError(
                .noSuchTable, "Cannot rename properties for type '\(className)' because it does not exist.")
        }
        guard let target = schema[className] else {
            throw RealmError(
                .noSuchTable,
                "Cannot rename properties for type '\(className)' because it has been removed from the Realm.")
        }
        if target.properties.contains(where: { $0.name == old }) {
            throw RealmError(
                .illegalOperation,
                "Cannot rename property '\(className).\(old)' to '\(new)' because the source property still exists.")
        }
        guard let from = table.column(named: old) else {
            throw RealmError(
                .invalidProperty, "Cannot rename property '\(className).\(old)' because it does not exist.")
        }
        var key = from.key
        if let to = table.column(named: new) {
            let file = try group.readSchema()
            guard let objectSchema = file[className],
                let source = objectSchema.properties.first(where: { $0.name == old }),
                let destination = objectSchema.properties.first(where: { $0.name == new })
            else { return }
            guard source.sameType(as: destination) else {
                throw RealmError(
                    .illegalOperation,
                    "Cannot rename property '\(className).\(old)' to '\(new)' because it would change from type '\(source.typeText)' to '\(destination.typeText)'."
                )
            }
            if source.isNullable && !destination.isNullable {
                throw RealmError(
                    .illegalOperation,
                    "Cannot rename property '\(className).\(old)' to '\(new)' because it would change from optional to required."
                )
            }
            try table.removeColumn(to.key)
            if !source.isNullable && destination.isNullable { key = try table.setNullable(key, true) }
        }
        try group.keepingConditions { () throws(RealmError) in try table.renameColumn(key, to: new) }
        schemaState.renamed.removeAll { $0.className == className && $0.property == old }
        schemaState.renamed.append((className, new))
        try adopt(schema, try group.readSchema(), version: schemaVersion)
    }

    /// Deletes a class that the live schema does not have, and its objects.
    ///
    /// - Returns: false when the file has no such class.
    /// - Throws: 2019 when the schema has the class, 2003 when another class links to it.
    @discardableResult
    public func removeClass(_ className: Name) throws(RealmError) -> Bool {
        try enter(.realm)
        defer { leave() }
        guard try reading().group.table(named: Format.classPrefix + className) != nil else { return false }
        if schema[className] != nil, !(schemaState.isDynamic && isWriting) {
            throw RealmError(
                .invalidSchemaChange, "Attempt to remove a table that is currently part of the schema: '\(className)'")
        }
        let group = try writing().group
        if let table = try group.table(named: Format.classPrefix + className) { try group.removeTable(table) }
        return true
    }
}
