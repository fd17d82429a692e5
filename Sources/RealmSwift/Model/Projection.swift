internal import CoreEngine
import Foundation

/// A view of chosen properties of one object, under different names. Use it for a part of a program that needs only
/// some properties of a class.
///
///     class PersonName: Projection<Person> {
///         @Projected(\Person.name) var name
///         @Projected(\Person.address?.street) var street
///     }
///     for p in realm.objects(PersonName.self) { print(p.name) }
open class Projection<Root: ObjectBase & RealmCollectionValue>: ThreadConfined {
    /// The projected object.
    public let rootObject: Root

    public required init(projecting object: Root) {
        rootObject = object
        let id = ObjectIdentifier(Self.self)
        if verifiedProjections.with({ $0.insert(id).inserted }) {
            for (name, property) in projectedProperties(self) where !property.isStored {
                misuse(
                    "@Projected property '\(Self.self).\(name)' must be a stored property of '\(Root.className())', or computed from one"
                )
            }
        }
    }

    public var realm: Realm? { rootObject.realm }
    public var isInvalidated: Bool { rootObject.isInvalidated }
    public var isFrozen: Bool { rootObject.isFrozen }

    open var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        let lines = projectedProperties(self).map { name, p in
            "\t\(name)(\\.\(p.originName)) = \(p.value(rootObject).map { "\($0)" } ?? "nil");\n"
        }
        return "\(type(of: self))<\(Root.self)> <0x\(address)> {\n\t" + lines.joined() + "}"
    }
}

extension Projection: Hashable, CustomStringConvertible {
    public static func == (a: Projection, b: Projection) -> Bool {
        type(of: a) == type(of: b) && a.rootObject.isSameObject(as: b.rootObject)
    }

    /// Hashes the row. Projections of the same row are equal, even if their objects are different instances.
    public func hash(into hasher: inout Hasher) { rootObject.hashRow(into: &hasher) }
}

/// A property of a projection. It shows the property of the root object at a key path.
@propertyWrapper
public struct Projected<Root: ObjectBase & RealmCollectionValue, Value>: AnyProjected {
    private let path: Swift.KeyPath<Root, Value>

    public init(_ projectedKeyPath: Swift.KeyPath<Root, Value>) { path = projectedKeyPath }

    @available(*, unavailable, message: "@Projected can only be used on properties of classes")
    public var wrappedValue: Value {
        get { misuse("@Projected can only be used on properties of classes") }
        set { misuse("@Projected can only be used on properties of classes") }
    }

    public static subscript<Enclosing: Projection<Root>>(
        _enclosingInstance projection: Enclosing, wrapped _: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storage: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        get { projection.rootObject[keyPath: projection[keyPath: storage].path] }
        set {
            guard let path = projection[keyPath: storage].path as? ReferenceWritableKeyPath<Root, Value> else {
                misuse("The projected property can only be read")
            }
            projection.rootObject[keyPath: path] = newValue
        }
    }

    /// The name of the projected property of the root object.
    var originName: String { name(of: path) }
    var isStored: Bool { storedName(of: path) != nil }

    func value(_ root: ObjectBase) -> Any? { (root as? Root).map { $0[keyPath: path] as Any } }
}

/// Returns the name of the root object's property that a projected property shows.
func name<O: ObjectBase, T: Projection<O>>(ofProjected keyPath: PartialKeyPath<T>) -> String {
    let recording = _Recording()
    let standIn = T(projecting: unsafeDowncast(recording.standIn(O.self), to: O.self))
    _ = standIn[keyPath: keyPath]
    guard !recording.path.names.isEmpty, !recording.path.isComputed else {
        misuse("The key path reads no property of '\(T.self)' that is stored")
    }
    return recording.path.names.joined(separator: ".")
}

/// A projected property with unknown types.
protocol AnyProjected {
    var originName: String { get }

    /// Whether the projected property is a stored property.
    var isStored: Bool { get }

    func value(_ root: ObjectBase) -> Any?
}

/// Classes whose projected properties have been verified.
private let verifiedProjections = Lock<Set<ObjectIdentifier>>(initial: [])

extension Projection: RealmFetchable, _RealmStorable, RealmCollectionValue {
    public typealias PersistedType = Root.PersistedType
    public static var _rlmShape: _PropertyShape { _PropertyShape(.object, target: Root.self) }

    public class func _rlmLoad(_ stored: _StoredValue) -> Self? {
        Root._rlmLoad(stored).map { self.init(projecting: $0) }
    }

    public func _rlmValue() -> _StoredValue? { rootObject._rlmValue() }

    public func _rlmStore(at place: _Place) throws {
        throw EngineError(.illegalOperation, "Projections cannot be stored")
    }

    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool { false }

    public class func _rlmConvert(_ any: Any) -> Self? { any as? Self }

    public class func _rlmStandIn(_ recording: _Recording) -> Self {
        self.init(projecting: Root._rlmStandIn(recording))
    }
}

/// Projections with any root class.
protocol AnyProjection { static var root: ObjectBase.Type { get } }

extension Projection: AnyProjection { static var root: ObjectBase.Type { Root.self } }

extension Projection {
    public func _rlmMove(to realm: Realm) -> Self? { rootObject._rlmMove(to: realm).map { Self(projecting: $0) } }

    public func _rlmCarried() -> _Carried? {
        let type = Self.self
        return rootObject._rlmCarried()?.map(Root.self) { type.init(projecting: $0) }
    }
}

/// Returns the projected properties of an object with their labels. Properties of superclasses come first.
private func projectedProperties(_ projection: Any) -> [(name: String, property: any AnyProjected)] {
    let mirrors = Array(sequence(first: Mirror(reflecting: projection), next: \.superclassMirror))
    return mirrors.reversed().flatMap(\.children).compactMap { child in
        guard let property = child.value as? any AnyProjected, let label = child.label else { return nil }
        return (label.hasPrefix("_") ? String(label.dropFirst()) : label, property)
    }
}

/// The state of a projection for its observer.
private final class ToldProjection {
    private let properties: [(name: String, property: any AnyProjected)]
    private let earlier: Earlier?

    /// The values of the last report. A computed property may keep its value although the properties that it reads have
    /// changed.
    private var values: [Any?]
    let paths: [String]

    init(_ projection: some _ProjectionObservable) {
        let properties = projectedProperties(projection), root = projection.rootObject
        self.properties = properties
        paths = properties.map { $0.property.originName }
        let read = { properties.map { $0.property.value(root) } }
        values = read()
        earlier = root.isManaged && !root.isFrozen ? Earlier(root, read) : nil
    }

    /// Returns the changes of the projected properties after properties of the root object have changed.
    func changes(_ projection: some _ProjectionObservable, _ names: Set<Name>) -> [PropertyChange] {
        properties.indices.compactMap { i in
            guard names.contains(Name(String(paths[i].prefix { $0 != "." }))) else { return nil }
            let old = values[i], new = properties[i].property.value(projection.rootObject)
            values[i] = new
            if let a = old.flatMap(unwrapped) as? AnyHashable, let b = new.flatMap(unwrapped) as? AnyHashable, a == b,
                !isCollection(new)
            {
                return nil
            }
            return PropertyChange(
                name: properties[i].name, oldValue: isCollection(new) ? nil : earlier?.value(i).flatMap(unwrapped),
                newValue: new.flatMap(unwrapped))
        }
    }

    private func isCollection(_ value: Any?) -> Bool { value.flatMap(unwrapped) is any PropertyCollection }
}

/// Projections that can be observed.
public protocol _ProjectionObservable: ThreadConfined {
    associatedtype Root: ObjectBase & RealmCollectionValue & _ObservableObject
    var rootObject: Root { get }
    init(projecting object: Root)
}

extension Projection: _ProjectionObservable where Root: _ObservableObject {}

extension Projection {
    /// Calls `block` when projected properties change, with key paths of the projection that the compiler checks. See
    /// `observe(keyPaths:on:)`.
    public func observe<P: Projection>(
        keyPaths: [PartialKeyPath<P>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<P>) -> Void
    ) -> NotificationToken where Root: _ObservableObject {
        guard let this = self as? P else { misuse("The key paths are those of another projection") }
        return this.observe(keyPaths: keyPaths.map { name(ofProjected: $0) }, on: queue, block)
    }

    /// Calls `block` on an actor when projected properties change, with key paths of the projection that the compiler
    /// checks. See `observe(keyPaths:on:)`.
    public func observe<P: Projection, A: Actor>(
        keyPaths: [PartialKeyPath<P>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<P>) -> Void
    ) async -> NotificationToken where Root: _ObservableObject {
        guard let this = self as? P else { misuse("The key paths are those of another projection") }
        return await this.observe(
            keyPaths: keyPaths.map { name(ofProjected: $0) }, on: actor, _isolation: _isolation, block)
    }
}

extension _ProjectionObservable {
    /// Calls `block` when projected properties change, and once when the object is deleted. The reported names are
    /// those of the projection.
    ///
    /// - Parameters:
    ///   - keyPaths: Names of properties of the root object; nil for all projected properties.
    ///   - queue: A serial queue on which `block` runs; nil to run it where the Realm is confined.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let told = ToldProjection(self)
        return rootObject.observe(keyPaths: keyPaths ?? told.paths, on: queue) { change in
            switch change {
            case .error(let error): block(.error(error))
            case .deleted: block(.deleted)
            case .change(let object, let properties):
                let projection = Self(projecting: object)
                let changes = told.changes(projection, Set(properties.map { Name($0.name) }))
                if !changes.isEmpty { block(.change(projection, changes)) }
            }
        }
    }
    /// Calls `block` on an actor when projected properties change. See `observe(keyPaths:on:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observing(self, on: actor, _isolation: _isolation, { $0.observe(keyPaths: keyPaths, $1) }, block)
    }
}
