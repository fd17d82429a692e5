internal import CoreEngine
import Foundation

/// Adds unmanaged objects to a Realm, with all objects that they refer to.
extension RealmCore {
    /// Makes an object managed. The same instance shows the row from then on.
    func add(_ object: ObjectBase, _ addition: Addition) throws(EngineError) {
        if let other = object.core {
            if object.isInvalidated { misuse("Adding a deleted or invalidated object to a Realm is not permitted") }
            if other === self { return }
            misuse("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        }
        guard object._rlmState == ObjectBase.unmanaged else { misuse("A stand-in cannot be added to a Realm") }
        guard !(object is EmbeddedObject) else {
            throw EngineError(
                .illegalOperation,
                "Cannot add an embedded object to a Realm: it belongs to the object that refers to it")
        }
        let managed = managed(type(of: object))
        if let plan = managed.info.direct, managed.types == nil,
            let named = try storeDirectly(object, managed, plan)
        {
            if !plan.isWhole {
                addition.note(object, managed.table, named)
                return try addition.nest { () throws(EngineError) in
                    try self.fill(object, managed, named, addition, isDirectStored: true)
                }
            }
            return object.bind(managed, named, plan)
        }
        try verifyWriting()
        let p = managed.info.primaryKey.map { managed.info.properties[$0] }
        if managed.types != nil { verifyType(of: object, managed) }
        var primaryKey: Any?
        if let p, !p.isMade || p.access.isSet(object, p) { primaryKey = p.access.any(object, p) }
        let key = try row(managed, primaryKey, addition)
        let named = TrackedKey(key, creation(managed.table, key))
        addition.note(object, managed.table, named)
        try addition.nest { () throws(EngineError) in try self.fill(object, managed, named, addition) }
    }

    /// Returns the link value for an object. An unmanaged object becomes managed.
    func link(to object: ObjectBase, _ addition: Addition) throws(EngineError) -> (TableKey, ObjKey) {
        if let (table, named) = addition.known[object.identity] { return (table, named.key) }
        if let managed = object.managed {
            if object.isInvalidated { misuse("Object has been deleted or invalidated.") }
            if managed.core === self { return (managed.table, object.named.key) }
            guard addition.isCopying else {
                misuse("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
            }
            let copy = try create(type(of: object), object, addition)
            return (copy.managed?.table ?? .null, copy.named.key)
        }
        if addition.isCopying {
            // `create` makes copies: the objects that it copies stay unmanaged.
            let copy = try create(type(of: object), object, addition)
            return (copy.managed?.table ?? .null, copy.named.key)
        }
        let identity = object.identity
        try add(object, addition)
        // An object without links is not noted, because it is complete.
        let (table, named) = addition.known[identity] ?? (object.managed?.table ?? .null, object.named)
        return (table, named.key)
    }

    /// Stores an embedded object at a place. A managed object is copied.
    func embed(_ object: ObjectBase, at place: _Place) throws(EngineError) {
        if let managed = object.managed, !place.addition.isCopying {
            // If the place already holds this object, the call has no effect. At any other place the object would be
            // copied silently, so that is misuse.
            if case .property(let table, let owner, let column) = place.target, managed.core === self,
                let (linkedTable, linkedKey) = try realm.inside(
                    .object, { () throws(EngineError) in try realm.linkedObject(table, owner.key, column) }),
                linkedTable == managed.table, linkedKey == object.named.key
            {
                return
            }
            misuse("Cannot add an existing managed embedded object to a \(place.kind).")
        }
        let managed = managed(type(of: object))
        let (key, isNew) = try place.embedded(), named = TrackedKey(key, creation(managed.table, key))
        if place.addition.isCopying || object.isManaged {
            try store(Values(object, managed.info), to: managed, named, place.addition, isNew: isNew)
        } else {
            place.addition.note(object, managed.table, named)
            try fill(object, managed, named, place.addition)
        }
    }

    /// Creates an embedded object with values at a place.
    func embed(_ value: Any, as managed: ManagedClass, at place: _Place) throws(EngineError) {
        let (key, isNew) = try place.embedded()
        try store(
            Values(value, managed.info), to: managed, TrackedKey(key, creation(managed.table, key)), place.addition,
            isNew: isNew)
    }

    func verifyWriting() throws(EngineError) {
        _ = try realm.inside { () throws(EngineError) in try realm.writing() }
    }

    /// Returns the row for an object: the existing row with the primary key, or a new row.
    private func row(_ managed: ManagedClass, _ primaryKey: Any?, _ addition: Addition) throws(EngineError) -> ObjKey {
        let realm = realm
        let isMade = primaryKey == nil && managed.info.primaryKey.map { managed.info.properties[$0].isMade } ?? true
        guard let index = managed.info.primaryKey, !isMade else {
            let key = try realm.inside { () throws(EngineError) in try realm.create(managed.table) }
            try managed.types?.store(in: key)
            return key
        }
        let value = try value(primaryKey, for: managed.info.properties[index], managed.info)
        let (key, isNew) = try value.withMixed { (mixed) throws(EngineError) in
            try realm.inside { () throws(EngineError) in
                do throws(EngineError) {
                    return try realm.create(managed.table, primaryKey: mixed, mustBeNew: false)
                } catch {
                    return (
                        try realm.create(managed.table, primaryKey: try fail(error, storing: mixed), mustBeNew: false)
                            .0,
                        true
                    )
                }
            }
        }
        guard isNew || addition.update != .error else {
            misuse(
                "Attempting to create an object of type '\(managed.info.name)' with an existing primary key value "
                    + "'\(unwrapped(primaryKey as Any).map { "\($0)" } ?? "(null)")'.")
        }
        if isNew {
            try managed.types?.store(in: key)
        } else if !managed.holds(key) {
            misuse(
                "The object with the primary key value '\(unwrapped(primaryKey as Any).map { "\($0)" } ?? "(null)")' is "
                    + "of type '\(managed.types?.text(of: key) ?? "")', which is no '\(managed.info.name)'.")
        }
        return key
    }

    func value(_ any: Any?, for p: PropertyInfo, _ info: ClassInfo) throws(EngineError) -> EngineValue {
        switch any.flatMap(unwrapped) {
        case nil: return .null
        case let value?:
            guard let stored = stored(value, as: p.shape.type) else { misuse(p.mismatch(value, info.name)) }
            return stored
        }
    }

    /// Converts a value of the program to an engine value.
    private func stored(_ value: Any, as type: EngineType) -> EngineValue? {
        let typed: (any _RealmStorable)? =
            switch type {
            case .int: (value as? any PersistableEnum).map { $0 as any _RealmStorable } ?? Int._rlmConvert(value)
            case .string: (value as? any PersistableEnum).map { $0 as any _RealmStorable } ?? String._rlmConvert(value)
            case .objectId: ObjectId._rlmConvert(value)
            case .uuid: UUID._rlmConvert(value)
            case .bool: Bool._rlmConvert(value)
            default: nil
            }
        return (typed ?? value as? any _RealmStorable)?._rlmValue()?.value
    }

    /// Stores all properties of an unmanaged object and makes it show the row.
    ///
    /// - Parameter isDirectStored: The properties with a direct kind are stored already.
    private func fill(
        _ object: ObjectBase, _ managed: ManagedClass, _ named: TrackedKey, _ addition: Addition,
        isDirectStored: Bool = false
    ) throws(EngineError) {
        for property in managed.info.properties
        where !property.isPrimary && !property.shape.isComputed && !property.isType {
            if isDirectStored, property.kind != .other { continue }
            if property.isMade, !property.access.isSet(object, property) { continue }
            let place = _Place(self, .property(managed.table, named, managed.columns[Int(property.index)]), addition)
            do { try property.access.store(object, property, at: place) } catch {
                throw error as? EngineError ?? EngineError(.runtime, "\(error)")
            }
        }
        object.bind(managed, named)
    }

    // MARK: Creating

    /// Creates a managed object from a dictionary, an array or another object. The other object does not change.
    func create(_ type: ObjectBase.Type, _ value: Any, _ addition: Addition) throws(EngineError) -> ObjectBase {
        try verifyWriting()
        let managed = managed(type)
        return try create(managed, value, addition)
    }

    func create(_ managed: ManagedClass, _ value: Any, _ addition: Addition) throws(EngineError) -> ObjectBase {
        if let object = value as? ObjectBase, let (_, named) = addition.known[object.identity] {
            return managed.object(named)
        }
        guard !managed.info.isEmbedded else {
            throw EngineError(
                .illegalOperation, "Embedded objects cannot be created directly: class '\(managed.info.name)'")
        }
        if let plan = managed.info.direct, managed.types == nil, let named = try createDirectly(value, managed, plan) {
            return managed.object(named)
        }
        var managed = managed
        if managed.types != nil { managed = classOfNew(managed, value) }
        let given = Values(value, managed.info)
        let before = realm.isWriting ? managed.info.primaryKey : nil
        var isNew = true
        let key: ObjKey
        if let primaryKey = before {
            let property = managed.info.properties[primaryKey]
            var primary = given[property]
            if primary == nil, !property.isMade {
                primary = fresh(managed, given).flatMap { fresh in
                    fresh.info.property(property.name).flatMap { $0.access.any(fresh, $0) }
                }
            }
            if primary != nil || !property.isMade {
                let wanted = try self.value(primary, for: property, managed.info)
                isNew = try wanted.withMixed { (mixed) throws(EngineError) in
                    try realm.inside { () throws(EngineError) in try realm.find(managed.table, primaryKey: mixed) }
                }.isNilValue
            }
            if isNew { verifyIsNotAbstract(managed) }
            key = try row(managed, primary, addition)
            // The values for an existing object belong to the properties of the object's class, which may be a
            // subclass.
            if !isNew, let own = managed.subclasses?.subclass(of: key) { managed = own }
        } else {
            verifyIsNotAbstract(managed)
            key = try row(managed, nil, addition)
        }
        let named = TrackedKey(key, creation(managed.table, key))
        if let object = value as? ObjectBase { addition.note(object, managed.table, named) }
        let own = managed, values = Values(value, own.info)
        try addition.nest { () throws(EngineError) in try self.store(values, to: own, named, addition, isNew: isNew) }
        return managed.object(named)
    }

    /// Stores the given values. A new object takes the remaining values from a new instance of its model.
    private func store(
        _ given: Values, to managed: ManagedClass, _ named: TrackedKey, _ addition: Addition, isNew: Bool
    ) throws(EngineError) {
        lazy var fresh = fresh(managed, given)
        for property in managed.info.properties
        where !property.isPrimary && !property.shape.isComputed && !property.isType {
            let place = _Place(self, .property(managed.table, named, managed.columns[Int(property.index)]), addition)
            do {
                if let value = given[property] {
                    guard try property.access.store(any: value, at: place) else {
                        misuse(property.mismatch(value, managed.info.name))
                    }
                } else if isNew, !property.isMade, let fresh {
                    if managed.info.isDynamic, let membership = fresh.info.membership,
                        membership.column == Name(property.column)
                    {
                        try place.write(.string(membership.typeName.text))
                        continue
                    }
                    try storeDefault(of: fresh, property, at: place)
                }
            } catch { throw error as? EngineError ?? EngineError(.runtime, "\(error)") }
        }
    }

    /// Returns a new instance of the model of a class, with the default values of its properties. Returns nil if the
    /// program has no model for the class.
    private func fresh(_ managed: ManagedClass, _ given: Values) -> ObjectBase? {
        guard managed.info.isDynamic else { return managed.info.type.init() }
        guard let model = models[Name(managed.info.name)] else { return nil }
        guard let membership = Membership.of(model) else { return model.init() }
        let type = given.text(membership.property, membership.column),
            named = declared.first { info in
                info.membership?.base == membership.base && info.membership?.typeName == type
            }
        return (named?.type ?? model).init()
    }

    // MARK: Classes that share a class of the file

    /// Verifies that a program did not give an unmanaged object the type of another class. Objects of exactly an
    /// abstract class are misuse, too.
    private func verifyType(of object: ObjectBase, _ managed: ManagedClass) {
        guard let membership = managed.info.membership else { return }
        verifyIsNotAbstract(managed)
        guard let property = managed.info.properties.first(where: \.isType),
            let text = property.access.any(object, property) as? String, Name(text) != membership.typeName,
            declared.contains(where: { $0.membership?.base == membership.base && $0.membership?.typeName == Name(text) }
            )
        else { return }
        misuse(membership.stays)
    }

    private func verifyIsNotAbstract(_ managed: ManagedClass) {
        guard managed.types != nil, let membership = managed.info.membership, membership.isAbstract else { return }
        misuse("'\(membership.typeName)' is abstract: its objects are of subclasses.")
    }

    /// Returns the class of an object that is created from values: the class of the given object, or the one that the
    /// values name in the type property.
    private func classOfNew(_ managed: ManagedClass, _ value: Any) -> ManagedClass {
        guard let membership = managed.info.membership else { return managed }
        if let object = value as? ObjectBase, membership.includes(type(of: object)) {
            return self.managed(type(of: object))
        }
        guard !(value is ObjectBase) || value is DynamicObject else { return managed }
        guard let name = Values(value, managed.info).text(membership.property, membership.column), !name.isEmpty else {
            return managed
        }
        let found = declared.first { $0.membership?.typeName == name && membership.includes($0.type) }
        // A copied object may be of a type that the program does not know.
        guard let found else {
            if value is ObjectBase { return managed }
            misuse("'\(name)' is no type of '\(managed.info.name)'.")
        }
        return self.managed(found.type)
    }

    private func storeDefault(of fresh: ObjectBase, _ property: PropertyInfo, at place: _Place) throws {
        guard let target = fresh.info.property(property.name) else { return }
        // During a migration the property may have a different type in the file. In that case links and collections
        // start empty.
        let isSame =
            target.shape.type == property.shape.type && target.shape.collection == .none
            && property.shape.collection == .none
            && property.shape.type != .object
        if property.access == target.access || isSame { try target.access.store(fresh, target, at: place) }
    }
}

extension Optional { fileprivate var isNilValue: Bool { self == nil } }

/// Values of properties as the program passes them: by name, in order, or as the values of another object.
struct Values {
    private enum Source {
        case dictionary([String: Any]), list([Any]), object(ObjectBase), other(Any)
    }

    private let source: Source
    private let info: ClassInfo

    init(_ value: Any, _ info: ClassInfo) {
        source =
            switch value {
            case let dictionary as [String: Any]: .dictionary(dictionary)
            case let values as [Any]: .list(values)
            case let object as ObjectBase: .object(object)
            default: .other(value)
            }
        self.info = info
    }

    /// The value for a property; nil if no value was given.
    subscript(p: PropertyInfo) -> Any? {
        switch source {
        case .dictionary(let dictionary): return dictionary[p.name] ?? nil
        case .list(let values):
            guard values.count <= info.properties.count else {
                misuse("Invalid array input: more values (\(values.count)) than properties (\(info.properties.count)).")
            }
            return values.indices.contains(Int(p.index)) ? values[Int(p.index)] : nil
        case .object(let object):
            guard let source = object.info.property(p.name) else { return nil }
            // The library makes the value, unless the program gave the object one.
            if source.isMade, !object.isManaged, !source.access.isSet(object, source) { return nil }
            // nil is also a value.
            return .some(source.access.any(object, source) as Any)
        case .other(let value):
            return Mirror(reflecting: value).children.first { $0.label == p.name }?.value
        }
    }

    /// The text for the type property; nil if no text was given. The class need not declare the property.
    func text(_ property: String, _ column: Name) -> Name? {
        let known = info.property(property) ?? info.properties.first { Name($0.column) == column }
        if let known { return (self[known].flatMap(unwrapped) as? String).map { Name($0) } }
        let any: Any? =
            switch source {
            case .dictionary(let dictionary): dictionary[property]
            case .list, .object: nil
            case .other(let value): Mirror(reflecting: value).children.first { $0.label == property }?.value
            }
        return (any as? String).map { Name($0) }
    }
}

extension ObjectBase {
    /// The identity of the row, which is the same in all instances, or that of an unmanaged instance.
    final var identity: Addition.Identity {
        managed.map { .row(ObjectIdentifier($0.core), $0.table, named.made) } ?? .instance(ObjectIdentifier(self))
    }
}

/// Returns whether a value can be converted to an object.
func isFilling(_ any: Any) -> Bool { any is [String: Any] || any is [Any] || any is ObjectBase }

/// Sets values of an unmanaged object. Properties without a given value keep their values, and unknown names are
/// ignored.
func fill(_ object: ObjectBase, from value: Any) {
    let info = object.info, given = Values(value, info)
    for property in info.properties where !property.shape.isComputed {
        guard let value = given[property] else { continue }
        guard property.access.setAny(object, property, value) else {
            misuse(property.mismatch(unwrapped(value), info.name))
        }
    }
}
