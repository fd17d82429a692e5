internal import CoreEngine
import Foundation

/// An object without a model. Its properties are read and written by name.
///
///     for person in realm.dynamicObjects("Person") { print(person["name"] as Any, person.age as Any) }
@dynamicMemberLookup
public final class DynamicObject: Object {
    public required init() {}

    /// Accesses a property by its name.
    public subscript(dynamicMember member: String) -> Any? {
        get { self[member] }
        set { self[member] = newValue }
    }

    public override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension ObjectBase {
    /// Returns the value of a list property.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        guard let property = info.property(propertyName) else {
            misuse("Invalid property name '\(propertyName)' for class '\(info.name)'.")
        }
        return List(collection(property.index, .list, dynamicElement(property)))
    }

    /// Returns the value of a property that holds a set of objects.
    public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        guard let property = info.property(propertyName) else {
            misuse("Invalid property name '\(propertyName)' for class '\(info.name)'.")
        }
        return MutableSet(collection(property.index, .set, dynamicElement(property)))
    }

    /// Returns the value of a property that holds a map of objects.
    public final func dynamicMap(_ propertyName: String) -> Map<String, DynamicObject?> {
        guard let property = info.property(propertyName) else {
            misuse("Invalid property name '\(propertyName)' for class '\(info.name)'.")
        }
        return Map(collection(property.index, .dictionary, dynamicElement(property)))
    }

    private func dynamicElement(_ property: PropertyInfo) -> _PropertyShape { _PropertyShape(property.shape.type) }
}

extension Realm {
    /// Returns all objects of a class as dynamic objects.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        let managed = core.dynamicClass(named: typeName)
        return Results(
            _Rows(
                core,
                must { () throws(EngineError) in
                    try engine.inside(.results) { () throws(EngineError) in try ResultSet(engine, .table(managed.table))
                    }
                }, managed))
    }

    /// Returns the object with a primary key as a dynamic object; nil if it does not exist.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        let managed = core.dynamicClass(named: typeName)
        guard let primaryKey = managed.info.primaryKey else { misuse("\(typeName) does not have a primary key") }
        return must { () throws(EngineError) in
            let value = try core.value(key, for: managed.info.properties[primaryKey], managed.info)
            let found = try value.withMixed { (mixed) throws(EngineError) in
                try engine.inside { () throws(EngineError) in try engine.find(managed.table, primaryKey: mixed) }
            }
            return found.map { unsafeDowncast(managed.object($0), to: DynamicObject.self) }
        }
    }

    @discardableResult
    public func dynamicCreate(_ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error)
        -> DynamicObject
    {
        let managed = core.dynamicClass(named: typeName)
        let made = must { () throws(EngineError) in try core.create(managed, value, Addition(update, isCopying: true)) }
        return unsafeDowncast(made, to: DynamicObject.self)
    }
}

// MARK: Classes without models

extension _Place {
    /// The target class of the links at this place, without its model.
    var targetClass: ManagedClass? {
        let (table, column): (TableKey, ColKey) =
            switch target {
            case .property(let table, _, let column): (table, column)
            case .insertion(let path, _), .element(let path, _), .member(let path), .entry(let path, _):
                (path.table, path.column)
            }
        let schema = core.realm.schema
        guard let index = schema.index(of: table),
            let property = schema.classes[index].properties.first(where: { $0.key == column }),
            let found = schema[property.linkTarget]
        else { return nil }
        return core.dynamicClass(of: found.key)
    }
}

extension ManagedClass {
    /// Returns the class and the property of the links that a linking objects property collects, without a model.
    func origin(of index: Int16) -> (ManagedClass, ColKey)? {
        let schema = core.realm.schema, name = Name(info.properties[Int(index)].column)
        guard let index = schema.index(of: table),
            let property = schema.classes[index].computedProperties.first(where: { $0.name == name }),
            let origin = schema[property.linkTarget], let link = origin.property(named: property.linkOrigin),
            let found = core.dynamicClass(of: origin.key)
        else { return nil }
        return (found, link.key)
    }
}

extension ClassInfo {
    /// Creates the description of a class from the file alone.
    convenience init(_ schema: EngineObjectSchema) {
        let properties = (schema.properties + schema.computedProperties).enumerated().compactMap {
            i, p -> PropertyInfo? in
            let access = Self.access(p)
            var shape = _PropertyShape(p.type, target: p.type == .object || p.isComputed ? DynamicObject.self : nil)
            shape.isOptional = p.isNullable
            shape.collection = p.collection
            return PropertyInfo(
                name: p.publicName.isEmpty ? p.name.text : p.publicName.text, column: p.name.text, index: Int16(i),
                offset: 0, access: access,
                shape: shape, isPrimary: p.isPrimary, isIndexed: p.isIndexed, origin: p.linkOrigin.text)
        }
        self.init(dynamic: schema.name.text, isEmbedded: schema.kind == .embedded, properties)
    }

    private static func access(_ property: EngineProperty) -> any PropertyAccess.Type {
        if property.isComputed { return Persisted<LinkingObjects<DynamicObject>>.self }
        func access<T: RealmCollectionValue & _Persistable>(_: T.Type) -> any PropertyAccess.Type {
            switch (property.collection, property.isNullable) {
            case (.none, false): Persisted<T>.self
            case (.none, true): Persisted<T?>.self
            case (.list, false): Persisted<List<T>>.self
            case (.list, true): Persisted<List<T?>>.self
            case (.set, false): Persisted<MutableSet<T>>.self
            case (.set, true): Persisted<MutableSet<T?>>.self
            case (.dictionary, false): Persisted<Map<String, T>>.self
            case (.dictionary, true): Persisted<Map<String, T?>>.self
            }
        }
        switch property.type {
        case .int: return access(Int.self)
        case .bool: return access(Bool.self)
        case .string: return access(String.self)
        case .data: return access(Data.self)
        case .date: return access(Date.self)
        case .float: return access(Float.self)
        case .double: return access(Double.self)
        case .decimal: return access(Decimal128.self)
        case .objectId: return access(ObjectId.self)
        case .uuid: return access(UUID.self)
        case .mixed:
            switch property.collection {
            case .none: return Persisted<AnyRealmValue>.self
            case .list: return Persisted<List<AnyRealmValue>>.self
            case .set: return Persisted<MutableSet<AnyRealmValue>>.self
            case .dictionary: return Persisted<Map<String, AnyRealmValue>>.self
            }
        case .object, .linkingObjects:
            switch property.collection {
            case .none: return Persisted<DynamicObject?>.self
            case .list: return Persisted<List<DynamicObject>>.self
            case .set: return Persisted<MutableSet<DynamicObject>>.self
            case .dictionary: return Persisted<Map<String, DynamicObject?>>.self
            }
        }
    }
}
