internal import CoreEngine

/// The base class of models.
///
///     class Person: Object {
///         @Persisted(primaryKey: true) var id: Int
///         @Persisted var name = "nobody"
///     }
///
/// An instance that the program creates is unmanaged until it is added to a Realm. Thread rule: a managed object is
/// confined to the thread of its Realm; a frozen object may be used on any thread.
open class Object: ObjectBase {
    public required init() {}

    /// Creates an unmanaged object with values.
    ///
    /// - Parameter value: A dictionary by property names, an array in the order of the properties, or another object.
    public convenience init(value: Any) {
        self.init()
        fill(self, from: value)
    }
}

/// The base class of models whose objects belong to exactly one other object and are deleted with it.
open class EmbeddedObject: ObjectBase {
    public required init() {}

    /// Creates an unmanaged object with values. See `Object.init(value:)`.
    public convenience init(value: Any) {
        self.init()
        fill(self, from: value)
    }
}

/// The types that results and collections can contain.
public protocol RealmFetchable: RealmCollectionValue {}

extension ObjectBase {
    static func shape() -> _PropertyShape {
        var shape = _PropertyShape(.object, target: self)
        shape.isOptional = true
        return shape
    }

    /// Returns the target object of a stored link.
    static func load(_ stored: _StoredValue) -> ObjectBase? {
        guard case .link(let table, let key) = stored.value, let core = stored.core else { return nil }
        return self == DynamicObject.self ? core.dynamic(table, key) : core.object(self, table, key)
    }

    /// Creates an unmanaged object from a dictionary, an array or another instance of the class. Returns nil for an
    /// object of another class.
    static func made(from any: Any) -> ObjectBase? {
        guard isFilling(any), self == DynamicObject.self || !isOfAnotherClass(any) else { return nil }
        let object = self.init()
        fill(object, from: any)
        return object
    }

    /// Stores a value at a place after converting it to an object of this class.
    static func store(any: Any, at place: _Place) throws -> Bool {
        if let object = any as? ObjectBase, object.managed?.core === place.core || !place.addition.isCopying {
            guard let storable = object as? any _RealmStorable, !isOfAnotherMember(object) else { return false }
            try storable._rlmStore(at: place)
            return true
        }
        guard isFilling(any) else { return false }
        let managed = self == DynamicObject.self ? place.targetClass : place.core.managed(self)
        guard let managed,
            self == DynamicObject.self ? !isOfAnotherClass(any, than: managed.info.name) : !isOfAnotherClass(any)
        else { return false }
        if managed.info.isEmbedded {
            try place.core.embed(any, as: managed, at: place)
        } else {
            let object = try place.core.create(managed, any, place.addition)
            try place.write(.link(object.managed?.table ?? .null, object.named.key))
        }
        return true
    }

    private static func isOfAnotherClass(_ any: Any, than name: String) -> Bool {
        (any as? ObjectBase).map { Name($0.info.fileName) != Name(name) } ?? false
    }

    /// Whether a value is an object of another class than this one or, if they share a class of the file, one below it.
    private static func isOfAnotherClass(_ any: Any) -> Bool {
        guard let object = any as? ObjectBase else { return false }
        return isOfAnotherClass(object, than: fileName) || isOfAnotherMember(object)
    }

    /// Whether an object is of another one of the classes that share the class of the file, and not of one below this
    /// one.
    private static func isOfAnotherMember(_ object: ObjectBase) -> Bool {
        guard let membership = Membership.of(self), membership.above != nil else { return false }
        if object is DynamicObject, let managed = object.managed, Name(managed.info.fileName) == Name(fileName) {
            return !managed.core.managed(self).holds(object.named.key)
        }
        return Membership.of(type(of: object))?.base == membership.base && !membership.includes(type(of: object))
    }

    func link() -> _StoredValue? {
        guard let managed else { return nil }
        return _StoredValue(.link(managed.table, named.key), managed.core)
    }
}

extension Object: RealmFetchable {
    public typealias PersistedType = Object
    public class var _rlmShape: _PropertyShape { shape() }

    public class func _rlmLoad(_ stored: _StoredValue) -> Self? { load(stored).map { unsafeDowncast($0, to: self) } }

    public func _rlmValue() -> _StoredValue? { link() }

    public func _rlmStore(at place: _Place) throws {
        let (table, key) = try place.core.link(to: self, place.addition)
        try place.write(.link(table, key))
    }

    public class func _rlmConvert(_ any: Any) -> Self? {
        (any as? Self) ?? made(from: any).map { unsafeDowncast($0, to: self) }
    }

    public class func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool { try store(any: any, at: place) }

    public class func _rlmStandIn(_ recording: _Recording) -> Self { unsafeDowncast(recording.standIn(self), to: self) }
}

extension EmbeddedObject: RealmFetchable, _CustomStorage {
    public typealias PersistedType = EmbeddedObject
    public class var _rlmShape: _PropertyShape { shape() }

    public class func _rlmLoad(_ stored: _StoredValue) -> Self? { load(stored).map { unsafeDowncast($0, to: self) } }

    public func _rlmValue() -> _StoredValue? { link() }

    public func _rlmStore(at place: _Place) throws { try place.core.embed(self, at: place) }

    public class func _rlmConvert(_ any: Any) -> Self? {
        (any as? Self) ?? made(from: any).map { unsafeDowncast($0, to: self) }
    }

    public class func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool { try store(any: any, at: place) }

    public class func _rlmStandIn(_ recording: _Recording) -> Self { unsafeDowncast(recording.standIn(self), to: self) }
}

/// Objects with an identity that is stable while they live, for use in lists of a user interface. Models that declare
/// their own `id` keep it.
public protocol ObjectKeyIdentifiable: Identifiable {}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    /// The identity of the object: the same value for all instances of a row. For an unmanaged object it identifies the
    /// instance.
    public var id: UInt64 { stableId }
}

extension ObjectBase {
    fileprivate final var stableId: UInt64 {
        guard let managed else { return UInt64(UInt(bitPattern: ObjectIdentifier(self))) }
        // A Realm has few classes, so their numbers fit above the bits of the row keys.
        return UInt64(managed.table.raw) << 48 ^ UInt64(bitPattern: named.made.raw)
    }
}
