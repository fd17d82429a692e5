/// A difference between the file's schema and a requested one, in the order of live-objects §2.4.
enum SchemaChange {
    case addClass(ObjectSchema)
    case addInitialProperties(ObjectSchema)
    case removeProperty(ObjectSchema, Property)
    case changeType(ObjectSchema, from: Property, to: Property)
    case makeNullable(ObjectSchema, Property)
    case makeRequired(ObjectSchema, Property)
    case addIndex(ObjectSchema, Property, fullText: Bool)
    case removeIndex(ObjectSchema, Property, fullText: Bool)
    case addProperty(ObjectSchema, Property)
    /// Of a subclass that the file does not have yet.
    case addPropertyOfSubclass(ObjectSchema, Property)
    case changePrimaryKey(ObjectSchema, from: Name, to: Name)
    case changeKind(ObjectSchema, from: ObjectSchema.Kind, to: ObjectSchema.Kind)
    /// Occurs only in files that other processes changed: no schema requests it.
    case removeClass(ObjectSchema)

    /// One line for messages.
    var text: String {
        switch self {
        case .addClass(let objectClass): "Class '\(objectClass.name)' has been added."
        case .addInitialProperties(let objectClass): "Properties of class '\(objectClass.name)' have been added."
        case .removeProperty(let objectClass, let property):
            "Property '\(objectClass.name).\(property.name)' has been removed."
        case .changeType(let objectClass, let old, let new):
            "Property '\(objectClass.name).\(old.name)' has been changed from '\(old.typeText)' to '\(new.typeText)'."
        case .makeNullable(let objectClass, let property):
            "Property '\(objectClass.name).\(property.name)' has been made optional."
        case .makeRequired(let objectClass, let property):
            "Property '\(objectClass.name).\(property.name)' has been made required."
        case .addIndex(let objectClass, let property, let fullText):
            "Property '\(objectClass.name).\(property.name)' has been made \(fullText ? "fulltext-" : "")indexed."
        case .removeIndex(let objectClass, let property, let fullText):
            "Property '\(objectClass.name).\(property.name)' has been made un\(fullText ? "fulltext-" : "")indexed."
        case .addProperty(let objectClass, let property), .addPropertyOfSubclass(let objectClass, let property):
            "Property '\(objectClass.name).\(property.name)' has been added."
        case .changePrimaryKey(let objectClass, let from, let to):
            from.isEmpty
                ? "Primary Key for class '\(objectClass.name)' has been added."
                : (to.isEmpty
                    ? "Primary Key for class '\(objectClass.name)' has been removed."
                    : "Primary Key for class '\(objectClass.name)' has changed from '\(from)' to '\(to)'.")
        case .changeKind(let objectClass, let from, let to):
            "Class '\(objectClass.name)' has been changed from \(from.text) to \(to.text)."
        case .removeClass(let objectClass): "Class '\(objectClass.name)' has been removed."
        }
    }

    static func between(_ file: Schema, _ target: Schema) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for objectClass in target.classes where file[objectClass.name] == nil { changes.append(.addClass(objectClass)) }
        for objectClass in target.classes {
            guard let old = file[objectClass.name] else {
                changes.append(.addInitialProperties(objectClass))
                continue
            }
            for (i, oldProperty) in old.properties.enumerated() {
                guard let newProperty = objectClass.storedProperty(oldProperty.name, at: i) else {
                    changes.append(.removeProperty(objectClass, oldProperty))
                    continue
                }
                if !oldProperty.sameType(as: newProperty) {
                    changes.append(.changeType(objectClass, from: oldProperty, to: newProperty))
                    continue
                }
                if oldProperty.isNullable != newProperty.isNullable {
                    changes.append(
                        newProperty.isNullable
                            ? .makeNullable(objectClass, newProperty) : .makeRequired(objectClass, newProperty))
                }
                // A primary key column reads back as indexed; losing or gaining the key counts as an index change.
                if oldProperty.needsIndex != newProperty.needsIndex {
                    changes.append(
                        newProperty.needsIndex
                            ? .addIndex(objectClass, newProperty, fullText: false)
                            : .removeIndex(objectClass, newProperty, fullText: false))
                }
                if oldProperty.isFullTextIndexed != newProperty.isFullTextIndexed {
                    changes.append(
                        newProperty.isFullTextIndexed
                            ? .addIndex(objectClass, newProperty, fullText: true)
                            : .removeIndex(objectClass, newProperty, fullText: true))
                }
            }
            for (i, added) in objectClass.properties.enumerated() where old.storedProperty(added.name, at: i) == nil {
                changes.append(.addProperty(objectClass, added))
            }
            if old.primaryKey != objectClass.primaryKey {
                changes.append(.changePrimaryKey(objectClass, from: old.primaryKey, to: objectClass.primaryKey))
            }
        }
        for objectClass in target.classes {
            if let old = file[objectClass.name], old.kind != objectClass.kind {
                changes.append(.changeKind(objectClass, from: old.kind, to: objectClass.kind))
            }
        }
        return changes
    }

    /// Whether the change adds a class, or a part of one: no object has other values afterwards.
    var isClassAddition: Bool {
        switch self {
        case .addClass, .addInitialProperties, .addPropertyOfSubclass: true
        default: false
        }
    }

    var isIndexChange: Bool {
        switch self {
        case .addIndex, .removeIndex: true
        default: false
        }
    }

    var isPropertyAddition: Bool {
        if case .addProperty = self { return true }
        return false
    }

    var isPropertyRemoval: Bool {
        if case .removeProperty = self { return true }
        return false
    }
}

/// How an open handles a schema that differs from the file's. The numbers are those of the C API.
public enum SchemaMode: Int32, Sendable {
    /// `automatic` migrates. `immutable` reads a file that never changes, `readOnly` only reads. `softResetFile`
    /// empties the file when a migration is needed, `hardResetFile` at any difference. `additiveDiscovered` and
    /// `additiveExplicit` only add; the second also checks that every embedded class is reachable. `manual` compares,
    /// after the migration function has made all changes.
    case automatic = 0, immutable = 1, readOnly = 2, softResetFile = 3, hardResetFile = 4, additiveDiscovered = 5,
        additiveExplicit = 6, manual = 7
    var isAdditive: Bool { self == .additiveDiscovered || self == .additiveExplicit }

    /// Whether the mode empties a file with this schema version when another version is requested, given the changes
    /// between the two schemas.
    func resets(_ changes: [SchemaChange], from fileVersion: UInt64, to version: UInt64) -> Bool {
        guard self == .softResetFile || self == .hardResetFile, fileVersion != SchemaLimits.notVersioned else {
            return false
        }
        if version != fileVersion { return true }
        return self == .hardResetFile ? !changes.isEmpty : changes.contains { !$0.isClassAddition && !$0.isIndexChange }
    }
}

/// Which classes and properties of the file are visible although they were not requested. The numbers are those of the
/// C API.
public enum SchemaSubsetMode: Int32, Sendable {
    /// In this order: only those requested, all classes, all properties of the requested classes, all of both.
    case strict = 0, allClasses = 1, allProperties = 2, complete = 3
}
