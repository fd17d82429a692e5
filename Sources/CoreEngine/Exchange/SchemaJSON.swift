/// A schema as JSON: how programs declare classes without structs of C. The form is that of Realm JS, an array of
/// classes:
///
///     [{"name": "Person", "primaryKey": "id", "properties": {
///         "id": "int", "name": {"type": "string", "indexed": true}, "dogs": "Dog[]",
///         "owners": {"type": "linkingObjects", "objectType": "Dog", "property": "owner"}}}]
///
/// A class has "name", "properties" and, if needed, "primaryKey" and "embedded". A property is a short text, or an
/// object with "type", "objectType", "property", "optional", "indexed" (true, or "full-text") and "mapTo" (the stored
/// name of a property with another public name). A short text is a type or a class with `?` if null is allowed, and `[]`, `<>` or
/// `{}` for a list, a set or a dictionary.
extension Schema {
    /// - Throws: 4201 for malformed JSON, 3000 for an unknown name or a value of a wrong kind. The schema itself is
    ///   checked by `validate`.
    package init(json text: Bytes) throws(RealmError) {
        guard case .array(let all) = try JSONValue.parse(text, refusingRepeats: true) else {
            throw Self.wrong("an array of classes is needed")
        }
        var classes: [ObjectSchema] = []
        for one in all { classes.append(try Self.objectClass(one)) }
        Self.storeOrigins(&classes)
        self.init(classes)
    }

    /// The origin of linking objects is stored by its stored name; JSON may have its public name.
    private static func storeOrigins(_ classes: inout [ObjectSchema]) {
        for index in classes.indices {
            for place in classes[index].computedProperties.indices {
                let property = classes[index].computedProperties[place]
                guard let target = classes.first(where: { $0.name == property.linkTarget }),
                    !target.properties.contains(where: { $0.name == property.linkOrigin }),
                    let origin = target.properties.first(where: { $0.publicName == property.linkOrigin })
                else { continue }
                classes[index].computedProperties[place].linkOrigin = origin.name
            }
        }
    }

    private static func checked(_ bytes: [UInt8]) throws(RealmError) -> String {
        guard !bytes.contains(0) else { throw wrong("a text has a zero byte") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func wrong(_ what: String) -> RealmError { RealmError(.invalidArgument, "Schema in JSON: \(what)") }

    private static func text(_ json: JSONValue, _ what: String) throws(RealmError) -> String {
        guard case .string(let bytes) = json else { throw wrong("'\(what)' is a text") }
        return try checked(bytes)
    }

    private static func flag(_ json: JSONValue, _ what: String) throws(RealmError) -> Bool {
        guard case .bool(let flag) = json else { throw wrong("'\(what)' is true or false") }
        return flag
    }

    private static func objectClass(_ json: JSONValue) throws(RealmError) -> ObjectSchema {
        guard case .object(let members) = json else { throw wrong("a class is an object") }
        var name: Name?, primaryKey = Name(""), kind = ObjectSchema.Kind.topLevel, properties: [Property] = []
        for member in members {
            switch String(decoding: member.name, as: UTF8.self) {
            case "name": name = Name(try text(member.value, "name"))
            case "primaryKey": primaryKey = Name(try text(member.value, "primaryKey"))
            case "embedded": if try flag(member.value, "embedded") { kind = .embedded }
            case "properties":
                guard case .object(let all) = member.value else { throw wrong("'properties' is an object") }
                for one in all {
                    properties.append(try property(try checked(one.name), one.value))
                }
            case let other: throw wrong("unknown name '\(other)' in a class")
            }
        }
        guard let name else { throw wrong("a class has a name") }
        for index in properties.indices where !primaryKey.isEmpty {
            let own = properties[index]
            properties[index].isPrimary = own.name == primaryKey || own.publicName == primaryKey
            if properties[index].isPrimary { primaryKey = own.name }
        }
        return ObjectSchema(
            name: name, kind: kind, primaryKey: primaryKey, persisted: properties.filter { !$0.isComputed },
            computed: properties.filter(\.isComputed))
    }

    private static func property(_ name: String, _ json: JSONValue) throws(RealmError) -> Property {
        if case .string(let bytes) = json { return try short(name, try checked(bytes)) }
        guard case .object(let members) = json else { throw wrong("property '\(name)' is a text or an object") }
        var parts = PropertyParts()
        for member in members {
            switch String(decoding: member.name, as: UTF8.self) {
            case "type": parts.type = Name(try text(member.value, "type"))
            case "objectType": parts.objectType = try text(member.value, "objectType")
            case "property": parts.origin = try text(member.value, "property")
            case "optional": parts.isOptional = try flag(member.value, "optional")
            case "mapTo": parts.storedName = try text(member.value, "mapTo")
            case "indexed":
                if case .string = member.value {
                    guard try text(member.value, "indexed") == "full-text" else {
                        throw wrong("'indexed' of '\(name)' is true, false or \"full-text\"")
                    }
                    parts.isFullText = true
                } else {
                    parts.isIndexed = try flag(member.value, "indexed")
                }
            case let other: throw wrong("unknown name '\(other)' in property '\(name)'")
            }
        }
        return try made(name, parts)
    }

    /// What a property is declared with.
    private struct PropertyParts {
        var type = Name("")
        var objectType: String?
        var origin = ""
        var storedName: String?
        var isOptional: Bool?
        var isIndexed = false
        var isFullText = false
    }

    private static let collections: [(name: Name, suffix: String, kind: CollectionKind)] = [
        ("list", "[]", .list), ("set", "<>", .set), ("dictionary", "{}", .dictionary),
    ]

    private static let types: [(name: Name, type: PropertyType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("data", .data), ("mixed", .mixed), ("date", .date),
        ("float", .float), ("double", .double), ("decimal128", .decimal), ("objectId", .objectId), ("uuid", .uuid),
    ]

    private static func short(_ name: String, _ text: String) throws(RealmError) -> Property {
        var parts = PropertyParts(), rest = text
        var collection: Name?
        if let found = collections.first(where: { rest.hasSuffix($0.suffix) }) {
            rest.removeLast(2)
            collection = found.name
        }
        if rest.hasSuffix("?") {
            rest.removeLast()
            parts.isOptional = true
        }
        let element = Name(rest)
        if let collection {
            parts.type = collection
            parts.objectType = rest
        } else if types.contains(where: { $0.name == element }) {
            parts.type = element
        } else {
            parts.type = "object"
            parts.objectType = rest
        }
        return try made(name, parts)
    }

    private static func made(_ name: String, _ parts: PropertyParts) throws(RealmError) -> Property {
        var type = PropertyType.object, collection = CollectionKind.none, target = "", isNullable = parts.isOptional
        if let found = collections.first(where: { $0.name == parts.type }) {
            collection = found.kind
            guard let element = parts.objectType, !element.isEmpty else {
                throw wrong("property '\(name)' needs an 'objectType'")
            }
            let known = types.first { $0.name == Name(element) }
            if let known { type = known.type } else { target = element }
            // A dictionary of objects takes null; lists and sets of objects never do.
            if type == .object { isNullable = collection == .dictionary }
        } else if let plain = types.first(where: { $0.name == parts.type }) {
            guard parts.objectType == nil else {
                throw wrong("property '\(name)' of type '\(parts.type)' has no class")
            }
            type = plain.type
        } else if parts.type == "object" || parts.type == "linkingObjects" {
            guard let element = parts.objectType, !element.isEmpty else {
                throw wrong("property '\(name)' needs an 'objectType'")
            }
            target = element
            if parts.type == "object" {
                isNullable = true
            } else {
                (type, collection, isNullable) = (.linkingObjects, .list, false)
            }
        } else {
            throw wrong("property '\(name)' has the unknown type '\(parts.type)'")
        }
        return Property(
            Name(parts.storedName ?? name), type, nullable: isNullable ?? (type == .mixed), collection: collection,
            target: Name(target), origin: Name(parts.origin), indexed: parts.isIndexed, fullText: parts.isFullText,
            publicName: parts.storedName == nil || parts.storedName == name ? "" : Name(name))
    }

    // MARK: Writing

    /// The schema as JSON, with an object for each property; the same schema has the same text.
    package var json: String {
        var out = JSONText()
        out.array(classes) { out, one in
            out.object { object in
                object.field("name") { $0.text(one.name.text) }
                if !one.primaryKey.isEmpty { object.field("primaryKey") { $0.text(one.primaryKey.text) } }
                if one.kind == .embedded { object.field("embedded") { $0.bool(true) } }
                object.field("properties") { field in
                    field.object { all in
                        for property in one.properties + one.computedProperties {
                            let name = property.publicName.isEmpty ? property.name : property.publicName
                            all.field(name.text) { Self.write(property, to: &$0) }
                        }
                    }
                }
            }
        }
        return out.text
    }

    private static func write(_ property: Property, to out: inout JSONText) {
        let element = types.first { $0.type == property.type }?.name.text ?? property.linkTarget.text
        let collection = property.isComputed ? nil : collections.first { $0.kind == property.collection }
        out.object { object in
            if let collection {
                object.field("type") { $0.text(collection.name.text) }
                object.field("objectType") { $0.text(element) }
            } else if property.type == .object || property.isComputed {
                object.field("type") { $0.text(property.isComputed ? "linkingObjects" : "object") }
                object.field("objectType") { $0.text(property.linkTarget.text) }
            } else {
                object.field("type") { $0.text(element) }
            }
            if property.isComputed { object.field("property") { $0.text(property.linkOrigin.text) } }
            if property.isNullable { object.field("optional") { $0.bool(true) } }
            if property.isFullTextIndexed {
                object.field("indexed") { $0.text("full-text") }
            } else if property.isIndexed {
                object.field("indexed") { $0.bool(true) }
            }
            if !property.publicName.isEmpty { object.field("mapTo") { $0.text(property.name.text) } }
        }
    }
}
