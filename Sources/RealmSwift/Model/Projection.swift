internal import CoreEngine
import Foundation

/// Chosen properties of one object, under names of their own: what a part of a program needs to see.
///
///     class PersonName: Projection<Person> {
///         @Projected(\Person.name) var name
///         @Projected(\Person.address?.street) var street
///     }
///     for p in realm.objects(PersonName.self) { print(p.name) }
open class Projection<Root: ObjectBase & RealmCollectionValue & _Freezable>: ThreadConfined {
    /// The object that is shown.
    public let rootObject: Root

    public required init(projecting object: Root) {
        rootObject = object
    }
    public var realm: Realm? { rootObject.realm }
    public var isInvalidated: Bool { rootObject.isInvalidated }
    public var isFrozen: Bool { rootObject.isFrozen }
    open var description: String { "\(type(of: self)) of \(rootObject)" }
}
extension Projection: Hashable, CustomStringConvertible {
    public static func == (a: Projection, b: Projection) -> Bool { type(of: a) == type(of: b) && a.rootObject.isSameObject(as: b.rootObject) }
    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }
}

/// A property of a projection: that of the root object behind a key path.
@propertyWrapper
public struct Projected<Root: ObjectBase & RealmCollectionValue & _Freezable, Value>: AnyProjected {
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
    /// The name of the property behind it.
    var originName: String { name(of: path) }
}
/// A projected property whose types are not known.
protocol AnyProjected { var originName: String { get } }

extension Projection: RealmFetchable, _RealmStorable, RealmCollectionValue {
    public static var _rlmShape: _PropertyShape { _PropertyShape(.object, target: Root.self) }
    public class func _rlmLoad(_ stored: _StoredValue) -> Self? { Root._rlmLoad(stored).map { self.init(projecting: $0) } }
    public func _rlmValue() -> _StoredValue? { rootObject._rlmValue() }
    public func _rlmStore(at place: _Place) throws { throw EngineError(.illegalOperation, "Projections cannot be stored") }
    public static func _rlmStoreAny(_ any: Any, at place: _Place) throws -> Bool { false }
    public class func _rlmConvert(_ any: Any) -> Self? { any as? Self }
    public class func _rlmStandIn(_ recording: _Recording) -> Self { self.init(projecting: Root._rlmStandIn(recording)) }
}
/// Projections, whatever their root.
protocol AnyProjection { static var root: ObjectBase.Type { get } }
extension Projection: AnyProjection { static var root: ObjectBase.Type { Root.self } }

/// Projections that can be observed and frozen.
public protocol _ProjectionObservable: ThreadConfined {
    associatedtype Root: ObjectBase & RealmCollectionValue & _Freezable & _ObservableObject
    var rootObject: Root { get }
    init(projecting object: Root)
}
extension Projection: _ProjectionObservable where Root: _ObservableObject {}
extension _ProjectionObservable {
    /// Calls `block` when projected properties change, and once when the object is deleted. Names are those of the projection.
    public func observe(on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
        var names: [Name: [String]] = [:], paths: [String] = []
        for child in Mirror(reflecting: self).children {
            guard let projected = child.value as? any AnyProjected, let label = child.label else { continue }
            let origin = projected.originName
            paths.append(origin)
            names[Name(String(origin.prefix { $0 != "." })), default: []].append(label.hasPrefix("_") ? String(label.dropFirst()) : label)
        }
        return rootObject.observe(keyPaths: paths, on: queue) { change in
            switch change {
            case .error(let e): block(.error(e))
            case .deleted: block(.deleted)
            case .change(let object, let properties):
                let told = properties.flatMap { p in
                    (names[Name(p.name)] ?? []).map { PropertyChange(name: $0, oldValue: p.oldValue, newValue: p.newValue) }
                }
                if !told.isEmpty { block(.change(Self(projecting: object), told)) }
            }
        }
    }
    public func freeze() -> Self { Self(projecting: rootObject.freeze()) }
    public func thaw() -> Self? { rootObject.thaw().map { Self(projecting: $0) } }
}
