internal import CoreEngine

/// A property of a model.
struct PropertyInfo {
    let name: String

    /// The name of the property in the file.
    let column: String
    let index: Int16

    /// The offset of the wrapper in the object.
    let offset: Int
    let access: any PropertyAccess.Type
    var kind: DirectKind { DirectKind(access) }
    let shape: _PropertyShape
    let isPrimary: Bool
    let isIndexed: Bool

    /// The rules in the wrapper of the property.
    var rules = PropertyRules()

    /// Whether the library generates the value in a new object if the program sets no value.
    var isMade = false

    /// Whether the property stores the class name of each object (the rule `.subclasses(by:)`).
    var isType = false

    /// For linking objects, the property whose links are collected; otherwise empty.
    let origin: String

    func mismatch(_ value: Any?, _ className: String) -> String {
        "Invalid value '\(value.map { "\($0)" } ?? "nil")' of type '\(value.map { "\(Swift.type(of: $0))" } ?? "nil")' for "
            + "'\(engineProperty.typeText)' property '\(className).\(name)'."
    }

    var engineProperty: EngineProperty {
        EngineProperty(
            Name(column), shape.type,
            nullable: shape.type == .mixed
                || (shape.isOptional && shape.collection != .list && shape.collection != .set)
                || (shape.isOptional && shape.type != .object),
            collection: shape.collection, target: Name(shape.target?.fileName ?? ""), origin: Name(originColumn),
            primary: isPrimary,
            indexed: isIndexed, publicName: Name(column == name ? "" : name))
    }

    /// The name of the origin property in the file.
    private var originColumn: String {
        guard !origin.isEmpty, let target = shape.target else { return origin }
        return target.propertiesMapping()[origin] ?? origin
    }
}

/// The description of a model class: its properties with their offsets. It is made once for each class, from one
/// instance and its fields.
///
/// Sendable: the fields are immutable.
final class ClassInfo: @unchecked Sendable {
    let type: ObjectBase.Type
    let name: String

    /// The name of the class of the file: that of the base if classes share it.
    let fileName: String

    /// The place among the classes that share a class of the file; nil if the class shares it with no other class.
    let membership: Membership?
    let isEmbedded: Bool
    let properties: [PropertyInfo]
    let primaryKey: Int?

    /// Properties that link to one object.
    let links: [PropertyInfo]

    /// The offset in an instance at which each wrapper stores the index of its property.
    private let numbers: UnsafeMutableBufferPointer<Int>
    private let byName: [Name: Int]

    /// Whether the model does not use `@Persisted`. Its fields are then attached to their objects one by one.
    let isPlain: Bool

    /// Whether instances hold only stored values: each stored Swift property of the class is a property of the row.
    let isOnlyStored: Bool

    /// Whether the description was made from a file, without a model.
    let isDynamic: Bool

    /// How values are stored without generic code; nil for classes that need it.
    let direct: DirectPlan?

    /// The error in the model; nil if the model is valid.
    let fault: String?

    /// Creates the description of a class without a model.
    init(dynamic name: String, isEmbedded: Bool, _ properties: [PropertyInfo]) {
        type = DynamicObject.self
        isDynamic = true
        fault = nil
        self.name = name
        fileName = name
        membership = nil
        self.isEmbedded = isEmbedded
        self.properties = properties
        primaryKey = properties.firstIndex(where: \.isPrimary)
        links = []
        isPlain = false
        isOnlyStored = false
        direct = nil
        numbers = .allocate(capacity: 0)
        byName = Dictionary(
            properties.enumerated().map { (Name($1.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    private init(_ type: ObjectBase.Type) {
        self.type = type
        isDynamic = type == DynamicObject.self
        let membership = Membership.of(type)
        self.membership = membership
        name = membership?.typeName.text ?? type.className()
        fileName = type.fileName
        isEmbedded = type is EmbeddedObject.Type
        let prototype = type.init()
        let mapping = type.propertiesMapping()
        let indexed = type.indexedProperties(), primary = type.primaryKey()
        var properties: [PropertyInfo] = []
        let made = Self.made(type)
        let wrappers = Dictionary(Self.children(prototype), uniquingKeysWith: { _, last in last })
        for field in fields(of: type) {
            guard let access = field.type as? any PropertyAccess.Type, let wrapper = wrappers[field.name] else {
                continue
            }
            let name = field.name.hasPrefix("_") ? String(field.name.dropFirst()) : field.name
            let (isPrimary, isIndexed) = wrapper.options
            properties.append(
                PropertyInfo(
                    name: name, column: mapping[name] ?? name, index: Int16(properties.count), offset: field.offset,
                    access: access,
                    shape: access.shape, isPrimary: isPrimary || name == primary,
                    isIndexed: isIndexed || indexed.contains(name), rules: wrapper.rules,
                    isMade: wrapper.rules.isAutomatic || made.contains(Name(name)),
                    isType: name == membership?.property, origin: wrapper.origin ?? ""))
        }
        isPlain = properties.isEmpty
        isOnlyStored =
            !isPlain && !isDynamic && fields(of: type).count == fields(of: ObjectBase.self).count + properties.count
        fault = (isPlain ? nil : Self.unstored(type)) ?? Self.misplaced(type, membership)
        if isPlain { properties = Self.plain(type, prototype) }
        self.properties = properties
        direct = DirectPlan(
            properties, isModel: !isPlain && !isDynamic && !isEmbedded && membership == nil && fault == nil)
        primaryKey = properties.firstIndex(where: \.isPrimary)
        links = isPlain ? [] : properties.filter { $0.shape.type == .object && $0.shape.collection == .none }
        numbers = .allocate(capacity: isPlain ? 0 : properties.count)
        for (i, property) in properties.enumerated() where !isPlain {
            numbers.initializeElement(at: i, to: property.offset + property.access.numberOffset)
        }
        byName = Dictionary(
            properties.enumerated().map { (Name($1.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns an error message for a field without wrapper in a model with wrappers, if the field would be a property
    /// in a model without wrappers. Such a field would not be stored, and its values would be lost. Fields that the
    /// model lists in `ignoredProperties()` are allowed.
    private static func unstored(_ type: ObjectBase.Type) -> String? {
        let ignored = Set(type.ignoredProperties())
        let found = fields(of: type).first {
            $0.type is any PlainProperty.Type && !($0.type is any PropertyAccess.Type) && !ignored.contains($0.name)
        }
        guard let found else { return nil }
        return
            "Property '\(type.className()).\(found.name)' is of type '\(found.type)' and without @Persisted, in a class that has properties with it: "
            + "nothing of it would be stored. Write '@Persisted var \(found.name): …', or name it in `ignoredProperties()`."
    }

    /// Returns an error message for rules of classes that share a class of the file, in a class that does not.
    private static func misplaced(_ type: ObjectBase.Type, _ membership: Membership?) -> String? {
        guard membership == nil else { return nil }
        for rule in type.rules() {
            if rule.typeProperty != nil { return "\(type.className()): embedded objects have no subclasses" }
            if rule.isAbstract {
                return "\(type.className()): the rule `.abstract` is for classes that share a class of the file. Their "
                    + "base has the rule `.subclasses(by:)`"
            }
        }
        return nil
    }

    /// Returns the properties of a model without wrappers.
    private static func plain(_ type: ObjectBase.Type, _ prototype: ObjectBase) -> [PropertyInfo] {
        let mapping = type.propertiesMapping(), indexed = type.indexedProperties(), primary = type.primaryKey(),
            ignored = type.ignoredProperties()
        var origins: [String: String] = [:], mirror: Mirror? = Mirror(reflecting: prototype)
        while let level = mirror {
            for child in level.children {
                origins[child.label ?? ""] = (child.value as? any PlainProperty)?.originProperty
            }
            mirror = level.superclassMirror
        }
        var found: [PropertyInfo] = []
        for field in fields(of: type) where !ignored.contains(field.name) {
            guard let plain = field.type as? any PlainProperty.Type else { continue }
            found.append(
                PropertyInfo(
                    name: field.name, column: mapping[field.name] ?? field.name, index: Int16(found.count),
                    offset: field.offset,
                    access: plain.access,
                    shape: plain.access.shape, isPrimary: field.name == primary,
                    isIndexed: indexed.contains(field.name),
                    origin: origins[field.name] ?? ""))
        }
        return found
    }

    /// Returns the wrappers of an instance. Those of superclasses come first.
    private static func children(_ object: ObjectBase) -> [(String, any PropertyAccess)] {
        var found: [(String, any PropertyAccess)] = []
        var mirror: Mirror? = Mirror(reflecting: object)
        while let level = mirror {
            found.insert(
                contentsOf: level.children.compactMap { c in
                    (c.value as? any PropertyAccess).map { (c.label ?? "", $0) }
                },
                at: 0)
            mirror = level.superclassMirror
        }
        return found
    }

    deinit {
        numbers.deallocate()
        direct?.properties.deallocate()
    }

    /// Stores the index of its property in each wrapper of an instance.
    @inline(__always) func number(_ base: UnsafeMutableRawPointer) {
        for i in 0..<numbers.count {
            base.storeBytes(of: Int16(truncatingIfNeeded: i), toByteOffset: numbers[i], as: Int16.self)
        }
    }

    func property(_ name: String) -> PropertyInfo? { byName[Name(name)].map { properties[$0] } }

    /// The schema of the class for the engine.
    var engineSchema: EngineObjectSchema {
        EngineObjectSchema(
            Name(fileName), kind: isEmbedded ? .embedded : .topLevel, properties: properties.map(\.engineProperty))
    }

    var schema: ObjectSchema { ObjectSchema(engineSchema, type) }

    // MARK: All classes

    private struct Known {
        var classes: [ObjectIdentifier: ClassInfo] = [:]
        var names: [ObjectIdentifier: String] = [:]
    }

    private static let known = Lock(initial: Known())

    /// Returns the description of a class. The first call makes an instance of the class, and holds no lock while it
    /// does, because the initializer is code of the program.
    static func of(_ type: ObjectBase.Type) -> ClassInfo {
        let id = ObjectIdentifier(type)
        if let info = ifKnown(type) { return info }
        let made = ClassInfo(type)
        return known.with { k in
            if let first = k.classes[id] { return first }
            k.classes[id] = made
            return made
        }
    }

    static func ifKnown(_ type: ObjectBase.Type) -> ClassInfo? { known.with { $0.classes[ObjectIdentifier(type)] } }

    /// Returns the name of a class without its module and enclosing types.
    static func name(of type: ObjectBase.Type) -> String {
        let id = ObjectIdentifier(type)
        if let name = known.with({ $0.names[id] }) { return name }
        let name = String(describing: type)
        known.with { $0.names[id] = name }
        return name
    }
}

extension ObjectBase {
    /// The class itself and all classes that its properties lead to.
    static var reachable: [ObjectBase.Type] {
        var found: [ObjectBase.Type] = [], seen: Set<ObjectIdentifier> = [], open: [ObjectBase.Type] = [self]
        while let type = open.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            found.append(type)
            open += ClassInfo.of(type).properties.compactMap(\.shape.target)
        }
        return found
    }
}
