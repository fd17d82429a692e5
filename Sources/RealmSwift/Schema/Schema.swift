internal import CoreEngine

/// The type of a property. The raw values are those of Realm's own package.
public enum PropertyType: Int, Sendable {
    case int = 0, bool = 1, string = 2, data = 3, date = 4, float = 5, double = 6, object = 7, linkingObjects = 8, any =
        9, objectId = 10
    case decimal128 = 11, UUID = 12

    init(_ type: EngineType) {
        self =
            switch type {
            case .int: .int
            case .bool: .bool
            case .string: .string
            case .data: .data
            case .date: .date
            case .float: .float
            case .double: .double
            case .object: .object
            case .linkingObjects: .linkingObjects
            case .mixed: .any
            case .objectId: .objectId
            case .decimal: .decimal128
            case .uuid: .UUID
            }
    }

    var text: String {
        switch self {
        case .any: "mixed"
        case .linkingObjects: "linking objects"
        case .objectId: "object id"
        case .UUID: "uuid"
        default: "\(self)"
        }
    }
}

/// The description of a property of a class.
public struct Property: CustomStringConvertible, Equatable, Sendable {
    /// The name of the property in the program.
    public let name: String

    /// The name of the property in the file.
    public let columnName: String

    /// The type of the property's values.
    public let type: PropertyType

    /// A Boolean value that indicates whether the property is a list.
    public let isArray: Bool

    /// A Boolean value that indicates whether the property is a set.
    public let isSet: Bool

    /// A Boolean value that indicates whether the property is a map.
    public let isMap: Bool

    /// A Boolean value that indicates whether the property has a search index.
    public let isIndexed: Bool

    /// A Boolean value that indicates whether values may be nil.
    public let isOptional: Bool
    let isPrimary: Bool

    /// The name of the target class of links; nil for other types.
    public let objectClassName: String?

    /// For linking objects, the name of the property whose links are collected.
    private let originName: String?

    init(_ property: EngineProperty, name: String? = nil) {
        self.name = name ?? (property.publicName.isEmpty ? property.name.text : property.publicName.text)
        columnName = property.name.text
        type = PropertyType(property.type)
        isArray = property.collection == .list
        isSet = property.collection == .set
        isMap = property.collection == .dictionary
        isIndexed = property.isIndexed || property.isPrimary
        // A value of any type represents null itself.
        isOptional = property.isNullable && property.type != .mixed
        isPrimary = property.isPrimary
        objectClassName = property.linkTarget.isEmpty ? nil : property.linkTarget.text
        originName = property.linkOrigin.isEmpty ? nil : property.linkOrigin.text
    }

    public var description: String {
        """
        \(name) {
        \ttype = \(type.text);
        \(objectClassName.map { "\tobjectClassName = \($0);\n\tlinkOriginPropertyName = \(originName ?? "(null)");\n" } ?? "")\tcolumnName = \(columnName);
        \tindexed = \(isIndexed ? "YES" : "NO");
        \tisPrimary = \(isPrimary ? "YES" : "NO");
        \tarray = \(isArray ? "YES" : "NO");
        \tset = \(isSet ? "YES" : "NO");
        \tdictionary = \(isMap ? "YES" : "NO");
        \toptional = \(isOptional ? "YES" : "NO");
        }
        """
    }
}

/// The description of a class with its properties.
public struct ObjectSchema: CustomStringConvertible, Equatable {
    /// The name of the class in the file.
    public let className: String

    /// The properties, in the order of the file.
    public let properties: [Property]

    /// A Boolean value that indicates whether each object belongs to exactly one other object.
    public let isEmbedded: Bool

    /// Always false. Asymmetric classes belong to Device Sync.
    public var isAsymmetric: Bool { false }

    /// The Swift class of the program; `DynamicObject` if the program has no model for the class.
    public let objectClass: AnyClass

    /// The property that is the primary key; nil if the class has none.
    public var primaryKeyProperty: Property? { properties.first(where: \.isPrimary) }

    /// Returns the property with a name; nil if it does not exist.
    public subscript(propertyName: String) -> Property? { properties.first { $0.name == propertyName } }

    init(_ schema: EngineObjectSchema, _ type: ObjectBase.Type, names: ClassInfo? = nil) {
        className = schema.name.text
        isEmbedded = schema.kind == .embedded
        objectClass = type
        properties = schema.properties.map { property in
            Property(property, name: names?.properties.first { Name($0.column) == property.name }?.name)
        }
    }

    public static func == (a: ObjectSchema, b: ObjectSchema) -> Bool {
        a.className == b.className && a.properties == b.properties && a.isEmbedded == b.isEmbedded
    }

    public var description: String {
        let lines = properties.flatMap { $0.description.split(separator: "\n").map { "\t\($0)" } }
        return "\(className)\(isEmbedded ? " (embedded)" : "") {\n" + lines.joined(separator: "\n") + "\n}"
    }
}

/// The description of all classes of a Realm.
public struct Schema: CustomStringConvertible, Equatable {
    /// The classes, sorted by name.
    public let objectSchema: [ObjectSchema]

    /// Returns the class with a name; nil if it does not exist.
    public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }

    init(_ schema: EngineSchema, _ core: RealmCore) {
        let types = core.types
        objectSchema = schema.classes.map { c in
            let type = types[c.name]
            return ObjectSchema(c, type ?? DynamicObject.self, names: type.map { ClassInfo.of($0) })
        }
    }

    public var description: String {
        "Schema {\n"
            + objectSchema.flatMap { $0.description.split(separator: "\n").map { "\t\($0)" } }.joined(separator: "\n")
            + "\n}"
    }
}
