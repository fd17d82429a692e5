/// What separates the file's schema from a requested one, in the order of live-objects §2.4.
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
    case changePrimaryKey(ObjectSchema, from: Name, to: Name)
    case changeKind(ObjectSchema, from: ObjectSchema.Kind, to: ObjectSchema.Kind)
    /// Only seen in files that others changed: no schema asks for it.
    case removeClass(ObjectSchema)

    /// One line for messages.
    var text: String {
        switch self {
        case .addClass(let c): "Class '\(c.name)' has been added."
        case .addInitialProperties(let c): "Properties of class '\(c.name)' have been added."
        case .removeProperty(let c, let p): "Property '\(c.name).\(p.name)' has been removed."
        case .changeType(let c, let a, let b):
            "Property '\(c.name).\(a.name)' has been changed from '\(a.typeText)' to '\(b.typeText)'."
        case .makeNullable(let c, let p): "Property '\(c.name).\(p.name)' has been made optional."
        case .makeRequired(let c, let p): "Property '\(c.name).\(p.name)' has been made required."
        case .addIndex(let c, let p, let fullText):
            "Property '\(c.name).\(p.name)' has been made \(fullText ? "fulltext-" : "")indexed."
        case .removeIndex(let c, let p, let fullText):
            "Property '\(c.name).\(p.name)' has been made un\(fullText ? "fulltext-" : "")indexed."
        case .addProperty(let c, let p): "Property '\(c.name).\(p.name)' has been added."
        case .changePrimaryKey(let c, let from, let to):
            from.isEmpty
                ? "Primary Key for class '\(c.name)' has been added."
                : (to.isEmpty
                    ? "Primary Key for class '\(c.name)' has been removed."
                    : "Primary Key for class '\(c.name)' has changed from '\(from)' to '\(to)'.")
        case .changeKind(let c, let from, let to): "Class '\(c.name)' has been changed from \(from.text) to \(to.text)."
        case .removeClass(let c): "Class '\(c.name)' has been removed."
        }
    }

    static func between(_ file: Schema, _ target: Schema) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for c in target.classes where file[c.name] == nil { changes.append(.addClass(c)) }
        for c in target.classes {
            guard let old = file[c.name] else {
                changes.append(.addInitialProperties(c))
                continue
            }
            for p in old.properties {
                guard let q = c.properties.first(where: { $0.name == p.name }) else {
                    changes.append(.removeProperty(c, p))
                    continue
                }
                if !p.sameType(as: q) {
                    changes.append(.changeType(c, from: p, to: q))
                    continue
                }
                if p.isNullable != q.isNullable {
                    changes.append(q.isNullable ? .makeNullable(c, q) : .makeRequired(c, q))
                }
                // A primary key column reads back as indexed; losing or gaining the key counts as an index change.
                if p.needsIndex != q.needsIndex {
                    changes.append(
                        q.needsIndex ? .addIndex(c, q, fullText: false) : .removeIndex(c, q, fullText: false))
                }
                if p.isFullTextIndexed != q.isFullTextIndexed {
                    changes.append(
                        q.isFullTextIndexed ? .addIndex(c, q, fullText: true) : .removeIndex(c, q, fullText: true))
                }
            }
            for q in c.properties where !old.properties.contains(where: { $0.name == q.name }) {
                changes.append(.addProperty(c, q))
            }
            if old.primaryKey != c.primaryKey {
                changes.append(.changePrimaryKey(c, from: old.primaryKey, to: c.primaryKey))
            }
        }
        for c in target.classes {
            if let old = file[c.name], old.kind != c.kind { changes.append(.changeKind(c, from: old.kind, to: c.kind)) }
        }
        return changes
    }

    var isClassAddition: Bool {
        switch self {
        case .addClass, .addInitialProperties: true
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

/// How an open treats a schema that differs from the file's; numbers of the C API.
public enum SchemaMode: Int32, Sendable {
    /// Migrate; read what never changes; read; start anew when something must be migrated, or anything differs; only
    /// add, without or with regard to what is explicit; leave the file as it is.
    case automatic = 0, immutable = 1, readOnly = 2, softResetFile = 3, hardResetFile = 4, additiveDiscovered = 5,
        additiveExplicit = 6, manual = 7
    var isAdditive: Bool { self == .additiveDiscovered || self == .additiveExplicit }

    /// Whether the mode empties a file that has this schema version for a requested one, from which these changes
    /// separate it.
    func resets(_ changes: [SchemaChange], from fileVersion: UInt64, to version: UInt64) -> Bool {
        guard self == .softResetFile || self == .hardResetFile, fileVersion != ObjectStore.notVersioned else {
            return false
        }
        if version != fileVersion { return true }
        return self == .hardResetFile ? !changes.isEmpty : changes.contains { !$0.isClassAddition && !$0.isIndexChange }
    }
}

/// Which classes and properties of the file that were not asked for show up; numbers of the C API.
public enum SchemaSubsetMode: Int32, Sendable {
    /// None; all classes; all properties of the classes that were asked for; both.
    case strict = 0, allClasses = 1, allProperties = 2, complete = 3
}
